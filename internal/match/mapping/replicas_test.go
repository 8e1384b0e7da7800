package mapping_test

import (
	"testing"

	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/changes"
	"watchmark/internal/testkit/dbtest"
)

func TestAnotherReplicaMatchesByANewRule(t *testing.T) {
	d := dbtest.Open(t)
	board := changes.New(d)
	mine, other := mapping.NewStore(d, changes.New(d)), mapping.NewStore(d, board)
	find := func() (mapped, blocked bool) {
		t.Helper()
		rules, err := other.Rules(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, mapped = rules.Find([]string{"Star"}, nil, false, nil)
		_, blocked = rules.Blocks([]string{"Trailer"})
		return mapped, blocked
	}
	find()
	if _, err := mine.Create(t.Context(), mapping.Mapping{Title: "Star", SubjectID: 265}); err != nil {
		t.Fatal(err)
	}
	if _, err := mine.Block(t.Context(), mapping.Blocked{Keyword: "trailer", Kind: mapping.Contains}); err != nil {
		t.Fatal(err)
	}
	if err := board.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if mapped, blocked := find(); !mapped || !blocked {
		t.Errorf("mapped %v, blocked %v", mapped, blocked)
	}
}
