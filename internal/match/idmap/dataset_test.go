package idmap_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/match/idmap"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/task"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/jobtest"
)

// marker is a title that only the documents of these tests have.
const marker = "灯塔守望者"

// document is a table of n subjects, all with the marker.
func document(n int) string {
	var b strings.Builder
	b.WriteString(`{"siteMeta":{},"items":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"title":%q,"type":"tv","begin":"","sites":[{"site":"bangumi","id":"%d"}]}`, marker, i+1)
	}
	b.WriteString("]}")
	return b.String()
}

// site publishes a table.
type site struct {
	mu    sync.Mutex
	serve http.HandlerFunc
	asked []string // If-None-Match of each request
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.Header.Get("If-None-Match"))
	serve := s.serve
	s.mu.Unlock()
	serve(w, r)
}

func (s *site) publish(serve http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serve = serve
}

func text(status int, etag, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if etag != "" {
			w.Header().Set("ETag", etag)
			if r.Header.Get("If-None-Match") == etag {
				w.WriteHeader(http.StatusNotModified)
				return
			}
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// rig is a Dataset with a site to fetch from.
type rig struct {
	*idmap.Dataset
	site    *site
	url     string
	folder  string
	tasks   *task.Registry
	jobs    *schedule.Registry
	logs    *bytes.Buffer // read while nothing runs
	log     *slog.Logger
	enabled atomic.Bool
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{site: &site{}, folder: t.TempDir()}
	server := httptest.NewServer(r.site)
	t.Cleanup(server.Close)
	r.url = server.URL + "/data.json"
	r.enabled.Store(true)
	r.restart(t)
	return r
}

// restart makes a new Dataset on the folder.
func (r *rig) restart(t *testing.T) {
	t.Helper()
	r.logs = &bytes.Buffer{}
	log := slog.New(slog.NewTextHandler(r.logs, nil))
	r.log = log
	client, err := httpx.New(httpx.Config{Burst: 100}, &secret.Masker{}, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	d := dbtest.Open(t)
	r.jobs, r.tasks, _ = jobtest.New(d, log)
	tasks := r.tasks
	t.Cleanup(func() { _ = tasks.Stop(context.Background()) })
	r.Dataset = idmap.NewDataset(idmap.Config{
		Folder: r.folder, HTTP: client, Schedule: r.jobs, Log: log,
		Enabled: r.enabled.Load, URL: func() string { return r.url },
		Plan: func() schedule.Plan { return schedule.Every(7 * 24 * time.Hour) }, Lists: func() []*idmap.Seasons { return nil },
	})
	r.jobs.Add(r.Job())
}

// refreshed runs a refresh to its end.
func (r *rig) refreshed(t *testing.T) idmap.Status {
	t.Helper()
	running, err := r.Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for {
		_, more := running.After(0)
		if running.Status().State != task.Running {
			return r.Status()
		}
		<-more
	}
}

// serves says by what the table in use can be told.
func (r *rig) serves(t *testing.T) string {
	t.Helper()
	table, why := r.Table()
	switch {
	case table == nil:
		return why.Text
	case len(table.ByTitle(marker)) > 0:
		return "fetched"
	case len(table.Show("890")) == 1:
		return "snapshot"
	}
	return "something else"
}

func (r *rig) want(t *testing.T, s idmap.Status, outcome idmap.Outcome, serves, problem string) {
	t.Helper()
	if s.LastOutcome != outcome || !strings.Contains(s.LastError.Text, problem) || (problem == "") != s.LastError.IsZero() {
		t.Errorf("the refresh ended %q: %q; want %q: %q", s.LastOutcome, s.LastError, outcome, problem)
	}
	if got := r.serves(t); got != serves {
		t.Errorf("in use is %s, want %s", got, serves)
	}
}

func TestRefresh(t *testing.T) {
	r := newRig(t)
	if s := r.Status(); s.Made != idmap.FromSnapshot || s.Version != idmap.Version || s.Entries < 8000 || s.NextRun == nil || s.TaskID != 0 || !s.LastRun.IsZero() {
		t.Errorf("before the first refresh the status is %+v", s)
	}
	r.site.publish(text(http.StatusOK, `"one"`, document(9000)))
	s := r.refreshed(t)
	r.want(t, s, idmap.Refreshed, "fetched", "")
	if s.Made != idmap.FromDownload || s.Entries != 9000 || !strings.HasPrefix(s.Version, "sha256-") || time.Since(s.FetchedAt) > time.Minute || s.TaskID == 0 || s.Refreshing {
		t.Errorf("after it the status is %+v", s)
	}
	r.want(t, r.refreshed(t), idmap.UpToDate, "fetched", "")

	r.restart(t)
	if got := r.Status(); got.LastOutcome != idmap.UpToDate || got.LastRun.IsZero() || !got.FetchedAt.Equal(s.FetchedAt) || got.Version != s.Version {
		t.Errorf("after a restart the status is %+v", got)
	}
	r.want(t, r.refreshed(t), idmap.UpToDate, "fetched", "")
	r.url += "?" // another address: what the ETag stands for is not known there
	r.site.publish(text(http.StatusOK, "", document(9000)))
	r.want(t, r.refreshed(t), idmap.UpToDate, "fetched", "")
	if diff := cmp.Diff([]string{"", `"one"`, `"one"`, ""}, r.site.asked); diff != "" {
		t.Errorf("If-None-Match (-want +got):\n%s", diff)
	}
}

func TestTheReleaseIsToldByTheAddress(t *testing.T) {
	r := newRig(t)
	r.site.publish(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/data.json" {
			http.Redirect(w, q, "/bangumi-data@0.3.999/dist/data.json", http.StatusFound)
			return
		}
		_, _ = w.Write([]byte(document(9000)))
	})
	if s := r.refreshed(t); s.Version != "0.3.999" {
		t.Errorf("the status is %+v", s)
	}
}

// Whatever comes, the table in use stays, now and after a restart.
func TestARefreshThatFailsChangesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	good := document(9000)
	for _, c := range []struct {
		name    string
		serve   http.HandlerFunc
		problem string
	}{
		{"cut", text(http.StatusOK, "", good[:len(good)/2]), "its end is missing"},
		{"cut on the way", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(good)))
			_, _ = w.Write([]byte(good[:len(good)/2]))
		}, "its end is missing"},
		{"much less", text(http.StatusOK, "", document(5000)), "much smaller than the one in use"},
		{"a page", text(http.StatusOK, "", "<!doctype html><title>Sign in</title>"), "not the table of bangumi-data"},
		{"an error", text(http.StatusBadGateway, "", "no"), "502 Bad Gateway"},
		{"not there", text(http.StatusNotFound, "", "no"), "404 Not Found"},
		{"not modified, though nobody asked", text(http.StatusNotModified, "", ""), "304"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.site.publish(c.serve)
			r.want(t, r.refreshed(t), idmap.Failed, "snapshot", c.problem)
			if n := strings.Count(r.logs.String(), "level=WARN"); n != 1 {
				t.Errorf("the log has %d warnings: %s", n, r.logs)
			}
			r.refreshed(t)
			if n := strings.Count(r.logs.String(), "level=WARN"); n != 1 {
				t.Errorf("after it failed again the log has %d warnings", n)
			}
			r.site.publish(text(http.StatusOK, "", good))
			r.want(t, r.refreshed(t), idmap.Refreshed, "fetched", "")
			r.site.publish(c.serve)
			r.want(t, r.refreshed(t), idmap.Failed, "fetched", c.problem)
			r.restart(t)
			r.want(t, r.Status(), idmap.Failed, "fetched", c.problem)
			if left, _ := filepath.Glob(filepath.Join(r.folder, "*.part")); len(left) > 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
}

func TestAHugeDocumentIsGivenUp(t *testing.T) {
	r := newRig(t)
	r.site.publish(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"x":[`))
		for block := bytes.Repeat([]byte("1,"), 1<<19); ; {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
	r.want(t, r.refreshed(t), idmap.Failed, "snapshot", "larger than 64 MiB")
}

func TestADamagedFileIsNotUsed(t *testing.T) {
	r := newRig(t)
	r.site.publish(text(http.StatusOK, `"one"`, document(9000)))
	r.refreshed(t)
	path := filepath.Join(r.folder, "dataset.bin")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 1
	for name, content := range map[string][]byte{"cut": whole[:len(whole)-9], "empty": nil, "flipped": flipped, "of another form": zipped(t, []byte(`{"format":3}`+"\n"))} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		r.restart(t)
		if got := r.serves(t); got != "snapshot" {
			t.Errorf("%s: in use is %s", name, got)
		}
		if n := strings.Count(r.logs.String(), "the fetched id table cannot be used"); n != 1 {
			t.Errorf("%s: it is told %d times", name, n)
		}
	}
	r.want(t, r.refreshed(t), idmap.Refreshed, "fetched", "") // the ETag of a file that is gone is not sent
}

// After an upgrade the program may bring a newer table than the one that was fetched.
func TestAnOlderFileGivesWayToTheSnapshot(t *testing.T) {
	for fetched, want := range map[string]string{"2026-05-14T23:00:00Z": "snapshot", "2026-05-15T00:00:00Z": "fetched"} {
		r := newRig(t)
		at, err := time.Parse(time.RFC3339, fetched)
		if err != nil {
			t.Fatal(err)
		}
		packed, err := idmap.Pack(strings.NewReader(document(10)), idmap.Head{Version: "0.3.1", FetchedAt: at, URL: r.url, ETag: `"one"`})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(r.folder, "dataset.bin"), packed, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := r.serves(t); got != want {
			t.Errorf("fetched at %s: in use is %s, want %s", fetched, got, want)
		}
	}
}

func TestSwitchedOff(t *testing.T) {
	r := newRig(t)
	r.enabled.Store(false)
	if got := r.serves(t); got != "the ID table is switched off" {
		t.Errorf("in use is %s", got)
	}
	if s := r.Status(); s.Enabled || s.Entries != 0 || s.NextRun != nil {
		t.Errorf("the status is %+v", s)
	}
	if _, err := r.Refresh(t.Context()); !errors.Is(err, idmap.ErrOff) {
		t.Errorf("a refresh gives %v", err)
	}
	r.enabled.Store(true)
	if got := r.serves(t); got != "snapshot" {
		t.Errorf("switched on again, in use is %s", got)
	}
}

func TestOneRefreshAtOnce(t *testing.T) {
	r := newRig(t)
	begun := make(chan struct{})
	r.site.publish(func(_ http.ResponseWriter, q *http.Request) {
		close(begun)
		<-q.Context().Done()
	})
	running, err := r.Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	if _, err := r.Refresh(t.Context()); !errors.Is(err, idmap.ErrRunning) {
		t.Errorf("another one gives %v", err)
	}
	if s := r.Status(); !s.Refreshing || s.TaskID != running.Status().ID {
		t.Errorf("the status is %+v", s)
	}
	if err := r.tasks.Cancel(t.Context(), running.Status().ID); err != nil {
		t.Fatal(err)
	}
	for {
		_, more := running.After(0)
		if running.Status().State != task.Running {
			break
		}
		<-more
	}
	if s := r.Status(); running.Status().State != task.Cancelled || s.Refreshing || s.LastOutcome != "" {
		t.Errorf("after cancel the task is %+v, the status %+v", running.Status(), s)
	}
}
