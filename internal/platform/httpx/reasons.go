package httpx

import "watchmark/internal/platform/reason"

// explained says what a failure of a kind with a host means.
var explained = map[Kind]*reason.Kind{
	DNS:        reason.New("http_dns", "the name {host} cannot be resolved: check the address and the DNS settings", "无法解析域名 {host}：请检查地址和 DNS 设置"),
	Connection: reason.New("http_connection", "no connection to {host}: check that it is running, and that the network or the proxy lets this machine reach it", "无法连接 {host}：请确认对方正在运行，且网络或代理允许本机访问"),
	TLS:        reason.New("http_tls", "no secure connection to {host}: check the certificate and the clock of this machine, and whether something intercepts the traffic; for certificates of your own authority set network.ca_certificates", "无法与 {host} 建立安全连接：请检查证书、本机时钟，以及流量是否被拦截；自建 CA 的证书请通过 network.ca_certificates 设为信任"),
	Timeout:    reason.New("http_timeout", "{host} did not answer in time", "{host} 没有及时响应"),
	Proxy:      reason.New("http_proxy", "the proxy did not pass the request on to {host}: check network.proxy", "代理没有把请求转发给 {host}：请检查 network.proxy"),
	ProxyTLS:   reason.New("http_proxy_tls", "no secure connection to the proxy on the way to {host}: check the certificate of the proxy; for certificates of your own authority set network.ca_certificates", "访问 {host} 时无法与代理建立安全连接：请检查代理的证书；自建 CA 的证书请通过 network.ca_certificates 设为信任"),
	Cancelled:  reason.New("http_cancelled", "the request to {host} was cancelled", "发往 {host} 的请求已取消"),
}

// What else people are told.
var (
	errBadAddress = reason.New("http_bad_address", "the address is not a usable http or https URL", "不是可用的 http 或 https 地址")
	requestFailed = reason.New("http_failed", "the request to {host} failed", "发往 {host} 的请求失败")

	noDataFor       = reason.New("http_no_data", "no data for {limit}: {cause}", "{limit} 内没有收到任何数据：{cause}").Was("http_nothing_came")
	readAnswer      = reason.New("http_reading", "read the answer: {cause}", "读取响应：{cause}")
	waitForRate     = reason.New("http_waiting_rate_limit", "wait for the rate limit: {cause}", "等待请求频率限制：{cause}")
	errProxyAddress = reason.New("http_proxy_address", "the proxy must be an address such as http://proxy.example:3128 or socks5://proxy.example:1080",
		"代理应为形如 http://proxy.example:3128 或 socks5://proxy.example:1080 的地址")
	badProxyScheme   = reason.New("http_proxy_scheme", "the proxy must start with http, https or socks5, not {scheme:q}", "代理应以 http、https 或 socks5 开头，而不是“{scheme}”")
	tooManyRedirects = reason.New("http_too_many_redirects", "too many redirects", "重定向次数过多")
	answerTooLong    = reason.New("http_answer_too_long", "{what}: more than {most} bytes", "{what}：超过 {most} 字节")
)

// ErrWrongPin is the cause of an *Error for a certificate other than Config.Pin.
var ErrWrongPin = reason.New("http_wrong_pin", "the certificate is another one than the one that was confirmed", "证书与之前确认过的不同")
