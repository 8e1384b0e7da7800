package auth

import "watchmark/internal/platform/reason"

// The errors a caller branches on; see also LockedError.
var (
	// ErrBadCredentials is returned by Login; it does not tell whether the name exists.
	ErrBadCredentials = reason.New("login_wrong", "the name or the password is wrong", "用户名或密码不正确").For(reason.Unauthorized)
	// ErrCodeNeeded is returned by Login when the password is right and the code is missing.
	ErrCodeNeeded = reason.New("login_code_needed", "a code of the authenticator app is needed too", "还需要验证器应用中的验证码").For(reason.Unauthorized)
	// ErrBadCode is returned for a code that is wrong, too old, or was used before.
	ErrBadCode = reason.New("login_code_wrong",
		"the code is wrong or was used already: take the one that the app shows now; if it is refused again, compare the clocks of this machine and of the phone",
		"验证码错误或已被使用：请输入应用当前显示的验证码；若仍被拒绝，请核对本机与手机的时间").For(reason.Unauthorized)
	// ErrTwoFactorOn is returned by StartTwoFactor when it is on.
	ErrTwoFactorOn = reason.New("two_factor_on", "signing in asks for a code already: turn that off first to use another app",
		"已启用两步验证：要更换应用，请先关闭").For(reason.Conflict)
	// ErrTwoFactorOff is returned when there is no second factor to change.
	ErrTwoFactorOff = reason.New("two_factor_off", "signing in asks for no code", "尚未启用两步验证").For(reason.Conflict)
	// ErrNoEnrolment is returned by ConfirmTwoFactor when nothing is being set up, or no longer.
	ErrNoEnrolment = reason.New("two_factor_not_begun", "this was begun too long ago, or not at all: begin again", "操作已过期或尚未开始，请重新开始").For(reason.Conflict)
	// ErrNoAdmin is returned by Enter while there is no administrator.
	ErrNoAdmin = reason.New("no_admin", "there is no administrator yet: open the setup link that the service printed when it started",
		"还没有管理员，请打开服务启动时输出的设置链接").For(reason.Conflict)
	// ErrBadSetupToken is returned by Setup when the token is not the one of this process.
	ErrBadSetupToken = reason.New("setup_link_wrong", "this setup link is not valid: open the one the service printed when it last started",
		"初始设置链接无效：请打开服务最近一次启动时输出的链接").For(reason.Unauthorized)
	// ErrSetupDone is returned when there is an administrator already.
	ErrSetupDone = reason.New("setup_done", "an administrator exists already: sign in instead", "已有管理员，请直接登录").For(reason.Conflict)
	// ErrUnknownAdmin is returned by SetPassword when nobody has the name; the reason around it says what to do.
	ErrUnknownAdmin = reason.New("admin_unknown", "no administrator has this name", "没有这个名字的管理员")
	adminMissing    = reason.New("admin_missing", "{cause}: there is none yet; start the service and open the setup link it prints",
		"{cause}：还没有管理员；请启动服务并打开它输出的初始设置链接")
	adminNamed = reason.New("admin_named", "{cause}: the administrator is called {name:q}", "{cause}：管理员的名字是{name:q}")
	// ErrKeyTaken is returned by CreateKey when an API key has the name already.
	ErrKeyTaken = reason.New("api_key_taken", "an API key with this name exists already: choose another name or delete that key",
		"已有同名的 API 密钥：请换个名字，或先删除那个密钥").For(reason.Conflict)
	// ErrKeyNotFound is returned by DeleteKey when no API key has the id.
	ErrKeyNotFound = reason.New("api_key_not_found", "API key not found", "没有这个 API 密钥").For(reason.NotFound)
)

// Why nobody comes in.
var (
	lockedForMinutes = reason.New("login_locked_minutes", "too many attempts: try again in {minutes} minutes", "尝试次数过多：请在 {minutes} 分钟后重试").For(reason.TooMany)
	lockedForSeconds = reason.New("login_locked_seconds", "too many attempts: try again in {seconds} seconds", "尝试次数过多：请在 {seconds} 秒后重试").For(reason.TooMany)
	tooManyStrangers = reason.New("login_too_many", "Too many requests without a login from this address. Wait a second, or sign in.",
		"这个地址未登录的请求太多。请稍等一秒，或先登录。").For(reason.TooMany)
	noLogin = reason.New("login_needed", "Sign in, or send an API key as \"Authorization: Bearer KEY\". Create one with: watchmark api-key create NAME",
		"请登录，或以“Authorization: Bearer KEY”发送 API 密钥。可用此命令创建：watchmark api-key create NAME").For(reason.Unauthorized)
	keyUnknown = reason.New("api_key_unknown", "This API key is not known. Create one with: watchmark api-key create NAME",
		"API 密钥不存在。可用此命令创建：watchmark api-key create NAME").For(reason.Unauthorized)
	strangeHost = reason.New("strange_host",
		"Sign-in is turned off, so this service answers only at addresses and names of a home network. Set server.public_url to the address that you use, or turn auth.enabled on.",
		"登录已关闭，因此只在内网地址和名称上提供服务。请把 server.public_url 设为你使用的地址，或启用 auth.enabled。").For(reason.Forbidden)
	otherSite = reason.New("other_site",
		"This request comes from a page of another site. If it does not, the proxy in front hides the host you asked for: let it pass the Host header on.",
		"此请求来自其他网站的页面。如果不是，则是反向代理改写了主机名：请让它原样转发 Host 请求头。").For(reason.Forbidden)
	databaseUnreadable = reason.New("login_unreadable", "The database could not be read. Try again, and look into the log of the service.",
		"无法读取数据库。请重试，并查看服务日志。").For(reason.Unavailable)
	factorUnreadable = reason.New("two_factor_unreadable",
		"read the secret of the second factor: {cause}; a recovery code works without it, and so does: watchmark two-factor off NAME",
		"读取两步验证密钥：{cause}；可使用恢复码登录，或运行 watchmark two-factor off NAME")
	hashUnreadable = reason.New("password_unreadable", "read the stored password hash: {cause}; set the password anew with: watchmark password",
		"读取保存的密码摘要：{cause}；请用此命令重设密码：watchmark password")
)

// What is wrong with a field.
var (
	notUTF8         = reason.New("not_utf8", "is not valid UTF-8 text", "不是有效的 UTF-8 文本")
	passwordShort   = reason.New("password_short", "has {count} characters; use at least {least}", "只有 {count} 个字符，至少需要 {least} 个")
	passwordLong    = reason.New("password_long", "has {count} characters; use at most {most}", "有 {count} 个字符，最多 {most} 个")
	nameMissing     = reason.New("name_missing", "give a name", "请填写名字")
	nameLong        = reason.New("name_long", "has more than {most} characters", "超过 {most} 个字符")
	nameSpaced      = reason.New("name_spaced", "remove the spaces around it", "请去掉首尾的空格")
	nameUnprintable = reason.New("name_unprintable", "contains a character that cannot be printed", "含有无法显示的字符")
	notNetwork      = reason.New("proxy_not_network", "{entry:q} is no address and no network: write it like 192.168.1.2 or 10.0.0.0/8",
		"{entry:q}既不是地址也不是网段：写法如 192.168.1.2 或 10.0.0.0/8")
	mappedNetwork = reason.New("proxy_mapped_network", "{entry:q} is an IPv4 network in IPv6 form: write it like 10.0.0.0/8",
		"{entry:q}是写成 IPv6 形式的 IPv4 网段：写法如 10.0.0.0/8")
)
