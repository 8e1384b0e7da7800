package watcher

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/source/mediaserver"
)

const (
	// lookEvery is how often the logins are looked at without a signal.
	lookEvery = time.Minute
	// again is how long after a lost token the server is asked once more, before a person is.
	again = time.Minute
	// refusedAgain is how long a server that refuses the person is left alone.
	refusedAgain = time.Hour
)

// waits are between tries to reach a server; the last one repeats.
var waits = []time.Duration{5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute}

// lookAtOthers is lookEvery where other replicas may change or need logins.
var lookAtOthers = 5 * time.Second

// following is the goroutine of a login.
type following struct {
	version int64
	stop    context.CancelFunc
	ended   chan struct{}
}

// Run follows all logins until ctx ends.
func (s *Service) Run(ctx context.Context) {
	running := map[int64]*following{}
	var background sync.WaitGroup
	defer background.Wait()
	s.run(true)
	defer s.run(false)
	for ctx.Err() == nil {
		all, err := s.store.all(ctx)
		if err != nil && ctx.Err() == nil {
			s.Log.ErrorContext(ctx, "cannot read the logins at media servers", "error", err)
		}
		if err == nil {
			s.follow(all)
			s.arrange(ctx, all, running, &background)
		}
		wait := lookEvery
		if !s.DB.Alone() {
			wait = lookAtOthers
		}
		s.wake.Wait(ctx, wait)
	}
}

// letGo lets another replica have a login, once nobody here asks its server.
func (s *Service) letGo(ctx context.Context, id int64) {
	end, err := s.turns.Take(context.WithoutCancel(ctx), id)
	if err != nil {
		return
	}
	defer end()
	s.Holds.Give(ctx, loginName(id))
}

// run notes whether logins are followed.
func (s *Service) run(is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = is
}

// arrange starts and stops what follows logins, as they are now.
func (s *Service) arrange(ctx context.Context, all []known, running map[int64]*following, background *sync.WaitGroup) {
	enabled := s.Enabled()
	for id, f := range running {
		if slices.ContainsFunc(all, func(k known) bool { return k.ID == id }) {
			continue
		}
		<-f.ended // it was forgotten
		delete(running, id)
		s.letGo(ctx, id)
	}
	share, leave := s.share(ctx, all, len(running))
	for _, k := range all {
		now := running[k.ID]
		lost := now != nil && !s.Holds.Has(loginName(k.ID)) // this replica was evicted, or has given it up
		if now != nil && (lost || leave[k.ID] || k.removed || !enabled || !k.wanted() || k.version != now.version) {
			now.stop()
			<-now.ended
			now = nil
			delete(running, k.ID)
		}
		if leave[k.ID] {
			s.letGo(ctx, k.ID)
			continue
		}
		if now != nil {
			select {
			case <-now.ended: // by itself
				delete(running, k.ID)
				now = nil
			default:
			}
		}
		if now != nil || !k.removed && (!enabled || !k.wanted()) {
			continue
		}
		if !s.Holds.Has(loginName(k.ID)) && len(running) >= share {
			continue
		}
		if got, err := s.Holds.Take(ctx, loginName(k.ID)); !got {
			if err != nil && ctx.Err() == nil {
				s.Log.ErrorContext(ctx, "cannot take a login at a media server", "server", k.Name(), "error", err)
			}
			continue
		}
		own, stop := context.WithCancel(ctx)
		f := &following{version: k.version, stop: stop, ended: make(chan struct{})}
		running[k.ID] = f
		background.Go(func() {
			defer close(f.ended)
			defer stop()
			s.guarded(own, k)
		})
	}
}

// share is how many logins this replica follows at most, and which of them it leaves to others: those that another replica waits for,
// and one at a time of what is beyond its share.
func (s *Service) share(ctx context.Context, all []known, has int) (most int, leave map[int64]bool) {
	if s.DB.Alone() {
		return len(all), nil
	}
	wanted, err := s.Holds.Wanted(ctx)
	replicas := 1
	if err == nil {
		replicas, err = s.Replicas(ctx)
	}
	if err != nil {
		if ctx.Err() == nil {
			s.Log.ErrorContext(ctx, "cannot see which logins at media servers other replicas wait for", "error", err)
		}
		return len(all), nil
	}
	replicas = max(1, replicas)
	most = (len(all) + replicas - 1) / replicas
	s.mu.Lock()
	defer s.mu.Unlock()
	leave = map[int64]bool{}
	for _, k := range all {
		name := loginName(k.ID)
		switch {
		case s.tasks[k.ID] || s.firsts[k.ID] != nil || !s.Holds.Has(name):
		case slices.Contains(wanted, name):
			leave[k.ID] = true
		case has > most:
			leave[k.ID] = true
			has = most
		}
	}
	return most, leave
}

// wanted reports whether there is anything to do for a login.
func (k known) wanted() bool {
	return k.Enabled && (k.code != nil || k.token != "" && k.State != SignedOut)
}

// guarded follows a login, and again after a panic: one login must not end the others.
func (s *Service) guarded(ctx context.Context, k known) {
	for ctx.Err() == nil {
		err := s.once(ctx, k)
		if err == nil || ctx.Err() != nil {
			return
		}
		s.Log.ErrorContext(ctx, "following a media server ended", "server", k.Name(), "error", err)
		if err := s.store.stand(ctx, k.Login, Unreachable, broken.With()); err != nil {
			s.Log.ErrorContext(ctx, "cannot store how a login stands", "error", err)
		}
		wait(ctx, waits[len(waits)-1])
	}
}

// once does what there is to do for a login. It returns nil when the row has changed, or waits for a person.
func (s *Service) once(ctx context.Context, k known) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	switch {
	case k.removed:
		return s.forget(ctx, k)
	case k.code != nil && k.token == "":
		return s.await(ctx, k)
	case k.code != nil: // signed in still, and about to be anew
		both, stop := context.WithCancel(ctx)
		var waiting sync.WaitGroup
		waiting.Go(func() {
			if err := s.await(both, k); err != nil && both.Err() == nil {
				s.Log.WarnContext(ctx, "a sign-in at a media server came to nothing", "server", k.Name(), "error", err)
			}
			stop()
			s.wake.Raise()
		})
		defer waiting.Wait()
		defer stop()
		return s.keepFollowing(both, k)
	}
	return s.keepFollowing(ctx, k)
}

// keepFollowing connects again and again, until ctx ends or a person is needed.
func (s *Service) keepFollowing(ctx context.Context, k known) error {
	m := &mood{way: Waiting, kick: schedule.NewSignal()}
	s.mu.Lock()
	s.moods[k.ID] = m
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.moods, k.ID)
	}()
	if k.Way != Waiting { // by who followed it before
		if err := s.store.hear(ctx, k.ID, Waiting, time.Time{}); err != nil {
			return err
		}
	}
	f := &follower{Service: s, id: k.ID, version: k.version, kind: k.Kind, mood: m, shows: shows{}, queue: newQueue(), dropped: map[string]time.Time{}, begun: map[string]bool{}}
	failures, dead := 0, false
	for ctx.Err() == nil {
		began, caughtUp := time.Now(), f.caughtUp
		err := f.session(ctx)
		f.endFirst(f.id)
		f.set(ctx, Waiting, time.Time{})
		if ctx.Err() != nil {
			return nil
		}
		worked := f.caughtUp != caughtUp
		if worked {
			failures = 0
		}
		pause, state := waits[min(failures, len(waits)-1)], Unreachable
		failures++
		switch {
		case errors.Is(err, ErrNotFound):
			return nil
		case is(err, mediaserver.ErrSignedOut) && dead:
			s.Log.WarnContext(ctx, "a media server has ended the sign-in", "server", k.Name(), "user", k.UserName)
			return s.store.stand(ctx, k.Login, SignedOut, reason.Of(err))
		case is(err, mediaserver.ErrSignedOut):
			dead, pause, state = true, again, Connected
		case is(err, mediaserver.ErrRefused):
			dead, pause, state = false, refusedAgain, Refused
		default:
			dead = false
		}
		if err != nil {
			s.Log.InfoContext(ctx, "the connection to a media server is lost", "server", k.Name(), "after", time.Since(began).Round(time.Second), "again_in", pause, "error", err)
		}
		switch {
		case err == nil: // it is made anew on purpose
			pause = 0
		case worked && is(err, mediaserver.ErrUnreachable): // the next try tells whether the server is gone
		case is(err, mediaserver.ErrUnreachable, mediaserver.ErrOther, mediaserver.ErrRefused):
			if err := s.store.stand(ctx, k.Login, state, reason.Of(err)); err != nil {
				return err
			}
		}
		m.kick.Wait(ctx, pause)
	}
	return nil
}

// set tells how news come in now, and when everything is asked for next.
func (f *follower) set(ctx context.Context, way Way, next time.Time) {
	f.mu.Lock()
	same := f.mood.way == way && f.mood.next.Equal(next)
	f.mood.way, f.mood.next = way, next
	f.mu.Unlock()
	if same {
		return
	}
	if err := f.store.hear(context.WithoutCancel(ctx), f.id, way, next); err != nil {
		f.Log.ErrorContext(ctx, "cannot store how news of a media server come in", "error", err)
	}
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
