package engine_test

import (
	"testing"

	"watchmark/internal/match/mapping"
)

func TestRulesTellWhereAnEventLeads(t *testing.T) {
	h := newHouse(t)
	if _, err := h.mappings.Create(t.Context(), mapping.Mapping{Title: "a", SubjectID: 9, Origin: mapping.ByPerson}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.mappings.Block(t.Context(), mapping.Blocked{Keyword: "trailer", Kind: mapping.Contains, Source: mapping.ByPerson}); err != nil {
		t.Fatal(err)
	}
	rules, err := h.mappings.Rules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	led, err := h.Rule(t.Context(), episode("A", "", 3), rules)
	if err != nil || led.Mapping == nil || led.Mapping.ID != 1 || led.Leads == nil || led.Leads.SubjectID != 9 || led.EpisodeName != "the title" || !led.PassedOver.IsZero() {
		t.Errorf("a mapped title comes out as %+v (%v)", led, err)
	}
	if stopped, err := h.Rule(t.Context(), episode("a trailer", "", 1), rules); err != nil || stopped.Blocked == nil || stopped.Mapping != nil || stopped.Leads != nil {
		t.Errorf("a blocked title comes out as %+v (%v)", stopped, err)
	}
	asked := len(h.matcher.seen)
	if none, err := h.Rule(t.Context(), episode("b", "", 1), rules); err != nil || none.Mapping != nil || none.Leads != nil {
		t.Errorf("a title without a rule comes out as %+v (%v)", none, err)
	}
	if n := len(h.matcher.seen); n != asked {
		t.Errorf("a title without a rule is matched %d times", n-asked)
	}
}
