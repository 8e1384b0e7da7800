package web

import (
	"encoding/json"
	"slices"

	"watchmark/internal/tell/notify"
)

// telling is where notices go as rules and channels stand now, and what to do when that is nowhere.
type telling struct {
	// Names are the channels they go to; without one nobody is told.
	Names []string
	// Why is the key of why nobody is told; Rule is the body of the request that makes a rule which tells them, and
	// empty where a rule would not do.
	Why, Rule string
}

// tellingOf is where notices go that differ in whom they tell of; channels are all that there are.
func (g Summaries) tellingOf(w words, channels []notify.Channel, notices ...notify.Notice) (telling, error) {
	var reached []int64
	for _, notice := range notices {
		reached = append(reached, g.Notices.Reaches(notice)...)
	}
	var t telling
	on := false
	for _, c := range channels {
		on = on || c.Enabled
		if slices.Contains(reached, c.ID) {
			t.Names = append(t.Names, c.Name)
		}
	}
	switch {
	case len(t.Names) > 0 || len(notices) == 0:
		return t, nil
	case len(notices[0].Channels) > 0:
		t.Why = "telling.own_off"
		return t, nil
	case !on:
		t.Why = "telling.no_channel"
		return t, nil
	}
	t.Why = "telling.no_rule"
	kind := notices[0].Kind
	rule, err := json.Marshal(map[string]any{"name": notify.InfoOf(kind).Name(notify.Language(w.lang)), "kinds": []notify.Kind{kind}})
	t.Rule = string(rule)
	return t, err
}
