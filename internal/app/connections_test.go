package app_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestUnfinishedRequestsEnd: whoever sends half a request gets an answer and loses the connection, whatever the
// path, and whether it reads bodies or not.
func TestUnfinishedRequestsEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		b.start("WATCHMARK_AUTH_ENABLED=true", "WATCHMARK_AUTH_WEBHOOK_AUTH_ENABLED=true", "WATCHMARK_AUTH_WEBHOOK_KEY=the-right-key-of-the-test",
			"WATCHMARK_SERVER_LEGACY_PATHS=true")
		const json, form = "Content-Type: application/json\r\n", "Content-Type: application/x-www-form-urlencoded\r\n"
		for name, c := range map[string]struct {
			head   string
			status int
			within time.Duration // the answer
		}{
			"a webhook with a wrong key":        {"POST /webhook/plex/wrong", http.StatusUnauthorized, 0},
			"a webhook with the right key":      {"POST /webhook/custom/the-right-key-of-the-test", http.StatusRequestTimeout, 20 * time.Second},
			"a webhook at a legacy path":        {"POST /Plex", http.StatusRequestTimeout, 20 * time.Second},
			"an unknown source":                 {"POST /webhook/nothing", http.StatusNotFound, 0},
			"preferences":                       {"POST /preferences", http.StatusBadRequest, 20 * time.Second},
			"reasons":                           {"POST /reasons", http.StatusBadRequest, 20 * time.Second},
			"a page with a body":                {"GET /login", http.StatusOK, 0},
			"a redirect with a body":            {"GET /records", http.StatusSeeOther, 0},
			"a file with a body":                {"GET /static/nothing.css", http.StatusNotFound, 0},
			"health with a body":                {"GET /health", http.StatusOK, 0},
			"the API without a login":           {"PATCH /api/settings", http.StatusUnauthorized, 0},
			"a path of the API that is not":     {"DELETE /api/nothing", http.StatusUnauthorized, 0},
			"the sign-in":                       {"POST /api/login", http.StatusRequestTimeout, 20 * time.Second},
			"the sign-in by a provider":         {"POST /api/login/oidc", http.StatusRequestTimeout, 20 * time.Second},
			"an upload without a login":         {"POST /api/archive/upload", http.StatusUnauthorized, 0},
			"a page of another site is refused": {"POST /api/logout", http.StatusForbidden, 0},
		} {
			for how, length := range map[string]string{"one byte of many": "Content-Length: 100000\r\n", "few to come": "Content-Length: 2\r\n", "in chunks": "Transfer-Encoding: chunked\r\n"} {
				kind, body := json, "{"
				switch c.status {
				case http.StatusBadRequest:
					kind = form
				case http.StatusForbidden:
					kind = "Sec-Fetch-Site: cross-site\r\n"
				}
				if how == "in chunks" {
					body = "1\r\n{\r\n"
				}
				unfinished(t, b, name+", "+how, c.head+" HTTP/1.1\r\nHost: watchmark\r\n"+kind+length+"\r\n"+body, c.status, c.within)
			}
		}
	})
}

// unfinished sends half a request, which must be answered with the status in time, and end with its connection.
func unfinished(t *testing.T, b *bubble, name, half string, status int, within time.Duration) {
	t.Helper()
	conn := b.raw(t)
	defer func() { _ = conn.Close() }()
	began := time.Now()
	if _, err := io.WriteString(conn, half); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	answer, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Errorf("%s: no answer after %v: %v", name, time.Since(began), err)
		return
	}
	answered := time.Since(began)
	if _, err := io.ReadAll(answer.Body); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if answer.StatusCode != status || answered > within {
		t.Errorf("%s: answered %d after %v, not %d within %v", name, answer.StatusCode, answered, status, within)
	}
	if rest, err := io.ReadAll(in); len(rest) > 0 || err != nil {
		t.Errorf("%s: after the answer come %q (%v)", name, rest, err)
	}
	if ended := time.Since(began) - answered; ended > 5*time.Second {
		t.Errorf("%s: the connection ends %v after the answer", name, ended)
	}
}

// TestSlowButSteadyRequestsPass: a large upload over a thin line, and a stream that lasts, are no unfinished requests.
func TestSlowButSteadyRequestsPass(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		b.start()
		{ // an upload of minutes
			conn := b.raw(t)
			body := `{"media_type":"episode","title":"Show","season":1,"episode":1,"user_name":"mira","release_date":"2020-01-01"` + strings.Repeat(" ", 2<<20) + "}"
			go func() {
				_, _ = fmt.Fprintf(conn, "POST /webhook/custom HTTP/1.1\r\nHost: watchmark\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", len(body))
				for rest := body; rest != ""; {
					piece := rest[:min(len(rest), 400<<10)]
					_, _ = io.WriteString(conn, piece)
					rest = rest[len(piece):]
					time.Sleep(10 * time.Second) // by the clock of the bubble
				}
			}()
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != http.StatusAccepted {
				t.Errorf("answered %d", answer.StatusCode)
			}
			_ = conn.Close()
		}
		{ // a byte now and then
			conn := b.raw(t)
			began := time.Now()
			go func() {
				_, _ = io.WriteString(conn, "POST /webhook/custom HTTP/1.1\r\nHost: watchmark\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n\r\n")
				for range 4000 {
					if _, err := io.WriteString(conn, " "); err != nil {
						return
					}
					time.Sleep(time.Second)
				}
			}()
			if rest, err := io.ReadAll(conn); err != nil || !strings.Contains(string(rest), " 408 ") || time.Since(began) > time.Minute {
				t.Errorf("after %v: %q (%v)", time.Since(began), rest, err)
			}
			_ = conn.Close()
		}
		{ // a stream
			conn := b.raw(t)
			if _, err := io.WriteString(conn, "GET /live HTTP/1.1\r\nHost: watchmark\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			beats, began := 0, time.Now()
			for lines := bufio.NewScanner(answer.Body); beats < 30 && lines.Scan(); {
				if strings.HasPrefix(lines.Text(), ":") {
					beats++
				}
			}
			if beats < 30 || time.Since(began) < 9*time.Minute {
				t.Errorf("the stream ended after %v and %d beats", time.Since(began), beats)
			}
			_ = conn.Close()
		}
		{ // an answer that nobody reads
			conn := b.raw(t)
			if _, err := io.WriteString(conn, "GET /login HTTP/1.1\r\nHost: watchmark\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Minute)
			if answer, _ := io.ReadAll(conn); strings.Contains(string(answer), "</html>") {
				t.Error("the answer waited for its reader for five minutes")
			}
			_ = conn.Close()
		}
	})
}

// raw is a connection to the service, which the caller closes.
func (b *bubble) raw(t *testing.T) net.Conn {
	t.Helper()
	conn, err := b.network.Dial(context.Background(), "watchmark")
	if err != nil {
		t.Fatal(err)
	}
	return conn
}
