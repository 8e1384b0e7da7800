package settings

import (
	"slices"
	"time"
)

// unit is what a number counts: one of name is size nanoseconds for a *time.Duration, and
// size bytes for an *int64. A number that is kept as it is needs no size.
type unit struct {
	name Unit
	size int64
}

var (
	milliseconds = unit{"milliseconds", int64(time.Millisecond)}
	seconds      = unit{"seconds", int64(time.Second)}
	minutes      = unit{"minutes", int64(time.Minute)}
	hours        = unit{"hours", int64(time.Hour)}
	days         = unit{"days", int64(24 * time.Hour)}
	mebibytes    = unit{"mebibytes", 1 << 20}
	megabytes    = unit{name: "megabytes"}
	percent      = unit{name: "percent"}
)

// section is one [section] of the file, with its options in the order of the page.
type section struct {
	name           string
	label, labelZH string
	help, zh       string
	options        []option
}

// option declares one key.
type option struct {
	path     string // section.name; table fills it in
	name     string
	at       any // the field of Settings; its type decides the key's type and whether it is secret
	unit     unit
	standard any                          // the default: string, bool, int, float64 or []string
	min, max float64                      // bounds of a number, both included
	choices  []Choice                     // the values allowed, when there are few
	check    func(string) (string, error) // normalises and checks a text or each item of a list
	form     Form                         // what a text is made of, where a page can help to write it
	zone     string                       // of a Cron that names none; "" = the local time
	restart  bool                         // a change is in force after a restart only
	advanced bool                         // there is rarely a reason to change it

	label, labelZH string // what it is called on the page
	help, zh       string
}

// table declares every key of the service and binds it to its field of s.
func table(s *Settings) []section {
	sections := []section{
		{name: "server",
			label: "Server", labelZH: "服务器",
			help: "Where the service listens and what it keeps.",
			zh:   "服务的监听地址与数据保留。",
			options: []option{
				{name: "listen", at: &s.Server.Listen, standard: "127.0.0.1:8787", check: checkListen, restart: true,
					label: "Listening address", labelZH: "监听地址",
					help: "Address and port to listen on. 0.0.0.0:8787 listens on every address.",
					zh:   "监听的地址与端口。0.0.0.0:8787 表示监听所有地址。"},
				{name: "base_path", at: &s.Server.BasePath, standard: "", check: checkBasePath, restart: true,
					label: "Base path", labelZH: "访问路径",
					help: "Path under which a reverse proxy serves Watchmark, for example /watchmark. Empty means the root.",
					zh:   "反向代理下的访问路径，例如 /watchmark。留空表示根路径。"},
				{name: "public_url", at: &s.Server.PublicURL, standard: "", check: optional(checkURL), form: URL,
					label: "Public address", labelZH: "对外地址",
					help: "Address at which people and media servers reach Watchmark, base path included. It is used for the sign-in redirect of the catalog and in the webhook addresses shown. Empty means: taken from the request.",
					zh:   "用户和媒体服务器访问 Watchmark 的完整地址（含访问路径），用于 Bangumi 授权回调和页面上显示的 Webhook 地址。留空则根据请求自动判断。"},
				{name: "max_body_mb", at: &s.Server.MaxBody, unit: mebibytes, standard: 4, min: 1, max: 64, advanced: true,
					label: "Largest webhook", labelZH: "Webhook 大小上限",
					help: "Largest webhook body that is accepted, in MiB.",
					zh:   "允许的 Webhook 请求体大小上限，单位 MiB。"},
				{name: "trusted_proxies", at: &s.Server.TrustedProxies, standard: []string{}, check: checkNetwork, advanced: true,
					label: "Trusted proxies", labelZH: "受信任的反向代理",
					help: "Networks of the reverse proxies whose X-Forwarded headers are believed, for example 172.16.0.0/12.",
					zh:   "受信任的反向代理网段，例如 172.16.0.0/12；只有来自这些网段的 X-Forwarded 请求头才会被采信。"},
				{name: "webhook_log_days", at: &s.Server.WebhookLog, unit: days, standard: 7, min: 1, max: 365,
					label: "Keep the webhook log", labelZH: "Webhook 日志保留",
					help: "Days for which the webhook log keeps each request that arrived.",
					zh:   "Webhook 日志的保留天数。"},
				{name: "record_days", at: &s.Server.KeepRecords, unit: days, standard: 0, min: 0, max: 36500,
					label: "Keep records", labelZH: "同步记录保留",
					help: "Days for which records are kept. 0 keeps them for ever.",
					zh:   "同步记录的保留天数。0 表示永久保留。"},
			}},
		{name: "auth",
			label: "Sign-in and keys", labelZH: "登录与密钥",
			help: "Who may use the page, the API and the webhooks.",
			zh:   "页面、API 与 Webhook 的访问控制。",
			options: []option{
				{name: "enabled", at: &s.Auth.Enabled, standard: true,
					label: "Ask for a login", labelZH: "需要登录",
					help: "Ask for a login on the page and in the API. It can be switched off only while server.listen is a loopback or private address; the service then answers only at addresses and names of a home network, and at server.public_url.",
					zh:   "页面与 API 是否需要登录。仅当 server.listen 为本机或内网地址时才能关闭；关闭后只响应内网地址、内网主机名及 server.public_url。"},
				{name: "webhook_auth_enabled", at: &s.Auth.WebhookAuthEnabled, standard: true,
					label: "Ask for the webhook key", labelZH: "校验 Webhook 密钥",
					help: "Ask for the webhook key on every webhook.",
					zh:   "接收 Webhook 时是否校验密钥。"},
				{name: "webhook_key", at: &s.Auth.WebhookKey, standard: "", check: optional(checkWebhookKey),
					label: "Webhook key", labelZH: "Webhook 密钥",
					help: "Key that media servers send with a webhook. One is generated at the first start.",
					zh:   "媒体服务器发送 Webhook 时携带的密钥。首次启动时自动生成。"},
				{name: "session_days", at: &s.Auth.Session, unit: days, standard: 30, min: 1, max: 365,
					label: "Stay signed in", labelZH: "登录有效期",
					help: "Days after which a login on the page ends.",
					zh:   "登录状态的有效天数。"},
				{name: "lockout_attempts", at: &s.Auth.LockoutAttempts, standard: 5, min: 1, max: 100, advanced: true,
					label: "Failed logins before a lock", labelZH: "锁定前的失败次数",
					help: "Failed logins after which further ones are refused for a while.",
					zh:   "登录连续失败多少次后暂时锁定。"},
				{name: "lockout_minutes", at: &s.Auth.Lockout, unit: minutes, standard: 15, min: 1, max: 1440, advanced: true,
					label: "Length of the lock", labelZH: "锁定时长",
					help: "Minutes for which logins are refused then.",
					zh:   "锁定的分钟数。"},
			}},
		{name: "network",
			label: "Network", labelZH: "网络",
			help: "How the service reaches other servers.",
			zh:   "对外访问的网络设置。",
			options: []option{
				{name: "proxy", at: &s.Network.Proxy, standard: "", check: optional(checkProxy),
					label: "Proxy", labelZH: "代理",
					help: "Proxy for every outgoing request: an http, https, socks5 or socks5h URL, which may carry a user name and password. Empty takes HTTPS_PROXY, HTTP_PROXY and NO_PROXY of the environment.",
					zh:   "所有对外请求使用的代理：http、https、socks5 或 socks5h 地址，可包含用户名和密码。留空则采用环境变量 HTTPS_PROXY、HTTP_PROXY 和 NO_PROXY。"},
				{name: "timeout_seconds", at: &s.Network.Timeout, unit: seconds, standard: 15, min: 1, max: 120,
					label: "Timeout", labelZH: "请求超时",
					help: "Seconds after which an outgoing request is given up.",
					zh:   "对外请求的超时秒数。"},
			}},
		{name: "catalog",
			label: "Bangumi", labelZH: "Bangumi",
			help: "The catalog (Bangumi) and how gently it is asked.",
			zh:   "Bangumi 服务地址、访问频率与授权应用。",
			options: []option{
				{name: "api_url", at: &s.Catalog.APIURL, standard: "https://api.bgm.tv", check: checkURL, form: URL,
					label: "API address", labelZH: "API 地址",
					help: "Address of the catalog API.",
					zh:   "Bangumi API 的地址。"},
				{name: "web_url", at: &s.Catalog.WebURL, standard: "https://bgm.tv", check: checkURL, form: URL,
					label: "Website address", labelZH: "网站地址",
					help: "Address of the catalog's website, for links and for the sign-in of accounts.",
					zh:   "Bangumi 网站的地址，用于链接和账号授权。"},
				{name: "image_url", at: &s.Catalog.ImageURL, standard: "https://lain.bgm.tv", check: checkURL, form: URL, advanced: true,
					label: "Image address", labelZH: "图片地址",
					help: "Address of the catalog's images, from which covers are fetched. They are fetched from nowhere else, whatever address the API tells.",
					zh:   "Bangumi 图片服务器的地址，封面只从这里获取，不会访问 API 给出的其他地址。"},
				{name: "requests_per_minute", at: &s.Catalog.RequestsPerMinute, standard: 100, min: 1, max: 60000, advanced: true,
					label: "Requests per minute", labelZH: "每分钟请求数",
					help: "Requests a minute to the catalog on average. The public service bans a client for an hour above 3000 requests in ten minutes, so there ten times this plus catalog.burst must not be above 2400.",
					zh:   "平均每分钟向 Bangumi 发送的请求数。公共服务在十分钟内超过 3000 次请求会封禁一小时，因此使用公共服务时，本值的十倍加上 catalog.burst 不得超过 2400。"},
				{name: "burst", at: &s.Catalog.Burst, standard: 800, min: 1, max: 10000, advanced: true,
					label: "Requests at once", labelZH: "瞬时请求数",
					help: "Requests that may be sent at once after a quiet time.",
					zh:   "空闲之后允许瞬间发送的请求数。"},
				{name: "oauth_client_id", at: &s.Catalog.OAuthClientID, standard: "",
					label: "App ID", labelZH: "App ID",
					help: "App ID of your own catalog application, for signing accounts in without pasting a token. Create one at https://bgm.tv/dev/app.",
					zh:   "自建 Bangumi 应用的 App ID，用于免粘贴令牌的账号授权。在 https://bgm.tv/dev/app 创建。"},
				{name: "oauth_client_secret", at: &s.Catalog.OAuthClientSecret, standard: "",
					label: "App Secret", labelZH: "App Secret",
					help: "App Secret of that application.",
					zh:   "该应用的 App Secret。"},
			}},
		{name: "sync",
			label: "Marking", labelZH: "标记",
			help: "How an event becomes a mark.",
			zh:   "观看事件如何变成标记。",
			options: []option{
				{name: "test_skip_permission_check", at: &s.Sync.TestSkipPermissionCheck, standard: false, advanced: true,
					label: "Tests for any user name", labelZH: "测试不限用户名",
					help: "Let the two test endpoints run for a user name that no account lists. Webhooks are not affected.",
					zh:   "测试接口允许使用未绑定任何账号的用户名。不影响 Webhook。"},
				{name: "film_start_marks_doing", at: &s.Sync.FilmStartMarksDoing, standard: false,
					label: "Mark films at their start", labelZH: "电影开播即标「在看」",
					help: "Mark a film as being watched when its playback starts.",
					zh:   "电影开始播放时标记为「在看」。"},
				{name: "coalesce_ms", at: &s.Sync.Coalesce, unit: milliseconds, standard: 300, min: 0, max: 10000, advanced: true,
					label: "Wait for more events", labelZH: "合并等待时间",
					help: "Milliseconds to wait for more events of the same subject, so that a burst becomes one write. 0 does not wait.",
					zh:   "等待同一条目更多事件的毫秒数，将连续事件合并为一次写入。0 表示不等待。"},
				{name: "workers", at: &s.Sync.Workers, standard: 4, min: 1, max: 32, restart: true, advanced: true,
					label: "Events at the same time", labelZH: "并行处理数",
					help: "Events worked on at the same time.",
					zh:   "同时处理的事件数。"},
			}},
		{name: "matching",
			label: "Matching", labelZH: "匹配",
			help: "When a match is good enough to act on. Scores are ratios from 0 to 1.",
			zh:   "匹配到什么程度才会自动标记。分数范围为 0 到 1。",
			options: []option{
				{name: "dataset_enabled", at: &s.Matching.DatasetEnabled, standard: true,
					label: "Use the id table", labelZH: "使用 ID 对照表",
					help: "Use the community table of bangumi-data, which leads from the ids of other sites (such as TMDB) and from titles to subjects. It is part of the program; off, it is neither asked nor refreshed.",
					zh:   "使用社区维护的对照表 bangumi-data，由 TMDB 等站点的 ID 以及标题直接找到条目。对照表已内置于程序；关闭后既不查询也不更新。"},
				{name: "dataset_url", at: &s.Matching.DatasetURL, standard: "https://unpkg.com/bangumi-data@0.3/dist/data.json", check: checkURL, form: URL, advanced: true,
					label: "Address of the id table", labelZH: "对照表地址",
					help: "Address of the newest table, the file data.json of bangumi-data.",
					zh:   "最新对照表的地址，即 bangumi-data 的 data.json 文件。"},
				{name: "dataset_cron", at: &s.Matching.DatasetCron, standard: "30 8 * * 3", check: optional(checkCron), form: Cron, advanced: true,
					label: "Refresh the id table", labelZH: "对照表更新时间",
					help: "When a newer table is fetched, as a cron expression of five fields in the local time. Empty means never.",
					zh:   "更新对照表的时间，五段 cron 表达式，按本地时区。留空表示从不更新。"},
				{name: "arbiter_enabled", at: &s.Matching.ArbiterEnabled, standard: false,
					label: "Weigh all layers together", labelZH: "综合裁决",
					help: "Ask all layers before anything is decided and weigh their candidates together: still fewer wrong marks, more questions, and the catalog is asked for every match. docs/matching.md has the figures.",
					zh:   "先询问所有匹配层，再综合权衡候选条目：误标更少，但需要人工确认的更多，且每次匹配都会请求 Bangumi。数据见 docs/matching.md。"},
				{name: "live_action_enabled", at: &s.Matching.LiveActionEnabled, standard: false,
					label: "Look for live action too", labelZH: "同时查找三次元条目",
					help: "Look for a title that is no anime among the live-action entries of the catalog. What a media server itself calls live action is looked for there anyway.",
					zh:   "动画中没有匹配时，再到三次元条目中查找。媒体服务器已标明为真人影视的内容不受此项影响。"},
				{name: "accept_score", at: &s.Matching.AcceptScore, standard: 0.85, min: 0, max: 1,
					label: "Mark from this confidence", labelZH: "自动标记的置信度",
					help: "Confidence from which a match is marked without asking.",
					zh:   "置信度达到该值时自动标记。"},
				{name: "review_score", at: &s.Matching.ReviewScore, standard: 0.5, min: 0, max: 1,
					label: "Ask from this confidence", labelZH: "人工确认的置信度",
					help: "Confidence from which a match waits for a person; below it nothing was found. Not above matching.accept_score.",
					zh:   "置信度达到该值但不足以自动标记时等待人工确认，低于该值视为未找到。不得高于 matching.accept_score。"},
				{name: "margin", at: &s.Matching.Margin, standard: 0.04, min: 0, max: 1, advanced: true,
					label: "Lead over the second", labelZH: "领先分差",
					help: "Lead that the best candidate needs over the second to be marked without asking.",
					zh:   "自动标记时，最佳候选必须领先第二名的分数。"},
			}},
		{name: "catalog_archive",
			label: "Offline archive", labelZH: "离线数据",
			help: "The offline archive: a local copy of the catalog's weekly dump, which is asked before the catalog.",
			zh:   "离线数据：Bangumi 每周数据的本地副本，匹配时优先查询。",
			options: []option{
				{name: "enabled", at: &s.CatalogArchive.Enabled, standard: false,
					label: "Use the archive", labelZH: "启用离线数据",
					help: "Match with the local copy before asking the catalog: instant, and it goes on while the catalog is down. Switching it on downloads some 0.45 GB and keeps about 0.15 GB.",
					zh:   "匹配时先查本地副本，再请求 Bangumi：速度快，且 Bangumi 无法访问时仍可匹配。启用后会下载约 0.45 GB 数据，长期占用约 0.15 GB。"},
				{name: "data_dir", at: &s.CatalogArchive.DataDir, standard: DefaultArchiveDir, restart: true, check: checkFolder, advanced: true,
					label: "Folder", labelZH: "存放目录",
					help: "Folder of the local copy. The default is the folder archive in the data folder, wherever that is.",
					zh:   "本地副本所在目录。默认为数据目录中的 archive 目录。"},
				{name: "update_cron", at: &s.CatalogArchive.UpdateCron, standard: "0 8 * * 3", check: checkCron, form: Cron, zone: "Asia/Shanghai",
					label: "Look for a newer dump", labelZH: "检查更新时间",
					help: "When a newer dump is looked for, as a cron expression of five fields in the time zone Asia/Shanghai, where it is published; put CRON_TZ=Europe/Berlin and a space before it for another zone.",
					zh:   "检查新数据的时间，五段 cron 表达式，默认按 Asia/Shanghai 时区；可在前面加 CRON_TZ=Europe/Berlin 和空格以使用其他时区。"},
				{name: "pointer_url", at: &s.CatalogArchive.PointerURL, standard: "https://raw.githubusercontent.com/bangumi/Archive/master/aux/latest.json", check: checkURL, form: URL, advanced: true,
					label: "Address of the pointer file", labelZH: "指针文件地址",
					help: "Address of the JSON file that names the newest dump.",
					zh:   "指明最新数据的 JSON 文件地址。"},
				{name: "mirrors", at: &s.CatalogArchive.Mirrors, standard: []string{}, check: checkMirror,
					label: "Mirrors", labelZH: "镜像",
					help: "Addresses such as https://mirror.example/ that are put before the whole original address when it cannot be reached, in this order. Whoever runs a mirror could serve another dump; where the pointer file names a digest, it is checked.",
					zh:   "原地址无法访问时依次使用的镜像前缀，例如 https://mirror.example/，会加在完整的原地址之前。数据以摘要校验（若提供）。"},
				{name: "min_free_mb", at: &s.CatalogArchive.MinFreeMB, standard: 3000, min: 0, max: 1000000, unit: megabytes, advanced: true,
					label: "Free space needed", labelZH: "最少可用空间",
					help: "Megabytes that must be free on the disk for an import; with less it is skipped.",
					zh:   "导入前磁盘至少需要的可用空间（MB），不足时跳过导入。"},
			}},
		{name: "catalog_replay",
			label: "Waiting marks", labelZH: "等待中的标记",
			help: "Marks that wait because the catalog could not be reached.",
			zh:   "Bangumi 无法访问时排队等待的标记。",
			options: []option{
				{name: "enabled", at: &s.CatalogReplay.Enabled, standard: true,
					label: "Send again by itself", labelZH: "自动重试",
					help: "Send waiting marks again on their own.",
					zh:   "自动重新发送等待中的标记。"},
				{name: "max_retries", at: &s.CatalogReplay.MaxRetries, standard: 50, min: 1, max: 1000,
					label: "Attempts", labelZH: "最多重试次数",
					help: "Attempts after which a waiting mark is given up and shown as an error.",
					zh:   "重试多少次后放弃并显示为错误。"},
				{name: "cron", at: &s.CatalogReplay.Cron, standard: "*/5 * * * *", check: checkCron, form: Cron, advanced: true,
					label: "Look besides", labelZH: "额外检查时间",
					help: "When waiting marks are looked at besides, as a cron expression of five fields in the local time. A mark is tried again by itself as soon as it is due and the catalog answers, so there is rarely a reason to change this.",
					zh:   "额外检查等待中标记的时间，五段 cron 表达式，按本地时区。标记到期且 Bangumi 可访问时会立即自动重试，一般无需修改。"},
			}},
		{name: "nas",
			label: "NAS (fnOS)", labelZH: "飞牛 NAS",
			help: "The media library of a NAS (fnOS), read from its own database without changing it. docs/sources.md says how to connect it.",
			zh:   "飞牛 fnOS 的影视媒体库：只读其数据库，不做任何改动。连接方法见 docs/sources.md。",
			options: []option{
				{name: "enabled", at: &s.NAS.Enabled, standard: false,
					label: "Read the library", labelZH: "读取观看记录",
					help: "Read what was watched. It begins with what is watched after this is switched on.",
					zh:   "是否读取观看记录。只处理开启之后的观看。"},
				{name: "database_path", at: &s.NAS.DatabasePath, standard: "/usr/local/apps/@appdata/trim.media/database/trimmedia.db", check: checkFile,
					label: "Database of the library", labelZH: "数据库路径",
					help: "The database of the library. In a container this is the path inside of it, and the whole folder of the file must be mounted, read-only.",
					zh:   "媒体库数据库文件的路径。在容器中运行时填写容器内的路径，并以只读方式挂载该文件所在的整个目录。"},
				{name: "user", at: &s.NAS.User, standard: "all", check: checkGUID,
					label: "Whose plays", labelZH: "读取哪些用户",
					help: "Whose plays are read: all, or the guid of one user of the NAS. GET /api/nas/users lists them.",
					zh:   "读取哪些用户的观看记录：all 表示全部，或填写某个用户的 guid（可由 GET /api/nas/users 查询）。"},
				{name: "min_percent", at: &s.NAS.MinPercent, standard: 85, min: 1, max: 100, unit: percent,
					label: "Watched from", labelZH: "看完的进度",
					help: "Share of its length in percent from which a play counts as watched, beside what the NAS itself marks watched.",
					zh:   "播放进度达到多少百分比视为看完。NAS 已标记为看完的不受此限制。"},
				{name: "range", at: &s.NAS.Range, standard: "all", choices: []Choice{{"all", "Everything", "全部"}, {"1day", "1 day", "1 天"}, {"1week", "1 week", "1 周"}, {"1month", "1 month", "1 个月"}},
					label: "Look back at most", labelZH: "最多回溯",
					help: "How far back a scan looks at most. What was watched before the source was switched on is not read in any case.",
					zh:   "每次读取最多回溯多久。无论如何都不会读取开启之前的观看记录。"},
				{name: "limit", at: &s.NAS.Limit, standard: 100, min: 1, max: 1000, advanced: true,
					label: "Plays per scan", labelZH: "每次最多条数",
					help: "Most plays that one scan takes, oldest first; the next one goes on from there.",
					zh:   "每次读取最多处理的条数，从最早的开始，其余留待下次。"},
				{name: "cron", at: &s.NAS.Cron, standard: "*/5 * * * *", check: checkCron, form: Cron,
					label: "Read the library at", labelZH: "读取时间",
					help: "When the library is read, as a cron expression of five fields in the local time.",
					zh:   "读取媒体库的时间，五段 cron 表达式，按本地时区。"},
			}},
		{name: "device",
			label: "TV boxes", labelZH: "电视盒子",
			help: "TV boxes with FongMi TV or a fork of it, which are asked over the home network what they play.",
			zh:   "安装 FongMi 影视及其衍生版本的电视盒子：通过局域网查询正在播放的内容。",
			options: []option{
				{name: "enabled", at: &s.Device.Enabled, standard: false,
					label: "Ask the boxes", labelZH: "查询播放状态",
					help: "Ask the boxes below what they play, and mark what was played to the end.",
					zh:   "查询下列盒子的播放状态，并标记看完的内容。"},
				{name: "addresses", at: &s.Device.Addresses, standard: []string{}, check: checkBox,
					label: "Boxes", labelZH: "盒子地址",
					help: "Boxes: host or host:port, for example 192.168.1.5. Without a port the first of 9978 to 9998 at which a player answers is taken. Private addresses only.",
					zh:   "盒子的地址：主机或主机:端口，例如 192.168.1.5。不写端口时依次尝试 9978 至 9998。仅限内网地址。"},
				{name: "subnets", at: &s.Device.Subnets, standard: []string{}, check: checkSubnet,
					label: "Networks to look in", labelZH: "扫描网段",
					help: "Private networks in which boxes are looked for at port 9978, for example 192.168.1.0/24; a /22 at most. Empty means: only the addresses above.",
					zh:   "在这些内网网段的 9978 端口查找盒子，例如 192.168.1.0/24，最大为 /22。留空表示只使用上面的地址。"},
				{name: "scan_hours", at: &s.Device.ScanEvery, unit: hours, standard: 6, min: 0, max: 168,
					label: "Look for boxes every", labelZH: "扫描间隔",
					help: "Hours between two looks through device.subnets; there is one at the start and when they change, too. 0 looks only when told to.",
					zh:   "每隔多少小时扫描一次 device.subnets，启动时和网段更改后也会扫描一次。0 表示仅手动扫描。"},
				{name: "min_percent", at: &s.Device.MinPercent, standard: 80, min: 50, max: 99, unit: percent,
					label: "Watched from", labelZH: "看完的进度",
					help: "Percent of the running time from which something counts as watched. Boxes jump on to the next episode before the end, so much more than 80 misses some.",
					zh:   "播放进度达到百分之多少视为看完。盒子常在片尾前自动跳到下一集，过高会漏记。"},
			}},
		{name: "tracker",
			label: "Tracker (Trakt)", labelZH: "Trakt",
			help: "The watch tracker (Trakt) whose history is taken in. docs/sources.md says how to sign in.",
			zh:   "从观影记录服务（Trakt）读取观看历史。登录方法见 docs/sources.md。",
			options: []option{
				{name: "enabled", at: &s.Tracker.Enabled, standard: false,
					label: "Read histories", labelZH: "读取观看历史",
					help: "Read the history of those who are connected, and keep their sign-ins alive.",
					zh:   "读取已连接用户的观看历史，并保持登录有效。"},
				{name: "auth_url", at: &s.Tracker.AuthURL, standard: "https://auth.trakt.tv", check: checkURL, form: URL, advanced: true,
					label: "Sign-in address", labelZH: "登录服务地址",
					help: "Address of the tracker's sign-in.",
					zh:   "登录服务的地址。"},
				{name: "api_url", at: &s.Tracker.APIURL, standard: "https://apiz.trakt.tv", check: checkURL, form: URL, advanced: true,
					label: "Data address, by e-mail", labelZH: "数据接口地址（邮箱登录）",
					help: "Address of the data for those who signed in by e-mail.",
					zh:   "通过邮箱登录时使用的数据接口地址。"},
				{name: "client_id", at: &s.Tracker.ClientID, standard: "",
					label: "Client id, by e-mail", labelZH: "客户端 ID（邮箱登录）",
					help: "Client id for signing in by e-mail: that of the tracker's web client. There is none built in; this way is not documented by the tracker, may stop working and may be against its terms. Empty means that nobody can sign in by e-mail.",
					zh:   "邮箱登录使用的客户端 ID，即该服务网页端的客户端 ID，程序不内置。此方式未被官方公开，随时可能失效，也可能违反其服务条款。留空表示不可通过邮箱登录。"},
				{name: "redirect_uri", at: &s.Tracker.RedirectURI, standard: "https://app.trakt.tv/callback", check: checkCallback, form: URL, advanced: true,
					label: "Redirect address, by e-mail", labelZH: "回调地址（邮箱登录）",
					help: "Redirect address that belongs to that client id. It is named and never opened.",
					zh:   "该客户端 ID 对应的回调地址，仅用于声明，不会被访问。"},
				{name: "app_api_url", at: &s.Tracker.AppAPIURL, standard: "https://api.trakt.tv", check: checkURL, form: URL, advanced: true,
					label: "Data address, own application", labelZH: "数据接口地址（自建应用）",
					help: "Address of the data for those who signed in with an application.",
					zh:   "通过自建应用登录时使用的数据接口地址。"},
				{name: "app_client_id", at: &s.Tracker.AppClientID, standard: "",
					label: "Client id, own application", labelZH: "Client ID（自建应用）",
					help: "Client id of your own application at the tracker, for signing in by browser or device code. Creating one needs VIP there.",
					zh:   "自建应用的 Client ID，用于浏览器授权或设备码登录。在该服务创建应用需要 VIP。"},
				{name: "app_client_secret", at: &s.Tracker.AppClientSecret, standard: "",
					label: "Client secret, own application", labelZH: "Client Secret（自建应用）",
					help: "Client secret of that application.",
					zh:   "该应用的 Client Secret。"},
				{name: "cron", at: &s.Tracker.Cron, standard: "0 */6 * * *", check: optional(checkCron), form: Cron,
					label: "Read histories at", labelZH: "读取时间",
					help: "When the history is read, as a cron expression of five fields in the local time. Empty means never by itself.",
					zh:   "读取观看历史的时间，五段 cron 表达式，按本地时区。留空表示不自动读取。"},
				{name: "genres", at: &s.Tracker.Genres, standard: []string{"anime", "donghua", "animation"},
					label: "Genres", labelZH: "类型",
					help: "Genres that are taken in. What has no genre and what a mapping names is taken in too. Empty takes everything.",
					zh:   "读取哪些类型。没有类型信息的内容和已有映射的标题也会读取。留空表示全部读取。"},
				{name: "overlap_hours", at: &s.Tracker.Overlap, unit: hours, standard: 48, min: 0, max: 8760, advanced: true,
					label: "Read again", labelZH: "重叠时长",
					help: "Hours before the last reading from which the history is read again, for plays that the tracker was told late.",
					zh:   "每次读取时向前重叠的小时数，用于补上较晚记录的观看。"},
			}},
		{name: "notification",
			label: "Notifications", labelZH: "通知",
			help: "What people are told, and in which language.",
			zh:   "通知的内容与语言。",
			options: []option{
				{name: "language", at: &s.Notification.Language, standard: "en", choices: []Choice{{"en", "English", "English"}, {"zh-CN", "简体中文", "简体中文"}},
					label: "Language", labelZH: "语言",
					help: "Language of notifications and of summaries.",
					zh:   "通知和总结使用的语言。"},
				{name: "airing_cron", at: &s.Notification.AiringCron, standard: "0 9 * * *", check: optional(checkCron), form: Cron,
					label: "Tell what airs today", labelZH: "今日放送的时间",
					help: "When people are told which episodes of what they are watching air today, as a cron expression of five fields in the local time. It is taken from the offline archive, so that must be switched on. Empty means never.",
					zh:   "通知「在看」的条目今天有哪些章节放送的时间，五段 cron 表达式，按本地时区。数据来自离线数据，需先启用。留空表示从不通知。"},
				{name: "silent_days", at: &s.Notification.SilentAfter, unit: days, standard: 14, min: 0, max: 365,
					label: "A source is silent after", labelZH: "来源静默的天数",
					help: "Days without an event after which a source that used to send some counts as silent. 0 means never.",
					zh:   "原本有事件的来源连续多少天没有事件后视为静默。0 表示从不。"},
			}},
		{name: "llm",
			label: "Language model", labelZH: "大模型",
			help: "The service that writes the summaries: any that speaks the chat completions of OpenAI. Titles and media-server user names of what was watched are sent to it. docs/summaries.md says more.",
			zh:   "撰写观看总结的服务，兼容 OpenAI 对话接口即可。观看记录中的标题和媒体服务器用户名会发送给它，详见 docs/summaries.md。",
			options: []option{
				{name: "base_url", at: &s.LLM.BaseURL, standard: "", check: optional(checkURL), form: URL,
					label: "Address", labelZH: "接口地址",
					help: "Address of the service up to its version, for example https://api.openai.com/v1, or that of a server of your own: http://192.168.1.5:11434/v1 (Ollama), http://127.0.0.1:1234/v1 (LM Studio), http://127.0.0.1:8080/v1 (llama.cpp). Nothing leaves the house with one of these. Empty means off: summaries are plain figures then.",
					zh:   "服务的接口地址，写到版本号为止，例如 https://api.openai.com/v1；也可以是自己的服务器：http://192.168.1.5:11434/v1（Ollama）、http://127.0.0.1:1234/v1（LM Studio）、http://127.0.0.1:8080/v1（llama.cpp），此时数据不会离开家庭网络。留空表示不使用，总结只含统计数字。"},
				{name: "api_key", at: &s.LLM.APIKey, standard: "", check: optional(checkAPIKey),
					label: "API key", labelZH: "API 密钥",
					help: "Key of the service. Servers of your own mostly need none.",
					zh:   "服务的 API 密钥。自建服务一般无需填写。"},
				{name: "model", at: &s.LLM.Model, standard: "",
					label: "Model", labelZH: "模型",
					help: "Name of the model as the service calls it. Empty leaves it to a server that has only one.",
					zh:   "模型名称，以服务提供的名称为准。只有一个模型的服务可以留空。"},
				{name: "timeout", at: &s.LLM.Timeout, unit: seconds, standard: 60, min: 5, max: 270,
					label: "Timeout", labelZH: "请求超时",
					help: "Seconds after which a request is given up. Models on a machine of your own may need more.",
					zh:   "请求的超时秒数。在自己的机器上运行的模型可能需要更长时间。"},
				{name: "max_tokens", at: &s.LLM.MaxTokens, standard: 2000, min: 0, max: 100000,
					label: "Longest answer", labelZH: "回答长度上限",
					help: "Most tokens of an answer. Models that think before they answer spend them on that too. 0 leaves it to the service.",
					zh:   "回答最多使用的 token 数，会先思考的模型也计入思考部分。0 表示由服务决定。"},
				{name: "temperature", at: &s.LLM.Temperature, standard: "", check: optional(checkTemperature), advanced: true,
					label: "Temperature", labelZH: "温度",
					help: "How freely the model writes, from 0 to 2. Empty leaves it to the service.",
					zh:   "模型行文的随意程度，0 到 2。留空表示由服务决定。"},
			}},
		{name: "log",
			label: "Log", labelZH: "日志",
			help: "What the service writes to its log.",
			zh:   "服务日志。",
			options: []option{
				{name: "level", at: &s.Log.Level, standard: "info", choices: []Choice{{"debug", "Debug", "调试"}, {"info", "Info", "信息"}, {"warn", "Warnings", "警告"}, {"error", "Errors", "错误"}},
					label: "Level", labelZH: "级别",
					help: "Least important message that is written.",
					zh:   "写入日志的最低级别。"},
				{name: "format", at: &s.Log.Format, standard: "text", choices: []Choice{{"text", "Text", "文本"}, {"json", "JSON", "JSON"}}, restart: true,
					label: "Format", labelZH: "格式",
					help: "text for people, json for log collectors.",
					zh:   "text 便于阅读，json 便于日志收集。"},
			}},
	}
	for i := range sections {
		for j := range sections[i].options {
			o := &sections[i].options[j]
			o.path = sections[i].name + "." + o.name
		}
	}
	return sections
}

// options lists the declared keys by path, unbound: for parsing, not for assigning.
func options() map[string]option {
	all := map[string]option{}
	for _, sec := range table(&Settings{}) {
		for _, o := range sec.options {
			all[o.path] = o
		}
	}
	return all
}

// isSectionName reports whether there is a section of that name.
func isSectionName(name string) bool {
	return slices.ContainsFunc(table(&Settings{}), func(sec section) bool { return sec.name == name })
}
