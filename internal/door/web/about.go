package web

import (
	"runtime"

	"watchmark/internal/match/idmap"
	"watchmark/internal/upkeep/update"
)

// About is the page of the program itself.
type About struct {
	Table func() idmap.Status // of ids
	// Seasons are the lists of how other sites number seasons.
	Seasons func() idmap.ListsStatus
	Update  func() update.Status
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

func (g About) show(*request) (content, error) {
	table, seasons := g.Table(), g.Seasons()
	return content{Data: aboutPage{
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
