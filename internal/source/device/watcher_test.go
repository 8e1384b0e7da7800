package device

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/task"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/devicetest"
	"watchmark/internal/watch"
)

// home is a Watcher with a database, whose events are kept.
type home struct {
	*Watcher
	t  *testing.T
	db *db.DB

	mu     sync.Mutex
	config Config
	events []watch.Event
	fails  error
}

func newHome(t *testing.T, addresses ...string) *home {
	t.Helper()
	d := dbtest.Open(t)
	return newHomeOn(t, d, addresses...)
}

func newHomeOn(t *testing.T, d *db.DB, addresses ...string) *home {
	t.Helper()
	h := &home{t: t, db: d, config: Config{Enabled: true, Addresses: addresses, Threshold: 0.8}}
	tasks := task.New(d, dbtest.Self(1), slog.New(slog.DiscardHandler))
	t.Cleanup(func() { _ = tasks.Stop(context.Background()) })
	var err error
	h.Watcher, err = NewWatcher(WatcherConfig{
		Store: NewStore(d), Tasks: tasks, Masker: &secret.Masker{}, Log: slog.New(slog.DiscardHandler), Loopback: true,
		Config: func() Config {
			h.mu.Lock()
			defer h.mu.Unlock()
			return h.config
		},
		Take: func(ctx context.Context, events []watch.Event, also func(ctx context.Context, tx *sql.Tx, ids []int64) error) ([]int64, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.fails != nil {
				return nil, h.fails
			}
			if err := d.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { return also(ctx, tx, nil) }); err != nil {
				return nil, err
			}
			h.events = append(h.events, events...)
			return []int64{int64(len(h.events))}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// named is the address of a box as settings can have it: by a name.
func named(b *devicetest.Box) string { return fmt.Sprintf("localhost:%d", b.Port) }

// sees is a look at the box while it shows m, as the Watcher looks by itself, and what it decided.
func (h *home) sees(b *devicetest.Box, m devicetest.Media) *Event {
	h.t.Helper()
	b.Play(m)
	h.reconcile()
	h.Watcher.mu.Lock()
	p := h.lookUp(named(b), "")
	h.Watcher.mu.Unlock()
	var before *Event
	if p.player != nil {
		before = p.player.last
	}
	h.poll(h.t.Context(), p)
	if p.player == nil || p.player.last == before {
		return nil
	}
	return p.player.last
}

// asks is a person's word while the box shows m.
func (h *home) asks(b *devicetest.Box, m devicetest.Media) Synced {
	h.t.Helper()
	b.Play(m)
	s, err := h.DebugSync(h.t.Context(), named(b), "")
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// watches plays something from 85 percent on, which takes two looks.
func (h *home) watches(b *devicetest.Box, title, label string) *Event {
	h.t.Helper()
	h.sees(b, devicetest.Episode(title, label, 100, 1440))
	h.sees(b, devicetest.Episode(title, label, 1224, 1440))
	return h.sees(b, devicetest.Episode(title, label, 1227, 1440))
}

func (h *home) exec(statement string) {
	h.t.Helper()
	if err := h.db.Write(h.t.Context(), func(ctx context.Context, tx *sql.Tx) error { _, err := tx.ExecContext(ctx, statement); return err }); err != nil {
		h.t.Fatal(err)
	}
}

// short are the events as title and episode.
func (h *home) short() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []string
	for _, e := range h.events {
		text := e.UserName + " " + e.Title
		if e.Episode != nil {
			text += fmt.Sprintf(" %v", *e.Episode)
		}
		all = append(all, text)
	}
	return all
}

func box(t *testing.T) *devicetest.Box {
	return devicetest.Start(t, "127.0.0.1:0", "7c1de0aa55ab90f1", "Living Box")
}

func TestABoxIsAskedAndItsEventsCarryItsName(t *testing.T) {
	b := box(t)
	h := newHome(t, named(b))
	if s := h.Status(); len(s.Devices) != 1 || s.Devices[0].Online || s.Devices[0].LastSeen != nil || s.Devices[0].OfflineSince != nil {
		t.Errorf("before the first look: %+v", s)
	}
	if e := h.watches(b, "灯塔守望者 第二季", "正在播放：第07集"); e == nil || e.Outcome != Counted || len(e.RecordIDs) != 1 {
		t.Fatalf("decided is %+v", e)
	}
	e := h.events[0]
	if e.Source != watch.Device || e.UserName != "Living Box" || e.UserID != "7c1de0aa55ab90f1" || e.Title != "灯塔守望者 第二季" || *e.Season != 2 || *e.Episode != 7 || e.Path != "" || e.Validate() != nil {
		t.Errorf("the event is %+v", e)
	}
	s := h.Status().Devices[0]
	if !s.Online || s.Name != "Living Box" || !s.Listed || s.Now == nil || !s.Now.Settled || s.Now.Highest < 0.85 || s.LastEvent == nil || s.NextPoll == nil {
		t.Errorf("the status is %+v", s)
	}
	// The next episode has the same proxy address.
	h.watches(b, "灯塔守望者 第二季", "正在播放：第08集")
	if got := h.short(); !slices.Equal(got, []string{"Living Box 灯塔守望者 第二季 7", "Living Box 灯塔守望者 第二季 8"}) {
		t.Errorf("events are %q", got)
	}
	if strange := b.Strange(); len(strange) > 0 {
		t.Errorf("the player got %q", strange)
	}
}

func TestNothingCountsTwice(t *testing.T) {
	d := dbtest.Open(t)
	b := box(t)
	h := newHomeOn(t, d, named(b))
	h.watches(b, "灯塔守望者", "07")
	h.watches(b, "灯塔守望者", "07") // wound back
	if e := h.Status().Devices[0].LastEvent; e.Outcome != Repeated || len(h.events) != 1 {
		t.Errorf("wound back: %+v", e)
	}
	again := newHomeOn(t, d, named(b))
	again.sees(b, devicetest.Episode("灯塔守望者", "07", 1300, 1440))
	if e := again.sees(b, devicetest.Episode("灯塔守望者", "07", 1303, 1440)); e == nil || e.Outcome != Repeated {
		t.Errorf("after a restart in the middle: %+v", e)
	}
	again.watches(b, "灯塔守望者", "第7集") // another spelling of the same
	if len(again.events) != 0 {
		t.Errorf("after a restart counted %q", again.short())
	}
	// Something else re-arms it, but only what is seen from its beginning counts again.
	again.watches(b, "灯塔守望者", "08")
	again.sees(b, devicetest.Episode("灯塔守望者", "07", 1300, 1440))
	if e := again.sees(b, devicetest.Episode("灯塔守望者", "07", 1303, 1440)); e == nil || e.Outcome != Repeated {
		t.Errorf("the end of it alone: %+v", e)
	}
	again.sees(b, nil)
	again.watches(b, "灯塔守望者", "07")
	if got := again.short(); !slices.Equal(got, []string{"Living Box 灯塔守望者 8", "Living Box 灯塔守望者 7"}) {
		t.Errorf("counted is %q", got)
	}
}

func TestRearmingByTime(t *testing.T) {
	d := dbtest.Open(t)
	at := time.Unix(1_700_000_000, 0)
	p := play{"7c1de0aa55ab90f1", "灯塔守望者", -1, "episode:7"}
	count := func(again bool, at time.Time) error {
		return d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error { return countTx(ctx, tx, p, again, at) })
	}
	for i, c := range []struct {
		again bool
		after time.Duration
		want  error
	}{
		{true, 0, nil}, {true, time.Hour, errCounted}, {false, 20 * time.Hour, errCounted}, {true, 13 * time.Hour, nil}, {true, 14 * time.Hour, errCounted},
		{true, -time.Hour, nil}, // the clock was set back
	} {
		if err := count(c.again, at.Add(c.after)); !errors.Is(err, c.want) {
			t.Errorf("%d: %v", i, err)
		}
	}
	s := NewStore(d)
	for _, want := range []int64{0, 1, 0} {
		if n, err := s.Prune(t.Context(), at.Add(-time.Hour).Add(time.Duration(want)*time.Minute), 10); err != nil || n != want {
			t.Errorf("removed %d, %v; want %d", n, err, want)
		}
	}
}

func TestWhatCannotBeStoredIsTriedAgain(t *testing.T) {
	b := box(t)
	h := newHome(t, named(b))
	h.fails = errors.New("the disk is full")
	if e := h.watches(b, "灯塔守望者", "07"); e != nil {
		t.Errorf("decided is %+v", e)
	}
	h.fails = nil
	h.sees(b, nil)
	if got := h.short(); len(got) != 1 {
		t.Errorf("events are %q", got)
	}
	// Also when the box has been switched off since.
	h.fails = errors.New("the disk is full")
	h.watches(b, "灯塔守望者", "08")
	h.fails = nil
	b.SwitchOff()
	h.sees(b, nil)
	if got := h.short(); len(got) != 2 {
		t.Errorf("events are %q", got)
	}
}

// A film has no label, and its numbers may be fractions.
func TestAFilmCounts(t *testing.T) {
	b := box(t)
	h := newHome(t, named(b))
	m := devicetest.Episode("灯塔守望者 剧场版", "", 0, 6000).With("url", "https://cdn.example/20240519/1080/a7f3.m3u8")
	for _, position := range []any{100.5, 5500000.25, "5503000.75"} {
		h.sees(b, m.With("position", position))
	}
	if len(h.events) != 1 || h.events[0].Media != watch.Movie || h.events[0].Episode != nil {
		t.Errorf("events are %+v", h.events)
	}
}

func TestHostileBoxesHarmNothing(t *testing.T) {
	other := box(t)
	b := box(t)
	h := newHome(t, named(b))
	b.Play(devicetest.Episode("灯塔守望者", "07", 1300, 1440))
	for _, fault := range []devicetest.Fault{devicetest.Redirect, devicetest.Huge, devicetest.Broken, devicetest.Page, devicetest.List, devicetest.Cut, devicetest.Old} {
		b.Fail(fault, "http://"+other.Address()+"/media")
		s, err := h.DebugSync(t.Context(), named(b), "")
		if err != nil || s.After.Online || s.After.Problem.IsZero() || s.After.OfflineSince == nil || s.Event != nil {
			t.Errorf("%s: %+v, %v", fault, s, err)
		}
		if tooLarge := strings.Contains(s.After.Problem.Text, "too large"); tooLarge != (fault == devicetest.Huge) {
			t.Errorf("%s: the problem is %s", fault, s.After.Problem)
		}
	}
	if other.Asked("/media")+other.Asked("/device") > 0 {
		t.Error("a redirect was followed")
	}
	b.Fail(devicetest.None, "")
	b.Name(devicetest.Media{"uuid": strings.Repeat("x", 5000), "name": "Living\x00 Box\n" + strings.Repeat("y", 5000), "ip": "http://" + other.Address()})
	if s, err := h.DebugSync(t.Context(), named(b), ""); err != nil || !s.After.Online || len(s.After.UUID) > maxUUID || len(s.After.Name) > watch.MaxText || strings.ContainsAny(s.After.Name, "\x00\n") {
		t.Errorf("long names: %+v, %v", s.After, err)
	}
	b.Name(devicetest.Media{"type": 0})
	if s, _ := h.DebugSync(t.Context(), named(b), ""); s.After.Online {
		t.Error("a box that says nothing of itself is believed")
	}
	if other.Asked("/media")+other.Asked("/device") > 0 {
		t.Error("an address that a box told was asked")
	}
	var err error
	if h.client, err = newClient(200*time.Millisecond, true, &secret.Masker{}, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	b.Fail(devicetest.Slow, "")
	if s, _ := h.DebugSync(t.Context(), named(b), ""); s.After.Online || !strings.Contains(s.After.Problem.Text, "did not answer in time") {
		t.Errorf("an answer that never ends: %+v", s.After)
	}
}

// What a box is reached by does not matter: two addresses are one box, and it may get another.
func TestABoxIsKnownByItsUUID(t *testing.T) {
	first := devicetest.Start(t, "127.0.0.2:0", "7c1de0aa55ab90f1", "Living Box")
	second := devicetest.Start(t, fmt.Sprintf("127.0.0.3:%d", first.Port), "7c1de0aa55ab90f1", "Living Box")
	h := newHome(t)
	look := func(b *devicetest.Box, m devicetest.Media) {
		t.Helper()
		b.Play(m)
		h.poll(t.Context(), h.add(b.Host, b.Port))
	}
	h.config.Subnets = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/29")}
	look(first, devicetest.Episode("灯塔守望者", "07", 1200, 1440))
	look(second, devicetest.Episode("灯塔守望者", "07", 1202, 1440))
	if s := h.Status(); len(s.Devices) != 1 || len(s.Devices[0].Addresses) != 2 || s.Devices[0].Address != first.Address() {
		t.Fatalf("two addresses are %+v", s.Devices)
	}
	if wait := time.Until(h.find(second.Host, second.Port).next); wait < 5*time.Minute {
		t.Errorf("the second address is asked after %v", wait)
	}
	first.SwitchOff()
	h.poll(t.Context(), h.add(first.Host, first.Port))
	if wait := time.Until(h.find(second.Host, second.Port).next); wait > 0 {
		t.Errorf("the second address is asked %v after the first one has gone", wait)
	}
	look(second, devicetest.Episode("灯塔守望者", "07", 1205, 1440))
	if got := h.short(); len(got) != 1 {
		t.Errorf("events are %q", got)
	}
	if s := h.Status(); len(s.Devices) != 1 || s.Devices[0].Address != second.Address() || !s.Devices[0].Online {
		t.Errorf("after the move: %+v", s.Devices)
	}
	// Another box at that address is another box.
	second.Name(devicetest.Media{"uuid": "90f17c1de0aa55ab", "name": "Other Box"})
	look(second, devicetest.Episode("灯塔守望者", "07", 1210, 1440))
	if got := h.short(); len(got) != 1 {
		t.Errorf("events are %q", got)
	}
	if p := h.find(second.Host, second.Port).player; p.name != "Other Box" || p.play.watched != 0 {
		t.Errorf("another box goes on with %+v", p.play)
	}
}

func TestSwitchedOffAndUnknown(t *testing.T) {
	b := box(t)
	h := newHome(t, named(b))
	if _, err := h.DebugSync(t.Context(), "192.168.77.77:9978", ""); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	h.sees(b, nil)
	if s, err := h.DebugSync(t.Context(), "", "7c1de0aa55ab90f1"); err != nil || !s.After.Online {
		t.Error(s, err)
	}
	h.config.Enabled = false
	if _, err := h.DebugSync(t.Context(), named(b), ""); !errors.Is(err, ErrOff) {
		t.Error(err)
	}
	if _, err := h.SyncAll(t.Context()); !errors.Is(err, ErrOff) {
		t.Error(err)
	}
}

// A box is asked again by itself, and Run waits for what is under way.
func TestRunAsksByItself(t *testing.T) {
	b := box(t)
	h := newHome(t, named(b))
	b.Play(devicetest.Episode("灯塔守望者", "07", 1200, 1440))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { h.Run(ctx); close(ended) }()
	deadline := time.After(2 * time.Minute)
	for h.Status().Devices[0].Now == nil {
		select {
		case <-deadline:
			t.Fatal("the box is not asked")
		case <-time.After(5 * time.Millisecond):
		}
	}
	next := h.Status().Devices[0].NextPoll
	if wait := time.Until(*next); wait < 20*time.Second || wait > 2*time.Minute {
		t.Errorf("the next look is in %v", wait)
	}
	running, err := h.SyncAll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.Play(devicetest.Episode("灯塔守望者", "07", 1203, 1440))
	for _, more := running.After(0); running.Status().State == task.Running; _, more = running.After(0) {
		select {
		case <-more:
		case <-deadline:
			t.Fatal("the task does not end")
		}
	}
	stop()
	<-ended
}

func TestBoxesThatSleepAreAskedLessOften(t *testing.T) {
	b := box(t)
	h := newHome(t, named(b))
	h.sees(b, devicetest.Episode("灯塔守望者", "07", 600, 1440))
	b.SwitchOff()
	var waits []time.Duration
	for range 7 {
		s, err := h.DebugSync(t.Context(), named(b), "")
		if err != nil || s.After.Online || s.After.OfflineSince == nil || s.After.Now == nil {
			t.Fatalf("%+v, %v", s, err)
		}
		waits = append(waits, time.Until(*s.After.NextPoll).Round(time.Second))
	}
	want := []time.Duration{closeLook, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, lastRetry, lastRetry, lastRetry}
	if !slices.Equal(waits, want) {
		t.Errorf("waits are %v, want %v", waits, want)
	}
}

// TestAPersonsWordCounts holds what a box shows against a word of a person: it counts at once, or the reason is told.
func TestAPersonsWordCounts(t *testing.T) {
	at := func(share float64) devicetest.Media {
		return devicetest.Episode("灯塔守望者", "第07集", share*1440, 1440)
	}
	for name, c := range map[string]struct {
		before []devicetest.Media // earlier looks
		shown  devicetest.Media
		reason string // empty: it counts
	}{
		"playing":                  {nil, at(0.96), ""},
		"paused":                   {nil, at(0.96).With("state", 2), ""},
		"paused for long":          {[]devicetest.Media{at(0.96).With("state", 2), at(0.96).With("state", 2)}, at(0.96).With("state", 2), ""},
		"jumped there":             {[]devicetest.Media{at(0.01)}, at(0.96), ""},
		"just at the threshold":    {nil, at(0.8), ""},
		"not far enough":           {nil, at(0.41), "it is at 41 %, and counts from 80 %"},
		"stopped":                  {nil, at(0.96).With("state", 1), "neither plays nor pauses"},
		"buffering":                {nil, at(0.96).With("state", 6), "neither plays nor pauses"},
		"counted by itself before": {[]devicetest.Media{at(0.7), at(0.85), at(0.852)}, at(0.853), "it was counted already"},
		"nothing":                  {nil, devicetest.Media{}, "the box plays nothing"},
		"a live stream":            {nil, at(0.96).With("duration", 0), "live stream"},
		"a count for a label":      {nil, devicetest.Episode("灯塔守望者", "全12集", 1400, 1440), "the label counts episodes and names none"},
	} {
		t.Run(name, func(t *testing.T) {
			b := box(t)
			h := newHome(t, named(b))
			for _, m := range c.before {
				h.sees(b, m)
			}
			counted := len(h.events)
			s := h.asks(b, c.shown)
			if !strings.Contains(s.Reason, c.reason) || (s.Reason == "") != (c.reason == "") || strings.Contains(s.Reason, "\n") {
				t.Errorf("the reason is %q", s.Reason)
			}
			if c.reason != "" {
				if len(h.events) != counted {
					t.Errorf("it counted: %q", h.short())
				}
				return
			}
			if s.Event == nil || s.Event.Outcome != Counted || len(s.Event.RecordIDs) != 1 || !s.After.Now.Settled || s.Event.Share < 0.8 {
				t.Errorf("decided is %+v, shown %+v", s.Event, s.After.Now)
			}
			// Neither the word again nor what is seen by itself counts twice.
			if again := h.asks(b, c.shown); again.Reason != "it was counted already" || len(h.events) != 1 {
				t.Errorf("again: %q, events %q", again.Reason, h.short())
			}
			h.sees(b, at(0.97))
			h.sees(b, at(0.972))
			h.sees(b, nil)
			if len(h.events) != 1 {
				t.Errorf("events are %q", h.short())
			}
		})
	}
}

func TestAPersonsWordWithoutAnAnswer(t *testing.T) {
	b := box(t)
	h := newHome(t, named(b))
	b.SwitchOff()
	if s := h.asks(b, nil); s.Reason == "" || s.Reason != s.After.Problem.Text {
		t.Errorf("a box that is off: %+v", s)
	}
	b = box(t)
	h = newHome(t, named(b))
	h.fails = errors.New("the disk is full")
	if s := h.asks(b, devicetest.Episode("灯塔守望者", "07", 1400, 1440)); s.Event != nil || !strings.Contains(s.Reason, "cannot be stored now") {
		t.Errorf("a disk that is full: %+v", s)
	}
	h.fails = nil
	if s := h.asks(b, devicetest.Episode("灯塔守望者", "07", 1400, 1440)); s.Event == nil || s.Event.Outcome != Counted || s.Reason != "" {
		t.Errorf("after it: %+v", s)
	}
}
