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

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/scope"
)

// Entry is a notice as the inbox keeps it.
type Entry struct {
	ID       int64
	Kind     Kind
	At       time.Time
	Severity Severity
	// Unread is for whom the notice is: to the owner one of a person never is.
	Unread bool
	// Person is whose it is; 0 is the owner.
	Person    int64
	User      string
	AccountID int64
	Account   string
	RecordID  int64
	Facts     map[string]string
	// Reason is why; Facts has its text as error_message.
	Reason reason.Reason
	// Times is how often its matter came up, Replaced that a newer notice stands for it, and OverAt when the matter
	// was settled; zero while it is open.
	Times    int
	Replaced bool
	OverAt   time.Time
	// toPerson is set for one that is sent to a person, who may not see every page.
	toPerson bool
}

// Filter selects entries for List; zero fields do not restrict.
type Filter struct {
	Kinds []Kind
	// Notable leaves out what is routine.
	Notable bool
	// Attention selects warnings and errors, Unread what is for the reader, who has not read it.
	Attention, Unread bool
	// Standing leaves out what a newer notice stands for, Open also what is settled.
	Standing, Open bool
	// Text stands in one of the facts or in a name; upper and lower case are the same in ASCII.
	Text string
	// Before is the cursor: only entries with a smaller id.
	Before int64
	// Limit is 1..200; 0 means 50.
	Limit int
}

// Unread is how much the reader has not read. Nothing counts further than unreadMost, nor what is routine.
type Unread struct {
	All, Attention int
	// Uncounted is Attention without the notices of what the reader sees counted elsewhere: questions, and to the owner all records.
	Uncounted int
}

// unreadMost is as far as unread notices are counted.
const unreadMost = 1000

// within restricts a statement to the notices that the scope of ctx reaches. What is about an account is a person's for as long as
// the account is; what is a person's and about none is that one's alone.
func within(ctx context.Context) (term string, args []any) {
	s := scope.From(ctx)
	if s.Whole() {
		return `(notices.person_id IS NULL OR notices.account_id <> 0)`, nil
	}
	account, args := account.Within(ctx, "notices.account_id")
	return `notices.person_id = ? AND (notices.account_id = 0 OR ` + account + `)`, append([]any{s.Person()}, args...)
}

// toRead restricts a statement to the unread notices that are for the reader.
func toRead(ctx context.Context) (term string, args []any) {
	if scope.From(ctx).Whole() {
		return `unread = 1 AND notices.person_id IS NULL`, nil
	}
	term, args = within(ctx)
	return `unread = 1 AND ` + term, args
}

const entryColumns = `notices.id, kind, at, severity, unread, COALESCE(notices.person_id, 0), user_name, account_id, account_name, record_id, facts, times, replaced, over_at`

// readBy reads entryColumns for who asks.
func readBy(ctx context.Context, row db.Row) (Entry, error) {
	e, err := scanEntry(row)
	e.Unread = e.Unread && e.Person == scope.From(ctx).Person()
	return e, err
}

// scanEntry reads entryColumns, and more after them.
func scanEntry(row db.Row, more ...any) (Entry, error) {
	var e Entry
	var at, over int64
	var facts []byte
	err := row.Scan(append([]any{&e.ID, &e.Kind, &at, &e.Severity, &e.Unread, &e.Person, &e.User, &e.AccountID, &e.Account, &e.RecordID, &facts, &e.Times, &e.Replaced, &over}, more...)...)
	if errors.Is(err, sql.ErrNoRows) {
		return Entry{}, ErrNotFound
	}
	if err == nil {
		err = json.Unmarshal(facts, &e.Facts)
	}
	if why, is := e.Facts[reasonFact]; err == nil && is {
		err = e.Reason.Scan(why)
		e.Facts[reasonFact] = e.Reason.Text
	}
	if err != nil {
		return Entry{}, fmt.Errorf("read a notice: %w", err)
	}
	e.At = time.UnixMilli(at).UTC()
	if over != 0 {
		e.OverAt = time.UnixMilli(over).UTC()
	}
	return e, nil
}

// likeLiteral takes the meaning from what LIKE understands.
var likeLiteral = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// List is the newest entries that pass the filter, and the cursor of the next page (0 = none).
func (n *Notifier) List(ctx context.Context, f Filter) (entries []Entry, next int64, err error) {
	limit := f.Limit
	if limit < 1 || limit > 200 {
		limit = 50
	}
	whose, args := within(ctx)
	query := `SELECT ` + entryColumns + ` FROM notices WHERE ` + whose
	where := func(condition string, values ...any) {
		query += " AND " + condition
		args = append(args, values...)
	}
	if len(f.Kinds) > 0 {
		list, values := db.In(f.Kinds)
		where("kind IN "+list, values...)
		if !slices.ContainsFunc(f.Kinds, func(k Kind) bool { return InfoOf(k).Routine }) {
			where("routine = 0") // which has an index
		}
	}
	if f.Notable {
		where("routine = 0")
	}
	if f.Attention {
		where("severity >= 2")
	}
	if f.Standing || f.Open {
		where("replaced = 0")
	}
	if f.Open {
		where("over_at = 0")
	}
	if f.Unread {
		mine, values := toRead(ctx)
		where(mine, values...)
	}
	if f.Text != "" {
		where(`words LIKE ? ESCAPE '\'`, "%"+likeLiteral.Replace(f.Text)+"%")
	}
	if f.Before > 0 {
		where("id < ?", f.Before)
	}
	entries, err = db.All(ctx, n.DB.Read(), "list notices", func(row db.Row) (Entry, error) { return readBy(ctx, row) },
		query+` ORDER BY id DESC LIMIT ?`, append(args, limit+1)...)
	if len(entries) > limit {
		entries = entries[:limit]
		next = entries[limit-1].ID
	}
	return entries, next, err
}

// Get is the notice with id, or ErrNotFound.
func (n *Notifier) Get(ctx context.Context, id int64) (Entry, error) {
	whose, args := within(ctx)
	return readBy(ctx, n.DB.Read().QueryRowContext(ctx, `SELECT `+entryColumns+` FROM notices WHERE id = ? AND `+whose, append([]any{id}, args...)...))
}

// Unread counts what the reader has not read.
func (n *Notifier) Unread(ctx context.Context) (Unread, error) {
	var u Unread
	uncounted := `record_id = 0`
	if !scope.From(ctx).Whole() {
		uncounted = `kind <> '` + string(ReviewWaiting) + `'`
	}
	mine, args := toRead(ctx)
	args = append(args, unreadMost)
	err := n.DB.Read().QueryRowContext(ctx, `SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM notices WHERE `+mine+` LIMIT ?) AS counted),
		COUNT(*), COUNT(CASE WHEN `+uncounted+` THEN 1 END) FROM (SELECT record_id, kind FROM notices WHERE `+mine+` AND severity >= 2 ORDER BY id DESC LIMIT ?) AS counted`,
		slices.Concat(args, args)...).Scan(&u.All, &u.Attention, &u.Uncounted)
	if err != nil {
		return Unread{}, fmt.Errorf("count unread notices: %w", err)
	}
	return u, nil
}

// MarkRead marks notices as read; ids that are not there are passed over.
func (n *Notifier) MarkRead(ctx context.Context, ids ...int64) error {
	list, args := db.In(ids)
	mine, whose := toRead(ctx)
	return n.exec(ctx, `UPDATE notices SET unread = 0 WHERE id IN `+list+` AND `+mine, append(args, whose...)...)
}

// MarkAllRead marks all notices up to an id as read: what came after a person looked stays unread.
func (n *Notifier) MarkAllRead(ctx context.Context, upTo int64) error {
	mine, whose := toRead(ctx)
	return n.exec(ctx, `UPDATE notices SET unread = 0 WHERE id <= ? AND `+mine, append([]any{upTo}, whose...)...)
}

// Delete removes notices, with what of them still waits to be sent; ids that are not there are passed over.
func (n *Notifier) Delete(ctx context.Context, ids ...int64) error {
	list, args := db.In(ids)
	whose, more := within(ctx)
	return n.exec(ctx, `DELETE FROM notices WHERE id IN `+list+` AND `+whose, append(args, more...)...)
}

// DropOfTx removes within tx the notices that are a person's alone, who is removed.
func DropOfTx(ctx context.Context, tx *sql.Tx, person int64) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM notices WHERE person_id = ? AND account_id = 0`, person); err != nil {
		return fmt.Errorf("remove the notices of person %d: %w", person, err)
	}
	return nil
}

// exec runs one statement in a transaction of its own.
func (n *Notifier) exec(ctx context.Context, statement string, args ...any) error {
	return n.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, statement, args...); err != nil {
			return fmt.Errorf("write notices: %w", err)
		}
		return nil
	})
}

// How much the inbox keeps.
const (
	keepFor     = 90 * 24 * time.Hour
	keepMost    = 20_000
	keepRoutine = 5_000
)

// Prune removes up to limit notices that are older than the inbox keeps them, or more than it keeps, with their
// deliveries, and up to limit cooldowns that ended. It reports how many rows went.
func (n *Notifier) Prune(ctx context.Context, limit int) (int64, error) {
	var removed int64
	err := n.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		removed = 0
		now := time.Now()
		for _, part := range []struct {
			statement string
			args      []any
		}{
			{`DELETE FROM notices WHERE id IN (SELECT id FROM notices WHERE at < ?
				OR routine = 0 AND id <= (SELECT id FROM notices WHERE routine = 0 ORDER BY id DESC LIMIT 1 OFFSET ?)
				OR routine = 1 AND id <= (SELECT id FROM notices WHERE routine = 1 ORDER BY id DESC LIMIT 1 OFFSET ?) ORDER BY id LIMIT ?)`,
				[]any{now.Add(-keepFor).UnixMilli(), keepMost, keepRoutine, limit}},
			{`DELETE FROM notification_cooldowns WHERE (rule_id, matter) IN (SELECT rule_id, matter FROM notification_cooldowns WHERE until <= ? LIMIT ?)`,
				[]any{now.UnixMilli(), limit}},
		} {
			result, err := tx.ExecContext(ctx, part.statement, part.args...)
			if err != nil {
				return fmt.Errorf("prune notices: %w", err)
			}
			gone, err := result.RowsAffected()
			if err != nil {
				return err
			}
			removed += gone
		}
		return nil
	})
	return removed, err
}
