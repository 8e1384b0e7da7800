package web

import (
	"context"
	"runtime"
	"slices"

	"watchmark/internal/catalog/budget"
	"watchmark/internal/match/idmap"
	"watchmark/internal/upkeep/replicas"
	"watchmark/internal/upkeep/update"
)

// About is the page of the program itself.
type About struct {
	Table func() idmap.Status // of ids
	// Seasons are the lists of how other sites number seasons.
	Seasons func() idmap.ListsStatus
	Update  func() update.Status
	// Overview is how database, replicas and budgets stand.
	Overview func(context.Context) (replicas.Overview, error)
	// Modules are the Go modules that are linked into the program; empty where the build does not tell.
	Modules []Module
}

// Module is a Go module.
type Module struct{ Path, Version string }

// aboutPage shows the parts of the program and the state of the id table.
type aboutPage struct {
	Table   idmap.Status
	Display display
	Seasons idmap.ListsStatus
	Lists   []idmap.SourceStatus // those of Seasons beside the table
	Go      string               // the version
	Credits []credit
	Modules []Module
	Update  update.Status
	replicas.Overview
	// Bans are the budgets that are closed.
	Bans []budget.Standing
}

// credit names a project whose work is part of the program or used by it. The text "about.credit.KEY" says for what.
type credit struct{ Key, Name, URL, Licence string }

var credits = []credit{
	{"catalog", "Bangumi 番组计划", "https://bgm.tv", ""},
	{"dataset", "bangumi-data", "https://github.com/bangumi-data/bangumi-data", "CC BY 4.0"},
	{"anime-lists", "Anime-Lists", "https://github.com/Anime-Lists/anime-lists", ""},
	{"shinkro", "shinkro-mapping", "https://github.com/varoOP/shinkro-mapping", "MIT"},
	{"opencc", "OpenCC", "https://github.com/BYVoid/OpenCC", "Apache-2.0"},
	{"lucide", "Lucide", "https://lucide.dev", "ISC"},
}

func (g About) show(r *request) (content, error) {
	table, seasons := g.Table(), g.Seasons()
	overview, err := g.Overview(r.Context())
	if err != nil {
		return content{}, err
	}
	bans := slices.DeleteFunc(slices.Clone(overview.Budgets), func(s budget.Standing) bool { return s.BannedUntil == nil })
	return content{Data: aboutPage{
		Overview: overview, Bans: bans,
		Table: table, Display: tableDisplay(table), Seasons: seasons, Lists: seasons.Sources[min(1, len(seasons.Sources)):], Go: runtime.Version(), Credits: credits, Modules: g.Modules, Update: g.Update(),
	}}, nil
}

// tableDisplay shows the state of the id table.
func tableDisplay(s idmap.Status) display {
	switch {
	case !s.Enabled:
		return display{"quiet", "power", "about.table.off"}
	case s.Version == "":
		return display{"bad", "circle-x", "about.table.missing"}
	case s.LastOutcome == idmap.Refused:
		return display{"warn", "triangle-alert", "about.table.refused"}
	case s.LastOutcome == idmap.Failed:
		return display{"warn", "triangle-alert", "about.table.old"}
	}
	return display{"good", "circle-check", "about.table.good"}
}

// replicaDisplay shows how a replica stands.
func replicaDisplay(r replicas.Replica) display {
	switch {
	case r.State == replicas.Gone:
		return display{"bad", "circle-x", "about.replica.gone"}
	case r.State == replicas.Silent:
		return display{"warn", "triangle-alert", "about.replica.silent"}
	case !r.Reachable:
		return display{"warn", "triangle-alert", "about.replica.cut_off"}
	}
	return display{"good", "circle-check", "about.replica.live"}
}
