package record

import "watchmark/internal/platform/reason"

// The errors a caller branches on.
var (
	// ErrNotFound is returned when no record (or no trace) has the id asked for.
	ErrNotFound = reason.New("record_not_found", "there is no such record", "没有这条记录").For(reason.NotFound)
	// ErrMoved is returned when a record is in another state than the caller thought.
	ErrMoved = reason.New("record_moved", "the state of the record has changed meanwhile", "这条记录的状态已改变")
)

var eventUnreadable = reason.New("event_unreadable",
	"the stored event cannot be read: was the database changed by hand, or by a newer version?",
	"无法读取保存的事件：数据库是否被手动修改过，或被更新的版本写入过？")
