package api_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/scope"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// ownList is what somebody's list and background work left behind.
type ownList struct {
	snapshot, older, restore, task int64
	record                         int64 // that wrote a mark, of the task, and was set back to unwatched
}

// listOf gives somebody two snapshots with an entry, something brought back, a task, a mark that waits for a word, and a question for a rating.
func (h *house) listOf(i *inhabitant) (l ownList) {
	h.t.Helper()
	ctx := scope.In(h.t.Context(), scope.Of(i.id))
	run := must(h.tasks.Start(ctx, task.Spec{Kind: "import"}, func(ctx context.Context, t *task.Task) error {
		h.slog.InfoContext(ctx, "a line of the log")
		t.SetResult(map[string]string{"of": i.name})
		return nil
	}))(h.t)
	l.task = run.Status().ID
	for run.Status().State == task.Running {
		_, more := run.After(run.EndNumber())
		if run.Status().State == task.Running {
			<-more
		}
	}
	err := h.db.Write(h.t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		now := time.Now().UnixMilli()
		for _, id := range []*int64{&l.older, &l.snapshot} {
			err := tx.QueryRowContext(ctx, `INSERT INTO snapshots (account_id, began_at, taken_at, total, entries, whole) VALUES (?, ?, ?, 1, 1, 1) RETURNING id`, i.account, now, now).Scan(id)
			if err != nil {
				return err
			}
		}
		entry := fmt.Sprintf(`{"subject_id":8,"type":2,"rate":7,"tags":[],"comment":"secret of %s"}`, i.name)
		if _, err := tx.ExecContext(ctx, `INSERT INTO listed_entries (account_id, subject_id, since, until, entry, marks, marked) VALUES (?, 8, ?, ?, ?, ?, 0), (?, 8, ?, 0, ?, ?, 0)`,
			i.account, l.older, l.snapshot, strings.Replace(entry, "7", "6", 1), []byte{}, i.account, l.snapshot, entry, []byte{}); err != nil {
			return err
		}
		l.restore = 5000 + i.id
		if _, err := tx.ExecContext(ctx, `INSERT INTO restores (task_id, account_id, snapshot_id, undoes, chosen, began_at, ended_at) VALUES (?, ?, ?, 0, '{}', ?, ?)`, l.restore, i.account, l.snapshot, now, now); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO asked_words (account_id, subject_id, asked_at) VALUES (?, 8, ?)`, i.account, now); err != nil {
			return err
		}
		season, episode := 1, 1.0
		e := watch.Event{Source: watch.File, Action: watch.Watched, Media: watch.Episode, Title: "secret of " + i.name, Season: &season, Episode: &episode, UserName: i.name}
		ids, err := record.InsertAll(ctx, tx, []watch.Event{e}, false, i.account, time.Now())
		if err != nil {
			return err
		}
		l.record = ids[0]
		if err := record.OfTaskTx(ctx, tx, l.task, time.Now().Add(-time.Hour), l.record); err != nil {
			return err
		}
		o := record.Outcome{RecordID: l.record, AccountID: i.account, Status: record.Success, SubjectID: 8, EpisodeID: catalog.EpisodeID(80 + i.id), Mark: &record.Written{}, Trace: []byte(`{}`)}
		if err := record.SettleTx(ctx, tx, o); err != nil {
			return err
		}
		return errors.Join(record.UnwatchTx(ctx, tx, i.account, []int64{l.record}, time.Now()), record.AskUnwatchedTx(ctx, tx, []int64{l.record}, time.Now()))
	})
	if err != nil {
		h.t.Fatal(err)
	}
	i.records = append(i.records, l.record)
	return l
}

// What is asked of one's own list and work names nobody else's, whatever stands in a query or a body: it is as if that did not exist.
func TestAnotherOnesListIsNotThere(t *testing.T) {
	h := newHouse(t)
	mira, alex := h.people["mira"], h.people["alex"]
	own, theirs := h.listOf(mira), h.listOf(alex)
	const missing = 987654321
	for name, c := range map[string]struct {
		method, path string
		body         func(id int64) any
		id           int64
	}{
		"a comparison with a snapshot":     {http.MethodGet, fmt.Sprintf("/api/snapshots/%d/diff?to=%%d", own.snapshot), nil, theirs.snapshot},
		"an export of a snapshot":          {http.MethodGet, fmt.Sprintf("/api/accounts/%d/export?snapshot=%%d", mira.account), nil, theirs.snapshot},
		"an undo of a task":                {http.MethodPost, "/api/undo", func(id int64) any { return map[string]any{"task_id": id} }, theirs.task},
		"a preview of the undo of a task":  {http.MethodPost, "/api/undo", func(id int64) any { return map[string]any{"task_id": id, "dry_run": true} }, theirs.task},
		"an undo of a day of an account":   {http.MethodPost, "/api/undo", func(id int64) any { return spanOf(map[string]any{"account_id": id}) }, alex.account},
		"an answer to what was set back":   {http.MethodPost, "/api/unwatched", func(id int64) any { return map[string]any{"record_ids": []int64{id}, "take_back": true} }, theirs.record},
		"what was set back is to be kept":  {http.MethodPost, "/api/unwatched", func(id int64) any { return map[string]any{"record_ids": []int64{id}, "take_back": false} }, theirs.record},
		"the list of an account as a file": {http.MethodGet, "/api/accounts/%d/export?format=watches", nil, alex.account},
		"a page of what was set back":      {http.MethodGet, "/api/unwatched?cursor=%d", nil, theirs.record},
		"the history of an entry":          {http.MethodGet, "/api/accounts/%d/entries/8", nil, alex.account},
	} {
		t.Run(name, func(t *testing.T) {
			before := h.kept()
			ask := func(id int64) reply {
				path := c.path
				if strings.Contains(path, "%d") {
					path = fmt.Sprintf(path, id)
				}
				var body any
				if c.body != nil {
					body = c.body(id)
				}
				return h.send(c.method, path, body, mira.bySession()...)
			}
			got, nobodys := ask(c.id), ask(missing)
			if got.status >= 500 || got.status < 400 && !strings.Contains(c.path, "cursor") || got.body != nobodys.body || got.status != nobodys.status || !maps.EqualFunc(lasting(got.header), lasting(nobodys.header), slices.Equal) {
				t.Errorf("it tells what exists: %d %s of somebody else's, %d %s of what is not there", got.status, got.body, nobodys.status, nobodys.body)
			}
			if !maps.Equal(before, h.kept()) {
				t.Error("something was changed")
			}
		})
	}
	// A file is imported for the person's own users alone, and somebody else's is told as one that nobody is.
	for _, user := range []string{"alex", "visitor", "bench", "nobody"} {
		got := h.send(http.MethodPost, "/api/import/file?format=mal&user="+user, nil, mira.bySession()...).problem(422, "user")
		if strings.ReplaceAll(got.body, user, "X") != strings.ReplaceAll(h.send(http.MethodPost, "/api/import/file?format=mal&user=XYZ", nil, mira.bySession()...).body, "XYZ", "X") {
			t.Errorf("an import for %s answers %s", user, got.body)
		}
	}
	for _, as := range [][]string{mira.bySession(), mira.byKey()} {
		for _, path := range []string{"/api/tasks", "/api/unwatched", "/api/stats", fmt.Sprintf("/api/tasks/%d", own.task),
			fmt.Sprintf("/api/accounts/%d/snapshots", mira.account), fmt.Sprintf("/api/snapshots/%d/diff?to=%d", own.older, own.snapshot),
			fmt.Sprintf("/api/accounts/%d/entries/8", mira.account), fmt.Sprintf("/api/accounts/%d/export", mira.account),
			fmt.Sprintf("/api/accounts/%d/export?format=watches", mira.account)} {
			got := h.send("GET", path, nil, as...).want(200)
			if strings.Contains(got.body, "alex") {
				t.Errorf("%s of mira tells %s", path, got.body)
			}
			if whose := strings.Contains(got.body, "mira"); !whose && !strings.Contains(path, "stats") && !strings.Contains(path, "/snapshots") {
				t.Errorf("%s of mira has nothing of hers: %s", path, got.body)
			}
		}
	}
	h.send("GET", "/api/stats", nil, mira.byKey()...).want(200, `"success":1`, `"sources":[]`)
	h.do("GET", "/api/stats", nil).want(200, `"success":2`, `"source":"plex"`)
	h.do("GET", "/api/tasks", nil).want(200, "alex", "mira", fmt.Sprintf(`"person_id":%d`, alex.id))
	if all := h.follows(theirs.task); !strings.Contains(all, "a line of the log") {
		t.Errorf("the owner follows %s", all)
	}
	for _, as := range [][]string{mira.bySession(), mira.byKey()} {
		if all := h.follows(own.task, as...); strings.Contains(all, "a line of the log") || !strings.Contains(all, "mira") {
			t.Errorf("the person follows %s", all)
		}
	}

	// What the owner does is not the person's to see, and what a person did is lost to the owner with them alone.
	var owners int64
	h.do("POST", "/api/undo", spanOf(map[string]any{"dry_run": true})).want(202).pick(map[string]any{"task_id": &owners})
	h.send("GET", fmt.Sprintf("/api/tasks/%d", owners), nil, mira.bySession()...).problem(404)
	h.send("POST", fmt.Sprintf("/api/tasks/%d/cancel", owners), nil, mira.bySession()...).problem(404)

	// One's own undo looks at one's own list alone.
	var mine int64
	h.send("POST", "/api/undo", spanOf(map[string]any{"dry_run": true}), mira.bySession()...).want(202).pick(map[string]any{"task_id": &mine})
	if all := h.follows(mine, mira.bySession()...); !strings.Contains(all, `"lists":1`) || strings.Contains(all, "alex") {
		t.Errorf("the undo of mira looks at %s", all)
	}
	h.send("DELETE", fmt.Sprintf("/api/snapshots/%d", own.older), nil, mira.bySession()...).want(204)
	h.send("DELETE", fmt.Sprintf("/api/accounts/%d/entries/8/word", mira.account), nil, mira.bySession()...).want(204)
	if open := h.rows("asked_words"); strings.Count(open, "|0|\n") != 1 {
		t.Errorf("the questions are\n%s", open)
	}
	h.send("POST", "/api/unwatched", map[string]any{"record_ids": []int64{own.record, theirs.record}, "take_back": false}, mira.bySession()...).want(202).pick(map[string]any{"task_id": &mine})
	if all := h.follows(mine, mira.bySession()...); !strings.Contains(all, `"state":"done"`) {
		t.Errorf("the answer of mira ends as %s", all)
	}
	if left := h.rows("unwatched"); !strings.HasPrefix(left, fmt.Sprint(theirs.record)) || strings.Count(left, "\n") != 1 {
		t.Errorf("what waits for a word is\n%s", left)
	}
}

// follows is what a stream of a task tells somebody, to its end.
func (h *house) follows(id int64, headers ...string) (told string) {
	h.t.Helper()
	status, all := h.events(fmt.Sprintf("/api/tasks/%d/stream", id), "", 1000, headers...)
	if status != http.StatusOK {
		h.t.Errorf("the stream of task %d answers %d", id, status)
	}
	for _, one := range all {
		told += one.name + " " + one.data + "\n"
	}
	return told
}

// spanOf is a body of an undo of the last hour.
func spanOf(more map[string]any) map[string]any {
	more["since"], more["until"] = time.Now().Add(-time.Hour).Format(time.RFC3339), time.Now().Add(time.Hour).Format(time.RFC3339)
	return more
}

// An entry that came has nothing before, and one that went nothing after; the document says so.
func TestTheDocumentOfADiffAllowsNull(t *testing.T) {
	t.Parallel()
	for name, fits := range map[string]bool{"before": true, "after": true, "marked": false} {
		schemas := served()["components"].(map[string]any)["schemas"].(map[string]any)
		held := &checker{}
		held.check(name, schemas["Change"].(map[string]any)["properties"].(map[string]any)[name].(map[string]any), nil)
		if (len(held.problems) == 0) != fits {
			t.Errorf("%s that is null: %v", name, held.problems)
		}
	}
}
