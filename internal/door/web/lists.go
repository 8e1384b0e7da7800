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

// pagerOf is the pager of the list at path with the query fields, whose page begins at the cursor before and ends at
// next; 0 is the beginning and the end of the list.
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

// tab leads to a page of the same door, or to the part of a list in one state.
type tab struct {
	Path    string
	Key     string
	Count   int
	Current bool
}

// row is a row of tabs, with the text key of what they are.
type row struct {
	Label string
	Tabs  []tab
}

// tile counts the things in a state and leads to them.
type tile struct {
	display
	Count int
	Path  string
}

// cursor is the cursor in the query of a request; 0, the beginning of the list, when it is missing or invalid.
func cursor(r *request, name string) int64 {
	at, err := strconv.ParseInt(r.URL.Query().Get(name), 10, 64)
	if err != nil {
		return 0
	}
	return max(at, 0)
}

// fromCursor is withQuery with the cursor at under name; 0, the beginning of the list, is left out.
func fromCursor(path string, fields map[string]string, name string, at int64) string {
	if at > 0 {
		fields[name] = strconv.FormatInt(at, 10)
	}
	return withQuery(path, fields)
}

// withQuery is path with the fields as query. Empty fields are left out.
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
