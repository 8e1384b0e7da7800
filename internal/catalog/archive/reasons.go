package archive

import (
	"watchmark/internal/platform/reason"
)

// The errors a caller branches on.
var (
	// ErrNone is returned by look-ups while there is no archive.
	ErrNone = reason.New("archive_none", "there is no offline data yet: import it first", "还没有离线数据：请先导入").For(reason.Conflict)
	// ErrBusy is returned when another import runs, in this process or another one.
	ErrBusy = reason.New("archive_busy", "another import is running: wait for it, or cancel it first", "另一个导入正在进行：请等它结束，或先取消它").For(reason.Conflict)
	// ErrSmaller is the cause of the errors for a dump that holds much less than the archive in use.
	ErrSmaller = reason.New("archive_smaller", "the dump is much smaller than the data in use, so it is probably incomplete", "数据文件比当前使用的离线数据小很多，很可能不完整")
)

// Why the archive cannot be used or read.
var (
	errClosed       = reason.New("archive_closed", "the offline data is closed", "离线数据已关闭")
	errFormat       = reason.New("archive_version", "another version of Watchmark wrote it", "它由其他版本的 Watchmark 写入")
	errPacked       = reason.New("archive_damaged", "the offline data is damaged", "离线数据已损坏")
	errNamesNothing = reason.New("archive_pointer_empty", "current.json names no offline data: import again", "current.json 没有指向任何离线数据：请重新导入")
	lookFor         = reason.New("archive_look_for", "look for the offline data: {cause}", "查找离线数据：{cause}")
	readPointer     = reason.New("archive_pointer", "read which offline data is in use: {cause}", "读取当前使用的离线数据：{cause}")
	importAgain     = reason.New("archive_import_again", "{cause}; import again", "{cause}；请重新导入")
	opening         = reason.New("archive_open", "open the offline data: {cause}", "打开离线数据：{cause}")
	badDays         = reason.New("archive_bad_days", "what airs from {from:q} to {to:q}: enter two days, the second not before the first and at most a year later", "从{from:q}到{to:q}的放送：两者都必须是日期，后者不早于前者且最多晚一年")
	noSubject       = reason.New("archive_subject_missing", "entry {subject} is not in the offline data: {cause}", "离线数据中没有条目 {subject}：{cause}")
	noEpisode       = reason.New("archive_episode_missing", "episode {episode} is not in the offline data: {cause}", "离线数据中没有单集 {episode}：{cause}")
	readSubject     = reason.New("archive_read_subject", "read entry {subject} from the offline data: {cause}", "从离线数据读取条目 {subject}：{cause}")
	readRelations   = reason.New("archive_read_relations", "read what is related to entry {subject} from the offline data: {cause}", "从离线数据读取条目 {subject} 的关联：{cause}")
	readEpisodes    = reason.New("archive_read_episodes", "read the episodes of entry {subject} from the offline data: {cause}", "从离线数据读取条目 {subject} 的各集：{cause}")
	readEpisode     = reason.New("archive_read_episode", "read episode {episode} from the offline data: {cause}", "从离线数据读取单集 {episode}：{cause}")
	readAiring      = reason.New("archive_read_airing", "read what airs from {from} to {to} from the offline data: {cause}", "从离线数据读取 {from} 至 {to} 的放送：{cause}")
	searching       = reason.New("archive_search", "look for {title:q} in the offline data: {cause}", "在离线数据中查找{title:q}：{cause}")
)

// How an import fails.
var (
	creating         = reason.New("archive_create", "create the offline data: {cause}", "创建离线数据：{cause}")
	writing          = reason.New("archive_write", "write the offline data: {cause}", "写入离线数据：{cause}")
	writeSubject     = reason.New("archive_write_subject", "write entry {subject}: {cause}", "写入条目 {subject}：{cause}")
	writeEpisodes    = reason.New("archive_write_episodes", "write the episodes of entry {subject}: {cause}", "写入条目 {subject} 的各集：{cause}")
	writeRelations   = reason.New("archive_write_relations", "write what is related to entry {subject}: {cause}", "写入条目 {subject} 的关联：{cause}")
	writeOwners      = reason.New("archive_write_owners", "write which entry each episode belongs to: {cause}", "写入各集所属条目：{cause}")
	writeAiring      = reason.New("archive_write_airing", "write what airs on each day: {cause}", "写入每日放送：{cause}")
	makeFolder       = reason.New("archive_folder", "create the folder of the offline data: {cause}", "创建离线数据目录：{cause}")
	makeFolderElse   = reason.New("archive_folder_set", "create the folder of the offline data: {cause}; set catalog_archive.data_dir to a folder that the service may write to", "创建离线数据目录：{cause}；请把 catalog_archive.data_dir 设为服务可写的目录")
	locking          = reason.New("archive_lock", "lock the folder of the offline data: {cause}", "锁定离线数据目录：{cause}")
	readDump         = reason.New("archive_read_dump", "read the dump: {cause}", "读取数据文件：{cause}")
	openDump         = reason.New("archive_open_dump", "open the dump: {cause}", "打开数据文件：{cause}")
	readUpload       = reason.New("archive_read_upload", "read the upload: {cause}", "读取上传的文件：{cause}")
	naming           = reason.New("archive_name", "name the new offline data: {cause}", "命名新的离线数据：{cause}")
	lookingInto      = reason.New("archive_look_into", "check the new offline data: {cause}", "检查新的离线数据：{cause}")
	switching        = reason.New("archive_switch", "switch to the new offline data: {cause}", "切换到新的离线数据：{cause}")
	smallerBytes     = reason.New("archive_smaller_bytes", "{smaller} ({bytes} bytes, before {before})", "{smaller}（{bytes} 字节，此前 {before}）")
	smallerAnnounced = reason.New("archive_smaller_announced", "{smaller} ({bytes} bytes announced, before {before})", "{smaller}（声明为 {bytes} 字节，此前 {before}）")
	fewerSubjects    = reason.New("archive_fewer_subjects", "{smaller} ({count} entries, before {before})", "{smaller}（{count} 个条目，此前 {before}）")
	fewerEpisodes    = reason.New("archive_fewer_episodes", "{smaller} ({count} episodes, before {before})", "{smaller}（{count} 集，此前 {before}）")
	fewerRelations   = reason.New("archive_fewer_relations", "{smaller} ({count} relations, before {before})", "{smaller}（{count} 个关联，此前 {before}）")
)

// What is wrong with a dump that can be read.
var (
	holdsNothing  = reason.New("dump_empty", "it has no anime and no live action, or no episodes", "其中没有动画和三次元条目，或没有任何一集")
	manyTitles    = reason.New("dump_titles_many", "it has more than {titles} titles, or more than {size} MiB of them", "标题超过 {titles} 个，或总计超过 {size} MiB")
	manySubjects  = reason.New("dump_subjects_many", "it has more than {most} anime and live action", "动画和三次元条目超过 {most} 个")
	manyEpisodes  = reason.New("dump_episodes_many", "it has more than {most} episodes", "集数超过 {most}")
	manyRelations = reason.New("dump_relations_many", "it has more than {most} relations", "关联超过 {most} 个")
	muchText      = reason.New("dump_text", "it has more text than a dump may have", "文本多于数据文件的上限")
	subjectTwice  = reason.New("dump_subject_twice", "entry {subject} is in it twice", "条目 {subject} 出现了两次")
	episodeTwice  = reason.New("dump_episode_twice", "episode {episode} is in it twice", "单集 {episode} 出现了两次")
)
