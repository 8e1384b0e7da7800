package tracker

import (
	"context"
	"errors"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/task"
)

// The kinds of the tasks that read histories.
const (
	SyncTask    = "tracker_sync"
	PreviewTask = "tracker_preview"
)

// TokensJob is the name of the job that keeps sign-ins alive.
const TokensJob = "tracker_tokens"

// retryAfter is how long after a run that failed in passing the next one begins.
const retryAfter = 30 * time.Minute

// Jobs keep sign-ins alive and read histories. They are switched off with the tracker.
func (k *Service) Jobs() []schedule.Job {
	plan := func(p func() schedule.Plan) func() schedule.Plan {
		return func() schedule.Plan {
			if !k.Options().Enabled {
				return schedule.Plan{}
			}
			return p()
		}
	}
	return []schedule.Job{
		{
			Name: SyncTask, Busy: ErrRunning, Last: k.store.lastRead, Plan: plan(k.Plan),
			Ready: func(ctx context.Context) error {
				_, err := k.ready(ctx, 0)
				return err
			},
			Run: func(ctx context.Context, run *schedule.Run) error {
				users, err := k.ready(ctx, 0)
				if errors.Is(err, ErrNobody) {
					return nil
				}
				if err != nil {
					return err
				}
				return k.sync(ctx, run, users, false)
			},
		},
		{
			Name: TokensJob, Quiet: true, AtStart: new(time.Duration), Run: k.renewTokens,
			Plan: plan(func() schedule.Plan { return schedule.Every(heartbeat) }),
		},
	}
}

// worthRetrying is how long after err the same reading may succeed without anybody doing
// anything; 0 is never.
func worthRetrying(err error) time.Duration {
	var said *Error
	switch {
	case errors.Is(err, ErrDead), errors.As(err, &said) && !passing(err):
		return 0
	case said != nil:
		return max(retryAfter, said.RetryAfter)
	}
	return retryAfter // the disk is full, or the pages moved
}

// Sync starts a task that takes in what was watched; with full all of the history that is no
// record yet. userID 0 is everybody. Errors: ErrOff, ErrRunning, ErrNobody, ErrNotFound,
// ErrDead, ErrDisconnected, task.ErrStopping.
func (k *Service) Sync(ctx context.Context, userID int64, full bool) (*task.Task, error) {
	users, err := k.ready(ctx, userID)
	if err != nil {
		return nil, err
	}
	return k.Schedule.StartWith(ctx, SyncTask, SyncTask, func(ctx context.Context, run *schedule.Run) error {
		return k.sync(ctx, run, users, full)
	})
}

// sync reads the histories of users one after the other.
func (k *Service) sync(ctx context.Context, run *schedule.Run, users []User, full bool) error {
	var problems []reason.Reason
	results := make([]RunResult, 0, len(users))
	var again time.Duration
	for _, u := range users {
		result, err := k.readHistory(ctx, run.Task, u, full)
		results = append(results, result)
		run.SetResult(results)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			again = max(again, worthRetrying(err))
			problems = append(problems, reason.Because.With(result.Name, err))
			k.Log.WarnContext(ctx, "the history of a tracker user could not be read to its end", "tracker_user", result.Name, "error", err)
		} else {
			k.Log.InfoContext(ctx, "the history of a tracker user was read", "tracker_user", result.Name, "outcome", string(result.Outcome), "taken", result.Taken)
		}
	}
	if again > 0 {
		run.Again(again)
	}
	switch len(problems) {
	case 0:
		return nil
	case 1:
		return problems[0]
	}
	return reason.Several.With(problems)
}

// PreviewSync starts a task that lists what a full sync of a user would mark, and marks nothing;
// userID 0 is the only one who is connected. Errors as Sync's, and ErrWhich.
func (k *Service) PreviewSync(ctx context.Context, userID int64) (*task.Task, error) {
	users, err := k.ready(ctx, userID)
	if err != nil {
		return nil, err
	}
	if len(users) > 1 {
		return nil, ErrWhich
	}
	return k.Schedule.StartWith(ctx, SyncTask, PreviewTask, func(ctx context.Context, run *schedule.Run) error {
		result, err := k.previewHistory(ctx, run.Task, users[0])
		run.SetResult(result)
		return err
	})
}

// ready are the users whose history can be read.
func (k *Service) ready(ctx context.Context, userID int64) ([]User, error) {
	if !k.Options().Enabled {
		return nil, ErrOff
	}
	all, err := k.store.users(ctx)
	if err != nil {
		return nil, err
	}
	var users []User
	for _, u := range all {
		switch {
		case userID == u.ID && u.State == Dead:
			return nil, ErrDead
		case userID == u.ID && u.State == Disconnected:
			return nil, ErrDisconnected
		case (userID == 0 || userID == u.ID) && u.State.Usable():
			users = append(users, u)
		}
	}
	switch {
	case len(users) > 0:
		return users, nil
	case userID == 0:
		return nil, ErrNobody
	}
	return nil, ErrNotFound
}

// Status is how the tracker is set up and who is connected.
type Status struct {
	Enabled   bool   `json:"enabled"`
	MailReady bool   `json:"email_login_ready" doc:"Whether tracker.client_id is set, which signing in by e-mail needs."`
	AppReady  bool   `json:"app_ready" doc:"Whether an application is set, which signing in by browser or device code needs."`
	Users     []User `json:"users" doc:"Who was connected, the first one first."`
}

// Status is how the tracker is set up now and who is connected.
func (k *Service) Status(ctx context.Context) (Status, error) {
	o := k.Options()
	users, err := k.store.users(ctx)
	return Status{o.Enabled, o.ClientID != "", o.AppClientID != "" && o.AppClientSecret != "", users}, err
}

// SyncStatus is how reading histories stands.
type SyncStatus struct {
	Enabled bool       `json:"enabled"`
	Running bool       `json:"running"`
	TaskID  int64      `json:"task_id" doc:"The sync that runs, or ran last; 0 when there was none since the start."`
	NextRun *time.Time `json:"next_run" doc:"null while nothing is planned."`
	Users   []UserSync `json:"users"`
}

// SyncStatus is how reading histories stands now.
func (k *Service) SyncStatus(ctx context.Context) (SyncStatus, error) {
	s := SyncStatus{Enabled: k.Options().Enabled}
	job, err := k.Schedule.Status(ctx, SyncTask)
	if err != nil {
		return s, err
	}
	s.Running, s.NextRun, s.TaskID = job.Running, job.NextRun, job.TaskID
	s.Users, err = k.store.syncs(ctx)
	return s, err
}
