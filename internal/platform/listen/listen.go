// Package listen is the way in: it bounds how long a request may take to arrive and an answer
// to leave (Handler), and how many connections there are (Connections).
//
// What it promises: a connection whose request never becomes whole, or whose answer nobody
// reads, ends by itself; whoever opens many connections loses those that waited longest, and
// keeps nobody else out; a request of somebody known (Known) is not ended for others.
package listen

import (
	"container/list"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

const (
	// most is how many connections there are at once, where the system lets the process have
	// at least twice as many files.
	most = 2048
	// share is which part of all connections one address may have.
	share = 4
	// grace is how long a connection has for a request before it makes room for another.
	grace = 500 * time.Millisecond
	// tellEvery is how often it is logged that connections were closed for others.
	tellEvery = time.Minute
)

// Config is what Connections are made of; every field must be set.
type Config struct {
	// Most is how many connections there may be at once.
	Most int
	// Exempt reports whether many callers share an address, as those behind a proxy do: it may
	// have all connections. Loopback addresses are always exempt.
	Exempt func(netip.Addr) bool
	Log    *slog.Logger
}

// Most is how many connections the process can serve without running out of files for its database.
func Most() int { return max(16, min(most, files()/2)) }

// Connections bounds how many connections are open at once: in total, and by address. When there are too
// many, the one that has waited longest for a request of somebody known is closed. It is for one listener.
type Connections struct {
	Config
	freed   chan struct{} // has a value when a connection ended, or may be closed from now on
	closing chan struct{}

	mu     sync.Mutex
	open   *list.List // of *conn; the one that waits longest first
	byAddr map[netip.Prefix]int
	closed int // since it was last logged
	told   time.Time
}

// NewConnections bounds the connections of a listener.
func NewConnections(c Config) *Connections {
	return &Connections{Config: c, open: list.New(), freed: make(chan struct{}, 1), closing: make(chan struct{}), byAddr: map[netip.Prefix]int{}}
}

// conn is a connection that counts.
type conn struct {
	net.Conn
	all   *Connections
	addr  netip.Prefix  // not valid where many callers share it
	since time.Time     // when it was accepted, or its last request began or ended
	known int           // requests of somebody known that are under way
	place *list.Element // in open; nil once it is not there any more
}

// Close ends the connection, and lets another come.
func (c *conn) Close() error {
	c.all.remove(c)
	return c.Conn.Close()
}

// CloseWrite lets the server end its side first, so that the last answer is still read.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Listener is l with the bounds.
func (a *Connections) Listener(l net.Listener) net.Listener {
	return &listener{Listener: l, all: a, close: sync.OnceFunc(func() { close(a.closing) })}
}

type listener struct {
	net.Listener
	all   *Connections
	close func()
}

// Accept waits for a connection, and for room.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if counted := l.all.admit(c); counted != nil {
			return counted, nil
		}
		_ = c.Close() // nobody was promised anything
	}
}

// Close ends the listening.
func (l *listener) Close() error {
	l.close()
	return l.Listener.Close()
}

// Context is the ConnContext of the server.
func (a *Connections) Context(ctx context.Context, c net.Conn) context.Context {
	if encrypted, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = encrypted.NetConn()
	}
	return context.WithValue(ctx, connKey{}, c)
}

type connKey struct{}

// admit counts a new connection once there is room for it; nil when it must be closed.
func (a *Connections) admit(c net.Conn) *conn {
	fresh := &conn{Conn: c, all: a, addr: a.subscriber(c.RemoteAddr())}
	for {
		ok, victim, wait := a.tryAdmit(fresh)
		if victim != nil {
			_ = victim.Conn.Close() // what it waited for never came
		}
		switch {
		case ok:
			return fresh
		case wait == 0:
			return nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-a.freed:
		case <-timer.C:
		case <-a.closing:
			timer.Stop()
			return nil
		}
		timer.Stop()
	}
}

// tryAdmit adds fresh to the open connections if there is room. victim is to be closed for it. Otherwise it is tried
// again after wait; 0 is never.
func (a *Connections) tryAdmit(fresh *conn) (ok bool, victim *conn, wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	switch {
	case fresh.addr.IsValid() && a.byAddr[fresh.addr] >= max(1, a.Most/share):
		victim = a.idlest(func(c *conn) bool { return c.addr == fresh.addr })
		if victim == nil {
			return false, nil, 0
		}
	case a.open.Len() >= a.Most:
		victim = a.idlest(func(*conn) bool { return true })
		if victim == nil {
			return false, nil, tellEvery // freed tells when there is one
		}
		if waited := now.Sub(victim.since); waited < grace {
			return false, nil, grace - waited
		}
	}
	if victim != nil {
		a.drop(victim)
		a.tell(now, victim)
	}
	fresh.since = now
	fresh.place = a.open.PushBack(fresh)
	if fresh.addr.IsValid() {
		a.byAddr[fresh.addr]++
	}
	return true, victim, 0
}

// idlest is the connection that waits longest of those that may be closed; nil when there is none.
func (a *Connections) idlest(of func(*conn) bool) *conn {
	for at := a.open.Front(); at != nil; at = at.Next() {
		if c := at.Value.(*conn); c.known == 0 && of(c) {
			return c
		}
	}
	return nil
}

// drop forgets a connection. The caller holds mu.
func (a *Connections) drop(c *conn) {
	if c.place == nil {
		return
	}
	a.open.Remove(c.place)
	c.place = nil
	if c.addr.IsValid() {
		if a.byAddr[c.addr]--; a.byAddr[c.addr] == 0 {
			delete(a.byAddr, c.addr)
		}
	}
}

func (a *Connections) remove(c *conn) {
	a.mu.Lock()
	a.drop(c)
	a.mu.Unlock()
	a.free()
}

// free wakes the one that waits for room.
func (a *Connections) free() {
	select {
	case a.freed <- struct{}{}:
	default:
	}
}

// touch moves a connection to those that wait shortest, and adds known to its requests of somebody known.
func (a *Connections) touch(c *conn, known int) {
	a.mu.Lock()
	if c.place != nil {
		a.open.MoveToBack(c.place)
	}
	c.since = time.Now()
	c.known += known
	a.mu.Unlock()
	if known < 0 {
		a.free()
	}
}

// tell logs now and then that connections are closed for others. The caller holds mu.
func (a *Connections) tell(now time.Time, last *conn) {
	a.closed++
	if !a.told.IsZero() && now.Sub(a.told) < tellEvery {
		return
	}
	a.Log.Warn("there are too many connections: those that waited longest were closed; look for who opens them",
		"closed", a.closed, "open", a.open.Len(), "most", a.Most, "last_from", last.RemoteAddr().String())
	a.told, a.closed = now, 0
}

// subscriber is what is counted of an address: an IPv6 caller owns a whole /64. It is not valid where many
// callers share it, or where the peer has none.
func (a *Connections) subscriber(remote net.Addr) netip.Prefix {
	peer, err := netip.ParseAddrPort(remote.String())
	if err != nil {
		return netip.Prefix{}
	}
	addr := peer.Addr().Unmap().WithZone("")
	if addr.IsLoopback() || a.Exempt(addr) {
		return netip.Prefix{}
	}
	return Subscriber(addr)
}

// Subscriber is the network that one caller has: an IPv4 address, or an IPv6 /64.
func Subscriber(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap().WithZone("")
	bits := addr.BitLen()
	if addr.Is6() {
		bits = 64
	}
	network, err := addr.Prefix(bits)
	if err != nil { // no address
		return netip.Prefix{}
	}
	return network
}

// visit is a request under way.
type visit struct {
	conn  *conn
	known bool
}

type visitKey struct{}

// Known says that the request of ctx is of somebody who showed a key or a session: its connection is not closed
// for others while it lasts.
func Known(ctx context.Context) {
	v, _ := ctx.Value(visitKey{}).(*visit)
	if v == nil || v.conn == nil || v.known {
		return
	}
	v.known = true
	v.conn.all.touch(v.conn, 1)
}

// begin counts a request on its connection until end is called.
func begin(r *http.Request) (counted *http.Request, end func()) {
	c, _ := r.Context().Value(connKey{}).(*conn)
	if c == nil { // a server without bounds, as in tests
		return r, func() {}
	}
	v := &visit{conn: c}
	c.all.touch(c, 0)
	return r.WithContext(context.WithValue(r.Context(), visitKey{}, v)), func() {
		if v.known {
			c.all.touch(c, -1)
		} else {
			c.all.touch(c, 0)
		}
	}
}
