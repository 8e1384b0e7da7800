package tracker

import (
	"context"
	"errors"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
)

// The kinds of the tasks that read histories.
const (
	SyncTask    = "tracker_sync"
	PreviewTask = "tracker_preview"
)

const (
	// retryAfter is how long after a run that failed in passing the next one begins.
	retryAfter = 30 * time.Minute
	// lookEvery is how often the clock is looked at: somebody may set it.
	lookEvery = time.Minute
)

// Kick has the Keeper look at the settings anew.
func (k *Keeper) Kick() { k.wake.Raise() }

// Run keeps credentials alive and reads histories by schedule until ctx ends. It does nothing
// while the tracker is switched off. Readings are tasks, which the registry stops.
func (k *Keeper) Run(ctx context.Context) {
	if last, err := k.store.lastRead(ctx); err != nil {
		k.Log.ErrorContext(ctx, "cannot read when the tracker was asked last", "error", err)
	} else if !last.IsZero() {
		k.mu.Lock()
		k.last = last
		k.mu.Unlock()
	}
	var beaten time.Time
	for ctx.Err() == nil {
		wait := lookEvery
		if k.Options().Enabled {
			if since := time.Since(beaten); beaten.IsZero() || since >= heartbeat {
				beaten = time.Now()
				k.beat(ctx)
			}
			if due := k.due(time.Now()); !due.IsZero() {
				if due.After(time.Now()) {
					wait = min(wait, time.Until(due))
				} else {
					k.runDue(ctx)
				}
			}
		}
		k.wake.Wait(ctx, wait)
	}
}

// runDue starts the reading that is due.
func (k *Keeper) runDue(ctx context.Context) {
	k.mu.Lock()
	k.last, k.again = time.Now(), time.Time{}
	k.mu.Unlock()
	_, err := k.Sync(ctx, 0, false)
	switch {
	case errors.Is(err, ErrRunning): // which may be a preview, or of one person only
		k.mu.Lock()
		k.again = time.Now().Add(retryAfter)
		k.mu.Unlock()
	case err != nil && !errors.Is(err, ErrNobody):
		k.Log.WarnContext(ctx, "the history of the tracker is not read", "error", err)
	}
}

// due is when histories are read next; zero is never.
func (k *Keeper) due(now time.Time) time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	from := k.last
	if from.After(now) { // somebody has set the clock back
		from = now
	}
	next := k.Next(from)
	if !k.again.IsZero() && !next.IsZero() {
		return k.again
	}
	return next
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
func (k *Keeper) Sync(ctx context.Context, userID int64, full bool) (*task.Task, error) {
	users, err := k.ready(ctx, userID)
	if err != nil {
		return nil, err
	}
	return k.start(SyncTask, func(ctx context.Context, t *task.Task) error {
		var problems []reason.Reason
		results := make([]RunResult, 0, len(users))
		var again time.Duration
		for _, u := range users {
			result, err := k.readHistory(ctx, t, u, full)
			results = append(results, result)
			t.SetResult(results)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				again = max(again, worthRetrying(err))
				problems = append(problems, ofUser.With(result.Name, err))
				k.Log.WarnContext(ctx, "the history of a tracker user could not be read to its end", "tracker_user", result.Name, "error", err)
			} else {
				k.Log.InfoContext(ctx, "the history of a tracker user was read", "tracker_user", result.Name, "outcome", string(result.Outcome), "taken", result.Taken)
			}
		}
		if again > 0 {
			k.mu.Lock()
			k.again = time.Now().Add(again)
			k.mu.Unlock()
		}
		switch len(problems) {
		case 0:
			return nil
		case 1:
			return problems[0]
		}
		return several.With(problems)
	})
}

// PreviewSync starts a task that lists what a full sync of a user would mark, and marks nothing;
// userID 0 is the only one who is connected. Errors as Sync's, and ErrWhich.
func (k *Keeper) PreviewSync(ctx context.Context, userID int64) (*task.Task, error) {
	users, err := k.ready(ctx, userID)
	if err != nil {
		return nil, err
	}
	if len(users) > 1 {
		return nil, ErrWhich
	}
	return k.start(PreviewTask, func(ctx context.Context, t *task.Task) error {
		result, err := k.previewHistory(ctx, t, users[0])
		t.SetResult(result)
		return err
	})
}

// ready are the users whose history can be read.
func (k *Keeper) ready(ctx context.Context, userID int64) ([]User, error) {
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

// start runs work as a task; one reads histories at a time.
func (k *Keeper) start(kind string, work func(ctx context.Context, t *task.Task) error) (*task.Task, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.running != nil {
		return nil, ErrRunning
	}
	t, err := k.Tasks.Start(kind, 0, func(ctx context.Context, t *task.Task) error {
		defer k.Kick()
		defer func() {
			k.mu.Lock()
			k.running = nil
			k.mu.Unlock()
		}()
		return work(ctx, t)
	})
	if err != nil {
		return nil, err
	}
	k.running = t
	return t, nil
}

// Status is how the tracker is set up and who is connected.
type Status struct {
	Enabled   bool   `json:"enabled"`
	MailReady bool   `json:"email_login_ready" doc:"Whether tracker.client_id is set, which signing in by e-mail needs."`
	AppReady  bool   `json:"app_ready" doc:"Whether an application is set, which signing in by browser or device code needs."`
	Users     []User `json:"users" doc:"Who was connected, the first one first."`
}

// Status is how the tracker is set up now and who is connected.
func (k *Keeper) Status(ctx context.Context) (Status, error) {
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
func (k *Keeper) SyncStatus(ctx context.Context) (SyncStatus, error) {
	s := SyncStatus{Enabled: k.Options().Enabled}
	k.mu.Lock()
	s.Running = k.running != nil
	k.mu.Unlock()
	if next := k.due(time.Now()); s.Enabled && !next.IsZero() {
		next = next.UTC()
		s.NextRun = &next
	}
	if t, err := k.Tasks.Newest(SyncTask, 0); err == nil {
		s.TaskID = t.Status().ID
	}
	var err error
	s.Users, err = k.store.syncs(ctx)
	return s, err
}
