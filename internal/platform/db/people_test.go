package db_test

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"watchmark/internal/platform/db"
)

// until are the migrations up to a number.
func until(t *testing.T, last string) fstest.MapFS {
	t.Helper()
	all, err := fs.Sub(db.Migrations, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	some := fstest.MapFS{}
	err = fs.WalkDir(all, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Base(name)[:5] > last {
			return err
		}
		text, err := fs.ReadFile(all, name)
		some[name] = &fstest.MapFile{Data: text}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return some
}

// What one administrator had is the owner's after the upgrade: name, password, second factor, sessions and API keys by their ids.
func TestTheAdministratorBecomesTheOwner(t *testing.T) {
	onBoth(t, func(t *testing.T, p place) {
		with, at := db.OpenWith, p.folder
		if p.address != "" {
			with, at = db.OpenServerWith, p.address
		}
		d, err := with(t.Context(), at, until(t, "00052"))
		if err != nil {
			t.Fatal(err)
		}
		write := func(d *db.DB, statements ...string) error {
			return d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
				for _, statement := range statements {
					if _, err := tx.ExecContext(ctx, statement); err != nil {
						return fmt.Errorf("%s: %w", statement, err)
					}
				}
				return nil
			})
		}
		err = write(d, `INSERT INTO admins (id, name, password_hash, created_at, updated_at) VALUES (3, 'Mira', 'hash', 5, 6)`,
			`INSERT INTO sessions (token_hash, admin_id, created_at, seen_at, expires_at) VALUES ('token', 3, 1, 2, 3)`,
			`INSERT INTO second_factors (admin_id, secret, last_step, created_at) VALUES (3, 'sealed', 7, 8)`,
			`INSERT INTO recovery_codes (admin_id, code_hash) VALUES (3, 'code')`,
			`INSERT INTO api_keys (id, name, key_hash, hint, created_at, used_at) VALUES (9, 'script', 'key', 'abcd', 1, 2)`,
			`INSERT INTO accounts (id, username, auth_method, enabled, preferred, private, complete_series, complete_films, created_at, updated_at) VALUES (4, 'mira', 'token', 1, 1, 0, 0, 1, 0, 0)`)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		d = p.open(t)
		for query, want := range map[string]string{
			`SELECT id || ' ' || name || ' ' || role || ' ' || password_hash || ' ' || created_at || ' ' || invitation_hash FROM people`:     "3 Mira owner hash 5 ",
			`SELECT token_hash || ' ' || person_id || ' ' || expires_at FROM sessions`:                                                       "token 3 3",
			`SELECT person_id || ' ' || secret || ' ' || last_step FROM second_factors`:                                                      "3 sealed 7",
			`SELECT person_id || ' ' || code_hash FROM recovery_codes`:                                                                       "3 code",
			`SELECT id || ' ' || name || ' ' || key_hash || ' ' || hint || ' ' || used_at || ' ' || COALESCE(person_id, 0) FROM person_keys`: "9 script key abcd 2 0",
			`SELECT id || ' ' || COALESCE(person_id, 0) FROM accounts`:                                                                       "4 0",
		} {
			if got := strings.Join(lines(t, d.Read(), query), "\n"); got != want {
				t.Errorf("%s: %q, want %q", query, got, want)
			}
		}
		// New rows take ids after those of before, and what is the owner's alone is held by the database, too.
		if err := write(d, `INSERT INTO person_keys (person_id, name, key_hash, hint, created_at) VALUES (3, 'script', 'other', 'abcd', 1)`); err != nil {
			t.Error(err)
		}
		for _, refused := range []string{
			`INSERT INTO person_keys (name, key_hash, hint, created_at) VALUES ('script', 'third', 'abcd', 1)`,
			`INSERT INTO people (name, role, password_hash, created_at, updated_at) VALUES ('alex', 'owner', '', 0, 0)`,
			`INSERT INTO people (name, role, password_hash, created_at, updated_at) VALUES ('MIRA', 'person', '', 0, 0)`,
			`INSERT INTO accounts (person_id, username, auth_method, enabled, preferred, private, complete_series, complete_films, created_at, updated_at) VALUES (77, 'x', 'token', 1, 1, 0, 0, 1, 0, 0)`,
		} {
			if err := write(d, refused); err == nil {
				t.Errorf("%s was written", refused)
			}
		}
		if floor, err := d.SchemaFloor(t.Context()); err != nil || floor < 53 {
			t.Errorf("the floor is %d, %v: a program that knows no person may run", floor, err)
		}
	})
}
