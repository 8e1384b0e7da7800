package rowread

import "watchmark/internal/platform/reason"

var (
	// Encoding is the error of a file that is not in UTF-8.
	Encoding = reason.New("file_encoding", "the file is not in UTF-8: send it as you got it, or save it as UTF-8", "文件不是 UTF-8 编码：请原样上传，或另存为 UTF-8").For(reason.Invalid)
	// RowLarge is that of a row that is too large.
	RowLarge = reason.New("file_row_large", "one row of the file is larger than {size} MiB", "文件中有一行大于 {size} MiB").For(reason.Invalid)
)
