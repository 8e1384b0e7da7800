package notify

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"math"
	randv2 "math/rand/v2"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/tell/notify/channel"
)

// withWork are the channels that something waits for.
func (n *Notifier) withWork(ctx context.Context) ([]Channel, error) {
	return db.All(ctx, n.DB.Read(), "list the notification channels with work", func(row db.Row) (Channel, error) { return n.scanChannel(row) },
		`SELECT `+channelColumns+` FROM notification_channels
		WHERE EXISTS (SELECT 1 FROM deliveries WHERE channel_id = notification_channels.id AND state = 'waiting') ORDER BY id`)
}

// groups are what waits for a channel.
func (n *Notifier) groups(ctx context.Context, channelID int64) ([]group, error) {
	return db.All(ctx, n.DB.Read(), fmt.Sprintf("read what waits for notification channel %d", channelID), func(row db.Row) (g group, err error) {
		var created, due int64
		err = row.Scan(&g.rule, &g.message, &g.count, &g.first, &created, &due, &g.tries)
		g.created, g.due = time.UnixMilli(created), time.UnixMilli(due)
		return g, err
	}, `SELECT rule_id, message_id, COUNT(*), MIN(id), MIN(created_at), MAX(due_at), MAX(tries) FROM deliveries
		WHERE channel_id = ? AND state = 'waiting' GROUP BY rule_id, message_id`, channelID)
}

// claim makes a message of what waits in a group, which is Sending when it returns. Nothing is in it when that went away
// meanwhile.
func (n *Notifier) claim(ctx context.Context, c Channel, g group) (parcel, error) {
	var p parcel
	err := n.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		p = parcel{channel: c, message: g.message}
		if g.rule != 0 {
			rule, known := n.current.Load().known[g.rule]
			if !known {
				return nil
			}
			p.rule = rule
		}
		last, oldest, err := p.load(ctx, tx, g)
		if err != nil || len(p.entries) == 0 {
			return err
		}
		// A message that was tried keeps what is in it: its receiver may know it already.
		p.digest = len(p.entries) > 1 && (p.message != "" || isDigest(len(p.entries), p.rule, oldest) && c.holdsSeveral())
		if !p.digest {
			p.entries, last = p.entries[:1], p.first
		}
		if p.digest {
			err := tx.QueryRowContext(ctx, `SELECT dropped FROM notification_channels WHERE id = ?`, c.ID).Scan(&p.dropped)
			if err != nil {
				return fmt.Errorf("read notification channel %d: %w", c.ID, err)
			}
		}
		if p.message == "" {
			p.message = rand.Text()
		}
		now := time.Now().UnixMilli()
		_, err = tx.ExecContext(ctx, `UPDATE deliveries SET state = 'sending', owner = ?, message_id = ?, tries = tries + 1, updated_at = ?,
			tried_at = CASE WHEN tried_at = 0 THEN ? ELSE tried_at END
			WHERE state = 'waiting' AND channel_id = ? AND rule_id = ? AND message_id = ? AND id <= ?`, n.Holds.Incarnation(), p.message, now, now, c.ID, g.rule, g.message, last)
		if err != nil {
			return fmt.Errorf("begin to send to notification channel %d: %w", c.ID, err)
		}
		return nil
	})
	return p, err
}

// holdsSeveral reports whether one message of the channel can tell several notices.
func (c Channel) holdsSeveral() bool {
	config, err := channel.Read(c.Type, c.Config.Reveal())
	return err != nil || channel.HoldsSeveral(config) // what cannot be read cannot be sent either
}

// load reads the notices of a group.
func (p *parcel) load(ctx context.Context, tx *sql.Tx, g group) (last int64, oldest time.Time, err error) {
	err = db.Each(ctx, tx, fmt.Sprintf("read what waits for notification channel %d", p.channel.ID), func(row db.Row) error {
		var created, tried int64
		var tries int
		e, err := scanEntry(row, &last, &created, &tries, &tried)
		if err != nil {
			return err
		}
		if len(p.entries) == 0 {
			oldest, p.tries, p.since = time.UnixMilli(created), tries+1, timeOrZero(tried)
			p.first = last
		}
		e.toPerson = p.channel.Person != 0
		p.entries = append(p.entries, e)
		return nil
	}, `SELECT `+entryColumns+`, d.id, d.created_at, d.tries, d.tried_at FROM deliveries d JOIN notices ON notices.id = d.notice_id
		WHERE d.state = 'waiting' AND d.channel_id = ? AND d.rule_id = ? AND d.message_id = ? ORDER BY d.id LIMIT ?`, p.channel.ID, g.rule, g.message, maxWaiting)
	return last, oldest, err
}

// outcome is what becomes of a parcel.
type outcome struct {
	state   State // Waiting for another try
	problem reason.Reason
	// pause stops the channel until a person mends it, and lets what was in the message be gathered anew.
	pause bool
	// gone removes the channel, with what waits for it: its receiver is no more.
	gone bool
	// due is when the message is tried again; hold is how long its channel is left alone.
	due, hold time.Duration
}

const (
	firstBackoff   = 30 * time.Second
	longestBackoff = time.Hour
	// giveUp is how long a message is tried.
	giveUp = 3 * 24 * time.Hour
	// maxProblem bounds what is kept of an error, in bytes.
	maxProblem = 600
)

// backoff is how long to wait after so many failures, with up to a quarter of jitter.
func backoff(failures int) time.Duration {
	wait := min(firstBackoff<<min(max(failures-1, 0), 10), longestBackoff)
	return min(wait+randv2.N(wait/4), longestBackoff)
}

// judge says what becomes of a parcel after trySend.
func (n *Notifier) judge(p parcel, err error) outcome {
	if err == nil {
		return outcome{state: Sent}
	}
	if errors.Is(err, errCut) {
		return outcome{state: Unsure, problem: reason.Of(err)}
	}
	problem := problemOf(err)
	var failure *channel.Failure
	switch {
	case !errors.As(err, &failure):
	case failure.Blame == channel.Unsure:
		return outcome{state: Unsure, problem: problem}
	case failure.Blame == channel.OfMessage:
		return outcome{state: Failed, problem: problem}
	case failure.Blame == channel.OfChannel:
		return outcome{state: Waiting, problem: problem, pause: true}
	case failure.Blame == channel.Gone:
		return outcome{state: Failed, problem: problem, gone: true}
	}
	o := outcome{state: Waiting, problem: problem, due: backoff(p.tries), hold: backoff(p.channel.failures + 1)}
	if failure != nil {
		o.hold = min(max(o.hold, failure.RetryAfter), longestPause)
	}
	if !p.since.IsZero() && time.Since(p.since) > giveUp {
		o.state, o.problem = Failed, triedForThreeDays.With(problem)
	}
	return o
}

// problemOf is the error as it is kept.
func problemOf(err error) reason.Reason {
	return reason.Of(err).Masked(func(text string) string { return cut(text, maxProblem) })
}

// settle stores what became of a parcel, at the latest when the database takes it again; what it does not take until
// the service ends is unsure from then on.
func (n *Notifier) settle(ctx context.Context, p parcel, o outcome) {
	for {
		err := n.DB.Write(context.WithoutCancel(ctx), func(ctx context.Context, tx *sql.Tx) error { return p.store(ctx, tx, o) })
		if err == nil {
			break
		}
		n.Log.ErrorContext(ctx, "cannot store what became of a message, trying again", "channel", p.channel.ID, "error", err)
		if ctx.Err() != nil || errors.Is(err, db.ErrClosed) || errors.Is(err, db.ErrEvicted) { // then it is unsure
			return
		}
		sleep(ctx, storeAgain)
	}
	n.Sent.Add(1, string(p.channel.Type), string(o.state))
	if o.gone {
		if err := n.removeGone(context.WithoutCancel(ctx), p.channel, o.problem); err != nil { // the next message finds it out again
			n.Log.ErrorContext(ctx, "cannot remove a notification channel whose receiver is gone", "channel", p.channel.ID, "error", err)
		}
		return
	}
	switch {
	case o.pause:
		n.Log.WarnContext(ctx, "notification channel paused until it is mended or a test of it works", "channel", p.channel.ID, "name", p.channel.Name, "problem", o.problem)
	case o.state == Sent:
		n.Log.InfoContext(ctx, "notices sent", "channel", p.channel.ID, "notices", len(p.entries))
	default:
		n.Log.WarnContext(ctx, "notices not sent", "channel", p.channel.ID, "name", p.channel.Name, "notices", len(p.entries), "state", o.state, "problem", o.problem)
	}
}

// store writes what became of a parcel. A channel that was changed meanwhile is judged by its next message.
func (p parcel) store(ctx context.Context, tx *sql.Tx, o outcome) error {
	now := time.Now()
	if o.state == Failed {
		if err := p.giveBack(ctx, tx); err != nil {
			return err
		}
	}
	deliveries := `UPDATE deliveries SET state = ?, problem = ?, due_at = ?, updated_at = ?`
	if o.pause {
		deliveries += `, message_id = '', tries = 0, tried_at = 0`
	}
	if p.message != "" {
		_, err := tx.ExecContext(ctx, deliveries+` WHERE state = 'sending' AND message_id = ?`, o.state, o.problem, now.Add(o.due).UnixMilli(), now.UnixMilli(), p.message)
		if err != nil {
			return fmt.Errorf("store what became of a message: %w", err)
		}
	}
	statement, args := `UPDATE notification_channels SET last_error = ?, last_error_at = ?`, []any{o.problem, now.UnixMilli()}
	switch {
	case o.state == Sent:
		statement = `UPDATE notification_channels SET last_error = '', last_error_at = 0, last_sent_at = ?, failures = 0, retry_at = 0, dropped = dropped - ?`
		args = []any{now.UnixMilli(), p.dropped}
	case o.pause:
		statement += `, paused = ?, failures = 0, retry_at = 0`
		args = append(args, o.problem)
	case o.hold > 0:
		statement += `, failures = ?, retry_at = ?`
		args = append(args, min(p.channel.failures+1, math.MaxInt16), now.Add(o.hold).UnixMilli())
	}
	if _, err := tx.ExecContext(ctx, statement+` WHERE id = ? AND version = ?`, append(args, p.channel.ID, p.channel.version)...); err != nil {
		return fmt.Errorf("store how notification channel %d is: %w", p.channel.ID, err)
	}
	return nil
}

// giveBack ends the cooldowns of what a message was to tell and nobody else told or tells.
func (p parcel) giveBack(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM notification_cooldowns WHERE rule_id = ?
		AND notice_id IN (SELECT notice_id FROM deliveries WHERE state = 'sending' AND message_id = ?)
		AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.notice_id = notification_cooldowns.notice_id AND d.message_id <> ?
			AND d.rule_id = notification_cooldowns.rule_id AND d.state IN ('waiting', 'sending', 'sent', 'unsure'))`, p.rule.ID, p.message, p.message)
	if err != nil {
		return fmt.Errorf("give cooldowns back: %w", err)
	}
	return nil
}

// hurry lets what waits for a channel be tried at once.
func hurry(ctx context.Context, tx *sql.Tx, channelID int64) error {
	if _, err := tx.ExecContext(ctx, `UPDATE deliveries SET due_at = 0 WHERE state = 'waiting' AND channel_id = ? AND due_at > 0`, channelID); err != nil {
		return fmt.Errorf("hurry notification channel %d: %w", channelID, err)
	}
	return nil
}

// dropAll drops what waits for a channel that is off.
func (n *Notifier) dropAll(ctx context.Context, channelID int64) error {
	return n.exec(ctx, `UPDATE deliveries SET state = 'dropped', problem = ?, updated_at = ?
		WHERE state = 'waiting' AND channel_id = ? AND channel_id IN (SELECT id FROM notification_channels WHERE enabled = 0)`, channelSwitchedOff.With(), time.Now().UnixMilli(), channelID)
}

// dropGroup drops what waits for a channel by a rule that is gone or off.
func (n *Notifier) dropGroup(ctx context.Context, channelID, ruleID int64) error {
	return n.exec(ctx, `UPDATE deliveries SET state = 'dropped', problem = ?, updated_at = ?
		WHERE state = 'waiting' AND channel_id = ? AND rule_id = ? AND rule_id NOT IN (SELECT id FROM notification_rules WHERE enabled = 1)`, ruleGone.With(), time.Now().UnixMilli(), channelID, ruleID)
}

// dropOldest drops the oldest of what waits for a channel and is too much.
func (n *Notifier) dropOldest(ctx context.Context, channelID int64) error {
	return n.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `UPDATE deliveries SET state = 'dropped', problem = ?, updated_at = ? WHERE state = 'waiting' AND channel_id = ?
			AND id <= (SELECT id FROM deliveries WHERE state = 'waiting' AND channel_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?)`,
			tooManyWaited.With(maxWaiting), time.Now().UnixMilli(), channelID, channelID, maxWaiting)
		if err != nil {
			return fmt.Errorf("drop what is too much for notification channel %d: %w", channelID, err)
		}
		dropped, err := result.RowsAffected()
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE notification_channels SET dropped = dropped + ? WHERE id = ?`, dropped, channelID); err != nil {
			return fmt.Errorf("count what was dropped for notification channel %d: %w", channelID, err)
		}
		return nil
	})
}
