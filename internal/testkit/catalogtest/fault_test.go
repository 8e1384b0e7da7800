package catalogtest_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
)

const subject = "GET /v0/subjects/900001"

func setFault(t *testing.T, s *catalogtest.Server, f catalogtest.Fault) {
	t.Helper()
	if err := s.SetFault(f); err != nil {
		t.Fatal(err)
	}
}

func TestFaults(t *testing.T) {
	mark := exchange{call: "PUT " + first, token: mira, body: `{"type":2}`}
	prepare := func(t *testing.T, f catalogtest.Fault) (*catalogtest.Server, string) {
		s, base := sample(t, catalogtest.Config{})
		if err := s.Collect("mira", 900001, catalog.Doing, false); err != nil {
			t.Fatal(err)
		}
		setFault(t, s, f)
		return s, base
	}

	t.Run("refuse resets the connection and does nothing", func(t *testing.T) {
		s, base := prepare(t, catalogtest.Fault{Mode: catalogtest.Refuse})
		if _, _, _, err := mark.send(t, base); err == nil {
			t.Error("a write was answered")
		}
		if _, _, _, err := (exchange{call: subject}).send(t, base); err == nil {
			t.Error("a read was answered")
		}
		if len(s.Marks()) != 0 || len(s.Writes()) != 0 {
			t.Error("the write was applied")
		}
	})
	t.Run("cut writes, then cuts", func(t *testing.T) {
		s, base := prepare(t, catalogtest.Fault{Mode: catalogtest.Cut})
		if _, _, _, err := mark.send(t, base); err == nil {
			t.Error("the write was answered")
		}
		if len(s.Marks()) != 1 || len(s.Writes()) != 1 {
			t.Errorf("marks %v, want the one that was cut", s.Marks())
		}
	})
	t.Run("hang answers when lifted", func(t *testing.T) {
		s, base := prepare(t, catalogtest.Fault{Mode: catalogtest.Hang})
		answered := make(chan int, 1)
		go func() {
			status, _, _, _ := mark.send(t, base) // a failure is status 0
			answered <- status
		}()
		waitFor(t, func() bool { return s.Requests()["PUT /v0/users/-/collections/-/episodes/{id}"] == 1 })
		if len(s.Marks()) != 0 {
			t.Error("marked while hanging")
		}
		setFault(t, s, catalogtest.Fault{Mode: catalogtest.None})
		if status := <-answered; status != http.StatusNoContent || len(s.Marks()) != 1 {
			t.Errorf("status %d, marks %v", status, s.Marks())
		}
	})
	t.Run("hang lets the client go", func(t *testing.T) {
		s, base := prepare(t, catalogtest.Fault{Mode: catalogtest.Hang})
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error, 1)
		request, err := http.NewRequestWithContext(ctx, http.MethodPut, base+first, strings.NewReader(mark.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("User-Agent", agent)
		go func() {
			response, err := client.Do(request)
			if err == nil {
				_ = response.Body.Close()
			}
			gone <- err
		}()
		waitFor(t, func() bool { return len(s.Requests()) == 1 })
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("the client got %v", err)
		}
		if len(s.Writes()) != 0 {
			t.Error("the write was applied")
		}
	})
	t.Run("slow answers the whole, having written before", func(t *testing.T) {
		s, base := prepare(t, catalogtest.Fault{Mode: catalogtest.Slow, Delay: 20 * time.Millisecond})
		exchange{call: subject, status: 200, holds: []string{"灯台守のうた", `"nsfw":false}`}, header: map[string]string{"Cache-Control": "public, max-age=3600"}}.do(t, base)
		setFault(t, s, catalogtest.Fault{Mode: catalogtest.Slow, Delay: time.Hour})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodPut, base+first, strings.NewReader(mark.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header = http.Header{"User-Agent": {agent}, "Content-Type": {"application/json"}, "Authorization": {"Bearer " + mira}}
		gone := make(chan error, 1)
		go func() {
			response, err := client.Do(request)
			if err == nil {
				_ = response.Body.Close()
			}
			gone <- err
		}()
		waitFor(t, func() bool { return len(s.Marks()) == 1 })
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("the client got %v", err)
		}
	})
	t.Run("status answers an error and does nothing", func(t *testing.T) {
		s, base := prepare(t, catalogtest.Fault{Mode: catalogtest.Status})
		x := mark
		x.status, x.holds, x.header = 503, []string{`"title":"Service Unavailable"`}, map[string]string{"Retry-After": "", "Content-Type": "application/json"}
		x.do(t, base)
		setFault(t, s, catalogtest.Fault{Mode: catalogtest.Status, Status: 429})
		x.status, x.holds = 429, []string{`"title":"Too Many Request"`}
		x.do(t, base)
		setFault(t, s, catalogtest.Fault{Mode: catalogtest.Status, Status: 429, RetryAfter: 7 * time.Second})
		x.header = map[string]string{"Retry-After": "7"}
		x.do(t, base)
		if len(s.Marks()) != 0 {
			t.Error("marked all the same")
		}
	})
	t.Run("html is a page with 200", func(t *testing.T) {
		_, base := prepare(t, catalogtest.Fault{Mode: catalogtest.HTML})
		exchange{call: subject, status: 200, holds: []string{"<!DOCTYPE html>"}, header: map[string]string{"Content-Type": "text/html; charset=UTF-8"}}.do(t, base)
	})
	t.Run("late does nothing until its time, and all of it when the client has gone", func(t *testing.T) {
		s, base := prepare(t, catalogtest.Fault{Mode: catalogtest.Late, Delay: time.Hour, Paths: catalogtest.Writes})
		ctx, cancel := context.WithCancel(t.Context())
		request, err := http.NewRequestWithContext(ctx, http.MethodPut, base+first, strings.NewReader(mark.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header = http.Header{"User-Agent": {agent}, "Content-Type": {"application/json"}, "Authorization": {"Bearer " + mira}}
		gone := make(chan error, 1)
		go func() {
			response, err := client.Do(request)
			if err == nil {
				_ = response.Body.Close()
			}
			gone <- err
		}()
		waitFor(t, func() bool { return len(s.Requests()) == 1 })
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) || len(s.Marks()) != 0 {
			t.Errorf("the client got %v; marks %v before the time", err, s.Marks())
		}
		setFault(t, s, catalogtest.Fault{Mode: catalogtest.None})
		waitFor(t, func() bool { return len(s.Marks()) == 1 })
	})
	t.Run("say answers what it is told and does nothing", func(t *testing.T) {
		s, base := prepare(t, catalogtest.Fault{Mode: catalogtest.Say, Status: 202, Body: "accepted", ContentType: "text/plain"})
		x := mark
		x.status, x.holds, x.header = 202, []string{"accepted"}, map[string]string{"Content-Type": "text/plain"}
		x.do(t, base)
		if len(s.Marks()) != 0 {
			t.Error("marked all the same")
		}
	})
	t.Run("one path, a number of times", func(t *testing.T) {
		_, base := prepare(t, catalogtest.Fault{Mode: catalogtest.Status, Pattern: "GET /v0/subjects/{id}", Times: 2})
		exchange{call: own, status: 200}.do(t, base)
		for _, status := range []int{503, 503, 200} {
			exchange{call: subject, status: status}.do(t, base)
		}
	})
	t.Run("writes alone", func(t *testing.T) {
		s, base := prepare(t, catalogtest.Fault{Mode: catalogtest.Status, Paths: catalogtest.Writes})
		for call, status := range map[string]int{subject: 200, search: 200, own: 200, "GET " + first: 200, "PUT " + first: 503, collect: 503, change: 503, batch: 503} {
			exchange{call: call, token: mira, body: `{"keyword":"x"}`, status: status}.do(t, base)
		}
		setFault(t, s, catalogtest.Fault{Mode: catalogtest.Status, Paths: catalogtest.Reads})
		for call, status := range map[string]int{subject: 503, search: 503, own: 503, "GET " + first: 503, "PUT " + first: 204, collect: 202} {
			exchange{call: call, token: mira, body: `{}`, status: status}.do(t, base)
		}
	})
	t.Run("what makes no sense is refused", func(t *testing.T) {
		s, base := prepare(t, catalogtest.Fault{Mode: catalogtest.None})
		for _, f := range []catalogtest.Fault{
			{}, {Mode: "burn"}, {Mode: catalogtest.Status, Status: 200}, {Mode: catalogtest.Say, Status: 199}, {Mode: catalogtest.Hang, Times: -1}, {Mode: catalogtest.Status, Status: 600},
			{Mode: catalogtest.Hang, Paths: "some"}, {Mode: catalogtest.Hang, For: -1}, {Mode: catalogtest.Hang, RetryAfter: -1},
		} {
			if err := s.SetFault(f); err == nil {
				t.Errorf("%+v was taken", f)
			}
		}
		exchange{call: subject, status: 200}.do(t, base)
	})
}

func TestFaultsInTime(t *testing.T) {
	// read asks for a subject inside the bubble of the test, without a network.
	read := func(s *catalogtest.Server) int {
		r := httptest.NewRequest(http.MethodGet, "/v0/subjects/900001", nil)
		r.Header.Set("User-Agent", agent)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Code
	}
	for _, tt := range []struct {
		name  string
		fault catalogtest.Fault
		after time.Duration // how long the answer takes
	}{
		{"a hang ends by itself", catalogtest.Fault{Mode: catalogtest.Hang, For: time.Minute}, time.Minute},
		{"a slow answer takes two seconds", catalogtest.Fault{Mode: catalogtest.Slow}, 2 * time.Second},
		{"a late answer takes what it is told", catalogtest.Fault{Mode: catalogtest.Late, Delay: time.Second}, time.Second},
		{"a slow answer takes what it is told", catalogtest.Fault{Mode: catalogtest.Slow, Delay: 9 * time.Second}, 9 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := catalogtest.New(catalogtest.Config{})
				if err := s.LoadSample(); err != nil {
					t.Fatal(err)
				}
				setFault(t, s, tt.fault)
				asked := time.Now()
				if status := read(s); status != http.StatusOK || time.Since(asked) != tt.after {
					t.Errorf("status %d after %s, want 200 after %s", status, time.Since(asked), tt.after)
				}
			})
		})
	}
	t.Run("a new fault outlives the end of the one before", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := catalogtest.New(catalogtest.Config{})
			setFault(t, s, catalogtest.Fault{Mode: catalogtest.Refuse, For: time.Minute})
			setFault(t, s, catalogtest.Fault{Mode: catalogtest.Status, Status: 502, For: time.Hour})
			time.Sleep(59 * time.Minute)
			if status := read(s); status != 502 {
				t.Errorf("status %d before the end", status)
			}
			time.Sleep(2 * time.Minute)
			if status := read(s); status != 404 {
				t.Errorf("status %d after the end", status)
			}
		})
	})
}

func TestControl(t *testing.T) {
	s, base := sample(t, catalogtest.Config{Now: func() time.Time { return time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC) }})
	fault := func(body string, status int) {
		t.Helper()
		exchange{call: "POST /_sim/fault", agent: "-", contentType: "-", body: body, status: status}.do(t, base)
	}
	marks := exchange{call: "GET /_sim/marks", agent: "-", status: 200}

	marks.holds = []string{`{"marks":[],"collections":[],"writes":0,"timeline":0}`}
	marks.do(t, base)
	exchange{call: collect, token: mira, body: `{"type":3,"private":true}`, status: 202}.do(t, base)
	exchange{call: "PUT " + first, token: mira, body: `{"type":2}`, status: 204}.do(t, base)

	fault(`{"mode":"status","status":502,"retry_after":0,"for_ms":0,"paths":"reads"}`, 204)
	exchange{call: subject, status: 502}.do(t, base)
	marks.holds = []string{`{"marks":[{"username":"mira","subject_id":900001,"episode_id":90000101,"type":2,"at":"2026-02-03T04:05:06Z"}],` +
		`"collections":[{"username":"mira","subject_id":900001,"type":3,"private":true}],"writes":2,"timeline":1}`}
	marks.do(t, base)
	fault(`{"mode":"none"}`, 204)
	exchange{call: subject, status: 200}.do(t, base)
	fault(`{"mode":"status","status":429,"retry_after":3}`, 204)
	exchange{call: subject, status: 429, header: map[string]string{"Retry-After": "3"}}.do(t, base)
	fault(`{"mode":"say","status":202,"body":"later","pattern":"GET /v0/subjects/{id}","times":1}`, 204)
	exchange{call: subject, status: 202, holds: []string{"later"}}.do(t, base)
	exchange{call: subject, status: 200}.do(t, base)
	fault(`{"mode":"late","delay_ms":1}`, 204)
	exchange{call: subject, status: 200}.do(t, base)
	fault(`{"mode":"html"}`, 204)

	for _, body := range []string{`{}`, `{"mode":"burn"}`, `{"mode":"hang","paths":"x"}`, `{"mode":"hang","bogus":1}`, `{"mode":"status","status":1}`, `{`} {
		fault(body, 400)
	}
	exchange{call: "POST /_sim/reset", agent: "-", status: 204}.do(t, base)
	exchange{call: subject, status: 200}.do(t, base)
	marks.holds = []string{`{"marks":[],"collections":[],"writes":0,"timeline":0}`}
	marks.do(t, base)
	if got := s.Requests()["GET /v0/subjects/{id}"]; got != 1 {
		t.Errorf("%d reads counted after the reset, want 1", got)
	}
}

// waitFor waits until the condition holds; the test's own time limit ends it.
func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("the condition never held")
		}
	}
}
