package catalog_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/catalog"
)

const emptyPage = `{"data":[],"total":0,"limit":200,"offset":0}`

// An empty list of a subject that should have episodes is asked for again before it is believed.
func TestEmptyListsAreNotBelievedAtOnce(t *testing.T) {
	const full = `{"data":[{"id":81,"subject_id":8,"type":0,"sort":1,"ep":1}],"total":1}`
	for _, c := range []struct {
		name    string
		subject string
		lists   []string // what is answered one after the other, the last one from then on
		err     bool
		rows    int
		asked   int
		later   bool // believed after a while
	}{
		{"full", `"eps":1,"date":"1998-04-03"`, []string{full}, false, 1, 1, true},
		{"empty once", `"eps":1,"date":"1998-04-03"`, []string{emptyPage, full}, false, 1, 2, true},
		{"empty for ever", `"eps":1,"date":"1998-04-03"`, []string{emptyPage}, true, 0, 2, true},
		{"none counted", `"eps":0,"date":"1998-04-03"`, []string{emptyPage}, false, 0, 1, true},
		{"not begun", `"eps":12,"date":"2199-01-01"`, []string{emptyPage}, false, 0, 1, true},
		{"announced for some day", `"eps":12,"date":null`, []string{emptyPage}, false, 0, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *site) {
				asked := 0
				s.does(func(w http.ResponseWriter, r *http.Request) {
					if !strings.HasPrefix(r.URL.Path, "/v0/episodes") {
						say(200, asJSON, `{"id":8,"type":2,"name":"A",`+c.subject+`}`)(w, r)
						return
					}
					say(200, asJSON, c.lists[min(asked, len(c.lists)-1)])(w, r)
					asked++
				})
				cached := catalog.NewCached(s.Client)
				rows, err := cached.Episodes(t.Context(), 8)
				if errors.Is(err, catalog.ErrUnreachable) != c.err || len(rows) != c.rows || asked != c.asked {
					t.Fatalf("%v, %v, asked %d times", rows, err, asked)
				}
				if !c.err {
					return
				}
				var failure *catalog.Error
				if !errors.As(err, &failure) || failure.RetryAfter != 30*time.Second || !catalog.Asked(err) || !s.Reachability().Reachable ||
					catalog.Outage(err).Code != "outage_no_episodes" {
					t.Errorf("%+v, %q", failure, catalog.Outage(err))
				}
				time.Sleep(29 * time.Second)
				if _, err := cached.Episodes(t.Context(), 8); !errors.Is(err, catalog.ErrUnreachable) {
					t.Errorf("too early: %v", err)
				}
				time.Sleep(time.Second)
				if rows, err := cached.Episodes(t.Context(), 8); err != nil || len(rows) != 0 {
					t.Errorf("in the end: %v, %v", rows, err)
				}
				synctest.Wait()
			})
		})
	}
}

// What kind of outage it is, is told apart also for what is not sent because of it.
func TestOutagesAreToldApart(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"rate ban":        {status(429, ""), "Bangumi accepts no requests for a while, because there were too many (HTTP 429)"},
		"server error":    {status(502, "9"), "Bangumi is out of order (HTTP 502)"},
		"cut":             {nil, "Bangumi cannot be reached (the connection was refused or cut)"},
		"no answer":       {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "Bangumi cannot be reached (it did not answer in time)"},
		"somebody else's": {say(200, asJSON, `{}`), "the answer is not one that Bangumi gives (HTTP 200)"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *site) {
				s.does(c.answer)
				for n := 1; n <= 4; n++ {
					if _, err := s.ask(t.Context()); catalog.Outage(err).Text != c.want {
						t.Errorf("request %d: %q (%v)", n, catalog.Outage(err), err)
					}
				}
				if s.Reachability().Reachable {
					t.Error("the breaker is closed")
				}
			})
		})
	}
}
