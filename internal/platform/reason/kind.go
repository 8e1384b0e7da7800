package reason

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"watchmark/internal/platform/bilingual"
)

// Class is what a caller can do about an error. The API has an HTTP status for each.
type Class int

// The classes.
const (
	Internal     Class = iota // nothing: it is a fault of the service, or no error
	Invalid                   // send other values
	NotFound                  // ask for something else
	Conflict                  // change the state first
	Unauthorized              // sign in
	Forbidden                 // ask somebody who may
	TooMany                   // wait
	Unavailable               // try again later
	Upstream                  // see to another service
	NoSpace                   // make room on the disk
)

// Kind is a kind of reason. It is an error by itself, too: what it says must then have no arguments.
type Kind struct {
	code             string
	english, chinese template
	class            Class
	was              map[string][]string // codes of before, each with the names that the arguments had
}

// kinds are all that New made, by code, the codes of before, too. They are made when the program starts, and only read later.
var kinds = map[string]*Kind{}

// New declares a kind, in a package variable. Texts have the names of arguments in braces; {name:q} is quoted, in English as
// by %q. Both texts have the same arguments, and With takes them in the order of the English one. New panics when a code
// is declared twice, or when the arguments differ.
func New(code, english, chinese string) *Kind {
	k := &Kind{code: code, english: parse(english), chinese: parse(chinese)}
	k.claim(code)
	a, b := k.english.names(), k.chinese.names()
	slices.Sort(b)
	for _, name := range b {
		if !slices.Contains(a, name) {
			panic("the Chinese of reason " + code + " has an argument {" + name + "} that the English has not")
		}
	}
	return k
}

// claim makes a code that of k alone.
func (k *Kind) claim(code string) {
	if kinds[code] != nil {
		panic("reason " + code + " is declared twice")
	}
	kinds[code] = k
}

// Was gives the kind a code of before: what is stored with it is read as of this kind. Arguments that had other names are
// given by those: all of them, in the order of the English text. Was panics when another kind has the code, or when there are
// not as many arguments.
func (k *Kind) Was(code string, args ...string) *Kind {
	k.claim(code)
	if len(args) > 0 && len(args) != len(k.english.names()) {
		panic("reason " + k.code + " has other arguments than " + code + " had")
	}
	if k.was == nil {
		k.was = map[string][]string{}
	}
	k.was[code] = args
	return k
}

// For sets the class; a kind is Internal without.
func (k *Kind) For(c Class) *Kind {
	k.class = c
	return k
}

// Code is the code.
func (k *Kind) Code() string { return k.code }

// Texts are the text in both languages, with the names of arguments in braces.
func (k *Kind) Texts() bilingual.Text {
	return bilingual.Text{English: k.english.String(), Chinese: k.chinese.String()}
}

// Kinds are all kinds, by code.
func Kinds() []*Kind {
	all := slices.SortedFunc(maps.Values(kinds), func(a, b *Kind) int { return strings.Compare(a.code, b.code) })
	return slices.Compact(all) // one with codes of before is there for each
}

// Error is the text in English.
func (k *Kind) Error() string { return k.english.fill(nil, bilingual.English, 0) }

// With is a reason of the kind. Arguments are texts, numbers, reasons, lists of reasons and errors, in the order of their names
// in the English text. Errors are what Of makes of them, and Unwrap answers them.
func (k *Kind) With(args ...any) Reason {
	r := Reason{Code: k.code}
	names := k.english.names()
	for i, arg := range args[:min(len(args), len(names))] {
		if r.Args == nil {
			r.Args = make(map[string]any, len(args))
		}
		if err, ok := arg.(error); ok {
			r.causes = append(r.causes, err)
		}
		r.Args[names[i]] = plain(arg)
	}
	r.Text = k.english.fill(r.Args, bilingual.English, 0)
	return r
}

// plain is an argument as it is stored.
func plain(arg any) any {
	switch a := arg.(type) {
	case nil:
		return ""
	case string, Reason, []Reason, int, int64, float64:
		return a
	case error:
		return Of(a)
	case fmt.Stringer:
		return a.String()
	}
	switch v := reflect.ValueOf(arg); {
	case v.Kind() == reflect.String:
		return v.String()
	case v.CanInt():
		return v.Int()
	case v.CanFloat():
		return v.Float()
	}
	return fmt.Sprint(arg)
}

// template is a text with places for arguments: texts[i] stands before places[i], the last text behind all.
type template struct {
	texts  []string
	places []place
}

type place struct {
	name   string
	quoted bool
}

func parse(text string) template {
	var t template
	for {
		before, rest, found := strings.Cut(text, "{")
		name, after, closed := strings.Cut(rest, "}")
		if !found || !closed {
			t.texts = append(t.texts, text)
			return t
		}
		name, quoted := strings.CutSuffix(name, ":q")
		t.texts, t.places = append(t.texts, before), append(t.places, place{name, quoted})
		text = after
	}
}

func (t template) String() string {
	var b strings.Builder
	for i, p := range t.places {
		b.WriteString(t.texts[i])
		if p.quoted {
			p.name += ":q"
		}
		b.WriteString("{" + p.name + "}")
	}
	return b.String() + t.texts[len(t.places)]
}

// names are the arguments, each once.
func (t template) names() []string {
	var names []string
	for _, p := range t.places {
		if !slices.Contains(names, p.name) {
			names = append(names, p.name)
		}
	}
	return names
}

// deepest is how deep reasons stand within reasons: what is stored, or sent by others, may pretend to more.
const deepest = 8

// fill puts arguments in their places, at a depth of reasons.
func (t template) fill(args map[string]any, l bilingual.Language, depth int) string {
	if len(t.places) == 0 {
		return t.texts[0]
	}
	var b strings.Builder
	for i, p := range t.places {
		b.WriteString(t.texts[i])
		text := show(args[p.name], l, depth+1)
		switch {
		case p.quoted && l == bilingual.Chinese:
			text = "“" + text + "”"
		case p.quoted:
			text = strconv.Quote(text)
		}
		b.WriteString(text)
	}
	b.WriteString(t.texts[len(t.places)])
	return b.String()
}

// show is an argument in a language, be it fresh or read from JSON.
func show(arg any, l bilingual.Language, depth int) string {
	if depth > deepest {
		return ""
	}
	switch a := arg.(type) {
	case nil:
		return ""
	case string:
		return a
	case Reason:
		return a.in(l, depth)
	case []Reason:
		texts := make([]string, len(a))
		for i, r := range a {
			texts[i] = r.in(l, depth)
		}
		return list(texts, l)
	case []any:
		texts := make([]string, len(a))
		for i, one := range a {
			texts[i] = show(one, l, depth+1)
		}
		return list(texts, l)
	case map[string]any:
		r := Reason{}
		r.Code, _ = a["code"].(string)
		r.Text, _ = a["text"].(string)
		r.Args, _ = a["args"].(map[string]any)
		r.renew()
		return r.in(l, depth)
	case float64:
		return strconv.FormatFloat(a, 'f', -1, 64)
	}
	return fmt.Sprint(arg)
}

func list(texts []string, l bilingual.Language) string {
	if l == bilingual.Chinese {
		return strings.Join(texts, "，")
	}
	return strings.Join(texts, ", ")
}
