package engine_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/engine"
	"watchmark/internal/platform/db"
	"watchmark/internal/record"
)

// unsureLists do not know for some times whether a title is an adult one, as when the token of an account cannot be read.
type unsureLists struct {
	engine.Lists
	times atomic.Int32
}

func (l *unsureLists) IsAdult(context.Context, account.Account, catalog.SubjectID) (bool, error) {
	if l.times.Add(-1) >= 0 {
		return false, &catalog.Error{Kind: catalog.ErrUnreachable, Err: fmt.Errorf("read the token: %w", db.ErrStorage)}
	}
	return false, nil
}

// What the database failed for is done again in its order, and does not wait in the queue for Bangumi.
func TestWhetherATitleIsAnAdultOneIsAskedAgainWhenTheDatabaseWasAway(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.set(func(o *engine.Options) { o.Adult = account.SkipAdult })
	lists := &unsureLists{Lists: h.Lists}
	lists.times.Store(1)
	h.Lists = lists
	h.run(t)
	id := h.seen(t, episode("a", "mira", 1))[0]
	if r := h.settled(t, id); r.Status != record.Success {
		t.Errorf("the record is %s: %s", r.Status, r.Message.Text)
	}
}
