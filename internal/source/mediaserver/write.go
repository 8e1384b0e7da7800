package mediaserver

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/source/payload"
)

// Write sets what is kept of an item as it is given where the server has a path for that: no play is counted, and webhooks do not take it
// for one (upstreams/watchers.md section 2.7). Where it has none, or refuses it to this user, the item is marked, which ends its position.
func (b *browser) Write(ctx context.Context, id string, to State) error {
	if !validID(id) {
		return b.missing(errNotThere)
	}
	nothing := to == State{}
	if b.traits.exact == nil || nothing || b.marks {
		return b.mark(ctx, id, to)
	}
	done, err := b.writeExact(ctx, id, to)
	if done || err != nil {
		return err
	}
	err = b.mark(ctx, id, to)
	b.marks = err == nil
	return err
}

// writeExact reports whether the server has kept the state as it was given.
func (b *browser) writeExact(ctx context.Context, id string, to State) (done bool, err error) {
	state := map[string]any{"Played": to.Played, "PlayCount": to.Count, "PlaybackPositionTicks": to.Position.Nanoseconds() / 100}
	if to.Played && to.Count == 0 {
		state["PlayCount"] = 1
	}
	if !to.At.IsZero() {
		state["LastPlayedDate"] = to.At.UTC().Format(time.RFC3339)
	}
	path, query := b.traits.exact(b.snapshot().UserID, id)
	resp, err := b.wire.do(ctx, ask{method: http.MethodPost, path: path, query: query, body: state})
	if err != nil {
		if resp != nil && otherWay(resp) {
			return false, nil
		}
		return false, err
	}
	var answer payload.Object
	if resp.JSON(&answer, mostValues) == nil {
		if played, told := answer.Bool("Played"); told && played != to.Played {
			return false, nil
		}
	}
	return !isPage(resp), nil
}

// otherWay reports an answer after which another path may work: this one is not there, or not for this user.
func otherWay(resp *httpx.Response) bool {
	switch resp.Status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusForbidden, http.StatusBadRequest, http.StatusInternalServerError:
		return true
	}
	return false
}

// mark marks an item as played or as not played.
func (b *browser) mark(ctx context.Context, id string, to State) error {
	a := ask{method: http.MethodDelete, path: b.user() + "/PlayedItems/" + url.PathEscape(id)}
	if to.Played {
		a.method = http.MethodPost
		if !to.At.IsZero() {
			a.query = url.Values{b.traits.dated: {to.At.UTC().Format(b.traits.layout)}}
		}
	}
	resp, err := b.wire.do(ctx, a)
	switch {
	case errors.Is(err, errNotThere) && b.traits.exact == nil:
		return ErrCannot // more likely the path is not known than the item
	case errors.Is(err, errNotThere):
		return b.missing(err)
	case err != nil:
		return err
	case isPage(resp):
		return ErrCannot
	}
	return nil
}
