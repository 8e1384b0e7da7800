package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"watchmark/internal/catalog/budget"
	"watchmark/internal/upkeep/replicas"
)

// someReplicas are three of which one is lost, with a ban of one egress.
func someReplicas() replicas.Overview {
	now := time.Now()
	since, until, trial, lost := now.Add(-3*time.Minute), now.Add(57*time.Minute), now.Add(40*time.Second), now.Add(-time.Hour)
	return replicas.Overview{
		Database: replicas.Database{Engine: "PostgreSQL", Version: "15.8", Shared: true, Schema: 41, Floor: 38, Bytes: 1_288_490_188, Answer: 1.2},
		Replicas: []replicas.Replica{
			{Name: "berlin-1-k3jx2a9q", Self: true, State: replicas.Live, StartedAt: now.Add(-80 * time.Hour), Program: "1.5.0", Schema: 41, Reachable: true, Egress: "berlin", ClockOffset: -12},
			{Name: "berlin-2-a8w0dm4c", State: replicas.Gone, StartedAt: now.Add(-80 * time.Hour), LostAt: &lost, Program: "1.5.0", Schema: 41, Reachable: true, Egress: "berlin"},
			{Name: "oslo-1-zz81mq0p", State: replicas.Live, StartedAt: now.Add(-9 * time.Minute), Program: "1.6.0", Schema: 42, Egress: "oslo", ClockOffset: 1310, OtherSettings: true},
		},
		Budgets: []budget.Standing{
			{Host: "api.bgm.tv", Egress: "oslo", Burst: 800, BannedSince: &since, BannedUntil: &until, NextTrial: &trial},
			{Host: "api.bgm.tv", Account: 7, Burst: 800, BannedSince: &since, BannedUntil: &until, NextTrial: &trial},
			{Host: "api.bgm.tv", Egress: "berlin", Left: 312, Burst: 800},
		},
	}
}

func TestAboutShowsReplicasAndBansOfAServerDatabase(t *testing.T) {
	g := newRig(t)
	g.overview = someReplicas()
	for lang, wants := range map[string][]string{
		"en": {"PostgreSQL 15.8", "answers in 1.2 ms", "berlin-2-a8w0dm4c", "Lost", "does not reach Bangumi", "312 of 800 requests", "way out", "sets something else than here",
			"accepts no requests of the way out oslo", "accepts no requests of account 7", "clock -12 ms off"},
		"zh-CN": {"PostgreSQL 15.8", "响应时间 1.2 ms", "berlin-2-a8w0dm4c", "已失联", "无法连接 Bangumi", "现在可立即发送 312 次，最多 800 次", "出口", "请改为一致", "暂时不接受出口 oslo 的请求"},
	} {
		got := g.get(t, g.client(t, true), "/settings/about", lang)
		if got.status != http.StatusOK {
			t.Fatalf("%s: %d", lang, got.status)
		}
		mustContain(t, got.body, wants...)
	}
}

func TestAboutOfAServiceAloneHasNoReplicas(t *testing.T) {
	g := newRig(t)
	g.overview = someReplicas()
	g.overview.Database = replicas.Database{Engine: "SQLite", Version: "3.53.1", Bytes: 12_000_000}
	got := g.get(t, g.client(t, true), "/settings/about", "en").body
	mustContain(t, got, "SQLite 3.53.1", "12 MB", "accepts no requests from here")
	if strings.Contains(got, "Replicas") || strings.Contains(got, "berlin-1") {
		t.Error("it shows a table of one")
	}
}
