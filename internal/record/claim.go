package record

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/task"
)

// Hold is how long HoldTx has a record wait.
const Hold = 30 * time.Second

// notHeld holds for a record r that does not wait for somebody who held it. A hold that ends later than any can is none: the clock was
// set back since.
var notHeld = fmt.Sprintf(`(r.lease_until <= (SELECT now_ms()) OR r.lease_until > (SELECT now_ms()) + %d)`, 2*Hold.Milliseconds())

// inWorkElsewhere holds for a record r while another replica than the one of the parameter works on one of the same show and person:
// those are marked in the order they came in.
const inWorkElsewhere = `EXISTS (SELECT 1 FROM records w WHERE (w.status || '') = 'processing' AND w.user_name = r.user_name AND w.title = r.title AND w.owner <> ?)`

// claimed are the changes of a claim. Its parameters are owner and time.
const claimed = `UPDATE records SET status = 'processing', owner = ?, lease_until = 0, attempts = attempts + 1, updated_at = ? WHERE `

// Room is how much a claim may take.
type Room struct {
	// Of is how many records of a user may come first that never came out and are of no task; nil for none.
	Of func(user string) int
	// Background is how many others it may take.
	Background int
}

// Claim takes records that wait for work, for the incarnation owner: those that somebody waits for, then others, both in turns of those who
// watched them and the oldest of each first. all: nothing more waits. One whose event cannot be read fails, so that it stands in
// nobody's way.
//
// It is a shared write: the lock on the row of claims has one claim wait for the other, and nothing else makes work of a record that waits.
func (s *Store) Claim(ctx context.Context, owner int64, room Room) (works []Work, all bool, err error) {
	s.claiming.Lock()
	defer s.claiming.Unlock()
	var first, others turns
	var unreadable []int64
	err = s.db.WriteShared(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		first, others, works, unreadable = turns{after: s.first}, turns{after: s.others}, nil, nil
		if !s.db.Alone() {
			if _, err := tx.ExecContext(ctx, `UPDATE claims SET owner = ? WHERE id = 1`, owner); err != nil {
				return fmt.Errorf("lock the claims: %w", err)
			}
		}
		if err := others.ask(ctx, tx, ``); err != nil || len(others.users) == 0 {
			others.all = true
			return err
		}
		if room.Of != nil {
			if err := first.ask(ctx, tx, fresh); err != nil {
				return err
			}
			if err := first.take(ctx, tx, owner, fresh, usersMost, nil, room.Of); err != nil {
				return err
			}
		}
		if err := others.take(ctx, tx, owner, ``, room.Background, first.ids, nil); err != nil {
			return err
		}
		if len(first.ids)+len(others.ids) == 0 {
			return nil
		}
		list, args := db.In(append(slices.Clone(first.ids), others.ids...))
		works, unreadable, err = claim(ctx, tx, owner, `status = 'received' AND id IN `+list, args...)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	s.first, s.others = first.after, others.after
	// What came after those that come first were looked for is among the others, and comes first all the same.
	come := map[string]int{}
	for i, w := range works {
		works[i].Background = !slices.Contains(first.ids, w.ID) && (w.Background || room.Of == nil || come[w.UserName] >= room.Of(w.UserName))
		if !works[i].Background {
			come[w.UserName]++
		}
		s.Feed.Publish(w.ID)
	}
	for _, id := range unreadable {
		s.Feed.Publish(id)
	}
	return works, others.all, nil
}

// claim claims the records that a condition is for, and fails those whose event cannot be read. What somebody has just watched is not of the
// background.
func claim(ctx context.Context, tx *sql.Tx, owner int64, condition string, args ...any) (works []Work, unreadable []int64, err error) {
	err = db.Each(ctx, tx, "claim records", func(row db.Row) error {
		w := Work{Owner: owner}
		var event string
		if err := scan(row, &w.Record, &event, &w.Background); err != nil {
			return err
		}
		if json.Unmarshal([]byte(event), &w.Event) != nil {
			unreadable = append(unreadable, w.ID)
		} else {
			works = append(works, w)
		}
		return nil
	}, claimed+condition+` RETURNING `+columns+`, event, NOT (true`+fresh+`)`, append([]any{owner, time.Now().UnixMilli()}, args...)...)
	if err != nil {
		return nil, nil, err
	}
	for _, id := range unreadable {
		if err := SettleTx(ctx, tx, Outcome{RecordID: id, Owner: owner, Status: Failed, ErrorKind: Internal, Message: eventUnreadable.With()}); err != nil {
			return nil, nil, err
		}
	}
	slices.SortFunc(works, func(a, b Work) int { return cmp.Compare(a.ID, b.ID) }) // RETURNING has no order
	return works, unreadable, nil
}

// ReclaimTx takes a settled record for the incarnation owner at once, within tx; claimed is false when it is on its way, its event cannot
// be read, or another replica works on its show.
func ReclaimTx(ctx context.Context, tx *sql.Tx, owner, id int64) (w Work, claimed bool, err error) {
	works, _, err := claim(ctx, tx, owner, `id IN (SELECT r.id FROM records r WHERE r.id = ? AND r.status NOT IN ('received', 'processing') AND NOT `+inWorkElsewhere+`)`, id, owner)
	if err != nil || len(works) == 0 {
		return Work{}, false, err
	}
	works[0].Background = false // somebody waits for it
	return works[0], true, OfTaskTx(ctx, tx, task.IDOf(ctx), time.Now(), id)
}

// Held are the records that an incarnation works on, as far as the database knows.
func (s *Store) Held(ctx context.Context, owner int64) ([]int64, error) {
	return db.Values[int64](ctx, s.db.Read(), "list what is in work", `SELECT id FROM records WHERE status = 'processing' AND owner = ? ORDER BY id`, owner)
}

// Workable are those of some records that an incarnation works on, and those that wait for anybody.
func (s *Store) Workable(ctx context.Context, owner int64, ids ...int64) ([]int64, error) {
	list, args := db.In(ids)
	return db.Values[int64](ctx, s.db.Read(), "list what may be worked on", `SELECT id FROM records
		WHERE (status = 'received' OR status = 'processing' AND owner = ?) AND id IN `+list, append([]any{owner}, args...)...)
}

// Release gives claimed records back untouched, for another worker to take at once. Those that are not the owner's any more stay.
//
// It is a shared write: while the owner lives, nobody else changes what it has claimed.
func (s *Store) Release(ctx context.Context, owner int64, ids ...int64) error {
	list, args := db.In(ids)
	return s.db.WriteShared(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE records SET status = 'received', owner = 0, attempts = attempts - 1
			WHERE status = 'processing' AND owner = ? AND id IN `+list, append([]any{owner}, args...)...); err != nil {
			return fmt.Errorf("release records: %w", err)
		}
		return nil
	})
}

// FreeTx gives back what dead incarnations had in work, within tx.
func FreeTx(ctx context.Context, tx *sql.Tx, dead []int64) error {
	list, args := db.In(dead)
	if _, err := tx.ExecContext(ctx, `UPDATE records SET status = 'received', owner = 0, lease_until = 0 WHERE status = 'processing' AND owner IN `+list, args...); err != nil {
		return fmt.Errorf("give back what was in work: %w", err)
	}
	return nil
}

// HoldTx has a received record wait, within tx, until LetTx is called or Hold has passed.
func HoldTx(ctx context.Context, tx *sql.Tx, id int64) error {
	if _, err := tx.ExecContext(ctx, `UPDATE records SET lease_until = now_ms() + ? WHERE id = ? AND status = 'received'`, Hold.Milliseconds(), id); err != nil {
		return fmt.Errorf("hold record %d: %w", id, err)
	}
	return nil
}

// LetTx ends the hold on records, within tx.
func LetTx(ctx context.Context, tx *sql.Tx, ids ...int64) error {
	list, args := db.In(ids)
	if _, err := tx.ExecContext(ctx, `UPDATE records SET lease_until = 0 WHERE status = 'received' AND id IN `+list, args...); err != nil {
		return fmt.Errorf("end the hold on records: %w", err)
	}
	return nil
}
