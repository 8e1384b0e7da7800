package mediaserver_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"watchmark/internal/source/mediaserver"
)

const changed = `{"MessageType":"UserDataChanged","Data":{"UserId":"` + userID + `","UserDataList":[{"Played":true,"ItemId":"e7"},{"UnplayedItemCount":5,"ItemId":"s1"},{"ItemId":"../x"},7]}}`

func TestListen(t *testing.T) {
	for _, c := range []struct {
		kind mediaserver.Kind
		path string
	}{{mediaserver.Jellyfin, "/socket"}, {mediaserver.Emby, "/embywebsocket"}} {
		t.Run(string(c.kind), func(t *testing.T) {
			d := newDoor(t, map[string]http.HandlerFunc{"/System/Info/Public": says(jellyfinPublic)})
			var alive string
			d.answers[c.path] = func(w http.ResponseWriter, r *http.Request) {
				conn, err := websocket.Accept(w, r, nil)
				if err != nil {
					return
				}
				defer func() { _ = conn.CloseNow() }()
				send := func(text string) { _ = conn.Write(r.Context(), websocket.MessageText, []byte(text)) }
				if c.kind == mediaserver.Jellyfin {
					send(`{"MessageType":"ForceKeepAlive","Data":60}`)
					_, text, _ := conn.Read(r.Context())
					alive = string(text)
				}
				send(strings.Replace(changed, userID, "a1b2c3", 1))
				send(`{"MessageType":"UserDataChanged","Data":[`)
				send(`nonsense`)
				send(`{"MessageType":"LibraryChanged","Data":{}}`)
				send(changed)
				// Some write ids of users with dashes.
				send(strings.Replace(strings.Replace(changed, userID, "5D2F0A00-0000-0000-0000-000000000001", 1), "e7", "e8", 1))
			}
			var up int
			var got [][]string
			err := d.open(t, c.kind).Listen(t.Context(), func() { up++ }, func(ids []string) { got = append(got, ids) })
			if !errors.Is(err, mediaserver.ErrUnreachable) || up != 1 {
				t.Errorf("ended with %v, was up %d times", err, up)
			}
			if len(got) != 2 || !slices.Equal(got[0], []string{"e7", "s1"}) || !slices.Equal(got[1], []string{"e8", "s1"}) {
				t.Errorf("got %v", got)
			}
			if c.kind == mediaserver.Jellyfin && alive != `{"MessageType":"KeepAlive"}` {
				t.Errorf("answered the wish for signs of life by %q", alive)
			}
			opened := d.asked(c.path)
			if inAddress := strings.Contains(opened[0], token); inAddress != (c.kind == mediaserver.Emby) {
				t.Errorf("asked %s", opened[0])
			}
		})
	}
}

func TestListenEndsWithItsContext(t *testing.T) {
	d := newDoor(t, map[string]http.HandlerFunc{"/System/Info/Public": says(jellyfinPublic)})
	d.answers["/socket"] = func(w http.ResponseWriter, r *http.Request) {
		if conn, err := websocket.Accept(w, r, nil); err == nil {
			_, _, _ = conn.Read(r.Context())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := d.open(t, mediaserver.Jellyfin).Listen(ctx, cancel, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestNoLiveConnection(t *testing.T) {
	for _, c := range []struct {
		name   string
		socket http.HandlerFunc
		me     http.HandlerFunc
		want   error
	}{
		{"a proxy answers a page", says("<html>"), says(`{"Name":"mira","Id":"` + userID + `"}`), mediaserver.ErrNoPush},
		{"the path is not known", status(404), says(`{"Name":"mira","Id":"` + userID + `"}`), mediaserver.ErrNoPush},
		{"the proxy cannot", status(502), says(`{"Name":"mira","Id":"` + userID + `"}`), mediaserver.ErrNoPush},
		{"the token is dead", status(403), status(401), mediaserver.ErrSignedOut},
		{"outside of the hours", status(403), status(403), mediaserver.ErrRefused},
		{"the server starts", status(503), status(503), mediaserver.ErrUnreachable},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDoor(t, map[string]http.HandlerFunc{"/System/Info/Public": says(jellyfinPublic), "/socket": c.socket, "/Users/Me": c.me})
			client := d.open(t, mediaserver.Jellyfin)
			err := client.Listen(t.Context(), func() { t.Error("it was up") }, nil)
			if !errors.Is(err, c.want) || client.Quirks().NoPush != errors.Is(c.want, mediaserver.ErrNoPush) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestPlaying(t *testing.T) {
	d := newDoor(t, map[string]http.HandlerFunc{"/System/Info/Public": says(jellyfinPublic), "/Sessions": says(`[
		{"UserId":"` + userID + `","NowPlayingItem":{"Id":"e1","Type":"Episode"}},
		{"UserId":"other","NowPlayingItem":{"Id":"e2","Type":"Episode"}},
		{"UserId":"other","AdditionalUsers":[{"UserId":"` + userID + `"}],"NowPlayingItem":{"Id":"m3","Type":"Movie"}},
		{"UserId":"` + userID + `","NowPlayingItem":{"Id":"a4","Type":"Audio"}},
		{"UserId":"` + userID + `"}, 7]`)})
	ids, err := d.open(t, mediaserver.Jellyfin).Playing(t.Context())
	if err != nil || !slices.Equal(ids, []string{"e1", "m3"}) {
		t.Errorf("%v %v", ids, err)
	}
}

func TestASilentConnectionIsLost(t *testing.T) {
	mediaserver.SetSilence(t, 50*time.Millisecond)
	d := newDoor(t, map[string]http.HandlerFunc{"/System/Info/Public": says(jellyfinPublic)})
	d.answers["/socket"] = func(w http.ResponseWriter, r *http.Request) {
		if conn, err := websocket.Accept(w, r, nil); err == nil {
			_, _, _ = conn.Read(r.Context())
		}
	}
	up := false
	if err := d.open(t, mediaserver.Jellyfin).Listen(t.Context(), func() { up = true }, nil); !errors.Is(err, mediaserver.ErrUnreachable) || !up {
		t.Errorf("got %v", err)
	}
}

func TestTheConnectionIsFoundUnderThePrefix(t *testing.T) {
	d := newDoor(t, map[string]http.HandlerFunc{"/emby/System/Info/Public": says(embyPublic)})
	d.answers["/emby/embywebsocket"] = func(w http.ResponseWriter, r *http.Request) {
		if conn, err := websocket.Accept(w, r, nil); err == nil {
			_ = conn.Write(r.Context(), websocket.MessageText, []byte(changed))
			_ = conn.CloseNow()
		}
	}
	c, err := newDialer(t).Open(mediaserver.Server{Kind: mediaserver.Emby, URL: d.URL, ID: serverID, Token: token, UserID: userID, Quirks: mediaserver.Quirks{Prefix: "/emby"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := c.Listen(t.Context(), func() {}, func(ids []string) { got = ids }); !errors.Is(err, mediaserver.ErrUnreachable) || len(got) == 0 {
		t.Errorf("%v %v", got, err)
	}
}
