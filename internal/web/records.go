package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"watchmark/internal/record"
	"watchmark/internal/watch"
)

type recordsPage struct {
	Filter   record.Filter
	Statuses []record.Status
	Sources  []watch.Source
	Users    []string
	Records  []record.Record
	// Older and Newest are paths of this list, with the filter; empty when there is nothing there.
	Older  string
	Newest string
	// RetryPath is where the API runs all failed records of the filter again; empty unless
	// failed ones are listed.
	RetryPath string
}

// Filtered reports whether something restricts the list.
func (p recordsPage) Filtered() bool {
	return p.Filter.Status != "" || p.Filter.Source != "" || p.Filter.User != "" || p.Filter.Text != ""
}

// records lists records. What a filter in the address cannot mean is left out.
func (s *site) records(r *http.Request) (content, error) {
	q := r.URL.Query()
	f := record.Filter{User: q.Get("user"), Text: q.Get("q")}
	if status := record.Status(q.Get("status")); slices.Contains(record.Statuses, status) {
		f.Status = status
	}
	if source := watch.Source(q.Get("source")); slices.Contains(watch.Sources, source) {
		f.Source = source
	}
	if before, err := strconv.ParseInt(q.Get("before"), 10, 64); err == nil && before > 0 {
		f.Before = before
	}
	users, err := s.Records.UserNames(r.Context())
	if err != nil {
		return content{}, err
	}
	if f.User != "" && !slices.Contains(users, f.User) {
		users = append(users, f.User)
	}
	list, next, err := s.Records.List(r.Context(), f)
	if err != nil {
		return content{}, err
	}
	page := recordsPage{Filter: f, Statuses: record.Statuses, Sources: watch.Sources, Users: users, Records: list}
	if next > 0 {
		page.Older = listPath(f, next)
	}
	if f.Before > 0 {
		page.Newest = listPath(f, 0)
	}
	if f.Status == record.Failed && len(list) > 0 {
		of := f
		of.Status = ""
		page.RetryPath = "/api" + strings.Replace(listPath(of, 0), "/records", "/records/retry", 1)
	}
	return content{Title: "records.title", Data: page}, nil
}

// listPath is the path of the list with a filter, from a cursor on.
func listPath(f record.Filter, before int64) string {
	q := url.Values{}
	for name, value := range map[string]string{"status": string(f.Status), "source": string(f.Source), "user": f.User, "q": f.Text} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if before > 0 {
		q.Set("before", strconv.FormatInt(before, 10))
	}
	if len(q) == 0 {
		return "/records"
	}
	return "/records?" + q.Encode()
}
