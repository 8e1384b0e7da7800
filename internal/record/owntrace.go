package record

import (
	"encoding/json"
	"fmt"

	"watchmark/internal/match"
)

// ownTrace is a trace as the person may read it whose account the record is of: it names no other account, and no rule by an id.
func ownTrace(text json.RawMessage, id int64, account string) (json.RawMessage, error) {
	var t match.Trace
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, fmt.Errorf("decode the trace of record %d: %w", id, err)
	}
	for _, step := range t.Steps {
		delete(step.Output, "mapping_id")
		if step.Name == match.StepRoute {
			step.Output["accounts"] = []string{account}
			delete(step.Output, "reason") // it may name each account of the user; the record says what concerns it
		}
	}
	own, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("encode the trace of record %d: %w", id, err)
	}
	return own, nil
}
