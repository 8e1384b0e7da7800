package notify_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
)

// inBubble runs a test by a fake clock, on a rig whose Run runs.
func inBubble(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dir)
		r.run()
		test(t, r)
	})
}

// after lets time pass until everything rests.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func wantStates(t *testing.T, r *rig, want map[notify.State]int) {
	t.Helper()
	if got := r.states(); !maps.Equal(got, want) {
		t.Fatalf("deliveries are %v, want %v", got, want)
	}
}

func wantTitles(t *testing.T, messages []message, want ...string) {
	t.Helper()
	var got []string
	for _, m := range messages {
		got = append(got, m.Title)
	}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Fatalf("messages %q, want %q", got, want)
	}
}

func TestFewNoticesAreToldOneByOne(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		c := r.channel("phone", channel.TypeWebhook)
		began := time.Now()
		r.add(failed(1), failed(2), failed(3))
		after(10 * time.Second)
		got := r.messages()
		wantTitles(t, got, "Frieren S1E1 not marked · alex", "Frieren S1E2 not marked · alex", "Frieren S1E3 not marked · alex")
		if first := got[0].at.Sub(began); first < 3*time.Second {
			t.Errorf("the first went out after %v, before others could gather", first)
		}
		if m := got[0]; m.Text != "refused" || m.Link != "http://house/records/1" || m.Kind != "mark_failed" || m.Count != 1 || m.Facts["title"] != "Frieren" || m.ID == got[1].ID {
			t.Errorf("%+v", m)
		}
		wantStates(t, r, map[notify.State]int{notify.Sent: 3})
		if c = r.is(c); c.LastSentAt.IsZero() || c.Waiting != 0 || !c.LastError.IsZero() {
			t.Errorf("%+v", c)
		}
	})
}

func TestAFloodEndsAsFewMessages(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.channel("group", channel.TypeDingTalk)
		for n := range 100 {
			var notices []notify.Notice
			for m := range 10 {
				notices = append(notices, failed(10*n+m))
			}
			r.Add(t.Context(), notices...)
			time.Sleep(6 * time.Second) // ten minutes in all
		}
		after(5 * time.Minute)
		got := r.messages()
		count := 0
		for _, m := range got {
			count += m.Count
			if lines := strings.Count(m.Text, "\n") + 1; lines > 22 {
				t.Errorf("a message of %d lines", lines)
			}
		}
		if count != 1000 || len(got) > 15 {
			t.Errorf("%d notices in %d messages", count, len(got))
		}
		wantStates(t, r, map[notify.State]int{notify.Sent: 1000})
		last := got[len(got)-2]
		if !strings.HasSuffix(last.Title, " notices · Not marked") || !strings.Contains(last.Text, "more: see http://house/inbox") || last.Link != "http://house/inbox" {
			t.Errorf("%q\n%s", last.Title, last.Text)
		}
	})
}

func TestALimitIsKept(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.channel("group", channel.TypeWeCom)
		// Each rule gathers for itself, so these are messages of their own.
		r.onlyRule(notify.Rule{Users: []string{"user 0"}})
		for n := 1; n < 60; n++ {
			_, err := r.CreateRule(t.Context(), notify.Rule{Name: "more", Enabled: true, Users: []string{"user " + string(rune('0'+n))}})
			must(t, err)
		}
		for n := range 60 {
			notice := failed(n)
			notice.User, notice.Account = "user "+string(rune('0'+n)), ""
			r.add(notice)
		}
		after(10 * time.Minute)
		got := r.messages()
		if len(got) != 60 {
			t.Fatalf("%d messages", len(got))
		}
		for i := range got[18:] {
			if span := got[i+18].at.Sub(got[i].at); span < time.Minute {
				t.Errorf("19 messages in %v", span)
			}
		}
	})
}

// A body that has no place for the text could tell one notice of a digest, and ten would be lost.
func TestABodyWithoutAPlaceForTheTextIsSentOneByOne(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		_, err := r.CreateChannel(t.Context(), notify.Channel{Type: channel.TypeWebhook, Name: "taken over", Enabled: true,
			Config: secret.Text(channel.Webhook{URL: "http://127.0.0.1:9/", Template: `{"content":"{anime} {error_message}"}`}.Plain())})
		must(t, err)
		r.onlyRule(notify.Rule{})
		for i := range 11 {
			r.add(failed(i + 1))
		}
		after(5 * time.Minute)
		got := r.messages()
		if len(got) != 11 {
			t.Fatalf("%d messages of 11 notices", len(got))
		}
		for i, m := range got {
			if m.Count != 1 || m.Facts["episode"] != fmt.Sprint(i+1) {
				t.Errorf("message %d is %+v", i, m)
			}
		}
	})
}

func TestQuietHoursEndWithADigest(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.channel("phone", channel.TypeWebhook)
		r.onlyRule(notify.Rule{QuietFrom: "22:00", QuietTo: "07:30"})
		now := time.Now().Local()
		evening := time.Date(now.Year(), now.Month(), now.Day()+1, 21, 59, 0, 0, time.Local)
		after(time.Until(evening))
		r.add(failed(1))
		after(10 * time.Second)
		wantTitles(t, r.messages(), "Frieren S1E1 not marked · alex")
		after(time.Minute)
		r.add(failed(2))
		after(4 * time.Hour)
		r.add(failed(3))
		after(5 * time.Hour)
		wantTitles(t, r.messages())
		after(31 * time.Minute)
		got := r.messages()
		wantTitles(t, got, "2 notices · Not marked")
		if at := got[0].at.Local(); at.Hour() != 7 || at.Minute() != 30 {
			t.Errorf("told at %v", at)
		}
		if want := "Not marked: 2\n- Frieren S1E2 not marked · alex\n- Frieren S1E3 not marked · alex"; got[0].Text != want {
			t.Errorf("%s\nwant\n%s", got[0].Text, want)
		}
	})
}

func TestAMatterIsToldOnceInItsCooldown(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.channel("phone", channel.TypeWebhook)
		r.add(failed(1))
		after(5 * time.Minute)
		r.add(failed(1), failed(2))
		other := failed(1)
		other.Account, other.AccountID = "mira", 2
		r.add(other)
		after(4 * time.Minute)
		wantTitles(t, r.messages(), "Frieren S1E1 not marked · alex", "Frieren S1E2 not marked · alex", "Frieren S1E1 not marked · mira")
		after(2 * time.Minute)
		r.add(failed(1))
		after(time.Minute)
		wantTitles(t, r.messages(), "Frieren S1E1 not marked · alex")
		if len(r.newest()) != 5 {
			t.Error("the inbox lost what was in the cooldown")
		}
	})
}

// A matter that nobody was told of is told when somebody can be.
func TestNoCooldownBeginsWhileAllChannelsAreOff(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		c, other := r.channel("phone", channel.TypeWebhook), r.channel("other", channel.TypeWebhook)
		r.onlyRule(notify.Rule{Channels: []int64{c.ID}, Cooldown: 600})
		switchTo := func(on bool) {
			c.Enabled = on
			_, err := r.UpdateChannel(t.Context(), c)
			must(t, err)
		}
		switchTo(false)
		r.add(failed(1))
		switchTo(true)
		r.add(failed(1))
		after(time.Minute)
		wantTitles(t, r.messages(), "Frieren S1E1 not marked · alex")
		if r.is(other).Waiting != 0 {
			t.Error("it goes where no rule sends it")
		}
	})
}

func TestTooMuchIsDroppedAndTold(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		c := r.channel("phone", channel.TypeWebhook)
		r.fails(&channel.Failure{Blame: channel.OfChannel, Problem: reason.Text("refused")})
		r.add(failed(0))
		after(time.Minute)
		var notices []notify.Notice
		for n := range 2010 {
			notices = append(notices, failed(n+1))
		}
		r.add(notices...)
		after(time.Minute)
		wantStates(t, r, map[notify.State]int{notify.Dropped: 11, notify.Waiting: 2000})
		r.fails(nil)
		_, err := r.Test(t.Context(), c.ID)
		must(t, err)
		after(time.Minute)
		got := r.messages()
		if last := got[len(got)-1]; last.Count != 2000 || !strings.HasSuffix(last.Text, "\n11 older notices were not sent, for more than 2000 waited.") {
			t.Errorf("%d\n%s", last.Count, last.Text)
		}
		r.add(failed(9001), failed(9002), failed(9003), failed(9004))
		after(2 * time.Minute)
		if got := r.messages(); len(got) != 1 || strings.Contains(got[0].Text, "older notices") {
			t.Errorf("%v", got)
		}
	})
}

func TestWhatIsSwitchedOffIsSilent(t *testing.T) {
	for name, off := range map[string]func(t *testing.T, r *rig, c notify.Channel, rule notify.Rule){
		"channel": func(t *testing.T, r *rig, c notify.Channel, _ notify.Rule) {
			c.Enabled = false
			_, err := r.UpdateChannel(t.Context(), c)
			must(t, err)
		},
		"rule": func(t *testing.T, r *rig, _ notify.Channel, rule notify.Rule) {
			rule.Enabled = false
			_, err := r.UpdateRule(t.Context(), rule)
			must(t, err)
		},
		"rule deleted, and another one gets its id": func(t *testing.T, r *rig, _ notify.Channel, rule notify.Rule) {
			must(t, r.DeleteRule(t.Context(), rule.ID))
			_, err := r.CreateRule(t.Context(), notify.Rule{Name: "another", Enabled: true, Kinds: []notify.Kind{notify.TokenDead}})
			must(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				c := r.channel("phone", channel.TypeWebhook)
				rule := r.onlyRule(notify.Rule{})
				r.add(failed(1), failed(2))
				off(t, r, c, rule)
				r.add(failed(3))
				after(time.Hour)
				wantTitles(t, r.messages())
				wantStates(t, r, map[notify.State]int{notify.Dropped: 2})
			})
		})
	}
	t.Run("channel deleted", func(t *testing.T) {
		inBubble(t, func(t *testing.T, r *rig) {
			c := r.channel("phone", channel.TypeWebhook)
			r.add(failed(1))
			must(t, r.DeleteChannel(t.Context(), c.ID))
			if again := r.channel("other", channel.TypeWebhook); again.ID != c.ID {
				t.Logf("the id %d does not come again", c.ID)
			}
			after(time.Hour)
			wantTitles(t, r.messages())
			wantStates(t, r, map[notify.State]int{})
		})
	})
}

func TestAChannelChangesWhileItSends(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		c := r.channel("phone", channel.TypeWebhook)
		var during func()
		r.answers(func(context.Context, message) error {
			during()
			return &channel.Failure{Blame: channel.OfChannel, Problem: reason.Text("refused")}
		})
		during = func() {
			r.fails(nil)
			c.Name, c.Config = "new phone", "new-secret"
			_, err := r.UpdateChannel(context.Background(), c)
			must(t, err)
		}
		r.add(failed(1))
		after(time.Minute)
		got := r.messages()
		if len(got) != 2 || got[0].to != "phone" || got[1].to != "new phone" {
			t.Errorf("%v", got)
		}
		if c = r.is(c); !c.Paused.IsZero() {
			t.Errorf("paused for what the old settings did: %q", c.Paused)
		}
		wantStates(t, r, map[notify.State]int{notify.Sent: 1})

		during = func() { must(t, r.DeleteChannel(context.Background(), c.ID)) }
		r.answers(func(context.Context, message) error { during(); return nil })
		r.add(failed(2))
		after(time.Minute)
		wantStates(t, r, map[notify.State]int{})
	})
}

func TestPastTheRules(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		one, two := r.channel("one", channel.TypeWebhook), r.channel("two", channel.TypeEmail)
		off, err := r.CreateChannel(t.Context(), notify.Channel{Type: channel.TypeEmail, Name: "off", Config: "x"})
		must(t, err)
		summary := notify.Notice{Kind: notify.SummaryReady, About: "weekly", Facts: map[string]string{"job_name": "Weekly", "summary_text": "Two shows."}, Channels: []int64{two.ID, off.ID, two.ID, 99}}
		r.add(summary, summary)
		after(time.Minute)
		got := r.messages()
		wantTitles(t, got, "What was watched · Weekly", "What was watched · Weekly")
		if got[0].to != "two" || got[0].Text != "Two shows." {
			t.Errorf("%+v (%d)", got[0], one.ID)
		}
	})
}

func TestTest(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		good, bad := r.channel("good", channel.TypeWebhook), r.channel("bad", channel.TypeEmail)
		off, err := r.CreateChannel(t.Context(), notify.Channel{Type: channel.TypeEmail, Name: "off", Config: "x"})
		must(t, err)
		r.answers(func(_ context.Context, m message) error {
			if m.to == "bad" {
				return &channel.Failure{Blame: channel.OfChannel, Problem: reason.Text("refused"), Advice: reason.Text("enter it anew")}
			}
			time.Sleep(2 * time.Second)
			return nil
		})
		got, err := r.Test(t.Context())
		must(t, err)
		if len(got) != 2 || !got[0].OK || got[0].Latency != 2*time.Second || got[1].OK || got[1].Problem.Text != "refused" || got[1].Advice.Text != "enter it anew" || got[1].Name != "bad" {
			t.Errorf("%+v", got)
		}
		if r.is(bad).Paused.IsZero() || r.is(good).LastSentAt.IsZero() {
			t.Error("what the test told is not kept")
		}
		if got, err := r.Test(t.Context(), off.ID); err != nil || len(got) != 1 || !got[0].OK {
			t.Error(got, err)
		}
		if _, err := r.Test(t.Context(), 99); !errors.Is(err, notify.ErrNotFound) {
			t.Error(err)
		}
		if len(r.newest()) != 0 {
			t.Error("a test is in the inbox")
		}
	})
}

func TestOwnTemplates(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.channel("phone", channel.TypeWebhook)
		r.onlyRule(notify.Rule{Title: "{type_name}: {anime} {nothing}[{episode}]", Text: "{title}\n{text}\n{user} {link} {count} {} {timestamp}"})
		notice := failed(1)
		notice.Facts["title"] = "{user} & {anime}"
		r.add(notice)
		after(time.Minute)
		got := r.messages()
		wantTitles(t, got, "Not marked: {user} & {anime} [1]")
		if want := "{user} & {anime} S1E1 not marked · alex\nrefused\nmira http://house/records/1 1 {} " + got[0].At.Local().Format(time.RFC3339); got[0].Text != want {
			t.Errorf("%q, want %q", got[0].Text, want)
		}
	})
}

// A message that may have arrived is not sent again by itself, and holds up no other.
func TestAMessageThatMayHaveArrivedIsNotRepeated(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.channel("phone", channel.TypeTelegram)
		r.fails(&channel.Failure{Blame: channel.Unsure, Problem: reason.Text("its answer was lost")})
		r.add(failed(1))
		after(time.Hour)
		wantStates(t, r, map[notify.State]int{notify.Unsure: 1})
		r.fails(nil)
		r.add(failed(2))
		after(time.Minute)
		wantTitles(t, r.messages(), "Frieren S1E1 not marked · alex", "Frieren S1E2 not marked · alex")
		wantStates(t, r, map[notify.State]int{notify.Unsure: 1, notify.Sent: 1})
	})
}
