package diagnose

import "watchmark/internal/platform/reason"

// What people are told.
var (
	readAddressCatalog = reason.New("diagnose_read_address_catalog", "read the address of Bangumi: {cause}",
		"读取 Bangumi 地址：{cause}")
	noProxySetRequestsGo = reason.New("diagnose_no_proxy_set_requests_go", "No proxy is set: requests go directly.",
		"没有设置代理：请求直接发送。")
	catalogAnswersThroughProxyMs = reason.New("diagnose_catalog_answers_through_proxy_ms", "Bangumi answers through the proxy in {elapsed_ms} ms, directly in {elapsed_ms2} ms.",
		"通过代理访问 Bangumi 用时 {elapsed_ms} 毫秒，直连 {elapsed_ms2} 毫秒。")
	catalogAnswersThroughProxyMs2 = reason.New("diagnose_catalog_answers_through_proxy_ms_2", "Bangumi answers through the proxy in {elapsed_ms} ms; directly it cannot be reached.",
		"通过代理访问 Bangumi 用时 {elapsed_ms} 毫秒；直连无法访问。")
	catalogCannotReachedThroughProxy = reason.New("diagnose_catalog_cannot_reached_through_proxy", "Bangumi cannot be reached through the proxy, but directly in {elapsed_ms} ms. {advice}",
		"通过代理无法访问 Bangumi，直连用时 {elapsed_ms} 毫秒。{advice}")
	generalFailure          = reason.New("diagnose_general_failure", "general failure", "代理故障")
	connectionNotAllowed    = reason.New("diagnose_connection_not_allowed", "connection not allowed", "不允许此连接")
	networkUnreachable      = reason.New("diagnose_network_unreachable", "network unreachable", "网络不可达")
	hostUnreachable         = reason.New("diagnose_host_unreachable", "host unreachable", "主机不可达")
	connectionRefusedHost   = reason.New("diagnose_connection_refused_host", "connection refused by the host", "主机拒绝连接")
	timeLiveExpired         = reason.New("diagnose_time_live_expired", "time to live expired", "TTL 已耗尽")
	commandNotSupported     = reason.New("diagnose_command_not_supported", "command not supported", "不支持该命令")
	addressTypeNotSupported = reason.New("diagnose_address_type_not_supported", "address type not supported", "不支持该地址类型")
	nameOrPasswordProxyToo  = reason.New("diagnose_name_or_password_proxy_too", "name or password of the proxy is too long",
		"代理的用户名或密码过长")
	proxyRefusesNamePassword = reason.New("diagnose_proxy_refuses_name_password", "the proxy refuses name and password",
		"代理拒绝了用户名和密码")
	proxyTakesNoneWaysSign = reason.New("diagnose_proxy_takes_none_ways_sign", "the proxy takes none of the ways to sign in",
		"代理不接受任何可用的认证方式")
	nameHostTooLong        = reason.New("diagnose_name_host_too_long", "the name of the host is too long", "主机名过长")
	issuedReason           = reason.New("diagnose_issued", "{tlsversion}, issued by {issuer}", "{tlsversion}，签发者 {issuer}")
	catalogCannotBeReached = reason.New("diagnose_catalog_cannot_be_reached", "Bangumi cannot be reached, neither through the proxy nor directly. {advice}", "通过代理和直连都无法访问 Bangumi。{advice}")
	validByServersClock    = reason.New("diagnose_valid_by_servers_clock", "{detail}; by the clock of the server, which differs by {seconds} s, it is valid", "{detail}；按服务器的时钟（相差 {seconds} 秒）则有效")
)
