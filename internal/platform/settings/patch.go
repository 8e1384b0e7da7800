package settings

import (
	"context"
	"maps"
	"reflect"
	"strings"

	"watchmark/internal/platform/reason"
)

// Patch changes keys, given as section → key → value decoded from JSON, all or
// none. A nil value removes what was stored, so that the default holds again;
// Mask leaves a secret as it is. The error is Errors when the change is
// refused: unknown or locked keys, values out of bounds, rules between keys.
func (m *Manager) Patch(ctx context.Context, patch map[string]map[string]any) error {
	return m.change(ctx, func(map[string]any) map[string]map[string]any { return patch })
}

// Provide stores a value for the key at path where there is none, whatever replica is first.
func (m *Manager) Provide(ctx context.Context, path string, value any) error {
	section, key, _ := strings.Cut(path, ".")
	return m.change(ctx, func(stored map[string]any) map[string]map[string]any {
		if given, _ := stored[path].(string); given != "" {
			return nil
		}
		return map[string]map[string]any{section: {key: value}}
	})
}

// change does what patch makes of the stored values.
func (m *Manager) change(ctx context.Context, patch func(stored map[string]any) map[string]map[string]any) error {
	return m.overrides.Change(ctx, func(texts map[string]string) (map[string]*string, error) {
		stored, err := m.readStored(texts)
		if err != nil {
			return nil, err
		}
		p, err := m.prepare(stored, patch(stored))
		if err != nil {
			return nil, err
		}
		return m.texts(p)
	})
}

// Try reports whether a Patch would give a key another value than it has, and writes nothing. Errors as Patch's.
func (m *Manager) Try(patch map[string]map[string]any) (changes bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	plan, err := m.prepare(m.stored, patch)
	if err != nil {
		return false, err
	}
	before := m.current.Load()
	for path := range plan.changed {
		changes = changes || !reflect.DeepEqual(before.settings[path].value, plan.next.settings[path].value)
	}
	return changes, nil
}

// plan is what a Patch would do.
type plan struct {
	changed map[string]option // the keys that it stores or removes, by path
	stored  map[string]any    // all that is stored after it
	next    *state            // what holds then; nil when no key is changed
}

// prepare checks a Patch of what is stored. The error is Errors.
func (m *Manager) prepare(stored map[string]any, patch map[string]map[string]any) (plan, error) {
	known := options()
	p := plan{changed: map[string]option{}, stored: maps.Clone(stored)}
	var errs Errors
	for section, keys := range patch {
		if !isSectionName(section) {
			errs = append(errs, unknownSection(section))
			continue
		}
		for key, raw := range keys {
			path := section + "." + key
			o, ok := known[path]
			if !ok {
				errs = append(errs, unknownKey(section, key))
				continue
			}
			if raw == Mask && o.secret() {
				continue
			}
			if fixed, locked := m.fixed[path]; locked {
				errs = append(errs, &reason.FieldError{Field: path, What: lockedBy.With(fixed.setBy(o))})
				continue
			}
			if o.fixed {
				errs = append(errs, &reason.FieldError{Field: path, What: fixedElsewhere.With(o.env())})
				continue
			}
			p.changed[path] = o
			if raw == nil {
				delete(p.stored, path)
				continue
			}
			value, err := o.parse(raw)
			if err != nil {
				errs = append(errs, &reason.FieldError{Field: path, What: reason.Of(err)})
				continue
			}
			if text, _ := value.(string); text != "" && o.fresh != nil && value != p.stored[path] {
				if err := o.fresh(text); err != nil {
					errs = append(errs, &reason.FieldError{Field: path, What: reason.Of(err)})
					continue
				}
			}
			p.stored[path] = value
		}
	}
	if len(errs) > 0 {
		return plan{}, errs.byKey()
	}
	if len(p.changed) == 0 {
		return p, nil
	}
	if p.next, errs = m.resolve(p.stored); len(errs) > 0 {
		return plan{}, errs
	}
	return p, nil
}

// texts are the changed keys as they are to be stored; nil for those that are removed.
func (m *Manager) texts(p plan) (map[string]*string, error) {
	texts := map[string]*string{}
	for path, o := range p.changed {
		texts[path] = nil
		if value, ok := p.stored[path]; ok {
			text, err := m.encode(&o, value)
			if err != nil {
				return nil, err
			}
			texts[path] = &text
		}
	}
	return texts, nil
}
