package importer

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/match/seriesid"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/watch"
)

const (
	// aheadMost is how many records of an import may wait for the engine: whatever else is
	// watched meanwhile waits behind no more.
	aheadMost = 200
	// lookEvery is how often the records on their way are looked at.
	lookEvery = 200 * time.Millisecond
)

// Result is what an import brought.
type Result struct {
	Server  string                `json:"server"`
	User    string                `json:"user"`
	Taken   int                   `json:"taken" doc:"Items that became records."`
	Known   int                   `json:"known" doc:"Items that were imported before."`
	Records map[record.Status]int `json:"records" doc:"How many records of this import have each status; received and processing are on their way."`
	Skipped
}

// run takes in everything that was not imported before, and waits for what it becomes. After
// a cancel the records that are there go on by themselves.
func (h *history) run(ctx context.Context, t *task.Task) error {
	r := running{history: h, t: t, Result: Result{Server: h.serverName, User: h.userName, Records: map[record.Status]int{}, Skipped: Skipped{Some: []SkippedBy{}}}}
	defer func() {
		for _, id := range r.onWay {
			r.Records[cmp.Or(r.last[id], record.Received)]++
		}
		t.SetResult(r.Result)
	}()
	shows := func(some []mediaserver.Show) error {
		series := make([]seriesid.Series, len(some))
		for i, show := range some {
			series[i] = seriesid.Series{Source: h.kind, Server: h.server, ID: show.ID, Title: show.Title, Original: show.Original, Year: show.Year, IDs: show.IDs}
		}
		return h.Remember(ctx, series)
	}
	err := h.read(ctx, shows, func(library string, items []watched, left int) error {
		r.where, r.total = library, r.done+len(items)+left
		return r.take(ctx, items)
	})
	if err != nil {
		return err
	}
	return r.wait(ctx, 0)
}

// running is an import under way.
type running struct {
	*history
	t *task.Task
	Result
	// onWay are the records that have not come to their end, last what they were when looked at; a
	// record that was not looked at yet was received.
	onWay       []int64
	last        map[int64]record.Status
	where       string
	done, total int
}

// take stores what is new of some items, and then lets the engine come near.
func (r *running) take(ctx context.Context, items []watched) error {
	known, err := r.known(ctx, items)
	if err != nil {
		return err
	}
	r.done += len(items)
	items = slices.DeleteFunc(items, func(i watched) bool {
		switch {
		case known[i.id]:
			r.Known++
		case len(i.events) == 0:
			r.add(i)
		default:
			return false
		}
		return true
	})
	var events []watch.Event
	for _, item := range items {
		events = append(events, item.events...)
	}
	ids, err := r.Intake.Take(ctx, events, func(ctx context.Context, tx *sql.Tx, ids []int64) error {
		for _, item := range items {
			if err := r.noteTx(ctx, tx, item.id, ids[0]); err != nil {
				return err
			}
			ids = ids[len(item.events):]
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.Taken += len(items)
	r.onWay = append(r.onWay, ids...)
	return r.wait(ctx, aheadMost)
}

// wait looks at the records on their way until there are no more than most.
func (r *running) wait(ctx context.Context, most int) error {
	for {
		last, err := r.Statuses(ctx, r.onWay)
		if err != nil {
			return err
		}
		r.last = last
		r.onWay = slices.DeleteFunc(r.onWay, func(id int64) bool {
			status, there := r.last[id]
			if there && status.IsOnTheWay() {
				return false
			}
			if there {
				r.Records[status]++
			}
			return true
		})
		r.t.Progress(r.done-min(len(r.onWay), r.done), max(r.total, r.done), takenIn.With(r.where, r.Taken, len(r.onWay)))
		if len(r.onWay) <= most {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lookEvery):
		}
	}
}

// known reports which of some items became records already.
func (h *history) known(ctx context.Context, items []watched) (map[string]bool, error) {
	ids := make([]string, len(items))
	for i, item := range items {
		ids[i] = item.id
	}
	known, err := h.taken(ctx, ids)
	if err != nil {
		return nil, err
	}
	list, args := db.In(ids)
	err = db.Each(ctx, h.DB.Read(), "look for imported items", func(row db.Row) error {
		var id string
		err := row.Scan(&id)
		known[id] = true
		return err
	}, `SELECT item_id FROM imported_items WHERE source = ? AND server_id = ? AND user_id = ? AND item_id IN `+list,
		append([]any{h.kind, h.server, h.user}, args...)...)
	return known, err
}

// noteTx stores that an item was imported.
func (h *history) noteTx(ctx context.Context, tx *sql.Tx, item string, recordID int64) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO imported_items (source, server_id, user_id, item_id, record_id) VALUES (?, ?, ?, ?, ?)`,
		h.kind, h.server, h.user, item, recordID)
	if err != nil {
		return fmt.Errorf("note an imported item: %w", err)
	}
	return nil
}
