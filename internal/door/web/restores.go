package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/task"
	"watchmark/internal/upkeep/snapshot"
)

// restoreView is what would be brought back to a list, or was.
type restoreView struct {
	task.Status
	snapshot.Restoring
	Display display
	// From is when the snapshot was taken; zero where it is gone, or where a task was taken back.
	From time.Time
	// Counts are those to show, in their order.
	Tally []restoreCount
	Rows  []restoreLine
	// Rest are entries that are ticked and not shown. Ticked counts both.
	Rest         []catalog.SubjectID
	Left, Ticked int
	// TakeBack is the task that can be taken back; 0 for none.
	TakeBack int64
}

type restoreCount struct {
	display
	Count int
}

// restoreLine is an entry with what is written in words.
type restoreLine struct {
	snapshot.RestoreRow
	Display display
	Facts   []changeFact
	// Writes: something is written without leave. Held: something more is with leave.
	Writes, Held bool
}

const (
	// restoreShown is how many entries the preview shows, restoreProblems how many the result, which shows those alone that have something to say.
	restoreShown, restoreProblems = 500, 100
	// previewFor is for how long a preview is shown.
	previewFor = time.Hour
)

var restoreDisplays = map[snapshot.RestoreStatus]display{
	snapshot.ToWrite:  {"good", "check", "restore.is.write"},
	snapshot.Written:  {"good", "circle-check", "restore.is.written"},
	snapshot.HeldBack: {"warn", "undo-2", "restore.is.held"},
	snapshot.Refused:  {"warn", "circle-slash", "restore.is.cannot"},
	snapshot.Failed:   {"bad", "circle-x", "restore.is.failed"},
	snapshot.Waiting:  {"quiet", "hourglass", "restore.is.waiting"},
	snapshot.Same:     {"quiet", "check-check", "restore.is.same"},
}

// restoreOrder is the order in which people see the counts.
var restoreOrder = []snapshot.RestoreStatus{snapshot.ToWrite, snapshot.Written, snapshot.HeldBack, snapshot.Refused, snapshot.Failed, snapshot.Waiting, snapshot.Same}

// restored are the newest preview, unless something was written since, and the newest result, or that of ?restore=.
func (g Accounts) restored(r *request, id int64) (preview, result *restoreView, err error) {
	asked, err := newest(r.Context(), g.Tasks, id, snapshot.PreviewTask)
	if err != nil {
		return nil, nil, err
	}
	done, err := newest(r.Context(), g.Tasks, id, snapshot.RestoreTask, snapshot.UndoTask)
	if err != nil {
		return nil, nil, err
	}
	if asked.ID > done.ID && asked.State == task.Done && time.Since(*asked.EndedAt) < previewFor {
		preview = g.restoreView(r, asked)
	}
	asks := false
	if t, err := g.Tasks.Get(r.Context(), cursor(r, "restore")); err == nil {
		if wanted := t.Status(); wanted.Kind == snapshot.RestoreTask && wanted.RecordID == id {
			done, asks = wanted, true
		}
	} else if !errors.Is(err, task.ErrNotFound) {
		return nil, nil, err
	}
	if done.EndedAt != nil {
		if result = g.restoreView(r, done); result != nil {
			last, err := g.Snapshots.LastRestore(r.Context(), id)
			if err != nil {
				return nil, nil, err
			}
			switch {
			case last == done.ID, asks:
				result.TakeBack = done.ID
			case done.State != task.Done: // a stopped one goes on
				result.TakeBack = result.Undoes
			}
		}
	}
	return preview, result, nil
}

// restoreView is a task in words; nil for one without a result.
func (g Accounts) restoreView(r *request, t task.Status) *restoreView {
	what, is := task.ResultOf[snapshot.Restoring](t)
	if !is {
		return nil
	}
	v := &restoreView{Status: t, Restoring: what, Display: taskDisplays[t.State]}
	if s, err := g.Snapshots.Get(r.Context(), what.SnapshotID); err == nil {
		v.From = s.TakenAt
	}
	for _, status := range restoreOrder {
		if n := what.Counts[status]; n > 0 {
			v.Tally = append(v.Tally, restoreCount{restoreDisplays[status], n})
		}
	}
	for _, row := range what.Rows {
		l := restoreLine{RestoreRow: row, Display: restoreDisplays[row.Status], Facts: restoreFacts(row), Writes: row.Status == snapshot.ToWrite}
		l.Held = slices.ContainsFunc(row.Notes, func(n snapshot.RestoreNote) bool { return n.Kind == "held" })
		if l.Writes {
			v.Ticked++
		}
		switch {
		case !what.DryRun && len(row.Notes) == 0:
		case what.DryRun && len(v.Rows) == restoreShown, !what.DryRun && len(v.Rows) == restoreProblems:
			v.Left++
			if l.Writes {
				v.Rest = append(v.Rest, row.SubjectID)
			}
		default:
			v.Rows = append(v.Rows, l)
		}
	}
	return v
}

// restoreFacts says what is written of an entry.
func restoreFacts(row snapshot.RestoreRow) (facts []changeFact) {
	add := func(kind snapshot.Kind, before, now string, state bool) {
		if row.Created {
			before = ""
		}
		facts = append(facts, changeFact{"list.changed." + string(kind), before, now, state})
	}
	to, was := row.Writes, row.Was
	switch {
	case row.Created:
		add(snapshot.Added, "", stateKey(to.Type), true)
	case to.Type != 0:
		add(snapshot.Moved, stateKey(was.Type), stateKey(to.Type), true)
	}
	if to.Rate != nil && (!row.Created || *to.Rate > 0) {
		add(snapshot.Rated, rating(value(was.Rate)), rating(*to.Rate), false)
	}
	if to.Comment != nil {
		add(snapshot.Commented, cmp.Or(value(was.Comment), "–"), cmp.Or(*to.Comment, "–"), false)
	}
	if to.Tags != nil {
		add(snapshot.Tagged, cmp.Or(strings.Join(value(was.Tags), " "), "–"), cmp.Or(strings.Join(*to.Tags, " "), "–"), false)
	}
	if to.Private != nil && (!row.Created || *to.Private) {
		add(snapshot.Privacy, "", fmt.Sprintf("list.private.%t", *to.Private), true)
	}
	for _, number := range []struct{ to, was *int }{{to.Chapter, was.Chapter}, {to.Volume, was.Volume}} {
		if number.to != nil {
			add(snapshot.Read, strconv.Itoa(value(number.was)), strconv.Itoa(*number.to), false)
		}
	}
	for _, m := range row.Marks {
		facts = append(facts, changeFact{Key: fmt.Sprintf("restore.mark.%d", m.State), Now: m.Episodes})
	}
	return facts
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// dryRunOf is the body that asks what bringing back entries would write.
func dryRunOf(entries []catalog.SubjectID) string {
	body, err := json.Marshal(map[string]any{"entries": entries, "dry_run": true})
	if err != nil { // there is nothing in it that cannot be encoded
		panic(err)
	}
	return string(body)
}
