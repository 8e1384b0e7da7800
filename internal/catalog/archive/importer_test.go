package archive_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"watchmark/internal/catalog/archive"
	"watchmark/internal/catalog/archive/fetch"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/task"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/jobtest"
)

// A dump that cannot be used is not fetched again, and each time it is told what was wrong with it,
// whatever happened in between.
func TestARefusedDumpIsNotFetchedAgain(t *testing.T) {
	const broken = "this is no zip"
	var down atomic.Bool
	var fetched atomic.Int64
	var site *httptest.Server
	site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case down.Load():
			w.WriteHeader(http.StatusBadGateway)
		case r.URL.Path == "/latest.json":
			_, _ = fmt.Fprintf(w, `{"browser_download_url":"%s/dump.zip","name":"dump-2026-01-06.210306Z.zip","size":%d}`, site.URL, len(broken))
		default:
			fetched.Add(1)
			_, _ = w.Write([]byte(broken))
		}
	}))
	t.Cleanup(site.Close)
	log := slog.New(slog.DiscardHandler)
	client, err := httpx.New(httpx.Config{PerMinute: 60000, Burst: 1000}, &secret.Masker{}, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	dir := t.TempDir()
	jobs, tasks, _ := jobtest.New(dbtest.Open(t), log)
	t.Cleanup(func() { _ = tasks.Stop(context.Background()) })
	config := archive.ImporterConfig{
		Archive: open(t, dir), Schedule: jobs, Log: log, Enabled: func() bool { return true }, FreeMB: func() int { return 0 },
		Plan:   func() schedule.Plan { return schedule.Every(24 * time.Hour) },
		Source: func() fetch.Config { return fetch.Config{HTTP: client, PointerURL: site.URL + "/latest.json"} },
	}
	importer := archive.NewImporter(config)
	jobs.Add(importer.Job())
	for _, c := range []struct {
		name  string
		down  bool
		force bool
		fresh bool // the service was started anew
		want  string
		times int64
	}{
		{"it is fetched", false, false, false, "not a complete zip file", 1},
		{"it is not fetched again", false, false, false, "not a complete zip file", 1},
		{"nothing answers", true, false, false, "502 Bad Gateway", 1},
		{"it is not fetched after that either", false, false, false, "not a complete zip file", 1},
		{"nor by the next start", false, false, true, "not a complete zip file", 1},
		{"a person insists", false, true, false, "not a complete zip file", 2},
	} {
		down.Store(c.down)
		if c.fresh {
			importer = archive.NewImporter(config)
		}
		run, err := importer.Update(t.Context(), c.force)
		if err != nil {
			t.Fatal(err)
		}
		for {
			_, more := run.After(0)
			if run.Status().State != task.Running {
				break
			}
			<-more
		}
		if s := importer.Status(); s.LastOutcome != archive.Failed || !strings.Contains(s.LastError.Text, c.want) || s.ImportInProgress || fetched.Load() != c.times {
			t.Errorf("%s: %s, %q, fetched %d times", c.name, s.LastOutcome, s.LastError, fetched.Load())
		}
	}
}
