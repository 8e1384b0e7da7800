package engine

import "watchmark/internal/platform/reason"

// The errors a caller branches on.
var (
	// ErrBusy is returned by Accept when the intake is full; the sender may try again in a second.
	ErrBusy = reason.New("intake_full", "the intake is full", "接收队列已满")
	// ErrNotStored is returned by Accept for an arrival that could not be stored, for want
	// of disk space perhaps.
	ErrNotStored = reason.New("event_not_stored", "the event could not be stored", "事件无法保存")
	// ErrInProgress is returned by Retry for a record that is being worked on.
	ErrInProgress = reason.New("record_in_progress", "the record is being worked on already", "这条记录正在处理").For(reason.Conflict)
	// ErrNotRetried is returned by LastRetry for a record that no remembered task ran again.
	ErrNotRetried = reason.New("record_not_retried", "the record was not retried lately: start a run with POST {path}",
		"这条记录最近没有重试：可用 POST {path} 开始").For(reason.NotFound)
	// ErrRetrying is returned by RetryFailed while another one runs.
	ErrRetrying = reason.New("retry_running", "the failed records are being retried already", "失败的记录已在重试").For(reason.Conflict)
)

// How a record comes out for which nothing is marked.
var (
	internalError = reason.New("record_internal_error", "internal error: see the service's log, then retry", "服务内部出错：请查看服务日志，然后重试")
	// waits is the message of a record in the queue, and givenUp of one that was tried too often.
	waits   = reason.New("waits", "{reason}: this waits and is repeated by itself", "{reason}：正在等待，会自动重试")
	givenUp = reason.New("given_up", "given up after {retries} retries: {reason}; revive it in the queue, or retry it here",
		"重试失败 {retries} 次后放弃：{reason}；可在等待队列中恢复，或在这里重试")
	earlierWait = reason.New("earlier_wait", "earlier episodes of this subject are in the queue", "该条目前面的剧集还在等待队列中")

	userNameMissing = reason.New("user_name_missing",
		"user name missing: the event does not say who watched; let the media server send the user's name",
		"缺少用户名：事件没有说明是谁看的；请让媒体服务器发送用户名")
	noAccount = reason.New("no_account",
		"account not found: no account names the media-server user {user:q} exactly, case and spaces included; add the name on the accounts page",
		"没有对应的账号：没有账号认领与{user:q}完全一致（含大小写和空格）的媒体服务器用户；请到账号页面添加这个名字")
	accountDisabled = reason.New("account_disabled",
		"account not found: the account {account} names the user {user:q} but is disabled; enable it on the accounts page",
		"没有对应的账号：账号 {account} 认领了用户{user:q}但已停用；请到账号页面启用")
	accountChanged = reason.New("account_changed",
		"account not found: the account {account} does not name the user {user:q} any more, or is disabled",
		"没有对应的账号：账号 {account} 不再认领用户{user:q}，或已停用")
	userIgnored = reason.New("user_ignored",
		"the media-server user {user:q} is ignored; take that back on the accounts page, or add the name to an account there",
		"媒体服务器用户{user:q}已被忽略；可在账号页取消忽略，或把这个名字填入账号")

	dryRunMark = reason.New("dry_run_mark",
		"dry run: {what} would have been marked for {account}; switch dry run off at the account and retry the record to mark it",
		"试运行：本应把 {what} 标记到 {account}；关闭该账号的试运行并重试这条记录，即可标记")
	dryRunStart = reason.New("dry_run_start",
		"dry run: {what} would have been put on the list of what is being watched of {account}; switch dry run off at the account and retry the record to mark it",
		"试运行：本应把 {what} 标为 {account} 的“在看”；关闭该账号的试运行并重试这条记录，即可标记")
	dryRun        = reason.New("dry_run", "the account {account} is on dry run: nothing was sent to its list", "账号 {account} 处于试运行：没有写入它的收藏")
	subjectNumber = reason.New("subject_number", "subject {id}", "条目 {id}")
	episodeOf     = reason.New("episode_of", "{subject} episode {episode}", "{subject} 第 {episode} 集")
)

// What became of the list.
var (
	alreadyListed    = reason.New("already_listed", "already on the list: nothing written", "已在收藏中：没有写入")
	markedDoing      = reason.New("marked_doing", "put on the list of what is being watched", "已标为“在看”")
	subjectWatched   = reason.New("subject_watched", "already watched: the whole subject is done on the list, nothing written", "已看过：整个条目已是“看过”，没有写入")
	alreadyWatched   = reason.New("already_watched", "already watched: nothing written", "已看过：没有写入")
	subjectCompleted = reason.New("subject_completed", "already watched; the subject was not done on the list and is now", "已看过；条目原本不是“看过”，现已设为“看过”")
	subjectListed    = reason.New("subject_listed", "already watched; the subject was not on the list and is now", "已看过；条目原本不在收藏中，现已加入")
	marked           = reason.New("marked", "marked as watched", "已标记为看过")
	markedLast       = reason.New("marked_last", "marked as watched; the subject is complete", "已标记为看过；条目已全部看完")
	markedLocked     = reason.New("marked_locked", "marked as watched; the subject is locked, so its entry stays as it was", "已标记为看过；条目已锁定，收藏状态保持不变")
	markedOpen       = reason.New("marked_open", "marked as watched; the catalog refused to set the subject done", "已标记为看过；Bangumi 拒绝把条目设为“看过”")
)

// Why the catalog refuses a mark. Where it gives a reason, words is a catalogWords.
var (
	catalogWords   = reason.New("catalog_words", " (it says: {words})", "（返回信息：{words}）")
	tokenMissing   = reason.New("mark_token_missing", "the account {account} has no access token: enter one on the accounts page, then retry", "账号 {account} 没有令牌：请到账号页面填写，然后重试")
	tokenOfAnother = reason.New("mark_token_of_another", "the token of the account {account} is not its own: look at the account, then retry", "账号 {account} 的令牌属于别的用户：请检查该账号，然后重试")
	tokenRefused   = reason.New("mark_token_refused",
		"the catalog refuses the token of account {account}, it has expired or was revoked{words}: enter a new one on the accounts page, then retry",
		"Bangumi 拒绝了账号 {account} 的令牌，已过期或被撤销{words}：请到账号页面填写新令牌，然后重试")
	scopeMissing = reason.New("mark_scope_missing",
		"the catalog forbids account {account} to write{words}: make a new token that may change collections",
		"Bangumi 不允许账号 {account} 写入{words}：请创建有收藏修改权限的新令牌")
	accountForbidden = reason.New("mark_forbidden",
		"the catalog forbids account {account} to change its list{words}: look at the account on the catalog's website, it may be banned; a new token does not help",
		"Bangumi 不允许账号 {account} 修改收藏{words}：请到 Bangumi 网站查看此账号，它可能被封禁；更换令牌没有用")
	subjectHidden = reason.New("mark_subject_hidden",
		"the catalog does not show the subject to account {account}: this account may not see it (too young, or not allowed), or it is gone",
		"Bangumi 不向账号 {account} 显示此条目：此账号看不到它（注册时间太短，或没有权限），或条目已不存在")
	markRefused = reason.New("mark_refused",
		"the catalog refuses the mark{words}: look at the subject there, set a mapping if it is the wrong one, then retry",
		"Bangumi 拒绝了标记{words}：请到 Bangumi 查看该条目，如果条目不对就设置映射，然后重试")
	listUnknown = reason.New("list_unknown", "the catalog cannot be reached, so the list of {account} is not known", "无法连接 Bangumi，因此不知道 {account} 的收藏")
)

// How far a task is.
var (
	retrying = reason.New("retrying", "record {record} is run again", "正在重新运行记录 {record}")
	retried  = reason.New("retried", "{retried} run again: {marked} marked, {queued} queued, {failed} failed again, {other} other",
		"重新运行 {retried} 条：已标记 {marked}，等待 {queued}，再次失败 {failed}，其他 {other}")
)
