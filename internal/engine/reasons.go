package engine

import "watchmark/internal/platform/reason"

// The errors a caller branches on.
var (
	// ErrBusy is returned by Accept when the intake is full; the sender may try again in a second.
	ErrBusy = reason.New("intake_full", "too many events at once", "事件太多，暂时无法接收")
	// ErrNotStored is returned by Accept for an arrival that could not be stored, for want
	// of disk space perhaps.
	ErrNotStored = reason.New("event_not_stored", "the event could not be saved", "事件无法保存")
	// ErrInProgress is returned by Retry for a record that is being worked on.
	ErrInProgress = reason.New("record_in_progress", "this record is being processed already", "这条记录正在处理").For(reason.Conflict)
	// ErrNotRetried is returned by LastRetry for a record that no remembered task ran again.
	ErrNotRetried = reason.New("record_not_retried", "this record was not retried recently: start a retry with POST {path}",
		"这条记录最近没有重试：可用 POST {path} 开始").For(reason.NotFound)
	// ErrAssigning is returned by AssignUser while the same user is assigned.
	ErrAssigning = reason.New("assign_running", "what this user watched is being marked already", "正在标记这个用户看过的内容").For(reason.Conflict)
	// ErrAccountDisabled is returned by AssignUser for an account that nothing is marked for.
	ErrAccountDisabled = reason.New("assign_account_disabled", "the account is disabled: enable it first", "该账号已停用：请先启用").For(reason.Conflict)
	// ErrRetrying is returned by RetryFailed while another one runs.
	ErrRetrying = reason.New("retry_running", "the failed records are being retried already", "正在重试失败的记录").For(reason.Conflict)
)

// takenBefore is why a webhook of a play that a login at the same server has seen becomes no record.
var takenBefore = reason.New("event_taken_before", "the sign-in at this media server has seen this play already, and it is a record", "已通过媒体服务器登录收到这次播放，并已有记录")

// toldBefore is why a play that a player tells again, by an API key, becomes no second record.
var toldBefore = reason.New("event_told_before", "this play was told before, and it is a record already", "这次播放之前已经上报，并已有记录")

// What becomes of what was set back to unwatched.
var (
	unwatchedIgnored = reason.New("unwatched_ignored", "it was set back to unwatched: the list stays as it is, unless “Set back to unwatched” in the settings says otherwise",
		"已改回未看：列表保持不变，除非在设置的“改回未看”中另作选择").Was("emby_taken_back").Was("jellyfin_taken_back").Was("jellyfin_mark_taken_back")
	unwatchedOwn     = reason.New("unwatched_own", "Watchmark itself set it back to unwatched on the media server: the list stays as it is", "是 Watchmark 自己在媒体服务器上改回未看的：列表保持不变")
	unwatchedNothing = reason.New("unwatched_nothing", "it was set back to unwatched: no mark of it is Watchmark’s, so the list stays as it is", "已改回未看：没有 Watchmark 为它做的标记，列表保持不变")
	unwatchedNoted   = reason.New("unwatched_noted", "it was set back to unwatched: the record of the play tells what becomes of its mark", "已改回未看：标记的处理结果见那次播放的记录")
)

// How a record comes out for which nothing is marked.
var (
	internalError = reason.New("record_internal_error", "internal error: see the log of Watchmark, then retry", "服务内部出错：请查看服务日志，然后重试")
	// waits is the message of a record in the queue, and givenUp of one that was tried too often.
	waits   = reason.New("waits", "{reason}: this waits in the queue and is sent again by itself", "{reason}：在等待队列中，会自动重试")
	givenUp = reason.New("given_up", "given up after {retries} retries: {reason}; let it wait again in the queue, or retry it here",
		"重试 {retries} 次后放弃：{reason}；可在等待队列中恢复等待，或在这里重试")
	earlierWait = reason.New("earlier_wait", "earlier episodes of this entry are in the queue", "该条目前面的集还在等待队列中")

	userNameMissing = reason.New("user_name_missing",
		"user name missing: the event does not say who watched; let the media server send the name of the user",
		"事件中没有用户名，无法知道是谁看的：请让媒体服务器发送用户名")
	noAccount = reason.New("no_account",
		"account not found: no account has the user name {user:q} (capital letters and spaces count); add the name to an account on the page People",
		"没有账号填写了用户名{user:q}（大小写和空格须一致）：请到“成员”页面把它填入账号")
	keyWithoutAccount = reason.New("key_without_account",
		"account not found: {user}, whose API key this is, has no enabled Bangumi account; connect one on the page “My account” or “People”, and run the record again",
		"持有这个 API 密钥的 {user} 没有启用的 Bangumi 账号：请到“我的账号”或“成员”页面连接账号，然后重试这条记录")
	keyOfSeveral = reason.New("key_of_several",
		"account not found: the API key is the owner’s, who has several accounts, and none of them is the preferred one; choose it on the page People, or give the accounts to people with keys of their own",
		"API 密钥属于所有者，而所有者有多个账号，其中没有首选账号：请在“成员”页面选择首选账号，或把账号交给各自的成员并使用各自的密钥")
	accountDisabled = reason.New("account_disabled",
		"account not found: the account {account} has the user name {user:q}, but is disabled; enable it on the page People",
		"填写了用户名{user:q}的账号 {account} 已停用：请到“成员”页面启用")
	accountChanged = reason.New("account_changed",
		"account not found: the account {account} no longer has the user name {user:q}, or is disabled; see the page People",
		"账号 {account} 不再填写用户名{user:q}，或已停用：请到“成员”页面查看")
	userIgnored = reason.New("user_ignored",
		"the user name {user:q} is ignored: undo this on the page People, or add the name to an account there",
		"用户名{user:q}已被忽略：可在“成员”页面取消忽略，或把它填入账号")

	dryRunMark = reason.New("dry_run_mark",
		"dry run: {what} would have been marked for {account}; to mark it, switch off dry run for the account and retry the record",
		"试运行：本应为 {account} 标记 {what}；要标记，请关闭该账号的试运行并重试这条记录")
	dryRunStart = reason.New("dry_run_start",
		"dry run: {what} would have been listed as being watched by {account}; to do it, switch off dry run for the account and retry the record",
		"试运行：本应为 {account} 把 {what} 标为“在看”；要这样做，请关闭该账号的试运行并重试这条记录")
	dryRun       = reason.New("dry_run", "the account {account} is on dry run: nothing was written to its list", "账号 {account} 处于试运行：没有写入它的列表")
	adultSkipped = reason.New("adult_skipped",
		"the entry is an adult title, and the account {account} skips these (“Adult titles”): nothing was written; to mark it, change that on the page People or in the settings, and retry the record",
		"该条目是成人条目，账号 {account} 已设为跳过（“成人条目”）：没有写入；要标记，请在“成员”页或设置中更改，然后重试这条记录")
	entryNumber = reason.New("subject_number", "entry {id}", "条目 {id}")
	episodeOf   = reason.New("episode_of", "{subject} episode {episode}", "{subject} 第 {episode} 集")
)

// What became of the list.
var (
	alreadyListed  = reason.New("already_listed", "already on the list: nothing to do", "已在列表中：无需处理")
	markedDoing    = reason.New("marked_doing", "listed as being watched", "已标为“在看”")
	entryWatched   = reason.New("subject_watched", "already watched: the whole entry is completed on the list, nothing to do", "已看过：整个条目在列表中已是“看过”，无需处理")
	alreadyWatched = reason.New("already_watched", "already watched: nothing to do", "已看过：无需处理")
	rewatched      = reason.New("rewatched", "watched again: it was marked before, nothing to write", "重看：之前已标记，无需写入")
	rewatchBegan   = reason.New("rewatch_began", "watched again: it was marked before; the entry is set back to watching", "重看：之前已标记；条目改回“在看”")
	rewatchEnded   = reason.New("rewatch_ended", "watched to the end again: the entry is completed again", "重看完毕：条目改回“看过”")
	entryCompleted = reason.New("subject_completed", "already watched; the entry is now completed on the list", "已看过；条目现已设为“看过”")
	entryListed    = reason.New("subject_listed", "already watched; the entry is now on the list", "已看过；条目现已加入列表")
	marked         = reason.New("marked", "marked as watched", "已标记为看过")
	markedLast     = reason.New("marked_last", "marked as watched; the entry is complete", "已标记为看过；条目已全部看完")
	markedLocked   = reason.New("marked_locked", "marked as watched; the entry is locked on Bangumi, so its state on the list stays", "已标记为看过；条目在 Bangumi 上已锁定，列表中的状态不变")
	markedOpen     = reason.New("marked_open", "marked as watched; Bangumi refused to set the entry to completed", "已标记为看过；Bangumi 拒绝把条目设为“看过”")
)

// Why the catalog refuses a mark. Where it gives a reason, words is a catalogWords.
var (
	catalogWords   = reason.New("catalog_words", " (it says: {words})", "（返回信息：{words}）")
	tokenMissing   = reason.New("mark_token_missing", "the account {account} has no access token: enter one on the page People, then retry", "账号 {account} 没有令牌：请到“成员”页面填写，然后重试")
	tokenOfAnother = reason.New("mark_token_of_another", "the token of the account {account} belongs to another Bangumi user: correct the account on the page People, then retry", "账号 {account} 的令牌属于别的 Bangumi 用户：请到“成员”页面更正，然后重试")
	tokenRefused   = reason.New("mark_token_refused",
		"Bangumi refuses the token of the account {account}, which has expired or was revoked{words}: enter a new one on the page People, then retry",
		"Bangumi 拒绝了账号 {account} 的令牌，令牌已过期或被撤销{words}：请到“成员”页面填写新令牌，然后重试")
	scopeMissing = reason.New("mark_scope_missing",
		"Bangumi does not let the account {account} write{words}: create a new token that may change the list",
		"Bangumi 不允许账号 {account} 写入{words}：请创建有写入权限的新令牌")
	accountForbidden = reason.New("mark_forbidden",
		"Bangumi does not let the account {account} change its list{words}: look at the account on the Bangumi website, it may be banned; a new token does not help",
		"Bangumi 不允许账号 {account} 修改列表{words}：请到 Bangumi 网站查看此账号，它可能被封禁；更换令牌没有用")
	entryHidden = reason.New("mark_subject_hidden",
		"Bangumi does not show the entry to the account {account}: the account may not see it (registered too recently, or not permitted), or the entry was removed",
		"Bangumi 不向账号 {account} 显示此条目：此账号看不到它（注册时间太短，或没有权限），或条目已被删除")
	markRefused = reason.New("mark_refused",
		"Bangumi refuses the mark{words}: look at the entry on Bangumi; if it is the wrong one, add a mapping; then retry",
		"Bangumi 拒绝了标记{words}：请到 Bangumi 查看该条目；如果条目不对，就添加映射；然后重试")
	listUnknown = reason.New("list_unknown", "Bangumi cannot be reached, so the list of {account} is not known", "无法连接 Bangumi，因此不知道 {account} 的列表")
)

// How far a task is.
var (
	retrying = reason.New("retrying", "retrying record {record}", "正在重试记录 {record}")
	retried  = reason.New("retried", "{retried} retried: {marked} marked, {queued} waiting, {failed} failed again, {other} other",
		"重试了 {retried} 条：已标记 {marked}，等待 {queued}，再次失败 {failed}，其他 {other}")
)
