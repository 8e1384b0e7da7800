package task

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/logs"
	"watchmark/internal/platform/scope"
)

const (
	// keptEnded is how many ended tasks are remembered; with their logs they take at most keptEnded × logBytes. Those that people began are
	// counted for each person, keptOfPerson with tailBytes at most.
	keptEnded, keptOfPerson = 40, 20
	// shownMost is how many tasks a list has.
	shownMost = 200
	// tailBytes bounds how much of the log other replicas see while a task runs.
	tailBytes = 32 << 10
	// reportEvery is how often a task tells other replicas what is new, and asks whether one of them cancelled it.
	reportEvery = time.Second
	// keepAgain is how long it waits when the database does not take how a task ended.
	keepAgain = time.Second
)

// insert makes the row of a task, which has its id then: that of again, if it is not 0. It returns ErrRunning with the task that has what alone names.
func (r *Registry) insert(ctx context.Context, t *Task, alone string, again int64) (other *Task, err error) {
	s, began := t.Status(), t.scope
	var id, running int64
	err = r.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if alone != "" {
			err := tx.QueryRowContext(ctx, `SELECT id FROM tasks WHERE alone = ? AND alone <> '' AND state = 'running'`, alone).Scan(&running)
			if !errors.Is(err, sql.ErrNoRows) {
				return err
			}
		}
		if again != 0 { // it may be forgotten by now
			var person int64
			err := tx.QueryRowContext(ctx, `DELETE FROM tasks WHERE id = ? AND state <> 'running' RETURNING COALESCE(person_id, 0)`, again).Scan(&person)
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return err
			}
			if person != 0 {
				began = scope.Of(person)
			}
			id = again
			_, err = tx.ExecContext(ctx, `INSERT INTO tasks (id, kind, record_id, person_id, alone, owner, state, started_at) VALUES (?, ?, ?, NULLIF(CAST(? AS BIGINT), 0), ?, ?, ?, ?)`,
				again, s.Kind, s.RecordID, began.Person(), alone, t.owner, Running, s.StartedAt.UnixMilli())
			return err
		}
		return tx.QueryRowContext(ctx, `INSERT INTO tasks (kind, record_id, person_id, alone, owner, state, started_at) VALUES (?, ?, NULLIF(CAST(? AS BIGINT), 0), ?, ?, ?, ?) RETURNING id`,
			s.Kind, s.RecordID, began.Person(), alone, t.owner, Running, s.StartedAt.UnixMilli()).Scan(&id)
	})
	if err != nil {
		return nil, fmt.Errorf("start a task: %w", err)
	}
	if running == 0 {
		t.scope = began
		t.change(func(s *Status) { s.ID, s.PersonID = id, began.Person() })
		return nil, nil
	}
	switch other, err = r.Get(ctx, running); {
	case err == nil:
		return other, ErrRunning
	case errors.Is(err, ErrNotFound) && !scope.From(ctx).Whole(): // it is somebody else's
		return nil, ErrRunning
	}
	return nil, errors.Join(ErrRunning, err) // it has ended meanwhile
}

// report tells other replicas how a task stands until the function that it answers is called. It cancels the task when one of
// them wants that, and when this replica was evicted.
func (r *Registry) report(ctx context.Context, t *Task) (end func()) {
	if t.quiet || r.db.Alone() {
		return func() {}
	}
	reporting, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(reportEvery)
		defer tick.Stop()
		for shown := 0; ; {
			select {
			case <-reporting.Done():
				return
			case <-tick.C:
			}
			var wanted, mine bool
			var err error
			shown, wanted, mine, err = r.tell(reporting, t, shown)
			switch {
			case reporting.Err() != nil:
				return
			case errors.Is(err, db.ErrEvicted), err == nil && !mine:
				t.cancel(errCut)
				return
			case err == nil && wanted:
				t.cancel(context.Canceled)
				return
			}
		}
	}()
	return func() { stop(); <-ended }
}

// tell writes what is new of a task since shown, and answers whether somebody wants it to end, and whether it is still this replica's.
func (r *Registry) tell(ctx context.Context, t *Task, shown int) (now int, wanted, mine bool, err error) {
	const still = ` FROM tasks WHERE id = ? AND owner = ? AND state = 'running'`
	s, now := t.snapshot()
	if now == shown {
		err = r.db.Read().QueryRowContext(ctx, `SELECT cancel = 1`+still, s.ID, t.owner).Scan(&wanted)
	} else {
		// Only the one who does a task writes its row, but for cancel, which is not written here.
		err = r.db.WriteShared(ctx, func(ctx context.Context, tx *sql.Tx) error {
			wanted = false
			if err := t.store(ctx, tx, s, tailBytes); err != nil {
				return err
			}
			return tx.QueryRowContext(ctx, `SELECT cancel = 1`+still, s.ID, t.owner).Scan(&wanted)
		})
	}
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return shown, false, false, nil
	case err != nil:
		return shown, false, false, err
	}
	return now, wanted, true, nil
}

// snapshot is the status, and a number that changes with it and with the log.
func (t *Task) snapshot() (Status, int) {
	lines := t.log.Size()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.status, t.shown + lines
}

// store writes a task that is this replica's still, with the end of its log in so many bytes.
func (t *Task) store(ctx context.Context, tx *sql.Tx, s Status, most int) error {
	result, _ := s.Result.(json.RawMessage)
	var ended int64
	if s.EndedAt != nil {
		ended = s.EndedAt.UnixMilli()
	}
	text, last := tail(t.log, most)
	_, err := tx.ExecContext(ctx, `UPDATE tasks SET state = ?, done = ?, total = ?, message = ?, result = ?, log = ?, log_lines = ?, ended_at = ? WHERE id = ? AND owner = ? AND state = 'running'`,
		s.State, s.Done, s.Total, s.Message, string(result), text, last, ended, s.ID, t.owner)
	if err != nil {
		return fmt.Errorf("store task %d: %w", s.ID, err)
	}
	return nil
}

// tail are the last lines of a log in so many bytes, and the number of the last one.
func tail(log *logs.Ring, most int) (text string, last int) {
	lines, _ := log.After(0, logs.Everything)
	from := len(lines)
	for bytes := 0; from > 0; from-- {
		if bytes += len(lines[from-1].Text) + 1; bytes > most {
			break
		}
	}
	var out strings.Builder
	for _, line := range lines[from:] {
		out.WriteString(strings.ReplaceAll(line.Text, "\n", " "))
		out.WriteByte('\n')
	}
	return out.String(), log.Size()
}

// keep stores how a task ended, once the database takes it, and forgets the oldest that have ended.
func (r *Registry) keep(t *Task, end Status) {
	ctx := context.Background()
	kept, most := keptEnded, logBytes
	if end.PersonID != 0 {
		kept, most = keptOfPerson, tailBytes
	}
	for {
		err := r.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
			if err := t.store(ctx, tx, end, most); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, `DELETE FROM tasks WHERE state <> 'running' AND `+ofPerson+`
				AND id < (SELECT id FROM tasks WHERE state <> 'running' AND `+ofPerson+` ORDER BY id DESC LIMIT 1 OFFSET ?)`, end.PersonID, end.PersonID, kept-1)
			return err
		})
		if err == nil {
			return
		}
		r.log.ErrorContext(ctx, "cannot store how a task ended", "task_id", end.ID, "error", err)
		r.mu.Lock()
		stops := r.stop
		r.mu.Unlock()
		if stops || errors.Is(err, db.ErrClosed) || errors.Is(err, db.ErrEvicted) {
			return // the end of this replica ends it
		}
		time.Sleep(keepAgain)
	}
}

// ofPerson is the condition of what a person began, in the words of its index; 0 is the service and its owner.
const ofPerson = `COALESCE(person_id, 0) = ?`

// reached is the condition of the tasks that the scope of ctx reaches, with its arguments.
func reached(ctx context.Context) (condition string, args []any) {
	s := scope.From(ctx)
	switch {
	case s.Whole():
		return `1 = 1`, nil
	case s.Person() == 0:
		return `1 = 0`, nil
	}
	return ofPerson, []any{s.Person()}
}

const statusColumns = `id, kind, record_id, COALESCE(person_id, 0), state, done, total, message, result, started_at, ended_at`

func scanStatus(row db.Row, more ...any) (s Status, err error) {
	var result string
	var started, ended int64
	err = row.Scan(append([]any{&s.ID, &s.Kind, &s.RecordID, &s.PersonID, &s.State, &s.Done, &s.Total, &s.Message, &result, &started, &ended}, more...)...)
	s.StartedAt = time.UnixMilli(started)
	if ended != 0 {
		at := time.UnixMilli(ended)
		s.EndedAt = &at
	}
	if result != "" {
		s.Result = json.RawMessage(result)
	}
	return s, err
}

// load is a task as its row is.
func (r *Registry) load(ctx context.Context, id int64) (*Task, error) {
	var log string
	var last int
	s, err := scanStatus(r.db.Read().QueryRowContext(ctx, `SELECT `+statusColumns+`, log, log_lines FROM tasks WHERE id = ?`, id), &log, &last)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read task %d: %w", id, err)
	}
	var lines []string
	if log != "" {
		lines = strings.Split(strings.TrimSuffix(log, "\n"), "\n")
	}
	return &Task{registry: r, status: s, log: logs.Filled(lines, last)}, nil
}

// statuses are so many tasks that a condition holds for and the scope of ctx reaches, newest first; those that run here as they are now.
func (r *Registry) statuses(ctx context.Context, most int, which string, args ...any) ([]Status, error) {
	within, whose := reached(ctx)
	return db.All(ctx, r.db.Read(), "list the tasks", func(row db.Row) (Status, error) {
		s, err := scanStatus(row)
		if t := r.find(s.ID); t != nil {
			s = t.Status()
		}
		return s, err
	}, `SELECT `+statusColumns+` FROM tasks WHERE `+which+` AND `+within+` ORDER BY id DESC LIMIT ?`, slices.Concat(args, whose, []any{most})...)
}

// List shows the tasks that are remembered, newest first, as many as a list has.
func (r *Registry) List(ctx context.Context) ([]Status, error) {
	return r.statuses(ctx, shownMost, `1 = 1`)
}

// Running shows the tasks that run, newest first.
func (r *Registry) Running(ctx context.Context) ([]Status, error) {
	return r.statuses(ctx, shownMost, `state = 'running'`)
}

// about is the condition of what is about something; about nothing is what was begun in the scope of ctx itself.
func about(ctx context.Context, id int64) (condition string, args []any) {
	if id == 0 {
		return `record_id = 0 AND ` + ofPerson, []any{scope.From(ctx).Person()}
	}
	return `record_id = ?`, []any{id}
}

// RunningOf is the id of the newest task of some kinds about something that runs, or about nothing (0) of those that the caller began; 0 when
// none does.
func (r *Registry) RunningOf(ctx context.Context, thing int64, kinds ...string) (id int64, err error) {
	list, args := db.In(kinds)
	which, of := about(ctx, thing)
	within, whose := reached(ctx)
	err = r.db.Read().QueryRowContext(ctx, `SELECT COALESCE(MAX(id), 0) FROM tasks WHERE state = 'running' AND `+which+` AND kind IN `+list+` AND `+within,
		slices.Concat(of, args, whose)...).Scan(&id)
	if err != nil {
		return 0, fmt.Errorf("look for a task that runs: %w", err)
	}
	return id, nil
}

// IsDone reports whether a task runs, of whomever, that does alone what a name of Spec.Alone stands for.
func (r *Registry) IsDone(ctx context.Context, alone string) (is bool, err error) {
	err = r.db.Read().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM tasks WHERE alone = ? AND alone <> '' AND state = 'running')`, alone).Scan(&is)
	if err != nil {
		return false, fmt.Errorf("look for a task that runs: %w", err)
	}
	return is, nil
}

// Newest is the newest task of one of some kinds about something, or about nothing (0) of those that the caller began, or ErrNotFound.
func (r *Registry) Newest(ctx context.Context, thing int64, kinds ...string) (Status, error) {
	list, args := db.In(kinds)
	which, of := about(ctx, thing)
	return r.newest(ctx, which+` AND kind IN `+list, append(of, args...)...)
}

// NewestHere is the newest task of a kind that this replica has started, or ErrNotFound.
func (r *Registry) NewestHere(ctx context.Context, kind string) (Status, error) {
	return r.newest(ctx, `owner = ? AND record_id = 0 AND kind = ?`, r.self.Incarnation(), kind)
}

// NewestOf is the newest task of a kind that no person began, whatever it is about, or ErrNotFound.
func (r *Registry) NewestOf(ctx context.Context, kind string) (Status, error) {
	return r.newest(ctx, `kind = ? AND `+ofPerson, kind, 0)
}

func (r *Registry) newest(ctx context.Context, which string, args ...any) (Status, error) {
	all, err := r.statuses(ctx, 1, which, args...)
	switch {
	case err != nil:
		return Status{}, err
	case len(all) == 0:
		return Status{}, ErrNotFound
	}
	return all[0], nil
}

// Amend replaces the result of a task that has ended.
func (r *Registry) Amend(ctx context.Context, id int64, result any) error {
	text, err := json.Marshal(result)
	if err == nil {
		err = r.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE tasks SET result = ? WHERE id = ? AND state <> 'running'`, string(text), id)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("change the result of task %d: %w", id, err)
	}
	return nil
}

// cancelElsewhere is Cancel for a task that does not run here.
func (r *Registry) cancelElsewhere(ctx context.Context, id int64) error {
	var asked int64
	err := r.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `UPDATE tasks SET cancel = 1 WHERE id = ? AND state = 'running'`, id)
		if err != nil {
			return err
		}
		asked, err = result.RowsAffected()
		return err
	})
	if err != nil {
		return fmt.Errorf("cancel task %d: %w", id, err)
	}
	if asked > 0 {
		return nil
	}
	if _, err := r.load(ctx, id); err != nil {
		return err
	}
	return ErrEnded
}

// FreeTx ends the tasks of replicas that are evicted, in the transaction that evicts them.
func FreeTx(ctx context.Context, tx *sql.Tx, dead []int64) error {
	list, args := db.In(dead)
	_, err := tx.ExecContext(ctx, `UPDATE tasks SET state = ?, message = ?, ended_at = ? WHERE state = 'running' AND owner IN `+list,
		append([]any{Failed, errCut.With(), time.Now().UnixMilli()}, args...)...)
	if err != nil {
		return fmt.Errorf("end the tasks of evicted replicas: %w", err)
	}
	return nil
}
