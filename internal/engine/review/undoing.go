package review

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/engine"
	"watchmark/internal/engine/queue"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
)

// The kinds of task that take back what was written in a span of time or by a task. Their result is an Undoing.
const (
	UndoKind        = "undo"
	UndoPreviewKind = "undo_preview"
)

const (
	// undoListed is how many entries the result of an undo lists.
	undoListed = 300
	// undoOutage is with how many entries in a row that Bangumi did not answer for an undo ends.
	undoOutage = 3
)

// UndoRequest says what is to be taken back: what was written to lists between two moments, or by a task.
type UndoRequest struct {
	// Since and Until bound when it was written: not before Since, and before Until. Both are zero for a task.
	Since, Until time.Time
	// AccountID is whose list; 0 for everybody's.
	AccountID int64
	TaskID    int64
	// DryRun only tells what would be taken back.
	DryRun bool
}

// Undoing is what an undo brought, or would bring.
type Undoing struct {
	DryRun    bool       `json:"dry_run"`
	Since     *time.Time `json:"since"`
	Until     *time.Time `json:"until"`
	AccountID int64      `json:"account_id" doc:"0 for the lists of all accounts."`
	TaskID    int64      `json:"task_id" doc:"The task that was undone; 0 for a span of time."`
	UndoTally
	// Entries are never null.
	Entries []UndoneEntry `json:"entries" doc:"The first 300, by account and entry."`
	More    int           `json:"more" doc:"How many entries are not listed."`
	// Restores are never null.
	Restores []int64 `json:"restores" doc:"Tasks that restored a snapshot in this time, which is not undone here: undo each by its own id."`
}

// UndoTally counts what an undo brought.
type UndoTally struct {
	Lists     int `json:"lists" doc:"Entries of lists that were looked at."`
	TakenBack int `json:"taken_back" doc:"Marks that were removed."`
	Gone      int `json:"gone" doc:"Marks that were not on the list any more."`
	Kept      int `json:"kept" doc:"Marks that stay, because the person has set them since."`
	Needed    int `json:"needed" doc:"Marks that stay, because another record needs them, too."`
	Changed   int `json:"changed" doc:"Entries whose state was taken back: dropped, no longer completed, or as before."`
	Stopped   int `json:"stopped" doc:"Records of the task that waited for Bangumi, and are not sent any more."`
	Failed    int `json:"failed" doc:"Entries that stay as they were, because something failed."`
}

// UndoneEntry is what became of one entry.
type UndoneEntry struct {
	AccountID   int64             `json:"account_id"`
	AccountName string            `json:"account_name"`
	SubjectID   catalog.SubjectID `json:"subject_id"`
	SubjectName string            `json:"subject_name"`
	// Marks are never null.
	Marks []UndoneMark `json:"marks"`
	State EntryFate    `json:"state" enum:",dropped,reopened,set_back,stays" doc:"What became of the entry itself: dropped (and private: it was put on the list), reopened (it was completed), set_back (to the state that it had), stays (the person has changed it since). Empty: nothing was to be taken back."`
	// Problem is why the entry stays as it was; empty when nothing failed.
	Problem reason.Reason `json:"problem_value,omitzero"`
}

// MarshalJSON adds the text of the problem.
func (e UndoneEntry) MarshalJSON() ([]byte, error) {
	type plain UndoneEntry
	return reason.MarshalBeside((*plain)(&e))
}

// UndoneMark is what became of one mark.
type UndoneMark struct {
	RecordID    int64             `json:"record_id"`
	EpisodeID   catalog.EpisodeID `json:"episode_id" doc:"0 for the entry itself."`
	EpisodeSort *float64          `json:"episode_sort"`
	Fate        MarkFate          `json:"fate" enum:"taken_back,gone,kept,needed"`
	NeededBy    int64             `json:"needed_by" doc:"The record that needs it; 0 for none."`
}

// MarkFate is what became of a mark.
type MarkFate string

// EntryFate is what became of an entry.
type EntryFate string

// The fates of marks and entries.
const (
	MarkTakenBack MarkFate = "taken_back"
	MarkGone      MarkFate = "gone"
	MarkKept      MarkFate = "kept"
	MarkNeeded    MarkFate = "needed"

	EntryDropped  EntryFate = "dropped"
	EntryReopened EntryFate = "reopened"
	EntrySetBack  EntryFate = "set_back"
	EntryStays    EntryFate = "stays"
)

// undoing is an undo at work.
type undoing struct {
	*Service
	asked  UndoRequest
	what   record.Writings
	task   *task.Task
	result Undoing
	// assigned is the task that made a user one of an account, where that is what is undone.
	assigned *task.Status
}

// UndoWritings starts a task that takes back what was written to lists, entry by entry, but for what the person changed since and what
// other records need. One that is cancelled or cut off goes on where it stopped when it is asked for again. It returns ErrTaskRuns,
// task.ErrRunning, task.ErrStopping, or account.ErrNotFound.
func (s *Service) UndoWritings(ctx context.Context, asked UndoRequest) (*task.Task, error) {
	if asked.AccountID != 0 {
		if _, err := s.Engine.Accounts.Get(ctx, asked.AccountID); err != nil {
			return nil, err
		}
	}
	var assigned *task.Status
	if asked.TaskID != 0 {
		t, err := s.Engine.Tasks.Get(ctx, asked.TaskID)
		if err != nil && !errors.Is(err, task.ErrNotFound) {
			return nil, err
		}
		if err == nil {
			of := t.Status()
			if of.State == task.Running {
				return nil, ErrTaskRuns
			}
			if of.Kind == engine.AssignKind && !asked.DryRun {
				assigned = &of
			}
		}
	}
	u := undoing{assigned: assigned, Service: s, asked: asked, result: Undoing{DryRun: asked.DryRun, AccountID: asked.AccountID, TaskID: asked.TaskID, Entries: []UndoneEntry{}, Restores: []int64{}}}
	u.what = record.Writings{Since: asked.Since, Until: asked.Until, AccountID: asked.AccountID, TaskID: asked.TaskID}
	if asked.TaskID == 0 {
		u.result.Since, u.result.Until = &asked.Since, &asked.Until
	}
	kind := UndoKind
	if asked.DryRun {
		kind = UndoPreviewKind
	}
	return s.Engine.Tasks.Start(ctx, task.Spec{Kind: kind, Alone: task.OfEach(ctx, kind)}, func(ctx context.Context, t *task.Task) error {
		u.task = t
		if u.assigned == nil {
			return u.run(ctx)
		}
		user, err := s.Engine.Unbind(ctx, *u.assigned) // before all else: nothing more is marked meanwhile
		if err == nil {
			err = u.run(ctx)
		}
		if err != nil {
			return err
		}
		return s.Engine.Unassign(ctx, *u.assigned, user)
	})
}

func (u *undoing) run(ctx context.Context) error {
	var err error
	if u.asked.TaskID != 0 {
		err = u.stopWaiting(ctx)
	} else if u.Restores != nil {
		u.result.Restores, err = u.Restores(ctx, u.asked.AccountID, u.asked.Since, u.asked.Until)
	}
	u.task.SetResult(u.result)
	if err != nil {
		return err
	}
	entries, err := u.Engine.Records.WrittenEntries(ctx, u.what)
	if err != nil {
		return err
	}
	silent := 0
	for i, e := range entries {
		u.task.Progress(i, len(entries), undoneSoFar.With(u.result.TakenBack, u.result.Kept+u.result.Needed))
		one, err := u.entry(ctx, e)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			u.Engine.Log.WarnContext(ctx, "cannot take back what was written to an entry", "account_id", e.AccountID, "subject_id", e.SubjectID, "error", err)
			one.Problem = unmarkProblem(err).With()
			u.result.Failed++
		}
		u.result.Lists++
		if len(u.result.Entries) < undoListed {
			u.result.Entries = append(u.result.Entries, one)
		} else {
			u.result.More++
		}
		u.task.SetResult(u.result)
		if silent++; !errors.Is(err, catalog.ErrUnreachable) {
			silent = 0
		}
		if silent == undoOutage {
			return undoUnreachable.With(u.result.Lists-u.result.Failed, len(entries))
		}
	}
	u.task.Progress(len(entries), len(entries), undoneSoFar.With(u.result.TakenBack, u.result.Kept+u.result.Needed))
	if u.result.Failed > 0 {
		return undoStuck.With(u.result.Failed, len(entries))
	}
	return nil
}

// stopWaiting waits until what a task has set going is settled, and has the rest of it, which waits for Bangumi, not be sent any more.
func (u *undoing) stopWaiting(ctx context.Context) error {
	onTheWay, queued, err := u.Engine.Records.Unfinished(ctx, u.asked.TaskID)
	if err != nil {
		return err
	}
	if u.asked.DryRun {
		u.result.Stopped = len(queued)
		return nil
	}
	if len(onTheWay) > 0 {
		u.task.Progress(0, 0, undoWaits.With(len(onTheWay)))
	}
	for _, id := range onTheWay {
		r, err := u.Engine.Settled(ctx, id)
		if err != nil && !errors.Is(err, record.ErrNotFound) {
			return err
		}
		if r.Status == record.Queued {
			queued = append(queued, id)
		}
	}
	for _, id := range queued {
		stopped, err := u.stop(ctx, id, u.why())
		if err != nil {
			return err
		}
		if stopped {
			u.result.Stopped++
		}
	}
	return nil
}

// stop has a record that waits for the catalog not be sent any more. One that perhaps wrote something already is not stopped: it ends with that.
func (s *Service) stop(ctx context.Context, id int64, why reason.Reason) (stopped bool, err error) {
	marks, err := s.Engine.Records.Marks(ctx, id)
	if err != nil || len(marks) > 0 {
		return false, err
	}
	err = s.Engine.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := queue.DoneTx(ctx, tx, id); err != nil {
			return err
		}
		return record.IgnoreTx(ctx, tx, id, why)
	})
	if err != nil {
		return false, fmt.Errorf("stop record %d: %w", id, err)
	}
	s.Engine.Records.Feed.Publish(id)
	return true, s.Engine.CloseNews(ctx, id)
}

// why is what the records say that lose their marks.
func (u *undoing) why() reason.Reason {
	if u.asked.TaskID != 0 {
		return taskUndone.With(u.asked.TaskID)
	}
	return spanUndone.With()
}

// entry takes back what was written to one entry.
func (u *undoing) entry(ctx context.Context, e record.ListEntry) (one UndoneEntry, err error) {
	one = UndoneEntry{AccountID: e.AccountID, SubjectID: e.SubjectID, Marks: []UndoneMark{}}
	if a, err := u.Engine.Accounts.Get(ctx, e.AccountID); err == nil {
		one.AccountName = a.Username
	} else if !errors.Is(err, account.ErrNotFound) {
		return one, err
	}
	ctx = catalog.InTurn(ctx, e.AccountID, true)
	group, err := u.written(ctx, e)
	if err != nil || len(group) == 0 {
		return one, err
	}
	one.SubjectName = group[0].of.SubjectName
	how := taking{message: u.why(), undo: true, beside: u.what, dry: u.asked.DryRun, end: ignoreTx}
	for _, m := range group {
		how.together = append(how.together, m.RecordID)
	}
	taken, err := u.takeBack(ctx, group, how)
	if err != nil {
		return one, err
	}
	for _, t := range taken {
		one.Marks = append(one.Marks, UndoneMark{RecordID: t.RecordID, EpisodeID: t.EpisodeID, EpisodeSort: t.of.EpisodeSort, Fate: t.fate(), NeededBy: t.sharer})
		switch t.fate() {
		case MarkTakenBack:
			u.result.TakenBack++
		case MarkGone:
			u.result.Gone++
		case MarkKept:
			u.result.Kept++
		case MarkNeeded:
			u.result.Needed++
		}
	}
	if one.State = taken[0].entryFate(); one.State != "" && one.State != EntryStays {
		u.result.Changed++
	}
	return one, nil
}

// written is what was written to an entry, once no record of it is worked on any more.
func (u *undoing) written(ctx context.Context, e record.ListEntry) ([]heldMark, error) {
	for {
		marks, of, err := u.Engine.Records.WrittenTo(ctx, e, u.what)
		if err != nil {
			return nil, err
		}
		var group []heldMark
		waited := false
		for _, m := range marks {
			if of[m.RecordID].Status.IsOnTheWay() && !u.asked.DryRun {
				if _, err := u.Engine.Settled(ctx, m.RecordID); err != nil && !errors.Is(err, record.ErrNotFound) {
					return nil, err
				}
				waited = true
			}
			group = append(group, heldMark{m, of[m.RecordID]})
		}
		if !waited {
			return group, nil
		}
	}
}

func (t takenBack) fate() MarkFate {
	switch {
	case t.sharer != 0:
		return MarkNeeded
	case t.kept:
		return MarkKept
	case t.EpisodeID != 0 && !t.cleared, t.EpisodeID == 0 && t.entryFate() == "":
		return MarkGone
	case t.EpisodeID == 0 && t.entryFate() == EntryStays:
		return MarkKept
	}
	return MarkTakenBack
}

func (t takenBack) entryFate() EntryFate {
	switch {
	case t.left:
		return EntryDropped
	case t.setBack, t.finished:
		return EntrySetBack
	case t.reopened:
		return EntryReopened
	case t.touched:
		return EntryStays
	}
	return ""
}

// Wrote reports whether a task, which may be forgotten, has written something that nobody took back.
func (s *Service) Wrote(ctx context.Context, taskID int64) (bool, error) {
	entries, err := s.Engine.Records.WrittenEntries(ctx, record.Writings{TaskID: taskID})
	return len(entries) > 0, err
}
