package notify_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"watchmark/internal/platform/reason"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
	"watchmark/internal/testkit/dbtest"
)

// routed are the names of the channels that the newest notice goes to.
func (r *rig) routed() []string {
	r.t.Helper()
	deliveries, err := r.Deliveries(r.t.Context(), r.newest()[0].ID)
	must(r.t, err)
	names := []string{}
	for _, d := range deliveries {
		names = append(names, d.Channel)
	}
	return names
}

func TestRulesDecideWhatLeaves(t *testing.T) {
	mark := notify.Notice{Kind: notify.Marked, User: "mira", Account: "alex"}
	outage := notify.Notice{Kind: notify.CatalogUnreachable}
	r := newRig(t, dbtest.Folder(t))
	r.channel("one", channel.TypeWebhook)
	r.channel("two", channel.TypeEmail)
	off := r.channel("three", channel.TypeWeCom)
	off.Enabled = false
	_, err := r.UpdateChannel(t.Context(), off)
	must(t, err)
	for name, c := range map[string]struct {
		rule   *notify.Rule // channel 1 and 2 are on, 3 is off; nil for no rule
		notice notify.Notice
		want   string
	}{
		"no rule":                        {nil, mark, ""},
		"all kinds, everybody, all":      {&notify.Rule{}, mark, "one two"},
		"its kind":                       {&notify.Rule{Kinds: []notify.Kind{notify.Marked}}, mark, "one two"},
		"another kind":                   {&notify.Rule{Kinds: []notify.Kind{notify.MarkFailed}}, mark, ""},
		"its user":                       {&notify.Rule{Users: []string{"mira"}}, mark, "one two"},
		"its account":                    {&notify.Rule{Users: []string{"alex"}}, mark, "one two"},
		"another user":                   {&notify.Rule{Users: []string{"bench"}}, mark, ""},
		"its user in capitals":           {&notify.Rule{Users: []string{"Mira"}}, mark, ""},
		"of nobody, for everybody":       {&notify.Rule{}, outage, "one two"},
		"of nobody, for somebody":        {&notify.Rule{Users: []string{"mira"}}, outage, ""},
		"one channel":                    {&notify.Rule{Channels: []int64{2}}, mark, "two"},
		"a channel that is switched off": {&notify.Rule{Channels: []int64{3}}, mark, ""},
		"kind and channel and user":      {&notify.Rule{Kinds: []notify.Kind{notify.Queued, notify.Marked}, Users: []string{"bench", "alex"}, Channels: []int64{1, 3}}, mark, "one"},
	} {
		t.Run(name, func(t *testing.T) {
			made := r.onlyRule(notify.Rule{})
			if c.rule == nil {
				must(t, r.DeleteRule(t.Context(), made.ID))
			} else {
				c.rule.ID, c.rule.Name, c.rule.Enabled = made.ID, "changed", true
				_, err := r.UpdateRule(t.Context(), *c.rule)
				must(t, err)
			}
			reaches := r.Reaches(t.Context(), c.notice)
			r.add(c.notice)
			if got := strings.Join(r.routed(), " "); got != c.want || len(reaches) != len(r.routed()) {
				t.Errorf("it goes to %q, want %q; it was said to reach %v", got, c.want, reaches)
			}
			if c.rule != nil {
				c.rule.Enabled = false
				_, err := r.UpdateRule(t.Context(), *c.rule)
				must(t, err)
				r.add(c.notice)
				if got := r.routed(); len(got) != 0 {
					t.Errorf("a rule that is off sends to %v", got)
				}
			}
		})
	}
}

// Nothing leaves without a rule that says so, and nothing twice, whatever the rules are.
func TestNothingPassesWithoutARule(t *testing.T) {
	r := newRig(t, dbtest.Folder(t))
	random := rand.New(rand.NewPCG(1, 2))
	some := func(from []string) (picked []string) {
		for _, one := range from {
			if random.IntN(3) == 0 {
				picked = append(picked, one)
			}
		}
		return picked
	}
	var on []int64
	for i := range 4 {
		c := r.channel(fmt.Sprint("channel ", i), channel.TypeWebhook)
		if c.Enabled = i != 2; !c.Enabled {
			_, err := r.UpdateChannel(t.Context(), c)
			must(t, err)
		} else {
			on = append(on, c.ID)
		}
	}
	users := []string{"mira", "alex", "bench"}
	kinds := []string{"marked", "queued", "token_dead"}
	for range 25 {
		old, err := r.Rules(t.Context())
		must(t, err)
		for _, rule := range old {
			must(t, r.DeleteRule(t.Context(), rule.ID))
		}
		var rules []notify.Rule
		for range random.IntN(4) {
			rule := notify.Rule{Name: "a rule", Enabled: random.IntN(4) > 0, Users: some(users)}
			for _, kind := range some(kinds) {
				rule.Kinds = append(rule.Kinds, notify.Kind(kind))
			}
			for id := range int64(4) {
				if random.IntN(3) == 0 {
					rule.Channels = append(rule.Channels, id+1)
				}
			}
			if random.IntN(3) == 0 {
				rule.QuietFrom, rule.QuietTo = "00:00", "23:59"
			}
			rule, err := r.CreateRule(t.Context(), rule)
			must(t, err)
			rules = append(rules, rule)
		}
		for range 8 {
			notice := notify.Notice{Kind: notify.Kind(kinds[random.IntN(3)])}
			if random.IntN(2) == 0 {
				notice.User = users[random.IntN(3)]
			}
			if random.IntN(2) == 0 {
				notice.Account = users[random.IntN(3)]
			}
			r.add(notice)
			want := map[int64]bool{}
			for _, rule := range rules {
				of := len(rule.Users) == 0
				for _, user := range rule.Users {
					of = of || user == notice.User || user == notice.Account
				}
				if !rule.Enabled || !of || len(rule.Kinds) > 0 && !slices.Contains(rule.Kinds, notice.Kind) {
					continue
				}
				for _, id := range on {
					if len(rule.Channels) == 0 || slices.Contains(rule.Channels, id) {
						want[id] = true
					}
				}
			}
			deliveries, err := r.Deliveries(t.Context(), r.newest()[0].ID)
			must(t, err)
			for _, d := range deliveries {
				if !want[d.ChannelID] {
					t.Errorf("%+v goes to channel %d by %+v", notice, d.ChannelID, rules)
				}
				delete(want, d.ChannelID) // a second one would not be wanted
			}
			if len(want) > 0 {
				t.Errorf("%+v does not go to %v by %+v", notice, want, rules)
			}
		}
	}
}

func TestARuleThatTellsNowGoesFirst(t *testing.T) {
	r := newRig(t, dbtest.Folder(t))
	r.channel("phone", channel.TypeWebhook)
	r.onlyRule(notify.Rule{QuietFrom: "00:00", QuietTo: "23:59"})
	now, err := r.CreateRule(t.Context(), notify.Rule{Name: "at once", Enabled: true, Kinds: []notify.Kind{notify.TokenDead}})
	must(t, err)
	r.add(notify.Notice{Kind: notify.TokenDead})
	deliveries, err := r.Deliveries(t.Context(), r.newest()[0].ID)
	must(t, err)
	if len(deliveries) != 1 || deliveries[0].RuleID != now.ID {
		t.Errorf("%+v", deliveries)
	}
}

func TestARuleThatCannotWorkIsRefused(t *testing.T) {
	r := newRig(t, dbtest.Folder(t))
	r.channel("one", channel.TypeWebhook)
	for name, c := range map[string]struct {
		rule  notify.Rule
		field string
	}{
		"no name":              {notify.Rule{Name: " "}, "name"},
		"name of two lines":    {notify.Rule{Name: "a\nb"}, "name"},
		"unknown kind":         {notify.Rule{Kinds: []notify.Kind{notify.Marked, "all"}}, "kinds"},
		"unknown channel":      {notify.Rule{Channels: []int64{1, 2}}, "channels"},
		"empty user":           {notify.Rule{Users: []string{""}}, "users"},
		"title of two lines":   {notify.Rule{Title: "a\nb"}, "title"},
		"long text":            {notify.Rule{Text: strings.Repeat("x", 8001)}, "text"},
		"only one end":         {notify.Rule{QuietFrom: "22:00"}, "quiet_to"},
		"only the other end":   {notify.Rule{QuietTo: "22:00"}, "quiet_from"},
		"no time":              {notify.Rule{QuietFrom: "25:00", QuietTo: "07:00"}, "quiet_from"},
		"a short time":         {notify.Rule{QuietFrom: "22:00", QuietTo: "7:00"}, "quiet_to"},
		"quiet for ever":       {notify.Rule{QuietFrom: "22:00", QuietTo: "22:00"}, "quiet_to"},
		"a cooldown below 0":   {notify.Rule{Cooldown: -1}, "cooldown"},
		"a cooldown of a year": {notify.Rule{Cooldown: 365 * 24 * 3600}, "cooldown"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.rule.Name == "" {
				c.rule.Name = "a rule"
			}
			_, err := r.CreateRule(t.Context(), c.rule)
			var wrong *reason.FieldError
			if !errors.As(err, &wrong) || wrong.Field != c.field {
				t.Errorf("%v, want a problem of %s", err, c.field)
			}
		})
	}
	if _, err := r.UpdateRule(t.Context(), notify.Rule{ID: 99, Name: "x"}); !errors.Is(err, notify.ErrNotFound) {
		t.Error(err)
	}
	if err := r.DeleteRule(t.Context(), 99); !errors.Is(err, notify.ErrNotFound) {
		t.Error(err)
	}
	made, err := r.CreateRule(t.Context(), notify.Rule{Name: " tidy ", Users: []string{"b", "a", "b"}, QuietFrom: "22:00", QuietTo: "07:00", Cooldown: 5})
	must(t, err)
	got, err := r.Rule(t.Context(), made.ID)
	must(t, err)
	if got.Name != "tidy" || !slices.Equal(got.Users, []string{"a", "b"}) || got.Kinds == nil || got.Channels == nil || got.QuietTo != "07:00" || got.Cooldown != 5 {
		t.Errorf("%+v", got)
	}
	for range 200 {
		if _, err = r.CreateRule(t.Context(), notify.Rule{Name: "more"}); err != nil {
			break
		}
	}
	if !errors.Is(err, notify.ErrFull) {
		t.Errorf("%v, want ErrFull", err)
	}
}
