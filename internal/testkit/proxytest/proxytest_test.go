package proxytest_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"watchmark/internal/testkit/proxytest"
)

// echo is a server that answers each line with itself; heard are the lines that arrived.
func echo(t *testing.T) (address string, heard <-chan string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	lines := make(chan string, 100)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				for in := bufio.NewReader(conn); ; {
					line, err := in.ReadString('\n')
					if err != nil {
						return
					}
					lines <- line
					if _, err := io.WriteString(conn, line); err != nil {
						return
					}
				}
			}()
		}
	}()
	return listener.Addr().String(), lines
}

type client struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func dial(t *testing.T, p *proxytest.Proxy) *client {
	t.Helper()
	conn, err := net.Dial("tcp", p.Address())
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return &client{t, conn, bufio.NewReader(conn)}
}

func (c *client) say(line string) {
	c.t.Helper()
	_, err := io.WriteString(c.conn, line)
	must(c.t, err)
}

// hears reads a line that must come.
func (c *client) hears(want string) {
	c.t.Helper()
	must(c.t, c.conn.SetReadDeadline(time.Now().Add(time.Minute)))
	if got, err := c.in.ReadString('\n'); err != nil || got != want {
		c.t.Fatalf("the answer is %q (%v), not %q", got, err, want)
	}
}

// hearsNothing waits for an answer for a moment.
func (c *client) hearsNothing() {
	c.t.Helper()
	must(c.t, c.conn.SetReadDeadline(time.Now().Add(30*time.Millisecond)))
	if got, err := c.in.ReadString('\n'); !errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Fatalf("on a line that is held comes %q (%v)", got, err)
	}
}

func arrives(t *testing.T, heard <-chan string, want string) {
	t.Helper()
	select {
	case got := <-heard:
		if got != want {
			t.Fatalf("%q arrives, not %q", got, want)
		}
	case <-time.After(time.Minute):
		t.Fatalf("%q does not arrive", want)
	}
}

func arrivesNot(t *testing.T, heard <-chan string) {
	t.Helper()
	select {
	case got := <-heard:
		t.Fatalf("%q arrives", got)
	case <-time.After(30 * time.Millisecond):
	}
}

func TestWhatALineLetsThrough(t *testing.T) {
	address, heard := echo(t)
	p := proxytest.Start(t, address)
	c := dial(t, p)
	talk := func(what string) {
		t.Helper()
		c.say(what)
		arrives(t, heard, what)
		c.hears(what)
	}
	talk("hello\n")
	for round := range 3 {
		said := fmt.Sprintf("silent %d\n", round)
		p.Silence()
		c.say(said)
		arrivesNot(t, heard)
		other := dial(t, p) // opened by the system, and served by nobody
		other.say(said)
		arrivesNot(t, heard)
		p.Restore()
		arrives(t, heard, said)
		arrives(t, heard, said)
		c.hears(said)
		other.hears(said)

		said = fmt.Sprintf("unheard %d\n", round)
		p.OnlyToServer()
		c.say(said)
		arrives(t, heard, said)
		c.hearsNothing()
		p.Restore()
		c.hears(said)

		said = fmt.Sprintf("unsaid %d\n", round)
		p.OnlyToClient()
		c.say(said)
		arrivesNot(t, heard)
		p.Restore()
		arrives(t, heard, said)
		c.hears(said)
	}
}

func TestWhatWasGivenUpArrivesAllTheSame(t *testing.T) {
	address, heard := echo(t)
	p := proxytest.Start(t, address)
	c := dial(t, p)
	c.say("hello\n")
	arrives(t, heard, "hello\n")
	p.Silence()
	c.say("late\n")
	must(t, c.conn.Close())
	arrivesNot(t, heard)
	p.Restore()
	arrives(t, heard, "late\n")
}

func TestACutLineIsReset(t *testing.T) {
	address, heard := echo(t)
	p := proxytest.Start(t, address)
	c := dial(t, p)
	c.say("hello\n")
	arrives(t, heard, "hello\n")
	c.hears("hello\n")
	p.Cut()
	ended := func(c *client) {
		t.Helper()
		must(t, c.conn.SetReadDeadline(time.Now().Add(time.Minute)))
		if _, err := c.in.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("a cut connection gives %v", err)
		}
	}
	ended(c)
	ended(dial(t, p))
	p.Restore()
	c = dial(t, p)
	c.say("again\n")
	c.hears("again\n")
}

func TestALineTakesItsTime(t *testing.T) {
	const late = 20 * time.Millisecond
	address, _ := echo(t)
	p := proxytest.Start(t, address)
	p.Delay(late)
	c := dial(t, p)
	began := time.Now()
	c.say("hello\n")
	c.hears("hello\n")
	if took := time.Since(began); took < late {
		t.Errorf("a round trip of %v took %v", late, took)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
