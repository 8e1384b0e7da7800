package mediaserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/source/payload"
	"watchmark/internal/source/plex"
	"watchmark/internal/watch"
)

// plexOwner is the user id that a server gives its owner.
const plexOwner = "1"

// The numbers by which Plex asks for kinds of items.
const (
	plexMovies   = "1"
	plexShows    = "2"
	plexEpisodes = "4"
)

// plexClient is a Plex Media Server, which knows the person by the token alone: what it keeps of an item is that of whose token
// it is (upstreams/watchers.md section 4).
type plexClient struct {
	dialer *Dialer
	http   *httpx.Client
	wire   *wire
	server Server
	header http.Header
	// version and requests are those of the server, and of wires that were left.
	version  string
	requests int
	// kinds has the number of the kind of items of each library.
	kinds map[string]string
	// filters says of a library whether its rows can be filtered by the date of the last play; absent when that is not known yet.
	filters map[string]bool
	// account is how the history of plays calls the person, learned from a play of theirs; empty before.
	account string
}

// openPlex is a Client of a Plex Media Server.
func (d *Dialer) openPlex(s Server) (*plexClient, error) {
	base, err := CheckURL(s.URL)
	if err != nil {
		return nil, err
	}
	s.URL = base
	d.Masker.Add(s.Token.Reveal())
	c := &plexClient{dialer: d, server: s, header: d.plexHeader(s.Token), filters: map[string]bool{}}
	return c, c.connect()
}

// connect makes ready to ask the server at its address.
func (c *plexClient) connect() error {
	client, brief, err := c.dialer.client(c.server.URL, c.server.Pin, maxBody)
	if err != nil {
		return err
	}
	if c.wire != nil {
		c.requests = c.Requests()
		c.http.Close()
	}
	c.http, c.wire = client, newWire(client, Plex.Product(), c.server.URL, brief)
	c.wire.header, c.wire.verify, c.wire.secret = c.header, c.verify, c.server.Token
	return nil
}

// verify makes sure, without the token, that the server at the address is the one that the token is for.
func (c *plexClient) verify(ctx context.Context) error {
	id, version, err := plexIdentity(ctx, c.wire, c.header)
	if err == nil && c.server.ID != "" && id != c.server.ID {
		err = ErrOther
	}
	if err != nil {
		c.wire.distrust()
		return err
	}
	c.server.ID, c.version = id, version
	return nil
}

// ask sends a request.
func (c *plexClient) ask(ctx context.Context, a ask) (*httpx.Response, error) {
	resp, err := c.wire.do(ctx, a)
	if resp != nil && resp.Status == statusTokenExpired {
		err = fmt.Errorf("%w: %w", plexSignedOut, ErrSignedOut)
	}
	return resp, err
}

// get gives what Plex puts everything into.
func (c *plexClient) get(ctx context.Context, a ask) (payload.Object, error) {
	resp, err := c.ask(ctx, a)
	if err != nil {
		return nil, err
	}
	var answer payload.Object
	if err := c.wire.decode(resp, &answer); err != nil {
		return nil, err
	}
	return answer.Object("MediaContainer"), nil
}

// Who is the server and the person. A server that has moved, or has another token for the person, is found again by plex.tv. The name
// of the person is empty, for the server does not tell it.
func (c *plexClient) Who(ctx context.Context) (Login, error) {
	c.wire.distrust()
	_, err := c.get(ctx, ask{path: "/library/sections"})
	for tries := 0; err != nil && tries < 2 && c.server.Account != "" && ctx.Err() == nil; tries++ { // both may be others now
		if err = c.find(ctx, err); err != nil {
			break
		}
		_, err = c.get(ctx, ask{path: "/library/sections"})
	}
	if err != nil {
		return Login{}, err
	}
	return Login{Server: c.server, Version: c.version}, nil
}

// find asks plex.tv where the server is and which token it has for the person now, after the server failed with failed. When
// plex.tv cannot help, failed comes back.
func (c *plexClient) find(ctx context.Context, failed error) error {
	tv, err := c.dialer.plexTV(c.server.Account)
	if err != nil {
		return failed
	}
	defer tv.close()
	servers, err := tv.servers(ctx)
	if err != nil {
		return failed
	}
	i := slices.IndexFunc(servers, func(r plexResource) bool { return r.ID == c.server.ID })
	denied := errors.Is(failed, ErrSignedOut)
	switch {
	case i < 0 && denied:
		return fmt.Errorf("%w: %w", plexNotShared, ErrSignedOut)
	case i < 0:
		return failed
	case denied:
		// The account may be that of another member of the Home, whose token would tell what that one watched.
		user, err := tv.user(ctx)
		if err != nil || servers[i].userID(user) != c.server.UserID || servers[i].token == c.server.Token {
			return failed
		}
		c.server.Token, c.header = servers[i].token, c.dialer.plexHeader(servers[i].token)
	case errors.Is(failed, ErrUnreachable) || errors.Is(failed, ErrOther):
		base, err := c.dialer.reach(ctx, servers[i])
		if err != nil {
			return failed
		}
		c.server.URL, c.server.Pin = base, ""
	default:
		return failed
	}
	return c.connect()
}

// userID is how the server calls the person: its owner has a number of its own, all others that of their account.
func (r plexResource) userID(u plexUser) string {
	if r.owned {
		return plexOwner
	}
	return u.id
}

func (c *plexClient) Libraries(ctx context.Context) ([]Library, error) {
	container, err := c.get(ctx, ask{path: "/library/sections"})
	if err != nil {
		return nil, err
	}
	libraries := []Library{}
	c.kinds = map[string]string{}
	for _, o := range container.Objects("Directory") {
		l := Library{ID: o.Line("key"), Name: o.Line("title")}
		number := plexMovies
		switch l.Kind = o.Line("type"); l.Kind {
		case "show":
			number = plexEpisodes
		case "movie":
		default: // music and photos have neither episodes nor films
			continue
		}
		if l.ID == "" || strings.Trim(l.ID, "0123456789") != "" {
			continue
		}
		if len(libraries) == mostLibraries {
			break
		}
		if agent := o.Line("agent"); agent == "tv.plex.agents.none" || agent == "com.plexapp.agents.none" { // personal media
			l.Kind = "other"
		}
		c.kinds[l.ID] = number
		libraries = append(libraries, l)
	}
	return libraries, nil
}

// Count is told only by reading everything.
func (c *plexClient) Count(context.Context) (int, error) { return 0, ErrCannot }

// plexItem reads an item, of the library where its row does not name one. It reports false for what is neither an episode nor a film of
// a library: music, trailers and live television.
func plexItem(meta payload.Object, library string) (Item, bool) {
	media, known := watch.MediaOf(meta.Line("type"))
	item := Item{Report: plex.ReadItem(meta), Library: cmp.Or(meta.Line("librarySectionID"), library)}
	if !known || media == watch.Episode && !strings.EqualFold(item.Report.ItemType, string(watch.Episode)) || item.Library == "" || item.Report.Event.ItemID == "" {
		return Item{}, false
	}
	if e := &item.Report.Event; e.SeriesID == "" && meta.Has("grandparentKey") { // the history has no grandparentRatingKey
		e.SeriesID = path.Base(meta.Line("grandparentKey"))
	}
	item.Year = cmp.Or(meta.Year("year").Year, item.Report.Event.AirDate.Year)
	length, _ := meta.Int64("duration")
	item.Length = plexTime(length)
	s := &item.State
	s.Count, _ = meta.Int("viewCount")
	s.Count = max(s.Count, 0)
	s.Played, s.At = s.Count > 0, meta.UnixTime("lastViewedAt")
	offset, _ := meta.Int64("viewOffset")
	if s.Position = plexTime(offset); item.Length > 0 && s.Position >= item.Length*plexNearEnd/100 {
		s.Position = 0 // the next play begins anew
	}
	return item, true
}

// plexNearEnd is the part of an item, in percent, behind which a server may take it as played.
const plexNearEnd = 85

// plexTime is a time that Plex gives in milliseconds.
func plexTime(ms int64) time.Duration {
	return time.Duration(min(max(ms, 0), 1<<40)) * time.Millisecond
}

// mostTogether is how many items are asked for in one request.
const mostTogether = 50

// metadata gives the rows of items, shows and seasons that are there and that the person may see.
func (c *plexClient) metadata(ctx context.Context, ids []string, each func(payload.Object)) error {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return id == "" || len(id) > 20 || strings.Trim(id, "0123456789") != ""
	})
	slices.Sort(ids)
	for some := range slices.Chunk(slices.Compact(ids), mostTogether) {
		container, err := c.get(ctx, ask{path: "/library/metadata/" + strings.Join(some, ","), query: url.Values{"includeGuids": {"1"}}, list: true})
		if errors.Is(err, errNotThere) { // none of them
			continue
		}
		if err != nil {
			return err
		}
		for _, meta := range container.Objects("Metadata") {
			if slices.Contains(some, meta.Line("ratingKey")) {
				if !meta.Has("librarySectionID") {
					meta["librarySectionID"] = container["librarySectionID"]
				}
				each(meta)
			}
		}
	}
	return nil
}

func (c *plexClient) Items(ctx context.Context, ids []string) ([]Item, error) {
	var items []Item
	err := c.metadata(ctx, ids, func(meta payload.Object) {
		if item, ok := plexItem(meta, ""); ok {
			items = append(items, item)
		}
	})
	return items, err
}

func (c *plexClient) Shows(ctx context.Context, ids []string) ([]Show, error) {
	var shows []Show
	err := c.metadata(ctx, ids, func(meta payload.Object) {
		if meta.Line("type") == "show" {
			shows = append(shows, plexShow(meta))
		}
	})
	return shows, err
}

// Playing is told to the owner only, of everybody.
func (c *plexClient) Playing(ctx context.Context) ([]string, error) {
	if c.server.UserID != plexOwner {
		return nil, ErrCannot
	}
	sessions, err := c.sessions(ctx)
	if errors.Is(err, ErrRefused) || errors.Is(err, errNotThere) {
		return nil, ErrCannot
	}
	var ids []string
	for _, s := range sessions {
		if s.user == plexOwner && s.item != "" {
			ids = append(ids, s.item)
		}
	}
	return ids, err
}

// plexPlaying is what somebody plays now.
type plexPlaying struct{ key, user, item string }

// sessions are what everybody plays now; only the owner may ask.
func (c *plexClient) sessions(ctx context.Context) ([]plexPlaying, error) {
	container, err := c.get(ctx, ask{path: "/status/sessions"})
	if err != nil {
		return nil, err
	}
	var playing []plexPlaying
	for _, o := range container.Objects("Metadata") {
		p := plexPlaying{key: o.Line("sessionKey"), user: o.Object("User").Line("id")}
		if item, ok := plexItem(o, ""); ok {
			p.item = item.Report.Event.ItemID
		}
		playing = append(playing, p)
	}
	return playing, nil
}

// Write marks an item. Plex takes no date and counts a play at each mark, so that what is as it should be is left
// alone (upstreams/watchers.md section 4.4).
func (c *plexClient) Write(ctx context.Context, id string, to State) error {
	items, err := c.Items(ctx, []string{id})
	switch {
	case err != nil:
		return err
	case len(items) == 0:
		return ErrNoItem.With(c.wire.product)
	case items[0].State.Played == to.Played:
		return nil
	}
	action := "/:/scrobble"
	if !to.Played {
		action = "/:/unscrobble"
	}
	_, err = c.ask(ctx, ask{method: http.MethodPut, path: action, query: url.Values{"identifier": {"com.plexapp.plugins.library"}, "key": {id}}})
	if errors.Is(err, errNotThere) {
		return fmt.Errorf("%w: %w", ErrNoItem.With(c.wire.product), err)
	}
	return err
}

// SignOut ends the sign-in at plex.tv.
func (c *plexClient) SignOut(ctx context.Context) error {
	if c.server.Account == "" {
		return nil
	}
	tv, err := c.dialer.plexTV(c.server.Account)
	if err != nil {
		return err
	}
	defer tv.close()
	return tv.signOut(ctx)
}

func (c *plexClient) Quirks() Quirks { return c.server.Quirks }

func (c *plexClient) Skew() time.Duration {
	_, skew := c.wire.facts()
	return skew
}

func (c *plexClient) Requests() int {
	requests, _ := c.wire.facts()
	return c.requests + requests
}
