package budget

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"watchmark/internal/platform/db"
)

// bucket is what may be sent to one host by one who counts there.
type bucket struct {
	name name
	db   *db.DB
	gate gate

	mu     sync.Mutex
	memory *rate.Limiter // of a process alone
	hand   int           // taken from the database, and not sent yet
	until  time.Time     // when the hand is dropped
	ban    Ban
}

// limiter counts the requests of a process alone.
func (u *bucket) limiter(o Options) *rate.Limiter {
	u.mu.Lock()
	defer u.mu.Unlock()
	steady := rate.Limit(float64(o.PerMinute) / 60)
	if u.memory == nil {
		u.memory = rate.NewLimiter(steady, o.Burst)
	}
	if u.memory.Limit() != steady {
		u.memory.SetLimit(steady)
	}
	if u.memory.Burst() != o.Burst {
		u.memory.SetBurst(o.Burst)
	}
	return u.memory
}

// idle reports whether a new bucket would be the same.
func (u *bucket) idle() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := time.Now()
	return !u.ban.holds(now) && (u.hand == 0 || now.After(u.until)) && (u.memory == nil || u.memory.Tokens() >= float64(u.memory.Burst())) && u.gate.ahead(LookUp) == 0
}

// inTime reports whether one that comes now may get its turn before end.
func (u *bucket) inTime(end time.Time, class Class, o Options) bool {
	left := time.Until(end)
	most := float64(o.Burst)
	if u.db.Alone() {
		most = u.limiter(o).Tokens()
	}
	return left > 0 && most+left.Minutes()*float64(o.PerMinute) >= float64(u.gate.ahead(class)+1)
}

// set replaces the ban, and answers the one before.
func (u *bucket) set(ban Ban) (was Ban) {
	u.mu.Lock()
	defer u.mu.Unlock()
	was, u.ban = u.ban, ban
	if ban.holds(time.Now()) {
		u.hand = 0
	}
	return was
}

// close bans the bucket, and reports whether it was open.
func (u *bucket) close(after time.Duration) (fresh bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := time.Now()
	if fresh = !u.ban.holds(now); fresh {
		u.ban = Ban{Since: now, Trial: now.Add(firstTrial)}
	}
	u.ban.Until = now.Add(banTime)
	if after > 0 {
		u.ban.Until, u.ban.Trial = now.Add(after), now.Add(after)
	}
	u.hand = 0
	return fresh
}

// try reports whether the one who asks may look whether the ban is over. The error is a *Banned; without a ban it is nil.
func (u *bucket) try(ctx context.Context, probe bool) (trial bool, err error) {
	u.mu.Lock()
	now := time.Now()
	ban, alone := u.ban, u.db.Alone()
	due := !now.Before(ban.Trial) || probe && alone
	if ban.holds(now) && due && alone {
		u.ban.Trial = now.Add(min(max(now.Sub(ban.Since), firstTrial), lastTrial))
	}
	u.mu.Unlock()
	switch {
	case !ban.holds(now):
		return false, nil
	case due && alone:
		return true, nil
	case due:
		trial, ban, err = takeTrial(ctx, u.db, u.name)
		if err == nil {
			u.set(ban)
		}
		if err != nil || trial || !ban.holds(now) {
			return trial, err
		}
	}
	return false, &Banned{ban, u.name.account()}
}

// token waits for one request. Its turn is the caller's.
func (u *bucket) token(ctx context.Context, o Options) error {
	if u.db.Alone() {
		if err := u.limiter(o).Wait(ctx); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return context.DeadlineExceeded // Wait foresees that it would pass
		}
		return nil
	}
	for failures := 0; !u.spend(); {
		before := time.Now()
		taken, err := takeTokens(ctx, u.db, u.name, o)
		pause := min(max(taken.wait, firstPause), lastPause)
		switch {
		case errors.Is(err, db.ErrEvicted), ctx.Err() != nil:
			return errors.Join(ctx.Err(), err)
		case err != nil:
			pause = min(firstPause<<failures, lastPause)
			failures = min(failures+1, 10)
		case taken.ban.holds(before):
			u.set(taken.ban)
			return &Banned{taken.ban, u.name.account()}
		case taken.n > 0:
			u.put(taken.n, before.Add(handTime))
			continue
		}
		if end, bounded := ctx.Deadline(); bounded && end.Before(before.Add(taken.wait)) {
			return context.DeadlineExceeded
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// put takes n into the hand, until a time.
func (u *bucket) put(n int, until time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.hand, u.until = n, until
}

// spend takes one out of the hand, if there is one.
func (u *bucket) spend() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.hand == 0 || time.Now().After(u.until) {
		return false
	}
	u.hand--
	return true
}
