package changes_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"watchmark/internal/platform/changes"
	"watchmark/internal/platform/db"
	"watchmark/internal/testkit/dbtest"
)

// copied is the value of a setting as a replica has it in memory.
type copied struct {
	board *changes.Board
	value string
	reads int
	fails error
}

func follow(t *testing.T, d *db.DB) *copied {
	t.Helper()
	c := &copied{board: changes.New(d)}
	c.board.On("settings", func(ctx context.Context) error {
		c.reads++
		if c.fails != nil {
			return c.fails
		}
		return d.Read().QueryRowContext(ctx, `SELECT value FROM settings WHERE key = 'a'`).Scan(&c.value)
	})
	return c
}

func put(value string) func(ctx context.Context, tx *sql.Tx) error {
	return func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO settings (key, value, updated_at) VALUES ('a', ?, 0) ON CONFLICT (key) DO UPDATE SET value = excluded.value`, value)
		return err
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAChangeIsReadOnceByEverybody(t *testing.T) {
	d := dbtest.Open(t)
	mine, other := follow(t, d), follow(t, d)
	must(t, mine.board.Refresh(t.Context()))
	if mine.reads != 0 {
		t.Error("nothing has changed, and was read anew")
	}
	must(t, mine.board.Write(t.Context(), "settings", put("one")))
	if mine.value != "one" {
		t.Errorf("who changed it has %q", mine.value)
	}
	must(t, mine.board.Write(t.Context(), "settings", put("two")))
	must(t, mine.board.Write(t.Context(), "rules", put("two")))
	for range 2 {
		must(t, other.board.Refresh(t.Context()))
	}
	if other.value != "two" || other.reads != 1 || mine.reads != 2 {
		t.Errorf("the other has %q after %d reads, who changed it after %d", other.value, other.reads, mine.reads)
	}
}

func TestAChangeThatFailsIsNone(t *testing.T) {
	d := dbtest.Open(t)
	mine := follow(t, d)
	wrong := errors.New("changed my mind")
	err := mine.board.Write(t.Context(), "settings", func(ctx context.Context, tx *sql.Tx) error {
		return errors.Join(put("one")(ctx, tx), wrong)
	})
	if !errors.Is(err, wrong) {
		t.Fatal(err)
	}
	must(t, mine.board.Refresh(t.Context()))
	if mine.reads != 0 {
		t.Error("it was read anew")
	}
}

func TestWhatCouldNotBeReadIsReadAgain(t *testing.T) {
	d := dbtest.Open(t)
	mine := follow(t, d)
	mine.fails = errors.New("the disk is away")
	if err := mine.board.Write(t.Context(), "settings", put("one")); !errors.Is(err, mine.fails) {
		t.Fatal(err)
	}
	mine.fails = nil
	must(t, mine.board.Refresh(t.Context()))
	if mine.value != "one" {
		t.Errorf("it has %q", mine.value)
	}
}
