//go:build unix

package main

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stop asks the process to end and waits for it.
func (p *process) stop(signal os.Signal) {
	p.t.Helper()
	must(p.t, p.cmd.Process.Signal(signal))
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.t.Fatal("does not end")
	}
	if p.result != nil {
		text, _ := p.out.read()
		p.t.Errorf("ended with %v: %s", p.result, text)
	}
}

func TestServeEndsWellAtSIGTERM(t *testing.T) {
	data := t.TempDir()
	service := serve(t, data, nowhere)
	key := makeKey(t, data, "tests")
	events, err := http.NewRequestWithContext(t.Context(), http.MethodGet, service.url+"/live", nil)
	must(t, err)
	events.Header.Set("Authorization", "Bearer "+key)
	live, err := http.DefaultClient.Do(events) // an open page must not hold the service up
	must(t, err)
	defer func() { _ = live.Body.Close() }()
	if live.StatusCode != http.StatusOK || live.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("the live updates answer %s", live.Status)
	}
	service.stop(syscall.SIGTERM)
	text, _ := service.out.read()
	if !strings.Contains(text, "msg=stopped") || strings.Contains(text, "did not finish") {
		t.Errorf("printed %s", text)
	}
}

func TestServeEndsAtOnceAtTheSecondSIGTERM(t *testing.T) {
	service := serve(t, t.TempDir(), nowhere)
	slow, err := net.Dial("tcp", strings.TrimPrefix(service.url, "http://"))
	must(t, err)
	defer func() { _ = slow.Close() }()
	_, err = io.WriteString(slow, "POST /api/login HTTP/1.1\r\nHost: here\r\nContent-Length: 100\r\nContent-Type: application/json\r\n\r\n{") // the first one waits for it
	must(t, err)
	must(t, service.cmd.Process.Signal(syscall.SIGTERM))
	for end := time.Now().Add(patience); ; {
		conn, err := net.Dial("tcp", strings.TrimPrefix(service.url, "http://"))
		if err != nil {
			break // it stops
		}
		must(t, conn.Close())
		if time.Now().After(end) {
			t.Fatal("the first signal does nothing")
		}
	}
	must(t, service.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-service.ended:
	case <-time.After(patience):
		t.Fatal("does not end")
	}
	var exit *exec.ExitError
	if !errors.As(service.result, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %v", service.result)
	}
}

func TestSimulateEndsWellAtSIGTERM(t *testing.T) {
	list := simulate(t)
	wants(t, http.StatusNoContent, http.MethodPost, list.url+"/_sim/fault", "", `{"mode":"hang"}`, nil)
	list.stop(syscall.SIGTERM)
}

func TestDemoStaysUpUntilCtrlC(t *testing.T) {
	t.Parallel()
	temporary := t.TempDir()
	demo := launch(t, command(t, []string{"TMPDIR=" + temporary}, "demo"), regexp.MustCompile(`The page is open at (\S+)`))
	text, _ := demo.out.read()
	login := regexp.MustCompile(`sign in as (\S+) with the password (\S+)\.`).FindStringSubmatch(text)
	if login == nil {
		t.Fatalf("no login is offered: %s", text)
	}
	wants(t, http.StatusOK, http.MethodPost, demo.url+"/api/login", "", `{"name":"`+login[1]+`","password":"`+login[2]+`"}`, nil)
	demo.stop(os.Interrupt)
	if left := leftIn(t, temporary); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
