package schedule

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"watchmark/internal/platform/hold"
	"watchmark/internal/platform/reason"
)

// row is a job in the database. Times that are not there are zero.
type row struct {
	Plan       string
	From, Next time.Time
	Retry      time.Duration
	Ended      time.Time
	Outcome    Outcome
	Problem    reason.Reason
	// Owner is the replica whose run is under way; 0 when none is.
	Owner int64
}

// same reports whether the plan of the rows is the same.
func (row row) same(as row) bool {
	return row.Plan == as.Plan && millis(row.From) == millis(as.From) && millis(row.Next) == millis(as.Next) && row.Retry == as.Retry
}

// queryer is a *sql.DB or a *sql.Tx.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// load reads the row of a job; there is false when it has none.
func load(ctx context.Context, from queryer, name string) (r row, there bool, err error) {
	var planned, next, retry, ended int64
	err = from.QueryRowContext(ctx, `SELECT plan, planned_from, next_run, retry_ms, ended_at, outcome, problem, `+hold.OwnerSQL("?")+`
		FROM jobs WHERE name = ?`, holdOf(name), name).Scan(&r.Plan, &planned, &next, &retry, &ended, &r.Outcome, &r.Problem, &r.Owner)
	if errors.Is(err, sql.ErrNoRows) {
		return row{}, false, nil
	}
	if err != nil {
		return row{}, false, fmt.Errorf("read the job %s: %w", name, err)
	}
	r.From, r.Next, r.Ended = at(planned), at(next), at(ended)
	r.Retry = time.Duration(retry) * time.Millisecond
	return r, true, nil
}

// store writes the plan of a job, and makes its row where it has none.
func store(ctx context.Context, tx *sql.Tx, name string, r row) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO jobs (name, plan, planned_from, next_run, retry_ms, ended_at, outcome, problem)
		VALUES (?, ?, ?, ?, ?, 0, '', '')
		ON CONFLICT (name) DO UPDATE SET plan = excluded.plan, planned_from = excluded.planned_from, next_run = excluded.next_run, retry_ms = excluded.retry_ms`,
		name, r.Plan, millis(r.From), millis(r.Next), r.Retry.Milliseconds())
	if err != nil {
		return fmt.Errorf("plan the job %s: %w", name, err)
	}
	return nil
}

// isDue reports whether a job is due at now still, so that of two replicas that saw it due one runs it.
func isDue(ctx context.Context, tx *sql.Tx, name string, now time.Time) (due bool, err error) {
	err = tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM jobs WHERE name = ? AND next_run <> 0 AND next_run <= ?)`, name, millis(now)).Scan(&due)
	if err != nil {
		return false, fmt.Errorf("look whether the job %s is due: %w", name, err)
	}
	return due, nil
}

// finish keeps how a run ended.
func finish(ctx context.Context, tx *sql.Tx, name string, r row) error {
	_, err := tx.ExecContext(ctx, `UPDATE jobs SET plan = ?, planned_from = ?, next_run = ?, retry_ms = ?, ended_at = ?, outcome = ?, problem = ? WHERE name = ?`,
		r.Plan, millis(r.From), millis(r.Next), r.Retry.Milliseconds(), millis(r.Ended), r.Outcome, r.Problem, name)
	if err != nil {
		return fmt.Errorf("keep how a run of the job %s ended: %w", name, err)
	}
	return nil
}

// holdOf is the name by which a replica has a job while it runs it.
func holdOf(name string) string { return "job " + name }

// millis is a time as a column keeps it: unix milliseconds, 0 for the zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func at(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}
