package app

import (
	"context"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/task"
	"watchmark/internal/source/importer"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/source/watcher"
)

// newWatcher follows media servers. The engine is built before it.
func (a *App) newWatcher() *watcher.Service {
	return watcher.NewService(watcher.Config{
		DB: a.db, Box: a.box, Masker: a.masker, Tasks: a.tasks, Holds: a.holds, Replicas: a.live, Intake: a.engine, Remember: a.Series.Told, Routed: a.engine.Routed, Log: a.log,
		Dialer:      a.mediaServers(),
		ForecastFor: a.engine.ForecastFor,
		Account: func(ctx context.Context, id int64) error {
			_, err := a.Accounts.Get(ctx, id)
			return err
		},
		Import: func(ctx context.Context, login int64, h importer.History, preview bool) (*task.Task, error) {
			return a.importer.Start(ctx, login, h, preview) // it is built after this
		},
		Enabled: func() bool { return a.Settings.Current().Watcher.Enabled },
	})
}

// mediaServers finds media servers and asks them, by the settings of now.
func (a *App) mediaServers() *mediaserver.Dialer {
	return &mediaserver.Dialer{
		HTTP: func() httpx.Config {
			c := a.outbound(a.Settings.Current())
			c.Ended = a.countMediaCall
			return c
		},
		Plex: func() mediaserver.PlexAddresses {
			w := a.Settings.Current().Watcher
			return mediaserver.PlexAddresses{Account: w.PlexURL, Clients: w.PlexClientsURL, Page: w.PlexAuthURL}
		},
		Masker: a.masker, Installation: "watchmark-" + a.box.KeyID(), Version: Version(), Log: a.log,
	}
}

// countMediaCall counts a request to a media server, or to the services of Plex.
func (a *App) countMediaCall(host string, status int, took time.Duration) {
	service := "media_servers"
	if serviceAt(a.Settings.Current(), host) == "plex" {
		service = "plex"
	}
	a.countCallsOf(service)(host, status, took)
}
