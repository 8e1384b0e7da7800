// Package reason holds what the service says to people as values: a code, arguments, and the text of both in English and
// Chinese. Reasons, messages and errors that people read are made of kinds, which each package declares in one place:
//
//	var errTaken = reason.New("account_taken", "the account {name:q} exists already", "账号“{name}”已存在").For(reason.Conflict)
//
//	return errTaken.With(name)
//
// A Reason is stored, logged in English, answered by the API as {code, args, text}, and shown by a page in the reader's
// language. Programs branch on the code, never on the text. Codes are stored: a code that was released keeps its meaning, and
// a kind that gets another one names it by Was.
//
// What it promises: a Reason can be read whatever is stored. One whose code the program does not know, or that was stored as
// mere text, is shown by its text.
package reason

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"watchmark/internal/platform/bilingual"
)

// Reason is something that the service says to people. The zero Reason says nothing.
type Reason struct {
	// Code names the kind; it is empty for a text of others, such as that of an error of the system.
	Code string `json:"code"`
	// Args are the arguments by their names: texts, numbers, other reasons, and lists of reasons.
	Args map[string]any `json:"args,omitempty"`
	// Text is the whole in English.
	Text string `json:"text"`

	causes []error // what Unwrap answers: the arguments that are errors
}

// Text is a reason that is a text of others, which is shown as it is.
func Text(text string) Reason { return Reason{Text: text} }

// IsZero reports whether there is nothing to say.
func (r Reason) IsZero() bool { return r.Code == "" && r.Text == "" }

// Error is the text in English.
func (r Reason) Error() string { return r.Text }

// Equal reports whether two reasons say the same.
func (r Reason) Equal(other Reason) bool { return r.Code == other.Code && r.Text == other.Text }

// Unwrap are the errors among the arguments.
func (r Reason) Unwrap() []error { return r.causes }

// Is reports whether target is the kind of r, or a reason of the same kind.
func (r Reason) Is(target error) bool {
	switch t := target.(type) {
	case *Kind:
		return r.Code == t.code
	case Reason:
		return r.Code == t.Code && r.Text == t.Text
	}
	return false
}

// Class is what a caller can do about it; Internal for a text of others.
func (r Reason) Class() Class {
	if kind := kinds[r.Code]; kind != nil {
		return kind.class
	}
	return Internal
}

// In is the text in a language.
func (r Reason) In(l bilingual.Language) string { return r.in(l, 0) }

func (r Reason) in(l bilingual.Language, depth int) string {
	if l == bilingual.Chinese {
		if kind := kinds[r.Code]; kind != nil {
			return kind.chinese.fill(r.Args, l, depth)
		}
	}
	return r.Text
}

// Known reports whether the program has the text in every language; what others said within it stays in theirs.
func (r Reason) Known() bool { return kinds[r.Code] != nil }

// Fields is a Reason that is no error, which other packages write as JSON.
type Fields Reason

// Fields is r as it is stored.
func (r Reason) Fields() Fields { return Fields(r) }

// UnmarshalJSON reads {code, args, text}, or a mere text.
func (r *Reason) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*r = Reason{}
		return json.Unmarshal(data, &r.Text)
	}
	err := json.Unmarshal(data, (*Fields)(r))
	r.renew()
	return err
}

// Stored is the reason that was stored as a code, of today or of before, and arguments; it has today's text. It reports whether
// the code is known.
func Stored(code string, args map[string]any) (Reason, bool) {
	r := Reason{Code: code, Args: args}
	r.renew()
	kind := kinds[r.Code]
	if kind == nil {
		return Reason{}, false
	}
	r.Text = kind.english.fill(r.Args, bilingual.English, 0)
	return r, true
}

// renew gives what was stored with a code of before the code and the names of arguments of today.
func (r *Reason) renew() {
	kind := kinds[r.Code]
	if kind == nil || kind.code == r.Code {
		return
	}
	if before := kind.was[r.Code]; len(before) > 0 && r.Args != nil {
		args := make(map[string]any, len(before))
		for i, name := range kind.english.names()[:len(before)] {
			args[name] = r.Args[before[i]]
		}
		r.Args = args
	}
	r.Code = kind.code
}

// Value is what a column keeps: JSON, or a text of others as it is.
func (r Reason) Value() (driver.Value, error) {
	if r.Code == "" {
		return r.Text, nil
	}
	data, err := json.Marshal(r)
	return string(data), err
}

// Scan reads a column that Value filled, or one of before that holds mere text.
func (r *Reason) Scan(column any) error {
	text, ok := column.(string)
	if !ok && column != nil {
		return fmt.Errorf("a reason is stored as text, not as %T", column)
	}
	*r = Reason{Text: text}
	if strings.HasPrefix(text, `{"code":`) {
		var read Reason
		if json.Unmarshal([]byte(text), &read) == nil {
			*r = read
		}
	}
	return nil
}

// plainTexts are the kinds without arguments, by their English.
var plainTexts = sync.OnceValue(func() map[string]*Kind {
	byText := map[string]*Kind{}
	for _, kind := range kinds {
		if len(kind.english.places) == 0 {
			byText[kind.english.texts[0]] = kind
		}
	}
	return byText
})

// Plain is the reason without arguments that has a text, such as the message of a line of the log; a text of others for
// every other one.
func Plain(text string) Reason {
	if kind := plainTexts()[text]; kind != nil {
		return kind.With()
	}
	return Text(text)
}

// Masked is r with what mask makes of its texts, for the log.
func (r Reason) Masked(mask func(string) string) Reason {
	masked := Reason{Code: r.Code, Text: mask(r.Text), Args: make(map[string]any, len(r.Args))}
	for name, arg := range r.Args {
		masked.Args[name] = maskedArg(arg, mask)
	}
	return masked
}

func maskedArg(arg any, mask func(string) string) any {
	switch a := arg.(type) {
	case string:
		return mask(a)
	case Reason:
		return a.Masked(mask)
	case []Reason:
		masked := make([]Reason, len(a))
		for i, r := range a {
			masked[i] = r.Masked(mask)
		}
		return masked
	case int, int64, float64:
		return a
	}
	return mask(fmt.Sprint(arg)) // what was read from JSON is not logged
}

// Of is what an error says to people: the outermost Reason in it. What fmt.Errorf puts around that is for the log. An error
// without a Reason is a text of others.
func Of(err error) Reason {
	if err == nil {
		return Reason{}
	}
	if r, ok := within(err); ok {
		return r
	}
	text := textOf(err)
	for _, s := range system {
		if s.is(err) {
			r := s.kind.With(text)
			r.causes = []error{err}
			return r
		}
	}
	return Reason{Text: text, causes: []error{err}}
}

// within is the outermost Reason of an error.
func within(err error) (Reason, bool) {
	switch e := err.(type) { //nolint:errorlint // this is the unwrapping
	case Reason:
		return e, true
	case *Kind:
		return e.With(), true
	case interface{ Reason() Reason }:
		return e.Reason(), true
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			if r, ok := within(one); ok {
				return r, true
			}
		}
		return Reason{}, false
	}
	if inner := errors.Unwrap(err); inner != nil {
		return within(inner)
	}
	return Reason{}, false
}
