package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog/archive/fetch"
	"watchmark/internal/testkit/dumptest"
)

// syntheticDump is a dump of that scale, with one of its titles that stands alone.
func syntheticDump(t *testing.T, scale float64, seed uint64) (zip []byte, title dumptest.Title) {
	t.Helper()
	spec := dumptest.Scaled(scale)
	spec.Seed = seed
	var buf bytes.Buffer
	must(t, dumptest.Write(&buf, spec))
	for each := range dumptest.Titles(spec) {
		if each.Type == 2 && each.Date != "" && len([]rune(each.Name)) > 8 {
			title = each
		}
	}
	return buf.Bytes(), title
}

// releases publishes a dump the way the catalog does: a pointer file and the zip.
type releases struct {
	url string

	mu      sync.Mutex
	version string
	zip     []byte
	down    bool
	fetched int // how often the zip was asked for
	// hold, unless nil, keeps a download after its first half until it is closed.
	hold chan struct{}
}

func publish(t *testing.T, version string, zip []byte) *releases {
	t.Helper()
	r := &releases{version: version, zip: zip}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

func (r *releases) change(change func(r *releases)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(r)
}

func (r *releases) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	version, zip, down, hold := r.version, r.zip, r.down, r.hold
	r.mu.Unlock()
	name := "dump-" + version + ".zip"
	switch {
	case down:
		http.Error(w, "down", http.StatusBadGateway)
	case strings.HasSuffix(request.URL.Path, "/latest.json"):
		_ = json.NewEncoder(w).Encode(map[string]any{
			"name": name, "browser_download_url": r.url + "/files/" + name, "size": len(zip), "content_type": "application/zip",
			"digest": fmt.Sprintf("sha256:%x", sha256.Sum256(zip)), "updated_at": "2026-01-06T21:03:40Z", "id": 1, "label": "",
		})
	case request.URL.Path == "/files/"+name:
		r.change(func(r *releases) { r.fetched++ })
		w.Header().Set("ETag", `"`+version+`"`)
		var content io.ReadSeeker = bytes.NewReader(zip)
		if hold != nil {
			content = &heldContent{Reader: bytes.NewReader(zip), until: hold, after: int64(len(zip) / 2)}
		}
		http.ServeContent(w, request, "", time.Time{}, content)
	default:
		http.NotFound(w, request)
	}
}

// heldContent waits in the middle.
type heldContent struct {
	*bytes.Reader
	until chan struct{}
	after int64
}

func (h *heldContent) Read(p []byte) (int, error) {
	at := h.Size() - int64(h.Len())
	if at >= h.after {
		<-h.until
	} else if int64(len(p)) > h.after-at {
		p = p[:h.after-at]
	}
	return h.Reader.Read(p)
}

// WriteTo is that of the Reader, which would not wait.
func (h *heldContent) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{h})
}

// archiveState is what tests look at of the status.
type archiveState struct {
	Enabled          bool   `json:"enabled"`
	LastError        string `json:"last_error"`
	LastOutcome      string `json:"last_outcome"`
	ImportInProgress bool   `json:"import_in_progress"`
	CurrentProgress  *struct {
		Phase string `json:"phase"`
		Done  int64  `json:"done"`
	} `json:"current_progress"`
	TaskID     int64      `json:"task_id"`
	Version    string     `json:"version"`
	Subjects   int64      `json:"subjects"`
	IndexReady bool       `json:"index_ready"`
	NextRun    *time.Time `json:"next_run"`
}

// archiveUntil waits until the state of the archive holds.
func (p *process) archiveUntil(what string, holds func(archiveState) bool) (s archiveState) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		s = archiveState{}
		wants(p.t, http.StatusOK, http.MethodGet, p.url+"/api/catalog_archive/status", "", "", &s)
		if holds(s) {
			return s
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("the archive is not %s: %+v", what, s)
		}
	}
}

func ended(outcome string) func(archiveState) bool {
	return func(s archiveState) bool { return !s.ImportInProgress && s.LastOutcome == outcome }
}

// serveArchive starts a service without a login whose catalog is off, and whose dumps come from r.
func serveArchive(t *testing.T, data string, r *releases, environ ...string) *process {
	t.Helper()
	return launch(t, command(t, append([]string{"WATCHMARK_AUTH_ENABLED=false", "WATCHMARK_CATALOG_API_URL=" + nowhere, "WATCHMARK_CATALOG_ARCHIVE_MIN_FREE_MB=10",
		"WATCHMARK_CATALOG_ARCHIVE_POINTER_URL=" + r.url + "/latest.json"}, environ...), "serve", "--data", data, "--listen", "127.0.0.1:0"), serviceListens)
}

// inArchive lists the folder of the archive, without what tells of imports.
func inArchive(t *testing.T, data string) []string {
	t.Helper()
	names := []string{}
	for _, path := range leftIn(t, filepath.Join(data, "archive")) {
		if name := filepath.Base(path); name != "import.lock" && name != "state.json" {
			names = append(names, name)
		}
	}
	return names
}

func pair(version string) []string {
	return []string{"catalog_archive_" + version + ".db", "catalog_archive_" + version + ".titles", "current.json"}
}

func TestArchiveCommands(t *testing.T) {
	zip, title := syntheticDump(t, 0.005, 1)
	smaller, _ := syntheticDump(t, 0.001, 2)
	data, folder := t.TempDir(), t.TempDir()
	whole, small := filepath.Join(folder, "whole.zip"), filepath.Join(folder, "small.zip")
	must(t, os.WriteFile(whole, zip, 0o600))
	must(t, os.WriteFile(small, smaller, 0o600))
	r := publish(t, "2026-01-06.210306Z", zip)
	run := func(args ...string) ran {
		t.Helper()
		environ := []string{"WATCHMARK_CATALOG_ARCHIVE_POINTER_URL=" + r.url + "/latest.json", "WATCHMARK_CATALOG_ARCHIVE_MIN_FREE_MB=10", "WATCHMARK_CATALOG_API_URL=" + nowhere}
		return finish(t, command(t, environ, append(args, "--data", data)...), "")
	}
	ok := func(want string, args ...string) {
		t.Helper()
		got := run(args...)
		if got.code != 0 {
			t.Errorf("%v: exit %d, %s", args, got.code, got.err)
		}
		mustHold(t, got.out, want)
	}
	refused := func(want string, args ...string) {
		t.Helper()
		got := run(args...)
		if got.code != 1 {
			t.Errorf("%v: exit %d", args, got.code)
		}
		mustHold(t, got.err, want)
	}
	ok("Nothing is imported yet", "archive", "status")
	refused("run watchmark archive import", "archive", "search", "x")
	refused("not a complete zip file", "archive", "import", filepath.Join(data, "watchmark.db"))
	refused("no such file", "archive", "import", filepath.Join(data, "none.zip"))
	ok("Imported sha256-", "archive", "import", whole)
	ok("650 subjects", "archive", "status")
	refused("probably incomplete", "archive", "import", small)
	ok("650 subjects", "archive", "status")
	ok("130 subjects", "archive", "import", small, "--force")
	ok("650 subjects", "archive", "import", r.url+"/files/dump-2026-01-06.210306Z.zip")
	ok("is in use already", "archive", "import")
	ok("Imported 2026-01-06.210306Z", "archive", "import", "--force")
	if diff := cmp.Diff(pair("2026-01-06.210306Z"), inArchive(t, data)); diff != "" {
		t.Error(diff)
	}
	refused("404", "archive", "import", r.url+"/files/dump-x.zip")
	ok(fmt.Sprintf("%d ", title.Subject), "archive", "search", title.Name)
	var found struct {
		Items []struct {
			SubjectID int     `json:"subject_id"`
			Name      string  `json:"name"`
			Score     float64 `json:"score"`
			How       string  `json:"how"`
		} `json:"items"`
	}
	must(t, json.Unmarshal([]byte(run("archive", "search", title.Name, "--json").out), &found))
	if len(found.Items) == 0 || found.Items[0].SubjectID != title.Subject || found.Items[0].How != "equal" {
		t.Errorf("%q leads to %+v, want %d", title.Name, found.Items, title.Subject)
	}
}

func TestArchiveOfAService(t *testing.T) {
	zip, title := syntheticDump(t, 0.005, 1)
	next, _ := syntheticDump(t, 0.005, 2)
	r := publish(t, "2026-01-06.210306Z", zip)
	data := t.TempDir()
	service := serveArchive(t, data, r)
	api := service.url + "/api/catalog_archive"
	test := fmt.Sprintf(`{"title":%q,"season":1,"episode":1,"user_name":"Mira"}`, title.Name)
	result := func() (status, method string) {
		t.Helper()
		var trace struct {
			Result struct {
				Status    string `json:"status"`
				Method    string `json:"method"`
				SubjectID int    `json:"subject_id"`
			} `json:"result"`
		}
		wants(t, http.StatusOK, http.MethodPost, service.url+"/api/test-match", "", test, &trace)
		return trace.Result.Status, trace.Result.Method
	}
	wants(t, http.StatusCreated, http.MethodPost, service.url+"/api/accounts", "", `{"username":"mira","media_user_names":["Mira"],"access_token":"`+token+`"}`, nil)
	if status, _ := result(); status != "unreachable" {
		t.Errorf("without archive and catalog the match is %s", status)
	}
	wants(t, http.StatusConflict, http.MethodGet, api+"/search?q=x", "", "", nil)

	// Switching it on imports the first dump.
	wants(t, http.StatusOK, http.MethodPatch, service.url+"/api/settings", "", `{"catalog_archive":{"enabled":true}}`, nil)
	s := service.archiveUntil("imported", ended("imported"))
	if !s.Enabled || !s.IndexReady || s.Version != "2026-01-06.210306Z" || s.Subjects != 650 || s.NextRun == nil || s.LastError != "" {
		t.Errorf("after the first import: %+v", s)
	}
	if next := s.NextRun.UTC(); next.Weekday() != time.Wednesday || next.Hour() != 0 {
		t.Errorf("the next run is %v, want a Wednesday at 8 in Shanghai", next)
	}
	if status, method := result(); status != "matched" || method != "archive" {
		t.Errorf("while the catalog is off the match is %s by %q", status, method)
	}
	stream := wants(t, http.StatusOK, http.MethodGet, fmt.Sprint(api, "/progress?task_id=", s.TaskID), "", "", nil)
	mustHold(t, stream.header.Get("Content-Type"), "text/event-stream")
	mustHold(t, stream.body, "event: log", "event: result", `"outcome":"imported"`)
	log := wants(t, http.StatusOK, http.MethodGet, fmt.Sprint(api, "/progress_log?task_id=", s.TaskID), "", "", nil)
	mustHold(t, log.body, `"state":"done"`, "a dump is fetched", "the offline data was imported")
	wants(t, http.StatusNotFound, http.MethodGet, api+"/progress_log?task_id=99", "", "", nil)
	detail := wants(t, http.StatusOK, http.MethodGet, fmt.Sprint(api, "/subjects/", title.Subject), "", "", nil)
	mustHold(t, detail.body, `"seasons":[{`, `"episodes":[`)
	wants(t, http.StatusNotFound, http.MethodGet, api+"/subjects/7777777", "", "", nil)
	wants(t, http.StatusOK, http.MethodGet, api+"/airing?from=2020-01-01&to=2020-01-31", "", "", nil)
	wants(t, http.StatusUnprocessableEntity, http.MethodGet, api+"/airing?from=2020-01-01&to=2021-01-31", "", "", nil)

	trigger := func(query string) (id int64) {
		t.Helper()
		var started struct {
			TaskID int64 `json:"task_id"`
		}
		wants(t, http.StatusAccepted, http.MethodPost, api+"/trigger"+query, "", "", &started)
		return started.TaskID
	}
	// The same version is not imported again, unless it must be.
	trigger("")
	service.archiveUntil("up to date", ended("up_to_date"))
	trigger("?force=true")
	service.archiveUntil("imported once more", ended("imported"))

	// A dump that is announced small is not even fetched, forced or not.
	r.change(func(r *releases) { r.version, r.zip = "2026-01-13.210306Z", zip[:len(zip)/3] })
	trigger("?force=true")
	s = service.archiveUntil("refused", ended("failed"))
	mustHold(t, s.LastError, "probably incomplete")
	if wait := time.Until(*s.NextRun); wait < 59*time.Minute || wait > time.Hour || !s.IndexReady {
		t.Errorf("after a failure it is tried again in %v (%+v)", wait, s)
	}

	// While a download hangs there is a task to follow and to cancel, and another trigger joins it.
	hold := make(chan struct{})
	letGo := sync.OnceFunc(func() { close(hold) })
	t.Cleanup(letGo)
	r.change(func(r *releases) { r.zip, r.hold = next, hold })
	id := trigger("")
	service.archiveUntil("half downloaded", func(s archiveState) bool {
		return s.CurrentProgress != nil && s.CurrentProgress.Phase == "download" && s.CurrentProgress.Done > 0
	})
	if again := trigger("?force=true"); again != id {
		t.Errorf("a second trigger starts task %d beside %d", again, id)
	}
	wants(t, http.StatusConflict, http.MethodPost, api+"/import_local", "", "", nil)
	wants(t, http.StatusAccepted, http.MethodPost, api+"/cancel", "", "", nil)
	service.archiveUntil("cancelled", ended("cancelled"))
	letGo()
	for state := "running"; state == "running"; { // the archive is told first
		var run struct{ State string }
		wants(t, http.StatusOK, http.MethodGet, fmt.Sprintf("%s/api/tasks/%d", service.url, id), "", "", &run)
		state = run.State
	}
	wants(t, http.StatusConflict, http.MethodPost, api+"/cancel", "", "", nil)
	r.change(func(r *releases) { r.hold = nil })
	trigger("")
	s = service.archiveUntil("imported", ended("imported"))
	if s.Version != "2026-01-13.210306Z" {
		t.Errorf("in use is %s", s.Version)
	}
	if diff := cmp.Diff(pair("2026-01-13.210306Z"), inArchive(t, data)); diff != "" {
		t.Error(diff)
	}

	// A dump that cannot be used is fetched once; then it is only looked whether there is another one.
	broken := slices.Clone(next)
	copy(broken[len(broken)/2:], make([]byte, 2000))
	r.change(func(r *releases) { r.version, r.zip, r.fetched = "2026-01-20.210306Z", broken, 0 })
	for range 3 {
		before := trigger("")
		mustHold(t, service.archiveUntil("refused", func(s archiveState) bool { return s.TaskID == before && ended("failed")(s) }).LastError, "the dump cannot be used")
	}
	r.change(func(r *releases) {
		if r.fetched != 1 {
			t.Errorf("a broken dump is fetched %d times", r.fetched)
		}
	})

	// A source that is down.
	r.change(func(r *releases) { r.down = true })
	trigger("")
	mustHold(t, service.archiveUntil("failed", ended("failed")).LastError, "502")

	// What another process imports is taken up.
	path := filepath.Join(t.TempDir(), "dump.zip")
	must(t, os.WriteFile(path, zip, 0o600))
	if got := finish(t, command(t, []string{"WATCHMARK_CATALOG_ARCHIVE_MIN_FREE_MB=10"}, "archive", "import", path, "--data", data), ""); got.code != 0 {
		t.Errorf("exit %d, %s", got.code, got.err)
	}
	service.archiveUntil("that of the command", func(s archiveState) bool { return strings.HasPrefix(s.Version, "sha256-") })
	if status, _ := result(); status != "matched" {
		t.Errorf("the match is %s", status)
	}
}

func TestArchiveWithoutRoom(t *testing.T) {
	zip, _ := syntheticDump(t, 0.001, 1)
	r := publish(t, "2026-01-06.210306Z", zip)
	service := serveArchive(t, t.TempDir(), r, "WATCHMARK_CATALOG_ARCHIVE_MIN_FREE_MB=1000000", "WATCHMARK_CATALOG_ARCHIVE_ENABLED=true")
	s := service.archiveUntil("skipped", ended("skipped"))
	mustHold(t, s.LastError, "MB free", "1000000 MB are needed")
	got := call(t, http.MethodPost, service.url+"/api/catalog_archive/import_local", "", string(zip))
	if got.status != http.StatusUnsupportedMediaType {
		t.Errorf("an upload of JSON answers %d", got.status)
	}
	if got := uploadDump(t, service.url, "application/zip", bytes.NewReader(zip)); got.status != http.StatusInsufficientStorage {
		t.Errorf("an upload answers %d %s", got.status, got.body)
	}
}

func uploadDump(t *testing.T, url, kind string, body io.Reader) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/api/catalog_archive/import_local", body)
	must(t, err)
	request.Header.Set("Content-Type", kind)
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	return answer{response.StatusCode, response.Header, string(text)}
}

func TestArchiveUpload(t *testing.T) {
	zip, _ := syntheticDump(t, 0.005, 1)
	r := publish(t, "2026-01-06.210306Z", nil)
	data := t.TempDir()
	service := serveArchive(t, data, r)
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	must(t, w.WriteField("note", "x"))
	part, err := w.CreateFormFile("file", "../../etc/passwd")
	must(t, err)
	_, err = part.Write(zip)
	must(t, err)
	must(t, w.Close())
	if got := uploadDump(t, service.url, w.FormDataContentType(), &form); got.status != http.StatusAccepted {
		t.Fatalf("a form answers %d %s", got.status, got.body)
	}
	s := service.archiveUntil("imported", ended("imported"))
	if s.Subjects != 650 {
		t.Errorf("%+v", s)
	}
	held := inArchive(t, data)
	for name, c := range map[string]struct {
		zip  []byte
		want string
	}{
		"no zip":  {[]byte("hello"), "not a complete zip file"},
		"cut":     {zip[:len(zip)/2], ""},
		"nothing": {nil, ""},
		"smaller": {func() []byte { z, _ := syntheticDump(t, 0.001, 2); return z }(), "probably incomplete"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := uploadDump(t, service.url, "application/octet-stream", bytes.NewReader(c.zip)); got.status != http.StatusAccepted {
				t.Fatalf("answers %d %s", got.status, got.body)
			}
			s := service.archiveUntil("refused", func(s archiveState) bool { return !s.ImportInProgress })
			if s.LastOutcome != "failed" {
				t.Errorf("it was %s", s.LastOutcome)
			}
			mustHold(t, s.LastError, c.want)
			if diff := cmp.Diff(held, inArchive(t, data)); diff != "" {
				t.Error(diff)
			}
		})
	}
	broken, writer := io.Pipe()
	go func() {
		_, _ = writer.Write(zip[:100000])
		_ = writer.CloseWithError(io.ErrUnexpectedEOF)
	}()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, service.url+"/api/catalog_archive/import_local", broken)
	must(t, err)
	request.Header.Set("Content-Type", "application/zip")
	if response, err := http.DefaultClient.Do(request); err == nil {
		_ = response.Body.Close()
	}
	for deadline := time.Now().Add(patience); slices.ContainsFunc(inArchive(t, data), func(name string) bool { return strings.HasPrefix(name, "upload-") }); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("a broken upload leaves %v", inArchive(t, data))
		}
	}
}

// However an import is killed, an archive in use stays whole, and the next start
// clears up and imports.
func TestArchiveKilled(t *testing.T) {
	zip, _ := syntheticDump(t, 0.005, 1)
	var weekly [2]struct { // in turn: the same dump with another date would be no newer one
		zip   []byte
		title dumptest.Title
	}
	for n := range weekly {
		weekly[n].zip, weekly[n].title = syntheticDump(t, 0.04, uint64(2+n))
	}
	week, published := 0, time.Date(2026, 1, 6, 21, 3, 6, 0, time.UTC)
	r := publish(t, published.Format(fetch.VersionLayout), zip)
	data := t.TempDir()
	service := serveArchive(t, data, r, "WATCHMARK_CATALOG_ARCHIVE_ENABLED=true")
	first := service.archiveUntil("imported", ended("imported")).Version
	inUse := first
	newer := func() {
		week, published = week+1, published.AddDate(0, 0, 7)
		r.change(func(r *releases) {
			r.version, r.zip = published.Format(fetch.VersionLayout), weekly[week%len(weekly)].zip
		})
	}
	newer()
	whole := t // whose end the service lives to see
	// killedIn reports whether the kill came before the import it was meant for had ended.
	killedIn := func(t *testing.T, phase string) bool {
		t.Helper()
		wants(t, http.StatusAccepted, http.MethodPost, service.url+"/api/catalog_archive/trigger", "", "", nil)
		service.archiveUntil("in phase "+phase, func(s archiveState) bool {
			return s.CurrentProgress != nil && s.CurrentProgress.Phase == phase && (phase == "write" || s.CurrentProgress.Done > 0) || s.Version != inUse
		})
		service.kill()
		service = serveArchive(whole, data, r, "WATCHMARK_CATALOG_ARCHIVE_ENABLED=true")
		before, s := inUse, service.archiveUntil("ready", func(s archiveState) bool { return s.IndexReady })
		inUse = s.Version
		if want := map[bool]int64{true: 650, false: 5200}[inUse == first]; s.Subjects != want {
			t.Errorf("the archive in use is %+v", s)
		}
		// What was downloaded of a dump that is not in use yet is gone on with.
		left := slices.DeleteFunc(inArchive(t, data), func(name string) bool {
			return inUse == before && strings.HasPrefix(name, "download-"+published.Format(fetch.VersionLayout))
		})
		if diff := cmp.Diff(pair(inUse), left); diff != "" {
			t.Error(diff)
		}
		return inUse == before
	}
	for _, phase := range []string{"download", "read", "index", "write"} {
		t.Run(phase, func(t *testing.T) {
			if phase == "download" {
				hold := make(chan struct{})
				r.change(func(r *releases) { r.hold = hold })
				defer func() {
					close(hold)
					r.change(func(r *releases) { r.hold = nil })
				}()
			}
			// On a busy machine the import may be over before the kill comes: another is tried with the dump of the next week.
			for tries := 0; !killedIn(t, phase); tries++ {
				newer()
				if phase == "write" {
					return // the archive is switched within this phase
				}
				if tries == 20 {
					t.Fatalf("no import was ever killed in phase %s", phase)
				}
			}
		})
	}
	wants(t, http.StatusAccepted, http.MethodPost, service.url+"/api/catalog_archive/trigger", "", "", nil)
	service.archiveUntil("the new one", func(s archiveState) bool {
		return s.Version == published.Format(fetch.VersionLayout) && !s.ImportInProgress
	})
	if diff := cmp.Diff(pair(published.Format(fetch.VersionLayout)), inArchive(t, data)); diff != "" {
		t.Error(diff)
	}
	title := weekly[week%len(weekly)].title
	found := wants(t, http.StatusOK, http.MethodGet, service.url+"/api/catalog_archive/search?q="+strings.ReplaceAll(title.Name, " ", "%20"), "", "", nil)
	mustHold(t, found.body, fmt.Sprintf(`"subject_id":%d`, title.Subject))
}
