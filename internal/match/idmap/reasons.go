package idmap

import (
	"watchmark/internal/platform/reason"
)

// The errors a caller branches on.
var (
	// ErrOff says that the id table is switched off.
	ErrOff = reason.New("dataset_off_set", "the ID table is switched off: set matching.dataset_enabled", "ID 对照表已停用：请启用 matching.dataset_enabled").For(reason.Conflict)
	// ErrRunning says that a refresh of the id table is under way already.
	ErrRunning = reason.New("dataset_refreshing", "the ID table is being updated already", "ID 对照表正在更新").For(reason.Conflict)
	// ErrFormat is the cause of the errors for a document or a file that is not the table.
	ErrFormat = reason.New("dataset_format", "this is not the table of bangumi-data", "这不是 bangumi-data 的对照表")
)

// Why there is no table to ask.
var (
	switchedOff = reason.New("dataset_off", "the ID table is switched off", "ID 对照表已停用")
	unusable    = reason.New("dataset_unusable", "the ID table cannot be used", "ID 对照表无法使用")
)

// How a refresh fails.
var (
	builtInUnreadable = reason.New("dataset_read_own", "the ID table in the program cannot be read: {cause}", "无法读取程序自带的 ID 对照表：{cause}")
	fetchFailed       = reason.New("dataset_fetch", "the ID table cannot be downloaded: {cause}", "无法下载 ID 对照表：{cause}")
	fetchAnswered     = reason.New("dataset_answer", "the ID table cannot be downloaded: the address answered {status} {text}", "无法下载 ID 对照表：该地址返回了 {status} {text}")
	tableUnreadable   = reason.New("dataset_read", "the ID table cannot be read: {cause}", "无法读取 ID 对照表：{cause}")
	notSaved          = reason.New("dataset_store", "the ID table cannot be saved: {cause}", "无法保存 ID 对照表：{cause}")
	errSmaller        = reason.New("dataset_smaller",
		"the downloaded table is much smaller than the one in use ({entries} entries instead of {before}), so it seems incomplete and is not used",
		"下载的对照表比使用中的小很多（{entries} 个条目，此前 {before} 个），可能不完整，因此未采用")
)

// What is wrong with a table.
var (
	addressTooLong   = reason.New("dataset_address_long", "the address of the document is too long to be kept", "文件地址过长，无法保存")
	numberTooLarge   = reason.New("dataset_number", "a number is {number}; at most {most} is allowed", "有数值为 {number}，上限是 {most}")
	endlessHead      = reason.New("dataset_head", "its head does not end", "文件头没有结尾")
	otherVersion     = reason.New("dataset_version", "it was written by another version of Watchmark", "由其他版本的 Watchmark 写入")
	tooManyTitles    = reason.New("dataset_titles_many", "it has too many titles", "标题过多")
	titlesIncomplete = reason.New("dataset_titles", "its titles have {bytes} bytes instead of {announced}", "标题共 {bytes} 字节，应为 {announced}")
	tooLarge         = reason.New("dataset_large", "it is larger than {most} MiB", "超过 {most} MiB")
	tooManyEntries   = reason.New("dataset_entries_many", "it has more than {most} entries", "条目超过 {most} 个").Was("dataset_subjects_many")
	noEntries        = reason.New("dataset_no_entries", "it has no entries", "其中没有条目").Was("dataset_subjects")
	trailingText     = reason.New("dataset_rest", "there is text after its end", "末尾有多余的内容")
	noItems          = reason.New("dataset_items", "it has no items", "其中没有 items")
	delimiterMissing = reason.New("dataset_delimiter", "{what} is missing", "缺少 {what}")
	endsEarly        = reason.New("dataset_ends_early", "its end is missing", "内容不完整")
	noJSON           = reason.New("dataset_no_json", "it is not JSON, at byte {offset}", "第 {offset} 字节处不是 JSON")
)

// Why a fetched table may not serve. The first is the argument of the others.
var (
	otherMeaning = reason.New("dataset_other_meaning",
		"too many IDs of the downloaded table lead to other entries than in the built-in table, so it is not used: update Watchmark, or set matching.dataset_url to a known release, such as https://unpkg.com/bangumi-data@{version}/dist/data.json",
		"下载的对照表中，有太多 ID 指向的条目与程序自带的对照表不同，因此未采用：请更新 Watchmark，或将 matching.dataset_url 设为已知的版本，例如 https://unpkg.com/bangumi-data@{version}/dist/data.json")
	knownWrong = reason.New("dataset_known_wrong",
		"{meaning} (a known case is wrong: TMDB show {show}, season {season}, episode {episode} leads to {subject} instead of {known})",
		"{meaning}（已知的例子结果有误：TMDB 剧集 {show} 第 {season} 季第 {episode} 集指向 {subject}，应为 {known}）")
	knownShifted = reason.New("dataset_known_shifted",
		"{meaning} (a known case is wrong: {count} entries begin with another episode of their season)",
		"{meaning}（已知的例子结果有误：{count} 个条目在季中的起始集不同）")
	movedSeasons = reason.New("dataset_moved_seasons", "{meaning} ({count} of {of} seasons begin with another entry, at most {most} are accepted)",
		"{meaning}（{of} 季中有 {count} 季的第一集指向别的条目，最多接受 {most}）")
	movedParts = reason.New("dataset_moved_parts", "{meaning} ({count} of {of} seasons are divided differently, at most {most} are accepted)",
		"{meaning}（{of} 季中有 {count} 季的划分不同，最多接受 {most}）")
	movedSpecials = reason.New("dataset_moved_specials", "{meaning} ({count} of {of} specials are another entry, at most {most} are accepted)",
		"{meaning}（{of} 个特别篇中有 {count} 个指向别的条目，最多接受 {most}）")
	movedFilms = reason.New("dataset_moved_films", "{meaning} ({count} of {of} films are another entry, at most {most} are accepted)",
		"{meaning}（{of} 部剧场版中有 {count} 部指向别的条目，最多接受 {most}）")
	movedIDs = reason.New("dataset_moved_ids", "{meaning} ({count} of {of} IDs of MyAnimeList, AniDB and AniList are another entry, at most {most} are accepted)",
		"{meaning}（{of} 个 MyAnimeList、AniDB、AniList 的 ID 中有 {count} 个指向别的条目，最多接受 {most}）")
)

// What is wrong with a list of seasons, and with an update of the lists.
var (
	errListsOff   = reason.New("idmap_off", "the lists of IDs are switched off: set idmap.enabled", "ID 列表已停用：请启用 idmap.enabled").For(reason.Conflict)
	errListFormat = reason.New("idmap_format", "this is not the list that it should be", "这不是应有的列表文件")
	readingList   = reason.New("idmap_read", "read the list: {cause}", "读取列表：{cause}")
	ofList        = reason.New("idmap_list", "{list}: {cause}", "{list}：{cause}")
	noXML         = reason.New("idmap_no_xml", "it is no XML, at line {line}", "不是 XML，出错位置在第 {line} 行")
)
