package settings

import (
	"strings"
	"time"

	"watchmark/internal/platform/reason"

	cron "github.com/netresearch/go-cron"
)

// NextRuns are the next n times after t at which the key at path is due when its value is
// expression; none when that is empty and the key may be. Without a path they are those of a
// schedule that is no setting, in the local time. The error is a *reason.FieldError: of path when
// expression is wrong, of no key when path is not that of a schedule.
func NextRuns(path, expression string, t time.Time, n int) ([]time.Time, error) {
	o := option{check: checkCron}
	if path != "" {
		var known bool
		if o, known = options()[path]; !known || o.form != Cron {
			return nil, &reason.FieldError{What: notAScheduleOption.With(shown(path))}
		}
	}
	value, err := o.parse(expression)
	if err != nil {
		return nil, &reason.FieldError{Field: path, What: reason.Of(err)}
	}
	runs := []time.Time{}
	if value == "" {
		return runs, nil
	}
	schedule, err := parseCron(o.inZone(value.(string)))
	if err != nil {
		return nil, &reason.FieldError{Field: path, What: reason.Of(err)}
	}
	for range n {
		if t = schedule.Next(t); t.IsZero() {
			break
		}
		runs = append(runs, t)
	}
	return runs, nil
}

// InZone is the value of the key at path, a cron expression, with the time zone that it is in; without one in the local time.
func InZone(path, expression string) string {
	o := options()[path]
	return o.inZone(expression)
}

// NextRun is when a cron expression, in the local time where it names no zone, is due after t. The
// error says what is wrong with the expression.
func NextRun(expression string, t time.Time) (time.Time, error) {
	schedule, err := parseCron(expression)
	if err != nil {
		return time.Time{}, err
	}
	return schedule.Next(t), nil
}

// parseCron reads a cron expression. The error says, as a part of a sentence, that it is none, or that it never comes.
func parseCron(expression string) (cron.Schedule, error) {
	schedule, err := cron.ParseStandard(expression)
	if err != nil {
		return nil, notCron
	}
	if schedule.Next(time.Now()).IsZero() {
		return nil, cronNeverDue
	}
	return schedule, nil
}

// inZone is expression with the zone of o where it names none.
func (o *option) inZone(expression string) string {
	if o.zone == "" || strings.HasPrefix(expression, "TZ=") || strings.HasPrefix(expression, "CRON_TZ=") {
		return expression
	}
	return "CRON_TZ=" + o.zone + " " + expression
}
