package update

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/task"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/jobtest"
)

func TestNewer(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		newer bool
	}{
		{"v1.2.4", "1.2.3", true},
		{"1.10.0", "1.9.9", true},
		{"v2.0", "v1.9.9", true},
		{"1.2.3", "1.2.3", false},
		{"1.2.2", "1.2.3", false},
		{"1.2.3", "1.2.3-rc.1", true},
		{"1.2.3-rc.2", "1.2.3", false},
		{"1.2.3-rc.2", "1.2.3-rc.1", false},
		{"1.2.3+build.5", "1.2.3", false},
		{"9.9.9", "dev", false},
		{"nonsense", "1.0.0", false},
		{"99999999999999999999.0.0", "1.0.0", false},
	} {
		if got := Newer(c.a, c.b); got != c.newer {
			t.Errorf("%s newer than %s: %v", c.a, c.b, got)
		}
	}
}

func TestACheckerTellsWhatWasAnnounced(t *testing.T) {
	answer, status, asked := "", http.StatusOK, 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, answer)
	}))
	defer server.Close()
	client, err := httpx.New(httpx.Config{PerMinute: 6000, Burst: 100}, &secret.Masker{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	address := ""
	jobs, tasks, _ := jobtest.New(dbtest.Open(t), slog.New(slog.DiscardHandler))
	t.Cleanup(func() { _ = tasks.Stop(context.Background()) })
	c := New(Config{HTTP: client, Version: "1.2.3", URL: func() string { return address }})
	jobs.Add(c.Job())
	sees := func() bool {
		due, err := c.Job().Look(t.Context())
		if err != nil {
			t.Error(err)
		}
		return due
	}
	if _, err := jobs.Start(t.Context(), JobName); !errors.Is(err, ErrOff) || sees() || c.Status().Enabled || jobs.Now(JobName).NextRun != nil {
		t.Errorf("without an address it asks (%v)", err)
	}
	address = server.URL + "/latest"
	if sees() {
		t.Error("it does not wait a little after the start")
	}
	c.began = time.Now().Add(-first)
	if !sees() {
		t.Error("it waits for a day after the start")
	}
	for name, one := range map[string]struct {
		answer           string
		status           int
		newer, url, says string
	}{
		"newer":          {`{"tag_name":"v1.3.0","html_url":"https://git.example/watchmark/v1.3.0","assets":[{}]}`, 200, "1.3.0", "https://git.example/watchmark/v1.3.0", ""},
		"the same":       {`{"tag_name":"v1.2.3","html_url":"https://git.example/"}`, 200, "", "", ""},
		"a script":       {`{"tag_name":"v1.3.0","html_url":"javascript:alert(1)"}`, 200, "1.3.0", "", ""},
		"a page":         {`<html>`, 200, "", "", "it is not JSON"},
		"no version":     {`{"tag_name":"nightly <b>"}`, 200, "", "", "its tag_name is not a version such as v1.2.3"},
		"nothing":        {`{"message":"Not Found"}`, 404, "", "", "status 404"},
		"too many, 403 ": {`{}`, 403, "", "", "status 403"},
	} {
		t.Run(name, func(t *testing.T) {
			c.status = Status{}
			answer, status = one.answer, one.status
			run, err := jobs.Start(t.Context(), JobName)
			if err != nil {
				t.Fatal(err)
			}
			for run.Status().State == task.Running {
				_, more := run.After(0)
				if run.Status().State == task.Running {
					<-more
				}
			}
			s := c.Status()
			if s.Newer != one.newer || s.URL != one.url || !strings.HasSuffix(s.Problem.Text, one.says) || s.Problem.IsZero() != (one.says == "") || s.CheckedAt.IsZero() || !s.Enabled {
				t.Errorf("%+v", s)
			}
			wait := every
			if one.says != "" {
				wait = retryAfter
			}
			if next := jobs.Now(JobName).NextRun; sees() || next == nil || time.Until(*next) < wait-time.Minute || time.Until(*next) > wait+wait/4 {
				t.Errorf("it is asked again at %v", next)
			}
		})
	}
	address = server.URL + "/other"
	if s := c.Status(); !s.CheckedAt.IsZero() || !sees() {
		t.Errorf("with another address: %+v", s)
	}
	if asked != 7 {
		t.Errorf("it was asked %d times", asked)
	}
}
