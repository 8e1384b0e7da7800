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
)
