package channel

import (
	"bytes"
	"encoding/json"
	"fmt"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// Type is a kind of channel.
type Type string

// Config is the settings of one channel. Encoded as JSON
// its secrets are masked; only Plain tells them.
type Config interface {
	Type() Type
	// Keep is the config with each secret that reads secret.Shown taken from old, what a form
	// sends back that was not touched. A secret is not kept for another host than it was
	// entered for. old may be nil, or of another type; then nothing is kept.
	Keep(old Config) Config
	// Check is the config in the one form that is stored, and everything that is wrong with it.
	// Open takes only what has no problems.
	Check() (Config, []*reason.FieldError)
	// Plain is the config as JSON with its secrets, to be sealed. Read takes it.
	Plain() string
	// Secrets are the values that must appear in no log.
	Secrets() []string
	// Where tells people where messages go, without a secret.
	Where() string
	// Open is a sender with these settings.
	Open(tools *Tools) Sender
}

// read never repeats plain in an error: it holds secrets.
func read[C Config](plain string) (Config, error) {
	var c C
	if err := json.Unmarshal([]byte(plain), &c); err != nil {
		return nil, settingsUnreadable.With(c.Type())
	}
	return c, nil
}

// HoldsSeveral reports whether one message of a channel can tell several notices. Those whose settings do not say
// otherwise can.
func HoldsSeveral(c Config) bool {
	limited, is := c.(interface{ holdsSeveral() bool })
	return !is || limited.holdsSeveral()
}

// LanguageOf is the language that a channel wants its messages in; empty for that of all.
func LanguageOf(c Config) bilingual.Language {
	if spoken, is := c.(interface{ Spoken() bilingual.Language }); is {
		return spoken.Spoken()
	}
	return ""
}

// Answers reports whether messages of a channel can have actions.
func Answers(c Config) bool {
	answers, is := c.(interface{ Answers() bool })
	return is && answers.Answers()
}

// encode is v as JSON with <, > and & as they are.
func encode(v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // not possible for what is encoded here: text, numbers, and lists and maps of them
		panic(fmt.Sprintf("encode a message: %v", err))
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// problems gathers what is wrong with a config.
type problems []*reason.FieldError

func (p *problems) add(field string, what error) { *p = append(*p, reason.At(field, what)) }

// again reports a secret that still reads as it is shown.
func (p *problems) again(field string, value secret.Text) bool {
	if value.Reveal() != secret.Shown {
		return false
	}
	p.add(field, enterForNewHost.With())
	return true
}
