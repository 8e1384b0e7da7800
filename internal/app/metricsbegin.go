package app

import (
	"watchmark/internal/archive"
	"watchmark/internal/backup"
	"watchmark/internal/dataset"
	"watchmark/internal/engine"
	"watchmark/internal/importer"
	"watchmark/internal/notify"
	"watchmark/internal/notify/channel"
	"watchmark/internal/record"
	"watchmark/internal/source"
	"watchmark/internal/source/device"
	"watchmark/internal/task"
	"watchmark/internal/tracker"
	"watchmark/internal/webhook"
)

// taskKinds are those of all tasks.
var taskKinds = []string{
	archive.TaskKind, backup.TaskKind, dataset.TaskKind, device.TaskKind, engine.AnswerKind, engine.CorrectKind, engine.RetryKind, engine.RetryFailedKind,
	importer.PreviewTask, importer.RunTask, tracker.DeviceTask, tracker.PreviewTask, tracker.SyncTask,
}

// services are those that requests to others are counted by.
var services = []string{"archive", "catalog", "id_table", "images", "language_model", "notifications", "other", "tracker", "updates"}

// refusals are the statuses that webhooks are refused with.
var refusals = []string{"400", "401", "404", "408", "413", "415", "429", "500", "503"}

// begin has every counter there at zero, so that the first event of its kind shows as an increase.
func (m *meters) begin() {
	push, outcome := names(source.Push), func(o webhook.Outcome) []string { return []string{string(o)} }
	m.requests.Begin(push, outcome(webhook.Accepted), []string{"202"})
	m.requests.Begin(push, outcome(webhook.Ignored), []string{"200"})
	m.requests.Begin(push, outcome(webhook.Refused), refusals)
	m.requests.Begin([]string{"unknown"}, outcome(webhook.Refused), []string{"404"})
	m.engine.Runs.Begin(names(source.All), names([]record.Status{record.Success, record.Ignored, record.Review, record.Queued, record.Failed}))
	m.calls.Begin(services, []string{"2xx", "3xx", "4xx", "5xx", "failed"})
	m.callTime.Begin(services)
	m.Notices.Sent.Begin(names(channel.Types), names([]notify.State{notify.Sent, notify.Waiting, notify.Failed, notify.Unsure}))
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
