package notify

import (
	"testing"
	"time"
)

func TestQuietHours(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("this machine knows no time zones")
	}
	for name, c := range map[string]struct {
		from, to string
		at       string // in Berlin
		until    string // empty: not quiet
	}{
		"none set":             {"", "", "2026-01-10T23:00", ""},
		"before":               {"22:00", "07:30", "2026-01-10T21:59", ""},
		"its first minute":     {"22:00", "07:30", "2026-01-10T22:00", "2026-01-11T07:30"},
		"in the evening":       {"22:00", "07:30", "2026-01-31T23:59", "2026-02-01T07:30"},
		"in the morning":       {"22:00", "07:30", "2026-01-10T07:29", "2026-01-10T07:30"},
		"its end":              {"22:00", "07:30", "2026-01-10T07:30", ""},
		"by day":               {"09:00", "17:00", "2026-01-10T12:00", "2026-01-10T17:00"},
		"around a day":         {"09:00", "17:00", "2026-01-10T17:00", ""},
		"before it by day":     {"09:00", "17:00", "2026-01-10T08:59", ""},
		"the night is shorter": {"22:00", "07:30", "2026-03-28T23:00", "2026-03-29T07:30"},
		"the end is left out":  {"22:00", "02:30", "2026-03-28T23:00", "2026-03-29T03:30"},
		"the night is longer":  {"22:00", "07:30", "2026-10-24T23:00", "2026-10-25T07:30"},
	} {
		t.Run(name, func(t *testing.T) {
			at, err := time.ParseInLocation("2006-01-02T15:04", c.at, berlin)
			if err != nil {
				t.Fatal(err)
			}
			until := Rule{QuietFrom: c.from, QuietTo: c.to}.quietUntil(at)
			got := ""
			if !until.IsZero() {
				got = until.Format("2006-01-02T15:04")
			}
			if got != c.until {
				t.Errorf("quiet until %q, want %q", got, c.until)
			}
		})
	}
}

func TestBackoffGrowsToAnHour(t *testing.T) {
	last := time.Duration(0)
	for failures := range 40 {
		wait := backoff(failures + 1)
		if wait < firstBackoff || wait > longestBackoff || wait < last*3/4 {
			t.Errorf("after %d failures %v, before %v", failures+1, wait, last)
		}
		last = wait
	}
	if last != longestBackoff {
		t.Errorf("it ends at %v", last)
	}
}
