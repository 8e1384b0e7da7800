package record

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
	"watchmark/internal/watch"
)

// Unwatched is a record whose mark is to be taken back, because what was watched was set back to unwatched.
type Unwatched struct {
	Record
	HeardAt time.Time
}

// sameItem is the SQL condition of records that tell of the same episode or film.
func sameItem(title string, season *int, episode *float64) (where string, args []any) {
	where, args = `title = ? AND action = 'watched' AND COALESCE(season, -1) = COALESCE(?, -1) AND episode `, []any{title, season}
	if episode == nil {
		return where + `IS NULL`, args
	}
	return where + `= ?`, append(args, *episode)
}

// HoldersTx are the records of an account that hold the mark of an episode or film, or may yet write it, as far as it is not known to be of
// another media server. One that is given to no account yet is everybody's who has that media-server user.
func HoldersTx(ctx context.Context, tx *sql.Tx, accountID int64, of watch.Event) (ids []int64, err error) {
	where, args := sameItem(of.Title, of.Season, of.Episode)
	server := watch.PlainID(of.ServerID)
	err = db.Each(ctx, tx, "look who marked what is unwatched again", func(row db.Row) error {
		var id int64
		var text string
		if err := row.Scan(&id, &text); err != nil {
			return err
		}
		var event watch.Event
		if err := json.Unmarshal([]byte(text), &event); err != nil {
			return fmt.Errorf("read the event of record %d: %w", id, err)
		}
		if other := watch.PlainID(event.ServerID); other == "" || server == "" || other == server {
			ids = append(ids, id)
		}
		return nil
	}, `SELECT id, event FROM records WHERE `+where+` AND account_id = ? AND (status IN ('received', 'processing', 'queued')
			OR EXISTS (SELECT 1 FROM record_marks WHERE record_id = records.id AND record_marks.account_id = records.account_id))
		UNION ALL SELECT id, event FROM records WHERE `+where+` AND account_id IS NULL AND user_name = ? AND status IN ('received', 'processing') ORDER BY id`,
		slices.Concat(args, []any{accountID}, args, []any{of.UserName})...) // each by an index
	return ids, err
}

// UnwatchTx notes within tx that the marks of some records are to be taken back.
func UnwatchTx(ctx context.Context, tx *sql.Tx, accountID int64, ids []int64, now time.Time) error {
	for _, id := range ids {
		_, err := tx.ExecContext(ctx, `INSERT INTO unwatched (record_id, account_id, heard_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, id, accountID, now.UnixMilli())
		if err != nil {
			return fmt.Errorf("note that record %d is unwatched again: %w", id, err)
		}
	}
	return nil
}

// Unwatched are the records whose marks are to be taken back, or with asked those that wait for a person's word, by account and record.
func (s *Store) Unwatched(ctx context.Context, asked bool) ([]Unwatched, error) {
	within, whose := account.Within(ctx, "account_id")
	return db.All(ctx, s.db.Read(), "list what is unwatched again", func(row db.Row) (u Unwatched, err error) {
		var heard int64
		err = scan(row, &u.Record, &heard)
		u.HeardAt = time.UnixMilli(heard)
		return u, err
	}, `SELECT `+columns+`, (SELECT MAX(heard_at) FROM unwatched WHERE record_id = records.id) FROM records
		WHERE id IN (SELECT record_id FROM unwatched WHERE (asked_at > 0) = ?) AND `+within+` ORDER BY account_id, id`, append([]any{asked}, whose...)...)
}

// AskedUnwatched are at most so many of the records that wait for a person's word, by account and record, and the cursor of the next page
// (0 = none). A cursor other than 0 is the record that the page begins after.
func (s *Store) AskedUnwatched(ctx context.Context, after int64, most int) (asked []Unwatched, next int64, err error) {
	within, whose := account.Within(ctx, "account_id")
	from, whoseFrom := account.Within(ctx, "a.account_id") // or a cursor would tell of others
	args := slices.Concat(whose, []any{after, after}, whoseFrom, []any{after, most + 1})
	asked, err = db.All(ctx, s.db.Read(), "list what people are asked about", func(row db.Row) (u Unwatched, err error) {
		var heard int64
		err = scan(row, &u.Record, &heard)
		u.HeardAt = time.UnixMilli(heard)
		return u, err
	}, `SELECT `+columns+`, (SELECT MAX(heard_at) FROM unwatched WHERE record_id = records.id) FROM records
		WHERE id IN (SELECT record_id FROM unwatched WHERE asked_at > 0) AND `+within+`
			AND (CAST(? AS BIGINT) = 0 OR (COALESCE(account_id, 0), id) > ((SELECT COALESCE(a.account_id, 0) FROM records a WHERE a.id = ? AND `+from+`), CAST(? AS BIGINT)))
		ORDER BY COALESCE(account_id, 0), id LIMIT ?`, args...)
	if err == nil && len(asked) > most {
		asked = asked[:most]
		next = asked[most-1].ID
	}
	return asked, next, err
}

// IsUnwatched reports whether there are records whose marks are to be taken back.
func (s *Store) IsUnwatched(ctx context.Context) (is bool, err error) {
	if err = s.db.Read().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM unwatched WHERE asked_at = 0)`).Scan(&is); err != nil {
		return false, fmt.Errorf("look for what is unwatched again: %w", err)
	}
	return is, nil
}

// AskUnwatchedTx has some records wait for a person's word, within tx.
func AskUnwatchedTx(ctx context.Context, tx *sql.Tx, ids []int64, now time.Time) error {
	list, args := db.In(ids)
	if _, err := tx.ExecContext(ctx, `UPDATE unwatched SET asked_at = ? WHERE record_id IN `+list, append([]any{now.UnixMilli()}, args...)...); err != nil {
		return fmt.Errorf("ask about what is unwatched again: %w", err)
	}
	return nil
}

// DropUnwatchedTx forgets within tx that the marks of some records are to be taken back.
func DropUnwatchedTx(ctx context.Context, tx *sql.Tx, ids []int64) error {
	list, args := db.In(ids)
	if _, err := tx.ExecContext(ctx, `DELETE FROM unwatched WHERE record_id IN `+list, args...); err != nil {
		return fmt.Errorf("forget what was unwatched again: %w", err)
	}
	return nil
}

// AsksUnwatchedTx reports within tx whether a person is asked about records of an account.
func AsksUnwatchedTx(ctx context.Context, tx *sql.Tx, accountID int64) (asks bool, err error) {
	if err = tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM unwatched WHERE account_id = ? AND asked_at > 0)`, accountID).Scan(&asks); err != nil {
		return false, fmt.Errorf("look what is asked of account %d: %w", accountID, err)
	}
	return asks, nil
}

// WatchedSince reports whether what was set back to unwatched was watched once more since.
func (s *Store) WatchedSince(ctx context.Context, u Unwatched) (since bool, err error) {
	where, args := sameItem(u.Title, u.Season, u.Episode)
	err = s.db.Read().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM records WHERE `+where+` AND account_id = ? AND created_at > ? AND status NOT IN ('ignored', 'error'))`,
		append(args, u.AccountID, u.HeardAt.UnixMilli())...).Scan(&since)
	if err != nil {
		return false, fmt.Errorf("look whether record %d was watched again: %w", u.ID, err)
	}
	return since, nil
}
