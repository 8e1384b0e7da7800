package schedule

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

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
	Holder     string
	Until      time.Time
}

// held reports whether a run is under way, as far as the row tells at now.
func (row row) held(now time.Time) bool { return row.Holder != "" && row.Until.After(now) }

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
	var planned, next, retry, ended, until int64
	err = from.QueryRowContext(ctx, `SELECT plan, planned_from, next_run, retry_ms, ended_at, outcome, problem, holder, lease_until FROM jobs WHERE name = ?`, name).
		Scan(&r.Plan, &planned, &next, &retry, &ended, &r.Outcome, &r.Problem, &r.Holder, &until)
	if errors.Is(err, sql.ErrNoRows) {
		return row{}, false, nil
	}
	if err != nil {
		return row{}, false, fmt.Errorf("read the job %s: %w", name, err)
	}
	r.From, r.Next, r.Ended, r.Until = at(planned), at(next), at(ended), at(until)
	r.Retry = time.Duration(retry) * time.Millisecond
	return r, true, nil
}

// store writes the plan of a job, and makes its row where it has none.
func store(ctx context.Context, tx *sql.Tx, name string, r row) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO jobs (name, plan, planned_from, next_run, retry_ms, ended_at, outcome, problem, holder, lease_until)
		VALUES (?, ?, ?, ?, ?, 0, '', '', '', 0)
		ON CONFLICT (name) DO UPDATE SET plan = excluded.plan, planned_from = excluded.planned_from, next_run = excluded.next_run, retry_ms = excluded.retry_ms`,
		name, r.Plan, millis(r.From), millis(r.Next), r.Retry.Milliseconds())
	if err != nil {
		return fmt.Errorf("plan the job %s: %w", name, err)
	}
	return nil
}

// take gives a run of a job to holder, in one statement: when nobody holds it, its lease ran out, or it is the one of dead. With due it must
// be due, too, so that of two that saw it due one runs it.
func take(ctx context.Context, tx *sql.Tx, name, holder string, dead row, due bool, now time.Time) (bool, error) {
	query := `UPDATE jobs SET holder = ?, lease_until = ? WHERE name = ? AND (holder = '' OR lease_until <= ? OR holder = ? AND lease_until = ?)`
	args := []any{holder, millis(now.Add(lease)), name, millis(now), dead.Holder, millis(dead.Until)}
	if due {
		query += ` AND next_run <> 0 AND next_run <= ?`
		args = append(args, millis(now))
	}
	return one(tx.ExecContext(ctx, query, args...))
}

// renew moves the end of the lease; false when somebody else has the job by now.
func renew(ctx context.Context, tx *sql.Tx, name, holder string, now time.Time) (bool, error) {
	return one(tx.ExecContext(ctx, `UPDATE jobs SET lease_until = ? WHERE name = ? AND holder = ?`, millis(now.Add(lease)), name, holder))
}

// release gives the job up.
func release(ctx context.Context, tx *sql.Tx, name, holder string) (bool, error) {
	return one(tx.ExecContext(ctx, `UPDATE jobs SET holder = '', lease_until = 0 WHERE name = ? AND holder = ?`, name, holder))
}

// finish keeps how the run of holder ended, and gives the job up.
func finish(ctx context.Context, tx *sql.Tx, name, holder string, r row) (bool, error) {
	return one(tx.ExecContext(ctx, `UPDATE jobs SET plan = ?, planned_from = ?, next_run = ?, retry_ms = ?, ended_at = ?, outcome = ?, problem = ?, holder = '', lease_until = 0
		WHERE name = ? AND holder = ?`, r.Plan, millis(r.From), millis(r.Next), r.Retry.Milliseconds(), millis(r.Ended), r.Outcome, r.Problem, name, holder))
}

// one reports whether a statement changed a row.
func one(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

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
