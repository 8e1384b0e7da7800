package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/door/access"
	"watchmark/internal/door/auth"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/mediaservertest"
	"watchmark/internal/testkit/oidctest"
	"watchmark/internal/testkit/totptest"
)

// houseShow and houseSeason are what everybody of the house watches, each an episode of their own.
const (
	houseShow    = "灯塔守望者"
	houseSeason  = 2
	houseEpisode = 90000200 // and the number
)

// house is the whole service with an owner, six people, each of whom comes in by a way of their own and has an account, and three guests.
type house struct {
	*service
	jellyfin, emby *mediaservertest.Server
	tv             *mediaservertest.PlexTV
	provider       *oidctest.Server
	people         []member
	names          []string
	tokens         []string
}

// tokenIn is the token of somebody of the house.
func tokenIn(name string) string { return name + "-token-9f2c7a41d6" }

// startHouse has everybody in, with a token that the catalog confirms.
func startHouse(t *testing.T, environ ...string) *house {
	t.Helper()
	h := &house{
		tv:       mediaservertest.StartPlexTV(t),
		jellyfin: mediaservertest.Start(t, mediaservertest.Sample(mediaservertest.Jellyfin, mediaservertest.User{Name: "landlord", Password: "pass"}, mediaservertest.User{Name: "arim-jellyfin", Password: "of arim"}, mediaservertest.User{Name: "guest-jellyfin", Password: "pass"})),
		emby:     mediaservertest.Start(t, mediaservertest.Sample(mediaservertest.Emby, mediaservertest.User{Name: "landlord", Password: "pass"}, mediaservertest.User{Name: "xela-emby", Password: "of xela"})),
		provider: oidctest.Start(t, oidctest.Config{ClientID: "watchmark", ClientSecret: "secret of the client"}),
		names:    []string{"mira", "alex", "bench", "arim", "xela", "hcneb"},
	}
	h.tv.PollEvery = 0
	plex := mediaservertest.Start(t, mediaservertest.Config{Kind: mediaservertest.Plex, ID: "machine-1", TV: h.tv, Users: []mediaservertest.User{{Name: "landlord", Password: "pass"}, {Name: "bench-plex", Password: "of bench"}}})
	h.service = startEmpty(t, append(environ, "WATCHMARK_WATCHER_PLEX_URL="+h.tv.URL, "WATCHMARK_WATCHER_PLEX_CLIENTS_URL="+h.tv.URL, "WATCHMARK_WATCHER_PLEX_AUTH_URL="+h.tv.URL+"/auth",
		"WATCHMARK_AUTH_OIDC_ISSUER="+h.provider.URL(), "WATCHMARK_AUTH_OIDC_CLIENT_ID=watchmark", "WATCHMARK_AUTH_OIDC_CLIENT_SECRET=secret of the client", "WATCHMARK_AUTH_OIDC_PERSON_GROUP=family")...)
	if err := h.app.SetUp(t.Context(), "landlord", password); err != nil {
		t.Fatal(err)
	}
	servers := []int64{h.connects(h.jellyfin, mediaservertest.Jellyfin, "landlord"), h.connects(h.emby, mediaservertest.Emby, "landlord"), h.connectsPlex(plex)}
	var open []string
	for _, id := range servers {
		login := h.loginOf(id)
		open = append(open, fmt.Sprintf("%q", login.ServerID))
	}
	h.api(http.MethodPatch, "/api/settings", fmt.Sprintf(`{"auth":{"media_servers":[%s]}}`, strings.Join(open, ",")), http.StatusOK, nil)
	for i, way := range []func(name string) member{
		h.byLink, h.byGroup, h.byPlex,
		func(name string) member { return h.byServer(servers[0], name, "arim-jellyfin", "of arim") },
		func(name string) member { return h.byServer(servers[1], name, "xela-emby", "of xela") },
		h.bySecondFactor,
	} {
		name := h.names[i]
		h.list.SetUser(catalogtest.User{Username: name, Token: tokenIn(name)})
		h.tokens = append(h.tokens, tokenIn(name))
		m := way(name)
		var me struct {
			ID         int64
			Name, Role string
			Users      []string `json:"media_user_names"`
		}
		into(t, m.want(http.MethodGet, "/api/me", "", http.StatusOK).body, &me)
		if me.ID != m.id || me.Name != name || me.Role != "person" || fmt.Sprint(me.Users) != fmt.Sprintf("[%s]", m.user) {
			t.Fatalf("%s is %+v, not %+v", name, me, m)
		}
		m.connectsAccount(name, tokenIn(name))
		h.people = append(h.people, m)
	}
	for _, name := range []string{"guest-plex", "guest-jellyfin", "guest-script"} {
		h.api(http.MethodPost, "/api/people", fmt.Sprintf(`{"name":%q,"role":"guest","media_user_names":[%[1]q]}`, name), http.StatusCreated, nil)
	}
	return h
}

// connectsPlex connects the Plex of the owner, and answers the id of the sign-in there.
func (h *house) connectsPlex(server *mediaservertest.Server) int64 {
	h.t.Helper()
	var added struct {
		ID     int64
		SignIn struct{ Code string } `json:"sign_in"`
	}
	h.api(http.MethodPost, "/api/servers", fmt.Sprintf(`{"kind":"plex","url":%q}`, server.URL), http.StatusCreated, &added)
	if err := h.tv.Approve(added.SignIn.Code, "landlord"); err != nil {
		h.t.Fatal(err)
	}
	h.wait("the confirmation is noticed", func() bool { return h.loginOf(added.ID).ServerID != "" })
	return added.ID
}

// byLink accepts an invitation with a password.
func (h *house) byLink(name string) member {
	h.t.Helper()
	m := h.invited(name)
	m.user = name
	return m
}

// byGroup comes in as an account of the provider whose group makes it a person; the owner says which user that is.
func (h *house) byGroup(name string) member {
	h.t.Helper()
	h.provider.Set(func(c *oidctest.Config) {
		c.Account = oidctest.Account{Subject: "sub-of-" + name, Username: name, Groups: []string{"readers", "family"}}
	})
	m := member{s: h.service, user: name + "-oidc", cookie: h.byPage("/api/login/oidc", "{}", func(at *url.URL) string {
		request, err := http.NewRequestWithContext(h.t.Context(), http.MethodGet, at.String(), nil)
		if err != nil {
			h.t.Fatal(err)
		}
		back, err := url.Parse(h.do(request).header.Get("Location"))
		if err != nil {
			h.t.Fatal(err)
		}
		return back.RequestURI()
	})}
	var me struct{ ID int64 }
	into(h.t, m.want(http.MethodGet, "/api/me", "", http.StatusOK).body, &me)
	m.id = me.ID
	h.api(http.MethodPatch, fmt.Sprintf("/api/people/%d", m.id), fmt.Sprintf(`{"media_user_names":[%q]}`, m.user), http.StatusOK, nil)
	return m
}

// byPage begins a sign-in at a page elsewhere, has it confirmed there, and answers the session that the way back opens.
func (h *house) byPage(path, body string, confirm func(at *url.URL) (back string)) string {
	h.t.Helper()
	var begun struct {
		AuthorizeURL string `json:"authorize_url"`
	}
	_, got := h.enters(path, "%s", body)
	into(h.t, got.body, &begun)
	at, err := url.Parse(begun.AuthorizeURL)
	if err != nil {
		h.t.Fatal(err)
	}
	back := h.request(http.MethodGet, confirm(at), "", "")
	for _, cookie := range (&http.Response{Header: got.header}).Cookies() {
		back.AddCookie(cookie)
	}
	ended := h.do(back)
	if ended.cookie(auth.CookieName) == "" {
		h.t.Fatalf("%s ends as %d and leads to %s", path, ended.status, ended.header.Get("Location"))
	}
	return ended.cookie(auth.CookieName)
}

// byPlex accepts an invitation on the page of Plex, which says whose user it is.
func (h *house) byPlex(name string) member {
	h.t.Helper()
	id, token := h.invites(name)
	m := member{s: h.service, id: id, user: name + "-plex"}
	m.cookie = h.byPage("/api/login/plex", fmt.Sprintf(`{"invitation":%q}`, token), func(at *url.URL) string {
		_, fragment, _ := strings.Cut(at.String(), "#?")
		asked, err := url.ParseQuery(fragment)
		if err == nil {
			err = h.tv.Approve(asked.Get("code"), m.user)
		}
		if err != nil {
			h.t.Fatal(err)
		}
		return "/api/login/plex/callback"
	})
	return m
}

// byServer accepts an invitation with name and password at a media server, and comes in by these alone later.
func (h *house) byServer(server int64, name, user, password string) member {
	h.t.Helper()
	id, token := h.invites(name)
	const body = `{"server":%d,"name":%q,"password":%q%s}`
	if session, got := h.enters("/api/login/server", body, server, user, password, fmt.Sprintf(`,"invitation":%q`, token)); session == "" {
		h.t.Fatalf("%s is answered %d: %s", name, got.status, got.body)
	}
	session, _ := h.enters("/api/login/server", body, server, user, password, "")
	return member{s: h.service, id: id, user: user, cookie: session}
}

// bySecondFactor accepts an invitation, adds a code to the password, and comes in by both.
func (h *house) bySecondFactor(name string) member {
	h.t.Helper()
	m := h.byLink(name)
	var begun struct{ Secret string }
	into(h.t, m.want(http.MethodPost, "/api/two-factor/start", fmt.Sprintf(`{"password":%q}`, password), http.StatusOK).body, &begun)
	m.want(http.MethodPost, "/api/two-factor/confirm", fmt.Sprintf(`{"code":%q}`, totptest.Code(begun.Secret, time.Now())), http.StatusOK)
	if session, got := h.enters("/api/login", `{"name":%q,"password":%q}`, name, password); session != "" {
		h.t.Fatalf("without the code %s is in: %s", name, got.body)
	}
	session, got := h.enters("/api/login", `{"name":%q,"password":%q,"code":%q}`, name, password, totptest.Code(begun.Secret, time.Now().Add(30*time.Second)))
	if session == "" {
		h.t.Fatalf("with the code %s is not in: %d %s", name, got.status, got.body)
	}
	m.cookie = session
	return m
}

// watch has a user of a server watch an episode, and waits for its record.
func (h *house) watch(source, user, show string, season, episode int) recordView {
	h.t.Helper()
	contentType, body := "application/json", fmt.Sprintf(`{"title":%q,"season":%d,"episode":%d,"user_name":%q}`, show, season, episode, user)
	switch source {
	case "plex":
		contentType, body = form("payload", fmt.Sprintf(`{"event":"media.scrobble","user":true,"owner":true,"Account":{"id":1,"title":%q},"Server":{"title":"attic"},
			"Metadata":{"librarySectionType":"show","type":"episode","title":"x","grandparentTitle":%q,"index":%d,"parentIndex":%d,"guid":"plex://episode/%[3]d"}}`, user, show, episode, season))
	case "jellyfin":
		body = fmt.Sprintf(`{"NotificationType":"PlaybackStop","ItemType":"Episode","SeriesName":%q,"SeasonNumber":%d,"EpisodeNumber":%d,"NotificationUsername":%q,"PlayedToCompletion":true}`, show, season, episode, user)
	case "emby":
		body = fmt.Sprintf(`{"Event":"item.markplayed","User":{"Name":%q},"Server":{"Id":"attic"},"Item":{"Type":"Episode","Id":"%d","Name":"x","SeriesName":%q,"ParentIndexNumber":%d,"IndexNumber":%[2]d}}`, user, episode, show, season)
	}
	return h.settled(h.accepted(h.webhook(source, contentType, body))[0])
}

// sources are where each of the house watches, in their order: at the server that they come in by, if there is one.
var sources = []string{"custom", "custom", "plex", "jellyfin", "emby", "custom"}

// Everybody of a house comes in by a way of their own, watches where they come in, answers a question, and takes back. What guests watch is on no
// list. Of nobody else does anybody see or change anything.
func TestAHouseOfTen(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	h := startHouse(t, "WATCHMARK_SERVER_METRICS=true")
	h.list.SetUser(catalogtest.User{Username: "landlord", Token: tokenIn("landlord")})
	h.api(http.MethodPost, "/api/accounts", fmt.Sprintf(`{"username":"landlord","access_token":%q,"media_user_names":["landlord"]}`, tokenIn("landlord")), http.StatusCreated, nil)
	want := map[string]bool{}
	lists := func(when string) {
		t.Helper()
		if diff := cmp.Diff(want, h.marked()); diff != "" {
			t.Fatalf("%s the lists are (-want +got):\n%s", when, diff)
		}
	}

	// An evening. The owner and a guest are followed at the Jellyfin, without a webhook.
	h.connects(h.jellyfin, mediaservertest.Jellyfin, "guest-jellyfin")
	for _, user := range []string{"landlord", "guest-jellyfin"} {
		if err := h.jellyfin.Watch(user, must(h.jellyfin.Find(houseShow, houseSeason, 7))(t).ID); err != nil {
			t.Fatal(err)
		}
	}
	want[fmt.Sprintf("landlord/%d", houseEpisode+7)] = true
	for i, m := range h.people {
		want[fmt.Sprintf("%s/%d", h.names[i], houseEpisode+i+1)] = true
		if r := h.watch(sources[i], m.user, houseShow, houseSeason, i+1); r.Status != "success" || r.AccountName != h.names[i] || r.UserName != m.user {
			t.Errorf("what %s watches is %+v", h.names[i], r)
		}
	}
	h.watch("plex", "guest-plex", houseShow, houseSeason, 8)
	h.watch("custom", "guest-script", houseShow, houseSeason, 9)
	h.wait("everybody's record is there", func() bool {
		all := list[recordView](h.service, "/api/records?limit=100")
		return len(all) == 10 && !slices.ContainsFunc(all, func(r recordView) bool {
			return r.Status == "received" || r.Status == "processing" || r.Status == "queued"
		})
	})
	lists("after the evening")
	for _, r := range list[recordView](h.service, "/api/records?limit=100") {
		if guest := strings.HasPrefix(r.UserName, "guest-"); guest != (r.Status == "ignored") || guest != (r.AccountName == "") {
			t.Errorf("the record is %+v", r)
		}
	}
	// The guests are no matter for anybody.
	if got := h.standsAs("guest-plex"); got.Lines+got.Notices+got.Badge+got.Failed != 0 || got.Ignored != 3 {
		t.Errorf("the guests stand as %+v", got)
	}
	if n := h.unread(); n.Attention != 0 {
		t.Errorf("%d notices want attention", n.Attention)
	}

	// Everybody is asked the same, and answers for themselves: one as the other, or the other one.
	of := func(m member, what string) (all struct{ Items []json.RawMessage }) {
		t.Helper()
		into(t, m.want(http.MethodGet, what, "", http.StatusOK).body, &all)
		return all
	}
	var waiting []int64
	for i, m := range h.people {
		if asked := of(m, "/api/pending-candidates"); len(asked.Items) != 0 {
			t.Errorf("%s is asked what others watched: %s", h.names[i], asked.Items)
		}
		waiting = append(waiting, h.watch(sources[i], m.user, "Moonshade Teahouse", 1, i+1).ID)
	}
	h.become(waiting, "review")
	asked := h.questions()
	if len(asked) != 1 || asked[0].Waiting != len(h.people) {
		t.Fatalf("the owner is asked %+v", asked)
	}
	path := fmt.Sprintf("/api/pending-candidates/%d", asked[0].ID)
	for i, m := range h.people {
		var mine question
		into(t, m.want(http.MethodGet, path, "", http.StatusOK).body, &mine)
		if mine.Waiting != 1 {
			t.Errorf("%s is asked %+v", h.names[i], mine)
		}
		subject := 900013 + i%2
		m.want(http.MethodPost, path+"/confirm", fmt.Sprintf(`{"subject_id":%d}`, subject), http.StatusAccepted)
		h.become(waiting[i:i+1], "success")
		h.become(waiting[i+1:], "review")
		want[fmt.Sprintf("%s/%d", h.names[i], subject*100+i+1)] = true
		lists("after the answer of " + h.names[i])
	}
	h.seesItsOwn()

	// Everybody takes the answer back, and then what they watched.
	for i, m := range h.people {
		m.want(http.MethodPost, path+"/undo", "", http.StatusAccepted)
		h.become(waiting[i:i+1], "review")
		h.become(waiting[i+1:], "success")
		delete(want, fmt.Sprintf("%s/%d", h.names[i], (900013+i%2)*100+i+1))
		lists("after the undo of " + h.names[i])
		if left := len(of(m, "/api/mappings").Items); left != 0 {
			t.Errorf("%s has %d mappings left", h.names[i], left)
		}
		var first struct{ Items []recordView }
		into(t, m.want(http.MethodGet, "/api/records?status=success", "", http.StatusOK).body, &first)
		if len(first.Items) != 1 {
			t.Fatalf("%s reads %+v", h.names[i], first.Items)
		}
		m.want(http.MethodPost, fmt.Sprintf("/api/records/%d/unmark", first.Items[0].ID), "", http.StatusOK)
		delete(want, fmt.Sprintf("%s/%d", h.names[i], houseEpisode+i+1))
		lists("after " + h.names[i] + " took back")
	}
	h.seesItsOwn()
	h.holdsNoToken()

	// What tells of everybody is the owner's. Who is removed is out, and what they watched stays.
	last := h.people[5]
	part := regexp.MustCompile(`\{[^}]+\}`)
	for _, path := range access.Paths() {
		if rule, _ := access.Path(path); rule.Person != access.Nothing {
			continue
		}
		at := part.ReplaceAllString(strings.ReplaceAll(path, "{$}", ""), "1")
		if got := last.as(http.MethodGet, at, ""); got.status != http.StatusForbidden && (at != "/" || got.status != http.StatusSeeOther) {
			t.Errorf("%s of %s answers %d", at, h.names[5], got.status)
		}
	}
	last.want(http.MethodGet, "/api/logs/stream", "", http.StatusForbidden)
	h.api(http.MethodDelete, fmt.Sprintf("/api/people/%d", last.id), "", http.StatusNoContent, nil)
	last.want(http.MethodGet, "/api/me", "", http.StatusUnauthorized)
	if r := h.settled(waiting[5]); r.UserName != last.user {
		t.Errorf("what %s watched is %+v", h.names[5], r)
	}
	lists("after one was removed")
}

// seesItsOwn reads all that everybody may list, and every page of theirs: there is nothing of another in it, and nothing is in two lists but
// the question that several are asked.
func (h *house) seesItsOwn() {
	h.t.Helper()
	seen := map[string]map[int64]string{}
	for i, m := range h.people {
		var hidden []string
		for k, other := range h.people {
			if k != i {
				hidden = append(hidden, h.names[k], other.user)
			}
		}
		hidden = append(hidden, "landlord", "guest-")
		look := func(path string, got answer) {
			if at := slices.IndexFunc(hidden, func(name string) bool {
				return regexp.MustCompile(`\b` + regexp.QuoteMeta(name)).MatchString(got.body)
			}); at >= 0 && got.status == http.StatusOK {
				where := regexp.MustCompile(`\b` + regexp.QuoteMeta(hidden[at])).FindStringIndex(got.body)
				h.t.Errorf("%s of %s shows %s: %s", path, h.names[i], hidden[at], got.body[max(0, where[0]-80):min(len(got.body), where[0]+80)])
			}
		}
		for _, op := range h.operations() {
			if rule, _ := access.Operation(op.id); rule.Person != access.Nothing && op.method == http.MethodGet && !strings.Contains(op.path, "{") && !slices.Contains(documents, op.id) {
				look(op.path, m.asks(asking{op.method, op.path, nil}))
			}
		}
		for _, path := range access.Paths() {
			if rule, _ := access.Path(path); rule.Person != access.Nothing && !strings.Contains(path, "{") && !strings.HasPrefix(path, "/docs") && path != "/live" {
				look(path, m.as(http.MethodGet, path, ""))
			}
		}
		for kind, ids := range h.idsFor(func(path string) answer {
			got := m.as(http.MethodGet, path, "")
			look(path, got)
			return got
		}) {
			if seen[kind] == nil {
				seen[kind] = map[int64]string{}
			}
			for id := range ids {
				if first, is := seen[kind][id]; is && kind != "questions" {
					h.t.Errorf("%d of the %s is of %s and %s", id, kind, first, h.names[i])
				}
				seen[kind][id] = h.names[i]
			}
		}
		if n := len(seen["records"]); n != 2*(i+1) {
			h.t.Errorf("with %s there are %d records", h.names[i], n)
		}
	}
}

// holdsNoToken reads all that the owner reads, and the log, for the tokens of people.
func (h *house) holdsNoToken() {
	h.t.Helper()
	for _, op := range h.operations() {
		if op.method != http.MethodGet || strings.Contains(op.path, "{") || op.streams {
			continue
		}
		got := h.get(op.path)
		if i := slices.IndexFunc(h.tokens, func(token string) bool { return strings.Contains(got.body, token) }); i >= 0 {
			h.t.Errorf("%s shows the token of %s", op.path, h.names[i])
		}
	}
	if i := slices.IndexFunc(h.tokens, func(token string) bool { return strings.Contains(h.logs.String(), token) }); i >= 0 {
		h.t.Errorf("the log has the token of %s", h.names[i])
	}
}
