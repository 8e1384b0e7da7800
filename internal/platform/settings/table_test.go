package settings

import (
	"reflect"
	"regexp"
	"slices"
	"testing"
)

// TestTableBindsEveryFieldOnce holds that table and Settings list the same.
func TestTableBindsEveryFieldOnce(t *testing.T) {
	var s Settings
	bound := map[any]string{}
	names := map[string]bool{}
	for _, sec := range table(&s) {
		for _, o := range sec.options {
			if other, twice := bound[o.at]; twice {
				t.Errorf("%s and %s are bound to one field", o.path, other)
			}
			bound[o.at] = o.path
			if names[o.env()] {
				t.Errorf("two keys read %s", o.env())
			}
			names[o.env()] = true
		}
	}
	sections := reflect.ValueOf(&s).Elem()
	for i := range sections.NumField() {
		fields := sections.Field(i)
		for j := range fields.NumField() {
			if _, ok := bound[fields.Field(j).Addr().Interface()]; !ok {
				t.Errorf("%s.%s is bound to no key", sections.Type().Field(i).Name, fields.Type().Field(j).Name)
			}
		}
	}
}

// TestTableDeclaresEveryKeyWell holds what the types cannot: texts, bounds,
// units, and a default that is valid and can be assigned.
func TestTableDeclaresEveryKeyWell(t *testing.T) {
	name := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	var s Settings
	for _, sec := range table(&s) {
		if sec.label == "" || sec.labelZH == "" || sec.help == "" || sec.zh == "" || !name.MatchString(sec.name) {
			t.Errorf("section %q needs a plain name, a label and help in both languages", sec.name)
		}
		labels := map[string]bool{}
		for _, o := range sec.options {
			if o.label == "" || o.labelZH == "" || o.help == "" || o.zh == "" || !name.MatchString(o.name) {
				t.Errorf("%s needs a plain name, a label and help in both languages", o.path)
			}
			if labels[o.label] || labels[o.labelZH] {
				t.Errorf("%s is called like another key of its section", o.path)
			}
			labels[o.label], labels[o.labelZH] = true, true
			if o.form != "" && o.kind() != String || o.unit != (unit{}) && !slices.Contains([]Type{Integer, Number}, o.kind()) {
				t.Errorf("%s: form %q and unit %q do not fit a %s", o.path, o.form, o.unit.name, o.kind())
			}
			numeric := o.kind() == Integer || o.kind() == Number
			if numeric != (o.min < o.max) {
				t.Errorf("%s: bounds %v to %v do not fit a %s", o.path, o.min, o.max, o.kind())
			}
			o.assign(o.standardValue())
			if numeric {
				field := reflect.ValueOf(o.at).Elem()
				o.assign(mustParse(t, o, o.max))
				if field.Kind() == reflect.Int64 && (o.unit.size < 1 || field.Int()/o.unit.size != int64(o.max)) {
					t.Errorf("%s: its largest value does not fit with unit %s", o.path, o.unit.name)
				}
			}
			for _, choice := range o.choices {
				if choice.Label == "" || choice.LabelZH == "" {
					t.Errorf("%s: choice %s needs a label in both languages", o.path, choice.Value)
				}
				o.assign(mustParse(t, o, choice.Value))
			}
		}
	}
}

func mustParse(t *testing.T, o option, raw any) any {
	t.Helper()
	value, err := o.parse(raw)
	if err != nil {
		t.Fatalf("%s: %v", o.path, err)
	}
	return value
}
