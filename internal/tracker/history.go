package tracker

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"time"

	"watchmark/internal/httpx"
)

const (
	// pageSize is the most that the tracker gives (upstreams/tracker.md section 3).
	pageSize = 250
	// pagesMost bounds a history; the tracker keeps 100,000 plays of an account at most.
	pagesMost = 1000
	// patience is how often a request that fails in passing is sent again within one run.
	patience = 6
	// longestWait bounds one wait of a run, whatever the tracker asks for; a longer one ends the run.
	longestWait = 15 * time.Minute
)

// patiently asks the data host, and again after what passes: with the wait that the tracker
// asks for, else 30 s and doubling.
func (k *Keeper) patiently(ctx context.Context, op string, userID int64, path string) (*httpx.Response, error) {
	for try := 0; ; try++ {
		resp, err := k.get(ctx, op, userID, path)
		if err == nil || !passing(err) || try == patience {
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
		k.Log.InfoContext(ctx, "the tracker does not answer; it is asked again", "wait", wait, "error", err)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// activities are the stamps that say whether anything was watched.
func (k *Keeper) activities(ctx context.Context, userID int64) (episodes, movies string, err error) {
	const op = "ask the tracker what is new"
	type at struct {
		WatchedAt string `json:"watched_at"`
	}
	var said struct{ Episodes, Movies at }
	resp, err := k.patiently(ctx, op, userID, "/sync/last_activities")
	if err != nil {
		return "", "", err
	}
	if json.Unmarshal(resp.Body, &said) != nil {
		return "", "", &Error{Op: op, Kind: ErrRefused, Status: resp.Status, Detail: "the answer cannot be read"}
	}
	return said.Episodes.WatchedAt, said.Movies.WatchedAt, nil
}

// page is a piece of a history, newest first.
type page struct {
	items []json.RawMessage
	total int // plays of the whole window, as far as the tracker told
	last  bool
}

// pages reads the history of a user from a time on, a zero start being its beginning, and
// hands each page on. How many there are is in a header; what it lacks ends with an empty page.
// The window has no end: by a clock behind the tracker's it would hide the newest plays, and
// what is watched meanwhile only moves others to a later page, where they are known.
func (k *Keeper) pages(ctx context.Context, userID int64, start time.Time, fn func(page) error) error {
	const op = "read the history of the tracker"
	query := url.Values{"limit": {strconv.Itoa(pageSize)}, "extended": {"full"}}
	if !start.IsZero() {
		query.Set("start_at", start.UTC().Format(time.RFC3339))
	}
	for number := 1; ; number++ {
		query.Set("page", strconv.Itoa(number))
		resp, err := k.patiently(ctx, op, userID, "/sync/history?"+query.Encode())
		if err != nil {
			return err
		}
		var p page
		if err := json.Unmarshal(resp.Body, &p.items); err != nil {
			return &Error{Op: op, Kind: ErrRefused, Status: resp.Status, Detail: "the answer cannot be read"}
		}
		p.total, _ = strconv.Atoi(resp.Header.Get("X-Pagination-Item-Count")) // without it there is no total
		count, err := strconv.Atoi(resp.Header.Get("X-Pagination-Page-Count"))
		p.last = err == nil && number >= count || err != nil && len(p.items) == 0 || number >= pagesMost
		if err := fn(p); err != nil || p.last {
			return err
		}
	}
}
