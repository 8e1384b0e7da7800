package catalog_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
)

func TestARatingAndACommentAreWritten(t *testing.T) {
	long := strings.Repeat("长", 400)
	for _, c := range []struct {
		name          string
		was           catalogtest.Listed
		shown, wanted catalog.Said
		sent          []string
		err           error
		hidden        bool
	}{
		{"both", catalogtest.Listed{Type: catalog.Done}, catalog.Said{}, catalog.Said{Rate: 8, Comment: "gut"}, []string{`PATCH {"rate":8,"comment":"gut"}`}, nil, false},
		{"the rating alone, beside a comment that is too long for it", catalogtest.Listed{Type: catalog.Done, Comment: long}, catalog.Said{Comment: long}, catalog.Said{Rate: 8, Comment: long}, []string{`PATCH {"rate":8}`}, nil, false},
		{"none any more", catalogtest.Listed{Type: catalog.Done, Rate: 3, Comment: "x"}, catalog.Said{Rate: 3, Comment: "x"}, catalog.Said{}, []string{`PATCH {"rate":0,"comment":""}`}, nil, false},
		{"what is there", catalogtest.Listed{Type: catalog.Done, Rate: 3}, catalog.Said{}, catalog.Said{Rate: 3}, []string{}, nil, false},
		{"rated elsewhere", catalogtest.Listed{Type: catalog.Done, Rate: 3}, catalog.Said{}, catalog.Said{Rate: 8}, []string{}, catalog.ErrSaidOtherwise, false},
		{"commented elsewhere", catalogtest.Listed{Type: catalog.Done, Comment: "new"}, catalog.Said{Comment: "old"}, catalog.Said{Rate: 8, Comment: "old"}, []string{}, catalog.ErrSaidOtherwise, false},
		{"not on the list", catalogtest.Listed{}, catalog.Said{}, catalog.Said{Rate: 8}, []string{}, catalog.ErrNotListed, false},
		{"a word that hides it", catalogtest.Listed{Type: catalog.Done}, catalog.Said{}, catalog.Said{Comment: "it is forbidden"}, []string{`PATCH {"comment":"it is forbidden"}`}, nil, true},
		{"a word that hides what is hidden", catalogtest.Listed{Type: catalog.Done, Private: true}, catalog.Said{}, catalog.Said{Comment: "it is forbidden"}, []string{`PATCH {"comment":"it is forbidden"}`}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, client := house(t, catalogtest.Config{Filter: []string{"forbidden"}})
			if c.was.Type != 0 {
				c.was.Username, c.was.SubjectID = "mira", 100
				must(t, s.Put(c.was))
			}
			got, err := catalog.NewMarker().Say(t.Context(), catalog.SayRequest{ListEntry: entryOf(client, 100), Shown: c.shown, Wanted: c.wanted})
			if !errors.Is(err, c.err) || got.Hidden != c.hidden {
				t.Errorf("%+v %v", got, err)
			}
			if diff := cmp.Diff(c.sent, sent(s)); diff != "" || s.Timeline() != 0 {
				t.Errorf("%s, %d lines", diff, s.Timeline())
			}
		})
	}
}

func TestAWordWhoseAnswerIsLost(t *testing.T) {
	for _, fault := range []catalogtest.Fault{
		{Mode: catalogtest.Cut, Paths: catalogtest.Writes},
		{Mode: catalogtest.Status, Status: http.StatusBadGateway, Paths: catalogtest.Writes, Times: 1},
	} {
		s, client := house(t, catalogtest.Config{})
		must(t, s.Collect("mira", 100, catalog.Done, false))
		must(t, s.SetFault(fault))
		for try := 0; ; try++ {
			_, err := catalog.NewMarker().Say(t.Context(), catalog.SayRequest{ListEntry: entryOf(client, 100), Wanted: catalog.Said{Rate: 8}})
			if err == nil {
				break
			}
			if !errors.Is(err, catalog.ErrUnreachable) || try > 5 {
				t.Fatal(err)
			}
			<-time.After(10 * time.Millisecond)
		}
		if diff := cmp.Diff([]string{`PATCH {"rate":8}`}, sent(s)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestComments(t *testing.T) {
	for text, want := range map[string]string{
		"  plain \n": "plain", "e\u0301": "é", "a\u3000b": "a b", "two\nlines\t.": "two\nlines\t.", strings.Repeat("字", 380): strings.Repeat("字", 380), "🙂": "🙂",
		strings.Repeat("字", 381): "!381", "a\u200bb": "!U+200B", "a\x00b": "!U+0000", "\u202eb": "!U+202E", "": "",
	} {
		got, err := catalog.Comment(text)
		if problem, bad := strings.CutPrefix(want, "!"); bad {
			if err == nil || !strings.Contains(err.Error(), problem) {
				t.Errorf("%q: %q %v", text, got, err)
			}
		} else if err != nil || got != want {
			t.Errorf("%q: %q %v", text, got, err)
		}
	}
}

func FuzzComment(f *testing.F) {
	for _, text := range []string{"", "a", " \u3000é", "\xff", "a\u200d"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := catalog.Comment(text)
		if err != nil {
			return
		}
		if again, err := catalog.Comment(got); err != nil || again != got {
			t.Errorf("%q is %q, and that %q %v", text, got, again, err)
		}
	})
}
