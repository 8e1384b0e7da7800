// Package webhooklog keeps a log of every request that arrived at a webhook, ignored
// and refused ones included, so that a person can see why nothing happened.
package webhooklog

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/scope"
	"watchmark/internal/watch"
)

// Entry is one request that arrived. Body is masked and shortened before it comes here.
type Entry struct {
	ID          int64        `json:"id"`
	At          time.Time    `json:"at"`
	Source      watch.Source `json:"source"`
	Remote      string       `json:"remote"`
	ContentType string       `json:"content_type"`
	// Status is the HTTP status that was answered.
	Status int `json:"status"`
	// Reason says in plain words what became of the request.
	Reason    reason.Reason `json:"reason_value,omitzero"`
	RecordIDs []int64       `json:"record_ids"`
	UserName  string        `json:"user_name"`
	Title     string        `json:"title"`
	// Label is season and episode, such as S2 E7.
	Label string `json:"label"`
	Body  string `json:"body"`
}

// MarshalJSON adds the text of the reason.
func (e Entry) MarshalJSON() ([]byte, error) {
	type plain Entry
	return reason.MarshalBeside((*plain)(&e))
}

// Outcome is what became of a request.
type Outcome string

// The outcomes: what was accepted became records, what was ignored is no watch, what was refused was answered as an error.
const (
	Accepted Outcome = "accepted"
	Ignored  Outcome = "ignored"
	Refused  Outcome = "refused"
)

// Outcomes are all of them.
var Outcomes = []Outcome{Accepted, Ignored, Refused}

// statuses are those that an outcome was answered with, from the first to the last.
var statuses = map[Outcome][2]int{Accepted: {202, 202}, Ignored: {200, 201}, Refused: {300, 599}}

// OutcomeOf is what became of a request that was answered with a status.
func OutcomeOf(status int) Outcome {
	for outcome, answered := range statuses {
		if answered[0] <= status && status <= answered[1] {
			return outcome
		}
	}
	return Refused
}

// Filter selects entries for List; zero fields do not restrict.
type Filter struct {
	Source watch.Source
	// OrNone adds to those of the source the requests that named none that there is.
	OrNone  bool
	Outcome Outcome
	// Text stands in the title, the user name, the reason or the body; upper and lower case are the same in ASCII.
	Text string
	// Before is the cursor: only entries with a smaller id.
	Before int64
	// Limit is 1..200; 0 means 50.
	Limit int
}

// ErrNotFound is returned by OfRecord.
var ErrNotFound = reason.New("request_not_kept", "the request of the record is not kept", "没有保留这条记录的请求")

// maxRows bounds the log, however many days it keeps.
const maxRows = 20000

// Log is the webhook log in the database.
type Log struct{ db *db.DB }

// NewLog is the log over d.
func NewLog(d *db.DB) *Log { return &Log{db: d} }

// InsertTx adds entries within tx, so that they are committed together with their records.
func InsertTx(ctx context.Context, tx *sql.Tx, entries ...Entry) error {
	for some := range db.Groups(entries) {
		var args []any
		for _, e := range some {
			ids, err := json.Marshal(e.RecordIDs)
			if err != nil {
				return fmt.Errorf("encode record ids: %w", err)
			}
			args = append(args, e.At.UnixMilli(), e.Source, e.Remote, e.ContentType, e.Status, e.Reason, string(ids), e.UserName, e.Title, e.Label, e.Body)
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO webhook_log (at, source, remote, content_type, status, reason, record_ids, user_name, title, label, body)
			VALUES `+db.Rows(`(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, len(some)), args...); err != nil {
			return fmt.Errorf("add to the webhook log: %w", err)
		}
	}
	return nil
}

const columns = `id, at, source, remote, content_type, status, reason, record_ids, user_name, title, label, body`

// reasonText is the text of a reason, be it stored as a value or as mere text.
const reasonText = `(CASE WHEN reason LIKE '{"code":%' AND json_valid(reason) THEN json_extract(reason, '$.text') ELSE reason END)`

// List is the newest entries that pass the filter, and the cursor of the next page (0 = none).
func (l *Log) List(ctx context.Context, f Filter) (entries []Entry, next int64, err error) {
	limit := f.Limit
	if limit < 1 || limit > 200 {
		limit = 50
	}
	answered, like, other := statuses[f.Outcome], db.Containing(f.Text), f.Source
	if f.OrNone {
		other = ""
	}
	entries, err = l.query(ctx, `SELECT `+columns+` FROM webhook_log WHERE (? = '' OR source IN (?, ?)) AND (? = 0 OR id < ?) AND (? = 0 OR status BETWEEN ? AND ?)
		AND (? = '' OR title LIKE ? ESCAPE '\' OR user_name LIKE ? ESCAPE '\' OR `+reasonText+` LIKE ? ESCAPE '\' OR body LIKE ? ESCAPE '\') ORDER BY id DESC LIMIT ?`,
		f.Source, f.Source, other, f.Before, f.Before, answered[0], answered[0], answered[1], f.Text, like, like, like, like, limit+1)
	if err != nil {
		return nil, 0, err
	}
	if len(entries) > limit {
		entries = entries[:limit]
		next = entries[limit-1].ID
	}
	return entries, next, nil
}

// OfRecord is the request that became a record, which was stored with it at the time at. It
// returns ErrNotFound when that is not kept any more, for records that did not come by a
// request of their own, and in the scope of a person: what a media server sends tells of the server and of others who use it.
func (l *Log) OfRecord(ctx context.Context, recordID int64, at time.Time) (Entry, error) {
	if !scope.From(ctx).Whole() {
		return Entry{}, ErrNotFound
	}
	id := strconv.FormatInt(recordID, 10)
	entries, err := l.query(ctx, `SELECT `+columns+` FROM webhook_log
		WHERE at = ? AND (record_ids = ? OR record_ids LIKE ? OR record_ids LIKE ? OR record_ids LIKE ?)`,
		at.UnixMilli(), "["+id+"]", "["+id+",%", "%,"+id+",%", "%,"+id+"]")
	if err != nil {
		return Entry{}, err
	}
	if len(entries) == 0 {
		return Entry{}, ErrNotFound
	}
	return entries[0], nil
}

// LastSeen is the newest entry of every source that has one. It looks at one row of each, not at the whole log.
func (l *Log) LastSeen(ctx context.Context) (map[watch.Source]Entry, error) {
	entries, err := l.query(ctx, `WITH RECURSIVE seen (source) AS (
			SELECT (SELECT source FROM webhook_log ORDER BY source LIMIT 1)
			UNION ALL SELECT (SELECT l.source FROM webhook_log l WHERE l.source > seen.source ORDER BY l.source LIMIT 1) FROM seen WHERE seen.source IS NOT NULL)
		SELECT `+columns+` FROM webhook_log WHERE id IN (SELECT (SELECT MAX(l.id) FROM webhook_log l WHERE l.source = seen.source) FROM seen WHERE seen.source IS NOT NULL)`)
	if err != nil {
		return nil, err
	}
	last := make(map[watch.Source]Entry, len(entries))
	for _, e := range entries {
		last[e.Source] = e
	}
	return last, nil
}

// Prune removes up to limit entries that are older than cutoff or beyond maxRows, the
// oldest first, and reports how many went.
func (l *Log) Prune(ctx context.Context, cutoff time.Time, limit int) (int64, error) {
	var n int64
	err := l.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `DELETE FROM webhook_log WHERE id IN (SELECT id FROM webhook_log
			WHERE at < ? OR id <= (SELECT MAX(id) FROM webhook_log) - ? ORDER BY id LIMIT ?)`, cutoff.UnixMilli(), maxRows, limit)
		if err != nil {
			return fmt.Errorf("prune the webhook log: %w", err)
		}
		n, err = result.RowsAffected()
		return err
	})
	return n, err
}

func (l *Log) query(ctx context.Context, statement string, args ...any) ([]Entry, error) {
	return db.All(ctx, l.db.Read(), "read the webhook log", func(row db.Row) (e Entry, err error) {
		var at int64
		var ids string
		if err := row.Scan(&e.ID, &at, &e.Source, &e.Remote, &e.ContentType, &e.Status, &e.Reason, &ids, &e.UserName, &e.Title, &e.Label, &e.Body); err != nil {
			return e, err
		}
		e.At, e.RecordIDs = time.UnixMilli(at), []int64{}
		if err := json.Unmarshal([]byte(ids), &e.RecordIDs); err != nil {
			return e, fmt.Errorf("decode record ids of webhook log entry %d: %w", e.ID, err)
		}
		if e.RecordIDs == nil {
			e.RecordIDs = []int64{}
		}
		return e, nil
	}, statement, args...)
}
