package notify_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
)

func TestAFailureIsTriedAgainForThreeDays(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		c := r.channel("phone", channel.TypeWebhook)
		r.onlyRule(notify.Rule{Cooldown: 30 * 24 * 3600})
		r.fails(&channel.Failure{Problem: reason.Text("no answer"), Advice: reason.Text("look whether it runs")})
		r.add(failed(1))
		after(2 * time.Hour)
		got := r.messages()
		for i, m := range got[1:] {
			if gap := m.at.Sub(got[i].at); m.ID != got[0].ID || gap < 30*time.Second || gap > time.Hour+time.Second {
				t.Errorf("try %d as %s, %v after the one before", i+2, m.ID, gap)
			}
		}
		if len(got) < 7 || len(got) > 9 {
			t.Errorf("%d tries in two hours", len(got))
		}
		if c = r.is(c); c.LastError.Text != "no answer; look whether it runs" || !c.Paused.IsZero() || c.Waiting != 1 || c.RetryAt.IsZero() {
			t.Errorf("%+v", c)
		}
		after(60 * time.Hour)
		wantStates(t, r, map[notify.State]int{notify.Waiting: 1})
		after(12 * time.Hour)
		wantStates(t, r, map[notify.State]int{notify.Failed: 1})
		deliveries, err := r.Deliveries(t.Context(), r.newest()[0].ID)
		must(t, err)
		if deliveries[0].Problem.Text != "tried for three days without success: no answer; look whether it runs" || deliveries[0].Channel != "phone" {
			t.Errorf("%+v", deliveries[0])
		}

		// Its cooldown is given back.
		r.fails(nil)
		r.messages()
		r.add(failed(1))
		after(2 * time.Hour)
		wantStates(t, r, map[notify.State]int{notify.Failed: 1, notify.Sent: 1})
		r.add(failed(1))
		after(time.Hour)
		wantStates(t, r, map[notify.State]int{notify.Failed: 1, notify.Sent: 1})
	})
}

func TestACooldownStaysWhenAnotherChannelTold(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.channel("phone", channel.TypeWebhook)
		r.channel("group", channel.TypeWeCom)
		r.answers(func(_ context.Context, m message) error {
			if m.to == "group" {
				return &channel.Failure{Blame: channel.OfMessage, Problem: reason.Text("unsuitable")}
			}
			return nil
		})
		r.add(failed(1))
		after(time.Minute)
		wantStates(t, r, map[notify.State]int{notify.Failed: 1, notify.Sent: 1})
		r.add(failed(1))
		after(time.Minute)
		wantStates(t, r, map[notify.State]int{notify.Failed: 1, notify.Sent: 1})
	})
}

func TestARetryAfterIsHonoured(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.channel("group", channel.TypeDingTalk)
		r.fails(&channel.Failure{Problem: reason.Text("too fast"), RetryAfter: 10 * time.Minute})
		r.add(failed(1))
		after(time.Minute)
		r.fails(nil)
		r.add(failed(2))
		after(8 * time.Minute)
		if got := r.messages(); len(got) != 1 {
			t.Fatalf("%d messages", len(got))
		}
		after(2 * time.Minute)
		wantTitles(t, r.messages(), "Frieren S1E1 not marked · alex", "Frieren S1E2 not marked · alex")
	})
}

func TestAMessageThatFailsAgainAndAgainLetsOthersPass(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.channel("phone", channel.TypeWebhook)
		r.answers(func(_ context.Context, m message) error {
			if strings.Contains(m.Title, "E1 ") {
				return &channel.Failure{Problem: reason.Text("the receiver answers 500"), RetryAfter: time.Hour}
			}
			return nil
		})
		r.add(failed(1))
		after(10 * time.Second)
		r.add(failed(2))
		after(10 * time.Hour)
		wantStates(t, r, map[notify.State]int{notify.Waiting: 1, notify.Sent: 1})
	})
}

func TestATriedMessageKeepsWhatIsInIt(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.channel("phone", channel.TypeWebhook)
		r.fails(&channel.Failure{Problem: reason.Text("no answer")})
		r.add(failed(1), failed(2), failed(3), failed(4))
		after(10 * time.Second)
		must(t, r.Delete(t.Context(), 1, 2))
		r.add(failed(5))
		r.fails(nil)
		after(time.Hour)
		got := r.messages()
		wantTitles(t, got, "4 notices · Not marked", "2 notices · Not marked", "Frieren S1E5 not marked · alex")
		if got[0].ID != got[1].ID {
			t.Error("it was tried again as another message")
		}
	})
}

func TestAMendedChannelDoesNotWait(t *testing.T) {
	for name, mend := range map[string]func(t *testing.T, r *rig, c notify.Channel){
		"a test works": func(t *testing.T, r *rig, c notify.Channel) {
			_, err := r.Test(t.Context(), c.ID)
			must(t, err)
			wantTitles(t, r.messages(), "Test by Watchmark")
		},
		"it is changed": func(t *testing.T, r *rig, c notify.Channel) {
			_, err := r.UpdateChannel(t.Context(), c)
			must(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				c := r.channel("phone", channel.TypeWebhook)
				r.fails(&channel.Failure{Problem: reason.Text("no answer")})
				r.add(failed(1))
				after(10 * time.Hour)
				if next := time.Until(r.is(c).RetryAt); next < 2*time.Minute {
					after(next + time.Minute) // another try failed
				}
				r.fails(nil)
				r.messages()
				mend(t, r, c)
				after(10 * time.Second)
				wantTitles(t, r.messages(), "Frieren S1E1 not marked · alex")
			})
		})
	}
}

func TestARefusedKeyPausesUntilMended(t *testing.T) {
	for name, mend := range map[string]func(t *testing.T, r *rig, c notify.Channel){
		"by a change": func(t *testing.T, r *rig, c notify.Channel) {
			c.Config = "another-secret"
			_, err := r.UpdateChannel(t.Context(), c)
			must(t, err)
		},
		"by a test": func(t *testing.T, r *rig, c notify.Channel) {
			results, err := r.Test(t.Context(), c.ID)
			must(t, err)
			if len(results) != 1 || !results[0].OK {
				t.Errorf("%+v", results)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				c := r.channel("group", channel.TypeWeCom)
				r.fails(&channel.Failure{Blame: channel.OfChannel, Problem: reason.Text("the key is refused"), Advice: reason.Text("enter it anew")})
				r.add(failed(1))
				after(5 * time.Hour)
				for n := range 5 {
					r.add(failed(n + 2))
				}
				after(5 * time.Hour)
				if got := r.messages(); len(got) != 1 {
					t.Errorf("%d messages to a channel that refused the first", len(got))
				}
				if c = r.is(c); c.Paused.Text != "the key is refused; enter it anew" || c.Waiting != 6 {
					t.Errorf("%+v", c)
				}
				if len(r.newest()) != 6 {
					t.Error("there is a notice about notifications")
				}
				r.fails(nil)
				mend(t, r, c)
				after(time.Minute)
				got := r.messages()
				if last := got[len(got)-1]; last.Title != "6 notices · Not marked" {
					t.Errorf("%q", last.Title)
				}
				wantStates(t, r, map[notify.State]int{notify.Sent: 6})
				if c = r.is(c); !c.Paused.IsZero() || !c.LastError.IsZero() {
					t.Errorf("%+v", c)
				}
			})
		})
	}
}

func TestAHangingReceiverIsLeft(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		c := r.channel("phone", channel.TypeWebhook)
		r.answers(func(ctx context.Context, _ message) error { <-ctx.Done(); return ctx.Err() })
		r.add(failed(1))
		after(70 * time.Second)
		if c = r.is(c); c.LastError.Text != "the receiver did not answer within 1m0s" {
			t.Errorf("%q", c.LastError)
		}
		wantStates(t, r, map[notify.State]int{notify.Waiting: 1})
	})
}
