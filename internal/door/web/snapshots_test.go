package web_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/entries"
	"watchmark/internal/platform/hold"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/upkeep/snapshot"
	"watchmark/internal/watch"
)

// readList is a list that was read from the catalog.
type readList struct {
	entries []catalog.Entry
	marks   map[catalog.SubjectID][]catalog.Mark
}

// ReadList implements snapshot.Lists.
func (l *readList) ReadList(_ context.Context, _ account.Account, _ func(read, of int),
	read func(catalog.List, func(context.Context, catalog.SubjectID) ([]catalog.Mark, error)) error,
) error {
	return read(catalog.List{Entries: l.entries, Total: len(l.entries)}, func(_ context.Context, id catalog.SubjectID) ([]catalog.Mark, error) { return l.marks[id], nil })
}

// PreviewPut implements snapshot.Lists.
func (l *readList) PreviewPut(_ context.Context, _ account.Account, _ catalog.SubjectID, _ catalog.Entry, w catalog.Wanted) (catalog.Change, error) {
	return catalog.Change{Sent: w, Back: catalog.Wanted{Type: catalog.Wish}}, nil
}

// Put implements snapshot.Lists.
func (l *readList) Put(ctx context.Context, by account.Account, subject catalog.SubjectID, w catalog.Wanted, begin func(context.Context, catalog.Change) error) (catalog.PutResult, error) {
	c, err := l.PreviewPut(ctx, by, subject, catalog.Entry{}, w)
	return catalog.PutResult{Change: c}, errors.Join(err, begin(ctx, c))
}

// snapshots keeps the list of the rig.
func (g *rig) snapshots() *snapshot.Service {
	return snapshot.NewService(snapshot.Config{
		DB: g.db, Accounts: g.accounts, Lists: &g.list, Tasks: g.tasks, Holds: hold.New(g.db, dbtest.Self(1), slog.New(slog.DiscardHandler)), Plan: func() schedule.Plan { return schedule.Plan{} }, Keep: func() int { return 60 },
		Seen:    func(context.Context, int64, []catalog.Entry) error { return nil },
		Written: g.records.Written, Entries: entries.New(g.db, nil), Resumed: record.ResumedTx,
		Code: func(catalog.SubjectID) int { return 0 }, Log: slog.New(slog.DiscardHandler),
	})
}

// takeSnapshot keeps the list of the rig as it is, and waits for that.
func (g *rig) takeSnapshot(t testing.TB, account int64) snapshot.Snapshot {
	t.Helper()
	work, err := g.snapshots().Take(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	for last := 0; ; {
		lines, more := work.After(last)
		last += len(lines)
		if s := work.Status(); s.State != task.Running {
			if s.State != task.Done {
				t.Fatal(s.Message)
			}
			taken, _ := task.ResultOf[snapshot.Snapshot](s)
			return taken
		}
		<-more
	}
}

// restored is what a task of bringing back tells, with an entry of each kind.
func restored(from int64, dryRun bool) snapshot.Restoring {
	done, rate, comment, shown := snapshot.ToWrite, 9, "看得很饿。", false
	if !dryRun {
		done = snapshot.Written
	}
	note := func(kind string, why reason.Reason) []snapshot.RestoreNote {
		return []snapshot.RestoreNote{{Kind: kind, Reason: why}}
	}
	return snapshot.Restoring{
		AccountID: 1, SnapshotID: from, DryRun: dryRun, Lines: 12, Dates: 2, Undo: !dryRun,
		Rows: []snapshot.RestoreRow{
			{SubjectID: 900001, Name: "灯塔守望者", NameCN: "灯塔守望者", Status: done, Writes: catalog.Wanted{Type: catalog.Done, Rate: &rate, Comment: &comment}, Was: catalog.Wanted{Type: catalog.Doing},
				Marks: []snapshot.RestoreMarks{{State: catalog.EpisodeWatched, Count: 13, Episodes: "1–12 SP1"}}, Notes: []snapshot.RestoreNote{}, Lines: 1, Dated: true},
			{SubjectID: 900003, Name: "<script>alert(1)</script>", Status: done, Created: true, Writes: catalog.Wanted{Type: catalog.Wish, Private: &shown}, Marks: []snapshot.RestoreMarks{}, Notes: note("cannot", catalog.WordFilter.With())},
			{SubjectID: 900004, Name: "迷宫饭", NameCN: "迷宫饭", Status: snapshot.HeldBack, Marks: []snapshot.RestoreMarks{}, Notes: note("held", catalog.ErrRefused.With())},
			{SubjectID: 900005, Name: "北の光", Status: snapshot.Refused, Marks: []snapshot.RestoreMarks{}, Notes: note("cannot", catalog.ErrForbidden.With())},
		},
		Counts: map[snapshot.RestoreStatus]int{done: 2, snapshot.HeldBack: 1, snapshot.Refused: 1, snapshot.Same: 1996},
	}
}

func TestAListTellsWhatIsBroughtBack(t *testing.T) {
	g := newRig(t)
	if _, err := g.accounts.Create(t.Context(), account.Draft{Username: "mira", Method: account.ByToken, Enabled: true, Tokens: account.Tokens{Access: "by-hand"}}); err != nil {
		t.Fatal(err)
	}
	in := g.client(t, true)
	from, to := g.keepLists(t)
	page := g.get(t, in, fmt.Sprintf("/people/1/list?from=%d&to=%d", from.ID, to.ID), "en").body
	mustContain(t, page, fmt.Sprintf(`data-url="/api/snapshots/%d/restore"`, from.ID), `name="entries" value="900001"`, "Bring back…")
	g.ran(t, snapshot.PreviewTask, 1, restored(from.ID, true), nil)
	page = g.get(t, in, "/people/1/list", "en").body
	mustContain(t, page, "State: <bdi>Watching</bdi> → <bdi>Watched</bdi>", "Marked: <bdi>1–12 SP1</bdi>", "About 12 lines appear", "2 entries get the date of today", `name="lower" value="900004"`, "&lt;script&gt;alert(1)", "Bangumi shows it to the owner only")
	if strings.Contains(page, `name="entries" value="900005"`) || strings.Contains(page, "<script>alert(1)") {
		t.Error("what cannot be brought back can be ticked, or a name is not escaped")
	}
	g.ran(t, snapshot.RestoreTask, 1, restored(from.ID, false), nil)
	page = g.get(t, in, "/people/1/list", "zh-CN").body
	mustContain(t, page, "已恢复", "1,996", "公开时间线上出现了 12 条动态", "仅对本人显示")
	if strings.Contains(page, `id="restore-title"`) {
		t.Error("a preview of before is shown")
	}
}

// keepLists takes two snapshots of the list of the first account, with one change of each kind between them.
func (g *rig) keepLists(t testing.TB) (from, to snapshot.Snapshot) {
	t.Helper()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	entry := func(id int, name string, state catalog.CollectionType, rate int) catalog.Entry {
		return catalog.Entry{Subject: catalog.SubjectID(id), SubjectType: catalog.Anime, Type: state, Rate: rate, Tags: []string{"TV"}, Marked: 2, Changed: at,
			About: catalog.About{Name: name, NameCN: name, Date: watch.ParseDate("2024-01-10"), Eps: 12}}
	}
	mark := func(n int) catalog.Mark {
		return catalog.Mark{Episode: catalog.EpisodeID(n), Sort: float64(n), Ep: float64(n), State: catalog.EpisodeWatched}
	}
	g.list = readList{
		entries: []catalog.Entry{entry(900001, "灯塔守望者", catalog.Doing, 7), entry(900002, "彩虹放送局", catalog.Wish, 0), entry(900003, "<script>alert(1)</script>", catalog.Done, 9), entry(900004, "迷宫饭", catalog.Doing, 0)},
		marks:   map[catalog.SubjectID][]catalog.Mark{900001: {mark(1), mark(2)}, 900004: {mark(11), mark(12), mark(13)}},
	}
	from = g.takeSnapshot(t, 1)
	changed := at.Add(time.Hour)
	e := g.list.entries
	e[0].Rate, e[0].Type, e[0].Changed = 9, catalog.Done, changed
	e[1].Private, e[1].Tags, e[1].Changed = true, []string{"TV", "原创"}, changed
	e[3].Comment, e[3].Changed, e[3].Marked = "看得很饿。"+strings.Repeat("好吃", 60), changed, 2
	g.list.entries = append(e[:2], e[3], entry(900005, "北の光", catalog.Doing, 0))
	g.list.marks = map[catalog.SubjectID][]catalog.Mark{900001: {mark(1), mark(2), mark(3), {Episode: 9, Kind: catalog.Special, Sort: 1, State: catalog.EpisodeWatched}}, 900004: {mark(11), mark(12)}}
	return from, g.takeSnapshot(t, 1)
}

func TestAListTellsWhatHasChanged(t *testing.T) {
	g := newRig(t)
	if _, err := g.accounts.Create(t.Context(), account.Draft{Username: "mira", Method: account.ByToken, Enabled: true, Tokens: account.Tokens{Access: "by-hand"}}); err != nil {
		t.Fatal(err)
	}
	in := g.client(t, true)
	mustContain(t, g.get(t, in, "/people", "en").body, `"/people/1/list"`)
	mustContain(t, g.get(t, in, "/people/1/list", "zh-CN").body, "还没有快照")
	from, to := g.keepLists(t)
	page := g.get(t, in, fmt.Sprintf("/people/1/list?from=%d&to=%d", from.ID, to.ID), "en").body
	mustContain(t, page, "Rating: <bdi>7</bdi> → <bdi>9</bdi>", "State: <bdi>Watching</bdi> → <bdi>Watched</bdi>", "Marked: <bdi>3 SP1</bdi>", "Unmarked: <bdi>13</bdi>",
		"Added: <bdi>Watching</bdi>", "Removed: <bdi>Watched</bdi>", "Visibility: <bdi>only the owner</bdi>", "Tags: <bdi>TV</bdi> → <bdi>TV 原创</bdi>", "&lt;script&gt;alert(1)", "elsewhere", "/api/accounts/1/export?format=mal")
	if strings.Contains(page, "<script>alert(1)") {
		t.Error("a name is not escaped")
	}
	only := g.get(t, in, fmt.Sprintf("/people/1/list?from=%d&to=%d&kind=rated", to.ID, from.ID), "en").body
	if !strings.Contains(only, "灯塔守望者") || strings.Contains(only, "北の光") {
		t.Error("a filter by kind does not hold")
	}
	mustContain(t, g.get(t, in, "/people/1/list?entry=900001", "zh-CN").body, "变化历史", "看过", "在看")
	for path, status := range map[string]int{"/people/99/list": 404, "/people/x/list": 404, fmt.Sprintf("/people/1/list?from=%d&to=9999", from.ID): 404} {
		if got := g.get(t, in, path, "en").status; got != status {
			t.Errorf("%s: %d, want %d", path, got, status)
		}
	}
}
