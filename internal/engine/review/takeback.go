package review

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"watchmark/internal/engine"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/engine/queue"
	"watchmark/internal/match/mapping"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// Unmark takes back what a record wrote to a list: the episodes that it newly marked, and
// "done" of a subject where this service set that. What it found there stays, and so does
// the entry of the list, but for one that is all that the record wrote: that is dropped and hidden. A mark that a record of another title relies on stays too, and
// becomes that record's. The record ends as ignored with the message given. It returns
// record.ErrNotFound, engine.ErrInProgress, ErrNothingMarked, or an error of packages account
// and catalog, after which asking again goes on where it stopped.
func (s *Service) Unmark(ctx context.Context, id int64, message string) (record.Record, error) {
	r, err := s.Engine.Records.Get(ctx, id)
	if err != nil {
		return record.Record{}, err
	}
	if r.Status.IsOnTheWay() {
		return record.Record{}, fmt.Errorf("unmark record %d: %w", id, engine.ErrInProgress)
	}
	taken, err := s.takeBackAll(ctx, []int64{id}, message)
	if err != nil {
		return record.Record{}, fmt.Errorf("unmark record %d: %w", id, err)
	}
	if len(taken) == 0 {
		return record.Record{}, fmt.Errorf("unmark record %d: %w", id, ErrNothingMarked)
	}
	return s.Engine.Records.Get(ctx, id)
}

// titlesOf are the records that a mapping made from r is for.
func titlesOf(r record.Record, everySeason bool) record.Titles {
	title := mapping.Fold(r.Title)
	return record.Titles{
		Same:   func(other string) bool { return mapping.Fold(other) == title },
		Season: r.Season, EverySeason: everySeason, Film: r.MediaType == watch.Movie,
	}
}

// takeBackAll removes all marks of some records, entry by entry, and ends the records as
// ignored. After an error the marks of further entries are as they were.
func (s *Service) takeBackAll(ctx context.Context, ids []int64, message string) ([]takenBack, error) {
	var held []heldMark
	together := map[int64]bool{}
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
			held = append(held, heldMark{Mark: m, of: r})
		}
		together[id] = true
	}
	var all []takenBack
	for _, group := range byEntry(held) {
		taken, err := s.takeBack(ctx, group, message, together, func(ctx context.Context, tx *sql.Tx, taken []takenBack) error {
			for _, t := range taken {
				if err := record.IgnoreTx(ctx, tx, t.RecordID, t.told); err != nil {
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

// heldMark is a mark with the record that wrote it.
type heldMark struct {
	record.Mark
	of record.Record
}

// entry is one of an account's list.
type entry struct {
	account int64
	subject catalog.SubjectID
}

// byEntry groups marks by the list entry they are on, in the order given.
func byEntry(marks []heldMark) [][]heldMark {
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

// takenBack is what became of one mark.
type takenBack struct {
	heldMark
	// sharer is the record that the mark was left to; 0 when it was taken back.
	sharer int64
	// reopened: the subject went from done to doing. left: the entry was dropped and hidden.
	reopened, left bool
	// told is what became of it, for people.
	told string
}

// isThatLeftBy reports whether t is the mark that was left to a record before, and was its own then.
func (t takenBack) isThatLeftBy(before takenBack) bool {
	return t.RecordID == before.sharer && t.AccountID == before.AccountID && t.SubjectID == before.SubjectID && t.EpisodeID == before.EpisodeID
}

// takeBack removes marks of one entry from its list. What becomes of their records end
// writes, in the transaction that forgets a mark: a crash leaves no record between the two.
// What a record of those given in together found does not count as relied on, for they lose
// their marks too. Nothing is stored when the catalog fails: the records stay as they were.
func (s *Service) takeBack(ctx context.Context, group []heldMark, message string, together map[int64]bool,
	end func(ctx context.Context, tx *sql.Tx, taken []takenBack) error,
) ([]takenBack, error) {
	first := group[0]
	a, err := s.Engine.Accounts.Get(ctx, first.AccountID)
	if err != nil {
		return nil, err
	}
	var taken []takenBack
	var back catalog.TakeBack
	remove := false
	for _, m := range group {
		sharers, err := s.Engine.Records.Sharers(ctx, m.Mark, titlesOf(m.of, false))
		if err != nil {
			return nil, err
		}
		t := takenBack{heldMark: m}
		if i := slices.IndexFunc(sharers, func(id int64) bool { return !together[id] }); i >= 0 {
			t.sharer = sharers[i]
		}
		taken = append(taken, t)
		if t.sharer != 0 {
			continue
		}
		remove = true
		if m.EpisodeID != 0 {
			back.Episodes = append(back.Episodes, m.EpisodeID)
		}
		back.Leave = back.Leave || m.Created
	}
	var result catalog.UnmarkResult
	if remove {
		if back.Reopen, err = s.Engine.Records.Completed(ctx, first.AccountID, first.SubjectID); err != nil {
			return nil, err
		}
		if result, err = s.Engine.Lists.Unmark(ctx, a, first.SubjectID, back); err != nil {
			return nil, err
		}
	}
	err = s.Engine.DB.Write(context.WithoutCancel(ctx), func(ctx context.Context, tx *sql.Tx) error {
		for i := range taken {
			t := &taken[i]
			t.reopened, t.left = result.Reopened, result.Left
			var err error
			if t.told, err = t.store(ctx, tx, a, message); err != nil {
				return err
			}
		}
		if err := end(ctx, tx, taken); err != nil {
			return err
		}
		if result.Left {
			if err := record.LeftTx(ctx, tx, first.AccountID, first.SubjectID); err != nil {
				return err
			}
		}
		if !result.Reopened && !result.Left {
			return nil
		}
		return record.ReopenedTx(ctx, tx, first.AccountID, first.SubjectID)
	})
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

// store writes within tx that a mark was taken back, and adds to the message what became of it.
func (t takenBack) store(ctx context.Context, tx *sql.Tx, a account.Account, message string) (string, error) {
	switch {
	case t.sharer != 0:
		message += fmt.Sprintf(": the mark on the list of %s stays, for record %d found it there", a.Username, t.sharer)
		if err := record.HandMarkTx(ctx, tx, t.Mark, t.sharer); err != nil {
			return "", err
		}
	case t.Created && t.left:
		message += fmt.Sprintf(": the entry on the list of %s is dropped and hidden from others, for the catalog cannot remove it", a.Username)
	case t.Created:
		message += fmt.Sprintf(": the entry on the list of %s stays, for it was changed since", a.Username)
	case t.reopened && t.EpisodeID == 0:
		message += fmt.Sprintf(": the subject is not done any more on the list of %s", a.Username)
	case t.reopened:
		message += fmt.Sprintf(": the mark is removed from the list of %s, and the subject is not done there any more", a.Username)
	default:
		message += fmt.Sprintf(": the mark is removed from the list of %s", a.Username)
	}
	if t.sharer == 0 {
		if err := record.DropMarkTx(ctx, tx, t.Mark); err != nil {
			return "", err
		}
	}
	_, err := queue.DoneTx(ctx, tx, t.RecordID)
	return message, err
}

// unmarkProblem says in plain words why a mark could not be taken back.
func unmarkProblem(err error) string {
	switch {
	case errors.Is(err, account.ErrNotFound):
		return "its account was deleted"
	case errors.Is(err, account.ErrNoToken):
		return "its account has no access token"
	case errors.Is(err, account.ErrOtherUser), errors.Is(err, account.ErrTaken), errors.Is(err, catalog.ErrUnauthorized):
		return "the catalog refuses the token of its account: enter a new one on the accounts page"
	case errors.Is(err, catalog.ErrForbidden):
		return "the catalog forbids its account to write"
	case errors.Is(err, catalog.ErrUnreachable):
		return "the catalog cannot be reached"
	case errors.Is(err, catalog.ErrNotFound), errors.Is(err, catalog.ErrRefused):
		return "the catalog refuses it"
	}
	return "internal error, see the service's log"
}
