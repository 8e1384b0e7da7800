package catalog

import "watchmark/internal/platform/reason"

// The kinds of failure a caller branches on, with errors.Is.
var (
	// ErrUnreachable is refused, DNS, timeout, TLS, 429, 5xx, or HTML where JSON was due. Trying later helps.
	// It is also the kind when the caller's own context ended; errors.Is(err, context.Canceled) tells them apart.
	ErrUnreachable = reason.New("catalog_unreachable", "Bangumi cannot be reached", "无法连接 Bangumi")
	// ErrUnauthorized is 401: the token is missing, wrong or expired.
	ErrUnauthorized = reason.New("catalog_unauthorized", "Bangumi refused the token", "Bangumi 拒绝了令牌")
	// ErrForbidden is 403: the scope is missing, the account is banned, or the User-Agent is refused.
	ErrForbidden = reason.New("catalog_forbidden", "Bangumi does not allow this", "Bangumi 不允许此操作")
	// ErrNotFound is 404: unknown, hidden from this caller, or not collected.
	ErrNotFound = reason.New("catalog_not_found", "not on Bangumi", "Bangumi 上没有")
	// ErrRefused is every other 4xx: the catalog understood and said no.
	ErrRefused = reason.New("catalog_refused", "Bangumi refused the request", "Bangumi 拒绝了请求")
	// ErrGrantInvalid: the code or refresh token is used up, expired or revoked. Only a new authorisation by the person helps.
	ErrGrantInvalid = reason.New("catalog_grant_invalid", "the authorisation is no longer valid: connect the account again", "授权已失效：请重新连接该账号")
)

// Causes of an *Error.
var (
	// ErrSearchOff is the cause for a search that found nothing while the catalog's own is switched off.
	ErrSearchOff = reason.New("catalog_search_off", "the search of Bangumi is switched off", "Bangumi 的搜索已关闭")
	// errNotAsked is the cause for a request that was not sent.
	errNotAsked = reason.New("catalog_not_asked", "Bangumi did not answer a moment ago and is asked again in a while", "Bangumi 刚才没有响应，过一会儿会再次请求")
	// errNoRows is the cause for an episode list whose emptiness is not believed yet.
	errNoRows = reason.New("catalog_list_empty", "the list is empty, which it should not be: it is read again", "列表为空，但不应为空：会再次读取")
	// errNoOwner is the catalog contradicting itself.
	errNoOwner = reason.New("catalog_no_owner", "Bangumi accepts the token but does not know its user", "Bangumi 接受了令牌，却不认识它的用户")
)

// The texts of an *Error: with what was done and its kind, with the status, and with more behind.
var (
	failed           = reason.New("catalog_failed", "{op}: {kind}", "{op}：{kind}")
	failedWithStatus = reason.New("catalog_failed_status", "{op}: {kind} (HTTP {status})", "{op}：{kind}（HTTP {status}）")
)

// What was done when a call failed.
var (
	opReadOwner     = reason.New("catalog_read_owner", "read the owner of the token", "读取令牌的所有者")
	opReadSubject   = reason.New("catalog_read_subject", "read entry {subject}", "读取条目 {subject}")
	opReadRelations = reason.New("catalog_read_relations", "read what is related to entry {subject}", "读取条目 {subject} 的关联")
	opReadEpisodes  = reason.New("catalog_read_episodes", "read the episodes of entry {subject}", "读取条目 {subject} 的各集")
	opReadEpisode   = reason.New("catalog_read_episode", "read episode {episode}", "读取单集 {episode}")
	opReadList      = reason.New("catalog_read_list", "read a list", "读取列表")
	opReadEntry     = reason.New("catalog_read_entry", "read entry {subject} of the list", "读取列表中的条目 {subject}")
	opReadMarks     = reason.New("catalog_read_marks", "read the marks of entry {subject}", "读取条目 {subject} 的标记")
	opReadMark      = reason.New("catalog_read_mark", "read the mark of episode {episode}", "读取单集 {episode} 的标记")
	opSearch        = reason.New("catalog_search", "search {keyword:q}", "搜索{keyword:q}")
	opSearchLegacy  = reason.New("catalog_search_legacy", "search {keyword:q} (old API)", "搜索{keyword:q}（旧版接口）")
	opCollect       = reason.New("catalog_collect", "put entry {subject} on the list", "把条目 {subject} 加入列表")
	opChangeEntry   = reason.New("catalog_change_entry", "change entry {subject} on the list", "修改列表中的条目 {subject}")
	opMark          = reason.New("catalog_mark", "mark entry {subject}", "标记条目 {subject}")
	opSetEpisode    = reason.New("catalog_set_episode", "mark episode {episode}", "标记单集 {episode}")
	opSetEpisodes   = reason.New("catalog_set_episodes", "mark {count} episodes of entry {subject}", "标记 {count} 集（条目 {subject}）")
	opWait          = reason.New("catalog_wait", "wait for another change of entry {subject}", "等待条目 {subject} 的另一次修改")
	opExchangeCode  = reason.New("catalog_exchange_code", "exchange the authorisation code", "换取授权")
	opRefreshToken  = reason.New("catalog_refresh_token", "renew the access token", "续期令牌")
)

// Descriptions of an answer that are not the catalog's own words.
var (
	notTheJSON        = reason.New("catalog_answer_not_json", "the answer is not the expected JSON", "响应不是预期的 JSON")
	notDone           = reason.New("catalog_answer_not_done", "the answer does not confirm that it is done", "响应没有确认操作已完成")
	sentOn            = reason.New("catalog_answer_sent_on", "the answer redirects to another address, which is not followed: check catalog.api_url", "响应跳转到另一个地址，未跟随：请检查 catalog.api_url")
	notMissing        = reason.New("catalog_answer_not_missing", "the answer is not the one that Bangumi gives for what it does not have: check catalog.api_url", "这不是 Bangumi 表示“不存在”的响应：请检查 catalog.api_url")
	webPage           = reason.New("catalog_answer_page", "a web page came instead of an answer of Bangumi: check catalog.api_url, and whether something on the way intercepts the traffic", "收到的是网页而不是 Bangumi 的响应：请检查 catalog.api_url，以及流量是否被拦截")
	noToken           = reason.New("catalog_answer_no_token", "the answer has no token", "响应中没有令牌")
	listMoves         = reason.New("catalog_list_moves", "the list changed each time that it was read: try again when nothing else writes to it", "每次读取时列表都在变化：请在没有其他程序写入时再试")
	tooManyRows       = reason.New("catalog_too_many_rows", "the list has more than {count} rows", "列表超过 {count} 行")
	tooManyMerges     = reason.New("catalog_too_many_redirects", "too many redirects", "重定向次数过多")
	foreignEpisode    = reason.New("catalog_foreign_episode", "episode {episode} is not an episode of this entry", "单集 {episode} 不属于此条目")
	sayWhich          = reason.New("catalog_say_which", "the entry has episodes: say which were watched", "此条目分集：请指明看过哪几集")
	notShown          = reason.New("catalog_mark_not_shown", "Bangumi accepted the mark but does not show it", "Bangumi 接受了标记，却没有显示")
	badAddress        = reason.New("catalog_address", "use an address such as https://catalog.example, without user, password and query", "请填写形如 https://catalog.example 的地址，不含用户名、密码和查询参数")
	forAPIAddress     = reason.New("catalog_api_address", "address of the Bangumi API: {cause}", "Bangumi API 地址：{cause}")
	forWebsiteAddress = reason.New("catalog_web_address", "address of the Bangumi website: {cause}", "Bangumi 网站地址：{cause}")
)

// What an entry cannot be given, and why.
var (
	noRatingOfWish = reason.New("entry_rating_of_wish", "Bangumi takes no rating for what is only wished for (it was {rating})", "Bangumi 不接受“想看”条目的评分（原为 {rating}）")
	longComment    = reason.New("entry_comment_long", "the comment has {count} characters, and Bangumi takes {most}", "吐槽有 {count} 个字符，Bangumi 最多接受 {most} 个")
	badTags        = reason.New("entry_tags_refused", "Bangumi does not take these tags any more: {tags}", "Bangumi 不再接受这些标签：{tags}")
	manyTags       = reason.New("entry_tags_many", "there are {count} tags, and Bangumi takes {most}", "有 {count} 个标签，Bangumi 最多接受 {most} 个")
	goneEpisodes   = reason.New("entry_episodes_gone", "not on Bangumi any more: episodes {episodes}", "Bangumi 上已没有这些集：{episodes}")
	changedSince   = reason.New("entry_changed_since", "it was changed since, and stays as it is", "之后又有改动，保持现状")
	entryLocked    = reason.New("entry_locked", "Bangumi has locked this entry, or merged it into another one: it takes no changes", "Bangumi 已锁定该条目或将其合并到其他条目，无法改动")
	entryHidden    = reason.New("entry_hidden", "Bangumi hides this entry from the account", "Bangumi 对该账号隐藏了此条目")
	// WordFilter says that only the owner sees an entry.
	WordFilter    = reason.New("entry_word_filter", "Bangumi shows it to the owner only, because of a word in the comment or the tags", "由于吐槽或标签中的词语，Bangumi 仅对本人显示此条目")
	partRefused   = reason.New("entry_part_refused", "Bangumi does not take the {part}: {cause}", "Bangumi 不接受{part}：{cause}")
	partComment   = reason.New("entry_part_comment", "comment", "吐槽")
	partTags      = reason.New("entry_part_tags", "tags", "标签")
	entryNotShown = reason.New("entry_not_shown", "Bangumi accepted the change but does not show it", "Bangumi 接受了改动，却没有显示")
)

// What keeps a rating and a comment from being written.
var (
	// ErrNotListed is returned where the entry is not on the list any more.
	ErrNotListed = reason.New("entry_not_listed", "the entry is not on the list of this account: add it on Bangumi first", "该账号的列表中没有此条目：请先在 Bangumi 上添加").For(reason.Conflict)
	// ErrSaidOtherwise is returned where rating or comment are not what the person saw.
	ErrSaidOtherwise = reason.New("entry_said_otherwise", "rating or comment were changed on Bangumi meanwhile, and nothing was written: look at what is there now, and send again to replace it",
		"其间 Bangumi 上的评分或吐槽已有改动，没有写入任何内容：请查看现在的内容，如要替换请重新发送").For(reason.Conflict)
	errEntryLocked  = reason.New("entry_takes_nothing", "Bangumi has locked or hidden this entry: it takes neither rating nor comment", "Bangumi 已锁定或隐藏该条目，无法评分或吐槽").For(reason.Conflict)
	errNotShown     = reason.New("entry_said_not_shown", "Bangumi accepted it but does not show it: look at the page of the entry, and try again later", "Bangumi 已接受，却没有显示：请到条目页面查看，稍后再试").For(reason.Upstream)
	unseenCharacter = reason.New("entry_comment_character", "Bangumi takes no invisible characters, and the comment has {code}: remove it, or the emoji it belongs to", "Bangumi 不接受不可见的字符，而吐槽中有 {code}：请删除它，或它所在的表情符号")
)

// What is written only where taking away is allowed.
var (
	heldState   = reason.New("entry_held_state", "the state would go back from {now} to {wanted}", "状态会从“{now}”退回“{wanted}”")
	heldRate    = reason.New("entry_held_rating", "the rating would go down from {now} to {wanted}", "评分会从 {now} 降到 {wanted}")
	heldComment = reason.New("entry_held_comment", "the comment would be removed", "吐槽会被清空")
	heldTags    = reason.New("entry_held_tags", "the tags would be removed", "标签会被清空")
	heldNumber  = reason.New("entry_held_number", "what was read would go down from {now} to {wanted}", "阅读进度会从 {now} 降到 {wanted}")
	heldMarks   = reason.New("entry_held_marks", "marks would be taken away: episodes {episodes}", "会取消这些集的标记：{episodes}")
)

// stateNames are the states of an entry in words.
var stateNames = map[CollectionType]*reason.Kind{
	Wish:    reason.New("entry_state_wish", "wish", "想看"),
	Done:    reason.New("entry_state_done", "watched", "看过"),
	Doing:   reason.New("entry_state_doing", "watching", "在看"),
	OnHold:  reason.New("entry_state_on_hold", "on hold", "搁置"),
	Dropped: reason.New("entry_state_dropped", "dropped", "抛弃"),
}

// What kind of outage it is.
var (
	outageOther      = reason.New("outage", "Bangumi cannot be reached", "无法连接 Bangumi")
	outageNoRows     = reason.New("outage_no_episodes", "Bangumi shows no episodes of an entry that should have some", "Bangumi 没有显示条目应有的各集")
	outageConnection = reason.New("outage_connection", "Bangumi cannot be reached (the connection was refused or cut)", "无法连接 Bangumi（连接被拒绝或中断）")
	outageDNS        = reason.New("outage_dns", "Bangumi cannot be reached (its name cannot be resolved)", "无法连接 Bangumi（域名无法解析）")
	outageTLS        = reason.New("outage_tls", "Bangumi cannot be reached (no secure connection)", "无法连接 Bangumi（无法建立安全连接）")
	outageTimeout    = reason.New("outage_timeout", "Bangumi cannot be reached (it did not answer in time)", "无法连接 Bangumi（响应超时）")
	outageProxy      = reason.New("outage_proxy", "Bangumi cannot be reached (the proxy did not pass the request on)", "无法连接 Bangumi（代理没有转发请求）")
	outageBusy       = reason.New("outage_busy", "Bangumi accepts no requests for a while, because there were too many (HTTP 429)", "请求过多，Bangumi 暂时不接受请求（HTTP 429）")
	outageBroken     = reason.New("outage_broken", "Bangumi is out of order (HTTP {status})", "Bangumi 出现故障（HTTP {status}）")
	outageStrange    = reason.New("outage_strange", "the answer is not one that Bangumi gives (HTTP {status})", "收到的不是 Bangumi 应有的响应（HTTP {status}）")
)
