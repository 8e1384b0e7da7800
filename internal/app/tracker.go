package app

import (
	"context"

	"watchmark/internal/platform/settings"
	"watchmark/internal/source/tracker"
	"watchmark/internal/watch"
)

// newTracker has the tracker's sign-ins and histories. The engine is built before it.
func (a *App) newTracker() *tracker.Service {
	return tracker.NewService(tracker.Config{
		DB: a.db, Box: a.box, HTTP: a.http, Masker: a.masker, Tasks: a.tasks, Holds: a.holds, Intake: a.engine, Log: a.log, Schedule: a.jobs, Plan: a.plan("tracker.cron", func(s settings.Settings) string { return s.Tracker.Cron }),
		Forecast: a.engine.Forecast,
		Mapped:   a.mapped,
		Imported: func(ctx context.Context, plays []int64) (map[int64]bool, error) { return a.importer.Plays(ctx, plays) }, // it is built later
		Options: func() tracker.Options {
			t := a.Settings.Current().Tracker
			return tracker.Options{
				Enabled: t.Enabled, AuthURL: t.AuthURL, APIURL: t.APIURL, AppAPIURL: t.AppAPIURL, ClientID: t.ClientID, RedirectURI: t.RedirectURI,
				AppClientID: t.AppClientID, AppClientSecret: t.AppClientSecret, Genres: t.Genres, Overlap: t.Overlap,
			}
		},
	})
}

// mapped reports whether somebody mapped an event, by one of its titles: for all, or for a list that it is marked on.
func (a *App) mapped(ctx context.Context, titles []string, event watch.Event) (bool, error) {
	rules, err := a.Mappings.Rules(ctx)
	if err != nil {
		return false, err
	}
	_, found := rules.Find(titles, event.Season, event.IsFilm(), event.Episode)
	if found {
		return true, nil
	}
	accounts, err := a.Accounts.ForUser(ctx, event.UserName)
	for _, one := range accounts {
		if _, found := rules.Of(one.PersonID).Find(titles, event.Season, event.IsFilm(), event.Episode); found {
			return true, nil
		}
	}
	return false, err
}
