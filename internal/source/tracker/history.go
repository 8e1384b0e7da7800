package tracker

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
)

const (
	// pageSize is the most that the tracker gives (upstreams/tracker.md section 3).
	pageSize = 250
	// pagesMost bounds a history; the tracker keeps 100,000 plays of an account at most.
	pagesMost = 1000
	// mostValues bounds the members and elements of an answer; a page of the history has some 60 000.
	mostValues = 400_000
	// patience is how often a request that fails in passing is sent again within one run.
	patience = 6
	// longestWait bounds one wait of a run, whatever the tracker asks for; a longer one ends the run.
	longestWait = 15 * time.Minute
)

// patiently asks the data host, and again after errors that waiting helps against: with the wait
// that the tracker asks for, else 30 s and doubling.
func (k *Service) patiently(ctx context.Context, op *reason.Kind, userID int64, path string, helps func(error) bool) (*httpx.Response, error) {
	for try := 0; ; try++ {
		resp, err := k.get(ctx, op, userID, path)
		if err == nil || !helps(err) || try == patience {
			return resp, err
		}
		wait := overload << try
		var said *Error
		if errors.As(err, &said) {
			wait = max(wait, said.RetryAfter)
			if errors.Is(err, ErrBusy) {
				wait = said.RetryAfter
			}
		}
		if wait > longestWait {
			return nil, err
		}
		k.Log.InfoContext(ctx, "Trakt does not answer; it is asked again", "wait", wait, "error", err)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// activities are the stamps that say whether anything was watched.
func (k *Service) activities(ctx context.Context, userID int64) (episodes, movies string, err error) {
	type at struct {
		WatchedAt string `json:"watched_at"`
	}
	var said struct{ Episodes, Movies at }
	resp, err := k.patiently(ctx, opAskNew, userID, "/sync/last_activities", passing)
	if err != nil {
		return "", "", err
	}
	if resp.JSON(&said, mostValues) != nil {
		return "", "", &Error{Op: opAskNew, Kind: ErrRefused, Status: resp.Status, Detail: unreadable.With()}
	}
	return said.Episodes.WatchedAt, said.Movies.WatchedAt, nil
}

// page is a piece of a history, newest first.
type page struct {
	items []json.RawMessage
	total int // plays of the whole history; 0 when the tracker did not tell
	last  bool
}

// pages reads the history of a user from the newest play on, and hands each page on until fn has
// enough. How many there are is in a header; what lacks it ends with an empty page. No window is
// asked for: by it the tracker would count only the plays inside, and whether its bounds belong to it is
// not known. What is watched meanwhile only moves others to a later page, where they are known.
func (k *Service) pages(ctx context.Context, userID int64, fn func(page) (enough bool, err error)) error {
	total := 0
	for number := 1; number <= pagesMost; number++ {
		query := url.Values{"page": {strconv.Itoa(number)}, "limit": {strconv.Itoa(pageSize)}, "extended": {"full"}}
		resp, err := k.patiently(ctx, opReadHistory, userID, "/sync/history?"+query.Encode(), passing)
		if err != nil {
			return err
		}
		var p page
		if err := resp.JSON(&p.items, mostValues); err != nil || p.items == nil {
			return &Error{Op: opReadHistory, Kind: ErrRefused, Status: resp.Status, Detail: unreadable.With()}
		}
		if p.total, err = strconv.Atoi(resp.Header.Get("X-Pagination-Item-Count")); err != nil {
			p.total = total
		}
		if p.total < total {
			return errMoved
		}
		total = p.total
		count, err := strconv.Atoi(resp.Header.Get("X-Pagination-Page-Count"))
		p.last = err == nil && number >= count || err != nil && len(p.items) == 0
		if enough, err := fn(p); err != nil || enough || p.last {
			return err
		}
	}
	return &Error{Op: opReadHistory, Kind: ErrRefused, Detail: tooManyPages.With()}
}
