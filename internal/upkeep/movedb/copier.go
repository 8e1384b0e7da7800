package movedb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"watchmark/internal/platform/db"
)

var (
	// errElse says that a target was half filled from something else than the source has now.
	errElse = errors.New("the target does not become the same as the source: look into the log of the database server, and run this command again")
	// errAnother is returned when the target is not as this move left it.
	errAnother = errors.New("another watchmark move-database fills the target at the same time: wait for it")
)

// copier fills a database.
type copier struct {
	from     db.Querier
	to       *db.DB
	tables   []db.Table
	facts    map[string]string // for the end
	tell     func(Progress)
	progress Progress
	now      state
	stored   string // now, as the target has it; empty before the move has begun
}

// run goes on where an interrupted move was, or begins one.
func (c *copier) run(ctx context.Context) (lines []Line, err error) {
	if c.progress.Total, err = count(ctx, c.from, c.tables...); err != nil {
		return nil, err
	}
	before, text, err := readState(ctx, c.to.Read())
	switch {
	case err != nil:
		return nil, err
	case before == nil:
		if err := c.begin(ctx); err != nil {
			return nil, err
		}
	default:
		c.now, c.stored = *before, text
	}
	if !c.now.Emptying {
		if lines, err = c.fill(ctx); !errors.Is(err, errElse) {
			return lines, err
		}
	}
	// What is there came from what the source had before.
	if err := c.empty(ctx); err != nil {
		return nil, err
	}
	return c.fill(ctx)
}

// begin makes a target of a database in which nothing was stored but by the migrations.
func (c *copier) begin(ctx context.Context) error {
	fresh, err := freshRows(ctx)
	if err != nil {
		return err
	}
	triggers, err := c.to.Triggers(ctx)
	if err != nil {
		return err
	}
	first := state{Emptying: true}
	for _, t := range triggers {
		first.Triggers = append(first.Triggers, t.Make)
	}
	err = c.store(ctx, first, func(ctx context.Context, tx *sql.Tx) error {
		if err := unused(ctx, tx, c.tables, fresh); err != nil {
			return err
		}
		for _, t := range triggers { // what they do is copied
			if _, err := tx.ExecContext(ctx, t.Drop); err != nil {
				return fmt.Errorf("take a trigger out: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.empty(ctx)
}

// unused returns ErrInUse for a database with more rows than fresh.
func unused(ctx context.Context, from db.Querier, tables []db.Table, fresh map[string]int64) error {
	for _, t := range tables {
		rows, err := count(ctx, from, t)
		if err != nil {
			return err
		}
		if rows > fresh[t.Name] {
			return fmt.Errorf("%w (its table %s has %d rows)", ErrInUse, t.Name, rows)
		}
	}
	return nil
}

// freshRows is how many rows the tables of a database have that was just made.
func freshRows(ctx context.Context) (rows map[string]int64, err error) {
	folder, err := os.MkdirTemp("", "watchmark-empty-*")
	if err != nil {
		return nil, fmt.Errorf("make an empty database to compare with: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	d, err := db.Open(ctx, folder)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	tables, err := tablesOf(ctx, d)
	if err != nil {
		return nil, err
	}
	rows = map[string]int64{}
	for _, t := range tables {
		if rows[t.Name], err = count(ctx, d.Read(), t); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// empty removes what is in the target, a step at a time.
func (c *copier) empty(ctx context.Context) error {
	if !c.now.Emptying {
		if err := c.store(ctx, state{Triggers: c.now.Triggers, Emptying: true}, nil); err != nil {
			return err
		}
	}
	for _, t := range slices.Backward(c.tables) {
		key := strings.Join(t.Key, ", ")
		remove := fmt.Sprintf(`DELETE FROM %s WHERE (%s) IN (SELECT %s FROM %s ORDER BY %s LIMIT %d)`, t.Name, key, key, t.Name, key, stepRows) //nolint:gosec // names of our schema
		for left := int64(stepRows); left == stepRows; {
			err := c.store(ctx, c.now, func(ctx context.Context, tx *sql.Tx) error {
				result, err := tx.ExecContext(ctx, remove)
				if err == nil {
					left, err = result.RowsAffected()
				}
				if err != nil {
					return fmt.Errorf("empty the table %s: %w", t.Name, err)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return c.store(ctx, state{Triggers: c.now.Triggers, Done: map[string]Line{}}, nil)
}

// fill copies what the target lacks, compares, and notes that it is full. It returns errElse.
func (c *copier) fill(ctx context.Context) (lines []Line, err error) {
	c.progress.Phase, c.progress.Done = Copying, 0
	for _, t := range c.tables {
		line, err := c.copy(ctx, t)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	var there []Line
	err = c.to.Snapshot(ctx, func(ctx context.Context, to db.Querier) error {
		there, err = look(ctx, to, c.tables, c.tell)
		return err
	})
	if err != nil {
		return nil, err
	}
	if !slices.EqualFunc(lines, there, Line.same) {
		return nil, errElse
	}
	full := c.now
	full.Full, full.Facts = true, c.facts
	return lines, c.store(ctx, full, nil)
}

// copy copies a table, from the first row that the target lacks.
func (c *copier) copy(ctx context.Context, t db.Table) (Line, error) {
	c.progress.Table = t.Name
	c.tell(c.progress)
	before, begun := c.now.Done[t.Name]
	var rows [][]any
	s := newSum()
	step := func() error {
		done := maps.Clone(c.now.Done)
		done[t.Name] = s.line(t.Name)
		err := c.store(ctx, state{Triggers: c.now.Triggers, Done: done}, func(ctx context.Context, tx *sql.Tx) error {
			insert := `INSERT INTO ` + t.Name + ` (` + names(t) + `) VALUES (?` + strings.Repeat(", ?", len(t.Columns)-1) + `)`
			for _, row := range rows {
				if _, err := tx.ExecContext(ctx, insert, row...); err != nil {
					return fmt.Errorf("fill the table %s: %w", t.Name, err)
				}
			}
			return nil
		})
		rows = nil
		c.tell(c.progress)
		return err
	}
	err := each(ctx, c.from, t, func(row []any, cleaned int64) error {
		if begun && s.rows == before.Rows && !s.line(t.Name).same(before) {
			return errElse
		}
		s.add(row, cleaned)
		c.progress.Done++
		if begun && s.rows <= before.Rows {
			return nil
		}
		if rows = append(rows, row); len(rows) == stepRows {
			return step()
		}
		return nil
	})
	end := s.line(t.Name)
	switch {
	case err != nil:
		return Line{}, err
	case begun && end.same(before):
		return end, nil
	case begun && end.Rows <= before.Rows:
		return Line{}, errElse
	}
	return end, step()
}

// store runs work on the target and notes how far it is then, unless somebody else has done so meanwhile; work may be nil.
func (c *copier) store(ctx context.Context, next state, work func(ctx context.Context, tx *sql.Tx) error) error {
	text, err := json.Marshal(next)
	if err != nil {
		return err
	}
	err = c.to.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		there, err := db.Fact(ctx, tx, filling)
		switch {
		case err != nil:
			return err
		case there != c.stored:
			return errAnother
		case work != nil:
			if err := work(ctx, tx); err != nil {
				return err
			}
		}
		return db.SetFact(ctx, tx, filling, string(text))
	})
	if err == nil {
		c.now, c.stored = next, string(text)
	}
	return err
}
