package watcher

import (
	"context"
	"errors"
	"strconv"
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
	return s.startAlone(ctx, SyncTask, id, func(ctx context.Context, t *task.Task) error {
		defer s.kick(id)
		end, err := s.turn(ctx, id)
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
func (s *Service) startAlone(ctx context.Context, kind string, id int64, work func(ctx context.Context, t *task.Task) error) (*task.Task, error) {
	t, err := s.Tasks.Start(ctx, task.Spec{Kind: kind, About: id, Alone: loginName(id)}, func(ctx context.Context, t *task.Task) error {
		s.works(id, true)
		defer s.works(id, false)
		return work(ctx, t)
	})
	if errors.Is(err, task.ErrRunning) {
		return nil, ErrRunning
	}
	return t, err
}

// works notes whether a task here works on a login, which is not given up meanwhile.
func (s *Service) works(id int64, is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tasks[id] = is
	if !is {
		delete(s.tasks, id)
	}
}

// loginName is what one replica at a time has of a login, and one task at a time does.
func loginName(id int64) string { return "login " + strconv.FormatInt(id, 10) }

// kick has what follows a login try again at once, where it waits to.
func (s *Service) kick(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.moods[id]; m != nil && m.way == Waiting {
		m.kick.Raise()
	}
}
