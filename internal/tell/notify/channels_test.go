package notify_test

import (
	"errors"
	"strings"
	"testing"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
	"watchmark/internal/testkit/dbtest"
)

func TestChannelsAreSealed(t *testing.T) {
	r := newRig(t, dbtest.Folder(t))
	c := r.channel("phone", channel.TypeWebhook)
	if got := r.is(c).Config.Reveal(); got != "the-secret-of-phone" {
		t.Errorf("%q comes back", got)
	}
	r.close()
	for place, content := range dbtest.Kept(t, r.dir) {
		if strings.Contains(content, "the-secret-of") {
			t.Errorf("%s holds the secret", place)
		}
	}
	r.masker = &secret.Masker{}
	r.open()
	if got := r.masker.Mask("to the-secret-of-phone"); got != "to ***" {
		t.Errorf("after a start the masker shows %q", got)
	}
	r.channel("other", channel.TypeEmail)
	if got := r.masker.Mask("to the-secret-of-other"); got != "to ***" {
		t.Errorf("the masker shows %q", got)
	}

	// Bound to their rows.
	r.exec(`UPDATE notification_channels SET config = (SELECT config FROM notification_channels WHERE id = 2) WHERE id = 1`)
	if got := r.is(c); got.Config != "" || !strings.Contains(got.Paused.Text, "damaged") {
		t.Errorf("a moved config opens: %+v", got)
	}
	results, err := r.Test(t.Context(), c.ID)
	must(t, err)
	if results[0].OK || !strings.Contains(results[0].Problem.Text, "damaged") {
		t.Errorf("%+v", results)
	}
}

func TestChannelsAreChanged(t *testing.T) {
	r := newRig(t, dbtest.Folder(t))
	one, two := r.channel("one", channel.TypeWebhook), r.channel("two", channel.TypeDingTalk)
	one.Name, one.Enabled, one.Type = "first", false, channel.TypeEmail
	got, err := r.UpdateChannel(t.Context(), one)
	must(t, err)
	if got.Name != "first" || got.Enabled || got.Type != channel.TypeWebhook {
		t.Errorf("%+v", got)
	}
	for field, c := range map[string]notify.Channel{
		"name":   {ID: two.ID, Name: "a\nb", Config: "x"},
		"config": {ID: two.ID, Name: "b", Config: "unusable"},
	} {
		var wrong *reason.FieldError
		if _, err := r.UpdateChannel(t.Context(), c); !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%v, want a problem of %s", err, field)
		}
		if _, err := r.CreateChannel(t.Context(), c); !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%v, want a problem of %s", err, field)
		}
	}
	both := r.onlyRule(notify.Rule{Channels: []int64{one.ID, two.ID}})
	alone, err := r.CreateRule(t.Context(), notify.Rule{Name: "alone", Enabled: true, Channels: []int64{two.ID}})
	must(t, err)
	must(t, r.DeleteChannel(t.Context(), two.ID))
	both, err = r.Rule(t.Context(), both.ID)
	must(t, err)
	alone, err = r.Rule(t.Context(), alone.ID)
	must(t, err)
	if !both.Enabled || len(both.Channels) != 1 || alone.Enabled || len(alone.Channels) != 0 {
		t.Errorf("rules after their channel went: %+v, %+v", both, alone)
	}
	r.channel("three", channel.TypeWebhook)
	r.add(failed(1))
	if got := r.routed(); len(got) != 0 {
		t.Errorf("a rule for a channel that went sends to %v", got)
	}
	for _, err := range []error{r.DeleteChannel(t.Context(), 99), func() error { _, err := r.UpdateChannel(t.Context(), notify.Channel{ID: 99}); return err }()} {
		if !errors.Is(err, notify.ErrNotFound) {
			t.Error(err)
		}
	}
	for range 100 {
		if _, err = r.CreateChannel(t.Context(), notify.Channel{Type: channel.TypeWebhook, Name: "more", Config: "x"}); err != nil {
			break
		}
	}
	if !errors.Is(err, notify.ErrFull) {
		t.Errorf("%v, want ErrFull", err)
	}
}
