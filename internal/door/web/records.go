package web

import (
	"context"
	"net/url"
	"slices"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/engine/review"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/source"
	"watchmark/internal/watch"
)

// Records are the pages of the records.
type Records struct {
	Records   *record.Store
	Questions *review.Store
	Accounts  *account.Store
	Requests  *webhooklog.Log
	Tasks     *task.Registry
	WhoAre    whoAre
}

type recordsPage struct {
	Filter record.Filter
	// From and To are the first and the last day of the list in the time zone Zone; an empty one is no limit. An empty
	// Zone is the zone of the service.
	From, To, Zone string
	Statuses       []record.Status
	Sources        []watch.Source
	Users          []string
	Records        []record.Record
	// Unrouted are the users without an account, whose records are not in the list unless it is filtered by them.
	// Ignored are the users whose records are ignored.
	Unrouted unroutedList
	Ignored  []account.IgnoredUser
	pager
	// RetryPath is the path of the API that retries all failed records of the filter; empty unless failed records are
	// listed.
	RetryPath string
	// RunningTask is the task that retries failed records; 0 when none runs.
	RunningTask int64
}

// Filtered reports whether something restricts the list.
func (p recordsPage) Filtered() bool {
	return p.Filter.Status != "" || p.Filter.Source != "" || p.Filter.User != "" || p.Filter.Text != "" || p.From != "" || p.To != "" || p.Filter.Rewatch
}

// Narrowed reports whether a filter is set that is folded away on a phone.
func (p recordsPage) Narrowed() bool {
	p.Filter.Text = ""
	return p.Filtered()
}

// list shows records. Unknown values of the filter are ignored.
func (g Records) list(r *request) (content, error) {
	q := r.URL.Query()
	f := record.Filter{Rewatch: q.Get("rewatch") != "", User: q.Get("user"), Text: q.Get("q"), Before: cursor(r, "before")}
	if status := record.Status(q.Get("status")); slices.Contains(record.Statuses, status) {
		f.Status = status
	}
	if src := watch.Source(q.Get("source")); slices.Contains(source.All, src) {
		f.Source = src
	}
	page := recordsPage{Statuses: record.Statuses, Sources: source.All}
	var err error
	if page.RunningTask, err = g.Tasks.RunningOf(r.Context(), 0, retryFailedKind); err != nil {
		return content{}, err
	}
	page.readDays(&f, q)
	if f.User == "" && f.Text == "" && (f.Status == "" || f.Status == record.Failed) {
		f.Routed = true
		if err := g.withUnrouted(r.Context(), &page); err != nil {
			return content{}, err
		}
		page.Unrouted.Open = q.Has("unrouted")
	}
	users, err := g.Records.UserNames(r.Context())
	if err != nil {
		return content{}, err
	}
	if f.User != "" && !slices.Contains(users, f.User) {
		users = append(users, f.User)
	}
	list, next, err := g.Records.List(r.Context(), f)
	if err != nil {
		return content{}, err
	}
	page.Filter, page.Users, page.Records = f, users, list
	page.pager = page.pages(next)
	if f.Status == record.Failed && len(list) > 0 {
		page.RetryPath = page.retryPath()
	}
	return content{Data: page}, nil
}

// failed is how many records of the last days failed, with one for each user without an account.
func (g Records) failed(ctx context.Context) (int, error) {
	failed, err := g.Records.FailedLately(ctx, time.Now())
	if err != nil {
		return 0, err
	}
	unrouted, err := g.Records.CountUnrouted(ctx)
	return failed + unrouted, err
}

// withUnrouted adds the users without an account to a page.
func (g Records) withUnrouted(ctx context.Context, page *recordsPage) (err error) {
	if page.Unrouted, err = unroutedOf(ctx, g.Records, g.Accounts, g.WhoAre); err != nil {
		return err
	}
	page.Ignored, err = g.Accounts.Ignored(ctx)
	return err
}

// readDays adds the days of a query to the filter. They are days in the time zone of the reader, which the script adds
// to the query.
func (p *recordsPage) readDays(f *record.Filter, q url.Values) {
	zone := time.Local
	if named, err := time.LoadLocation(q.Get("zone")); err == nil && q.Get("zone") != "" {
		zone, p.Zone = named, q.Get("zone")
	}
	noon := func(day string) (time.Time, error) { return time.ParseInLocation(time.DateOnly+" 15", day+" 12", zone) }
	if from, err := noon(q.Get("from")); err == nil {
		f.Since, p.From = watch.DayStart(from, 0), q.Get("from")
	}
	if to, err := noon(q.Get("to")); err == nil {
		f.Until, p.To = watch.DayStart(to, 1), q.Get("to")
	}
}

// pages is the pager of this list; next is the cursor of the next page.
func (p recordsPage) pages(next int64) pager {
	fields := map[string]string{"status": string(p.Filter.Status), "source": string(p.Filter.Source), "user": p.Filter.User, "q": p.Filter.Text,
		"from": p.From, "to": p.To, "zone": p.Zone}
	if p.Filter.Rewatch {
		fields["rewatch"] = "1"
	}
	return pagerOf("/records", fields, p.Filter.Before, next)
}

// retryPath is the path of the API that retries the failed records of this list.
func (p recordsPage) retryPath() string {
	fields := map[string]string{"source": string(p.Filter.Source), "user": p.Filter.User, "q": p.Filter.Text}
	if p.From != "" {
		fields["since"] = p.Filter.Since.Format(time.RFC3339)
	}
	if p.To != "" {
		fields["until"] = p.Filter.Until.Format(time.RFC3339)
	}
	return withQuery("/api/records/retry", fields)
}
