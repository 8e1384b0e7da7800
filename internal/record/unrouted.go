package record

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
)

// stillUnrouted is the SQL condition of a failed record whose user no enabled account names to this day: who was added to one since
// is no user without an account, and what failed of theirs only wants to be run again.
var stillUnrouted = `(records.error_kind = 'no_account' AND NOT ` + account.AnyEnabledFor("records.user_name") + `)`

// Unrouted is a media-server user whose records failed because no account names them, which none does now either.
type Unrouted struct {
	User string
	// Count is how many records failed so; Newest is the newest of them.
	Count  int
	Newest Record
}

// Unrouted are the users without an account, who was heard of last first, at most so many.
func (s *Store) Unrouted(ctx context.Context, most int) ([]Unrouted, error) {
	var ids []int64
	within, args := account.Within(ctx, "account_id")
	users, err := db.All(ctx, s.db.Read(), "list users without an account", func(row db.Row) (u Unrouted, err error) {
		var newest int64
		err = row.Scan(&u.User, &u.Count, &newest)
		ids = append(ids, newest)
		return u, err
	}, `SELECT user_name, COUNT(*), MAX(id) FROM records WHERE `+stillUnrouted+` AND status = 'error' AND `+within+` GROUP BY user_name ORDER BY MAX(id) DESC LIMIT ?`, append(args, most)...)
	if err != nil {
		return nil, err
	}
	records, err := s.Some(ctx, ids)
	for i, id := range ids {
		users[i].Newest = records[id]
	}
	return users, err
}

// IgnoreUserTx ends the records of a user without an account as ignored, within tx.
func IgnoreUserTx(ctx context.Context, tx *sql.Tx, user string, message reason.Reason) error {
	return moveUnrouted(ctx, tx, user, Failed, NoAccount, Ignored, UserIgnored, message)
}

// HeedUserTx is the way back from IgnoreUserTx.
func HeedUserTx(ctx context.Context, tx *sql.Tx, user string, message reason.Reason) error {
	return moveUnrouted(ctx, tx, user, Ignored, UserIgnored, Failed, NoAccount, message)
}

func moveUnrouted(ctx context.Context, tx *sql.Tx, user string, from Status, fromKind ErrorKind, to Status, kind ErrorKind, message reason.Reason) error {
	_, err := tx.ExecContext(ctx, `UPDATE records SET status = ?, error_kind = ?, message = ?, updated_at = ? WHERE user_name = ? AND status = ? AND error_kind = ?`,
		to, kind, message, time.Now().UnixMilli(), user, from, fromKind)
	if err != nil {
		return fmt.Errorf("move the records of a user: %w", err)
	}
	return nil
}
