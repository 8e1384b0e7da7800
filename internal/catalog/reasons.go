package catalog

import "watchmark/internal/platform/reason"

// The kinds of failure a caller branches on, with errors.Is.
var (
	// ErrUnreachable is refused, DNS, timeout, TLS, 429, 5xx, or HTML where JSON was due. Trying later helps.
	// It is also the kind when the caller's own context ended; errors.Is(err, context.Canceled) tells them apart.
	ErrUnreachable = reason.New("catalog_unreachable", "catalog unreachable", "无法连接 Bangumi")
	// ErrUnauthorized is 401: the token is missing, wrong or expired.
	ErrUnauthorized = reason.New("catalog_unauthorized", "catalog refused the token", "Bangumi 拒绝了令牌")
	// ErrForbidden is 403: the scope is missing, the account is banned, or the User-Agent is refused.
	ErrForbidden = reason.New("catalog_forbidden", "catalog forbids this", "Bangumi 不允许此操作")
	// ErrNotFound is 404: unknown, hidden from this caller, or not collected.
	ErrNotFound = reason.New("catalog_not_found", "not in the catalog", "Bangumi 上没有")
	// ErrRefused is every other 4xx: the catalog understood and said no.
	ErrRefused = reason.New("catalog_refused", "catalog refused the request", "Bangumi 拒绝了请求")
	// ErrGrantInvalid: the code or refresh token is used up, expired or revoked. Only a new authorisation by the person helps.
	ErrGrantInvalid = reason.New("catalog_grant_invalid", "the authorisation is no longer valid: connect the account again", "授权已失效：请重新授权该账号")
)

// Causes of an *Error.
var (
	// ErrSearchOff is the cause for a search that found nothing while the catalog's own is switched off.
	ErrSearchOff = reason.New("catalog_search_off", "the catalog's search is switched off", "Bangumi 的搜索已关闭")
	// errNotAsked is the cause for a request that was not sent.
	errNotAsked = reason.New("catalog_not_asked", "it did not answer before and is asked again in a while", "之前没有响应，过一会儿再询问")
	// errNoRows is the cause for an episode list whose emptiness is not believed yet.
	errNoRows = reason.New("catalog_list_empty", "the list is empty, and should not be: it is asked for again", "列表为空，但不应为空：会再次读取")
	// errNoOwner is the catalog contradicting itself.
	errNoOwner = reason.New("catalog_no_owner", "the catalog does not know the user whose token it takes", "Bangumi 接受了令牌，却不认识它的用户")
)

// The texts of an *Error: with what was done and its kind, with the status, and with more behind.
var (
	failed           = reason.New("catalog_failed", "{op}: {kind}", "{op}：{kind}")
	failedWithStatus = reason.New("catalog_failed_status", "{op}: {kind} (HTTP {status})", "{op}：{kind}（HTTP {status}）")
)

// What was done when a call failed.
var (
	opReadOwner     = reason.New("catalog_read_owner", "read the owner of the token", "读取令牌的所有者")
	opReadSubject   = reason.New("catalog_read_subject", "read subject {subject}", "读取条目 {subject}")
	opReadRelations = reason.New("catalog_read_relations", "read relations of subject {subject}", "读取条目 {subject} 的关联")
	opReadEpisodes  = reason.New("catalog_read_episodes", "read episodes of subject {subject}", "读取条目 {subject} 的章节")
	opReadEpisode   = reason.New("catalog_read_episode", "read episode {episode}", "读取章节 {episode}")
	opReadList      = reason.New("catalog_read_list", "read a list", "读取收藏列表")
	opReadEntry     = reason.New("catalog_read_entry", "read the list entry of subject {subject}", "读取条目 {subject} 的收藏")
	opReadMarks     = reason.New("catalog_read_marks", "read the marks of subject {subject}", "读取条目 {subject} 的标记")
	opReadMark      = reason.New("catalog_read_mark", "read the mark of episode {episode}", "读取章节 {episode} 的标记")
	opSearch        = reason.New("catalog_search", "search {keyword:q}", "搜索{keyword:q}")
	opSearchLegacy  = reason.New("catalog_search_legacy", "search {keyword:q} (legacy)", "搜索{keyword:q}（旧版接口）")
	opCollect       = reason.New("catalog_collect", "put subject {subject} on the list", "把条目 {subject} 加入收藏")
	opChangeEntry   = reason.New("catalog_change_entry", "change the list entry of subject {subject}", "修改条目 {subject} 的收藏")
	opMark          = reason.New("catalog_mark", "mark subject {subject}", "标记条目 {subject}")
	opSetEpisode    = reason.New("catalog_set_episode", "set episode {episode}", "标记章节 {episode}")
	opSetEpisodes   = reason.New("catalog_set_episodes", "set {count} episodes of subject {subject}", "标记条目 {subject} 的 {count} 个章节")
	opWait          = reason.New("catalog_wait", "wait for another write on subject {subject}", "等待条目 {subject} 的另一次写入")
	opExchangeCode  = reason.New("catalog_exchange_code", "exchange the authorisation code", "换取授权")
	opRefreshToken  = reason.New("catalog_refresh_token", "refresh the access token", "续期令牌")
)

// Descriptions of an answer that are not the catalog's own words.
var (
	notTheJSON        = reason.New("catalog_answer_not_json", "the answer is not the JSON that was due", "响应不是应有的 JSON")
	notDone           = reason.New("catalog_answer_not_done", "this is not how the catalog says that it is done", "这不是 Bangumi 表示完成的响应")
	sentOn            = reason.New("catalog_answer_sent_on", "the request was sent on to another address, which is not asked: check the catalog address", "请求被转到了另一个地址，未向该地址发送：请检查 Bangumi 地址")
	notMissing        = reason.New("catalog_answer_not_missing", "this is not how the catalog says that something is not there: check the catalog address", "这不是 Bangumi 表示不存在的响应：请检查 Bangumi 地址")
	webPage           = reason.New("catalog_answer_page", "a web page came instead of the catalog's answer: check the catalog address, or something on the way intercepts the traffic", "收到的是网页而不是 Bangumi 的响应：请检查 Bangumi 地址，也可能有设备拦截了流量")
	noToken           = reason.New("catalog_answer_no_token", "the answer holds no token", "响应中没有令牌")
	tooManyRows       = reason.New("catalog_too_many_rows", "the list has more than {count} rows", "列表超过 {count} 行")
	tooManyMerges     = reason.New("catalog_too_many_redirects", "too many redirects", "重定向次数过多")
	foreignEpisode    = reason.New("catalog_foreign_episode", "episode {episode} is not an episode of this subject", "章节 {episode} 不属于此条目")
	sayWhich          = reason.New("catalog_say_which", "the subject has episodes: say which were watched", "此条目有章节：请指明看过哪些")
	notShown          = reason.New("catalog_mark_not_shown", "the catalog accepted the mark but does not show it", "Bangumi 接受了标记，却没有显示")
	badAddress        = reason.New("catalog_address", "use an address such as https://catalog.example, without user, password and query", "请填写形如 https://catalog.example 的地址，不含用户名、密码和查询参数")
	forAPIAddress     = reason.New("catalog_api_address", "catalog API address: {cause}", "Bangumi API 地址：{cause}")
	forWebsiteAddress = reason.New("catalog_web_address", "catalog website address: {cause}", "Bangumi 网站地址：{cause}")
)

// What kind of outage it is.
var (
	outageOther      = reason.New("outage", "the catalog cannot be reached", "无法连接 Bangumi")
	outageNoRows     = reason.New("outage_no_episodes", "the catalog shows no episodes of a subject that should have some", "Bangumi 没有显示应有的章节")
	outageConnection = reason.New("outage_connection", "the catalog cannot be reached, the connection was refused or cut", "无法连接 Bangumi，连接被拒绝或中断")
	outageDNS        = reason.New("outage_dns", "the catalog cannot be reached, its name cannot be resolved", "无法连接 Bangumi，域名无法解析")
	outageTLS        = reason.New("outage_tls", "the catalog cannot be reached, there is no secure connection to it", "无法连接 Bangumi，安全连接失败")
	outageTimeout    = reason.New("outage_timeout", "the catalog cannot be reached, it did not answer in time", "无法连接 Bangumi，响应超时")
	outageProxy      = reason.New("outage_proxy", "the catalog cannot be reached, the proxy did not let the request pass", "无法连接 Bangumi，代理没有放行请求")
	outageBusy       = reason.New("outage_busy", "the catalog takes no requests for a while, for too many came (HTTP 429)", "请求过多，Bangumi 暂时不接受请求（HTTP 429）")
	outageBroken     = reason.New("outage_broken", "the catalog is out of order (HTTP {status})", "Bangumi 出现故障（HTTP {status}）")
	outageStrange    = reason.New("outage_strange", "the catalog's answer is not one of those it gives (HTTP {status})", "收到的不是 Bangumi 应有的响应（HTTP {status}）")
)
