package api

import (
	"watchmark/internal/platform/reason"
)

// What is wrong with a request, whatever it is about.
var (
	noSuchPath = reason.New("api_no_path", "There is nothing at this path. GET /api/docs lists what there is.",
		"此路径下没有内容，可用的接口见 GET /api/docs。").For(reason.NotFound)
	otherMethod  = reason.New("api_other_method", "This path takes {methods}, not {method}.", "此路径接受 {methods}，不接受 {method}。")
	serviceBusy  = reason.New("api_busy", "The service is busy: try again in a second.", "服务正忙，请稍后再试。").For(reason.Unavailable)
	requestEnded = reason.New("api_given_up", "The request was given up.", "请求已放弃。").For(reason.Unavailable)
	stopping     = reason.New("api_stopping", "The service is stopping.", "服务正在停止。").For(reason.Unavailable)
	badCursor    = reason.New("api_cursor", "this is no next_cursor of an earlier page", "这不是之前某一页返回的 next_cursor")
	fieldMissing = reason.New("api_missing", "missing", "缺少")
	notYesOrNo   = reason.New("api_not_yes_or_no", "is neither yes nor no: give true or false", "不是有效的是或否：请填 true 或 false")
	tooManyHosts = reason.New("api_too_many_hosts", "Too many hosts were tried: wait a moment.", "测试的主机过多，请稍等。").For(reason.TooMany)
)

// What is wrong with a webhook.
var (
	unknownSource = reason.New("webhook_source", "There is no such source: the path is /webhook/ and then one of {sources}.",
		"没有这种来源：路径是 /webhook/ 加上 {sources} 之一。").For(reason.NotFound)
	wrongKey = reason.New("webhook_key", "The webhook key is missing or wrong: copy the whole address from the page of this service into your media server.",
		"Webhook 密钥缺失或不正确：请把接入页面上的完整地址复制到媒体服务器。").For(reason.Unauthorized)
	legacyOff = reason.New("webhook_legacy_off",
		"This is an address of Bangumi-syncer, which is not answered: switch on the setting server.legacy_paths, or enter the address from the page of this service into your media server.",
		"这是 Bangumi-syncer 的地址，当前未启用：请打开设置 server.legacy_paths，或将接入页面上的地址填入媒体服务器。").For(reason.NotFound)
	wrongLegacyKey = reason.New("webhook_legacy_key", "The key at the end of the address is missing or wrong: it is the one of the setting server.legacy_key.",
		"地址末尾的密钥缺失或不正确：应为设置 server.legacy_key 的值。").For(reason.Unauthorized)
	tooManyOpen = reason.New("webhook_too_many", "Too many webhooks without a key from this address: wait a second, or set server.legacy_key, which lifts this bound.",
		"此地址发来的无密钥 Webhook 过多：请稍等一秒，或设置 server.legacy_key，设置后不再受此限制。").For(reason.TooMany)
	bodyLarge = reason.New("webhook_body_large", "The body is larger than {size} MiB, which the setting server.max_body_mb allows.",
		"请求内容超过了设置 server.max_body_mb 允许的 {size} MiB。")
	bodyLate   = reason.New("webhook_body_late", "The body did not arrive in time.", "请求内容没有及时送达。")
	bodyBroken = reason.New("webhook_body_broken", "The connection broke before the whole body was there.", "请求内容尚未完整送达，连接就断开了。").For(reason.Invalid)
	otherMedia = reason.New("webhook_media_type", "The body is neither JSON nor a form: send JSON.", "请求内容既不是 JSON 也不是表单：请发送 JSON。")
	notStored  = reason.New("webhook_not_stored", "The event could not be stored: look at the log of this service and at the space on its disk, and send it again.",
		"事件无法保存：请查看服务日志和磁盘剩余空间，然后重新发送。").For(reason.Unavailable)
	keyLocked = reason.New("webhook_key_locked", "The webhook key is set by {place}: change it there.", "Webhook 密钥由{place}设定，请在那里修改。").For(reason.Conflict)
)

// What the catalog has against a request, and what the catalog is needed for.
var (
	catalogUnreachable = reason.New("api_catalog_unreachable",
		"The catalog could not be reached: try again later, and check catalog.api_url and network.proxy in the settings.",
		"无法连接 Bangumi：请稍后重试，并检查设置中的 catalog.api_url 和 network.proxy。").For(reason.Upstream)
	catalogUnauthorized = reason.New("api_catalog_unauthorized", "The catalog refused the token: connect the account again or enter a new token.",
		"Bangumi 拒绝了令牌：请重新授权或填写新令牌。").For(reason.Upstream)
	catalogForbids = reason.New("api_catalog_forbids", "The catalog forbids this: the token lacks a permission, or the account may not do it.",
		"Bangumi 不允许此操作：令牌缺少权限，或该账号无权操作。").For(reason.Upstream)
	catalogUnknown = reason.New("api_catalog_unknown", "The catalog does not know what was asked for.", "Bangumi 上没有所请求的内容。").For(reason.Upstream)
	catalogRefused = reason.New("api_catalog_refused", "The catalog refused the request.", "Bangumi 拒绝了请求。").For(reason.Upstream)
	catalogLater   = reason.New("api_catalog_later", "The catalog cannot be asked at the moment: try again later, or choose one of the candidates.",
		"目前无法查询 Bangumi：请稍后再试，或选择已有的候选条目。").For(reason.Unavailable)
	undoLater = reason.New("api_undo_later",
		"The catalog cannot be reached, so the marks that this answer led to cannot be taken back. The answer stays: undo it again later.",
		"无法连接 Bangumi，因此无法撤回这次答复所做的标记。答复保持不变，请稍后再撤销。").For(reason.Unavailable)
	subjectHidden = reason.New("api_subject_hidden", "The catalog shows no such subject: it does not exist, or is hidden from look-ups without a login.",
		"Bangumi 没有显示这个条目：不存在，或未登录时不可见。").For(reason.NotFound)
	tokenAccepted = reason.New("api_token_accepted", "The catalog accepts the token of {account}.", "{account} 的令牌有效。")
	probeAnswered = reason.New("probe_answered", "The catalog answers and takes the token of {account}.", "Bangumi 可用，{account} 的令牌有效。")
	probeNobody   = reason.New("probe_no_account", "There is no enabled account to probe with: add one on the accounts page.",
		"没有已启用的账号可用于检测：请到账号页面添加。")
	probeNoToken = reason.New("probe_no_token", "The account {account} has no access token: enter one on the accounts page.",
		"账号 {account} 没有令牌：请到账号页面填写。")
	probeForeign = reason.New("probe_foreign", "The catalog answers, but the token of {account} is not its own.", "Bangumi 可用，但账号 {account} 的令牌属于别的用户。")
)

// What is wrong with a dump, with days, and with what the archive is asked for.
var (
	badDays    = reason.New("archive_days", "it must be a day from the first on, at most 31 days after it", "必须不早于起始日，且最多在其后 31 天")
	notArchive = reason.New("archive_no_subject", "The offline archive has no such subject: it may be newer than the archive, or merged into another one.",
		"离线数据中没有这个条目：可能比数据更新，或已合并到其他条目。").For(reason.NotFound)
	uploading  = reason.New("upload_running", "Another upload is under way: wait for it to end.", "已有文件正在上传，请等它结束。").For(reason.Conflict)
	noFile     = reason.New("upload_no_file", "The form has no file.", "表单里没有文件。").For(reason.Invalid)
	noZip      = reason.New("upload_no_zip", "Send the zip itself as application/zip, or a form with it as a file.", "请以 application/zip 发送 zip 本身，或用表单上传该文件。")
	dumpLarge  = reason.New("upload_large", "The file is larger than {size} MiB, so it is no dump.", "文件大于 {size} MiB，不是数据文件。")
	uploadEnds = reason.New("upload_broken", "The upload broke off: send it again.", "上传中断，请重新上传。").For(reason.Invalid)
)

// What is wrong with a document of mappings.
var (
	tooManyLines = reason.New("import_lines", "has {count} lines, and an import takes {most}: import it in parts", "有 {count} 行，一次最多导入 {most} 行：请分批导入")
	lineNoJSON   = reason.New("import_line_no_json", "no JSON", "不是 JSON")
	lineNumber   = reason.New("import_line_number", "a number is too large, or no whole one", "有数字过大，或不是整数")
	lineField    = reason.New("import_line_field", "{location}: {what}", "{location}：{what}")
	// A place in braces would be an argument, so the shape is one.
	importNoJSON = reason.New("import_no_json", "This is no JSON: look at line {line}. And it must be {shape}, as the export makes it.",
		"这不是 JSON：请看第 {line} 行。另外，必须是 {shape} 的形式，与导出的一样。").For(reason.Invalid)
	importOther = reason.New("import_other", "This document is of another kind: it must be {shape}, as the export makes it.",
		"这不是映射文件：必须是 {shape} 的形式，与导出的一样。").For(reason.Invalid)
)

// What is wrong with other requests.
var (
	noChannelOn   = reason.New("channels_none_on", "There is no channel that is switched on: add one first, or switch one on.", "没有启用的通知渠道：请先添加一个，或启用已有的渠道。").For(reason.Conflict)
	configBroken  = reason.New("channel_config", "cannot be read", "无法读取")
	boxChoice     = reason.New("device_choice", "name the box by its address or by its uuid, and by one of them only", "请用地址或 uuid 之一指定盒子，不要两个都填")
	backupWithout = reason.New("backup_without_login", "A backup holds the tokens of all accounts, and this service asks nobody for a login: turn auth.enabled on, or take the file from its folder.",
		"备份中包含所有账号的令牌，而本服务未启用登录：请开启 auth.enabled，或直接到目录中取用文件。").For(reason.Forbidden)
	sessionNeeded = reason.New("login_session_needed", "Sign in with the password first: only a session can change how one signs in.",
		"请先用密码登录：只有登录会话才能更改登录方式。").For(reason.Forbidden)
	wrongPassword    = reason.New("login_password", "this is not the password", "密码不正确")
	wrongOldPassword = reason.New("login_old_password", "this is not the password until now", "旧密码不正确")
	publicAddress    = reason.New("oidc_public_address", "Open {address}: signing in by the provider works at the public address only.",
		"请打开 {address}：通过登录服务登录只能在对外地址进行。").For(reason.Conflict)
	notLoaded = reason.New("oidc_way_back", "This is where the provider leads people back to: pages cannot load it.", "此地址仅供登录服务返回时跳转，页面无法加载它。").For(reason.Forbidden)
)

// What became of a webhook.
var (
	accepted  = reason.New("accepted", "accepted", "已接收")
	filmBegan = reason.New("film_began", "Playback of a film began: only its end is marked, unless the setting sync.film_start_marks_doing is on.",
		"剧场版开始播放：看完才会标记，除非启用了设置 sync.film_start_marks_doing。")
	playbackBegan = reason.New("playback_began", "Playback began: only its end is marked.", "开始播放：看完才会标记。")
)

// takenBack is why a mark was taken back.
var takenBack = reason.New("taken_back", "taken back by a person", "已手动撤回")
