package diagnose

import "watchmark/internal/platform/reason"

// What is found out with and without the proxy.
var (
	readAddress    = reason.New("diagnosis_read_address", "read the address of Bangumi: {cause}", "读取 Bangumi 地址：{cause}").Was("diagnose_read_address_catalog")
	noProxy        = reason.New("diagnosis_no_proxy", "No proxy is set: requests go directly.", "没有设置代理：请求直接发送。").Was("diagnose_no_proxy_set_requests_go")
	bothWays       = reason.New("diagnosis_both_ways", "Bangumi answers in {proxy_ms} ms through the proxy, and in {direct_ms} ms directly.", "通过代理访问 Bangumi 用时 {proxy_ms} 毫秒，直连 {direct_ms} 毫秒。").Was("diagnose_catalog_answers_through_proxy_ms", "elapsed_ms", "elapsed_ms2")
	onlyByProxy    = reason.New("diagnosis_only_by_proxy", "Bangumi answers in {proxy_ms} ms through the proxy, and cannot be reached directly.", "通过代理访问 Bangumi 用时 {proxy_ms} 毫秒；直连无法访问。").Was("diagnose_catalog_answers_through_proxy_ms_2", "elapsed_ms")
	onlyDirectly   = reason.New("diagnosis_only_directly", "Bangumi cannot be reached through the proxy, and answers in {direct_ms} ms directly. {advice}", "通过代理无法访问 Bangumi，直连用时 {direct_ms} 毫秒。{advice}").Was("diagnose_catalog_cannot_reached_through_proxy", "elapsed_ms", "advice")
	neitherWay     = reason.New("diagnosis_neither_way", "Bangumi cannot be reached, neither through the proxy nor directly. {advice}", "通过代理和直连都无法访问 Bangumi。{advice}").Was("diagnose_catalog_cannot_be_reached")
	issuedBy       = reason.New("diagnosis_issued_by", "{tls}, issued by {issuer}", "{tls}，签发者 {issuer}").Was("diagnose_issued", "tlsversion", "issuer")
	validByServers = reason.New("diagnosis_valid_by_servers_clock", "{detail}; by the clock of the server, which differs by {seconds} s, it is valid", "{detail}；按服务器的时钟（相差 {seconds} 秒）则有效").Was("diagnose_valid_by_servers_clock")
)

// What a SOCKS5 proxy answers (RFC 1928, section 6), and what is wrong with a request to it.
var (
	socksFailure       = reason.New("socks_failure", "general failure", "代理故障").Was("diagnose_general_failure")
	socksNotAllowed    = reason.New("socks_not_allowed", "connection not allowed", "不允许此连接").Was("diagnose_connection_not_allowed")
	socksNoNetwork     = reason.New("socks_network_unreachable", "network unreachable", "网络不可达").Was("diagnose_network_unreachable")
	socksNoHost        = reason.New("socks_host_unreachable", "host unreachable", "主机不可达").Was("diagnose_host_unreachable")
	socksRefused       = reason.New("socks_refused", "connection refused by the host", "主机拒绝连接").Was("diagnose_connection_refused_host")
	socksTTLExpired    = reason.New("socks_ttl_expired", "time to live expired", "TTL 已耗尽").Was("diagnose_time_live_expired")
	socksNoCommand     = reason.New("socks_command_not_supported", "command not supported", "不支持该命令").Was("diagnose_command_not_supported")
	socksNoAddressType = reason.New("socks_address_type_not_supported", "address type not supported", "不支持该地址类型").Was("diagnose_address_type_not_supported")
	loginTooLong       = reason.New("socks_login_too_long", "the user name or password of the proxy is too long", "代理的用户名或密码过长").Was("diagnose_name_or_password_proxy_too")
	loginRefused       = reason.New("socks_login_refused", "the proxy refuses the user name and password", "代理拒绝了用户名和密码").Was("diagnose_proxy_refuses_name_password")
	noLoginMethod      = reason.New("socks_no_login_method", "the proxy accepts no way to sign in that Watchmark has", "代理不接受任何可用的认证方式").Was("diagnose_proxy_takes_none_ways_sign")
	hostNameTooLong    = reason.New("socks_host_name_too_long", "the host name is too long", "主机名过长").Was("diagnose_name_host_too_long")
)
