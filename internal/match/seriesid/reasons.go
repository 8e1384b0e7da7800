package seriesid

import "watchmark/internal/platform/reason"

// Where remembered ids come from.
var (
	fromImport = reason.New("series_ids_imported", "learned from the import of {server} on {day}", "来自 {day} 对 {server} 的导入")
	fromEvent  = reason.New("series_ids_told", "learned from an earlier event of {server} on {day}", "来自 {server} 在 {day} 的事件")
)
