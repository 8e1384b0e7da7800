package schedule

import (
	"testing"
	"time"
)

func TestPlan(t *testing.T) {
	const day = 24 * time.Hour
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.Local)
	at := func(day, hour int) time.Time { return time.Date(2026, 3, day, hour, 0, 0, 0, time.Local) }
	nightly := Plan{Text: "0 4 * * *", Next: func(after time.Time) time.Time {
		next := time.Date(after.Year(), after.Month(), after.Day(), 4, 0, 0, 0, time.Local)
		if !next.After(after) {
			next = next.AddDate(0, 0, 1)
		}
		return next
	}}
	for name, c := range map[string]struct {
		before row
		plan   Plan
		want   row
	}{
		"new":                               {row{From: now}, nightly, row{Next: at(15, 4)}},
		"it ran tonight":                    {row{From: at(14, 5)}, nightly, row{Next: at(15, 4)}},
		"it was missed tonight":             {row{From: at(13, 5)}, nightly, row{Next: at(14, 4)}},
		"it was missed for a week":          {row{From: at(7, 5)}, nightly, row{Next: at(8, 4)}},
		"planned":                           {row{Plan: "0 4 * * *", From: at(13, 5), Next: at(14, 4)}, nightly, row{Next: at(14, 4)}},
		"never":                             {row{Plan: "0 4 * * *", From: at(13, 5), Next: at(14, 4), Retry: time.Hour}, Plan{}, row{}},
		"switched on":                       {row{From: at(13, 5)}, nightly, row{Next: at(14, 4)}},
		"another plan":                      {row{Plan: "0 4 * * 1", From: at(14, 5), Next: at(16, 4)}, nightly, row{Next: at(15, 4)}},
		"another plan, after a failure":     {row{Plan: "0 4 * * 1", From: at(14, 5), Next: at(14, 13), Retry: time.Hour}, nightly, row{Next: at(15, 4)}},
		"a retry":                           {row{Plan: "0 4 * * *", From: at(14, 11), Next: at(14, 13), Retry: 2 * time.Hour}, nightly, row{Next: at(14, 13), Retry: 2 * time.Hour}},
		"a retry later than the plan":       {row{Plan: "0 4 * * *", From: at(13, 4), Next: at(17, 4), Retry: 4 * day}, nightly, row{Next: at(17, 4), Retry: 4 * day}},
		"the clock was set back":            {row{Plan: "0 4 * * *", From: now.Add(365 * day), Next: now.Add(366 * day)}, nightly, row{Next: at(15, 4)}},
		"the clock was set back, new":       {row{From: now.Add(365 * day)}, nightly, row{Next: at(15, 4)}},
		"the clock was set back in a retry": {row{Plan: "0 4 * * *", From: now.Add(365 * day), Next: now.Add(366 * day), Retry: time.Hour}, nightly, row{Next: at(14, 13), Retry: time.Hour}},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.before.plan(c.plan, now)
			if !got.Next.Equal(c.want.Next) || got.Retry != c.want.Retry || got.Plan != c.plan.Text || !got.From.Equal(c.before.From) {
				t.Errorf("planned as %+v", got)
			}
		})
	}
}
