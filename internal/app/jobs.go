package app

import (
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/settings"
)

// addJobs registers what comes by the clock, beside what a data folder has by itself. The page Tasks shows it in this order.
func (a *App) addJobs() {
	a.jobs.Add(a.nas.Job())
	a.jobs.Add(a.tracker.Jobs()...)
	a.jobs.Add(a.watcher.Job())
	a.jobs.Add(a.summaries.Scheduled(), a.airing.Job(), a.calendar.Job(), a.clients.Job(), a.updates.Job(), a.housekeepingJob(), a.snapshots.Job(), a.snapshots.Continuing(), a.decisions.UnwatchedJob())
}

// plan is the schedule that the key at path of the settings holds; never while that is empty.
func (d *Data) plan(path string, expression func(settings.Settings) string) func() schedule.Plan {
	next := d.schedule(path, expression)
	return func() schedule.Plan {
		now := expression(d.Settings.Current())
		if now == "" {
			return schedule.Plan{}
		}
		return schedule.Plan{Text: settings.InZone(path, now), Next: next}
	}
}
