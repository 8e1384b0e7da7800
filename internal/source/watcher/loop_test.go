package watcher

import (
	"errors"
	"testing"
	"time"

	"watchmark/internal/source/mediaserver"
)

func TestAPlayIsTakenWhenItEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.fake.episode("old", "Star", 1, 1).State.Played = true
		r.fake.episode("new", "Star", 1, 2)
		l := r.signIn()
		r.run()
		if l = r.login(l.ID); l.State != Connected || l.Way != Live || l.Known != 1 || l.CatchUp == nil || l.ComparedAt == nil {
			t.Fatalf("connected as %+v", l)
		}
		r.expect("at the first sight")
		r.fake.begin("new")
		rest()
		r.expect("at the beginning")
		time.Sleep(20 * time.Minute)
		r.fake.end("new", 23*time.Minute)
		rest()
		r.expect("at the end", "Star S1 E2")
		r.fake.mark(true, "new")
		rest()
		time.Sleep(25 * time.Hour) // some catch-ups and a comparison
		r.expect("a day later", "Star S1 E2")
		l = r.login(l.ID)
		if l.LastEvent != "Star S1 E2" || l.Known != 2 || time.Since(*l.ComparedAt) > 2*time.Hour {
			t.Errorf("login %+v", l)
		}
	})
}

func TestWhatIsPlayedWhileTheServiceIsOffIsTaken(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		for n := range 4 {
			r.fake.episode(string(rune('a'+n)), "Star", 1, float64(n+1))
		}
		r.signIn()
		r.run()
		r.stop()
		for _, id := range []string{"a", "b", "c"} {
			r.fake.play(id)
		}
		r.restart()
		r.expect("after the start", "Star S1 E1", "Star S1 E2", "Star S1 E3")
		for _, e := range r.events() {
			if time.Since(e.OccurredAt) > 80*time.Minute || e.RawEvent != seenCatchUp {
				t.Errorf("event %+v", e)
			}
		}
		r.restart()
		r.expect("after another start", "Star S1 E1", "Star S1 E2", "Star S1 E3")
	})
}

func TestWhatIsPlayedWhileTheConnectionIsLostIsTaken(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.fake.episode("a", "Star", 1, 1)
		r.fake.episode("b", "Star", 1, 2)
		l := r.signIn()
		r.run()
		r.fake.change(func() { r.fake.fails = mediaserver.ErrUnreachable })
		r.fake.cut()
		rest()
		if got := r.login(l.ID); got.Way != Waiting {
			t.Errorf("without a connection: %+v", got)
		}
		r.fake.play("a")
		time.Sleep(8 * time.Hour) // a NAS that sleeps
		if got := r.login(l.ID); got.State != Unreachable || got.LostAt().IsZero() || time.Since(got.LostAt()) < 8*time.Hour {
			t.Errorf("a night later: %+v", got)
		}
		r.fake.change(func() { r.fake.fails = nil })
		time.Sleep(6 * time.Minute)
		r.expect("in the morning", "Star S1 E1")
		if got := r.login(l.ID); got.State != Connected || !got.LostAt().IsZero() || got.Way != Live || !got.Problem.IsZero() {
			t.Errorf("in the morning: %+v", got)
		}
		r.fake.play("b")
		rest()
		r.expect("live again", "Star S1 E1", "Star S1 E2")
	})
}

func TestASignInThatTheServerEnded(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.fake.episode("a", "Star", 1, 1)
		l := r.signIn()
		r.run()
		r.fake.change(func() { r.fake.fails = mediaserver.ErrSignedOut })
		r.fake.cut()
		time.Sleep(30 * time.Second)
		if got := r.login(l.ID); got.State != Connected {
			t.Errorf("before it was asked again: %+v", got)
		}
		time.Sleep(2 * time.Minute)
		got := r.login(l.ID)
		if got.State != SignedOut || got.Problem.Code != mediaserver.ErrSignedOut.Code() {
			t.Fatalf("signed out: %+v", got)
		}
		asked := r.fake.asked("who")
		time.Sleep(48 * time.Hour)
		if n := r.fake.asked("who"); n != asked {
			t.Errorf("asked %d times more", n-asked)
		}
		if _, err := r.service.Sync(t.Context(), l.ID); !errors.Is(err, ErrSignedOut) {
			t.Errorf("a sync: %v", err)
		}
		r.fake.play("a")
		r.fake.change(func() { r.fake.fails = nil })
		got, err := r.service.SignIn(t.Context(), l.ID, Credentials{"mira", "pass"})
		if err != nil || got.ID != l.ID || got.State != Connected {
			t.Fatalf("signed in again: %+v, %v", got, err)
		}
		rest()
		r.expect("after the sign-in", "Star S1 E1")
	})
}

func TestAPersonWhomTheServerRefusesForNow(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.fake.episode("a", "Star", 1, 1)
		l := r.signIn()
		r.run()
		r.fake.change(func() { r.fake.fails = mediaserver.ErrRefused })
		r.fake.cut()
		rest()
		time.Sleep(30 * time.Minute)
		if got := r.login(l.ID); got.State != Refused || got.Problem.Code != mediaserver.ErrRefused.Code() {
			t.Errorf("refused: %+v", got)
		}
		if n := r.fake.asked("who"); n > 4 {
			t.Errorf("asked %d times within half an hour", n)
		}
		r.fake.play("a")
		r.fake.change(func() { r.fake.fails = nil })
		time.Sleep(time.Hour)
		r.expect("when the hours came", "Star S1 E1")
		if got := r.login(l.ID); got.State != Connected {
			t.Errorf("when the hours came: %+v", got)
		}
	})
}

func TestAnotherServerAtTheAddress(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.fake.episode("a", "Star", 1, 1)
		l := r.signIn()
		r.run()
		r.fake.change(func() { r.fake.id = "server-2" })
		r.fake.cut()
		r.fake.play("a")
		time.Sleep(time.Hour)
		if got := r.login(l.ID); got.State != Unreachable || got.Problem.Code != mediaserver.ErrOther.Code() {
			t.Errorf("login %+v", got)
		}
		r.expect("of another server")
	})
}

func TestAServerWithoutALiveConnection(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.fake.noPush = true
		for n := range 3 {
			r.fake.episode(string(rune('a'+n)), "Star", 1, float64(n+1))
		}
		l := r.signIn()
		r.run()
		if got := r.login(l.ID); got.Way != Polling || got.NextCatchUp == nil || time.Until(*got.NextCatchUp) > catchUpPolling {
			t.Errorf("login %+v", got)
		}
		r.fake.begin("a")
		time.Sleep(24 * time.Minute)
		r.fake.end("a", length)
		time.Sleep(30 * time.Second)
		r.expect("soon after the end", "Star S1 E1")
		if e := r.events()[0]; e.RawEvent != seenLive {
			t.Errorf("event %+v", e)
		}
		r.fake.change(func() { r.fake.cannot["playing"] = true })
		r.fake.play("b")
		time.Sleep(16 * time.Minute)
		r.expect("by a catch-up", "Star S1 E1", "Star S1 E2")
		// It is tried again for a live connection every day.
		r.fake.change(func() { r.fake.noPush = false })
		time.Sleep(25 * time.Hour)
		if got := r.login(l.ID); got.Way != Live {
			t.Errorf("a day later %+v", got)
		}
		if n := r.fake.asked("playing"); n > 24*60/15*3 {
			t.Errorf("%d polls", n)
		}
	})
}

func TestAPanicOfOneLoginEndsNoOther(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		other := newFake()
		other.id = "server-2"
		r.dialer.other = other
		other.episode("x", "Comet", 1, 1)
		r.fake.episode("a", "Star", 1, 1)
		broken := r.signIn()
		_, err := r.service.Add(t.Context(), NewLogin{Kind: mediaserver.Jellyfin, URL: "http://other:8096", Credentials: Credentials{"alex", "word"}})
		must(t, err)
		r.run()
		r.fake.change(func() { r.fake.items = append(r.fake.items, nil) }) // its client panics
		r.fake.cut()
		rest()
		other.play("x")
		rest()
		r.expect("of the other one", "Comet S1 E1")
		if got := r.login(broken.ID); got.State != Unreachable || got.Problem.Code != "media_login_broken" {
			t.Errorf("login %+v", got)
		}
		r.fake.change(func() { r.fake.items = r.fake.items[:1] })
		r.fake.play("a")
		time.Sleep(10 * time.Minute)
		r.expect("when it works again", "Comet S1 E1", "Star S1 E1")
	})
}

func TestTwoPeopleOfOneServer(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		// Each asks with a token of their own; the fake server shows both the same.
		r.fake.episode("a", "Star", 1, 1)
		r.signIn()
		_, err := r.service.Add(t.Context(), NewLogin{Kind: mediaserver.Jellyfin, URL: "http://attic:8096", MediaUserName: "alex of the attic", Credentials: Credentials{"alex", "word"}})
		must(t, err)
		r.run()
		r.fake.play("a")
		rest()
		names := map[string]int{}
		for _, e := range r.events() {
			names[e.UserName]++
		}
		if names["mira"] != 1 || names["alex of the attic"] != 1 {
			t.Errorf("records of %v", names)
		}
	})
}
