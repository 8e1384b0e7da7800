package web

import "watchmark/internal/platform/reason"

// errNoPage says that a page does not exist.
var errNoPage = reason.New("page_not_found", "no such page", "没有这个页面").For(reason.NotFound)
