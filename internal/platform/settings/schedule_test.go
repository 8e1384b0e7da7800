package settings_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/settings"
)

func TestNextRuns(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	from := time.Date(2026, 3, 27, 12, 2, 0, 0, berlin) // a Friday, two days before summer time
	for _, c := range []struct {
		name, key, cron string
		want            []string
		problem         string
	}{
		{"minutes in the local time", "nas.cron", "*/5 * * * *", []string{"2026-03-27T12:05:00+01:00", "2026-03-27T12:10:00+01:00"}, ""},
		{"over the change of the clocks", "tracker.cron", "0 8 * * *", []string{"2026-03-28T08:00:00+01:00", "2026-03-29T08:00:00+02:00"}, ""},
		{"the zone of the key", "catalog_archive.update_cron", "0 8 * * 3", []string{"2026-04-01T00:00:00Z", "2026-04-08T00:00:00Z"}, ""},
		{"a zone of its own", "catalog_archive.update_cron", "CRON_TZ=Europe/Berlin 0 8 * * 3", []string{"2026-04-01T06:00:00Z", "2026-04-08T06:00:00Z"}, ""},
		{"never", "tracker.cron", " ", []string{}, ""},
		{"never where it must come", "nas.cron", "", nil, "nas.cron: is not a cron expression of five fields, such as */5 * * * * (every five minutes) or 0 8 * * 3 (Wednesdays at 8)"},
		{"a day that is not there", "nas.cron", "0 0 30 2 *", nil, "nas.cron: never comes: there is no such day"},
		{"of no key", "", "0 8 * * *", []string{"2026-03-28T08:00:00+01:00", "2026-03-29T08:00:00+02:00"}, ""},
		{"never, of no key", "", "", nil, ": is not a cron expression of five fields, such as */5 * * * * (every five minutes) or 0 8 * * 3 (Wednesdays at 8)"},
		{"a key that is no schedule", "nas.user", "* * * * *", nil, ": \"nas.user\" is not a setting that holds a cron expression"},
		{"no key", "nas\n", "* * * * *", nil, `: "nas\n" is not a setting that holds a cron expression`},
	} {
		t.Run(c.name, func(t *testing.T) {
			runs, err := settings.NextRuns(c.key, c.cron, from, 2)
			if c.problem != "" {
				var field *reason.FieldError
				if !errors.As(err, &field) || err.Error() != c.problem {
					t.Errorf("error %v, want %s", err, c.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for i, run := range runs {
				if want, err := time.Parse(time.RFC3339, c.want[i]); err == nil && run.Equal(want) {
					got = append(got, c.want[i])
					continue
				}
				got = append(got, run.Format(time.RFC3339))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNextRunOfAnExpressionAlone(t *testing.T) {
	tokyo := time.FixedZone("", 9*60*60)
	next, err := settings.NextRun("0 21 * * *", time.Date(2026, 3, 27, 21, 0, 0, 0, tokyo))
	if err != nil || !next.Equal(time.Date(2026, 3, 28, 21, 0, 0, 0, tokyo)) {
		t.Errorf("next is %v, %v", next, err)
	}
	for _, wrong := range []string{"", "9 o'clock", "0 0 30 2 *"} {
		if _, err := settings.NextRun(wrong, time.Now()); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}
