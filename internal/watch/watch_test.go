package watch_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"watchmark/internal/watch"
)

func TestDatesAreReadAsFarAsTheyCanBe(t *testing.T) {
	for text, want := range map[string]string{
		"2024-05-19":                "2024-05-19",
		"2024-5-9":                  "2024-05-09",
		"2024/05/19":                "2024-05-19",
		" 2024.5.19 ":               "2024-05-19",
		"2024年5月19日":                "2024-05-19",
		"2024-05-19T23:00:00+09:00": "2024-05-19",
		"2024-05":                   "2024-05",
		"2024年5月":                   "2024-05",
		"2024":                      "2024",
		"2024-02-30":                "2024-02",
		"2023-02-29":                "2023-02",
		"2024-02-29":                "2024-02-29",
		"2024-13-01":                "2024",
		"2024-00-00":                "2024",
		"1899-01-01":                "",
		"2201-01-01":                "",
		"0000-00-00":                "",
		"May 2024":                  "",
		"":                          "",
	} {
		d := watch.ParseDate(text)
		if got := d.String(); got != want {
			t.Errorf("%q is read as %q, want %q", text, got, want)
		}
		if again := watch.ParseDate(d.String()); again != d {
			t.Errorf("%q is written as %q, which is read as %q", text, d, again)
		}
	}
}

func TestDaysAreCountedBetweenWholeDatesOnly(t *testing.T) {
	day := watch.ParseDate("2024-03-01")
	if days, ok := day.DaysFrom(watch.ParseDate("2024-02-28")); !ok || days != 2 {
		t.Errorf("over the end of a leap February: %d, %v", days, ok)
	}
	if _, ok := day.DaysFrom(watch.ParseDate("2024-02")); ok {
		t.Error("days from a month were counted")
	}
}

func TestADayBeginsWhereClocksChange(t *testing.T) {
	for _, c := range []struct {
		name, zone, of string
		days           int
		want           string
	}{
		{"midnight", "Europe/Berlin", "2026-11-22 13:14", 0, "2026-11-22T00:00:00+01:00"},
		{"of the day before a change", "Europe/Berlin", "2026-10-26 00:00", -1, "2026-10-25T00:00:00+02:00"},
		{"over the end of a month", "Asia/Shanghai", "2026-02-28 23:59", 1, "2026-03-01T00:00:00+08:00"},
		{"clocks skip midnight in the west", "America/Santiago", "2026-09-06 12:00", 0, "2026-09-06T01:00:00-03:00"},
		{"clocks skip midnight in the east", "Africa/Cairo", "2026-04-24 12:00", 0, "2026-04-24T01:00:00+03:00"},
		{"the day before that", "America/Santiago", "2026-09-06 12:00", -1, "2026-09-05T00:00:00-04:00"},
		{"the day after a day before that", "America/Santiago", "2026-09-05 00:00", 1, "2026-09-06T01:00:00-03:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			zone, err := time.LoadLocation(c.zone)
			if err != nil {
				t.Fatal(err)
			}
			of, err := time.ParseInLocation("2006-01-02 15:04", c.of, zone)
			if err != nil {
				t.Fatal(err)
			}
			if got := watch.DayStart(of, c.days).Format(time.RFC3339); got != c.want {
				t.Errorf("it begins at %s, want %s", got, c.want)
			}
		})
	}
}

func TestAnEventIsStoredAsItIs(t *testing.T) {
	season, number := 0, 7.5
	e := watch.Event{
		Source: watch.Plex, Action: watch.Watched, Media: watch.Episode, Title: "灯塔守望者", Season: &season, Episode: &number, AirDate: watch.ParseDate("2024-05"),
		ItemIDs: watch.IDs{"tmdb": "1"}, UserName: " Mira ", OccurredAt: time.Date(2024, 5, 19, 12, 0, 0, 0, time.UTC),
	}
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var again watch.Event
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if *again.Season != 0 || *again.Episode != 7.5 || again.AirDate != e.AirDate || again.UserName != e.UserName || !again.OccurredAt.Equal(e.OccurredAt) {
		t.Errorf("it comes back as %+v", again)
	}
}

func TestAnEventThatBreaksARuleIsNamedByItsField(t *testing.T) {
	season, number := 1, 3.0
	whole := watch.Event{Action: watch.Watched, Media: watch.Episode, Title: "a", Season: &season, Episode: &number}
	film := watch.Event{Action: watch.Started, Media: watch.Movie, Title: "a"}
	for _, e := range []watch.Event{whole, film} { // an empty user name becomes a record that says so
		if err := e.Validate(); err != nil {
			t.Error(err)
		}
	}
	for name, c := range map[string]struct {
		of     watch.Event
		change func(*watch.Event)
		field  string
	}{
		"an action of another kind": {whole, func(e *watch.Event) { e.Action = "paused" }, "action"},
		"a medium of another kind":  {whole, func(e *watch.Event) { e.Media = "track" }, "media_type"},
		"no title":                  {whole, func(e *watch.Event) { e.Title = " " }, "title"},
		"two texts that are too long": {whole, func(e *watch.Event) {
			e.OriginalTitle, e.UserName = strings.Repeat("x", 501), strings.Repeat("x", 501)
		}, "ori_title"},
		"a season below specials":     {whole, func(e *watch.Event) { n := -1; e.Season = &n }, "season"},
		"an episode without a number": {whole, func(e *watch.Event) { e.Episode = nil }, "episode"},
		"a number that is none":       {whole, func(e *watch.Event) { n := math.NaN(); e.Episode = &n }, "episode"},
		"a film with a number":        {film, func(e *watch.Event) { e.Episode = &number }, "episode"},
	} {
		e := c.of
		c.change(&e)
		if err := e.Validate(); err == nil || !strings.HasPrefix(err.Error(), c.field+": ") {
			t.Errorf("%s: %v, want an error of %s", name, err, c.field)
		}
	}
}
