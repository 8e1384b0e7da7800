package listen_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/platform/listen"
	"watchmark/internal/testkit/logtest"
)

// street is where callers come from whatever address they want.
type street struct {
	calls  chan net.Conn
	closed chan struct{}
}

type caller struct {
	net.Conn
	from netip.AddrPort
}

func (c caller) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.from) }

func (s *street) Accept() (net.Conn, error) {
	select {
	case c := <-s.calls:
		return c, nil
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

func (s *street) Close() error   { close(s.closed); return nil }
func (s *street) Addr() net.Addr { return &net.TCPAddr{} }

// come is a connection from an address; it waits until the service has taken it up.
func (s *street) come(address string) net.Conn {
	here, there := net.Pipe()
	s.calls <- caller{there, netip.AddrPortFrom(netip.MustParseAddr(address), 40000)}
	return here
}

// house serves at most 8 connections, 2 for an address. At /key somebody known asks, whose answer waits until leave is closed;
// the proxy is 10.0.0.1.
type house struct {
	street
	leave chan struct{}
	known atomic.Int32
	log   logtest.Buffer
}

func inHouse(t *testing.T, test func(t *testing.T, h *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &house{street: street{calls: make(chan net.Conn), closed: make(chan struct{})}, leave: make(chan struct{})}
		all := listen.NewConnections(listen.Config{Most: 8, Log: slog.New(slog.NewTextHandler(&h.log, nil)),
			Exempt: func(addr netip.Addr) bool { return addr == netip.MustParseAddr("10.0.0.1") }})
		mux := http.NewServeMux()
		mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "here") })
		mux.HandleFunc("/key", func(w http.ResponseWriter, r *http.Request) {
			listen.Known(r.Context())
			h.known.Add(1)
			<-h.leave
			_, _ = io.WriteString(w, "known")
		})
		server := &http.Server{Handler: listen.Handler(mux), ConnContext: all.Context, ReadHeaderTimeout: time.Hour}
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(all.Listener(h)) }()
		test(t, h)
		_ = server.Shutdown(context.Background())
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
}

func ask(conn net.Conn, path string) {
	_, _ = io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: house\r\n\r\n")
}

// hear is the body of the answer; empty when the connection was closed.
func hear(conn net.Conn) string {
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return ""
	}
	body, _ := io.ReadAll(answer.Body)
	return string(body)
}

// isOpen reports whether the service has not closed the connection.
func isOpen(conn net.Conn) bool {
	synctest.Wait()
	_ = conn.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := conn.Read(make([]byte, 1))
	_ = conn.SetReadDeadline(time.Time{})
	return errors.Is(err, context.DeadlineExceeded) || err != nil && strings.Contains(err.Error(), "timeout")
}

func TestAnAddressKeepsItsShare(t *testing.T) {
	for name, c := range map[string]struct {
		addresses []string // one connection each, in this order
		open      string   // those that are, as o and x
	}{
		"two of one address":             {[]string{"203.0.113.7", "203.0.113.7"}, "oo"},
		"the third ends the first":       {[]string{"203.0.113.7", "203.0.113.7", "203.0.113.7"}, "xoo"},
		"others are left alone":          {[]string{"198.51.100.1", "203.0.113.7", "203.0.113.7", "203.0.113.7", "198.51.100.2"}, "oxooo"},
		"a /64 is one caller":            {[]string{"2001:db8::1", "2001:db8::2", "2001:db8::3"}, "xoo"},
		"another /64 is another":         {[]string{"2001:db8::1", "2001:db8::2", "2001:db8:0:1::3"}, "ooo"},
		"IPv4 as IPv6 is IPv4":           {[]string{"203.0.113.7", "::ffff:203.0.113.7", "203.0.113.7"}, "xoo"},
		"a proxy stands for many":        {[]string{"10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.1"}, "ooooo"},
		"this machine stands for many":   {[]string{"127.0.0.1", "127.0.0.1", "127.0.0.1"}, "ooo"},
		"so does it with IPv6":           {[]string{"::1", "::1", "::1"}, "ooo"},
		"all together have a bound, too": {[]string{"127.0.0.1", "127.0.0.1", "127.0.0.1", "127.0.0.1", "127.0.0.1", "127.0.0.1", "127.0.0.1", "127.0.0.1", "203.0.113.7", "127.0.0.1"}, "xxoooooooo"},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, func(t *testing.T, h *house) {
				var conns []net.Conn
				for _, address := range c.addresses {
					conns = append(conns, h.come(address))
				}
				time.Sleep(time.Minute) // by the clock of the test: what is full waits a moment for those that are new
				var open strings.Builder
				for _, conn := range conns {
					if isOpen(conn) {
						open.WriteByte('o')
					} else {
						open.WriteByte('x')
					}
					defer func() { _ = conn.Close() }()
				}
				if open.String() != c.open {
					t.Errorf("open are %s, not %s", &open, c.open)
				}
				if told := strings.Contains(h.log.String(), "too many connections"); told != strings.Contains(c.open, "x") {
					t.Errorf("the log says: %s", h.log.String())
				}
			})
		})
	}
}

// TestWhoIsKnownStays while everybody else makes room, and comes in where all is full of strangers.
func TestWhoIsKnownStays(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		known := h.come("203.0.113.7")
		ask(known, "/key")
		synctest.Wait()
		for range 40 {
			_ = h.come("127.0.0.1") // closed with the house
		}
		for range 2 {
			_ = h.come("203.0.113.7")
		}
		last := h.come("192.0.2.1")
		ask(last, "/")
		if got := hear(last); got != "here" {
			t.Errorf("the one who comes last hears %q", got)
		}
		close(h.leave)
		if got := hear(known); got != "known" {
			t.Errorf("who is known hears %q", got)
		}
		_, _ = known.Close(), last.Close()
	})
}

// TestAFullHouseWaits: where nobody can be sent away, the next one comes in once somebody leaves.
func TestAFullHouseWaits(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		for range 8 {
			conn := h.come("127.0.0.1")
			defer func() { _ = conn.Close() }()
			ask(conn, "/key")
			go hear(conn)
		}
		synctest.Wait()
		if h.known.Load() != 8 {
			t.Fatalf("%d are known", h.known.Load())
		}
		next := h.come("127.0.0.1")
		heard := make(chan string, 1)
		go func() {
			ask(next, "/")
			heard <- hear(next)
		}()
		synctest.Wait()
		select {
		case got := <-heard:
			t.Fatalf("the ninth hears %q at once", got)
		default:
		}
		close(h.leave)
		if got := <-heard; got != "here" {
			t.Errorf("the ninth hears %q", got)
		}
		_ = next.Close()
	})
}
