package snapshot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/task"
)

// The kinds of the tasks that bring back, and the job that goes on with those that were cut off. Their results are a Restoring.
const (
	RestoreTask    = "restore"
	PreviewTask    = "restore_preview"
	UndoTask       = "restore_undo"
	ContinueJob    = "restores"
	continueEvery  = time.Minute
	keepTold       = 24 * time.Hour      // for as long it is looked whether the task of one that has ended has ended as well
	keepRestores   = 90 * 24 * time.Hour // for as long one can be taken back
	restoringShown = 5000
)

// RestoreRequest says what of a snapshot is to be brought back.
type RestoreRequest struct {
	// Entries are the subjects; nil is all of the snapshot.
	Entries []catalog.SubjectID `json:"entries"`
	// Lower are those of which marks, ratings, states and text may be taken away.
	Lower  []catalog.SubjectID `json:"lower"`
	DryRun bool                `json:"-"`
}

// RestoreStatus is what became, or would become, of an entry.
type RestoreStatus string

// What may become of it.
const (
	ToWrite  RestoreStatus = "write"   // it would be written
	Written  RestoreStatus = "written" // it was
	Same     RestoreStatus = "same"    // there is nothing to write
	Refused  RestoreStatus = "cannot"  // Bangumi takes nothing of it
	HeldBack RestoreStatus = "held"    // there is only to take away, which was not asked for
	Failed   RestoreStatus = "failed"  // it is not on the list as it was written
	Waiting  RestoreStatus = "waiting" // the task has not come to it
)

// RestoreMarks are episodes of one entry that get one state.
type RestoreMarks struct {
	State    catalog.EpisodeState `json:"state" doc:"1 wish, 2 watched, 3 dropped; 0 takes the mark away."`
	Count    int                  `json:"count"`
	Episodes string               `json:"episodes" doc:"Their numbers, such as 1–12 SP1."`
}

// RestoreNote says what is not brought back of an entry.
type RestoreNote struct {
	Kind   string        `json:"kind" enum:"cannot,held,failed" doc:"held is what lower would allow."`
	Reason reason.Reason `json:"reason_value,omitzero"`
}

// MarshalJSON has the text of the reason beside it, as reason.
func (n RestoreNote) MarshalJSON() ([]byte, error) {
	type plain RestoreNote
	return reason.MarshalBeside((*plain)(&n))
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (n *RestoreNote) UnmarshalJSON(text []byte) error {
	type plain RestoreNote
	return reason.UnmarshalBeside(text, (*plain)(n))
}

// RestoreRow is an entry of a Restoring.
type RestoreRow struct {
	SubjectID catalog.SubjectID `json:"subject_id"`
	Name      string            `json:"name"`
	NameCN    string            `json:"name_cn"`
	Status    RestoreStatus     `json:"status" enum:"write,written,same,cannot,held,failed,waiting"`
	Created   bool              `json:"created" doc:"The entry is not on the list, and is put on it."`
	Writes    catalog.Wanted    `json:"writes" doc:"The fields that are written."`
	Was       catalog.Wanted    `json:"was" doc:"What these fields were before."`
	Marks     []RestoreMarks    `json:"marks"`
	Notes     []RestoreNote     `json:"notes" doc:"What is not brought back, and why."`
	Lines     int               `json:"lines" doc:"Entries on the public timeline."`
	Dated     bool              `json:"dated" doc:"Bangumi gives it the date of today; that of the snapshot cannot be brought back."`
}

// Restoring is what becomes of bringing back.
type Restoring struct {
	AccountID  int64 `json:"account_id"`
	SnapshotID int64 `json:"snapshot_id" doc:"What is brought back; 0 where a task is taken back."`
	DryRun     bool  `json:"dry_run"`
	Undoes     int64 `json:"undoes" doc:"The task that is taken back; 0 for none."`
	// Before is the snapshot of the list as it was.
	Before int64                 `json:"before" doc:"The snapshot of the list as it was before."`
	Rows   []RestoreRow          `json:"rows" doc:"Entries of which there is something to say, by subject."`
	Counts map[RestoreStatus]int `json:"counts" doc:"How many entries have each status."`
	Lines  int                   `json:"lines" doc:"Entries on the public timeline."`
	Dates  int                   `json:"dates" doc:"Entries that get the date of today."`
	Undo   bool                  `json:"undo" doc:"Whether there is something that can be taken back."`
	More   int                   `json:"more" doc:"Rows that are counted and left out, because there are too many."`
}

// add counts an entry, and shows it.
func (r *Restoring) add(row RestoreRow) {
	r.Counts[row.Status]++
	r.Lines += row.Lines
	if row.Dated {
		r.Dates++
	}
	if len(r.Rows) == restoringShown {
		r.More++
		return
	}
	r.Rows = append(r.Rows, row)
}

// Restore starts a task that makes entries what they are in a snapshot; with DryRun one that says what that would write. The list is read
// first, and kept as a snapshot. Errors: ErrNotFound, account.ErrNoToken, ErrRunning, task.ErrStopping.
func (k *Service) Restore(ctx context.Context, snapshotID int64, req RestoreRequest) (*task.Task, error) {
	s, err := k.store.get(ctx, snapshotID)
	if err != nil {
		return nil, err
	}
	return k.begin(ctx, restore{account: s.AccountID, snapshot: s.ID, chosen: req}, req.DryRun)
}

// UndoRestore starts a task that makes entries what they were before a Restore wrote to them, as far as nobody changed them since. Errors:
// ErrNoRestore for a task that was none, ErrRestoring while it runs, and those of Restore.
func (k *Service) UndoRestore(ctx context.Context, taskID int64, dryRun bool) (*task.Task, error) {
	r, err := k.store.restore(ctx, taskID)
	if err != nil {
		return nil, err
	}
	if r.ended.IsZero() {
		return nil, ErrRestoring
	}
	return k.begin(ctx, restore{account: r.account, undoes: taskID}, dryRun)
}

// RestoresBetween are the tasks that wrote to the list of an account (0: of any) in a span of time, the oldest first; never nil.
func (k *Service) RestoresBetween(ctx context.Context, accountID int64, since, until time.Time) ([]int64, error) {
	return k.store.restoresBetween(ctx, accountID, since, until)
}

// IsRestore returns ErrNoRestore where a task brought nothing back, or not to a list that the scope of ctx reaches.
func (k *Service) IsRestore(ctx context.Context, taskID int64) error {
	_, err := k.store.restore(ctx, taskID)
	return err
}

// LastRestore is the newest task that brought something back to an account's list and can be taken back; 0 for none.
func (k *Service) LastRestore(ctx context.Context, accountID int64) (int64, error) {
	return k.store.lastRestore(ctx, accountID)
}

// begin starts the task of a restore, which is stored before its id is given away.
func (k *Service) begin(ctx context.Context, r restore, dryRun bool) (*task.Task, error) {
	a, err := k.Accounts.Get(ctx, r.account)
	if err != nil {
		return nil, err
	}
	if !a.HasToken {
		return nil, account.ErrNoToken
	}
	stored := make(chan error, 1)
	t, err := k.Tasks.Start(ctx, task.Spec{Kind: r.kind(dryRun), About: a.ID, Alone: listOfAccount(a.ID)}, func(ctx context.Context, t *task.Task) error {
		if err := <-stored; err != nil {
			return err
		}
		work := &restoring{Service: k, restore: r, account: a, t: t, dryRun: dryRun}
		work.task = t.Status().ID
		return work.run(ctx)
	})
	if err != nil {
		return nil, alone(err)
	}
	if !dryRun {
		r.task, r.began = t.Status().ID, time.Now()
		err = k.store.addRestore(ctx, r)
	}
	stored <- err
	return t, err
}

// alone is an error of starting a task about a list.
func alone(err error) error {
	if errors.Is(err, task.ErrRunning) {
		return ErrRunning
	}
	return err
}

func (r restore) kind(dryRun bool) string {
	switch {
	case dryRun:
		return PreviewTask
	case r.undoes != 0:
		return UndoTask
	}
	return RestoreTask
}

// listOfAccount is what one task at a time does.
func listOfAccount(id int64) string { return fmt.Sprintf("list of %d", id) }

// Continuing goes on with what was cut off by the end of its replica, as the same task.
func (k *Service) Continuing() schedule.Job {
	return schedule.Job{
		Name: ContinueJob, Quiet: true, AtStart: new(time.Duration), Run: k.goOn,
		Plan: func() schedule.Plan { return schedule.Every(continueEvery) },
	}
}

func (k *Service) goOn(ctx context.Context, _ *schedule.Run) error {
	open, err := k.store.openRestores(ctx, time.Now().Add(-keepTold))
	if err != nil {
		return err
	}
	var problems []error
	for _, r := range open {
		if !r.ended.IsZero() { // its task may not know, when the service ended in between
			if t, err := k.Tasks.Get(ctx, r.task); err != nil || !t.Status().Cut() {
				continue
			}
		}
		a, err := k.Accounts.Get(ctx, r.account)
		if err == nil {
			spec := task.Spec{Kind: r.kind(false), About: a.ID, Alone: listOfAccount(a.ID), Again: r.task}
			_, err = k.Tasks.Start(ctx, spec, func(ctx context.Context, t *task.Task) error {
				now, err := k.store.restore(ctx, r.task)
				if err != nil {
					return err
				}
				return (&restoring{Service: k, restore: now, account: a, t: t}).run(ctx)
			})
		}
		if err != nil && !errors.Is(err, task.ErrRunning) {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// Prune removes up to a limit of restores that are so old that they cannot be taken back any more, and says how many.
func (k *Service) Prune(ctx context.Context, limit int) (removed int64, err error) {
	return k.store.pruneRestores(ctx, time.Now().Add(-keepRestores), limit)
}
