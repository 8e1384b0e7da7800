package api

import (
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/platform/reason"
)

// Page is one page of a list. Items is never null; NextCursor is empty on the last page.
type Page[T any] struct {
	Items      []T    `json:"items"`
	NextCursor string `json:"next_cursor" doc:"Give it as cursor to get the next page; empty on the last one."`
}

// PageQuery are the parameters that every list takes.
type PageQuery struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"How many items to answer at most."`
	Cursor string `query:"cursor" maxLength:"20" doc:"The next_cursor of the page before; leave it out for the first page."`
	// seen is what the cursor stands for: the id of the last item seen, or a count of items seen. 0 is the first page.
	seen int64
}

// Resolve reads the cursor; the library calls it.
func (q *PageQuery) Resolve(huma.Context) []error {
	if q.Cursor == "" {
		return nil
	}
	var err error
	if q.seen, err = strconv.ParseInt(q.Cursor, 10, 64); err != nil || q.seen < 1 {
		return []error{reason.At("query.cursor", badCursor)}
	}
	return nil
}

// cursorOf is the cursor for a position; 0 is no further page.
func cursorOf(position int64) string {
	if position == 0 {
		return ""
	}
	return strconv.FormatInt(position, 10)
}

// paged answers a page of a list that is whole in memory; its cursors count items. An error passes.
func paged[T any](q PageQuery, all []T, err error) (*JSON[Page[T]], error) {
	from := min(q.seen, int64(len(all)))
	to := min(from+int64(q.Limit), int64(len(all)))
	page := Page[T]{Items: append([]T{}, all[from:to]...)}
	if to < int64(len(all)) {
		page.NextCursor = cursorOf(to)
	}
	return answer(page, err)
}
