package review

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"watchmark/internal/match"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/scope"
	"watchmark/internal/record"
)

// side is the side of questions that somebody sees, as parts of a statement with its arguments. The owner sees each question with the
// answer that holds for all. A person sees a question while a record of theirs waits for it, whatever others answered, and with their own
// answer; what they do not see has no status.
type side struct {
	person int64 // 0 is the owner
	// from are the tables; status, decision, shown, by and updated are what becomes of the question there.
	from, status, decision, shown, by, updated string
	// fromArgs and statusArgs are their arguments.
	fromArgs, statusArgs []any
}

// sideOf is the side of whoever ctx is of.
func sideOf(ctx context.Context) side {
	s := scope.From(ctx)
	if s.Whole() {
		return side{from: `pending_candidates q`, status: `q.status`, decision: `q.decision`, shown: `''`, by: `0`, updated: `q.updated_at`}
	}
	waits, args := record.IsAwaitedIn(ctx, "q.id")
	return side{
		person: s.Person(),
		from:   `pending_candidates q LEFT JOIN person_answers p ON p.question_id = q.id AND p.person_id = ?`, fromArgs: []any{s.Person()},
		status:   `COALESCE(p.status, CASE WHEN q.status IN ('pending', 'deferred') AND ` + waits + ` THEN 'pending' ELSE '' END)`,
		decision: `COALESCE(p.decision, '')`, shown: `COALESCE(p.question, '')`, by: `COALESCE(p.person_id, 0)`, updated: `COALESCE(p.updated_at, q.updated_at)`, statusArgs: args,
	}
}

// ofPeople is the side of the owner that has what each person answered, as that one was shown it.
var ofPeople = side{from: `person_answers p JOIN pending_candidates q ON q.id = p.question_id`,
	status: `p.status`, decision: `p.decision`, shown: `p.question`, by: `p.person_id`, updated: `p.updated_at`}

// query are the questions of a side that an SQL condition and what follows it selects. In these, status, answered_by and updated are columns.
func (s side) query(ctx context.Context, from db.Querier, which string, args ...any) (questions []Question, decisions []decision, err error) {
	questions = []Question{}
	all := append(append(append([]any{}, s.statusArgs...), s.fromArgs...), args...)
	err = db.Each(ctx, from, "read questions", func(row db.Row) error {
		q, d, err := scan(row)
		questions, decisions = append(questions, q), append(decisions, d)
		return err
	}, `SELECT * FROM (SELECT q.id, `+s.status+` AS status, q.title, q.original_title, q.season, q.media_type, q.episode, q.candidates, q.reason, `+s.decision+` AS decision, `+s.shown+` AS shown,
		`+s.by+` AS answered_by, q.created_at, `+s.updated+` AS updated FROM `+s.from+`) AS q WHERE status <> '' AND `+which, all...)
	if err != nil || len(questions) == 0 {
		return questions, decisions, err
	}
	if err := addAwaiting(ctx, from, questions); err != nil {
		return nil, nil, err
	}
	if s.person != 0 {
		err = showOwn(ctx, from, questions)
	}
	return questions, decisions, err
}

// showOwn tells in questions that wait what the person's own newest record asked: the question keeps what the newest one of all did.
func showOwn(ctx context.Context, from db.Querier, questions []Question) error {
	var ids []int64
	for _, q := range questions {
		if q.Status == Pending && q.RecordID != 0 {
			ids = append(ids, q.RecordID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	records, err := record.Some(ctx, from, ids)
	if err != nil {
		return err
	}
	traces, err := record.Traces(ctx, from, ids)
	if err != nil {
		return err
	}
	for i := range questions {
		q := &questions[i]
		r, is := records[q.RecordID]
		if q.Status != Pending || !is {
			continue
		}
		q.Title, q.OriginalTitle, q.MediaType, q.Episode, q.Reason = r.Title, r.OriginalTitle, r.MediaType, r.Episode, r.Message
		q.CreatedAt, q.UpdatedAt = q.since, r.UpdatedAt
		var trace match.Trace
		if text, is := traces[r.ID]; is {
			if err := json.Unmarshal(text, &trace); err != nil {
				return fmt.Errorf("decode the trace of record %d: %w", r.ID, err)
			}
		}
		q.Candidates = of(trace)
	}
	return nil
}

// keepTx keeps the answer of a person to a question, as it was shown to them.
func keepTx(ctx context.Context, tx *sql.Tx, person int64, q Question, status Status, d decision) error {
	text, err := d.stored()
	if err != nil {
		return err
	}
	shown, err := json.Marshal(q)
	if err != nil {
		return fmt.Errorf("encode question %d: %w", q.ID, err)
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO person_answers (question_id, person_id, status, decision, question, updated_at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (question_id, person_id) DO UPDATE SET status = excluded.status, decision = excluded.decision, question = excluded.question, updated_at = excluded.updated_at`,
		q.ID, person, status, text, string(shown), time.Now().UnixMilli())
	if err != nil {
		return fmt.Errorf("store the answer of a person to question %d: %w", q.ID, err)
	}
	return nil
}

// moveOwnTx is moveTx for a person.
func moveOwnTx(ctx context.Context, tx *sql.Tx, a *Answer, person int64, status Status, d decision) (err error) {
	q := a.Question
	if status != Pending {
		if err := keepTx(ctx, tx, person, q, status, d); err != nil {
			return err
		}
		a.Question, _, err = get(ctx, tx, q.ID)
		return err
	}
	// The records that run again ask anew: until then they see no question.
	q.Status, q.UpdatedAt = Pending, time.Now()
	q.SubjectID, q.SubjectName, q.EpisodeOffset, q.MappingID, q.BlockedID = 0, "", 0, 0, 0
	a.Question = q
	return dropTx(ctx, tx, person, q.ID)
}

// dropTx forgets the answer of a person to a question.
func dropTx(ctx context.Context, tx *sql.Tx, person, question int64) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM person_answers WHERE question_id = ? AND person_id = ?`, question, person); err != nil {
		return fmt.Errorf("forget the answer of a person to question %d: %w", question, err)
	}
	return nil
}

// given is an answer that was given to a question, for all or by a person.
type given struct {
	status  Status
	updated int64
	decision
}

// givenTx is the answer of a person to a question; its status is empty when there is none.
func givenTx(ctx context.Context, tx *sql.Tx, person, question int64) (g given, err error) {
	var stored string
	err = tx.QueryRowContext(ctx, `SELECT status, decision, updated_at FROM person_answers WHERE question_id = ? AND person_id = ?`, question, person).Scan(&g.status, &stored, &g.updated)
	if errors.Is(err, sql.ErrNoRows) {
		return given{}, nil
	}
	if err != nil {
		return given{}, fmt.Errorf("look for the answer of a person to question %d: %w", question, err)
	}
	g.decision, err = decisionOf(stored)
	return g, err
}

// within is ctx in the scope of a person; for 0 it is ctx.
func within(ctx context.Context, person int64) context.Context {
	if person == 0 {
		return ctx
	}
	return scope.In(ctx, scope.Of(person))
}

// answering is whom an answer is for: whoever is asked to answer in ctx, and for the owner whom they name, 0 being everybody.
func answering(ctx context.Context, named int64) int64 {
	if s := scope.From(ctx); !s.Whole() {
		return s.Person()
	}
	return named
}
