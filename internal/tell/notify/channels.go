package notify

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/scope"
	"watchmark/internal/platform/secret"
	"watchmark/internal/tell/notify/channel"
)

// The errors a caller branches on.
var (
	// ErrNotFound is returned when no channel, rule, notice or delivery has the id asked for.
	// ErrFull is returned for one channel or rule more than there may be.
	ErrFull    = tooManyRules.With(maxChannels, maxRules)
	errOwnFull = tooManyRules.With(maxOwnChannels, maxOwnRules)
	// ErrNotFailed is returned by Resend for a delivery that did not fail.
	// ErrOff is returned by Resend when the channel of the delivery is switched off.
)

// What is kept at most: every notice is held against every rule.
const (
	maxChannels = 50
	maxRules    = 100
	// Of one person.
	maxOwnChannels = 5
	maxOwnRules    = 10
	maxName        = 100
	maxConfig      = 64 << 10
)

// Channel is a place that messages are sent to.
type Channel struct {
	ID int64
	// Person is whose it is, who alone is told by it; 0 is the owner.
	Person  int64
	Type    channel.Type
	Name    string
	Enabled bool
	// Config is the JSON of the type's configuration in package channel. It is empty when it cannot be opened;
	// Paused tells why.
	Config secret.Text

	// Paused says why nothing is sent until a person mends the channel, in plain words; empty when it works.
	// Changing it, or a test that works, resumes it.
	Paused reason.Reason
	// LastError is the newest failure, empty when the last message arrived; LastErrorAt when that was.
	LastError   reason.Reason
	LastErrorAt time.Time
	// LastSentAt is when a message last arrived; zero for never.
	LastSentAt time.Time
	// RetryAt is when it is tried again after a failure; zero when nothing holds it up.
	RetryAt time.Time
	// Waiting is how many notices wait for it.
	Waiting   int
	CreatedAt time.Time
	UpdatedAt time.Time

	version  int64
	failures int
	dropped  int
}

// channelPlace binds a sealed config to its row.
func channelPlace(id int64) string {
	return "notification_channels/config/" + strconv.FormatInt(id, 10)
}

const channelColumns = `id, COALESCE(person_id, 0), type, name, enabled, config, version, paused, last_error, last_error_at, last_sent_at, failures, retry_at, dropped, created_at, updated_at`

// scanChannel reads channelColumns, and more after them.
func (n *Notifier) scanChannel(row db.Row, more ...any) (Channel, error) {
	var c Channel
	var sealed string
	var lastError, lastSent, retry, created, updated int64
	err := row.Scan(append([]any{&c.ID, &c.Person, &c.Type, &c.Name, &c.Enabled, &sealed, &c.version, &c.Paused, &c.LastError, &lastError, &lastSent, &c.failures, &retry, &c.dropped, &created, &updated}, more...)...)
	if errors.Is(err, sql.ErrNoRows) {
		return Channel{}, ErrNotFound
	}
	if err != nil {
		return Channel{}, fmt.Errorf("read a notification channel: %w", err)
	}
	c.LastErrorAt, c.LastSentAt, c.RetryAt = timeOrZero(lastError), timeOrZero(lastSent), timeOrZero(retry)
	c.CreatedAt, c.UpdatedAt = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
	plain, err := n.Box.Open(sealed, channelPlace(c.ID))
	if err != nil {
		c.Paused = reason.Of(err)
		return c, nil // it is a state of the channel, which people see
	}
	c.Config = secret.Text(plain)
	return c, nil
}

// scanWithWaiting reads channelColumns and waitingOf.
func (n *Notifier) scanWithWaiting(row db.Row) (Channel, error) {
	var waiting int
	c, err := n.scanChannel(row, &waiting)
	c.Waiting = waiting
	return c, err
}

func timeOrZero(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

const waitingOf = `(SELECT COUNT(*) FROM deliveries WHERE channel_id = notification_channels.id AND state = 'waiting')`

// Channels lists all channels of who asks, the oldest first.
func (n *Notifier) Channels(ctx context.Context) ([]Channel, error) {
	own, whose := scope.Owned(ctx, "person_id")
	return db.All(ctx, n.DB.Read(), "list the notification channels", n.scanWithWaiting,
		`SELECT `+channelColumns+`, `+waitingOf+` FROM notification_channels WHERE `+own+` ORDER BY id`, whose...)
}

// Channel is the channel with id, if it belongs to who asks, or ErrNotFound.
func (n *Notifier) Channel(ctx context.Context, id int64) (Channel, error) {
	own, whose := scope.Owned(ctx, "person_id")
	return n.scanWithWaiting(n.DB.Read().QueryRowContext(ctx, `SELECT `+channelColumns+`, `+waitingOf+` FROM notification_channels WHERE id = ? AND `+own,
		append([]any{id}, whose...)...))
}

// CreateChannel adds a channel of who asks by its type, name, whether it is enabled, and config. A person's first one comes with the
// first rule. It returns a *reason.FieldError for what cannot work, and ErrFull.
func (n *Notifier) CreateChannel(ctx context.Context, c Channel) (Channel, error) {
	c.Person = scope.From(ctx).Person()
	if err := n.checkChannel(&c); err != nil {
		return Channel{}, err
	}
	err := n.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		count, err := roomFor(ctx, tx, "notification_channels", maxChannels, maxOwnChannels)
		if err != nil {
			return err
		}
		if count == 0 && c.Person != 0 {
			if err := beginRules(ctx, tx); err != nil {
				return err
			}
		}
		now := time.Now().UnixMilli()
		err = tx.QueryRowContext(ctx, `INSERT INTO notification_channels (person_id, type, name, enabled, version, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id`,
			personColumn(ctx), c.Type, c.Name, c.Enabled, now, now, now).Scan(&c.ID) // the version is the time, for the id of a deleted channel may come again
		if err != nil {
			return fmt.Errorf("store a notification channel: %w", err)
		}
		sealed := n.Box.Seal(c.Config.Reveal(), channelPlace(c.ID)) // bound to the id, which is known only now
		if _, err := tx.ExecContext(ctx, `UPDATE notification_channels SET config = ? WHERE id = ?`, sealed, c.ID); err != nil {
			return fmt.Errorf("store the config of a notification channel: %w", err)
		}
		return nil
	})
	if err != nil {
		return Channel{}, err
	}
	return n.Channel(ctx, c.ID)
}

// UpdateChannel replaces name, enabled and config of the channel with c.ID; its type stays. That resumes a paused one;
// what waits for one that is switched off is dropped. It returns a *reason.FieldError or ErrNotFound.
func (n *Notifier) UpdateChannel(ctx context.Context, c Channel) (Channel, error) {
	old, err := n.Channel(ctx, c.ID)
	if err != nil {
		return Channel{}, err
	}
	c.Type, c.Person = old.Type, old.Person
	if err := n.checkChannel(&c); err != nil {
		return Channel{}, err
	}
	n.mask(c.ID, old, c)
	sealed := n.Box.Seal(c.Config.Reveal(), channelPlace(c.ID))
	own, whose := scope.Owned(ctx, "person_id")
	err = n.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `UPDATE notification_channels SET name = ?, enabled = ?, config = ?, version = version + 1, paused = '', last_error = '',
			last_error_at = 0, failures = 0, retry_at = 0, updated_at = ? WHERE id = ? AND `+own, append([]any{c.Name, c.Enabled, sealed, time.Now().UnixMilli(), c.ID}, whose...)...)
		if err != nil {
			return fmt.Errorf("store notification channel %d: %w", c.ID, err)
		}
		if err := oneRow(result); err != nil {
			return err
		}
		return hurry(ctx, tx, c.ID)
	})
	if err != nil {
		return Channel{}, err
	}
	return n.Channel(ctx, c.ID)
}

// DeleteChannel removes a channel with what waits for it and what is known of what it was sent. Rules that named it do
// so no more; one that named no other is switched off, for without names it would be for all. It returns ErrNotFound.
func (n *Notifier) DeleteChannel(ctx context.Context, id int64) error {
	return n.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		own, whose := scope.Owned(ctx, "person_id")
		result, err := tx.ExecContext(ctx, `DELETE FROM notification_channels WHERE id = ? AND `+own, append([]any{id}, whose...)...)
		if err != nil {
			return fmt.Errorf("delete notification channel %d: %w", id, err)
		}
		if err := oneRow(result); err != nil {
			return err
		}
		return forgetChannel(ctx, tx, id)
	})
}

// roomFor counts the rows of who asks in a table, and returns ErrFull, or the same for a person, where there may be no more.
func roomFor(ctx context.Context, tx *sql.Tx, table string, most, mostOwn int) (count int, err error) {
	own, whose := scope.Owned(ctx, "person_id")
	if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM `+table+` WHERE `+own, whose...).Scan(&count); err != nil {
		return 0, fmt.Errorf("count the rows of %s: %w", table, err)
	}
	switch whole := scope.From(ctx).Whole(); {
	case whole && count >= most:
		return count, ErrFull
	case !whole && count >= mostOwn:
		return count, errOwnFull
	}
	return count, nil
}

// personColumn is what the column of a new row is that says whose it is.
func personColumn(ctx context.Context) any {
	if s := scope.From(ctx); !s.Whole() {
		return s.Person()
	}
	return nil
}

func oneRow(result sql.Result) error {
	count, err := result.RowsAffected()
	if err == nil && count == 0 {
		return ErrNotFound
	}
	return err
}

// checkChannel returns a *reason.FieldError for a channel that cannot be used.
func (n *Notifier) checkChannel(c *Channel) error {
	c.Name = strings.TrimSpace(c.Name)
	if err := checkName(c.Name); err != nil {
		return err
	}
	if len(c.Config) > maxConfig {
		return reason.At("config", configTooLarge.With(maxConfig))
	}
	if _, err := n.Open(*c); err != nil {
		var field *reason.FieldError
		if errors.As(err, &field) {
			return err
		}
		return reason.At("config", err)
	}
	return nil
}

func checkName(name string) error {
	switch {
	case name == "":
		return reason.At("name", nameMissing.With())
	case utf8.RuneCountInString(name) > maxName || oneLine(name) != name:
		return reason.At("name", nameTooLong.With(maxName))
	}
	return nil
}

// mask tells the masker what is secret in the channel with id; without a config it holds nothing any more.
func (n *Notifier) mask(id int64, configs ...Channel) {
	var secrets []string
	for _, c := range configs {
		secrets = append(secrets, n.Secrets(c)...)
	}
	n.Masker.Hold(channelPlace(id), secrets...)
}

// OpenWith is an Open of Config that sends with tools, and what is a person's with others.
func OpenWith(tools, ofPeople *channel.Tools) func(Channel) (channel.Sender, error) {
	return func(c Channel) (channel.Sender, error) {
		with := tools
		if c.Person != 0 {
			with = ofPeople
		}
		config, err := channel.Read(c.Type, c.Config.Reveal())
		if err != nil {
			return nil, err
		}
		if err := with.Check(config); err != nil {
			return nil, err
		}
		return config.Open(with), nil
	}
}

// SecretsOf is the Secrets of Config for all types of channels. A config that cannot be read has none: nothing is sent with it either.
func SecretsOf(c Channel) []string {
	config, err := channel.Read(c.Type, c.Config.Reveal())
	if err != nil {
		return nil
	}
	return config.Secrets()
}
