package app

import (
	"watchmark/internal/catalog/archive"
	"watchmark/internal/engine"
	"watchmark/internal/engine/review"
	"watchmark/internal/match/idmap"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/source"
	"watchmark/internal/source/device"
	"watchmark/internal/source/importer"
	"watchmark/internal/source/tracker"
	"watchmark/internal/source/watcher"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
	"watchmark/internal/upkeep/backup"
)

// taskKinds are those of all tasks.
var taskKinds = []string{
	archive.TaskKind, backup.TaskKind, idmap.TaskKind, device.TaskKind, review.AnswerKind, review.CorrectKind, review.UndoKind, review.UndoPreviewKind, engine.RetryKind, engine.RetryFailedKind,
	importer.PreviewTask, importer.RunTask, tracker.DeviceTask, tracker.PreviewTask, tracker.SyncTask,
	watcher.SyncTask, watcher.SeedTask, watcher.UndoTask,
}

// services are those that requests to others are counted by.
var services = []string{"archive", "catalog", "id_table", "images", "language_model", "media_servers", "notifications", "other", "plex", "tracker", "updates"}

// refusals are the statuses that webhooks are refused with.
var refusals = []string{"400", "401", "404", "408", "413", "415", "429", "500", "503"}

// begin has every counter there at zero, so that the first event of its kind shows as an increase.
func (m *meters) begin() {
	push, outcome := names(source.Push), func(o webhooklog.Outcome) []string { return []string{string(o)} }
	m.requests.Begin(push, outcome(webhooklog.Accepted), []string{"202"})
	m.requests.Begin(push, outcome(webhooklog.Ignored), []string{"200"})
	m.requests.Begin(push, outcome(webhooklog.Refused), refusals)
	m.requests.Begin([]string{"unknown"}, outcome(webhooklog.Refused), []string{"404"})
	m.engine.Runs.Begin(names(source.All), names([]record.Status{record.Success, record.Ignored, record.Review, record.Queued, record.Failed}))
	m.calls.Begin(services, []string{"2xx", "3xx", "4xx", "5xx", "failed"})
	m.callTime.Begin(services)
	m.Notices.Sent.Begin(names(channel.Types()), names([]notify.State{notify.Sent, notify.Waiting, notify.Failed, notify.Unsure}))
	m.self.Evictions.Begin()
	m.tasks.Ended.Begin(taskKinds, names([]task.State{task.Done, task.Failed, task.Cancelled}))
}

// names are texts of other types.
func names[T ~string](values []T) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = string(v)
	}
	return all
}
