package record

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
	"watchmark/internal/watch"
)

// AskTx notes within tx that a record asks a question; in the state Review it waits for the answer.
func AskTx(ctx context.Context, tx *sql.Tx, id, question int64) error {
	if _, err := tx.ExecContext(ctx, `UPDATE records SET question_id = ? WHERE id = ?`, question, id); err != nil {
		return fmt.Errorf("note the question of record %d: %w", id, err)
	}
	return nil
}

// AskedBeforeTx reports whether a record of the person waits for a question, or the record id asked it at its last run.
func AskedBeforeTx(ctx context.Context, tx *sql.Tx, id, question int64) (asked bool, err error) {
	within, whose := account.Within(ctx, "account_id")
	err = tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM records WHERE question_id = ? AND status = 'review' AND `+within+`) OR EXISTS (SELECT 1 FROM records WHERE id = ? AND question_id = ?)`,
		append(append([]any{question}, whose...), id, question)...).Scan(&asked)
	if err != nil {
		return false, fmt.Errorf("look who waits for the question of record %d: %w", id, err)
	}
	return asked, nil
}

// AwaitingTx are the records that wait for the answers of questions, the oldest first.
func AwaitingTx(ctx context.Context, tx *sql.Tx, questions ...int64) ([]int64, error) {
	list, args := db.In(questions)
	within, whose := account.Within(ctx, "account_id")
	ids, err := db.Values[int64](ctx, tx, "list who waits for questions", `SELECT id FROM records WHERE status = 'review' AND question_id IN `+list+` AND `+within+` ORDER BY question_id, id`,
		append(args, whose...)...)
	slices.Sort(ids)
	return ids, err
}

// QuestionOf is the question that a record waits for; 0 when it waits for none.
func QuestionOf(ctx context.Context, from db.Querier, id int64) (question int64, err error) {
	err = from.QueryRowContext(ctx, `SELECT question_id FROM records WHERE id = ? AND status = 'review' AND question_id IS NOT NULL`, id).Scan(&question)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("look for the question of record %d: %w", id, err)
	}
	return question, nil
}

// Awaiting are the records that wait for one question.
type Awaiting struct {
	Count int
	// Newest is the newest of them, Source where it came from.
	Newest int64
	Source watch.Source
	// Episodes are the numbers of the first 50 episodes among them, in order.
	Episodes []float64
	// Since is when the first of them came in.
	Since time.Time
	// People are those whose records wait, in order; without a person they are the owner's.
	People []int64
}

// AwaitingOf tells of each of some questions who waits for it; one that nobody waits for is missing. It reads what waits alone.
func AwaitingOf(ctx context.Context, from db.Querier, questions []int64) (map[int64]Awaiting, error) {
	list, args := db.In(questions)
	within, whose := account.Within(ctx, "account_id")
	all := map[int64]Awaiting{}
	err := db.Each(ctx, from, "look who waits for questions", func(row db.Row) error {
		var question, since, person int64
		var newest Awaiting
		var episode *float64
		err := row.Scan(&question, &newest.Newest, &newest.Source, &episode, &since, &person)
		before := all[question]
		newest.Count, newest.Episodes, newest.Since, newest.People = before.Count+1, before.Episodes, before.Since, before.People
		if before.Count == 0 {
			newest.Since = time.UnixMilli(since)
		}
		if at, known := slices.BinarySearch(newest.People, person); person != 0 && !known {
			newest.People = slices.Insert(newest.People, at, person)
		}
		if episode != nil {
			newest.Episodes = append(newest.Episodes, *episode)
		}
		all[question] = newest
		return err
	}, `SELECT question_id, id, source, episode, created_at, COALESCE(`+account.PersonOf("records.account_id")+`, 0)
		FROM records WHERE status = 'review' AND question_id IN `+list+` AND `+within+` ORDER BY question_id, id`, append(args, whose...)...)
	if err != nil {
		return nil, err
	}
	for question, one := range all {
		slices.Sort(one.Episodes)
		one.Episodes = slices.Compact(one.Episodes)
		one.Episodes = one.Episodes[:min(len(one.Episodes), 50)]
		all[question] = one
	}
	return all, nil
}

// Rule is a mapping as it was when it led a record.
type Rule struct {
	ID            int64             `json:"id"`
	SubjectID     catalog.SubjectID `json:"subject_id"`
	EpisodeOffset int               `json:"episode_offset"`
}

// columns are the values of the columns that keep the rule; a nil one has none.
func (r *Rule) columns() []any {
	if r == nil {
		return []any{nil, nil, nil}
	}
	return []any{r.ID, r.SubjectID, r.EpisodeOffset}
}

// Led is a record that a rule led.
type Led struct {
	ID int64
	// Marked is set when it holds a mark.
	Marked    bool
	UpdatedAt time.Time
}

// LedTx are the records whose last run a rule led, the newest first. The id of a mapping that was deleted may be given
// again, so older ones may have been led by another mapping.
func LedTx(ctx context.Context, tx *sql.Tx, rule Rule) ([]Led, error) {
	within, whose := account.Within(ctx, "account_id")
	return db.All(ctx, tx, fmt.Sprintf("list what mapping %d led", rule.ID), func(row db.Row) (one Led, err error) {
		var updated int64
		err = row.Scan(&one.ID, &one.Marked, &updated)
		one.UpdatedAt = time.UnixMilli(updated)
		return one, err
	}, `SELECT id, EXISTS (SELECT 1 FROM record_marks WHERE record_id = records.id), updated_at FROM records
		WHERE rule_id = ? AND rule_subject_id = ? AND rule_offset = ? AND `+within+` ORDER BY id DESC`, append([]any{rule.ID, rule.SubjectID, rule.EpisodeOffset}, whose...)...)
}

// InWorkTx are the records that are being worked on, those that were not routed yet among them.
func InWorkTx(ctx context.Context, tx *sql.Tx) ([]Record, error) {
	within, whose := account.Within(ctx, "account_id")
	return recordsOf(ctx, tx, `WHERE status = 'processing' AND (account_id IS NULL OR `+within+`) ORDER BY id`, whose...)
}

// CountOnTheWay is how many records that an SQL condition holds for the engine has still to work on, or works on.
func CountOnTheWay(ctx context.Context, from db.Querier, condition string) (n int, err error) {
	if err = from.QueryRowContext(ctx, `SELECT COUNT(*) FROM records WHERE status IN ('received', 'processing') AND `+condition).Scan(&n); err != nil {
		return 0, fmt.Errorf("count records on the way: %w", err)
	}
	return n, nil
}
