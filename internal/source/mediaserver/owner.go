package mediaserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"watchmark/internal/source/payload"
)

// User is a user of a server.
type User struct {
	ID   string
	Name string // as webhooks of the server spell it
}

// Owner asks a server with the token of its owner, or with a key of its administrator, who may read what everybody has played.
type Owner interface {
	// Who is the server, and nobody.
	Who(ctx context.Context) (Login, error)
	// Libraries are all that there are.
	Libraries(ctx context.Context) ([]Library, error)
	Users(ctx context.Context) ([]User, error)
	// As reads what a user has played; it is not for writing, nor for listening.
	As(user string) Client
}

// Own is the server with the token of its owner or a key of its administrator. It sends nothing yet. The error is a
// *reason.FieldError for url, or ErrCannot.
func (d *Dialer) Own(s Server) (Owner, error) {
	if s.Kind == Plex {
		s.UserID = plexOwner
		c, err := d.openPlex(s)
		if err != nil {
			return nil, err
		}
		c.wire.verify = nil // nothing is known yet by which it could be told from another one
		return plexOwned{plexClient: c}, nil
	}
	if s.Kind.Experimental() || traits[s.Kind] == nil {
		return nil, ErrCannot
	}
	b, err := d.open(s)
	if err != nil {
		return nil, err
	}
	b.wire.verify = nil                                               // as above
	b.wire.header = b.traits.header("MediaBrowser", s.Token.Reveal()) // a key has no device
	return b, nil
}

// Users are all users. Emby has its list at one of two paths, by its version.
func (b *browser) Users(ctx context.Context) ([]User, error) {
	var answer payload.Object
	err := errNotThere
	if b.traits == &emby {
		err = b.wire.get(ctx, ask{path: "/Users/Query"}, &answer)
	}
	if errors.Is(err, errNotThere) {
		var list json.RawMessage
		err = b.wire.get(ctx, ask{path: "/Users"}, &list)
		answer = payload.Object{"Items": list}
	}
	var users []User
	for _, o := range answer.Objects("Items") {
		if u := (User{ID: o.Line("Id"), Name: o.Text("Name")}); validID(u.ID) && strings.TrimSpace(u.Name) != "" {
			users = append(users, u)
		}
	}
	return users, err
}

func (b *browser) As(user string) Client {
	s := b.snapshot()
	s.UserID = user
	return &browser{traits: b.traits, wire: b.wire, flat: b.traits == &jellyfin, server: s, libraries: map[string]string{}}
}

func (b *browser) Series(ctx context.Context, of Library, page func(shows []Show) error) error {
	query := url.Values{
		"Recursive": {"true"}, "IncludeItemTypes": {"Series"}, "Fields": {showFields}, "EnableUserData": {"false"},
		"SortBy": {"SortName"}, "SortOrder": {"Ascending"},
	}
	return b.read(ctx, list{path: b.listed(query), library: of, query: query, size: fullPage, counted: true, pause: true}, func(rows []payload.Object, _ int) (bool, error) {
		shows := make([]Show, 0, len(rows))
		for _, o := range rows {
			if strings.EqualFold(o.Line("Type"), "Series") {
				shows = append(shows, readShow(o))
			}
		}
		return false, page(shows)
	})
}
