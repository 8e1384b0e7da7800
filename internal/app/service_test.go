package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"watchmark/internal/app"
	"watchmark/internal/catalog/account"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/logtest"
)

// Secrets of the tests. None may ever be seen in clear.
const (
	miraToken = "mira-token-7f3a9c5e1b"
	alexToken = "alex-token-2d8b4f6a0c"
	password  = "correct horse battery"
)

// service is the whole service against a simulated catalog, reached as its users reach it.
type service struct {
	t    *testing.T
	app  *app.App
	list *catalogtest.Server
	// later is by how much the catalog's clock is ahead.
	later *atomic.Int64
	dir   string
	url   string // base path included
	key   string // of the API
	hook  string // the webhook key
	logs  *logtest.Buffer
	// catalog are the settings that lead to list, and to the database.
	catalog []string
	stop    func()
}

// startEmpty starts the service on a fresh folder with the embedded sample on the
// catalog; environ are settings.
func startEmpty(t *testing.T, environ ...string) *service {
	t.Helper()
	later := &atomic.Int64{}
	list, address := catalogtest.Start(t, catalogtest.Config{
		Users: []catalogtest.User{{Username: "mira", Token: miraToken}, {Username: "alex", Token: alexToken}},
		Now:   func() time.Time { return time.Now().Add(time.Duration(later.Load())) },
	})
	if err := list.LoadSample(); err != nil {
		t.Fatal(err)
	}
	s := &service{t: t, list: list, later: later, dir: dbtest.Folder(t), logs: &logtest.Buffer{}}
	s.catalog = append(dbtest.Environ(t, s.dir), "WATCHMARK_CATALOG_API_URL="+address, "WATCHMARK_CATALOG_WEB_URL="+address, "WATCHMARK_CATALOG_IMAGE_URL="+address)
	s.run(append(environ, s.catalog...))
	return s
}

// start is startEmpty with the accounts of mira ("Mira", "mira TV") and alex ("alex").
func start(t *testing.T, environ ...string) *service {
	t.Helper()
	s := startEmpty(t, environ...)
	for _, d := range []account.Draft{
		{Username: "mira", Tokens: account.Tokens{Access: miraToken}, MediaUserNames: []string{"Mira", "mira TV"}, Preferred: true},
		{Username: "alex", Tokens: account.Tokens{Access: alexToken}, MediaUserNames: []string{"alex"}},
	} {
		d.Method, d.Enabled, d.CompleteFilms = account.ByToken, true, true
		if _, err := s.app.Accounts.Create(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// again starts the service anew on its folder; environ are settings.
func (s *service) again(environ ...string) {
	s.t.Helper()
	s.stop()
	s.run(append(environ, s.catalog...))
}

// run starts the service on its folder and waits until it answers.
func (s *service) run(environ []string) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var err error
	if s.app, err = app.New(ctx, app.Options{DataDir: s.dir, Environ: append([]string{"WATCHMARK_IDMAP_ENABLED=false"}, environ...), Logs: s.logs, LocalDevices: true}); err != nil {
		s.t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.app.Serve(ctx, listener) }()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			s.t.Error(err)
		}
	})
	s.t.Cleanup(func() { s.stop() })
	now := s.app.Settings.Current()
	s.url = "http://" + listener.Addr().String() + now.Server.BasePath
	s.hook = now.Auth.WebhookKey.Reveal()
	s.do(s.request(http.MethodGet, "/health", "", ""))
	if s.key == "" {
		if s.key, _, err = s.app.Auth.CreateKey(ctx, "test"); err != nil {
			s.t.Fatal(err)
		}
	}
}

// answer is a response read whole.
type answer struct {
	status int
	header http.Header
	body   string
}

func (s *service) do(request *http.Request) answer {
	s.t.Helper()
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(body)}
}

func (s *service) request(method, path, contentType, body string) *http.Request {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	return request
}

// api calls the API with the key, expects a status, and decodes the answer into out unless it is nil.
func (s *service) api(method, path, body string, status int, out any) answer {
	s.t.Helper()
	request := s.request(method, path, "application/json", body)
	request.Header.Set("Authorization", "Bearer "+s.key)
	got := s.do(request)
	if got.status != status {
		s.t.Fatalf("%s %s answers %d, not %d: %s", method, path, got.status, status, got.body)
	}
	if out != nil {
		if err := json.Unmarshal([]byte(got.body), out); err != nil {
			s.t.Fatalf("%s %s: %v in %s", method, path, err, got.body)
		}
	}
	return got
}

// get reads a page, or whatever is at the path, with the API key.
func (s *service) get(path string) answer {
	s.t.Helper()
	request := s.request(http.MethodGet, path, "", "")
	request.Header.Set("Authorization", "Bearer "+s.key)
	return s.do(request)
}

// webhook sends a webhook with the key in its path.
func (s *service) webhook(source, contentType, body string) answer {
	s.t.Helper()
	return s.do(s.request(http.MethodPost, "/webhook/"+source+"/"+s.hook, contentType, body))
}

// custom sends a custom webhook that must be accepted, and returns its record's id.
func (s *service) custom(body string) int64 {
	s.t.Helper()
	return s.accepted(s.webhook("custom", "application/json", body))[0]
}

// accepted are the records of a webhook that must have been accepted.
func (s *service) accepted(got answer) []int64 {
	s.t.Helper()
	var accepted struct {
		RecordIDs []int64 `json:"record_ids"`
	}
	if err := json.Unmarshal([]byte(got.body), &accepted); err != nil || got.status != http.StatusAccepted || len(accepted.RecordIDs) == 0 {
		s.t.Fatalf("the webhook is answered %d: %s", got.status, got.body)
	}
	return accepted.RecordIDs
}

// recordView is what the tests look at of a record.
type recordView struct {
	ID          int64    `json:"id"`
	Status      string   `json:"status"`
	ErrorKind   string   `json:"error_kind"`
	UserName    string   `json:"user_name"`
	AccountName string   `json:"account_name"`
	Title       string   `json:"title"`
	SubjectID   int      `json:"subject_id"`
	EpisodeID   int      `json:"episode_id"`
	EpisodeSort *float64 `json:"episode_sort"`
	Message     string   `json:"message"`
	Attempts    int      `json:"attempts"`
	Marked      bool     `json:"marked"`
	Rewatch     bool     `json:"rewatch"`
}

// settled waits until the record has left the states in which work is under way.
func (s *service) settled(id int64) recordView {
	s.t.Helper()
	return s.until(id, func(r recordView) bool { return r.Status != "received" && r.Status != "processing" })
}

// until waits until is holds for the record.
func (s *service) until(id int64, is func(recordView) bool) recordView {
	s.t.Helper()
	changes, cancel := s.app.Records.Feed.Subscribe()
	defer cancel()
	deadline := time.After(2 * time.Minute)
	for {
		var r recordView
		s.api(http.MethodGet, fmt.Sprintf("/api/records/%d", id), "", http.StatusOK, &r)
		if is(r) {
			return r
		}
		select {
		case <-changes:
		case <-deadline:
			s.t.Fatalf("record %d stays %+v", id, r)
		}
	}
}

// marked are the episodes on the lists, as user/episode.
func (s *service) marked() map[string]bool {
	all := map[string]bool{}
	for _, m := range s.list.Marks() {
		all[fmt.Sprintf("%s/%d", m.Username, m.EpisodeID)] = true
	}
	return all
}

// unnamed is a fact that a page shows by the name it has in the code.
var unnamed = regexp.MustCompile(`<dt>([a-z]+(_[a-z]+)*)</dt>`)

// explained checks that the record's page has words for everything its trace holds.
func (s *service) explained(id int64) {
	s.t.Helper()
	page := s.get(fmt.Sprintf("/records/%d", id))
	if page.status != http.StatusOK || !strings.Contains(page.body, "<dt>") {
		s.t.Errorf("the page of record %d answers %d", id, page.status)
	}
	for _, m := range unnamed.FindAllStringSubmatch(page.body, -1) {
		s.t.Errorf("the page of record %d has no words for %s", id, m[1])
	}
}
