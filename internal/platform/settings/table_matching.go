package settings

func catalogSection(s *Catalog) section {
	return section{
		name:  "catalog",
		label: "Bangumi", labelZH: "Bangumi",
		help: "Bangumi, and how often it may be asked.",
		zh:   "Bangumi 的地址、访问频率与授权应用。",
		options: []option{
			{name: "api_url", at: &s.APIURL, standard: "https://api.bgm.tv", check: checkURL, form: URL,
				label: "API address", labelZH: "API 地址",
				help: "Address of the Bangumi API.",
				zh:   "Bangumi API 的地址。"},
			{name: "web_url", at: &s.WebURL, standard: "https://bgm.tv", check: checkURL, form: URL,
				label: "Website address", labelZH: "网站地址",
				help: "Address of the Bangumi website, for links and for the sign-in of accounts.",
				zh:   "Bangumi 网站的地址，用于链接和账号授权。"},
			{name: "image_url", at: &s.ImageURL, standard: "https://lain.bgm.tv", check: checkURL, form: URL, advanced: true,
				label: "Image address", labelZH: "图片地址",
				help: "Address of the images of Bangumi, from which covers are fetched. They are fetched from nowhere else, whatever address the API gives.",
				zh:   "Bangumi 图片服务器的地址，封面只从这里获取，不会访问 API 给出的其他地址。"},
			{name: "requests_per_minute", at: &s.RequestsPerMinute, standard: 100, min: 1, max: 60000, advanced: true,
				label: "Requests per minute", labelZH: "每分钟请求数",
				help: "Requests per minute to Bangumi, on average. The public service bans a client for an hour after more than 3000 requests in ten " +
					"minutes, so for it ten times this plus catalog.burst must not be above 2400.",
				zh: "平均每分钟向 Bangumi 发送的请求数。公共服务在十分钟内超过 3000 次请求会封禁一小时，因此使用公共服务时，本值的十倍加上 catalog.burst 不得超过 2400。"},
			{name: "burst", at: &s.Burst, standard: 800, min: 1, max: 10000, advanced: true,
				label: "Requests at once", labelZH: "瞬时请求数",
				help: "Requests that may be sent at once after a pause. Imports and other work in the background leave half of them to what is being watched.",
				zh:   "空闲之后允许瞬间发送的请求数。导入等后台工作会留出一半给正在观看的内容。"},
			{name: "egress", own: true, at: &s.Egress, standard: "shared", check: checkEgress, restart: true, fixed: true, advanced: true,
				label: "Way out", labelZH: "出口",
				help: "Only with several replicas: the name of the address by which this replica reaches Bangumi, such as berlin: letters, digits, -, _ and dots. Replicas of one name share the requests above; a ban closes that name alone. " +
					"Give replicas other names only if they have other public addresses; set in the file or the environment only.",
				zh: "仅用于多个副本：本副本访问 Bangumi 所用公网地址的名称，例如 berlin，由字母、数字、-、_ 和点组成。同名的副本共用上面的请求数，封禁也只影响同名的副本。只有公网地址不同的副本才应使用不同的名称；只能在配置文件或环境变量中设置。"},
			{name: "limit_counts", at: &s.LimitCounts, standard: CountAddress, choices: []Choice{{CountAddress, "By address", "按地址"}, {CountAddressAndUser, "By address and user", "按地址和用户"}}, advanced: true,
				label: "What Bangumi counts", labelZH: "Bangumi 的计数方式",
				help: "By address: every request counts for the way out. By address and user: what is sent with an account’s token counts for that account alone, and only the rest for the way out. Bangumi’s published code counts so; that its servers do is not confirmed, " +
					"so stay with the first unless you have seen it.",
				zh: "按地址：所有请求都计入出口。按地址和用户：使用账号令牌的请求只计入该账号，其余计入出口。Bangumi 公开的代码如此计数，但线上是否如此未经证实；除非你亲自验证过，否则请保持第一项。"},
			{name: "oauth_client_id", at: &s.OAuthClientID, standard: "",
				label: "App ID", labelZH: "App ID",
				help: "App ID of your own Bangumi application, so that accounts sign in without a pasted token. Create one at https://bgm.tv/dev/app.",
				zh:   "自建 Bangumi 应用的 App ID，账号授权时无需粘贴令牌。在 https://bgm.tv/dev/app 创建。"},
			{name: "oauth_client_secret", at: &s.OAuthClientSecret, standard: "",
				label: "App Secret", labelZH: "App Secret",
				help: "App Secret of that application.",
				zh:   "该应用的 App Secret。"},
		},
	}
}

func syncSection(s *Sync) section {
	return section{
		name:  "sync",
		label: "Marking", labelZH: "标记",
		help: "How an event becomes a mark. Each account can have its own choice for adult titles, re-watches and what is set back to unwatched, on the page People.",
		zh:   "观看事件如何变成标记。成人条目、改回未看和重看的处理方式可在“成员”页为每个账号单独选择。",
		options: []option{
			{name: "test_skip_permission_check", at: &s.TestSkipPermissionCheck, standard: false, advanced: true,
				label: "Tests for any user name", labelZH: "测试不限用户名",
				help: "Let the two test endpoints run for a user name that no account lists. Webhooks are not affected.",
				zh:   "两个测试接口允许使用没有账号填写的用户名。不影响 Webhook。"},
			{name: "film_start_marks_doing", at: &s.FilmStartMarksDoing, standard: false,
				label: "Mark films at their start", labelZH: "电影开播即标“在看”",
				help: "Mark a film as being watched when its playback starts.",
				zh:   "电影开始播放时标记为“在看”。"},
			{name: "coalesce_ms", at: &s.Coalesce, unit: milliseconds, standard: 300, min: 0, max: 10000, advanced: true,
				label: "Wait for more events", labelZH: "合并等待时间",
				help: "The most milliseconds that an event waits for others of its show when more are on their way, or one was marked just now, " +
					"so that they become one write. A single one is marked at once. 0 means no wait.",
				zh: "单次观看会立即标记。仅当同一作品还有事件正在处理、或刚刚标记过时，才会等待并合并为一次写入；此处为最长等待的毫秒数。0 表示不等待。"},
			{name: "workers", at: &s.Workers, standard: 4, min: 1, max: 32, restart: true, advanced: true,
				label: "Events at the same time", labelZH: "并行处理数",
				help: "Events worked on at the same time, of what is being watched and of imports and other work in the background each.",
				zh:   "同时处理的事件数，正在观看的内容与导入等后台工作分别计算。"},
			{name: "adult", at: &s.Adult, standard: "mark", choices: []Choice{{"mark", "Mark", "照常标记"}, {"private", "Mark privately", "私密标记"}, {"skip", "Skip", "跳过"}},
				label: "Adult titles", labelZH: "成人条目",
				help: "What is done with adult titles. Mark: as with all others. Mark privately: an entry that Watchmark adds to the list is visible to its owner only; one that is there already stays as it is. " +
					"Bangumi shows a line on the timeline for each episode all the same, for private entries too. Skip: nothing is written.",
				zh: "如何处理成人条目。照常标记：与其他条目相同。私密标记：Watchmark 新加入列表的条目只有自己可见，已在列表中的保持原样；但即使条目是私密的，Bangumi 仍会在时间线上公开显示每次标记的集。跳过：什么都不写入。"},
			{name: "unwatched", at: &s.Unwatched, standard: "ignore", choices: []Choice{{"ignore", "Ignore", "忽略"}, {"take_back", "Take the mark back", "撤回标记"}, {"ask", "Ask", "询问"}},
				label: "Set back to unwatched", labelZH: "改回未看",
				help: "What is done when somebody sets an episode or a film back to unwatched by hand on Emby or Jellyfin. Take the mark back: the mark that Watchmark made for it is removed from the list; one that you made yourself stays. " +
					"Ask: the page Inbox asks, and nothing is written until you answer. More than 30 at once always wait for your word. Plex does not tell of it.",
				zh: "有人在 Emby 或 Jellyfin 上手动把一集或一部电影改回未看时如何处理。撤回标记：从列表中移除 Watchmark 为它做的标记，你自己做的标记不动。" +
					"询问：在“通知”页询问，回答之前什么都不写入。一次超过 30 条时总是等你确认。Plex 不会告知此操作。"},
			{name: "rewatch", at: &s.Rewatch, standard: "ignore", choices: []Choice{{"ignore", "Ignore", "忽略"}, {"note", "Note it", "记下重看"}, {"doing", "Set the entry to watching again", "把条目改回“在看”"}},
				label: "Re-watches", labelZH: "重看",
				help: "What is done when an episode that is marked already is watched once more, six hours or more later. Note it: the record says that it was watched again, and summaries count it. " +
					"Set the entry to watching again: besides that, an entry that is watched is set to watching with the first such episode, and to watched again with its last one; marks stay. " +
					"The date on which the entry was first watched is lost with that for good: Bangumi keeps one date for each state, and nothing can write an old one.",
				zh: "已标记的一集在六小时或更久之后又看了一遍时如何处理。记下重看：记录会写明是重看，观看总结也会统计。把条目改回“在看”：此外，“看过”的条目会在重看第一集时改为“在看”，看完最后一集再改回“看过”，标记不变。" +
					"这样做会永久丢失条目当初“看过”的日期：Bangumi 每种状态只保存一个日期，旧日期无法写回。"},
		},
	}
}

func matchingSection(s *Matching) section {
	return section{
		name:  "matching",
		label: "Matching", labelZH: "匹配",
		help: "How sure a match must be. Scores are numbers from 0 to 1.",
		zh:   "匹配到什么程度才会自动标记。分数范围为 0 到 1。",
		options: []option{
			{name: "dataset_enabled", at: &s.DatasetEnabled, standard: true,
				label: "Use the ID table", labelZH: "使用 ID 对照表",
				help: "Use the community table of bangumi-data, which leads from the ids of other sites (such as TMDB) and from titles to entries. " +
					"It is part of the program. When off, it is neither used nor refreshed.",
				zh: "使用社区维护的对照表 bangumi-data，由 TMDB 等站点的 ID 以及标题直接找到条目。对照表已内置于程序；关闭后不使用也不更新。"},
			{name: "dataset_url", at: &s.DatasetURL, standard: "https://unpkg.com/bangumi-data@0.3/dist/data.json", check: checkURL, form: URL, advanced: true,
				label: "Address of the ID table", labelZH: "对照表地址",
				help: "Address of the newest table, the file data.json of bangumi-data.",
				zh:   "最新对照表的地址，即 bangumi-data 的 data.json 文件。"},
			{name: "dataset_cron", at: &s.DatasetCron, standard: "30 8 * * 3", check: optional(checkCron), form: Cron, advanced: true,
				label: "Refresh the ID table", labelZH: "对照表更新时间",
				help: "When a newer table is fetched, as a cron expression of five fields in the local time. Empty means never.",
				zh:   "更新对照表的时间，五段 cron 表达式，按本地时区。留空表示从不更新。"},
			{name: "arbiter_enabled", at: &s.ArbiterEnabled, standard: false,
				label: "Weigh all layers together", labelZH: "综合裁决",
				help: "Ask all layers before deciding, and weigh their candidates together: fewer wrong marks, more questions, " +
					"and Bangumi is asked for every match. /docs/matching#how-often-it-is-right has the figures.",
				zh: "先询问所有匹配层，再综合权衡候选条目：误标更少，但需要确认的更多，且每次匹配都会请求 Bangumi。数据见 /docs/matching#how-often-it-is-right。"},
			{name: "live_action_enabled", at: &s.LiveActionEnabled, standard: false,
				label: "Look for live action too", labelZH: "同时查找三次元",
				help: "Look for a title that is no anime among the live-action entries of Bangumi. What a media server itself calls live action is looked for there anyway.",
				zh:   "动画中没有匹配时，再到三次元条目中查找。媒体服务器已标明为真人影视的，总会在三次元中查找。"},
			{name: "accept_score", at: &s.AcceptScore, standard: 0.85, min: 0, max: 1,
				label: "Mark from this confidence", labelZH: "自动标记的置信度",
				help: "Confidence from which a match is marked without asking.",
				zh:   "置信度达到该值时自动标记。"},
			{name: "review_score", at: &s.ReviewScore, standard: 0.5, min: 0, max: 1,
				label: "Ask from this confidence", labelZH: "询问的置信度",
				help: "Confidence from which Watchmark asks you; below it the title counts as not found. Not above matching.accept_score.",
				zh:   "置信度达到该值但不足以自动标记时，在“待确认”中询问；低于该值视为未找到。不得高于 matching.accept_score。"},
			{name: "margin", at: &s.Margin, standard: 0.04, min: 0, max: 1, advanced: true,
				label: "Lead over the second", labelZH: "领先分差",
				help: "Lead that the best candidate needs over the second to be marked without asking.",
				zh:   "自动标记时，最佳候选必须领先第二名的分数。"},
		},
	}
}

func catalogArchiveSection(s *CatalogArchive) section {
	return section{
		name:  "catalog_archive",
		label: "Offline data", labelZH: "离线数据",
		help: "A local copy of the weekly dump of Bangumi, asked before Bangumi.",
		zh:   "Bangumi 每周数据的本地副本，匹配时优先查询。",
		options: []option{
			{name: "enabled", at: &s.Enabled, standard: false,
				label: "Use offline data", labelZH: "启用离线数据",
				help: "Match with the local copy before asking Bangumi: it is faster, and works while Bangumi is down. Switching it on downloads about 0.45 GB and keeps about 0.15 GB.",
				zh:   "匹配时先查本地副本，再请求 Bangumi：速度快，且 Bangumi 无法访问时仍可匹配。启用后会下载约 0.45 GB 数据，长期占用约 0.15 GB。"},
			{name: "data_dir", own: true, at: &s.DataDir, standard: DefaultArchiveDir, restart: true, check: checkFolder, advanced: true,
				label: "Folder", labelZH: "存放目录",
				help: "Folder of the local copy. The default is the folder archive in the data folder.",
				zh:   "本地副本所在目录。默认为数据目录中的 archive 目录。"},
			{name: "update_cron", at: &s.UpdateCron, standard: "0 8 * * 3", check: checkCron, form: Cron, zone: "Asia/Shanghai",
				label: "Look for a newer dump", labelZH: "检查更新时间",
				help: "When a newer dump is looked for, as a cron expression of five fields in the time zone Asia/Shanghai, where it is published; " +
					"put CRON_TZ=Europe/Berlin and a space before it for another zone.",
				zh: "检查新数据的时间，五段 cron 表达式，默认按 Asia/Shanghai 时区；可在前面加 CRON_TZ=Europe/Berlin 和空格以使用其他时区。"},
			{name: "pointer_url", at: &s.PointerURL, standard: "https://raw.githubusercontent.com/bangumi/Archive/master/aux/latest.json", check: checkURL, form: URL, advanced: true,
				label: "Address of the index file", labelZH: "索引文件地址",
				help: "Address of the JSON file that names the newest dump.",
				zh:   "指明最新数据的 JSON 文件地址。"},
			{name: "mirrors", at: &s.Mirrors, standard: []string{}, check: checkMirror,
				label: "Mirrors", labelZH: "镜像",
				help: "Addresses such as https://mirror.example/ that are put before the whole original address when it cannot be reached, " +
					"in this order. Whoever runs a mirror could serve another dump; where the index file names a checksum, it is checked.",
				zh: "原地址无法访问时依次使用的镜像前缀，例如 https://mirror.example/，会加在完整的原地址之前。镜像的提供者可能给出不同的数据；索引文件提供校验和时会据此校验。"},
			{name: "min_free_mb", at: &s.MinFreeMB, standard: 3000, min: 0, max: 1000000, unit: megabytes, advanced: true,
				label: "Free space needed", labelZH: "最少可用空间",
				help: "Megabytes that must be free on the disk for an import; with less it is skipped.",
				zh:   "导入前磁盘至少需要的可用空间（MB），不足时跳过导入。"},
		},
	}
}

func catalogReplaySection(s *CatalogReplay) section {
	return section{
		name:  "catalog_replay",
		label: "Waiting marks", labelZH: "等待中的标记",
		help: "Marks that wait because Bangumi could not be reached.",
		zh:   "Bangumi 无法访问时排队等待的标记。",
		options: []option{
			{name: "enabled", at: &s.Enabled, standard: true,
				label: "Send again automatically", labelZH: "自动重试",
				help: "Send waiting marks again automatically.",
				zh:   "自动重新发送等待中的标记。"},
			{name: "max_retries", at: &s.MaxRetries, standard: 50, min: 1, max: 1000,
				label: "Retries", labelZH: "最多重试次数",
				help: "Failed retries after which a waiting mark is given up and shown as an error.",
				zh:   "重试多少次后放弃并显示为错误。"},
			{name: "cron", at: &s.Cron, standard: "*/5 * * * *", check: checkCron, form: Cron, advanced: true,
				label: "Extra checks", labelZH: "额外检查时间",
				help: "When waiting marks are checked additionally, as a cron expression of five fields in the local time. " +
					"A mark is tried again automatically as soon as it is due and Bangumi answers, so there is rarely a reason to change this.",
				zh: "额外检查等待中标记的时间，五段 cron 表达式，按本地时区。标记到期且 Bangumi 可访问时会立即自动重试，一般无需修改。"},
		},
	}
}

func idMapSection(s *IDMap) section {
	return section{
		name:  "idmap",
		label: "Seasons of other sites", labelZH: "其他站点的分季",
		help: "Media servers number seasons as TheTVDB or TMDB does. Lists that people keep say which Bangumi entry each of these seasons and episodes is. They are fetched by this service and used with the ID table (matching.dataset_enabled).",
		zh:   "媒体服务器按 TheTVDB 或 TMDB 的方式编排季与集。社区维护的列表记录了它们对应 Bangumi 的哪个条目、哪一集。列表由本服务自行获取，与 ID 对照表（matching.dataset_enabled）一起使用。",
		options: []option{
			{name: "enabled", at: &s.Enabled, standard: true,
				label: "Use the seasons of other sites", labelZH: "使用其他站点的分季",
				help: "Use the lists. Off, they are neither asked nor fetched.",
				zh:   "使用这些列表。关闭后既不查询也不获取。"},
			{name: "anime_lists_url", at: &s.AnimeListsURL, standard: "https://raw.githubusercontent.com/Anime-Lists/anime-lists/master/anime-list.xml", check: optional(checkURL), form: URL, advanced: true,
				label: "Address of Anime-Lists", labelZH: "Anime-Lists 地址",
				help: "Address of anime-list.xml of Anime-Lists, packed by gzip or not. It has no licence, so it is not part of the program: this service fetches it for you. Empty means that it is not used.",
				zh:   "Anime-Lists 的 anime-list.xml 的地址，可以是 gzip 压缩的。该列表没有许可证，因此不随程序分发，而由本服务为你获取。留空表示不使用。"},
			{name: "shinkro_url", at: &s.ShinkroURL, standard: "https://raw.githubusercontent.com/varoOP/shinkro-mapping/main/tvdb-mal.yaml", check: optional(checkURL), form: URL, advanced: true,
				label: "Address of shinkro-mapping", labelZH: "shinkro-mapping 地址",
				help: "Address of tvdb-mal.yaml of shinkro-mapping (MIT), which is the second opinion. Empty means that it is not used.",
				zh:   "shinkro-mapping（MIT）的 tvdb-mal.yaml 的地址，作为第二依据。留空表示不使用。"},
			{name: "update_cron", at: &s.UpdateCron, standard: "50 8 * * *", check: optional(checkCron), form: Cron, advanced: true,
				label: "Update the lists", labelZH: "列表更新时间",
				help: "When the lists and the ID table are updated, as a cron expression of five fields in the local time. What has not changed is not fetched again. Empty means never.",
				zh:   "更新列表和 ID 对照表的时间，五段 cron 表达式，按本地时区。没有变化的不会重新下载。留空表示从不更新。"},
		},
	}
}
