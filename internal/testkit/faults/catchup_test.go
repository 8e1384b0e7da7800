package faults

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/mediaservertest"
)

// TestACatchUpIsKilled kills a service at random moments while it catches up with a media server: each play becomes one record.
func TestACatchUpIsKilled(t *testing.T) {
	const perRound = 30
	rounds := number(t, "WATCHMARK_FAULT_ROUNDS", 5)
	random := randomOf(seed(t), t.Name())
	server := mediaservertest.Start(t, mediaservertest.Config{
		Kind: mediaservertest.Jellyfin, Version: "10.11.8", PageMost: 3, // many transactions in one catch-up
		Users: []mediaservertest.User{{Name: "bench-1", Password: "pw"}}, Libraries: []mediaservertest.Library{{ID: "f0", Name: "Shows", Kind: "show"}},
	})
	list := catalogtest.New(catalogtest.Config{Users: people(usersNamed(1))})
	url, stop, err := list.Listen(context.Background(), "127.0.0.1:0")
	must(t, err)
	defer stop()
	s := serve(t, t.TempDir(), url)
	s.addAccounts(usersNamed(1))
	var login struct {
		ID    int64 `json:"id"`
		Known int   `json:"known"`
		Last  *struct {
			Held int `json:"held"`
		} `json:"last_catch_up"`
		Compared *time.Time `json:"compared_at"`
	}
	s.call(http.StatusCreated, http.MethodPost, "/api/servers", fmt.Sprintf(`{"kind":"jellyfin","url":%q,"username":"bench-1","password":"pw"}`, server.URL), &login)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	path := fmt.Sprintf("/api/servers/%d", login.ID)
	for login.Compared == nil && pause(ctx) {
		s.call(http.StatusOK, http.MethodGet, path, "", &login)
	}
	played := []string{}
	for round := range rounds {
		s.process().kill()
		for n := range perRound {
			title := fmt.Sprintf("Show %d of round %d", n+1, round+1)
			show := server.AddShow(mediaservertest.Show{Library: "f0", Title: title})
			item := server.Add(mediaservertest.Item{Library: "f0", Show: show.ID, Title: "One", Season: 1, Episode: 1})
			if n == 0 {
				must(t, server.Import("bench-1", item.ID)) // without a date: only a comparison finds it
			} else {
				must(t, server.Watch("bench-1", item.ID))
			}
			played = append(played, title)
		}
		s.start()
		<-time.After(time.Duration(random.Int64N(int64(400 * time.Millisecond))))
		s.restart()
		<-time.After(time.Duration(random.Int64N(int64(400 * time.Millisecond))))
	}
	titles := func() (all []string) {
		for _, r := range s.records("") { // of every status in one reading: a record moves from one to the next meanwhile
			all = append(all, r.Title)
		}
		slices.Sort(all)
		return all
	}
	slices.Sort(played)
	got := titles()
	for ; len(got) < len(played) && pause(ctx); got = titles() {
	}
	s.settled()
	got = titles()
	lost := slices.DeleteFunc(slices.Clone(played), func(title string) bool { return slices.Contains(got, title) })
	var twice []string
	for i, title := range got {
		if i > 0 && got[i-1] == title {
			twice = append(twice, title)
		}
	}
	report(t, "lost", lost)
	report(t, "doubled", twice)
	t.Logf("%d rounds: %d plays, %d lost, %d doubled", rounds, len(played), len(lost), len(twice))
}
