package watcher

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"watchmark/internal/platform/task"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/source/preview"
	"watchmark/internal/testkit/mediaservertest"
	"watchmark/internal/watch"
)

func TestTwoSignInsAtOnceAreOneLogin(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if _, err := r.service.Add(context.Background(), NewLogin{Kind: mediaserver.Jellyfin, URL: "http://attic:8096", Credentials: Credentials{"mira", "pass"}}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		logins, err := r.service.Logins(t.Context())
		must(t, err)
		if len(logins) != 1 {
			t.Errorf("%d logins of one person", len(logins))
		}
	})
}

// TestARemovedLoginTakesNothingMore removes a login while its server is read for somebody.
func TestARemovedLoginTakesNothingMore(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		for n := range 3 {
			r.fake.episode(strconv.Itoa(n), "Star", 1, float64(n+1))
		}
		r.fake.noPush = true
		r.run()
		l := r.signIn()
		rest()
		r.fake.play("0")
		r.fake.meanwhile = func() { must(t, r.service.Remove(context.Background(), l.ID)) }
		started, err := r.service.Sync(t.Context(), l.ID)
		must(t, err)
		rest()
		if state := started.Status().State; state == task.Done {
			t.Errorf("reading a login that was removed is %s", state)
		}
		r.expect("after the login was removed")
	})
}

// TestAClockThatWasAhead has the server's clock be wrong once, as after a power failure.
func TestAClockThatWasAhead(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		for n := range 3 {
			r.fake.episode(strconv.Itoa(n), "Star", 1, float64(n+1))
		}
		r.fake.noPush = true
		r.fake.skew = 40 * 365 * 24 * time.Hour
		r.fake.play("0")
		r.run()
		l := r.signIn()
		rest()
		r.fake.play("1")
		time.Sleep(2 * time.Hour)
		r.expect("with a clock that is ahead", "Star S1 E2")
		r.fake.change(func() { r.fake.skew = 0 })
		time.Sleep(2 * time.Hour)
		r.fake.play("2")
		time.Sleep(2 * time.Hour)
		r.expect("with the clock set right", "Star S1 E2", "Star S1 E3")
		all := r.events()
		if at := all[len(all)-1].OccurredAt; time.Since(at).Abs() > 3*time.Hour {
			t.Errorf("it was played at %s", at)
		}
		k, err := r.service.store.get(t.Context(), l.ID)
		must(t, err)
		if k.cursor.After(time.Now().Add(time.Hour)) || k.ComparedAt.After(time.Now().Add(time.Hour)) {
			t.Errorf("it is read from %s on, compared at %s", k.cursor, k.ComparedAt)
		}
	})
}

// TestHowMuchIsKnownIsBounded has a server tell of more than anybody can have watched.
func TestHowMuchIsKnownIsBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		for n := range 3 {
			r.fake.episode(strconv.Itoa(n), "Star", 1, float64(n+1))
		}
		r.run()
		l := r.signIn()
		rest()
		must(t, r.service.store.write(t.Context(), l.ID, `UPDATE media_logins SET known = ? WHERE id = ?`, knownMost, l.ID))
		r.fake.play("0")
		rest()
		r.expect("with as many as can be")
		if now := r.login(l.ID); now.State != Refused || now.Problem.Code != tooMuch.Code() {
			t.Errorf("it is %s: %s", now.State, now.Problem)
		}
	})
}

func TestLibrariesOfALoginAreBounded(t *testing.T) {
	var before []library
	for n := range 50 {
		var now []mediaserver.Library
		for i := range 200 {
			now = append(now, mediaserver.Library{ID: fmt.Sprint(n, "-", i), Kind: "show"})
		}
		before = merge(before, now)
	}
	if len(before) > librariesMost || before[0].ID != "49-0" {
		t.Errorf("%d libraries are kept, the first is %s", len(before), before[0].ID)
	}
}

// TestWhatCannotBeMarkedIsLoggedSparingly has a server tell of many plays without a number.
func TestWhatCannotBeMarkedIsLoggedSparingly(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.fake.noPush = true
		r.run()
		l := r.signIn()
		rest()
		for n := range 400 {
			i := r.fake.episode(fmt.Sprint(n), "Star", 1, 1)
			i.Report.Event.Episode = nil
			r.fake.mark(true, fmt.Sprint(n))
		}
		_, err := r.service.Sync(t.Context(), l.ID)
		must(t, err)
		rest()
		if lines := strings.Count(r.logs.String(), "cannot be marked"); lines == 0 || lines > 2*skippedLogged {
			t.Errorf("%d lines", lines)
		}
	})
}

// TestHeldPlaysAnsweredTwiceAtOnce has two people, or one with two clicks, answer together.
func TestHeldPlaysAnsweredTwiceAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var ids []string
		for n := range 40 {
			r.fake.episode(strconv.Itoa(n), "Star", 1, float64(n+1))
			ids = append(ids, strconv.Itoa(n))
		}
		r.run()
		l := r.signIn()
		rest()
		r.fake.mark(true, ids...)
		rest()
		if held := r.login(l.ID).Held; len(held) != 1 || len(held[0].Episodes) != 40 {
			t.Fatalf("held: %+v", held)
		}
		var all sync.WaitGroup
		for n := range 6 {
			all.Go(func() {
				if err := r.service.Answer(context.Background(), l.ID, n > 0); err != nil && !errors.Is(err, ErrNothingHeld) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if got := len(r.events()); got != 0 && got != 40 {
			t.Errorf("%d records of 40 plays", got)
		}
		if len(r.login(l.ID).Held) > 0 {
			t.Error("some are held still")
		}
	})
}

// TestASeasonMarkedWhereTheLibraryIsNotTold has more marked by hand than is taken without a question, on a server that does not tell
// of which library the episodes are.
func TestASeasonMarkedWhereTheLibraryIsNotTold(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var ids []string
		for n := range 2*burst + 5 {
			r.fake.episode(strconv.Itoa(n), "Star", 1, float64(n+1))
			ids = append(ids, strconv.Itoa(n))
		}
		r.fake.untold = true
		r.run()
		l := r.signIn()
		rest()
		for n, id := range ids { // each with a date of its own
			r.fake.set(id, mediaserver.State{Played: true, Count: 1, At: r.fake.now().Add(time.Duration(n) * time.Millisecond)})
		}
		r.fake.push(ids...)
		rest()
		r.expect("a season that was marked")
		now := r.login(l.ID)
		if len(now.Held) != 1 || len(now.Held[0].Episodes) != len(ids) || now.CatchUp.Held != len(ids) {
			t.Errorf("held: %+v, of the catch-up %+v", now.Held, now.CatchUp)
		}
	})
}

// TestNothingIsWrittenForARemovedLogin removes a login whose sign-out the server does not take, while its list is being looked up.
func TestNothingIsWrittenForARemovedLogin(t *testing.T) {
	r := newSeedRig(t, mediaservertest.Jellyfin, "", 2)
	r.connected()
	before, list := r.data(), r.service.ForecastFor
	r.service.ForecastFor = func(account int64) preview.OfList {
		of := list(account)
		return func(ctx context.Context, e watch.Event) (preview.Verdict, error) {
			r.server.SetFault(&mediaservertest.Fault{Path: "Logout", Status: http.StatusBadGateway})
			if err := r.service.Remove(ctx, r.login.ID); err != nil && !errors.Is(err, ErrNotFound) {
				t.Error(err)
			}
			return of(ctx, e)
		}
	}
	if s, _ := r.ends(r.seed(SeedRequest{})); s.State != task.Failed {
		t.Errorf("the task is %s", s.State)
	}
	r.differ("written after the login was removed", before, r.data())
}
