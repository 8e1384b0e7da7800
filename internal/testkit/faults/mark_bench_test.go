package faults

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/simulated"
)

// BenchmarkMark measures one watch after the other, each alone: from the first byte of its webhook until its mark is
// on the list of a catalog without latency. What the show is was looked up before. "first" are those that put the
// show on the list, "next" are all others.
func BenchmarkMark(b *testing.B) {
	episodes, users := certain(b), usersNamed(40)
	slices.SortStableFunc(episodes, func(x, y episode) int { return cmp.Compare(x.sort, y.sort) })
	var events []event // nobody watches two of a show in a row, for those would be a burst
	for _, e := range episodes {
		for _, user := range users {
			events = append(events, event{e, user})
		}
	}
	list := catalogtest.New(catalogtest.Config{Users: people(users), AtomicMarks: true})
	must(b, list.LoadSample())
	marked := make(chan time.Time, len(events))
	url := simulated.Start(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		list.ServeHTTP(w, r)
		if r.Method != http.MethodGet && strings.Contains(r.URL.Path, "/episodes") {
			marked <- time.Now()
		}
	}))
	s := serve(b, b.TempDir(), url)
	s.addAccounts(users)
	for _, e := range episodes { // what a show is, is known from here on
		s.call(http.StatusOK, http.MethodPost, "/api/test-match", string(event{e, users[0]}.body()), nil)
	}
	client, err := dialRaw(strings.TrimPrefix(s.process().url, "http://"))
	must(b, err)
	defer client.close()
	type show struct {
		user    string
		subject catalog.SubjectID
	}
	var first, next []time.Duration
	seen, i := map[show]bool{}, 0
	for b.Loop() {
		if i == len(events) {
			b.Fatalf("only %d watches are prepared: give a smaller -benchtime, such as 400x", i)
		}
		e := events[i]
		i++
		request := prepare(strings.TrimPrefix(s.process().url, "http://"), e)
		began := time.Now()
		status, err := client.send(request)
		must(b, err)
		if status != http.StatusAccepted {
			b.Fatalf("the webhook is answered %d", status)
		}
		took := (<-marked).Sub(began)
		b.StopTimer()
		if key := (show{e.user, e.subject}); seen[key] {
			next = append(next, took)
		} else {
			seen[key] = true
			first = append(first, took)
		}
		eventually(b, "the record is settled", func() bool {
			var r struct{ Status string }
			s.call(http.StatusOK, http.MethodGet, fmt.Sprintf("/api/records/%d", i), "", &r)
			return r.Status == "success"
		})
		b.StartTimer()
	}
	report := func(name string, times []time.Duration) {
		if len(times) == 0 {
			return
		}
		slices.Sort(times)
		l := load{times: times}
		b.ReportMetric(l.quantile(0.5), name+"-p50-ms")
		b.ReportMetric(l.quantile(0.99), name+"-p99-ms")
	}
	report("first", first)
	report("next", next)
}
