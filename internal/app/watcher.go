package app

import (
	"context"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/secret"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/source/watcher"
)

// newWatcher follows media servers. The engine is built before it.
func (a *App) newWatcher() *watcher.Service {
	return watcher.NewService(watcher.Config{
		DB: a.db, Box: a.box, Masker: a.masker, Tasks: a.tasks, Intake: a.engine, Remember: a.Series.Told, Routed: a.engine.Routed, Log: a.log,
		Dialer: dialer{&mediaserver.Dialer{
			HTTP: func() httpx.Config {
				c := a.outbound(a.Settings.Current())
				c.Ended = a.countCallsOf("media_servers")
				return c
			},
			Masker: a.masker, Installation: "watchmark-" + a.box.KeyID(), Version: Version(), Log: a.log,
		}},
		Enabled: func() bool { return a.Settings.Current().Watcher.Enabled },
	})
}

type dialer struct{ *mediaserver.Dialer }

func (dialer) PlexChoices(context.Context, secret.Text) ([]mediaserver.PlexServer, []mediaserver.PlexPerson, error) {
	return nil, nil, mediaserver.ErrCannot
}

func (dialer) PlexChoose(context.Context, secret.Text, string, string, string, string) (mediaserver.Login, error) {
	return mediaserver.Login{}, mediaserver.ErrCannot
}
