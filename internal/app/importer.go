package app

import (
	"context"
	"errors"

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
			Folder: a.folder, Entry: a.entryOf, About: a.seenBy, Known: a.isKnown, Mapped: a.mapped, Plays: a.tracker.Taken, Play: tracker.EventOf,
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

// seenBy is an entry with its episodes, in the name of an account of a media-server user where it is hidden from look-ups without one.
func (a *App) seenBy(ctx context.Context, user string, id catalog.SubjectID) (catalog.Subject, []catalog.EpisodeInfo, error) {
	about, rows, err := entryIn(ctx, a.cached, id)
	if !errors.Is(err, catalog.ErrNotFound) {
		return about, rows, err
	}
	accounts, failed := a.Accounts.ForUser(ctx, user)
	if failed != nil {
		return about, rows, failed
	}
	if len(accounts) == 0 {
		return about, rows, err
	}
	return entryIn(ctx, a.clients.View(accounts[0]), id)
}

func entryIn(ctx context.Context, c interface {
	Subject(ctx context.Context, id catalog.SubjectID) (catalog.Subject, error)
	Episodes(ctx context.Context, id catalog.SubjectID) ([]catalog.EpisodeInfo, error)
}, id catalog.SubjectID) (catalog.Subject, []catalog.EpisodeInfo, error) {
	about, err := c.Subject(ctx, id)
	if err != nil {
		return about, nil, err
	}
	rows, err := c.Episodes(ctx, id)
	return about, rows, err
}
