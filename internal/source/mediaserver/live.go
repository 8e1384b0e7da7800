package mediaserver

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/source/payload"
)

// silence is how long a connection may be silent: a server that is well says something every 30 seconds
// (upstreams/watchers.md section 2.2). Tests set it.
var silence = 90 * time.Second

// keepAlive is how often this service says that it still listens, where the server does not name a time.
const keepAlive = 30 * time.Second

func (b *browser) Playing(ctx context.Context) ([]string, error) {
	// Sessions of others are seen with some versions: they are dropped here, and nothing is kept of them.
	var raw json.RawMessage
	err := b.wire.get(ctx, ask{path: "/Sessions", query: b.traits.sessions}, &raw)
	if err != nil {
		return nil, err
	}
	own := b.snapshot().UserID
	var ids []string
	for _, session := range (payload.Object{"sessions": raw}).Objects("sessions") {
		mine := sameID(session.Line("UserId"), own)
		for _, other := range session.Objects("AdditionalUsers") {
			mine = mine || sameID(other.Line("UserId"), own)
		}
		item := session.Object("NowPlayingItem")
		kind, id := item.Line("Type"), item.Line("Id")
		if mine && (strings.EqualFold(kind, "Episode") || strings.EqualFold(kind, "Movie")) && validID(id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func (b *browser) Listen(ctx context.Context, up func(), changed func(ids []string)) error {
	if b.traits.socket == "" {
		return ErrNoPush
	}
	if err := b.wire.ready(ctx); err != nil {
		return err
	}
	socket, err := b.connect(ctx)
	if err != nil {
		return err
	}
	defer socket.Close()
	b.learn(func(q *Quirks) { q.NoPush = false })
	up()
	every := make(chan time.Duration, 1)
	done := make(chan struct{})
	defer close(done)
	if b.traits.ping == 0 {
		go stay(socket, every, done)
	}
	own, pace := b.snapshot().UserID, newPace()
	for {
		text, err := socket.Read()
		if err != nil {
			b.wire.distrust()
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return noAnswerFor(err)
		}
		if err := pace.take(ctx, len(text)); err != nil {
			return err
		}
		m := readMessage(b.wire.concealed(text), own)
		if m.alive > 0 {
			select {
			case every <- m.alive:
			case <-done:
			default:
			}
		}
		if len(m.changed) > 0 {
			changed(m.changed)
		}
	}
}

// pace bounds how much of a live connection is read: of a server that floods, the rest waits in the network.
type pace struct{ limit *rate.Limiter }

const (
	// paceBytes are read in a second, paceAtOnce before that counts; a message costs paceMessage beside its length.
	paceBytes, paceAtOnce, paceMessage = 1 << 20, 32 << 20, 1 << 10
)

func newPace() pace { return pace{rate.NewLimiter(paceBytes, paceAtOnce)} }

// take waits until a message of so many bytes may be worked on. The error is that of ctx.
func (p pace) take(ctx context.Context, length int) error {
	if err := p.limit.WaitN(ctx, min(length+paceMessage, paceAtOnce)); err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	return nil
}

// stay says that this service still listens: at once when it is told how often, and as often from then on.
func stay(socket *httpx.Socket, every <-chan time.Duration, done <-chan struct{}) {
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case d := <-every:
			tick.Reset(d)
		case <-tick.C:
		}
		if socket.Write([]byte(`{"MessageType":"KeepAlive"}`)) != nil {
			return // the reader finds the connection lost
		}
	}
}

// connect opens the websocket. A server, or a proxy before it, that has none while it answers otherwise has no live connection.
func (b *browser) connect(ctx context.Context) (*httpx.Socket, error) {
	s := b.snapshot()
	socket, status, err := b.socket(ctx, s, s.URL)
	if socket == nil && err == nil && b.wire.base != s.URL { // a proxy may pass on the prefix alone
		socket, status, err = b.socket(ctx, s, b.wire.base)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		b.wire.distrust()
		return nil, noAnswerFor(err)
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		return nil, unreachable(fails.With(b.traits.product, status))
	case socket == nil:
		// The status of a refused websocket does not tell a dead token from a proxy.
		if _, err := b.Who(ctx); err != nil {
			return nil, err
		}
		b.learn(func(q *Quirks) { q.NoPush = true })
		return nil, ErrNoPush
	}
	return socket, nil
}

// message is what is used of a message of a websocket.
type message struct {
	alive   time.Duration // how often the server wants to hear of this service; 0 in other messages
	changed []string      // ids of what has other user data now; shows, seasons and music are among them
}

// readMessage reads a message; what belongs to another user than own, or is broken, is empty.
func readMessage(text []byte, own string) message {
	var o payload.Object
	if httpx.JSON(text, &o, mostValues) != nil {
		return message{}
	}
	switch o.Line("MessageType") {
	case "ForceKeepAlive":
		seconds, ok := o.Int("Data")
		if !ok {
			return message{}
		}
		return message{alive: time.Duration(min(max(seconds/2, 5), 60)) * time.Second}
	case "UserDataChanged":
		data := o.Object("Data")
		if !sameID(data.Line("UserId"), own) {
			return message{}
		}
		var m message
		for _, entry := range data.Objects("UserDataList") {
			if id := entry.Line("ItemId"); validID(id) {
				m.changed = append(m.changed, id)
			}
		}
		return m
	}
	return message{}
}

func (b *browser) socket(ctx context.Context, s Server, base string) (socket *httpx.Socket, status int, err error) {
	req := httpx.SocketRequest{URL: base + b.traits.socket, Header: b.wire.header, Ping: b.traits.ping, Silence: silence}
	if b.traits.inQuery { // the log masks it
		req.URL += "?" + url.Values{"api_key": {s.Token.Reveal()}, "deviceId": {s.Device}}.Encode()
	}
	return b.wire.http.Socket(ctx, req)
}
