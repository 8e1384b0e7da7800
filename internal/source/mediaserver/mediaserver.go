// Package mediaserver asks media servers: in the name of a person, by that person's login, or with the key of an
// administrator (upstreams/watchers.md). There is one file for each kind of server; what a kind cannot do it says with an
// error that callers can tell apart.
//
// It promises: a token is sent to the server that it was made for and to no other address; a password is sent once and kept
// nowhere; answers are bounded in bytes and rows; requests to one server go one after the other.
package mediaserver

import (
	"context"
	"time"

	"watchmark/internal/platform/secret"
	"watchmark/internal/source/payload"
	"watchmark/internal/watch"
)

// Kind is what a media server is.
type Kind string

// The kinds. The last three speak a part of Emby's language and are experimental.
const (
	Jellyfin Kind = "jellyfin"
	Emby     Kind = "emby"
	Plex     Kind = "plex"
	Ugreen   Kind = "ugreen"
	ZSpace   Kind = "zspace"
	FnOS     Kind = "fnos"
)

// Kinds are all kinds, in the order people see them.
var Kinds = []Kind{Jellyfin, Emby, Plex, Ugreen, ZSpace, FnOS}

// Experimental reports whether what is known of the kind was never confirmed on all of its versions.
func (k Kind) Experimental() bool { return k == Ugreen || k == ZSpace || k == FnOS }

// Server is where a media server is and what opens it.
type Server struct {
	Kind Kind
	// URL is the base address with scheme and port, and without a slash at its end.
	URL string
	// Pin is the SHA-256 of the certificate that a person confirmed, in hex; empty is the usual check.
	Pin string
	// ID is what the server calls itself; empty before it was asked. Another one at the address gets no token.
	ID string
	// Token opens it, for the person with UserID; an administrator's key has no UserID.
	Token  secret.Text
	UserID string
	// Account is, of Plex, the token of the person at plex.tv, which lists the server: the way to its addresses when it has moved. Those of
	// several logins of an account end together.
	Account secret.Text
	// Device is our name for the login: a sign-in with the same one ends the sign-in before (upstreams/watchers.md section 2.1).
	Device string
	// Quirks are what was learned of the server; a Client changes them while it works.
	Quirks Quirks
}

// Quirks are what a server cannot do, found out by asking it. Each is tried again after a change of its version.
type Quirks struct {
	// NoPush is set when no live connection can be made.
	NoPush bool `json:"no_push,omitempty"`
	// SlowDates is set when the server cannot sort by date in time: everything is read without order.
	SlowDates bool `json:"slow_dates,omitempty"`
	// NoFilter is set when the server answers unplayed items, too, where only played ones were asked for.
	NoFilter bool `json:"no_filter,omitempty"`
	// Version is that of the server when this was learned.
	Version string `json:"version,omitempty"`
	// Prefix is the path under which the API of an Emby or of its likeness stands: empty or /emby.
	Prefix string `json:"prefix,omitempty"`
}

// Found is what answers at an address.
type Found struct {
	Kind    Kind   `json:"kind" enum:"jellyfin,emby,plex,ugreen,zspace,fnos"`
	URL     string `json:"url" doc:"The address to use: with scheme and port, and where the server sends browsers on."`
	ID      string `json:"server_id"`
	Name    string `json:"server_name"`
	Version string `json:"version"`
	// Codes says that a person can sign in without a password here: by Quick Connect, or on the pages of Plex.
	Codes bool `json:"codes" doc:"Whether a person can sign in by a code, without a password."`
	// Pin is set when the certificate is signed by nobody who is trusted: a person must confirm it.
	Pin string `json:"certificate_sha256,omitempty" doc:"SHA-256 of a certificate that no trusted authority has signed; a person must confirm it."`
}

// Login is what a sign-in gives.
type Login struct {
	Server   Server // with Token, UserID and ID
	UserName string // as the server spells it
	Name     string // of the server
	Version  string
}

// Code is a sign-in that waits for a person to confirm it elsewhere.
type Code struct {
	// Text is what the person types in, in any app of the server. Where there is an Address, it is a page to be opened which has it already.
	Text      string
	Address   string
	ExpiresAt time.Time
	// Secret is what asks whether it was confirmed.
	Secret secret.Text
}

// Library is a library that a person may see.
type Library struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Kind is show, movie, mixed or other. Home videos, music and the like are other.
	Kind string `json:"kind" enum:"show,movie,mixed,other"`
}

// Usual reports whether the library is read unless a person says otherwise.
func (l Library) Usual() bool { return l.Kind != "other" }

// Item is an episode or a film, with what the server keeps of it for the person.
type Item struct {
	// Report is what the item is; its Event has ItemID, SeriesID, titles, numbers, ids and day, and nothing of who watched it when.
	Report payload.Report
	State  State
	// Year is that of the episode or film; 0 when it is not told.
	Year int
	// Library is the id of its library; empty when the server did not tell.
	Library string
	Length  time.Duration // 0 when it is not known
	// Begins says that State.At is when the play began, not when it ended (upstreams/watchers.md section 2.3).
	Begins bool
}

// State is what a server keeps of an item for a person.
type State struct {
	Played   bool
	At       time.Time     // of the last play, by the server's clock; zero when it is not told
	Count    int           // of plays; 0 when it is not told
	Position time.Duration // where the next play goes on
}

// Show is what a server tells of a series.
type Show struct {
	ID, Title, Original string
	Year                int
	IDs                 watch.IDs
}

// Client asks one server in the name of one person. It is used by one goroutine at a time. Errors are reasons: of
// them ErrSignedOut, ErrRefused, ErrUnreachable, ErrOther, ErrNoPush and ErrCannot are to be told apart.
type Client interface {
	// Who is the person and the server; it fails with ErrSignedOut when the token is dead. What the server does not tell is empty: of
	// Plex the names. Login.Server is to be kept: of Plex the address and the token may be others than before.
	Who(ctx context.Context) (Login, error)
	// Libraries are those that the person may see.
	Libraries(ctx context.Context) ([]Library, error)
	// Played gives what the person has played of the libraries, by pages with how many items are left as far as the server
	// tells: all of it when since is zero, else the newest first until everything is older than since. An item may come twice.
	Played(ctx context.Context, of []Library, since time.Time, page func(items []Item, left int) error) error
	// Count is how many items the person has played; ErrCannot when the server does not tell it cheaply.
	Count(ctx context.Context) (int, error)
	// All gives every episode and film of the libraries, played or not.
	All(ctx context.Context, of []Library, page func(items []Item, left int) error) error
	// Items are those with the ids that are episodes or films and that the person may see.
	Items(ctx context.Context, ids []string) ([]Item, error)
	// Shows are the series with the ids, without those that the person may not see.
	Shows(ctx context.Context, ids []string) ([]Show, error)
	// Series are all series of a library, by pages.
	Series(ctx context.Context, of Library, page func(shows []Show) error) error
	// Playing are the ids of what the person plays now; ErrCannot when the server does not tell.
	Playing(ctx context.Context) ([]string, error)
	// Listen has a live connection and tells the ids of items of which something changed for the person, until it is lost;
	// up is called once it stands. ErrNoPush when the server has no such connection.
	Listen(ctx context.Context, up func(), changed func(ids []string)) error
	// Write sets what the server keeps of an item for the person; At, Count and Position only where the server can. A zero At or
	// Count of what is played is up to the server.
	Write(ctx context.Context, id string, to State) error
	// SignOut ends the token.
	SignOut(ctx context.Context) error
	// Quirks are what was learned until now; Skew is by how much the clock of the server is ahead of ours, 0 below 5 minutes;
	// Requests is how many were sent.
	Quirks() Quirks
	Skew() time.Duration
	Requests() int
}
