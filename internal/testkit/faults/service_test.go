package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// webhookKey is the key of every service here.
const webhookKey = "webhook-key-of-the-faults"

// environment is every setting of a service under test: fast to give up and to try again,
// and never slowed by the limits that spare the real catalog.
func environment(catalogURL string) []string {
	return []string{
		"WATCHMARK_CATALOG_API_URL=" + catalogURL,
		"WATCHMARK_CATALOG_WEB_URL=" + catalogURL,
		"WATCHMARK_AUTH_WEBHOOK_KEY=" + webhookKey,
		"WATCHMARK_NETWORK_TIMEOUT_SECONDS=1",
		"WATCHMARK_CATALOG_REQUESTS_PER_MINUTE=60000",
		"WATCHMARK_CATALOG_BURST=10000",
	}
}

// service is `watchmark serve` on one data folder, over all its restarts.
type service struct {
	tb      testing.TB
	program string
	data    string
	environ []string
	key     string // an API key
	client  *http.Client
	log     tail

	mu      sync.Mutex
	running *process
}

// serve starts a service on the data folder. Later settings go before those of environment.
func serve(tb testing.TB, data, catalogURL string, settings ...string) *service {
	tb.Helper()
	program, err := build()
	must(tb, err)
	s := newService(tb, program, data, append(environment(catalogURL), settings...))
	s.start()
	s.makeKey()
	return s
}

// newService is a service that does not run yet.
func newService(tb testing.TB, program, data string, environ []string) *service {
	tb.Helper()
	s := &service{tb: tb, program: program, data: data, environ: environ}
	s.client = &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: senders}}
	s.log.showOnFailure(tb)
	return s
}

// makeKey makes the API key by which the test asks.
func (s *service) makeKey() {
	s.tb.Helper()
	key, err := commandOf(s.tb, s.program, s.environ, "api-key", "create", "faults", "--data", s.data).Output()
	must(s.tb, err)
	s.key = strings.TrimSpace(string(key))
}

// start starts the process; it takes up what an earlier one left.
func (s *service) start() {
	s.tb.Helper()
	s.runs(s.spawn())
}

// spawn is start without waiting for runs.
func (s *service) spawn() *process {
	s.tb.Helper()
	return spawn(s.tb, commandOf(s.tb, s.program, s.environ, "serve", "--listen", "127.0.0.1:0", "--data", s.data), serviceListens, &s.log)
}

// runs waits until a process listens, which is the one that runs from then on.
func (s *service) runs(p *process) {
	s.tb.Helper()
	p.listening(s.tb)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = p
}

// process is the one that runs, or ran last.
func (s *service) process() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}

// restart kills the service and starts it again at once.
func (s *service) restart() {
	s.tb.Helper()
	s.process().kill()
	s.start()
}

// request sends one request and reads the answer whole. The error is one of the connection.
func (s *service) request(ctx context.Context, method, path string, body []byte) (status int, answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, method, s.process().url+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+s.key)
	response, err := s.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err = io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

// call sends a request that must be answered with the status; out, when not nil, takes the JSON of the answer.
func (s *service) call(status int, method, path, body string, out any) {
	s.tb.Helper()
	got, answer, err := s.request(context.Background(), method, path, []byte(body))
	must(s.tb, err)
	if got != status {
		s.tb.Fatalf("%s %s answers %d, not %d: %s", method, path, got, status, answer)
	}
	if out != nil {
		must(s.tb, json.Unmarshal(answer, out))
	}
}

// addAccounts gives every user an account that the media-server user of the same name goes to.
func (s *service) addAccounts(users []string) {
	s.tb.Helper()
	for _, user := range users {
		s.call(http.StatusCreated, http.MethodPost, "/api/accounts",
			fmt.Sprintf(`{"username":%q,"access_token":%q,"media_user_names":[%[1]q],"complete_series":true}`, user, tokenOf(user)), nil)
	}
}

// probe has the service ask the catalog, which must answer.
func (s *service) probe() {
	s.tb.Helper()
	var probe struct {
		OK      bool   `json:"ok"`
		Message string `json:"message"`
	}
	s.call(http.StatusOK, http.MethodPost, "/api/catalog_replay/probe", "", &probe)
	if !probe.OK {
		s.tb.Fatalf("the catalog does not answer: %s", probe.Message)
	}
}

// tokenOf is the access token of a user of the catalog.
func tokenOf(user string) string { return "token-of-" + user }

// usersNamed makes up n users.
func usersNamed(n int) []string {
	users := make([]string, n)
	for i := range users {
		users[i] = fmt.Sprintf("bench-%d", i+1)
	}
	return users
}

// counts is how many records there are by status.
func (s *service) counts() map[string]int {
	s.tb.Helper()
	var stats struct{ Total map[string]int }
	s.call(http.StatusOK, http.MethodGet, "/api/stats", "", &stats)
	return stats.Total
}

// open is how many records are not at their end.
func (s *service) open() int {
	s.tb.Helper()
	counts := s.counts()
	return counts["received"] + counts["processing"] + counts["queued"]
}

// outcome is what tests look at of a record.
type outcome struct {
	ID        int64  `json:"id"`
	Status    string `json:"status"`
	ErrorKind string `json:"error_kind"`
	EpisodeID int    `json:"episode_id"`
	Title     string `json:"title"`
	UserName  string `json:"user_name"`
	Message   string `json:"message"`
	Marked    bool   `json:"marked"`
}

// records lists the records in a state.
func (s *service) records(status string) (all []outcome) {
	s.tb.Helper()
	for cursor := ""; ; {
		var page struct {
			Items      []outcome `json:"items"`
			NextCursor string    `json:"next_cursor"`
		}
		s.call(http.StatusOK, http.MethodGet, "/api/records?limit=200&status="+status+"&cursor="+cursor, "", &page)
		all = append(all, page.Items...)
		if cursor = page.NextCursor; cursor == "" {
			return all
		}
	}
}

// fate is what the service says of a record.
func (s *service) fate(id int64) string {
	_, answer, err := s.request(context.Background(), http.MethodGet, fmt.Sprintf("/api/records/%d", id), nil)
	if err != nil {
		return err.Error()
	}
	return string(answer)
}

// settled waits until every record is at its end.
func (s *service) settled() {
	s.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for s.open() > 0 {
		if !pause(ctx) {
			s.tb.Fatalf("after %v there are records without an end: %v", patience, s.counts())
		}
	}
}
