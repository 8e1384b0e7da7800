package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"watchmark/internal/door/auth"
	"watchmark/internal/door/auth/oidc"
	"watchmark/internal/door/auth/servers"
	"watchmark/internal/source/mediaserver"
)

// connected are servers that could sign people in, open or not.
func connected(open bool) []servers.Server {
	return []servers.Server{
		{ID: 1, Kind: mediaserver.Jellyfin, Name: "attic <b>", ServerID: "jellyfin-1", Open: open},
		{ID: 2, Kind: mediaserver.Plex, Name: "cellar", ServerID: "plex-1", Open: open},
	}
}

// The sign-in page and that of an invitation offer what the owner has opened, and nothing else.
func TestWaysInOnThePages(t *testing.T) {
	g := newRig(t)
	nobody := g.client(t, false)
	added, err := g.auth.AddPerson(t.Context(), auth.PersonDraft{Name: "alex", Role: auth.RolePerson})
	if err != nil {
		t.Fatal(err)
	}
	token, _, err := g.auth.Invite(t.Context(), added.ID)
	if err != nil {
		t.Fatal(err)
	}
	pages := []string{"/login", "/invitation?token=" + token}
	g.signInServers = connected(false)
	for _, path := range pages {
		if page := g.get(t, nobody, path, "en").body; strings.Contains(page, "/api/login/plex") || strings.Contains(page, "attic") || strings.Contains(page, "other-way") {
			t.Errorf("%s offers what is not open", path)
		}
	}
	g.signInServers = connected(true)
	g.provider = oidc.Status{On: true, Name: "Home"}
	for _, path := range pages {
		page := g.get(t, nobody, path, "en").body
		mustContain(t, page, `data-url="/api/login/plex"`, "Sign in with Plex", "Sign in with Jellyfin (attic &lt;b&gt;)", `name="server" data-type="number" value="1"`, "Sign in with Home", "User name on Jellyfin")
		if invited := strings.Count(page, `name="invitation" value="`+token+`"`); (invited == 3) != strings.Contains(path, "invitation") {
			t.Errorf("%s names the invitation %d times", path, invited)
		}
		if strings.Contains(page, "plex/callback") || strings.Contains(page, "jellyfin-1") || strings.Contains(page, "cellar") {
			t.Errorf("%s tells more than it must", path)
		}
	}
	if page := g.get(t, nobody, "/invitation?token=wrong", "en").body; strings.Contains(page, "other-way") {
		t.Error("an invitation that is over offers ways in")
	}
	for word, says := range map[string]string{"plex_waiting": "not confirmed", "plex_access": "may not use the server", "plex_unknown": "invitation", "plex_taken": "another person", "many_roles": "more than one role", "no_group": "No group"} {
		for _, path := range []string{"/login?problem=" + word, pages[1] + "&problem=" + word} {
			mustContain(t, g.get(t, nobody, path, "en").body, `role="alert"`, says)
		}
	}
	at, err := url.Parse(g.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	nobody.Jar.SetCookies(at, []*http.Cookie{{Name: "watchmark_plex", Value: "begun", Path: "/"}})
	mustContain(t, g.get(t, nobody, "/login", "en").body, "/api/login/plex/callback")
}

func TestWaysInOfAPerson(t *testing.T) {
	g := newRig(t)
	in := g.client(t, true)
	g.role, g.signIns = auth.RolePerson, []auth.SignIn{{ID: 1, Service: "Jellyfin (attic)", Name: "mira <i>", UsedAt: time.Now()}}
	page := g.get(t, in, "/mine/access", "en").body
	mustContain(t, page, "How you sign in", "Jellyfin (attic)", "mira &lt;i&gt;", "You have no password")
	if strings.Contains(page, `data-url="/api/password"`) || strings.Contains(page, "two-factor-start") {
		t.Error("who has no password is asked for it")
	}
}

func TestTheOwnerOpensServers(t *testing.T) {
	g := newRig(t)
	in := g.client(t, true)
	mustContain(t, g.get(t, in, "/settings/access", "en").body, "No media server is connected", `href="/sources/servers"`)
	g.signInServers = connected(false)
	mustContain(t, g.get(t, in, "/settings/access", "en").body, "Not open", `{&#34;auth&#34;:{&#34;media_servers&#34;:[&#34;plex-1&#34;]}}`)
	if err := g.settings.Patch(t.Context(), map[string]map[string]any{"auth": {"media_servers": []any{"jellyfin-1", "plex-1"}}}); err != nil {
		t.Fatal(err)
	}
	g.signInServers = connected(true)
	mustContain(t, g.get(t, in, "/settings/access", "en").body, "People may sign in", `{&#34;auth&#34;:{&#34;media_servers&#34;:[&#34;jellyfin-1&#34;]}}`)
}

// household adds a person who comes in by a server, and one who is invited; it answers the token of the invitation.
func (g *rig) household(t *testing.T) (token string) {
	t.Helper()
	g.signInServers = connected(true)
	for _, name := range []string{"alex", "bench"} {
		added, err := g.auth.AddPerson(t.Context(), auth.PersonDraft{Name: name, Role: auth.RolePerson, MediaUserNames: []string{name}})
		if err == nil {
			token, _, err = g.auth.Invite(t.Context(), added.ID)
		}
		if err == nil && name == "alex" {
			_, err = g.auth.AcceptVouched(t.Context(), token, auth.Vouched{Issuer: "jellyfin 1", Subject: "1", Service: "Jellyfin (attic)", Name: "alex", Introduces: true}, auth.Visitor{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return token
}
