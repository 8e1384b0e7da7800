package review

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/engine"
	"watchmark/internal/engine/queue"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
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
	// reopened: the subject went from done to doing, finished: from doing to done. left: the entry was dropped and hidden.
	reopened, finished, left bool
	// message is what became of it, for people.
	message reason.Reason
}

// isThatLeftBy reports whether t is the mark that was left to a record before, and was its own then.
func (t takenBack) isThatLeftBy(before takenBack) bool {
	return t.RecordID == before.sharer && t.AccountID == before.AccountID && t.SubjectID == before.SubjectID && t.EpisodeID == before.EpisodeID
}

// ending writes what becomes of the records whose marks were taken back, in the transaction that forgets the marks.
type ending func(ctx context.Context, tx *sql.Tx, taken []takenBack) error

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
		taken, err := s.takeBack(ctx, group, ids, message, func(ctx context.Context, tx *sql.Tx, taken []takenBack) error {
			for _, t := range taken {
				if err := record.IgnoreTx(ctx, tx, t.RecordID, t.message); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return all, err
		}
		all = append(all, taken...)
	}
	return all, nil
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

// takeBack removes marks of one entry from its list. What a record of those given in together found does not count as
// relied on, for they lose their marks too. Nothing is stored when the catalog fails: the records stay as they were. A
// crash leaves no record between its mark and its end, which are one transaction.
func (s *Service) takeBack(ctx context.Context, group []heldMark, together []int64, message reason.Reason, end ending) ([]takenBack, error) {
	subject := group[0].SubjectID
	a, err := s.Engine.Accounts.Get(ctx, group[0].AccountID)
	if err != nil {
		return nil, err
	}
	taken, err := s.share(ctx, group, together)
	if err != nil {
		return nil, err
	}
	entry, err := s.Engine.Entries.Take(ctx, a.ID, subject)
	if err != nil {
		return nil, err
	}
	defer entry.Done()
	result, err := s.unmark(entry.With(ctx), a, subject, taken)
	if err != nil {
		if failed := entry.Give(context.WithoutCancel(ctx), catalog.Rest(err)); failed != nil {
			err = errors.Join(err, failed)
		}
		return nil, err
	}
	for i := range taken {
		t := &taken[i]
		t.reopened, t.finished, t.left = result.Reopened, result.Finished, result.Left
		t.message = takenBackBecause.With(message, t.words(a.Username))
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
		if err := end(ctx, tx, taken); err != nil {
			return err
		}
		if result.Left {
			if err := record.LeftTx(ctx, tx, a.ID, subject); err != nil {
				return err
			}
		}
		if !result.Reopened && !result.Left {
			return nil
		}
		return record.ReopenedTx(ctx, tx, a.ID, subject)
	})
	entry.Done()
	if err != nil {
		return nil, err
	}
	for _, t := range taken {
		s.Engine.Log.InfoContext(ctx, "mark taken back", "record_id", t.RecordID, "account", a.Username, "subject_id", t.SubjectID, "episode_id", t.EpisodeID,
			"left_to_record", t.sharer, "subject_reopened", t.reopened, "entry_dropped", t.left)
		s.Engine.Records.Feed.Publish(t.RecordID)
	}
	return taken, nil
}

// share finds for each mark the record of another title that relies on it.
func (s *Service) share(ctx context.Context, group []heldMark, together []int64) ([]takenBack, error) {
	var taken []takenBack
	for _, m := range group {
		sharers, err := s.Engine.Records.Sharers(ctx, m.Mark, titlesOf(m.of, false))
		if err != nil {
			return nil, err
		}
		t := takenBack{heldMark: m}
		if i := slices.IndexFunc(sharers, func(id int64) bool { return !slices.Contains(together, id) }); i >= 0 {
			t.sharer = sharers[i]
		}
		taken = append(taken, t)
	}
	return taken, nil
}

// unmark removes from a list what nobody else relies on. Without that the list is not asked.
func (s *Service) unmark(ctx context.Context, a account.Account, subject catalog.SubjectID, taken []takenBack) (catalog.UnmarkResult, error) {
	written, sure := map[catalog.EpisodeID]catalog.Writing{}, map[catalog.EpisodeID]bool{}
	back := catalog.TakeBack{Written: written}
	remove, wrote := false, false // wrote: not only that it was set back to doing
	for _, t := range taken {
		if t.sharer != 0 {
			continue
		}
		remove = true
		if t.EpisodeID != 0 {
			back.Episodes = append(back.Episodes, t.EpisodeID)
		}
		if t.isRewatch() {
			back.Finish = true
			continue
		}
		wrote = true
		if !t.Intended.IsZero() {
			written[t.EpisodeID] = catalog.Writing{Intended: t.Intended}
		} else {
			sure[t.EpisodeID] = true // of another record
		}
		back.Leave = back.Leave || t.Created
	}
	if !remove {
		return catalog.UnmarkResult{}, nil
	}
	maps.DeleteFunc(written, func(id catalog.EpisodeID, _ catalog.Writing) bool { return sure[id] })
	var err error
	if !wrote {
		return s.Engine.Lists.Unmark(ctx, a, subject, back)
	}
	if back.Reopen, err = s.Engine.Records.Completed(ctx, a.ID, subject); err != nil {
		return catalog.UnmarkResult{}, err
	}
	return s.Engine.Lists.Unmark(ctx, a, subject, back)
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
	case t.Created && t.left:
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
