package record

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/watch"
)

// byName is the SQL condition of a record whose user says whose it is. What a player told with an API key is of that key's person, whatever
// accounts name.
const byName = `records.source <> 'scrobble'`

// stillUnrouted is the SQL condition of a failed record whose user no enabled account names to this day: who was added to one since
// is no user without an account, and what failed of theirs only wants to be run again.
var stillUnrouted = `(records.error_kind = 'no_account' AND ` + byName + ` AND NOT ` + account.AnyEnabledFor("records.user_name") + `)`

// Unrouted is a media-server user whose records failed because no account names them, which none does now either.
type Unrouted struct {
	User string
	// Count is how many records failed so; Newest is the newest of them, and First when the first came in.
	Count  int
	Newest Record
	First  time.Time
	// Sources are where they came from.
	Sources []watch.Source
}

// Unrouted are the users without an account, who was heard of last first, at most so many, and the cursor of the next page (0 = none).
// A cursor other than 0 leaves out those whose newest record is not before it.
func (s *Store) Unrouted(ctx context.Context, before int64, most int) (users []Unrouted, next int64, err error) {
	var ids []int64
	within, args := account.Within(ctx, "account_id")
	query := `SELECT user_name, COUNT(*), MAX(id), MIN(created_at) FROM records WHERE ` + stillUnrouted + ` AND status = 'error' AND ` + within + ` GROUP BY user_name`
	if before > 0 {
		query, args = query+` HAVING MAX(id) < ?`, append(args, before)
	}
	users, err = db.All(ctx, s.db.Read(), "list users without an account", func(row db.Row) (u Unrouted, err error) {
		var newest, first int64
		err = row.Scan(&u.User, &u.Count, &newest, &first)
		u.First = time.UnixMilli(first).UTC()
		ids = append(ids, newest)
		return u, err
	}, query+` ORDER BY MAX(id) DESC LIMIT ?`, append(args, most+1)...)
	if err != nil {
		return nil, 0, err
	}
	if len(users) > most {
		users, ids = users[:most], ids[:most]
		next = ids[most-1]
	}
	records, err := s.Some(ctx, ids)
	if err != nil {
		return nil, 0, err
	}
	for i, id := range ids {
		users[i].Newest = records[id]
	}
	return users, next, s.sourcesOf(ctx, users)
}

// sourcesOf adds where the records of users without an account came from.
func (s *Store) sourcesOf(ctx context.Context, users []Unrouted) error {
	if len(users) == 0 {
		return nil
	}
	names, at := make([]string, len(users)), map[string]int{}
	for i, u := range users {
		names[i], at[u.User] = u.User, i
	}
	list, args := db.In(names)
	within, whose := account.Within(ctx, "account_id")
	return db.Each(ctx, s.db.Read(), "list the sources of users without an account", func(row db.Row) error {
		var user string
		var source watch.Source
		err := row.Scan(&user, &source)
		if i, is := at[user]; is {
			users[i].Sources = append(users[i].Sources, source)
		}
		return err
	}, `SELECT DISTINCT user_name, source FROM records WHERE user_name IN `+list+` AND error_kind = 'no_account' AND status = 'error' AND `+within+` ORDER BY user_name, source`,
		append(args, whose...)...)
}

// CountUnrouted is how many users have no account.
func (s *Store) CountUnrouted(ctx context.Context) (n int, err error) {
	within, args := account.Within(ctx, "account_id")
	err = s.db.Read().QueryRowContext(ctx, `SELECT COUNT(DISTINCT user_name) FROM records WHERE `+stillUnrouted+` AND status = 'error' AND `+within, args...).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count users without an account: %w", err)
	}
	return n, nil
}

// UnroutedTitle is what a user without an account watched of one season or film.
type UnroutedTitle struct {
	Title  string
	Season *int
	// Count is how many plays there are; First and Last are the first and the last episode, nil for a film.
	Count       int
	First, Last *float64
}

// UnroutedOf is what waits of one user without an account.
type UnroutedOf struct {
	Plays       int
	First, Last time.Time // zero without plays
	// Titles are the first ones, in the order in which they were watched first, and More how many there are beside them.
	Titles []UnroutedTitle
	More   int
}

// UnroutedOf is what waits of a user without an account, with so many titles at most. A user who has an account has no plays here.
func (s *Store) UnroutedOf(ctx context.Context, user string, most int) (o UnroutedOf, err error) {
	within, whose := account.Within(ctx, "account_id")
	where, args := ` FROM records WHERE user_name = ? AND status = 'error' AND `+stillUnrouted+` AND `+within, append([]any{user}, whose...)
	var first, last int64
	err = s.db.Read().QueryRowContext(ctx, `SELECT COUNT(*), COALESCE(MIN(created_at), 0), COALESCE(MAX(created_at), 0)`+where, args...).Scan(&o.Plays, &first, &last)
	if err != nil {
		return o, fmt.Errorf("count what waits of a user without an account: %w", err)
	}
	if o.Plays == 0 {
		return o, nil
	}
	o.First, o.Last = time.UnixMilli(first).UTC(), time.UnixMilli(last).UTC()
	var all int
	grouped := `SELECT title, season, COUNT(*) AS plays, MIN(episode) AS first_episode, MAX(episode) AS last_episode, MIN(id) AS first_id` + where + ` GROUP BY title, season`
	o.Titles, err = db.All(ctx, s.db.Read(), "list the titles of a user without an account", func(row db.Row) (t UnroutedTitle, err error) {
		err = row.Scan(&t.Title, &t.Season, &t.Count, &t.First, &t.Last, &all)
		return t, err
	}, `SELECT title, season, plays, first_episode, last_episode, COUNT(*) OVER () FROM (`+grouped+`) AS titles ORDER BY first_id LIMIT ?`, append(args, most)...)
	o.More = all - len(o.Titles)
	return o, err
}

// UnroutedIDs are the records of a user that failed because no account named them, the oldest first.
func (s *Store) UnroutedIDs(ctx context.Context, user string) ([]int64, error) {
	within, args := account.Within(ctx, "account_id")
	return db.Values[int64](ctx, s.db.Read(), "list the records of a user without an account",
		`SELECT id FROM records WHERE user_name = ? AND error_kind = 'no_account' AND status = 'error' AND `+byName+` AND `+within+` ORDER BY id`, append([]any{user}, args...)...)
}

// ToldWithoutAccount are the records of what players told with API keys of a person that failed for want of an account, the oldest first.
func (s *Store) ToldWithoutAccount(ctx context.Context, person int64) ([]int64, error) {
	within, args := account.Within(ctx, "account_id")
	return db.Values[int64](ctx, s.db.Read(), "list what players told of a person without an account",
		`SELECT id FROM records WHERE error_kind = 'no_account' AND status = 'error' AND NOT `+byName+` AND CAST(json_extract(event, '$.person_id') AS TEXT) = ? AND `+within+` ORDER BY id`,
		append([]any{strconv.FormatInt(person, 10)}, args...)...)
}

// UserOfTask is the user whose records a task ran for an account; empty when it has none.
func (s *Store) UserOfTask(ctx context.Context, taskID, accountID int64) (string, error) {
	names, err := db.Values[string](ctx, s.db.Read(), "look whose records a task ran", `SELECT user_name FROM records WHERE account_id = ? AND task_id = ? ORDER BY id LIMIT 1`,
		accountID, taskID)
	if err != nil || len(names) == 0 {
		return "", err
	}
	return names[0], nil
}

// UnassignTx gives the settled records that a task ran for an account back to nobody, within tx: those of a user that hold no mark any
// more. It answers them, the oldest first.
func UnassignTx(ctx context.Context, tx *sql.Tx, taskID, accountID int64, user string, message reason.Reason) ([]int64, error) {
	ids, err := db.Values[int64](ctx, tx, "give records back to nobody", `UPDATE records SET status = 'error', error_kind = 'no_account', message = ?, account_id = NULL, account_name = '',
			question_id = NULL, task_id = 0, updated_at = ?
		WHERE account_id = ? AND task_id = ? AND user_name = ? AND status NOT IN ('received', 'processing') AND NOT EXISTS (SELECT 1 FROM record_marks WHERE record_id = records.id)
		RETURNING id`, message, time.Now().UnixMilli(), accountID, taskID, user)
	slices.Sort(ids) // RETURNING has no order
	return ids, err
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
	_, err := tx.ExecContext(ctx, `UPDATE records SET status = ?, error_kind = ?, message = ?, updated_at = ? WHERE user_name = ? AND status = ? AND error_kind = ? AND `+byName,
		to, kind, message, time.Now().UnixMilli(), user, from, fromKind)
	if err != nil {
		return fmt.Errorf("move the records of a user: %w", err)
	}
	return nil
}
