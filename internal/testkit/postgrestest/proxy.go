package postgrestest

import (
	"context"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"
)

// Proxy stands between a service and PostgreSQL, as a network does.
type Proxy struct {
	listener net.Listener
	server   string
	delay    time.Duration

	mu    sync.Mutex
	open  map[net.Conn]bool
	gates chan struct{} // holds a value while what is sent arrives
}

// Through is the address of a database through a proxy, where each message takes delay to arrive. It is gone when the test ends.
func Through(t testing.TB, address string, delay time.Duration) (string, *Proxy) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{server: u.Host, delay: delay, open: map[net.Conn]bool{}, gates: make(chan struct{}, 1)}
	p.gates <- struct{}{}
	if p.listener, err = (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.listener.Close()
		p.Cut()
	})
	go p.serve()
	u.Host = p.listener.Addr().String()
	return u.String(), p
}

// Silence keeps everything from arriving until the function it gives is called.
func (p *Proxy) Silence() (end func()) {
	<-p.gates
	return func() { p.gates <- struct{}{} }
}

// Cut closes all connections. New ones can be made.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.open {
		_ = conn.Close()
	}
	clear(p.open)
}

func (p *Proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", p.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.open[client], p.open[server] = true, true
		p.mu.Unlock()
		go p.carry(client, server)
		go p.carry(server, client)
	}
}

// carry brings what one side sends to the other, each piece after the delay.
func (p *Proxy) carry(from, to net.Conn) {
	type piece struct {
		data []byte
		due  time.Time
	}
	pieces := make(chan piece, 1024)
	go func() {
		defer close(pieces)
		for {
			data := make([]byte, 32<<10)
			n, err := from.Read(data)
			if err != nil {
				return
			}
			pieces <- piece{data[:n], time.Now().Add(p.delay)}
		}
	}()
	for one := range pieces {
		time.Sleep(time.Until(one.due))
		p.gates <- <-p.gates
		if _, err := to.Write(one.data); err != nil {
			break
		}
	}
	_ = from.Close()
	_ = to.Close()
	for range pieces { // until the reader has seen that
	}
	p.mu.Lock()
	delete(p.open, from)
	delete(p.open, to)
	p.mu.Unlock()
}
