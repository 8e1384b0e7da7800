package notify_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
)

func TestTheEndLeavesAMessageFiveSeconds(t *testing.T) {
	for name, c := range map[string]struct {
		takes time.Duration
		want  notify.State
	}{
		"it arrives":          {4 * time.Second, notify.Sent},
		"it may have arrived": {6 * time.Second, notify.Unsure},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				r.channel("phone", channel.TypeWebhook)
				r.answers(func(ctx context.Context, _ message) error {
					select {
					case <-time.After(c.takes):
						return nil
					case <-ctx.Done():
						return &channel.Failure{Problem: reason.Text("no answer")}
					}
				})
				r.add(failed(1))
				time.Sleep(3500 * time.Millisecond)
				synctest.Wait()
				began := time.Now()
				r.stop()
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("it ended after %v", took)
				}
				r.stop = nil
				wantStates(t, r, map[notify.State]int{c.want: 1})
				r.run()
				r.answers(nil)
				after(time.Hour)
				if got := r.messages(); len(got) != 1 {
					t.Errorf("sent %d times", len(got))
				}
			})
		})
	}
}

func TestARestartSendsOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.channel("phone", channel.TypeWebhook)
		r.add(failed(1), failed(2))
		r.close()
		r.open()
		r.run()
		after(time.Minute)
		wantTitles(t, r.messages(), "Frieren S1E1 not marked · alex", "Frieren S1E2 not marked · alex")
		r.close()
		r.open()
		r.run()
		after(time.Minute)
		wantTitles(t, r.messages())
		wantStates(t, r, map[notify.State]int{notify.Sent: 2})
	})
}

// A kill between the commit of "sending" and the outcome.
func TestWhatWasBeingSentAtACrashIsNotSentAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.channel("phone", channel.TypeWebhook)
		r.stop()
		r.stop = nil
		r.add(failed(1), failed(2))
		entries := r.newest()
		r.exec(`UPDATE deliveries SET state = 'sending', message_id = 'm', tries = 1 WHERE notice_id = ?`, entries[1].ID)
		r.close()
		r.open()
		r.run()
		after(time.Hour)
		wantTitles(t, r.messages(), "Frieren S1E2 not marked · alex")
		wantStates(t, r, map[notify.State]int{notify.Sent: 1, notify.Unsure: 1})

		deliveries, err := r.Deliveries(t.Context(), entries[1].ID)
		must(t, err)
		must(t, r.Resend(t.Context(), deliveries[0].ID))
		after(time.Minute)
		wantTitles(t, r.messages(), "Frieren S1E1 not marked · alex")
		if err := r.Resend(t.Context(), deliveries[0].ID); !errors.Is(err, notify.ErrNotFailed) {
			t.Error(err)
		}
		if err := r.Resend(t.Context(), 99); !errors.Is(err, notify.ErrNotFound) {
			t.Error(err)
		}
	})
}
