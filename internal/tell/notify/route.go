package notify

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/scope"
)

// standing is what AddTx needs to know of rules and channels. It never changes.
type standing struct {
	of    map[int64]*standingOf // by person; 0 is the owner
	known map[int64]Rule        // the enabled rules by id
	// people has the kinds that rules of people tell, and with the empty one every kind.
	people map[Kind]bool
}

// standingOf is what one person has, or the owner.
type standingOf struct {
	rules []Rule  // enabled ones, in the order of their ids
	all   []int64 // the ids of the enabled channels, in order
}

// whose is what somebody has.
func (s *standing) whose(person int64) *standingOf {
	if own := s.of[person]; own != nil {
		return own
	}
	return &standingOf{}
}

// add is what somebody has, to add to it.
func (s *standing) add(person int64) *standingOf {
	if s.of[person] == nil {
		s.of[person] = &standingOf{}
	}
	return s.of[person]
}

// goesOut reports whether a notice may be for a channel; whose it is, the database knows.
func (s *standing) goesOut(notice Notice) bool {
	if notice.Person != 0 {
		return len(notice.Channels) > 0 || s.whose(notice.Person).tells(notice)
	}
	return len(notice.Channels) > 0 || s.whose(0).tells(notice) || notice.accountOfPerson() != 0 && (s.people[""] || s.people[notice.Kind])
}

// tells reports whether a rule tells a notice to a channel.
func (s *standingOf) tells(notice Notice) bool {
	return slices.ContainsFunc(s.rules, func(r Rule) bool { return r.passes(notice) && len(s.channelsOf(r)) > 0 })
}

// route stores what of a notice is to go out: to the owner's channels, and to those of the person whose it is.
func (s *standing) route(ctx context.Context, tx *sql.Tx, to stored, notice Notice, now time.Time) error {
	if len(notice.Channels) > 0 {
		return deliver(ctx, tx, to.id, 0, s.whose(notice.Person).enabled(notice.Channels), now)
	}
	if notice.Person != 0 {
		return s.whose(notice.Person).route(ctx, tx, to, notice, now)
	}
	err := s.whose(0).route(ctx, tx, to, notice, now)
	if err == nil && to.person != 0 {
		err = s.whose(to.person).route(ctx, tx, to, notice, now)
	}
	return err
}

// route stores what of a notice goes out by the rules of one person, or of the owner.
func (s *standingOf) route(ctx context.Context, tx *sql.Tx, to stored, notice Notice, now time.Time) error {
	var taken []int64
	for _, r := range s.inOrder(notice, now) {
		channels := s.channelsOf(r)
		if len(channels) == 0 || r.OwnOnly && r.person != to.person {
			continue // nobody is told, so no cooldown begins
		}
		fresh, err := cool(ctx, tx, r, notice, to.id, now)
		if err != nil {
			return err
		}
		if !fresh {
			continue
		}
		others := slices.DeleteFunc(slices.Clone(channels), func(id int64) bool { return slices.Contains(taken, id) })
		if err := deliver(ctx, tx, to.id, r.ID, others, now); err != nil {
			return err
		}
		taken = append(taken, others...)
	}
	return nil
}

// Reaches are the ids of the channels of who asks that a notice goes to as rules and channels stand now, cooldowns apart; none
// means that it stands in the inbox alone.
func (n *Notifier) Reaches(ctx context.Context, notice Notice) []int64 {
	s := n.current.Load().whose(scope.From(ctx).Person())
	if len(notice.Channels) > 0 {
		return s.enabled(notice.Channels)
	}
	var all []int64
	for _, r := range s.rules {
		if r.passes(notice) {
			all = append(all, s.channelsOf(r)...)
		}
	}
	return s.enabled(all)
}

// channelsOf are the enabled channels of a rule.
func (s *standingOf) channelsOf(r Rule) []int64 {
	if len(r.Channels) == 0 {
		return s.all
	}
	return s.enabled(r.Channels)
}

// enabled are those of channels that are, each once.
func (s *standingOf) enabled(channels []int64) []int64 {
	var on []int64
	for _, id := range channels {
		if slices.Contains(s.all, id) && !slices.Contains(on, id) {
			on = append(on, id)
		}
	}
	return on
}

// inOrder are the rules that tell a notice, those first that tell it now. A channel gets a notice by the first of them.
func (s *standingOf) inOrder(notice Notice, now time.Time) []Rule {
	var passing []Rule
	for _, r := range s.rules {
		if r.passes(notice) {
			passing = append(passing, r)
		}
	}
	if len(passing) > 1 {
		quiet := func(r Rule) int {
			if r.quietUntil(now).IsZero() {
				return 0
			}
			return 1
		}
		slices.SortStableFunc(passing, func(a, b Rule) int { return cmp.Compare(quiet(a), quiet(b)) })
	}
	return passing
}

// cool reports whether a rule has not told the matter of a notice within its cooldown, which begins anew with this one.
func cool(ctx context.Context, tx *sql.Tx, r Rule, notice Notice, id int64, now time.Time) (fresh bool, err error) {
	if r.Cooldown == 0 {
		return true, nil
	}
	until := now.Add(time.Duration(r.Cooldown) * time.Second).UnixMilli()
	// One that ends later than it can was written before the clock was set back, or with a longer cooldown.
	result, err := tx.ExecContext(ctx, `INSERT INTO notification_cooldowns (rule_id, matter, until, notice_id) VALUES (?, ?, ?, ?)
		ON CONFLICT (rule_id, matter) DO UPDATE SET until = excluded.until, notice_id = excluded.notice_id
		WHERE notification_cooldowns.until <= ? OR notification_cooldowns.until > excluded.until`, r.ID, matter(notice), until, id, now.UnixMilli())
	if err != nil {
		return false, fmt.Errorf("store the cooldown of a notice: %w", err)
	}
	rows, err := result.RowsAffected()
	return rows > 0, err
}

// accountOfPerson is the account that says whose a notice is; 0 where it is the owner's.
func (n Notice) accountOfPerson() int64 {
	if n.Kind == NoAccount { // also where an account of old is known
		return 0
	}
	return n.AccountID
}

// matter is what a notice is about, as cooldowns compare it. The name of the account is nothing to it: an account is renamed.
func matter(n Notice) string { return matterOf(n, "") }

// matters are the keys that open notices of a matter may have: older versions had the name of the account in them.
func matters(n Notice) []string {
	if n.Account == "" || n.Kind == NoAccount || n.Kind == WordAsked || n.Kind == UnwatchedAsks {
		return []string{matter(n)}
	}
	return []string{matter(n), matterOf(n, n.Account)}
}

func matterOf(n Notice, account string) string {
	text := fmt.Appendf(nil, "%s\x00%d\x00%s\x00%s", n.Kind, n.accountOfPerson(), account, n.About)
	if n.Person != 0 {
		text = fmt.Appendf(text, "\x00%d", n.Person)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// deliver stores a delivery for each of channels.
func deliver(ctx context.Context, tx *sql.Tx, noticeID, ruleID int64, channels []int64, now time.Time) error {
	if len(channels) == 0 {
		return nil
	}
	list, args := db.In(channels)
	// By way of the table: a channel may have been deleted meanwhile.
	_, err := tx.ExecContext(ctx, `INSERT INTO deliveries (notice_id, channel_id, rule_id, state, created_at, updated_at)
		SELECT ?, id, ?, 'waiting', ?, ? FROM notification_channels WHERE id IN `+list+` ORDER BY id`,
		append([]any{noticeID, ruleID, now.UnixMilli(), now.UnixMilli()}, args...)...)
	if err != nil {
		return fmt.Errorf("store the deliveries of a notice: %w", err)
	}
	return nil
}
