package channel_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/tell/notify/channel"
)

func TestAdaptersAreComplete(t *testing.T) {
	icons := map[string]channel.Type{}
	for _, a := range channel.Adapters {
		t.Run(string(a.Type), func(t *testing.T) {
			said := func(what string, words channel.Words) {
				if words.English == "" || words.Chinese == "" {
					t.Errorf("%s is %q in English and %q in Chinese", what, words.English, words.Chinese)
				}
			}
			said("the name", a.Name)
			said("what it reaches", a.About)
			said("the heading of the form", a.Add)
			said("an example of a name", a.Example)
			said("the guide", a.Guide.Note)
			for _, step := range a.Guide.Steps {
				said("a step", step)
			}
			if a.Empty().Type() != a.Type || a.Noun == "" || a.Rate.PerMinute <= a.Rate.Burst || a.Rate.Burst < 1 {
				t.Errorf("it is of type %q, called %q, with the rate %v", a.Empty().Type(), a.Noun, a.Rate)
			}
			if other := icons[a.Icon]; a.Icon == "" || other != "" {
				t.Errorf("the icon %q is that of %q", a.Icon, other)
			}
			icons[a.Icon] = a.Type

			var names []string
			for _, f := range a.Fields {
				names = append(names, f.Name)
				said("the field "+f.Name, f.Label)
				if f.More {
					said("the title of what is folded away", a.MoreTitle)
				}
			}
			encoded, err := json.Marshal(a.Empty())
			if err != nil {
				t.Fatal(err)
			}
			settings := map[string]any{}
			if err := json.Unmarshal(encoded, &settings); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(slices.Sorted(maps.Keys(settings)), slices.Sorted(slices.Values(names))); diff != "" {
				t.Errorf("the fields are not the settings: %s", diff)
			}
		})
	}
}

// What forms begin with passes the checks once a person has added what is theirs.
func TestPresetsAreGood(t *testing.T) {
	own := map[channel.Type]map[string]any{channel.TypeEmail: {"user": "mira@example.org", "password": "x", "to": []string{"mira@example.org"}}}
	for _, a := range channel.Adapters {
		hints := map[string]channel.Words{}
		for _, p := range a.Presets {
			if hint := hints[p.ID]; hint == (channel.Words{}) {
				hints[p.ID] = p.Hint
			}
			if hint := hints[p.ID]; hint.English == "" || hint.Chinese == "" || a.PresetsTitle.English == "" || a.PresetsTitle.Chinese == "" {
				t.Errorf("%s: the preset %s has no hint or no title", a.Type, p.ID)
			}
			settings := map[string]any{}
			maps.Copy(settings, own[a.Type])
			for name, value := range p.Fills {
				at := slices.IndexFunc(a.Fields, func(f channel.Field) bool { return f.Name == name })
				switch {
				case at < 0:
					t.Errorf("%s: the preset %s fills %s, which is no field", a.Type, p.ID, name)
				case a.Fields[at].Input == channel.Number:
					settings[name] = json.Number(value)
				case a.Fields[at].Input != channel.HeaderLines: // the page splits them
					settings[name] = value
				}
			}
			encoded, err := json.Marshal(settings)
			if err != nil {
				t.Fatal(err)
			}
			config, err := a.Read(string(encoded))
			if err != nil {
				t.Fatal(err)
			}
			if _, wrong := config.Check(); len(wrong) > 0 {
				t.Errorf("%s: the preset %s: %v", a.Type, p.ID, wrong)
			}
		}
	}
}
