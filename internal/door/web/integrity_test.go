package web_test

import (
	"strings"
	"testing"
)

func TestDashboardTellsOfTheCheckOfTheDatabase(t *testing.T) {
	for name, c := range map[string]struct {
		checking, damaged bool
		says, not         string
	}{
		"under way": {true, false, "The database is being checked", "damaged"},
		"damaged":   {false, true, "watchmark restore FILE", "being checked"},
		"sound":     {false, false, "", "The database is"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t)
			g.checking, g.damaged = c.checking, c.damaged
			page := g.get(t, g.client(t, true), "/", "en")
			if !strings.Contains(page.body, c.says) || strings.Contains(page.body, c.not) {
				t.Errorf("the page says %s", page.body)
			}
		})
	}
}
