package app

import "watchmark/internal/source/importer"

// newImporter imports the histories of media servers. The engine is built before it.
func (a *App) newImporter() *importer.Importer {
	return importer.NewImporter(importer.Config{
		DB: a.db, HTTP: a.http, Masker: a.masker, Tasks: a.tasks, Intake: a.engine, Statuses: a.Records.Statuses,
		Routed: a.engine.Routed, Forecast: a.engine.Forecast, Remember: a.Series.Remember, Log: a.log,
	})
}
