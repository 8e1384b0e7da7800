package app

import (
	"watchmark/internal/platform/httpx"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/source/watcher"
)

// newWatcher follows media servers. The engine is built before it.
func (a *App) newWatcher() *watcher.Service {
	return watcher.NewService(watcher.Config{
		DB: a.db, Box: a.box, Masker: a.masker, Tasks: a.tasks, Intake: a.engine, Remember: a.Series.Told, Routed: a.engine.Routed, Log: a.log,
		Dialer: &mediaserver.Dialer{
			HTTP: func() httpx.Config {
				c := a.outbound(a.Settings.Current())
				c.Ended = a.countCallsOf("media_servers")
				return c
			},
			Plex: func() mediaserver.PlexAddresses {
				w := a.Settings.Current().Watcher
				return mediaserver.PlexAddresses{Account: w.PlexURL, Clients: w.PlexClientsURL, Page: w.PlexAuthURL}
			},
			Masker: a.masker, Installation: "watchmark-" + a.box.KeyID(), Version: Version(), Log: a.log,
		},
		Enabled: func() bool { return a.Settings.Current().Watcher.Enabled },
	})
}
