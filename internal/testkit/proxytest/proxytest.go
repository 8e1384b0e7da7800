// Package proxytest is a line between a program and a server that listens on TCP, for tests of what the program does when
// the line is slow, silent, open in one direction alone, or cut.
package proxytest

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy is a line that works until it is told otherwise. All its methods may be called at any time, and hold for connections
// that are open as for those to come.
type Proxy struct {
	target   string
	listener net.Listener
	running  sync.WaitGroup

	mu      sync.Mutex
	now     state
	changed chan struct{} // closed with the next change of now
	open    map[net.Conn]struct{}
	closed  bool
}

// state is what the line does to the bytes that it gets.
type state struct {
	delay time.Duration // of each answer
	cut   bool
	held  [2]bool // by direction
}

// The directions.
const (
	toServer = iota
	toClient
)

// Start opens a line to a server until the test ends. The server need not listen yet.
func Start(tb testing.TB, target string) *Proxy {
	tb.Helper()
	listener, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &Proxy{target: target, listener: listener, changed: make(chan struct{}), open: map[net.Conn]struct{}{}}
	p.running.Go(p.accept)
	tb.Cleanup(p.close)
	return p
}

// Address is where the program connects to.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Delay makes every round trip take so much longer: answers come later, and what is sent side by side is late side by side.
func (p *Proxy) Delay(roundTrip time.Duration) { p.change(func(s *state) { s.delay = roundTrip }) }

// Silence lets nothing through, in either direction, and tells nobody. What was sent meanwhile arrives with Restore, as after
// a network was away; that holds for a connection that its program has given up meanwhile as well.
func (p *Proxy) Silence() { p.change(func(s *state) { s.held = [2]bool{true, true} }) }

// OnlyToServer lets what the program sends arrive, and no answer.
func (p *Proxy) OnlyToServer() { p.change(func(s *state) { s.held = [2]bool{toClient: true} }) }

// OnlyToClient lets nothing arrive that the program sends, and answers to what came before.
func (p *Proxy) OnlyToClient() { p.change(func(s *state) { s.held = [2]bool{toServer: true} }) }

// Cut resets every connection, and each that is opened from now on.
func (p *Proxy) Cut() {
	p.change(func(s *state) { s.cut = true })
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.open {
		reset(conn)
	}
}

// Restore ends Silence, OnlyToServer, OnlyToClient and Cut; the delay stays.
func (p *Proxy) Restore() { p.change(func(s *state) { *s = state{delay: s.delay} }) }

func (p *Proxy) change(do func(*state)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do(&p.now)
	close(p.changed)
	p.changed = make(chan struct{})
}

// state is what holds now, and a channel that is closed when it does not any more.
func (p *Proxy) state() (state, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now, p.changed
}

func (p *Proxy) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.closed = true
	for conn := range p.open {
		reset(conn)
	}
	p.mu.Unlock()
	p.change(func(s *state) { *s = state{cut: true} }) // lets go what is held
	p.running.Wait()
}

// keep notes an open connection, and refuses it once the line is cut.
func (p *Proxy) keep(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.now.cut {
		reset(conn)
		return false
	}
	p.open[conn] = struct{}{}
	return true
}

func (p *Proxy) forget(conn net.Conn) {
	_ = conn.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, conn)
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		if p.keep(client) {
			p.running.Go(func() { p.carry(client) })
		}
	}
}

// carry is one connection, from its first byte to its end.
func (p *Proxy) carry(client net.Conn) {
	defer p.forget(client)
	if !p.pass(toServer) { // even the first packet of a silent line does not arrive
		return
	}
	server, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(context.Background(), "tcp", p.target)
	if err != nil {
		reset(client)
		return
	}
	if !p.keep(server) {
		return
	}
	defer p.forget(server)
	var both sync.WaitGroup
	both.Go(func() { p.pump(client, server, toServer) })
	both.Go(func() { p.pump(server, client, toClient) })
	both.Wait()
}

// pass waits until a direction is open; false when the line was cut.
func (p *Proxy) pass(direction int) bool {
	for {
		now, changed := p.state()
		if now.cut {
			return false
		}
		if !now.held[direction] {
			return true
		}
		<-changed
	}
}

// chunk is what was read at once.
type chunk struct {
	bytes []byte // nil at the end
	due   time.Time
	err   error
}

// chunksMost is how much is on its way in one direction of a connection; the sender feels it when there is no more room.
const chunksMost = 256

// pump hands on what comes from one side to the other. The end of one direction leaves the other open; an error ends both.
func (p *Proxy) pump(from, to net.Conn, direction int) {
	queue := make(chan chunk, chunksMost)
	gone := make(chan struct{})
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(queue)
		for {
			buffer := make([]byte, 16<<10)
			n, err := from.Read(buffer)
			c := chunk{bytes: buffer[:n], err: err}
			if now, _ := p.state(); direction == toClient && now.delay > 0 {
				c.due = time.Now().Add(now.delay)
			}
			select {
			case queue <- c:
			case <-gone:
				return
			}
			if err != nil {
				return
			}
		}
	})
	err := p.write(to, queue, direction)
	close(gone)
	if err != nil {
		reset(from)
		reset(to)
	} else if half, ok := to.(*net.TCPConn); ok {
		_ = half.CloseWrite() // the other direction may go on
	}
	reading.Wait()
}

// write writes what the queue holds when it is due and the direction is open; nil is the orderly end.
func (p *Proxy) write(to net.Conn, queue <-chan chunk, direction int) error {
	for c := range queue {
		if wait := time.Until(c.due); wait > 0 {
			time.Sleep(wait)
		}
		if !p.pass(direction) {
			return errCut
		}
		if len(c.bytes) > 0 {
			if _, err := to.Write(c.bytes); err != nil {
				return err
			}
		}
		if c.err != nil && !errors.Is(c.err, io.EOF) {
			return c.err
		}
	}
	return nil
}

var errCut = errors.New("the line is cut")

// reset ends a connection as a broken line does, not as a program that says good-bye.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
