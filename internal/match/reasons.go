package match

import "watchmark/internal/platform/reason"

// opSearch is what was done when only the whole of a search says that it failed.
var opSearch = reason.New("match_search", "search", "搜索")
