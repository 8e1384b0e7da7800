package importer

import "watchmark/internal/platform/reason"

var (
	// ErrRunning is returned while another import or preview runs.
	ErrRunning = reason.New("import_running", "a history is being imported or previewed already: wait for it, or cancel its task",
		"已有历史正在导入或预览：请等它结束，或取消该任务").For(reason.Conflict)
	tooManyShows = reason.New("import_too_many_shows", "the library has more shows than can be read", "媒体库中的剧集多于可读取的上限")
	whichUser    = reason.New("import_which_user", "choose whose history to import: the server has several users",
		"请选择导入谁的历史：服务器有多个用户")
	noUser    = reason.New("import_no_user", "the server has no user with this id or name", "服务器上没有这个编号或名字的用户")
	noLibrary = reason.New("import_no_library", "the server has no library {name:q} with episodes or films",
		"服务器上没有存放剧集或电影的媒体库{name:q}")
	readLibrary = reason.New("import_read_library", "read the library {name}: {cause}", "读取媒体库 {name}：{cause}")
	lookedUp    = reason.New("import_looked_up", "{name}: {items} episodes and films looked up", "{name}：已查询 {items} 集（部）")
	takenIn     = reason.New("import_taken_in", "{name}: {taken} imported, {on_way} in progress",
		"{name}：已导入 {taken}，处理中 {on_way}")
	wrongToken  = reason.New("import_wrong_token", "enter the token as the server shows it", "请按服务器显示的原样填写令牌")
	wrongSource = reason.New("import_wrong_source", "histories can be read from plex, emby and jellyfin only",
		"只能从 plex、emby 和 jellyfin 读取历史")
	tokenRefused = reason.New("import_token_refused", "{product} refuses the token: enter the token of the owner of the server, or an API key of the server",
		"{product} 拒绝了令牌：请填写服务器所有者的令牌，或服务器的 API 密钥")

	wrongFormat = reason.New("import_file_format", "the format must be trakt, simkl or mal", "格式只能是 trakt、simkl 或 mal")
	fileEmpty   = reason.New("import_file_empty", "the file is one of {product}, but it holds nothing that was watched", "这是 {product} 的文件，但其中没有任何看过的内容").For(reason.Invalid)
	fileBroken  = reason.New("import_file_broken", "{name} cannot be read: {cause}. Export it again, and send it as you got it.",
		"无法读取 {name}：{cause}。请重新导出，并原样上传。").For(reason.Invalid)
	fileEnds      = reason.New("import_file_ends", "the file of {name} ends before it is whole. Download it again, and send it as you got it.", "{name} 的文件不完整。请重新下载，并原样上传。").For(reason.Invalid)
	fileOtherForm = reason.New("import_file_other", "this is a file of another kind: choose the format that it has", "文件类型不符：请选择与文件一致的格式").For(reason.Invalid)
	fileManga     = reason.New("import_file_manga", "this is a list of manga: export the anime list", "这是漫画列表：请导出动画列表").For(reason.Invalid)
	fileNoHistory = reason.New("import_file_no_history", "the zip has no watched-history.json: choose the export of your data that Trakt made, not a backup of another program",
		"压缩包中没有 watched-history.json：请选择 Trakt 导出的数据，而不是其他程序的备份").For(reason.Invalid)
	fileNoBackup = reason.New("import_file_no_backup", "the zip has no SimklBackup.json: choose the backup that Simkl made", "压缩包中没有 SimklBackup.json：请选择 Simkl 生成的备份").For(reason.Invalid)
	fileMembers  = reason.New("import_file_members", "the zip holds more than {most} files", "压缩包中的文件超过 {most} 个").For(reason.Invalid)
	fileUnpacks  = reason.New("import_file_unpacks", "the file is larger than {size} MiB when it is unpacked", "文件解压后大于 {size} MiB").For(reason.Invalid)
	fileTooMany  = reason.New("import_file_rows", "the file has more than {most} rows", "文件超过 {most} 行").For(reason.Invalid)
	// Why something in a file is skipped.
	fileRow     = reason.New("import_file_row", "this row cannot be read", "这一行无法读取")
	fileOther   = reason.New("import_file_not_anime", "none of the ID tables knows it: most probably no anime", "各编号表均未收录：多半不是动画")
	fileNoID    = reason.New("import_file_no_id", "the file has no id of MyAnimeList or AniDB for it", "文件中没有它的 MyAnimeList 或 AniDB 编号")
	fileNoEntry = reason.New("import_file_no_entry", "the ID table does not tell which entry on Bangumi it is", "编号表中没有对应的 Bangumi 条目")
	fileHidden  = reason.New("import_file_hidden", "Bangumi does not show entry {subject}: it was removed, or it is an adult entry that the account may not see",
		"Bangumi 不显示条目 {subject}：它已被删除，或是该账号无权查看的成人条目")
	fileBeyond     = reason.New("import_file_beyond", "the entry has {count} episodes: {more} more are not imported, because it is not certain which they are", "条目共有 {count} 集：另外 {more} 集无法确定是哪些，不予导入")
	fileSpecials   = reason.New("import_file_specials", "{count} specials are not imported, because it is not certain which they are", "{count} 集特别篇无法确定是哪些，不予导入")
	fileIncomplete = reason.New("import_file_incomplete", "Trakt did not manage to export this part", "Trakt 未能导出这一部分")
)
