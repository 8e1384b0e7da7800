package idmap_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/match/idmap"
	"watchmark/internal/watch"
)

// broadcastOf is what a packed table knows of a broadcast as the document writes it.
func broadcastOf(t testing.TB, text string) (idmap.Broadcast, bool) {
	t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := idmap.Pack(strings.NewReader(fmt.Sprintf(`{"items":[{"title":"x","broadcast":%s,"sites":[{"site":"bangumi","id":"3"}]}]}`, quoted)), idmap.Head{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := idmap.Read(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	return table.Broadcast(3)
}

func TestBroadcastsAreReadAndPacked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"R/2020-01-01T13:00:00Z/P7D":        "2020-01-01T13:00:00Z 7 0",
		"R/1962-12-31T16:00:00.000Z/P7D":    "1962-12-31T16:00:00Z 7 0",
		"R/2022-05-22T16:00:00.000Z/P0D":    "2022-05-22T16:00:00Z 0 0",
		"R/2025-04-29T16:00:00.000Z/P1M":    "2025-04-29T16:00:00Z 0 1",
		"R/2020-01-01T22:00:30+09:00/P14D":  "2020-01-01T13:00:00Z 14 0",
		"R/2200-12-31T23:59:59Z/P366D":      "2200-12-31T23:59:00Z 366 0",
		"":                                  "",
		"R/2020-01-01T13:00:00Z":            "",
		"R5/2020-01-01T13:00:00Z/P7D":       "",
		"R/2020-01-01/P7D":                  "",
		"R/2020-13-01T13:00:00Z/P7D":        "",
		"R/9999-01-01T13:00:00Z/P7D":        "",
		"R/2020-01-01T13:00:00Z/P7W":        "",
		"R/2020-01-01T13:00:00Z/PD":         "",
		"R/2020-01-01T13:00:00Z/P-7D":       "",
		"R/2020-01-01T13:00:00Z/P367D":      "",
		"R/2020-01-01T13:00:00Z/P99999999D": "",
		"R/2020-01-01T13:00:00Z/P7D/P7D":    "",
		"R/2020-01-01T13:00:00Z/2020-01-08": "",
		" R/2020-01-01T13:00:00Z/P7D":       "",
		"R/2020-01-01T13:00:00Z/P7D\u0000":  "",
		"R/2020-01-01T13:00:00Z/P７D":        "",
		"R/2020-01-01T13:00:00Z/P7DT12H":    "",
		"R/-2020-01-01T13:00:00Z/P7D":       "",
		"r/2020-01-01T13:00:00Z/p7d":        "",
		"R/2020-01-01T13:00:00.5Z/P7D":      "2020-01-01T13:00:00Z 7 0",
		"R/2020-01-01T13:00:00+23:59/P7D":   "2019-12-31T13:01:00Z 7 0",
		"R/1900-12-31T00:00:00Z/P7D":        "",
		"R/2020-02-30T00:00:00Z/P7D":        "",
		"R/2020-01-01T24:00:00Z/P7D":        "",
		"R/2020-01-01T23:59:60Z/P7D":        "",
		"R/2020-01-01t13:00:00z/P7D":        "",
		"R/2020-01-01T13:00:00Z/P0M":        "2020-01-01T13:00:00Z 0 0",
		"R/2020-01-01T13:00:00Z/P007D":      "2020-01-01T13:00:00Z 7 0",
		"R/2020-01-01T13:00:00Z/P+7D":       "",
		"R/2020-01-01T13:00:00Z\n/P7D":      "",
		"R//P7D":                            "",
		"//":                                "",
		"R/2020-01-01T13:00:00Z/P1D":        "2020-01-01T13:00:00Z 1 0",
		"R/2020-01-01T13:00:00Z/P2M":        "2020-01-01T13:00:00Z 0 2",
		strings.Repeat("R/", 1000):          "",
	} {
		got := ""
		if b, ok := broadcastOf(t, text); ok {
			got = fmt.Sprint(b.First.Format(time.RFC3339), " ", b.Days, " ", b.Months)
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestItemsOfOneSubjectHaveTheNewestBroadcast(t *testing.T) {
	t.Parallel()
	packed, err := idmap.Pack(strings.NewReader(`{"items":[
		{"title":"a","broadcast":"R/2026-04-01T13:00:00Z/P7D","sites":[{"site":"bangumi","id":"3"}]},
		{"title":"b","broadcast":"R/2026-07-04T16:30:00Z/P7D","sites":[{"site":"bangumi","id":"3"}]},
		{"title":"c","sites":[{"site":"bangumi","id":"3"}]},{"title":"d","sites":[{"site":"bangumi","id":"4"}]}]}`), idmap.Head{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := idmap.Read(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if b, ok := table.Broadcast(3); !ok || !b.First.Equal(time.Date(2026, 7, 4, 16, 30, 0, 0, time.UTC)) {
		t.Errorf("the broadcast is %+v %v", b, ok)
	}
	for _, none := range []catalog.SubjectID{4, 5} {
		if b, ok := table.Broadcast(none); ok {
			t.Errorf("%d has the broadcast %+v", none, b)
		}
	}
}

func TestTheSnapshotHasBroadcasts(t *testing.T) {
	t.Parallel()
	table, n := snapshot(t), 0
	for subject := range catalog.SubjectID(700_000) {
		if _, ok := table.Broadcast(subject); ok {
			n++
		}
	}
	if n < 1700 {
		t.Errorf("%d subjects have a broadcast", n)
	}
}

func TestAnEpisodeIsOnByDayAndRule(t *testing.T) {
	t.Parallel()
	const evening, night, early = "R/2026-04-03T13:30:00Z/P7D", "R/2026-04-03T16:30:00Z/P7D", "R/2026-04-03T21:00:00Z/P7D"
	for _, c := range []struct{ name, rule, day, want string }{
		{"the first time", evening, "2026-04-03", "2026-04-03T13:30:00Z"},
		{"a week later", evening, "2026-04-10", "2026-04-10T13:30:00Z"},
		{"after a week without it", evening, "2026-05-29", "2026-05-29T13:30:00Z"},
		{"moved to another day of the week", evening, "2026-04-11", ""},
		{"the evening before an evening is another day", evening, "2026-04-09", ""},
		{"before the rule holds", evening, "2026-03-27", ""},
		{"25:30, given to the evening before", night, "2026-04-03", "2026-04-03T16:30:00Z"},
		{"25:30, given to its own day", night, "2026-04-04", "2026-04-03T16:30:00Z"},
		{"25:30, a week later, given to the evening before", night, "2026-04-10", "2026-04-10T16:30:00Z"},
		{"25:30, on another day", night, "2026-04-08", ""},
		{"25:30, at the turn of the year", "R/2026-12-31T16:30:00Z/P7D", "2026-12-31", "2026-12-31T16:30:00Z"},
		{"24:00 is the next day", "R/2026-04-03T15:00:00Z/P7D", "2026-04-03", "2026-04-03T15:00:00Z"},
		{"24:00, given to its own day", "R/2026-04-03T15:00:00Z/P7D", "2026-04-04", "2026-04-03T15:00:00Z"},
		{"six in the morning is no late night", early, "2026-04-03", ""},
		{"six in the morning on its day", early, "2026-04-04", "2026-04-03T21:00:00Z"},
		{"once", "R/2026-04-03T13:30:00Z/P0D", "2026-04-03", "2026-04-03T13:30:00Z"},
		{"once, and not a week later", "R/2026-04-03T13:30:00Z/P0D", "2026-04-10", ""},
		{"every day", "R/2026-04-03T09:00:00Z/P1D", "2026-04-15", "2026-04-15T09:00:00Z"},
		{"every night fits both days", "R/2026-04-03T16:30:00Z/P1D", "2026-04-15", ""},
		{"every second night, given to the evening before", "R/2026-04-03T16:30:00Z/P2D", "2026-04-05", "2026-04-05T16:30:00Z"},
		{"every month", "R/2026-04-03T13:30:00Z/P1M", "2026-06-03", "2026-06-03T13:30:00Z"},
		{"every month, on another day", "R/2026-04-03T13:30:00Z/P1M", "2026-06-04", ""},
		{"every second month", "R/2026-04-03T13:30:00Z/P2M", "2026-05-03", ""},
		{"only the month is known", evening, "2026-04", ""},
		{"nothing is known", evening, "", ""},
	} {
		b, ok := broadcastOf(t, c.rule)
		if !ok {
			t.Fatalf("%s: %q is no broadcast", c.name, c.rule)
		}
		got := ""
		if at, known := b.On(watch.ParseDate(c.day)); known {
			got = at.Format(time.RFC3339)
		}
		if got != c.want {
			t.Errorf("%s: %s of %s is %q, want %q", c.name, c.day, c.rule, got, c.want)
		}
	}
	if at, known := (idmap.Broadcast{}).On(watch.ParseDate("2026-04-03")); known {
		t.Error("no rule says", at)
	}
}

func FuzzBroadcast(f *testing.F) {
	for _, text := range []string{"R/2020-01-01T13:00:00Z/P7D", "R/2025-04-29T16:00:00.000Z/P1M", "R/2022-05-22T16:00:00.000Z/P0D", "R/2020-01-01T23:59:60+24:00/P-1D"} {
		f.Add(text, 2026, 4, 3)
	}
	f.Fuzz(func(t *testing.T, text string, year, month, day int) {
		b, ok := broadcastOf(t, text)
		if !ok {
			return
		}
		if b.First.Year() < 1900 || b.First.Year() > 2201 || b.Days < 0 || b.Months < 0 || b.Days > 0 && b.Months > 0 {
			t.Fatalf("%q is %+v", text, b)
		}
		on := watch.DateOf(time.Date(1900+year%300, time.Month(1+month%12), 1+day%28, 0, 0, 0, 0, time.UTC))
		at, known := b.On(on)
		if !known {
			return
		}
		if gap := at.Sub(on.Time()); gap < -9*time.Hour || gap >= 21*time.Hour || at.Before(b.First) {
			t.Errorf("%q is on at %s on %s", text, at, on)
		}
	})
}
