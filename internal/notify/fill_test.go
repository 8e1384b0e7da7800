package notify

import (
	"regexp"
	"testing"
)

func TestExpand(t *testing.T) {
	values := map[string]string{"a": "1", "b_2": "{a}", "long": "{a}{b_2}"}
	for template, want := range map[string]string{
		"": "", "none": "none", "{a}": "1", "x{a}y{a}": "x1y1", "{b_2}": "{a}", "{{a}}": "{1}", "{unknown}": "", "{a": "{a", "{": "{", "{}": "{}",
		"{A}": "{A}", "{a b}": "{a b}", `{"k":"{long}"}`: `{"k":"{a}{b_2}"}`, "{a{a}": "{a1", "å{a}界": "å1界",
	} {
		if got := expand(template, func(name string) string { return values[name] }); got != want {
			t.Errorf("expand %q: %q, want %q", template, got, want)
		}
	}
}

// What values hold is never expanded, whatever they and the template are.
func FuzzExpand(f *testing.F) {
	f.Add("{a} of {b}", "{b}", "{a}")
	f.Add("{{a}}{", "}{b}", "{")
	f.Add("{a}{b}{", "a}", "{b")
	f.Add("{c}", "x", "y")
	plain := regexp.MustCompile(`\{[a-z0-9_]+\}`)
	f.Fuzz(func(t *testing.T, template, a, b string) {
		values := map[string]string{"a": a, "b": b}
		got := expand(template, func(name string) string { return values[name] })
		want := plain.ReplaceAllStringFunc(template, func(found string) string { return values[found[1:len(found)-1]] })
		if got != want {
			t.Errorf("expand %q with %q: %q, want %q", template, values, got, want)
		}
	})
}
