package api_test

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"watchmark/internal/testkit/mediaservertest"
	"watchmark/internal/testkit/oidctest"
)

// from is the rig as somebody asks it who comes from an address of their own: attempts are counted by address.
func (r *rig) from(n byte) *rig {
	other := *r
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 8, 0, n)}}
	other.transport = &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}
	return &other
}

// entrance is a house whose people come in by a Jellyfin and a Plex that the owner, bench, has connected.
type entrance struct {
	*rig
	jellyfin, plex *mediaservertest.Server
	tv             *mediaservertest.PlexTV
	server         int64 // the id of the Jellyfin
}

func newEntrance(t *testing.T, open bool, environ ...string) *entrance {
	t.Helper()
	tv := mediaservertest.StartPlexTV(t)
	tv.PollEvery = 0
	e := &entrance{
		tv:       tv,
		jellyfin: mediaservertest.Start(t, mediaservertest.Config{Kind: mediaservertest.Jellyfin, Name: "attic", Users: []mediaservertest.User{{Name: "bench", Password: mediaPassword}, {Name: "mira", Password: "open sesame"}, {Name: "eve", Password: "let me in"}}}),
		plex:     mediaservertest.Start(t, mediaservertest.Config{Kind: mediaservertest.Plex, ID: "machine-1", TV: tv, Users: []mediaservertest.User{{Name: "bench", Password: "pw"}, {Name: "alex", Password: "pw"}, {Name: "eve", Password: "pw"}}}),
	}
	mediaservertest.Start(t, mediaservertest.Config{Kind: mediaservertest.Plex, ID: "machine-1", TV: tv, Users: []mediaservertest.User{{Name: "stranger", Password: "pw"}}})
	e.rig = newRig(t, append(environ, "WATCHMARK_WATCHER_PLEX_URL="+tv.URL, "WATCHMARK_WATCHER_PLEX_CLIENTS_URL="+tv.URL, "WATCHMARK_WATCHER_PLEX_AUTH_URL="+tv.URL+"/auth")...)
	token := must(e.store.SetupToken(t.Context()))(t)
	e.anonymous("POST", "/api/setup", map[string]any{"token": token, "name": "bench", "password": housePassword}).want(200)
	jellyfin := e.do("POST", "/api/servers", map[string]any{"kind": "jellyfin", "url": e.jellyfin.URL, "username": "bench", "password": mediaPassword}).want(201)
	jellyfin.pick(map[string]any{"id": &e.server})
	added := e.do("POST", "/api/servers", map[string]any{"kind": "plex", "url": e.plex.URL}).want(201)
	if err := e.tv.Approve(added.get("sign_in").(map[string]any)["code"].(string), "bench"); err != nil {
		t.Fatal(err)
	}
	var plexID string
	path := fmt.Sprintf("/api/servers/%d", int64(added.get("id").(float64)))
	for plexID == "" { // until the confirmation is noticed
		e.do("GET", path, nil).want(200).pick(map[string]any{"server_id": &plexID})
	}
	if open {
		e.do("PATCH", "/api/settings", map[string]any{"auth": map[string]any{"media_servers": []string{jellyfin.get("server_id").(string), plexID}}}).want(200)
	}
	return e
}

// invites adds a person and answers the token of an invitation.
func (r *rig) invites(name string, users ...string) (id int64, token string) {
	r.t.Helper()
	r.do("POST", "/api/people", map[string]any{"name": name, "role": "person", "media_user_names": users}).want(201).pick(map[string]any{"id": &id})
	return id, r.linkFor(id)
}

// linkFor is the token of a new invitation.
func (r *rig) linkFor(id int64) string {
	r.t.Helper()
	var link string
	r.do("POST", fmt.Sprintf("/api/people/%d/invitation", id), nil).want(200).pick(map[string]any{"url": &link})
	return must(url.Parse(link))(r.t).Query().Get("token")
}

// byJellyfin signs in at the Jellyfin.
func (e *entrance) byJellyfin(as *rig, name, password, invitation string) reply {
	e.t.Helper()
	body := map[string]any{"server": e.server, "name": name, "password": password}
	if invitation != "" {
		body["invitation"] = invitation
	}
	return as.anonymous("POST", "/api/login/server", body)
}

// byPlex signs in on the page of Plex, and answers the way back.
func (e *entrance) byPlex(as *rig, name, invitation string) (back reply, cookie string) {
	e.t.Helper()
	body := map[string]any{"next": "/mine"}
	if invitation != "" {
		body["invitation"] = invitation
	}
	begun := as.anonymous("POST", "/api/login/plex", body).want(200)
	for _, c := range (&http.Response{Header: begun.header}).Cookies() {
		if c.Name == "watchmark_plex" && c.HttpOnly && c.SameSite == http.SameSiteLaxMode && c.Path == "/base/" {
			cookie = c.Name + "=" + c.Value
		}
	}
	address := begun.get("authorize_url").(string)
	_, fragment, _ := strings.Cut(address, "#?")
	asked := must(url.ParseQuery(fragment))(e.t)
	if want := e.url + "/base/api/login/plex/callback"; asked.Get("forwardUrl") != want || !strings.HasPrefix(address, e.tv.URL+"/auth#?") {
		e.t.Errorf("the address is %s", address)
	}
	waiting := as.anonymous("GET", "/api/login/plex/callback", nil, "Cookie", cookie).want(303)
	if to := waiting.header.Get("Location"); !strings.Contains(to, "problem=plex_waiting") || waiting.header.Get("Set-Cookie") != "" {
		e.t.Errorf("before it is confirmed it leads to %s", to)
	}
	if err := e.tv.Approve(asked.Get("code"), name); err != nil {
		e.t.Fatal(err)
	}
	return as.anonymous("GET", "/api/login/plex/callback", nil, "Cookie", cookie).want(303), cookie
}

func (r reply) leadsTo(path string) reply {
	r.t.Helper()
	if to := r.header.Get("Location"); to != path {
		r.t.Errorf("%s leads to %s, not %s", r.what, to, path)
	}
	return r
}

func TestNothingIsOpenUnlessTheOwnerOpensIt(t *testing.T) {
	e := newEntrance(t, false)
	e.invites("mira", "mira")
	e.anonymous("GET", "/api/login/ways", nil).want(200, `"password":true`, `"plex":false`, `"servers":[]`, `"provider":""`)
	e.byJellyfin(e.rig, "mira", "open sesame", "").problem(409, "server_login_off")
	e.anonymous("POST", "/api/login/plex", nil).problem(409, "server_login_off")
	e.anonymous("GET", "/api/login/plex/callback", nil).want(303).leadsTo("/base/login?problem=plex_state")
	if asked := strings.Join(e.jellyfin.Requests(), "\n"); strings.Count(asked, "AuthenticateByName") != 1 {
		t.Errorf("the server was asked:\n%s", asked)
	}
}

func TestSignInByJellyfin(t *testing.T) {
	e := newEntrance(t, true)
	e.anonymous("GET", "/api/login/ways", nil).want(200, `"plex":true`, fmt.Sprintf(`"servers":[{"id":%d,"kind":"jellyfin","name":"Jellyfin (attic)"}]`, e.server))
	id, _ := e.invites("Mira", "mira")
	path := fmt.Sprintf("/api/people/%d", id)
	session := cookie(e.byJellyfin(e.rig, "mira", "open sesame", "").want(200, `"authenticated":true`, `"name":"Mira"`))
	e.anonymous("GET", "/api/me", nil, "Cookie", session).want(200, `"role":"person"`, `"media_user_names":["mira"]`, `"has_password":false`, `"service":"Jellyfin (attic)"`)
	e.anonymous("GET", "/api/people", nil, "Cookie", session).problem(403)
	for _, hidden := range []string{"open sesame", "wrong password"} {
		if strings.Contains(e.log.String(), hidden) {
			t.Errorf("the log shows %q", hidden)
		}
	}

	// The name alone is nobody now: another user who takes it over is not let in.
	if err := e.jellyfin.ChangeUser("mira", func(u *mediaservertest.User) { u.Name = "mira of before" }); err != nil {
		t.Fatal(err)
	}
	e.jellyfin.AddUser(mediaservertest.User{ID: "5d2f0a000000000000000000000000ff", Name: "mira", Password: "another one"})
	e.byJellyfin(e.from(1), "mira", "another one", "").problem(401, "server_login_wrong")
	// Under another name it is still the same user.
	e.byJellyfin(e.from(2), "mira of before", "open sesame", "").want(200, `"name":"Mira"`)
	e.do("GET", path, nil).want(200, `"media_user_names":["mira"]`, `"name":"mira of before"`)

	// A wrong password, nobody, and who is on the server and nobody here are told the same.
	wrong := e.byJellyfin(e.from(3), "mira of before", "wrong password", "").problem(401, "server_login_wrong")
	nobody := e.byJellyfin(e.from(4), "nobody at all", "wrong password", "").problem(401, "server_login_wrong")
	uninvited := e.byJellyfin(e.from(5), "eve", "let me in", "").problem(401, "server_login_wrong")
	if wrong.body != nobody.body || wrong.body != uninvited.body {
		t.Errorf("the answers differ: %s, %s, %s", wrong.body, nobody.body, uninvited.body)
	}
	e.byJellyfin(e.from(6), "eve", "", "").problem(401, "server_login_wrong")

	// The owner does not come in by a server, nor does a guest.
	e.do("PATCH", "/api/people/1", map[string]any{"media_user_names": []string{"bench"}}).want(200)
	e.byJellyfin(e.from(7), "bench", mediaPassword, "").problem(401, "server_login_wrong")
	e.do("PATCH", path, map[string]any{"role": "guest"}).want(200)
	e.byJellyfin(e.from(8), "mira of before", "open sesame", "").problem(401, "server_login_wrong")
	e.anonymous("GET", "/api/me", nil, "Cookie", session).problem(401)
	e.do("PATCH", path, map[string]any{"role": "person"}).want(200)

	// What the owner takes away ends the session, and the name does not bring it back; an invitation does.
	session = cookie(e.byJellyfin(e.from(9), "mira of before", "open sesame", "").want(200))
	signIns := e.do("GET", path, nil).want(200).get("sign_ins").([]any)
	remove := fmt.Sprintf("%s/sign-ins/%d", path, int64(signIns[0].(map[string]any)["id"].(float64)))
	e.anonymous("DELETE", remove, nil, "Cookie", session).problem(403)
	e.do("DELETE", remove, nil).want(204)
	e.do("DELETE", remove, nil).problem(404, "sign_in_not_found")
	e.anonymous("GET", "/api/me", nil, "Cookie", session).problem(401)
	e.byJellyfin(e.from(10), "mira of before", "open sesame", "").problem(401)
	e.byJellyfin(e.from(11), "mira of before", "open sesame", e.linkFor(id)).want(200, `"name":"Mira"`)
	e.byJellyfin(e.from(12), "mira of before", "open sesame", "").want(200)
}

func TestAttemptsAtServersAreBounded(t *testing.T) {
	e := newEntrance(t, true)
	e.invites("mira", "mira")
	for n := range byte(3) {
		e.byJellyfin(e.from(n+1), "mira", "wrong password", "").problem(401, "server_login_wrong")
	}
	asked := len(e.jellyfin.Requests())
	e.byJellyfin(e.from(9), "mira", "open sesame", "").problem(429) // by the name, whatever the address
	if len(e.jellyfin.Requests()) != asked {
		t.Error("the server is asked while the door is locked")
	}
	for range 3 {
		e.byJellyfin(e.from(20), "nobody", "wrong password", "").problem(401)
	}
	e.byJellyfin(e.from(20), "eve", "let me in", "").problem(429)
	e.from(20).anonymous("POST", "/api/login", map[string]any{"name": "bench", "password": housePassword}).problem(429)
}

// moves has the Jellyfin be looked for at another address.
func (e *entrance) moves(to string) {
	e.t.Helper()
	err := e.db.Write(e.t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE media_logins SET url = ? WHERE id = ?`, to, e.server)
		return err
	})
	if err != nil {
		e.t.Fatal(err)
	}
}

func TestAServerThatIsNotThatServer(t *testing.T) {
	e := newEntrance(t, true)
	e.invites("mira", "mira")
	// Another server at the address gets no password, and what it says counts for nothing.
	other := mediaservertest.Start(t, mediaservertest.Config{Kind: mediaservertest.Jellyfin, ID: "another", Users: []mediaservertest.User{{Name: "mira", Password: "open sesame"}}})
	e.moves(other.URL)
	for range 5 { // nothing was guessed, so nobody is locked out
		e.byJellyfin(e.rig, "mira", "open sesame", "").problem(502, "server_login_away")
	}
	if asked := strings.Join(other.Requests(), "\n"); strings.Contains(asked, "AuthenticateByName") {
		t.Errorf("the other server was asked:\n%s", asked)
	}
	e.moves("http://127.0.0.1:1")
	down := e.byJellyfin(e.rig, "mira", "open sesame", "").problem(502, "server_login_away")
	if strings.Contains(down.body, "127.0.0.1") {
		t.Errorf("a stranger is told where the server is: %s", down.body)
	}
}

func TestSignInByPlex(t *testing.T) {
	e := newEntrance(t, true)
	id, _ := e.invites("Alex", "alex")
	in, begun := e.byPlex(e.rig, "alex", "")
	session := cookie(in.leadsTo("/base/mine"))
	e.anonymous("GET", "/api/me", nil, "Cookie", session).want(200, `"name":"Alex"`, `"service":"Plex"`)
	e.anonymous("GET", "/api/login/plex/callback", nil, "Cookie", begun).want(303).leadsTo("/base/login?problem=plex_state")
	again, _ := e.byPlex(e.rig, "alex", "")
	if session = cookie(again.leadsTo("/base/mine")); session == "" {
		t.Error("the second time nobody came in")
	}
	// In another browser a sign-in does not end.
	e.anonymous("GET", "/api/login/plex/callback", nil, "Cookie", "watchmark_plex=GUESSED").want(303).leadsTo("/base/login?problem=plex_state")

	eve, _ := e.byPlex(e.from(2), "eve", "")
	eve.leadsTo("/base/login?next=%2Fmine&problem=plex_unknown")
	stranger, _ := e.byPlex(e.from(3), "stranger", "")
	stranger.leadsTo("/base/login?next=%2Fmine&problem=plex_access")
	bench, _ := e.byPlex(e.from(4), "bench", "")
	bench.leadsTo("/base/login?next=%2Fmine&problem=plex_unknown")
	for _, got := range []reply{eve, stranger, bench} {
		if cookie(got) != "" {
			t.Errorf("%s opens a session", got.what)
		}
	}
	// Closing the way ends the sessions that it opened.
	e.anonymous("GET", "/api/me", nil, "Cookie", session).want(200)
	e.do("PATCH", "/api/settings", map[string]any{"auth": map[string]any{"media_servers": []string{}}}).want(200)
	e.anonymous("GET", "/api/me", nil, "Cookie", session).problem(401)
	e.do("GET", fmt.Sprintf("/api/people/%d", id), nil).want(200, `"service":"Plex"`)
	e.tv.SetFault(&mediaservertest.Fault{Status: 503})
	e.anonymous("POST", "/api/login/plex", nil).problem(409)
}

func TestAnInvitationIsAcceptedByAServer(t *testing.T) {
	e := newEntrance(t, true)
	id, token := e.invites("Mira M.")
	path := fmt.Sprintf("/api/people/%d", id)
	e.byJellyfin(e.from(1), "mira", "wrong password", token).problem(401, "server_login_wrong")
	e.byJellyfin(e.from(2), "mira", "open sesame", "no such token").problem(401, "invitation_wrong")
	session := cookie(e.byJellyfin(e.from(3), "mira", "open sesame", token).want(200, `"name":"Mira M."`))
	e.anonymous("GET", "/api/me", nil, "Cookie", session).want(200, `"media_user_names":["mira"]`, `"has_password":false`)
	e.do("GET", path, nil).want(200, `"invited_until":null`)
	e.byJellyfin(e.from(4), "mira", "open sesame", token).problem(401, "invitation_wrong")
	e.byJellyfin(e.from(5), "mira", "open sesame", "").want(200)

	// Who is somebody else already does not accept it, and it stays.
	_, invited := e.invites("Alex")
	e.byJellyfin(e.from(6), "mira", "open sesame", invited).problem(409, "sign_in_taken")
	e.do("PATCH", path, map[string]any{"media_user_names": []string{"mira", "eve"}}).want(200)
	e.byJellyfin(e.from(7), "eve", "let me in", invited).problem(409, "person_media_user_taken")
	e.do("PATCH", path, map[string]any{"media_user_names": []string{"mira"}}).want(200)
	in, _ := e.byPlex(e.from(8), "alex", invited)
	session = cookie(in.leadsTo("/base/mine"))
	e.anonymous("GET", "/api/me", nil, "Cookie", session).want(200, `"name":"Alex"`, `"media_user_names":["alex"]`)
	late, _ := e.invites("Late")
	link := e.linkFor(late)
	unshared, _ := e.byPlex(e.from(9), "stranger", link)
	unshared.leadsTo("/base/invitation?problem=plex_access&token=" + link)

	// A name that leads to an account of the owner stays there: the person would read what somebody else watches.
	e.do("POST", "/api/accounts", map[string]any{"username": "bench", "access_token": token, "media_user_names": []string{"eve"}}).want(201)
	session = cookie(e.byJellyfin(e.from(10), "eve", "let me in", link).want(200, `"name":"Late"`))
	e.anonymous("GET", "/api/me", nil, "Cookie", session).want(200, `"media_user_names":[]`)
	// A new name goes to the account that the person has.
	e.send("POST", "/api/accounts", map[string]any{"username": "alex", "access_token": "token-of-alex"}, "Cookie", cookie(must2(e.byPlex(e.from(11), "alex", "")))).want(201, `"media_user_names":["alex"]`)
}

// must2 is the first of two.
func must2[A, B any](a A, _ B) A { return a }

// family is a house with a provider whose groups give roles; nobody is named in auth.oidc_allowed.
func family(t *testing.T) (*rig, *oidctest.Server) {
	t.Helper()
	server := oidctest.Start(t, oidctest.Config{ClientID: "watchmark", ClientSecret: "secret of the client"})
	r := newRig(t, "WATCHMARK_AUTH_OIDC_ISSUER="+server.URL(), "WATCHMARK_AUTH_OIDC_CLIENT_ID=watchmark", "WATCHMARK_AUTH_OIDC_CLIENT_SECRET=secret of the client", "WATCHMARK_AUTH_OIDC_NAME=Home")
	token := must(r.store.SetupToken(t.Context()))(t)
	r.anonymous("POST", "/api/setup", map[string]any{"token": token, "name": "bench", "password": housePassword}).want(200)
	r.do("PATCH", "/api/settings", map[string]any{"auth": map[string]any{"oidc_owner_group": "admins", "oidc_person_group": "family", "oidc_guest_group": "visitors"}}).want(200)
	return r, server
}

// byProvider signs an account in, and answers the way back.
func (r *rig) byProvider(server *oidctest.Server, account oidctest.Account, invitation string) reply {
	r.t.Helper()
	server.Set(func(c *oidctest.Config) { c.Account = account })
	body := map[string]any{}
	if invitation != "" {
		body["invitation"] = invitation
	}
	begun := r.anonymous("POST", "/api/login/oidc", body).want(200)
	return r.anonymous("GET", r.there(begun.get("authorize_url").(string)), nil, "Cookie", binding(r.t, begun)).want(303)
}

func TestGroupsOfTheProvider(t *testing.T) {
	r, server := family(t)
	mira := oidctest.Account{Subject: "sub-of-mira", Username: "mira", Email: "mira@example.org", EmailVerified: true, Groups: []string{"family", "readers"}}
	with := func(a oidctest.Account, groups any) oidctest.Account { a.Groups = groups; return a }

	// The first sign-in adds a person, whose name is nobody else's; later ones are the same person.
	r.do("POST", "/api/people", map[string]any{"name": "Mira", "role": "person", "media_user_names": []string{"mira"}}).want(201)
	session := cookie(r.byProvider(server, mira, "").leadsTo("/base/"))
	var me struct {
		ID   int64
		Name string
	}
	r.anonymous("GET", "/api/me", nil, "Cookie", session).want(200, `"role":"person"`, `"name":"mira 2"`, `"service":"Home"`, `"media_user_names":[]`).into(&me)
	r.anonymous("GET", "/api/people", nil, "Cookie", session).problem(403)
	renamed := mira
	renamed.Username, renamed.Email = "somebody", "somebody@example.org"
	session = cookie(r.byProvider(server, renamed, ""))
	r.anonymous("GET", "/api/me", nil, "Cookie", session).want(200, `"name":"mira 2"`, fmt.Sprintf(`"id":%d`, me.ID))
	impostor := mira
	impostor.Subject = "sub-of-another"
	another := cookie(r.byProvider(server, impostor, ""))
	r.anonymous("GET", "/api/me", nil, "Cookie", another).want(200, `"name":"mira 3"`)

	// Who has lost the group is out with the next sign-in; groups that say nothing clear let nobody in.
	for n, c := range []struct {
		name    string
		account oidctest.Account
		problem string
	}{
		{"no group", with(mira, []string{"readers"}), "no_group"},
		{"no claim", with(mira, nil), "no_groups"},
		{"a text", with(mira, "family"), "no_groups"},
		{"two roles", with(mira, []string{"family", "visitors"}), "many_roles"},
		{"the owner's", with(mira, []string{"admins"}), "one_owner"},
		{"a guest nobody knows", oidctest.Account{Subject: "new", Groups: []string{"visitors"}}, "guest"},
		{"a stranger", oidctest.Account{Subject: "new", Groups: []string{}}, "no_group"},
	} {
		t.Run(c.name, func(t *testing.T) {
			here := *r.from(byte(n + 1))
			here.t = t
			known := c.account.Subject == mira.Subject
			inside := ""
			if known { // each attempt counts for everybody's burst
				inside = cookie(here.byProvider(server, mira, ""))
				here.anonymous("GET", "/api/me", nil, "Cookie", inside).want(200)
			}
			out := here.byProvider(server, c.account, "").leadsTo("/base/login?problem=" + c.problem)
			if cookie(out) != "" {
				t.Error("it opens a session")
			}
			if known {
				here.anonymous("GET", "/api/me", nil, "Cookie", inside).problem(401)
			}
		})
	}
	if strings.Contains(r.do("GET", "/api/people", nil).body, `"new"`) {
		t.Error("a guest was added")
	}

	// The role follows the groups: a person becomes a guest, whose plays are ignored, and a person again.
	path := fmt.Sprintf("/api/people/%d", me.ID)
	r.do("PATCH", path, map[string]any{"media_user_names": []string{"mira-tv"}}).want(200)
	r.from(30).byProvider(server, with(mira, []string{"visitors"}), "").leadsTo("/base/login?problem=guest")
	r.do("GET", path, nil).want(200, `"role":"guest"`)
	r.do("GET", "/api/ignored-users", nil).want(200, "mira-tv")
	r.from(31).byProvider(server, mira, "").leadsTo("/base/")
	r.do("GET", path, nil).want(200, `"role":"person"`)
	if strings.Contains(r.do("GET", "/api/ignored-users", nil).body, "mira-tv") {
		t.Error("what a person watches is ignored")
	}

	// A group of another name ends the sessions that the old one opened.
	session = cookie(r.byProvider(server, mira, ""))
	r.anonymous("GET", "/api/me", nil, "Cookie", session).want(200)
	r.do("PATCH", "/api/settings", map[string]any{"auth": map[string]any{"oidc_person_group": "others"}}).want(200)
	r.anonymous("GET", "/api/me", nil, "Cookie", session).problem(401)
}

// There is one owner: the first account of the group; the password of the owner always works.
func TestTheGroupOfTheOwner(t *testing.T) {
	r, server := family(t)
	bench := oidctest.Account{Subject: "sub-of-bench", Username: "bench", Groups: []string{"admins"}}
	session := cookie(r.byProvider(server, bench, "").leadsTo("/base/"))
	r.anonymous("GET", "/api/me", nil, "Cookie", session).want(200, `"role":"owner"`, `"name":"bench"`)
	second := oidctest.Account{Subject: "sub-of-eve", Username: "bench", Groups: []string{"admins"}}
	r.byProvider(server, second, "").leadsTo("/base/login?problem=one_owner")
	for group, problem := range map[string]string{"family": "owner_group", "visitors": "owner_group", "other": "no_group"} {
		demoted := bench
		demoted.Groups = []string{group}
		r.from(byte(40+len(group))).byProvider(server, demoted, "").leadsTo("/base/login?problem=" + problem)
	}
	r.do("GET", "/api/people/1", nil).want(200, `"role":"owner"`)
	r.anonymous("GET", "/api/me", nil, "Cookie", session).want(200)
	r.from(60).anonymous("POST", "/api/login", map[string]any{"name": "bench", "password": housePassword}).want(200)
	if n := strings.Count(r.do("GET", "/api/people", nil).body, `"role":"owner"`); n != 1 {
		t.Errorf("there are %d owners", n)
	}
}

func TestAnInvitationIsAcceptedByTheProvider(t *testing.T) {
	r, server := family(t)
	id, token := r.invites("Mira M.", "mira")
	mira := oidctest.Account{Subject: "sub-of-mira", Username: "mira", Groups: []string{"other"}}
	r.anonymous("POST", "/api/login/oidc", map[string]any{"invitation": "wrong"}).problem(401, "invitation_wrong")
	r.byProvider(server, mira, token).leadsTo("/base/invitation?problem=no_group&token=" + token)
	mira.Groups = []string{"family"}
	session := cookie(r.byProvider(server, mira, token).leadsTo("/base/"))
	r.anonymous("GET", "/api/me", nil, "Cookie", session).want(200, fmt.Sprintf(`"id":%d`, id), `"media_user_names":["mira"]`)
	_, other := r.invites("Alex")
	r.byProvider(server, mira, other).leadsTo("/base/invitation?problem=taken&token=" + other)
	owner := oidctest.Account{Subject: "sub-of-bench", Groups: []string{"admins"}}
	r.byProvider(server, owner, other).leadsTo("/base/invitation?problem=taken&token=" + other)
}
