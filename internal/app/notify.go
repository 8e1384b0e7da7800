package app

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"watchmark/internal/door/auth"
	"watchmark/internal/engine/review"
	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/tickets"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
	"watchmark/internal/tell/notify/webpush"
)

// buildNotices makes what tells people, and what it sends with.
func (a *App) buildNotices(ctx context.Context) error {
	tools, err := channel.NewTools(a.outboundNotices(a.Settings.Current()), time.Now, a.masker, a.log)
	if err != nil {
		return fmt.Errorf("setting network.proxy: %w", err)
	}
	if a.pushKey, err = a.openPushKey(ctx); err != nil {
		return err
	}
	tools.SignPushes(a.pushKey)
	a.follow(tools, a.outboundNotices)
	a.Notices, err = notify.New(ctx, notify.Config{
		DB: a.db, Changes: a.board, Box: a.box, Masker: a.masker, Holds: a.holds, Log: a.log,
		Open: notify.OpenWith(tools, tools.ForPeople(func() bool { return a.Settings.Current().Notification.PeopleHome })), Secrets: notify.SecretsOf,
		Actions: func(ctx context.Context, c notify.Channel, e notify.Entry, m channel.Message) []channel.Action {
			return a.taps.Actions(ctx, c, e, m) // which are made later
		},
		Language: func() bilingual.Language { return bilingual.Language(a.Settings.Current().Notification.Language) },
		Base:     func() string { return a.Settings.Current().Server.PublicURL },
	})
	return err
}

// pushFact is the key that browsers subscribe to, sealed. All replicas have the same.
const pushFact = "push_key"

// openPushKey is the key that browsers subscribe to. It is made where there is none, and where another key has sealed it: what the browsers told
// is lost then, too.
func (a *App) openPushKey(ctx context.Context) (webpush.Key, error) {
	var key webpush.Key
	err := a.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		sealed, err := db.Fact(ctx, tx, pushFact)
		if err != nil {
			return err
		}
		if sealed != "" {
			plain, err := a.box.Open(sealed, pushFact)
			if err == nil {
				key, err = webpush.ParseKey(plain)
			}
			if err == nil {
				return nil
			}
			a.log.WarnContext(ctx, "the key of browser notifications cannot be opened: it is made anew, and devices have to switch notifications on again", "error", err)
		}
		if key, err = webpush.NewKey(); err != nil {
			return err
		}
		plain, err := key.Private()
		if err != nil {
			return err
		}
		return db.SetFact(ctx, tx, pushFact, a.box.Seal(plain, pushFact))
	})
	return key, err
}

// buildTaps makes what answers from notifications do.
func (a *App) buildTaps() {
	a.taps = &review.Taps{
		Decisions: a.decisions, Channel: a.Notices.Channel, Tickets: tickets.New[review.Tap](a.db, a.box, "tap", review.TapLife, review.TapsMost),
		Allowed: func(ctx context.Context, c notify.Channel) (bool, error) {
			if c.Person == 0 {
				return c.Enabled, nil
			}
			p, err := a.Auth.Person(ctx, c.Person)
			if errors.Is(err, auth.ErrPersonNotFound) {
				return false, nil
			}
			return c.Enabled && p.Role == auth.RolePerson, err
		},
	}
}
