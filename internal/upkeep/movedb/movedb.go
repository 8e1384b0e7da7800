// Package movedb copies a database to one of the other engine, table by table in the order of their foreign keys, and holds the two
// against each other: how many rows each table has, and a digest of them.
//
// A database that is being filled says so in its facts, and how far it is, with each step. So an interrupted move goes on where it was, as long
// as the source still has what was copied, and nobody takes the half of a database for the whole: a service does not start on it (Refusal).
// Whoever moves fills the target (Fill), gives the source up (Retire) and only then lets the target be used (Release), and may begin
// again after any of these.
package movedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"watchmark/internal/platform/db"
)

// stepRows is how many rows are stored at once.
const stepRows = 5000

// Line is what a move has of a table.
type Line struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
	// Digest is the SHA-256 of its rows.
	Digest string `json:"digest"`
	// Cleaned are texts whose NUL or broken UTF-8 was replaced by U+FFFD, which is all that PostgreSQL stores.
	Cleaned int64 `json:"cleaned"`
}

func (l Line) same(as Line) bool {
	return l.Table == as.Table && l.Rows == as.Rows && l.Digest == as.Digest
}

// Progress is how far a copy or a comparison is.
type Progress struct {
	Phase Phase
	// Table is the one that is worked on; Done of Total rows of all tables are done.
	Table       string
	Done, Total int64
}

// Phase is what is being done.
type Phase string

// The phases.
const (
	Copying   Phase = "copying"
	Comparing Phase = "comparing"
)

var (
	// ErrInUse is returned for a target that holds something.
	ErrInUse = errors.New("the target is not empty: name a database that nothing was stored in yet")
	// ErrChanged is returned when the source was changed while it was moved.
	ErrChanged = errors.New("the source was changed meanwhile: stop everything that uses it, and run this command again")
	// errUnfinished is returned for a database that is not filled to its end.
	errUnfinished = errors.New("watchmark move-database is filling this database, or was interrupted: run it again to its end, or use another database")
)

// Look counts and digests the tables of a database. It changes nothing.
func Look(ctx context.Context, d *db.DB, tell func(Progress)) (lines []Line, err error) {
	tables, err := tablesOf(ctx, d)
	if err != nil {
		return nil, err
	}
	err = d.Snapshot(ctx, func(ctx context.Context, from db.Querier) error {
		lines, err = look(ctx, from, tables, tell)
		return err
	})
	return lines, err
}

// tablesOf are the tables of a database that a move copies: all but its facts, which Release brings.
func tablesOf(ctx context.Context, d *db.DB) ([]db.Table, error) {
	tables, err := d.Tables(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(tables, func(t db.Table) bool { return t.Name == db.FactsTable }), nil
}

// Fill copies all of from to the database to, and makes sure that both are the same then. Nobody may use to before Release, with which it has the
// facts of from and those given here. It goes on where an interrupted Fill was, and begins anew where from has something else by now. It
// returns ErrInUse.
func Fill(ctx context.Context, from, to *db.DB, facts map[string]string, tell func(Progress)) (lines []Line, err error) {
	all, err := factsOf(ctx, from)
	if err != nil {
		return nil, err
	}
	maps.Copy(all, facts)
	tables, err := tablesOf(ctx, from)
	if err != nil {
		return nil, err
	}
	into, err := tablesOf(ctx, to)
	if err != nil {
		return nil, err
	}
	if err := alike(tables, into); err != nil {
		return nil, err
	}
	err = from.Snapshot(ctx, func(ctx context.Context, source db.Querier) error {
		c := &copier{from: source, to: to, tables: tables, facts: all, tell: tell}
		lines, err = c.run(ctx)
		return err
	})
	return lines, err
}

// Usable returns ErrInUse for a database that Fill would refuse. It changes nothing.
func Usable(ctx context.Context, to *db.DB) error {
	now, _, err := readState(ctx, to.Read())
	if err != nil || now != nil {
		return err
	}
	return Unused(ctx, to)
}

// Unused returns ErrInUse for a database in which something was stored but by the migrations, of which it may lack the last.
func Unused(ctx context.Context, to *db.DB) error {
	tables, err := tablesOf(ctx, to)
	if err != nil {
		return err
	}
	fresh, err := freshRows(ctx)
	if err != nil {
		return err
	}
	return unused(ctx, to.Read(), tables, fresh)
}

// alike returns an error unless both schemas are the same.
func alike(from, to []db.Table) error {
	text := func(tables []db.Table) []string {
		var all []string
		for _, t := range tables {
			for _, c := range t.Columns {
				all = append(all, fmt.Sprintf("%s.%s (%s)", t.Name, c.Name, c.Type))
			}
		}
		slices.Sort(all)
		return all
	}
	a, b := text(from), text(to)
	for _, one := range []struct {
		of, in []string
		lacks  string
	}{{a, b, "target"}, {b, a, "source"}} {
		for _, column := range one.of {
			if _, there := slices.BinarySearch(one.in, column); !there {
				return fmt.Errorf("the %s lacks the column %s: both must have been opened by this version of the program last", one.lacks, column)
			}
		}
	}
	return nil
}

// Retire gives from up, of which Fill copied lines: nobody writes to it meanwhile, and it returns ErrChanged when somebody has. Unless where it went
// is empty, from notes that, and a service does not start on it any more.
func Retire(ctx context.Context, from *db.DB, lines []Line, where string, tell func(Progress)) error {
	tables, err := tablesOf(ctx, from)
	if err != nil {
		return err
	}
	return from.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		now, err := look(ctx, tx, tables, tell)
		if err != nil {
			return err
		}
		if !slices.EqualFunc(now, lines, Line.same) {
			return ErrChanged
		}
		if where == "" {
			return nil
		}
		return db.SetFact(ctx, tx, movedTo, where)
	})
}

// Release lets a target be used that Fill has filled; free gives back what was in work, in the same transaction.
func Release(ctx context.Context, to *db.DB, free func(ctx context.Context, tx *sql.Tx) error) error {
	return to.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		now, _, err := readState(ctx, tx)
		if err != nil {
			return err
		}
		if now == nil || !now.Full {
			return errUnfinished
		}
		if err := to.ContinueIDs(ctx, tx); err != nil {
			return err
		}
		for _, trigger := range now.Triggers {
			if _, err := tx.ExecContext(ctx, trigger); err != nil {
				return fmt.Errorf("make a trigger: %w", err)
			}
		}
		if err := db.SetFacts(ctx, tx, now.Facts); err != nil {
			return err
		}
		return free(ctx, tx)
	})
}

// ToFile writes one state of a database to path, as a database in a file that nobody uses yet.
func ToFile(ctx context.Context, from *db.DB, path string) (err error) {
	folder, err := os.MkdirTemp(filepath.Dir(path), ".watchmark-copy-*")
	if err != nil {
		return fmt.Errorf("make a folder for the copy: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	to, err := db.Open(ctx, folder)
	if err != nil {
		return err
	}
	if _, err = Fill(ctx, from, to, nil, func(Progress) {}); err == nil {
		err = Release(ctx, to, func(context.Context, *sql.Tx) error { return nil }) // a start on it gives back what was in work
	}
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	if err := db.Fold(ctx, filepath.Join(folder, db.FileName)); err != nil {
		return err
	}
	return os.Rename(filepath.Join(folder, db.FileName), path)
}
