package idmap_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/match/idmap"
)

// items is a document of items, each "SUBJECT ID-OF-TMDB", the earliest first.
func items(lines ...string) string {
	rows := make([]string, len(lines))
	for i, line := range lines {
		subject, id, _ := strings.Cut(line, " ")
		rows[i] = fmt.Sprintf(`{"title":"x","type":"tv","begin":"%d-01-05T10:00:00.000Z","sites":[{"site":"bangumi","id":%q},{"site":"tmdb","id":%q}]}`, 2000+i, subject, id)
	}
	return `{"siteMeta":{},"items":[` + strings.Join(rows, ",") + `]}`
}

// The ids are those of real rows, as they stand since 0.3.219 and stood before.
func TestParts(t *testing.T) {
	for _, c := range []struct {
		name   string
		rows   []string
		season int
		want   string // FIRST-NEXT: SUBJECTS; …
	}{
		{"entries that begin inside the first season", []string{"294993 tv/7", "369304 tv/7/season/1/episode/25", "472741 tv/7/season/1/episode/48"}, 1, "1-25: 294993; 25-48: 369304; 48-0: 472741"},
		{"of before: the first season alone", []string{"294993 tv/7", "369304 tv/7", "472741 tv/7"}, 1, "1-0: 294993 369304 472741"},
		{"another season is not of the whole show", []string{"294993 tv/7", "369304 tv/7/season/1/episode/25"}, 2, ""},
		{"divided in a later season", []string{"43558 tv/7", "332261 tv/7/season/5", "375913 tv/7/season/5/episode/13", "395782 tv/7/season/5/episode/25"}, 5, "1-13: 332261; 13-25: 375913; 25-0: 395782"},
		{"and its first season", []string{"43558 tv/7", "332261 tv/7/season/5", "375913 tv/7/season/5/episode/13"}, 1, "1-0: 43558"},
		{"of before: a later season of two", []string{"1 tv/7", "2 tv/7/season/2", "3 tv/7/season/2"}, 2, "1-0: 2 3"},
		{"the beginning named", []string{"1 tv/7", "2 tv/7/season/1/episode/1", "3 tv/7/season/1/episode/9"}, 1, "1-9: 2; 9-0: 3"},
		{"the first season named", []string{"1 tv/7", "2 tv/7/season/1", "3 tv/7/season/1/episode/9"}, 1, "1-9: 2; 9-0: 3"},
		{"nothing begins it", []string{"41865 tv/7/season/1/episode/5"}, 1, "5-0: 41865"},
		{"two begin it, one is told apart", []string{"79658 tv/7", "79661 tv/7", "79662 tv/7/season/1/episode/13"}, 1, "1-13: 79658 79661; 13-0: 79662"},
		{"in whatever order", []string{"3 tv/7/season/1/episode/25", "2 tv/7/season/1/episode/13", "1 tv/7"}, 1, "1-13: 1; 13-25: 2; 25-0: 3"},
		{"specials", []string{"1 tv/7", "2 tv/7/season/0", "3 tv/7/season/0/episode/3", "4 tv/7/season/0/episode/4"}, 0, "1-3: 2; 3-4: 3; 4-0: 4"},
		{"no season is the specials", []string{"1 tv/7"}, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, err := pack(t, items(c.rows...))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range idmap.Parts(table.Show("7"), c.season) {
				line := fmt.Sprintf("%d-%d:", p.First, p.Next)
				for _, e := range p.Entries {
					line += fmt.Sprintf(" %d", e.Subject)
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(c.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPartOf(t *testing.T) {
	table, err := pack(t, items("1 tv/7", "2 tv/7/season/1/episode/13", "3 tv/8/season/1/episode/5"))
	if err != nil {
		t.Fatal(err)
	}
	whole, open := idmap.Parts(table.Show("7"), 1), idmap.Parts(table.Show("8"), 1)
	for _, c := range []struct {
		parts   []idmap.Part
		episode float64
		first   int // 0 for no part
	}{
		{whole, 0, 1}, {whole, 1, 1}, {whole, 12, 1}, {whole, 12.5, 1}, {whole, 13, 13}, {whole, 999, 13}, {open, 4, 0}, {open, 0, 0}, {open, 5, 5}, {nil, 1, 0},
	} {
		if part, ok := idmap.PartOf(c.parts, c.episode); ok != (c.first > 0) || part.First != c.first {
			t.Errorf("episode %v lies in the part from %d (%v), want %d", c.episode, part.First, ok, c.first)
		}
	}
}
