package device

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"watchmark/internal/platform/reason"
)

// player is a player, at whatever addresses it is reached: one app on one box. Two apps on
// a box have one uuid and two ports.
type player struct {
	// turn is held while a look is judged or what is owed is stored; it guards what is
	// below it up to the blank line.
	turn sync.Mutex
	play *playback // nil when nothing is played
	owed []owed    // what is to be counted and was not stored yet

	// Watcher.mu guards these.
	uuid, name string
	place      *place // which answered last
	port       uint16
	now        *Now   // what is shown of play
	last       *Event // what was decided last
}

// owed is a playback that counts.
type owed struct {
	play  play
	again bool
	event Event
	from  Reading
	user  string
}

// id is what the store knows the player by: the box, not the app on it.
func (p *player) id() string {
	return cmp.Or(p.uuid, net.JoinHostPort(p.place.host, strconv.Itoa(int(p.port))))
}

// poll looks at one place, and plans its next look.
func (k *Watcher) poll(ctx context.Context, p *place) {
	who, what, err := k.ask(ctx, p)
	now := time.Now()
	k.mu.Lock()
	pl := p.player
	switch {
	case err == nil:
		pl = k.met(p, who, now)
	case ctx.Err() == nil:
		k.missed(p, now, err)
	}
	k.mu.Unlock()
	var next time.Duration
	switch {
	case err == nil:
		next = k.judge(ctx, pl, sample{now, what})
	case pl != nil:
		pl.turn.Lock()
		k.settle(ctx, pl)
		pl.turn.Unlock()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	p.polling = false
	if err != nil {
		return
	}
	if main := pl.place; main != p && main.offline.IsZero() && now.Sub(main.seen) < asideLook {
		next = asideLook
	}
	p.next = now.Add(next)
}

// ask asks who is there and what is played. A place whose port is open is looked for first,
// and again when nothing listens there any more. It waits while too many are asked.
func (k *Watcher) ask(ctx context.Context, p *place) (who info, what media, err error) {
	select {
	case k.polls <- struct{}{}:
		defer func() { <-k.polls }()
	case <-ctx.Done():
		return who, what, ctx.Err()
	}
	k.mu.Lock()
	host, port, anyPort := p.host, p.port, p.anyPort
	k.mu.Unlock()
	if port != 0 {
		if who, err = k.client.device(ctx, host, port); err == nil {
			what, err = k.client.media(ctx, host, port)
		}
		if err == nil || !anyPort {
			return who, what, err
		}
	}
	ports, missing := k.walk(ctx, host, true)
	if len(ports) == 0 {
		return who, what, cmp.Or(missing, err)
	}
	for _, other := range ports[1:] {
		k.add(host, other)
	}
	k.mu.Lock()
	p.port = ports[0]
	k.mu.Unlock()
	if who, err = k.client.device(ctx, host, ports[0]); err == nil {
		what, err = k.client.media(ctx, host, ports[0])
	}
	return who, what, err
}

// missed notes that a place did not answer. That is no error: boxes sleep. The caller holds mu.
func (k *Watcher) missed(p *place, now time.Time, err error) {
	if p.offline.IsZero() {
		p.offline = now
		if p.player != nil {
			k.Log.Debug("a TV box does not answer", "name", p.player.name, "error", err)
		}
	}
	p.problem = reason.Of(err)
	p.next = now.Add(min(firstRetry<<min(p.failures, 8), lastRetry))
	p.failures++
	if p.player == nil {
		return
	}
	if p.player.now != nil && p.player.now.State == Playing && p.failures == 1 {
		p.next = now.Add(closeLook)
	}
	for _, sibling := range k.places {
		if sibling != p && sibling.player == p.player && sibling.offline.IsZero() {
			sibling.next = now // the same box by another way
		}
	}
	if p.failures == 2 {
		k.rescan.Raise()
	}
}

// met notes that a place answered, and is the player that is there. The caller holds mu.
func (k *Watcher) met(p *place, who info, now time.Time) *player {
	p.seen, p.offline, p.failures, p.problem = now, time.Time{}, 0, reason.Reason{}
	if p.player == nil || p.player.uuid != who.uuid || p.player.port != p.port {
		p.player = k.known(p, who) // addresses are given to other boxes
	}
	pl := p.player
	pl.name = cmp.Or(who.name, p.host)
	if at := pl.place; at == nil || at == p || !at.offline.IsZero() || !slices.Contains(k.places, at) || at.player != pl {
		pl.place = p
	}
	return pl
}

// known is the player of who at p's port, wherever it was met before; made when it is new.
func (k *Watcher) known(p *place, who info) *player {
	for _, other := range k.places {
		if pl := other.player; other != p && pl != nil && who.uuid != "" && pl.uuid == who.uuid && pl.port == p.port {
			return pl
		}
	}
	return &player{uuid: who.uuid, port: p.port, place: p}
}

// judge takes a look into what is known of a player, has counted what was watched, and is
// the time until the next look.
func (k *Watcher) judge(ctx context.Context, pl *player, s sample) time.Duration {
	threshold := k.Config().Threshold
	pl.turn.Lock()
	defer pl.turn.Unlock()
	if pl.play != nil && s.at.Before(pl.play.last.at) {
		return closeLook // another look at it was quicker
	}
	k.mu.Lock()
	id, user := pl.id(), pl.name
	k.mu.Unlock()

	was := pl.play
	switch {
	case s.title == "":
		pl.play = nil
	case was != nil && was.same(s):
		// A position that is gone may be the end. Players have none while they load, too: what does not count yet stays open.
		if s.state == Stopped && s.position == 0 && was.completeAtEnd(s.at, threshold) {
			k.decide(pl, was, s.at, id, user)
		}
		was.take(s, threshold)
		was = nil
	default:
		pl.play = newPlayback(s)
	}
	if was != nil {
		k.end(pl, was, s.at, id, user)
	}
	if p := pl.play; p != nil && p.complete(threshold) {
		k.decide(pl, p, s.at, id, user)
	}
	k.settle(ctx, pl)
	k.begun(ctx, pl.play, id)
	interval := pl.play.interval(threshold)
	if pl.play != nil {
		pl.play.planned = interval
	}
	k.mu.Lock()
	pl.now = nowOf(pl.play)
	k.mu.Unlock()
	return interval
}

// end decides on a playback that is over.
func (k *Watcher) end(pl *player, p *playback, at time.Time, id, user string) {
	threshold := k.Config().Threshold
	switch share := p.end.share(); {
	case p.settled || !p.moved || p.live():
	case p.completeAtEnd(at, threshold):
		k.decide(pl, p, at, id, user)
	case share >= threshold:
		k.skip(pl, p, at, jumpedToEnd.With())
	default:
		k.skip(pl, p, at, endedEarly.With(fmt.Sprintf("%.0f", math.Floor(100*share)), fmt.Sprintf("%.0f", 100*threshold)))
	}
}

// decide has a playback counted that is complete.
func (k *Watcher) decide(pl *player, p *playback, at time.Time, id, user string) {
	if !p.reading.Problem.IsZero() {
		k.skip(pl, p, at, p.reading.Problem)
		return
	}
	p.settled = true
	pl.owed = append(pl.owed, owed{
		play: playOf(id, p.reading), again: p.lowest < anew, event: eventOf(p, at), from: p.reading, user: user,
	})
}

// demand has what a player plays now counted, however it got there, because a person asked. It returns why it is not.
func (k *Watcher) demand(ctx context.Context, pl *player) (why reason.Reason) {
	threshold := k.Config().Threshold
	pl.turn.Lock()
	defer pl.turn.Unlock()
	p := pl.play
	k.mu.Lock()
	id, user, last := pl.id(), pl.name, pl.last
	k.mu.Unlock()
	switch {
	case p == nil:
		return nothingPlays.With()
	case !p.reading.Problem.IsZero():
		return p.reading.Problem
	case p.live() || p.growing:
		return isLive.With()
	case p.settled && last != nil && last.Outcome == Skipped:
		return last.Reason
	case p.settled && len(pl.owed) == 0:
		return errCounted.With()
	case p.settled:
		return errOwed.With()
	case p.last.state != Playing && p.last.state != Paused:
		return notPlaying.With()
	case p.last.share() < threshold:
		return notFarEnough.With(fmt.Sprintf("%.0f", math.Floor(100*p.last.share())), fmt.Sprintf("%.0f", 100*threshold))
	}
	p.highest = max(p.highest, p.last.share())
	k.decide(pl, p, p.last.at, id, user)
	k.settle(ctx, pl)
	k.mu.Lock()
	defer k.mu.Unlock()
	pl.now = nowOf(p)
	switch {
	case len(pl.owed) > 0:
		return errOwed.With()
	case pl.last.Outcome != Counted:
		return pl.last.Reason
	}
	return reason.Reason{}
}

func (k *Watcher) skip(pl *player, p *playback, at time.Time, why reason.Reason) {
	p.settled = true
	event := eventOf(p, at)
	event.Outcome, event.Reason = Skipped, why
	k.tell(pl, event)
}

// settle stores what is owed. What the database does not take stays owed until the next
// look, which need not find anybody. The caller holds pl.turn.
func (k *Watcher) settle(ctx context.Context, pl *player) {
	ctx = context.WithoutCancel(ctx) // a service that stops finishes what it has in hand
	for len(pl.owed) > 0 {
		o := pl.owed[0]
		ids, err := k.Take(ctx, o.from.Events(o.user, o.play.device, o.event.At), func(ctx context.Context, tx *sql.Tx, _ []int64) error {
			return countTx(ctx, tx, o.play, o.again, o.event.At)
		})
		switch {
		case errors.Is(err, errCounted):
			o.event.Outcome, o.event.Reason = Repeated, errCounted.With()
		case err != nil:
			k.Log.Error("what a TV box played cannot be stored; it is tried again", "title", o.from.Title, "error", err)
			return
		default:
			o.event.Outcome, o.event.RecordIDs = Counted, ids
			k.Log.Info("a TV box has played something to the end", "name", o.user, "title", o.from.Title, "records", ids)
		}
		k.tell(pl, o.event)
		pl.owed = pl.owed[1:]
	}
}

// begun tells the store what plays, once.
func (k *Watcher) begun(ctx context.Context, p *playback, id string) {
	if p == nil || p.told || !p.moved {
		return
	}
	if err := k.Store.begin(ctx, playOf(id, p.reading)); err != nil {
		k.Log.Warn("what a TV box plays cannot be noted; it is tried again", "error", err)
		return
	}
	p.told = true
}

func (k *Watcher) tell(pl *player, event Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	pl.last = &event
}
