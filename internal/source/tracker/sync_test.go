package tracker_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/platform/task"
	"watchmark/internal/source/preview"
	"watchmark/internal/source/tracker"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/trackertest"
	"watchmark/internal/watch"
)

const historyCalls = "GET /sync/history"

func TestOnlyWhatIsWatchedAfterTheConnectionIsTakenIn(t *testing.T) {
	r := newRig(t)
	r.show(mira, 1, 300, time.Now().Add(-time.Hour)) // two pages of old plays
	r.signIn(mira)
	if got, _ := r.sync(false); got.Taken != 0 || got.Skipped != 300 {
		t.Errorf("the first run: %+v", got)
	}
	asked := r.remote.Requests()[historyCalls]
	if asked != 2 {
		t.Errorf("%d pages", asked)
	}
	if got, _ := r.sync(false); got.Outcome != tracker.UpToDate || r.remote.Requests()[historyCalls] != asked {
		t.Errorf("with nothing new: %+v", got)
	}
	r.remote.AddPlays(mira, trackertest.Play{ID: 77, WatchedAt: time.Now(), Kind: "show", Title: 1, Season: 2, Episode: 4, Tmdb: 66, Aired: "2026-04-04T16:30:00.000Z"})
	if got, _ := r.sync(false); got.Taken != 1 {
		t.Errorf("with a new play: %+v", got)
	}
	season, episode := 2, 4.0
	want := watch.Event{
		Source: watch.Tracker, Action: watch.Watched, Media: watch.Episode, Title: "节目 1", OriginalTitle: "番組 1", Season: &season, Episode: &episode,
		AirDate:   watch.Date{Year: 2026, Month: 4, Day: 5}, // half past one at night in Tokyo
		SeriesIDs: watch.IDs{"tmdb": "1001"}, ItemIDs: watch.IDs{"tmdb": "66"}, UserName: "Mira", UserID: "uuid-of-mira", ItemID: "77", RawEvent: "scrobble",
	}
	events := r.events()
	if len(events) != 1 || events[0].OccurredAt.IsZero() {
		t.Fatalf("events %+v", events)
	}
	events[0].OccurredAt = time.Time{}
	if diff := cmp.Diff(want, events[0]); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

func TestAPlayWithAnOldDateIsFound(t *testing.T) {
	r := newRig(t)
	r.show(mira, 1, 10, time.Now().Add(-100*24*time.Hour))
	r.signIn(mira)
	r.sync(false)
	r.remote.AddPlays(mira, trackertest.Play{ID: 5, WatchedAt: time.Now().Add(-900 * 24 * time.Hour), Kind: "show", Title: 1, Season: 1, Episode: 99})
	if got, _ := r.sync(false); got.Taken != 1 {
		t.Errorf("got %+v", got)
	}
	// A play that was removed moves the stamp too, and brings nothing.
	r.remote.RemovePlay(mira, 5)
	if got, _ := r.sync(false); got.Taken != 0 || got.Outcome != tracker.Taken {
		t.Errorf("after a removal: %+v", got)
	}
	if got, _ := r.sync(false); got.Outcome != tracker.UpToDate {
		t.Errorf("and then: %+v", got)
	}
	if n := len(r.events()); n != 1 {
		t.Errorf("%d records", n)
	}
}

func TestAPlayWithAnOldDateIsFoundBesideANewOne(t *testing.T) {
	r := newRig(t)
	r.show(mira, 1, 600, time.Now().Add(-100*24*time.Hour))
	r.signIn(mira)
	r.sync(false)
	before := r.remote.Requests()[historyCalls]
	r.remote.AddPlays(mira, trackertest.Play{ID: 1, WatchedAt: time.Now(), Kind: "show", Title: 1, Season: 1, Episode: 1})
	if got, _ := r.sync(false); got.Taken != 1 {
		t.Errorf("with a new play: %+v", got)
	}
	if n := r.remote.Requests()[historyCalls] - before; n != 1 {
		t.Errorf("%d pages for one new play", n)
	}
	r.remote.AddPlays(mira,
		trackertest.Play{ID: 2, WatchedAt: time.Now(), Kind: "show", Title: 1, Season: 1, Episode: 2},
		trackertest.Play{ID: 3, WatchedAt: time.Now().Add(-900 * 24 * time.Hour), Kind: "show", Title: 1, Season: 1, Episode: 3})
	if got, _ := r.sync(false); got.Taken != 2 {
		t.Errorf("with a new and an old one: %+v", got)
	}
	r.remote.RemovePlay(mira, 2)
	r.remote.AddPlays(mira, trackertest.Play{ID: 4, WatchedAt: time.Now().Add(-800 * 24 * time.Hour), Kind: "show", Title: 1, Season: 1, Episode: 4})
	if got, _ := r.sync(false); got.Taken != 1 {
		t.Errorf("with one in the place of another in the count: %+v", got)
	}
}

func TestAPlayThatAFileBroughtIsNotTakenAgain(t *testing.T) {
	r := newRig(t)
	r.signIn(mira)
	r.show(mira, 1, 2, time.Now().Add(time.Minute))
	r.imported = map[int64]bool{1_000_001: true}
	if got, _ := r.sync(true); got.Taken != 1 || got.Known != 1 {
		t.Errorf("%+v", got)
	}
}

func TestTheOverlapIsReadAgain(t *testing.T) {
	r := newRig(t)
	r.opts.Overlap = 400 * time.Hour
	r.show(mira, 1, 600, time.Now().Add(-time.Hour)) // an hour apart: 400 hours go beyond the first page
	r.signIn(mira)
	r.sync(false)
	r.remote.RemovePlay(mira, 1_000_600)
	r.remote.AddPlays(mira,
		trackertest.Play{ID: 1, WatchedAt: time.Now(), Kind: "show", Title: 1, Season: 1, Episode: 1},
		trackertest.Play{ID: 2, WatchedAt: time.Now().Add(-350 * time.Hour), Kind: "show", Title: 1, Season: 1, Episode: 2})
	if got, _ := r.sync(false); got.Taken != 2 {
		t.Errorf("got %+v", got)
	}
}

// readTo starts a full sync and holds it after some pages.
func (r *rig) readTo(pages int) (started *task.Task, goOn func()) {
	r.t.Helper()
	hold := make(chan struct{})
	r.remote.SetFault(&trackertest.Fault{Path: "/sync/history", Skip: pages, Hold: hold})
	started, err := r.service.Sync(r.t.Context(), 0, true)
	must(r.t, err)
	for {
		_, more := started.After(0)
		if started.Status().Done >= pages*250 {
			return started, func() { close(hold) }
		}
		<-more
	}
}

func TestWhatIsWatchedWhilePagesAreReadComesNextTime(t *testing.T) {
	r := newRig(t)
	r.show(mira, 1, 600, time.Now().Add(-time.Hour))
	r.signIn(mira)
	started, goOn := r.readTo(1)
	r.remote.AddPlays(mira, trackertest.Play{ID: 1, WatchedAt: time.Now(), Kind: "show", Title: 1, Season: 1, Episode: 1})
	goOn()
	r.wait(started)
	if got, _ := r.sync(false); got.Taken != 1 {
		t.Errorf("the next run: %+v", got)
	}
	if n := len(r.events()); n != 601 {
		t.Errorf("%d records", n)
	}
}

func TestAPlayRemovedWhilePagesAreReadHidesNoOther(t *testing.T) {
	r := newRig(t)
	r.show(mira, 1, 600, time.Now().Add(-time.Hour))
	r.signIn(mira)
	started, goOn := r.readTo(1)
	r.remote.RemovePlay(mira, 1_000_600) // of the first page: the second one moves up
	goOn()
	if s := r.wait(started); s.State != task.Failed || !strings.Contains(s.Message.Text, "read it again") {
		t.Errorf("ended as %+v", s)
	}
	if got, _ := r.sync(true); got.Outcome != tracker.Taken || got.Known+got.Taken != 599 {
		t.Errorf("once more: %+v", got)
	}
	if n := len(r.events()); n != 600 {
		t.Errorf("%d records", n)
	}
}

func TestPagesEndWhereTheTrackerSays(t *testing.T) {
	for name, paging := range map[string]trackertest.Paging{"smaller than asked for": {Most: 100}, "without headers": {NoHeaders: true}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.remote.SetPaging(paging)
			r.show(mira, 1, 550, time.Now().Add(-time.Hour))
			r.signIn(mira)
			if got, _ := r.sync(true); got.Taken != 550 {
				t.Errorf("got %+v", got)
			}
			r.show(mira, 2, 1, time.Now())
			if got, _ := r.sync(false); got.Taken != 1 {
				t.Errorf("with a new play: %+v", got)
			}
		})
	}
}

func TestAnswersThatAreNoneMoveNothing(t *testing.T) {
	r := newRig(t)
	r.show(mira, 1, 1, time.Now().Add(-time.Hour))
	r.signIn(mira)
	r.remote.SetFault(&trackertest.Fault{Path: "/sync/history", Status: 200}) // an object, not a list
	if got, _ := r.sync(true); got.Outcome != tracker.Failed || !strings.Contains(got.Error.Text, "cannot be read") {
		t.Errorf("got %+v", got)
	}
	r.remote.SetFault(&trackertest.Fault{Path: "/sync/history", Status: 200, Body: "[" + strings.Repeat("{},", 1_000_000) + "{}]"})
	if got, _ := r.sync(true); got.Outcome != tracker.Failed || got.Taken != 0 || !strings.Contains(got.Error.Text, "cannot be read") {
		t.Errorf("a million empty rows: %+v", got)
	}
	r.remote.SetFault(&trackertest.Fault{Path: "/sync/last_activities", Status: 200}) // without stamps
	r.sync(true)
	r.show(mira, 2, 1, time.Now())
	if got, _ := r.sync(false); got.Taken != 1 {
		t.Errorf("without stamps: %+v", got)
	}
}

func TestEverybodyIsRead(t *testing.T) {
	r := newRig(t)
	for _, who := range []string{mira, alex} {
		r.show(who, 1, 3, time.Now().Add(-time.Hour)) // their plays have the same numbers
		r.signIn(who)
	}
	r.remote.SetFault(&trackertest.Fault{Path: "/sync/", Status: 403, Times: 1})
	started, err := r.service.Sync(t.Context(), 0, true)
	must(t, err)
	status := r.wait(started)
	results, _ := task.ResultOf[[]tracker.RunResult](status)
	if status.State != task.Failed || len(results) != 2 || results[0].Outcome != tracker.Failed || results[1].Taken != 3 {
		t.Errorf("ended as %+v", status)
	}
	sync, err := r.service.SyncStatus(t.Context())
	must(t, err)
	if !strings.Contains(sync.Users[0].Error.Text, "client ID") || !sync.Users[1].Error.IsZero() {
		t.Errorf("told %+v", sync.Users)
	}
	_, err = r.service.PreviewSync(t.Context(), 0)
	if !errors.Is(err, tracker.ErrWhich) {
		t.Errorf("a preview of two: %v", err)
	}
	started, err = r.service.Sync(t.Context(), sync.Users[0].ID, true)
	must(t, err)
	r.wait(started)
	names := map[string]int{}
	for _, e := range r.events() {
		names[e.UserName]++
	}
	if names["Mira"] != 3 || names["alex"] != 3 {
		t.Errorf("records of %v", names)
	}
}

func TestAFullSyncWithAnOutageInTheMiddle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, end := rigIn(t)
		defer end()
		r.show(mira, 1, 5000, time.Now().Add(-time.Hour))
		r.signIn(mira)
		r.remote.SetFault(&trackertest.Fault{Path: "/sync/history", Skip: 10, Status: 503})
		got, status := r.sync(true)
		if got.Outcome != tracker.Failed || got.Taken != 10*250 || status.State != task.Failed {
			t.Errorf("with an outage: %+v", got)
		}
		sync, err := r.service.SyncStatus(t.Context())
		must(t, err)
		if sync.Users[0].ReadUntil != nil || sync.Users[0].Error.IsZero() {
			t.Errorf("the outage moved the watermark: %+v", sync.Users[0])
		}
		// A short one is sat out.
		r.remote.SetFault(&trackertest.Fault{Path: "/sync/history", Skip: 15, Times: 5, Status: 502})
		if got, _ = r.sync(true); got.Outcome != tracker.Taken || got.Taken != 10*250 || got.Known != 10*250 {
			t.Errorf("afterwards: %+v", got)
		}
		seen := map[string]bool{}
		events := r.events()
		for _, e := range events {
			seen[e.ItemID] = true
		}
		if len(events) != 5000 || len(seen) != 5000 {
			t.Errorf("%d records of %d plays", len(events), len(seen))
		}
	})
}

func TestWhatIsNotOfAGenreOrUnreadableHoldsNothingUp(t *testing.T) {
	r := newRig(t)
	r.signIn(mira)
	r.remote.AddTitle(trackertest.Title{Kind: "show", ID: 1, Name: "Anime", Genres: []string{"Anime", "drama"}})
	r.remote.AddTitle(trackertest.Title{Kind: "show", ID: 2, Name: "News", Genres: []string{"news"}})
	r.remote.AddTitle(trackertest.Title{Kind: "show", ID: 3, Name: "Unknown"})
	r.remote.AddTitle(trackertest.Title{Kind: "show", ID: 4, Name: "Mapped", Genres: []string{"drama"}})
	r.remote.AddTitle(trackertest.Title{Kind: "movie", ID: 5, Name: "Film", Original: "映画", Tmdb: 9, Genres: []string{"anime"}, Released: "2020-02-02"})
	r.mapped = func(titles []string) bool { return titles[0] == "Mapped" }
	at := time.Now()
	for id := 1; id <= 5; id++ {
		kind := "show"
		if id == 5 {
			kind = "movie"
		}
		r.remote.AddPlays(mira, trackertest.Play{ID: int64(id), WatchedAt: at, Kind: kind, Title: id, Season: 0, Episode: 1})
	}
	r.remote.AddPlays(mira, trackertest.Play{ID: 6, WatchedAt: at, Raw: []byte(`{"id":6,"type":"episode","show":{"title":"Anime"},"episode":"not an object"}`)})
	got, _ := r.sync(false)
	if got.Taken != 4 || got.Skipped != 1 || got.Unreadable != 1 || got.Outcome != tracker.Taken {
		t.Errorf("got %+v", got)
	}
	for _, e := range r.events() {
		if e.Title == "News" {
			t.Error("news were taken in")
		}
		if e.Title == "Film" && (e.Media != watch.Movie || e.ItemIDs["tmdb"] != "9" || e.AirDate.String() != "2020-02-02" || e.OriginalTitle != "映画" || e.Episode != nil) {
			t.Errorf("film %+v", e)
		}
		if e.Title == "Anime" && (e.Season == nil || *e.Season != 0) {
			t.Errorf("special %+v", e)
		}
	}
	// What was left out comes with a full sync, once the genres say so.
	r.opts.Genres = nil
	if got, _ := r.sync(true); got.Taken != 1 || got.Unreadable != 1 || got.Known != 4 {
		t.Errorf("with all genres: %+v", got)
	}
	if n := r.remote.Requests()["GET /shows/{id}/translations/{lang}"]; n != 4 { // 1, 3, 4, then 2
		t.Errorf("%d translations", n)
	}
}

func TestAPreviewMarksNothing(t *testing.T) {
	r := newRig(t)
	r.show(mira, 1, 12, time.Now().Add(-time.Hour))
	r.remote.AddPlays(mira, trackertest.Play{ID: 9, WatchedAt: time.Now().Add(-time.Minute), Kind: "show", Title: 1, Season: 1, Episode: 12})
	r.signIn(mira)
	started, err := r.service.PreviewSync(t.Context(), 0)
	must(t, err)
	if _, err := r.service.Sync(t.Context(), 0, true); err != nil && !errors.Is(err, tracker.ErrRunning) {
		t.Error(err)
	}
	p, is := task.ResultOf[tracker.Preview](r.wait(started))
	if !is || p.Table.Items != 12 || p.Table.Counts[preview.Mark] != 12 || len(p.Table.Rows) != 1 {
		t.Fatalf("preview %+v", p)
	}
	if row := p.Table.Rows[0]; row.Title != "节目 1" || row.SubjectID != 265 || len(row.Episodes) != 12 {
		t.Errorf("row %+v", row)
	}
	r.remote.AddTitle(trackertest.Title{Kind: "show", ID: 2, Name: "Show 1", Tmdb: 7, In: map[string]string{"cn": "节目 1"}}) // a remake
	for id := range int64(2) {
		r.remote.AddPlays(mira, trackertest.Play{ID: 20 + id, WatchedAt: time.Now().Add(-time.Minute), Kind: "show", Title: 2, Season: 1, Episode: 7})
	}
	started, err = r.service.PreviewSync(t.Context(), 0)
	must(t, err)
	if p, _ = task.ResultOf[tracker.Preview](r.wait(started)); p.Table.Items != 13 || len(p.Table.Rows) != 2 {
		t.Errorf("with a remake: %+v", p.Table)
	}
	if n := len(r.events()); n != 0 {
		t.Errorf("%d records", n)
	}
}

func TestAFullSyncCanBeCancelled(t *testing.T) {
	r := newRig(t)
	r.show(mira, 1, 1000, time.Now().Add(-time.Hour))
	r.signIn(mira)
	started, goOn := r.readTo(2)
	if _, err := r.service.Sync(t.Context(), 0, true); !errors.Is(err, tracker.ErrRunning) {
		t.Errorf("a second one: %v", err)
	}
	must(t, r.tasks.Cancel(t.Context(), started.Status().ID))
	if s := r.wait(started); s.State != task.Cancelled {
		t.Errorf("ended as %+v", s)
	}
	goOn()
	if n := len(r.events()); n != 500 {
		t.Errorf("%d records", n)
	}
	r.remote.SetFault(nil)
	if got, _ := r.sync(true); got.Taken != 500 || got.Known != 500 {
		t.Errorf("gone on: %+v", got)
	}
}

// The hold of the job keeps two processes from reading at once. Here the first loses it in the middle.
func TestTwoProcessesReadingAtOnceDoubleNothing(t *testing.T) {
	one := newRig(t)
	two := rigOn(t, one.dir, one.remote, one.url)
	one.show(mira, 1, 1500, time.Now().Add(-time.Hour))
	one.signIn(mira)
	a, err := one.service.Sync(t.Context(), 0, true)
	must(t, err)
	if _, err := two.service.Sync(t.Context(), 0, true); !errors.Is(err, tracker.ErrRunning) {
		t.Errorf("beside another process: %v", err)
	}
	must(t, one.db.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM holds")
		return err
	}))
	b, err := two.service.Sync(t.Context(), 0, true)
	must(t, err)
	for _, s := range []task.Status{one.wait(a), two.wait(b)} {
		if s.State != task.Done {
			t.Errorf("ended as %+v", s)
		}
	}
	if n := len(one.events()); n != 1500 {
		t.Errorf("%d records", n)
	}
}

// run lets the service work by itself until stop.
func (r *rig) run() (stop func()) {
	ctx, cancel := context.WithCancel(r.t.Context())
	ended := make(chan struct{})
	go func() { r.jobs.Run(ctx); close(ended) }()
	return func() { cancel(); <-ended }
}

func TestTheScheduleReadsAndTriesAgain(t *testing.T) {
	dbtest.InBubble(t)
	synctest.Test(t, func(t *testing.T) {
		r, end := rigIn(t)
		defer end()
		r.signIn(mira)
		r.show(mira, 1, 1, time.Now().Add(time.Minute))
		stop := r.run()
		time.Sleep(5 * time.Hour)
		if n := len(r.events()); n != 0 {
			t.Errorf("%d records before it is time", n)
		}
		time.Sleep(70 * time.Minute)
		if n := len(r.events()); n != 1 {
			t.Errorf("%d records when it is time", n)
		}
		r.show(mira, 2, 1, time.Now())
		r.remote.SetFault(&trackertest.Fault{Path: "/sync/", Status: 503, Times: 10})
		time.Sleep(6*time.Hour + 10*time.Minute)
		if n := len(r.events()); n != 1 {
			t.Errorf("%d records in an outage", n)
		}
		time.Sleep(2 * time.Hour)
		if n := len(r.events()); n != 2 {
			t.Errorf("%d records after the outage: %s", n, fmt.Sprint(r.service.SyncStatus(t.Context())))
		}
		r.show(mira, 3, 1, time.Now())
		r.remote.SetFault(&trackertest.Fault{Path: "/sync/", Status: 429, RetryAfter: 4 * 3600, Times: 1})
		time.Sleep(5 * time.Hour)
		if n := len(r.events()); n != 2 {
			t.Errorf("%d records while the tracker wants to be left alone", n)
		}
		time.Sleep(4 * time.Hour)
		if n := len(r.events()); n != 3 {
			t.Errorf("%d records afterwards", n)
		}
		stop()
		r.opts.Enabled = false
		if _, err := r.service.Sync(t.Context(), 0, false); !errors.Is(err, tracker.ErrOff) {
			t.Errorf("switched off: %v", err)
		}
	})
}

func TestARunThatWasDueWhileTheServiceWasOffIsMadeUpFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, end := rigIn(t)
		defer end()
		r.signIn(mira)
		r.show(mira, 1, 1, time.Now().Add(time.Minute))
		time.Sleep(7 * time.Hour)
		again := rigOn(t, r.dir, r.remote, r.url)
		defer func() { _ = again.tasks.Stop(context.Background()); _ = again.db.Close() }()
		stop := again.run()
		time.Sleep(time.Minute)
		if n := len(r.events()); n != 1 {
			t.Errorf("%d records", n)
		}
		stop()
	})
}

func TestARunWaitsAsLongAsTheTrackerAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, end := rigIn(t)
		defer end()
		r.signIn(mira)
		for name, c := range map[string]struct {
			fault trackertest.Fault
			least time.Duration
		}{
			"429":                 {trackertest.Fault{Path: "/sync/history", Status: 429, RetryAfter: 120, Times: 1}, 2 * time.Minute},
			"429 of the firewall": {trackertest.Fault{Path: "/sync/history", Status: 429, HTML: true, Times: 1}, time.Minute},
			"503 twice":           {trackertest.Fault{Path: "/sync/history", Status: 503, Times: 2}, 90 * time.Second},
			"429 for a title":     {trackertest.Fault{Path: "/shows/", Status: 429, RetryAfter: 20, Times: 1}, 20 * time.Second},
			"a title cut off":     {trackertest.Fault{Path: "/shows/", Times: 2}, 30 * time.Second},
		} {
			r.show(mira, len(r.events())+1, 1, time.Now())
			r.remote.SetFault(&c.fault)
			began := time.Now()
			if got, _ := r.sync(true); got.Taken != 1 || time.Since(began) < c.least {
				t.Errorf("%s: after %s %+v", name, time.Since(began), got)
			}
		}
	})
}

// TestEachReadingCountsItsOwnPlays has a status tell of the last reading what that took in, beside all there is.
func TestEachReadingCountsItsOwnPlays(t *testing.T) {
	r := newRig(t)
	r.signIn(mira)
	r.sync(false)
	for i, plays := range []int{3, 2, 0} {
		if plays > 0 {
			r.show(mira, i+1, plays, time.Now())
		}
		r.sync(false)
		status, err := r.service.SyncStatus(t.Context())
		must(t, err)
		if got := status.Users[0]; got.LastTaken != plays || got.Taken != []int{3, 5, 5}[i] {
			t.Errorf("reading %d: %+v", i, got)
		}
	}
}
