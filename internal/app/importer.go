package app

import (
	"watchmark/internal/catalog"
	"watchmark/internal/source/importer"
	"watchmark/internal/source/tracker"
	"watchmark/internal/watch"
)

// newImporter imports the histories of media servers, and files. The engine, the watcher and the tracker are built before it.
func (a *App) newImporter() *importer.Importer {
	return importer.NewImporter(importer.Config{
		DB: a.db, Own: a.mediaServers().Own, Taken: a.watcher.Taken, Tasks: a.tasks, Intake: a.engine, Statuses: a.Records.Statuses,
		Routed: a.engine.Routed, Forecast: a.engine.Forecast, Remember: a.Series.Remember, Log: a.log,
		Files: importer.Files{
			Folder: a.folder, Entry: a.entryOf, Episodes: a.cached.Episodes, Known: a.isKnown, Mapped: a.mapped, Plays: a.tracker.Taken, Play: tracker.EventOf,
		},
	})
}

// entryOf is the one entry that the table of ids has for an id of another site.
func (a *App) entryOf(provider, id string) (catalog.SubjectID, bool) {
	table, _ := a.Dataset.Table()
	if table == nil {
		return 0, false
	}
	found := table.ByID(provider, id)
	if len(found) != 1 {
		return 0, false
	}
	return found[0].Subject, true
}

// isKnown reports whether the tables of ids have a show or film; true where there is no table to tell.
func (a *App) isKnown(ids watch.IDs, film bool) bool {
	table, _ := a.Dataset.Table()
	return table == nil || table.Knows(ids, film)
}
