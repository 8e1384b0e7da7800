package watcher

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"watchmark/internal/source/mediaserver"
	"watchmark/internal/watch"
)

// season adds episodes of a show and answers their ids.
func (f *fakeServer) season(show string, n int) []string {
	var ids []string
	for i := range n {
		id := fmt.Sprintf("%s-%d", show, i+1)
		f.episode(id, show, 1, float64(i+1))
		ids = append(ids, id)
	}
	return ids
}

func TestASeasonThatIsMarkedByHandIsTakenWhole(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		ids := r.fake.season("Star", 24)
		l := r.signIn()
		r.run()
		r.fake.mark(true, ids...)
		rest()
		if n := len(r.events()); n != 24 {
			t.Errorf("%d records", n)
		}
		if got := r.login(l.ID); len(got.Held) != 0 || got.Known != 24 {
			t.Errorf("login %+v", got)
		}
	})
}

func TestMoreThanALimitAtOnceAskAPerson(t *testing.T) {
	for name, c := range map[string]struct {
		off, take bool
		dated     func(n int) time.Duration
	}{
		"in one push, and taken":                            {take: true},
		"in one push, and dismissed":                        {},
		"while the service was off, without dates":          {off: true, take: true},
		"while the service was off, all with one date":      {off: true, dated: func(int) time.Duration { return 123 * time.Millisecond }},
		"while it was off, at a server of whole seconds":    {off: true, dated: func(int) time.Duration { return 0 }},
		"while it was off, dated one after the other":       {off: true, dated: func(n int) time.Duration { return time.Duration(n) * 30 * time.Millisecond }},
		"while it was off, one after the other, in seconds": {off: true, dated: func(n int) time.Duration { return time.Duration(n/20) * time.Second }},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				ids := r.fake.season("Star", 100)
				r.fake.episode("other", "Comet", 1, 1)
				for _, id := range ids { // begun long ago: a mark without a date keeps that
					r.fake.set(id, mediaserver.State{At: time.Now().Add(-1000 * time.Hour), Count: 1})
				}
				l := r.signIn()
				r.run()
				if c.off {
					r.stop()
				}
				if c.dated == nil {
					r.fake.mark(false, ids...)
				} else {
					for n, id := range ids {
						r.fake.set(id, mediaserver.State{Played: true, Count: 2, At: time.Now().Truncate(time.Second).Add(c.dated(n))})
					}
				}
				if c.off {
					r.restart()
				}
				rest()
				r.expect("before the answer")
				got := r.login(l.ID)
				if len(got.Held) != 1 || got.Held[0].Title != "Star" || len(got.Held[0].Episodes) != 100 || *got.Held[0].Season != 1 {
					t.Fatalf("held %+v of %+v", got.Held, got.CatchUp)
				}
				r.fake.play("other")
				rest()
				r.expect("of what is not held", "Comet S1 E1")
				must(t, r.service.Answer(t.Context(), l.ID, c.take))
				want := 1
				if c.take {
					want = 101
				}
				time.Sleep(30 * time.Hour)
				events := r.events()
				if len(events) != want {
					t.Errorf("%d records, not %d", len(events), want)
				}
				for _, e := range events[1:] {
					if e.RawEvent != seenHeld || e.UserName != "mira" {
						t.Errorf("event %+v", e)
					}
				}
				if err := r.service.Answer(t.Context(), l.ID, true); !errors.Is(err, ErrNothingHeld) {
					t.Errorf("another answer: %v", err)
				}
			})
		})
	}
}

// TestManyShortPlaysOfSeveralShows: what a server tells of one moment is a mark by hand only where it is much of one show.
func TestManyShortPlaysOfSeveralShows(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var ids []string
		for _, show := range []string{"Star", "Comet", "Moon"} {
			ids = append(ids, r.fake.season(show, 24)...)
		}
		l := r.signIn()
		r.run()
		r.stop()
		time.Sleep(time.Hour)
		for _, id := range ids {
			r.fake.set(id, mediaserver.State{Played: true, Count: 1, At: time.Now()})
		}
		r.restart()
		rest()
		if n := len(r.events()); n != len(ids) || len(r.login(l.ID).Held) != 0 {
			t.Errorf("%d records of %d, held %+v", n, len(ids), r.login(l.ID).Held)
		}
	})
}

func TestFewMarksByHandWhileTheServiceWasOff(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		ids := r.fake.season("Star", 12)
		for _, id := range ids {
			r.fake.set(id, mediaserver.State{At: time.Now().Add(-1000 * time.Hour), Count: 1})
		}
		r.signIn()
		r.run()
		r.stop()
		time.Sleep(time.Hour)
		r.fake.mark(false, ids...) // the dates lie: only the count tells
		r.restart()
		events := r.events()
		if len(events) != 12 {
			t.Fatalf("%d records", len(events))
		}
		for _, e := range events {
			if !e.OccurredAt.IsZero() {
				t.Errorf("marked when nobody knows, told as at %v", e.OccurredAt)
			}
		}
	})
}

func TestAMarkThatKeepsItsOldDateIsFoundWithinTheHour(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.fake.noPush = true
		r.fake.episode("a", "Star", 1, 1)
		r.fake.set("a", mediaserver.State{At: time.Now().Add(-1000 * time.Hour), Count: 1, Position: time.Minute})
		r.signIn()
		r.run()
		time.Sleep(2 * time.Hour)
		r.fake.mark(false, "a")
		time.Sleep(76 * time.Minute)
		r.expect("by the count", "Star S1 E1")
	})
}

func TestWithoutACountItIsFoundWithinADay(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.fake.noPush = true
		r.fake.cannot["count"] = true
		r.fake.season("Old", 300)
		for n := range 300 {
			r.fake.set(fmt.Sprintf("Old-%d", n+1), mediaserver.State{Played: true, Count: 1, At: time.Now().Add(-time.Duration(n+1) * time.Hour)})
		}
		r.fake.episode("a", "Star", 1, 1)
		r.fake.set("a", mediaserver.State{At: time.Now().Add(-1000 * time.Hour), Count: 1})
		l := r.signIn()
		r.run()
		r.fake.mark(false, "a")
		time.Sleep(3 * time.Hour)
		r.expect("after some catch-ups")
		if got := r.login(l.ID); got.CatchUp.Full || got.CatchUp.Known == 0 {
			t.Errorf("catch-up %+v", got.CatchUp)
		}
		time.Sleep(22 * time.Hour)
		r.expect("after a comparison", "Star S1 E1")
	})
}

func TestAServerWhoseClockIsADayAhead(t *testing.T) {
	for name, skew := range map[string]time.Duration{"ahead": 24 * time.Hour, "behind": -24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				r.fake.skew = skew
				r.fake.season("Star", 4)
				r.fake.set("Star-4", mediaserver.State{Played: true, Count: 1, At: r.fake.now().Add(-time.Hour)})
				l := r.signIn()
				r.run()
				r.fake.play("Star-1")
				rest()
				r.stop()
				r.fake.play("Star-2")
				r.fake.play("Star-3")
				r.restart()
				r.expect("live and caught up", "Star S1 E1", "Star S1 E2", "Star S1 E3")
				for _, e := range r.events() {
					if since := time.Since(e.OccurredAt); since < 0 || since > 2*time.Hour {
						t.Errorf("told as %v ago: %+v", since, e)
					}
				}
				if got := r.login(l.ID); got.SkewSeconds != int(skew.Seconds()) {
					t.Errorf("skew %d", got.SkewSeconds)
				}
			})
		})
	}
}

func TestAnItemThatIsDeletedAndAddedAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.fake.season("Star", 2)
		l := r.signIn()
		r.run()
		r.fake.play("Star-1")
		rest()
		at := r.fake.item("Star-1").State.At
		r.fake.change(func() { r.fake.items = r.fake.items[1:] })
		r.fake.episode("again", "Star", 1, 1)
		r.fake.set("again", mediaserver.State{Played: true, Count: 1, At: at})
		r.fake.push("again")
		time.Sleep(26 * time.Hour)
		r.expect("the same play", "Star S1 E1")
		if got := r.login(l.ID); got.Known != 2 {
			t.Errorf("known %d", got.Known)
		}
		r.fake.play("again")
		rest()
		r.expect("another play", "Star S1 E1", "Star S1 E1")
	})
}

func TestAFileReplacedInAWholeLibraryMarksNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		ids := r.fake.season("Star", 60)
		for n, id := range ids {
			r.fake.set(id, mediaserver.State{Played: true, Count: 1, At: time.Now().Add(-time.Duration(n+10) * time.Hour)})
		}
		r.signIn()
		r.run()
		r.stop()
		r.fake.change(func() {
			for _, i := range r.fake.items { // the library was moved: all ids are new
				i.Report.Event.ItemID = "new-" + i.Report.Event.ItemID
			}
			r.fake.version = "10.11.7"
		})
		r.restart()
		time.Sleep(26 * time.Hour)
		r.expect("after the move")
	})
}

func TestTheFirstSightOfALibraryThatIsPickedLater(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.fake.season("Star", 1)
		for n := range 3 {
			i := r.fake.episode(fmt.Sprint("home-", n), "At home", 1, float64(n+1))
			i.Library, i.State = "home", mediaserver.State{Played: true, Count: 1, At: time.Now().Add(-time.Hour)}
		}
		l := r.signIn()
		r.run()
		got := r.login(l.ID)
		if len(got.Libraries) != 2 || !got.Libraries[0].Picked || got.Libraries[1].Picked || got.Known != 0 {
			t.Fatalf("libraries %+v, %d known", got.Libraries, got.Known)
		}
		r.fake.end("home-0", length)
		r.fake.mark(true, "home-0")
		rest()
		r.expect("of a library that is not picked")
		_, err := r.service.Change(t.Context(), l.ID, Change{Libraries: &[]string{"anime", "home"}})
		must(t, err)
		rest()
		r.expect("of a library that was just picked")
		if got := r.login(l.ID); got.Known != 3 {
			t.Errorf("%d known", got.Known)
		}
		i := r.fake.episode("home-9", "At home", 1, 9)
		i.Library = "home"
		r.fake.play("home-9")
		rest()
		r.expect("of a library that is picked", "At home S1 E9")
		pick := func(ids ...string) {
			_, err := r.service.Change(t.Context(), l.ID, Change{Libraries: &ids})
			must(t, err)
			rest()
		}
		pick("anime")
		again := r.fake.episode("home-10", "At home", 1, 10)
		again.Library = "home"
		r.fake.play("home-10")
		pick("anime", "home")
		r.expect("of a library that was not picked for a while", "At home S1 E9")
		_, err = r.service.Change(t.Context(), l.ID, Change{Libraries: &[]string{"nowhere"}})
		if err == nil {
			t.Error("a library that is not there is picked")
		}
	})
}

func TestAServerThatDoesNotTellTheLibrary(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.fake.season("Star", 1)
		r.fake.episode("home", "At home", 1, 1).Library = "home"
		r.fake.untold = true
		r.signIn()
		r.run()
		r.fake.play("home")
		r.fake.play("Star-1")
		rest()
		r.expect("by a catch-up at once", "Star S1 E1")
	})
}

func TestWhatCannotBeMarkedIsSkipped(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.fake.season("Star", 1)
		r.fake.episode("odd", "Star", 0, 0).Report.Event.Episode = nil
		r.fake.episode("untitled", "", 1, 1)
		r.fake.film("film", "Comet", 2020)
		two := r.fake.episode("two", "Star", 1, 5)
		two.Report.LastEpisode = new(6.0)
		l := r.signIn()
		r.run()
		for _, id := range []string{"odd", "untitled", "film", "two"} {
			r.fake.play(id)
		}
		rest()
		r.expect("what can be marked", "Comet", "Star S1 E5", "Star S1 E6")
		time.Sleep(25 * time.Hour)
		if got := r.login(l.ID); got.Known != 4 || got.CatchUp.Skipped != 0 {
			t.Errorf("login %+v, %+v", got, got.CatchUp)
		}
	})
}

func TestEventsHaveWhatMatchingNeeds(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.fake.season("Star", 3)
		r.fake.shows = []mediaserver.Show{{ID: "series of Star", Title: "Star", Original: "星の標", Year: 2024, IDs: watch.IDs{"tvdb": "900002"}}}
		r.signIn()
		r.run()
		r.fake.play("Star-1")
		r.fake.play("Star-2")
		rest()
		for _, e := range r.events() {
			if e.Source != watch.Watcher || e.Action != watch.Watched || e.SeriesIDs["tvdb"] != "900002" || e.OriginalTitle != "星の標" || e.UserName != "mira" ||
				e.UserID != "id of mira" || e.ServerID != "server-1" || e.ServerName != "attic" || e.Library != "动画" || e.RawEvent != seenLive {
				t.Errorf("event %+v", e)
			}
		}
		if n := r.fake.asked("shows"); n != 1 {
			t.Errorf("the show is asked for %d times", n)
		}
		// A webhook of the same server without the ids profits.
		ids, _, err := r.series.Find(t.Context(), watch.Event{Source: watch.Jellyfin, ServerID: "server-1", SeriesID: "series of Star", Title: "Star", Media: watch.Episode, Season: new(1), Episode: new(3.0)})
		if err != nil || ids["tvdb"] != "900002" {
			t.Errorf("found %v, %v", ids, err)
		}
	})
}

// webhook is an event of a webhook of the fake server.
func TestShowsAreForgottenBeforeAPageAndNotWithinIt(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		for n, title := range []string{"Star", "Comet"} {
			r.fake.shows = append(r.fake.shows, mediaserver.Show{ID: "series of " + title, Title: title, IDs: watch.IDs{"tvdb": fmt.Sprint(900001 + n)}})
		}
		fill := func(known shows, titles ...string) []*mediaserver.Item {
			var items []*mediaserver.Item
			for _, title := range titles {
				i := *r.fake.episode("1 of "+title, title, 1, 1)
				items = append(items, &i)
			}
			must(t, r.service.fill(t.Context(), Login{}, &fakeClient{fakeServer: r.fake}, known, items))
			return items
		}
		known := shows{}
		fill(known, "Star")
		for n := range showsMost - 1 {
			known[fmt.Sprint("other ", n)] = mediaserver.Show{}
		}
		for _, i := range fill(known, "Star", "Comet") {
			if len(i.Report.Event.SeriesIDs) == 0 {
				t.Errorf("no ids of %s", i.Report.Event.Title)
			}
		}
		if len(known) > showsMost {
			t.Errorf("%d shows are known", len(known))
		}
	})
}

func webhook(id string, number float64) watch.Event {
	return watch.Event{
		Source: watch.Jellyfin, Action: watch.Watched, Media: watch.Episode, Title: "Star", Season: new(1), Episode: &number,
		UserName: "mira", UserID: "id of mira", ServerID: "server-1", ItemID: id,
	}
}

// hear has a webhook come in, as the engine does it.
func (r *rig) hear(e watch.Event) (seen bool) {
	r.t.Helper()
	must(r.t, r.db.Write(r.t.Context(), func(ctx context.Context, tx *sql.Tx) (err error) {
		seen, err = r.service.SeenTx(ctx, tx, e)
		return err
	}))
	return seen
}

func TestOnePlayByBothWaysIsOneRecord(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(e *watch.Event)
		first   bool // the webhook comes first
		unknown bool // it is about another play
	}{
		"the webhook first":                        {first: true},
		"the webhook afterwards":                   {},
		"ids with dashes":                          {change: func(e *watch.Event) { e.ServerID, e.UserName = "Server-1", "Mira (TV)" }},
		"no ids, afterwards":                       {change: func(e *watch.Event) { e.ServerID, e.ItemID, e.UserID = "", "", "" }},
		"no ids, first":                            {first: true, change: func(e *watch.Event) { e.ServerID, e.ItemID, e.UserID = "", "", "" }},
		"the item of another library, afterwards":  {change: func(e *watch.Event) { e.ItemID = "4k" }},
		"the item of another library, first":       {first: true, change: func(e *watch.Event) { e.ItemID = "4k" }},
		"another server":                           {unknown: true, change: func(e *watch.Event) { e.ServerID = "server-2" }},
		"another person":                           {unknown: true, change: func(e *watch.Event) { e.UserName, e.UserID = "alex", "id of alex" }},
		"another episode":                          {unknown: true, change: func(e *watch.Event) { e.ItemID, e.Episode = "Star-2", new(2.0) }},
		"another server, first":                    {unknown: true, first: true, change: func(e *watch.Event) { e.ServerID = "server-2" }},
		"the beginning, which is another matter":   {unknown: true, change: func(e *watch.Event) { e.Action = watch.Started }},
		"another episode by the name alone, first": {unknown: true, first: true, change: func(e *watch.Event) { e.ServerID, e.ItemID, e.Episode = "", "", new(2.0) }},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				r.fake.season("Star", 2)
				l := r.signIn()
				r.run()
				e := webhook("Star-1", 1)
				if c.change != nil {
					c.change(&e)
				}
				r.fake.begin("Star-1")
				time.Sleep(length)
				if c.first {
					if r.hear(e) {
						t.Error("seen before it was")
					}
				}
				r.fake.end("Star-1", length)
				rest()
				want := 1
				if c.first && !c.unknown {
					want = 0
				}
				if n := len(r.events()); n != want {
					t.Errorf("%d records of the login, not %d", n, want)
				}
				if !c.first && r.hear(e) == c.unknown {
					t.Errorf("seen: %v", !c.unknown)
				}
				time.Sleep(30 * time.Hour) // catch-ups and a comparison
				if n := len(r.events()); n != want {
					t.Errorf("%d records of the login a day later, not %d", n, want)
				}
				about := e.Action == watch.Watched && e.UserName != "alex" && e.ServerID != "server-2"
				if got := r.login(l.ID); got.Webhook != about {
					t.Errorf("webhooks come: %v, not %v", got.Webhook, about)
				}
			})
		})
	}
}

func TestAReWatchAfterAWebhook(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.fake.season("Star", 1)
		r.signIn()
		r.run()
		r.fake.begin("Star-1")
		time.Sleep(length)
		r.hear(webhook("Star-1", 1))
		r.fake.end("Star-1", length)
		rest()
		r.expect("told by the webhook")
		time.Sleep(24 * time.Hour)
		r.fake.play("Star-1") // no webhook this time
		rest()
		r.expect("once more", "Star S1 E1")
	})
}

// What webhooks tell while a login is switched off is known when it is switched on again, and that of before the first look, too.
func TestWebhooksWhileALoginIsOff(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		ids := r.fake.season("Star", 3)
		l := r.signIn()
		r.run()
		_, err := r.service.Change(t.Context(), l.ID, Change{Enabled: new(false)})
		must(t, err)
		rest()
		r.fake.play(ids[0])
		r.hear(webhook(ids[0], 1))
		r.stop()
		r.end()
		again := newRig(t, r.dir, r.fake)
		*r = *again
		r.fake.play(ids[1])
		r.hear(webhook(ids[1], 2))
		r.run()
		r.fake.play(ids[2])
		time.Sleep(24 * time.Hour)
		_, err = r.service.Change(t.Context(), l.ID, Change{Enabled: new(true)})
		must(t, err)
		rest()
		r.expect("what no webhook told", "Star S1 E3")
	})
}

func TestAWebhookOfSomebodyElseCostsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.run()
		if seen, err := r.service.SeenTx(t.Context(), nil, webhook("x", 1)); seen || err != nil { // a query would panic
			t.Errorf("seen: %v, %v", seen, err)
		}
	})
}

// A webhook that is stored between the look-up and the records makes the watcher look again.
func TestAWebhookInBetween(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.fake.season("Star", 1)
		l := r.signIn()
		r.run()
		r.fake.change(func() {
			r.fake.meanwhile = func() { r.hear(webhook("Star-1", 1)) } // while the show is asked for, after the look-up
		})
		r.fake.play("Star-1")
		rest()
		r.expect("taken by the webhook")
		if got := r.login(l.ID); got.State != Connected || got.Known != 1 {
			t.Errorf("login %+v", got)
		}
	})
}

func TestACatchUpThatIsCutOff(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.fake.page = 5
		ids := r.fake.season("Star", 23)
		l := r.signIn()
		r.run()
		r.stop()
		want := []string{}
		for n, id := range ids {
			r.fake.play(id)
			want = append(want, fmt.Sprintf("Star S1 E%d", n+1))
		}
		for round := 3; round < 12; round++ {
			r.fake.change(func() { r.fake.failAt = round })
			r.restart()
			time.Sleep(time.Duration(round) * time.Second)
		}
		time.Sleep(10 * time.Minute)
		r.expect("in the end", slices.Clone(want)...)
		if got := r.login(l.ID); got.CatchUp.Error.Code != "" || got.State != Connected {
			t.Errorf("login %+v", got.CatchUp)
		}
	})
}

func TestPlaysAreTakenInTheirOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		ids := r.fake.season("Star", 5)
		r.signIn()
		r.run()
		r.fake.mark(true, ids[4], ids[2], ids[3]) // by hand, with one date
		rest()
		r.stop()
		r.fake.play(ids[0])
		r.fake.play(ids[1])
		r.restart()
		rest()
		var got []float64
		for _, e := range r.events() {
			got = append(got, *e.Episode)
		}
		if want := []float64{3, 4, 5, 1, 2}; !slices.Equal(got, want) {
			t.Errorf("episodes %v, want %v", got, want)
		}
	})
}
