package app_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"watchmark/internal/tell/notify"
	"watchmark/internal/testkit/mediaservertest"
)

// TestAMediaServerThatNeedsSomebodyIsTold: a server that sleeps at night is no matter, one that is away for a day, or wants a person, is
// told once.
func TestAMediaServerThatNeedsSomebodyIsTold(t *testing.T) {
	// Only by a proxy are media servers reached in the network of a bubble: their addresses are checked otherwise.
	atHome(t, []string{"WATCHMARK_NETWORK_PROXY=http://proxy"}, func(t *testing.T, h *home) {
		server := mediaservertest.New(mediaservertest.Config{
			Kind: mediaservertest.Jellyfin, Version: "12.0.0", Name: "attic", Users: []mediaservertest.User{{Name: "mira", Password: "pw"}},
			Libraries: []mediaservertest.Library{{ID: "f0", Name: "Shows", Kind: "show"}}, Shows: []mediaservertest.Show{{ID: "700", Library: "f0", Title: "Lighthouse"}},
		})
		h.site("proxy", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Host == "attic.example" {
				server.ServeHTTP(w, r)
				return
			}
			h.list.ServeHTTP(w, r)
		}))
		for n := range 40 {
			server.Add(mediaservertest.Item{Library: "f0", Show: "700", Title: "Night", Season: 1, Episode: n + 1})
		}
		ask := func(method, path, body string) {
			t.Helper()
			request, err := http.NewRequestWithContext(t.Context(), method, "http://watchmark/api/servers"+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", "application/json")
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			if answer.StatusCode/100 != 2 {
				t.Fatalf("%s %s is answered %d: %s", method, path, answer.StatusCode, text)
			}
		}
		var seen int64
		told := func(what string, want ...notify.Kind) {
			t.Helper()
			got := []notify.Kind{}
			for _, e := range h.told(&seen) {
				if strings.HasPrefix(string(e.Kind), "server_") {
					got = append(got, e.Kind)
					if e.Facts["server"] != "attic" {
						t.Errorf("%s: %+v", what, e)
					}
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: told %q, want %q", what, got, want)
			}
		}
		ask(http.MethodPost, "", `{"kind":"jellyfin","url":"http://attic.example","username":"mira","password":"pw"}`)
		time.Sleep(5 * time.Minute)
		server.Down(true)
		time.Sleep(23 * time.Hour)
		told("after a night")
		time.Sleep(2 * time.Hour)
		told("after a day", notify.ServerUnreachable)
		time.Sleep(time.Hour)
		h.again(time.Minute)
		time.Sleep(2 * time.Hour)
		told("after a start")
		server.Down(false)
		time.Sleep(10 * time.Minute)
		if n := h.open(notify.ServerUnreachable); n != 0 {
			t.Error("it is a matter still that it does not answer")
		}
		if err := server.Revoke("mira"); err != nil {
			t.Fatal(err)
		}
		server.Cut()
		time.Sleep(10 * time.Minute)
		told("signed out", notify.ServerSignedOut)
		ask(http.MethodPost, "/1/sign-in", `{"username":"mira","password":"pw"}`)
		time.Sleep(5 * time.Minute)
		if n := h.open(notify.ServerSignedOut); n != 0 {
			t.Error("it is a matter still that nobody is signed in")
		}
		if err := server.MarkSeason("mira", "700", 1, true); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		told("a season of forty", notify.ServerAsks)
		ask(http.MethodPost, "/1/held", `{"take":false}`)
		time.Sleep(5 * time.Minute)
		if n := h.open(notify.ServerAsks); n != 0 {
			t.Error("it is a matter still that plays are held")
		}
		told("in the end")
	})
}

// open is how many notices of a kind are about a matter that is not over.
func (h *home) open(kind notify.Kind) (n int) {
	h.t.Helper()
	entries, _, err := h.Notices.List(h.t.Context(), notify.Filter{Limit: 200})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, e := range entries {
		if e.Kind == kind && e.OverAt.IsZero() && !e.Replaced {
			n++
		}
	}
	if n > 1 {
		h.t.Error(fmt.Sprint(n, " matters of ", kind))
	}
	return n
}
