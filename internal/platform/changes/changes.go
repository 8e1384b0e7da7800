// Package changes has every replica keep up with what another one changed: what a replica keeps in memory of the database has a
// version there, which is raised in the transaction that changes it.
//
// What it promises: when Write returns, this replica works by the change; when Refresh returns, it works by every change that was
// committed before the call; every other replica does so within a second or so.
package changes

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"watchmark/internal/platform/db"
)

// Raise notes within tx that what is named changes. Call Tell after the commit.
func Raise(ctx context.Context, tx *sql.Tx, name string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO versions (name, version) VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET version = versions.version + 1`, name)
	if err != nil {
		return fmt.Errorf("raise the version of %s: %w", name, err)
	}
	return nil
}

// Board knows what this replica keeps in memory, and how to read it anew. It may be used by several goroutines.
type Board struct {
	db *db.DB

	mu   sync.Mutex // held while versions are compared and what is older is read
	kept []*kept
}

// kept is something that is kept in memory.
type kept struct {
	name    string
	version int64 // at least what it has; 0 is what was there before anything changed
	reload  func(context.Context) error
}

// New is a board on which nothing stands.
func New(d *db.DB) *Board { return &Board{db: d} }

// On has reload read anew what is named, once for all changes since it was last called. It must neither call the board nor
// write; after an error it is called again.
func (b *Board) On(name string, reload func(ctx context.Context) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept = append(b.kept, &kept{name: name, reload: reload})
}

// Refresh reads anew what was changed since it was read.
func (b *Board) Refresh(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	versions := map[string]int64{}
	err := db.Each(ctx, b.db.Read(), "read the versions of what is kept in memory", func(row db.Row) error {
		var name string
		var version int64
		err := row.Scan(&name, &version)
		versions[name] = version
		return err
	}, `SELECT name, version FROM versions`)
	if err != nil {
		return err
	}
	var problems []error
	for _, k := range b.kept {
		if k.version == versions[k.name] { // it differs downwards in a database that was restored
			continue
		}
		if err := k.reload(ctx); err != nil {
			problems = append(problems, fmt.Errorf("read %s anew: %w", k.name, err))
			continue
		}
		k.version = versions[k.name]
	}
	return errors.Join(problems...)
}

// Write runs fn in an exclusive transaction that changes what is named, and has every replica read it anew.
func (b *Board) Write(ctx context.Context, name string, fn func(ctx context.Context, tx *sql.Tx) error) error {
	err := b.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := fn(ctx, tx); err != nil {
			return err
		}
		return Raise(ctx, tx, name)
	})
	if err != nil {
		return err
	}
	return b.Tell(ctx)
}

// Tell has every replica read anew what was raised. It is for after the commit, which its error does not undo.
func (b *Board) Tell(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	err := b.Refresh(ctx)
	if !b.db.Alone() {
		_ = b.db.Notify(ctx, topic, "") // whom it does not reach looks by itself
	}
	return err
}

// topic is what replicas hear when something was raised.
const topic = "changes"

// pace is how often it is looked for what nobody told of.
const pace = time.Second

// Run reads anew what other replicas change, until ctx ends. Where there are none it has nothing to do.
func (b *Board) Run(ctx context.Context, log *slog.Logger) {
	if b.db.Alone() {
		return
	}
	told := make(chan struct{}, 1)
	var listening sync.WaitGroup
	defer listening.Wait()
	listening.Go(func() {
		b.db.Listen(ctx, func(heard, _ string) {
			if heard != topic && heard != "" {
				return
			}
			select {
			case told <- struct{}{}:
			default: // it looks anyway
			}
		})
	})
	failing := false
	for look := time.NewTicker(pace); ctx.Err() == nil; {
		err := b.Refresh(ctx)
		if err != nil && ctx.Err() == nil && !failing {
			log.ErrorContext(ctx, "cannot read what other replicas changed, trying again each second", "error", err)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
		case <-told:
		case <-look.C:
		}
	}
}
