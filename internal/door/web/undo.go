package web

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/engine"
	"watchmark/internal/engine/review"
	"watchmark/internal/platform/scope"
	"watchmark/internal/platform/task"
	"watchmark/internal/source/device"
	"watchmark/internal/source/importer"
	"watchmark/internal/source/nas"
	"watchmark/internal/source/tracker"
	"watchmark/internal/source/watcher"
	"watchmark/internal/upkeep/snapshot"
)

// undoable are the kinds of tasks that have marks made, which this page takes back. Others that write have their undo on their page.
var undoable = map[string]bool{
	retryKind: true, retryFailedKind: true, correctKind: true, answerKind: true, importer.RunTask: true, tracker.SyncTask: true, watcher.SyncTask: true,
	device.TaskKind: true, nas.ScanJob: true, engine.AssignKind: true,
}

// undoPage takes back what was written in a span of time, or by a task.
type undoPage struct {
	// Of is the task to be undone; nil for a span of time.
	Of          *taskView
	TaskID      int64
	Accounts    []account.Account
	RunningTask int64
	// Last is the newest preview or undo of this kind; nil before the first.
	Last *undoView
}

// undoView is what an undo brought, or would bring.
type undoView struct {
	task.Status
	Result review.Undoing
	// Whose is the account whose list it was; empty for everybody's.
	Whose string
	Rows  []undoRow
	// Restored are the tasks that brought something back in that time.
	Restored []restoredThen
}

// restoredThen is a task with its page; empty where it is forgotten, or not the reader's to see.
type restoredThen struct {
	ID   int64
	Path string
}

// Changes reports whether there is something to be taken back after a preview.
func (v undoView) Changes() bool {
	return v.Result.TakenBack+v.Result.Gone+v.Result.Changed+v.Result.Stopped+v.Result.Kept+v.Result.Needed > 0
}

// undoRow is an entry with what becomes of its marks.
type undoRow struct {
	review.UndoneEntry
	Facts []undoFact
}

// undoFact is a text key with the episodes that it is about; Whole is set where it is about the entry itself.
type undoFact struct {
	Key      string
	Episodes []float64
	Whole    bool
}

// undo is the page of a span, or of ?task=.
func (g Records) undo(r *request) (content, error) {
	page := undoPage{}
	page.TaskID, _ = strconv.ParseInt(r.URL.Query().Get("task"), 10, 64)
	heading := ""
	if page.TaskID > 0 {
		t, err := g.Tasks.Get(r.Context(), page.TaskID)
		if err != nil {
			return content{}, err
		}
		view, err := r.taskView(t.Status())
		if err != nil {
			return content{}, err
		}
		if heading, err = r.text("undo.task", strconv.FormatInt(page.TaskID, 10)); err != nil {
			return content{}, err
		}
		page.Of = &view
	}
	var err error
	if page.Accounts, err = g.Accounts.List(r.Context()); err != nil {
		return content{}, err
	}
	if page.RunningTask, err = g.Tasks.RunningOf(r.Context(), 0, review.UndoKind, review.UndoPreviewKind); err != nil {
		return content{}, err
	}
	page.Last, err = g.lastUndo(r, page)
	return content{Heading: heading, Data: page}, err
}

// lastUndo is the newest preview or undo of the span or the task of a page, once it ended.
func (g Records) lastUndo(r *request, page undoPage) (*undoView, error) {
	all, err := g.Tasks.List(r.Context())
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		if t.Kind != review.UndoKind && t.Kind != review.UndoPreviewKind || t.State == task.Running || t.PersonID != scope.From(r.Context()).Person() {
			continue
		}
		result, there := task.ResultOf[review.Undoing](t)
		if !there || result.TaskID != page.TaskID {
			continue
		}
		v := undoView{Status: t, Result: result}
		for _, a := range page.Accounts {
			if a.ID == result.AccountID {
				v.Whose = a.Username
			}
		}
		for _, id := range result.Restores {
			one := restoredThen{ID: id}
			if _, err := g.Tasks.Get(r.Context(), id); err == nil {
				one.Path = fmt.Sprintf("/settings/tasks/%d", id)
			} else if !errors.Is(err, task.ErrNotFound) {
				return nil, err
			}
			v.Restored = append(v.Restored, one)
		}
		for _, e := range result.Entries {
			v.Rows = append(v.Rows, undoRow{e, fatesOf(e)})
		}
		return &v, nil
	}
	return nil, nil
}

// fatesOf are the fates of an entry and of its marks, those of one fate together.
func fatesOf(e review.UndoneEntry) (facts []undoFact) {
	for _, fate := range []review.MarkFate{review.MarkTakenBack, review.MarkKept, review.MarkNeeded, review.MarkGone} {
		f := undoFact{Key: "undo.mark." + string(fate)}
		seen := map[catalog.EpisodeID]bool{}
		for _, m := range e.Marks {
			if m.Fate != fate || seen[m.EpisodeID] {
				continue
			}
			seen[m.EpisodeID] = true
			if m.EpisodeID != 0 && m.EpisodeSort != nil {
				f.Episodes = append(f.Episodes, *m.EpisodeSort)
			} else {
				f.Whole = true
			}
		}
		slices.Sort(f.Episodes)
		if len(f.Episodes) > 0 || f.Whole {
			facts = append(facts, f)
		}
	}
	if e.State != "" {
		facts = append(facts, undoFact{Key: "undo.state." + string(e.State)})
	}
	return facts
}

// undoPath is the page on which a task is undone; empty for one that wrote nothing to lists, or still runs.
func undoPath(t task.Status) string {
	switch {
	case t.State == task.Running:
		return ""
	case t.Kind == snapshot.RestoreTask:
		return fmt.Sprintf("/people/%d/list?restore=%d", t.RecordID, t.ID)
	case undoable[t.Kind]:
		return fmt.Sprintf("/records/undo?task=%d", t.ID)
	}
	return ""
}
