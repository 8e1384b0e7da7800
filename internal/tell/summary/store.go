package summary

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/hold"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/replica"
	"watchmark/internal/platform/scope"
)

// store is the SQL of jobs and results.
type store struct {
	db    *db.DB
	holds *hold.Holds
}

var jobColumns = `j.id, COALESCE(j.person_id, 0), j.name, j.enabled, j.cron, j.days_back, j.user_name, j.prompt, j.max_records, j.channels, j.skip_empty, j.planned_from, ` + runs + `, j.created_at, j.updated_at`

// runs tells whether a job runs.
var runs = hold.OwnerSQL(`'summary ' || j.id`) + ` <> 0`

// scanJob reads jobColumns, and more after them.
func scanJob(row db.Row, more ...any) (Job, error) {
	var j Job
	var channels string
	var planned, created, updated int64
	err := row.Scan(append([]any{&j.ID, &j.person, &j.Name, &j.Enabled, &j.Cron, &j.DaysBack, &j.User, &j.Prompt, &j.MaxRecords, &channels, &j.SkipEmpty, &planned, &j.Running, &created, &updated}, more...)...)
	if err != nil {
		return Job{}, err
	}
	if err := json.Unmarshal([]byte(channels), &j.Channels); err != nil {
		return Job{}, fmt.Errorf("decode the channels of summary job %d: %w", j.ID, err)
	}
	j.plannedFrom, j.CreatedAt, j.UpdatedAt = time.UnixMilli(planned), time.UnixMilli(created), time.UnixMilli(updated)
	return j, nil
}

// jobs lists every job of who asks by name, with how it last came out.
func (s store) jobs(ctx context.Context) ([]Job, error) {
	own, whose := scope.Owned(ctx, "j.person_id")
	return s.list(ctx, own, whose...)
}

// planned lists the jobs of everybody who may sign in.
func (s store) planned(ctx context.Context) ([]Job, error) {
	return s.list(ctx, `(j.person_id IS NULL OR `+account.SignsIn("j.person_id")+`)`)
}

func (s store) list(ctx context.Context, where string, args ...any) ([]Job, error) {
	return db.All(ctx, s.db.Read(), "list summary jobs", func(row db.Row) (Job, error) {
		var at sql.NullInt64
		var outcome sql.NullString
		var problem reason.Reason
		j, err := scanJob(row, &at, &outcome, &problem)
		if at.Valid {
			j.Last = &Last{time.UnixMilli(at.Int64), Outcome(outcome.String), problem}
		}
		return j, err
	}, `SELECT `+jobColumns+`, r.at, r.outcome, r.problem FROM summary_jobs j
		LEFT JOIN summary_results r ON r.id = (SELECT MAX(id) FROM summary_results WHERE job_id = j.id) WHERE `+where+` ORDER BY j.name, j.id`, args...)
}

// job is the job of who asks of a name, without how it last came out, or ErrNotFound.
func job(ctx context.Context, q db.Querier, name string) (Job, error) {
	own, whose := scope.Owned(ctx, "j.person_id")
	j, err := scanJob(q.QueryRowContext(ctx, `SELECT `+jobColumns+` FROM summary_jobs j WHERE j.name = ? AND `+own, append([]any{name}, whose...)...))
	if errors.Is(err, sql.ErrNoRows) {
		return Job{}, ErrNotFound
	}
	if err != nil {
		return Job{}, fmt.Errorf("read summary job %q: %w", name, err)
	}
	return j, nil
}

// ofPeople is the schema version of the first programs that know that a job can be a person's. Others would tell that person what everybody
// watched, and the owner what is that person's.
const ofPeople = 60

// create adds a job of who asks, or returns ErrTaken, or ErrFull or the same for a person, or for a person replica.ErrOlder.
func (s store) create(ctx context.Context, d Draft) error {
	channels, err := encoded(d.Channels)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := checkFree(ctx, tx, d.Name, 0); err != nil {
			return err
		}
		own, whose := scope.Owned(ctx, "person_id")
		var n int
		if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM summary_jobs WHERE `+own, whose...).Scan(&n); err != nil {
			return fmt.Errorf("count summary jobs: %w", err)
		}
		switch whole := scope.From(ctx).Whole(); {
		case whole && n >= jobsMost:
			return ErrFull
		case !whole && n >= ownJobsMost:
			return errOwnFull
		case !whole:
			if err := replica.RequireTx(ctx, tx, ofPeople); err != nil {
				return err
			}
		}
		now := time.Now().UnixMilli()
		_, err := tx.ExecContext(ctx, `INSERT INTO summary_jobs (person_id, name, enabled, cron, days_back, user_name, prompt, max_records, channels, skip_empty, planned_from, created_at, updated_at)
			VALUES (`+account.Person+`, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, scope.From(ctx).Person(), d.Name, d.Enabled, d.Cron, d.DaysBack, d.User, d.Prompt, d.MaxRecords, channels, d.SkipEmpty, now, now, now)
		if err != nil {
			return fmt.Errorf("create summary job: %w", err)
		}
		return nil
	})
}

// update replaces the job of a name, or returns ErrNotFound or ErrTaken. A schedule that is new, or
// switched on again, makes up for nothing.
func (s store) update(ctx context.Context, name string, d Draft) error {
	channels, err := encoded(d.Channels)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		old, err := job(ctx, tx, name)
		if err != nil {
			return err
		}
		if err := checkFree(ctx, tx, d.Name, old.ID); err != nil {
			return err
		}
		now := time.Now()
		planned := old.plannedFrom
		if d.Cron != old.Cron || d.Enabled && !old.Enabled {
			planned = now
		}
		_, err = tx.ExecContext(ctx, `UPDATE summary_jobs SET name = ?, enabled = ?, cron = ?, days_back = ?, user_name = ?, prompt = ?, max_records = ?, channels = ?,
			skip_empty = ?, planned_from = ?, updated_at = ? WHERE id = ?`,
			d.Name, d.Enabled, d.Cron, d.DaysBack, d.User, d.Prompt, d.MaxRecords, channels, d.SkipEmpty, planned.UnixMilli(), now.UnixMilli(), old.ID)
		if err != nil {
			return fmt.Errorf("change summary job %d: %w", old.ID, err)
		}
		return nil
	})
}

func encoded(channels []int64) (string, error) {
	text, err := json.Marshal(append([]int64{}, channels...))
	if err != nil {
		return "", fmt.Errorf("encode the channels of a summary job: %w", err)
	}
	return string(text), nil
}

// checkFree returns ErrTaken when another job than id of who asks has the name.
func checkFree(ctx context.Context, tx *sql.Tx, name string, id int64) error {
	own, whose := scope.Owned(ctx, "person_id")
	var n int
	if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM summary_jobs WHERE name = ? AND id <> ? AND `+own, append([]any{name, id}, whose...)...).Scan(&n); err != nil {
		return fmt.Errorf("look for a summary job: %w", err)
	}
	if n > 0 {
		return ErrTaken
	}
	return nil
}

// remove deletes the job of a name with its results, or returns ErrNotFound. A run under way brings
// nothing any more.
func (s store) remove(ctx context.Context, name string) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		own, whose := scope.Owned(ctx, "person_id")
		result, err := tx.ExecContext(ctx, `DELETE FROM summary_jobs WHERE name = ? AND `+own, append([]any{name}, whose...)...)
		if err != nil {
			return fmt.Errorf("remove summary job: %w", err)
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, ErrNotFound)
		}
		return nil
	})
}

// holdOf is what the replica has that runs a job.
func holdOf(id int64) string { return "summary " + strconv.FormatInt(id, 10) }

// claim holds the job of a name for a run. It returns ErrNotFound, or
// ErrRunning while another run holds it. Of a run by schedule seen is the job as it was found due;
// ErrRunning then also says that another replica was faster.
func (s store) claim(ctx context.Context, name string, seen *Job) (Job, error) {
	var claimed Job
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		j, err := job(ctx, tx, name)
		if err != nil {
			return err
		}
		if j.Running || seen != nil && (!j.Enabled || !j.plannedFrom.Equal(seen.plannedFrom)) {
			return ErrRunning
		}
		claimed = j
		got, err := s.holds.TakeTx(ctx, tx, holdOf(j.ID))
		if err == nil && !got {
			err = ErrRunning
		}
		return err
	})
	if err == nil {
		s.holds.Took(holdOf(claimed.ID))
	}
	return claimed, err
}

// errLost is returned by finish for a run that does not hold its job any more.
var errLost = errors.New("the summary job was removed, or given to another replica, while this run was under way")

// finish ends the hold on a job, as it was claimed, and keeps the result of its run, and whatever
// more writes, all or nothing. slot is the time of the schedule that was run; zero for a person.
func (s store) finish(ctx context.Context, j Job, slot time.Time, r Result, more func(ctx context.Context, tx *sql.Tx) error) (int64, error) {
	planned := slot
	if slot.IsZero() {
		planned = j.plannedFrom
	}
	var result int64
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		held, err := tx.ExecContext(ctx, `UPDATE summary_jobs SET planned_from = CASE WHEN planned_from = ? THEN ? ELSE planned_from END
			WHERE id = ? AND `+hold.OwnerSQL("?")+` = ?`, j.plannedFrom.UnixMilli(), planned.UnixMilli(), j.ID, holdOf(j.ID), s.holds.Incarnation())
		if err != nil {
			return fmt.Errorf("keep when summary job %d ran: %w", j.ID, err)
		}
		if n, err := held.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, errLost)
		}
		err = tx.QueryRowContext(ctx, `INSERT INTO summary_results (job_id, at, started_by, outcome, span_from, span_to, records, body, model, prompt_tokens, completion_tokens, problem)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`, j.ID, r.At.UnixMilli(), r.Starter, r.Outcome, r.From.UnixMilli(), r.To.UnixMilli(), r.Records,
			r.Text, r.Model, r.PromptTokens, r.CompletionTokens, r.Problem).Scan(&result)
		if err != nil {
			return fmt.Errorf("keep the result of summary job %d: %w", j.ID, err)
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM summary_results WHERE job_id = ? AND id <= (SELECT id FROM summary_results WHERE job_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?)`,
			j.ID, j.ID, resultsKept)
		if err != nil {
			return fmt.Errorf("remove old results of summary job %d: %w", j.ID, err)
		}
		return more(ctx, tx)
	})
	return result, err
}

// results is a page of the results of a job, the newest first, and the cursor of the next page (0 = none).
func (s store) results(ctx context.Context, name string, before int64, limit int) (results []Result, next int64, err error) {
	j, err := job(ctx, s.db.Read(), name)
	if err != nil {
		return nil, 0, err
	}
	results, err = db.All(ctx, s.db.Read(), fmt.Sprintf("list the results of summary job %d", j.ID), func(row db.Row) (r Result, err error) {
		var at, from, to int64
		err = row.Scan(&r.ID, &at, &r.Starter, &r.Outcome, &from, &to, &r.Records, &r.Text, &r.Model, &r.PromptTokens, &r.CompletionTokens, &r.Problem)
		r.At, r.From, r.To = time.UnixMilli(at), time.UnixMilli(from), time.UnixMilli(to)
		return r, err
	}, `SELECT id, at, started_by, outcome, span_from, span_to, records, body, model, prompt_tokens, completion_tokens, problem
		FROM summary_results WHERE job_id = ? AND (CAST(? AS BIGINT) = 0 OR id < ?) ORDER BY id DESC LIMIT ?`, j.ID, before, before, limit+1)
	if len(results) > limit {
		results = results[:limit]
		next = results[limit-1].ID
	}
	return results, next, err
}
