package account

import "watchmark/internal/platform/reason"

// The errors a caller branches on.
var (
	// ErrNotFound is returned when no account has the id asked for.
	ErrNotFound = reason.New("account_not_found", "there is no such account", "没有这个账号").For(reason.NotFound)
	// ErrTaken is returned when another account has the catalog user name or is that catalog user already.
	ErrTaken = reason.New("account_taken", "another account already belongs to this Bangumi user", "这个 Bangumi 用户已属于另一个账号").For(reason.Conflict)
	// ErrNoToken is returned when an account has no access token.
	ErrNoToken = reason.New("account_no_token", "the account has no access token: enter one or connect it again", "该账号没有令牌：请填写令牌或重新连接").For(reason.Conflict)
	// ErrState is returned by FinishOAuth for a state that was not given out, was used, or is too old.
	ErrState = reason.New("account_sign_in_unknown", "this sign-in was not started here, or too long ago: start it again", "这次登录不是从这里开始的，或已超时：请重新开始")
	// ErrOAuthNotConfigured is returned when the service has no registration with the catalog.
	ErrOAuthNotConfigured = reason.New("account_oauth_off", "signing in at Bangumi is not set up: set catalog.oauth_client_id and catalog.oauth_client_secret, or enter a token by hand", "尚未配置 Bangumi 登录：请设置 catalog.oauth_client_id 和 catalog.oauth_client_secret，或手动填写令牌").For(reason.Conflict)
	// ErrOtherUser is returned when a token is another catalog user's than the account's: marks
	// would go to the wrong list. The reason around it names both.
	ErrOtherUser = reason.New("account_other_user", "this is not the Bangumi user of the account: sign in as the user of the account or enter their token, or add an account for the other user", "这不是该账号的 Bangumi 用户：请用该账号的用户登录或填写其令牌，或者为另一个用户添加新账号")
	otherUser    = reason.New("account_other_user_named", "{cause}: you signed in as {user:q}, and the account belongs to {account:q}", "{cause}：登录的是{user:q}，而账号属于{account:q}")
)

// Why the token of an account does not work.
var (
	problemOf = reason.New("account_token_unusable", "the token of {account} cannot be used: {cause}", "账号“{account}”的令牌无法使用：{cause}")

	problemKeyGone = reason.New("account_token_key_gone", "the token was encrypted with a key that is gone: connect the account again or enter a new token", "加密该令牌的密钥已丢失：请重新连接账号或填写新令牌")
	problemNoGrant = reason.New("account_token_not_renewed", "Bangumi does not renew the sign-in of this account any more: connect it again", "Bangumi 不再续期该账号的登录：请重新连接账号")
	problemNoApp   = reason.New("account_token_no_app", "the sign-in of this account cannot be renewed: set catalog.oauth_client_id and catalog.oauth_client_secret to those of your application on Bangumi", "无法续期该账号的登录：请把 catalog.oauth_client_id 和 catalog.oauth_client_secret 设为你在 Bangumi 创建的应用的值")
	problemRefused = reason.New("account_token_refused", "Bangumi refuses the token: it is mistyped, has expired or was revoked. Connect the account again or enter a new token", "Bangumi 拒绝了令牌：令牌填错、已过期或被撤销。请重新连接账号或填写新令牌")
	opToken        = reason.New("account_token_read", "read the token of an account", "读取账号的令牌")
	opRenew        = reason.New("account_renew", "renew the sign-in", "续期登录")
)

// What is wrong with a field.
var (
	badUsername  = reason.New("account_username", "enter the user name on Bangumi, without spaces around it", "请填写 Bangumi 用户名，首尾不要有空格")
	longUsername = reason.New("account_username_long", "longer than {most} bytes", "超过 {most} 字节")
	manyNames    = reason.New("account_names_many", "more than {most} names", "超过 {most} 项")
	emptyName    = reason.New("account_name_empty", "a name is empty", "有一项为空")
	longName     = reason.New("account_name_long", "a name is longer than 500 bytes", "有一项超过 500 字节")
	nameTwice    = reason.New("account_name_twice", "{name:q} is listed twice", "{name:q}重复了")
	badRule      = reason.New("account_rule", "use one of {values}, or nothing for what the settings say", "请使用 {values} 之一，或留空以跟随设置")
	badToken     = reason.New("account_token", "a token is a single word, without spaces or line breaks", "令牌是一串字符，中间没有空格或换行")
)
