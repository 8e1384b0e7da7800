package mediaservertest

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// socket is a live connection.
type socket struct {
	conn        *websocket.Conn
	token, user string

	mu    sync.Mutex
	heard time.Time // from the client
	muted bool
}

// upgrades reports whether a websocket is served at a path: a Jellyfin does at any one, the NAS makers at none that is known.
func (b *browser) upgrades(path string) bool {
	switch {
	case b.s.cfg.NoPush:
		return false
	case b.is(Emby):
		return path == "/" || strings.EqualFold(path, "/embywebsocket")
	}
	return b.is(Jellyfin)
}

// writeTime bounds the writing of one message.
const writeTime = 10 * time.Second

// socket serves a live connection until one side ends it.
func (b *browser) socket(w http.ResponseWriter, r *http.Request) {
	tok := b.tokenOf(r)
	if b.is(Emby) { // read from the address by every client that is known
		b.mu.Lock()
		tok = b.tokens[r.URL.Query().Get("api_key")]
		b.mu.Unlock()
	}
	if tok == nil { // a token that is dead is answered in the same way: section 6
		w.WriteHeader(http.StatusForbidden)
		return
	}
	one := &socket{token: tok.value, user: tok.user, heard: time.Now()}
	if !b.accept(w, r, one) {
		return // it was answered
	}
	defer func() {
		b.mu.Lock()
		delete(b.sockets, one)
		b.mu.Unlock()
		one.close()
		b.open.Done()
	}()
	if b.is(Jellyfin) {
		one.send(object{"MessageType": "ForceKeepAlive", "MessageId": random(16), "Data": int(b.s.cfg.KeepAlive.Seconds())})
	}
	for {
		_, text, err := one.conn.Read(context.Background()) // it ends with the connection
		if err != nil {
			return
		}
		var message struct{ MessageType string }
		if json.Unmarshal(text, &message) != nil || message.MessageType != "KeepAlive" || !b.is(Jellyfin) {
			continue
		}
		if b.serves(one) {
			one.mu.Lock()
			one.heard = time.Now()
			one.mu.Unlock()
			one.send(object{"MessageType": "KeepAlive", "MessageId": random(16)})
		}
	}
}

// accept answers the handshake, and adds the socket before anything else is pushed: who has the answer misses nothing.
func (b *browser) accept(w http.ResponseWriter, r *http.Request, one *socket) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, OnPingReceived: func(context.Context, []byte) bool { return b.serves(one) },
	})
	if err != nil {
		return false
	}
	one.conn = conn
	b.sockets[one] = true
	b.open.Add(1)
	return true
}

// serves reports whether a socket is still served: a Jellyfin forgets one that sends no KeepAlive, and leaves it open (section 2.2).
func (b *browser) serves(one *socket) bool {
	one.mu.Lock()
	defer one.mu.Unlock()
	if b.is(Jellyfin) && time.Since(one.heard) > b.s.cfg.KeepAlive {
		one.muted = true
	}
	return !one.muted
}

func (one *socket) send(message object) {
	text, err := json.Marshal(message)
	if err != nil {
		panic(err) // it is made of texts and numbers
	}
	ctx, cancel := context.WithTimeout(context.Background(), writeTime)
	defer cancel()
	_ = one.conn.Write(ctx, websocket.MessageText, text) // a client that went away is noticed by the reader
}

func (one *socket) close() { _ = one.conn.CloseNow() } // nothing can be lost

func (b *browser) cut() { b.each(nil, (*socket).close) }

func (b *browser) mute() {
	b.each(nil, func(one *socket) {
		one.mu.Lock()
		defer one.mu.Unlock()
		one.muted = true
	})
}

func (b *browser) close() {
	b.mu.Lock()
	if b.timer != nil {
		b.timer.Stop()
	}
	b.mu.Unlock()
	b.cut()
	b.open.Wait()
}

// changed collects what changed until it is quiet for a while. Progress is not pushed.
func (b *browser) changed(c Change) {
	if c.What == Progressed || c.User == "" || !b.is(Jellyfin, Emby) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending[c.User] = append(b.pending[c.User], c.Items...)
	if b.timer != nil {
		b.timer.Stop()
	}
	b.timer = time.AfterFunc(b.s.cfg.Quiet, b.push)
}

// push sends what changed to the sockets of the person, and on Emby to those of everybody (section 3.2).
func (b *browser) push() {
	b.mu.Lock()
	pending := b.pending
	b.pending = map[string][]string{}
	b.mu.Unlock()
	for user, ids := range pending {
		message := object{"MessageType": "UserDataChanged", "Data": object{"UserId": user, "UserDataList": b.entries(user, ids)}}
		if b.is(Jellyfin) {
			message["MessageId"] = random(16)
		}
		b.each(func(one *socket) bool { return (one.user == user || b.is(Emby)) && b.serves(one) }, func(one *socket) { one.send(message) })
	}
}

// entries are what is kept of items now, with the seasons, shows and libraries that they are in.
func (b *browser) entries(user string, ids []string) []object {
	s := b.s
	s.mu.Lock()
	defer s.mu.Unlock()
	var entries, parents []object
	told := map[string]bool{}
	once := func(id string) bool {
		first := !told[id]
		told[id] = true
		return first
	}
	for _, id := range ids {
		i, err := s.item(id)
		if err != nil || !once(id) {
			continue
		}
		entries = append(entries, b.userData(i, s.get(user, i), nil))
		if of := (season{i.Show, i.Season}); i.Show != "" {
			if sid := s.seasonID(i.Show, i.Season); once(sid) {
				parents = append(parents, b.folderData(user, b.seasonItems(of), sid))
			}
			if once(i.Show) {
				parents = append(parents, b.folderData(user, s.episodes[i.Show], i.Show))
			}
		} else if once(i.Library) {
			inside := slices.DeleteFunc(slices.Clone(s.order), func(o *Item) bool { return o.Library != i.Library })
			parents = append(parents, b.folderData(user, inside, i.Library))
		}
	}
	return append(entries, parents...)
}
