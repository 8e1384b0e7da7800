package channel

import (
	"watchmark/internal/platform/bilingual"
)

// Words is a text in both languages of the pages.
type Words = bilingual.Text

// Adapters are the types of channels, in the order people see them.
var Adapters = []Adapter{
	barkAdapter,
	ntfyAdapter,
	telegramAdapter,
	serverChanAdapter,
	pushDeerAdapter,
	gotifyAdapter,
	browserAdapter,
	wecomAdapter,
	dingtalkAdapter,
	discordAdapter,
	slackAdapter,
	matrixAdapter,
	emailAdapter,
	homeAssistantAdapter,
	appriseAdapter,
	webhookAdapter,
}

// Group is where messages of a type arrive, for who looks for one.
type Group string

// The groups, in the order people see them.
const (
	Phones   Group = "phones"
	Groups   Group = "groups"
	Programs Group = "programs"
)

// AllGroups are the groups.
var AllGroups = []Group{Phones, Groups, Programs}

// Adapter is one type of channel: all that the service, its API and its pages know of it. How it checks its settings
// and sends is the Config that Read returns.
type Adapter struct {
	// Type is what its channels are stored under, and with an s the part of their paths in the API. It never changes.
	Type Type
	// Name is what people call the type, Noun what the API document calls one channel of it.
	Name Words
	Noun string
	// Icon is the name of a file in the pages' icons.
	Icon  string
	Group Group
	// About says what it reaches. Add is the heading of the form of a new one, Example a name for one.
	About, Add, Example Words
	// Read reads settings from JSON. Its errors never repeat the text, which holds secrets.
	Read func(plain string) (Config, error)
	Rate Rate
	// Fields are the settings in the order of the form, each by its name in JSON. Those with More are folded away under
	// MoreTitle.
	Fields    []Field
	MoreTitle Words
	// Presets are what a form can begin with, under PresetsTitle.
	Presets      []Preset
	PresetsTitle Words
	Guide        Guide
}

// Empty is the settings that a new channel begins with.
func (a Adapter) Empty() Config {
	config, _ := a.Read("{}") // {} is always read
	return config
}

// Rate is how fast messages may be sent: in any minute at most PerMinute, of which Burst at once.
type Rate struct{ PerMinute, Burst int }

// usualRate is that of receivers which document no limit.
var usualRate = Rate{PerMinute: 60, Burst: 5}

// Guide is the help beside the form. Its texts may hold **bold** and `code`.
type Guide struct {
	// Steps are what to do, one after the other; there may be none.
	Steps []Words
	Note  Words
}

// Preset is what a form can begin with, for one receiver or provider.
type Preset struct {
	// ID names Hint. Presets with the same ID share the hint of the first.
	ID, Name string
	// Hint may hold **bold** and `code`.
	Hint Words
	// Fills are the values of fields, by name, as a person would enter them.
	Fills map[string]string
}

// Input is how a field of the form is filled in.
type Input string

// The inputs. Given is what a browser tells of itself: nobody enters it.
const (
	Line        Input = "line"
	SecretLine  Input = "secret"
	Password    Input = "password"
	List        Input = "list" // separated by commas
	Number      Input = "number"
	Choice      Input = "choice"
	Switch      Input = "switch"
	HeaderLines Input = "headers"
	Template    Input = "template"
	Given       Input = "given"
)

// Field is one setting in the form of a channel.
type Field struct {
	// Name is its name in JSON.
	Name  string
	Input Input
	Label Words
	// Help may hold `code`; it may be empty.
	Help     Words
	Required bool
	// More folds the field away. Half puts it beside its neighbour where the page is wide.
	More, Half bool
	// Example stands in the empty field.
	Example string
	// Keyboard is the inputmode of telephones; empty for the usual one.
	Keyboard string
	// Options are those of a Choice; the first is taken when nothing is chosen.
	Options []Option
}

// Option is a value of a Choice. Without a Label it is called by its value.
type Option struct {
	Value string
	Label Words
}

// AdapterOf returns the adapter of type t, and false when there is none.
func AdapterOf(t Type) (Adapter, bool) {
	for _, a := range Adapters {
		if a.Type == t {
			return a, true
		}
	}
	return Adapter{}, false
}

// Types are those of Adapters.
func Types() []Type {
	types := make([]Type, len(Adapters))
	for i, a := range Adapters {
		types[i] = a.Type
	}
	return types
}

// Read is the config of type t that plain, a result of Plain, holds.
func Read(t Type, plain string) (Config, error) {
	a, known := AdapterOf(t)
	if !known {
		return nil, unknownType.With(t)
	}
	return a.Read(plain)
}
