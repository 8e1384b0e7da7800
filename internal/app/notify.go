package app

import (
	"context"
	"fmt"
	"time"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
)

// buildNotices makes what tells people, and what it sends with.
func (a *App) buildNotices(ctx context.Context) error {
	tools, err := channel.NewTools(a.outboundNotices(a.Settings.Current()), time.Now, a.masker, a.log)
	if err != nil {
		return fmt.Errorf("setting network.proxy: %w", err)
	}
	a.follow(tools, a.outboundNotices)
	a.Notices, err = notify.New(ctx, notify.Config{
		DB: a.db, Changes: a.board, Box: a.box, Masker: a.masker, Holds: a.holds, Log: a.log,
		Open: notify.OpenWith(tools, tools.ForPeople(func() bool { return a.Settings.Current().Notification.PeopleHome })), Secrets: notify.SecretsOf,
		Language: func() bilingual.Language { return bilingual.Language(a.Settings.Current().Notification.Language) },
		Base:     func() string { return a.Settings.Current().Server.PublicURL },
	})
	return err
}
