package api_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// setBack gives somebody a record that marked an episode and waits for a word about it.
func (h *house) setBack(i *inhabitant, episode float64) (id int64) {
	h.t.Helper()
	err := h.db.Write(h.t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		season := 1
		e := watch.Event{Source: watch.Plex, Action: watch.Watched, Media: watch.Episode, Title: "show of " + i.name, Season: &season, Episode: &episode, UserName: i.name}
		ids, err := record.InsertAll(ctx, tx, []watch.Event{e}, false, i.account, time.Now())
		if err != nil {
			return err
		}
		id = ids[0]
		return errors.Join(record.SettleTx(ctx, tx, record.Outcome{RecordID: id, AccountID: i.account, Status: record.Success, SubjectID: 8, Mark: &record.Written{}, Trace: []byte(`{}`)}),
			record.UnwatchTx(ctx, tx, i.account, ids, time.Now()), record.AskUnwatchedTx(ctx, tx, ids, time.Now()))
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return id
}

// The pages of what was set back follow each other without a gap or a repetition, whoever reads and however long a page is: by account for
// the owner, and of one's own alone for a person.
func TestWhatWasSetBackIsPaged(t *testing.T) {
	h := newHouse(t)
	mira, alex := h.people["mira"], h.people["alex"]
	var hers, his []int64
	for n := range 5 { // in turns, so that no order of records is that of people
		his = append(his, h.setBack(alex, float64(n+1)))
		hers = append(hers, h.setBack(mira, float64(n+1)), h.setBack(mira, float64(n+10)))
	}
	everything := slices.Concat(hers, his)
	pages := func(query string, as ...string) (ids []int64, first string) {
		t.Helper()
		for cursor := ""; ; {
			page := h.send("GET", "/api/unwatched?"+query+"&cursor="+cursor, nil, as...).want(200)
			for _, item := range page.get("items").([]any) {
				ids = append(ids, int64(item.(map[string]any)["record_id"].(float64)))
			}
			if cursor = page.get("next_cursor").(string); first == "" {
				first = cursor
			}
			if cursor == "" {
				return ids, first
			}
			if len(ids) > 100 {
				t.Fatalf("%s never ends: %v", query, ids)
			}
		}
	}
	for _, c := range []struct {
		name string
		as   []string
		want []int64
	}{
		{"the owner", []string{"Authorization", "Bearer " + h.key}, everything}, {"mira by session", mira.bySession(), hers}, {"mira by key", mira.byKey(), hers}, {"alex", alex.byKey(), his},
	} {
		for _, query := range []string{"limit=1", "limit=2", "limit=3", fmt.Sprintf("limit=%d", len(c.want)), fmt.Sprintf("limit=%d", len(c.want)-1), "limit=200", ""} {
			if got, first := pages(query, c.as...); !slices.Equal(got, c.want) || (first == "") != (query == "" || query == "limit=200" || query == fmt.Sprintf("limit=%d", len(c.want))) {
				t.Errorf("%s reads %v by %q, the second page from %q, not %v", c.name, got, query, first, c.want)
			}
		}
		for _, query := range []string{"limit=0", "limit=201", "cursor=-1", "cursor=0", "cursor=x", "cursor=99999999999999999999"} {
			h.send("GET", "/api/unwatched?"+query, nil, c.as...).problem(422)
		}
	}
	// What the page before ended with may be answered meanwhile.
	_, cursor := pages("limit=3", mira.bySession()...)
	var task int64
	h.send("POST", "/api/unwatched", map[string]any{"record_ids": hers[1:4], "take_back": false}, mira.bySession()...).want(202).pick(map[string]any{"task_id": &task})
	h.follows(task, mira.bySession()...)
	rest := h.send("GET", "/api/unwatched?cursor="+cursor, nil, mira.bySession()...).want(200)
	if items := rest.get("items").([]any); len(items) != len(hers)-4 || int64(items[0].(map[string]any)["record_id"].(float64)) != hers[4] {
		t.Errorf("after an answer the second page is %v", items)
	}
	h.anonymous("GET", "/api/unwatched", nil).problem(401)
}
