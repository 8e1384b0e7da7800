package web

import (
	"net/url"
	"strconv"
)

// pager leads through a list that is longer than a page.
type pager struct {
	// Older and Newest are paths of the list, with its filter; empty when there is nothing there.
	Older, Newest string
}

// pagerOf leads on to next, and back to the newest unless the page begins with them. fields are the filter.
func pagerOf(path string, fields map[string]string, before, next int64) pager {
	var p pager
	if before > 0 {
		p.Newest = withQuery(path, fields)
	}
	if next > 0 {
		p.Older = fromCursor(path, fields, "before", next)
	}
	return p
}

// tab leads to the part of a list in one state.
type tab struct {
	Path    string
	Key     string
	Count   int
	Current bool
}

// tile is how many things are in a state, and leads to them.
type tile struct {
	display
	Count int
	Path  string
}

// cursor is where the list of a request goes on by its query; 0 is the beginning, and what is no cursor.
func cursor(r *request, name string) int64 {
	at, err := strconv.ParseInt(r.URL.Query().Get(name), 10, 64)
	if err != nil {
		return 0
	}
	return max(at, 0)
}

// fromCursor is path with those fields that are not empty, from the cursor at on; 0 is the beginning.
func fromCursor(path string, fields map[string]string, name string, at int64) string {
	if at > 0 {
		fields[name] = strconv.FormatInt(at, 10)
	}
	return withQuery(path, fields)
}

// withQuery is path with those fields that are not empty.
func withQuery(path string, fields map[string]string) string {
	q := url.Values{}
	for name, value := range fields {
		if value != "" {
			q.Set(name, value)
		}
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}
