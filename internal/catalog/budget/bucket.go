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
	// first is what somebody waits for, behind it the work in the background.
	first, behind gate

	mu     sync.Mutex
	memory *rate.Limiter // of a process alone
	hand   hand          // of what somebody waits for
	spare  hand          // of the background
	spent  time.Time     // when something was sent last that somebody waits for
	ban    Ban
}

// hand is what was taken from the database, and not sent yet.
type hand struct {
	left  int
	until time.Time // when it is dropped
}

// spend takes one out, if there is one.
func (h *hand) spend(now time.Time) bool {
	if h.left == 0 || now.After(h.until) {
		return false
	}
	h.left--
	return true
}

const (
	// lastSpare is how often the background looks again whether there is something for it, while others wait.
	lastSpare = 10 * time.Millisecond
	// behindAfter is after how many that went first one of the background goes with them, so that it comes to its end.
	behindAfter = 8
	// unusedAfter is when the background may have what was taken for others, who sent nothing since.
	unusedAfter = 5 * time.Second
)

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
	return !u.ban.holds(now) && (u.hand.left == 0 || now.After(u.hand.until)) && (u.spare.left == 0 || now.After(u.spare.until)) &&
		(u.memory == nil || u.memory.Tokens() >= float64(u.memory.Burst())) && u.first.ahead() == 0 && u.behind.ahead() == 0
}

// inTime reports whether one that comes now may get its turn before end.
func (u *bucket) inTime(end time.Time, background bool, o Options) bool {
	left := time.Until(end)
	most := float64(o.Burst)
	if u.db.Alone() {
		most = u.limiter(o).Tokens()
	}
	ahead := u.first.ahead()
	if background {
		ahead += u.behind.ahead()
		most -= float64(o.reserve())
	}
	return left > 0 && most+left.Minutes()*float64(o.PerMinute) >= float64(ahead+1)
}

// set replaces the ban, and answers the one before.
func (u *bucket) set(ban Ban) (was Ban) {
	u.mu.Lock()
	defer u.mu.Unlock()
	was, u.ban = u.ban, ban
	if ban.holds(time.Now()) {
		u.drop()
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
	u.drop()
	return fresh
}

// drop forgets what is in hand. The caller holds mu.
func (u *bucket) drop() { u.hand, u.spare = hand{}, hand{} }

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
	_, err := u.draw(ctx, o, false)
	return err
}

// spareToken waits for one request of what others leave to the background, whose turn is the caller's. starved: so many others went
// meanwhile that the caller may take its turn among them.
func (u *bucket) spareToken(ctx context.Context, o Options) (starved bool, err error) {
	if !u.db.Alone() {
		return u.draw(ctx, o, true)
	}
	memory := u.limiter(o)
	for began := u.first.through(); u.first.through()-began < behindAfter; {
		pause := lastSpare
		if u.first.ahead() == 0 {
			missing := float64(o.reserve()+1) - memory.Tokens()
			if missing <= 0 && memory.Allow() {
				return false, nil
			}
			pause = max(time.Millisecond, time.Duration(missing/float64(memory.Limit())*float64(time.Second)))
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	return true, nil
}

// draw takes one request out of the hand, and more of the database's into it when it is empty. starved is as in spareToken.
func (u *bucket) draw(ctx context.Context, o Options, background bool) (starved bool, err error) {
	began := u.first.through()
	for failures := 0; !u.spend(background); {
		if background && u.first.through()-began >= behindAfter {
			return true, nil
		}
		before := time.Now()
		var taken taken
		err = nil
		if !background || u.first.ahead() == 0 {
			taken, err = takeTokens(ctx, u.db, u.name, o, background)
		}
		pause := min(max(taken.wait, firstPause), lastPause)
		switch {
		case errors.Is(err, db.ErrEvicted), ctx.Err() != nil:
			return false, errors.Join(ctx.Err(), err)
		case err != nil:
			pause = min(firstPause<<failures, lastPause)
			failures = min(failures+1, 10)
		case taken.ban.holds(before):
			u.set(taken.ban)
			return false, &Banned{taken.ban, u.name.account()}
		case taken.n > 0:
			u.put(hand{taken.n, before.Add(handTime)}, background)
			continue
		}
		if end, bounded := ctx.Deadline(); bounded && end.Before(before.Add(taken.wait)) {
			return false, context.DeadlineExceeded
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	return false, nil
}

// put takes a hand.
func (u *bucket) put(taken hand, background bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if background {
		u.spare = taken
	} else {
		u.hand = taken
	}
}

// spend takes one out of what is in hand, if there is one. The background has what others leave unused.
func (u *bucket) spend(background bool) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := time.Now()
	if background {
		return u.spare.spend(now) || now.Sub(u.spent) > unusedAfter && u.hand.spend(now)
	}
	u.spent = now
	return u.hand.spend(now) || u.spare.spend(now)
}
