package notify

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/changes"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/hold"
	"watchmark/internal/platform/metrics"
	"watchmark/internal/platform/secret"
	"watchmark/internal/tell/notify/channel"
)

// Config is what a Notifier works with. Every field is needed.
type Config struct {
	DB *db.DB
	// Changes tells of channels and rules that another replica changed.
	Changes *changes.Board
	Box     *secret.Box
	Masker  *secret.Masker
	// Holds says which replica sends: one does, for all channels.
	Holds *hold.Holds
	Log   *slog.Logger
	// Open makes a channel ready to send, from its Type and Config. It asks nobody. Its error says what is wrong with
	// the config, without what is secret in it; a *reason.FieldError names the field.
	Open func(Channel) (channel.Sender, error)
	// Secrets are what is secret in a channel's Config, for the masker.
	Secrets func(Channel) []string
	// Actions are the answers with one tap that a message of an entry offers in a channel. They are made anew at each try.
	Actions func(ctx context.Context, c Channel, e Entry, m channel.Message) []channel.Action
	// Language is that of messages; Base is the address of this service, for links, empty when it is not known. Both
	// are asked at each use.
	Language func() bilingual.Language
	Base     func() string
}

// Notifier keeps what happened and tells it. It is safe for concurrent use.
type Notifier struct {
	Config

	// Sent counts the messages that were tried, by type of channel and what became of them: one that
	// waits is tried again.
	Sent metrics.Counter

	current atomic.Pointer[standing]
	masked  map[int64]bool // the channels whose secrets the masker holds; for renew alone

	woken   chan struct{} // has room for one
	mu      sync.Mutex    // guards what follows
	outlets map[int64]*outlet
	states  map[string]string       // what Once knows to be stored
	tries   map[int64]*rate.Limiter // of people, by what they try by hand
}

// New is a Notifier over what the database holds.
func New(ctx context.Context, c Config) (*Notifier, error) {
	n := &Notifier{Config: c, woken: make(chan struct{}, 1), outlets: map[int64]*outlet{}, states: map[string]string{}, tries: map[int64]*rate.Limiter{}}
	if err := n.renew(ctx); err != nil {
		return nil, err
	}
	c.Changes.On(changed, func(ctx context.Context) error {
		defer n.Wake()
		return n.renew(ctx)
	})
	return n, nil
}

// changed is the name of channels and rules on the board.
const changed = "channels"

// change runs fn in a transaction that changes rules or channels.
func (n *Notifier) change(ctx context.Context, fn func(ctx context.Context, tx *sql.Tx) error) error {
	return n.Changes.Write(ctx, changed, fn)
}

// renew reads rules and channels anew, and has what is secret in them masked.
func (n *Notifier) renew(ctx context.Context) error {
	rules, err := listRules(ctx, n.DB.Read(), `1 = 1`)
	if err != nil {
		return err
	}
	channels, err := db.All(ctx, n.DB.Read(), "list the notification channels", func(row db.Row) (Channel, error) { return n.scanChannel(row) },
		`SELECT `+channelColumns+` FROM notification_channels ORDER BY id`)
	if err != nil {
		return err
	}
	s := &standing{of: map[int64]*standingOf{}, known: map[int64]Rule{}, people: map[Kind]bool{}}
	gone := n.masked
	n.masked = map[int64]bool{}
	for _, c := range channels {
		if c.Enabled {
			own := s.add(c.Person)
			own.all = append(own.all, c.ID)
		}
		n.mask(c.ID, c)
		n.masked[c.ID] = true
		delete(gone, c.ID)
	}
	for id := range gone {
		n.mask(id)
		n.mu.Lock()
		delete(n.outlets, id)
		n.mu.Unlock()
	}
	for _, r := range rules {
		if r.Enabled {
			own := s.add(r.person)
			own.rules, s.known[r.ID] = append(own.rules, r), r
		}
	}
	for _, r := range s.known {
		switch {
		case r.person == 0 || len(s.whose(r.person).channelsOf(r)) == 0:
		case len(r.Kinds) == 0:
			s.people[""] = true
		default:
			for _, kind := range r.Kinds {
				s.people[kind] = true
			}
		}
	}
	n.current.Store(s)
	return nil
}

// AddTx stores notices within tx, and what of them is to go out, and closes the matters that are over. Call Wake after the commit. The only errors are those
// of the database, and a kind that does not exist.
func (n *Notifier) AddTx(ctx context.Context, tx *sql.Tx, notices ...Notice) error {
	now := time.Now()
	s := n.current.Load()
	if err := settle(ctx, tx, notices, now); err != nil {
		return err
	}
	fresh := slices.DeleteFunc(slices.Clone(notices), func(n Notice) bool { return n.Over })
	for len(fresh) > 0 {
		together := slices.IndexFunc(fresh, func(n Notice) bool { return byKind[n.Kind].hasMatter() })
		switch together {
		case -1:
			together = len(fresh)
		case 0: // one of a matter replaces those before it
			together = 1
		}
		for some := range db.Groups(fresh[:together]) {
			goOut := slices.ContainsFunc(some, s.goesOut)
			ids, err := storeNotices(ctx, tx, some, goOut, now)
			if err != nil {
				return err
			}
			for i, notice := range some[:len(ids)] {
				if err := s.route(ctx, tx, ids[i], notice, now); err != nil {
					return err
				}
			}
		}
		fresh = fresh[together:]
	}
	return nil
}

// Add stores notices in a transaction of its own, and sets going what is to go out. It waits for no message to be
// sent; that the database does not take them is logged.
func (n *Notifier) Add(ctx context.Context, notices ...Notice) {
	err := n.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { return n.AddTx(ctx, tx, notices...) })
	if err != nil {
		n.Log.ErrorContext(ctx, "cannot store notices", "notices", len(notices), "error", err)
		return
	}
	n.Wake()
}

// Wake says that there may be something to send.
func (n *Notifier) Wake() {
	select {
	case n.woken <- struct{}{}:
	default: // it looks anyway
	}
}

// What is kept of one notice at most, in bytes.
const (
	maxFact  = 8000
	maxFacts = 24_000
	maxNames = 200
)

// storeNotices adds notices to the inbox, in one statement. One of a matter comes alone. If ids are wanted, they are in the order of the
// notices; else the statement waits for nothing, and goes to the database with what comes after it.
func storeNotices(ctx context.Context, tx *sql.Tx, notices []Notice, wanted bool, now time.Time) (ids []stored, err error) {
	var args []any
	for _, notice := range notices {
		kind, known := byKind[notice.Kind]
		if !known {
			return nil, unknownNotice.With(notice.Kind)
		}
		at := notice.At
		if at.IsZero() {
			at = now
		}
		user, name := cut(notice.User, maxNames), cut(notice.Account, maxNames)
		facts, words, err := packFacts(notice)
		if err != nil {
			return nil, err
		}
		about, times := "", 1
		if kind.hasMatter() {
			about = matter(notice)
			if times, err = replace(ctx, tx, matters(notice)); err != nil {
				return nil, err
			}
		}
		args = append(args, notice.Person, notice.accountOfPerson(), at.UnixMilli(), notice.Kind, int(kind.Severity), kind.Routine, !kind.Routine, user, notice.AccountID, name, notice.RecordID,
			facts, strings.TrimSpace(user+"\n"+name+"\n"+words), about, times)
	}
	insert := `INSERT INTO notices (person_id, at, kind, severity, routine, unread, user_name, account_id, account_name, record_id, facts, words, matter, times)
		VALUES ` + db.Rows("(COALESCE("+account.Person+", "+account.PersonOf("?")+"), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", len(notices))
	if !wanted {
		if _, err := tx.ExecContext(ctx, insert, args...); err != nil {
			return nil, fmt.Errorf("store notices: %w", err)
		}
		return nil, nil
	}
	ids, err = db.All(ctx, tx, "store notices", func(row db.Row) (one stored, err error) { return one, row.Scan(&one.id, &one.person) },
		insert+` RETURNING id, COALESCE(person_id, 0)`, args...)
	slices.SortFunc(ids, func(a, b stored) int { return cmp.Compare(a.id, b.id) }) // RETURNING has no order, and rows get their ids in theirs
	return ids, err
}

// stored is a notice that was stored, and whose it is; 0 is the owner.
type stored struct{ id, person int64 }

// open selects the notice that stands for a matter that is not settled.
const open = ` matter <> '' AND replaced = 0 AND over_at = 0`

// replace takes back the open notice of a matter, for a newer one, and answers how often the matter came up with that.
func replace(ctx context.Context, tx *sql.Tx, matters []string) (times int, err error) {
	list, args := db.In(matters)
	before, err := db.Values[int](ctx, tx, "replace the notice of a matter", `UPDATE notices SET replaced = 1, unread = 0 WHERE matter IN `+list+` AND`+open+` RETURNING times`, args...)
	for _, n := range before {
		times += n
	}
	return times + 1, err
}

// settle closes the matters of those notices that are over.
func settle(ctx context.Context, tx *sql.Tx, notices []Notice, now time.Time) error {
	var over []string
	for _, notice := range notices {
		if notice.Over {
			over = append(over, matters(notice)...)
		}
	}
	if len(over) == 0 {
		return nil
	}
	list, args := db.In(over)
	if _, err := tx.ExecContext(ctx, `UPDATE notices SET over_at = ?, unread = 0 WHERE matter IN `+list+` AND`+open, append([]any{now.UnixMilli()}, args...)...); err != nil {
		return fmt.Errorf("close the notices of what is settled: %w", err)
	}
	return nil
}

// reasonFact is the fact that a reason is stored as, and shown as.
const reasonFact = "error_message"

// packFacts is the facts and the reason of a notice as they are stored, bounded, and their texts for searching.
func packFacts(notice Notice) (packed, words string, err error) {
	column, err := notice.Reason.Value()
	if err != nil {
		return "", "", fmt.Errorf("encode the reason of a notice: %w", err)
	}
	stored := column.(string) // which it always is
	facts := map[string]string{reasonFact: notice.Reason.Text}
	maps.Copy(facts, notice.Facts)
	kept := make(map[string]string, len(facts))
	var values strings.Builder
	room := maxFacts
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		value := cut(facts[name], min(maxFact, room))
		if value == "" {
			continue
		}
		values.WriteString(value)
		values.WriteByte('\n')
		if name == reasonFact && len(stored) <= min(maxFact, room) {
			value = stored
		}
		room -= len(value)
		kept[name] = value
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(kept); err != nil {
		return "", "", fmt.Errorf("encode the facts of a notice: %w", err)
	}
	return strings.TrimSpace(out.String()), values.String(), nil
}

// cut is valid text of at most so many bytes.
func cut(text string, most int) string {
	if len(text) > most {
		text = text[:most]
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")
}
