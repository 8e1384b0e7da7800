package web

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/archive"
	"watchmark/internal/engine"
	"watchmark/internal/engine/review"
	"watchmark/internal/match/idmap"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/source/device"
	"watchmark/internal/source/importer"
	"watchmark/internal/source/nas"
	"watchmark/internal/source/tracker"
	"watchmark/internal/source/watcher"
	"watchmark/internal/tell/calendar"
	"watchmark/internal/tell/summary"
	"watchmark/internal/upkeep/backup"
	"watchmark/internal/upkeep/snapshot"
	"watchmark/internal/upkeep/update"
)

// Tasks are the pages of the tasks and of the jobs that come by the clock.
type Tasks struct {
	Tasks *task.Registry
	Jobs  *schedule.Registry
}

type tasksPage struct {
	Tasks []taskView
	Jobs  []scheduledView
	// Refresh is in how many seconds the page is to be fetched anew.
	Refresh int
}

type taskPage struct {
	taskView
	// Log are the last lines of its log.
	Log []logLine
}

// taskView is a task as the pages show it.
type taskView struct {
	task.Status
	Display display
	// Summary is its progress or its result, in the reader's language.
	Summary string
	// Detail is what it says itself: why it failed, or what it is at.
	Detail reason.Reason
	// Page is the path of the page it is about, and Undo of the one that takes back what it wrote; empty when there is none.
	Page, Undo string
	// Took is how long it ran in milliseconds; 0 while it runs.
	Took float64
	// Refresh is in how many seconds it is to be fetched anew; 0 once it ended.
	Refresh int
}

// The kinds of the engine's tasks. RecordID is the id of a record, for an answer that of its question, and for a media server that of its sign-in.
const (
	retryKind       = "retry"
	retryFailedKind = "retry_failed"
	correctKind     = "correct"
	answerKind      = "answer"
)

const (
	// The pages are fetched anew after so many seconds: while a task runs, and otherwise.
	refreshTask  = 2
	refreshTasks = 10
	// logShown is how many lines of the log the page has before the script adds new ones.
	logShown = 200
)

// list shows the tasks that run or ended lately, and all jobs.
func (g Tasks) list(r *request) (content, error) {
	page := tasksPage{Refresh: refreshTasks}
	all, err := g.Tasks.List(r.Context())
	if err != nil {
		return content{}, err
	}
	for _, t := range all {
		view, err := r.taskView(t)
		if err != nil {
			return content{}, err
		}
		if view.Refresh > 0 {
			page.Refresh = view.Refresh
		}
		page.Tasks = append(page.Tasks, view)
	}
	jobs, err := g.Jobs.List(r.Context())
	if err != nil {
		return content{}, err
	}
	for _, j := range jobs {
		if j.Running {
			page.Refresh = refreshTask
		}
	}
	page.Jobs, err = r.scheduled(jobs)
	return content{Data: page}, err
}

// task shows one task with its log.
func (g Tasks) task(r *request) (content, error) {
	id, err := idOf(r)
	if err != nil {
		return content{}, err
	}
	t, err := g.Tasks.Get(r.Context(), id)
	if err != nil {
		return content{}, err
	}
	view, err := r.taskView(t.Status())
	if err != nil {
		return content{}, err
	}
	if view.Page != "" && !r.may(view.Page) {
		view.Page = ""
	}
	lines, _ := t.After(0)
	page := taskPage{taskView: view}
	for _, line := range lines[max(0, len(lines)-logShown):] {
		page.Log = append(page.Log, newLogLine(line))
	}
	return content{Heading: r.word("task.kind", view.Kind), Data: page}, nil
}

var taskDisplays = map[task.State]display{
	task.Running:   {"busy", "loader", "task.state.running"},
	task.Done:      {"good", "circle-check", "task.state.done"},
	task.Failed:    {"bad", "circle-x", "task.state.failed"},
	task.Cancelled: {"quiet", "circle-slash", "task.state.cancelled"},
}

func (w words) taskView(t task.Status) (taskView, error) {
	v := taskView{Status: t, Display: taskDisplays[t.State]}
	if t.EndedAt == nil {
		v.Refresh = refreshTask
	} else {
		v.Took = float64(t.EndedAt.Sub(t.StartedAt).Microseconds()) / 1000
	}
	// The task is done even if the record failed again; the status of the record is shown.
	if t.Kind == retryKind && t.State == task.Done {
		if r, is := task.ResultOf[struct{ Status record.Status }](t); is {
			v.Display = displayOf(r.Status)
		}
	}
	v.Page, v.Undo = pageOf(t), undoPath(t)
	var err error
	if v.Summary, err = w.taskText(t); err != nil {
		return taskView{}, err
	}
	// The message of an import of the archive is the name of its phase, which taskText describes.
	if t.State == task.Failed || t.State == task.Running && t.Kind != archive.TaskKind {
		v.Detail = t.Message
		v.Detail.Text, _, _ = strings.Cut(v.Detail.Text, "\n") // the message of a panic goes on with the stack
	}
	return v, nil
}

// pageOf is the path of the page that a task or a job is about; empty when there is none.
func pageOf(t task.Status) string {
	switch t.Kind {
	case retryKind, correctKind:
		return fmt.Sprintf("/records/%d", t.RecordID)
	case retryFailedKind:
		return "/records?status=error"
	case review.UndoKind, review.UndoPreviewKind:
		if u, is := task.ResultOf[review.Undoing](t); is && u.TaskID != 0 {
			return fmt.Sprintf("/records/undo?task=%d", u.TaskID)
		}
		return "/records/undo"
	case answerKind:
		return questionPath(t.RecordID)
	case archive.TaskKind:
		return "/titles/archive"
	case account.TokensJob, engine.AssignKind:
		return "/people"
	case calendar.Job:
		return calendarPath
	case summary.JobsJob, summary.AiringJob:
		return "/messages/summaries"
	case nas.ScanJob:
		return "/sources/nas"
	case device.TaskKind:
		return "/sources/device"
	case tracker.SyncTask, tracker.PreviewTask, tracker.DeviceTask, tracker.TokensJob:
		return "/sources/tracker"
	case importer.RunTask, importer.PreviewTask:
		if t.RecordID > 0 { // of a login
			return serverPath(t.RecordID)
		}
		return "/sources/import"
	case watcher.SyncTask, watcher.SeedTask, watcher.UndoTask:
		return serverPath(t.RecordID)
	case watcher.AccountsJob:
		return serversPath
	case backup.TaskKind:
		return "/settings/backups"
	case snapshot.TaskKind, snapshot.FileTask, snapshot.RestoreTask, snapshot.PreviewTask, snapshot.UndoTask:
		return fmt.Sprintf("/people/%d/list", t.RecordID)
	case snapshot.JobName, snapshot.ContinueJob:
		return "/people"
	case idmap.TaskKind, idmap.UpdateKind, update.JobName:
		return "/settings/about"
	}
	return ""
}

// taskText describes the progress or the result of a task; empty when its state says all.
func (w words) taskText(t task.Status) (string, error) {
	switch {
	case t.Kind == archive.TaskKind && t.State == task.Running:
		percent := 0
		if t.Total > 0 {
			percent = int(100 * int64(t.Done) / int64(t.Total))
		}
		return w.filled("script.import_"+t.Message.Text, map[string]any{"percent": float64(percent)}), nil
	case t.State == task.Running && t.Total > 0:
		return w.filled("script.run_running", map[string]any{"done": float64(t.Done), "total": float64(t.Total)}), nil
	case t.State == task.Running || t.Result == nil:
		return "", nil
	case t.Kind == importer.PreviewTask || t.Kind == tracker.PreviewTask || t.Kind == snapshot.PreviewTask: // the page of the source shows the table
		return w.filled("task.previewed", nil), nil
	}
	values, err := resultOf(t)
	if err != nil {
		return "", err
	}
	var sentences []string
	for _, key := range resultKeys[t.Kind] {
		if sentence := w.filled(filled(key, values), values); sentence != "" {
			sentences = append(sentences, sentence)
		}
	}
	return strings.Join(sentences, " "), nil
}

// resultKeys are the text keys of the result of a task, by its kind. A name in braces stands for a value of the result,
// in a key and in a text.
var resultKeys = map[string][]string{
	retryKind:              {"status.about.{status}", "error_kind.{error_kind}"},
	retryFailedKind:        {"script.run_tally"},
	answerKind:             {"script.run_tally"},
	engine.AssignKind:      {"script.run_tally"},
	correctKind:            {"script.run_corrected", "script.run_tally"},
	archive.TaskKind:       {"script.imported_{outcome}"},
	idmap.TaskKind:         {"script.refreshed_{outcome}"},
	backup.TaskKind:        {"script.backup_done"},
	snapshot.TaskKind:      {"task.snapshot"},
	snapshot.FileTask:      {"task.snapshot"},
	snapshot.RestoreTask:   {"task.restored"},
	snapshot.UndoTask:      {"task.restored"},
	device.TaskKind:        {"task.devices"},
	importer.RunTask:       {"task.imported"},
	review.UndoKind:        {"task.undone"},
	review.UndoPreviewKind: {"task.undo_preview"},
	tracker.SyncTask:       {"task.tracked"},
	tracker.DeviceTask:     {"task.signed_in"},
	watcher.SyncTask:       {"script.server_caught_up"},
	watcher.SeedTask:       {"task.seeded"},
	watcher.UndoTask:       {"task.seeded"},
}

// resultOf returns the values of a result by their names in JSON. The numbers of a list of results, as of a sync of
// several people, are summed.
func resultOf(t task.Status) (map[string]any, error) {
	text, err := json.Marshal(t.Result)
	if err != nil {
		return nil, fmt.Errorf("encode the result of task %d: %w", t.ID, err)
	}
	var list []map[string]any
	if json.Unmarshal(text, &list) != nil {
		one := map[string]any{}
		if err := json.Unmarshal(text, &one); err != nil {
			return nil, fmt.Errorf("decode the result of task %d: %w", t.ID, err)
		}
		return one, nil
	}
	sum := map[string]any{}
	for _, one := range list {
		for name, value := range one {
			if n, counts := value.(float64); counts {
				before, _ := sum[name].(float64)
				sum[name] = before + n
			}
		}
	}
	return sum, nil
}

// named matches the place of a value in the texts of scripts.
var named = regexp.MustCompile(`\{(\w+)\}`)

// filled replaces each {name} of text by the value of that name, as the script does.
func filled(text string, values map[string]any) string {
	return named.ReplaceAllStringFunc(text, func(name string) string {
		value := values[strings.Trim(name, "{}")]
		if n, is := value.(float64); is {
			return figure(n).String()
		}
		return factText(value)
	})
}

// listed matches a list in the texts of scripts.
var listed = regexp.MustCompile(`\[(.*?)\]`)

// filled is the text of a key with its values. It is empty for an unknown key, which may come from the result of a task.
// A list in brackets leaves out the parts whose number is 0, as in the script.
func (w words) filled(key string, values map[string]any) string {
	return filled(listed.ReplaceAllStringFunc(w.texts[key], func(list string) string {
		var counted, otherwise []string
		for part := range strings.SplitSeq(strings.Trim(list, "[]"), "|") {
			switch m := named.FindStringSubmatch(part); {
			case m == nil:
				otherwise = append(otherwise, part)
			case values[m[1]] != nil && values[m[1]] != 0.0:
				counted = append(counted, part)
			}
		}
		if counted == nil {
			counted = otherwise
		}
		return strings.Join(counted, w.texts["script.comma"])
	}), values)
}
