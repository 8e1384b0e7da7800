package watcher

import (
	"context"
	"errors"
	"time"

	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/task"
	"watchmark/internal/source/mediaserver"
)

// AccountsJob is the name of the job that keeps the tokens of accounts at Plex from being forgotten there.
const AccountsJob = "server_accounts"

// Job keeps the tokens of accounts alive, once a day (upstreams/watchers.md section 4.1).
func (s *Service) Job() schedule.Job {
	return schedule.Job{
		Name: AccountsJob, Quiet: true, Run: s.keepAccounts,
		Plan: func() schedule.Plan {
			if !s.Enabled() {
				return schedule.Plan{}
			}
			return schedule.Every(24 * time.Hour)
		},
	}
}

func (s *Service) keepAccounts(ctx context.Context, _ *schedule.Run) error {
	all, err := s.store.all(ctx)
	if err != nil {
		return err
	}
	var problems []error
	for _, k := range all {
		if k.Kind == mediaserver.Plex && k.account != "" && !k.removed && k.Enabled {
			problems = append(problems, s.Dialer.KeepAlive(ctx, k.account))
		}
	}
	return errors.Join(problems...)
}

// Sync starts a task that compares everything that a person has played; its result is a CatchUp. Errors are ErrNotFound, ErrOff,
// ErrSignedOut, ErrRunning and task.ErrStopping.
func (s *Service) Sync(ctx context.Context, id int64) (*task.Task, error) {
	k, err := s.ready(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.startAlone(SyncTask, id, func(ctx context.Context, t *task.Task) error {
		defer s.kick(id)
		end, err := s.turns.Take(ctx, id)
		if err != nil {
			return err
		}
		defer end()
		if k, err = s.ready(ctx, id); err != nil {
			return err
		}
		client, err := s.open(k)
		if err != nil {
			return err
		}
		if err := s.connect(ctx, client, &k); err != nil {
			return err
		}
		result, err := s.catchUp(ctx, k, client, shows{}, complete, t)
		t.SetResult(result)
		return err
	})
}

// ready is a login that a server can be asked with.
func (s *Service) ready(ctx context.Context, id int64) (known, error) {
	k, err := s.store.get(ctx, id)
	switch {
	case err != nil:
		return k, err
	case !s.Enabled():
		return k, ErrOff
	case k.token == "" || k.State == SignedOut:
		return k, ErrSignedOut
	}
	return k, nil
}

// startAlone starts a task of a login, unless another one asks its server already.
func (s *Service) startAlone(kind string, id int64, work func(ctx context.Context, t *task.Task) error) (*task.Task, error) {
	s.mu.Lock()
	busy := s.syncs[id]
	s.syncs[id] = true
	s.mu.Unlock()
	if busy {
		return nil, ErrRunning
	}
	done := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.syncs, id)
	}
	t, err := s.Tasks.Start(kind, id, func(ctx context.Context, t *task.Task) error {
		defer done()
		return work(ctx, t)
	})
	if err != nil {
		done()
	}
	return t, err
}

// kick has what follows a login try again at once, where it waits to.
func (s *Service) kick(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.moods[id]; m != nil && m.way == Waiting {
		m.kick.Raise()
	}
}
