package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"watchmark/internal/httpx"
	"watchmark/internal/watch"
)

const (
	maxHits    = 20  // the new search clamps to this (upstreams/catalog.md section 6)
	maxKeyword = 200 // runes; longer titles are sent cut
)

// errNotUsable is an answer of the new search that is no result and no outage.
var errNotUsable = errors.New("the new search gave no usable answer")

// Search looks for subjects by title, anonymously, best match first. It answers
// neighbours rather than nothing: compare every hit. Where the new search is
// switched off or refuses, the legacy one is asked; its hits have no aliases and
// no platform. An empty keyword gives no hits and no request.
func (c *Client) Search(ctx context.Context, q SearchQuery) ([]Subject, error) {
	q.Keyword = strings.Join(strings.Fields(strings.ToValidUTF8(q.Keyword, "")), " ")
	if runes := []rune(q.Keyword); len(runes) > maxKeyword {
		q.Keyword = string(runes[:maxKeyword])
	}
	if q.Keyword == "" {
		return []Subject{}, nil
	}
	if q.Limit <= 0 || q.Limit > maxHits {
		q.Limit = maxHits
	}
	if len(q.Types) == 0 {
		q.Types = c.cfg.Load().Types
	}
	subjects, err := c.newSearch(ctx, q)
	if errors.Is(err, errNotUsable) || errors.Is(err, ErrNotFound) || errors.Is(err, ErrRefused) {
		return c.legacySearch(ctx, q)
	}
	return subjects, err
}

func (q SearchQuery) op() string { return fmt.Sprintf("search %q", q.Keyword) }

func (c *Client) newSearch(ctx context.Context, q SearchQuery) ([]Subject, error) {
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
		op: q.op(), method: http.MethodPost, path: "/v0/search/subjects", body: body,
		query: url.Values{"limit": {strconv.Itoa(q.Limit)}},
	}
	resp, err := c.send(ctx, k, c.problem)
	if err != nil {
		return nil, err
	}
	var hits struct {
		Data json.RawMessage `json:"data"` // tells a missing list from null
	}
	var found []apiSubject
	// A server with search switched off says so in plain text with status 200.
	if json.Unmarshal(resp.Body, &hits) != nil || json.Unmarshal(hits.Data, &found) != nil {
		return nil, errNotUsable
	}
	subjects := make([]Subject, 0, len(found))
	for _, s := range found {
		subjects = append(subjects, s.subject())
	}
	return subjects, nil
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
// date filter, so the bounds are applied here, by the same rule.
func (c *Client) legacySearch(ctx context.Context, q SearchQuery) ([]Subject, error) {
	keyword := strings.TrimSpace(legacyBreaks.ReplaceAllString(q.Keyword, " "))
	subjects := []Subject{}
	for _, kind := range q.Types {
		k := call{
			op: q.op() + " (legacy)", path: "/search/subject/" + url.PathEscape(keyword),
			query: url.Values{"type": {strconv.Itoa(int(kind))}, "responseGroup": {"medium"}, "max_results": {strconv.Itoa(q.Limit)}},
		}
		resp, err := c.send(ctx, k, c.legacyProblem)
		if err != nil {
			return nil, err
		}
		var hits struct {
			List []apiSubject `json:"list"`
		}
		if json.Unmarshal(resp.Body, &hits) != nil {
			continue // nothing found
		}
		for _, s := range hits.List {
			if found := s.subject(); len(subjects) < q.Limit && q.Covers(found.Date) {
				subjects = append(subjects, found)
			}
		}
	}
	return subjects, nil
}

// legacyProblem is the judge of the legacy search, which says "nothing found" with 404 or on a web
// page (upstreams/catalog.md section 6).
func (c *Client) legacyProblem(op string, resp *httpx.Response) error {
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
