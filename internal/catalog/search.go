package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/watch"
)

const (
	maxHits    = 20  // the new search clamps to this (upstreams/catalog.md section 6)
	maxKeyword = 200 // runes; longer titles are sent cut
)

// Search looks for subjects by title, anonymously, best match first. It answers
// neighbours rather than nothing: compare every hit. Where the new search is
// switched off or refuses, the legacy one is asked; its hits have no aliases and
// no platform. It says "nothing found" and "not now" alike, so what it does not find
// where there is no new search is ErrUnreachable. An empty keyword gives no hits and no request.
func (c *Client) Search(ctx context.Context, q SearchQuery) ([]Subject, error) {
	q = c.complete(q)
	if q.Keyword == "" {
		return []Subject{}, nil
	}
	subjects, err := Session{c: c}.newSearch(ctx, q)
	if !errors.Is(err, ErrSearchOff) && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrRefused) {
		return subjects, err
	}
	subjects, met, legacyErr := c.legacySearch(ctx, q)
	if legacyErr == nil && !met && !errors.Is(err, ErrRefused) {
		return nil, &Error{Op: q.op(), Kind: ErrUnreachable, Err: ErrSearchOff}
	}
	for i := range subjects {
		subjects[i].Sparse = !errors.Is(err, ErrRefused)
	}
	return subjects, legacyErr
}

// AdultTitles is the adult subjects that a search by title finds in the name of the owner of the token: Client.Search finds none.
// There are none where the owner may not see them (upstreams/catalog.md section 7). The legacy search is not asked.
func (s Session) AdultTitles(ctx context.Context, q SearchQuery) ([]Subject, error) {
	q = s.c.complete(q)
	if q.Keyword == "" {
		return []Subject{}, nil
	}
	subjects, err := s.newSearch(ctx, q)
	if errors.Is(err, ErrSearchOff) {
		return nil, &Error{Op: q.op(), Kind: ErrUnreachable, Err: ErrSearchOff}
	}
	return slices.DeleteFunc(subjects, func(found Subject) bool { return !found.NSFW }), err
}

// complete is q as it can be asked: its keyword cut, and with what it leaves open.
func (c *Client) complete(q SearchQuery) SearchQuery {
	q.Keyword = strings.Join(strings.Fields(strings.ToValidUTF8(q.Keyword, "")), " ")
	if runes := []rune(q.Keyword); len(runes) > maxKeyword {
		q.Keyword = string(runes[:maxKeyword])
	}
	if q.Limit <= 0 || q.Limit > maxHits {
		q.Limit = maxHits
	}
	if len(q.Types) == 0 {
		q.Types = c.cfg.Load().Types
	}
	return q
}

func (q SearchQuery) op() reason.Reason { return opSearch.With(q.Keyword) }

func (s Session) newSearch(ctx context.Context, q SearchQuery) ([]Subject, error) {
	type filter struct {
		Type    []SubjectType `json:"type,omitempty"`
		AirDate []string      `json:"air_date,omitempty"`
	}
	body := struct {
		Keyword string `json:"keyword"`
		Sort    string `json:"sort"`
		Filter  filter `json:"filter"`
	}{q.Keyword, "match", filter{Type: q.Types}}
	if !q.From.IsZero() {
		body.Filter.AirDate = append(body.Filter.AirDate, ">="+q.From.Time().Format(time.DateOnly))
	}
	if !q.To.IsZero() {
		body.Filter.AirDate = append(body.Filter.AirDate, "<="+lastDay(q.To).Format(time.DateOnly))
	}
	k := call{
		op: q.op(), method: http.MethodPost, path: "/v0/search/subjects", body: body, token: s.token,
		query: url.Values{"limit": {strconv.Itoa(q.Limit)}},
	}
	var found page[apiSubject]
	off := false
	due := s.c.reading(&found, func() bool { return found.fits(0, func(s apiSubject) bool { return s.ID > 0 }) })
	_, err := s.c.send(ctx, k, func(op reason.Reason, resp *httpx.Response) error {
		if off = resp.Status == http.StatusOK && isText(resp); off {
			return nil // the catalog itself works
		}
		return due(op, resp)
	})
	switch {
	case err != nil:
		return nil, err
	case off:
		return nil, ErrSearchOff
	}
	subjects := make([]Subject, 0, len(found.Data.all))
	for _, hit := range found.Data.all {
		subjects = append(subjects, hit.subject())
	}
	return subjects, nil
}

// isText reports whether an answer is plain text, as that of a server whose search is switched off
// (upstreams/catalog.md section 6).
func isText(resp *httpx.Response) bool {
	return strings.HasPrefix(strings.ToLower(resp.Header.Get("Content-Type")), "text/plain") && !json.Valid(resp.Body)
}

// lastDay is the last day of what is known of d.
func lastDay(d watch.Date) time.Time {
	switch {
	case d.IsFull():
		return d.Time()
	case d.Month != 0:
		return d.Time().AddDate(0, 1, -1)
	}
	return d.Time().AddDate(1, 0, -1)
}

// legacyBreaks is what the legacy search reads as an operator (upstreams/catalog.md section 6).
var legacyBreaks = regexp.MustCompile(`\s-+`)

// legacySearch asks the old API, once a type because it takes only one. It has no
// date filter, so the bounds are applied here, by the same rule. met reports whether it found
// something, inside of the bounds or not.
func (c *Client) legacySearch(ctx context.Context, q SearchQuery) (subjects []Subject, met bool, err error) {
	keyword := strings.TrimSpace(legacyBreaks.ReplaceAllString(q.Keyword, " "))
	subjects = []Subject{}
	for _, kind := range q.Types {
		k := call{
			op: opSearchLegacy.With(q.Keyword), path: "/search/subject/" + url.PathEscape(keyword),
			query: url.Values{"type": {strconv.Itoa(int(kind))}, "responseGroup": {"medium"}, "max_results": {strconv.Itoa(q.Limit)}},
		}
		resp, err := c.send(ctx, k, c.legacyProblem)
		if err != nil {
			return nil, false, err
		}
		var hits struct {
			List []apiSubject `json:"list"`
		}
		if resp.Status != http.StatusOK || resp.JSON(&hits, maxValues) != nil {
			continue // nothing found
		}
		for _, s := range hits.List {
			if s.ID <= 0 {
				continue
			}
			met = true
			if found := s.subject(); len(subjects) < q.Limit && q.Covers(found.Date) {
				subjects = append(subjects, found)
			}
		}
	}
	return subjects, met, nil
}

// legacyProblem is the judge of the legacy search, which says "nothing found" with 404 or on a web
// page (upstreams/catalog.md section 6).
func (c *Client) legacyProblem(op reason.Reason, resp *httpx.Response) error {
	if resp.Status == http.StatusOK || resp.Status == http.StatusNotFound {
		return nil
	}
	return c.problem(op, resp)
}

// Covers reports whether a date lies between From and To; an unknown one never does
// when there is a bound.
func (q SearchQuery) Covers(d watch.Date) bool {
	if q.From.IsZero() && q.To.IsZero() {
		return true
	}
	return !d.IsZero() && (q.From.IsZero() || !d.Time().Before(q.From.Time())) && (q.To.IsZero() || !d.Time().After(lastDay(q.To)))
}
