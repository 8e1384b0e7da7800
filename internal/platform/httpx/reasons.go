package httpx

import "watchmark/internal/platform/reason"

// explained says what a failure of a kind with a host means.
var explained = map[Kind]*reason.Kind{
	DNS:        reason.New("http_dns", "the name {host} cannot be resolved: check the address and the DNS settings", "无法解析域名 {host}：请检查地址和 DNS 设置"),
	Connection: reason.New("http_connection", "no connection to {host}: check that the service runs and that the network or proxy lets this machine reach it", "无法连接 {host}：请确认该服务正在运行，且网络或代理允许本机访问"),
	TLS:        reason.New("http_tls", "no secure connection to {host}: check the certificate, the clock of this machine and whether something intercepts the traffic; one of your own authority is trusted by network.ca_certificates", "无法与 {host} 建立安全连接：请检查证书和本机时钟，以及流量是否被拦截；自建 CA 的证书可通过 network.ca_certificates 设为信任"),
	Timeout:    reason.New("http_timeout", "{host} did not answer in time", "{host} 没有及时响应"),
	Proxy:      reason.New("http_proxy", "the proxy did not pass the request to {host}: check the proxy settings", "代理没有把请求转发给 {host}：请检查代理设置"),
	ProxyTLS:   reason.New("http_proxy_tls", "no secure connection to the proxy on the way to {host}: check its certificate; one of your own authority is trusted by network.ca_certificates", "前往 {host} 的代理无法建立安全连接：请检查代理的证书；自建 CA 的证书可通过 network.ca_certificates 设为信任"),
	Cancelled:  reason.New("http_cancelled", "the request to {host} was given up", "发往 {host} 的请求已放弃"),
}

// What else people are told.
var (
	errBadAddress = reason.New("http_bad_address", "the address is not a usable http or https URL", "不是可用的 http 或 https 地址")
	theService    = reason.New("http_the_service", "the service", "该服务")
	requestFailed = reason.New("http_failed", "the request to {host} failed", "发往 {host} 的请求失败")

	nothingCame = reason.New("http_nothing_came", "nothing came for {limit}: {cause}",
		"{limit} 内没有收到任何数据：{cause}")
	readingAnswer    = reason.New("http_reading", "reading the answer: {cause}", "读取响应：{cause}")
	waitingRateLimit = reason.New("http_waiting_rate_limit", "waiting for the rate limit: {cause}",
		"等待请求频率限制：{cause}")
	errProxyAddress = reason.New("http_proxy_address", "the proxy must be an address such as http://proxy.example:3128 or socks5://proxy.example:1080",
		"代理必须是形如 http://proxy.example:3128 或 socks5://proxy.example:1080 的地址")
	proxyScheme = reason.New("http_proxy_scheme", "the proxy must start with http, https or socks5, not {scheme:q}",
		"代理必须以 http、https 或 socks5 开头，而不是“{scheme}”")
	tooManyRedirects = reason.New("http_too_many_redirects", "too many redirects", "重定向次数过多")
	answerTooLong    = reason.New("http_answer_too_long", "{what}: more than {most} bytes",
		"{what}：超过 {most} 字节")
)
