package snapshot

import "watchmark/internal/platform/reason"

var (
	// ErrRunning is returned while the list of the account is being read.
	ErrRunning = reason.New("snapshot_running", "the list is being read already: wait for it, or cancel its task", "正在读取该列表：请等它结束，或取消该任务").For(reason.Conflict)
	// ErrNotFound is returned for a snapshot that is not there.
	ErrNotFound = reason.New("snapshot_not_found", "there is no such snapshot", "没有这个快照").For(reason.NotFound)
	// ErrNone is returned where a list was not read yet.
	ErrNone = reason.New("snapshot_none", "this list was not read yet: take a snapshot first", "还没有读取过该列表：请先创建快照").For(reason.Conflict)
	// ErrOtherAccount is returned for two snapshots that are not of one list.
	ErrOtherAccount = reason.New("snapshot_other_account", "the two snapshots are of different lists", "两个快照属于不同的列表").For(reason.Invalid)
	readingListOf   = reason.New("snapshot_list_of", "reading the list of {name}", "正在读取 {name} 的列表")
	listOf          = reason.New("snapshot_problem_of", "{name}: {cause}", "{name}：{cause}")
	listRead        = reason.New("snapshot_list_read", "{read} of {total} entries read", "已读取 {read} / {total} 个条目")
	marksRead       = reason.New("snapshot_marks_read", "marks of {read} of {total} entries read", "已读取 {read} / {total} 个条目的标记")
)
