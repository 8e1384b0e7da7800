package movedb

import (
	"context"
	"encoding/json"
	"fmt"

	"watchmark/internal/platform/db"
)

// The facts of a move.
const (
	filling = "move"     // of a target: its state
	movedTo = "moved_to" // of a source: where it went
)

// state is how far a target is filled.
type state struct {
	Triggers []string `json:"triggers"` // to be made in the end
	// Emptying is set while what an earlier move brought is removed.
	Emptying bool            `json:"emptying"`
	Done     map[string]Line `json:"done"`
	// Full is set once all was found to be the same as in the source, with the facts that it will have.
	Full  bool              `json:"full"`
	Facts map[string]string `json:"facts"`
}

// readState is how far a target is filled, and the text of that; nil for a database that is not one.
func readState(ctx context.Context, from db.Querier) (*state, string, error) {
	text, err := db.Fact(ctx, from, filling)
	if err != nil || text == "" {
		return nil, "", err
	}
	var now state
	if err := json.Unmarshal([]byte(text), &now); err != nil {
		return nil, "", fmt.Errorf("read how far the move was: %w", err)
	}
	return &now, text, nil
}

// Refusal returns why no service may use a database: it is not filled to its end, or was given up for another one.
func Refusal(ctx context.Context, d *db.DB) error {
	now, _, err := readState(ctx, d.Read())
	switch {
	case err != nil:
		return err
	case now != nil:
		return errUnfinished
	}
	where, err := d.Fact(ctx, movedTo)
	if err != nil || where == "" {
		return err
	}
	return fmt.Errorf("what was in this database was moved to %s: start the service there; to use what is here after all, remove the row moved_to from its table facts", where)
}

// IsFull reports whether Fill has come to its end on a database, and Release has not.
func IsFull(ctx context.Context, d *db.DB) (bool, error) {
	now, _, err := readState(ctx, d.Read())
	return now != nil && now.Full, err
}

// factsOf are the facts of a source that its target takes over.
func factsOf(ctx context.Context, d *db.DB) (map[string]string, error) {
	facts, err := d.Facts(ctx)
	delete(facts, filling)
	delete(facts, movedTo)
	return facts, err
}
