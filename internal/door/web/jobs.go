package web

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/task"
)

// scheduledView is a job as the page Tasks shows it.
type scheduledView struct {
	schedule.JobStatus
	Display display
	// When is its plan in words, or as it is where there are no words for it; empty while it does not run by itself.
	When string
	Page string // that of a task of the job
}

// scheduled describes jobs.
func (w words) scheduled(jobs []schedule.JobStatus) ([]scheduledView, error) {
	views := make([]scheduledView, len(jobs))
	for i, j := range jobs {
		v := scheduledView{JobStatus: j, Display: display{"quiet", "hourglass", "jobs.never"}}
		switch {
		case j.Running:
			v.Display = taskDisplays[task.Running]
		case j.LastOutcome != "":
			v.Display = taskDisplays[task.State(j.LastOutcome)]
		}
		v.Page = pageOf(task.Status{Kind: j.Name})
		var err error
		if v.When, err = w.plan(j.Plan); err != nil {
			return nil, err
		}
		views[i] = v
	}
	return views, nil
}

// often matches cron expressions that come every so many minutes, or once every so many hours.
var often = regexp.MustCompile(`^(?:(\*)|\*/(\d{1,2})|\d{1,2}) (?:(\*)|\*/(\d{1,2})) \* \* \*$`)

// plan describes the plan of a job; what there are no words for stays as it is.
func (w words) plan(text string) (string, error) {
	if every, is := strings.CutPrefix(text, "@every "); is {
		d, err := time.ParseDuration(every)
		if err != nil {
			return text, nil // a newer version has written it
		}
		return w.every(d)
	}
	var parts []string
	for one := range strings.SplitSeq(text, "; ") {
		said, err := w.cron(one)
		if err != nil {
			return "", err
		}
		parts = append(parts, said)
	}
	return strings.Join(parts, "; "), nil
}

// cron describes a cron expression, in the time zone that it may name.
func (w words) cron(expression string) (string, error) {
	rest, zone := expression, ""
	if named, is := strings.CutPrefix(expression, "CRON_TZ="); is {
		zone, rest, _ = strings.Cut(named, " ")
	}
	said, err := w.schedule(rest)
	if err != nil {
		return "", err
	}
	if parts := often.FindStringSubmatch(strings.Join(strings.Fields(rest), " ")); said == "" && parts != nil {
		if said, err = w.often(parts); err != nil {
			return "", err
		}
		zone = "" // it comes at the same minutes everywhere, nearly
	}
	switch {
	case said == "":
		return expression, nil
	case zone != "":
		return w.text("jobs.zone", said, zone)
	}
	return said, nil
}

// often describes what the pattern of that name matches.
func (w words) often(parts []string) (string, error) {
	number := func(text string) int {
		n, _ := strconv.Atoi(text) // it is digits
		return n
	}
	everyMinute, minutes, everyHour, hours := parts[1] != "", number(parts[2]), parts[3] != "", number(parts[4])
	switch {
	case everyMinute && everyHour:
		return w.every(time.Minute)
	case minutes > 0 && everyHour:
		return w.every(time.Duration(minutes) * time.Minute)
	case everyMinute || minutes > 0:
		return "", nil
	case everyHour:
		return w.every(time.Hour)
	case hours > 0:
		return w.every(time.Duration(hours) * time.Hour)
	}
	return "", nil
}

// every describes a plan that comes every so often.
func (w words) every(d time.Duration) (string, error) {
	key, n := "jobs.minutes", int(d/time.Minute)
	switch {
	case d%(24*time.Hour) == 0:
		key, n = "jobs.days", int(d/(24*time.Hour))
	case d%time.Hour == 0:
		key, n = "jobs.hours", int(d/time.Hour)
	}
	if n == 1 {
		return w.text(key + ".one")
	}
	return w.text(key+".other", n)
}
