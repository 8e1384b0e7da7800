package watcher

import "watchmark/internal/platform/reason"

// Errors that callers branch on.
var (
	ErrNotFound = reason.New("media_login_not_found", "there is no such sign-in at a media server", "没有这个媒体服务器登录").For(reason.NotFound)
	// ErrSignedOut: the login needs a person first.
	ErrSignedOut = reason.New("media_login_signed_out", "sign in at this media server first", "请先登录这台媒体服务器").For(reason.Conflict)
	// ErrRunning: the server is being read for somebody already.
	ErrRunning = reason.New("media_login_running", "this media server is being read already", "正在读取这台媒体服务器").For(reason.Conflict)
	// ErrNothingHeld: there is nothing to answer.
	ErrNothingHeld = reason.New("media_login_nothing_held", "no plays wait for an answer", "没有等待确认的播放").For(reason.Conflict)
	// ErrNoChoice: there is nothing to choose.
	ErrNoChoice = reason.New("media_login_no_choice", "there is nothing to choose: sign in at Plex first", "没有可选的内容：请先登录 Plex").For(reason.Conflict)
	// ErrOff: media servers are not followed.
	ErrOff = reason.New("media_login_off", "following media servers is switched off: see watcher.enabled in the settings", "媒体服务器登录已关闭：见设置中的 watcher.enabled").For(reason.Conflict)
)

// What a login says of itself.
var (
	waitsForCode = reason.New("media_login_waits_for_code", "confirm the sign-in with the code {code}", "请用代码 {code} 确认登录")
	codeExpired  = reason.New("media_login_code_expired", "the code was not confirmed in time: sign in again", "代码未在有效期内确认：请重新登录")
	choose       = reason.New("media_login_choose", "choose the server to follow", "请选择要跟踪的服务器")
	noServers    = reason.New("media_login_no_servers", "this Plex account has no server, and none is shared with it", "此 Plex 账号没有服务器，也没有人与其共享")
	tooMuch      = reason.New("media_login_too_much", "the server tells of more than {most} plays, which nobody has watched: look at what answers there", "服务器报告的播放超过 {most} 条，不可能有人看过这么多：请检查该地址上的服务器")
	looking      = reason.New("media_login_looking", "signed in; what was played before is being read", "已登录，正在读取以前的播放")
	broken       = reason.New("media_login_broken", "internal error: the log of the service has the details", "服务内部出错：详情见服务日志")
)

// What is wrong with what a person entered.
var (
	kindUnknown   = reason.New("media_login_kind_unknown", "choose the kind of the server", "请选择服务器类型")
	needsURL      = reason.New("media_login_needs_url", "enter the address of the server", "请填写服务器地址")
	needsPassword = reason.New("media_login_needs_password", "this server needs a user name and a password", "这台服务器需要用户名和密码")
	notForPlex    = reason.New("media_login_not_for_plex", "Plex takes no password here: leave the user name out and confirm the sign-in on its page", "Plex 不在此处使用密码：请留空用户名，并在 Plex 页面确认登录")
	nameTooLong   = reason.New("media_login_name_too_long", "at most {most} bytes", "最多 {most} 字节")
	nameEmpty     = reason.New("media_login_name_empty", "enter the media-server user that accounts list", "请填写成员所列的媒体服务器用户")
	otherPerson   = reason.New("media_login_other_person", "{name:q} is another user: connect them by a sign-in of their own", "{name:q} 是另一个用户：请另外添加登录")
	otherServer   = reason.New("media_login_other_server", "another server answers at this address: connect it by a sign-in of its own", "该地址上是另一台服务器：请另外添加登录")
	choosePerson  = reason.New("media_login_choose_person", "choose a member of the Plex Home", "请选择 Plex Home 成员")
	otherKind     = reason.New("media_login_other_kind", "what answers there is {kind}", "该地址上的是 {kind}")
	noLibrary     = reason.New("media_login_no_library", "the server has no library {library:q} for this user", "服务器上没有此用户可用的媒体库 {library:q}")
)

// What a catch-up tells while it runs, and of its items.
var (
	readingPlays = reason.New("media_login_reading", "{server}: {items} plays read, {taken} are new", "{server}：已读取 {items} 条播放，{taken} 条新增")
)

// What writing to a media server tells.
var (
	// ErrNoUndo is returned for a task that changed nothing that could be restored.
	ErrNoUndo = reason.New("media_login_no_undo", "there is nothing to undo: the task wrote nothing to a media server, or it was undone or is older than 30 days",
		"没有可撤销的内容：该任务没有写入媒体服务器，或者已经撤销，或者已超过 30 天").For(reason.Conflict)
	// ErrWriting is returned for a task that has not ended.
	ErrWriting   = reason.New("media_login_writing", "the task is still running: cancel it first", "任务仍在运行：请先取消它").For(reason.Conflict)
	seedLookedUp = reason.New("media_login_seed_looked_up", "{server}: {items} episodes and films looked up", "{server}：已查询 {items} 集（部）")
	seedWritten  = reason.New("media_login_seed_written", "{server}: {items} of {total} written", "{server}：已写入 {items}/{total}")
	seedUndone   = reason.New("media_login_seed_undone", "{server}: {items} of {total} restored", "{server}：已恢复 {items}/{total}")
	itemGone     = reason.New("media_login_item_gone", "the server does not have it any more", "服务器上已经没有它")
	changedSince = reason.New("media_login_changed_since", "it was changed on the server since: left as it is", "之后在服务器上有过改动：保持现状")
)
