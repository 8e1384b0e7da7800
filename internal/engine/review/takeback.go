package review

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/engine"
	"watchmark/internal/engine/queue"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
	"watchmark/internal/tell/notify"
)

// Unmark takes back what a record wrote to a list: the episodes that it newly marked, and "done" of a subject where this
// service set that. What it found there stays, and so does the entry of the list, unless that is all that the record
// wrote: then it is dropped and hidden. A mark that a record of another title relies on stays too, and becomes that
// record's. The record ends as ignored with the message given. It returns record.ErrNotFound, engine.ErrInProgress,
// ErrNothingMarked, or an error of packages account and catalog, after which asking again goes on where it stopped.
func (s *Service) Unmark(ctx context.Context, id int64, message reason.Reason) (record.Record, error) {
	r, err := s.Engine.Records.Get(ctx, id)
	if err != nil {
		return record.Record{}, err
	}
	if r.Status.IsOnTheWay() {
		return record.Record{}, fmt.Errorf("unmark record %d: %w", id, engine.ErrInProgress)
	}
	taken, err := s.takeBackAll(ctx, []int64{id}, message)
	if err == nil && len(taken) == 0 {
		err = ErrNothingMarked
	}
	if err != nil {
		return record.Record{}, fmt.Errorf("unmark record %d: %w", id, err)
	}
	return s.Engine.Records.Get(ctx, id)
}

// heldMark is a mark with the record that wrote it.
type heldMark struct {
	record.Mark
	of record.Record
}

// takenBack is what became of one mark.
type takenBack struct {
	heldMark
	// sharer is the record that the mark was left to; 0 when it was taken back.
	sharer int64
	// reopened: the subject went from done to doing, finished: from doing to done. left: the entry was dropped and hidden. setBack: it went
	// back to the state it had.
	reopened, finished, left, setBack bool
	// kept: the mark is the person's by now and stays. touched: the entry stays, because the person changed it.
	kept, touched bool
	// cleared: its episode was marked, and is not any more.
	cleared bool
	// message is what became of it, for people.
	message reason.Reason
}

// isThatLeftBy reports whether t is the mark that was left to a record before, and was its own then.
func (t takenBack) isThatLeftBy(before takenBack) bool {
	return t.RecordID == before.sharer && t.AccountID == before.AccountID && t.SubjectID == before.SubjectID && t.EpisodeID == before.EpisodeID
}

// ending writes what becomes of the records whose marks were taken back, in the transaction that forgets the marks.
type ending func(ctx context.Context, tx *sql.Tx, taken []takenBack) error

// taking says how marks are taken back.
type taking struct {
	// together are the records that lose their marks with them: what these found does not count as relied on.
	together []int64
	message  reason.Reason
	// undo takes back all that was done to the entry, leaves what the person changed since, and what any other record found but those
	// that came out within beside.
	undo   bool
	beside record.Writings
	// dry changes nothing.
	dry bool
	end ending
}

// takeBackAll removes all marks of some records, entry by entry, and ends the records as
// ignored. After an error the marks of further entries are as they were.
func (s *Service) takeBackAll(ctx context.Context, ids []int64, message reason.Reason) ([]takenBack, error) {
	var held []heldMark
	for _, id := range ids {
		r, err := s.Engine.Records.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		marks, err := s.Engine.Records.Marks(ctx, id)
		if err != nil {
			return nil, err
		}
		for _, m := range marks {
			held = append(held, heldMark{m, r})
		}
	}
	var all []takenBack
	for _, group := range byEntry(held) {
		taken, err := s.takeBack(ctx, group, taking{together: ids, message: message, end: ignoreTx})
		if err != nil {
			return all, err
		}
		all = append(all, taken...)
	}
	return all, nil
}

// ignoreTx ends records whose marks were taken back.
func ignoreTx(ctx context.Context, tx *sql.Tx, taken []takenBack) error {
	for _, t := range taken {
		if t.kept {
			continue
		}
		if err := record.IgnoreTx(ctx, tx, t.RecordID, t.message); err != nil {
			return err
		}
	}
	return nil
}

// byEntry groups marks by the list entry they are on, in the order given.
func byEntry(marks []heldMark) [][]heldMark {
	type entry struct {
		account int64
		subject catalog.SubjectID
	}
	var groups [][]heldMark
	index := map[entry]int{}
	for _, m := range marks {
		key := entry{m.AccountID, m.SubjectID}
		at, known := index[key]
		if !known {
			at = len(groups)
			index[key], groups = at, append(groups, nil)
		}
		groups[at] = append(groups[at], m)
	}
	return groups
}

// takeBack removes marks of one entry from its list. Nothing is stored when the catalog fails: the records stay as they were. A
// crash leaves no record between its mark and its end, which are one transaction.
func (s *Service) takeBack(ctx context.Context, group []heldMark, how taking) ([]takenBack, error) {
	subject := group[0].SubjectID
	a, err := s.Engine.Accounts.Get(ctx, group[0].AccountID)
	if err != nil {
		return nil, err
	}
	taken, err := s.share(ctx, group, how)
	if err != nil {
		return nil, err
	}
	if how.dry {
		_, err := s.unmark(ctx, a, taken, how)
		return taken, err
	}
	entry, err := s.Engine.Entries.Take(ctx, a.ID, subject)
	if err != nil {
		return nil, err
	}
	defer entry.Done()
	done, err := s.unmark(entry.With(ctx), a, taken, how)
	if err != nil {
		if failed := entry.Give(context.WithoutCancel(ctx), catalog.Rest(err)); failed != nil {
			err = errors.Join(err, failed)
		}
		return nil, err
	}
	for i := range taken {
		t := &taken[i]
		t.message = takenBackBecause.With(how.message, t.words(a.Username))
	}
	err = s.Engine.DB.Write(context.WithoutCancel(ctx), func(ctx context.Context, tx *sql.Tx) error {
		if err := entry.GiveTx(ctx, tx, 0); err != nil {
			return err
		}
		for _, t := range taken {
			if err := t.storeTx(ctx, tx); err != nil {
				return err
			}
		}
		if err := how.end(ctx, tx, taken); err != nil {
			return err
		}
		if err := s.askNoMoreTx(ctx, tx, a.ID, subject, taken); err != nil {
			return err
		}
		return done.storeTx(ctx, tx, a.ID, subject, taken)
	})
	entry.Done()
	if err != nil {
		return nil, err
	}
	for _, t := range taken {
		s.Engine.Log.InfoContext(ctx, "mark taken back", "record_id", t.RecordID, "account", a.Username, "subject_id", t.SubjectID, "episode_id", t.EpisodeID,
			"left_to_record", t.sharer, "left_to_person", t.kept, "subject_reopened", t.reopened, "entry_dropped", t.left)
		s.Engine.Records.Feed.Publish(t.RecordID)
	}
	return taken, nil
}

// askNoMoreTx ends within tx what a person is asked about marks that were taken back: whether to do so, and for a word on the entry.
func (s *Service) askNoMoreTx(ctx context.Context, tx *sql.Tx, accountID int64, subject catalog.SubjectID, taken []takenBack) error {
	var ids []int64
	for _, t := range taken {
		if !t.kept {
			ids = append(ids, t.RecordID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	over, err := s.Engine.NoWord(ctx, tx, accountID, subject)
	if err != nil {
		return err
	}
	if err := record.DropUnwatchedTx(ctx, tx, ids); err != nil {
		return err
	}
	asked, err := record.AsksUnwatchedTx(ctx, tx, accountID)
	if err != nil {
		return err
	}
	if !asked {
		over = append(over, notify.Notice{Kind: notify.UnwatchedAsks, AccountID: accountID, Over: true})
	}
	return s.Engine.Notices.AddTx(ctx, tx, over...)
}

// share finds for each mark the record that relies on it: one of another title, and for an undo any other one.
func (s *Service) share(ctx context.Context, group []heldMark, how taking) ([]takenBack, error) {
	var taken []takenBack
	for _, m := range group {
		titles := titlesOf(m.of, false)
		if how.undo {
			titles.Same = func(string) bool { return false }
		}
		sharers, err := s.Engine.Records.Sharers(ctx, m.Mark, titles, how.beside)
		if err != nil {
			return nil, err
		}
		t := takenBack{heldMark: m}
		if i := slices.IndexFunc(sharers, func(id int64) bool { return !slices.Contains(how.together, id) }); i >= 0 {
			t.sharer = sharers[i]
		}
		taken = append(taken, t)
	}
	return taken, nil
}

// unmarked is what the catalog said of an entry, and what was asked of it.
type unmarked struct {
	catalog.UnmarkResult
	asked catalog.TakeBack
}

// storeTx keeps what became of the entry, within tx.
func (u unmarked) storeTx(ctx context.Context, tx *sql.Tx, account int64, subject catalog.SubjectID, taken []takenBack) error {
	if u.asked.Leave && !u.Left && u.Was != catalog.Dropped { // it was noted before
		if err := record.ResumedTx(ctx, tx, account, subject); err != nil {
			return err
		}
	}
	for _, t := range taken {
		if t.Changed && !t.isRewatch() && t.sharer == 0 && !t.kept && !u.Left && u.Back == 0 {
			if err := record.HandChangeTx(ctx, tx, t.Mark); err != nil {
				return err
			}
		}
	}
	if u.asked.Reopen && (u.Was != catalog.Done || u.Reopened || u.Left || u.Back != 0) {
		return record.ReopenedTx(ctx, tx, account, subject)
	}
	return nil
}

// unmark removes from a list what nobody else relies on, and notes what became of each mark. Without that the list is not asked. That an
// entry is to be dropped is stored first: else a crash in between would leave an entry dropped, which is the person's word.
func (s *Service) unmark(ctx context.Context, a account.Account, taken []takenBack, how taking) (done unmarked, err error) {
	subject := taken[0].SubjectID
	back, wrote := asked(taken, how)
	if back == nil {
		return unmarked{}, nil
	}
	if wrote {
		if back.Reopen, err = s.Engine.Records.Completed(ctx, a.ID, subject); err != nil {
			return unmarked{}, err
		}
	}
	if back.Leave && !how.dry {
		err := s.Engine.DB.Write(context.WithoutCancel(ctx), func(ctx context.Context, tx *sql.Tx) error { return record.LeftTx(ctx, tx, a.ID, subject) })
		if err != nil {
			return unmarked{}, err
		}
	}
	result, err := s.Engine.Lists.Unmark(ctx, a, subject, *back)
	if err != nil {
		return unmarked{}, err
	}
	if back.Leave && result.Was == catalog.Dropped { // by a try that was cut off
		result.Left, err = s.Engine.Records.Left(ctx, a.ID, subject)
	}
	for i := range taken {
		t := &taken[i]
		t.reopened, t.finished, t.left, t.setBack, t.touched = result.Reopened, result.Finished, result.Left, result.Back != 0, result.Touched
		t.cleared = slices.Contains(result.Cleared, t.EpisodeID)
		t.kept = how.undo && t.sharer == 0 && slices.Contains(result.Kept, t.EpisodeID)
	}
	return unmarked{result, *back}, err
}

// asked is what the catalog is to take back; nil when others rely on all of it. wrote is set for more than that the entry was set back to doing.
func asked(taken []takenBack, how taking) (all *catalog.TakeBack, wrote bool) {
	back := catalog.TakeBack{Written: map[catalog.EpisodeID]catalog.Writing{}, IfEmpty: true, Dry: how.dry}
	remove := false
	for _, t := range taken {
		if t.sharer != 0 {
			continue
		}
		remove = true
		if t.isRewatch() {
			back.Finish = true
			continue
		}
		wrote = true
		back.Leave = back.Leave || t.Created || how.undo && t.Changed && t.Was == 0
		back.IfEmpty = back.IfEmpty && !t.Created
		if t.Changed && (how.undo || t.EpisodeID == 0) {
			back.Was = t.Was
		}
		if t.EpisodeID == 0 {
			continue
		}
		back.Episodes = append(back.Episodes, t.EpisodeID)
		w := catalog.Writing{Intended: t.Intended}
		if how.undo && t.Intended.IsZero() {
			w.Until = t.Written
		}
		if before, twice := back.Written[t.EpisodeID]; twice { // one of both is enough
			w = before.Or(w)
		}
		back.Written[t.EpisodeID] = w
	}
	if !remove {
		return nil, false
	}
	return &back, wrote
}

// storeTx forgets the mark within tx, or hands it to the record that relies on it, and closes the task of its record.
func (t takenBack) storeTx(ctx context.Context, tx *sql.Tx) error {
	var err error
	if t.sharer != 0 {
		err = record.HandMarkTx(ctx, tx, t.Mark, t.sharer)
	} else {
		err = record.DropMarkTx(ctx, tx, t.Mark)
	}
	if err != nil {
		return err
	}
	_, err = queue.DoneTx(ctx, tx, t.RecordID)
	return err
}

// isRewatch reports whether the mark is an entry that was done and was set back to doing.
func (t takenBack) isRewatch() bool { return t.Changed && t.Was == catalog.Done }

// words say what became of the mark on somebody's list; they follow why it was taken back.
func (t takenBack) words(username string) reason.Reason {
	switch {
	case t.sharer != 0:
		return markLeft.With(username, t.sharer)
	case t.isRewatch() && t.finished:
		return entryFinished.With(username)
	case t.isRewatch():
		return entryKept.With(username)
	case t.kept:
		return markKept.With(username)
	case t.setBack:
		return entrySetBack.With(username)
	case t.left:
		return entryDropped.With(username)
	case t.Created:
		return entryStays.With(username)
	case t.reopened && t.EpisodeID == 0:
		return entryOpened.With(username)
	case t.reopened:
		return markOpened.With(username)
	}
	return markRemoved.With(username)
}

// unmarkProblem says in plain words why a mark could not be taken back.
func unmarkProblem(err error) *reason.Kind {
	switch {
	case errors.Is(err, account.ErrNotFound):
		return accountDeleted
	case errors.Is(err, account.ErrNoToken):
		return tokenMissing
	case errors.Is(err, account.ErrOtherUser), errors.Is(err, account.ErrTaken), errors.Is(err, catalog.ErrUnauthorized):
		return tokenRefused
	case errors.Is(err, catalog.ErrForbidden):
		return writesForbidden
	case errors.Is(err, catalog.ErrUnreachable):
		return unreachable
	case errors.Is(err, catalog.ErrNotFound), errors.Is(err, catalog.ErrRefused):
		return refused
	}
	return internalError
}
