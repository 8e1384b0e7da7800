package api_test

import (
	"context"
	"log/slog"
	"testing"

	"watchmark/internal/catalog/budget"
	"watchmark/internal/upkeep/replicas"
)

// overview looks how the database of the rig stands, and who works on it.
func (p *parts) overview(ctx context.Context) (replicas.Overview, error) {
	b, err := budget.New(ctx, budget.Config{DB: p.db, Log: slog.New(slog.DiscardHandler), Options: func(string) budget.Options {
		return budget.Options{PerMinute: 100, Burst: 800, Egress: "shared"}
	}})
	if err != nil {
		return replicas.Overview{}, err
	}
	b.Refused(ctx, budget.Draw{Host: "api.catalog.example"}, 0)
	return replicas.Source{DB: p.db, Self: p.engine.Replica, Budget: b}.Overview(ctx)
}

func TestReplicas(t *testing.T) {
	r := newRig(t)
	got := r.do("GET", "/api/replicas", nil).want(200, `"self":true`, `"state":"live"`, `"other_settings":false`, `"host":"api.catalog.example"`, `"egress":"shared"`)
	if engine := got.get("database", "engine"); engine != "SQLite" && engine != "PostgreSQL" {
		t.Errorf("the database is %v", engine)
	}
	if bans := got.get("budgets").([]any); len(bans) != 1 || bans[0].(map[string]any)["banned_until"] == nil {
		t.Errorf("the budgets are %v", bans)
	}
	r.anonymous("GET", "/api/replicas", nil).problem(401)
}
