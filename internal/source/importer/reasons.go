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
	wrongAddress = reason.New("import_wrong_address", "enter the address of the server, such as http://192.168.1.5:8096",
		"请填写服务器地址，例如 http://192.168.1.5:8096")
	withPassword = reason.New("import_with_password", "leave out the user name and password: the token is enough",
		"不要写用户名和密码：用令牌即可访问服务器")
	withPath = reason.New("import_with_path", "enter the address of the server only, without what follows in the browser, such as http://192.168.1.5:8096",
		"只填写服务器地址，去掉浏览器地址栏里后面的部分，例如 http://192.168.1.5:8096")
	noAnswer = reason.New("import_no_answer", "no answer from this address: {cause}; check the address as this service reaches it (in a container, localhost is the container) and that the server runs",
		"没有响应：{cause}；请检查本服务能否访问该地址（在容器中，localhost 指容器本身），以及服务器是否在运行")
	tokenRefused = reason.New("import_token_refused", "{product} refuses the token: enter the token of the owner of the server, or an API key of the server",
		"{product} 拒绝了令牌：请填写服务器所有者的令牌，或服务器的 API 密钥")
	sentOn   = reason.New("import_sent_on", "the server redirects to another address: enter that one", "服务器跳转到了另一个地址：请填写那个地址")
	notThere = reason.New("import_not_there", "there is no {product} at this address", "该地址上没有 {product}")
	fails    = reason.New("import_fails", "{product} answered with an error ({status}): see its log, and try again later",
		"{product} 返回错误（{status}）：请查看它的日志，稍后重试")
	notThat = reason.New("import_not_that", "what answers there is not {product}", "该地址上的不是 {product}")
	endless = reason.New("import_endless", "the server's list has no end", "服务器的列表没有尽头")
)
