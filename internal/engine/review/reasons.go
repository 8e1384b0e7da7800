package review

import "watchmark/internal/platform/reason"

// The errors a caller branches on.
var (
	// ErrNotFound says that there is no such question.
	ErrNotFound = reason.New("question_not_found", "there is no such question", "没有这个待确认项").For(reason.NotFound)
	// ErrAnswered is returned for an answer to a question that has one.
	ErrAnswered = reason.New("question_answered", "this question was answered already: undo that answer first", "此项已经答复：请先撤销那次答复").For(reason.Conflict)
	// ErrUnanswered is returned by Undo for a question that waits for its answer.
	ErrUnanswered = reason.New("question_unanswered", "this question has no answer yet, so there is nothing to undo", "此项尚未答复，没有可撤销的").For(reason.Conflict)
	// ErrNothingMarked is returned by Unmark for a record that wrote nothing to a list, or
	// whose mark was taken back already.
	ErrNothingMarked = reason.New("nothing_marked", "this record has no mark that could be taken back", "这条记录没有可撤回的标记").For(reason.Conflict)
	// ErrNotCorrected is returned by the undo of a correction for a record without one.
	ErrNotCorrected = reason.New("record_not_corrected", "this record has no correction that could be undone", "这条记录没有可撤销的更正").For(reason.Conflict)
	// ErrCorrecting is returned by Correct while another correction of the record runs.
	ErrCorrecting = reason.New("record_correcting", "this record is being corrected already", "这条记录正在更正").For(reason.Conflict)
	// ErrTaskRuns is returned by UndoWritings for a task that has not ended.
	ErrTaskRuns = reason.New("undo_task_runs", "the task is still running: wait for it or cancel it, then undo it", "该后台任务仍在运行：请等它结束或取消它，再撤销").For(reason.Conflict)
	// ErrNotAsked is returned by AnswerUnwatched for records that nobody is asked about.
	ErrNotAsked = reason.New("unwatched_not_asked", "nothing is asked about these records any more", "这些记录已没有待回答的问题").For(reason.Conflict)
	// ErrTapOver is returned for an answer from a notification that is not good any more, ErrTapChanged where what it showed is not so any more.
	ErrTapOver    = reason.New("tap_over", "this notification can no longer be answered: open Watchmark", "这条通知已不能直接回答：请打开 Watchmark").For(reason.NotFound)
	ErrTapChanged = reason.New("tap_changed", "this has changed since the notification: open Watchmark and look again", "通知之后情况有变：请打开 Watchmark 再看看").For(reason.Conflict)
	// ErrInWork is what an *InWorkError is.
	ErrInWork = reason.New("answer_in_work", "records of this answer are being processed: try again in a moment", "相关记录正在处理：请稍后再试").For(reason.Conflict)
)

// What was set back to unwatched.
var (
	setBackUnwatched  = reason.New("set_back_unwatched", "it was set back to unwatched on the media server", "已在媒体服务器上改回未看")
	unwatchedAnswered = reason.New("unwatched_answered", "{done} answered, {taken} taken back", "已回答 {done} 条，撤回 {taken} 条")
)

// What became of an answer from a notification.
var (
	tapConfirmed = reason.New("tap_confirmed", "{title} is {entry}", "《{title}》对应“{entry}”")
	tapMarking   = reason.New("tap_marking", "The episodes that wait are being marked.", "正在标记等待的集。")
	tapWaits     = reason.New("tap_waits", "{title} stays unmarked for now", "《{title}》暂不标记")
	tapAsked     = reason.New("tap_asked", "You are asked again at its next episode.", "播放下一集时会再次询问。")
	tapUnmarked  = reason.New("tap_unmarked", "Taken back: {what}", "已撤回：{what}")
	tapTakenBack = reason.New("tap_taken_back", "taken back from a notification", "已从通知中撤回")
)

// What is wrong with an answer or a correction.
var (
	answerMarked = reason.New("answer_marked", "{count} records have marks because of this answer: take them back first",
		"有 {count} 条记录因这次答复做了标记：请先撤回")
	noOffset = reason.New("no_offset",
		"special {special} and episode {episode} of the entry are not a whole number apart: mark the episode on Bangumi, and decide later here",
		"特别篇 {special} 与条目第 {episode} 集之差不是整数：请到 Bangumi 上标记，并在这里选择以后再说")
	episodeMapped = reason.New("episode_mapped", "{title:q} has a mapping for this very episode, which takes precedence: remove that mapping",
		"{title:q}已有专门针对这一集的映射，它优先：请删除那条映射")
	seasonMapped = reason.New("season_mapped",
		"{title:q} has a mapping for this very season, which takes precedence: leave every_season off, or remove that mapping",
		"{title:q}已有专门针对这一季的映射，它优先：请不要选择所有季，或删除那条映射")
	personMapped = reason.New("person_mapped", "the person whose record this is has a mapping of their own for {title:q}, which takes precedence: correct it for this person only",
		"这条记录所属的成员对{title:q}有自己的映射，它优先：请选择只对此人更正")
	entryHidden = reason.New("subject_hidden",
		"Bangumi does not show entry {subject}: it does not exist, or it is an adult entry, which only a signed-in account may see",
		"Bangumi 没有显示条目 {subject}：可能不存在，或是登录后才可见的成人条目")
	entryOfOtherType = reason.New("subject_of_other_kind", "entry {subject}, {name}, is neither anime nor live action",
		"条目 {subject}（{name}）既不是动画也不是真人作品")
)

// What happened to records and their marks. The reason of a mark that was taken back is a takenBackBecause, with why and what happened to it.
var (
	stillUnsure = reason.New("still_unsure",
		"the title was answered on the page Review, but it is still not certain: retry it; if that does not help, undo the answer, or correct this record",
		"此标题已在“待确认”页面答复，但仍不够确定：请重试；如果没有用，请撤销那次答复，或更正这条记录")
	answerUndone     = reason.New("answer_undone", "the answer about this title was undone", "此标题的答复已撤销")
	correctionUndone = reason.New("correction_undone", "the correction was undone", "更正已撤销")
	correctedTo      = reason.New("corrected", "corrected by hand to entry {subject}", "已手动更正为条目 {subject}")
	takenBackBecause = reason.New("mark_back", "{why}: {what}", "{why}：{what}")
	markLeft         = reason.New("mark_left", "the mark on the list of {account} stays, because record {record} needs it, too", "{account} 列表中的标记保留，因为记录 {record} 也需要它")
	entryDropped     = reason.New("entry_dropped", "the entry is set to dropped and private on the list of {account}, because Bangumi cannot remove it from a list", "{account} 列表中的该条目已设为“抛弃”并仅自己可见，因为 Bangumi 无法把它从列表中删除")
	entryStays       = reason.New("entry_stays", "the entry stays on the list of {account}, because it was changed since", "{account} 列表中的该条目保留，因为之后有过改动")
	entryOpened      = reason.New("subject_opened", "the entry is no longer completed on the list of {account}", "条目在 {account} 的列表中不再是“看过”")
	markOpened       = reason.New("mark_opened", "the mark was taken back from the list of {account}, and the entry is no longer completed there", "标记已从 {account} 的列表中撤回，条目不再是“看过”")
	entryFinished    = reason.New("subject_finished", "the entry is completed again on the list of {account}, as it was before the re-watch", "条目在 {account} 的列表中已恢复为重看之前的“看过”")
	entryKept        = reason.New("subject_kept", "the entry on the list of {account} stays as it is, for its state was changed since", "条目在 {account} 列表中的状态此后已改变，保持不变")
	entrySetBack     = reason.New("entry_set_back", "the entry on the list of {account} is in the state again that it had before", "{account} 列表中的该条目已恢复为之前的状态")
	markKept         = reason.New("mark_kept", "the mark on the list of {account} stays, because the person has set it since", "{account} 列表中的标记保留，因为之后由本人重新设置过")
	markRemoved      = reason.New("mark_removed", "the mark was taken back from the list of {account}", "标记已从 {account} 的列表中撤回")
)

// How an undo goes, and what the records say that lose their marks.
var (
	undoneSoFar     = reason.New("undone_so_far", "{back} marks taken back, {kept} kept", "已撤回 {back} 个标记，保留 {kept} 个")
	undoWaits       = reason.New("undo_waits", "waiting for {count} records of the task that are on their way", "正在等待该任务仍在处理的 {count} 条记录")
	undoUnreachable = reason.New("undo_unreachable", "Bangumi cannot be reached; {done} of {count} entries are done: start the undo again later, it goes on where it stopped",
		"无法连接 Bangumi；已完成 {done}/{count} 个条目：请稍后再次撤销，会从中断处继续")
	undoStuck = reason.New("undo_stuck", "{failed} of {count} entries could not be taken back and stay as they were: the table says why; then start the undo again",
		"{count} 个条目中有 {failed} 个没能撤回，保持原样：原因见表格；处理后请再次撤销")
	taskUndone = reason.New("task_undone", "task {task} was undone", "后台任务 {task} 已撤销")
	spanUndone = reason.New("span_undone", "what was written in this time was undone", "这段时间写入的内容已撤销")
)

// How a correction goes.
var (
	correctingRecords = reason.New("correcting", "correcting {count} records", "正在更正 {count} 条记录")
	correctedSoFar    = reason.New("corrected_so_far", "{back} marks taken back, {kept} kept, {tally}", "撤回 {back} 个标记，保留 {kept} 个，{tally}")
	correctStuck      = reason.New("correct_stuck",
		"the mapping is saved; the marks of {stuck} of {count} records could not be taken back and stay as they were: {problem}. Correct these records again later",
		"映射已保存；{count} 条记录中有 {stuck} 条的标记没能撤回，保持原样：{problem}。请稍后再更正一次")
	correctNowhere = reason.New("correct_nowhere",
		"the mapping is saved; record {record} stays as it was, because the mapping leads to no episode for it: {reason}",
		"映射已保存；但按此映射找不到对应的集，记录 {record} 保持原样：{reason}")
	unreachable     = reason.New("back_unreachable", "Bangumi cannot be reached", "无法连接 Bangumi")
	accountDeleted  = reason.New("back_account_deleted", "its account was deleted", "对应的账号已被删除")
	tokenMissing    = reason.New("back_token_missing", "its account has no access token: enter one on the page People", "对应的账号没有令牌：请到“成员”页面填写")
	tokenRefused    = reason.New("back_token_refused", "Bangumi refuses the token of its account: enter a new one on the page People", "Bangumi 拒绝了对应账号的令牌：请到“成员”页面填写新令牌")
	writesForbidden = reason.New("back_forbidden", "Bangumi does not let its account write", "Bangumi 不允许对应的账号写入")
	refused         = reason.New("back_refused", "Bangumi refuses it", "Bangumi 拒绝了")
	internalError   = reason.New("back_internal_error", "internal error: see the log of Watchmark", "服务内部出错：请查看服务日志")
)
