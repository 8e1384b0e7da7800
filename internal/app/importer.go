package app

import "watchmark/internal/source/importer"

// newImporter imports the histories of media servers. The engine and the watcher are built before it.
func (a *App) newImporter() *importer.Importer {
	return importer.NewImporter(importer.Config{
		DB: a.db, Own: a.mediaServers().Own, Taken: a.watcher.Taken, Tasks: a.tasks, Intake: a.engine, Statuses: a.Records.Statuses,
		Routed: a.engine.Routed, Forecast: a.engine.Forecast, Remember: a.Series.Remember, Log: a.log,
	})
}
