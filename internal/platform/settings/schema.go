package settings

// Section describes one [section] for the settings page and the documents.
type Section struct {
	Name    string `json:"name"`
	Label   string `json:"label" doc:"What the section is called on the settings page."`
	LabelZH string `json:"label_zh"`
	Help    string `json:"help"`
	HelpZH  string `json:"help_zh"`
	Keys    []Key  `json:"keys"`
}

// Choice is one of a few values that a key may have.
type Choice struct {
	Value   string `json:"value"`
	Label   string `json:"label"`
	LabelZH string `json:"label_zh"`
}

// Form is what a text is made of.
type Form string

// The forms of texts; most have none.
const (
	URL  Form = "url"
	Cron Form = "cron"
)

// Unit is what a number counts; "" where its name says so.
type Unit string

// Key describes one key and says where its value comes from. Numbers have Min
// and Max, both allowed.
type Key struct {
	Path           string   `json:"path"`
	Label          string   `json:"label" doc:"What the key is called on the settings page."`
	LabelZH        string   `json:"label_zh"`
	Type           Type     `json:"type"`
	Form           Form     `json:"form,omitempty" enum:"url,cron" doc:"What a text is made of, where it is more than text."`
	Unit           Unit     `json:"unit,omitempty" enum:"milliseconds,seconds,minutes,hours,days,mebibytes,megabytes,percent" doc:"What a number counts."`
	Default        any      `json:"default"`
	Min            *float64 `json:"min,omitempty"`
	Max            *float64 `json:"max,omitempty"`
	Choices        []Choice `json:"choices,omitempty"`
	Advanced       bool     `json:"advanced" doc:"There is rarely a reason to change it."`
	Help           string   `json:"help"`
	HelpZH         string   `json:"help_zh"`
	Secret         bool     `json:"secret"`
	Restart        bool     `json:"restart"`
	Env            string   `json:"env"`
	Source         Source   `json:"source"`
	Locked         bool     `json:"locked"`
	LockedBy       string   `json:"locked_by,omitempty"`
	PendingRestart bool     `json:"pending_restart"`
}

// Describe is the schema with every key at its default.
func Describe() []Section { return describe(nil) }

// Schema is the schema of the running service, in the order of the page.
func (m *Manager) Schema() []Section { return describe(m.current.Load().settings) }

// View gives section → key → value as they are set, keys that wait for a
// restart included. A secret is Mask when it is set and "" when not.
func (m *Manager) View() map[string]map[string]any {
	values := m.current.Load().settings
	view := map[string]map[string]any{}
	for _, sec := range table(&Settings{}) {
		view[sec.name] = map[string]any{}
		for _, o := range sec.options {
			value := values[o.path].value
			if o.secret() && value != "" {
				value = Mask
			}
			view[sec.name][o.name] = value
		}
	}
	return view
}

func describe(values map[string]setting) []Section {
	var schema []Section
	for _, sec := range table(&Settings{}) {
		described := Section{Name: sec.name, Label: sec.label, LabelZH: sec.labelZH, Help: sec.help, HelpZH: sec.zh}
		for _, o := range sec.options {
			key := Key{
				Path: o.path, Label: o.label, LabelZH: o.labelZH, Type: o.kind(), Form: o.form, Unit: o.unit.name,
				Default: o.standardValue(), Choices: o.choices, Advanced: o.advanced,
				Help: o.help, HelpZH: o.zh, Secret: o.secret(), Restart: o.restart, Env: o.env(), Source: FromDefault,
			}
			if key.Type == Integer || key.Type == Number {
				key.Min, key.Max = &o.min, &o.max
			}
			if value, ok := values[o.path]; ok {
				key.Source, key.Locked, key.LockedBy, key.PendingRestart = value.source, value.locked(), value.by, value.pending
			}
			key.Locked = key.Locked || o.fixed
			described.Keys = append(described.Keys, key)
		}
		schema = append(schema, described)
	}
	return schema
}
