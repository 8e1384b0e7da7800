package notify

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/reason"
	"watchmark/internal/tell/notify/channel"
)

const (
	// pace is how often it looks at most for what was stored meanwhile.
	pace = time.Second
	// gather is how long the first notice of a burst waits for others; what comes after a digest waits for digestGap.
	gather    = 3 * time.Second
	digestGap = time.Minute
	// maxWaiting is how many notices may wait for one channel.
	maxWaiting = 2000
	// longestPause bounds what a receiver may ask for, so that a wrong one does not silence it for good.
	longestPause = 24 * time.Hour
	// stubborn is after how many failures others go before a message.
	stubborn = 5
	// storeAgain is how long it waits when the database does not take what became of a message.
	storeAgain = time.Second
)

// outlet is a channel while this process runs.
type outlet struct {
	// turn has room for one: who holds it sends.
	turn   chan struct{}
	bucket *rate.Limiter
	busy   bool // guarded by Notifier.mu

	// What follows belongs to Run, and to the send that it started while the outlet is busy.
	sender   channel.Sender
	version  int64               // of the channel that sender is of; 0 for none
	digested map[int64]time.Time // when a rule's last digest went out
}

// outlet is that of a channel.
func (n *Notifier) outlet(c Channel) *outlet {
	n.mu.Lock()
	defer n.mu.Unlock()
	o := n.outlets[c.ID]
	if o == nil {
		a, _ := channel.AdapterOf(c.Type) // without an adapter nothing is sent
		// In any minute goes out what the bucket held, and what ran into it meanwhile.
		bucket := rate.NewLimiter(rate.Limit(float64(a.Rate.PerMinute-a.Rate.Burst)/60), a.Rate.Burst)
		o = &outlet{turn: make(chan struct{}, 1), bucket: bucket, digested: map[int64]time.Time{}}
		n.outlets[c.ID] = o
	}
	return o
}

func (n *Notifier) isBusy(o *outlet) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return o.busy
}

func (n *Notifier) setBusy(o *outlet, busy bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	o.busy = busy
}

// Run sends what waits, until ctx ends, while this replica is the one that sends; another one takes over once it stops or is evicted. A
// message that is on its way at the end gets five seconds more. It may run once.
func (n *Notifier) Run(ctx context.Context) {
	var sends sync.WaitGroup
	defer sends.Wait()
	finished := make(chan struct{}, 1)
	start := func(o *outlet, c Channel, g group) {
		n.setBusy(o, true)
		sends.Go(func() {
			n.send(ctx, o, c, g)
			n.setBusy(o, false)
			select {
			case finished <- struct{}{}:
			default: // somebody else said so
			}
		})
	}
	for ctx.Err() == nil {
		next := time.NewTimer(n.startSends(ctx, start))
		rest := time.NewTimer(pace)
		var woken chan struct{} // nil until it has rested
		for waiting := true; waiting; {
			select {
			case <-rest.C:
				woken = n.woken
				continue
			case <-woken:
			case <-next.C:
			case <-finished:
			case <-ctx.Done():
			}
			waiting = false
		}
		next.Stop()
		rest.Stop()
	}
}

const (
	// senderHold is what the replica that sends has.
	senderHold = "notices"
	// idle is how long it rests when nothing is known to come due. Wake ends it.
	idle = time.Hour
)

// idleOfOthers is idle where other replicas add notices, too, or may be the one that sends.
var idleOfOthers = 2 * time.Second

// startSends starts a send for every channel that can send now, and reports after how long to do so again.
func (n *Notifier) startSends(ctx context.Context, start func(*outlet, Channel, group)) time.Duration {
	wait := idle
	if !n.DB.Alone() {
		wait = idleOfOthers
	}
	mine, err := n.Holds.Take(ctx, senderHold)
	if err == nil && !mine {
		return wait
	}
	var channels []Channel
	if err == nil {
		channels, err = n.withWork(ctx)
	}
	if err != nil {
		if ctx.Err() == nil {
			n.Log.ErrorContext(ctx, "cannot read which notices wait, trying again", "error", err)
		}
		return time.Minute
	}
	for _, c := range channels {
		o := n.outlet(c)
		if n.isBusy(o) {
			continue
		}
		g, after, err := n.next(ctx, o, c)
		switch {
		case err != nil:
			if ctx.Err() == nil {
				n.Log.ErrorContext(ctx, "cannot read what waits for a notification channel, trying again", "channel", c.ID, "error", err)
			}
			after = time.Minute
		case g != nil && o.bucket.Allow():
			start(o, c, *g)
			continue
		case g != nil:
			after = time.Duration((1 - o.bucket.Tokens()) / float64(o.bucket.Limit()) * float64(time.Second))
		}
		wait = min(wait, max(after, time.Millisecond))
	}
	return wait
}

// next is what a channel sends now, or nil and how long that takes.
func (n *Notifier) next(ctx context.Context, o *outlet, c Channel) (*group, time.Duration, error) {
	if err := n.dropForeign(ctx, c); err != nil {
		return nil, 0, err
	}
	groups, err := n.groups(ctx, c.ID)
	if err != nil {
		return nil, 0, err
	}
	if !c.Enabled {
		return nil, idle, n.dropAll(ctx, c.ID)
	}
	current := n.current.Load()
	total := 0
	for _, g := range groups {
		total += g.count
		if _, known := current.known[g.rule]; !known && g.rule != 0 {
			return nil, 0, n.dropGroup(ctx, c.ID, g.rule)
		}
	}
	if total > maxWaiting {
		return nil, 0, n.dropOldest(ctx, c.ID)
	}
	now := time.Now()
	if !c.Paused.IsZero() {
		return nil, idle, nil
	}
	// One that lies further ahead than it can was written before the clock was set back.
	if hold := c.RetryAt.Sub(now); hold > 0 && hold <= longestPause+longestBackoff {
		return nil, hold, nil
	}
	var best *group
	wait := idle
	for _, g := range groups {
		after := g.readyAfter(now, current.known[g.rule], o.digested[g.rule])
		if after > 0 {
			wait = min(wait, after)
		} else if best == nil || g.before(*best) {
			best = &g
		}
	}
	return best, wait, nil
}

// group is what waits for a channel by one rule and belongs to one message; message is empty for what belongs to none yet.
type group struct {
	rule    int64
	message string
	count   int
	first   int64 // the id of its oldest delivery
	created time.Time
	due     time.Time
	tries   int
}

// readyAfter is how long a group is to wait, at most 0 when it can go.
func (g group) readyAfter(now time.Time, r Rule, digested time.Time) time.Duration {
	var after time.Duration
	if g.message != "" {
		if after = g.due.Sub(now); after > longestBackoff {
			after = 0 // the clock was set back
		}
	} else {
		after = max(min(g.created.Add(gather).Sub(now), gather), digested.Add(digestGap).Sub(now))
	}
	if until := r.quietUntil(now.Local()); !until.IsZero() {
		after = max(after, until.Sub(now))
	}
	return after
}

// before reports whether a group goes before another: what was begun first, but what fails again and again last.
func (g group) before(other group) bool {
	rank := func(g group) int {
		switch {
		case g.message == "":
			return 1
		case g.tries < stubborn:
			return 0
		}
		return 2
	}
	if a, b := rank(g), rank(other); a != b {
		return a < b
	}
	return g.first < other.first
}

// send sends one message of a channel, and stores what became of it.
func (n *Notifier) send(ctx context.Context, o *outlet, c Channel, g group) {
	select {
	case o.turn <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-o.turn }()
	if o.version != c.version {
		sender, err := n.Open(c)
		if err != nil {
			n.settle(ctx, parcel{channel: c}, outcome{state: Waiting, pause: true, problem: problemOf(err)})
			return
		}
		o.sender, o.version = sender, c.version
	}
	p, err := n.claim(ctx, c, g)
	if err != nil {
		if ctx.Err() == nil {
			n.Log.ErrorContext(ctx, "cannot take up a message, trying again", "channel", c.ID, "error", err)
			sleep(ctx, storeAgain)
		}
		return
	}
	if len(p.entries) == 0 {
		return
	}
	if p.digest {
		maps.DeleteFunc(o.digested, func(_ int64, at time.Time) bool { return time.Since(at) >= digestGap })
		o.digested[p.rule.ID] = time.Now()
	}
	err = trySend(ctx, o.sender, n.message(ctx, p), sendMost)
	n.settle(ctx, p, n.judge(p, err))
}

// message is that of a parcel, in the language of its channel, and with what can be answered there.
func (n *Notifier) message(ctx context.Context, p parcel) channel.Message {
	m := p.compose(n.languageOf(p.channel), n.Base())
	if config, err := channel.Read(p.channel.Type, p.channel.Config.Reveal()); err == nil && channel.Answers(config) && !p.digest {
		m.Actions = n.Actions(ctx, p.channel, p.entries[0], m)
	}
	return m
}

// languageOf is the language of messages to a channel.
func (n *Notifier) languageOf(c Channel) bilingual.Language {
	config, err := channel.Read(c.Type, c.Config.Reveal())
	if err != nil { // then nothing can be sent either
		return n.Language()
	}
	return cmp.Or(channel.LanguageOf(config), n.Language())
}

// How long a message may take, and how long at the end of the service.
const (
	sendMost = time.Minute
	lastWait = 5 * time.Second
)

// trySend sends a message. The end of ctx leaves it lastWait more. The error is a *channel.Failure or errCut.
func trySend(ctx context.Context, sender channel.Sender, m channel.Message, most time.Duration) error {
	sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		sleep(sending, lastWait)
		cancel()
	})
	defer stop()
	err := sender.Send(sending, m)
	var failure *channel.Failure
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && sending.Err() != nil:
		return errCut
	case errors.As(err, &failure):
		return failure
	case errors.Is(err, context.DeadlineExceeded):
		return &channel.Failure{Problem: receiverSilent.With(most.String())}
	}
	return &channel.Failure{Problem: reason.Of(err)}
}

// sleep waits, at most until ctx ends.
func sleep(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// isDigest reports whether what waits becomes one message: when it is much, or waited for the end of quiet hours.
func isDigest(count int, r Rule, oldest time.Time) bool {
	return count > digestAbove || !r.quietUntil(oldest.Local()).IsZero()
}
