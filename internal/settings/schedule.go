package settings

import (
	"strings"
	"time"

	cron "github.com/netresearch/go-cron"
)

// NextRuns are the next n times after t at which the key at path is due when its value is
// expression; none when that is empty and the key may be. Without a path they are those of a
// schedule that is no setting, in the local time. The error is a *FieldError: of path when
// expression is wrong, of no key when path is not that of a schedule.
func NextRuns(path, expression string, t time.Time, n int) ([]time.Time, error) {
	var value any
	var err error
	var o option
	if path == "" {
		value, err = checkCron(expression)
	} else {
		var known bool
		if o, known = options()[path]; !known || o.form != Cron {
			return nil, &FieldError{Problem: shown(path) + " is no key that holds a cron expression"}
		}
		value, err = o.parse(expression)
	}
	if err != nil {
		return nil, &FieldError{Key: path, Problem: err.Error()}
	}
	runs := []time.Time{}
	if value == "" {
		return runs, nil
	}
	schedule, err := cron.ParseStandard(o.inZone(value.(string)))
	if err != nil {
		return nil, &FieldError{Key: path, Problem: err.Error()}
	}
	for range n {
		if t = schedule.Next(t); t.IsZero() {
			break
		}
		runs = append(runs, t)
	}
	return runs, nil
}

// NextRun is when a cron expression, in the local time where it names no zone, is due after t. The
// error says what is wrong with the expression.
func NextRun(expression string, t time.Time) (time.Time, error) {
	if _, err := checkCron(expression); err != nil {
		return time.Time{}, err
	}
	schedule, err := cron.ParseStandard(expression)
	if err != nil {
		return time.Time{}, err
	}
	return schedule.Next(t), nil
}

// inZone is expression with the zone of o where it names none.
func (o *option) inZone(expression string) string {
	if o.zone == "" || strings.HasPrefix(expression, "TZ=") || strings.HasPrefix(expression, "CRON_TZ=") {
		return expression
	}
	return "CRON_TZ=" + o.zone + " " + expression
}
