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
	// ErrNoRestore is returned for a task that brought nothing back.
	ErrNoRestore = reason.New("restore_not_found", "this task brought nothing back, or did so long ago", "该任务没有恢复任何内容，或时间太久").For(reason.NotFound)
	// ErrRestoring is returned for a task that is to go on yet.
	ErrRestoring    = reason.New("restore_running", "the task is not at its end yet: wait for it, or cancel it", "该任务尚未结束：请等它结束，或取消它").For(reason.Conflict)
	cannotRemove    = reason.New("restore_added_since", "it was added since, and programs cannot remove an entry from Bangumi: do that on the website", "此后新增的条目：程序无法从 Bangumi 移除条目，请在网站上操作")
	broughtBack     = reason.New("restore_done", "{done} of {total} entries brought back", "已恢复 {done} / {total} 个条目")
	lookedAt        = reason.New("restore_looked_at", "{done} of {total} entries looked at", "已查看 {done} / {total} 个条目")
	waitsForBangumi = reason.New("restore_waits", "Bangumi is asked again in a while: {cause}", "稍后会再次请求 Bangumi：{cause}")
	errNoListFile   = reason.New("snapshot_file_other", "this is no list that Watchmark took out: choose the file that “JSON” gave", "这不是 Watchmark 导出的列表：请选择由“JSON”导出的文件").For(reason.Invalid)
	errFileNewer    = reason.New("snapshot_file_newer", "the file was taken out by a newer Watchmark: update this one first", "该文件由更新版本的 Watchmark 导出：请先升级").For(reason.Invalid)
	errFileTime     = reason.New("snapshot_file_time", "the file says that it was taken out at a time that cannot be", "文件中的导出时间不可能存在").For(reason.Invalid)
	fileBroken      = reason.New("snapshot_file_broken", "the file cannot be read: {cause}. Take it as it was taken out.", "无法读取文件：{cause}。请原样使用导出的文件。").For(reason.Invalid)
	fileEntryWrong  = reason.New("snapshot_file_entry", "entry {number} of the file is wrong or stands in it twice: take the file as it was taken out", "文件中的第 {number} 个条目有误或重复：请原样使用导出的文件").For(reason.Invalid)
	fileTooMany     = reason.New("snapshot_file_rows", "the file has more than {most} entries", "文件超过 {most} 个条目").For(reason.Invalid)
	fileOfAnother   = reason.New("snapshot_file_account", "the file is the list of {owner}, and this is the account {name}: say that it may be of another account to take it all the same", "该文件是 {owner} 的列表，而此账号是 {name}：如仍要使用，请勾选允许其他账号的列表").For(reason.Conflict)
	readingListOf   = reason.New("snapshot_list_of", "reading the list of {name}", "正在读取 {name} 的列表")
	listOf          = reason.New("snapshot_problem_of", "{name}: {cause}", "{name}：{cause}")
	listRead        = reason.New("snapshot_list_read", "{read} of {total} entries read", "已读取 {read} / {total} 个条目")
	marksRead       = reason.New("snapshot_marks_read", "marks of {read} of {total} entries read", "已读取 {read} / {total} 个条目的标记")
)
