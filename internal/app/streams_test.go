package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"watchmark/internal/door/auth"
	"watchmark/internal/record"
)

// hearing is what somebody was told by their stream of live pages.
type hearing struct {
	mu     sync.Mutex
	ids    map[int64]int // how often of each record
	events map[string]int
}

// hears listens to the stream of live pages as somebody, until the test ends.
func (m member) hears() *hearing {
	m.s.t.Helper()
	ctx, cancel := context.WithCancel(m.s.t.Context())
	request := m.s.request(http.MethodGet, "/live", "", "").WithContext(ctx)
	request.Header.Set("Cookie", auth.CookieName+"="+m.cookie)
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		cancel()
		m.s.t.Fatal(err)
	}
	h, ended := &hearing{ids: map[int64]int{}, events: map[string]int{}}, make(chan struct{})
	lines := bufio.NewScanner(response.Body)
	if !lines.Scan() { // it listens from the first line on
		cancel()
		m.s.t.Fatal(lines.Err())
	}
	go func() {
		defer close(ended)
		for lines.Scan() {
			h.hear(lines.Text())
		}
	}()
	m.s.t.Cleanup(func() {
		cancel()
		<-ended
		_ = response.Body.Close()
	})
	return h
}

func (h *hearing) hear(line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if event, is := strings.CutPrefix(line, "event: "); is {
		h.events[event]++
	}
	var ids []int64
	if text, is := strings.CutPrefix(line, "data: "); is && json.Unmarshal([]byte(text), &ids) == nil {
		for _, id := range ids {
			h.ids[id]++
		}
	}
}

// told is how often there was word of a record.
func (h *hearing) told(id int64) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ids[id]
}

// Whatever people of a house do, in whatever order, the stream of live pages tells each of their own records, and of nothing else; and the
// stream of a task is there for who began it alone, and tells nothing of others.
func TestStreamsTellNobodyOfOthers(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{1, 2} {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			chance := rand.New(rand.NewPCG(28, seed))
			s := startEmpty(t, "WATCHMARK_MATCHING_DATASET_ENABLED=false")
			if err := s.app.SetUp(t.Context(), "bench", password); err != nil {
				t.Fatal(err)
			}
			s.api(http.MethodPost, "/api/people", `{"name":"visitor","role":"guest","media_user_names":["visitor"]}`, http.StatusCreated, nil)
			quiet := s.invited("nobody-does-anything") // who hears nothing at all
			names := []string{"mira", "alex"}
			people := []member{s.joins("mira", miraToken), s.joins("alex", alexToken)}
			heard, silent := []*hearing{people[0].hears(), people[1].hears()}, quiet.hears()
			var known []int64 // records of anybody
			plays := func(user string) {
				title := []string{"灯塔守望者", "Moonshade Teahouse", "无人知晓的节目", "风之测量师"}[chance.IntN(4)]
				known = append(known, s.custom(fmt.Sprintf(`{"title":%q,"season":1,"episode":%d,"user_name":%q}`, title, 1+chance.IntN(14), user)))
			}
			some := func() int64 {
				if len(known) == 0 {
					return missing
				}
				return known[chance.IntN(len(known))]
			}
			begun := map[int64]int{} // tasks, by who began them
			asks := func(who int, method, path, body string) {
				t.Helper()
				got := people[who].as(method, path, body)
				if got.status >= http.StatusInternalServerError && got.status != http.StatusServiceUnavailable {
					t.Errorf("%s %s of %s answers %d: %s", method, path, names[who], got.status, got.body)
				}
				var started struct {
					TaskID int64 `json:"task_id"`
				}
				if json.Unmarshal([]byte(got.body), &started) == nil && started.TaskID != 0 {
					begun[started.TaskID] = who
				}
			}
			const post = http.MethodPost
			for range 60 {
				who := chance.IntN(len(people))
				switch chance.IntN(11) {
				case 0, 1, 2:
					plays(names[who])
				case 3:
					plays([]string{"visitor", "Sofa TV", "bench"}[chance.IntN(3)])
				case 4:
					asks(who, post, fmt.Sprintf("/api/records/%d/unmark", some()), "")
				case 5:
					asks(who, post, fmt.Sprintf("/api/records/%d/retry", some()), "")
				case 6:
					asks(who, post, fmt.Sprintf("/api/pending-candidates/%d/%s", 1+chance.IntN(2), []string{"confirm", "undo"}[chance.IntN(2)]), `{"subject_id":900014}`)
				case 7:
					asks(who, post, fmt.Sprintf("/api/records/%d/correct", some()), `{"subject_id":900002}`)
				case 8:
					asks(who, post, fmt.Sprintf("/api/accounts/%d/snapshots", 1+chance.IntN(2)), "")
				case 9:
					asks(who, post, "/api/records/retry", "")
				case 10:
					s.app.Records.Feed.Publish([]int64{record.Arrival, record.Anything, missing}[chance.IntN(3)])
				}
			}
			own := make([]map[int64]bool, len(people))
			for i, m := range people {
				own[i] = map[int64]bool{}
				m.s.wait("all is settled", func() bool {
					return !strings.Contains(s.get("/api/tasks").body, `"running"`) && !strings.Contains(s.get("/api/records?status=processing").body+s.get("/api/records?status=received").body, `"id":`)
				})
				var page struct{ Items []recordView }
				into(t, m.want(http.MethodGet, "/api/records?limit=200", "", http.StatusOK).body, &page)
				for _, r := range page.Items {
					own[i][r.ID] = true
				}
				if len(own[i]) == 0 || len(own[i]) == len(known) {
					t.Fatalf("%s has %d of %d records: the test shows nothing", names[i], len(own[i]), len(known))
				}
				for id := range own[i] { // the last words come after all others
					before := heard[i].told(id)
					s.app.Records.Feed.Publish(id)
					s.wait("word of one's own record", func() bool { return heard[i].told(id) > before })
				}
			}
			for i, h := range heard {
				h.mu.Lock()
				for id := range h.ids {
					if !own[i][id] {
						t.Errorf("%s is told of record %d, which is not theirs", names[i], id)
					}
				}
				if h.events["requests"] != 0 {
					t.Errorf("%s is told that requests came in", names[i])
				}
				h.mu.Unlock()
			}
			silent.mu.Lock()
			if len(silent.events) != 0 {
				t.Errorf("who has nothing hears %v", silent.events)
			}
			silent.mu.Unlock()
			for task, who := range begun {
				path := fmt.Sprintf("/api/tasks/%d/stream", task)
				if told := people[who].want(http.MethodGet, path, "", http.StatusOK).body; strings.Contains(told, names[1-who]) || !strings.Contains(told, "event: result") {
					t.Errorf("the stream of a task of %s is %s", names[who], told)
				}
				nobodys := people[1-who].want(http.MethodGet, fmt.Sprintf("/api/tasks/%d/stream", missing), "", http.StatusNotFound)
				for _, other := range []member{people[1-who], quiet} {
					if theirs := other.want(http.MethodGet, path, "", http.StatusNotFound); theirs.body != nobodys.body {
						t.Errorf("the stream of a task of %s is told to others as %s", names[who], theirs.body)
					}
				}
			}
			if len(begun) == 0 {
				t.Error("no task was begun: the test shows nothing of their streams")
			}
		})
	}
}
