package watcher

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/watch"
)

// The names of where a play was seen, in records.
const (
	seenLive     = "live"
	seenCatchUp  = "catch_up"
	seenCompared = "comparison"
	seenHeld     = "held"
)

// look is one look at what a person has played: a push, a page, or a poll.
type look struct {
	s      *Service
	l      Login
	client mediaserver.Client
	shows  shows
	sight
	// how names it in records.
	how string
	// since is set at the first sight of a library: what was played before is known and no news.
	since time.Time
	// compared is when everything was compared before.
	compared time.Time
	CatchUp
	newest time.Time // date that is no lie
	added  int       // items that are known from now on, without those of a first sight
}

// newLook is a look now, with a clock that is as far ahead as the server's.
func (s *Service) newLook(k known, client mediaserver.Client, of shows, how string) *look {
	now := time.Now()
	w := &look{s: s, l: k.Login, client: client, shows: of, how: how}
	w.sight = sight{now: now, clock: now.Add(client.Skew()), live: how == seenLive, begun: map[string]bool{}}
	if k.ComparedAt != nil {
		w.compared = *k.ComparedAt
	}
	return w
}

// ask fills in whether a person plays an item now; the server is asked once, and only where that matters.
func (w *look) ask(ctx context.Context) {
	var ids map[string]bool
	asked, told := false, false
	w.playing = func(id string) answer {
		if !asked {
			asked = true
			playing, err := w.client.Playing(ctx)
			told = err == nil
			ids = map[string]bool{}
			for _, one := range playing {
				ids[one] = true
			}
		}
		switch {
		case !told:
			return untold
		case ids[id]:
			return yes
		}
		return no
	}
}

// fresh is an item that is news.
type fresh struct {
	item   *mediaserver.Item
	row    play
	at     time.Time
	events []watch.Event
	held   bool
}

// compare puts what was played first before what was played later, and episodes of one date by their numbers: marks are written
// in this order, while servers tell the newest first.
func (f fresh) compare(other fresh) int {
	e, o := f.item.Report.Event, other.item.Report.Event
	return cmp.Or(f.item.State.At.Compare(other.item.State.At), cmp.Compare(number(e.Season), number(o.Season)), cmp.Compare(number(e.Episode), number(o.Episode)))
}

// number is the value of n; 0 when it is not told.
func number[T int | float64](n *T) (value T) {
	if n != nil {
		value = *n
	}
	return value
}

// batch is what becomes of some items.
type batch struct {
	rows           []play
	fresh          int // rows of items that were not known
	added          int // of these, what the server counts since
	news           []fresh
	known, skipped int
}

// take stores what is new of some items: the records, and that they are known, in one transaction.
func (w *look) take(ctx context.Context, items []mediaserver.Item) error {
	for tries := 0; ; tries++ {
		w.now = time.Now()
		w.clock = w.now.Add(w.client.Skew())
		b, err := w.sort(ctx, items)
		if err == nil {
			err = w.store(ctx, b)
		}
		if errors.Is(err, errMeanwhile) && tries < 3 {
			continue
		}
		if err != nil {
			return err
		}
		for _, one := range b.news {
			if one.held {
				w.Held++
			} else {
				w.Taken++
			}
		}
		w.Known += b.known
		w.Skipped += b.skipped
		w.added += b.added
		return nil
	}
}

// sort judges items, one after the other: the first of two that are the same play makes the other one known.
func (w *look) sort(ctx context.Context, items []mediaserver.Item) (batch, error) {
	var b batch
	wanted := make([]play, 0, len(items))
	for _, i := range items {
		if i.State.Played && usable(i) {
			wanted = append(wanted, playOf(i))
		}
	}
	of, err := find(ctx, w.s.DB.Read(), w.l.ID, wanted)
	if err != nil {
		return b, err
	}
	for _, i := range items {
		if !i.State.Played || !usable(i) {
			continue
		}
		if at := i.State.At; at.After(w.newest) && at.Sub(w.clock) <= ahead {
			w.newest = at
		}
		before := of.byItem[i.Report.Event.ItemID]
		what := w.judge(i, of)
		if what == open {
			w.reopen(i.Report.Event.ItemID)
			continue
		}
		row := noted(i, before, w.sight)
		if what == news {
			w.event(&i, &b, &row)
		} else {
			b.known++
		}
		if before == nil {
			b.fresh++
			if w.since.IsZero() {
				b.added++
			}
		}
		if before == nil || *before != row {
			b.rows = append(b.rows, row)
		}
		of.put(row)
	}
	return b, w.finish(ctx, &b)
}

// usable reports whether what a server says of an item can be stored.
func usable(i mediaserver.Item) bool {
	id := i.Report.Event.ItemID
	return id != "" && len(id) <= watch.MaxText && id[0] != '='
}

// reopen notes that an item is being played again.
func (w *look) reopen(id string) {
	if len(w.begun) >= begunMost {
		clear(w.begun)
	}
	w.begun[id] = true
}

// begunMost bounds the items that are known to be played again.
const begunMost = 1000

func (w *look) judge(i mediaserver.Item, of plays) verdict {
	if w.since.IsZero() {
		return judge(i, of, w.sight)
	}
	if of.byItem[i.Report.Event.ItemID] != nil {
		return nothing
	}
	return first(i, w.since, w.sight)
}

// sign says of an item who played it, and where; how names the way in which that was seen.
func (l Login) sign(i *mediaserver.Item, how string) {
	e := &i.Report.Event
	e.Source, e.UserName, e.UserID, e.ServerName, e.ServerID, e.RawEvent = watch.Watcher, l.MediaUserName, l.userID, l.ServerName, l.ServerID, how
	e.Library, e.Client = l.libraryName(i.Library), ""
}

// event makes news of an item, or counts it as skipped when it is nothing that can be marked.
func (w *look) event(i *mediaserver.Item, b *batch, row *play) {
	w.l.sign(i, w.how)
	e := &i.Report.Event
	e.OccurredAt = occurred(*i, w.compared, w.sight)
	if d, err := i.Report.Deliver(watch.Watched); err != nil || len(d.Events) == 0 {
		b.skipped++
		why := d.Ignored
		if err != nil {
			why = reason.Of(err)
		}
		if w.Skipped+b.skipped <= skippedLogged {
			w.s.Log.InfoContext(context.Background(), "a play at a media server cannot be marked", "server", w.l.Name(), "title", e.Title, "episode_title", e.EpisodeTitle, "reason", why)
		}
		return
	}
	row.taken = w.now
	b.news = append(b.news, fresh{item: i, row: *row, at: e.OccurredAt})
}

// skippedLogged is how many plays of one look that cannot be marked are logged.
const skippedLogged = 50

// libraryName is the name of a library by its id.
func (l Login) libraryName(id string) string {
	for _, one := range l.libraries {
		if one.ID == id {
			return one.Name
		}
	}
	return ""
}

// finish gives news the ids of their shows and their events, and holds those that came too many at once.
func (w *look) finish(ctx context.Context, b *batch) error {
	if len(b.news) == 0 {
		return nil
	}
	items := make([]*mediaserver.Item, len(b.news))
	for i := range b.news {
		items[i] = b.news[i].item
	}
	if err := w.s.fill(ctx, w.l, w.client, w.shows, items); err != nil {
		return err
	}
	slices.SortStableFunc(b.news, fresh.compare)
	if !w.live {
		holdCrowds(b.news)
	}
	for i := range b.news {
		one := &b.news[i]
		d, err := one.item.Report.Deliver(watch.Watched)
		if err != nil {
			return fmt.Errorf("make events of %s: %w", one.row.item, err)
		}
		one.events = d.Events
		one.held = one.held || w.live && len(b.news) > burst || !w.live && one.at.IsZero()
	}
	return nil
}

// together is how close two dates of one show are, or of two films, of which nobody can have played both: who marks a season gives all
// of it one date, or the server one after the other. Some servers tell whole seconds only.
const together = 2 * time.Second

// holdCrowds holds what was marked by hand of news that are sorted: more than burst of one show, or of films, that nobody can have
// played one after the other.
func holdCrowds(all []fresh) {
	shows := map[string][]*fresh{}
	for i := range all {
		of := ""
		if e := all[i].item.Report.Event; e.Episode != nil {
			of = cmp.Or(e.SeriesID, e.Title)
		}
		shows[of] = append(shows[of], &all[i])
	}
	near := func(a, b *fresh) bool { return b.item.State.At.Sub(a.item.State.At) < together }
	for _, some := range shows {
		var crowd []*fresh
		for i, one := range some {
			if i > 0 && near(some[i-1], one) || i+1 < len(some) && near(one, some[i+1]) {
				crowd = append(crowd, one)
			}
		}
		if len(crowd) > burst {
			for _, one := range crowd {
				one.held = true
			}
		}
	}
}

// store stores a batch. The error is errMeanwhile when a webhook told of one of the news since it was looked up.
func (w *look) store(ctx context.Context, b batch) error {
	if len(b.rows) == 0 {
		return thereTx(ctx, w.s.DB.Read(), w.l.ID, 0)
	}
	var events []watch.Event
	for _, one := range b.news {
		if !one.held {
			events = append(events, one.events...)
		}
	}
	also := func(ctx context.Context, tx *sql.Tx, _ []int64) error {
		if err := thereTx(ctx, tx, w.l.ID, b.fresh); err != nil {
			return err
		}
		if err := w.unheardTx(ctx, tx, b.news); err != nil {
			return err
		}
		if err := putTx(ctx, tx, w.l.ID, b.rows); err != nil {
			return err
		}
		for _, one := range b.news {
			if !one.held {
				continue
			}
			if err := holdTx(ctx, tx, w.l.ID, one.row.item, one.events, w.live, w.now); err != nil {
				return err
			}
		}
		if err := countTx(ctx, tx, w.l.ID, b.fresh, b.added); err != nil {
			return err
		}
		if len(events) > 0 {
			return eventTx(ctx, tx, w.l.ID, events[len(events)-1], w.now)
		}
		return nil
	}
	if len(events) == 0 {
		return w.s.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { return also(ctx, tx, nil) })
	}
	_, err := w.s.Intake.Take(ctx, events, also)
	return err
}

// unheardTx makes sure that no webhook told of news since they were looked up.
func (w *look) unheardTx(ctx context.Context, tx *sql.Tx, all []fresh) error {
	if len(all) == 0 {
		return nil
	}
	wanted := make([]play, len(all))
	for i, one := range all {
		wanted[i] = one.row
	}
	of, err := find(ctx, tx, w.l.ID, wanted)
	if err != nil {
		return err
	}
	for _, one := range wanted {
		for _, row := range append(of.alike(one.key, one.year, one.item), of.byItem[one.item]) {
			if row != nil && w.now.Sub(row.last()).Abs() < onePlay {
				return errMeanwhile
			}
		}
	}
	return nil
}
