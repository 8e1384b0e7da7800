package settings

import (
	"slices"
	"sync"
	"time"
)

// unit is what a number counts: one of name is size nanoseconds for a *time.Duration, and
// size bytes for an *int64. A number that is kept as it is needs no size.
type unit struct {
	name Unit
	size int64
}

var (
	milliseconds = unit{"milliseconds", int64(time.Millisecond)}
	seconds      = unit{"seconds", int64(time.Second)}
	minutes      = unit{"minutes", int64(time.Minute)}
	hours        = unit{"hours", int64(time.Hour)}
	days         = unit{"days", int64(24 * time.Hour)}
	mebibytes    = unit{"mebibytes", 1 << 20}
	megabytes    = unit{name: "megabytes"}
	percent      = unit{name: "percent"}
)

// section is one [section] of the file, with its options in the order of the page.
type section struct {
	name           string
	label, labelZH string
	help, zh       string
	options        []option
}

// option declares one key.
type option struct {
	path     string // section.name; table fills it in
	name     string
	at       any // the field of Settings; its type decides the key's type and whether it is secret
	unit     unit
	standard any                          // the default: string, bool, int, float64 or []string
	min, max float64                      // bounds of a number, both included
	choices  []Choice                     // the values allowed, when there are few
	check    func(string) (string, error) // normalises and checks a text or each item of a list
	fresh    func(string) error           // what a text must meet besides when it is entered; "" always may be. One that was set before holds on, see Manager.Weak
	form     Form                         // what a text is made of, where a page can help to write it
	zone     string                       // of a Cron that names none; "" = the local time
	restart  bool                         // a change is in force after a restart only
	fixed    bool                         // the page cannot change it, since the database is opened by it
	own      bool                         // replicas on one database may have different values
	advanced bool                         // there is rarely a reason to change it

	label, labelZH string // what it is called on the page
	help, zh       string
}

// table declares every key of the service and binds it to its field of s.
func table(s *Settings) []section {
	sections := []section{
		serverSection(&s.Server),
		authSection(&s.Auth),
		networkSection(&s.Network),
		catalogSection(&s.Catalog),
		syncSection(&s.Sync),
		matchingSection(&s.Matching),
		idMapSection(&s.IDMap),
		catalogArchiveSection(&s.CatalogArchive),
		catalogReplaySection(&s.CatalogReplay),
		nasSection(&s.NAS),
		deviceSection(&s.Device),
		trackerSection(&s.Tracker),
		watcherSection(&s.Watcher),
		notificationSection(&s.Notification),
		llmSection(&s.LLM),
		backupSection(&s.Backup),
		databaseSection(&s.Database),
		snapshotSection(&s.Snapshot),
		logSection(&s.Log),
	}
	for i := range sections {
		for j := range sections[i].options {
			o := &sections[i].options[j]
			o.path = sections[i].name + "." + o.name
		}
	}
	return sections
}

// options lists the declared keys by path, unbound: for parsing, not for assigning. All callers share it.
var options = sync.OnceValue(func() map[string]option {
	all := map[string]option{}
	for _, sec := range table(&Settings{}) {
		for _, o := range sec.options {
			all[o.path] = o
		}
	}
	return all
})

// isSectionName reports whether there is a section of that name.
func isSectionName(name string) bool {
	return slices.ContainsFunc(table(&Settings{}), func(sec section) bool { return sec.name == name })
}
