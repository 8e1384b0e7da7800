package watcher

import (
	"testing"
	"time"
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
