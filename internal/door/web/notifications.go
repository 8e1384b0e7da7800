package web

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/bilingual"
	"watchmark/internal/record"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
)

// Notifications are the pages of channels and notification rules.
type Notifications struct {
	Notices  *notify.Notifier
	Accounts *account.Store
	Records  *record.Store
	// PushKey is what a browser subscribes to, its applicationServerKey.
	PushKey string
}

type notificationsPage struct {
	Channels []channelView
	// On is how many channels are enabled.
	On int
	// Groups are the types of channels that the reader can add.
	Groups []typeGroup
	Rules  []ruleView
}

// typeGroup is a group of types of channels.
type typeGroup struct {
	Name  channel.Group
	Types []channel.Adapter
}

// channelView is a channel as the pages show it.
type channelView struct {
	notify.Channel
	Icon    string
	Display display
	Where   string
	// Switch is the request body that enables or disables it; empty when its settings cannot be read.
	Switch string
}

// Plural names channels of its type in paths of the API.
func (v channelView) Plural() string { return string(v.Type) + "s" }

// channelViewOf makes the view of a channel.
func channelViewOf(c notify.Channel) (channelView, error) {
	a, _ := channel.AdapterOf(c.Type) // an unknown type has no icon
	v := channelView{Channel: c, Icon: a.Icon, Display: channelDisplay(c)}
	config, err := channel.Read(c.Type, c.Config.Reveal())
	if err != nil { // the channel is paused then, which its display shows
		return v, nil //nolint:nilerr // as above
	}
	v.Where = config.Where()
	body, err := json.Marshal(struct {
		Name    string         `json:"name"`
		Enabled bool           `json:"enabled"`
		Config  channel.Config `json:"config"`
	}{c.Name, !c.Enabled, config})
	v.Switch = string(body)
	return v, err
}

// channelDisplay shows the state of a channel.
func channelDisplay(c notify.Channel) display {
	switch {
	case !c.Enabled:
		return display{"quiet", "power", "channel.is.off"}
	case !c.Paused.IsZero():
		return display{"bad", "pause", "channel.is.paused"}
	case !c.LastError.IsZero():
		return display{"warn", "triangle-alert", "channel.is.failing"}
	case c.LastSentAt.IsZero():
		return display{"quiet", "circle", "channel.is.new"}
	}
	return display{"good", "circle-check", "channel.is.works"}
}

func (g Notifications) channelViews(ctx context.Context) (views []channelView, on int, err error) {
	channels, err := g.Notices.Channels(ctx)
	for _, c := range channels {
		view, failure := channelViewOf(c)
		err = errors.Join(err, failure)
		views = append(views, view)
		if c.Enabled {
			on++
		}
	}
	return views, on, err
}

// ruleView is a rule in the reader's language.
type ruleView struct {
	notify.Rule
	// ShownName is its name; that of the first rule is translated until somebody renames it.
	ShownName string
	// Kinds are the names of the first of its kinds, More is how many more it has. Without any it is for all kinds.
	Kinds []string
	More  int
	// To are the names of its channels. Without any it is for all channels.
	To []string
	// Minutes is its cooldown in minutes.
	Minutes string
	// Switch is the request body that enables or disables it.
	Switch string
}

// kindsNamed is how many kinds of a rule a list names.
const kindsNamed = 5

// ruleViewOf makes the view of a rule; names are those of channels by id.
func ruleViewOf(rule notify.Rule, names map[int64]string, lang string) (ruleView, error) {
	v := ruleView{Rule: rule, ShownName: rule.Name, Minutes: minutes(rule.Cooldown)}
	if rule.Name == notify.FirstRule.Error() {
		v.ShownName = notify.FirstRule.With().In(bilingual.Language(lang))
	}
	for _, kind := range rule.Kinds {
		v.Kinds = append(v.Kinds, notify.InfoOf(kind).Name(bilingual.Language(lang)))
	}
	if len(v.Kinds) > kindsNamed+1 {
		v.Kinds, v.More = v.Kinds[:kindsNamed], len(v.Kinds)-kindsNamed
	}
	for _, id := range rule.Channels {
		v.To = append(v.To, names[id])
	}
	rule.Enabled = !rule.Enabled
	body, err := json.Marshal(struct {
		notify.Rule
		ID *int64 `json:"id,omitempty"` // it stands in the address
	}{Rule: rule})
	v.Switch = string(body)
	return v, err
}

// minutes converts seconds to minutes.
func minutes(seconds int) string { return number(float64(seconds) / 60) }

// createChannel is the operation that adds a channel of a type.
func createChannel(t channel.Type) string { return "create-" + string(t) + "-channel" }

// list shows channels and rules.
func (g Notifications) list(r *request) (content, error) {
	page := notificationsPage{}
	for _, name := range channel.AllGroups {
		group := typeGroup{Name: name}
		for _, a := range channel.Adapters {
			if a.Group == name && r.can(createChannel(a.Type)) {
				group.Types = append(group.Types, a)
			}
		}
		page.Groups = append(page.Groups, group)
	}
	var err error
	if page.Channels, page.On, err = g.channelViews(r.Context()); err != nil {
		return content{}, err
	}
	names := map[int64]string{}
	for _, c := range page.Channels {
		names[c.ID] = c.Name
	}
	rules, err := g.Notices.Rules(r.Context())
	for _, rule := range rules {
		view, failure := ruleViewOf(rule, names, r.lang)
		err = errors.Join(err, failure)
		page.Rules = append(page.Rules, view)
	}
	return content{Data: page}, err
}

// trial lists the channels for a test of all of them.
func (g Notifications) trial(r *request) (content, error) {
	views, on, err := g.channelViews(r.Context())
	return content{Data: notificationsPage{Channels: views, On: on}}, err
}

// rulePage is the form of a rule; its ID is 0 for a new one.
type rulePage struct {
	notify.Rule
	Groups []kindGroup
	// Names are the users that can be chosen.
	Names    []string
	Channels []channelView
	// Minutes is its cooldown in minutes.
	Minutes      string
	Placeholders []string
}

// Tells reports whether the rule names a kind.
func (p rulePage) Tells(kind notify.Kind) bool { return slices.Contains(p.Kinds, kind) }

// Goes reports whether the rule names a channel.
func (p rulePage) Goes(id int64) bool { return slices.Contains(p.Rule.Channels, id) }

// newRule shows the form of a new rule, which begins with the kinds that want attention.
func (g Notifications) newRule(r *request) (content, error) {
	rule := notify.Rule{Enabled: true, Cooldown: 600}
	for _, k := range notify.Kinds() {
		if k.First {
			rule.Kinds = append(rule.Kinds, k.Kind)
		}
	}
	page, err := g.rulePageOf(r, rule)
	return content{Data: page}, err
}

// rule shows the form of a rule.
func (g Notifications) rule(r *request) (content, error) {
	id, err := idOf(r)
	if err != nil {
		return content{}, err
	}
	rule, err := g.Notices.Rule(r.Context(), id)
	if err != nil {
		return content{}, err
	}
	page, err := g.rulePageOf(r, rule)
	return content{Heading: rule.Name, Data: page}, err
}

func (g Notifications) rulePageOf(r *request, rule notify.Rule) (rulePage, error) {
	page := rulePage{Rule: rule, Groups: kindGroups(r), Minutes: minutes(rule.Cooldown), Placeholders: slices.Clone(notify.Common)}
	for _, k := range notify.Kinds() {
		for _, name := range k.Placeholders {
			if !slices.Contains(page.Placeholders, name) {
				page.Placeholders = append(page.Placeholders, name)
			}
		}
	}
	var err error
	if page.Channels, _, err = g.channelViews(r.Context()); err != nil {
		return page, err
	}
	accounts, err := g.Accounts.List(r.Context())
	if err != nil {
		return page, err
	}
	names, err := g.Records.UserNames(r.Context())
	for _, a := range accounts {
		names = append(append(names, a.Username), a.MediaUserNames...)
	}
	slices.Sort(names)
	page.Names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
	return page, err
}
