package notify_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
	"watchmark/internal/testkit/dbtest"
)

func TestWhatIsRolledBackIsNotTold(t *testing.T) {
	r := newRig(t, dbtest.Folder(t))
	r.channel("phone", channel.TypeWebhook)
	wrong := errors.New("the record does not come out so")
	err := r.DB.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		return errors.Join(r.AddTx(ctx, tx, failed(1)), wrong)
	})
	if !errors.Is(err, wrong) || len(r.newest()) != 0 || len(r.states()) != 0 {
		t.Errorf("%v: %v", err, r.newest())
	}
	r.add(failed(1))
	if got := r.states()[notify.Waiting]; got != 1 {
		t.Errorf("%d wait: the cooldown of what was rolled back is kept", got)
	}
}

// A channel that is deleted while a transaction adds a notice does not break that transaction.
func TestADeletedChannelBreaksNobodysTransaction(t *testing.T) {
	r := newRig(t, dbtest.Folder(t))
	r.channel("one", channel.TypeWebhook)
	r.channel("two", channel.TypeWebhook)
	r.exec(`DELETE FROM notification_channels WHERE id = 1`) // and it still believes in it
	r.add(failed(1))
	if got := r.routed(); len(got) != 1 || got[0] != "two" {
		t.Errorf("it goes to %v", got)
	}
}

// Many tell at once while channels and rules change: each notice is in the inbox, and none leaves twice.
func TestManyAtOnce(t *testing.T) {
	r := newRig(t, dbtest.Folder(t))
	r.run()
	steady := r.channel("steady", channel.TypeWebhook)
	r.onlyRule(notify.Rule{Channels: []int64{steady.ID}})
	_, err := r.CreateRule(t.Context(), notify.Rule{Name: "all", Enabled: true})
	must(t, err)
	r.answers(func(_ context.Context, m message) error {
		if m.to != "steady" {
			return &channel.Failure{Blame: channel.OfChannel, Problem: reason.Text("refused")}
		}
		return nil
	})
	var everybody sync.WaitGroup
	for who := range 4 {
		everybody.Go(func() {
			for n := range 50 {
				r.Add(context.Background(), failed(100*who+n))
			}
		})
	}
	everybody.Go(func() {
		for n := range 15 {
			c, err := r.CreateChannel(context.Background(), notify.Channel{Type: channel.TypeWeCom, Name: fmt.Sprint("passing ", n), Enabled: true, Config: "x"})
			if err == nil {
				_, err = r.Test(context.Background(), c.ID)
			}
			if err == nil {
				err = r.DeleteChannel(context.Background(), c.ID)
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
	everybody.Go(func() {
		for range 30 {
			if _, err := r.Channels(context.Background()); err != nil {
				t.Error(err)
			}
			if _, _, err := r.List(context.Background(), notify.Filter{}); err != nil {
				t.Error(err)
			}
		}
	})
	everybody.Wait()
	deadline := time.Now().Add(2 * time.Minute)
	for len(r.states()) == 0 || r.states()[notify.Sent] < 4 {
		if time.Now().After(deadline) {
			t.Fatalf("nothing leaves: %v", r.states())
		}
		time.Sleep(10 * time.Millisecond)
	}
	r.stop()
	r.stop = nil
	counted := 0
	seen := map[string]bool{}
	for _, m := range r.messages() {
		if m.to == "steady" {
			if seen[m.ID] {
				t.Errorf("message %s went twice", m.ID)
			}
			seen[m.ID] = true
			counted += m.Count
		}
	}
	states := r.states()
	if total := states[notify.Sent] + states[notify.Waiting]; total != 200 || counted != states[notify.Sent] {
		t.Errorf("%v, %d told", states, counted)
	}
}

// BenchmarkAddTx is one notice of an event within a transaction that is there anyway, as when the engine settles.
func BenchmarkAddTx(b *testing.B) {
	for _, channels := range []int{0, 4} {
		for _, kind := range []notify.Kind{notify.Marked, notify.MarkFailed} {
			b.Run(fmt.Sprintf("channels=%d/%s", channels, kind), func(b *testing.B) {
				r := newRig(b, b.TempDir())
				for n := range channels {
					r.channel(fmt.Sprint("channel ", n), channel.TypeWebhook)
				}
				b.ReportAllocs()
				b.ResetTimer()
				for done := 0; done < b.N; {
					batch := min(64, b.N-done)
					must(b, r.DB.Write(b.Context(), func(ctx context.Context, tx *sql.Tx) error {
						for n := range batch {
							notice := failed(done + n)
							notice.Kind = kind
							if err := r.AddTx(ctx, tx, notice); err != nil {
								return err
							}
						}
						return nil
					}))
					done += batch
				}
			})
		}
	}
}
