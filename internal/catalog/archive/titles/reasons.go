package titles

import (
	"watchmark/internal/platform/reason"
)

var (
	creating = reason.New("titles_create", "create the title index: {cause}", "创建标题索引：{cause}")
	writing  = reason.New("titles_write", "write the title index: {cause}", "写入标题索引：{cause}")
	opening  = reason.New("titles_open", "open the title index: {cause}", "打开标题索引：{cause}")
	reading  = reason.New("titles_read", "read the title index: {cause}", "读取标题索引：{cause}")
)

// ErrDamaged is returned for an index that cannot be read.
var ErrDamaged = reason.New("titles_damaged", "the title index is damaged", "标题索引已损坏")
