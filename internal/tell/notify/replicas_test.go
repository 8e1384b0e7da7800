package notify_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
	"watchmark/internal/testkit/dbtest"
)

func TestAnotherReplicaTellsByNewRulesAndMasksNewSecrets(t *testing.T) {
	dir := dbtest.Folder(t)
	mine, other := newRig(t, dir), newRig(t, dir)
	refresh := func() {
		t.Helper()
		must(t, other.Changes.Refresh(t.Context()))
	}
	c := mine.channel("phone", channel.TypeWebhook)
	rule, err := mine.CreateRule(t.Context(), notify.Rule{Name: "all", Enabled: true, Channels: []int64{c.ID}})
	must(t, err)
	refresh()
	notice := notify.Notice{Kind: notify.Marked}
	if to := other.Reaches(t.Context(), notice); len(to) != 1 || to[0] != c.ID {
		t.Errorf("with the rule it reaches %v", to)
	}
	if got := other.masker.Mask("to the-secret-of-phone"); got != "to ***" {
		t.Errorf("the masker shows %q", got)
	}
	rule.Enabled = false
	_, err = mine.UpdateRule(t.Context(), rule)
	must(t, err)
	c.Config = "the-new-secret"
	_, err = mine.UpdateChannel(t.Context(), c)
	must(t, err)
	refresh()
	if to := other.Reaches(t.Context(), notice); len(to) != 0 {
		t.Errorf("without it it reaches %v", to)
	}
	if got := other.masker.Mask("to the-new-secret"); got != "to ***" {
		t.Errorf("the masker shows %q", got)
	}
	must(t, mine.DeleteChannel(t.Context(), c.ID))
	refresh()
	if to := other.Reaches(t.Context(), notify.Notice{Kind: notify.Marked, Channels: []int64{c.ID}}); len(to) != 0 {
		t.Errorf("a channel that is gone is reached: %v", to)
	}
}

// One replica sends, whichever adds a notice, and each notice once. Another one takes over what waits when that one is evicted.
func TestOneReplicaSends(t *testing.T) {
	if !dbtest.OnServer() {
		t.Skip("replicas share a server; run with " + dbtest.Env + "=postgres")
	}
	dir := dbtest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		one, two := newReplica(t, dir, 1), newReplica(t, dir, 2)
		one.channel("phone", channel.TypeWebhook)
		one.onlyRule(notify.Rule{})
		must(t, two.Changes.Refresh(t.Context()))
		one.run()
		after(time.Minute)
		two.run()
		for n := range 5 {
			one.add(failed(2 * n))
			two.add(failed(2*n + 1))
			after(5 * time.Minute)
		}
		wantStates(t, one, map[notify.State]int{notify.Sent: 10})
		ids := map[string]bool{}
		for _, m := range one.messages() {
			if ids[m.ID] {
				t.Errorf("message %s is sent twice", m.ID)
			}
			ids[m.ID] = true
		}
		if others := two.messages(); len(ids) == 0 || len(others) != 0 {
			t.Errorf("one sends %d messages, the other %d", len(ids), len(others))
		}

		one.stop() // it is killed
		one.stop = nil
		two.add(failed(10))
		after(time.Hour)
		if others := two.messages(); len(others) != 0 {
			t.Errorf("before it is evicted the other sends %v", others)
		}
		free(t, two.DB, 1)
		after(5 * time.Minute)
		if others := two.messages(); len(others) != 1 {
			t.Errorf("afterwards the other sends %v", fmt.Sprint(others))
		}
		wantStates(t, two, map[notify.State]int{notify.Sent: 11})
	})
}
