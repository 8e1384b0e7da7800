package auth

import "watchmark/internal/platform/reason"

// The errors a caller branches on; see also LockedError.
var (
	// ErrBadCredentials is returned by Login; it does not tell whether the name exists.
	ErrBadCredentials = reason.New("login_wrong", "the user name or the password is wrong", "用户名或密码不正确").For(reason.Unauthorized)
	// ErrCodeNeeded is returned by Login when the password is right and the code is missing.
	ErrCodeNeeded = reason.New("login_code_needed", "the code of the authenticator app is needed, too", "还需要验证器应用中的验证码").For(reason.Unauthorized)
	// ErrBadCode is returned for a code that is wrong, too old, or was used before.
	ErrBadCode = reason.New("login_code_wrong",
		"the code is wrong or was used already: enter the code that the app shows now; if it is refused again, compare the clocks of this machine and of the phone",
		"验证码错误或已被使用：请输入应用当前显示的验证码；若仍被拒绝，请核对本机与手机的时间").For(reason.Unauthorized)
	// ErrTwoFactorOn is returned by StartTwoFactor when it is on.
	ErrTwoFactorOn = reason.New("two_factor_on", "two-factor sign-in is on already: to use another app, turn it off first",
		"已启用两步验证：要更换应用，请先关闭").For(reason.Conflict)
	// ErrTwoFactorOff is returned when there is no second factor to change.
	ErrTwoFactorOff = reason.New("two_factor_off", "two-factor sign-in is not on", "尚未启用两步验证").For(reason.Conflict)
	// ErrNoEnrolment is returned by ConfirmTwoFactor when nothing is being set up, or no longer.
	ErrNoEnrolment = reason.New("two_factor_not_begun", "this was not started, or too long ago: start again", "尚未开始或已过期：请重新开始").For(reason.Conflict)
	// ErrNoAdmin is returned by Enter while there is no owner.
	ErrNoAdmin = reason.New("no_admin", "there is no owner yet: open the setup link that Watchmark printed when it started",
		"还没有所有者：请打开 Watchmark 启动时输出的初始化链接").For(reason.Conflict)
	// ErrBadSetupToken is returned by Setup when the token is not the one of this process.
	ErrBadSetupToken = reason.New("setup_link_wrong", "this setup link is not valid: open the one that Watchmark printed when it last started",
		"初始化链接无效：请打开 Watchmark 最近一次启动时输出的链接").For(reason.Unauthorized)
	// ErrSetupDone is returned when there is an owner already.
	ErrSetupDone = reason.New("setup_done", "there is an owner already: sign in instead", "已有所有者：请直接登录").For(reason.Conflict)
	// ErrUnknownAdmin is returned by SetPassword when nobody has the name; the reason around it says what to do.
	ErrUnknownAdmin = reason.New("admin_unknown", "there is no owner with this name", "没有这个名字的所有者")
	adminMissing    = reason.New("admin_missing", "{cause}: there is none yet; start Watchmark and open the setup link that it prints",
		"{cause}：还没有所有者；请启动 Watchmark 并打开它输出的初始化链接")
	adminNamed = reason.New("admin_named", "{cause}: the name of the owner is {name:q}", "{cause}：所有者的名字是{name:q}")
	// ErrPersonNotFound is returned when nobody has the id.
	ErrPersonNotFound = reason.New("person_not_found", "there is no such person", "没有这个人").For(reason.NotFound)
	// ErrNameTaken is returned when somebody else has the name.
	ErrNameTaken = reason.New("person_name_taken", "somebody has this name already: choose another one", "已有人使用这个名字：请换一个").For(reason.Conflict)
	// ErrMediaUserTaken is returned when another person is the media-server user.
	ErrMediaUserTaken = reason.New("person_media_user_taken", "one of these media-server users belongs to somebody else: take it from that person first",
		"其中有媒体服务器用户已属于其他人：请先从那个人移除").For(reason.Conflict)
	// ErrOwnerStays is returned when the owner is to be removed or given another role.
	ErrOwnerStays = reason.New("owner_stays", "the owner cannot be removed, and stays the owner", "所有者不能移除，也不能更改角色").For(reason.Conflict)
	// ErrNotInvited is returned by Invite for somebody who is not invited.
	ErrNotInvited = reason.New("person_not_invited", "only a person is invited: a guest does not sign in, and the owner can already",
		"只能邀请成员：访客不登录，所有者已可登录").For(reason.Conflict)
	// ErrNotKnown is returned by EnterVouched for a user of another service who is no person here.
	ErrNotKnown = reason.New("sign_in_not_known", "nobody here is this user: ask the owner for an invitation", "这里没有对应的成员：请向所有者索取邀请").For(reason.Forbidden)
	// ErrSignInTaken is returned when a user of another service is somebody else.
	ErrSignInTaken = reason.New("sign_in_taken", "this user signs in another person: sign in as yourself, or ask the owner", "此用户已用于其他成员登录：请用你自己的账号登录，或询问所有者").For(reason.Conflict)
	// ErrOneOwner is returned for a second account of the provider whose groups would make it the owner, or a person the owner.
	ErrOneOwner = reason.New("sign_in_one_owner", "there is one owner already: leave this account out of the group of the owner", "所有者只能有一位：请把该账号移出所有者的组").For(reason.Forbidden)
	// ErrOwnerGroup is returned for an account of the owner whose groups do not say so any more.
	ErrOwnerGroup = reason.New("sign_in_owner_group", "this account is the owner's, and not in the group of the owner any more: sign in with the password", "该账号属于所有者，但已不在所有者的组中：请用密码登录").For(reason.Forbidden)
	// ErrGuest is returned for who is a guest.
	ErrGuest = reason.New("sign_in_guest", "guests do not sign in", "访客不登录").For(reason.Forbidden)
	// ErrSignInNotFound is returned by RemoveSignIn when the person has no such one.
	ErrSignInNotFound = reason.New("sign_in_not_found", "there is no such way to sign in", "没有这种登录方式").For(reason.NotFound)
	// ErrBadInvitation is returned by Accept for a token that invites nobody.
	ErrBadInvitation = reason.New("invitation_wrong", "this invitation is not valid any more: ask the owner for a new link", "邀请已失效：请向所有者索取新的链接").
				For(reason.Unauthorized)
	// OwnerOnly is answered to somebody who may not do what the table of package access keeps for the owner.
	OwnerOnly = reason.New("owner_only", "Only the owner may do this.", "只有所有者可以这样做。").For(reason.Forbidden)
	// ErrKeyTaken is returned by CreateKey when an API key has the name already.
	ErrKeyTaken = reason.New("api_key_taken", "there is an API key with this name already: choose another name, or delete that key",
		"已有同名的 API 密钥：请换个名字，或先删除那个密钥").For(reason.Conflict)
	// ErrKeyNotFound is returned by DeleteKey when no API key has the id.
	ErrKeyNotFound = reason.New("api_key_not_found", "there is no such API key", "没有这个 API 密钥").For(reason.NotFound)
)

// Why nobody comes in.
var (
	lockedForMinutes = reason.New("login_locked_minutes", "too many wrong attempts: try again in {minutes} minutes", "输错次数过多：请在 {minutes} 分钟后重试").For(reason.TooMany)
	lockedForSeconds = reason.New("login_locked_seconds", "too many wrong attempts: try again in {seconds} seconds", "输错次数过多：请在 {seconds} 秒后重试").For(reason.TooMany)
	tooManyRequests  = reason.New("login_too_many", "Too many requests without a sign-in from this address. Wait a second, or sign in.",
		"这个地址未登录的请求太多。请稍等一秒，或先登录。").For(reason.TooMany)
	signInNeeded = reason.New("login_needed", "Sign in, or send an API key as \"Authorization: Bearer KEY\". Create one with: watchmark api-key create NAME",
		"请登录，或以“Authorization: Bearer KEY”发送 API 密钥。可用此命令创建：watchmark api-key create NAME").For(reason.Unauthorized)
	keyUnknown = reason.New("api_key_unknown", "There is no such API key. Create one with: watchmark api-key create NAME",
		"没有这个 API 密钥。可用此命令创建：watchmark api-key create NAME").For(reason.Unauthorized)
	hostNotLocal = reason.New("host_not_local",
		"Sign-in is turned off, so Watchmark answers only at addresses and names of a home network. Set server.public_url to the address that you use, or turn auth.enabled on.",
		"登录已关闭，因此只在内网地址和名称上提供服务。请把 server.public_url 设为你使用的地址，或启用 auth.enabled。").Was("strange_host").For(reason.Forbidden)
	otherSite = reason.New("other_site",
		"This request comes from a page of another site. If it does not, the reverse proxy changes the host name: let it pass on the Host header.",
		"此请求来自其他网站的页面。如果不是，则是反向代理改写了主机名：请让它原样转发 Host 请求头。").For(reason.Forbidden)
	databaseUnreadable = reason.New("login_unreadable", "The database could not be read. Try again, and see the log of Watchmark.",
		"无法读取数据库。请重试，并查看服务日志。").For(reason.Unavailable)
	factorUnreadable = reason.New("two_factor_unreadable",
		"the secret of the two-factor sign-in cannot be read: {cause}; sign in with a recovery code, or run: watchmark two-factor off NAME",
		"无法读取两步验证密钥：{cause}；请用恢复码登录，或运行 watchmark two-factor off NAME")
	hashUnreadable = reason.New("password_unreadable", "the stored password cannot be read: {cause}; set a new one with: watchmark password",
		"无法读取保存的密码：{cause}；请用此命令重设密码：watchmark password")
)

// What is wrong with a field.
var (
	notUTF8         = reason.New("not_utf8", "is not valid UTF-8 text", "不是有效的 UTF-8 文本")
	passwordShort   = reason.New("password_short", "has {count} characters, at least {least} are needed", "只有 {count} 个字符，至少需要 {least} 个")
	passwordLong    = reason.New("password_long", "has {count} characters, at most {most} are allowed", "有 {count} 个字符，最多 {most} 个")
	nameMissing     = reason.New("name_missing", "enter a name", "请填写名字")
	nameLong        = reason.New("name_long", "has more than {most} characters", "超过 {most} 个字符")
	nameSpaced      = reason.New("name_spaced", "remove the spaces before and after it", "请去掉首尾的空格")
	nameUnprintable = reason.New("name_unprintable", "contains a character that cannot be shown", "含有无法显示的字符")
	oneOwner        = reason.New("one_owner", "there is one owner: choose person or guest", "只能有一个所有者：请选择 person 或 guest")
	roleUnknown     = reason.New("role_unknown", "choose person or guest", "请选择 person 或 guest")
	notNetwork      = reason.New("proxy_not_network", "{entry:q} is neither an address nor a network: write it like 192.168.1.2 or 10.0.0.0/8",
		"{entry:q}既不是地址也不是网段：写法如 192.168.1.2 或 10.0.0.0/8")
	mappedNetwork = reason.New("proxy_mapped_network", "{entry:q} is an IPv4 network in IPv6 form: write it like 10.0.0.0/8",
		"{entry:q}是写成 IPv6 形式的 IPv4 网段：写法如 10.0.0.0/8")
)
