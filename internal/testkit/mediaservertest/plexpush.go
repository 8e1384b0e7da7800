package mediaservertest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// plexStream is a live connection of somebody.
type plexStream struct {
	user User
	// filters are the types of notifications that were asked for, or with a leading - are not wanted; none is everything.
	filters []string
	send    chan object // a notification without its container
	muted   bool
	cut     context.CancelFunc
}

func (p *plexServer) newStream(r *http.Request, u User) (*plexStream, context.Context) {
	ctx, cancel := context.WithCancel(r.Context())
	stream := &plexStream{user: u, send: make(chan object, 1000), cut: cancel}
	if filters := r.URL.Query().Get("filters"); filters != "" {
		stream.filters = strings.Split(filters, ",")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.streams[stream] = true
	p.open.Add(1)
	return stream, ctx
}

func (p *plexServer) endStream(stream *plexStream) {
	stream.cut()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.streams, stream)
	p.open.Done()
}

// wants reports whether a type passes the filters.
func (stream *plexStream) wants(kind string) bool {
	only := false
	for _, filter := range stream.filters {
		without, excluded := strings.CutPrefix(filter, "-")
		if without == kind {
			return !excluded
		}
		only = only || !excluded
	}
	return !only
}

// socket pushes by websocket.
func (p *plexServer) socket(w http.ResponseWriter, r *http.Request, u User) {
	if p.s.cfg.NoPush {
		plexRefuse(w, http.StatusNotFound)
		return
	}
	stream, ctx := p.newStream(r, u) // before the handshake is answered, so that nothing is missed after it
	defer p.endStream(stream)
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return // it answered what is wrong
	}
	defer func() { _ = conn.CloseNow() }() // it is over
	ctx = conn.CloseRead(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case one := <-stream.send:
			text, err := json.Marshal(object{"NotificationContainer": one})
			if err == nil {
				err = conn.Write(ctx, websocket.MessageText, text)
			}
			if err != nil {
				return
			}
		}
	}
}

// pingEvery is how often an event stream says that it lives.
const pingEvery = 10 * time.Second

// events pushes by an event stream. What stands in it is not documented: the three forms come in turn.
func (p *plexServer) events(w http.ResponseWriter, r *http.Request, u User) {
	if p.s.cfg.NoPush {
		plexRefuse(w, http.StatusNotFound)
		return
	}
	stream, ctx := p.newStream(r, u)
	defer p.endStream(stream)
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for flush := http.NewResponseController(w).Flush; flush() == nil; {
		select {
		case <-ctx.Done():
			return
		case <-ping.C:
			_, _ = fmt.Fprint(w, "event: ping\ndata: {}\n\n") // a client that went away ends the request
		case one := <-stream.send:
			p.mu.Lock()
			p.sent++
			form := p.sent % 3
			p.mu.Unlock()
			_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", one["type"], plexEvent(one, form)) // likewise
		}
	}
}

func plexEvent(one object, form int) []byte {
	var v any = object{"NotificationContainer": one}
	if list, ok := one["PlaySessionStateNotification"].([]object); ok && form > 0 {
		v = object{"PlaySessionStateNotification": list}
		if form == 1 && len(list) == 1 {
			v = object{"PlaySessionStateNotification": list[0]}
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // it is made of text and numbers
	}
	return text
}

// push sends a notification to those who may see it: make gives it, nil for those who may not.
func (p *plexServer) push(kind string, to func(u User) object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for stream := range p.streams {
		if !stream.wants(kind) {
			continue
		}
		if one := to(stream.user); one != nil && !stream.muted {
			select {
			case stream.send <- one:
			default:
				stream.cut() // it does not keep up
			}
		}
	}
}

// sessionKey is the key of the session of a user; they count from 1 after each start of the server.
func (p *plexServer) sessionKey(user string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	key, ok := p.sessions[user]
	if !ok {
		p.lastKey++
		key = strconv.Itoa(p.lastKey)
		p.sessions[user] = key
	}
	return key
}

// changed pushes what the model tells.
func (p *plexServer) changed(c Change) {
	switch {
	case c.What == Started:
		p.tellPlaying(c.User, c.Item, "playing", c.Position)
	case c.What == Progressed:
		p.tellPlaying(c.User, c.Item, "playing", c.Position)
	case c.What == Scanned:
		p.push("timeline", func(User) object { return plexTimeline("0", 5) })
	case c.What == Marked && p.quirk().MarksTold:
		p.push("timeline", func(User) object { return plexTimeline(c.Items[0], 5) })
	}
}

func plexTimeline(item string, state int) object {
	return object{"type": "timeline", "size": 1, "TimelineEntry": []object{{"identifier": "com.plexapp.plugins.library", "sectionID": "0", "itemID": item, "type": 4, "state": state}}}
}

// tellPlaying tells how a session stands. Who sees several sessions gets the others along, so that a notification may have
// more than one.
func (p *plexServer) tellPlaying(user, item, state string, at time.Duration) {
	quirks := p.quirk()
	one := p.notice(quirks, user, item, state, at)
	var others []object
	for _, play := range p.s.Playing() {
		if play.User != user {
			others = append(others, p.notice(quirks, play.User, play.Item, "playing", play.Position))
		}
	}
	p.push("playing", func(u User) object {
		sees := []object{one}
		if u.owns() || quirks.Everybody {
			sees = slices.Concat(sees, others)
		} else if u.ID != user {
			return nil
		}
		return object{"type": "playing", "size": len(sees), "PlaySessionStateNotification": sees}
	})
}

func (p *plexServer) notice(quirks PlexQuirks, user, item, state string, at time.Duration) object {
	one := object{
		"sessionKey": p.sessionKey(user), "clientIdentifier": "pl-" + user, "guid": "", "ratingKey": item, "url": "", "key": "/library/metadata/" + item,
		"viewOffset": at.Milliseconds(), "playQueueItemID": 33, "playQueueID": 9, "state": state,
	}
	if quirks.Seconds {
		delete(one, "viewOffset")
		one["time"] = int(at.Seconds())
	}
	return one
}

// stopping pushes that somebody stops. What the play changes follows once the server has settled it.
func (p *plexServer) stopping(c Change) {
	p.tellPlaying(c.User, c.Item, "stopped", c.Position)
	p.mu.Lock()
	delete(p.sessions, c.User)
	p.mu.Unlock()
	time.Sleep(p.s.cfg.Settle)
}

// cut ends every live connection.
func (p *plexServer) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for stream := range p.streams {
		stream.cut()
	}
}

// mute leaves the live connections open and tells them nothing more.
func (p *plexServer) mute() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for stream := range p.streams {
		stream.muted = true
	}
}

// close ends what is open.
func (p *plexServer) close() { p.cut(); p.open.Wait() }

// restarted forgets what a server does not keep: sessions and their keys.
func (p *plexServer) restarted() {
	p.cut()
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.sessions)
	p.lastKey = 0
}
