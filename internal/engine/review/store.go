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
	"watchmark/internal/platform/scope"
	"watchmark/internal/record"
)

// Store keeps questions in the database. The scope of the context says whose side of them is read and answered: see own.go.
type Store struct {
	db       *db.DB
	mappings *mapping.Store
}

// NewStore is the store over d. What answers write is told to mappings.
func NewStore(d *db.DB, mappings *mapping.Store) *Store { return &Store{db: d, mappings: mappings} }

// awaited holds for a question q that a record waits for.
var awaited = record.IsAwaited("q.id")

// scan reads a row of side.query.
func scan(row db.Row) (q Question, d decision, err error) {
	var by, created, updated int64
	var candidates, decided, shown string
	if err := row.Scan(&q.ID, &q.Status, &q.Title, &q.OriginalTitle, &q.Season, &q.MediaType, &q.Episode, &candidates, &q.Reason, &decided, &shown, &by, &created, &updated); err != nil {
		return Question{}, decision{}, fmt.Errorf("read question: %w", err)
	}
	if err := json.Unmarshal([]byte(candidates), &q.Candidates); err != nil {
		return Question{}, decision{}, fmt.Errorf("decode the candidates of question %d: %w", q.ID, err)
	}
	q.CreatedAt, q.UpdatedAt = time.UnixMilli(created), time.UnixMilli(updated)
	if shown != "" {
		id, status := q.ID, q.Status
		q = Question{}
		if err := json.Unmarshal([]byte(shown), &q); err != nil {
			return Question{}, decision{}, fmt.Errorf("decode question %d: %w", id, err)
		}
		q.ID, q.Status, q.UpdatedAt = id, status, time.UnixMilli(updated)
	}
	q.AnsweredBy = by
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

// get is the question with id on the side of ctx, whatever its state, or ErrNotFound.
func get(ctx context.Context, from db.Querier, id int64) (Question, decision, error) {
	questions, decisions, err := sideOf(ctx).query(ctx, from, `id = ?`, id)
	if err != nil {
		return Question{}, decision{}, err
	}
	if len(questions) == 0 {
		return Question{}, decision{}, ErrNotFound
	}
	return questions[0], decisions[0], nil
}

// addAwaiting tells in questions which records wait for them.
func addAwaiting(ctx context.Context, from db.Querier, questions []Question) error {
	ids := make([]int64, len(questions))
	for i, q := range questions {
		ids[i] = q.ID
	}
	all, err := record.AwaitingOf(ctx, from, ids)
	whole := scope.From(ctx).Whole()
	for i := range questions {
		q := &questions[i]
		one := all[q.ID]
		q.Waiting, q.RecordID, q.Source, q.Episodes, q.since = one.Count, one.Newest, one.Source, append([]float64{}, one.Episodes...), one.Since
		if q.People = []int64{}; whole {
			q.People = append(q.People, one.People...)
		}
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

// Reached is Get, but also for a question that was deleted, which can be undone.
func (s *Store) Reached(ctx context.Context, id int64) (Question, error) {
	q, _, err := get(ctx, s.db.Read(), id)
	return q, err
}

// Some are the questions with these ids, whatever their state.
func (s *Store) Some(ctx context.Context, ids []int64) ([]Question, error) {
	list, args := db.In(ids)
	questions, _, err := sideOf(ctx).query(ctx, s.db.Read(), `id IN `+list+` ORDER BY id`, args...)
	return questions, err
}

// Filter selects questions for List.
type Filter struct {
	// Person is whom the owner looks over the shoulder of: questions and answers are as that one sees them. 0 is the owner's own side.
	Person int64
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
	where := `status IN (?` + strings.Repeat(`, ?`, len(f.Statuses)-1) + `) AND (status <> 'pending' OR ` + awaited + `)`
	if f.Before > 0 {
		where += ` AND id < ?`
		args = append(args, f.Before)
	}
	if !f.Since.IsZero() {
		where += ` AND updated >= ?`
		args = append(args, f.Since.UnixMilli())
	}
	ctx = within(ctx, answering(ctx, f.Person))
	order := `id DESC`
	if f.Latest {
		order = `updated DESC, id DESC`
	}
	questions, _, err = sideOf(ctx).query(ctx, s.db.Read(), where+` ORDER BY `+order+` LIMIT ?`, append(args, limit+1)...)
	if err != nil {
		return nil, 0, err
	}
	if len(questions) > limit {
		questions = questions[:limit]
		if !f.Latest {
			next = questions[limit-1].ID
		}
	}
	return questions, next, nil
}

// OfPeople are the newest answers that people gave for themselves, for the owner: one that several answered is there for each.
func (s *Store) OfPeople(ctx context.Context, limit int) ([]Question, error) {
	if !scope.From(ctx).Whole() {
		return nil, nil
	}
	questions, _, err := ofPeople.query(ctx, s.db.Read(), `status IN ('confirmed', 'rejected') ORDER BY updated DESC, id DESC, answered_by LIMIT ?`, limit)
	return questions, err
}

// Open is how many questions wait for an answer.
func (s *Store) Open(ctx context.Context) (n int, err error) {
	its := sideOf(ctx)
	err = s.db.Read().QueryRowContext(ctx, `SELECT COUNT(*) FROM (SELECT q.id, `+its.status+` AS status FROM `+its.from+`) AS q WHERE status = 'pending' AND `+awaited,
		append(append([]any{}, its.statusArgs...), its.fromArgs...)...).Scan(&n)
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
	q, _, err := get(ctx, s.db.Read(), id)
	if errors.Is(err, ErrNotFound) || err == nil && q.Status != Pending {
		return 0, nil
	}
	return q.ID, err
}

// Prune removes up to limit questions without an answer that were last asked before cutoff
// and that no record waits for any more, nor has a person answered, and reports how many went.
func (s *Store) Prune(ctx context.Context, cutoff time.Time, limit int) (int64, error) {
	var n int64
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `DELETE FROM pending_candidates WHERE id IN (SELECT q.id FROM pending_candidates q
			WHERE q.status IN ('pending', 'deferred') AND q.updated_at < ? AND NOT `+awaited+`
				AND NOT EXISTS (SELECT 1 FROM person_answers WHERE question_id = q.id AND status IN ('confirmed', 'rejected')) LIMIT ?)`, cutoff.UnixMilli(), limit)
		if err != nil {
			return fmt.Errorf("delete questions that nothing waits for: %w", err)
		}
		n, err = result.RowsAffected()
		return err
	})
	return n, err
}
