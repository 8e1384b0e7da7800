package notify

import (
	"slices"
	"strings"

	"watchmark/internal/platform/bilingual"
)

// Group is what kinds stand together under.
type Group string

// The groups, in the order people see them.
const (
	Events   Group = "events"
	Matching Group = "matching"
	Accounts Group = "accounts"
	Catalog  Group = "catalog"
	Sources  Group = "sources"
	Work     Group = "work"
	System   Group = "system"
)

// Severity is how much a notice matters.
type Severity int

// The severities, the least first. Warning and Failure want somebody's attention.
const (
	Info Severity = iota
	Success
	Warning
	Failure
)

// String is the word of the API: info, success, warning, error.
func (s Severity) String() string {
	return [...]string{"info", "success", "warning", "error"}[min(max(s, Info), Failure)]
}

// MarshalText is String.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// KindInfo is what is known of a kind.
type KindInfo struct {
	Kind     Kind     `json:"kind"`
	Group    Group    `json:"group"`
	Severity Severity `json:"severity"`
	// First is set for the kinds of the rule that is there at first.
	First bool `json:"first"`
	// Routine is set for what comes with every event: the inbox keeps fewer of it, and it is never unread.
	Routine bool `json:"routine"`
	// Placeholders are those that the kind fills, beside Common.
	Placeholders []string `json:"placeholders"`

	// matter is set for a kind below Warning whose notices are closed when their matter is settled, as those of the others are.
	matter bool
	page   string // where the link leads when there is no record
	en, zh words
}

// words are the texts of a kind in one language. Of a title, a part between two middle dots, and of a text, a line,
// is left out when a placeholder in it is empty or 0.
type words struct{ name, title, text string }

// Name is what people call the kind.
func (k KindInfo) Name(l bilingual.Language) string { return k.words(l).name }

func (k KindInfo) words(l bilingual.Language) words {
	if l == bilingual.Chinese {
		return k.zh
	}
	return k.en
}

// Common are the placeholders of all kinds, for templates of rules. {title} and {text} are the standard texts; the title
// of what was watched is {anime}.
var Common = []string{"title", "text", "type", "type_name", "severity", "timestamp", "user_name", "user", "account", "who", "error_message", "error", "link", "count"}

// What more an event fills: what it is of, and what was found.
var eventFacts = []string{"anime", "what", "ori_title", "season", "episode", "media_type", "source", "subject_id", "subject_name", "episode_id", "error_type"}

// kinds is the table of all kinds, in the order people see them.
var kinds = []KindInfo{
	{Kind: RequestReceived, Group: Events, Severity: Info, Routine: true, Placeholders: eventFacts,
		en: words{"Event received", "{what} received · {user_name}", "Source: {source}"},
		zh: words{"收到事件", "收到{what} · {user_name}", "来源：{source}"}},
	{Kind: Marked, Group: Events, Severity: Success, Routine: true, Placeholders: eventFacts,
		en: words{"Marked", "{what} marked · {who}", "Entry: {subject_name}\nSource: {source}"},
		zh: words{"已标记", "{what} 已标记 · {who}", "条目：{subject_name}\n来源：{source}"}},
	{Kind: AlreadyWatched, Group: Events, Severity: Info, Routine: true, Placeholders: eventFacts,
		en: words{"Already watched", "{what} was already watched · {who}", "Entry: {subject_name}\nSource: {source}"},
		zh: words{"此前已看过", "{what} 此前已看过 · {who}", "条目：{subject_name}\n来源：{source}"}},
	{Kind: Ignored, Group: Events, Severity: Info, Routine: true, Placeholders: eventFacts,
		en: words{"Ignored", "{what} ignored · {who}", "{error_message}\nSource: {source}"},
		zh: words{"已忽略", "{what} 已忽略 · {who}", "{error_message}\n来源：{source}"}},
	{Kind: Queued, Group: Events, Severity: Info, Routine: true, Placeholders: eventFacts, page: "/records/queue",
		en: words{"Waits for Bangumi", "{what} waits for Bangumi · {who}", "{error_message}"},
		zh: words{"等待 Bangumi", "{what} 正在等待 Bangumi · {who}", "{error_message}"}},
	{Kind: Replayed, Group: Events, Severity: Success, Routine: true, Placeholders: eventFacts,
		en: words{"Marked after waiting", "{what} marked after waiting · {who}", "Entry: {subject_name}"},
		zh: words{"补标成功", "{what} 已补标 · {who}", "条目：{subject_name}"}},
	{Kind: WordAsked, Group: Events, Severity: Info, First: true, matter: true, Placeholders: []string{"subject_name", "subject_id"},
		en: words{"How was it?", "How was {subject_name}? · {account}", "It is watched to its end. Give it a rating and a comment on Bangumi, or none: nothing is written until you say so."},
		zh: words{"看完了，感觉如何？", "《{subject_name}》看完了 · {account}", "要在 Bangumi 上评分和吐槽吗？在你确认之前不会写入任何内容。"}},
	{Kind: MarkFailed, Group: Events, Severity: Failure, First: true, Placeholders: eventFacts,
		en: words{"Not marked", "{what} not marked · {who}", "{error_message}\nEntry: {subject_name}\nSource: {source}"},
		zh: words{"标记失败", "{what} 标记失败 · {who}", "{error_message}\n条目：{subject_name}\n来源：{source}"}},
	{Kind: Abandoned, Group: Events, Severity: Failure, First: true, Placeholders: eventFacts, page: "/records/queue",
		en: words{"Given up", "{what} given up · {who}", "{error_message}\nLet it wait again on the page Queue when Bangumi works."},
		zh: words{"放弃重试", "{what} 已放弃重试 · {who}", "{error_message}\nBangumi 恢复后，可在等待队列中恢复等待。"}},

	{Kind: NoAccount, Group: Matching, Severity: Warning, First: true, Placeholders: eventFacts,
		en: words{"No account", "{what}: no account · {user_name}", "{error_message}\nSource: {source}"},
		zh: words{"没有对应账号", "{what} 没有对应账号 · {user_name}", "{error_message}\n来源：{source}"}},
	{Kind: NotMatched, Group: Matching, Severity: Warning, First: true, Placeholders: eventFacts,
		en: words{"Not found", "{what} not found on Bangumi · {who}", "{error_message}\nSource: {source}"},
		zh: words{"未找到条目", "{what} 未找到条目 · {who}", "{error_message}\n来源：{source}"}},
	{Kind: ReviewWaiting, Group: Matching, Severity: Warning, First: true, page: "/review",
		Placeholders: append(slices.Clone(eventFacts), "candidates_count", "top_candidate_id", "top_candidate_name"),
		en:           words{"Needs review", "{what} needs your review · {who}", "{error_message}\nBest guess: {top_candidate_name}\nSource: {source}"},
		zh:           words{"待确认", "{what} 待确认 · {who}", "{error_message}\n最可能的条目：{top_candidate_name}\n来源：{source}"}},
	{Kind: EpisodeNotFound, Group: Matching, Severity: Warning, First: true, Placeholders: eventFacts,
		en: words{"Episode not found", "{what}: episode not found · {who}", "{error_message}\nEntry: {subject_name}\nSource: {source}"},
		zh: words{"未找到这一集", "{what} 未找到对应的集 · {who}", "{error_message}\n条目：{subject_name}\n来源：{source}"}},

	{Kind: TokenExpiring, Group: Accounts, Severity: Warning, First: true, page: "/people", Placeholders: []string{"service", "expires_at"},
		en: words{"Sign-in expires soon", "Sign-in expires soon · {account} · {service}", "It expires at {expires_at}.\nSign in again before then, so that no mark has to wait."},
		zh: words{"登录即将过期", "登录即将过期 · {account} · {service}", "过期时间：{expires_at}\n请在此之前重新登录，以免标记受阻。"}},
	{Kind: TokenDead, Group: Accounts, Severity: Failure, First: true, page: "/people", Placeholders: []string{"service"},
		en: words{"Sign-in refused", "Sign-in refused · {account} · {service}", "{error_message}\nSign in again."},
		zh: words{"登录已失效", "登录已失效 · {account} · {service}", "{error_message}\n请重新登录。"}},

	{Kind: CatalogUnreachable, Group: Catalog, Severity: Failure, First: true, page: "/records/queue", Placeholders: []string{"pending_count"},
		en: words{"Bangumi unreachable", "Bangumi unreachable", "{error_message}\nMarks wait in the queue and are sent automatically when Bangumi is back."},
		zh: words{"Bangumi 无法连接", "Bangumi 无法连接", "{error_message}\n标记会在等待队列中，恢复后自动发送。"}},
	{Kind: CatalogBack, Group: Catalog, Severity: Success, First: true, page: "/records/queue", Placeholders: []string{"duration", "pending_count"},
		en: words{"Bangumi is back", "Bangumi can be reached again", "It could not be reached for {duration}.\nMarks that waited: {pending_count}"},
		zh: words{"Bangumi 已恢复", "Bangumi 已恢复连接", "中断时长：{duration}\n期间等待的标记：{pending_count}"}},
	{Kind: ArchiveImported, Group: Catalog, Severity: Success, page: "/titles/archive", Placeholders: []string{"archive", "total"},
		en: words{"Offline data imported", "Offline data imported · {archive}", "Entries: {total}"},
		zh: words{"离线数据已导入", "离线数据已导入 · {archive}", "条目数：{total}"}},
	{Kind: ArchiveFailed, Group: Catalog, Severity: Failure, First: true, page: "/titles/archive", Placeholders: []string{"archive"},
		en: words{"Offline data import failed", "Offline data import failed · {archive}", "{error_message}"},
		zh: words{"离线数据导入失败", "离线数据导入失败 · {archive}", "{error_message}"}},
	{Kind: ArchiveSkipped, Group: Catalog, Severity: Info, page: "/titles/archive", Placeholders: []string{"archive"},
		en: words{"Offline data not updated", "Offline data not updated · {archive}", "{error_message}"},
		zh: words{"离线数据未更新", "离线数据未更新 · {archive}", "{error_message}"}},

	{Kind: SourceSilent, Group: Sources, Severity: Warning, First: true, page: "/sources", Placeholders: []string{"source", "days"},
		en: words{"Source is silent", "No events any more · {source}", "No events for {days} days.\n{error_message}\nCheck whether it still runs and sends."},
		zh: words{"来源长时间没有事件", "来源长时间没有事件 · {source}", "已 {days} 天没有事件。\n{error_message}\n请检查它是否仍在运行并发送。"}},
	{Kind: TrackerSyncDone, Group: Sources, Severity: Success, page: "/sources/tracker", Placeholders: []string{"total", "failed"},
		en: words{"Trakt history read", "Trakt history read · {user_name}", "New plays: {total}\nFailed: {failed}"},
		zh: words{"Trakt 记录已读取", "Trakt 记录已读取 · {user_name}", "新增播放：{total}\n失败：{failed}"}},
	{Kind: TrackerSyncFailed, Group: Sources, Severity: Failure, First: true, page: "/sources/tracker",
		en: words{"Trakt history failed", "Trakt history could not be read · {user_name}", "{error_message}"},
		zh: words{"Trakt 记录读取失败", "Trakt 记录读取失败 · {user_name}", "{error_message}"}},

	{Kind: ServerSignedOut, Group: Sources, Severity: Failure, First: true, page: "/sources/servers", Placeholders: []string{"server"},
		en: words{"Sign-in at a media server ended", "Sign-in at {server} ended · {user_name}", "{error_message}\nNothing played there is marked until then; it is caught up afterwards."},
		zh: words{"媒体服务器登录已失效", "{server} 的登录已失效 · {user_name}", "{error_message}\n在此之前的播放不会标记，重新登录后会自动补上。"}},
	{Kind: ServerUnreachable, Group: Sources, Severity: Warning, First: true, page: "/sources/servers", Placeholders: []string{"server", "since"},
		en: words{"Media server unreachable", "{server} has not answered for a day · {user_name}", "{error_message}\nNo answer since {since}.\nWhat is played is caught up when it answers."},
		zh: words{"媒体服务器无法连接", "{server} 已超过一天没有响应 · {user_name}", "{error_message}\n无响应开始时间：{since}\n恢复后会自动补上期间的播放。"}},
	{Kind: ServerRefused, Group: Sources, Severity: Warning, First: true, page: "/sources/servers", Placeholders: []string{"server"},
		en: words{"Media server refuses a user", "{server} refuses the user for now · {user_name}", "{error_message}\nIt is asked again every hour."},
		zh: words{"媒体服务器拒绝用户", "{server} 暂时拒绝此用户 · {user_name}", "{error_message}\n每小时会再试一次。"}},
	{Kind: ServerAsks, Group: Sources, Severity: Warning, First: true, page: "/sources/servers", Placeholders: []string{"server", "total"},
		en: words{"Plays came all at once", "{total} plays came all at once · {server} · {user_name}", "They look as if they were marked by hand. Say on the page of the server whether to mark them."},
		zh: words{"大量播放同时出现", "同时出现 {total} 条播放 · {server} · {user_name}", "看起来是手动标记的。请在该服务器的页面确认是否标记。"}},

	{Kind: ImportDone, Group: Work, Severity: Success, page: "/sources/import", Placeholders: []string{"source", "total", "failed", "skipped"},
		en: words{"Import done", "Import done · {source}", "Imported: {total}\nSkipped: {skipped}\nFailed: {failed}"},
		zh: words{"导入完成", "导入完成 · {source}", "已导入：{total}\n跳过：{skipped}\n失败：{failed}"}},
	{Kind: ImportFailed, Group: Work, Severity: Failure, First: true, page: "/sources/import", Placeholders: []string{"source"},
		en: words{"Import failed", "Import failed · {source}", "{error_message}"},
		zh: words{"导入失败", "导入失败 · {source}", "{error_message}"}},
	{Kind: JobFailed, Group: Work, Severity: Failure, First: true, page: "/settings/tasks", Placeholders: []string{"job_name"},
		en: words{"Job failed", "Job failed · {job_name}", "{error_message}"},
		zh: words{"定时任务失败", "定时任务失败 · {job_name}", "{error_message}"}},
	{Kind: ListShrunk, Group: Work, Severity: Warning, page: "/people", Placeholders: []string{"before", "now"},
		en: words{"Much of a list is gone", "The list of {account} lost more than half of its entries", "{before} entries before, {now} now. The snapshots from before are kept."},
		zh: words{"列表大量减少", "{account} 的列表减少了一半以上", "之前 {before} 个条目，现在 {now} 个。以前的快照仍然保留。"}},
	{Kind: UnwatchedAsks, Group: Work, Severity: Warning, page: "/inbox", Placeholders: []string{"anime", "total"},
		en: words{"Set back to unwatched", "Take the mark back? · {account}", "{anime} was set back to unwatched on the media server. Plays in all: {total}\nAnswer at the top of the page Inbox; nothing is written before."},
		zh: words{"改回未看", "要撤回标记吗？ · {account}", "{anime} 在媒体服务器上改回了未看，共 {total} 条播放。\n请在“通知”页顶部回答，在此之前什么都不写入。"}},
	{Kind: SummaryReady, Group: Work, Severity: Info, Placeholders: []string{"job_name", "date_range", "record_count", "lookback_days", "model", "tokens_used", "summary_text"},
		en: words{"Summary ready", "What was watched · {job_name} · {date_range}", "{summary_text}"},
		zh: words{"观看总结", "观看总结 · {job_name} · {date_range}", "{summary_text}"}},
	{Kind: AiringToday, Group: Work, Severity: Info, Placeholders: []string{"airdate", "total", "list"},
		en: words{"Airing today", "Airing today · {airdate} · {total}", "{list}"},
		zh: words{"今日放送", "今日放送 · {airdate} · {total} 部", "{list}"}},

	{Kind: NewVersion, Group: System, Severity: Info, page: "/settings/about", Placeholders: []string{"current_version", "previous_version"},
		en: words{"Watchmark updated", "Watchmark was updated · {current_version}", "Previous version: {previous_version}"},
		zh: words{"Watchmark 已更新", "Watchmark 已更新 · {current_version}", "更新前版本：{previous_version}"}},
	{Kind: UpdateAvailable, Group: System, Severity: Info, page: "/settings/about", Placeholders: []string{"current_version", "new_version", "release_page"},
		en: words{"New version", "New version of Watchmark · {new_version}", "Current version: {current_version}\n{release_page}"},
		zh: words{"有新版本", "Watchmark 有新版本 · {new_version}", "当前版本：{current_version}\n{release_page}"}},
	{Kind: DatabaseMigrated, Group: System, Severity: Info, page: "/settings/about", Placeholders: []string{"current_version", "previous_version"},
		en: words{"Database upgraded", "Database upgraded · {current_version}", "A copy from before the upgrade is in the data folder."},
		zh: words{"数据库已升级", "数据库已升级 · {current_version}", "升级前的副本保存在数据目录中。"}},
	{Kind: LoginLocked, Group: System, Severity: Warning, page: "/settings/access", Placeholders: []string{"ip", "locked_until"},
		en: words{"Sign-in locked", "Sign-in locked after too many wrong attempts · {ip}", "Locked until {locked_until}."},
		zh: words{"登录已锁定", "多次输错，登录已锁定 · {ip}", "锁定至：{locked_until}"}},
	{Kind: CertificateEnding, Group: System, Severity: Warning, page: "/settings", Placeholders: []string{"expires_at"},
		en: words{"TLS certificate expires soon", "The TLS certificate expires soon", "It expires at {expires_at}.\nCheck why it was not renewed: after that, browsers and media servers refuse to connect."},
		zh: words{"TLS 证书即将过期", "TLS 证书即将过期", "过期时间：{expires_at}\n请检查为何没有续期：过期后浏览器和媒体服务器都会拒绝连接。"}},
	{Kind: ReplicaLost, Group: System, Severity: Info, page: "/settings/about", Placeholders: []string{"replica"},
		en: words{"Replica lost", "The database lost touch with a replica · {replica}", "The other replicas do what it had in hand. If it still runs, it joins them again by itself."},
		zh: words{"副本失联", "数据库与一个副本失去联系 · {replica}", "它手头的工作由其他副本继续处理。如果它仍在运行，会自动重新加入。"}},
}

// hasMatter reports whether a notice stands for its matter, until that is settled or comes up again.
func (k KindInfo) hasMatter() bool { return k.Severity >= Warning || k.matter }

// OfPeople reports whether its notices can be a person's: those about an account, and about the summaries of a person.
func (k KindInfo) OfPeople() bool {
	switch k.Kind {
	case RequestReceived, NoAccount:
		return false
	case ListShrunk, UnwatchedAsks, AiringToday, SummaryReady, JobFailed:
		return true
	}
	return k.Group == Events || k.Group == Matching || k.Group == Accounts
}

// Kinds are all kinds, in the order people see them.
func Kinds() []KindInfo { return slices.Clone(kinds) }

// byKind finds a kind's line in the table.
var byKind = func() map[Kind]KindInfo {
	found := make(map[Kind]KindInfo, len(kinds))
	for _, k := range kinds {
		found[k.Kind] = k
	}
	return found
}()

// InfoOf is what is known of a kind; of one that an older program knew, its name.
func InfoOf(kind Kind) KindInfo {
	if k, known := byKind[kind]; known {
		return k
	}
	name := strings.ReplaceAll(string(kind), "_", " ")
	return KindInfo{Kind: kind, Group: System, en: words{name: name}, zh: words{name: name}}
}
