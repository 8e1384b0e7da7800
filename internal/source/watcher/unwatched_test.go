package watcher

import (
	"testing"
	"time"

	"watchmark/internal/source/mediaserver"
)

// Only what a person sets back by hand is told: not what is played again, what is gone, what was never known, and what this service did.
func TestWhatIsSetBackToUnwatchedByHand(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.fake.season("Star", 6)
		l := r.signIn()
		r.run()
		for _, id := range []string{"Star-1", "Star-2", "Star-3", "Star-4"} {
			r.fake.play(id)
			time.Sleep(7 * time.Hour)
		}
		all := []string{"Star S1 E1", "Star S1 E2", "Star S1 E3", "Star S1 E4"}
		r.expect("played", all...)
		back := func(id string) {
			r.fake.set(id, mediaserver.State{})
			r.fake.push(id, "season of "+id)
			rest()
		}
		back("Star-1")
		back("Star-1") // it is told twice
		all = append(all, "not Star S1 E1")
		r.expect("set back", all...)
		r.fake.begin("Star-2") // unplayed while it is played again
		rest()
		r.fake.end("Star-2", 0)
		r.fake.change(func() { r.fake.item("Star-3").State = mediaserver.State{} }) // lost by the server
		time.Sleep(26 * time.Hour)
		must(t, r.service.store.unplayed(t.Context(), l.ID, "Star-4"))
		back("Star-4")
		back("Star-5") // never played
		r.fake.change(func() { r.fake.items = r.fake.items[1:] })
		r.fake.push("Star-1") // gone
		rest()
		r.expect("nobody's word", all...)
	})
	inBubble(t, func(t *testing.T, r *rig) {
		r.fake.season("Star", 1)
		r.signIn()
		r.run()
		r.fake.play("Star-1")
		rest()
		r.fake.set("Star-1", mediaserver.State{})
		r.fake.push("Star-1")
		rest()
		r.fake.play("Star-1")
		rest()
		r.expect("played anew, soon", "Star S1 E1", "not Star S1 E1", "Star S1 E1")
	})
}
