package notify

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/scope"
)

// Rule says what leaves the house, and where to. Without one nothing does.
type Rule struct {
	ID int64 `json:"id"`
	// person is whose it is; 0 is the owner.
	person  int64
	Name    string `json:"name"`
	Enabled bool   `json:"enabled"`
	// Kinds are what it tells; empty is every kind.
	Kinds []Kind `json:"kinds"`
	// Users are those it tells of, compared exactly with a notice's User and Account; empty is everybody, and what
	// concerns nobody.
	Users []string `json:"users"`
	// Channels are where to; empty is all that are enabled.
	Channels []int64 `json:"channels"`
	// Title and Text are templates; empty takes the standard texts.
	Title string `json:"title"`
	Text  string `json:"text"`
	// QuietFrom and QuietTo are local times, HH:MM; both are empty when there are no quiet hours. What comes between
	// them is told at their end.
	QuietFrom string `json:"quiet_from"`
	QuietTo   string `json:"quiet_to"`
	// Cooldown is how many seconds the same matter is not told again.
	Cooldown int `json:"cooldown"`
	// OwnOnly has a rule of the owner leave out what is a person's.
	OwnOnly bool `json:"own_only" doc:"Whether it leaves out what is about the accounts of people who sign in by themselves; only rules of the owner meet that."`
}

// The bounds of a rule.
const (
	maxUsers    = 200
	maxTitle    = 500
	maxText     = 8000
	maxCooldown = 30 * 24 * 60 * 60
	// firstCooldown is that of the first rule.
	firstCooldown = 600
	clock         = "15:04"
)

// passes reports whether the rule tells a notice, cooldown apart.
func (r Rule) passes(notice Notice) bool {
	if !r.Enabled || len(r.Kinds) > 0 && !slices.Contains(r.Kinds, notice.Kind) {
		return false
	}
	return len(r.Users) == 0 || notice.User != "" && slices.Contains(r.Users, notice.User) || notice.Account != "" && slices.Contains(r.Users, notice.Account)
}

// quietUntil is when the quiet hours end that at lies in, in the zone of at; zero when it lies in none.
func (r Rule) quietUntil(at time.Time) time.Time {
	from, err := time.Parse(clock, r.QuietFrom)
	if err != nil {
		return time.Time{}
	}
	to, err := time.Parse(clock, r.QuietTo)
	if err != nil {
		return time.Time{}
	}
	now, first, end := minutes(at), minutes(from), minutes(to)
	quiet := first <= now && now < end
	if first > end {
		quiet = now >= first || now < end
	}
	if !quiet {
		return time.Time{}
	}
	until := time.Date(at.Year(), at.Month(), at.Day(), to.Hour(), to.Minute(), 0, 0, at.Location())
	if !until.After(at) {
		until = time.Date(at.Year(), at.Month(), at.Day()+1, to.Hour(), to.Minute(), 0, 0, at.Location())
	}
	return until
}

func minutes(t time.Time) int { return 60*t.Hour() + t.Minute() }

// check returns a *reason.FieldError for a rule that cannot work. It puts empty lists in the place of none.
func (r *Rule) check() error {
	r.Name = strings.TrimSpace(r.Name)
	if err := checkName(r.Name); err != nil {
		return err
	}
	r.Kinds, r.Users, r.Channels = tidy(r.Kinds), tidy(r.Users), tidy(r.Channels)
	for _, kind := range r.Kinds {
		if _, known := byKind[kind]; !known {
			return reason.At("kinds", unknownKind.With(kind))
		}
	}
	if len(r.Users) > maxUsers {
		return reason.At("users", tooManyUsers.With(maxUsers))
	}
	for _, user := range r.Users {
		if user == "" || utf8.RuneCountInString(user) > maxTitle {
			return reason.At("users", badUserName.With(user))
		}
	}
	switch {
	case utf8.RuneCountInString(r.Title) > maxTitle || strings.ContainsAny(r.Title, "\r\n"):
		return reason.At("title", titleTooLong.With(maxTitle))
	case utf8.RuneCountInString(r.Text) > maxText:
		return reason.At("text", textTooLong.With(maxText))
	case r.Cooldown < 0 || r.Cooldown > maxCooldown:
		return reason.At("cooldown", cooldownOutOfRange.With(r.Cooldown, maxCooldown))
	}
	return r.checkQuiet()
}

func (r *Rule) checkQuiet() error {
	if r.QuietFrom == "" && r.QuietTo == "" {
		return nil
	}
	for _, end := range []struct{ field, value string }{{"quiet_from", r.QuietFrom}, {"quiet_to", r.QuietTo}} {
		if at, err := time.Parse(clock, end.value); err != nil || at.Format(clock) != end.value {
			return reason.At(end.field, badTimeOfDay.With(end.value))
		}
	}
	if r.QuietFrom == r.QuietTo {
		return reason.At("quiet_to", quietAllDay.With())
	}
	return nil
}

// tidy sorts a list and takes repeats out of it; none becomes an empty list.
func tidy[T interface{ ~string | ~int64 }](list []T) []T {
	list = slices.Clone(list)
	slices.Sort(list)
	list = slices.Compact(list)
	if list == nil {
		list = []T{}
	}
	return list
}

// checkChannels returns a *reason.FieldError when the rule names a channel that who asks has not.
func (r *Rule) checkChannels(ctx context.Context, tx *sql.Tx) error {
	own, whose := scope.Owned(ctx, "person_id")
	for _, id := range r.Channels {
		var one int
		err := tx.QueryRowContext(ctx, `SELECT 1 FROM notification_channels WHERE id = ? AND `+own, append([]any{id}, whose...)...).Scan(&one)
		if errors.Is(err, sql.ErrNoRows) {
			return reason.At("channels", noChannel.With(id))
		}
		if err != nil {
			return fmt.Errorf("look for notification channel %d: %w", id, err)
		}
	}
	return nil
}

const ruleColumns = `id, COALESCE(person_id, 0), name, enabled, kinds, users, channels, title, text, quiet_from, quiet_to, cooldown, own_only`

func scanRule(row db.Row) (Rule, error) {
	var r Rule
	var kinds, users, channels []byte
	err := row.Scan(&r.ID, &r.person, &r.Name, &r.Enabled, &kinds, &users, &channels, &r.Title, &r.Text, &r.QuietFrom, &r.QuietTo, &r.Cooldown, &r.OwnOnly)
	if errors.Is(err, sql.ErrNoRows) {
		return Rule{}, ErrNotFound
	}
	if err == nil {
		err = errors.Join(json.Unmarshal(kinds, &r.Kinds), json.Unmarshal(users, &r.Users), json.Unmarshal(channels, &r.Channels))
	}
	if err != nil {
		return Rule{}, fmt.Errorf("read a notification rule: %w", err)
	}
	return r, nil
}

// values are the columns after the id.
func (r Rule) values() ([]any, error) {
	kinds, err := json.Marshal(r.Kinds)
	users, err2 := json.Marshal(r.Users)
	channels, err3 := json.Marshal(r.Channels)
	if err := errors.Join(err, err2, err3); err != nil {
		return nil, fmt.Errorf("encode a notification rule: %w", err)
	}
	return []any{r.Name, r.Enabled, string(kinds), string(users), string(channels), r.Title, r.Text, r.QuietFrom, r.QuietTo, r.Cooldown, r.OwnOnly}, nil
}

func listRules(ctx context.Context, q db.Querier, where string, args ...any) ([]Rule, error) {
	return db.All(ctx, q, "list the notification rules", scanRule, `SELECT `+ruleColumns+` FROM notification_rules WHERE `+where+` ORDER BY id`, args...)
}

// Rules lists all rules of who asks, the oldest first.
func (n *Notifier) Rules(ctx context.Context) ([]Rule, error) {
	own, whose := scope.Owned(ctx, "person_id")
	return listRules(ctx, n.DB.Read(), own, whose...)
}

// Rule is the rule with id, if it belongs to who asks, or ErrNotFound.
func (n *Notifier) Rule(ctx context.Context, id int64) (Rule, error) {
	own, whose := scope.Owned(ctx, "person_id")
	return scanRule(n.DB.Read().QueryRowContext(ctx, `SELECT `+ruleColumns+` FROM notification_rules WHERE id = ? AND `+own, append([]any{id}, whose...)...))
}

// CreateRule adds a rule of who asks. It returns a *reason.FieldError for one that cannot work, and ErrFull.
func (n *Notifier) CreateRule(ctx context.Context, r Rule) (Rule, error) {
	r.OwnOnly = r.OwnOnly && scope.From(ctx).Whole()
	if err := r.check(); err != nil {
		return Rule{}, err
	}
	err := n.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := r.checkChannels(ctx, tx); err != nil {
			return err
		}
		if _, err := roomFor(ctx, tx, "notification_rules", maxRules, maxOwnRules); err != nil {
			return err
		}
		return r.insert(ctx, tx)
	})
	return r, err
}

// insert stores a new rule of who asks.
func (r *Rule) insert(ctx context.Context, tx *sql.Tx) error {
	values, err := r.values()
	if err != nil {
		return err
	}
	err = tx.QueryRowContext(ctx, `INSERT INTO notification_rules (person_id, name, enabled, kinds, users, channels, title, text, quiet_from, quiet_to, cooldown, own_only)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`, append([]any{personColumn(ctx)}, values...)...).Scan(&r.ID)
	if err != nil {
		return fmt.Errorf("store a notification rule: %w", err)
	}
	return nil
}

// beginRules gives who asks the first rule, unless there is one already.
func beginRules(ctx context.Context, tx *sql.Tx) error {
	if count, err := roomFor(ctx, tx, "notification_rules", maxRules, maxOwnRules); err != nil || count > 0 {
		return err
	}
	first := Rule{Name: FirstRule.Error(), Enabled: true, Cooldown: firstCooldown}
	for _, k := range kinds {
		if k.First && k.OfPeople() {
			first.Kinds = append(first.Kinds, k.Kind)
		}
	}
	if err := first.check(); err != nil {
		return err
	}
	return first.insert(ctx, tx)
}

// UpdateRule replaces the rule with r.ID. What waits for one that is switched off is dropped. It returns a *reason.FieldError
// or ErrNotFound.
func (n *Notifier) UpdateRule(ctx context.Context, r Rule) (Rule, error) {
	r.OwnOnly = r.OwnOnly && scope.From(ctx).Whole()
	if err := r.check(); err != nil {
		return Rule{}, err
	}
	err := n.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := r.checkChannels(ctx, tx); err != nil {
			return err
		}
		return storeRule(ctx, tx, r)
	})
	return r, err
}

func storeRule(ctx context.Context, tx *sql.Tx, r Rule) error {
	values, err := r.values()
	if err != nil {
		return err
	}
	own, whose := scope.Owned(ctx, "person_id")
	result, err := tx.ExecContext(ctx, `UPDATE notification_rules SET name = ?, enabled = ?, kinds = ?, users = ?, channels = ?, title = ?, text = ?,
		quiet_from = ?, quiet_to = ?, cooldown = ?, own_only = ? WHERE id = ? AND `+own, slices.Concat(values, []any{r.ID}, whose)...)
	if err != nil {
		return fmt.Errorf("store notification rule %d: %w", r.ID, err)
	}
	return oneRow(result)
}

// DeleteRule removes a rule; what waits for it is dropped. It returns ErrNotFound.
func (n *Notifier) DeleteRule(ctx context.Context, id int64) error {
	return n.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		own, whose := scope.Owned(ctx, "person_id")
		result, err := tx.ExecContext(ctx, `DELETE FROM notification_rules WHERE id = ? AND `+own, append([]any{id}, whose...)...)
		if err != nil {
			return fmt.Errorf("delete notification rule %d: %w", id, err)
		}
		if err := oneRow(result); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM notification_cooldowns WHERE rule_id = ?`, id); err != nil {
			return fmt.Errorf("delete the cooldowns of notification rule %d: %w", id, err)
		}
		return dropOfRule(ctx, tx, id)
	})
}

// forgetChannel takes a channel out of all rules, and switches those off that are left without one.
func forgetChannel(ctx context.Context, tx *sql.Tx, id int64) error {
	own, whose := scope.Owned(ctx, "person_id")
	rules, err := listRules(ctx, tx, own, whose...)
	if err != nil {
		return err
	}
	for _, r := range rules {
		if !slices.Contains(r.Channels, id) {
			continue
		}
		r.Channels = slices.DeleteFunc(r.Channels, func(other int64) bool { return other == id })
		r.Enabled = r.Enabled && len(r.Channels) > 0
		if err := storeRule(ctx, tx, r); err != nil {
			return err
		}
	}
	return nil
}
