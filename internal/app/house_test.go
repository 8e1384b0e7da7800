package app_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/mediaservertest"
)

// houseShow and houseSeason are what everybody of the house watches, each an episode of their own.
const (
	houseShow    = "灯塔守望者"
	houseSeason  = 2
	houseEpisode = 90000200 // and the number
)

// house is the whole service with an owner, six people who sign in and have an account each, and three guests.
type house struct {
	*service
	people []member
	names  []string
	tokens []string
}

// tokenIn is the token of somebody of the house.
func tokenIn(name string) string { return name + "-token-9f2c7a41d6" }

// startHouse has everybody in, by invitation and with a token that the catalog confirms.
func startHouse(t *testing.T, environ ...string) *house {
	t.Helper()
	h := &house{service: startEmpty(t, environ...), names: []string{"mira", "alex", "bench", "arim", "xela", "hcneb"}}
	if err := h.app.SetUp(t.Context(), "landlord", password); err != nil {
		t.Fatal(err)
	}
	for _, name := range h.names {
		h.list.SetUser(catalogtest.User{Username: name, Token: tokenIn(name)})
		h.tokens = append(h.tokens, tokenIn(name))
		h.people = append(h.people, h.joins(name, tokenIn(name)))
	}
	for _, name := range []string{"guest-plex", "guest-jellyfin", "guest-script"} {
		h.api(http.MethodPost, "/api/people", fmt.Sprintf(`{"name":%q,"role":"guest","media_user_names":[%[1]q]}`, name), http.StatusCreated, nil)
	}
	return h
}

// watch has somebody watch an episode, and waits for its record.
func (h *house) watch(source, name string, episode int) recordView {
	h.t.Helper()
	switch source {
	case "plex":
		contentType, body := form("payload", fmt.Sprintf(`{"event":"media.scrobble","user":true,"owner":true,"Account":{"id":1,"title":%q},"Server":{"title":"attic"},
			"Metadata":{"librarySectionType":"show","type":"episode","title":"x","grandparentTitle":%q,"index":%d,"parentIndex":%d,"guid":"plex://episode/1"}}`, name, houseShow, episode, houseSeason))
		return h.settled(h.accepted(h.webhook("plex", contentType, body))[0])
	default:
		return h.settled(h.custom(fmt.Sprintf(`{"title":%q,"season":%d,"episode":%d,"user_name":%q}`, houseShow, houseSeason, episode, name)))
	}
}

// An evening of the house: on Plex, on Jellyfin by a sign-in there, and by a script, each person's episode is marked on their own list, and
// those of the guests on none.
func TestAHouseOfTenWatches(t *testing.T) {
	h := startHouse(t)
	var users []mediaservertest.User
	for _, name := range []string{"bench", "arim", "guest-jellyfin"} {
		users = append(users, mediaservertest.User{Name: name, Password: "pass"})
	}
	server := mediaservertest.Start(t, mediaservertest.Sample(mediaservertest.Jellyfin, users...))
	for _, u := range users {
		h.connects(server, mediaservertest.Jellyfin, u.Name)
	}
	want := map[string]bool{}
	for i, name := range h.names {
		want[fmt.Sprintf("%s/%d", name, houseEpisode+i+1)] = true
	}
	h.watch("plex", "mira", 1)
	h.watch("plex", "alex", 2)
	for i, u := range users {
		if err := server.Watch(u.Name, must(server.Find(houseShow, houseSeason, 3+i))(t).ID); err != nil { // the guest watches the fifth
			t.Fatal(err)
		}
	}
	h.watch("custom", "xela", 5)
	h.watch("custom", "hcneb", 6)
	h.watch("plex", "guest-plex", 7)
	h.watch("custom", "guest-script", 8)
	h.wait("everybody's record is there", func() bool {
		all := list[recordView](h.service, "/api/records?limit=100")
		return len(all) == 9 && !slices.ContainsFunc(all, func(r recordView) bool {
			return r.Status == "received" || r.Status == "processing" || r.Status == "queued"
		})
	})
	if diff := cmp.Diff(want, h.marked()); diff != "" {
		t.Errorf("the lists (-want +got):\n%s", diff)
	}
	for _, r := range list[recordView](h.service, "/api/records?limit=100") {
		guest := strings.HasPrefix(r.UserName, "guest-")
		if guest && r.Status != "ignored" || !guest && (r.Status != "success" || r.AccountName != r.UserName) {
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
	// Each sees their own, and nothing of another; what the owner reads has no token.
	for i, m := range h.people {
		got := m.want(http.MethodGet, "/api/records", "", http.StatusOK)
		if n := strings.Count(got.body, `"title":`); n != 1 || !strings.Contains(got.body, fmt.Sprintf(`"episode_id":%d`, houseEpisode+i+1)) {
			t.Errorf("%s reads %s", h.names[i], got.body)
		}
	}
	h.holdsNoToken()
	// One takes back what is their own, and no other list changes.
	var mine struct {
		Items []recordView
	}
	into(t, h.people[3].want(http.MethodGet, "/api/records", "", http.StatusOK).body, &mine)
	h.people[3].want(http.MethodPost, fmt.Sprintf("/api/records/%d/unmark", mine.Items[0].ID), "", http.StatusOK)
	delete(want, fmt.Sprintf("arim/%d", houseEpisode+4))
	if diff := cmp.Diff(want, h.marked()); diff != "" {
		t.Errorf("after one was taken back (-want +got):\n%s", diff)
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
