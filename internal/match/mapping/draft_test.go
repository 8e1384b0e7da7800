package mapping_test

import (
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/match/mapping"
)

func TestDraftIsTriedWithTheOthers(t *testing.T) {
	s := newStore(t)
	whole := add(t, s, mapping.Mapping{Title: "灯塔守望者", SubjectID: 1})
	expression := add(t, s, mapping.Mapping{Title: "^灯塔", Regex: true, SubjectID: 2})
	for name, c := range map[string]struct {
		draft mapping.Mapping
		title string
		want  catalog.SubjectID
		fits  bool
	}{
		"a whole title in the place of the one there is": {mapping.Mapping{Title: " 灯塔守望者", SubjectID: 9}, "灯塔守望者", 9, true},
		"a whole title goes before an expression":        {mapping.Mapping{Title: "灯塔物语", SubjectID: 9}, "灯塔物语", 9, true},
		"an expression goes behind a whole title":        {mapping.Mapping{Title: "守望", Regex: true, SubjectID: 9}, "灯塔守望者", 1, true},
		"an expression goes by the alphabet":             {mapping.Mapping{Title: "物语", Regex: true, SubjectID: 9}, "灯塔物语", 2, true},
		"an expression that fits nothing":                {mapping.Mapping{Title: "^港", Regex: true, SubjectID: 9}, "灯塔物语", 2, false},
		"changed, it is not there twice":                 {mapping.Mapping{ID: whole.ID, Title: "港", SubjectID: 9}, "灯塔守望者", 2, false},
		"an expression that is changed":                  {mapping.Mapping{ID: expression.ID, Title: "^灯塔守$", Regex: true, SubjectID: 9}, "灯塔物语", 0, false},
		"without a subject yet":                          {mapping.Mapping{Title: "新", SubjectID: 0}, "新", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			with, err := s.RulesWith(t.Context(), c.draft)
			if err != nil {
				t.Fatal(err)
			}
			if m, _ := with.Find([]string{c.title}, nil, false, nil); m.SubjectID != c.want {
				t.Errorf("it leads to %d, want %d", m.SubjectID, c.want)
			}
			if got := c.draft.Fits(c.title, nil, false, nil); got != c.fits {
				t.Errorf("it fits: %v", got)
			}
		})
	}
	if m, _ := rules(t, s).Find([]string{"灯塔守望者"}, nil, false, nil); m.SubjectID != 1 {
		t.Errorf("a draft was written: %+v", m)
	}
}
