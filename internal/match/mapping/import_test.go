package mapping_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/reason"
)

func TestImportIsAllOrNothingAndToldBeforehand(t *testing.T) {
	s := newStore(t)
	add(t, s, mapping.Mapping{Title: "Same", SubjectID: 1, SubjectName: "mine"})
	add(t, s, mapping.Mapping{Title: "changed", Season: season(2), SubjectID: 2})
	if _, err := s.Block(t.Context(), mapping.Blocked{Keyword: "综艺", Kind: mapping.Contains, Source: mapping.ByPerson}); err != nil {
		t.Fatal(err)
	}
	set := mapping.Set{
		Mappings: []mapping.Mapping{{Title: "same ", SubjectID: 1, SubjectName: "theirs"}, {Title: "changed", Season: season(2), SubjectID: 3}, {Title: "new", SubjectID: 4}, {Title: "NEW", Regex: true, SubjectID: 5}},
		Blocked:  []mapping.Blocked{{Keyword: "综艺", Kind: mapping.Contains}, {Keyword: "综艺", Kind: mapping.Exact}},
	}
	want := mapping.Tally{Added: 3, Changed: 1, Same: 2}
	plan, err := s.PlanImport(t.Context(), set)
	if err != nil || plan.Tally() != want {
		t.Errorf("the plan is %+v (%v), want %+v", plan.Tally(), err, want)
	}
	if was := plan.Mappings[1].Was; was == nil || was.SubjectID != 2 {
		t.Errorf("the changed one was %+v", was)
	}
	if have, err := s.All(t.Context()); err != nil || len(have) != 2 {
		t.Errorf("a plan wrote: %v (%v)", have, err)
	}
	if done, err := s.Import(t.Context(), set); err != nil || done.Tally() != want {
		t.Errorf("the import did %+v (%v), want %+v", done.Tally(), err, want)
	}
	if m, _ := rules(t, s).Find([]string{"changed"}, season(2), false, nil); m.SubjectID != 3 || m.Origin != mapping.ByImport {
		t.Errorf("the changed mapping is %+v", m)
	}
	if m, _ := rules(t, s).Find([]string{"same"}, nil, false, nil); m.SubjectName != "mine" || m.Origin != mapping.ByPerson {
		t.Errorf("what is the same became %+v", m)
	}
	if b, blocked := rules(t, s).Blocks([]string{"综艺"}); !blocked || b.Source != mapping.ByPerson {
		t.Errorf("the title is stopped by %+v", b)
	}
	set.Mappings = append(set.Mappings, mapping.Mapping{Title: "fine", SubjectID: 1}, mapping.Mapping{Title: "bad"})
	_, err = s.Import(t.Context(), set)
	var wrong *reason.FieldError
	if !errors.As(err, &wrong) || wrong.Field != "mappings[5].subject_id" {
		t.Errorf("error %v, want one that names mappings[5].subject_id", err)
	}
	if _, found := rules(t, s).Find([]string{"fine"}, nil, false, nil); found {
		t.Error("half of a bad import was written")
	}
}

func TestImportRefusesWithReasons(t *testing.T) {
	s := newStore(t)
	set := mapping.Set{
		Mappings: []mapping.Mapping{{Title: "a"}, {Title: "a", SubjectID: 1}, {Title: " A", SubjectID: 2}, {Title: "(", Regex: true, SubjectID: 1}, {Title: "a", Season: season(1), SubjectID: 1}},
		Blocked:  []mapping.Blocked{{Keyword: "", Kind: mapping.Contains}, {Keyword: "b", Kind: mapping.Contains}, {Keyword: "b", Kind: mapping.Contains}},
	}
	plan, err := s.PlanImport(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	var fates []mapping.Fate
	var fields []string
	for _, line := range append(plan.Mappings, plan.Blocked...) {
		fates = append(fates, line.Fate)
		if line.Problem != nil {
			fields = append(fields, line.Problem.Field)
		}
	}
	if diff := cmp.Diff([]mapping.Fate{"refused", "added", "refused", "refused", "added", "refused", "added", "refused"}, fates); diff != "" {
		t.Errorf("fates (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"subject_id", "title", "title", "keyword", "keyword"}, fields); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

func TestImportKeepsWhatMappingsHoldFor(t *testing.T) {
	s := newStore(t)
	set := mapping.Set{Mappings: []mapping.Mapping{{Title: "a", FirstSeason: true, Form: mapping.ShowForm, SubjectID: 1}, {Title: "a", Form: mapping.FilmForm, SubjectID: 2}}}
	if got, err := s.Import(t.Context(), set); err != nil || got.Tally().Added != 2 {
		t.Fatalf("import: %+v (%v)", got, err)
	}
	if got, err := s.Import(t.Context(), set); err != nil || got.Tally().Same != 2 {
		t.Errorf("once more: %+v (%v)", got, err)
	}
	if m, found := rules(t, s).Find([]string{"a"}, season(2), false, nil); found {
		t.Errorf("season 2 is led by %+v", m)
	}
	set.Mappings[0].FirstSeason = false
	if got, err := s.Import(t.Context(), set); err != nil || got.Tally().Changed != 1 {
		t.Errorf("for every season: %+v (%v)", got, err)
	}
	if m, _ := rules(t, s).Find([]string{"a"}, season(2), false, nil); m.SubjectID != 1 || m.Origin != mapping.ByImport {
		t.Errorf("season 2 is led by %+v", m)
	}
}
