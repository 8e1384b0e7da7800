//go:build unix

package faults

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"
)

const (
	// crowd is how many connections come at once, and crowdFiles how many files the service may open.
	crowd      = 3000
	crowdFiles = 2048
)

// TestACrowdKeepsNobodyOut: thousands of connections that send half a request and wait do not keep health checks and
// media servers out, and the service has files left for its work.
func TestACrowdKeepsNobodyOut(t *testing.T) {
	if testing.Short() {
		t.Skip("opens thousands of connections")
	}
	s := &service{tb: t, data: t.TempDir(), environ: environment("http://127.0.0.1:9")}
	s.log.showOnFailure(t)
	service := command(t, s.environ, "serve", "--listen", "127.0.0.1:0", "--data", s.data)
	bounded := exec.Command("sh", append([]string{"-c", fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, crowdFiles)}, service.Args...)...)
	bounded.Dir, bounded.Env = service.Dir, service.Env
	s.running = launch(t, bounded, serviceListens, &s.log)
	address := strings.TrimPrefix(s.running.url, "http://")

	halves := []string{
		"POST /webhook/plex/wrong HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\nx",
		"POST /api/login HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{",
		"GET /login HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nx",
		"POST /webhook/custom/" + webhookKey + " HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n",
		"GET /health HTTP/1.1\r\nHost: h\r\n",
	}
	opened := 0
	for i := range crowd {
		conn, err := net.DialTimeout("tcp", address, patience)
		must(t, err)
		defer func() { _ = conn.Close() }()
		if _, err := conn.Write([]byte(halves[i%len(halves)])); err == nil {
			opened++
		}
		if i%500 == 499 {
			s.answers(t, i+1)
		}
	}
	if opened < crowd/2 {
		t.Errorf("only %d of %d connections could send anything", opened, crowd)
	}
	s.answers(t, crowd)
}

// answers asks for the health and sends a webhook, each over a connection of its own.
func (s *service) answers(t *testing.T, among int) {
	t.Helper()
	body := []byte(`{"media_type":"episode","title":"Show","season":1,"episode":1,"user_name":"nobody","release_date":"2020-01-01"}`)
	for path, want := range map[string]int{"/health": http.StatusOK, "/webhook/custom/" + webhookKey: http.StatusAccepted} {
		method := http.MethodGet
		if want == http.StatusAccepted {
			method = http.MethodPost
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, method, s.running.url+path, bytes.NewReader(body))
		must(t, err)
		request.Header.Set("Content-Type", "application/json")
		began := time.Now()
		answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
		if err != nil {
			t.Fatalf("%s among %d connections: %v", path, among, err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s among %d connections answers %d, not %d", path, among, answer.StatusCode, want)
		}
		t.Logf("%s among %d connections: %v", path, among, time.Since(began).Round(time.Millisecond))
	}
}
