package mediaserver_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/testkit/mediaservertest"
)

// house is a Plex of mira in whose Home bench is, shared with alex, and a plex.tv that knows it.
type house struct {
	t      *testing.T
	s      *mediaservertest.Server
	dialer *mediaserver.Dialer
	item   []string // ids of the episodes of season 2
}

func newHouse(t *testing.T, change func(*mediaservertest.Config)) *house {
	cfg := mediaservertest.Config{
		Kind: mediaservertest.Plex, ID: "machine-1", Name: "attic", Settle: time.Millisecond, TV: mediaservertest.StartPlexTV(t),
		Users: []mediaservertest.User{{Name: "mira", Password: "pw", Home: true}, {Name: "alex", Password: "pw2", Libraries: []string{"3"}},
			{Name: "bench", Managed: true, Home: true, PIN: "1234"}},
		Libraries: []mediaservertest.Library{{ID: "3", Name: "动画", Kind: "show"}, {ID: "4", Name: "家庭录像", Kind: "homevideos"}, {ID: "5", Name: "音乐", Kind: "music"}},
		Shows:     []mediaservertest.Show{{ID: "4700", Library: "3", Title: "灯塔守望者", Original: "灯台守のうた", Year: 2022, IDs: map[string]string{"Tvdb": "900000"}}},
	}
	if change != nil {
		change(&cfg)
	}
	h := &house{t: t, s: mediaservertest.Start(t, cfg), dialer: newDialer(t)}
	h.s.PlexTV().PollEvery = time.Nanosecond
	at := h.s.PlexTV().URL
	h.dialer.Plex = func() mediaserver.PlexAddresses {
		return mediaserver.PlexAddresses{Account: at, Clients: at, Page: at + "/auth"}
	}
	for n := range 6 {
		h.item = append(h.item, h.s.Add(mediaservertest.Item{Library: "3", Show: "4700", Title: "第夜", Season: 2, Episode: n + 1, Date: "2024-05-19",
			Length: 24 * time.Minute, IDs: map[string]string{"Tvdb": strconv.Itoa(900001 + n)}}).ID)
	}
	return h
}

// account is the token of somebody's account, by the page.
func (h *house) account(name string) secret.Text {
	h.t.Helper()
	plex := mediaserver.Server{Kind: mediaserver.Plex}
	code, err := h.dialer.StartCode(h.t.Context(), plex)
	if err != nil {
		h.t.Fatal(err)
	}
	if _, done, err := h.dialer.FinishCode(h.t.Context(), plex, code); done || err != nil {
		h.t.Fatalf("before the person confirmed it: %t, %v", done, err)
	}
	if err := h.s.Confirm(code.Text, name); err != nil {
		h.t.Fatal(err)
	}
	l, done, err := h.dialer.FinishCode(h.t.Context(), plex, code)
	if !done || err != nil {
		h.t.Fatalf("after the person confirmed it: %t, %v", done, err)
	}
	return l.Server.Token
}

// login is somebody's login at the server.
func (h *house) login(name string) mediaserver.Login {
	h.t.Helper()
	l, err := h.dialer.PlexChoose(h.t.Context(), h.account(name), mediaserver.PlexChoice{Server: "machine-1"})
	if err != nil {
		h.t.Fatal(err)
	}
	return l
}

func (h *house) open(l mediaserver.Login) mediaserver.Client {
	h.t.Helper()
	c, err := h.dialer.Open(l.Server)
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

// played are the ids of what a client gives, each once.
func (h *house) played(c mediaserver.Client, since time.Time) []string {
	h.t.Helper()
	libraries, err := c.Libraries(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	var ids []string
	err = c.Played(h.t.Context(), libraries, since, func(items []mediaserver.Item, _ int) error {
		for _, item := range items {
			if !item.State.Played {
				h.t.Errorf("%s is given, and not played", item.Report.Event.ItemID)
			}
			ids = append(ids, item.Report.Event.ItemID)
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func field(err error) string {
	var at *reason.FieldError
	if errors.As(err, &at) {
		return at.Field
	}
	return ""
}

func TestPlexPlayedAreGiven(t *testing.T) {
	for name, change := range map[string]func(*mediaservertest.Config){
		"as documented":                        nil,
		"without filters":                      func(c *mediaservertest.Config) { c.NoFilters = true },
		"in small pages":                       func(c *mediaservertest.Config) { c.PageMost = 2 },
		"all at once":                          func(c *mediaservertest.Config) { c.Quirks.Unpaged = true },
		"where the filter of played says none": func(c *mediaservertest.Config) { c.Quirks.NoUnwatched = true },
	} {
		for _, who := range []string{"mira", "alex"} {
			t.Run(name+", "+who, func(t *testing.T) {
				h := newHouse(t, change)
				c := h.open(h.login(who))
				if got := h.played(c, time.Time{}); len(got) > 0 {
					t.Errorf("before anything was played: %v", got)
				}
				start := time.Now().Add(-time.Second)
				for _, id := range []string{h.item[0], h.item[2]} {
					if err := h.s.Watch(who, id); err != nil {
						t.Fatal(err)
					}
				}
				if err := h.s.Start(who, h.item[3]); err != nil { // begun, and not played
					t.Fatal(err)
				}
				if err := h.s.Watch("bench", h.item[4]); err != nil { // somebody else
					t.Fatal(err)
				}
				want := []string{h.item[0], h.item[2]}
				if got := h.played(c, time.Time{}); !slices.Equal(got, want) {
					t.Errorf("everything is %v, want %v", got, want)
				}
				for range 2 {
					if got := h.played(c, start); !slices.Equal(got, want) {
						t.Errorf("since then: %v, want %v", got, want)
					}
				}
				if got := h.played(c, time.Now().Add(time.Hour)); len(got) > 0 && name != "without filters" { // the newest page is read in any case
					t.Errorf("since later: %v", got)
				}
				// What was deleted since is known to the history alone.
				if err := h.s.Delete(h.item[0]); err != nil {
					t.Fatal(err)
				}
				got := h.played(c, start)
				if len(got) != 2 || !slices.Contains(got, h.item[2]) {
					t.Errorf("with a deleted one: %v", got)
				}
				// Un-marked, a play is no play.
				if err := h.s.Unmark(who, h.item[2]); err != nil {
					t.Fatal(err)
				}
				if got := h.played(c, start); slices.Contains(got, h.item[2]) {
					t.Errorf("an un-marked one is given: %v", got)
				}
			})
		}
	}
}

func TestPlexItemsAndShows(t *testing.T) {
	h := newHouse(t, nil)
	if err := h.s.Watch("mira", h.item[1]); err != nil {
		t.Fatal(err)
	}
	c := h.open(h.login("mira"))
	libraries, err := c.Libraries(t.Context())
	if err != nil || len(libraries) != 2 || libraries[0] != (mediaserver.Library{ID: "3", Name: "动画", Kind: "show"}) || libraries[1].Usual() {
		t.Errorf("the libraries are %+v, %v", libraries, err)
	}
	items, err := c.Items(t.Context(), []string{h.item[1], "4700", "999999", "x/../y", "", h.item[1]})
	if err != nil || len(items) != 1 {
		t.Fatalf("%+v, %v", items, err)
	}
	item := items[0]
	e := item.Report.Event
	if e.Title != "灯塔守望者" || *e.Season != 2 || *e.Episode != 2 || e.SeriesID != "4700" || e.ItemIDs["tvdb"] != "900002" || item.Library != "3" || item.Year != 2024 || item.Length != 24*time.Minute {
		t.Errorf("the item is %+v", item)
	}
	if s := item.State; !s.Played || s.Count != 1 || time.Since(s.At) > time.Minute || s.Position != 0 || item.Begins {
		t.Errorf("its state is %+v", s)
	}
	if none, err := c.Items(t.Context(), []string{"999999"}); err != nil || len(none) > 0 {
		t.Errorf("%+v, %v", none, err)
	}
	shows, err := c.Shows(t.Context(), []string{"4700", h.item[1], "999999"})
	if err != nil || len(shows) != 1 || shows[0].Title != "灯塔守望者" || shows[0].Original != "灯台守のうた" || shows[0].Year != 2022 || shows[0].IDs["tvdb"] != "900000" {
		t.Errorf("%+v, %v", shows, err)
	}
	if _, err := c.Count(t.Context()); !errors.Is(err, mediaserver.ErrCannot) {
		t.Error(err)
	}
	all := 0
	err = c.All(t.Context(), libraries, func(items []mediaserver.Item, _ int) error { all += len(items); return nil })
	if err != nil || all != 6 {
		t.Errorf("all are %d, %v", all, err)
	}
}

func TestPlexWritesOnlyWhatDiffers(t *testing.T) {
	h := newHouse(t, nil)
	c := h.open(h.login("alex"))
	data := func() mediaservertest.Data {
		t.Helper()
		d, err := h.s.Data("alex", h.item[0])
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for range 2 {
		if err := c.Write(t.Context(), h.item[0], mediaserver.State{Played: true, At: time.Now().AddDate(-1, 0, 0)}); err != nil {
			t.Fatal(err)
		}
		if d := data(); d.Count != 1 {
			t.Errorf("marked: %+v", d)
		}
	}
	for range 2 {
		if err := c.Write(t.Context(), h.item[0], mediaserver.State{}); err != nil {
			t.Fatal(err)
		}
		if d := data(); d.Count != 0 || d.Played {
			t.Errorf("un-marked: %+v", d)
		}
	}
	if err := c.Write(t.Context(), "999999", mediaserver.State{Played: true}); err == nil {
		t.Error("what is not there is marked")
	}
	if n := len(slices.DeleteFunc(h.s.Requests(), func(r string) bool { return !strings.HasPrefix(r, "PUT ") })); n != 2 {
		t.Errorf("%d writes", n)
	}
}

func TestPlexTellsWhatIsPlayed(t *testing.T) {
	for name, change := range map[string]func(*mediaservertest.Config){
		"by websocket":           nil,
		"with times in seconds":  func(c *mediaservertest.Config) { c.Quirks.Seconds = true },
		"before it has sessions": func(c *mediaservertest.Config) { c.Quirks.NoSessions = true },
	} {
		for _, who := range []string{"mira", "alex"} {
			t.Run(name+", "+who, func(t *testing.T) {
				h := newHouse(t, change)
				h.listens(h.open(h.login(who)), who)
			})
		}
	}
}

// listens has a client hear of a play, and of the end of its connection.
func (h *house) listens(c mediaserver.Client, who string) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 30*time.Second)
	defer cancel()
	told, up, lost := make(chan []string, 100), make(chan struct{}), make(chan error, 1)
	go func() {
		lost <- c.Listen(ctx, func() { close(up) }, func(ids []string) { told <- ids })
	}()
	select {
	case <-up:
	case err := <-lost:
		h.t.Fatal(err)
	}
	if err := h.s.Watch(who, h.item[0]); err != nil {
		h.t.Fatal(err)
	}
	select {
	case ids := <-told:
		if !slices.Equal(ids, []string{h.item[0]}) {
			h.t.Errorf("told of %v", ids)
		}
	case err := <-lost:
		h.t.Fatalf("lost before anything was told: %v", err)
	}
	h.s.Cut()
	if err := <-lost; !errors.Is(err, mediaserver.ErrUnreachable) {
		h.t.Errorf("a lost connection: %v", err)
	}
}

// TestPlexTellsByItsStreamOfEvents: a proxy lets no websocket pass.
func TestPlexTellsByItsStreamOfEvents(t *testing.T) {
	identity := says(`{"MediaContainer":{"machineIdentifier":"machine-1","version":"1.42"}}`)
	open := func(t *testing.T, stream http.HandlerFunc) (mediaserver.Client, *door) {
		d := newDoor(t, map[string]http.HandlerFunc{"/identity": identity, "/:/websockets/notifications": status(http.StatusBadGateway), "/:/eventsource/notifications": stream})
		c, err := newDialer(t).Open(mediaserver.Server{Kind: mediaserver.Plex, URL: d.URL, ID: "machine-1", Token: "t", UserID: "101"})
		if err != nil {
			t.Fatal(err)
		}
		return c, d
	}
	c, d := open(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		_, _ = w.Write([]byte("event: ping\ndata: {}\n\nevent: playing\ndata: {\"PlaySessionStateNotification\":{\"sessionKey\":\"12\",\"ratingKey\":\"4812\",\"state\":\"stopped\"}}\n\n"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	up := 0
	err := c.Listen(ctx, func() { up++ }, func(ids []string) {
		if !slices.Equal(ids, []string{"4812"}) {
			t.Errorf("told of %v", ids)
		}
		cancel()
	})
	if !errors.Is(err, context.Canceled) || up != 1 {
		t.Errorf("the end is %v, up was called %d times", err, up)
	}
	if h := d.last(); h.Get("X-Plex-Token") != "t" || h.Get("Accept") != "text/event-stream" || len(d.asked("t=t")) > 0 {
		t.Errorf("it was asked with %v", h)
	}
	c, _ = open(t, func(w http.ResponseWriter, _ *http.Request) { // it ends at once
		w.Header().Set("Content-Type", "text/event-stream")
	})
	if err := c.Listen(t.Context(), func() {}, func([]string) {}); !errors.Is(err, mediaserver.ErrUnreachable) {
		t.Errorf("a stream that ended: %v", err)
	}
	for name, stream := range map[string]http.HandlerFunc{"there is none": status(http.StatusNotFound), "a page": says("{}"), "not for guests": status(http.StatusForbidden)} {
		c, _ := open(t, stream)
		if err := c.Listen(t.Context(), func() { t.Error("up") }, func([]string) {}); !errors.Is(err, mediaserver.ErrNoPush) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPlexRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		want   error
	}{
		"a dead token":          {http.StatusUnauthorized, mediaserver.ErrSignedOut},
		"a token that is old":   {498, mediaserver.ErrSignedOut},
		"not now":               {http.StatusForbidden, mediaserver.ErrRefused},
		"while it starts":       {http.StatusServiceUnavailable, mediaserver.ErrUnreachable},
		"a fault of the server": {http.StatusInternalServerError, mediaserver.ErrUnreachable},
		"sent elsewhere":        {http.StatusFound, mediaserver.ErrUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDoor(t, map[string]http.HandlerFunc{
				"/identity": says(`{"MediaContainer":{"machineIdentifier":"machine-1","version":"1.42"}}`), "/library/sections": status(test.status),
				"/:/websockets/notifications": status(test.status), "/:/eventsource/notifications": status(test.status),
			})
			c, err := newDialer(t).Open(mediaserver.Server{Kind: mediaserver.Plex, URL: d.URL, ID: "machine-1", Token: "t", UserID: "1"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Who(t.Context()); !errors.Is(err, test.want) {
				t.Errorf("the error is %v", err)
			}
			if test.status == http.StatusServiceUnavailable || test.status == http.StatusUnauthorized {
				if err := c.Listen(t.Context(), func() {}, func([]string) {}); !errors.Is(err, test.want) {
					t.Errorf("listening: %v", err)
				}
			}
		})
	}
}
