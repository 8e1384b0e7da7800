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
	"watchmark/internal/record"
)

// Store keeps questions in the database.
type Store struct {
	db       *db.DB
	mappings *mapping.Store
}

// NewStore is the store over d. What answers write is told to mappings.
func NewStore(d *db.DB, mappings *mapping.Store) *Store { return &Store{db: d, mappings: mappings} }

// columns are what scan reads of a question q.
const columns = `q.id, q.status, q.title, q.original_title, q.season, q.media_type, q.episode, q.candidates, q.reason, q.decision, q.created_at, q.updated_at`

// awaited holds for a question q that a record waits for.
var awaited = record.IsAwaited("q.id")

func scan(row db.Row) (q Question, d decision, err error) {
	var created, updated int64
	var candidates, decided string
	if err := row.Scan(&q.ID, &q.Status, &q.Title, &q.OriginalTitle, &q.Season, &q.MediaType, &q.Episode, &candidates, &q.Reason, &decided, &created, &updated); err != nil {
		return Question{}, decision{}, fmt.Errorf("read question: %w", err)
	}
	q.CreatedAt, q.UpdatedAt = time.UnixMilli(created), time.UnixMilli(updated)
	if err := json.Unmarshal([]byte(candidates), &q.Candidates); err != nil {
		return Question{}, decision{}, fmt.Errorf("decode the candidates of question %d: %w", q.ID, err)
	}
	if d, err = decisionOf(decided); err != nil {
		return Question{}, decision{}, fmt.Errorf("question %d: %w", q.ID, err)
	}
	q.SubjectID, q.SubjectName, q.EpisodeOffset = d.SubjectID, d.SubjectName, d.EpisodeOffset
	if d.Mapping != nil {
		q.MappingID = d.Mapping.ID
	}
	if d.Blocked != nil {
		q.BlockedID = d.Blocked.ID
	}
	return q, d, nil
}

// get is the question with id, whatever its state, or ErrNotFound.
func get(ctx context.Context, from db.Querier, id int64) (Question, decision, error) {
	q, d, err := scan(from.QueryRowContext(ctx, `SELECT `+columns+` FROM pending_candidates q WHERE q.id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return Question{}, decision{}, ErrNotFound
	}
	if err == nil {
		questions := []Question{q}
		err = addAwaiting(ctx, from, questions)
		q = questions[0]
	}
	return q, d, err
}

// addAwaiting tells in questions which records wait for them.
func addAwaiting(ctx context.Context, from db.Querier, questions []Question) error {
	ids := make([]int64, len(questions))
	for i, q := range questions {
		ids[i] = q.ID
	}
	all, err := record.AwaitingOf(ctx, from, ids)
	for i := range questions {
		q := &questions[i]
		one := all[q.ID]
		q.Waiting, q.RecordID, q.Source, q.Episodes = one.Count, one.Newest, one.Source, append([]float64{}, one.Episodes...)
	}
	return err
}

// Get is the question with id, or ErrNotFound, also for one that was deleted.
func (s *Store) Get(ctx context.Context, id int64) (Question, error) {
	q, _, err := get(ctx, s.db.Read(), id)
	if err == nil && q.Status == Deferred {
		return Question{}, ErrNotFound
	}
	return q, err
}

// Some are the questions with these ids, whatever their state and without who waits for them.
func (s *Store) Some(ctx context.Context, ids []int64) ([]Question, error) {
	list, args := db.In(ids)
	return db.All(ctx, s.db.Read(), "read questions", func(row db.Row) (Question, error) {
		q, _, err := scan(row)
		q.Episodes = []float64{}
		return q, err
	}, `SELECT `+columns+` FROM pending_candidates q WHERE q.id IN `+list+` ORDER BY q.id`, args...)
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
	where := `q.status IN (?` + strings.Repeat(`, ?`, len(f.Statuses)-1) + `) AND (q.status <> 'pending' OR ` + awaited + `)`
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
	questions, err = db.All(ctx, s.db.Read(), "list questions", func(row db.Row) (Question, error) {
		q, _, err := scan(row)
		return q, err
	}, `SELECT `+columns+` FROM pending_candidates q WHERE `+where+` ORDER BY `+order+` LIMIT ?`, append(args, limit+1)...)
	if err != nil {
		return nil, 0, err
	}
	if len(questions) > limit {
		questions = questions[:limit]
		if !f.Latest {
			next = questions[limit-1].ID
		}
	}
	return questions, next, addAwaiting(ctx, s.db.Read(), questions)
}

// Open is how many questions wait for an answer.
func (s *Store) Open(ctx context.Context) (int, error) {
	var n int
	err := s.db.Read().QueryRowContext(ctx, `SELECT COUNT(*) FROM pending_candidates q WHERE q.status = 'pending' AND `+awaited).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count questions: %w", err)
	}
	return n, nil
}

// OfRecord is the pending question that a record waits for; 0 when there is none.
func (s *Store) OfRecord(ctx context.Context, recordID int64) (int64, error) {
	id, err := record.QuestionOf(ctx, s.db.Read(), recordID)
	if err != nil || id == 0 {
		return 0, err
	}
	var pending bool
	err = s.db.Read().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pending_candidates WHERE id = ? AND status = 'pending')`, id).Scan(&pending)
	if err != nil {
		return 0, fmt.Errorf("read question %d: %w", id, err)
	}
	if !pending {
		return 0, nil
	}
	return id, nil
}

// Prune removes up to limit questions without an answer that were last asked before cutoff
// and that no record waits for any more, and reports how many went.
func (s *Store) Prune(ctx context.Context, cutoff time.Time, limit int) (int64, error) {
	var n int64
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `DELETE FROM pending_candidates WHERE id IN (SELECT q.id FROM pending_candidates q
			WHERE q.status IN ('pending', 'deferred') AND q.updated_at < ? AND NOT `+awaited+` LIMIT ?)`, cutoff.UnixMilli(), limit)
		if err != nil {
			return fmt.Errorf("delete questions that nothing waits for: %w", err)
		}
		n, err = result.RowsAffected()
		return err
	})
	return n, err
}
