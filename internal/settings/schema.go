package settings

// Section describes one [section] for the settings page and the documents.
type Section struct {
	Name   string `json:"name"`
	Help   string `json:"help"`
	HelpZH string `json:"help_zh"`
	Keys   []Key  `json:"keys"`
}

// Key describes one key and says where its value comes from. Numbers have Min
// and Max, both allowed.
type Key struct {
	Path           string   `json:"path"`
	Type           Type     `json:"type"`
	Default        any      `json:"default"`
	Min            *float64 `json:"min,omitempty"`
	Max            *float64 `json:"max,omitempty"`
	Choices        []string `json:"choices,omitempty"`
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
		described := Section{Name: sec.name, Help: sec.help, HelpZH: sec.zh}
		for _, o := range sec.options {
			key := Key{
				Path: o.path, Type: o.kind(), Default: o.standardValue(), Choices: o.choices,
				Help: o.help, HelpZH: o.zh, Secret: o.secret(), Restart: o.restart, Env: o.env(), Source: FromDefault,
			}
			if key.Type == Integer || key.Type == Number {
				key.Min, key.Max = &o.min, &o.max
			}
			if value, ok := values[o.path]; ok {
				key.Source, key.Locked, key.LockedBy, key.PendingRestart = value.source, value.locked(), value.by, value.pending
			}
			described.Keys = append(described.Keys, key)
		}
		schema = append(schema, described)
	}
	return schema
}
