package catalogtest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"watchmark/internal/testkit/catalogtest"
)

const agent = "bench/watchmark/1.0 (test) (https://example.org)"

// users are the people of most tests.
var users = []catalogtest.User{
	{ID: 11, Username: "mira", Token: "mira-token"},
	{ID: 12, Username: "young", Token: "young-token", Young: true},
	{ID: 13, Username: "noscope", Token: "noscope-token", NoWriteScope: true},
	{ID: 14, Username: "banned", Token: "banned-token", Banned: true},
	{ID: 15, Token: "unnamed-token"},
}

// sample starts a catalog with the users and the embedded sample.
func sample(t *testing.T, cfg catalogtest.Config) (*catalogtest.Server, string) {
	t.Helper()
	cfg.Users = append(cfg.Users, users...)
	s, base := catalogtest.Start(t, cfg)
	if err := s.LoadSample(); err != nil {
		t.Fatal(err)
	}
	return s, base
}

// exchange is one request and what has to come back.
type exchange struct {
	call        string // "GET /v0/me"
	token       string // sent as Bearer when given
	auth        string // sent as the whole Authorization header when given
	contentType string // application/json when empty; "-" sends none
	agent       string // the usual one when empty; "-" sends none
	body        string

	status int
	holds  []string // parts of the answer's body
	lacks  []string // not in it
	header map[string]string
}

// do sends the request and checks the answer.
func (x exchange) do(t *testing.T, base string) string {
	t.Helper()
	status, header, body, err := x.send(t, base)
	if err != nil {
		t.Fatalf("%s: %v", x.call, err)
	}
	if status != x.status {
		t.Fatalf("%s %s: status %d, want %d; body %s", x.call, x.body, status, x.status, body)
	}
	for _, part := range x.holds {
		if !strings.Contains(body, part) {
			t.Errorf("%s: body lacks %s:\n%s", x.call, part, body)
		}
	}
	for _, part := range x.lacks {
		if strings.Contains(body, part) {
			t.Errorf("%s: body has %s:\n%s", x.call, part, body)
		}
	}
	for name, want := range x.header {
		if got := header.Get(name); got != want {
			t.Errorf("%s: header %s is %q, want %q", x.call, name, got, want)
		}
	}
	return body
}

// client never follows redirects, so that tests see them.
var client = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (x exchange) send(t *testing.T, base string) (status int, header http.Header, body string, err error) {
	t.Helper()
	method, path, _ := strings.Cut(x.call, " ")
	request, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(x.body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("User-Agent", agent)
	switch x.agent {
	case "":
	case "-":
		request.Header.Set("User-Agent", "")
	default:
		request.Header.Set("User-Agent", x.agent)
	}
	switch x.contentType {
	case "":
		request.Header.Set("Content-Type", "application/json")
	case "-":
	default:
		request.Header.Set("Content-Type", x.contentType)
	}
	if x.token != "" {
		request.Header.Set("Authorization", "Bearer "+x.token)
	}
	if x.auth != "" {
		request.Header.Set("Authorization", x.auth)
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, "", err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, response.Header, string(answer), err
}

// trap is a named habit of the catalog, shown by exchanges in their order.
type trap struct {
	name  string
	steps []exchange
}

// run plays each trap against a sample catalog of its own.
func run(t *testing.T, cfg catalogtest.Config, traps []trap) {
	t.Helper()
	for _, trap := range traps {
		t.Run(trap.name, func(t *testing.T) {
			_, base := sample(t, cfg)
			for _, step := range trap.steps {
				step.do(t, base)
			}
		})
	}
}

// decode reads a JSON answer.
func decode[T any](t *testing.T, body string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return v
}
