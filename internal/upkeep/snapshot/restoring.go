package snapshot

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/replica"
	"watchmark/internal/platform/task"
)

const (
	// firstPause and lastPause bound the wait before Bangumi is asked again that did not answer.
	firstPause, lastPause = time.Second, time.Minute
	// triesMost is how often an entry is tried while others go through, aloneMost when none is left.
	triesMost, aloneMost = 5, 12
)

// restoring is the task of a restore.
type restoring struct {
	*Service
	restore
	account account.Account
	t       *task.Task
	dryRun  bool
	pause   time.Duration
}

// run does what is left to do. A restore goes on after the end of the process, and ends with its work, when a person cancels it, and by what trying again
// does not change.
func (w *restoring) run(ctx context.Context) error {
	ctx = catalog.InTurn(ctx, w.account.ID, true)
	switch {
	case w.dryRun:
		return w.preview(ctx)
	case !w.ended.IsZero():
		return w.show(ctx)
	}
	err := w.write(ctx)
	cause := context.Cause(ctx)
	cut := cause != nil && !errors.Is(cause, context.Canceled)
	if cut || errors.Is(err, db.ErrStorage) || errors.Is(err, db.ErrEvicted) || errors.Is(err, db.ErrClosed) || errors.Is(err, replica.ErrNotLive) {
		return err
	}
	whole := context.WithoutCancel(ctx)
	return errors.Join(err, w.show(whole), w.store.endRestore(whole, w.task))
}

// write plans, unless that is done, and writes entry by entry.
func (w *restoring) write(ctx context.Context) error {
	if w.before == 0 {
		rows, err := w.plan(ctx)
		if err == nil {
			err = w.store.plan(ctx, w.restore, rows)
		}
		if err != nil {
			return err
		}
	}
	rows, err := w.store.restoreRows(ctx, w.task)
	if err != nil {
		return err
	}
	total := len(rows)
	rows = slices.DeleteFunc(rows, func(r *restoreRow) bool { return r.outcome != nil })
	tries, through := map[catalog.SubjectID]int{}, map[catalog.SubjectID]bool{}
	for len(rows) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		r := rows[0]
		rows = rows[1:]
		err := w.put(ctx, r)
		switch {
		case err == nil:
			w.pause = 0
			for subject := range tries {
				through[subject] = true
			}
		case ctx.Err() != nil:
			return err
		case errors.Is(err, catalog.ErrNotFound), errors.Is(err, catalog.ErrRefused):
			if err := w.fail(ctx, r, err); err != nil {
				return err
			}
		case !errors.Is(err, catalog.ErrUnreachable):
			return err
		default:
			tries[r.subject]++
			if n := tries[r.subject]; n >= triesMost && through[r.subject] || n >= aloneMost && len(rows) == 0 {
				err = w.fail(ctx, r, err)
			} else {
				rows = append(rows, r)
				err = w.wait(ctx, err)
			}
			if err != nil {
				return err
			}
			continue
		}
		w.t.Progress(total-len(rows), total, broughtBack.With(total-len(rows), total))
	}
	return nil
}

// wait waits before Bangumi is asked again, after err.
func (w *restoring) wait(ctx context.Context, err error) error {
	w.pause = min(max(2*w.pause, firstPause), lastPause)
	rest := w.pause
	var failure *catalog.Error
	if errors.As(err, &failure) && failure.RetryAfter > rest {
		rest = min(failure.RetryAfter, time.Hour)
	}
	s := w.t.Status()
	w.t.Progress(s.Done, s.Total, waitsForBangumi.With(err))
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(rest):
		return nil
	}
}

// patiently does what asks Bangumi, again and again while it does not answer and while the list is being read by another.
func (w *restoring) patiently(ctx context.Context, do func() error) error {
	for {
		err := do()
		if err == nil || ctx.Err() != nil || !errors.Is(err, catalog.ErrUnreachable) && !errors.Is(err, ErrRunning) {
			w.pause = 0
			return err
		}
		if err := w.wait(ctx, err); err != nil {
			return err
		}
	}
}

// plan reads the list and finds the entries of which there is something to write.
func (w *restoring) plan(ctx context.Context) (rows []*restoreRow, err error) {
	var now Snapshot
	err = w.patiently(ctx, func() error {
		now, err = w.read(ctx, w.account, w.t.Progress)
		return err
	})
	if err != nil {
		return nil, err
	}
	w.before = now.ID
	if w.undoes != 0 {
		return w.backRows(ctx, now)
	}
	defer w.prune(ctx, w.account) // only now, for it may forget what is brought back
	from, err := w.store.get(ctx, w.snapshot)
	if err != nil {
		return nil, err
	}
	hidden, err := w.store.hidden(ctx, w.restore.account)
	if err != nil {
		return nil, err
	}
	chosen := map[catalog.SubjectID]bool{}
	for _, id := range w.chosen.Entries {
		chosen[id] = true
	}
	pairs, err := w.store.pairs(ctx, now, from)
	if err != nil {
		return nil, err
	}
	w.same = len(chosen)
	if w.chosen.Entries == nil {
		w.same = from.Entries
	}
	for subject, p := range pairs {
		if w.chosen.Entries != nil && !chosen[subject] {
			continue
		}
		c := compare(p.before, p.after)
		if len(c.Kinds) == 0 {
			continue
		}
		if p.after != nil || w.chosen.Entries != nil {
			w.same--
		}
		rows = append(rows, w.rowOf(c, p, hidden[subject]))
	}
	slices.SortFunc(rows, func(a, b *restoreRow) int { return cmp.Compare(a.subject, b.subject) })
	return rows, nil
}

// rowOf is what is wanted of an entry that differs: before is how it is now, after how it is to be.
func (w *restoring) rowOf(c Change, p *pair, hidden bool) *restoreRow {
	r := &restoreRow{subject: c.SubjectID, name: c.Name, nameCN: c.NameCN}
	if p.before != nil {
		r.now = p.before.Entry
	}
	if p.after == nil {
		r.outcome = r.says(Refused, RestoreNote{"cannot", cannotRemove.With()})
		return r
	}
	r.wanted = catalog.As(p.after.Entry, p.after.Marks)
	r.wanted.Lower = slices.Contains(w.chosen.Lower, c.SubjectID)
	if p.before != nil && len(c.Marked) == 0 && len(c.Unmarked) == 0 {
		r.wanted.Marks, r.wanted.AllMarks = nil, false
	}
	if hidden && p.before != nil && p.before.Entry.Private && !slices.Contains(c.Kinds, Commented) && !slices.Contains(c.Kinds, Tagged) {
		r.wanted.Private = nil // it was tried
		if len(c.Kinds) == 1 {
			r.outcome = r.says(Refused, RestoreNote{"cannot", catalog.WordFilter.With()})
		}
	}
	return r
}

// backRows are what a restore wrote, to be taken back.
func (w *restoring) backRows(ctx context.Context, now Snapshot) (rows []*restoreRow, err error) {
	all, err := w.store.restoreRows(ctx, w.undoes)
	if err != nil {
		return nil, err
	}
	entries := map[catalog.SubjectID]catalog.Entry{}
	if w.dryRun {
		if err := w.store.each(ctx, now, func(v version) error { entries[v.Entry.Subject] = v.Entry; return nil }); err != nil {
			return nil, err
		}
	}
	for _, r := range all {
		if r.written == nil || r.written.Empty() {
			continue
		}
		back, sent := r.written.Back, r.written.Sent
		back.Lower, back.Only = true, &sent
		rows = append(rows, &restoreRow{subject: r.subject, name: r.name, nameCN: r.nameCN, wanted: back, now: entries[r.subject]})
	}
	return rows, nil
}

// preview finds what would be written.
func (w *restoring) preview(ctx context.Context) error {
	rows, err := w.plan(ctx)
	if err != nil {
		return err
	}
	result := w.result()
	for i, r := range rows {
		if r.outcome == nil {
			var c catalog.Change
			err := w.patiently(ctx, func() (err error) {
				c, err = w.Lists.PreviewPut(ctx, w.account, r.subject, r.now, r.wanted)
				return err
			})
			if err != nil {
				return err
			}
			r.outcome = r.told(catalog.PutResult{Change: c}, ToWrite)
		}
		result.add(*r.outcome)
		w.t.Progress(i+1, len(rows), lookedAt.With(i+1, len(rows)))
	}
	w.t.SetResult(result)
	return nil
}

func (w *restoring) result() Restoring {
	r := Restoring{AccountID: w.restore.account, SnapshotID: w.snapshot, DryRun: w.dryRun, Undoes: w.undoes, Before: w.before, Rows: []RestoreRow{}, Counts: map[RestoreStatus]int{}}
	if w.same > 0 {
		r.Counts[Same] = w.same
	}
	return r
}

// show makes what became of all entries the result of the task.
func (w *restoring) show(ctx context.Context) error {
	rows, err := w.store.restoreRows(ctx, w.task)
	if err != nil {
		return err
	}
	result := w.result()
	for _, r := range rows {
		if r.outcome == nil {
			r.outcome = r.says(Waiting)
		}
		result.add(*r.outcome)
		result.Undo = result.Undo || w.undoes == 0 && r.written != nil
	}
	w.t.SetResult(result)
	return nil
}

// put brings one entry back. It takes the entry as marks do. A person who cancels waits for it, so that it is not left half done; the end of the
// service does not, for it goes on after that.
func (w *restoring) put(ctx context.Context, r *restoreRow) error {
	whole, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	defer context.AfterFunc(ctx, func() {
		if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
			stop(cause)
		}
	})()
	entry, err := w.Entries.Take(ctx, w.account.ID, r.subject)
	if err != nil {
		return err
	}
	defer entry.Done()
	before, wanted := r.written, r.wanted
	if before != nil && before.Quiet && wanted.Private == nil { // it may be hidden still
		wanted.Private = new(false)
	}
	got, err := w.Lists.Put(entry.With(whole), w.account, r.subject, wanted, func(ctx context.Context, c catalog.Change) error {
		if before != nil {
			c = before.Then(c)
		}
		r.written = &c
		return w.store.noteWritten(ctx, w.task, r.subject, c)
	})
	if err != nil {
		return errors.Join(err, entry.Give(context.WithoutCancel(ctx), catalog.Rest(err)))
	}
	if before != nil {
		got.Change = before.Then(got.Change)
	}
	return w.settle(ctx, r, got, entry.GiveTx)
}

// fail gives an entry up. What was sent of it may be on the list.
func (w *restoring) fail(ctx context.Context, r *restoreRow, err error) error {
	got := catalog.PutResult{Failed: []reason.Reason{reason.Of(err)}}
	if r.written != nil {
		got.Change = *r.written
	}
	return w.settle(ctx, r, got, func(context.Context, *sql.Tx, time.Duration) error { return nil })
}

// settle stores what became of an entry, and gives it back.
func (w *restoring) settle(ctx context.Context, r *restoreRow, got catalog.PutResult, give func(context.Context, *sql.Tx, time.Duration) error) error {
	r.written, r.hidden, r.outcome = &got.Change, got.Hidden, r.told(got, Written)
	return w.DB.Write(context.WithoutCancel(ctx), func(ctx context.Context, tx *sql.Tx) error {
		if err := give(ctx, tx, 0); err != nil {
			return err
		}
		if got.Sent.Type != 0 {
			if err := w.Resumed(ctx, tx, w.account.ID, r.subject); err != nil {
				return err
			}
		}
		return settleTx(ctx, tx, w.task, r)
	})
}

// says is a row of which nothing is written.
func (r *restoreRow) says(status RestoreStatus, notes ...RestoreNote) *RestoreRow {
	return &RestoreRow{SubjectID: r.subject, Name: r.name, NameCN: r.nameCN, Status: status, Marks: []RestoreMarks{}, Notes: append([]RestoreNote{}, notes...)}
}

// told is what was written of an entry, or would be.
func (r *restoreRow) told(got catalog.PutResult, writes RestoreStatus) *RestoreRow {
	row := r.says(Same)
	for _, part := range []struct {
		kind   string
		status RestoreStatus
		all    []reason.Reason
	}{{"held", HeldBack, got.Held}, {"cannot", Refused, got.Cannot}, {"failed", Failed, got.Failed}} {
		for _, why := range part.all {
			row.Status = part.status
			row.Notes = append(row.Notes, RestoreNote{part.kind, why})
		}
	}
	if !got.Empty() && len(got.Failed) == 0 {
		row.Status = writes
	}
	row.Created, row.Writes, row.Was, row.Lines, row.Dated = got.Create, got.Sent, got.Back, got.Lines(), got.Dated()
	row.Writes.Marks, row.Was.Marks, row.Was.Only = nil, nil, nil
	for _, state := range []catalog.EpisodeState{catalog.EpisodeWatched, catalog.EpisodeWish, catalog.EpisodeDropped, catalog.Unmarked} {
		var of []catalog.Mark
		for _, m := range got.Sent.Marks {
			if m.State == state {
				of = append(of, m)
			}
		}
		if len(of) > 0 {
			row.Marks = append(row.Marks, RestoreMarks{state, len(of), catalog.Numbers(of)})
		}
	}
	return row
}
