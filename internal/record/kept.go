package record

import (
	"context"
	"encoding/json"
	"fmt"

	"watchmark/internal/platform/db"
)

// Kept is a record with all that its row has.
type Kept struct {
	Record
	// Event is the JSON of what the source told.
	Event json.RawMessage
	// Rule is the mapping that led its last run, QuestionID what it asked last; nil and 0 for none.
	Rule       *Rule
	QuestionID int64
}

// MarshalJSON is the JSON of the record with the rest behind it.
func (k Kept) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(k.Record)
	if err != nil {
		return nil, err
	}
	rest, err := json.Marshal(struct {
		Event    json.RawMessage `json:"event"`
		Rule     *Rule           `json:"mapping"`
		Question int64           `json:"question_id"`
	}{k.Event, k.Rule, k.QuestionID})
	if err != nil {
		return nil, err
	}
	return append(append(text[:len(text)-1], ','), rest[1:]...), nil
}

// OfAccount are the records of an account after one of them, the oldest first and up to limit.
func (s *Store) OfAccount(ctx context.Context, account, after int64, limit int) ([]Kept, error) {
	// The plus keeps the database from an index of the account, by which it would sort all of its records for each page.
	return db.All(ctx, s.db.Read(), fmt.Sprintf("read the records of account %d", account), func(row db.Row) (k Kept, err error) {
		var rule Rule
		var event string
		err = scan(row, &k.Record, &event, &rule.ID, &rule.SubjectID, &rule.EpisodeOffset, &k.QuestionID)
		k.Event = json.RawMessage(event)
		if rule.ID != 0 {
			k.Rule = &rule
		}
		return k, err
	}, `SELECT `+columns+`, event, COALESCE(rule_id, 0), COALESCE(rule_subject_id, 0), COALESCE(rule_offset, 0), COALESCE(question_id, 0)
		FROM records WHERE +account_id = ? AND id > ? ORDER BY id LIMIT ?`, account, after, limit)
}
