package engine_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/entries"
	"watchmark/internal/engine"
	"watchmark/internal/engine/queue"
	"watchmark/internal/engine/review"
	"watchmark/internal/match"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/changes"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/hold"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/replica"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/word"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/watch"
)

// house is an engine on a real database; matcher and lists are the test's, so that it
// can decide what the catalog does.
type house struct {
	queued func()                 // is told of what was queued
	taken  atomic.Pointer[string] // the episode title of events that a login has taken before
	*engine.Engine
	*review.Service
	records   *record.Store
	mappings  *mapping.Store
	questions *review.Store
	accounts  *account.Store
	queue     *queue.Queue
	tasks     *task.Registry
	notices   *notify.Notifier
	log       *webhooklog.Log
	list      *list
	matcher   *matcher
	options   atomic.Pointer[engine.Options]
	stop      context.CancelFunc
	stopped   chan struct{}
}

// matcher leads a title where a mapping says, else where set says, else to subject 8.
type matcher struct {
	mu      sync.Mutex
	rules   func(ctx context.Context) (*mapping.Rules, error)
	answers map[string]match.Trace
	panics  string
	seen    []watch.Event
	// leads is asked before anything else; nil answers go on.
	leads func(watch.Event) *match.Result
	// during is called while an event is matched, after its answer was looked up.
	during func(watch.Event)
}

func (m *matcher) MatchOnline(ctx context.Context, event watch.Event) match.Trace {
	return m.Match(ctx, event)
}

func (m *matcher) Blocked(ctx context.Context, event watch.Event) (match.Trace, bool) {
	rules, err := m.rules(ctx)
	if err != nil {
		return match.Trace{}, false
	}
	_, stops := rules.Blocks([]string{event.Title})
	return match.Trace{Result: match.Result{Status: match.Blocked, Reason: reason.Text("because")}, Steps: []match.Step{{Name: "block", Status: "hit"}}}, stops
}

func (m *matcher) Match(ctx context.Context, event watch.Event) match.Trace {
	rules, err := m.rules(ctx)
	if err != nil {
		return match.Trace{Result: match.Result{Status: match.Unreachable, Reason: reason.Of(err)}, Err: err}
	}
	return m.matchBy(ctx, event, rules)
}

func (m *matcher) matchBy(_ context.Context, event watch.Event, rules *mapping.Rules) match.Trace {
	trace, during := m.answer(event, rules)
	if during != nil {
		during(event)
	}
	return trace
}

// hold has during called from now on.
func (m *matcher) hold(during func(watch.Event)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.during = during
}

// lead has leads asked from now on.
func (m *matcher) lead(leads func(watch.Event) *match.Result) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leads = leads
}

// set changes the answer for a title.
func (m *matcher) set(title string, t match.Trace) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answers[title] = t
}

func (m *matcher) answer(event watch.Event, rules *mapping.Rules) (match.Trace, func(watch.Event)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen = append(m.seen, event)
	if event.Title == m.panics {
		panic("a bug for this title")
	}
	r := match.Result{Status: match.Matched, SubjectID: 8, SubjectName: event.Title, Method: "api", Confidence: 0.99}
	step := match.Step{Name: "api", Status: "hit"}
	if m.leads != nil {
		if r := m.leads(event); r != nil {
			return match.Trace{Result: *r, Steps: []match.Step{step}}, m.during
		}
	}
	offset := 0
	var led *match.Rule
	if rule, found := rules.Find([]string{event.Title, event.OriginalTitle}, event.Season, event.IsFilm(), event.Episode); found {
		r.SubjectID, r.Method, offset = rule.SubjectID, "mapping", rule.EpisodeOffset
		led = &match.Rule{MappingID: rule.ID, SubjectID: rule.SubjectID, EpisodeOffset: rule.EpisodeOffset}
		step = match.Step{Name: match.StepMapping, Status: match.Hit}
	} else if t, found := m.answers[event.Title]; found {
		return t, m.during
	}
	if event.Episode != nil {
		number := *event.Episode + float64(offset)
		r.EpisodeID, r.EpisodeSort = catalog.EpisodeID(100*int(r.SubjectID)+int(number)), &number
	}
	return match.Trace{Result: r, Steps: []match.Step{step}, Rule: led}, m.during
}

// list remembers what was marked, and fails on command.
type list struct {
	mu      sync.Mutex
	err     error
	calls   int
	unmarks int
	watched map[string]bool
	marked  []catalog.EpisodeID // in their order
	// unmarked is called when marks were taken back.
	unmarked func()
	doing    []catalog.SubjectID
	block    chan struct{} // when set, Mark waits for it
	begun    chan struct{} // when set, it is told of each Mark
	panics   bool
}

func (l *list) Mark(ctx context.Context, a account.Account, subject catalog.SubjectID, episodes []catalog.EpisodeID, intents catalog.Intents) (catalog.MarkResult, error) {
	if l.begun != nil {
		l.begun <- struct{}{}
	}
	if l.block != nil {
		select {
		case <-l.block:
		case <-ctx.Done():
			return catalog.MarkResult{}, ctx.Err()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	if l.panics {
		panic("a bug of this subject")
	}
	if l.err != nil {
		return catalog.MarkResult{}, l.err
	}
	var result catalog.MarkResult
	for _, id := range episodes {
		key := fmt.Sprintf("%s/%d/%d", a.Username, subject, id)
		result.Episodes = append(result.Episodes, catalog.MarkedEpisode{ID: id, Already: l.watched[key]})
	}
	if err := intents.Intend(ctx, result, time.Now()); err != nil {
		return catalog.MarkResult{}, err
	}
	for _, id := range episodes {
		l.watched[fmt.Sprintf("%s/%d/%d", a.Username, subject, id)] = true
	}
	l.marked = append(l.marked, episodes...)
	return result, nil
}

func (l *list) MarkDoing(_ context.Context, _ account.Account, subject catalog.SubjectID, _ catalog.Intents) (catalog.MarkResult, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.doing = append(l.doing, subject)
	return catalog.MarkResult{Created: true}, l.err
}

func (l *list) Unmark(_ context.Context, a account.Account, subject catalog.SubjectID, back catalog.TakeBack) (catalog.UnmarkResult, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unmarks++
	if l.err != nil {
		return catalog.UnmarkResult{}, l.err
	}
	var result catalog.UnmarkResult
	for _, id := range back.Episodes {
		key := fmt.Sprintf("%s/%d/%d", a.Username, subject, id)
		if l.watched[key] {
			result.Cleared = append(result.Cleared, id)
		}
		delete(l.watched, key)
	}
	result.Reopened = back.Reopen
	if l.unmarked != nil {
		l.unmarked()
	}
	return result, nil
}

// markedAt is since when lists have what they have.
var markedAt = time.Date(2026, 5, 19, 12, 0, 0, 0, time.UTC)

func (l *list) IsAdult(context.Context, account.Account, catalog.SubjectID) (bool, error) {
	return false, nil
}

func (l *list) MarkedAt(context.Context, account.Account, catalog.SubjectID, catalog.EpisodeID) (time.Time, error) {
	return markedAt, nil
}

func (l *list) Rewatch(context.Context, account.Account, catalog.SubjectID, catalog.Rewatch) (catalog.RewatchResult, error) {
	return catalog.RewatchResult{}, nil
}

func (l *list) Watched(_ context.Context, a account.Account, subject catalog.SubjectID) (catalog.Watched, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := catalog.Watched{Entry: catalog.Doing, Episodes: map[catalog.EpisodeID]time.Time{}}
	for key := range l.watched {
		var id catalog.EpisodeID
		if n, _ := fmt.Sscanf(key, fmt.Sprintf("%s/%d/%%d", a.Username, subject), &id); n == 1 {
			w.Episodes[id] = markedAt
		}
	}
	return w, l.err
}

func (l *list) unmarkedTimes() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unmarks
}

func (l *list) fail(err error) {
	l.mu.Lock()
	l.err = err
	l.mu.Unlock()
}

func (l *list) panicking(does bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.panics = does
}

func (l *list) marks() (marks []string, calls int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key := range l.watched {
		marks = append(marks, key)
	}
	slices.Sort(marks)
	return marks, l.calls
}

func newHouse(t *testing.T) *house {
	t.Helper()
	dir := dbtest.Folder(t)
	d := dbtest.OpenIn(t, dir)
	box, err := secret.OpenBox(dir, "", false)
	if err != nil {
		t.Fatal(err)
	}
	return houseOn(t, d, box, "here")
}

// houseOn is the house of one replica on a database.
func houseOn(t *testing.T, d *db.DB, box *secret.Box, name string) *house {
	t.Helper()
	h := &house{
		records: record.NewStore(d), mappings: mapping.NewStore(d, changes.New(d)), accounts: account.NewStore(d, box), queue: queue.NewQueue(d), log: webhooklog.NewLog(d), tasks: task.New(d, dbtest.Self(1), slog.New(slog.DiscardHandler)),
		list: &list{watched: map[string]bool{}}, matcher: &matcher{answers: map[string]match.Trace{}}, queued: func() {},
	}
	h.questions = review.NewStore(d, h.mappings)
	var err error
	h.notices, err = notify.New(t.Context(), notify.Config{
		DB: d, Changes: changes.New(d), Box: box, Masker: &secret.Masker{}, Holds: hold.New(d, dbtest.Self(1), slog.New(slog.DiscardHandler)), Log: slog.New(slog.DiscardHandler),
		Language: func() bilingual.Language { return bilingual.English }, Base: func() string { return "" },
	})
	if err != nil {
		t.Fatal(err)
	}
	h.matcher.rules = h.mappings.Rules
	h.options.Store(&engine.Options{Workers: 4, Coalesce: 20 * time.Millisecond, MaxRetries: 2})
	self, err := replica.Join(t.Context(), replica.Config{DB: d, Name: name, Free: []func(context.Context, *sql.Tx, []int64) error{record.FreeTx, entries.FreeTx}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	h.Engine = engine.New(engine.Config{
		DB: d, Records: h.records, Replica: self, Entries: entries.New(d, self), Fresh: func(context.Context) error { return nil }, Reaches: func() bool { return true }, Ask: review.AskTx, Word: word.AskTx, NoWord: word.CloseTx, Accounts: h.accounts, Matcher: h.matcher, Lists: h.list, View: func(account.Account) match.Viewer { return nil }, Log: slog.New(task.Handler(slog.DiscardHandler)),
		Taken: func(_ context.Context, _ *sql.Tx, e watch.Event) (bool, error) {
			before := h.taken.Load()
			return before != nil && e.EpisodeTitle == *before, nil
		},
		Queue: h.queue, Tasks: h.tasks, Queued: func() { h.queued() }, Notices: h.notices,
		Options: func() engine.Options { return *h.options.Load() },
	})
	h.Service = review.New(review.Config{Engine: h.Engine, Questions: h.questions, Mappings: h.mappings, Holds: hold.New(d, self, slog.New(slog.DiscardHandler)), MatchBy: h.matcher.matchBy, Catalog: subjects{}})
	return h
}

// set changes the options of a running engine.
func (h *house) set(change func(*engine.Options)) {
	o := *h.options.Load()
	change(&o)
	h.options.Store(&o)
}

// run starts the engine and stops it when the test ends.
func (h *house) run(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	h.stop, h.stopped = stop, make(chan struct{})
	go func() { h.Run(ctx, 5*time.Second); close(h.stopped) }()
	t.Cleanup(func() { _ = h.tasks.Stop(context.Background()); stop(); <-h.stopped })
}

// retry sends a record through the pipeline again.
func (h *house) retry(t *testing.T, id int64) *task.Task {
	t.Helper()
	run, err := h.Retry(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func (h *house) account(t *testing.T, username string, enabled bool, users ...string) account.Account {
	t.Helper()
	a, err := h.accounts.Create(t.Context(), account.Draft{
		Username: username, Method: account.ByToken, Tokens: account.Tokens{Access: "token"}, MediaUserNames: users, Enabled: enabled,
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func episode(title, user string, number float64) watch.Event {
	season := 1
	return watch.Event{Source: watch.Plex, Action: watch.Watched, Media: watch.Episode, Title: title, Season: &season, Episode: &number, UserName: user}
}

// enable switches an account on or off.
func (h *house) enable(t *testing.T, id int64, on bool) {
	t.Helper()
	if _, err := h.accounts.Update(t.Context(), id, account.Change{Enabled: &on}); err != nil {
		t.Fatal(err)
	}
}

func (h *house) accept(t *testing.T, events ...watch.Event) []int64 {
	t.Helper()
	got, err := h.Accept(t.Context(), engine.Arrival{Events: events, Entry: webhooklog.Entry{Source: watch.Plex, Status: 202}})
	if err != nil {
		t.Fatal(err)
	}
	return got.IDs
}

// settled waits for the record to leave the engine.
func (h *house) settled(t *testing.T, id int64) record.Record {
	t.Helper()
	changes, cancel := h.records.Feed.Subscribe()
	defer cancel()
	deadline := time.After(2 * time.Minute)
	for {
		r, err := h.records.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != record.Received && r.Status != record.Processing {
			return r
		}
		select {
		case <-changes:
		case <-time.After(200 * time.Millisecond):
		case <-deadline:
			t.Fatalf("record %d is still %s", id, r.Status)
		}
	}
}

// ended waits for the end of a task.
func ended(t *testing.T, run *task.Task) task.Status {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	for {
		status := run.Status()
		if status.State != task.Running {
			return status
		}
		_, more := run.After(0)
		select {
		case <-more:
		case <-time.After(200 * time.Millisecond):
		case <-deadline:
			t.Fatalf("does not end: %+v", status)
		}
	}
}

// seen accepts events of mira and waits until they are through.
func (h *house) seen(t *testing.T, events ...watch.Event) []int64 {
	t.Helper()
	ids := h.accept(t, events...)
	for _, id := range ids {
		h.settled(t, id)
	}
	return ids
}

func (h *house) wantMarks(t *testing.T, want ...string) {
	t.Helper()
	if marks, _ := h.list.marks(); !slices.Equal(marks, want) {
		t.Errorf("marks %v, want %v", marks, want)
	}
}

// atLog calls a function for every record of a log.
type atLog struct {
	slog.Handler
	do func(slog.Record)
}

func (a atLog) Enabled(context.Context, slog.Level) bool { return true }

func (a atLog) Handle(_ context.Context, r slog.Record) error {
	a.do(r)
	return nil
}
