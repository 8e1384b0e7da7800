package settings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// Overrides keeps what was changed on the page or by the API. Values are JSON
// texts; those of secret keys are sealed before they get here.
type Overrides interface {
	// All gives every stored value by the key's path.
	All(ctx context.Context) (map[string]string, error)
	// Change hands fn what is stored, and stores what it answers and deletes what of that is nil, all or none. Nobody else
	// changes anything meanwhile. Before it returns, what Follow was given is called.
	Change(ctx context.Context, fn func(stored map[string]string) (map[string]*string, error)) error
	// Follow has reload called after each change, also one that another replica made.
	Follow(reload func(ctx context.Context) error)
}

// Sealer encrypts a text for one place. A text sealed for another place, or
// with another key, does not open.
type Sealer interface {
	Seal(plain, place string) string
	Open(sealed, place string) (string, error)
	// Mark is the same for the same text and place, and says nothing of the text to who has not the key.
	Mark(plain, place string) string
}

// Mask stands for a secret that is set. Sent back in a Patch it changes nothing.
const Mask = secret.Shown

// Source is the layer a value comes from.
type Source string

// The layers, lowest first.
const (
	FromDefault     Source = "default"
	FromDatabase    Source = "database"
	FromFile        Source = "file"
	FromEnvironment Source = "environment"
	FromFlag        Source = "flag"
)

// Options say where settings are read from.
type Options struct {
	File      string            // watchmark.toml; must exist unless ""
	Environ   []string          // as os.Environ gives it
	Flags     map[string]string // key path → text, from the command line
	Overrides Overrides
	Sealer    Sealer
}

// setting is the value of one key and where it comes from.
type setting struct {
	value   any // in the form option.parse returns
	source  Source
	by      string // for a locked key: the file, variable or flag that sets it
	pending bool   // stored, but in force after a restart only
}

// locked reports whether the page and the API cannot change it.
func (s setting) locked() bool { return s.by != "" }

// setBy is what sets the locked key o, in the reader's language.
func (s setting) setBy(o option) reason.Reason {
	switch s.source {
	case FromEnvironment:
		return environmentVariable.With(o.env())
	case FromFlag:
		return commandLine.With()
	}
	return reason.Text(s.by)
}

// state is one consistent set of values.
type state struct {
	settings map[string]setting // by path: what holds after the next restart
	inForce  Settings           // what holds now
}

// Manager holds the settings of a running service. It is safe for concurrent use.
type Manager struct {
	overrides Overrides
	sealer    Sealer
	fixed     map[string]setting // locked keys
	started   map[string]setting // all keys as they were at the start

	current atomic.Pointer[state]

	mu        sync.Mutex // held while what is in force changes, and that is told
	stored    map[string]any
	listeners []func(before, after Settings)
	refused   func(Errors)
}

// Load reads every layer and checks the result. The error is Errors when
// settings are wrong: everything found wrong in the file, the environment and
// the command line, or else in the database and between keys. A stored value
// that a locked key hides is not looked at, so that the file can always mend a
// database value that cannot be used any more.
func Load(ctx context.Context, opts Options) (*Manager, error) {
	fixed, err := readFixed(opts)
	if err != nil {
		return nil, err
	}
	m := &Manager{overrides: opts.Overrides, sealer: opts.Sealer, fixed: fixed}
	texts, err := m.overrides.All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read stored settings: %w", err)
	}
	if m.stored, err = m.readStored(texts); err != nil {
		return nil, err
	}
	first, errs := m.resolve(m.stored)
	for _, e := range errs {
		if fixed, ok := m.fixed[e.Field]; ok {
			e.Where = fixed.by
		} else if _, ok := m.stored[e.Field]; ok {
			e.Where = "database"
		}
	}
	if len(errs) > 0 {
		return nil, errs
	}
	m.started = first.settings
	m.current.Store(first)
	m.overrides.Follow(m.reload)
	return m, nil
}

// DatabaseURL is the address of the database, which must be known before what is stored can be read; "" for that in the data folder.
// The error is Errors.
func DatabaseURL(opts Options) (string, error) {
	fixed, err := readFixed(opts)
	if err != nil {
		return "", err
	}
	text, _ := fixed["database.url"].value.(string)
	return text, nil
}

// readFixed reads the layers that the page cannot change.
func readFixed(opts Options) (map[string]setting, error) {
	fixed := map[string]setting{}
	var errs Errors
	known := options()
	layer := func(values map[string]any, wrong Errors, source Source, by func(o option) string) {
		errs = append(errs, wrong...)
		for path, value := range values {
			fixed[path] = setting{value: value, source: source, by: by(known[path])}
		}
	}
	if opts.File != "" {
		doc, err := readFile(opts.File)
		if err != nil {
			return nil, err
		}
		values, wrong := parseFile(opts.File, doc)
		layer(values, wrong, FromFile, func(option) string { return opts.File })
	}
	values, wrong := readEnvironment(opts.Environ)
	layer(values, wrong, FromEnvironment, func(o option) string { return "environment variable " + o.env() })
	values, wrong = readFlags(opts.Flags)
	layer(values, wrong, FromFlag, func(option) string { return "command line" })
	if len(errs) > 0 {
		return nil, errs
	}
	return fixed, nil
}

// readStored reads the values of the database that no locked key hides. Keys
// that this version does not know are left alone. The error is Errors.
func (m *Manager) readStored(texts map[string]string) (map[string]any, error) {
	values := map[string]any{}
	var errs Errors
	for path, o := range options() {
		text, isStored := texts[path]
		if _, hidden := m.fixed[path]; hidden || !isStored || o.fixed {
			continue
		}
		value, err := m.decode(&o, text)
		if err != nil {
			errs = append(errs, &reason.FieldError{Field: path, Where: "database", What: orSetElsewhere.With(err, o.env())})
			continue
		}
		values[path] = value
	}
	if len(errs) > 0 {
		return nil, errs.byKey()
	}
	return values, nil
}

// place names where a stored secret lives, for the Sealer.
func place(o *option) string { return "settings/" + o.path + "/value" }

// encode gives the text to store for a value that parse returned.
func (m *Manager) encode(o *option, value any) (string, error) {
	if o.secret() {
		value = m.sealer.Seal(value.(string), place(o))
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", o.path, err)
	}
	return string(text), nil
}

// decode is the way back from encode.
func (m *Manager) decode(o *option, text string) (any, error) {
	var raw any
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return nil, storedValueNotJSON.With(err)
	}
	if sealed, ok := raw.(string); ok && o.secret() {
		plain, err := m.sealer.Open(sealed, place(o))
		if err != nil {
			return nil, storedValueSealed.With(err)
		}
		raw = plain
	}
	return o.parse(raw)
}

// resolve lays the layers over each other and checks the result, both as it
// will be after a restart and as it is in force until then.
func (m *Manager) resolve(stored map[string]any) (*state, Errors) {
	next := &state{settings: map[string]setting{}}
	var planned Settings
	for _, sec := range table(&planned) {
		for _, o := range sec.options {
			value := setting{value: o.standardValue(), source: FromDefault}
			if v, ok := stored[o.path]; ok {
				value = setting{value: v, source: FromDatabase}
			}
			if v, ok := m.fixed[o.path]; ok {
				value = v
			}
			if old, ok := m.started[o.path]; ok && o.restart {
				value.pending = !reflect.DeepEqual(old.value, value.value)
			}
			o.assign(value.value)
			next.settings[o.path] = value
		}
	}
	if errs := check(planned); len(errs) > 0 {
		return nil, errs
	}
	for _, sec := range table(&next.inForce) {
		for _, o := range sec.options {
			value := next.settings[o.path]
			if value.pending {
				value = m.started[o.path]
			}
			o.assign(value.value)
		}
	}
	errs := check(next.inForce)
	for _, e := range errs {
		e.What = untilRestart.With(e.What)
	}
	return next, errs
}

// Current is what is in force now. A key that needs a restart keeps the value
// it had at the start.
func (m *Manager) Current() Settings { return m.current.Load().inForce }

// Weak tells of values in force that nobody could enter any more. They hold on: a service that was set up long ago must start.
func (m *Manager) Weak() Errors {
	var weak Errors
	now := m.current.Load().settings
	for path, o := range options() {
		text, _ := now[path].value.(string)
		if o.fresh == nil || text == "" {
			continue
		}
		if err := o.fresh(text); err != nil {
			where := now[path].by
			if where == "" {
				where = "database"
			}
			weak = append(weak, &reason.FieldError{Field: path, Where: where, What: reason.Of(err)})
		}
	}
	return weak.byKey()
}

// OnChange has fn called after each change of what is in force, one change at
// a time and in order, before Patch returns. fn must not call Patch or OnChange.
func (m *Manager) OnChange(fn func(before, after Settings)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.listeners = append(m.listeners, fn)
}

// OnRefused has fn called when another replica stored what cannot hold here, where file or environment say something else:
// what was in force before is.
func (m *Manager) OnRefused(fn func(Errors)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused = fn
}

// reload reads what is stored now, and tells of what that changes.
func (m *Manager) reload(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	texts, err := m.overrides.All(ctx)
	if err != nil {
		return fmt.Errorf("read stored settings: %w", err)
	}
	stored, err := m.readStored(texts)
	if err == nil {
		var next *state
		var errs Errors
		if next, errs = m.resolve(stored); len(errs) == 0 {
			m.put(stored, next)
			return nil
		}
		err = errs
	}
	var errs Errors
	if errors.As(err, &errs) && m.refused != nil {
		m.refused(errs)
	}
	return nil // it would be no better the next time
}

// put has next in force. The caller holds mu.
func (m *Manager) put(stored map[string]any, next *state) {
	m.stored = stored
	old := m.current.Swap(next)
	if !reflect.DeepEqual(old.inForce, next.inForce) {
		for _, fn := range m.listeners {
			fn(old.inForce, next.inForce)
		}
	}
}
