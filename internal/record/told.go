package record

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/watch"
)

// playsMost is how many records are looked at to find a play that was told before, the newest.
const playsMost = 200

// Play is an event that became a record, and when it came.
type Play struct {
	Event watch.Event
	At    time.Time
}

// SamePlay reports whether two events that API keys brought are of the same person, item and action.
func SamePlay(a, b watch.Event) bool {
	same := func(x, y *float64) bool { return x == nil && y == nil || x != nil && y != nil && *x == *y }
	season := func(x, y *int) bool { return x == nil && y == nil || x != nil && y != nil && *x == *y }
	return a.PersonID != nil && b.PersonID != nil && *a.PersonID == *b.PersonID && a.Source == b.Source && a.Action == b.Action && a.Media == b.Media &&
		a.Title == b.Title && season(a.Season, b.Season) && same(a.Episode, b.Episode)
}

// LockPlaysTx has the replicas look for plays one after the other, until the end of tx, with the lock on the row of claims.
func LockPlaysTx(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, `UPDATE claims SET owner = owner WHERE id = 1`); err != nil {
		return fmt.Errorf("lock the plays: %w", err)
	}
	return nil
}

// PlaysTx are the records since a time that are of the SamePlay as an event, the newest first, of the newest records of its user.
func PlaysTx(ctx context.Context, tx *sql.Tx, of watch.Event, since time.Time) ([]Play, error) {
	plays := []Play{}
	err := db.Each(ctx, tx, "look whether a play was told before", func(row db.Row) error {
		var text string
		var created int64
		if err := row.Scan(&text, &created); err != nil {
			return err
		}
		p := Play{At: time.UnixMilli(created)}
		if json.Unmarshal([]byte(text), &p.Event) == nil && SamePlay(of, p.Event) { // one that cannot be read stands in nobody's way
			plays = append(plays, p)
		}
		return nil
	}, `SELECT event, created_at FROM records WHERE user_name = ? AND source = ? AND title = ? AND is_test = 0 AND created_at >= ? ORDER BY id DESC LIMIT ?`,
		of.UserName, of.Source, of.Title, since.UnixMilli(), playsMost)
	return plays, err
}
