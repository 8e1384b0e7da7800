package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
)

// groupMost is how many writes share one commit.
const groupMost = 64

// write is one call of DB.Write that waits for the writer.
type write struct {
	ctx    context.Context
	fn     func(ctx context.Context, tx *sql.Tx) error
	result chan error
}

// panicked is a panic of fn on its way to the goroutine that called Write.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string {
	return fmt.Sprintf("panic in a transaction: %v\n%s", p.value, p.stack)
}

func (f *folder) write(ctx context.Context, _ beside, fn func(ctx context.Context, tx *sql.Tx) error) error {
	w := &write{ctx: ctx, fn: fn, result: make(chan error, 1)}
	select {
	case f.writes <- w:
	case <-ctx.Done():
		return ctx.Err()
	case <-f.closing:
		return ErrClosed
	}
	err := <-w.result
	var p *panicked
	if errors.As(err, &p) {
		panic(p)
	}
	return err
}

// writeAll serves Write until the database is closed.
func (f *folder) writeAll() {
	defer close(f.closed)
	for {
		select {
		case first := <-f.writes:
			for group := f.gather(first); len(group) > 0; {
				group = f.writeGroup(group)
			}
		case <-f.closing:
			return
		}
	}
}

// gather takes what else waits, without waiting for more.
func (f *folder) gather(first *write) []*write {
	group := []*write{first}
	for len(group) < groupMost {
		select {
		case next := <-f.writes:
			group = append(group, next)
		default:
			return group
		}
	}
	return group
}

// writeGroup runs writes in one transaction, several behind a savepoint each, and answers them.
// When the transaction breaks under one of them, those before it are told so, and those after it are given back.
func (f *folder) writeGroup(group []*write) (rest []*write) {
	ctx := context.Background() // the transaction belongs to no single caller
	tx, err := f.writer.BeginTx(ctx, nil)
	if err != nil {
		answer(group, fmt.Errorf("begin transaction: %w", explained(err)))
		return nil
	}
	var written []*write
	for i, w := range group {
		err := w.ctx.Err()
		broken := false
		if err == nil {
			if len(group) == 1 {
				// Alone it needs no savepoint, which would cost a journal of its own.
				err = w.call(tx)
				broken = err != nil
			} else {
				err, broken = w.run(ctx, tx)
			}
		}
		switch {
		case broken:
			_ = tx.Rollback() // it fails where SQLite has rolled back by itself
			answer(written, shared(err))
			w.result <- err
			return group[i+1:]
		case err != nil:
			w.result <- err
		default:
			written = append(written, w)
		}
	}
	if err := tx.Commit(); err != nil {
		answer(written, fmt.Errorf("commit: %w", explained(err)))
		return nil
	}
	answer(written, nil)
	return nil
}

// shared is what a write is told whose transaction broke under the err of another one: never that error itself,
// which is about somebody else's rows.
func shared(err error) error {
	for _, ours := range []error{ErrStorage, ErrDamaged} {
		if errors.Is(explained(err), ours) {
			return fmt.Errorf("%w: %w", errShared, ours)
		}
	}
	return errShared
}

// run runs one write. broken is set when the whole transaction cannot go on: a full
// disk, for one, makes SQLite roll back all of it.
func (w *write) run(ctx context.Context, tx *sql.Tx) (err error, broken bool) { //nolint:revive // broken says more about err
	if _, err := tx.ExecContext(ctx, "SAVEPOINT write"); err != nil {
		return fmt.Errorf("set savepoint: %w", err), true
	}
	if err = w.call(tx); err != nil {
		if _, back := tx.ExecContext(ctx, "ROLLBACK TO write"); back != nil {
			return errors.Join(err, fmt.Errorf("roll back: %w", back)), true
		}
	}
	if _, release := tx.ExecContext(ctx, "RELEASE write"); release != nil {
		return errors.Join(err, fmt.Errorf("release savepoint: %w", release)), true
	}
	return err, false
}

// call calls fn and catches its panic.
func (w *write) call(tx *sql.Tx) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicked{value, debug.Stack()}
		}
	}()
	return w.fn(context.WithoutCancel(w.ctx), tx)
}

func answer(group []*write, err error) {
	for _, w := range group {
		w.result <- err
	}
}
