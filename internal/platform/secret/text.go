package secret

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
)

// Shown stands wherever a secret was.
const Shown = "***"

// Text is a credential. Whatever prints, logs or encodes it gives Shown, or
// nothing when it is empty; only Reveal gives the value. Decoding JSON into a
// Text works as with a string.
type Text string

// Reveal is the value itself.
func (t Text) Reveal() string { return string(t) }

// String is Shown, or empty when there is no secret.
func (t Text) String() string {
	if t == "" {
		return ""
	}
	return Shown
}

// GoString is String in quotes.
func (t Text) GoString() string { return t.quoted() }

// Format writes String for every verb, numbers and pointers included.
func (t Text) Format(f fmt.State, verb rune) {
	text := t.String()
	if verb == 'q' || verb == 'v' && f.Flag('#') {
		text = t.quoted()
	}
	_, _ = io.WriteString(f, text) // fmt has no way to report it
}

func (t Text) quoted() string { return `"` + t.String() + `"` }

// LogValue is String.
func (t Text) LogValue() slog.Value { return slog.StringValue(t.String()) }

// MarshalJSON is String as a JSON string.
func (t Text) MarshalJSON() ([]byte, error) { return json.Marshal(t.String()) }

// MarshalText is String.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }
