package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
)

type notificationsPage struct {
	Channels []channelView
	// On is how many channels are switched on.
	On    int
	Types []channelType
	Rules []ruleView
}

// channelType is a type of channel that one can add.
type channelType struct {
	Type channel.Type
	Icon string
}

var channelIcons = map[channel.Type]string{channel.TypeWebhook: "webhook", channel.TypeEmail: "mail", channel.TypeWeCom: "message-circle", channel.TypeDingTalk: "message-square"}

func channelTypes() []channelType {
	var types []channelType
	for _, t := range channel.Types {
		types = append(types, channelType{t, channelIcons[t]})
	}
	return types
}

// channelView is a channel as it stands.
type channelView struct {
	notify.Channel
	Icon  string
	Look  look
	Where string
	// Switch is the body of the request that switches it on or off; empty when its settings cannot be read.
	Switch string
}

// Plural is what the API calls channels of its type.
func (v channelView) Plural() string { return string(v.Type) + "s" }

// channelViewOf says how a channel stands.
func channelViewOf(c notify.Channel) (channelView, error) {
	v := channelView{Channel: c, Icon: channelIcons[c.Type], Look: channelLook(c)}
	config, err := channel.Read(c.Type, c.Config.Reveal())
	if err != nil { // it is paused then, and says so
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

// channelLook is how sending to a channel goes.
func channelLook(c notify.Channel) look {
	switch {
	case !c.Enabled:
		return look{"quiet", "power", "channel.is.off"}
	case c.Paused != "":
		return look{"bad", "pause", "channel.is.paused"}
	case c.LastError != "":
		return look{"warn", "triangle-alert", "channel.is.failing"}
	case c.LastSentAt.IsZero():
		return look{"quiet", "circle", "channel.is.new"}
	}
	return look{"good", "circle-check", "channel.is.works"}
}

func (s *site) channelViews(r *http.Request) (views []channelView, on int, err error) {
	channels, err := s.Notices.Channels(r.Context())
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

// ruleView is a rule in words.
type ruleView struct {
	notify.Rule
	// First is set while the rule has the name that it had at first.
	First bool
	// Kinds are the names of what it tells, and More how many more there are; none is everything.
	Kinds []string
	More  int
	// To are the names of its channels; none is every channel.
	To []string
	// Minutes is its cooldown.
	Minutes string
	// Switch is the body of the request that switches it on or off.
	Switch string
}

// kindsNamed is how many kinds of a rule a list names.
const kindsNamed = 5

// ruleViewOf puts a rule into words, with channels by id.
func ruleViewOf(rule notify.Rule, names map[int64]string, lang string) (ruleView, error) {
	v := ruleView{Rule: rule, First: rule.Name == notify.FirstRule, Minutes: minutes(rule.Cooldown)}
	for _, kind := range rule.Kinds {
		v.Kinds = append(v.Kinds, notify.InfoOf(kind).Name(notify.Language(lang)))
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

// minutes is a number of seconds in minutes.
func minutes(seconds int) string { return number(float64(seconds) / 60) }

// notifications shows channels and rules.
func (s *site) notifications(r *http.Request) (content, error) {
	page := notificationsPage{Types: channelTypes()}
	var err error
	if page.Channels, page.On, err = s.channelViews(r); err != nil {
		return content{}, err
	}
	names := map[int64]string{}
	for _, c := range page.Channels {
		names[c.ID] = c.Name
	}
	rules, err := s.Notices.Rules(r.Context())
	for _, rule := range rules {
		view, failure := ruleViewOf(rule, names, s.language(r))
		err = errors.Join(err, failure)
		page.Rules = append(page.Rules, view)
	}
	return content{Title: "notifications.title", Data: page}, err
}

// notificationTrial lists the channels for a test of all of them.
func (s *site) notificationTrial(r *http.Request) (content, error) {
	views, on, err := s.channelViews(r)
	return content{Title: "debug.title", Data: notificationsPage{Channels: views, On: on}}, err
}

// channelPage is the form of a channel; its ID is 0 for a new one.
type channelPage struct {
	channelView
	// Config is its settings, in which secrets are masked.
	Config channel.Config
	// Steps counts the texts channel.guide.<type>.1 and on.
	Steps        int
	Presets      []preset
	Placeholders []string
	Standard     string // the template of a webhook that has none
}

// StepKeys are the keys of the guide's texts in order.
func (p channelPage) StepKeys() []string {
	keys := make([]string, p.Steps)
	for i := range keys {
		keys[i] = fmt.Sprintf("channel.guide.%s.%d", p.Type, i+1)
	}
	return keys
}

// Hints are the ids of the texts for presets.
func (p channelPage) Hints() []string {
	var ids []string
	for _, one := range p.Presets {
		if !slices.Contains(ids, one.ID) {
			ids = append(ids, one.ID)
		}
	}
	return ids
}

// Methods are those of a webhook.
func (channelPage) Methods() []string {
	return []string{http.MethodPost, http.MethodPut, http.MethodGet}
}

// Encryptions are those of a mail server's connection.
func (channelPage) Encryptions() []channel.TLS {
	return []channel.TLS{channel.Implicit, channel.STARTTLS, channel.None}
}

// Switched reports whether the form begins switched on.
func (p channelPage) Switched() bool { return p.ID == 0 || p.Enabled }

var (
	guideSteps   = map[channel.Type]int{channel.TypeWeCom: 3, channel.TypeDingTalk: 3}
	emptyConfigs = map[channel.Type]channel.Config{channel.TypeWebhook: channel.Webhook{}, channel.TypeEmail: channel.Email{}, channel.TypeWeCom: channel.WeCom{}, channel.TypeDingTalk: channel.DingTalk{}}
)

func channelPageOf(v channelView, config channel.Config) channelPage {
	return channelPage{channelView: v, Config: config, Steps: guideSteps[v.Type], Presets: presets[v.Type], Placeholders: messagePlaceholders, Standard: channel.DefaultTemplate}
}

// newChannel shows the form of a new channel of the type in the address.
func (s *site) newChannel(r *http.Request) (content, error) {
	t := channel.Type(r.URL.Query().Get("type"))
	if emptyConfigs[t] == nil {
		return content{}, errNoPage
	}
	return content{Title: "channel.new." + string(t), Data: channelPageOf(channelView{Channel: notify.Channel{Type: t}, Icon: channelIcons[t]}, emptyConfigs[t])}, nil
}

// channel shows the form of a channel. Settings that cannot be read any more are entered anew.
func (s *site) channel(r *http.Request) (content, error) {
	id, err := idOf(r)
	if err != nil {
		return content{}, err
	}
	c, err := s.Notices.Channel(r.Context(), id)
	if err != nil {
		return content{}, err
	}
	view, err := channelViewOf(c)
	config, failure := channel.Read(c.Type, c.Config.Reveal())
	if failure != nil {
		config = emptyConfigs[c.Type]
	}
	return content{Heading: c.Name, Data: channelPageOf(view, config)}, err
}

// preset is what a channel's form can begin with, for one receiver or provider.
type preset struct {
	ID, Name string
	// Fills are the values of fields, as JSON.
	Fills string
}

// presets are those of docs/notifications.md.
var presets = map[channel.Type][]preset{
	channel.TypeWebhook: {
		webhookPreset("ntfy", "ntfy", "https://ntfy.sh/", "", `{"topic": "your-topic", "title": "{title}", "message": "{text:1200}", "click": "{link}"}`),
		webhookPreset("bark", "Bark", "https://api.day.app/push", "", `{"device_key": "your-key", "title": "{title}", "body": "{text:1000}", "url": "{link}", "group": "Watchmark"}`),
		webhookPreset("gotify", "Gotify", "http://gotify.local/message", "X-Gotify-Key: your-token",
			`{"title": "{title}", "message": "{text}", "priority": 5, "extras": {"client::notification": {"click": {"url": "{link}"}}}}`),
		webhookPreset("home_assistant", "Home Assistant", "http://homeassistant.local:8123/api/webhook/your-id", "", `{"title": "{title}", "message": "{text}", "type": "{type}"}`),
		webhookPreset("telegram", "Telegram", "https://api.telegram.org/botyour-token/sendMessage", "",
			`{"chat_id": "your-chat", "text": "{title:200}\n{text:3500}\n{link}", "link_preview_options": {"is_disabled": true}}`),
		webhookPreset("discord", "Discord", "https://discord.com/api/webhooks/your-webhook", "",
			`{"username": "Watchmark", "content": "{title:200}\n{text:1500}\n{link}", "allowed_mentions": {"parse": []}}`),
	},
	channel.TypeEmail: {
		mailPreset("qq", "QQ", "smtp.qq.com"), mailPreset("netease", "163", "smtp.163.com"), mailPreset("netease", "126", "smtp.126.com"), mailPreset("gmail", "Gmail", "smtp.gmail.com"),
	},
}

func webhookPreset(id, name, address, headers, template string) preset {
	var lines bytes.Buffer
	_ = json.Indent(&lines, []byte(template), "", "  ") // those below are JSON, as a test sees
	return presetOf(id, name, map[string]string{"config.url": address, "config.headers": headers, "config.template": lines.String(), "config.method": http.MethodPost})
}

func mailPreset(id, name, host string) preset {
	return presetOf(id, name, map[string]string{"config.host": host, "config.port": "465", "config.tls": string(channel.Implicit)})
}

func presetOf(id, name string, fields map[string]string) preset {
	fills, _ := json.Marshal(fields) // text always encodes
	return preset{id, name, string(fills)}
}

// messagePlaceholders are those of a webhook's template (docs/notifications.md).
var messagePlaceholders = []string{"title", "text", "link", "type", "type_name", "timestamp", "count", "id", "user", "account", "source", "anime", "ori_title", "season", "episode",
	"subject_name", "subject_id", "episode_id", "error"}

// rulePage is the form of a rule; its ID is 0 for a new one.
type rulePage struct {
	notify.Rule
	Groups []kindGroup
	// Names are those of users that can be chosen.
	Names    []string
	Channels []channelView
	// Minutes is its cooldown.
	Minutes      string
	Placeholders []string
}

// Tells reports whether the rule names a kind.
func (p rulePage) Tells(kind notify.Kind) bool { return slices.Contains(p.Kinds, kind) }

// Goes reports whether the rule names a channel.
func (p rulePage) Goes(id int64) bool { return slices.Contains(p.Rule.Channels, id) }

// newRule shows the form of a new rule, which begins with the kinds that want attention.
func (s *site) newRule(r *http.Request) (content, error) {
	rule := notify.Rule{Enabled: true, Cooldown: 600}
	for _, k := range notify.Kinds() {
		if k.First {
			rule.Kinds = append(rule.Kinds, k.Kind)
		}
	}
	page, err := s.rulePageOf(r, rule)
	return content{Title: "rule.new", Data: page}, err
}

// rule shows the form of a rule.
func (s *site) rule(r *http.Request) (content, error) {
	id, err := idOf(r)
	if err != nil {
		return content{}, err
	}
	rule, err := s.Notices.Rule(r.Context(), id)
	if err != nil {
		return content{}, err
	}
	page, err := s.rulePageOf(r, rule)
	return content{Heading: rule.Name, Data: page}, err
}

func (s *site) rulePageOf(r *http.Request, rule notify.Rule) (rulePage, error) {
	page := rulePage{Rule: rule, Groups: kindGroups(s.language(r)), Minutes: minutes(rule.Cooldown), Placeholders: slices.Clone(notify.Common)}
	for _, k := range notify.Kinds() {
		for _, name := range k.Placeholders {
			if !slices.Contains(page.Placeholders, name) {
				page.Placeholders = append(page.Placeholders, name)
			}
		}
	}
	var err error
	if page.Channels, _, err = s.channelViews(r); err != nil {
		return page, err
	}
	accounts, err := s.Accounts.List(r.Context())
	if err != nil {
		return page, err
	}
	names, err := s.Records.UserNames(r.Context())
	for _, a := range accounts {
		names = append(append(names, a.Username), a.MediaUserNames...)
	}
	slices.Sort(names)
	page.Names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
	return page, err
}
