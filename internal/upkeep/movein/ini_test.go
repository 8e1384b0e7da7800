package movein_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/upkeep/movein"
)

// What Python 3 makes of these texts with ConfigParser(), where it reads them at all.
func TestReadsWhatPythonsConfigparserReads(t *testing.T) {
	type values = map[string]map[string]string
	for _, c := range []struct {
		name, text string
		want       values
	}{
		{"options in lower case, sections as they are", "[Sync]\nMode = Single\nPLEX_Mira: bangumi-Mira", values{"Sync": {"mode": "Single", "plex_mira": "bangumi-Mira"}}},
		{"the first = or : parts", "[a]\nurl = https://x?a=b\nuser:name = x", values{"a": {"url": "https://x?a=b", "user": "name = x"}}},
		{"comments on lines of their own alone", "# c\n[a]\n; c\n  # c\nk = v # no comment\n", values{"a": {"k": "v # no comment"}}},
		{"values that go on", "[a]\nk = one\n  two\n\n\tthree\n# c\n  four\nnext = 1\n", values{"a": {"k": "one\ntwo\n\nthree\nfour", "next": "1"}}},
		{"empty lines at the end are none of a value", "[a]\nk = one\n\n\n[b]\n", values{"a": {"k": "one"}, "b": {}}},
		{"an indented option goes on from no other", "[a]\n  k = one\n  l = two\n", values{"a": {"k": "one", "l": "two"}}},
		{"percent signs", "[a]\nk = 100%% %(l)s\nl = %(m)s!\nm = x\n", values{"a": {"k": "100% x!", "l": "x!", "m": "x"}}},
		{"defaults", "[DEFAULT]\nhost = h\n[a]\nurl = http://%(host)s\n", values{"DEFAULT": {"host": "h"}, "a": {"url": "http://h"}}},
		{"what refers to nothing stays", "[a]\nk = %(nothing)s %20 %\n", values{"a": {"k": "%(nothing)s %20 %"}}},
		{"what goes round ends", "[a]\nk = %(k)s\n", values{"a": {"k": "%(k)s"}}},
		{"a section with brackets, and text behind", "[a]b] x\nk = v\n", values{"a]b": {"k": "v"}}},
		{"a section that is there twice", "[a]\nk = 1\n[b]\n[a]\nl = 2\nk = 3\n", values{"a": {"k": "3", "l": "2"}, "b": {}}},
		{"the line ends of Windows", "[a]\r\nk = v\r\n  w\r\n", values{"a": {"k": "v\nw"}}},
		{"nothing", "", values{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := movein.ParseForTest([]byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBrokenLinesAreNamedAndNotQuoted(t *testing.T) {
	for text, line := range map[string]string{
		"[a]\nk = v\nsecret-word\n": "line 3:",
		"secret-word = v\n[a]":      "line 1:",
		"[a]\n= secret-word\n":      "line 2:",
		"\n\n[]\n":                  "line 3:",
	} {
		_, err := movein.ParseForTest([]byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), line) || strings.Contains(err.Error(), "secret-word") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzINI(f *testing.F) {
	for _, text := range []string{"[a]\nk = v\n  w\n\n[b]\n#c\n", "[DEFAULT]\na=%(b)s%(b)s\nb=%(a)s%%\n[x]\nc:%(a)s", "\x00[", "[a]\n \n= "} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		values, err := movein.ParseForTest(text)
		if err != nil {
			return
		}
		for section, options := range values {
			for option, value := range options {
				if option == "" || option != strings.TrimSpace(option) || strings.ContainsAny(option, "\n=:") {
					t.Errorf("the option %q of %q", option, section)
				}
				if len(value) > 64<<10*100+len(text) {
					t.Errorf("the value of %q grew to %d bytes", option, len(value))
				}
			}
		}
	})
}
