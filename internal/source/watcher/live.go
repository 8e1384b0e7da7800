package watcher

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/source/mediaserver"
)

const (
	// quiet is how long nothing must be pushed before what was is read, quietMost how long that waits at most: what is marked
	// together comes together.
	quiet     = time.Second
	quietMost = 5 * time.Second
	// upMost is how long a live connection may take to be made.
	upMost = time.Minute
	// Catch-ups come more often without a live connection; the NAS kinds are left in peace (upstreams/watchers.md section 5).
	catchUpLive    = 30 * time.Minute
	catchUpPolling = 15 * time.Minute
	catchUpNAS     = 30 * time.Minute
	countEvery     = time.Hour
	// pollBusy and pollIdle are how often it is asked what plays now.
	pollBusy = 20 * time.Second
	pollIdle = time.Minute
	// pushAgain is how long a server without a live connection is not tried for one.
	pushAgain = 24 * time.Hour
	// itemsAtOnce is how many items one request names (upstreams/watchers.md section 2.5).
	itemsAtOnce = 100
	// droppedMost bounds the ids that are known to be no episode or film, droppedFor how long they are.
	droppedMost = 20_000
	droppedFor  = 24 * time.Hour
)

// errLost is a live connection that ended without a reason.
var errLost = reason.New("media_login_lost", "the live connection was lost", "实时连接已断开")

// follower follows one login.
type follower struct {
	*Service
	id, version int64
	kind        mediaserver.Kind
	mood        *mood
	client      mediaserver.Client
	shows       shows
	queue       *queue
	dropped     map[string]time.Time // ids that are no episode or film, or not to be seen, and since when
	playing     map[string]bool      // what played at the last poll
	begun       map[string]bool      // what was seen to be played again
	caughtUp    time.Time
	countedAt   time.Time
}

// alone has the turn of the login while fn works with the login as it is stored now.
func (f *follower) alone(ctx context.Context, fn func(k known) error) error {
	end, err := f.turn(ctx, f.id)
	if err != nil {
		return err
	}
	defer end()
	k, err := f.store.get(ctx, f.id)
	if err != nil {
		return err
	}
	if k.version != f.version { // a person changed it: what runs the loops starts another one
		return ErrNotFound
	}
	return fn(k)
}

// session connects, catches up and takes in what is new until the connection is lost. nil means that it is to be made anew.
func (f *follower) session(ctx context.Context) error {
	var k known
	err := f.alone(ctx, func(now known) (err error) {
		k = now
		if f.client, err = f.open(now); err != nil {
			return err
		}
		return f.connect(ctx, f.client, &k)
	})
	if err != nil {
		return err
	}
	lost, way, stop, err := f.listen(ctx, k)
	if err != nil {
		return err
	}
	defer stop()
	f.playing, f.countedAt = nil, time.Time{}
	if err := f.catchUp(ctx, way); err != nil {
		return err
	}
	f.endFirst(f.id)
	return f.follow(ctx, way, lost)
}

// listen makes the live connection and waits until it stands. lost has its end; stop ends it.
func (f *follower) listen(ctx context.Context, k known) (lost <-chan error, way Way, stop func(), err error) {
	k.quirks.NoPush = false // it is tried at each connection
	client, err := f.open(k)
	if err != nil {
		return nil, Waiting, nil, err
	}
	listening, cancel := context.WithCancel(ctx)
	ended, up := make(chan error, 1), make(chan struct{})
	var hearing sync.WaitGroup
	hearing.Go(func() {
		ended <- client.Listen(listening, sync.OnceFunc(func() { close(up) }), f.queue.add)
	})
	stop = func() { cancel(); hearing.Wait() }
	slow := time.NewTimer(upMost)
	defer slow.Stop()
	select {
	case <-up:
		return ended, Live, stop, nil
	case err = <-ended:
	case <-slow.C:
		err = mediaserver.ErrNoPush
	case <-ctx.Done():
		err = ctx.Err()
	}
	stop()
	if is(err, mediaserver.ErrNoPush, mediaserver.ErrCannot) {
		return nil, Polling, func() {}, nil
	}
	if err == nil {
		err = errLost
	}
	return nil, Waiting, nil, err
}

// catchUp reads what was played since.
func (f *follower) catchUp(ctx context.Context, way Way) error {
	how := recent
	if time.Since(f.countedAt) >= countEvery {
		how, f.countedAt = counted, time.Now()
	}
	err := f.alone(ctx, func(k known) error {
		_, err := f.Service.catchUp(ctx, k, f.client, f.shows, how, nil)
		return err
	})
	if err == nil {
		f.caughtUp = time.Now()
		f.set(ctx, way, f.caughtUp.Add(f.every(way)))
	}
	return err
}

// every is how often a login is caught up.
func (f *follower) every(way Way) time.Duration {
	switch {
	case way == Live:
		return catchUpLive
	case f.kind.Experimental():
		return catchUpNAS
	}
	return catchUpPolling
}

// follow takes in what is new until the connection is lost.
func (f *follower) follow(ctx context.Context, way Way, lost <-chan error) error {
	next := time.NewTimer(f.every(way))
	defer next.Stop()
	polls := time.NewTimer(pollIdle)
	defer polls.Stop()
	if way == Live {
		polls.Stop()
	}
	anew := time.NewTimer(pushAgain)
	defer anew.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-lost:
			if err == nil {
				err = errLost
			}
			return err
		case <-f.mood.kick.Raised():
			return nil
		case <-anew.C:
			if way != Live {
				return nil
			}
		case <-f.queue.more.Raised():
			if err := f.pushed(ctx); err != nil {
				return err
			}
		case <-polls.C:
			pause, err := f.poll(ctx)
			if err != nil {
				return err
			}
			polls.Reset(pause)
		case <-next.C:
			if err := f.catchUp(ctx, way); err != nil {
				return err
			}
			next.Reset(f.every(way))
		}
	}
}

// pushed reads the items that were pushed, once no more come. What cannot be read now stays in the queue.
func (f *follower) pushed(ctx context.Context) error {
	for until := time.Now().Add(quietMost); ctx.Err() == nil && f.queue.more.Wait(ctx, min(quiet, time.Until(until))); {
	}
	ids := f.queue.take()
	err := f.read(ctx, ids)
	if err != nil {
		f.queue.add(ids)
	}
	return err
}

// poll asks what plays now and reads what has ended since; it answers when to ask again.
func (f *follower) poll(ctx context.Context) (time.Duration, error) {
	var playing []string
	err := f.alone(ctx, func(known) (err error) {
		playing, err = f.client.Playing(ctx)
		return err
	})
	if errors.Is(err, mediaserver.ErrCannot) {
		return pushAgain, nil
	}
	if err != nil {
		return 0, err
	}
	now := map[string]bool{}
	for _, id := range playing {
		now[id] = true
	}
	var ended []string
	for id := range f.playing {
		if !now[id] {
			ended = append(ended, id)
		}
	}
	f.playing = now
	if len(ended) > 0 {
		f.queue.add(ended)
	}
	if len(now) > 0 {
		return pollBusy, nil
	}
	return pollIdle, nil
}

// read takes in items with ids, without those that are no episodes or films.
func (f *follower) read(ctx context.Context, ids []string) error {
	if len(f.dropped) > droppedMost {
		clear(f.dropped)
	}
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		since, dropped := f.dropped[id]
		return dropped && time.Since(since) < droppedFor
	})
	if len(ids) == 0 {
		return nil
	}
	return f.alone(ctx, func(k known) error {
		w := f.newLook(k, f.client, f.shows, seenLive)
		w.begun = f.begun
		w.ask(ctx)
		var items []mediaserver.Item
		elsewhere := false
		for some := range slices.Chunk(ids, itemsAtOnce) {
			read, err := f.client.Items(ctx, some)
			if err != nil {
				return err
			}
			there := map[string]bool{}
			for _, i := range read {
				there[i.Report.Event.ItemID] = true
				switch k.picked(i) {
				case yes:
					items = append(items, i)
				case untold:
					elsewhere = elsewhere || i.State.Played
				}
			}
			for _, id := range some {
				if !there[id] {
					f.dropped[id] = time.Now()
				}
			}
		}
		if err := w.unwatched(ctx, items); err != nil {
			return err
		}
		if err := w.take(ctx, items); err != nil || !elsewhere {
			return err
		}
		// Which library they are of is told by a reading of the libraries alone.
		_, err := f.Service.catchUp(ctx, k, f.client, f.shows, recent, nil)
		return err
	})
}
