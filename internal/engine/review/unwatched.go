package review

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/tell/notify"
)

// The job that takes marks back of what was set back to unwatched, and the task that does so by a person's word.
const (
	UnwatchedJob  = "unwatched"
	UnwatchedKind = "unwatched_answer"
)

const (
	// UnwatchedQuiet is how long nothing more must be set back to unwatched before any of it is taken back: a season comes one by one.
	UnwatchedQuiet = 5 * time.Second
	// unwatchedMost is how much is taken back without a question: more at once was perhaps nobody's wish.
	unwatchedMost = 30
	// unwatchedTogether is how many records an answer takes in one step.
	unwatchedTogether = 50
)

// UnwatchedJob takes back the marks of what was set back to unwatched, or has a person asked about them.
func (s *Service) UnwatchedJob() schedule.Job {
	return schedule.Job{
		Name: UnwatchedJob, Quiet: true, AtStart: new(time.Duration), Run: s.takeUnwatched, Look: s.Engine.Records.IsUnwatched,
		Plan: func() schedule.Plan { return schedule.Every(time.Hour) },
	}
}

func (s *Service) takeUnwatched(ctx context.Context, run *schedule.Run) error {
	all, err := s.Engine.Records.Unwatched(ctx, false)
	if err != nil {
		return err
	}
	of := map[int64][]record.Unwatched{}
	for _, u := range all {
		if u.Status.IsOnTheWay() { // what it writes is taken back afterwards
			run.Again(UnwatchedQuiet)
			continue
		}
		of[u.AccountID] = append(of[u.AccountID], u)
	}
	var problems []error
	for id, some := range of {
		newest := slices.MaxFunc(some, func(a, b record.Unwatched) int { return a.HeardAt.Compare(b.HeardAt) }).HeardAt
		if wait := UnwatchedQuiet - time.Since(newest); wait > 0 && len(some) <= unwatchedMost {
			run.Again(wait)
			continue
		}
		problems = append(problems, s.ruleUnwatched(ctx, id, some))
	}
	return errors.Join(problems...)
}

// ruleUnwatched does what an account wants done about some records of it.
func (s *Service) ruleUnwatched(ctx context.Context, id int64, some []record.Unwatched) error {
	a, err := s.Engine.Accounts.Get(ctx, id)
	if errors.Is(err, account.ErrNotFound) {
		return nil // they went with it
	}
	if err != nil {
		return err
	}
	var over []record.Unwatched // they came to nothing
	some = slices.DeleteFunc(some, func(u record.Unwatched) bool {
		ended := !u.Marked && u.Status != record.Queued
		if ended {
			over = append(over, u)
		}
		return ended
	})
	if len(over) > 0 {
		if err := s.dropUnwatched(ctx, idsOf(over)); err != nil {
			return err
		}
	}
	switch rule := s.Engine.UnwatchedRule(a); {
	case len(some) == 0:
		return nil
	case rule == account.IgnoreUnwatched:
		return s.dropUnwatched(ctx, idsOf(some))
	case rule == account.AskUnwatched, len(some) > unwatchedMost:
		return s.askUnwatched(ctx, a, some)
	}
	_, err = s.settleUnwatched(ctx, some)
	if err == nil || ctx.Err() != nil || errors.Is(err, catalog.ErrUnreachable) || errors.Is(err, db.ErrStorage) {
		return err
	}
	s.Engine.Log.WarnContext(ctx, "cannot take back what was set back to unwatched: a person is asked", "account", a.Username, "error", err)
	return s.askUnwatched(ctx, a, some)
}

func idsOf(some []record.Unwatched) []int64 {
	ids := make([]int64, len(some))
	for i, u := range some {
		ids[i] = u.ID
	}
	return ids
}

// askUnwatched has a person asked about some records of an account.
func (s *Service) askUnwatched(ctx context.Context, a account.Account, some []record.Unwatched) error {
	err := s.Engine.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := record.AskUnwatchedTx(ctx, tx, idsOf(some), time.Now()); err != nil {
			return err
		}
		return s.Engine.Notices.AddTx(ctx, tx, notify.Notice{
			Kind: notify.UnwatchedAsks, AccountID: a.ID, Account: a.Username, User: some[0].UserName, Facts: map[string]string{"title": some[0].Title, "total": strconv.Itoa(len(some))},
		})
	})
	if err == nil {
		s.Engine.Notices.Wake()
	}
	return err
}

// settleUnwatched takes the marks of some records back, but for what was watched once more since, and says how many records that were.
func (s *Service) settleUnwatched(ctx context.Context, some []record.Unwatched) (taken int, err error) {
	var ids []int64
	for _, u := range some {
		again, err := s.Engine.Records.WatchedSince(ctx, u)
		switch {
		case err != nil:
			return 0, err
		case again:
			if err := s.dropUnwatched(ctx, []int64{u.ID}); err != nil {
				return 0, err
			}
		case !u.Status.IsOnTheWay():
			ids = append(ids, u.ID)
		}
	}
	if len(ids) == 0 {
		return 0, nil
	}
	for _, u := range some {
		if u.Status == record.Queued && slices.Contains(ids, u.ID) {
			if _, err := s.stop(ctx, u.ID, setBackUnwatched.With()); err != nil {
				return 0, err
			}
		}
	}
	if _, err := s.takeBackAll(ctx, ids, setBackUnwatched.With()); err != nil {
		return 0, err
	}
	return len(ids), s.dropUnwatched(ctx, ids)
}

func (s *Service) dropUnwatched(ctx context.Context, ids []int64) error {
	return s.Engine.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { return record.DropUnwatchedTx(ctx, tx, ids) })
}

// AskedUnwatched is what a person is asked about, by account and record.
func (s *Service) AskedUnwatched(ctx context.Context) ([]record.Unwatched, error) {
	return s.Engine.Records.Unwatched(ctx, true)
}

// AnswerUnwatched takes the marks of records back that a person was asked about, or keeps them: those with ids. It starts a task. It returns
// ErrNotAsked when nobody was asked about any of them, or task.ErrStopping.
func (s *Service) AnswerUnwatched(ctx context.Context, ids []int64, takeBack bool) (*task.Task, error) {
	asked, err := s.AskedUnwatched(ctx)
	if err != nil {
		return nil, err
	}
	asked = slices.DeleteFunc(asked, func(u record.Unwatched) bool { return !slices.Contains(ids, u.ID) })
	if len(asked) == 0 {
		return nil, ErrNotAsked
	}
	return s.Engine.Tasks.Start(ctx, task.Spec{Kind: UnwatchedKind}, func(ctx context.Context, t *task.Task) error {
		done, taken := 0, 0
		for some := range slices.Chunk(asked, unwatchedTogether) {
			var n int
			var err error
			if takeBack {
				n, err = s.settleUnwatched(ctx, some)
			} else {
				err = s.dropUnwatched(ctx, idsOf(some))
			}
			if err != nil {
				return fmt.Errorf("answer what was set back to unwatched: %w", err)
			}
			done, taken = done+len(some), taken+n
			t.Progress(done, len(asked), unwatchedAnswered.With(done, taken))
		}
		return s.endAsking(ctx, asked)
	})
}

// endAsking closes the notices of the accounts of some answered records of which nothing is asked any more.
func (s *Service) endAsking(ctx context.Context, answered []record.Unwatched) error {
	left, err := s.AskedUnwatched(ctx)
	if err != nil {
		return err
	}
	waits := map[int64]bool{}
	for _, u := range left {
		waits[u.AccountID] = true
	}
	var over []notify.Notice
	for _, u := range answered {
		if !waits[u.AccountID] {
			waits[u.AccountID] = true // once for each
			over = append(over, notify.Notice{Kind: notify.UnwatchedAsks, AccountID: u.AccountID, Account: u.AccountName, Over: true})
		}
	}
	err = s.Engine.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { return s.Engine.Notices.AddTx(ctx, tx, over...) })
	if err == nil {
		s.Engine.Notices.Wake()
	}
	return err
}
