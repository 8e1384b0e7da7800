package app

import (
	"context"
	"time"

	cron "github.com/netresearch/go-cron"

	"watchmark/internal/tracker"
	"watchmark/internal/watch"
)

// newTracker is the keeper of the tracker's sign-ins and histories. The engine is built before it.
func (a *App) newTracker() *tracker.Keeper {
	return tracker.NewKeeper(tracker.Config{
		DB: a.db, Box: a.box, HTTP: a.http, Masker: a.masker, Tasks: a.tasks, Intake: a.engine, Log: a.log, Next: a.nextTracker,
		Forecast: a.engine.Forecast,
		Mapped: func(ctx context.Context, titles []string, event watch.Event) (bool, error) {
			rules, err := a.Mappings.Rules(ctx)
			if err != nil {
				return false, err
			}
			_, found := rules.Find(titles, event.Season, event.IsFilm(), event.Episode)
			return found, nil
		},
		Options: func() tracker.Options {
			t := a.Settings.Current().Tracker
			return tracker.Options{
				Enabled: t.Enabled, AuthURL: t.AuthURL, APIURL: t.APIURL, AppAPIURL: t.AppAPIURL, ClientID: t.ClientID, RedirectURI: t.RedirectURI,
				AppClientID: t.AppClientID, AppClientSecret: t.AppClientSecret, Genres: t.Genres, Overlap: t.Overlap,
			}
		},
	})
}

// nextTracker is when the history of the tracker is read after t; zero is never.
func (a *App) nextTracker(t time.Time) time.Time {
	expression := a.Settings.Current().Tracker.Cron
	if expression == "" {
		return time.Time{}
	}
	schedule, err := cron.ParseStandard(expression)
	if err != nil { // the settings hold what can be parsed
		return t.Add(6 * time.Hour)
	}
	return schedule.Next(t)
}
