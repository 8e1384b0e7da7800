package record

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/scope"
	"watchmark/internal/watch"
)

// Store keeps records in the database. Get, Work, Trace, what list.go, asked.go and its counts read, and what was written to lists reach what
// the scope of the context does: the records of accounts of that person. Changes are published on Feed after they are committed.
type Store struct {
	db   *db.DB
	Feed *Feed

	claiming sync.Mutex
	// first and others are who had the last turns of the claims.
	first, others string
}

// NewStore is the store over d.
func NewStore(d *db.DB) *Store { return &Store{db: d, Feed: newFeed()} }

// Get is the record with id, or ErrNotFound.
func (s *Store) Get(ctx context.Context, id int64) (Record, error) {
	within, whose := account.Within(ctx, "account_id")
	return found(s.db.Read().QueryRowContext(ctx, `SELECT `+columns+` FROM records WHERE id = ? AND `+within, append([]any{id}, whose...)...))
}

// GetTx is Get within tx.
func GetTx(ctx context.Context, tx *sql.Tx, id int64) (Record, error) {
	within, whose := account.Within(ctx, "account_id")
	return found(tx.QueryRowContext(ctx, `SELECT `+columns+` FROM records WHERE id = ? AND `+within, append([]any{id}, whose...)...))
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

// Work is a record with its event, not claimed; ErrNotFound when there is none.
func (s *Store) Work(ctx context.Context, id int64) (Work, error) {
	var w Work
	var event string
	within, whose := account.Within(ctx, "account_id")
	err := scan(s.db.Read().QueryRowContext(ctx, `SELECT `+columns+`, event FROM records WHERE id = ? AND `+within, append([]any{id}, whose...)...), &w.Record, &event)
	if errors.Is(err, sql.ErrNoRows) {
		return Work{}, ErrNotFound
	}
	if err != nil {
		return Work{}, err
	}
	if err := json.Unmarshal([]byte(event), &w.Event); err != nil {
		return Work{}, fmt.Errorf("decode the event of record %d: %w", id, err)
	}
	return w, nil
}

// AccountOf is the id of the account that a record belongs to, NULL where there is none, for the SQL of others: id is an expression of it.
func AccountOf(id string) string {
	return `(SELECT records.account_id FROM records WHERE records.id = ` + id + `)`
}

// Trace is the stored trace of a record as JSON, or ErrNotFound; in the scope of a person without what is of others.
func (s *Store) Trace(ctx context.Context, id int64) (json.RawMessage, error) {
	within, whose := account.Within(ctx, AccountOf("record_id"))
	text, err := traceOf(s.db.Read().QueryRowContext(ctx, `SELECT trace FROM traces WHERE record_id = ? AND `+within, append([]any{id}, whose...)...), id)
	if err != nil || scope.From(ctx).Whole() {
		return text, err
	}
	r, err := s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return ownTrace(text, id, r.AccountName)
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

// Traces are those of some records that are there, as JSON, by record.
func Traces(ctx context.Context, from db.Querier, ids []int64) (map[int64]json.RawMessage, error) {
	traces := make(map[int64]json.RawMessage, len(ids))
	list, args := db.In(ids)
	within, whose := account.Within(ctx, AccountOf("record_id"))
	err := db.Each(ctx, from, "read traces", func(row db.Row) error {
		var id int64
		var text string
		err := row.Scan(&id, &text)
		traces[id] = json.RawMessage(text)
		return err
	}, `SELECT record_id, trace FROM traces WHERE record_id IN `+list+` AND `+within, append(args, whose...)...)
	return traces, err
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

// Stats counts records by state: since midnight, over the last seven days, and in all. Of one person it reads all records; of everybody
// those of today, and what CountDays has not counted.
func (s *Store) Stats(ctx context.Context, now time.Time) (Stats, error) {
	if scope.From(ctx).Whole() {
		return s.statsOfAll(ctx, now)
	}
	st := Stats{Today: byStatus(), Week: byStatus(), Total: byStatus()}
	within, whose := account.Within(ctx, "account_id")
	err := db.Each(ctx, s.db.Read(), "count records", func(row db.Row) error {
		var status Status
		var today, week, total int
		err := row.Scan(&status, &today, &week, &total)
		st.Today[status], st.Week[status], st.Total[status] = today, week, total
		return err
	}, `SELECT status, COUNT(CASE WHEN created_at >= ? THEN 1 END), COUNT(CASE WHEN created_at >= ? THEN 1 END), COUNT(*)
		FROM records WHERE `+within+` GROUP BY status`, append([]any{watch.DayStart(now, 0).UnixMilli(), watch.DayStart(now, -6).UnixMilli()}, whose...)...)
	return st, err
}

// byStatus has no record of any state.
func byStatus() map[Status]int {
	counts := make(map[Status]int, len(Statuses))
	for _, status := range Statuses {
		counts[status] = 0
	}
	return counts
}

// FailedLately is how many records of the last seven days failed, without those of users that have no account. It looks at these
// records alone.
func (s *Store) FailedLately(ctx context.Context, now time.Time) (failed int, err error) {
	within, whose := account.Within(ctx, "account_id")
	err = s.db.Read().QueryRowContext(ctx, `SELECT COUNT(CASE WHEN NOT `+stillUnrouted+` THEN 1 END)
		FROM records WHERE `+unmarked+` AND created_at >= ? AND (status || '') = 'error' AND `+within, append([]any{watch.DayStart(now, -6).UnixMilli()}, whose...)...).Scan(&failed)
	if err != nil {
		return 0, fmt.Errorf("count failed records: %w", err)
	}
	return failed, nil
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
