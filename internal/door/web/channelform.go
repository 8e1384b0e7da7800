package web

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
)

// channelPage is the form of a channel; its ID is 0 for a new one.
type channelPage struct {
	channelView
	Adapter channel.Adapter
	// Rows are the fields, More those that are folded away. The fields of a row stand side by side on a wide screen.
	Rows, More [][]channelField
	Presets    []preset
	// Push is set in place of the form where a browser gives the settings; nil otherwise.
	Push *pushPanel
}

// pushPanel is what a browser needs to subscribe.
type pushPanel struct {
	Key string
	// Known are digests of the addresses of the reader's browsers, for the page to know its own.
	Known string
}

// channelField is a field of the form with its value; On is the value of a switch.
type channelField struct {
	channel.Field
	// Key is the text key of its label. The keys of its help and options begin with it.
	Key   string
	Value string
	On    bool
}

// Kept reports whether it is a stored secret, which stays when the field is left empty.
func (f channelField) Kept() bool {
	return f.Value != "" && (f.Input == channel.SecretLine || f.Input == channel.Password)
}

// HasHelp reports whether a help text stands below it.
func (f channelField) HasHelp() bool { return f.Kept() || f.Help != bilingual.Text{} }

// Placeholders are the ones that a message template may contain.
func (channelField) Placeholders() []string { return channel.Placeholders }

// StepKeys are the text keys of the steps of the guide.
func (p channelPage) StepKeys() []string {
	keys := make([]string, len(p.Adapter.Guide.Steps))
	for i := range keys {
		keys[i] = channelStepKey(p.Type, i)
	}
	return keys
}

// Hints are the ids of the presets that have a text.
func (p channelPage) Hints() []string {
	var ids []string
	for _, one := range p.Presets {
		if !slices.Contains(ids, one.ID) {
			ids = append(ids, one.ID)
		}
	}
	return ids
}

// Switched reports whether the switch of the form is on at first.
func (p channelPage) Switched() bool { return p.ID == 0 || p.Enabled }

// preset fills the form; Fills are the values of the fields as JSON.
type preset struct {
	channel.Preset
	Fills string
}

// newChannel shows the form of a new channel of the type in the query.
func (g Notifications) newChannel(r *request) (content, error) {
	a, known := channel.AdapterOf(channel.Type(r.URL.Query().Get("type")))
	if !known || !r.can(createChannel(a.Type)) {
		return content{}, errNoPage
	}
	page, err := channelPageOf(a, channelView{Channel: notify.Channel{Type: a.Type}, Icon: a.Icon}, a.Empty())
	if err == nil && a.Type == channel.TypeBrowser {
		page.Push, err = g.pushPanel(r)
	}
	return content{Title: "channel.new." + string(a.Type), Data: page}, err
}

func (g Notifications) pushPanel(r *request) (*pushPanel, error) {
	channels, err := g.Notices.Channels(r.Context())
	var known []string
	for _, c := range channels {
		config, err := channel.Read(c.Type, c.Config.Reveal())
		if browser, is := config.(channel.Browser); err == nil && is {
			sum := sha256.Sum256([]byte(browser.Endpoint.Reveal()))
			known = append(known, fmt.Sprintf("%x:%d", sum, c.ID))
		}
	}
	return &pushPanel{g.PushKey, strings.Join(known, " ")}, err
}

// channel shows the form of a channel. It is empty when the stored settings cannot be read.
func (g Notifications) channel(r *request) (content, error) {
	id, err := idOf(r)
	if err != nil {
		return content{}, err
	}
	c, err := g.Notices.Channel(r.Context(), id)
	if err != nil {
		return content{}, err
	}
	view, err := channelViewOf(c)
	if err != nil {
		return content{}, err
	}
	a, known := channel.AdapterOf(c.Type)
	if !known {
		return content{}, errNoPage
	}
	config, err := a.Read(c.Config.Reveal())
	if err != nil {
		config = a.Empty()
	}
	page, err := channelPageOf(a, view, config)
	return content{Heading: c.Name, Data: page}, err
}

func channelPageOf(a channel.Adapter, v channelView, config channel.Config) (channelPage, error) {
	page := channelPage{channelView: v, Adapter: a}
	text, err := json.Marshal(config) // secrets are masked
	if err != nil {
		return page, err
	}
	values := map[string]any{}
	if err := json.Unmarshal(text, &values); err != nil {
		return page, err
	}
	for _, f := range a.Fields {
		field := channelField{Field: f, Key: fieldKey(a.Type, f.Name), Value: entered(values[f.Name])}
		field.On, _ = values[f.Name].(bool)
		rows := &page.Rows
		if f.More {
			rows = &page.More
		}
		if last := len(*rows) - 1; f.Half && last >= 0 && (*rows)[last][0].Half {
			(*rows)[last] = append((*rows)[last], field)
		} else {
			*rows = append(*rows, []channelField{field})
		}
	}
	for _, p := range a.Presets {
		fills := map[string]string{}
		for name, value := range p.Fills {
			fills["config."+name] = value
		}
		text, err := json.Marshal(fills)
		if err != nil {
			return page, err
		}
		page.Presets = append(page.Presets, preset{p, string(text)})
	}
	return page, nil
}

// entered is a JSON value as a person types it: lists with commas, one header a line, and an empty text for 0.
func entered(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case float64:
		if value != 0 {
			return fmt.Sprint(value)
		}
	case []any:
		var list, lines []string
		for _, one := range value {
			if header, is := one.(map[string]any); is {
				lines = append(lines, fmt.Sprintf("%s: %s\n", header["name"], header["value"]))
			} else {
				list = append(list, fmt.Sprint(one))
			}
		}
		return strings.Join(lines, "") + strings.Join(list, ", ")
	}
	return ""
}

func fieldKey(t channel.Type, name string) string { return fmt.Sprintf("channel.field.%s.%s", t, name) }

// channelStepKey is the text key of step i, counted from 0, of a guide.
func channelStepKey(t channel.Type, i int) string { return fmt.Sprintf("channel.guide.%s.%d", t, i+1) }

// channelTexts returns the texts of a type of channel by key.
func channelTexts(a channel.Adapter) map[string]bilingual.Text {
	t := string(a.Type)
	texts := map[string]bilingual.Text{
		"channel.type." + t: a.Name, "channel.about." + t: a.About, "channel.new." + t: a.Add, "channel.name_example." + t: a.Example,
		"channel.more." + t: a.MoreTitle, "channel.presets." + t: a.PresetsTitle, "channel.guide." + t: a.Guide.Note,
	}
	for i, step := range a.Guide.Steps {
		texts[channelStepKey(a.Type, i)] = step
	}
	for _, p := range a.Presets {
		if key := "channel.preset." + p.ID; texts[key] == (bilingual.Text{}) {
			texts[key] = p.Hint
		}
	}
	for _, f := range a.Fields {
		key := fieldKey(a.Type, f.Name)
		texts[key], texts[key+".help"] = f.Label, f.Help
		for _, o := range f.Options {
			texts[key+".is."+o.Value] = o.Label
		}
	}
	maps.DeleteFunc(texts, func(_ string, text bilingual.Text) bool { return text == bilingual.Text{} })
	return texts
}
