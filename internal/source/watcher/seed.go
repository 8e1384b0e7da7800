package watcher

import (
	"cmp"
	"context"
	"errors"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/source/preview"
	"watchmark/internal/watch"
)

const (
	// writtenTogether is how many items are read, written and read again in one turn.
	writtenTogether = 50
	// writePause is between two writes.
	writePause = 20 * time.Millisecond
	// settleMost is how long it may take to read what the server made of the last writes.
	settleMost = time.Minute
	// refusedMost is how many writes in a row a server may refuse before the task gives up.
	refusedMost = 10
	// seedRows is how many rows a Seeding has.
	seedRows = 5000
)

// Seed starts a task that marks on a media server what an account's list has as watched. Its result is a Seeding. An item
// is written with the day on which the list got it, as far as the list tells one and the server keeps it; else the server
// takes the time of the write. Errors: ErrNotFound, reason.At("account_id"), ErrOff, ErrSignedOut, ErrRunning.
func (s *Service) Seed(ctx context.Context, id int64, r SeedRequest) (*task.Task, error) {
	if err := s.Account(ctx, r.AccountID); err != nil {
		return nil, reason.At("account_id", err)
	}
	return s.startWriting(ctx, SeedTask, id, Seeding{LoginID: id, AccountID: r.AccountID, DryRun: r.DryRun, Unmark: r.Unmark}, (*writing).seed)
}

// writing is a task that writes to a media server.
type writing struct {
	*Service
	t      *task.Task
	login  known
	client mediaserver.Client
	result Seeding
	table  *preview.Table
	shows  shows
	wrote  map[string]bool // keys of what was written
	// list tells what is on the list.
	list preview.OfList
	// refused is how many writes in a row the server did not take.
	refused int
}

// startWriting starts work that writes to the server of a login.
func (s *Service) startWriting(ctx context.Context, kind string, id int64, result Seeding, work func(*writing, context.Context) error) (*task.Task, error) {
	k, err := s.ready(ctx, id)
	if err != nil {
		return nil, err
	}
	w := &writing{Service: s, login: k, result: result, table: preview.NewTable(nil), shows: shows{}, wrote: map[string]bool{}, list: s.ForecastFor(result.AccountID)}
	if w.client, err = s.open(k); err != nil {
		return nil, err
	}
	return s.startAlone(ctx, kind, id, func(ctx context.Context, t *task.Task) error {
		w.t = t
		err := work(w, ctx)
		return errors.Join(err, w.end(context.WithoutCancel(ctx)))
	})
}

// chosen are the libraries whose plays are taken.
func (l Login) chosen() []mediaserver.Library {
	var some []mediaserver.Library
	for _, one := range l.libraries {
		if one.Picked && !one.Gone {
			some = append(some, one.Library)
		}
	}
	return some
}

// end shows what became of it.
func (w *writing) end(ctx context.Context) error {
	r := w.result
	of := cmp.Or(r.Undoes, w.t.Status().ID)
	left, _, err := w.store.countWrites(ctx, of)
	r.Undo = left > 0 && r.Undoes == 0
	r.Rows, r.Counts = []SeedRow{}, map[SeedStatus]int{}
	for status, n := range w.table.Counts {
		if n > 0 {
			r.Counts[SeedStatus(status)] = n
		}
	}
	for _, row := range w.table.Rows {
		if len(r.Rows) == seedRows {
			r.More += max(1, len(row.Episodes))
			continue
		}
		r.Rows = append(r.Rows, SeedRow{row.Title, row.Season, row.Film, row.Episodes, SeedStatus(row.Status), row.SubjectID, row.SubjectName, row.Reason})
	}
	w.t.SetResult(r)
	if undone, gone := w.Tasks.Get(ctx, of); gone == nil && r.Undoes != 0 {
		if before, is := task.ResultOf[Seeding](undone.Status()); is {
			before.Undo = left > 0
			err = errors.Join(err, w.Tasks.Amend(ctx, of, before))
		}
	}
	return errors.Join(err, w.store.recount(ctx, w.login.ID))
}

// pointers are those of a list.
func pointers[T any](list []T) []*T {
	all := make([]*T, len(list))
	for i := range list {
		all[i] = &list[i]
	}
	return all
}

// planned is an item that is to be written.
type planned struct {
	id     string
	played bool
	on     time.Time // zero for none
	tells  []told
}

// told is what the table says of an event.
type told struct {
	event watch.Event
	preview.Verdict
}

// seed reads everything that the person may see, and then writes what differs.
func (w *writing) seed(ctx context.Context) error {
	plan, err := w.plan(ctx)
	if err != nil || w.result.DryRun {
		return err
	}
	defer func() { // what was not reached did not change
		for _, p := range plan {
			w.revise(p, "", reason.Reason{})
		}
	}()
	for total := len(plan); len(plan) > 0; {
		some := plan[:min(writtenTogether, len(plan))]
		done, err := w.write(ctx, some)
		plan = plan[done:]
		w.t.Progress(total-len(plan), total, seedWritten.With(w.login.Name(), total-len(plan), total))
		if err != nil {
			return err
		}
	}
	return nil
}

// plan is what would be written.
func (w *writing) plan(ctx context.Context) ([]planned, error) {
	var plan []planned
	seen := map[string]bool{}
	done := 0
	err := w.inTurn(ctx, w.login.ID, func(pause func(func() error) error) error {
		if err := w.connect(ctx, w.client, &w.login); err != nil {
			return err
		}
		return w.client.All(ctx, w.login.chosen(), func(items []mediaserver.Item, left int) error {
			if err := w.fill(ctx, w.login.Login, w.client, w.shows, pointers(items)); err != nil {
				return err
			}
			return pause(func() error {
				for n, i := range items {
					if id := i.Report.Event.ItemID; !seen[id] {
						seen[id] = true
						p, err := w.judge(ctx, i)
						if err != nil {
							return err
						}
						if p.tells != nil {
							plan = append(plan, p)
						}
					}
					done++
					w.t.Progress(done, done+len(items)-n-1+left, seedLookedUp.With(w.login.Name(), done))
				}
				return nil
			})
		})
	})
	return plan, err
}

// judge tells what is to become of an item; planned has no tells when nothing is to be written.
func (w *writing) judge(ctx context.Context, i mediaserver.Item) (planned, error) {
	events, why := w.events(i)
	if len(events) == 0 {
		w.table.Put(i.Report.Event, preview.Verdict{Status: preview.Status(SeedNotFound), Reason: why})
		return planned{}, nil
	}
	p := planned{id: i.Report.Event.ItemID, played: true}
	listed, unlisted := true, true
	for _, e := range events {
		v := preview.Verdict{Status: preview.Marked}
		if !i.State.Played || w.result.Unmark {
			var err error
			if v, err = w.list(ctx, e); err != nil {
				return planned{}, err
			}
		}
		switch v.Status {
		case preview.Refused: // nothing can be known of this list
			return planned{}, v.Reason
		case preview.Marked:
			unlisted = false
			if v.Since.After(p.on) {
				p.on = v.Since
			}
		case preview.Mark, preview.DryRun:
			listed = false
		default:
			listed, unlisted = false, false
			why = v.Reason
		}
		p.tells = append(p.tells, told{e, v})
	}
	status := SeedNotFound
	switch {
	case listed && i.State.Played:
		status = SeedPlayed
	case listed:
		status = SeedMark
	case unlisted && i.State.Played:
		status, p.played, p.on = SeedUnmark, false, time.Time{}
	case why.IsZero():
		status = SeedUnlisted
	}
	for n := range p.tells {
		v := &p.tells[n].Verdict
		if v.Status = preview.Status(status); status != SeedNotFound {
			v.Reason = reason.Reason{}
		}
		w.table.Put(p.tells[n].event, *v)
	}
	if status != SeedMark && status != SeedUnmark {
		p.tells = nil
	}
	return p, nil
}

// revise tells something else of an item than was planned; an empty status tells nothing of it.
func (w *writing) revise(p planned, status SeedStatus, why reason.Reason) {
	for _, one := range p.tells {
		w.table.Take(one.event, one.Verdict)
		if status != "" {
			one.Status, one.Reason = preview.Status(status), why
			w.table.Put(one.event, one.Verdict)
		}
	}
}

// turn takes the turn of the login, until end is called, and reads how some items stand now.
func (w *writing) turn(ctx context.Context, ids []string) (now map[string]mediaserver.Item, end func(), err error) {
	end, err = w.Service.turn(ctx, w.login.ID)
	if err != nil {
		return nil, nil, err
	}
	if err = thereTx(ctx, w.DB.Read(), w.login.ID, 0); err == nil {
		now, err = itemsOf(ctx, w.client, ids)
	}
	if err != nil {
		end()
	}
	return now, end, err
}

// write writes some items, in one turn, and tells how many of them it came to.
func (w *writing) write(ctx context.Context, some []planned) (done int, err error) {
	now, end, err := w.turn(ctx, ids(some, func(p planned) string { return p.id }))
	if err != nil {
		return 0, err
	}
	defer end()
	var rows []written
	for done < len(some) && err == nil {
		p := some[done]
		i, there := now[p.id]
		switch {
		case !there:
			w.revise(p, SeedFailed, itemGone.With())
		case i.State.Played == p.played:
			if key := playOf(i).key; key == "" || !w.wrote[key] { // else it is the same episode in another file
				w.revise(p, SeedPlayed, reason.Reason{})
			}
		default:
			row := written{task: w.t.Status().ID, login: w.login.ID, item: p.id, before: i.State}
			if err = w.store.noteWrite(ctx, row, i); err != nil {
				break
			}
			rows = append(rows, row)
			w.wrote[playOf(i).key] = true
			err = w.send(ctx, p.id, mediaserver.State{Played: p.played, At: p.on})
			if err != nil && w.single(ctx, err) {
				w.revise(p, SeedFailed, reason.Of(err))
				err = nil
			}
		}
		if err == nil {
			done++
		}
	}
	return done, errors.Join(err, w.confirm(ctx, rows))
}

// send writes what the server keeps of an item, and pauses.
func (w *writing) send(ctx context.Context, id string, to mediaserver.State) error {
	err := w.client.Write(ctx, id, to)
	if err != nil {
		return err
	}
	w.refused = 0
	select {
	case <-ctx.Done():
	case <-time.After(writePause):
	}
	return nil
}

// single reports whether an error of a write is about the item alone, so that others are worth a try: until so many in a row were
// refused, and while the server answers at all.
func (w *writing) single(ctx context.Context, err error) bool {
	if w.refused++; w.refused >= refusedMost || ctx.Err() != nil || is(err, mediaserver.ErrSignedOut, mediaserver.ErrOther, mediaserver.ErrCannot) {
		return false
	}
	if !is(err, mediaserver.ErrUnreachable) || is(err, mediaserver.ErrNoItem) {
		return true
	}
	_, err = w.client.Who(ctx)
	return err == nil
}

// confirm stores what the server made of some writes. It does not end with the task: the service knows then what it wrote.
func (w *writing) confirm(ctx context.Context, rows []written) error {
	if len(rows) == 0 {
		return nil
	}
	return task.Outlive(ctx, settleMost, func(ctx context.Context) error {
		now, err := itemsOf(ctx, w.client, ids(rows, func(r written) string { return r.item }))
		if err != nil {
			return err
		}
		return w.store.settleWrites(ctx, rows, now)
	})
}

// itemsOf gives what the server has of some items, by id.
func itemsOf(ctx context.Context, client mediaserver.Client, ids []string) (map[string]mediaserver.Item, error) {
	items, err := client.Items(ctx, ids)
	now := make(map[string]mediaserver.Item, len(items))
	for _, i := range items {
		now[i.Report.Event.ItemID] = i
	}
	return now, err
}

func ids[T any](of []T, id func(T) string) []string {
	list := make([]string, len(of))
	for n, one := range of {
		list[n] = id(one)
	}
	return list
}

// events are what a watch of an item would be, or why there are none.
func (w *writing) events(i mediaserver.Item) ([]watch.Event, reason.Reason) {
	w.login.sign(&i, SeedTask)
	d, err := i.Report.Deliver(watch.Watched)
	if err != nil {
		return nil, reason.Of(err)
	}
	return d.Events, d.Ignored
}
