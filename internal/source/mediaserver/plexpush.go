package mediaserver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/source/payload"
)

const (
	plexSocketPath = "/:/websockets/notifications?filters=playing"
	plexStreamPath = "/:/eventsource/notifications?filters=playing"
	// plexPing is how often the server is asked for a sign of life, and plexSilence is how long it may give none. Its stream of
	// events has a ping every 10 seconds.
	plexPing, plexSilence = 30 * time.Second, 90 * time.Second
	// plexQuiet is after how long without an event a session is over.
	plexQuiet = 2 * time.Minute
	// plexAsk is how long to wait before the server is asked again who has a session.
	plexAsk = 10 * time.Second
	// mostPlexSessions bounds the sessions that are followed, and mostPlexNotes those in one message.
	mostPlexSessions, mostPlexNotes = 500, 200
	// mostPlexTries is how often it is asked whose a session is.
	mostPlexTries = 5
	// mostPlexEvent bounds an event of a stream in bytes, mostPlexValues the members and elements of a message.
	mostPlexEvent  = 1 << 20
	mostPlexValues = 20_000
)

// plexAgain is when an item is told again after the end of a session: a server may count the play a little later.
var plexAgain = []time.Duration{2 * time.Second, 15 * time.Second}

// plexNote says that a session plays, or has stopped playing, an item. It names neither the person nor how far it is, as far as is to be
// relied on (upstreams/watchers.md section 4.2).
type plexNote struct {
	session, item string
	stopped       bool
}

// plexNotes reads a message, which is an object or a list, within its container or without.
func plexNotes(message []byte) []plexNote {
	var o payload.Object
	var list []payload.Object
	if err := httpx.JSON(message, &o, mostPlexValues); errors.Is(err, httpx.ErrTooMany) {
		return nil
	} else if err == nil {
		if inner := o.Object("NotificationContainer"); inner != nil {
			o = inner
		}
		switch inner := o.Object("PlaySessionStateNotification"); {
		case inner != nil:
			list = []payload.Object{inner}
		case o.Has("PlaySessionStateNotification"):
			list = o.Objects("PlaySessionStateNotification")
		default:
			list = []payload.Object{o}
		}
	} else {
		list = payload.Object{"": message}.Objects("")
	}
	var notes []plexNote
	for _, o := range list[:min(len(list), mostPlexNotes)] {
		n := plexNote{session: o.Line("sessionKey"), item: o.Line("ratingKey"), stopped: strings.EqualFold(o.Line("state"), "stopped")}
		if n.session != "" && o.Has("state") {
			notes = append(notes, n)
		}
	}
	return notes
}

// plexSessions are the sessions of one connection: a server that was started anew gives the same keys again. A session that ends, turns to
// another item or says nothing for long has its item told, and told again a little later. The server tells its owner of everybody's
// sessions: those that are known to be somebody else's are left alone. One that was over before it could be asked whose it was is told,
// for what is then read of its item, with the token of the person, is the person's own state.
type plexSessions struct {
	// everybody says that the server tells of everybody's sessions.
	everybody bool
	wake      chan struct{}

	mu   sync.Mutex
	live map[string]*plexSession
	due  map[string]plexDue
}

type plexSession struct {
	item string
	last time.Time // of the last note
	// known is set once it is known whose the session is, or will not be asked any more; foreign is somebody else's.
	known, foreign bool
	asked          time.Time // when it was last asked whose it is
	tries          int
}

// plexDue says when an item is to be told, and how often it was.
type plexDue struct {
	ended, at time.Time
	told      int
}

func newPlexSessions(everybody bool) *plexSessions {
	return &plexSessions{everybody: everybody, wake: make(chan struct{}, 1), live: map[string]*plexSession{}, due: map[string]plexDue{}}
}

// note takes in what the server told.
func (p *plexSessions) note(now time.Time, notes []plexNote) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range notes {
		s := p.live[n.session]
		if s == nil {
			if len(p.live) >= mostPlexSessions {
				continue
			}
			s = &plexSession{known: !p.everybody}
			p.live[n.session] = s
		}
		if n.item != "" && n.item != s.item {
			p.end(now, s)
			s.item = n.item
		}
		s.last = now
		if n.stopped {
			p.end(now, s)
			delete(p.live, n.session)
		}
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// end has the item of a session told.
func (p *plexSessions) end(now time.Time, s *plexSession) {
	if s.item != "" && !s.foreign && len(p.due) < mostPlexSessions {
		p.due[s.item] = plexDue{ended: now, at: now}
	}
}

// step is what is to be done: tell items, ask whose the sessions are, or wait.
func (p *plexSessions) step(now time.Time) (items []string, ask bool, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	wait = plexQuiet
	for key, s := range p.live {
		quiet := s.last.Add(plexQuiet).Sub(now)
		if quiet <= 0 {
			p.end(now, s)
			delete(p.live, key)
			continue
		}
		wait = min(wait, quiet)
		if s.known {
			continue
		}
		if next := s.asked.Add(plexAsk).Sub(now); next > 0 {
			wait = min(wait, next)
		} else {
			ask = true
		}
	}
	for item, d := range p.due {
		if left := d.at.Sub(now); left > 0 {
			wait = min(wait, left)
			continue
		}
		items = append(items, item)
		if d.told == len(plexAgain) {
			delete(p.due, item)
			continue
		}
		d.at = d.ended.Add(plexAgain[d.told])
		d.told++
		p.due[item] = d
		wait = min(wait, max(d.at.Sub(now), time.Millisecond))
	}
	slices.Sort(items)
	return items, ask, wait
}

// attribute says whose the sessions are. For one that the server does not name it is asked a few times.
func (p *plexSessions) attribute(now time.Time, playing []plexPlaying) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, s := range p.live {
		if s.known || s.asked.Add(plexAsk).After(now) {
			continue
		}
		s.asked = now
		s.tries++
		i := slices.IndexFunc(playing, func(one plexPlaying) bool { return one.key == key })
		s.known = i >= 0 || s.tries >= mostPlexTries
		s.foreign = i >= 0 && playing[i].user != plexOwner
	}
}

// plexFeed is a live connection. Read is the next message.
type plexFeed interface {
	Read() ([]byte, error)
	Close()
}

// Listen takes the websocket of the server, or else its stream of events.
func (c *plexClient) Listen(ctx context.Context, up func(), changed func(ids []string)) error {
	if err := c.wire.ready(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	feed, err := c.feed(ctx)
	if err != nil {
		return err
	}
	p, pace := newPlexSessions(c.server.UserID == plexOwner), newPace()
	lost := make(chan error, 1)
	go func() {
		for {
			message, err := feed.Read()
			if err != nil {
				lost <- err
				return
			}
			if err := pace.take(ctx, len(message)); err != nil {
				lost <- err
				return
			}
			p.note(time.Now(), plexNotes(message))
		}
	}()
	defer feed.Close()
	up()
	return c.follow(ctx, p, lost, changed)
}

// follow does what the sessions ask for until the connection is lost.
func (c *plexClient) follow(ctx context.Context, p *plexSessions, lost <-chan error, changed func(ids []string)) error {
	for {
		items, ask, wait := p.step(time.Now())
		if len(items) > 0 {
			changed(items)
		}
		if ask {
			playing, err := c.sessions(ctx)
			if errors.Is(err, ErrSignedOut) || ctx.Err() != nil {
				return err
			}
			p.attribute(time.Now(), playing) // after any other error nothing is known of any session
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case err := <-lost:
			timer.Stop()
			if ctx.Err() != nil {
				return ctx.Err()
			}
			c.wire.distrust()
			return noAnswerFor(err)
		case <-p.wake:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// feed opens a live connection.
func (c *plexClient) feed(ctx context.Context) (plexFeed, error) {
	socket, status, err := c.http.Socket(ctx, httpx.SocketRequest{URL: c.server.URL + plexSocketPath, Header: c.header, Ping: plexPing, Silence: plexSilence})
	if socket != nil {
		return socket, nil
	}
	if err == nil && status != http.StatusUnauthorized {
		header := c.header.Clone()
		header.Set("Accept", "text/event-stream")
		var stream *httpx.Stream
		if stream, err = c.http.Stream(ctx, httpx.Request{URL: c.server.URL + plexStreamPath, Header: header, StayOnAddress: true}); err == nil {
			kind, _, _ := mime.ParseMediaType(stream.Header.Get("Content-Type"))
			if status = stream.Status; status == http.StatusOK && kind == "text/event-stream" {
				return newPlexStream(stream.Body), nil
			}
			_ = stream.Body.Close() // nothing of it is read
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		c.wire.distrust()
		return nil, noAnswerFor(err)
	case status == http.StatusUnauthorized:
		return nil, ErrSignedOut
	case status == http.StatusServiceUnavailable: // it is starting
		return nil, unreachable(fails.With(c.wire.product, status))
	}
	return nil, ErrNoPush
}

// plexStream is a stream of server-sent events.
type plexStream struct {
	body  io.ReadCloser
	lines *bufio.Scanner
}

func newPlexStream(body io.ReadCloser) *plexStream {
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 4096), mostPlexEvent)
	return &plexStream{body: body, lines: lines}
}

// Read is the data of the next event.
func (s *plexStream) Read() ([]byte, error) {
	var data []byte
	for s.lines.Scan() {
		line := s.lines.Bytes()
		if text, ok := bytes.CutPrefix(line, []byte("data:")); ok && len(data)+len(text) < mostPlexEvent {
			data = append(append(data, bytes.TrimPrefix(text, []byte(" "))...), '\n')
		} else if len(line) == 0 && len(data) > 0 {
			return data, nil
		}
	}
	if err := s.lines.Err(); err != nil {
		return nil, err
	}
	return nil, io.ErrUnexpectedEOF
}

// Close gives the stream up.
func (s *plexStream) Close() { _ = s.body.Close() }
