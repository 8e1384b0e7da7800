package dumptest_test

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/testkit/dumptest"
)

func write(t *testing.T, s dumptest.Spec) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := dumptest.Write(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// open gives the lines of every member, and the names in the order of the
// file.
func open(t *testing.T, dump []byte) (names []string, lines map[string][]string) {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(dump), int64(len(dump)))
	if err != nil {
		t.Fatal(err)
	}
	lines = map[string][]string{}
	for _, f := range r.File {
		names = append(names, f.Name)
		if f.Method != zip.Deflate || f.Flags&8 == 0 {
			t.Errorf("%s: method %d, flags %#x; want deflate with a data descriptor", f.Name, f.Method, f.Flags)
		}
		member, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		scanner := bufio.NewScanner(member)
		scanner.Buffer(nil, 16<<20)
		for scanner.Scan() {
			lines[f.Name] = append(lines[f.Name], scanner.Text())
		}
		if err := scanner.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return names, lines
}

type subject struct {
	ID       int
	Type     int
	Name     string
	NameCN   string `json:"name_cn"`
	Infobox  string
	Platform int
	Date     string
}

type episode struct {
	ID      int
	Airdate string
	Subject int `json:"subject_id"`
	Sort    float64
	Type    int
}

type relation struct {
	Subject int `json:"subject_id"`
	Code    int `json:"relation_type"`
	Related int `json:"related_subject_id"`
}

func decode[T any](t *testing.T, lines []string) []T {
	t.Helper()
	rows := make([]T, len(lines))
	for n, line := range lines {
		if err := json.Unmarshal([]byte(line), &rows[n]); err != nil {
			t.Fatalf("line %d: %v\n%s", n+1, err, line)
		}
	}
	return rows
}

func TestSameSpecSameBytes(t *testing.T) {
	s := dumptest.Scaled(0.001)
	first := write(t, s)
	if !bytes.Equal(first, write(t, s)) {
		t.Error("two dumps of the same Spec differ")
	}
	s.Seed++
	if bytes.Equal(first, write(t, s)) {
		t.Error("dumps of different seeds are equal")
	}
}

func TestMembersAndRows(t *testing.T) {
	want := []string{
		"subject.jsonlines", "person.jsonlines", "character.jsonlines", "episode.jsonlines", "subject-relations.jsonlines",
		"subject-persons.jsonlines", "subject-characters.jsonlines", "person-characters.jsonlines", "person-relations.jsonlines",
	}
	for name, s := range map[string]dumptest.Spec{
		"small":              dumptest.Scaled(0.001),
		"smallest":           dumptest.Scaled(0),
		"odd":                {Seed: 5, Subjects: 997, Watchable: 331, Episodes: 12007, Relations: 1009},
		"all watchable":      {Seed: 2, Subjects: 100, Watchable: 100, Episodes: 900, Relations: 300},
		"none watchable":     {Seed: 2, Subjects: 100, Episodes: 900, Relations: 300},
		"one":                {Seed: 3, Subjects: 1, Watchable: 1, Episodes: 30, Relations: 5},
		"few episodes":       {Seed: 4, Subjects: 500, Watchable: 200, Episodes: 90, Relations: 10},
		"subjects only":      {Seed: 4, Subjects: 500, Watchable: 200},
		"two, one watchable": {Seed: 6, Subjects: 2, Watchable: 1, Episodes: 10, Relations: 10},
		"orphans only":       {Episodes: 20},
		"nothing":            {},
	} {
		t.Run(name, func(t *testing.T) {
			names, lines := open(t, write(t, s))
			if diff := cmp.Diff(want, names); diff != "" {
				t.Errorf("members (-want +got):\n%s", diff)
			}
			watchable := 0
			for _, row := range decode[subject](t, lines["subject.jsonlines"]) {
				if row.Type == 2 || row.Type == 6 {
					watchable++
				}
			}
			got := dumptest.Spec{
				Seed: s.Seed, Subjects: len(lines["subject.jsonlines"]), Watchable: watchable,
				Episodes: len(lines["episode.jsonlines"]), Relations: len(lines["subject-relations.jsonlines"]),
			}
			if diff := cmp.Diff(s, got); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

// The keys in their order, with those of nested objects.
var keys = map[string]string{
	"subject.jsonlines": "id type name name_cn infobox platform summary nsfw tags meta_tags score score_details rank date favorite series",
	"episode.jsonlines": "id name name_cn description airdate disc duration subject_id sort type",

	"subject-relations.jsonlines":  "subject_id relation_type related_subject_id order",
	"person.jsonlines":             "id name type career infobox summary comments collects",
	"character.jsonlines":          "id role name infobox summary comments collects",
	"subject-persons.jsonlines":    "person_id subject_id position appear_eps",
	"subject-characters.jsonlines": "character_id subject_id type order",
	"person-characters.jsonlines":  "person_id subject_id character_id type summary",
	"person-relations.jsonlines":   "person_type person_id related_person_id relation_type spoiler ended",
}

// topKeys gives the keys of an object in their order.
func topKeys(line string) (string, error) {
	d := json.NewDecoder(strings.NewReader(line))
	if _, err := d.Token(); err != nil {
		return "", err
	}
	var found []string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return "", err
		}
		found = append(found, key.(string))
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return "", err
		}
	}
	return strings.Join(found, " "), nil
}

func TestLines(t *testing.T) {
	_, lines := open(t, write(t, dumptest.Scaled(0.001)))
	for name, want := range keys {
		for n, line := range lines[name] {
			got, err := topKeys(line)
			if err != nil || got != want {
				t.Fatalf("%s, line %d: keys %q, %v; want %q", name, n+1, got, err, want)
			}
			// The escaping is that of Go's encoder.
			var b bytes.Buffer
			json.HTMLEscape(&b, []byte(line))
			if b.String() != line {
				t.Fatalf("%s, line %d is not escaped: %s", name, n+1, line)
			}
		}
	}
	long := slices.MaxFunc(lines["subject.jsonlines"], func(a, b string) int { return len(a) - len(b) })
	if len(long) <= bufio.MaxScanTokenSize {
		t.Errorf("the longest subject has %d bytes, want more than a scanner takes", len(long))
	}
}

func TestRowsFitTogether(t *testing.T) {
	_, lines := open(t, write(t, dumptest.Scaled(0.005)))
	types := map[int]int{}
	last := 0
	for _, row := range decode[subject](t, lines["subject.jsonlines"]) {
		if row.ID <= last {
			t.Fatalf("subject %d comes after %d", row.ID, last)
		}
		last = row.ID
		types[row.ID] = row.Type
	}
	last = 0
	orphans, tracks, halves := 0, 0, 0
	kinds := map[int]int{}
	for _, row := range decode[episode](t, lines["episode.jsonlines"]) {
		if row.ID <= last {
			t.Fatalf("episode %d comes after %d", row.ID, last)
		}
		last = row.ID
		kinds[row.Type]++
		switch types[row.Subject] {
		case 0:
			orphans++
		case 3:
			tracks++
		}
		if row.Sort != float64(int(row.Sort)) {
			halves++
		}
	}
	if orphans == 0 || tracks == 0 || halves == 0 || kinds[1] == 0 || kinds[2] == 0 || kinds[3] == 0 {
		t.Errorf("%d orphans, %d tracks, %d halves, types %v; want some of each", orphans, tracks, halves, kinds)
	}
	last = 0
	dangling, repeated := 0, 0
	pairs := map[[2]int]bool{}
	prequels := map[[2]int]bool{}
	var sequels [][2]int
	for _, row := range decode[relation](t, lines["subject-relations.jsonlines"]) {
		if row.Subject < last {
			t.Fatalf("the relations of %d come after those of %d", row.Subject, last)
		}
		last = row.Subject
		if types[row.Related] == 0 {
			dangling++
		}
		pair := [2]int{row.Subject, row.Related}
		if pairs[pair] {
			repeated++
		}
		pairs[pair] = true
		switch {
		case row.Code == 2:
			prequels[[2]int{row.Related, row.Subject}] = true
		case row.Code == 3 && types[row.Related] != 0:
			sequels = append(sequels, pair)
		}
	}
	if dangling == 0 || repeated == 0 || len(sequels) == 0 {
		t.Errorf("%d dangling, %d repeated, %d sequels; want some of each", dangling, repeated, len(sequels))
	}
	for _, pair := range sequels {
		if !prequels[pair] {
			t.Errorf("%d is the sequel of %d, but that is not its prequel", pair[1], pair[0])
		}
	}
}

// A line of the 别名 list.
var item = regexp.MustCompile(`^\[(?:[^|\]]*\|)?(.*)\]$`)

// lenientAliases reads what can be read of the 别名 of an infobox.
func lenientAliases(infobox string) []string {
	var found []string
	inside := false
	for line := range strings.Lines(infobox) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "|别名="); ok {
			rest = strings.TrimSpace(rest)
			inside = rest == "{"
			if !inside && rest != "" {
				found = append(found, rest)
			}
			continue
		}
		if strings.HasPrefix(line, "|") || line == "}" {
			inside = false
		}
		if part := item.FindStringSubmatch(line); inside && part != nil && part[1] != "" {
			found = append(found, part[1])
		}
	}
	return found
}

func TestTitlesAreThoseOfTheDump(t *testing.T) {
	s := dumptest.Scaled(0.005)
	_, lines := open(t, write(t, s))
	var want []dumptest.Title
	for _, row := range decode[subject](t, lines["subject.jsonlines"]) {
		if row.Type == 2 || row.Type == 6 {
			want = append(want, dumptest.Title{
				Subject: row.ID, Type: row.Type, Name: row.Name, NameCN: row.NameCN,
				Aliases: lenientAliases(row.Infobox), Date: row.Date,
			})
		}
	}
	if diff := cmp.Diff(want, slices.Collect(dumptest.Titles(s))); diff != "" {
		t.Errorf("titles (-dump +Titles):\n%s", diff)
	}
	for range dumptest.Titles(s) {
		break
	}
}

func TestTitlesAreDistinct(t *testing.T) {
	first := map[string]int{}
	repeated, total := 0, 0
	for title := range dumptest.Titles(dumptest.Scaled(0.1)) {
		total++
		if title.Name == "" || strings.ContainsAny(title.Name, "%\r\n|") {
			t.Errorf("subject %d is called %q", title.Subject, title.Name)
		}
		if _, ok := first[title.Name]; ok {
			repeated++
		}
		first[title.Name] = title.Subject
	}
	if repeated*1000 > total {
		t.Errorf("%d of %d names are repeated", repeated, total)
	}
}

type brokenWriter struct{ left int }

var errBroken = errors.New("broken")

func (w *brokenWriter) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errBroken
	}
	return len(b), nil
}

func TestWriteError(t *testing.T) {
	for left := 0; left < 1<<20; left += 1 << 17 {
		if err := dumptest.Write(&brokenWriter{left}, dumptest.Scaled(0.01)); !errors.Is(err, errBroken) {
			t.Errorf("a writer that breaks after %d bytes: %v", left, err)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	for b.Loop() {
		if err := dumptest.Write(io.Discard, dumptest.Scaled(0.01)); err != nil {
			b.Fatal(err)
		}
	}
}
