package api

import (
	"watchmark/internal/platform/reason"
)

// What is wrong with a request, whatever it is about.
var (
	noSuchPath = reason.New("api_no_path", "There is nothing at this path. GET /api/docs lists all paths.",
		"此路径下没有内容，可用的接口见 GET /api/docs。").For(reason.NotFound)
	otherMethod  = reason.New("api_other_method", "This path accepts {methods}, not {method}.", "此路径接受 {methods}，不接受 {method}。")
	serviceBusy  = reason.New("api_busy", "Watchmark is busy: try again in a second.", "服务正忙，请稍后再试。").For(reason.Unavailable)
	requestEnded = reason.New("api_given_up", "The request was cancelled.", "请求已取消。").For(reason.Unavailable)
	stopping     = reason.New("api_stopping", "Watchmark is stopping.", "服务正在停止。").For(reason.Unavailable)
	badCursor    = reason.New("api_cursor", "is not the next_cursor of an earlier page", "这不是之前某一页返回的 next_cursor")
	fieldMissing = reason.New("api_missing", "is missing", "缺少")
	notYesOrNo   = reason.New("api_not_yes_or_no", "must be true or false", "必须是 true 或 false")
	tooManyHosts = reason.New("api_too_many_hosts", "Too many hosts were tested: wait a moment.", "测试的主机过多，请稍等。").For(reason.TooMany)
)

// What is wrong with a webhook.
var (
	unknownSource = reason.New("webhook_source", "There is no such source: the path is /webhook/ followed by one of {sources}.",
		"没有这种来源：路径是 /webhook/ 加上 {sources} 之一。").For(reason.NotFound)
	wrongKey = reason.New("webhook_key", "The webhook key is missing or wrong: copy the whole address from the page Sources into your media server.",
		"Webhook 密钥缺失或不正确：请把“来源”页面上的完整地址复制到媒体服务器。").For(reason.Unauthorized)
	scrobbleKey = reason.New("scrobble_key", "The API key is missing or wrong: send one of your own as \"Authorization: Bearer KEY\".",
		"API 密钥缺失或不正确：请以“Authorization: Bearer KEY”发送自己的 API 密钥。").For(reason.Unauthorized)
	scrobbleNothing = reason.New("scrobble_nothing", "Stopped below 1 %: nothing was watched.", "在 1 % 之前停止：没有观看。")
	legacyOff       = reason.New("webhook_legacy_off",
		"This is an address of Bangumi-syncer, which is switched off: switch on server.legacy_paths, or copy the address from the page Sources into your media server.",
		"这是 Bangumi-syncer 的地址，当前未启用：请打开设置 server.legacy_paths，或把“来源”页面上的地址复制到媒体服务器。").For(reason.NotFound)
	wrongLegacyKey = reason.New("webhook_legacy_key", "The key at the end of the address is missing or wrong: it must be that of the setting server.legacy_key.",
		"地址末尾的密钥缺失或不正确：应为设置 server.legacy_key 的值。").For(reason.Unauthorized)
	tooManyOpen = reason.New("webhook_too_many", "Too many webhooks without a key from this address: wait a second, or set server.legacy_key, which lifts this limit.",
		"此地址发来的无密钥 Webhook 过多：请稍等一秒，或设置 server.legacy_key，设置后不再受此限制。").For(reason.TooMany)
	bodyLarge = reason.New("webhook_body_large", "The body is larger than {size} MiB, the limit of the setting server.max_body_mb.",
		"请求内容超过了设置 server.max_body_mb 允许的 {size} MiB。")
	bodyOver   = reason.New("webhook_body_over", "The body is larger than {size} KiB.", "请求内容超过了 {size} KiB。")
	bodyLate   = reason.New("webhook_body_late", "The body did not arrive in time.", "请求内容没有及时送达。")
	bodyBroken = reason.New("webhook_body_broken", "The connection broke before the whole body had arrived.", "请求内容尚未完整送达，连接就断开了。").For(reason.Invalid)
	otherMedia = reason.New("webhook_media_type", "The body is neither JSON nor a form: send JSON.", "请求内容既不是 JSON 也不是表单：请发送 JSON。")
	notStored  = reason.New("webhook_not_stored", "The event could not be saved: check the log of Watchmark and the free space on its disk, then send it again.",
		"事件无法保存：请查看服务日志和磁盘剩余空间，然后重新发送。").For(reason.Unavailable)
	keyLocked = reason.New("webhook_key_locked", "The webhook key is set by {place}: change it there.", "Webhook 密钥由{place}设定，请在那里修改。").For(reason.Conflict)
)

// What the catalog has against a request, and what the catalog is needed for.
var (
	catalogUnreachable = reason.New("api_catalog_unreachable",
		"Bangumi cannot be reached: try again later, and check catalog.api_url and network.proxy in the settings.",
		"无法连接 Bangumi：请稍后重试，并检查设置中的 catalog.api_url 和 network.proxy。").For(reason.Upstream)
	catalogUnauthorized = reason.New("api_catalog_unauthorized", "Bangumi refuses the token: sign in to Bangumi again, or enter a new token.",
		"Bangumi 拒绝了令牌：请重新登录 Bangumi，或填写新令牌。").For(reason.Upstream)
	catalogForbids = reason.New("api_catalog_forbids", "Bangumi does not allow this: the token lacks a permission, or the account may not do it.",
		"Bangumi 不允许此操作：令牌缺少权限，或该账号无权操作。").For(reason.Upstream)
	catalogUnknown = reason.New("api_catalog_unknown", "Bangumi does not have what was asked for.", "Bangumi 上没有所请求的内容。").For(reason.Upstream)
	catalogRefused = reason.New("api_catalog_refused", "Bangumi refused the request.", "Bangumi 拒绝了请求。").For(reason.Upstream)
	catalogLater   = reason.New("api_catalog_later", "Bangumi cannot be reached at the moment: try again later, or choose one of the candidates.",
		"目前无法连接 Bangumi：请稍后再试，或选择已有的候选条目。").For(reason.Unavailable)
	undoLater = reason.New("api_undo_later",
		"Bangumi cannot be reached, so the marks of this answer cannot be taken back. The answer stays: undo it again later.",
		"无法连接 Bangumi，因此无法撤回这次答复所做的标记。答复保持不变，请稍后再撤销。").For(reason.Unavailable)
	entryHidden = reason.New("api_subject_hidden", "Bangumi shows no such entry: it does not exist, or only a signed-in account may see it.",
		"Bangumi 没有显示这个条目：可能不存在，或登录后才可见。").For(reason.NotFound)
	tokenAccepted = reason.New("api_token_accepted", "Bangumi accepts the token of {account}.", "{account} 的令牌有效。")
	probeAnswered = reason.New("probe_answered", "Bangumi answers and accepts the token of {account}.", "Bangumi 可用，{account} 的令牌有效。")
	probeNobody   = reason.New("probe_no_account", "There is no enabled account to test with: add one on the page People.",
		"没有已启用的账号可用于检测：请到“成员”页面添加。")
	probeNoToken = reason.New("probe_no_token", "The account {account} has no access token: enter one on the page People.",
		"账号 {account} 没有令牌：请到“成员”页面填写。")
	probeForeign = reason.New("probe_foreign", "Bangumi answers, but the token of {account} belongs to another user.", "Bangumi 可用，但账号 {account} 的令牌属于别的用户。")
)

// What is wrong with a dump, with days, and with what the archive is asked for.
var (
	badDays    = reason.New("archive_days", "must be a day from the first one on, at most 31 days after it", "必须不早于起始日，且最多在其后 31 天")
	badZone    = reason.New("calendar_zone", "must be the IANA name of a time zone, such as Europe/Berlin", "必须是 IANA 时区名，例如 Asia/Shanghai")
	notArchive = reason.New("archive_no_subject", "The offline data have no such entry: it may be newer than the data, or merged into another entry.",
		"离线数据中没有这个条目：可能比数据更新，或已合并到其他条目。").For(reason.NotFound)
	uploading       = reason.New("upload_running", "Another upload is running: wait until it ends.", "已有文件正在上传，请等它结束。").For(reason.Conflict)
	noFile          = reason.New("upload_no_file", "The form has no file.", "表单里没有文件。").For(reason.Invalid)
	noZip           = reason.New("upload_no_zip", "Send the zip itself as application/zip, or a form with it as a file.", "请以 application/zip 发送 zip 本身，或用表单上传该文件。")
	dumpLarge       = reason.New("upload_large", "The file is larger than {size} MiB, so it is not a file of offline data.", "文件大于 {size} MiB，不是离线数据文件。")
	noImport        = reason.New("upload_no_import", "Send the file itself as application/octet-stream, or a form with it as a file.", "请以 application/octet-stream 发送文件本身，或用表单上传该文件。")
	importLarge     = reason.New("upload_import_large", "The file is larger than {size} MiB.", "文件大于 {size} MiB。")
	noOwnImportUser = reason.New("import_no_own_user", "your account names no media-server user of yours: ask the owner to add one to you", "你的账号没有填写属于你的媒体服务器用户：请所有者为你添加")
	noImportUser    = reason.New("import_no_preferred_user", "tell whose plays they are: the preferred account has no media-server user", "请指明是谁看的：首选账号没有媒体服务器用户")
	undoOneOf       = reason.New("undo_one_of", "give either since and until, or task_id", "请提供 since 和 until，或者只提供 task_id")
	undoFuture      = reason.New("undo_future", "nothing was written yet then: choose a moment that has passed", "那时还没有写入任何内容：请选择已经过去的时间")
	undoUntil       = reason.New("undo_until", "until must be after since", "until 必须晚于 since")
	wrongExport     = reason.New("export_format", "the format must be json, csv, mal or watches", "格式只能是 json、csv、mal 或 watches")
	uploadEnds      = reason.New("upload_broken", "The upload was interrupted: send it again.", "上传中断，请重新上传。").For(reason.Invalid)
)

// What is wrong with a document of mappings.
var (
	tooManyLines = reason.New("import_lines", "has {count} lines, but an import accepts {most}: import it in parts", "有 {count} 行，一次最多导入 {most} 行：请分批导入")
	lineNoJSON   = reason.New("import_line_no_json", "not JSON", "不是 JSON")
	lineNumber   = reason.New("import_line_number", "a number is too large, or not a whole number", "有数字过大，或不是整数")
	lineField    = reason.New("import_line_field", "{location}: {what}", "{location}：{what}")
	// A place in braces would be an argument, so the shape is one.
	importNoJSON = reason.New("import_no_json", "This is not JSON: see line {line}. It must be {shape}, like the export.",
		"这不是 JSON：请看第 {line} 行。必须是 {shape} 的形式，与导出的一样。").For(reason.Invalid)
	importOther = reason.New("import_other", "This is not a file of mappings: it must be {shape}, like the export.",
		"这不是映射文件：必须是 {shape} 的形式，与导出的一样。").For(reason.Invalid)
)

// What is wrong with other requests.
var (
	noChannelOn   = reason.New("channels_none_on", "No channel is switched on: add one first, or switch one on.", "没有启用的渠道：请先添加一个，或启用已有的渠道。").For(reason.Conflict)
	configBroken  = reason.New("channel_config", "cannot be read", "无法读取")
	boxChoice     = reason.New("device_choice", "name the TV box either by its address or by its uuid", "请用地址或 uuid 之一指定电视盒子，不要两个都填")
	backupWithout = reason.New("backup_without_login", "A backup contains the tokens of all accounts, and sign-in is turned off: turn auth.enabled on, or take the file from its folder.",
		"备份中包含所有账号的令牌，而登录已关闭：请开启 auth.enabled，或直接到目录中取用文件。").For(reason.Forbidden)
	sessionNeeded = reason.New("login_session_needed", "Sign in with the password first: how to sign in can be changed only by somebody who is signed in.",
		"请先用密码登录：只有登录后才能更改登录方式。").For(reason.Forbidden)
	wrongPassword    = reason.New("login_password", "the password is wrong", "密码不正确")
	wrongOldPassword = reason.New("login_old_password", "the old password is wrong", "旧密码不正确")
	publicAddress    = reason.New("oidc_public_address", "Open {address}: sign-in with the provider works at the public address only.",
		"请打开 {address}：通过登录服务登录只能在对外地址进行。").For(reason.Conflict)
	oidcReturnOnly = reason.New("oidc_return_only", "The provider sends people back to this address: pages cannot load it.", "此地址仅供登录服务返回时跳转，页面无法加载它。").Was("oidc_way_back").For(reason.Forbidden)
)

// What is wrong with an account of a person.
var (
	foreignMediaUser = reason.New("account_media_user_foreign", "{name:q} is not one of your media-server users: ask the owner to add it to you",
		"{name:q}不是你的媒体服务器用户：请让所有者把它添加给你")
	tokenMissing     = reason.New("account_token_missing", "paste a token: an account is added once Bangumi says that it is yours", "请粘贴令牌：Bangumi 确认是你的账号后才会添加")
	tokenOfOther     = reason.New("account_token_other", "this is the token of another Bangumi user", "这是另一个 Bangumi 用户的令牌")
	noAccountHolder  = reason.New("account_no_holder", "there is no person with this id who can have an account", "没有可拥有账号的成员使用这个编号")
	accountNameStays = reason.New("account_name_stays", "stays as it is: remove the account, and add the other one", "不能更改：请移除这个账号，再添加另一个")
)

// What became of a webhook.
var (
	accepted  = reason.New("accepted", "accepted", "已接收")
	filmBegan = reason.New("film_began", "Playback of a film started: it is marked when it ends, unless sync.film_start_marks_doing is on.",
		"剧场版开始播放：看完才会标记，除非启用了设置 sync.film_start_marks_doing。")
	playbackBegan = reason.New("playback_began", "Playback started: it is marked when it ends.", "开始播放：看完才会标记。")
)

// takenBack is why a mark was taken back.
var takenBack = reason.New("taken_back", "taken back by hand", "已手动撤回")
