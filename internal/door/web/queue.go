package web

import (
	"slices"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/engine/queue"
	"watchmark/internal/platform/settings"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
)

// Queue is the page of the marks that wait for the catalog.
type Queue struct {
	Queue        *queue.Queue
	Scheduler    func() queue.Standing
	Reachability func() catalog.Reachability // of the catalog, without asking it
	Settings     *settings.Manager
	Tasks        *task.Registry
}

type queuePage struct {
	Catalog   catalog.Reachability
	Display   display
	Scheduler queue.Standing
	// Refresh is in how many seconds the page is to be fetched anew.
	Refresh int
	Tabs    []tab
	// Waiting is how many marks wait.
	Waiting int
	Status  queue.Status
	Entries []queueEntry
	// MaxRetries is after how many failed tries a mark is given up.
	MaxRetries int
	// Next and First are paths of this list; empty when there is nothing there.
	Next  string
	First string
	// Running is how many tasks run.
	Running int
}

type queueEntry struct {
	queue.Entry
	Display display
	// Of is a record of its episode, for the label.
	Of record.Record
	// Due is when it is tried again; nil when it waits for something else than time.
	Due *time.Time
}

// queueStates are the states in the order of the tabs.
var queueStates = []queue.Status{queue.Pending, queue.Abandoned, queue.Synced}

const (
	// queueShown is how many marks a page shows.
	queueShown = 50
	// The page is fetched anew after so many seconds, during an outage and otherwise: the state of the catalog and of
	// the scheduler changes without a change of any record.
	refreshOutage = 5
	refreshQueue  = 20
)

// list shows the marks that wait, and the state of the catalog and the scheduler.
func (g Queue) list(r *request) (content, error) {
	ctx := r.Context()
	counts, err := g.Queue.Counts(ctx)
	if err != nil {
		return content{}, err
	}
	page := queuePage{
		Catalog: g.Reachability(), Scheduler: g.Scheduler(), Refresh: refreshQueue, Waiting: counts[queue.Pending], Status: queue.Pending,
		MaxRetries: g.Settings.Current().CatalogReplay.MaxRetries,
	}
	if status := queue.Status(r.URL.Query().Get("status")); slices.Contains(queueStates, status) {
		page.Status = status
	}
	switch {
	case !page.Catalog.Reachable:
		page.Display, page.Refresh = display{"warn", "triangle-alert", "queue.silent"}, refreshOutage
	case page.Waiting > 0 && !page.Scheduler.Enabled:
		page.Display = display{"warn", "hourglass", "queue.behind_off"}
	case page.Waiting > 0:
		page.Display = display{"warn", "hourglass", "queue.behind"}
	case page.Status == queue.Abandoned && counts[queue.Abandoned] > 0:
		page.Display = display{"warn", "triangle-alert", "queue.given_up"}
	case page.Catalog.Answered.IsZero():
		page.Display = display{"quiet", "circle", "queue.unasked"}
	default:
		page.Display = display{"good", "circle-check", "queue.answers"}
	}
	for _, status := range queueStates {
		page.Tabs = append(page.Tabs, tab{queuePath(status, 0), "queue.tab." + string(status), counts[status], status == page.Status})
	}
	after := cursor(r, "after")
	entries, next, err := g.Queue.List(ctx, queue.Filter{Status: page.Status, Newest: page.Status != queue.Pending, After: after, Limit: queueShown})
	if err != nil {
		return content{}, err
	}
	for _, e := range entries {
		page.Entries = append(page.Entries, page.entry(e, time.Now()))
	}
	if next > 0 {
		page.Next = queuePath(page.Status, next)
	}
	if after > 0 {
		page.First = queuePath(page.Status, 0)
	}
	runs, err := g.Tasks.Running(r.Context())
	if err != nil {
		return content{}, err
	}
	page.Running = len(runs)
	return content{Data: page}, nil
}

// entry is a mark with the reason why it waits.
func (p queuePage) entry(e queue.Entry, now time.Time) queueEntry {
	v := queueEntry{Entry: e, Of: record.Record{MediaType: e.MediaType, Season: e.Season, Episode: e.Episode}}
	switch {
	case e.Status == queue.Synced:
		v.Display = display{"good", "circle-check", "queue.is.synced"}
	case e.InWork:
		v.Display = display{"busy", "loader", "queue.is.in_work"}
	case e.Status == queue.Abandoned:
		v.Display = display{"bad", "circle-x", "queue.is.abandoned"}
	case e.Held:
		v.Display = display{"warn", "users", "queue.is.held"}
	case !p.Scheduler.Enabled:
		v.Display = display{"warn", "power", "queue.is.off"}
	case !p.Catalog.Reachable:
		v.Display = display{"warn", "hourglass", "queue.is.silent"}
	case e.NextAttempt.After(now):
		v.Display, v.Due = display{"warn", "hourglass", "queue.is.resting"}, &e.NextAttempt
	default:
		v.Display = display{"warn", "hourglass", "queue.is.due"}
	}
	return v
}

// queuePath is the path of the marks in one state, from a cursor on.
func queuePath(status queue.Status, after int64) string {
	fields := map[string]string{}
	if status != queue.Pending {
		fields["status"] = string(status)
	}
	return fromCursor("/records/queue", fields, "after", after)
}
