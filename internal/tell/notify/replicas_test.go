package notify_test

import (
	"testing"

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
	if to := other.Reaches(notice); len(to) != 1 || to[0] != c.ID {
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
	if to := other.Reaches(notice); len(to) != 0 {
		t.Errorf("without it it reaches %v", to)
	}
	if got := other.masker.Mask("to the-new-secret"); got != "to ***" {
		t.Errorf("the masker shows %q", got)
	}
	must(t, mine.DeleteChannel(t.Context(), c.ID))
	refresh()
	if to := other.Reaches(notify.Notice{Kind: notify.Marked, Channels: []int64{c.ID}}); len(to) != 0 {
		t.Errorf("a channel that is gone is reached: %v", to)
	}
}
