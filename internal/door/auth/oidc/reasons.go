package oidc

import "watchmark/internal/platform/reason"

// The errors a caller branches on.
var (
	// ErrOff is returned while the settings name no provider.
	ErrOff = reason.New("oidc_off", "sign-in with a provider is not set up: set auth.oidc_issuer and auth.oidc_client_id",
		"尚未配置登录服务：请设置 auth.oidc_issuer 和 auth.oidc_client_id").For(reason.Conflict)
	// ErrState is returned for a sign-in that was not begun by this browser, is over, or too old.
	ErrState = reason.New("oidc_state", "this sign-in was not started in this browser, or too long ago: start again",
		"本次登录不是在此浏览器中开始的，或已过期：请重新开始").For(reason.Conflict)
	// ErrDenied is returned when the person, or the provider's own rules, said no.
	ErrDenied = reason.New("oidc_denied", "the provider does not let this account sign in here", "登录服务不允许该账号在此登录").For(reason.Forbidden)
	// ErrStranger is returned for an account that auth.oidc_allowed does not name.
	ErrNotAllowed = reason.New("oidc_not_allowed", "this account of the provider is not in auth.oidc_allowed", "登录服务的该账号不在 auth.oidc_allowed 中").Was("oidc_stranger").For(reason.Forbidden)
	// ErrNoGroups is returned where groups are set, and the provider does not list those of the account.
	ErrNoGroups = reason.New("oidc_no_groups", "the provider does not list the groups of this account: let it send the claim {claim:q} as a list of names",
		"登录服务没有列出该账号所属的组：请让它以名称列表的形式发送 claim {claim:q}").For(reason.Forbidden)
	// ErrNoGroup is returned for an account that is in none of the groups that are set.
	ErrNoGroup = reason.New("oidc_no_group", "no group of this account lets it in", "该账号不在任何获准登录的组中").For(reason.Forbidden)
	// ErrManyRoles is returned for an account whose groups give more than one role.
	ErrManyRoles = reason.New("oidc_many_roles", "the groups of this account give more than one role: leave it in one of the groups for the owner, people and guests",
		"该账号所属的组对应多个角色：请只让它属于所有者、成员、访客中的一个组").For(reason.Forbidden)
	// ErrRefused is the kind of what is returned when what the provider sent cannot be trusted or used.
	ErrRefused = reason.New("oidc_refused", "the provider's answer cannot be used: {why}", "登录服务返回的结果无法使用：{why}").For(reason.Upstream)
	// ErrUnreachable is the kind of what is returned when the provider does not answer. It wraps the *httpx.Error that says
	// why, or that of the context.
	ErrUnreachable = reason.New("oidc_unreachable", "the provider cannot be reached: {why}", "无法连接登录服务：{why}").For(reason.Upstream)
)

// Why what the provider sent cannot be used.
var (
	issuerInvalid  = reason.New("oidc_issuer_no_address", "auth.oidc_issuer is not an address", "auth.oidc_issuer 不是有效地址")
	issuerAnswered = reason.New("oidc_issuer_answered", "it answered {status} to the request for its addresses: check auth.oidc_issuer",
		"查询其地址时返回 {status}：请检查 auth.oidc_issuer")
	issuerNoProvider = reason.New("oidc_issuer_no_provider", "there is no OpenID Connect provider at auth.oidc_issuer", "auth.oidc_issuer 处没有 OpenID Connect 服务")
	issuerNamed      = reason.New("oidc_issuer_named", "its issuer is {issuer:q}: if this is your provider, set auth.oidc_issuer to that",
		"它的 issuer 是{issuer:q}：如果这就是你的登录服务，请将 auth.oidc_issuer 改为该值")
	noAddresses  = reason.New("oidc_no_addresses", "it offers no usable addresses for sign-in", "它没有提供可用的登录地址")
	errorCode    = reason.New("oidc_error", "it says {code}", "它返回 {code}")
	errorUnknown = reason.New("oidc_error_unknown", "it sent an error that is not known", "它返回了无法识别的错误").Was("oidc_error_strange")
	noIDToken    = reason.New("oidc_no_id_token", "it sent no ID token: allow the scope openid for the client", "它没有返回 ID Token：请允许该客户端使用 openid scope")
	notSigned    = reason.New("oidc_not_signed", "the signature of the token is wrong", "令牌签名不正确")
	noClaims     = reason.New("oidc_no_claims", "the claims of the token cannot be read", "令牌中的 claims 无法读取")
	otherIssuer  = reason.New("oidc_other_issuer", "the token is from another issuer: set auth.oidc_issuer to the issuer of the provider",
		"令牌来自另一个 issuer：请将 auth.oidc_issuer 设为登录服务自己的 issuer")
	otherClient = reason.New("oidc_other_client", "the token is for another client", "令牌属于另一个客户端")
	otherTime   = reason.New("oidc_other_time", "the time of the token is wrong: check the clocks of this machine and of the provider",
		"令牌的时间不符：请检查本机与登录服务的时钟")
	otherSignIn   = reason.New("oidc_other_sign_in", "the token belongs to another sign-in", "令牌属于另一次登录")
	noUser        = reason.New("oidc_no_user", "the token names no user", "令牌中没有用户").Was("oidc_nobody")
	otherAccount  = reason.New("oidc_other_account", "it answered for another account than the one that signed in", "它返回的账号与登录的账号不一致")
	clientUnknown = reason.New("oidc_client_unknown", "it does not know the client: check auth.oidc_client_id and auth.oidc_client_secret",
		"它不认识该客户端：请检查 auth.oidc_client_id 和 auth.oidc_client_secret")
	codeAnswered = reason.New("oidc_code_answered", "it answered {status} to the request for tokens", "换取令牌时它返回了 {status}")
	noTokens     = reason.New("oidc_no_tokens", "it sent no tokens", "它没有返回令牌")
)
