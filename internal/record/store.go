package record

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"watchmark/internal/db"
	"watchmark/internal/watch"
)

// Store keeps records in the database. Changes are published on Feed after they are committed.
type Store struct {
	db   *db.DB
	Feed *Feed
}

// NewStore is the store over d.
func NewStore(d *db.DB) *Store { return &Store{db: d, Feed: newFeed()} }

// Insert adds a received record for event within tx, so that an intake can commit
// many at once. The caller publishes the id on the Feed after the commit.
func Insert(ctx context.Context, tx *sql.Tx, event watch.Event, test bool, now time.Time) (int64, error) {
	return insert(ctx, tx, event, test, Received, 0, 0, now)
}

// Past is a record that came about elsewhere and is kept as it came out there.
type Past struct {
	Event watch.Event
	// Test is set for one that was only a test.
	Test bool
	// At is when it came about.
	At time.Time
	// Outcome is how it came out. It names no record, and no mark: what was marked is not known to be of this service.
	Outcome Outcome
}

// InsertPast adds a settled record within tx. The engine has nothing to do with it until somebody retries it.
func InsertPast(ctx context.Context, tx *sql.Tx, p Past) (id int64, err error) {
	text, err := json.Marshal(p.Event)
	if err != nil {
		return 0, fmt.Errorf("encode event: %w", err)
	}
	e, o := p.Event, p.Outcome
	err = tx.QueryRowContext(ctx, `
		INSERT INTO records (status, is_test, source, action, media_type, user_name, title, original_title,
			season, episode, release_date, account_id, account_name, subject_id, subject_name, episode_id, episode_sort,
			method, confidence, message, error_kind, attempts, event, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULLIF(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?) RETURNING id`,
		o.Status, p.Test, e.Source, e.Action, e.Media, e.UserName, e.Title, e.OriginalTitle,
		e.Season, e.Episode, e.AirDate.String(), o.AccountID, o.AccountName, o.SubjectID, o.SubjectName, o.EpisodeID, o.EpisodeSort,
		o.Method, o.Confidence, o.Message, o.ErrorKind, string(text), p.At.UnixMilli(), p.At.UnixMilli()).Scan(&id)
	if err != nil {
		return 0, fmt.Errorf("insert a past record: %w", err)
	}
	return id, SetTraceTx(ctx, tx, id, o.Trace)
}

// insert adds a record; leaseUntil is in unix ms, accountID 0 leaves it unrouted.
func insert(ctx context.Context, tx *sql.Tx, event watch.Event, test bool, status Status, leaseUntil, accountID int64, now time.Time) (int64, error) {
	text, err := json.Marshal(event)
	if err != nil {
		return 0, fmt.Errorf("encode event: %w", err)
	}
	var id int64
	err = tx.QueryRowContext(ctx, `
		INSERT INTO records (status, is_test, source, action, media_type, user_name, title, original_title,
			season, episode, release_date, account_id, lease_until, event, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULLIF(?, 0), ?, ?, ?, ?) RETURNING id`,
		status, test, event.Source, event.Action, event.Media, event.UserName, event.Title, event.OriginalTitle,
		event.Season, event.Episode, event.AirDate.String(), accountID, leaseUntil, string(text),
		now.UnixMilli(), now.UnixMilli()).Scan(&id)
	if err != nil {
		return 0, fmt.Errorf("insert record: %w", err)
	}
	return id, nil
}

// InsertClaimed adds a record that the caller works on itself, held by a lease.
func (s *Store) InsertClaimed(ctx context.Context, event watch.Event, test bool, lease time.Duration) (Work, error) {
	now := time.Now()
	var id int64
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		id, err = insert(ctx, tx, event, test, Processing, now.Add(lease).UnixMilli(), 0, now)
		return err
	})
	if err != nil {
		return Work{}, err
	}
	s.Feed.Publish(id)
	r, err := s.Get(ctx, id)
	return Work{Record: r, Event: event}, err
}

// Claim takes up to limit records that wait for work, oldest first, and holds them
// until the lease runs out. Records whose lease ran out are taken again, and those whose
// lease ends later than any can: the clock was set back since it was given.
func (s *Store) Claim(ctx context.Context, limit int, lease time.Duration) ([]Work, error) {
	now := time.Now()
	var works []Work
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		// SQLite plans by the value of a bare LIMIT ?, so it would prepare this anew at every call.
		rows, err := tx.QueryContext(ctx, `
			UPDATE records SET status = 'processing', lease_until = ?, attempts = attempts + 1, updated_at = ?
			WHERE id IN (SELECT id FROM records WHERE status IN ('received', 'processing') AND (lease_until < ? OR lease_until > ?) ORDER BY id LIMIT (? + 0))
			RETURNING `+columns+`, event`,
			now.Add(lease).UnixMilli(), now.UnixMilli(), now.UnixMilli(), now.Add(2*lease).UnixMilli(), limit)
		if err != nil {
			return fmt.Errorf("claim records: %w", err)
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var w Work
			var event string
			if err := scan(rows, &w.Record, &event); err != nil {
				return err
			}
			if err := json.Unmarshal([]byte(event), &w.Event); err != nil {
				return fmt.Errorf("decode the event of record %d: %w", w.ID, err)
			}
			works = append(works, w)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, err
	}
	sortByID(works)
	for _, w := range works {
		s.Feed.Publish(w.ID)
	}
	return works, nil
}

// Extend prolongs the leases of records that are still being worked on.
func (s *Store) Extend(ctx context.Context, ids []int64, lease time.Duration) error {
	if len(ids) == 0 {
		return nil
	}
	until := time.Now().Add(lease).UnixMilli()
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, id := range ids {
			if _, err := tx.ExecContext(ctx, `UPDATE records SET lease_until = ? WHERE id = ? AND status = 'processing'`, until, id); err != nil {
				return fmt.Errorf("extend leases: %w", err)
			}
		}
		return nil
	})
}

// Release gives claimed records back untouched, for another worker to take at once.
func (s *Store) Release(ctx context.Context, ids []int64) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, id := range ids {
			if _, err := tx.ExecContext(ctx, `UPDATE records SET status = 'received', lease_until = 0, attempts = attempts - 1
				WHERE id = ? AND status = 'processing'`, id); err != nil {
				return fmt.Errorf("release record %d: %w", id, err)
			}
		}
		return nil
	})
}

// ReleaseAll gives back every claimed record. It is for the start of the only service
// on the database: what was in work when the last one ended is taken up at once.
func (s *Store) ReleaseAll(ctx context.Context) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE records SET status = 'received', lease_until = 0 WHERE status = 'processing'`); err != nil {
			return fmt.Errorf("release what was in work: %w", err)
		}
		return nil
	})
}

// Assign binds a claimed record to its first account and adds one record for each
// further account, in one transaction, so that a crash can neither lose nor double one.
func (s *Store) Assign(ctx context.Context, w Work, accountIDs []int64) error {
	now := time.Now()
	var added []int64
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		added = added[:0]
		if _, err := tx.ExecContext(ctx, `UPDATE records SET account_id = ? WHERE id = ?`, accountIDs[0], w.ID); err != nil {
			return fmt.Errorf("assign record %d: %w", w.ID, err)
		}
		for _, account := range accountIDs[1:] {
			id, err := insert(ctx, tx, w.Event, w.Test, Received, 0, account, now)
			if err != nil {
				return err
			}
			added = append(added, id)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range added {
		s.Feed.Publish(id)
	}
	return nil
}

// SettleTx writes an outcome and its trace within tx. The caller publishes the id after the commit.
func SettleTx(ctx context.Context, tx *sql.Tx, o Outcome) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE records SET status = ?, account_id = (SELECT id FROM accounts WHERE id = ?), account_name = ?, subject_id = ?, subject_name = ?,
			episode_id = ?, episode_sort = ?, method = ?, confidence = ?, message = ?, error_kind = ?,
			lease_until = 0, updated_at = ?
		WHERE id = ?`,
		o.Status, o.AccountID, o.AccountName, o.SubjectID, o.SubjectName, o.EpisodeID, o.EpisodeSort, o.Method,
		o.Confidence, o.Message, o.ErrorKind, time.Now().UnixMilli(), o.RecordID)
	if err != nil {
		return fmt.Errorf("settle record %d: %w", o.RecordID, err)
	}
	if o.Mark != nil {
		if err := addMark(ctx, tx, Mark{o.RecordID, o.AccountID, o.SubjectID, o.EpisodeID, o.Mark.Completed}); err != nil {
			return err
		}
	}
	if o.Trace == nil {
		return nil
	}
	return SetTraceTx(ctx, tx, o.RecordID, o.Trace)
}

// SetTraceTx replaces the trace of a record, as JSON, within tx.
func SetTraceTx(ctx context.Context, tx *sql.Tx, id int64, trace []byte) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO traces (record_id, trace) VALUES (?, ?)
		ON CONFLICT (record_id) DO UPDATE SET trace = excluded.trace`, id, string(trace))
	if err != nil {
		return fmt.Errorf("store the trace of record %d: %w", id, err)
	}
	return nil
}

// RequeueTx sends a record through the engine again, within tx. It reports false
// when there is no such record or it is being worked on.
func RequeueTx(ctx context.Context, tx *sql.Tx, id int64) (bool, error) {
	result, err := tx.ExecContext(ctx, `UPDATE records SET status = 'received', lease_until = 0, updated_at = ?
		WHERE id = ? AND status NOT IN ('received', 'processing')`, time.Now().UnixMilli(), id)
	if err != nil {
		return false, fmt.Errorf("requeue record %d: %w", id, err)
	}
	n, err := result.RowsAffected()
	if err != nil {
		return false, fmt.Errorf("requeue record %d: %w", id, err)
	}
	return n == 1, nil
}

// HoldTx has a received record wait, within tx, until LetTx is called or the hold runs out.
func HoldTx(ctx context.Context, tx *sql.Tx, id int64, hold time.Duration) error {
	return holdTx(ctx, tx, id, time.Now().Add(hold).UnixMilli())
}

// LetTx ends the hold on a record, within tx.
func LetTx(ctx context.Context, tx *sql.Tx, id int64) error { return holdTx(ctx, tx, id, 0) }

func holdTx(ctx context.Context, tx *sql.Tx, id, until int64) error {
	if _, err := tx.ExecContext(ctx, `UPDATE records SET lease_until = ? WHERE id = ? AND status = 'received'`, until, id); err != nil {
		return fmt.Errorf("hold record %d: %w", id, err)
	}
	return nil
}

// MoveTx changes the state of a record that stays as it came out, within tx. It returns
// ErrMoved when the record is not in the state from.
func MoveTx(ctx context.Context, tx *sql.Tx, id int64, from, to Status, kind ErrorKind, message string) error {
	result, err := tx.ExecContext(ctx, `UPDATE records SET status = ?, error_kind = ?, message = ?, updated_at = ? WHERE id = ? AND status = ?`,
		to, kind, message, time.Now().UnixMilli(), id, from)
	if err != nil {
		return fmt.Errorf("move record %d: %w", id, err)
	}
	n, err := result.RowsAffected()
	if err != nil {
		return fmt.Errorf("move record %d: %w", id, err)
	}
	if n == 0 {
		return ErrMoved
	}
	return nil
}

// Get is the record with id, or ErrNotFound.
func (s *Store) Get(ctx context.Context, id int64) (Record, error) {
	return found(s.db.Read().QueryRowContext(ctx, `SELECT `+columns+` FROM records WHERE id = ?`, id))
}

// GetTx is Get within tx.
func GetTx(ctx context.Context, tx *sql.Tx, id int64) (Record, error) {
	return found(tx.QueryRowContext(ctx, `SELECT `+columns+` FROM records WHERE id = ?`, id))
}

// found is the record that a row holds, or ErrNotFound.
func found(row *sql.Row) (Record, error) {
	var r Record
	err := scan(row, &r)
	if errors.Is(err, sql.ErrNoRows) {
		return Record{}, ErrNotFound
	}
	return r, err
}

// Trace is the stored trace of a record as JSON, or ErrNotFound.
func (s *Store) Trace(ctx context.Context, id int64) (json.RawMessage, error) {
	return traceOf(s.db.Read().QueryRowContext(ctx, `SELECT trace FROM traces WHERE record_id = ?`, id), id)
}

// TraceTx is Trace within tx.
func TraceTx(ctx context.Context, tx *sql.Tx, id int64) (json.RawMessage, error) {
	return traceOf(tx.QueryRowContext(ctx, `SELECT trace FROM traces WHERE record_id = ?`, id), id)
}

// traceOf is the trace that a row holds, or ErrNotFound.
func traceOf(row *sql.Row, id int64) (json.RawMessage, error) {
	var text string
	err := row.Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read the trace of record %d: %w", id, err)
	}
	return json.RawMessage(text), nil
}

// List is the newest records that pass the filter, and the cursor of the next page (0 = none).
func (s *Store) List(ctx context.Context, f Filter) (records []Record, next int64, err error) {
	limit := f.Limit
	if limit < 1 || limit > 200 {
		limit = 50
	}
	where, args := f.where()
	rows, err := s.db.Read().QueryContext(ctx, `SELECT `+columns+` FROM records `+where+` ORDER BY id DESC LIMIT ?`, append(args, limit+1)...)
	if err != nil {
		return nil, 0, fmt.Errorf("list records: %w", err)
	}
	defer func() { _ = rows.Close() }()
	records = []Record{}
	for rows.Next() {
		var r Record
		if err := scan(rows, &r); err != nil {
			return nil, 0, err
		}
		records = append(records, r)
	}
	if err := rows.Err(); err != nil {
		return nil, 0, fmt.Errorf("list records: %w", err)
	}
	if len(records) > limit {
		records = records[:limit]
		next = records[limit-1].ID
	}
	return records, next, nil
}

// Statuses are those of some records; one that is not there any more is missing.
func (s *Store) Statuses(ctx context.Context, ids []int64) (map[int64]Status, error) {
	statuses := make(map[int64]Status, len(ids))
	for some := range slices.Chunk(ids, 512) {
		if err := s.addStatuses(ctx, some, statuses); err != nil {
			return nil, fmt.Errorf("read how records stand: %w", err)
		}
	}
	return statuses, nil
}

func (s *Store) addStatuses(ctx context.Context, ids []int64, to map[int64]Status) error {
	list, args := db.In(ids)
	rows, err := s.db.Read().QueryContext(ctx, `SELECT id, status FROM records WHERE id IN `+list, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // its error is that of rows.Err
	for rows.Next() {
		var id int64
		var status Status
		if err := rows.Scan(&id, &status); err != nil {
			return err
		}
		to[id] = status
	}
	return rows.Err()
}

// IDs are the ids of all records that pass the filter, the oldest first; its Limit does not count.
func (s *Store) IDs(ctx context.Context, f Filter) ([]int64, error) {
	where, args := f.where()
	rows, err := s.db.Read().QueryContext(ctx, `SELECT id FROM records `+where+` ORDER BY id`, args...)
	if err != nil {
		return nil, fmt.Errorf("list record ids: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("list record ids: %w", err)
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// where is the SQL condition of the filter and its arguments.
func (f Filter) where() (string, []any) {
	var terms []string
	var args []any
	add := func(term string, values ...any) {
		terms = append(terms, term)
		args = append(args, values...)
	}
	if f.Status != "" {
		add("status = ?", f.Status)
	}
	if f.Source != "" {
		add("source = ?", f.Source)
	}
	if f.User != "" {
		add("user_name = ?", f.User)
	}
	if !f.Since.IsZero() {
		add("created_at >= ?", f.Since.UnixMilli())
	}
	if !f.Until.IsZero() {
		add("created_at < ?", f.Until.UnixMilli())
	}
	if f.Before > 0 {
		add("id < ?", f.Before)
	}
	if f.Text != "" {
		like := "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(f.Text) + "%"
		add(`(title LIKE ? ESCAPE '\' OR original_title LIKE ? ESCAPE '\' OR subject_name LIKE ? ESCAPE '\' OR user_name LIKE ? ESCAPE '\')`,
			like, like, like, like)
	}
	if len(terms) == 0 {
		return "", nil
	}
	return "WHERE " + strings.Join(terms, " AND "), args
}

// Stats counts records by state: since midnight, over the last seven days, and in all.
func (s *Store) Stats(ctx context.Context, now time.Time) (Stats, error) {
	today := midnight(now)
	var st Stats
	for _, part := range []struct {
		counts *map[Status]int
		since  time.Time
	}{{&st.Today, today}, {&st.Week, today.AddDate(0, 0, -6)}, {&st.Total, time.Time{}}} {
		counts, err := s.countSince(ctx, part.since)
		if err != nil {
			return Stats{}, err
		}
		*part.counts = counts
	}
	return st, nil
}

// FailedLately is how many records of the last seven days failed. It looks at these records alone.
func (s *Store) FailedLately(ctx context.Context, now time.Time) (int, error) {
	var n int
	err := s.db.Read().QueryRowContext(ctx, `SELECT COUNT(*) FROM records WHERE created_at >= ? AND status || '' = 'error'`,
		midnight(now).AddDate(0, 0, -6).UnixMilli()).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count failed records: %w", err)
	}
	return n, nil
}

// midnight is when the day of now began, in its time zone.
func midnight(now time.Time) time.Time {
	return time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
}

// Newest is when the newest record was made; zero when there is none.
func (s *Store) Newest(ctx context.Context) (time.Time, error) {
	var newest sql.NullInt64
	if err := s.db.Read().QueryRowContext(ctx, `SELECT MAX(created_at) FROM records`).Scan(&newest); err != nil {
		return time.Time{}, fmt.Errorf("look for the newest record: %w", err)
	}
	if !newest.Valid {
		return time.Time{}, nil
	}
	return time.UnixMilli(newest.Int64), nil
}

// CountByStatus counts all records by status, which reads every one in an index.
func (s *Store) CountByStatus(ctx context.Context) (map[Status]int, error) {
	return s.countSince(ctx, time.Time{})
}

// countSince counts records by status; a zero since counts all.
func (s *Store) countSince(ctx context.Context, since time.Time) (map[Status]int, error) {
	counts := make(map[Status]int, len(Statuses))
	for _, status := range Statuses {
		counts[status] = 0
	}
	// "status || ''" keeps the planner on the index of created_at, which holds all that is asked
	// for; by the index of status it would read every row.
	query, args := `SELECT status || '', COUNT(*) FROM records WHERE created_at >= ? GROUP BY status || ''`, []any{since.UnixMilli()}
	if since.IsZero() {
		query, args = `SELECT status, COUNT(*) FROM records GROUP BY status`, nil
	}
	rows, err := s.db.Read().QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("count records: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var status Status
		var n int
		if err := rows.Scan(&status, &n); err != nil {
			return nil, fmt.Errorf("count records: %w", err)
		}
		counts[status] = n
	}
	return counts, rows.Err()
}

// UserNames are the media-server users seen in the newest 500 records, newest first.
func (s *Store) UserNames(ctx context.Context) ([]string, error) {
	rows, err := s.db.Read().QueryContext(ctx, `SELECT user_name FROM (SELECT id, user_name FROM records ORDER BY id DESC LIMIT 500) AS recent
		WHERE user_name <> '' GROUP BY user_name ORDER BY MAX(id) DESC`)
	if err != nil {
		return nil, fmt.Errorf("list user names: %w", err)
	}
	defer func() { _ = rows.Close() }()
	names := []string{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("list user names: %w", err)
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// DeleteBefore removes up to limit settled records older than cutoff and reports how many went.
func (s *Store) DeleteBefore(ctx context.Context, cutoff time.Time, limit int) (int64, error) {
	var n int64
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `DELETE FROM records WHERE id IN (SELECT id FROM records
			WHERE created_at < ? AND status NOT IN ('received', 'processing', 'queued') ORDER BY created_at LIMIT ?)`, cutoff.UnixMilli(), limit)
		if err != nil {
			return fmt.Errorf("delete old records: %w", err)
		}
		n, err = result.RowsAffected()
		return err
	})
	return n, err
}
