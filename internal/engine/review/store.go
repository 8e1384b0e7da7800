package review

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/db"
)

// Store keeps questions in the database.
type Store struct {
	db       *db.DB
	mappings *mapping.Store
}

// NewStore is the store over d. What answers write is told to mappings.
func NewStore(d *db.DB, mappings *mapping.Store) *Store { return &Store{db: d, mappings: mappings} }

// waits is the condition that a record waits for the question q; it is worded for the index records_question.
const waits = `r.question_id = q.id AND r.status = 'review'`

// columns are what scan reads of a question q and its newest waiting record e.
const (
	columns = `q.id, q.status, q.title, q.original_title, q.season, q.media_type, q.episode, q.candidates, q.reason, q.decision, q.created_at, q.updated_at,
		(SELECT COUNT(*) FROM records r WHERE ` + waits + `), COALESCE(e.id, 0), COALESCE(e.source, '')`
	tables = `pending_candidates q LEFT JOIN records e ON e.id = (SELECT MAX(r.id) FROM records r WHERE ` + waits + `)`
)

func scan(row interface{ Scan(...any) error }) (q Question, d decision, err error) {
	var created, updated int64
	var candidates, decided string
	if err := row.Scan(&q.ID, &q.Status, &q.Title, &q.OriginalTitle, &q.Season, &q.MediaType, &q.Episode, &candidates, &q.Reason, &decided, &created, &updated,
		&q.Waiting, &q.RecordID, &q.Source); err != nil {
		return Question{}, decision{}, fmt.Errorf("read question: %w", err)
	}
	q.CreatedAt, q.UpdatedAt = time.UnixMilli(created), time.UnixMilli(updated)
	if err := json.Unmarshal([]byte(candidates), &q.Candidates); err != nil {
		return Question{}, decision{}, fmt.Errorf("decode the candidates of question %d: %w", q.ID, err)
	}
	if d, err = decisionOf(q.ID, decided); err != nil {
		return Question{}, decision{}, err
	}
	q.SubjectID, q.SubjectName, q.EpisodeOffset = d.SubjectID, d.SubjectName, d.EpisodeOffset
	if d.Mapping != nil {
		q.MappingID = d.Mapping.ID
	}
	if d.Blocked != nil {
		q.BlockedID = d.Blocked.ID
	}
	q.Episodes = []float64{}
	return q, d, nil
}

// querier is a transaction or the database.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// get is the question with id, whatever its state, or ErrNotFound.
func get(ctx context.Context, from querier, id int64) (Question, decision, error) {
	q, d, err := scan(from.QueryRowContext(ctx, `SELECT `+columns+` FROM `+tables+` WHERE q.id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return Question{}, decision{}, ErrNotFound
	}
	if err == nil {
		err = q.addEpisodes(ctx, from)
	}
	return q, d, err
}

// addEpisodes fills in Episodes.
func (q *Question) addEpisodes(ctx context.Context, from querier) error {
	rows, err := from.QueryContext(ctx, `SELECT DISTINCT episode FROM records WHERE question_id = ? AND status = 'review' AND episode IS NOT NULL ORDER BY episode LIMIT 50`, q.ID)
	if err != nil {
		return fmt.Errorf("list the episodes of question %d: %w", q.ID, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var n float64
		if err := rows.Scan(&n); err != nil {
			return fmt.Errorf("list the episodes of question %d: %w", q.ID, err)
		}
		q.Episodes = append(q.Episodes, n)
	}
	return rows.Err()
}

// Get is the question with id, or ErrNotFound, also for one that was deleted.
func (s *Store) Get(ctx context.Context, id int64) (Question, error) {
	q, _, err := get(ctx, s.db.Read(), id)
	if err == nil && q.Status == Deferred {
		return Question{}, ErrNotFound
	}
	return q, err
}

// Filter selects questions for List.
type Filter struct {
	// Statuses are the states wanted, one at least. Pending questions that no record waits for are left out.
	Statuses []Status
	// Since leaves out what was last changed before; zero does not.
	Since time.Time
	// Latest orders by the last change, and takes no cursor; otherwise it goes by id, newest first.
	Latest bool
	// Before is the cursor: only questions with a smaller id.
	Before int64
	// Limit is 1..200; 0 means 50.
	Limit int
}

// List is the questions that pass the filter, and the cursor of the next page (0 = none).
func (s *Store) List(ctx context.Context, f Filter) (questions []Question, next int64, err error) {
	limit := f.Limit
	if limit < 1 || limit > 200 {
		limit = 50
	}
	args := []any{}
	for _, status := range f.Statuses {
		args = append(args, status)
	}
	where := `q.status IN (?` + strings.Repeat(`, ?`, len(f.Statuses)-1) + `) AND (q.status <> 'pending' OR e.id IS NOT NULL)`
	if f.Before > 0 {
		where += ` AND q.id < ?`
		args = append(args, f.Before)
	}
	if !f.Since.IsZero() {
		where += ` AND q.updated_at >= ?`
		args = append(args, f.Since.UnixMilli())
	}
	order := `q.id DESC`
	if f.Latest {
		order = `q.updated_at DESC, q.id DESC`
	}
	rows, err := s.db.Read().QueryContext(ctx, `SELECT `+columns+` FROM `+tables+` WHERE `+where+` ORDER BY `+order+` LIMIT ?`, append(args, limit+1)...)
	if err != nil {
		return nil, 0, fmt.Errorf("list questions: %w", err)
	}
	defer func() { _ = rows.Close() }()
	questions = []Question{}
	for rows.Next() {
		q, _, err := scan(rows)
		if err != nil {
			return nil, 0, err
		}
		questions = append(questions, q)
	}
	if err := rows.Err(); err != nil {
		return nil, 0, fmt.Errorf("list questions: %w", err)
	}
	if len(questions) > limit {
		questions = questions[:limit]
		if !f.Latest {
			next = questions[limit-1].ID
		}
	}
	for i := range questions {
		if err := questions[i].addEpisodes(ctx, s.db.Read()); err != nil {
			return nil, 0, err
		}
	}
	return questions, next, nil
}

// Open is how many questions wait for an answer.
func (s *Store) Open(ctx context.Context) (int, error) {
	var n int
	err := s.db.Read().QueryRowContext(ctx, `SELECT COUNT(*) FROM pending_candidates q WHERE q.status = 'pending' AND EXISTS (SELECT 1 FROM records r WHERE `+waits+`)`).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count questions: %w", err)
	}
	return n, nil
}

// OfRecord is the pending question that a record waits for; 0 when there is none.
func (s *Store) OfRecord(ctx context.Context, recordID int64) (int64, error) {
	var id int64
	err := s.db.Read().QueryRowContext(ctx, `SELECT q.id FROM records r JOIN pending_candidates q ON q.id = r.question_id
		WHERE r.id = ? AND r.status = 'review' AND q.status = 'pending'`, recordID).Scan(&id)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("look for the question of record %d: %w", recordID, err)
	}
	return id, nil
}

// Prune removes up to limit questions without an answer that were last asked before cutoff
// and that no record waits for any more, and reports how many went.
func (s *Store) Prune(ctx context.Context, cutoff time.Time, limit int) (int64, error) {
	var n int64
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `DELETE FROM pending_candidates WHERE id IN (SELECT q.id FROM pending_candidates q
			WHERE q.status IN ('pending', 'deferred') AND q.updated_at < ? AND NOT EXISTS (SELECT 1 FROM records r WHERE `+waits+`) LIMIT ?)`, cutoff.UnixMilli(), limit)
		if err != nil {
			return fmt.Errorf("delete questions that nothing waits for: %w", err)
		}
		n, err = result.RowsAffected()
		return err
	})
	return n, err
}
