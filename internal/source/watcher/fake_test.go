package watcher

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/source/payload"
	"watchmark/internal/watch"
)

// fakeServer is a media server of one person, as its client shows it. It behaves as Jellyfin does: dates are those of the
// beginning, and stay at the end (upstreams/watchers.md section 2.3).
type fakeServer struct {
	mu        sync.Mutex
	id        string
	version   string
	items     []*mediaserver.Item
	libraries []mediaserver.Library
	shows     []mediaserver.Show
	playing   map[string]bool
	cannot    map[string]bool // playing, count, shows
	noPush    bool
	slow      time.Duration // what a page of everything takes
	untold    bool          // items that are asked for by id do not name their library
	meanwhile func()        // what happens once while shows are asked for
	// keeps is set for servers that leave played items played when they are played again.
	keeps bool
	skew  time.Duration
	fails error // what every request ends with
	// failAt counts down to the page that fails.
	failAt    int
	page      int
	listeners []chan []string
	lost      chan struct{}
	requests  map[string]int
	signedOut int
}

func newFake() *fakeServer {
	return &fakeServer{
		id: "server-1", version: "10.11.6", page: 200, playing: map[string]bool{}, cannot: map[string]bool{}, requests: map[string]int{}, lost: make(chan struct{}),
		libraries: []mediaserver.Library{{ID: "anime", Name: "动画", Kind: "show"}, {ID: "home", Name: "家庭录像", Kind: "other"}},
	}
}

// now is the server's clock.
func (f *fakeServer) now() time.Time { return time.Now().Add(f.skew).UTC() }

// episode adds an episode of a show.
func (f *fakeServer) episode(id, show string, season int, number float64) *mediaserver.Item {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := &mediaserver.Item{
		Report: payload.Report{ItemType: "Episode", Event: watch.Event{
			Title: show, EpisodeTitle: "Episode " + strconv.FormatFloat(number, 'f', -1, 64), Season: &season, Episode: &number, ItemID: id, SeriesID: "series of " + show,
		}},
		Year: 2024, Library: "anime", Length: 24 * time.Minute, Begins: true,
	}
	f.items = append(f.items, i)
	return i
}

// film adds a film.
func (f *fakeServer) film(id, name string, year int) *mediaserver.Item {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := &mediaserver.Item{Report: payload.Report{ItemType: "Movie", Event: watch.Event{Title: name, ItemID: id}}, Year: year, Library: "anime", Length: 2 * time.Hour, Begins: true}
	f.items = append(f.items, i)
	return i
}

func (f *fakeServer) item(id string) *mediaserver.Item {
	at := slices.IndexFunc(f.items, func(i *mediaserver.Item) bool { return i.Report.Event.ItemID == id })
	return f.items[at]
}

// set changes the state of an item without telling anybody.
func (f *fakeServer) set(id string, s mediaserver.State) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.item(id).State = s
}

// begin starts a play.
func (f *fakeServer) begin(id string) {
	f.mu.Lock()
	s := &f.item(id).State
	s.Played = s.Played && f.keeps
	s.At, s.Count = f.now(), s.Count+1
	f.playing[id] = true
	f.mu.Unlock()
	f.push(id, "season of "+id)
}

// end stops a play: at the end, or somewhere in the middle.
func (f *fakeServer) end(id string, at time.Duration) {
	f.mu.Lock()
	i := f.item(id)
	delete(f.playing, id)
	switch {
	case at >= i.Length*9/10:
		i.State.Played, i.State.Position = true, 0
	case at < i.Length/20:
		i.State.Position = 0
	default:
		i.State.Position = at
	}
	f.mu.Unlock()
	f.push(id, "season of "+id)
}

// play plays an item to its end, by a clock that may be that of a bubble.
func (f *fakeServer) play(id string) {
	f.begin(id)
	time.Sleep(f.item(id).Length)
	f.end(id, f.item(id).Length)
}

// mark marks items by hand; without a date that of before is kept.
func (f *fakeServer) mark(dated bool, ids ...string) {
	f.mu.Lock()
	at := f.now().Add(123 * time.Millisecond)
	for _, id := range ids {
		s := &f.item(id).State
		s.Played, s.Position = true, 0
		switch {
		case dated:
			s.Count, s.At = s.Count+1, at
		case s.At.IsZero():
			s.At = f.now()
		}
		s.Count = max(s.Count, 1)
	}
	f.mu.Unlock()
	f.push(append([]string{"a season"}, ids...)...)
}

// push tells everybody who listens.
func (f *fakeServer) push(ids ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.listeners {
		l <- ids
	}
}

// cut loses all live connections.
func (f *fakeServer) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.lost)
	f.lost, f.listeners = make(chan struct{}), nil
}

func (f *fakeServer) change(fn func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fn()
}

func (f *fakeServer) asked(what string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests[what]
}

// fakeClient is a client of it.
type fakeClient struct {
	*fakeServer
	server mediaserver.Server
	sent   int
}

func (c *fakeClient) ask(ctx context.Context, what string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.requests[what]++
	c.sent++
	if c.failAt > 0 {
		if c.failAt--; c.failAt == 0 {
			return mediaserver.ErrUnreachable
		}
	}
	if c.fails != nil {
		return c.fails
	}
	if c.cannot[what] {
		return mediaserver.ErrCannot
	}
	return nil
}

func (c *fakeClient) Who(ctx context.Context) (mediaserver.Login, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.login(c.server), c.ask(ctx, "who")
}

func (f *fakeServer) login(s mediaserver.Server) mediaserver.Login {
	s.ID, s.UserID = f.id, cmp.Or(s.UserID, "user-1")
	return mediaserver.Login{Server: s, UserName: "mira", Name: "attic", Version: f.version}
}

func (c *fakeClient) Libraries(ctx context.Context) ([]mediaserver.Library, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.libraries), c.ask(ctx, "libraries")
}

func (c *fakeClient) Played(ctx context.Context, of []mediaserver.Library, since time.Time, page func([]mediaserver.Item, int) error) error {
	var all []mediaserver.Item
	size := 0
	c.change(func() {
		for _, i := range c.items {
			if i.State.Played && slices.ContainsFunc(of, func(l mediaserver.Library) bool { return l.ID == i.Library }) {
				all = append(all, *i)
			}
		}
		size = c.page
	})
	if !since.IsZero() {
		slices.SortStableFunc(all, func(a, b mediaserver.Item) int { return b.State.At.Compare(a.State.At) })
	}
	for {
		c.mu.Lock()
		what := "played"
		if since.IsZero() {
			what = "all played"
			slow := c.slow
			c.mu.Unlock()
			time.Sleep(slow)
			c.mu.Lock()
		}
		err := c.ask(ctx, what)
		c.mu.Unlock()
		if err != nil {
			return err
		}
		some := all[:min(size, len(all))]
		all = all[len(some):]
		if len(some) == 0 {
			return nil
		}
		if err := page(some, len(all)); err != nil {
			return err
		}
		if !since.IsZero() && some[len(some)-1].State.At.Before(since) {
			return nil
		}
	}
}

func (c *fakeClient) Count(ctx context.Context) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, i := range c.items {
		if i.State.Played {
			n++
		}
	}
	return n, c.ask(ctx, "count")
}

func (c *fakeClient) All(ctx context.Context, _ []mediaserver.Library, page func([]mediaserver.Item, int) error) error {
	c.mu.Lock()
	var all []mediaserver.Item
	for _, i := range c.items {
		all = append(all, *i)
	}
	err := c.ask(ctx, "all")
	c.mu.Unlock()
	if err != nil {
		return err
	}
	return page(all, 0)
}

func (c *fakeClient) Items(ctx context.Context, ids []string) ([]mediaserver.Item, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var some []mediaserver.Item
	for _, i := range c.items {
		if slices.Contains(ids, i.Report.Event.ItemID) {
			some = append(some, *i)
			if c.untold {
				some[len(some)-1].Library = ""
			}
		}
	}
	return some, c.ask(ctx, "items")
}

func (c *fakeClient) Series(context.Context, mediaserver.Library, func([]mediaserver.Show) error) error {
	return mediaserver.ErrCannot
}

func (c *fakeClient) Shows(ctx context.Context, ids []string) ([]mediaserver.Show, error) {
	if then := c.meanwhile; then != nil {
		c.change(func() { c.meanwhile = nil })
		then()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.shows), func(s mediaserver.Show) bool { return !slices.Contains(ids, s.ID) }), c.ask(ctx, "shows")
}

func (c *fakeClient) Playing(ctx context.Context) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ids []string
	for id := range c.playing {
		ids = append(ids, id)
	}
	return ids, c.ask(ctx, "playing")
}

func (c *fakeClient) Listen(ctx context.Context, up func(), changed func([]string)) error {
	c.mu.Lock()
	if c.noPush {
		c.mu.Unlock()
		return mediaserver.ErrNoPush
	}
	if err := c.ask(ctx, "listen"); err != nil {
		c.mu.Unlock()
		return err
	}
	mine, lost := make(chan []string, 1000), c.lost
	c.listeners = append(c.listeners, mine)
	c.mu.Unlock()
	up()
	for {
		select {
		case ids := <-mine:
			changed(ids)
		case <-lost:
			return mediaserver.ErrUnreachable
		case <-ctx.Done():
			c.mu.Lock()
			c.listeners = slices.DeleteFunc(c.listeners, func(l chan []string) bool { return l == mine })
			c.mu.Unlock()
			return ctx.Err()
		}
	}
}

func (c *fakeClient) Write(context.Context, string, mediaserver.State) error {
	return mediaserver.ErrCannot
}

func (c *fakeClient) SignOut(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.signedOut++
	return c.ask(ctx, "sign out")
}

func (c *fakeClient) Quirks() mediaserver.Quirks { return c.server.Quirks }
func (c *fakeClient) Skew() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.skew.Abs() < 5*time.Minute {
		return 0
	}
	return c.skew
}
func (c *fakeClient) Requests() int { return c.sent }

// fakeDialer leads every address to one server, but the one of other.
type fakeDialer struct {
	*fakeServer
	other     *fakeServer
	confirmed bool
	nothing   string // an address where nothing answers
	servers   []mediaserver.PlexServer
	people    []mediaserver.PlexPerson
	users     map[string]string // by password
}

var errPassword = reason.New("test_password", "wrong password", "密码错误")

func (d *fakeDialer) at(url string) *fakeServer {
	if url == "http://other:8096" {
		return d.other
	}
	return d.fakeServer
}

func (d *fakeDialer) Probe(_ context.Context, address, _ string) (mediaserver.Found, error) {
	if d.at(address) == nil || address == d.nothing {
		return mediaserver.Found{}, reason.At("url", mediaserver.ErrUnreachable)
	}
	if address == "https://pinned:32400" {
		return mediaserver.Found{Kind: mediaserver.Plex, URL: address, ID: d.at(address).id, Pin: "ab12"}, nil
	}
	return mediaserver.Found{Kind: mediaserver.Jellyfin, URL: address, ID: d.at(address).id, Name: "attic", Version: d.at(address).version}, nil
}

func (d *fakeDialer) SignIn(_ context.Context, s mediaserver.Server, username string, password secret.Text) (mediaserver.Login, error) {
	if d.users[username] != password.Reveal() {
		return mediaserver.Login{}, reason.At("password", errPassword)
	}
	s.Token, s.UserID, s.Device = secret.Text("token-of-"+username), "id of "+username, "wm-"+username
	l := d.at(s.URL).login(s)
	l.UserName = username
	return l, nil
}

func (d *fakeDialer) StartCode(context.Context, mediaserver.Server) (mediaserver.Code, error) {
	return mediaserver.Code{Text: "482913", Secret: "secret-of-the-code", ExpiresAt: time.Now().Add(10 * time.Minute)}, nil
}

func (d *fakeDialer) FinishCode(_ context.Context, s mediaserver.Server, c mediaserver.Code) (mediaserver.Login, bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.Secret != "secret-of-the-code" || !d.confirmed {
		return mediaserver.Login{}, false, nil
	}
	s.Token, s.UserID = "token-by-code", "id of mira"
	if s.Kind == mediaserver.Plex {
		return mediaserver.Login{Server: mediaserver.Server{Kind: s.Kind, Token: "account-token"}}, true, nil
	}
	return d.login(s), true, nil
}

func (d *fakeDialer) Open(s mediaserver.Server) (mediaserver.Client, error) {
	return &fakeClient{fakeServer: d.at(s.URL), server: s}, nil
}

func (d *fakeDialer) PlexChoices(context.Context, secret.Text) ([]mediaserver.PlexServer, []mediaserver.PlexPerson, error) {
	return d.servers, d.people, nil
}

func (d *fakeDialer) KeepAlive(_ context.Context, account secret.Text) error {
	d.change(func() { d.requests["keep "+account.Reveal()]++ })
	return nil
}

func (d *fakeDialer) PlexChoose(_ context.Context, account secret.Text, choice mediaserver.PlexChoice) (mediaserver.Login, error) {
	if choice.PIN != "" && choice.PIN != "1234" {
		return mediaserver.Login{}, reason.At("pin", errPassword)
	}
	s := mediaserver.Server{Kind: mediaserver.Plex, URL: "http://plex:32400", ID: choice.Server, Token: "plex-token", Account: account, UserID: cmp.Or(choice.Person, "owner")}
	return mediaserver.Login{Server: s, UserName: "mira", Name: "attic", Version: "1.42"}, nil
}
