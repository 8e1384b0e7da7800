package db_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"watchmark/internal/platform/db"
)

// blocked keeps the writer busy until the function it gives is called, so that writes gather.
func blocked(t *testing.T, d *db.DB) (release func()) {
	t.Helper()
	inside, free := make(chan struct{}), make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- d.Write(context.Background(), func(context.Context, *sql.Tx) error {
			close(inside)
			<-free
			return nil
		})
	}()
	<-inside
	return func() {
		close(free)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func TestWritesThatGatherStandAndFallEachAlone(t *testing.T) {
	onBoth(t, func(t *testing.T, p place) {
		d := p.open(t)
		release := blocked(t, d)
		wrong := errors.New("changed my mind")
		var results [30]error
		var begun, all sync.WaitGroup
		for i := range results {
			begun.Add(1)
			all.Go(func() {
				defer func() {
					if p := recover(); p != nil {
						results[i] = fmt.Errorf("panic: %v", p)
					}
				}()
				begun.Done()
				results[i] = d.Write(context.Background(), func(ctx context.Context, tx *sql.Tx) error {
					if _, err := tx.ExecContext(ctx, addSetting, fmt.Sprint("key", i)); err != nil {
						return err
					}
					switch i % 3 {
					case 1:
						return wrong
					case 2:
						panic("a bug")
					}
					return nil
				})
			})
		}
		begun.Wait()
		release()
		all.Wait()
		for i, err := range results {
			switch i % 3 {
			case 0:
				if err != nil {
					t.Errorf("write %d: %v", i, err)
				}
			case 1:
				if !errors.Is(err, wrong) {
					t.Errorf("write %d: %v, want the function's own error", i, err)
				}
			case 2:
				if err == nil || !strings.Contains(err.Error(), "a bug") {
					t.Errorf("write %d: %v, want its panic in the goroutine that called", i, err)
				}
			}
		}
		if n := count(t, d, "settings"); n != 10 {
			t.Errorf("%d settings, want the 10 of the writes that went well", n)
		}
	})
}

func TestABrokenGroupHandsNobodyTheErrorOfAnother(t *testing.T) {
	d := open(t, t.TempDir())
	release := blocked(t, d)
	wrong := errors.New("about the rows of mira")
	var results [20]error
	var begun, all sync.WaitGroup
	for i := range results {
		begun.Add(1)
		all.Go(func() {
			begun.Done()
			results[i] = d.Write(context.Background(), func(ctx context.Context, tx *sql.Tx) error {
				if i != 10 {
					_, err := tx.ExecContext(ctx, addSetting, fmt.Sprint("key", i))
					return err
				}
				if _, err := tx.ExecContext(ctx, "ROLLBACK"); err != nil { // as SQLite does by itself when the disk is full
					return err
				}
				return wrong
			})
		})
	}
	begun.Wait()
	release()
	all.Wait()
	good := 0
	for i, err := range results {
		if errors.Is(err, wrong) != (i == 10) {
			t.Errorf("write %d: %v", i, err)
		}
		if err == nil {
			good++
		}
	}
	if n := count(t, d, "settings"); n != good {
		t.Errorf("%d settings, and %d writes that were told to be written", n, good)
	}
}

func TestWriteIsGivenUpBeforeItBeginsAndNotAfter(t *testing.T) {
	onBoth(t, func(t *testing.T, p place) {
		d := p.open(t)
		release := blocked(t, d)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := d.Write(ctx, func(context.Context, *sql.Tx) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("while another one runs: %v", err)
		}
		release()
		ctx, cancel = context.WithCancel(t.Context())
		err := d.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
			cancel()
			_, err := tx.ExecContext(ctx, addSetting, "a")
			return err
		})
		if err != nil || count(t, d, "settings") != 1 {
			t.Errorf("once begun: %v", err)
		}
	})
}

func TestWriteAfterCloseIsRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, p place) {
		d := p.open(t)
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if err := d.Write(t.Context(), func(context.Context, *sql.Tx) error { return nil }); !errors.Is(err, db.ErrClosed) {
			t.Errorf("error %v", err)
		}
	})
}

// querier asks the database.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// rowsOf counts the rows of a query.
func rowsOf(ctx context.Context, q querier, query string) (n int, err error) {
	rows, err := q.QueryContext(ctx, query)
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		n++
	}
	return n, rows.Err()
}

// A statement that is prepared once must serve two queries that are open at the same time.
func TestOneStatementServesNestedQueries(t *testing.T) {
	onBoth(t, func(t *testing.T, p place) {
		d := p.open(t)
		for i := range 5 {
			exec(t, d, addSetting, fmt.Sprint("key", i))
		}
		const all = `SELECT key FROM settings ORDER BY key`
		pairs := 0
		err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			outer, err := tx.QueryContext(ctx, all)
			if err != nil {
				return err
			}
			defer func() { _ = outer.Close() }()
			for outer.Next() {
				n, err := rowsOf(ctx, tx, all)
				if err != nil {
					return err
				}
				pairs += n
			}
			return outer.Err()
		})
		if err != nil || pairs != 25 {
			t.Errorf("%d pairs (%v), want 25", pairs, err)
		}
	})
}

func TestFailedStatementCanBeUsedAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, p place) {
		d := p.open(t)
		exec(t, d, addSetting, "a")
		for range 3 {
			err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, addSetting, "a")
				return err
			})
			if err == nil || !strings.Contains(strings.ToLower(err.Error()), "unique") {
				t.Fatalf("a second row with the same key: %v", err)
			}
		}
		exec(t, d, addSetting, "b")
	})
}

func TestFolderIsLockedForOne(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	unlock, err := db.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Lock(dir); !errors.Is(err, db.ErrLocked) {
		t.Errorf("a second time: %v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if unlock, err = db.Lock(dir); err != nil {
		t.Fatal(err)
	}
	_ = unlock()
}

func TestDamageInUseIsToldWithAdvice(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		for i := range 2000 { // far more than the schema takes: the damage is to be in the rows
			if _, err := tx.ExecContext(ctx, addSetting, strings.Repeat("x", 500)+fmt.Sprint(i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, db.FileName)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := len(content) / 2; at < len(content); at++ {
		content[at] = 0xAB
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	d = open(t, dir)
	_, err = rowsOf(t.Context(), d.Read(), `SELECT * FROM settings`)
	if !errors.Is(err, db.ErrDamaged) || !strings.Contains(err.Error(), "watchmark restore FILE") {
		t.Errorf("error %v", err)
	}
}
