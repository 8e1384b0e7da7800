package tracker

import "watchmark/internal/platform/reason"

var (
	firewall = reason.New("tracker_firewall", "the firewall of Trakt blocks this service (403 with a web page): try another network or network.proxy",
		"Trakt 的防火墙拦截了本服务（403 网页）：请换一个网络，或设置 network.proxy")
	signInRefused = reason.New("tracker_sign_in_refused", "Trakt does not accept the sign-in: sign in again",
		"Trakt 不接受此登录：请重新登录")
	clientRefused = reason.New("tracker_client_refused", "Trakt does not accept the client ID. It deleted the applications of people without VIP in July 2026, and deletes one when the VIP of its owner ends: check the client IDs in the section Trakt of the settings",
		"Trakt 不接受该 Client ID。非 VIP 用户的应用已在 2026 年 7 月删除，VIP 到期后应用也会删除：请检查设置中 Trakt 分组的 Client ID")
	pathUnknown = reason.New("tracker_path_unknown", "Trakt does not have what was requested: check the addresses in the section Trakt of the settings",
		"Trakt 上没有所请求的内容：请检查设置中 Trakt 分组的地址")
	formRefused = reason.New("tracker_form_refused", "Trakt refused the form of the request (412): this is a fault of Watchmark, please report it",
		"Trakt 拒绝了请求的格式（412）：这是 Watchmark 的问题，请反馈")
	limitReached = reason.New("tracker_limit_reached", "a limit of the Trakt account is reached (420): remove something there, or upgrade the account",
		"已达到 Trakt 账号的上限（420）：请在那里删除一些内容，或升级账号")
	deactivated = reason.New("tracker_deactivated", "the Trakt account is deactivated (423): its owner has to ask the support of Trakt",
		"Trakt 账号已停用（423）：请其所有者联系 Trakt 客服")
	locked = reason.New("tracker_locked", "the Trakt account is locked (423): its owner has to ask the support of Trakt",
		"Trakt 账号已被锁定（423）：请其所有者联系 Trakt 客服")
	onlyVIP = reason.New("tracker_only_vip", "Trakt keeps this for VIP members (426). Free accounts may connect one application only: disconnect another one on its website",
		"Trakt 仅对 VIP 会员开放此功能（426）。免费账号只能连接一个应用：请在其网站上断开其他应用")
	tooManyRequests = reason.New("tracker_too_many_requests", "Trakt received too many requests (429): wait {wait}",
		"Trakt 收到的请求过多（429），请等待 {wait}")
	overloaded = reason.New("tracker_overloaded", "Trakt is overloaded or broken ({status}): try again later",
		"Trakt 过载或出现故障（{status}）：请稍后重试")
	redirected = reason.New("tracker_redirected", "Trakt answered with a redirect, which is not followed: check the addresses in the section Trakt of the settings",
		"Trakt 返回了重定向，不会跟随：请检查设置中 Trakt 分组的地址")
	refused = reason.New("tracker_refused", "Trakt refused the request ({status} {text}): try again later, and report it if that does not help",
		"Trakt 拒绝了请求（{status} {text}）：请稍后重试，如果仍然失败，请反馈")
	secretRefused = reason.New("tracker_secret_refused", "Trakt does not accept the client ID or its secret ({status}): check them in the section Trakt of the settings. Trakt deletes an application when its owner has no VIP",
		"Trakt 不接受 Client ID 或 Secret（{status}）：请检查设置中 Trakt 分组的值。所有者不是 VIP 的应用会被 Trakt 删除")
	grantEnded = reason.New("tracker_grant_ended", "Trakt says that the authorisation is used up, expired or revoked: sign in again",
		"Trakt 表示授权已用过、过期或被撤销：请重新登录")
	noToken    = reason.New("tracker_no_token", "the answer of Trakt has no token", "Trakt 的响应中没有令牌")
	unreadable = reason.New("tracker_unreadable", "the answer cannot be read", "无法读取响应")
	// errMoved: a play that moved from a page to the one before may not have been seen.
	errMoved = reason.New("tracker_history_moved", "plays were removed on Trakt while its history was read: read it again",
		"读取期间 Trakt 上的播放记录被删除：需要重新读取")
	tooManyPages = reason.New("tracker_too_many_pages", "the history has more pages than a history may have", "历史的页数超过上限")
	mailWaits    = reason.New("tracker_mail_waits", "an e-mail was sent just now: use its code, or request another one in {wait} seconds",
		"刚刚发送过邮件：请使用其中的验证码，或在 {wait} 秒后重新发送")
	mailTooSoon = reason.New("tracker_mail_too_soon", "an e-mail was sent less than a minute ago: request another one in {wait} seconds",
		"不到一分钟前发送过邮件：请在 {wait} 秒后重新发送")
	notMail   = reason.New("tracker_not_mail", "is not an e-mail address", "不是邮箱地址")
	notOTP    = reason.New("tracker_not_six_digits", "is not a code of six digits", "不是六位数字的验证码")
	noSession = reason.New("tracker_no_session", "Trakt accepted the code but did not sign you in: request a new e-mail",
		"Trakt 接受了验证码但没有登录：请重新发送邮件")
	mailRefused = reason.New("tracker_mail_refused", "Trakt does not accept this address: check it, and that it has an account on Trakt",
		"Trakt 不接受此邮箱：请检查是否写对，以及是否已在 Trakt 注册")
	codeRefused = reason.New("tracker_code_refused", "Trakt does not accept this code: request a new e-mail",
		"Trakt 不接受此验证码：请重新发送邮件")
	mailLoginRefused = reason.New("tracker_mail_login_refused", "Trakt refused the sign-in by e-mail ({status}), perhaps because it wants a browser: sign in with your own application instead",
		"Trakt 拒绝了邮箱登录（{status}），可能要求使用浏览器：请改用自建应用登录")
	checkMailClient = reason.New("tracker_check_mail_client", "Trakt did not authorise the sign-in: check tracker.client_id and tracker.redirect_uri, then request a new e-mail",
		"Trakt 没有授权：请检查 tracker.client_id 和 tracker.redirect_uri，然后重新发送邮件")
	noCode         = reason.New("tracker_no_code", "the answer of Trakt has no code", "Trakt 的响应中没有授权码")
	noRefreshToken = reason.New("tracker_no_refresh_token", "Trakt gave no refresh token, so the sign-in could not last: check the client ID in the section Trakt of the settings",
		"Trakt 没有给出续期令牌，登录无法持续：请检查设置中 Trakt 分组的 Client ID")
	pageInstead = reason.New("tracker_page_instead", "a web page came instead of data: something between this service and Trakt intercepts the traffic",
		"收到的是网页而不是数据：本服务与 Trakt 之间的流量被拦截")
	nobodyNamed    = reason.New("tracker_nobody_named", "the answer names no user", "响应中没有用户")
	waitingForCode = reason.New("tracker_waiting_for_code", "waiting until somebody enters the code on Trakt",
		"正在等待在 Trakt 输入设备码")
	signedIn = reason.New("tracker_signed_in", "signed in as {name}", "已登录：{name}")
	// errCodeEnded is told when the clock of the tracker, or of this service, says that a code is over.
	errCodeEnded = reason.New("tracker_device_code_ended", "the code expired before anybody entered it: start again",
		"设备码在输入之前已过期：请重新开始")
	errDenied = reason.New("tracker_denied", "the sign-in was refused on Trakt: start again if that was a mistake",
		"已在 Trakt 拒绝授权：如果是误操作，请重新开始")
	errCodeUsed = reason.New("tracker_device_code_used", "the code was used already, or is no longer known: start again",
		"设备码已用过或已不存在：请重新开始")
	lookedUp      = reason.New("tracker_looked_up", "{name}: {items} episodes and films looked up", "{name}：已查询 {items} 集（部）")
	previewFailed = reason.New("tracker_preview_failed", "preview the history of {name}: {cause}", "预览 {name} 的历史：{cause}")
	nothingNew    = reason.New("tracker_nothing_new", "{name}: nothing was watched since the last time", "{name}：上次之后没有新的观看")
	takenIn       = reason.New("tracker_taken_in", "{name}: {taken} plays read", "{name}：读取了 {taken} 次播放")
	titlesMissing = reason.New("tracker_titles_missing", "plays of some shows or films wait for their titles: {cause}",
		"部分剧集或电影的播放还在等待标题：{cause}")
	opTradeCode       = reason.New("tracker_op_trade_code", "exchange the code for a token of Trakt", "换取 Trakt 授权")
	opAskNew          = reason.New("tracker_op_ask_new", "ask Trakt what is new", "查询 Trakt 的新记录")
	opReadHistory     = reason.New("tracker_op_read_history", "read the history of Trakt", "读取 Trakt 历史")
	opSignIn          = reason.New("tracker_op_sign_in", "sign in to Trakt", "登录 Trakt")
	opAskMail         = reason.New("tracker_op_ask_mail", "ask Trakt for a sign-in e-mail", "请求 Trakt 发送登录邮件")
	opSendCode        = reason.New("tracker_op_send_code", "send the code to Trakt", "向 Trakt 提交验证码")
	opAuthorize       = reason.New("tracker_op_authorize", "have Trakt authorise the sign-in", "请求 Trakt 授权")
	opAskDeviceCode   = reason.New("tracker_op_ask_device_code", "ask Trakt for a device code", "向 Trakt 获取设备码")
	opAwaitApproval   = reason.New("tracker_op_await_approval", "wait for the code to be approved", "等待设备码被确认")
	opRenew           = reason.New("tracker_op_renew", "renew the sign-in to Trakt", "续期 Trakt 登录")
	opRevoke          = reason.New("tracker_op_revoke", "revoke the sign-in to Trakt", "撤销 Trakt 登录")
	opAskTitle        = reason.New("tracker_op_ask_title", "ask Trakt for a title", "向 Trakt 查询标题")
	opAskTranslations = reason.New("tracker_op_ask_translations", "ask Trakt for translations", "向 Trakt 查询译名")
	opAskWho          = reason.New("tracker_op_ask_who", "ask Trakt who signed in", "向 Trakt 查询登录的用户")

	// ErrOff is returned while the tracker is switched off.
	ErrOff = reason.New("tracker_off", "Trakt is switched off: set tracker.enabled", "Trakt 未启用：请启用 tracker.enabled").For(reason.Conflict)
	// ErrNoClient is returned where signing in by e-mail is not set up.
	ErrNoClient = reason.New("tracker_no_client", "signing in by e-mail is not set up: set tracker.client_id to the client ID of the web client of Trakt (/docs/sources/trakt explains it)",
		"尚未配置邮箱登录：请把 tracker.client_id 设为 Trakt 网页端的 Client ID（含义见 /docs/sources/trakt）").For(reason.Conflict)
	// ErrNoApp says that no application of the tracker is set up.
	ErrNoApp = reason.New("tracker_no_app", "no Trakt application is set up: set tracker.app_client_id and tracker.app_client_secret, or sign in by e-mail",
		"尚未配置 Trakt 应用：请设置 tracker.app_client_id 和 tracker.app_client_secret，或用邮箱登录").For(reason.Conflict)
	// ErrNoLogin says that no sign-in waits for this code.
	ErrNoLogin = reason.New("tracker_no_login", "no sign-in waits for this code: request a new code",
		"没有等待此验证码的登录：请重新获取验证码").For(reason.Conflict)
	// ErrCodeExpired says that the code is older than five minutes and has expired.
	ErrCodeExpired = reason.New("tracker_code_expired", "the code is older than five minutes and has expired: request a new code",
		"验证码已超过五分钟，已过期：请重新获取验证码")
	// ErrTooManyCodes says that too many codes were wrong.
	ErrTooManyCodes = reason.New("tracker_too_many_codes", "too many wrong codes (MAX_OTP_ATTEMPTS is 5): this sign-in has ended, request a new code",
		"输错次数过多（上限 5 次）：此次登录已结束，请重新获取验证码")
	// ErrWrongCode says that the code of the mail is wrong or has expired.
	ErrWrongCode  = reason.New("tracker_wrong_code", "the code is wrong or has expired", "验证码不正确或已过期")
	wrongCodeLeft = reason.New("tracker_wrong_code_left", "{why}: {left} of {most} tries (MAX_OTP_ATTEMPTS) are left",
		"{why}：还可以尝试 {left} 次（共 {most} 次）")
	// ErrState says that the answer of the tracker does not belong to this sign-in.
	ErrState = reason.New("tracker_state", "the answer of Trakt does not belong to this sign-in: start it again",
		"Trakt 的响应不属于这次登录：请重新开始").For(reason.Upstream)
	// ErrLoginsFull says that too many sign-ins wait at once.
	ErrLoginsFull = reason.New("tracker_logins_full", "too many sign-ins are waiting: finish one of them, or try again in ten minutes",
		"等待中的登录过多：请完成其中一个，或十分钟后再试").For(reason.Conflict)
	// ErrNotFound says that no such Trakt user is connected.
	ErrNotFound = reason.New("tracker_not_found", "this Trakt user is not connected: GET /api/tracker/status lists the connected ones",
		"没有连接这个 Trakt 用户：GET /api/tracker/status 会列出已连接的用户").For(reason.NotFound)
	// ErrWhich says that several Trakt users are connected.
	ErrWhich = reason.New("tracker_which", "several Trakt users are connected: say which one with user_id",
		"已连接多个 Trakt 用户：请用 user_id 指定").For(reason.Conflict)
	// ErrDisconnected says that this Trakt user is not connected.
	ErrDisconnected = reason.New("tracker_disconnected", "this Trakt user is not connected: sign in",
		"该 Trakt 用户未连接：请登录").For(reason.Conflict)
	// ErrDead says that the tracker does not renew this sign-in any more.
	ErrDead = reason.New("tracker_dead", "Trakt does not renew this sign-in any more: sign in again",
		"Trakt 不再续期此登录：请重新登录").For(reason.Conflict)
	// ErrRefusedAgain says that the tracker refuses the sign-in although it was just renewed.
	ErrRefusedAgain = reason.New("tracker_refused_again", "Trakt refuses the sign-in although it was just renewed: sign in again if this goes on",
		"登录刚刚续期，仍被 Trakt 拒绝：若持续如此，请重新登录")
	// ErrRunning says that the history of the tracker is being read already.
	ErrRunning = reason.New("tracker_running", "the history of Trakt is being read already", "正在读取 Trakt 历史").For(reason.Conflict)
	// ErrNobody says that no Trakt user is connected.
	ErrNobody = reason.New("tracker_nobody", "no Trakt user is connected: sign in first", "没有已连接的 Trakt 用户：请先登录").For(reason.Conflict)

	// failed is an *Error: what was being done, and what is wrong.
	failed = reason.New("tracker_failed", "{doing}: {problem}", "{doing}：{problem}")
)
