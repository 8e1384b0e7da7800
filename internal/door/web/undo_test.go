package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"watchmark/internal/engine/review"
	"watchmark/internal/platform/reason"
	"watchmark/internal/source/importer"
)

// undoing is the result of an undo with every fate.
func undoing(dry bool, of int64) review.Undoing {
	one, two := 1.0, 2.0
	u := review.Undoing{
		DryRun: dry, TaskID: of, UndoTally: review.UndoTally{Lists: 3, TakenBack: 2, Gone: 1, Kept: 1, Needed: 1, Changed: 2, Failed: 1}, More: 1, Restores: []int64{},
		Entries: []review.UndoneEntry{
			{AccountID: 1, AccountName: "mira", SubjectID: 400602, SubjectName: "葬送的芙莉莲", State: review.EntryReopened, Marks: []review.UndoneMark{
				{RecordID: 1, EpisodeID: 11, EpisodeSort: &one, Fate: review.MarkTakenBack}, {RecordID: 2, EpisodeID: 12, EpisodeSort: &two, Fate: review.MarkTakenBack},
				{RecordID: 3, EpisodeID: 13, Fate: review.MarkKept}, {RecordID: 4, EpisodeID: 14, EpisodeSort: &one, Fate: review.MarkNeeded, NeededBy: 9},
			}},
			{AccountID: 1, AccountName: "mira", SubjectID: 900020, State: review.EntryDropped, Marks: []review.UndoneMark{{RecordID: 5, Fate: review.MarkGone}}},
			{AccountID: 2, AccountName: "<b>", SubjectID: 900021, Marks: []review.UndoneMark{}, Problem: reason.Text("<i>refused")},
		},
	}
	if of == 0 {
		since, until := time.Now().Add(-time.Hour), time.Now()
		u.Since, u.Until, u.Restores = &since, &until, []int64{77}
	}
	return u
}

func TestPageOfAnUndo(t *testing.T) {
	g := newRig(t)
	in := g.client(t, true)
	mustContain(t, g.get(t, in, "/records", "en").body, `href="/records/undo"`, "Undo a day")
	page := g.get(t, in, "/records/undo", "en")
	mustContain(t, page.body, "Undo a day", `data-type="moment"`, "all accounts", `name="dry_run"`)
	if strings.Contains(page.body, "What was taken back") {
		t.Error("it shows an undo that never was")
	}

	g.endedOf(t, 0, review.UndoPreviewKind, undoing(true, 0))
	mustContain(t, g.get(t, in, "/records/undo", "en").body, "Preview: nothing is taken back yet", "葬送的芙莉莲", "Taken back: episode 1, 2", "Stays, changed since: the entry itself", "Stays, another record needs it",
		"Not on the list any more", "The entry is no longer completed", "The entry is dropped and private", "&lt;b&gt;", "&lt;i&gt;refused", "1 more entry is not listed", "Take back 2 marks?", "Take this back", "task 77", `name="since"`)
	mustContain(t, g.get(t, in, "/records/undo", "zh-CN").body, "撤销一天", "预览：尚未撤回任何内容", "保留，之后有改动", "条目不再是“看过”", "撤回这些", "所有账号")

	run := g.endedOf(t, 0, importer.RunTask, map[string]any{"taken": 3})
	path := fmt.Sprintf("/records/undo?task=%d", run)
	mustContain(t, g.get(t, in, fmt.Sprintf("/settings/tasks/%d", run), "en").body, path, "Undo what it wrote…")
	page = g.get(t, in, path, "en")
	mustContain(t, page.body, fmt.Sprintf(`<h1 class="own">Undo task %d</h1>`, run), fmt.Sprintf(`value="%d"`, run))
	if strings.Contains(page.body, "葬送的芙莉莲") {
		t.Error("the page of a task shows the undo of a span")
	}
	undo := g.endedOf(t, 0, review.UndoKind, undoing(false, run))
	mustContain(t, g.get(t, in, path, "zh-CN").body, "撤回的内容", "葬送的芙莉莲")
	mustContain(t, g.get(t, in, fmt.Sprintf("/settings/tasks/%d", undo), "en").body, path, "Undo a day", "2 marks taken back")
	if got := g.get(t, in, "/records/undo?task=9999", "en"); got.status != http.StatusNotFound {
		t.Errorf("a task that is not there answers %d", got.status)
	}
}
