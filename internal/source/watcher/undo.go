package watcher

import (
	"context"
	"errors"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/source/preview"
	"watchmark/internal/watch"
)

// Undo starts a task that restores what a seeding changed, as far as nobody changed it since. Its result is a Seeding. It can be
// asked again until all is restored. Errors: task.ErrNotFound, task.ErrRunning, ErrNoUndo and those of Seed.
func (s *Service) Undo(ctx context.Context, id int64) (*task.Task, error) {
	t, err := s.Tasks.Get(ctx, id)
	if err != nil && !errors.Is(err, task.ErrNotFound) {
		return nil, err
	}
	there := err == nil
	n, login, err := s.store.countWrites(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case there && t.Status().Kind == SeedTask && t.Status().State == task.Running:
		return nil, ErrWriting
	case n == 0 && there:
		return nil, ErrNoUndo
	case n == 0:
		return nil, task.ErrNotFound
	}
	return s.startWriting(ctx, UndoTask, login, Seeding{LoginID: login, Undoes: id}, (*writing).undo)
}

// undo restores what a task changed, as far as it is as the task left it.
func (w *writing) undo(ctx context.Context) error {
	err := w.inTurn(ctx, w.login.ID, func(func(func() error) error) error { return w.connect(ctx, w.client, &w.login) })
	if err != nil {
		return err
	}
	total, _, err := w.store.countWrites(ctx, w.result.Undoes)
	if err != nil {
		return err
	}
	for after, done := "", 0; ; {
		rows, err := w.store.writes(ctx, w.result.Undoes, after, writtenTogether)
		if err != nil || len(rows) == 0 {
			return err
		}
		n, err := w.restore(ctx, rows)
		if done += n; err != nil {
			return err
		}
		after = rows[len(rows)-1].item
		w.t.Progress(done, max(total, done), seedUndone.With(w.login.Name(), done, max(total, done)))
	}
}

// restore writes back what some items were before, in one turn.
func (w *writing) restore(ctx context.Context, rows []written) (done int, err error) {
	now, end, err := w.turn(ctx, ids(rows, func(r written) string { return r.item }))
	if err != nil {
		return 0, err
	}
	defer end()
	var sent []written
	for _, row := range rows {
		i, there := now[row.item]
		switch {
		case !there, i.State.Played == row.before.Played: // it is gone, or as it was
			err = w.store.dropWrite(ctx, row)
		case row.after == nil || !same(*row.after, i.State):
			if err = w.store.dropWrite(ctx, row); err == nil {
				w.put(i, SeedPlayed, changedSince.With())
			}
		default:
			sent = append(sent, row)
			err = w.back(ctx, row, i)
		}
		if err != nil {
			break
		}
		done++
	}
	return done, errors.Join(err, w.confirm(ctx, sent))
}

// back writes what an item was before.
func (w *writing) back(ctx context.Context, row written, i mediaserver.Item) error {
	status := SeedUnmark
	if row.before.Played {
		status = SeedMark
		if err := w.store.expect(ctx, w.login.ID, i); err != nil {
			return err
		}
	} else if err := w.store.unplayed(ctx, w.login.ID, row.item); err != nil {
		return err
	}
	err := w.send(ctx, row.item, row.before)
	switch {
	case err == nil:
		w.put(i, status, reason.Reason{})
	case w.single(ctx, err):
		w.put(i, SeedFailed, reason.Of(err))
		return nil
	}
	return err
}

// put tells what became of an item.
func (w *writing) put(i mediaserver.Item, status SeedStatus, why reason.Reason) {
	v := preview.Verdict{Status: preview.Status(status), Reason: why}
	events, _ := w.events(i)
	if len(events) == 0 {
		events = []watch.Event{i.Report.Event}
	}
	for _, e := range events {
		w.table.Put(e, v)
	}
}

// same reports whether nobody changed an item in between.
func same(a, b mediaserver.State) bool {
	return a.Played == b.Played && a.Count == b.Count && a.Position == b.Position && a.At.Truncate(time.Second).Equal(b.At.Truncate(time.Second))
}

// settleLeft stores what the server made of writes of which that is not known, such as the last ones before the service was
// killed. The caller has the turn of the login.
func (s *Service) settleLeft(ctx context.Context, login int64, client mediaserver.Client) error {
	for after := ""; ; {
		rows, err := s.store.unsettled(ctx, login, after, writtenTogether)
		if err != nil || len(rows) == 0 {
			return err
		}
		now, err := itemsOf(ctx, client, ids(rows, func(r written) string { return r.item }))
		if err == nil {
			err = s.store.settleWrites(ctx, rows, now)
		}
		if err != nil {
			return err
		}
		after = rows[len(rows)-1].item
	}
}
