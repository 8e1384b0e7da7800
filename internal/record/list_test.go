package record_test

import (
	"context"
	"database/sql"
	"slices"
	"testing"
	"time"

	"watchmark/internal/record"
)

func TestASearchLeadsOnToWhatItDidNotRead(t *testing.T) {
	s, d := newStore(t)
	ids := insert(t, d, episode("needle", 1, 1), episode("hay", 1, 2), episode("needle", 1, 3), episode("needle", 1, 4))
	apart := []int64{ids[0], 12_000, 34_000, 45_000} // thousands of others are between them
	err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		for i, id := range apart[1:] {
			if _, err := tx.ExecContext(ctx, `UPDATE records SET id = ? WHERE id = ?`, id, ids[1+i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		time  time.Duration
		limit int
	}{
		"in one go":             {time.Hour, 50},
		"in steps":              {-1, 50},
		"in pages":              {time.Hour, 1},
		"in steps and in pages": {-1, 1},
	} {
		record.SetSearchTime(t, c.time)
		var found []int64
		pages := 0
		for before := int64(0); pages == 0 || before > 0; pages++ {
			records, next, err := s.List(t.Context(), record.Filter{Text: "NEEDLE", Before: before, Limit: c.limit})
			if err != nil || len(records) > c.limit || pages > 20 {
				t.Fatalf("%s: page %d has %d records, %v", name, pages, len(records), err)
			}
			for _, r := range records {
				found = append(found, r.ID)
			}
			before = next
		}
		if want := []int64{45_000, 34_000, ids[0]}; !slices.Equal(found, want) {
			t.Errorf("%s: found %v, not %v", name, found, want)
		}
		if once := c.time > 0 && c.limit == 50; once != (pages == 1) {
			t.Errorf("%s: it takes %d pages", name, pages)
		}
	}
	if records, next, err := s.List(t.Context(), record.Filter{Text: "nothing"}); err != nil || len(records) > 0 {
		t.Errorf("found %v, then %d, %v", records, next, err)
	}
}

func TestASearchOfNoRecordsFindsNone(t *testing.T) {
	s, _ := newStore(t)
	if records, next, err := s.List(t.Context(), record.Filter{Text: "a"}); err != nil || len(records) > 0 || next != 0 {
		t.Errorf("found %v, then %d, %v", records, next, err)
	}
}
