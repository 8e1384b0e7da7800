package mediaserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/source/payload"
	"watchmark/internal/watch"
)

// trait is in what the servers that share Emby's ancestor differ.
type trait struct {
	product string
	// header names this service by identity, and has the token unless it is empty.
	header func(identity, token string) http.Header
	// fields are what must be named for a row to have it.
	fields string
	// me is the path that tells who signed in, that of the person when it is empty; bare says that single items stand
	// outside of it.
	me   string
	bare bool
	// public says that the server tells its id without a sign-in.
	public bool
	// oneID says that all servers of the kind call themselves the same.
	oneID bool
	// socket is the path of the websocket; empty is none. inQuery has it open by the token in the address.
	socket  string
	inQuery bool
	// ping is how often a websocket is asked for a sign of life; 0 where messages do that.
	ping time.Duration
	// dated and layout are how the time of a play is told to a mark.
	dated, layout string
	// sessions asks for what plays now.
	sessions url.Values
	// exact is the path that writes what is kept of an item as it is given; empty is none.
	exact func(user, item string) (path string, query url.Values)
}

var traits = map[Kind]*trait{Jellyfin: &jellyfin, Emby: &emby, Ugreen: &ugreen, ZSpace: &zspace, FnOS: &fnos}

// Product is what people call a kind of server.
func (k Kind) Product() string {
	if t := traits[k]; t != nil {
		return t.product
	}
	return "Plex"
}

// withToken is identity with a token, if there is one.
func withToken(identity, token string) string {
	if token == "" {
		return identity
	}
	if !strings.HasSuffix(identity, `"`) { // it names nothing
		return identity + ` Token="` + token + `"`
	}
	return identity + `, Token="` + token + `"`
}

// browser asks a Jellyfin or an Emby.
type browser struct {
	traits *trait
	wire   *wire
	// flat has items asked for at /Items, for the user that the query names.
	flat bool
	// marks is set once the server refused to keep an exact state of what it then marked.
	marks bool

	mu        sync.Mutex
	server    Server // its Quirks change
	info      payload.Object
	count     int               // of everything played when it was last read; used where dates are slow
	libraries map[string]string // of series and films, as far as they were read
}

// verify asks without the token who answers, and fails with ErrOther unless it is the server of the login.
func (b *browser) verify(ctx context.Context) error {
	if !b.traits.public {
		return nil
	}
	resp, err := b.wire.send(ctx, ask{path: "/System/Info/Public"}, nil)
	if err != nil {
		return err
	}
	var info payload.Object
	if err := b.wire.decode(resp, &info); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if id := info.Line("Id"); b.server.ID != "" && id != b.server.ID {
		b.wire.distrust()
		return ErrOther
	}
	b.info = info
	return nil
}

// admitted sends what signs a person in, and reads the answer.
func (d *Dialer) admitted(ctx context.Context, b *browser, at Found, a ask) (Login, error) {
	b.wire.verify = nil // it was just asked
	resp, err := b.wire.do(ctx, a)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return Login{}, ctx.Err()
	case resp != nil && resp.Status == http.StatusUnauthorized:
		return Login{}, reason.At("password", ErrWrongPassword.With(b.traits.product))
	case resp != nil && resp.Status == http.StatusForbidden:
		return Login{}, reason.At("username", ErrUserRefused.With(b.traits.product))
	default:
		return Login{}, atURL(err)
	}
	var answer payload.Object
	if err := b.wire.decode(resp, &answer); err != nil {
		return Login{}, reason.At("url", err)
	}
	s, user := b.server, answer.Object("User")
	token := answer.Text("AccessToken")
	d.Masker.Add(token)
	s.Token, s.UserID = secret.Text(token), user.Line("Id")
	if s.ID == "" {
		s.ID = b.id(answer.Line("ServerId"))
	}
	if !validID(s.UserID) || !validToken(token) {
		return Login{}, reason.At("url", notThat.With(b.traits.product))
	}
	l := Login{Server: s, UserName: user.Line("Name"), Name: at.Name, Version: at.Version}
	if b.traits.public {
		return l, nil
	}
	// The others tell their name only to who has signed in.
	signedIn, err := d.open(s)
	if err != nil {
		return Login{}, err
	}
	var info payload.Object
	if err := signedIn.wire.get(ctx, ask{path: "/System/Info"}, &info); err == nil {
		signedIn.describe(&l, info)
	}
	return l, nil
}

// validToken reports whether a token can stand in a header.
func validToken(token string) bool {
	return token != "" && len(token) <= mostCredential && !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '%' || r == '+' })
}

func (b *browser) Who(ctx context.Context) (Login, error) {
	b.wire.distrust() // ask the server for its version again
	l := Login{Server: b.snapshot()}
	path := b.traits.me
	switch {
	case l.Server.UserID == "":
		path = "/System/Info"
	case path == "":
		path = b.user()
	}
	var who payload.Object
	if err := b.wire.get(ctx, ask{path: path}, &who); err != nil {
		return Login{}, err
	}
	info := who
	if l.Server.UserID != "" {
		if l.UserName = who.Line("Name"); !sameID(who.Line("Id"), l.Server.UserID) {
			return Login{}, unreachable(notThat.With(b.traits.product))
		}
		info = b.snapshotInfo()
	}
	b.describe(&l, info)
	return l, nil
}

// describe completes a login by what the server says of itself.
func (b *browser) describe(l *Login, info payload.Object) {
	l.Name, l.Version = info.Line("ServerName", "ProductName"), info.Line("Version", "ServerVersion")
	b.learn(func(q *Quirks) {
		if l.Version != "" && l.Version != q.Version { // another version may do what the one before could not
			*q = Quirks{Version: l.Version, Prefix: q.Prefix}
		}
	})
	if id := b.id(info.Line("Id", "ServerId")); l.Server.ID == "" && id != "" {
		l.Server.ID = id
		b.mu.Lock()
		b.server.ID = id
		b.mu.Unlock()
	}
}

// id is what a server calls itself, empty when that can be no id. Where all servers of a kind have the same, the address tells them apart.
func (b *browser) id(told string) string {
	switch {
	case !validID(told):
		return ""
	case b.traits.oneID:
		return told + "-" + hostOf(b.server.URL)
	}
	return told
}

func (b *browser) snapshotInfo() payload.Object {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.info
}

// sameID compares ids, which some servers write with dashes in one place and without in another.
func sameID(a, b string) bool { return watch.PlainID(a) == watch.PlainID(b) }

// mostLibraries bounds the libraries of a person.
const mostLibraries = 200

func (b *browser) Libraries(ctx context.Context) ([]Library, error) {
	var answer payload.Object
	path := "/Library/MediaFolders" // all, for an administrator
	if b.snapshot().UserID != "" {
		path = b.user() + "/Views"
	}
	if err := b.wire.get(ctx, ask{path: path}, &answer); err != nil {
		return nil, err
	}
	if answer["Items"] == nil {
		return nil, unreachable(notThat.With(b.traits.product))
	}
	list := []Library{}
	for _, o := range answer.Objects("Items") {
		l := Library{ID: o.Line("Id"), Name: o.Line("Name"), Kind: "other"}
		switch strings.ToLower(o.Line("CollectionType")) {
		case "tvshows":
			l.Kind = "show"
		case "movies":
			l.Kind = "movie"
		case "", "mixed", "unknown": // a library without a kind holds both
			l.Kind = "mixed"
		}
		if validID(l.ID) && len(list) < mostLibraries {
			list = append(list, l)
		}
	}
	return list, nil
}

// user is the path of what belongs to the person.
func (b *browser) user() string { return "/Users/" + url.PathEscape(b.snapshot().UserID) }

// listed is the path at which a query finds items as the person has them.
func (b *browser) listed(query url.Values) string {
	if !b.flat {
		return b.user() + "/Items"
	}
	query.Set("userId", b.snapshot().UserID)
	return "/Items"
}

func (b *browser) snapshot() Server {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.server
}

// mostIDs is how many ids stand in one request: addresses have bounds.
const mostIDs = 100

func (b *browser) Items(ctx context.Context, ids []string) ([]Item, error) {
	var items []Item
	err := b.byID(ctx, ids, url.Values{"Fields": {b.traits.fields}, "EnableUserData": {"true"}}, func(o payload.Object) {
		if item, ok := readItem(o, b.libraryOf(o)); ok {
			items = append(items, item)
		}
	})
	return items, err
}

// showFields are what must be named for the row of a series to have it.
const showFields = "ProviderIds,OriginalTitle,ProductionYear"

func (b *browser) Shows(ctx context.Context, ids []string) ([]Show, error) {
	var shows []Show
	err := b.byID(ctx, ids, url.Values{"Fields": {showFields}, "EnableUserData": {"false"}}, func(o payload.Object) {
		if strings.EqualFold(o.Line("Type"), "Series") {
			shows = append(shows, readShow(o))
		}
	})
	return shows, err
}

// byID asks for what has one of ids, and gives each with an id that was asked for to each.
func (b *browser) byID(ctx context.Context, ids []string, query url.Values, each func(payload.Object)) error {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	ids = slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return !validID(id) })
	query.Set("EnableImages", "false")
	query.Set("CollapseBoxSetItems", "false")
	query.Set("GroupItemsIntoCollections", "false")
	for some := range slices.Chunk(ids, mostIDs) {
		query.Set("Ids", strings.Join(some, ","))
		var answer payload.Object
		if err := b.wire.get(ctx, ask{path: b.listed(query), query: query, list: true}, &answer); err != nil {
			return err
		}
		if answer["Items"] == nil {
			return unreachable(notThat.With(b.traits.product))
		}
		for _, o := range answer.Objects("Items") {
			if slices.ContainsFunc(some, func(id string) bool { return sameID(id, o.Line("Id")) }) {
				each(o)
			}
		}
	}
	return nil
}

// libraryOf is the library of an item that was read before, or of whose show something was; empty when it is not known.
func (b *browser) libraryOf(o payload.Object) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if id, known := b.libraries[o.Line("SeriesId")]; known {
		return id
	}
	return b.libraries[o.Line("Id")]
}

func (b *browser) SignOut(ctx context.Context) error {
	if b.snapshot().UserID == "" { // the key of an administrator is not ours to end
		return nil
	}
	_, err := b.wire.do(ctx, ask{method: http.MethodPost, path: "/Sessions/Logout"})
	if errors.Is(err, ErrSignedOut) || errors.Is(err, errNotThere) { // some have no such path
		return nil
	}
	return err
}

func (b *browser) Quirks() Quirks { return b.snapshot().Quirks }

func (b *browser) Skew() time.Duration {
	_, skew := b.wire.facts()
	return skew
}

func (b *browser) Requests() int {
	requests, _ := b.wire.facts()
	return requests
}

// missing reports an item that the server does not know, or does not show to the person.
func (b *browser) missing(err error) error {
	return fmt.Errorf("%w: %w", ErrNoItem.With(b.traits.product), err)
}
