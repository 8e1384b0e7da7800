package mapping_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"

	"watchmark/internal/match/mapping"
)

func TestListIsPagedAndSearched(t *testing.T) {
	s := newStore(t)
	add(t, s, mapping.Mapping{Title: "灯塔守望者", SubjectID: 265, SubjectName: "灯台守のうた"})
	add(t, s, mapping.Mapping{Title: "100% wrong", SubjectID: 2, Note: "second half"})
	add(t, s, mapping.Mapping{Title: "Harbour_1", SubjectID: 3})
	for name, c := range map[string]struct {
		filter mapping.Filter
		want   []string
		next   bool
	}{
		"newest first":        {mapping.Filter{}, []string{"Harbour_1", "100% wrong", "灯塔守望者"}, false},
		"first page":          {mapping.Filter{Limit: 2}, []string{"Harbour_1", "100% wrong"}, true},
		"second page":         {mapping.Filter{Limit: 2, Before: 2}, []string{"灯塔守望者"}, false},
		"title":               {mapping.Filter{Text: "harbour"}, []string{"Harbour_1"}, false},
		"name of the subject": {mapping.Filter{Text: "灯台守"}, []string{"灯塔守望者"}, false},
		"number":              {mapping.Filter{Text: "265"}, []string{"灯塔守望者"}, false},
		"note":                {mapping.Filter{Text: "second"}, []string{"100% wrong"}, false},
		"no wildcards":        {mapping.Filter{Text: "%"}, []string{"100% wrong"}, false},
		"no wildcards either": {mapping.Filter{Text: "_"}, []string{"Harbour_1"}, false},
		"nothing":             {mapping.Filter{Text: "0"}, []string{"100% wrong"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			list, next, err := s.List(t.Context(), c.filter)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, m := range list {
				got = append(got, m.Title)
			}
			if !slices.Equal(got, c.want) || next != 0 != c.next {
				t.Errorf("lists %q, next %d", got, next)
			}
		})
	}
}

func TestBlockedListIsPagedAndSearched(t *testing.T) {
	s := newStore(t)
	for _, keyword := range []string{"预告", "PV", "综艺"} {
		if _, err := s.Block(t.Context(), mapping.Blocked{Keyword: keyword, Kind: mapping.Contains, Source: mapping.ByPerson}); err != nil {
			t.Fatal(err)
		}
	}
	first, next, err := s.ListBlocked(t.Context(), mapping.Filter{Limit: 2})
	if err != nil || len(first) != 2 || first[0].Keyword != "综艺" || next != first[1].ID {
		t.Errorf("the first page is %+v, next %d (%v)", first, next, err)
	}
	rest, next, err := s.ListBlocked(t.Context(), mapping.Filter{Before: next, Limit: 2})
	if err != nil || len(rest) != 1 || rest[0].Keyword != "预告" || next != 0 {
		t.Errorf("the second page is %+v, next %d (%v)", rest, next, err)
	}
	if found, _, err := s.ListBlocked(t.Context(), mapping.Filter{Text: "pv"}); err != nil || len(found) != 1 {
		t.Errorf("a search finds %+v (%v)", found, err)
	}
}

func TestTooManyAreRefusedAndFewerAreNot(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	s := newStore(t)
	fill := func(set mapping.Set) error {
		_, err := s.Import(t.Context(), set)
		return err
	}
	var full mapping.Set
	for i := range mapping.MaxExpressions {
		full.Mappings = append(full.Mappings, mapping.Mapping{Title: fmt.Sprintf("^expression %d$", i), Regex: true, SubjectID: 1})
		full.Blocked = append(full.Blocked, mapping.Blocked{Keyword: fmt.Sprintf("^keyword %d$", i), Kind: mapping.Regex})
	}
	for i := range mapping.MaxMappings - mapping.MaxExpressions {
		full.Mappings = append(full.Mappings, mapping.Mapping{Title: fmt.Sprint(i), SubjectID: 1})
	}
	for i := range mapping.MaxBlocked - mapping.MaxExpressions {
		full.Blocked = append(full.Blocked, mapping.Blocked{Keyword: fmt.Sprint(i), Kind: mapping.Exact})
	}
	if err := fill(full); err != nil {
		t.Fatalf("what may be kept: %v", err)
	}
	one := mapping.Mapping{Title: "one more", SubjectID: 1}
	if _, err := s.Create(t.Context(), one); !errors.Is(err, mapping.ErrFull) {
		t.Errorf("one mapping more: %v", err)
	}
	if _, err := put(t, s, one); !errors.Is(err, mapping.ErrFull) {
		t.Errorf("one answer more: %v", err)
	}
	if _, err := s.PlanImport(t.Context(), mapping.Set{Mappings: []mapping.Mapping{one}}); !errors.Is(err, mapping.ErrFull) {
		t.Errorf("the preview of one more: %v", err)
	}
	if _, err := s.Block(t.Context(), mapping.Blocked{Keyword: "one more", Kind: mapping.Exact}); !errors.Is(err, mapping.ErrFull) {
		t.Errorf("one keyword more: %v", err)
	}
	whole, _, err := s.List(t.Context(), mapping.Filter{Text: "19799"})
	if err != nil || len(whole) != 1 {
		t.Fatalf("found %+v (%v)", whole, err)
	}
	whole[0].Title, whole[0].Regex = "^19799$", true
	if _, err := s.Update(t.Context(), whole[0]); !errors.Is(err, mapping.ErrExpressions) {
		t.Errorf("one expression more: %v", err)
	}
	if err := s.Delete(t.Context(), whole[0].ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(t.Context(), one); err != nil {
		t.Errorf("in the place of one that was removed: %v", err)
	}
	c, err := s.Count(t.Context())
	if err != nil || c.Mappings != mapping.MaxMappings || c.Blocked != mapping.MaxBlocked {
		t.Errorf("%+v are kept (%v)", c, err)
	}
}

// TestARefusedChangeWritesNothing of what the same transaction wrote besides.
func TestARefusedChangeWritesNothing(t *testing.T) {
	s := newStore(t)
	err := s.Change(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		for i := range mapping.MaxExpressions + 1 {
			if _, _, err := mapping.BlockTx(ctx, tx, mapping.Blocked{Keyword: fmt.Sprintf("^%d$", i), Kind: mapping.Regex}); err != nil {
				return err
			}
		}
		return nil
	})
	if !errors.Is(err, mapping.ErrExpressions) {
		t.Errorf("error %v", err)
	}
	if c, err := s.Count(t.Context()); err != nil || c.Blocked != 0 {
		t.Errorf("%d keywords are kept (%v)", c.Blocked, err)
	}
}
