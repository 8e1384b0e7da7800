package api

import "strconv"

// Page is one page of a list. Items is never null; NextCursor is empty on the last page.
type Page[T any] struct {
	Items      []T    `json:"items"`
	NextCursor string `json:"next_cursor" doc:"Give it as cursor to get the next page; empty on the last one."`
}

// PageQuery are the parameters that every list takes.
type PageQuery struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"How many items to answer at most."`
	Cursor string `query:"cursor" maxLength:"20" doc:"The next_cursor of the page before; leave it out for the first page."`
}

// position is what the cursor stands for: the id of the last item seen, or a count of
// items seen. 0 is the first page. The error is a Problem.
func (q PageQuery) position() (int64, error) {
	if q.Cursor == "" {
		return 0, nil
	}
	position, err := strconv.ParseInt(q.Cursor, 10, 64)
	if err != nil || position < 1 {
		return 0, fieldProblem("query.cursor", "this is no next_cursor of an earlier page")
	}
	return position, nil
}

// cursorOf is the cursor for a position; 0 is no further page.
func cursorOf(position int64) string {
	if position == 0 {
		return ""
	}
	return strconv.FormatInt(position, 10)
}

// pageOf cuts a page out of a list that is whole in memory; its cursors count items.
func pageOf[T any](all []T, q PageQuery) (Page[T], error) {
	start, err := q.position()
	if err != nil {
		return Page[T]{}, err
	}
	from := min(start, int64(len(all)))
	to := min(from+int64(q.Limit), int64(len(all)))
	page := Page[T]{Items: append([]T{}, all[from:to]...)}
	if to < int64(len(all)) {
		page.NextCursor = cursorOf(to)
	}
	return page, nil
}
