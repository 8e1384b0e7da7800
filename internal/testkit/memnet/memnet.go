// Package memnet is a network inside of the process, so that tests with a fake clock
// (testing/synctest) can speak HTTP: real connections would keep the clock from going on.
package memnet

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
)

// TB is what a test has.
type TB interface {
	Helper()
	Cleanup(fn func())
}

// Network has hosts that listen; every one is reached by its name alone.
type Network struct {
	mu    sync.Mutex
	hosts map[string]*listener
}

// New is a network that http.DefaultTransport, and what is cloned from it, goes through
// until the test ends.
func New(t TB) *Network {
	t.Helper()
	n := &Network{hosts: map[string]*listener{}}
	usual := http.DefaultTransport
	transport := usual.(*http.Transport).Clone()
	transport.Proxy = nil
	transport.DialContext = n.dial
	http.DefaultTransport = transport
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		http.DefaultTransport = usual
	})
	return n
}

// Listen is a listener for http://host.
func (n *Network) Listen(host string) net.Listener {
	l := &listener{name: host, calls: make(chan net.Conn), closed: make(chan struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hosts[host+":80"] = l
	return l
}

// Dial connects to host, for what is no HTTP client.
func (n *Network) Dial(ctx context.Context, host string) (net.Conn, error) {
	return n.dial(ctx, "mem", host+":80")
}

func (n *Network) dial(ctx context.Context, _, address string) (net.Conn, error) {
	n.mu.Lock()
	l := n.hosts[address]
	n.mu.Unlock()
	refused := &net.OpError{Op: "dial", Net: "mem", Err: errors.New("connection refused")}
	if l == nil {
		return nil, refused
	}
	here, there := net.Pipe()
	select {
	case l.calls <- there:
		return here, nil
	case <-l.closed:
		return nil, refused
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type listener struct {
	name   string
	calls  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.calls:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr { return addr(l.name) }

type addr string

func (a addr) Network() string { return "mem" }
func (a addr) String() string  { return string(a) }
