package notify_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/changes"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/hold"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
	"watchmark/internal/testkit/dbtest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// message is one that was given to a channel.
type message struct {
	channel.Message
	to string
	at time.Time
}

// rig is a notifier on a real database, whose channels are what the test says.
type rig struct {
	*notify.Notifier
	self   dbtest.Self
	t      testing.TB
	masker *secret.Masker
	dir    string
	stop   func() // ends Run; nil while it does not run

	mu     sync.Mutex
	tried  []message
	answer func(ctx context.Context, m message) error // what a channel answers; nil takes everything
}

func newRig(t testing.TB, dir string) *rig {
	t.Helper()
	return newReplica(t, dir, 1)
}

// newReplica is the rig of one of some replicas.
func newReplica(t testing.TB, dir string, self dbtest.Self) *rig {
	t.Helper()
	r := &rig{t: t, dir: dir, self: self, masker: &secret.Masker{}}
	r.open()
	t.Cleanup(r.close)
	return r
}

// open starts the service without Run.
func (r *rig) open() {
	r.t.Helper()
	d := dbtest.OpenIn(r.t, r.dir)
	box, err := secret.OpenBox(r.dir, "", false)
	must(r.t, err)
	free(r.t, d, 0, r.self.Incarnation()) // as the service does that joins
	r.Notifier, err = notify.New(r.t.Context(), notify.Config{DB: d, Changes: changes.New(d), Box: box, Masker: r.masker, Holds: hold.New(d, r.self, slog.New(slog.DiscardHandler)), Log: slog.New(slog.DiscardHandler),
		Open: func(c notify.Channel) (channel.Sender, error) {
			if strings.Contains(c.Config.Reveal(), "unusable") {
				return nil, errors.New("the address is missing")
			}
			return sender{r, c.Name}, nil
		},
		Secrets:  func(c notify.Channel) []string { return []string{c.Config.Reveal()} },
		Language: func() bilingual.Language { return bilingual.English },
		Base:     func() string { return "http://house/" },
	})
	must(r.t, err)
}

// free gives back what replicas have that are dead.
func free(t testing.TB, d *db.DB, dead ...int64) {
	t.Helper()
	must(t, d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		return errors.Join(hold.FreeTx(ctx, tx, dead), notify.FreeTx(ctx, tx, dead))
	}))
}

// close ends the service as SIGTERM would.
func (r *rig) close() {
	if r.stop != nil {
		r.stop()
		r.stop = nil
	}
	must(r.t, r.DB.Close())
}

// run starts Run; close ends it.
func (r *rig) run() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	n := r.Notifier
	go func() { n.Run(ctx); close(ended) }()
	r.stop = func() { cancel(); <-ended }
}

// sender is a channel of a rig.
type sender struct {
	r    *rig
	name string
}

func (s sender) Send(ctx context.Context, m channel.Message) error {
	tried := message{m, s.name, time.Now()}
	s.r.mu.Lock()
	s.r.tried = append(s.r.tried, tried)
	answer := s.r.answer
	s.r.mu.Unlock()
	if answer == nil {
		return nil
	}
	return answer(ctx, tried)
}

// answers makes the channels answer so from now on.
func (r *rig) answers(answer func(ctx context.Context, m message) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

// fails makes all channels answer with a failure; a nil one takes everything.
func (r *rig) fails(f *channel.Failure) {
	r.answers(func(context.Context, message) error {
		if f == nil {
			return nil
		}
		return f
	})
}

// messages are those that were given to channels since the last call.
func (r *rig) messages() []message {
	r.mu.Lock()
	defer r.mu.Unlock()
	tried := r.tried
	r.tried = nil
	return tried
}

// channel adds an enabled channel.
func (r *rig) channel(name string, kind channel.Type) notify.Channel {
	r.t.Helper()
	c, err := r.CreateChannel(r.t.Context(), notify.Channel{Type: kind, Name: name, Enabled: true, Config: secret.Text("the-secret-of-" + name)})
	must(r.t, err)
	return c
}

// onlyRule replaces all rules by one.
func (r *rig) onlyRule(rule notify.Rule) notify.Rule {
	r.t.Helper()
	rules, err := r.Rules(r.t.Context())
	must(r.t, err)
	for _, old := range rules {
		must(r.t, r.DeleteRule(r.t.Context(), old.ID))
	}
	rule.Name, rule.Enabled = "the rule", true
	rule, err = r.CreateRule(r.t.Context(), rule)
	must(r.t, err)
	return rule
}

// add stores notices within a transaction, as the engine does.
func (r *rig) add(notices ...notify.Notice) {
	r.t.Helper()
	must(r.t, r.DB.Write(r.t.Context(), func(ctx context.Context, tx *sql.Tx) error { return r.AddTx(ctx, tx, notices...) }))
	r.Wake()
}

// failed is a notice that an episode was not marked.
func failed(n int) notify.Notice {
	return notify.Notice{Kind: notify.MarkFailed, User: "mira", Account: "alex", AccountID: 1, RecordID: int64(n), About: fmt.Sprint("show ", n),
		Facts: map[string]string{"title": "Frieren", "season": "1", "episode": fmt.Sprint(n)}, Reason: reason.Text("refused")}
}

// newest are all notices, the newest first.
func (r *rig) newest() []notify.Entry {
	r.t.Helper()
	entries, _, err := r.List(r.t.Context(), notify.Filter{Limit: 200})
	must(r.t, err)
	return entries
}

// states counts the deliveries of all notices.
func (r *rig) states() map[notify.State]int {
	r.t.Helper()
	rows, err := r.DB.Read().QueryContext(r.t.Context(), `SELECT state, COUNT(*) FROM deliveries GROUP BY state`)
	must(r.t, err)
	defer func() { must(r.t, rows.Close()) }()
	counts := map[notify.State]int{}
	for rows.Next() {
		var state notify.State
		var count int
		must(r.t, rows.Scan(&state, &count))
		counts[state] = count
	}
	must(r.t, rows.Err())
	return counts
}

// is is a channel as it stands.
func (r *rig) is(c notify.Channel) notify.Channel {
	r.t.Helper()
	c, err := r.Channel(r.t.Context(), c.ID)
	must(r.t, err)
	return c
}

// exec changes the database behind the notifier's back.
func (r *rig) exec(statement string, args ...any) {
	r.t.Helper()
	must(r.t, r.DB.Write(r.t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return err
	}))
}
