package budget

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/replica"
)

// notice is the topic of what is told about bans.
const notice = "budget"

// millionths are those of one request: so a millisecond at one request a minute is still a number.
const millionths = 1_000_000

// each is what a millisecond adds to a budget, in millionths.
func (o Options) each() int64 { return int64(o.PerMinute) * millionths / 60_000 }

// full is how much may go at once, in millionths.
func (o Options) full() int64 { return int64(o.Burst) * millionths }

// reserve is how much of the budget is left to what somebody waits for; the background takes what is above it.
func (o Options) reserve() int { return o.Burst / 2 }

// room is how much might if no replica had anything in hand.
func (o Options) room() int64 {
	if o.Ceiling == 0 {
		return math.MaxInt32 * millionths
	}
	return int64(o.Ceiling-10*o.PerMinute) * millionths
}

// taken is what came of asking for requests.
type taken struct {
	n int
	// wait is after what time there may be one, when there was none.
	wait time.Duration
	ban  Ban
}

// takeTokens takes as many requests as there are, a handful at most, unless there is a ban; the background leaves some. Others may take at the
// same time: the second statement locks the row.
func takeTokens(ctx context.Context, d *db.DB, n name, o Options, background bool) (got taken, err error) {
	err = d.WriteShared(ctx, func(ctx context.Context, tx *sql.Tx) error {
		got = taken{}
		var live int64
		if err := tx.QueryRowContext(ctx, `SELECT `+replica.CountOn, n.egress(), n.egress()).Scan(&live); err != nil {
			return err
		}
		most := max(millionths, min(o.room()-handful*millionths*live, o.full()))
		left := int64(0)
		if background {
			left = most / millionths * int64(o.reserve()) / int64(o.Burst) * millionths
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO budgets (host, egress, tokens, at) VALUES (?, ?, CAST(? AS BIGINT), now_ms())
			ON CONFLICT (host, egress) DO UPDATE SET at = now_ms(), tokens = CASE
				WHEN now_ms() < budgets.at THEN budgets.tokens
				WHEN budgets.tokens + (now_ms() - budgets.at) * CAST(? AS BIGINT) > excluded.tokens THEN excluded.tokens
				ELSE budgets.tokens + (now_ms() - budgets.at) * CAST(? AS BIGINT) END`,
			n.host, n.by, most, o.each(), o.each())
		if err != nil {
			return err
		}
		err = tx.QueryRowContext(ctx, `UPDATE budgets SET taken = CASE WHEN tokens - CAST(? AS BIGINT) > CAST(? AS BIGINT) THEN CAST(? AS BIGINT) ELSE tokens - CAST(? AS BIGINT) END / 1000000,
				tokens = tokens - CASE WHEN tokens - CAST(? AS BIGINT) > CAST(? AS BIGINT) THEN CAST(? AS BIGINT) ELSE tokens - CAST(? AS BIGINT) - tokens % 1000000 END
			WHERE host = ? AND egress = ? AND tokens - CAST(? AS BIGINT) >= 1000000 AND banned_until <= now_ms() RETURNING taken`,
			left, handful*millionths, handful*millionths, left, left, handful*millionths, handful*millionths, left, n.host, n.by, left).Scan(&got.n)
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		var tokens int64
		got.ban, err = scanBan(tx.QueryRowContext(ctx, `SELECT `+banColumns+`, tokens FROM budgets WHERE host = ? AND egress = ?`, n.host, n.by), &tokens)
		got.wait = time.Duration(max(0, left+millionths-tokens)/o.each()) * time.Millisecond
		return err
	})
	if err != nil {
		return taken{}, fmt.Errorf("take of the budget of requests: %w", err)
	}
	return got, nil
}

// banColumns are read by scanBan: how long ago and in how long, by the database's clock.
const banColumns = `banned_since - now_ms(), banned_until - now_ms(), trial_at - now_ms()`

// scanBan reads banColumns and more.
func scanBan(row interface{ Scan(into ...any) error }, more ...any) (Ban, error) {
	var since, until, trial int64
	if err := row.Scan(append([]any{&since, &until, &trial}, more...)...); err != nil || until <= 0 {
		return Ban{}, err
	}
	now := time.Now()
	in := func(ms int64) time.Time { return now.Add(time.Duration(ms) * time.Millisecond) }
	return Ban{Since: in(since), Until: in(until), Trial: in(trial)}, nil
}

// readBans are those that hold.
func readBans(ctx context.Context, d *db.DB) (map[name]Ban, error) {
	rows, err := d.Read().QueryContext(ctx, `SELECT `+banColumns+`, host, egress FROM budgets WHERE banned_until > now_ms()`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	bans := map[name]Ban{}
	for rows.Next() {
		var n name
		ban, err := scanBan(rows, &n.host, &n.by)
		if err != nil {
			return nil, err
		}
		bans[n] = ban
	}
	return bans, rows.Err()
}

// takeTrial reports whether the caller may look whether the ban is over: one replica at a time may. ban is the one that holds then.
func takeTrial(ctx context.Context, d *db.DB, n name) (trial bool, ban Ban, err error) {
	err = d.WriteShared(ctx, func(ctx context.Context, tx *sql.Tx) error {
		trial = true
		var err error
		ban, err = scanBan(tx.QueryRowContext(ctx, `UPDATE budgets SET trial_at = now_ms() + CASE
				WHEN now_ms() - banned_since < CAST(? AS BIGINT) THEN CAST(? AS BIGINT)
				WHEN now_ms() - banned_since > CAST(? AS BIGINT) THEN CAST(? AS BIGINT) ELSE now_ms() - banned_since END
			WHERE host = ? AND egress = ? AND banned_until > now_ms() AND trial_at <= now_ms() RETURNING `+banColumns,
			firstTrial.Milliseconds(), firstTrial.Milliseconds(), lastTrial.Milliseconds(), lastTrial.Milliseconds(), n.host, n.by))
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		trial = false
		ban, err = scanBan(tx.QueryRowContext(ctx, `SELECT `+banColumns+` FROM budgets WHERE host = ? AND egress = ?`, n.host, n.by))
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	if err != nil {
		return false, Ban{}, fmt.Errorf("look whether a ban is over: %w", err)
	}
	return trial, ban, nil
}

// storeBan begins a ban, or prolongs it; after is as in Refused.
func storeBan(ctx context.Context, tx *sql.Tx, n name, after time.Duration) error {
	ban, trial := banTime, firstTrial
	if after > 0 {
		ban, trial = after, after
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO budgets (host, egress, at, banned_since, banned_until, trial_at)
			VALUES (?, ?, now_ms(), now_ms(), now_ms() + CAST(? AS BIGINT), now_ms() + CAST(? AS BIGINT))
		ON CONFLICT (host, egress) DO UPDATE SET banned_until = excluded.banned_until,
			banned_since = CASE WHEN budgets.banned_until > now_ms() THEN budgets.banned_since ELSE excluded.banned_since END,
			trial_at = CASE WHEN budgets.banned_until > now_ms() AND budgets.trial_at > excluded.trial_at THEN budgets.trial_at ELSE excluded.trial_at END`,
		n.host, n.by, ban.Milliseconds(), trial.Milliseconds())
	return err
}

// storeLift ends a ban.
func storeLift(ctx context.Context, tx *sql.Tx, n name) error {
	_, err := tx.ExecContext(ctx, `UPDATE budgets SET banned_until = 0 WHERE host = ? AND egress = ?`, n.host, n.by)
	return err
}

// Prune removes what is known of accounts that nothing was sent for in a day, limit of them at most: a new row would be the same.
func (b *Budget) Prune(ctx context.Context, limit int) (removed int64, err error) {
	const kept = 24 * time.Hour
	err = b.cfg.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `DELETE FROM budgets WHERE (host, egress) IN (SELECT host, egress FROM budgets
			WHERE at < now_ms() - CAST(? AS BIGINT) AND banned_until <= now_ms() AND egress LIKE 'account:%' LIMIT ?)`, kept.Milliseconds(), limit)
		if err != nil {
			return err
		}
		removed, err = result.RowsAffected()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("forget budgets of accounts: %w", err)
	}
	return removed, nil
}
