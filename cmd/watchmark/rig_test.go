package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// asCommand is set for a child process that shall be the command instead of its tests.
const asCommand = "TEST_BINARY_IS_WATCHMARK"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// patience is how long anything may take; only a test that fails waits so long.
const patience = 2 * time.Minute

// What most tests use.
const (
	token    = "token-of-mira-0123456789"
	webhooks = "webhook-key-of-the-tests"
	password = "correct horse battery"
	episode1 = `{"title":"灯塔守望者","season":1,"episode":1,"release_date":"2024-01-10","user_name":"Mira"}`
)

// command is the real command with args, in a folder of its own and without the settings of
// this machine. environ are settings.
func command(t *testing.T, environ []string, args ...string) *exec.Cmd {
	t.Helper()
	if underRace {
		t.Skip("starts many processes, which takes minutes beside the race detector; package faults has the service run with it")
	}
	self, err := os.Executable()
	must(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "WATCHMARK_") })
	cmd.Env = append(cmd.Env, asCommand+"=1", "WATCHMARK_IDMAP_ENABLED=false") // which would ask the public service
	cmd.Env = append(cmd.Env, environ...)
	return cmd
}

// ran is how a command ended.
type ran struct {
	code     int
	out, err string
}

// finish runs the command to its end, with text on its standard input.
func finish(t *testing.T, cmd *exec.Cmd, text string) ran {
	t.Helper()
	var out, problems bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), &out, &problems
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return ran{cmd.ProcessState.ExitCode(), out.String(), problems.String()}
}

// process is a command that goes on until it is stopped.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	out    *output
	url    string
	ended  chan struct{}
	result error // of Wait, once ended
}

// output is what a process printed on both its outputs.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
	grew chan struct{} // closed and replaced with every write
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.grew)
	o.grew = make(chan struct{})
	return o.text.Write(p)
}

func (o *output) read() (text string, grew <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String(), o.grew
}

// launch starts the command and waits until it prints where it listens.
func launch(t *testing.T, cmd *exec.Cmd, listens *regexp.Regexp) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, out: &output{grew: make(chan struct{})}, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.out, p.out
	must(t, cmd.Start())
	go func() {
		p.result = cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(p.kill)
	p.url = p.printed(listens)
	return p
}

// printed waits until the process has printed something and answers its first group.
func (p *process) printed(what *regexp.Regexp) string {
	p.t.Helper()
	deadline := time.After(patience)
	for {
		text, grew := p.out.read()
		if m := what.FindStringSubmatch(text); m != nil {
			return m[1]
		}
		select {
		case <-grew:
		case <-p.ended:
			if text, _ := p.out.read(); !what.MatchString(text) {
				p.t.Fatalf("ended (%v) without printing %v: %s", p.result, what, text)
			}
		case <-deadline:
			p.t.Fatalf("does not print %v: %s", what, text)
		}
	}
}

// kill ends the process as a power cut would.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

var (
	serviceListens = regexp.MustCompile(`msg="watchmark is running".* url=(\S+)`)
	catalogListens = regexp.MustCompile(`simulated catalog on (\S+)`)
	setupLink      = regexp.MustCompile(`/setup\?token=(\S+)`)
)

// simulate starts a simulated catalog with the embedded sample and the list of mira.
func simulate(t *testing.T, args ...string) *process {
	t.Helper()
	return launch(t, command(t, nil, append([]string{"simulate", "--listen", "127.0.0.1:0", "--token", token + ":mira"}, args...)...), catalogListens)
}

// serve starts the service on the data folder, against the catalog at catalogURL.
func serve(t *testing.T, data, catalogURL string) *process {
	t.Helper()
	return launch(t, command(t, []string{"WATCHMARK_CATALOG_API_URL=" + catalogURL, "WATCHMARK_CATALOG_WEB_URL=" + catalogURL, "WATCHMARK_AUTH_WEBHOOK_KEY=" + webhooks, "WATCHMARK_LOG_LEVEL=debug"},
		"serve", "--listen", "127.0.0.1:0", "--data", data), serviceListens)
}

// nowhere is the address of a catalog that does not answer.
const nowhere = "http://127.0.0.1:9"

// answer is a response read whole.
type answer struct {
	status int
	header http.Header
	body   string
}

// call sends a JSON request; bearer may be empty.
func call(t *testing.T, method, address, bearer, body string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	must(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "watchmark-tests")
	if bearer != "" {
		request.Header.Set("Authorization", "Bearer "+bearer)
	}
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	return answer{response.StatusCode, response.Header, string(text)}
}

// wants calls and expects a status; out, when not nil, takes the JSON of the answer.
func wants(t *testing.T, status int, method, address, bearer, body string, out any) answer {
	t.Helper()
	got := call(t, method, address, bearer, body)
	if got.status != status {
		t.Fatalf("%s %s answers %d, not %d: %s", method, address, got.status, status, got.body)
	}
	if out != nil {
		must(t, json.Unmarshal([]byte(got.body), out))
	}
	return got
}

// makeKey makes an API key with the command.
func makeKey(t *testing.T, data, name string) string {
	t.Helper()
	got := finish(t, command(t, nil, "api-key", "create", name, "--data", data), "")
	key, whole := strings.CutSuffix(got.out, "\n")
	if got.code != 0 || !whole || !regexp.MustCompile(`^\S{20,}$`).MatchString(key) {
		t.Fatalf("api-key create: exit %d, prints %q and %s", got.code, got.out, got.err)
	}
	return key
}

// onList is what GET /_sim/marks tells.
type onList struct {
	Marks []struct {
		Username  string    `json:"username"`
		SubjectID int       `json:"subject_id"`
		EpisodeID int       `json:"episode_id"`
		Type      int       `json:"type"`
		At        time.Time `json:"at"`
	} `json:"marks"`
	Writes int `json:"writes"`
}

// marks reads what the simulated catalog was told.
func (p *process) marks() (list onList) {
	p.t.Helper()
	wants(p.t, http.StatusOK, http.MethodGet, p.url+"/_sim/marks", "", "", &list)
	return list
}

// record is what tests look at of a record.
type record struct {
	ID        int64  `json:"id"`
	Status    string `json:"status"`
	EpisodeID int    `json:"episode_id"`
	Message   string `json:"message"`
}

// settled waits until the record is in a final state.
func (p *process) settled(key string, id int64) (r record) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		wants(p.t, http.StatusOK, http.MethodGet, fmt.Sprintf("%s/api/records/%d", p.url, id), key, "", &r)
		if r.Status != "received" && r.Status != "processing" {
			return r
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("record stays %+v", r)
		}
	}
}

// send sends a custom webhook that must be accepted.
func (p *process) send(body string) (id int64) {
	p.t.Helper()
	var accepted struct {
		RecordIDs []int64 `json:"record_ids"`
	}
	wants(p.t, http.StatusAccepted, http.MethodPost, p.url+"/webhook/custom/"+webhooks, "", body, &accepted)
	if len(accepted.RecordIDs) != 1 {
		p.t.Fatalf("records %v", accepted.RecordIDs)
	}
	return accepted.RecordIDs[0]
}

// mustHold checks that text holds every part.
func mustHold(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("lacks %q: %s", part, text)
		}
	}
}

// leftIn is what a command left behind in a folder for temporary files.
func leftIn(t *testing.T, folder string) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(folder, "*"))
	must(t, err)
	return left
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
