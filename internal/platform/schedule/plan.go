package schedule

import "time"

// Plan says when a job is due. The zero Plan is never.
type Plan struct {
	// Text is the plan as cron expressions, with "; " between them, or as "@every" and a duration. A job whose text has
	// changed is planned anew.
	Text string
	// Next is when the job is due after a time; zero is never.
	Next func(after time.Time) time.Time
}

// Every is a plan that comes so long after the end of the last run.
func Every(d time.Duration) Plan {
	return Plan{everyPrefix + d.String(), func(after time.Time) time.Time { return after.Add(d) }}
}

const everyPrefix = "@every "

// After is when p is due after a time; zero is never.
func (p Plan) After(after time.Time) time.Time {
	if p.Next == nil {
		return time.Time{}
	}
	return p.Next(after)
}

// plan brings row in line with the plan of its job, as it is seen at now. This is the rule for missed times: a job is due
// at the first time of its plan after its last run ended; when that has passed, it runs at once, and once, however many
// times have passed. And the rule for clocks: no job is due later than its plan, or the retry that it asked for, would
// have it from now on; what lies further ahead was written by a clock that was set back since.
func (row row) plan(p Plan, now time.Time) row {
	if row.Plan != p.Text {
		row.Plan, row.Next, row.Retry = p.Text, p.After(row.From), 0
	}
	latest := p.After(now)
	switch {
	case latest.IsZero():
		row.Next, row.Retry = time.Time{}, 0
		return row
	case row.Retry > 0:
		latest = now.Add(row.Retry)
	}
	if row.Next.IsZero() || row.Next.After(latest) {
		row.Next = latest
	}
	return row
}

// since is row with the time from which it is planned: that of its last run, else last, unless that is not known or lies
// ahead, else when it was first seen.
func (row row) since(last, now time.Time) row {
	if row.From.IsZero() {
		row.From = now
	}
	if row.Ended.IsZero() && !last.IsZero() && !last.After(now) && millis(last) != millis(row.From) {
		row.From, row.Plan = last, ""
	}
	return row
}

// ended is a row after a run that ended at now and asked to run again after a while; 0 is by plan.
func ended(p Plan, now time.Time, retry time.Duration) row {
	r := row{Plan: p.Text, From: now, Ended: now, Retry: retry, Next: p.After(now)}
	if retry > 0 {
		r.Next = now.Add(retry)
	}
	return r.plan(p, now)
}
