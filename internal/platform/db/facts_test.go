package db_test

import (
	"context"
	"database/sql"
	"testing"

	"watchmark/internal/platform/db"
	"watchmark/internal/testkit/dbtest"
)

func TestFacts(t *testing.T) {
	d := dbtest.Open(t)
	for _, want := range []string{"", "one", "another"} {
		if want != "" {
			if err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error { return db.SetFact(ctx, tx, "test", want) }); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := d.Fact(t.Context(), "test"); err != nil || got != want {
			t.Errorf("the fact is %q (%v), want %q", got, err, want)
		}
	}
	if floor, err := d.SchemaFloor(t.Context()); err != nil || floor < 38 || floor > d.SchemaVersion() {
		t.Errorf("the floor is %d (%v), the schema %d", floor, err, d.SchemaVersion())
	}
}
