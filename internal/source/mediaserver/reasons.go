package mediaserver

import "watchmark/internal/platform/reason"

// What callers of a Client tell apart.
var (
	// ErrSignedOut: the server does not know the token any more.
	ErrSignedOut = reason.New("media_server_signed_out", "the server has ended this sign-in: sign in again", "服务器已结束这次登录：请重新登录")
	// ErrRefused: the server knows the person and does not let them in now, such as outside of the hours that its owner allows.
	ErrRefused = reason.New("media_server_refused", "the server refuses this user for now: its owner may have limited hours, devices or libraries", "服务器暂时拒绝此用户：管理员可能限制了时段、设备或媒体库")
	// ErrUnreachable: no answer, or one that says nothing about the sign-in.
	ErrUnreachable = reason.New("media_server_unreachable", "the server does not answer", "服务器没有响应")
	// ErrOther: another server answers at the address.
	ErrOther = reason.New("media_server_other", "another server answers at this address", "这个地址上是另一台服务器")
	// ErrNoPush: the server has no live connection.
	ErrNoPush = reason.New("media_server_no_push", "the server has no live connection", "服务器不支持实时连接")
	// ErrNoItem: the item is not there, or not for this user.
	ErrNoItem = reason.New("media_server_no_item", "{product} has no such episode or film, or does not show it to this user", "{product} 上没有这一集或这部电影，或此用户看不到")
	// ErrUntrusted: nobody has signed the certificate of the server, or not for this address. It has the fingerprint among its
	// arguments, so that a page can ask whether it is right.
	ErrUntrusted = reason.New("media_server_untrusted_certificate", "the certificate of this server cannot be verified, as those that people make themselves: compare its SHA-256 fingerprint {fingerprint} with that of the server, and confirm it",
		"无法验证服务器的证书，自签名证书都是如此：请核对其 SHA-256 指纹 {fingerprint} 与服务器上的一致，然后确认")
	// ErrWrongPassword: the server refuses the user name or the password.
	ErrWrongPassword = reason.New("media_server_wrong_password", "{product} refuses the user name or the password", "{product} 拒绝了用户名或密码")
	// ErrUserRefused: the server does not let the user in, whatever the password.
	ErrUserRefused = reason.New("media_server_user_refused", "{product} does not let this user in: its owner may have disabled the user, or limited its devices, hours or number of sign-ins",
		"{product} 不允许此用户登录：管理员可能已停用该用户，或限制了设备、时段或登录数量")
	// ErrNoAccess: a Plex account may not use any of the servers that were asked for.
	ErrNoAccess = reason.New("media_server_plex_no_access", "this Plex account may not use the server of this household: ask its owner to share it with you, then sign in again",
		"此 Plex 账号无权使用这里的服务器：请联系所有者共享给你，然后重新登录").For(reason.Forbidden)
	// ErrOwnerSignedOut: nobody can tell whose the server is, because the login in Sources has ended.
	ErrOwnerSignedOut = reason.New("media_server_plex_owner_signed_out", "Watchmark is signed out at Plex, and cannot tell who may use the server: the owner has to sign in again in Sources",
		"Watchmark 在 Plex 的登录已失效，无法确认谁能使用服务器：请所有者在“来源”中重新登录").For(reason.Upstream)
	// ErrCodeExpired: a sign-in by code was not confirmed in time.
	ErrCodeExpired = reason.New("media_server_code_expired", "the code has expired: begin again", "代码已过期：请重新开始")
	// ErrCannot: servers of this kind do not do that.
	ErrCannot = reason.New("media_server_cannot", "servers of this kind cannot do that", "这种服务器不支持此操作")
)

// What is wrong with an address, or with what answers there.
var (
	wrongAddress = reason.New("media_server_wrong_address", "enter the address of the server, such as http://192.168.1.5:8096",
		"请填写服务器地址，例如 http://192.168.1.5:8096").Was("import_wrong_address")
	withPassword = reason.New("media_server_with_password", "leave the user name and password out of the address",
		"请不要把用户名和密码写在地址里").Was("import_with_password")
	withPath = reason.New("media_server_with_path", "enter the address of the server only, without what follows in the browser, such as http://192.168.1.5:8096",
		"只填写服务器地址，去掉浏览器地址栏里后面的部分，例如 http://192.168.1.5:8096").Was("import_with_path")
	forbiddenAddress = reason.New("media_server_forbidden_address", "this address is used by machines for themselves: enter that of the media server",
		"该地址仅供机器内部使用：请填写媒体服务器的地址")
	noAnswer = reason.New("media_server_no_answer", "no answer from this address: {cause}; check the address as this service reaches it (in a container, localhost is the container) and that the server runs",
		"没有响应：{cause}；请检查本服务能否访问该地址（在容器中，localhost 指容器本身），以及服务器是否在运行").Was("import_no_answer")
	// otherCertificate has the fingerprint among its arguments, too.
	otherCertificate = reason.New("media_server_other_certificate", "the certificate of this server is another one than the one that was confirmed: if the server got a new one, confirm its SHA-256 fingerprint {fingerprint}; if not, something may intercept the connection",
		"服务器的证书与之前确认过的不同：如果服务器换了证书，请确认新的 SHA-256 指纹 {fingerprint}；如果没有，连接可能被拦截")
	nothingFound = reason.New("media_server_nothing_found", "no media server answers at {host}: check the name and the port, and that the server runs",
		"{host} 上没有媒体服务器响应：请检查主机名和端口，以及服务器是否在运行")
	sentOn   = reason.New("media_server_sent_on", "the server redirects to another address: enter that one", "服务器跳转到了另一个地址：请填写那个地址").Was("import_sent_on")
	notThere = reason.New("media_server_not_there", "there is no {product} at this address", "该地址上没有 {product}").Was("import_not_there")
	notThat  = reason.New("media_server_not_that", "what answers there is not {product}", "该地址上的不是 {product}").Was("import_not_that")
	isOther  = reason.New("media_server_is_other", "what answers there is {product}", "该地址上的是 {product}")
	fails    = reason.New("media_server_fails", "{product} answered with an error ({status}): see its log, and try again later",
		"{product} 返回错误（{status}）：请查看它的日志，稍后重试").Was("import_fails")
	busy    = reason.New("media_server_busy", "{product} asks to wait for {wait}", "{product} 要求等待 {wait}")
	endless = reason.New("media_server_endless", "the list of {product} has no end", "{product} 的列表没有尽头")
)

// What is wrong with a sign-in.
var (
	noUserName  = reason.New("media_server_no_user_name", "enter the user name", "请填写用户名")
	longAnswers = reason.New("media_server_credentials_too_long", "the user name or the password is too long", "用户名或密码过长")
	noCodes     = reason.New("media_server_no_codes", "{product} does not let people sign in by a code: enter the password", "{product} 不支持用代码登录：请填写密码")
)

// What is wrong with Plex.
var (
	plexAway      = reason.New("media_server_plex_away", "plex.tv does not answer: {cause}", "plex.tv 没有响应：{cause}").For(reason.Upstream)
	plexFails     = reason.New("media_server_plex_fails", "plex.tv does not answer as it should ({status}): try again later", "plex.tv 的响应异常（{status}）：请稍后重试").For(reason.Upstream)
	plexTooMany   = reason.New("media_server_plex_too_many", "plex.tv asks to wait: try again in some minutes", "plex.tv 要求等待：请几分钟后重试").For(reason.Unavailable)
	plexSignedOut = reason.New("media_server_plex_signed_out", "Plex has ended this sign-in: sign in again", "Plex 已结束这次登录：请重新登录")
	plexNotShared = reason.New("media_server_plex_not_shared", "the Plex account may not use this server any more: ask its owner to share it, then sign in again",
		"此 Plex 账号已无权使用该服务器：请联系所有者重新共享，然后重新登录")
	noPlexServer = reason.New("media_server_plex_no_server", "the Plex account has no such server: choose one of the list", "此 Plex 账号没有这台服务器：请从列表中选择")
	noPlexPerson = reason.New("media_server_plex_no_person", "the Plex Home has no such member: choose one of the list", "Plex 家庭中没有此成员：请从列表中选择")
	wrongPlexPIN = reason.New("media_server_plex_wrong_pin", "this is not the PIN of that member", "该成员的 PIN 不正确")
	plexUnfound  = reason.New("media_server_plex_unfound", "no address that Plex lists for {server} answers ({cause}): enter one that this service can reach, such as http://192.168.1.5:32400",
		"Plex 为 {server} 列出的地址都没有响应（{cause}）：请填写本服务能访问的地址，例如 http://192.168.1.5:32400")
	plexUnlisted = reason.New("media_server_plex_unlisted", "Plex lists no address of {server} that this service could reach: enter one, such as http://192.168.1.5:32400",
		"Plex 没有列出本服务可访问的 {server} 地址：请填写一个，例如 http://192.168.1.5:32400")
)
