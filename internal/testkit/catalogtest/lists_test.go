package catalogtest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
)

const (
	collect = "POST /v0/users/-/collections/900001"
	change  = "PATCH /v0/users/-/collections/900001"
	own     = "GET /v0/users/mira/collections/900001"
	batch   = "PATCH /v0/users/-/collections/900001/episodes"
	first   = "/v0/users/-/collections/-/episodes/90000101"
	second  = "/v0/users/-/collections/-/episodes/90000102"
	mira    = "mira-token"
)

func TestCollections(t *testing.T) {
	doing := exchange{call: collect, token: mira, body: `{"type":3}`, status: 202}
	run(t, catalogtest.Config{}, []trap{
		{"POST is 202 without a body, PATCH 204", []exchange{
			{call: collect, token: mira, body: `{"type":1}`, status: 202, header: map[string]string{"Content-Length": "0"}},
			{call: change, token: mira, body: `{"type":3}`, status: 204},
			{call: own, token: mira, status: 200, holds: []string{`"subject_id":900001,"subject_type":2,"type":3,"rate":0,"comment":null,"tags":[]`, `"ep_status":0`, `"private":false`, `"short_summary":"`}},
		}},
		{"an empty POST creates doing", []exchange{
			{call: collect, token: mira, body: `{}`, status: 202},
			{call: own, status: 200, holds: []string{`"type":3`}},
		}},
		{"a POST on a collected one changes what it names", []exchange{
			{call: collect, token: mira, body: `{"type":4,"rate":7,"comment":"gut","tags":["kalt"],"private":true}`, status: 202},
			{call: collect, token: mira, body: `{"rate":8}`, status: 202},
			{call: own, token: mira, status: 200, holds: []string{`"type":4`, `"rate":8`, `"comment":"gut"`, `"tags":["kalt"]`, `"private":true`}},
		}},
		{"wish keeps the rate of before, and takes none", []exchange{
			{call: collect, token: mira, body: `{"type":2,"rate":7}`, status: 202},
			{call: change, token: mira, body: `{"type":1}`, status: 204},
			{call: own, status: 200, holds: []string{`"type":1,"rate":7`}},
			{call: change, token: mira, body: `{"type":1,"rate":8}`, status: 204},
			{call: own, status: 200, holds: []string{`"type":1,"rate":0`}},
		}},
		{"what follows the body is not looked at", []exchange{{call: collect, token: mira, body: `{"type":3}x`, status: 202}}},
		{"names have no case", []exchange{doing, {call: "GET /v0/users/MIRA/collections/900001", status: 200}}},
		{"a 404 tells what is missing", []exchange{
			{call: own, token: mira, status: 404, holds: []string{"subject is not collected by user"}},
			{call: "GET /v0/users/nobody/collections/900001", token: mira, status: 404, holds: []string{"user doesn't exist or has been removed"}},
			{call: "GET /v0/users/mira/collections/77", token: mira, status: 404, holds: []string{"resource can't be found"}},
			{call: "GET /v0/users/nobody/collections/77", token: mira, status: 404, holds: []string{"resource can't be found"}},
		}},
		{"PATCH of what is not collected is 404", []exchange{
			{call: change, token: mira, body: `{"type":3}`, status: 404, holds: []string{"subject not collected"}},
			{call: own, token: mira, status: 404},
		}},
		{"unknown fields are refused", []exchange{
			{call: collect, token: mira, body: `{"type":3,"bogus":1}`, status: 400},
			{call: own, token: mira, status: 404},
		}},
		{"values out of range are refused", []exchange{
			{call: collect, token: mira, body: `{"type":0}`, status: 400}, {call: collect, token: mira, body: `{"type":6}`, status: 400},
			{call: collect, token: mira, body: `{"rate":11}`, status: 400}, {call: collect, token: mira, body: `{"tags":["a"]}`, status: 400},
			{call: collect, token: mira, body: `{"tags":["a b"]}`, status: 400}, {call: collect, token: mira, body: `{"ep_status":3}`, status: 400},
			{call: collect, token: mira, body: `{"type":"3"}`, status: 400}, {call: collect, token: mira, body: ``, status: 400},
		}},
		{"books take ep_status", []exchange{
			{call: "POST /v0/users/-/collections/900010", token: mira, body: `{"ep_status":4,"vol_status":1}`, status: 202},
			{call: "GET /v0/users/mira/collections/900010", status: 200, holds: []string{`"ep_status":4,"vol_status":1`}},
		}},
		{"unknown subjects are 404", []exchange{{call: "POST /v0/users/-/collections/77", token: mira, body: `{}`, status: 404}}},
		{"the dash is not a name for reads", []exchange{
			doing,
			{call: "GET /v0/users/-/collections/900001", token: mira, status: 404},
			{call: "GET /v0/users/-/collections", token: mira, status: 404},
			{call: "GET /v0/users/11/collections/900001", token: mira, status: 404},
		}},
		{"private entries are the owner's alone", []exchange{
			{call: collect, token: mira, body: `{"type":3,"private":true}`, status: 202},
			{call: own, status: 404}, {call: own, token: "banned-token", status: 404}, {call: own, token: mira, status: 200},
			{call: "GET /v0/users/mira/collections", status: 200, holds: []string{`"data":[],"total":0`}},
			{call: "GET /v0/users/mira/collections", token: mira, status: 200, holds: []string{`"total":1`}},
		}},
		{"the list is newest first, filtered and paged", []exchange{
			doing,
			{call: "POST /v0/users/-/collections/900010", token: mira, body: `{"type":2}`, status: 202},
			{call: "GET /v0/users/mira/collections?limit=1", status: 200, holds: []string{`"subject_id":900010`, `"total":2,"limit":1,"offset":0`}, lacks: []string{"900001"}},
			{call: "GET /v0/users/mira/collections?subject_type=2", status: 200, holds: []string{`"subject_id":900001`, `"total":1,"limit":30`}},
			{call: "GET /v0/users/mira/collections?type=2", status: 200, holds: []string{`"subject_id":900010`, `"total":1`}},
			{call: "GET /v0/users/mira/collections?offset=2", status: 200, holds: []string{`"data":[]`}},
			{call: "GET /v0/users/mira/collections?offset=3", status: 400},
			{call: "GET /v0/users/mira/collections?limit=101", status: 400},
			{call: "GET /v0/users/mira/collections?type=6", status: 400},
			{call: "GET /v0/users/mira/collections?subject_type=5", status: 400},
		}},
		{"a banned person cannot collect, but can mark", []exchange{
			{call: collect, token: "banned-token", body: `{"type":3}`, status: 403, holds: []string{"you are not allowed to do this"}},
		}},
	})

	t.Run("locked, deleted and merged subjects cannot be collected, redirected ones can", func(t *testing.T) {
		s, base := sample(t, catalogtest.Config{})
		s.AddSubject(
			catalogtest.Subject{ID: 1, Name: "鍵", Type: catalog.Anime, Locked: true}, catalogtest.Subject{ID: 2, Name: "旧", Type: catalog.Anime, MergedInto: 900001},
			catalogtest.Subject{ID: 3, Name: "消", Type: catalog.Anime, Deleted: true}, catalogtest.Subject{ID: 4, Name: "転", Type: catalog.Anime, RedirectsTo: 900001},
		)
		for _, id := range []string{"1", "2", "3"} {
			exchange{call: "POST /v0/users/-/collections/" + id, token: mira, body: `{}`, status: 404, holds: []string{"subject locked or merged"}}.do(t, base)
		}
		exchange{call: "POST /v0/users/-/collections/4", token: mira, body: `{}`, status: 202}.do(t, base)
		exchange{call: "GET /v0/users/mira/collections/4", token: mira, status: 200, holds: []string{`"subject_id":4`}}.do(t, base)
	})
	t.Run("a list shows adult entries to everybody", func(t *testing.T) {
		s, base := sample(t, catalogtest.Config{})
		for _, id := range []catalog.SubjectID{900001, 900016} {
			if err := s.Collect("young", id, catalog.Doing, false); err != nil {
				t.Fatal(err)
			}
		}
		exchange{call: "GET /v0/users/young/collections", status: 200, holds: []string{"900001", "900016", `"total":2`}}.do(t, base)
	})
}

func TestMarks(t *testing.T) {
	doing := exchange{call: collect, token: mira, body: `{"type":3}`, status: 202}
	put := func(path, body string, status int) exchange {
		return exchange{call: "PUT " + path, token: mira, body: body, status: status}
	}
	state := func(path string, want int) exchange {
		return exchange{call: "GET " + path, token: mira, status: 200, holds: []string{fmt.Sprintf(`,"type":%d,"updated_at"`, want)}}
	}
	run(t, catalogtest.Config{}, []trap{
		{"marking what is not collected is 400, not 404", []exchange{
			{call: "PUT " + first, token: mira, body: `{"type":2}`, status: 400, holds: []string{"you need to add subject to your collection first"}},
			{call: batch, token: mira, body: `{"episode_id":[90000101],"type":2}`, status: 400, holds: []string{"add subject to your collection"}},
			state(first, 0),
		}},
		{"a mark is 204 and read back", []exchange{
			doing, put(first, `{"type":2}`, 204), state(first, 2), state(second, 0),
			{call: own, token: mira, status: 200, holds: []string{`"ep_status":1`}},
		}},
		{"a missing type removes the mark, null is refused", []exchange{
			doing, put(first, `{"type":2}`, 204), put(first, `{"type":null}`, 400), state(first, 2), put(first, `{}`, 204), state(first, 0),
		}},
		{"wish to watched is answered well and lost", []exchange{doing, put(first, `{"type":1}`, 204), put(first, `{"type":2}`, 204), state(first, 1)}},
		{"dropped to watched is answered well and lost", []exchange{doing, put(first, `{"type":3}`, 204), put(first, `{"type":2}`, 204), state(first, 3)}},
		{"it is lost in a batch as well, for that episode alone", []exchange{
			doing, put(first, `{"type":1}`, 204),
			{call: batch, token: mira, body: `{"episode_id":[90000101,90000102],"type":2}`, status: 204},
			state(first, 1), state(second, 2),
		}},
		{"clearing first gets through", []exchange{
			doing, put(first, `{"type":3}`, 204), put(first, `{"type":0}`, 204), put(first, `{"type":2}`, 204), state(first, 2),
		}},
		{"a batch marks all; specials count into ep_status", []exchange{
			doing, {call: batch, token: mira, body: `{"episode_id":[90000101,90000102,90000151],"type":2}`, status: 204},
			state(first, 2), state(second, 2), {call: own, token: mira, status: 200, holds: []string{`"ep_status":3`}},
		}},
		{"one foreign episode refuses the whole batch", []exchange{
			doing,
			{call: batch, token: mira, body: `{"episode_id":[90000101,90000201],"type":2}`, status: 400, holds: []string{"invalid input: episode 90000201 is not episodes of subject 900001"}},
			state(first, 0),
		}},
		{"an empty batch is 400", []exchange{
			doing, {call: batch, token: mira, body: `{"episode_id":[],"type":2}`, status: 400}, {call: batch, token: mira, body: `{"type":2}`, status: 400},
		}},
		{"unknown episodes and subjects are 404", []exchange{
			put("/v0/users/-/collections/-/episodes/77", `{"type":2}`, 404),
			{call: "GET /v0/users/-/collections/-/episodes/77", token: mira, status: 404},
			{call: "PATCH /v0/users/-/collections/77/episodes", token: mira, body: `{"episode_id":[1],"type":2}`, status: 404},
			{call: "GET /v0/users/-/collections/77/episodes", token: mira, status: 404},
		}},
		{"unknown fields and states are 400", []exchange{
			doing, put(first, `{"type":2,"bogus":1}`, 400), put(first, `{"type":4}`, 400), put(first, `{"type":-1}`, 400), state(first, 0),
			{call: batch, token: mira, body: `{"episode_id":[90000101],"type":2,"bogus":1}`, status: 400},
		}},
		{"marks want a login", []exchange{
			{call: "GET " + first, status: 401}, {call: "PUT " + first, body: `{"type":2}`, status: 401},
			{call: "GET /v0/users/-/collections/900001/episodes", status: 401},
		}},
		{"the list works uncollected and pages", []exchange{
			{call: "GET /v0/users/-/collections/900001/episodes", token: mira, status: 200, holds: []string{`"type":0,"updated_at":0`, `"total":14,"limit":100,"offset":0`}},
			{call: "GET /v0/users/-/collections/900001/episodes?episode_type=1", token: mira, status: 200, holds: []string{`"total":2`}},
			{call: "GET /v0/users/-/collections/900001/episodes?limit=1001", token: mira, status: 400},
		}},
		{"an empty page has null for data", []exchange{
			{call: "GET /v0/users/-/collections/900010/episodes", token: mira, status: 200, holds: []string{`{"data":null,"total":0`}},
			{call: "GET /v0/users/-/collections/900001/episodes?offset=14", token: mira, status: 200, holds: []string{`{"data":null,"total":14`}},
			{call: "GET /v0/users/-/collections/900001/episodes?offset=1500", token: mira, status: 200, holds: []string{`{"data":null,"total":14`}},
		}},
		{"setting done marks no episode", []exchange{
			{call: collect, token: mira, body: `{"type":2}`, status: 202}, state(first, 0),
			{call: own, token: mira, status: 200, holds: []string{`"ep_status":0`}},
		}},
		{"without the scope a mark is 403", []exchange{{call: "PUT " + first, token: "noscope-token", body: `{"type":2}`, status: 403}}},
	})

	t.Run("locked and merged subjects take marks of what is collected", func(t *testing.T) {
		s, base := sample(t, catalogtest.Config{})
		s.AddSubject(catalogtest.Subject{ID: 1, Name: "鍵", Type: catalog.Anime, Locked: true}, catalogtest.Subject{ID: 2, Name: "旧", Type: catalog.Anime, MergedInto: 900001})
		for id := range catalog.SubjectID(2) {
			s.AddEpisodes(id+1, catalogtest.Episode{ID: catalog.EpisodeID(id + 1), Sort: 1})
			if err := s.Collect("mira", id+1, catalog.Doing, false); err != nil {
				t.Fatal(err)
			}
			put(fmt.Sprintf("/v0/users/-/collections/-/episodes/%d", id+1), `{"type":2}`, 204).do(t, base)
		}
	})
	t.Run("bans and NSFW do not stop marks of what is collected", func(t *testing.T) {
		s, base := sample(t, catalogtest.Config{})
		for user, subject := range map[string]catalog.SubjectID{"banned": 900001, "young": 900016} {
			if err := s.Collect(user, subject, catalog.Doing, false); err != nil {
				t.Fatal(err)
			}
		}
		exchange{call: "PUT " + first, token: "banned-token", body: `{"type":2}`, status: 204}.do(t, base)
		exchange{call: "PUT /v0/users/-/collections/-/episodes/90001601", token: "young-token", body: `{"type":2}`, status: 204}.do(t, base)
	})
}

func TestTimelineAndWrites(t *testing.T) {
	tests := []struct {
		name     string
		steps    []exchange
		timeline int
		writes   int
	}{
		{"every call with a type posts, changed or not", []exchange{
			{call: collect, body: `{"type":3}`, status: 202}, {call: collect, body: `{"type":3}`, status: 202}, {call: change, body: `{"type":3}`, status: 204},
		}, 3, 3},
		{"no type, no post", []exchange{{call: collect, body: `{}`, status: 202}, {call: change, body: `{"rate":5}`, status: 204}}, 0, 2},
		{"a private collection posts none, its episodes do", []exchange{
			{call: collect, body: `{"type":3,"private":true}`, status: 202}, {call: "PUT " + first, body: `{"type":2}`, status: 204},
		}, 1, 2},
		{"every mark of a main episode posts, repeated ones too", []exchange{
			{call: collect, body: `{}`, status: 202}, {call: "PUT " + first, body: `{"type":2}`, status: 204}, {call: "PUT " + first, body: `{"type":2}`, status: 204},
		}, 2, 3},
		{"a batch posts once", []exchange{
			{call: collect, body: `{}`, status: 202}, {call: batch, body: `{"episode_id":[90000101,90000102,90000103],"type":2}`, status: 204},
		}, 1, 2},
		{"specials alone and removals post none", []exchange{
			{call: collect, body: `{}`, status: 202}, {call: batch, body: `{"episode_id":[90000151,90000152],"type":2}`, status: 204},
			{call: "PUT /v0/users/-/collections/-/episodes/90000151", body: `{}`, status: 204},
		}, 0, 3},
		{"refused writes count nowhere", []exchange{
			{call: "PUT " + first, body: `{"type":2}`, status: 400}, {call: change, body: `{"type":3}`, status: 404}, {call: collect, body: `{"x":1}`, status: 400},
		}, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, base := sample(t, catalogtest.Config{})
			for _, step := range tt.steps {
				step.token = mira
				step.do(t, base)
			}
			if got := s.Timeline(); got != tt.timeline {
				t.Errorf("%d timeline entries, want %d", got, tt.timeline)
			}
			if got := len(s.Writes()); got != tt.writes {
				t.Errorf("%d writes, want %d", got, tt.writes)
			}
		})
	}

	t.Run("what is kept of a write", func(t *testing.T) {
		s, base := sample(t, catalogtest.Config{})
		exchange{call: collect, token: mira, body: `{"type":3}`, status: 202}.do(t, base)
		exchange{call: batch, token: mira, body: `{"episode_id":[90000101,90000103],"type":2}`, status: 204}.do(t, base)
		want := []catalogtest.Write{
			{Username: "mira", SubjectID: 900001, Type: 3, Method: http.MethodPost, Path: "/v0/users/-/collections/900001", Body: `{"type":3}`},
			{Username: "mira", SubjectID: 900001, Episodes: []catalog.EpisodeID{90000101, 90000103}, Type: 2, Method: http.MethodPatch, Path: "/v0/users/-/collections/900001/episodes"},
		}
		if diff := cmp.Diff(want, s.Writes(), cmpopts.IgnoreFields(catalogtest.Write{}, "At")); diff != "" {
			t.Errorf("writes (-want +got):\n%s", diff)
		}
	})
}

func TestParallelMarks(t *testing.T) {
	episodes := []catalog.EpisodeID{90000101, 90000102, 90000103, 90000104, 90000105, 90000106, 90000107, 90000108}
	// round marks all episodes at once and tells how many stayed.
	round := func(t *testing.T, s *catalogtest.Server, base string) int {
		s.Reset()
		if err := s.Collect("mira", 900001, catalog.Doing, false); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for _, id := range episodes {
			all.Go(func() {
				x := exchange{call: fmt.Sprintf("PUT /v0/users/-/collections/-/episodes/%d", id), token: mira, body: `{"type":2}`}
				if status, _, _, err := x.send(t, base); err != nil || status != http.StatusNoContent {
					t.Errorf("mark %d: status %d, %v", id, status, err)
				}
			})
		}
		all.Wait()
		return len(s.Marks())
	}
	t.Run("lose some while all answer 204", func(t *testing.T) {
		s, base := sample(t, catalogtest.Config{})
		for range 100 {
			if round(t, s, base) < len(episodes) {
				return
			}
		}
		t.Error("nothing was lost in 100 rounds")
	})
	t.Run("lose nothing when switched", func(t *testing.T) {
		s, base := sample(t, catalogtest.Config{AtomicMarks: true})
		for range 5 {
			if got := round(t, s, base); got != len(episodes) {
				t.Errorf("%d marks stayed, want %d", got, len(episodes))
			}
		}
	})
	t.Run("one after the other lose nothing", func(t *testing.T) {
		s, base := sample(t, catalogtest.Config{})
		exchange{call: collect, token: mira, body: `{}`, status: 202}.do(t, base)
		for _, id := range episodes {
			exchange{call: fmt.Sprintf("PUT /v0/users/-/collections/-/episodes/%d", id), token: mira, body: `{"type":2}`, status: 204}.do(t, base)
		}
		if got := len(s.Marks()); got != len(episodes) {
			t.Errorf("%d marks, want %d", got, len(episodes))
		}
	})
}

func TestAWriteGoesOnWithoutItsClientAndTakesMarksWithIt(t *testing.T) {
	reads, goOn := make(chan struct{}), make(chan struct{})
	s, base := sample(t, catalogtest.Config{Linger: func() time.Duration {
		close(reads)
		<-goOn
		return 0
	}})
	if err := s.Collect("mira", 900001, catalog.Doing, false); err != nil {
		t.Fatal(err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	request := httptest.NewRequestWithContext(gone, http.MethodPut, first, strings.NewReader(`{"type":2}`))
	for name, value := range map[string]string{"User-Agent": agent, "Content-Type": "application/json", "Authorization": "Bearer " + mira} {
		request.Header.Set(name, value)
	}
	var late sync.WaitGroup
	late.Go(func() { s.ServeHTTP(httptest.NewRecorder(), request) })
	<-reads
	exchange{call: "PUT " + second, token: mira, body: `{"type":2}`, status: http.StatusNoContent}.do(t, base)
	if s.Working() != 1 || len(s.Marks()) != 1 {
		t.Errorf("before the late write %d are worked on, and these are marked: %v", s.Working(), s.Marks())
	}
	close(goOn)
	late.Wait()
	if marks, overlaps := s.Marks(), s.Overlaps(); len(marks) != 1 || marks[0].EpisodeID != 90000101 || len(overlaps) != 1 || overlaps[0][0].Path != first || overlaps[0][1].Path != second {
		t.Errorf("the late write did not take the other mark with it: %v, overlaps %v", marks, overlaps)
	}
	if s.Working() != 0 || len(s.Writes()) != 2 {
		t.Errorf("at the end %d are worked on; writes %v", s.Working(), s.Writes())
	}
}

func TestArrangedState(t *testing.T) {
	s, base := sample(t, catalogtest.Config{})
	if err := s.Collect("mira", 900001, catalog.Dropped, true); err != nil {
		t.Fatal(err)
	}
	if err := s.SetMark("mira", 90000101, catalog.EpisodeDropped); err != nil {
		t.Fatal(err)
	}
	exchange{call: own, token: mira, status: 200, holds: []string{`"type":5`, `"private":true`, `"ep_status":1`}}.do(t, base)
	exchange{call: "GET " + first, token: mira, status: 200, holds: []string{`"type":3,"updated_at"`}}.do(t, base)
	if len(s.Writes()) != 0 || s.Timeline() != 0 {
		t.Errorf("arranging counted: %v", s.Writes())
	}
	for name, err := range map[string]error{
		"unknown user":    s.Collect("nobody", 900001, catalog.Doing, false),
		"unknown subject": s.Collect("mira", 77, catalog.Doing, false),
		"unknown marker":  s.SetMark("nobody", 90000101, catalog.EpisodeWatched),
		"unknown episode": s.SetMark("mira", 77, catalog.EpisodeWatched),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
