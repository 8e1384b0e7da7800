package idmap

import (
	"watchmark/internal/platform/reason"
)

// The errors a caller branches on.
var (
	// ErrOff says that the id table is switched off.
	ErrOff = reason.New("dataset_off_set", "the id table is switched off: set matching.dataset_enabled", "ID 对照表已停用：请启用 matching.dataset_enabled").For(reason.Conflict)
	// ErrRunning says that a refresh of the id table is under way already.
	ErrRunning = reason.New("dataset_refreshing", "a refresh of the id table is under way already", "ID 对照表已在更新").For(reason.Conflict)
	// ErrFormat is the cause of the errors for a document or a file that is not the table.
	ErrFormat = reason.New("dataset_format", "this is not the table of bangumi-data", "这不是 bangumi-data 的对照表")
)

// Why there is no table to ask.
var (
	switchedOff = reason.New("dataset_off", "the id table is switched off", "ID 对照表已停用")
	unusable    = reason.New("dataset_unusable", "the id table cannot be used", "ID 对照表无法使用")
)

// How a refresh fails.
var (
	readOwn    = reason.New("dataset_read_own", "read the id table in the program: {cause}", "读取程序自带的 ID 对照表：{cause}")
	fetching   = reason.New("dataset_fetch", "fetch the id table: {cause}", "获取 ID 对照表：{cause}")
	answered   = reason.New("dataset_answer", "fetch the id table: the address answered {status} {text}", "获取 ID 对照表：该地址返回了 {status} {text}")
	reading    = reason.New("dataset_read", "read the id table: {cause}", "读取 ID 对照表：{cause}")
	storing    = reason.New("dataset_store", "store the id table: {cause}", "保存 ID 对照表：{cause}")
	errSmaller = reason.New("dataset_smaller",
		"the fetched table holds much less than the one in use, so it is taken for a truncated one ({entries} entries, before there were {before})",
		"获取的对照表比使用中的少很多，因此视为不完整（{entries} 个条目，此前 {before} 个）")
)

// What is wrong with a table.
var (
	longAddress     = reason.New("dataset_address_long", "what is to be kept of the document's address is too long", "文件地址中需要保存的部分过长")
	largeNumber     = reason.New("dataset_number", "a number is {number} and may be {most}", "有数值为 {number}，上限是 {most}")
	endlessHead     = reason.New("dataset_head", "its head has no end", "文件头没有结尾")
	otherVersion    = reason.New("dataset_version", "it was written by another version of watchmark", "由其他版本的 Watchmark 写入")
	manyTitles      = reason.New("dataset_titles_many", "it has too many titles", "标题过多")
	otherTitles     = reason.New("dataset_titles", "its titles have {bytes} bytes, announced are {announced}", "标题共 {bytes} 字节，而声明是 {announced}")
	tooLarge        = reason.New("dataset_large", "it is larger than {most} MiB", "超过 {most} MiB")
	manySubjects    = reason.New("dataset_subjects_many", "it has more than {most} subjects", "条目超过 {most} 个")
	noSubject       = reason.New("dataset_subjects", "it names no subject", "其中没有条目")
	somethingBehind = reason.New("dataset_rest", "something follows it", "末尾有多余的内容")
	noItems         = reason.New("dataset_items", "it has no items", "其中没有 items")
	notThere        = reason.New("dataset_delimiter", "it has no {what} where one is due", "该有 {what} 的地方没有")
	endsEarly       = reason.New("dataset_ends_early", "it ends early", "内容不完整")
	noJSON          = reason.New("dataset_no_json", "it is no JSON, at byte {offset}", "第 {offset} 字节处不是 JSON")
)

// Why a fetched table may not serve. The first is the argument of the others.
var (
	otherMeaning = reason.New("dataset_other_meaning",
		"too many ids of the fetched table lead to other entries than in the table of this program, so it is not used: update Watchmark, which may know their new meaning, or set matching.dataset_url to a release that is known, such as https://unpkg.com/bangumi-data@{version}/dist/data.json",
		"获取的对照表中，有太多 ID 指向的条目与程序自带的对照表不同，因此未被采用：请更新 Watchmark（新版本可能了解这些 ID 的新含义），或将 matching.dataset_url 设为已知的版本，例如 https://unpkg.com/bangumi-data@{version}/dist/data.json")
	knownWrong = reason.New("dataset_known_wrong",
		"{meaning} (a case that is known comes out wrong: TMDB show {show}, season {season}, episode {episode} leads to {subject} instead of {known})",
		"{meaning}（已知的例子结果有误：TMDB 剧集 {show} 第 {season} 季第 {episode} 集指向 {subject}，应为 {known}）")
	knownShifted = reason.New("dataset_known_shifted",
		"{meaning} (a case that is known comes out wrong: {count} entries begin with another episode of their season)",
		"{meaning}（已知的例子结果有误：{count} 个条目在季中的起始集不同）")
	movedSeasons = reason.New("dataset_moved_seasons", "{meaning} ({count} of {of} seasons begin with another entry, {most} may)",
		"{meaning}（{of} 季中有 {count} 季的第一集指向别的条目，最多接受 {most}）")
	movedParts = reason.New("dataset_moved_parts", "{meaning} ({count} of {of} seasons are divided in another way, {most} may)",
		"{meaning}（{of} 季中有 {count} 季的划分不同，最多接受 {most}）")
	movedSpecials = reason.New("dataset_moved_specials", "{meaning} ({count} of {of} specials are another entry, {most} may)",
		"{meaning}（{of} 个特别篇中有 {count} 个指向别的条目，最多接受 {most}）")
	movedFilms = reason.New("dataset_moved_films", "{meaning} ({count} of {of} films are another entry, {most} may)",
		"{meaning}（{of} 部剧场版中有 {count} 部指向别的条目，最多接受 {most}）")
	movedIDs = reason.New("dataset_moved_ids", "{meaning} ({count} of {of} ids of MyAnimeList, AniDB and AniList are another entry, {most} may)",
		"{meaning}（{of} 个 MyAnimeList、AniDB、AniList 的 ID 中有 {count} 个指向别的条目，最多接受 {most}）")
)
