package settings

func serverSection(s *Server) section {
	return section{
		name:  "server",
		label: "Server", labelZH: "服务器",
		help: "Where the service listens and what it keeps.",
		zh:   "服务的监听地址与数据保留。",
		options: []option{
			{name: "listen", own: true, at: &s.Listen, standard: "127.0.0.1:8787", check: checkListen, restart: true,
				label: "Listening address", labelZH: "监听地址",
				help: "Address and port to listen on. 0.0.0.0:8787 listens on every address.",
				zh:   "监听的地址与端口。0.0.0.0:8787 表示监听所有地址。"},
			{name: "base_path", at: &s.BasePath, standard: "", check: checkBasePath, restart: true,
				label: "Base path", labelZH: "访问路径",
				help: "Path under which a reverse proxy serves Watchmark, for example /watchmark. Empty means the root.",
				zh:   "反向代理下的访问路径，例如 /watchmark。留空表示根路径。"},
			{name: "public_url", at: &s.PublicURL, standard: "", check: optional(checkURL), form: URL,
				label: "Public address", labelZH: "对外地址",
				help: "Address at which people and media servers reach Watchmark, base path included. " +
					"It is used for the sign-in redirect of Bangumi and in the webhook addresses shown. Empty means: taken from the request.",
				zh: "用户和媒体服务器访问 Watchmark 的完整地址（含访问路径），用于 Bangumi 授权回调和页面上显示的 Webhook 地址。留空则根据请求自动判断。"},
			{name: "max_body_mb", at: &s.MaxBody, unit: mebibytes, standard: 4, min: 1, max: 64, advanced: true,
				label: "Largest webhook", labelZH: "Webhook 大小上限",
				help: "Largest webhook body that is accepted, in MiB.",
				zh:   "允许的 Webhook 请求体大小上限，单位 MiB。"},
			{name: "trusted_proxies", at: &s.TrustedProxies, standard: []string{}, check: checkNetwork, advanced: true,
				label: "Trusted proxies", labelZH: "受信任的反向代理",
				help: "Networks of each reverse proxy whose X-Forwarded headers are believed, for example 172.16.0.0/12.",
				zh:   "受信任的反向代理网段，例如 172.16.0.0/12；只有来自这些网段的 X-Forwarded 请求头才会被采信。"},
			{name: "tls_cert", own: true, at: &s.TLSCert, standard: "", check: optional(checkFile), restart: true, advanced: true,
				label: "Certificate", labelZH: "TLS 证书",
				help: "File with your own certificate and its chain (PEM), for HTTPS without a reverse proxy; together with server.tls_key. A renewed file is read automatically.",
				zh:   "自有证书及证书链文件（PEM），用于在没有反向代理时直接提供 HTTPS；须与 server.tls_key 同时设置。证书文件更新后会自动读取。"},
			{name: "tls_key", own: true, at: &s.TLSKey, standard: "", check: optional(checkFile), restart: true, advanced: true,
				label: "Private key of the certificate", labelZH: "TLS 私钥",
				help: "File with the private key of that certificate (PEM), without a passphrase.",
				zh:   "该证书的私钥文件（PEM），不能带密码。"},
			{name: "webhook_log_days", at: &s.WebhookLog, unit: days, standard: 7, min: 1, max: 365,
				label: "Keep the webhook log", labelZH: "Webhook 日志保留",
				help: "Days for which the webhook log keeps each request that arrived.",
				zh:   "Webhook 日志的保留天数。"},
			{name: "record_days", at: &s.KeepRecords, unit: days, standard: 0, min: 0, max: 36500,
				label: "Keep records", labelZH: "记录保留",
				help: "Days for which records are kept. 0 keeps them for ever.",
				zh:   "记录的保留天数。0 表示永久保留。"},
			{name: "legacy_paths", at: &s.LegacyPaths, standard: false, advanced: true,
				label: "Addresses of Bangumi-syncer", labelZH: "Bangumi-syncer 的 Webhook 地址",
				help: "Answer at the webhook addresses of Bangumi-syncer, too (/Plex, /Emby, /Jellyfin and /Custom), " +
					"so that media servers that report there need no change. They check legacy_key only: while that is empty, " +
					"whoever can reach the port can report watches.",
				zh: "同时响应 Bangumi-syncer 的 Webhook 地址（/Plex、/Emby、/Jellyfin、/Custom），媒体服务器无需修改。这些地址只校验 legacy_key；留空时，任何能访问该端口的人都可以上报观看记录。"},
			{name: "legacy_key", at: &s.LegacyKey, standard: "", check: optional(checkWebhookKey), fresh: strongKey, advanced: true,
				label: "Key of these addresses", labelZH: "上述地址的密钥",
				help: "Key at the end of the addresses of Bangumi-syncer, if it used one: at least 12 characters. " +
					"A shorter one that was set before still works, within the limits of addresses without a key. " +
					"If empty, no key is checked and the end of the address is ignored.",
				zh: "Bangumi-syncer 启用 Webhook 认证时地址末尾的密钥，至少 12 个字符。以前设置的较短密钥仍然有效，但与不校验密钥的地址受同样的限制。留空则不校验，地址末尾的内容会被忽略。"},
			{name: "metrics", at: &s.Metrics, standard: false,
				label: "Metrics for Prometheus", labelZH: "Prometheus 指标",
				help: "Answer GET /metrics with figures for Prometheus: counts and times, no titles and no names of people. It needs an API key or a sign-in, as everything else does.",
				zh:   "在 GET /metrics 提供 Prometheus 指标：只有数量和耗时，不含标题和用户名。与其他接口一样需要 API 密钥或登录。"},
			{name: "update_check", at: &s.UpdateCheck, standard: false,
				label: "Look for new versions", labelZH: "检查新版本",
				help: "Ask server.update_url once a day whether there is a newer version, and say so. Set that address first. Nothing is ever downloaded.",
				zh:   "每天向 server.update_url 查询一次是否有新版本，有则通知；需先填写该地址。不会下载任何内容。"},
			{name: "update_url", at: &s.UpdateURL, standard: "", check: optional(checkURL), form: URL, advanced: true,
				label: "Where versions are announced", labelZH: "版本发布地址",
				help: "Address of the newest release as the GitHub API gives it (tag_name, html_url), for example https://api.github.com/repos/OWNER/NAME/releases/latest.",
				zh:   "以 GitHub API 格式（tag_name、html_url）返回最新版本的地址，例如 https://api.github.com/repos/OWNER/NAME/releases/latest。"},
		},
	}
}

func authSection(s *Auth) section {
	return section{
		name:  "auth",
		label: "Sign-in and keys", labelZH: "登录与密钥",
		help: "Who may use the page, the API and the webhooks.",
		zh:   "页面、API 与 Webhook 的访问控制。",
		options: []option{
			{name: "enabled", at: &s.Enabled, standard: true,
				label: "Ask for a sign-in", labelZH: "需要登录",
				help: "Ask for a sign-in on the page and in the API. It can be switched off only while server.listen is a loopback or private " +
					"address; the service then answers only at addresses and names of a home network, and at server.public_url.",
				zh: "页面与 API 是否需要登录。仅当 server.listen 为本机或内网地址时才能关闭；关闭后只响应内网地址、内网主机名及 server.public_url。"},
			{name: "webhook_auth_enabled", at: &s.WebhookAuthEnabled, standard: true,
				label: "Ask for the webhook key", labelZH: "校验 Webhook 密钥",
				help: "Ask for the webhook key on every webhook.",
				zh:   "接收 Webhook 时是否校验密钥。"},
			{name: "webhook_key", at: &s.WebhookKey, standard: "", check: optional(checkWebhookKey), fresh: strongKey,
				label: "Webhook key", labelZH: "Webhook 密钥",
				help: "Key that media servers send with a webhook, at least 12 characters. One is generated at the first start.",
				zh:   "媒体服务器发送 Webhook 时携带的密钥，至少 12 个字符。首次启动时自动生成。"},
			{name: "session_days", at: &s.Session, unit: days, standard: 30, min: 1, max: 365,
				label: "Stay signed in", labelZH: "登录有效期",
				help: "Days without use after which you are signed out.",
				zh:   "登录在多少天未使用后失效。"},
			{name: "lockout_attempts", at: &s.LockoutAttempts, standard: 5, min: 1, max: 100, advanced: true,
				label: "Failed sign-ins before a lock", labelZH: "锁定前的失败次数",
				help: "Failed sign-ins after which further ones are refused for a while.",
				zh:   "登录连续失败多少次后暂时锁定。"},
			{name: "lockout_minutes", at: &s.Lockout, unit: minutes, standard: 15, min: 1, max: 1440, advanced: true,
				label: "Length of the lock", labelZH: "锁定时长",
				help: "Minutes for which sign-ins are refused then.",
				zh:   "锁定的分钟数。"},
			{name: "oidc_name", at: &s.OIDCName, standard: "", check: optional(checkLine),
				label: "Name of the sign-in provider", labelZH: "登录服务名称",
				help: "What the button on the sign-in page calls your OpenID Connect provider, for example Authelia. If empty, its host is shown.",
				zh:   "登录页按钮上显示的 OpenID Connect 登录服务名称，例如 Authelia。留空则显示其主机名。"},
			{name: "oidc_issuer", at: &s.OIDCIssuer, standard: "", check: optional(checkIssuer), form: URL,
				label: "Issuer of the provider", labelZH: "Issuer 地址",
				help: "Address (issuer) of an OpenID Connect provider that may sign you in besides the password, " +
					"for example https://auth.example.org. /docs/access#a-sign-in-provider has examples. Empty means: the password only.",
				zh: "可在密码之外用于登录的 OpenID Connect 服务的 Issuer 地址，例如 https://auth.example.org。示例见 /docs/access#a-sign-in-provider。留空表示只能用密码登录。"},
			{name: "oidc_client_id", at: &s.OIDCClientID, standard: "",
				label: "Client ID", labelZH: "Client ID",
				help: "Client ID that the provider knows Watchmark by.",
				zh:   "登录服务为 Watchmark 分配的 Client ID。"},
			{name: "oidc_client_secret", at: &s.OIDCClientSecret, standard: "",
				label: "Client secret", labelZH: "Client Secret",
				help: "Client secret that belongs to it. Empty for a public client.",
				zh:   "对应的 Client Secret。公开客户端（public client）留空。"},
			{name: "oidc_allowed", at: &s.OIDCAllowed, standard: []string{}, check: checkPerson,
				label: "Who may sign in with it", labelZH: "允许登录的用户",
				help: "Accounts of the provider that sign in as the owner: a user ID (sub) or an e-mail address, " +
					"which counts only when the provider says that it is verified. Empty lets nobody in. " +
					"Settings → Access shows the account that tried last.",
				zh: "可通过登录服务以所有者身份登录的用户：填写用户 ID（sub）或邮箱地址；邮箱只有在登录服务声明已验证时才有效。留空则不允许任何人。“设置 → 访问权限”会显示最近一次尝试登录的账号。"},
			{name: "oidc_owner_group", at: &s.OIDCOwnerGroup, standard: "", check: optional(checkGroup), advanced: true,
				label: "Group of the owner", labelZH: "所有者所在的组",
				help: "Group of the provider whose account signs in as the owner. There is one owner: the first account of the group that signs in.",
				zh:   "登录服务中的组，其账号以所有者身份登录。所有者只有一位：该组中第一个登录的账号。"},
			{name: "oidc_person_group", at: &s.OIDCPersonGroup, standard: "", check: optional(checkGroup),
				label: "Group of people", labelZH: "成员所在的组",
				help: "Group of the provider whose accounts sign in as people. The first sign-in of an account adds the person. /docs/access#groups-of-the-provider says more.",
				zh:   "登录服务中的组，其账号以成员身份登录。账号首次登录时会添加成员。说明见 /docs/access#groups-of-the-provider。"},
			{name: "oidc_guest_group", at: &s.OIDCGuestGroup, standard: "", check: optional(checkGroup), advanced: true,
				label: "Group of guests", labelZH: "访客所在的组",
				help: "Group of the provider whose accounts are guests: they do not sign in, and who was a person becomes a guest.",
				zh:   "登录服务中的组，其账号为访客：不能登录，原来是成员的会变为访客。"},
			{name: "oidc_groups_claim", at: &s.OIDCGroupsClaim, standard: "groups", check: checkGroup, advanced: true,
				label: "Claim with the groups", labelZH: "组所在的 claim",
				help: "Name of the claim in which the provider lists the groups of an account.",
				zh:   "登录服务列出账号所属组的 claim 名称。"},
			{name: "media_servers", at: &s.MediaServers, standard: []string{}, check: checkServerID, advanced: true,
				label: "Media servers that sign people in", labelZH: "可用于登录的媒体服务器",
				help: "Ids of media servers of Sources by which people may sign in. Settings → Access opens and closes them by name. Empty opens none.",
				zh:   "“来源”中允许成员用来登录的媒体服务器的 ID。可在“设置 → 访问权限”中按名称开放或关闭。留空则都不开放。"},
		},
	}
}

func networkSection(s *Network) section {
	return section{
		name:  "network",
		label: "Network", labelZH: "网络",
		help: "How the service reaches other servers.",
		zh:   "对外访问的网络设置。",
		options: []option{
			{name: "proxy", own: true, at: &s.Proxy, standard: "", check: optional(checkProxy),
				label: "Proxy", labelZH: "代理",
				help: "Proxy for every outgoing request: an http, https, socks5 or socks5h URL, which may carry a user name and password. " +
					"Empty takes HTTPS_PROXY, HTTP_PROXY and NO_PROXY of the environment.",
				zh: "所有对外请求使用的代理：http、https、socks5 或 socks5h 地址，可包含用户名和密码。留空则采用环境变量 HTTPS_PROXY、HTTP_PROXY 和 NO_PROXY。"},
			{name: "timeout_seconds", at: &s.Timeout, unit: seconds, standard: 15, min: 1, max: 120,
				label: "Timeout", labelZH: "请求超时",
				help: "Seconds after which an outgoing request is given up.",
				zh:   "对外请求的超时秒数。"},
			{name: "ca_certificates", own: true, at: &s.CACertificates, standard: "", check: optional(checkAuthorities), advanced: true,
				label: "Certificates of your own authority", labelZH: "自建 CA 证书",
				help: "File, or folder of files, with certificates (PEM or DER) that are trusted in addition to those of the system, " +
					"for all connections of the service: mail, sign-in provider, language model, proxy, media servers, Bangumi, Trakt. " +
					"Read at the start and when settings are saved.",
				zh: "除系统证书外额外信任的证书文件（PEM 或 DER），或存放这些文件的文件夹；对所有对外连接有效：邮件、登录服务、大模型、代理、媒体服务器、Bangumi、Trakt。启动时和保存设置时读取。"},
		},
	}
}

func backupSection(s *Backup) section {
	return section{
		name:  "backup",
		label: "Backups", labelZH: "备份",
		help: "Backups of the database, the key and the settings file that the service makes by itself.",
		zh:   "服务自动制作的备份，包含数据库、密钥和配置文件。",
		options: []option{
			{name: "cron", at: &s.Cron, standard: "17 4 * * *", check: optional(checkCron), form: Cron,
				label: "Make a backup", labelZH: "备份时间",
				help: "When a backup is made, as a cron expression of five fields in the local time. One that was missed is made up for at the next start. Empty means never.",
				zh:   "制作备份的时间，五段 cron 表达式，按本地时区。错过的备份会在下次启动时补做。留空表示从不备份。"},
			{name: "dir", own: true, at: &s.Dir, standard: DefaultBackupDir, restart: true, check: checkFolder,
				label: "Folder", labelZH: "存放目录",
				help: "Folder of the backups. The default is the folder backups in the data folder, wherever that is; one on another disk also survives the loss of this one.",
				zh:   "备份所在目录。默认为数据目录中的 backups 目录；放到另一块磁盘上，本磁盘损坏时备份仍在。"},
			{name: "keep", at: &s.Keep, standard: 7, min: 1, max: 365,
				label: "Keep", labelZH: "保留份数",
				help: "How many backups are kept; the oldest go when a new one is whole.",
				zh:   "保留的备份份数；新备份完成后删除最旧的。"},
		},
	}
}

func databaseSection(s *Database) section {
	return section{
		name:  "database",
		label: "Database", labelZH: "数据库",
		help: "Where everything is stored: in the data folder, or in PostgreSQL, which several replicas can share.",
		zh:   "数据的存放位置：数据目录，或可由多个副本共用的 PostgreSQL。",
		options: []option{
			{name: "url", own: true, at: &s.URL, standard: "", check: optional(checkDatabaseURL), restart: true, fixed: true, advanced: true,
				label: "PostgreSQL", labelZH: "PostgreSQL",
				help: "Address of a PostgreSQL database, such as postgres://watchmark:password@db.lan:5432/watchmark; set in the file or the environment only. " +
					"Empty means SQLite in the data folder.",
				zh: "PostgreSQL 数据库的地址，例如 postgres://watchmark:password@db.lan:5432/watchmark；只能在配置文件或环境变量中设置。留空表示使用数据目录中的 SQLite。"},
		},
	}
}

func snapshotSection(s *Snapshot) section {
	return section{
		name:  "snapshot",
		label: "Snapshots of lists", labelZH: "列表快照",
		help: "Readings of the whole lists on Bangumi, so that nothing in them is lost unnoticed.",
		zh:   "定期完整读取 Bangumi 上的列表并保存，以便随时查看变化。",
		options: []option{
			{name: "enabled", at: &s.Enabled, standard: false,
				label: "Take snapshots", labelZH: "自动创建快照",
				help: "Read the lists of all enabled accounts regularly. The first time takes about a request for each entry with marks; later only what has changed is read.",
				zh:   "定期读取所有已启用账号的列表。第一次大约每个有标记的条目需要一次请求，以后只读取有变化的部分。"},
			{name: "cron", at: &s.Cron, standard: "43 3 * * *", check: checkCron, form: Cron,
				label: "When", labelZH: "时间",
				help: "When the lists are read, as a cron expression of five fields in the local time.",
				zh:   "读取列表的时间，五段 cron 表达式，按本地时区。"},
			{name: "keep", at: &s.Keep, standard: 60, min: 2, max: 3650,
				label: "Keep", labelZH: "保留份数",
				help: "How many snapshots of each list are kept. Of older ones the first of each month stays.",
				zh:   "每个列表保留的快照份数。更早的快照每月保留第一份。"},
		},
	}
}

func logSection(s *Log) section {
	return section{
		name:  "log",
		label: "Log", labelZH: "日志",
		help: "What the service writes to its log.",
		zh:   "服务日志。",
		options: []option{
			{name: "level", own: true, at: &s.Level, standard: "info", choices: []Choice{{"debug", "Debug", "调试"}, {"info", "Info", "信息"}, {"warn", "Warnings", "警告"}, {"error", "Errors", "错误"}},
				label: "Level", labelZH: "级别",
				help: "Least important message that is written.",
				zh:   "写入日志的最低级别。"},
			{name: "format", own: true, at: &s.Format, standard: "text", choices: []Choice{{"text", "Text", "文本"}, {"json", "JSON", "JSON"}}, restart: true,
				label: "Format", labelZH: "格式",
				help: "text for people, json for log collectors.",
				zh:   "text 便于阅读，json 便于日志收集。"},
			{name: "file", own: true, at: &s.File, standard: false, restart: true,
				label: "Write files", labelZH: "写入文件",
				help: "Write the log also to watchmark.log in the folder logs of the data folder: six files of at most 10 MB. For systems that keep nothing of what a program prints.",
				zh:   "同时将日志写入数据目录 logs 文件夹中的 watchmark.log，最多六个文件，每个不超过 10 MB。适用于不保存程序输出的系统。"},
		},
	}
}
