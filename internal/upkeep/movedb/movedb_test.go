package movedb_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"watchmark/internal/platform/db"
	"watchmark/internal/testkit/postgrestest"
	"watchmark/internal/upkeep/movedb"
)

// folder is a new database in a folder.
func folder(t *testing.T) *db.DB {
	t.Helper()
	return closed(t)(db.Open(t.Context(), t.TempDir()))
}

// server is a new database in PostgreSQL.
func server(t *testing.T) *db.DB {
	t.Helper()
	return closed(t)(db.OpenServer(t.Context(), postgrestest.Schema(t, postgrestest.Shared(t).URL())))
}

func closed(t *testing.T) func(*db.DB, error) *db.DB {
	t.Helper()
	return func(d *db.DB, err error) *db.DB {
		t.Helper()
		must(t, err)
		t.Cleanup(func() { _ = d.Close() })
		return d
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func exec(t *testing.T, d *db.DB, statements ...string) {
	t.Helper()
	must(t, d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		for _, s := range statements {
			if _, err := tx.ExecContext(ctx, s); err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}
		return nil
	}))
}

func number(t *testing.T, d *db.DB, query string) (n int64) {
	t.Helper()
	must(t, d.Read().QueryRowContext(t.Context(), query).Scan(&n))
	return n
}

// house fills a database: a person's records of several steps, with what hangs on them, and what only one engine takes as it is.
func house(t *testing.T, d *db.DB, records int) {
	t.Helper()
	exec(t, d, `INSERT INTO accounts (id, username, auth_method, enabled, preferred, private, complete_series, complete_films, created_at, updated_at)
		VALUES (7, 'mira', 'token', 1, 1, 0, 1, 0, 5, 9007199254740993)`,
		`INSERT INTO account_media_users (account_id, name) VALUES (7, 'Mira'), (7, 'mira'), (7, '米拉')`,
		`INSERT INTO facts (name, value) VALUES ('key_id', 'abcd')`)
	must(t, d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		for i := 1; i <= records; i++ {
			status := []string{"success", "failed", "processing"}[i%3]
			_, err := tx.ExecContext(ctx, `INSERT INTO records (id, status, is_test, source, action, media_type, user_name, title, original_title, season, episode, release_date,
				account_id, confidence, event, created_at, updated_at) VALUES (?, ?, 0, 'plex', 'finished', 'episode', 'mira', ?, '', 1, ?, '', 7, ?, '{}', ?, ?)`,
				3*i, status, fmt.Sprintf("灯塔守望者 %d", i), float64(i)+0.1, 1/float64(i), 1_700_000_000_000+int64(i), 1_700_000_000_000)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO traces (record_id, trace) VALUES (?, ?)`, 3*i, strings.Repeat("x", i%100)); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO day_counts (start, stop, marked) VALUES (1699999999999, 1700000100000, 99)`)
		return err
	}))
}

func quiet(movedb.Progress) {}

func nothing(context.Context, *sql.Tx) error { return nil }

// fill is Fill with what is expected of it.
func fill(t *testing.T, from, to *db.DB) []movedb.Line {
	t.Helper()
	lines, err := movedb.Fill(t.Context(), from, to, nil, quiet)
	must(t, err)
	return lines
}

// same holds two databases against each other.
func same(t *testing.T, a, b *db.DB) {
	t.Helper()
	x, err := movedb.Look(t.Context(), a, quiet)
	must(t, err)
	y, err := movedb.Look(t.Context(), b, quiet)
	must(t, err)
	if !slices.Equal(x, y) {
		t.Errorf("the databases differ:\n%v\n%v", x, y)
	}
}

// ways are those that a database moves.
var ways = map[string]func(t *testing.T) (from, to *db.DB){
	"to a server":   func(t *testing.T) (*db.DB, *db.DB) { return folder(t), server(t) },
	"from a server": func(t *testing.T) (*db.DB, *db.DB) { return server(t), folder(t) },
}

func TestEverythingMoves(t *testing.T) {
	t.Parallel()
	for name, pair := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to := pair(t)
			house(t, from, 12_345)
			lines, err := movedb.Fill(t.Context(), from, to, map[string]string{"color": "green"}, quiet)
			must(t, err)
			if err := movedb.Refusal(t.Context(), to); err == nil {
				t.Error("a service may start before the end")
			}
			must(t, movedb.Retire(t.Context(), from, lines, "elsewhere", quiet))
			if err := movedb.Refusal(t.Context(), from); err == nil || !strings.Contains(err.Error(), "elsewhere") {
				t.Errorf("a service that starts on what was given up is told %v", err)
			}
			freed := false
			must(t, movedb.Release(t.Context(), to, func(context.Context, *sql.Tx) error { freed = true; return nil }))
			must(t, movedb.Refusal(t.Context(), to))
			same(t, from, to)
			if n := number(t, to, `SELECT COUNT(*) FROM facts WHERE name = 'key_id' AND value = 'abcd' OR name = 'color' AND value = 'green'`); !freed || n != 2 {
				t.Errorf("%d facts, given back: %v", n, freed)
			}
			if n := number(t, to, `SELECT COUNT(*) FROM facts WHERE name LIKE 'move%'`); n != 0 {
				t.Error("it knows of the move")
			}
			// The ids go on, and triggers work again.
			exec(t, to, `INSERT INTO records (status, is_test, source, action, media_type, user_name, title, original_title, release_date, event, created_at, updated_at)
				VALUES ('success', 0, 'plex', 'finished', 'episode', 'mira', 'x', '', '', '{}', 1700000000005, 0)`)
			if id := number(t, to, `SELECT MAX(id) FROM records`); id != 3*12_345+1 {
				t.Errorf("the next record is %d", id)
			}
			if n := number(t, to, `SELECT COUNT(*) FROM day_counts`); n != 0 {
				t.Error("a record that was marked leaves the count of its day as it was")
			}
		})
	}
}

// TestAnInterruptedMoveGoesOn: it is cut off within each step, and goes on without what it has.
func TestAnInterruptedMoveGoesOn(t *testing.T) {
	t.Parallel()
	for name, pair := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to := pair(t)
			house(t, from, 12_345)
			again := 0
			for cut := 2; ; cut += 9 {
				ctx, cancel := context.WithCancel(t.Context())
				told := 0
				_, err := movedb.Fill(ctx, from, to, nil, func(movedb.Progress) {
					if told++; told == cut {
						cancel()
					}
				})
				cancel()
				if err == nil {
					break
				}
				if !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				if movedb.Refusal(t.Context(), to) == nil {
					t.Fatal("a service may start on the half of it")
				}
				again++
			}
			if again < 5 {
				t.Errorf("it was cut off %d times only", again)
			}
			same(t, from, to)
		})
	}
}

func TestWhatChangedIsCopiedAnew(t *testing.T) {
	t.Parallel()
	for name, pair := range ways {
		for change, statement := range map[string]string{
			"a row copied":  `UPDATE records SET title = 'other' WHERE id = 3`,
			"a row less":    `DELETE FROM traces WHERE record_id = 3`,
			"a row between": `INSERT INTO traces (record_id, trace) SELECT 6, '' WHERE NOT EXISTS (SELECT 1 FROM traces WHERE record_id = 6)`,
		} {
			t.Run(name+", "+change, func(t *testing.T) {
				t.Parallel()
				from, to := pair(t)
				house(t, from, 50)
				exec(t, from, `DELETE FROM traces WHERE record_id = 6`)
				lines := fill(t, from, to)
				exec(t, from, statement)
				if err := movedb.Retire(t.Context(), from, lines, "", quiet); !errors.Is(err, movedb.ErrChanged) {
					t.Errorf("giving it up: %v", err)
				}
				must(t, movedb.Retire(t.Context(), from, fill(t, from, to), "", quiet))
				same(t, from, to)
				must(t, movedb.Refusal(t.Context(), from))
			})
		}
	}
}

func TestATargetInUseIsRefused(t *testing.T) {
	t.Parallel()
	for name, pair := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to := pair(t)
			house(t, from, 5)
			exec(t, to, `INSERT INTO settings (key, value, updated_at) VALUES ('a', 'b', 1)`)
			if _, err := movedb.Fill(t.Context(), from, to, nil, quiet); !errors.Is(err, movedb.ErrInUse) {
				t.Errorf("got %v", err)
			}
			if n := number(t, to, `SELECT COUNT(*) FROM settings`); n != 1 {
				t.Error("what was there is gone")
			}
			must(t, movedb.Refusal(t.Context(), to))
			if err := movedb.Release(t.Context(), to, nothing); err == nil {
				t.Error("it counts as filled")
			}
		})
	}
}

// TestTextsAreCleaned: what a folder has from before texts were cleaned.
func TestTextsAreCleaned(t *testing.T) {
	t.Parallel()
	from := folder(t)
	to := server(t)
	exec(t, from, `INSERT INTO settings (key, value, updated_at) VALUES ('a', CAST(x'4100C3' AS TEXT), 1), ('b', 'fine', 2)`)
	lines := fill(t, from, to)
	i := slices.IndexFunc(lines, func(l movedb.Line) bool { return l.Table == "settings" })
	var value string
	must(t, to.Read().QueryRowContext(t.Context(), `SELECT value FROM settings WHERE key = 'a'`).Scan(&value))
	if lines[i].Cleaned != 1 || value != "A\uFFFD\uFFFD" {
		t.Errorf("%q, %v", value, lines[i])
	}
	must(t, movedb.Retire(t.Context(), from, lines, "", quiet))
}
