package tracker

import "watchmark/internal/platform/reason"

var (
	firewall = reason.New("tracker_firewall", "the firewall of the tracker turned this service away (403 with a page): try another network or network.proxy",
		"Trakt 的防火墙拦截了本服务（403 网页）：请换一个网络，或设置 network.proxy")
	signInRefused = reason.New("tracker_sign_in_refused", "the tracker does not accept the sign-in: sign in again",
		"Trakt 不接受此登录：请重新登录")
	clientRefused = reason.New("tracker_client_refused", "the tracker does not accept the client id. Applications of people without VIP were deleted in July 2026, and one goes when its owner's VIP ends: check the client ids in the section tracker of the settings",
		"Trakt 不接受该 Client ID。非 VIP 用户的应用已在 2026 年 7 月删除，VIP 到期后应用也会删除：请检查设置中 tracker 分组的 Client ID")
	pathUnknown = reason.New("tracker_path_unknown", "the tracker does not know what was asked for: check the addresses in the section tracker of the settings",
		"Trakt 上没有所请求的内容：请检查设置中 tracker 分组的地址")
	formRefused = reason.New("tracker_form_refused", "the tracker refused the form of the request (412): this is a fault of this service, please report it",
		"Trakt 拒绝了请求的格式（412）：这是本服务的问题，请反馈")
	limitReached = reason.New("tracker_limit_reached", "a limit of the tracker account is reached (420): remove something there, or upgrade the account",
		"已达到 Trakt 账号的上限（420）：请在那里删除一些内容，或升级账号")
	deactivated = reason.New("tracker_deactivated", "the tracker account is deactivated (423): its owner has to ask the tracker's support",
		"Trakt 账号已停用（423）：请其所有者联系 Trakt 客服")
	locked = reason.New("tracker_locked", "the tracker account is locked (423): its owner has to ask the tracker's support",
		"Trakt 账号已被锁定（423）：请其所有者联系 Trakt 客服")
	onlyVIP = reason.New("tracker_only_vip", "the tracker keeps this for VIP members (426). Free accounts may connect one application only: disconnect another one on its website",
		"Trakt 仅对 VIP 会员开放此功能（426）。免费账号只能连接一个应用：请在其网站上断开其他应用")
	tooManyRequests = reason.New("tracker_too_many_requests", "the tracker had too many requests (429) and wants to be left alone for {wait}",
		"Trakt 收到的请求过多（429），要求等待 {wait}")
	overloaded = reason.New("tracker_overloaded", "the tracker is overloaded or broken ({status}): that passes by itself, try again later",
		"Trakt 过载或故障（{status}）：会自行恢复，请稍后重试")
	redirected = reason.New("tracker_redirected", "the tracker answered with a redirect, which is not followed: check the addresses in the section tracker of the settings",
		"Trakt 返回了重定向，不会跟随：请检查设置中 tracker 分组的地址")
	refused = reason.New("tracker_refused", "the tracker refused the request ({status} {text}): try again later, and report it if that does not help",
		"Trakt 拒绝了请求（{status} {text}）：请稍后重试，如果没有用请反馈")
	secretRefused = reason.New("tracker_secret_refused", "the tracker does not accept the client id or its secret ({status}): check those in the section tracker of the settings. It deletes an application whose owner has no VIP",
		"Trakt 不接受 Client ID 或 Secret（{status}）：请检查设置中 tracker 分组的值。所有者不是 VIP 的应用会被 Trakt 删除")
	grantEnded = reason.New("tracker_grant_ended", "the tracker says that the authorisation is used up, expired or revoked: sign in again",
		"Trakt 表示授权已用过、过期或被撤销：请重新登录")
	noToken    = reason.New("tracker_no_token", "the answer of the tracker holds no token", "Trakt 的响应中没有令牌")
	unreadable = reason.New("tracker_unreadable", "the answer cannot be read", "无法读取响应")
	// errMoved: a play that moved from a page to the one before may not have been seen.
	errMoved = reason.New("tracker_history_moved", "plays were removed at the tracker while its history was read: it has to be read again",
		"读取期间 Trakt 上的播放记录被删除：需要重新读取")
	tooManyPages = reason.New("tracker_too_many_pages", "the history has more pages than a history can have", "历史的页数超过上限")
	mailWaits    = reason.New("tracker_mail_waits", "a mail was asked for just now: use its code, or ask again in {wait} seconds",
		"刚刚发送过邮件：请使用其中的验证码，或在 {wait} 秒后重新发送")
	mailTooSoon = reason.New("tracker_mail_too_soon", "a mail was sent less than a minute ago: ask again in {wait} seconds",
		"不到一分钟前发送过邮件：请在 {wait} 秒后重新发送")
	notMail   = reason.New("tracker_not_mail", "is not an e-mail address", "不是邮箱地址")
	notOTP    = reason.New("tracker_not_six_digits", "is not a code of six digits", "不是六位数字的验证码")
	noSession = reason.New("tracker_no_session", "the tracker took the code and opened no session: ask for a new mail",
		"Trakt 接受了验证码但没有登录：请重新发送邮件")
	mailRefused = reason.New("tracker_mail_refused", "the tracker does not take this address: check it, and that it has an account there",
		"Trakt 不接受此邮箱：请检查是否写对，以及是否已在 Trakt 注册")
	codeRefused = reason.New("tracker_code_refused", "the tracker does not take this code: ask for a new mail",
		"Trakt 不接受此验证码：请重新发送邮件")
	mailLoginRefused = reason.New("tracker_mail_login_refused", "the tracker turned the sign-in by e-mail away ({status}): it may want a browser there; sign in with an application",
		"Trakt 拒绝了邮箱登录（{status}）：可能要求使用浏览器；请改用自建应用登录")
	checkMailClient = reason.New("tracker_check_mail_client", "the tracker authorised nothing: check tracker.client_id and tracker.redirect_uri, then ask for a new mail",
		"Trakt 没有授权：请检查 tracker.client_id 和 tracker.redirect_uri，然后重新发送邮件")
	noCode         = reason.New("tracker_no_code", "the answer of the tracker holds no code", "Trakt 的响应中没有授权码")
	noRefreshToken = reason.New("tracker_no_refresh_token", "the tracker gave no refresh token, so the sign-in could not last: check the client id in the section tracker of the settings",
		"Trakt 没有给出续期令牌，登录无法持续：请检查设置中 tracker 分组的 Client ID")
	pageInstead = reason.New("tracker_page_instead", "a page came instead of data: something stands between this service and the tracker",
		"收到的是网页而不是数据：本服务与 Trakt 之间有东西拦截")
	nobodyNamed    = reason.New("tracker_nobody_named", "the answer names nobody", "响应中没有用户")
	waitingForCode = reason.New("tracker_waiting_for_code", "waiting for somebody to type the code in at the tracker",
		"正在等待在 Trakt 输入设备码")
	signedIn = reason.New("tracker_signed_in", "signed in as {name}", "已登录：{name}")
	// errCodeEnded is told when the clock of the tracker, or of this service, says that a code is over.
	errCodeEnded = reason.New("tracker_device_code_ended", "nobody typed the code in before it ended: start again",
		"设备码在输入前已失效：请重新开始")
	errDenied = reason.New("tracker_denied", "the person refused at the tracker: start again if that was a mistake",
		"已在 Trakt 拒绝授权：如果是误操作，请重新开始")
	errCodeUsed = reason.New("tracker_device_code_used", "the code was used, or is not known any more: start again",
		"设备码已用过或已不存在：请重新开始")
	lookedUp      = reason.New("tracker_looked_up", "{name}: {items} episodes and films looked up", "{name}：已查询 {items} 集（部）")
	previewFailed = reason.New("tracker_preview_failed", "preview the history of {name}: {cause}", "预览 {name} 的历史：{cause}")
	nothingNew    = reason.New("tracker_nothing_new", "{name}: nothing was watched since the last time", "{name}：上次之后没有新的观看")
	takenIn       = reason.New("tracker_taken_in", "{name}: {taken} plays taken in", "{name}：新处理 {taken} 次播放")
	titlesMissing = reason.New("tracker_titles_missing", "plays of some shows or films wait for their titles: {cause}",
		"部分剧集或电影的播放还在等待标题：{cause}")
	opTradeCode       = reason.New("tracker_op_trade_code", "trade the code for a credential of the tracker", "换取 Trakt 授权")
	opAskNew          = reason.New("tracker_op_ask_new", "ask the tracker what is new", "查询 Trakt 的新记录")
	opReadHistory     = reason.New("tracker_op_read_history", "read the history of the tracker", "读取 Trakt 历史")
	opSignIn          = reason.New("tracker_op_sign_in", "sign in at the tracker", "登录 Trakt")
	opAskMail         = reason.New("tracker_op_ask_mail", "ask the tracker for a sign-in mail", "请求 Trakt 发送登录邮件")
	opSendCode        = reason.New("tracker_op_send_code", "send the code to the tracker", "向 Trakt 提交验证码")
	opAuthorize       = reason.New("tracker_op_authorize", "have the tracker authorise the sign-in", "请求 Trakt 授权")
	opAskDeviceCode   = reason.New("tracker_op_ask_device_code", "ask the tracker for a device code", "向 Trakt 获取设备码")
	opAwaitApproval   = reason.New("tracker_op_await_approval", "wait for the code to be approved", "等待设备码被确认")
	opRenew           = reason.New("tracker_op_renew", "renew the sign-in at the tracker", "续期 Trakt 登录")
	opRevoke          = reason.New("tracker_op_revoke", "revoke the sign-in at the tracker", "注销 Trakt 登录")
	opAskTitle        = reason.New("tracker_op_ask_title", "ask the tracker for a title", "向 Trakt 查询标题")
	opAskTranslations = reason.New("tracker_op_ask_translations", "ask the tracker for translations", "向 Trakt 查询译名")
	opAskWho          = reason.New("tracker_op_ask_who", "ask the tracker who signed in", "向 Trakt 查询登录的用户")

	// ErrOff is returned while the tracker is switched off.
	ErrOff = reason.New("tracker_off", "the tracker is switched off: set tracker.enabled", "Trakt 未启用：请启用 tracker.enabled").For(reason.Conflict)
	// ErrNoClient is returned where signing in by e-mail is not set up.
	ErrNoClient = reason.New("tracker_no_client", "signing in by e-mail is not set up: set tracker.client_id to the client id of the tracker's web client (/docs/sources/trakt says what that means)",
		"尚未配置邮箱登录：请把 tracker.client_id 设为 Trakt 网页端的 Client ID（含义见 /docs/sources/trakt）").For(reason.Conflict)
	// ErrNoApp says that no application of the tracker is set up.
	ErrNoApp = reason.New("tracker_no_app", "no application of the tracker is set up: set tracker.app_client_id and tracker.app_client_secret, or sign in by e-mail",
		"尚未配置 Trakt 应用：请设置 tracker.app_client_id 和 tracker.app_client_secret，或用邮箱登录").For(reason.Conflict)
	// ErrNoLogin says that no sign-in waits for this code.
	ErrNoLogin = reason.New("tracker_no_login", "no sign-in waits for this code: request a new code",
		"没有等待此验证码的登录：请重新获取验证码").For(reason.Conflict)
	// ErrCodeExpired says that the code is older than five minutes and has expired.
	ErrCodeExpired = reason.New("tracker_code_expired", "the code is older than five minutes and has expired: request a new code",
		"验证码已超过五分钟，已过期：请重新获取验证码")
	// ErrTooManyCodes says that too many codes were wrong.
	ErrTooManyCodes = reason.New("tracker_too_many_codes", "too many wrong codes (MAX_OTP_ATTEMPTS is 5): this sign-in is over, request a new code",
		"输错次数过多（上限 5 次）：此次登录已结束，请重新获取验证码")
	// ErrWrongCode says that the code of the mail is wrong or has expired.
	ErrWrongCode  = reason.New("tracker_wrong_code", "the code is wrong or has expired", "验证码不正确或已过期")
	wrongCodeLeft = reason.New("tracker_wrong_code_left", "{why}: {left} more of MAX_OTP_ATTEMPTS ({most}) may be wrong",
		"{why}：还可以输错 {left} 次（共 {most} 次）")
	// ErrState says that the answer of the tracker does not belong to this sign-in.
	ErrState = reason.New("tracker_state", "the answer of the tracker does not belong to this sign-in: start it again",
		"Trakt 的响应不属于这次登录：请重新开始").For(reason.Upstream)
	// ErrLoginsFull says that too many sign-ins wait at once.
	ErrLoginsFull = reason.New("tracker_logins_full", "too many sign-ins wait at once: finish one of them, or try again in ten minutes",
		"等待中的登录过多：请完成其中一个，或十分钟后再试").For(reason.Conflict)
	// ErrNotFound says that no such tracker user is connected.
	ErrNotFound = reason.New("tracker_not_found", "no such tracker user is connected: GET /api/tracker/status lists them",
		"没有连接这个 Trakt 用户：GET /api/tracker/status 会列出已连接的用户").For(reason.NotFound)
	// ErrWhich says that several tracker users are connected.
	ErrWhich = reason.New("tracker_which", "several tracker users are connected: say which by user_id",
		"已连接多个 Trakt 用户：请用 user_id 指定").For(reason.Conflict)
	// ErrDisconnected says that this tracker user is not connected.
	ErrDisconnected = reason.New("tracker_disconnected", "this tracker user is not connected: sign in",
		"该 Trakt 用户未连接：请登录").For(reason.Conflict)
	// ErrDead says that the tracker does not renew this sign-in any more.
	ErrDead = reason.New("tracker_dead", "the tracker does not renew this sign-in any more: sign in again",
		"Trakt 不再续期此登录：请重新登录").For(reason.Conflict)
	// ErrRefusedAgain says that the tracker refuses the sign-in although it was just renewed.
	ErrRefusedAgain = reason.New("tracker_refused_again", "the tracker refuses the sign-in although it was just renewed: sign in again if this stays so",
		"登录刚刚续期，仍被 Trakt 拒绝：若持续如此，请重新登录")
	// ErrRunning says that the history of the tracker is being read already.
	ErrRunning = reason.New("tracker_running", "the history of the tracker is being read already", "正在读取 Trakt 历史").For(reason.Conflict)
	// ErrNobody says that no tracker user is connected.
	ErrNobody = reason.New("tracker_nobody", "no tracker user is connected: sign in first", "没有已连接的 Trakt 用户：请先登录").For(reason.Conflict)

	// failed is an *Error: what was being done, and what is wrong.
	failed = reason.New("tracker_failed", "{doing}: {problem}", "{doing}：{problem}")
)
