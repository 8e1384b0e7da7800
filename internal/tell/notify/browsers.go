package notify

import (
	"context"
	"database/sql"
	"fmt"

	"watchmark/internal/platform/changes"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/scope"
	"watchmark/internal/platform/secret"
	"watchmark/internal/tell/notify/channel"
)

// Subscribe has who asks notified in a browser: it adds a channel by a name, or renews the one that they have of this subscription. One
// that somebody else has of it is removed: whoever holds the browser now decides. Errors are those of CreateChannel.
func (n *Notifier) Subscribe(ctx context.Context, name string, b channel.Browser) (Channel, error) {
	others, err := n.browsers(ctx, `type = ?`, channel.TypeBrowser)
	if err != nil {
		return Channel{}, err
	}
	mine := scope.From(ctx).Person()
	for _, c := range others {
		if !isAt(c, b.Endpoint.Reveal()) {
			continue
		}
		if c.Person == mine {
			c.Config, c.Enabled = secret.Text(b.Plain()), true
			return n.UpdateChannel(ctx, c)
		}
		if err := n.remove(ctx, c); err != nil {
			return Channel{}, err
		}
	}
	return n.CreateChannel(ctx, Channel{Type: channel.TypeBrowser, Name: name, Enabled: true, Config: secret.Text(b.Plain())})
}

// EndBrowser removes the browser of who asks that has an address of a push service, if there is one: who was signed in there is not to be told
// any more.
func (n *Notifier) EndBrowser(ctx context.Context, endpoint string) error {
	own, whose := scope.Owned(ctx, "person_id")
	all, err := n.browsers(ctx, `type = ? AND `+own, append([]any{channel.TypeBrowser}, whose...)...)
	if err != nil {
		return err
	}
	for _, c := range all {
		if !isAt(c, endpoint) {
			continue
		}
		if err := n.remove(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// EndBrowsersTx removes all browsers of a person, 0 for the owner, within tx. A Notifier that does not know of it yet sends them nothing
// either.
func EndBrowsersTx(ctx context.Context, tx *sql.Tx, person int64) error {
	ctx = scope.InOf(ctx, person)
	own, whose := scope.Owned(ctx, "person_id")
	ids, err := db.All(ctx, tx, "remove the browsers of a person", func(row db.Row) (id int64, err error) {
		err = row.Scan(&id)
		return id, err
	},
		`DELETE FROM notification_channels WHERE type = ? AND `+own+` RETURNING id`, append([]any{channel.TypeBrowser}, whose...)...)
	if err != nil || len(ids) == 0 {
		return err
	}
	for _, id := range ids {
		if err := forgetChannel(ctx, tx, id); err != nil {
			return err
		}
	}
	return changes.Raise(ctx, tx, changed)
}

// isAt reports whether a browser has an address of a push service.
func isAt(c Channel, endpoint string) bool {
	config, err := channel.Read(c.Type, c.Config.Reveal())
	b, is := config.(channel.Browser)
	return err == nil && is && b.Endpoint.Reveal() == endpoint
}

func (n *Notifier) browsers(ctx context.Context, where string, args ...any) ([]Channel, error) {
	return db.All(ctx, n.DB.Read(), "list the browsers that are notified", func(row db.Row) (Channel, error) { return n.scanChannel(row) },
		`SELECT `+channelColumns+` FROM notification_channels WHERE `+where+` ORDER BY id`, args...)
}

// removeGone removes a channel whose receiver is no more.
func (n *Notifier) removeGone(ctx context.Context, c Channel, problem reason.Reason) error {
	if err := n.remove(ctx, c); err != nil {
		return err
	}
	n.Log.InfoContext(ctx, "notification channel removed: its receiver is gone", "channel", c.ID, "name", c.Name, "problem", problem)
	return nil
}

// remove is DeleteChannel for a channel of anybody, as it stands: one that was changed meanwhile stays.
func (n *Notifier) remove(ctx context.Context, c Channel) error {
	return n.change(scope.InOf(ctx, c.Person), func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `DELETE FROM notification_channels WHERE id = ? AND version = ?`, c.ID, c.version)
		if err != nil {
			return fmt.Errorf("remove notification channel %d: %w", c.ID, err)
		}
		if removed, err := result.RowsAffected(); err != nil || removed == 0 {
			return err
		}
		return forgetChannel(ctx, tx, c.ID)
	})
}
