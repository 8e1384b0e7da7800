package app

import (
	"context"
	"fmt"
	"time"

	"watchmark/internal/httpx"
	"watchmark/internal/notify"
	"watchmark/internal/notify/channel"
	"watchmark/internal/settings"
)

// buildNotices makes what tells people, and what it sends with.
func (a *App) buildNotices(ctx context.Context) error {
	tools, err := channel.NewTools(a.outboundNotices(a.Settings.Current()), time.Now, a.masker, a.log)
	if err != nil {
		return fmt.Errorf("setting network.proxy: %w", err)
	}
	a.senders = tools
	a.Settings.OnChange(func(_, now settings.Settings) {
		if err := tools.Apply(a.outboundNotices(now)); err != nil {
			a.log.Error("the proxy cannot be used; messages go the old way", "error", err)
		}
	})
	a.Notices, err = notify.New(ctx, notify.Config{
		DB: a.db, Box: a.box, Masker: a.masker, Log: a.log,
		Open: notify.OpenWith(tools), Secrets: notify.SecretsOf,
		Language: func() notify.Language { return notify.Language(a.Settings.Current().Notification.Language) },
		// The pages, which have the words, are built later and before anything is sent.
		Say:  func(l notify.Language, said string) string { return a.say(string(l), said) },
		Base: func() string { return a.Settings.Current().Server.PublicURL },
	})
	return err
}

// outboundNotices is for the receivers of notifications, who are many.
func (d *Data) outboundNotices(s settings.Settings) httpx.Config {
	c := d.outbound(s)
	c.Ended = d.countCallsOf("notifications")
	return c
}
