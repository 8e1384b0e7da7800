package importer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"watchmark/internal/match/seriesid"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/source/payload"
	"watchmark/internal/watch"
)

// server is a media server as its API shows it.
type server interface {
	about(ctx context.Context) (About, error)
	// watched gives the series of a library, without their server, to shows, and what a user has watched of it to page, with
	// how many items of the library are left as far as the server tells.
	watched(ctx context.Context, u User, l Library, shows func([]seriesid.Series) error, page func(reports []payload.Report, left int) error) error
}

const (
	// pageSize is how many items are asked for at once.
	pageSize = 200
	// mostValues bounds the members and elements of an answer; a page of items has some 100 000 at most.
	mostValues = 400_000
	// mostPages bounds a list that never ends.
	mostPages = 5000
	// mostShows is how many shows a library may have.
	mostShows = 50000
)

// errNotThere is a 404.
var errNotThere = errors.New("the server does not know this path")

// client asks one server. Its errors are *reason.FieldError, or that of the context.
type client struct {
	http    *httpx.Client
	product string
	base    string
	header  http.Header
}

// open is the server at an address, which is checked for its form only.
func (k *Importer) open(a Address) (server, error) {
	base, err := checkURL(a.URL)
	if err != nil {
		return nil, err
	}
	token := strings.TrimSpace(a.Token.Reveal())
	if token == "" || len(token) > watch.MaxText || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' }) {
		return nil, reason.At("token", wrongToken)
	}
	k.Masker.Add(token)
	c := client{http: k.HTTP, base: base, header: http.Header{"Accept": {"application/json"}}}
	switch a.Source {
	case watch.Plex:
		c.product = "Plex"
		c.header.Set("X-Plex-Token", token)
		return &plexServer{client: c}, nil
	case watch.Emby:
		c.product = "Emby"
		c.header.Set("X-Emby-Token", token)
		return &browserServer{client: c, emby: true}, nil
	case watch.Jellyfin: // other headers are switched off by some servers
		c.product = "Jellyfin"
		c.header.Set("Authorization", `MediaBrowser Token="`+token+`"`)
		return &browserServer{client: c}, nil
	}
	return nil, reason.At("source", wrongSource)
}

// checkURL is the address of a server without a slash at its end.
func checkURL(text string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", reason.At("url", wrongAddress)
	case u.User != nil:
		return "", reason.At("url", withPassword)
	case u.RawQuery != "" || u.Fragment != "" || strings.Contains(u.Path, "/web"):
		return "", reason.At("url", withPath)
	}
	return strings.TrimRight(u.Scheme+"://"+u.Host+u.EscapedPath(), "/"), nil
}

// get asks for path, decodes the JSON of the answer into to, and wraps errNotThere for a 404.
func (c client) get(ctx context.Context, path string, query url.Values, to any) error {
	address := c.base + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	resp, err := c.http.Do(ctx, httpx.Request{URL: address, Header: c.header, StayOnAddress: true})
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return reason.At("url", noAnswer.With(err))
	}
	switch {
	case resp.Status == http.StatusUnauthorized || resp.Status == http.StatusForbidden:
		return reason.At("token", tokenRefused.With(c.product))
	case resp.Status >= 300 && resp.Status < 400:
		return reason.At("url", sentOn)
	case resp.Status == http.StatusNotFound:
		return fmt.Errorf("%w: %w", errNotThere, reason.At("url", notThere.With(c.product)))
	case resp.Status != http.StatusOK:
		return reason.At("url", fails.With(c.product, resp.Status))
	}
	if resp.JSON(to, mostValues) != nil {
		return reason.At("url", notThat.With(c.product))
	}
	return nil
}

// pages asks for a list page by page and tells how many elements are left. ask answers those
// from start on and how many there are in all, 0 when the server does not tell; an empty page
// is the end.
func pages(ask func(start int) (elements []payload.Object, total int, err error), each func(elements []payload.Object, left int) error) error {
	start := 0
	for range mostPages {
		elements, total, err := ask(start)
		if err != nil || len(elements) == 0 {
			return err
		}
		start += len(elements)
		if err := each(elements, max(total-start, 0)); err != nil {
			return err
		}
		if total > 0 && start >= total {
			return nil
		}
	}
	return reason.At("url", endless)
}
