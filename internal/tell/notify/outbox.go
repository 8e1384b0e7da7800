package notify

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/scope"
)

// State is how a delivery stands.
type State string

// The states. Unsure was being sent when its replica ended: it may have arrived, and only a person sends it again.
// Dropped was not sent: too much waited for the channel, or channel or rule were switched off.
const (
	Waiting State = "waiting"
	Sending State = "sending"
	Sent    State = "sent"
	Failed  State = "failed"
	Unsure  State = "unsure"
	Dropped State = "dropped"
)

// Delivery is one notice on its way to one channel.
type Delivery struct {
	ID        int64
	ChannelID int64
	// Channel is the name of the channel.
	Channel string
	// RuleID is the rule that told it; 0 for what went past the rules.
	RuleID int64
	State  State
	Tries  int
	// Problem is why it was not sent, in plain words.
	Problem   reason.Reason
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Deliveries are those of a notice to the channels of who asks, in the order they were stored.
func (n *Notifier) Deliveries(ctx context.Context, noticeID int64) ([]Delivery, error) {
	whose, args := scope.Owned(ctx, "c.person_id")
	return db.All(ctx, n.DB.Read(), fmt.Sprintf("list the deliveries of notice %d", noticeID), func(row db.Row) (d Delivery, err error) {
		var created, updated int64
		err = row.Scan(&d.ID, &d.ChannelID, &d.Channel, &d.RuleID, &d.State, &d.Tries, &d.Problem, &created, &updated)
		d.CreatedAt, d.UpdatedAt = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
		return d, err
	}, `SELECT d.id, d.channel_id, c.name, d.rule_id, d.state, d.tries, d.problem, d.created_at, d.updated_at
		FROM deliveries d JOIN notification_channels c ON c.id = d.channel_id WHERE d.notice_id = ? AND `+whose+` ORDER BY d.id`, append([]any{noticeID}, args...)...)
}

// Resendable returns ErrNotFound unless there is a delivery of a notice to a channel that both are of who asks.
func (n *Notifier) Resendable(ctx context.Context, deliveryID int64) error {
	_, _, err := n.delivery(ctx, n.DB.Read(), deliveryID)
	return err
}

// delivery is how a delivery of who asks stands, and whether its channel is enabled.
func (n *Notifier) delivery(ctx context.Context, from db.Querier, id int64) (state State, enabled bool, err error) {
	own, whose := scope.Owned(ctx, "c.person_id")
	reached, more := within(ctx)
	err = from.QueryRowContext(ctx, `SELECT d.state, c.enabled FROM deliveries d JOIN notification_channels c ON c.id = d.channel_id JOIN notices ON notices.id = d.notice_id
		WHERE d.id = ? AND `+own+` AND `+reached, slices.Concat([]any{id}, whose, more)...).Scan(&state, &enabled)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		err = ErrNotFound
	case err != nil:
		err = fmt.Errorf("read delivery %d: %w", id, err)
	}
	return state, enabled, err
}

// Resend sends a delivery again that failed, was dropped, or may not have arrived: by a message of its own, whatever
// the rules say now. It returns ErrNotFound, ErrNotFailed or ErrOff, or to a person who does so too often errTooOften.
func (n *Notifier) Resend(ctx context.Context, deliveryID int64) error {
	if err := n.MayTry(ctx, 1); err != nil {
		return err
	}
	err := n.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		state, enabled, err := n.delivery(ctx, tx, deliveryID)
		switch {
		case err != nil:
			return err
		case state != Failed && state != Unsure && state != Dropped:
			return ErrNotFailed
		case !enabled:
			return ErrOff
		}
		now := time.Now().UnixMilli()
		_, err = tx.ExecContext(ctx, `UPDATE deliveries SET state = 'waiting', rule_id = 0, message_id = '', tries = 0, tried_at = 0, due_at = 0, problem = '', created_at = ?, updated_at = ?
			WHERE id = ?`, now, now, deliveryID)
		if err != nil {
			return fmt.Errorf("send delivery %d again: %w", deliveryID, err)
		}
		return nil
	})
	if err == nil {
		n.Wake()
	}
	return err
}

// dropForeign drops what waits for the channel of a person and is not theirs any more: their account was given to somebody else, or they
// sign in no more.
func (n *Notifier) dropForeign(ctx context.Context, c Channel) error {
	if c.Person == 0 {
		return nil
	}
	theirs, args := within(scope.In(ctx, scope.Of(c.Person)))
	foreign := ` FROM deliveries d JOIN notices ON notices.id = d.notice_id WHERE d.state = 'waiting' AND d.channel_id = ?
		AND NOT (` + theirs + ` AND ` + account.SignsIn("?") + `)`
	args = slices.Concat([]any{c.ID}, args, []any{c.Person})
	var some bool
	if err := n.DB.Read().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1`+foreign+`)`, args...).Scan(&some); err != nil || !some {
		return err
	}
	return n.exec(ctx, `UPDATE deliveries SET state = 'dropped', problem = ?, updated_at = ? WHERE id IN (SELECT d.id`+foreign+`)`,
		append([]any{notYours.With(), time.Now().UnixMilli()}, args...)...)
}

// FreeTx makes unsure what dead incarnations had begun to send and not ended, within tx: it may have arrived.
func FreeTx(ctx context.Context, tx *sql.Tx, dead []int64) error {
	list, args := db.In(dead)
	_, err := tx.ExecContext(ctx, `UPDATE deliveries SET state = 'unsure', problem = ?, updated_at = ? WHERE state = 'sending' AND owner IN `+list,
		append([]any{errCut.With(), time.Now().UnixMilli()}, args...)...)
	if err != nil {
		return fmt.Errorf("take for unsure what evicted replicas sent: %w", err)
	}
	return nil
}

// dropOfRule drops what waits for a rule that is gone or off.
func dropOfRule(ctx context.Context, tx *sql.Tx, ruleID int64) error {
	_, err := tx.ExecContext(ctx, `UPDATE deliveries SET state = 'dropped', problem = ?, updated_at = ?
		WHERE state = 'waiting' AND channel_id IN (SELECT id FROM notification_channels) AND rule_id = ?`, ruleGone.With(), time.Now().UnixMilli(), ruleID)
	if err != nil {
		return fmt.Errorf("drop what waits for notification rule %d: %w", ruleID, err)
	}
	return nil
}
