package diagnose

import "watchmark/internal/platform/reason"

// Problem is what failed, in one word, for programs and translations.
type Problem string

// The problems, by stage. ClockOff is none of a stage: everything went well, but the clock differs.
const (
	BadAddress Problem = "bad_address"
	Forbidden  Problem = "forbidden"

	NameUnknown Problem = "name_unknown"
	DNSSilent   Problem = "dns_silent"
	DNSFailed   Problem = "dns_failed"

	Refused       Problem = "refused"
	ConnectSilent Problem = "connect_silent"
	NoRoute       Problem = "no_route"
	ConnectFailed Problem = "connect_failed"

	ProxyUnreachable Problem = "proxy_unreachable"
	ProxyLogin       Problem = "proxy_login"
	ProxyForbids     Problem = "proxy_forbids"
	ProxyNoWay       Problem = "proxy_no_way"
	ProxySilent      Problem = "proxy_silent"
	ProxyBroken      Problem = "proxy_broken"
	ProxyUntrusted   Problem = "proxy_untrusted"

	Expired      Problem = "certificate_expired"
	NotYetValid  Problem = "certificate_not_yet_valid"
	WrongName    Problem = "certificate_wrong_name"
	SelfSigned   Problem = "certificate_self_signed"
	Untrusted    Problem = "certificate_untrusted"
	ClockWrong   Problem = "clock_wrong"
	NotTLS       Problem = "not_tls"
	TLSCut       Problem = "tls_cut"
	TLSSilent    Problem = "tls_silent"
	TLSFailed    Problem = "tls_failed"
	HTTPSilent   Problem = "http_silent"
	HTTPCut      Problem = "http_cut"
	HTTPBroken   Problem = "http_broken"
	ServerFailed Problem = "server_failed"
	TooMany      Problem = "too_many_requests"
	NotJSON      Problem = "not_json"

	DatabaseFailed Problem = "database_failed"

	ClockOff Problem = "clock_off"
)

// Problems are all of them, each with what it means and what to do.
var Problems = map[Problem]*reason.Kind{
	DatabaseFailed: reason.New("network_database_failed", "The host answers, but the database takes no queries. Look into its log, and check user, password and name of the database in database.url.",
		"主机有响应，但数据库无法查询。请查看数据库日志，并检查 database.url 中的用户名、密码和数据库名。"),
	BadAddress: reason.New("network_bad_address", "This is no usable address. Correct it in the settings.",
		"地址无效，请在设置中更正。"),
	Forbidden: reason.New("network_forbidden", "This leads to an address of the machine's own network link, where hosts of virtual machines keep their secrets. Watchmark does not connect to it: use another host.",
		"这指向本机网络链路的地址，虚拟机的宿主机在那里保存机密。不会连接到那里：请填写其他主机。"),

	NameUnknown: reason.New("network_name_unknown", "The DNS knows no such name. Check the address for typing errors; if it is right, your DNS server hides the name: set another DNS server on this machine or router, or set network.proxy.",
		"DNS 找不到这个域名。请检查地址是否写错；如果没错，就是 DNS 服务器屏蔽了它：请为本机或路由器更换 DNS，或设置 network.proxy。"),
	DNSSilent: reason.New("network_dns_silent", "The DNS server of this machine does not answer in time. Check its address in the network settings of the machine or container, and whether the machine has a network at all.",
		"本机的 DNS 服务器没有及时响应。请检查本机或容器的 DNS 设置，以及网络是否连通。"),
	DNSFailed: reason.New("network_dns_failed", "The DNS server of this machine cannot answer. Try again, and set another DNS server if it goes on.",
		"本机的 DNS 服务器无法解析。请稍后重试，若一直如此请更换 DNS 服务器。"),

	Refused: reason.New("network_refused", "The host is there, but nothing listens on this port. Check the port of the address, and whether the service runs.",
		"主机在线，但该端口没有服务在监听。请检查地址中的端口，以及对方服务是否在运行。"),
	ConnectSilent: reason.New("network_connect_silent", "The host does not answer at this port. It may be down, or a firewall or your network provider blocks it: try from another network, or set network.proxy.",
		"主机的该端口没有响应。可能已停机，也可能被防火墙或网络运营商阻断：请换个网络试试，或设置 network.proxy。"),
	NoRoute: reason.New("network_no_route", "There is no way from this machine to the host. Check the network and the gateway of this machine or container.",
		"本机没有到达该主机的路由。请检查本机或容器的网络和网关。"),
	ConnectFailed: reason.New("network_connect_failed", "No connection could be made. Check the network of this machine, and whether a firewall stops it.",
		"无法建立连接。请检查本机网络，以及是否被防火墙拦截。"),

	ProxyUnreachable: reason.New("network_proxy_unreachable", "The proxy itself cannot be reached. Check that it runs, and its address and port in network.proxy.",
		"连不上代理本身。请确认代理正在运行，并检查 network.proxy 中的地址和端口。"),
	ProxyLogin: reason.New("network_proxy_login", "The proxy wants a user name and password, or refuses those that are set. Put them into network.proxy: http://NAME:PASSWORD@host:port.",
		"代理要求用户名和密码，或拒绝了现有的。请写入 network.proxy：http://用户名:密码@主机:端口。"),
	ProxyForbids: reason.New("network_proxy_forbids", "The proxy forbids this host or port. Allow it there, or use another proxy.",
		"代理不允许访问这个主机或端口。请在代理中放行，或换一个代理。"),
	ProxyNoWay: reason.New("network_proxy_no_way", "The proxy works, but cannot reach the host itself. Choose another way out in the proxy.",
		"代理可用，但它自己也连不上该主机。请在代理中更换出口节点。"),
	ProxySilent: reason.New("network_proxy_silent", "The proxy takes the connection and then does not answer. Check whether it has a way out, and whether network.proxy names the right kind (http or socks5).",
		"代理接受了连接却没有响应。请检查代理的出口是否可用，以及 network.proxy 的类型（http 或 socks5）是否正确。"),
	ProxyBroken: reason.New("network_proxy_broken", "What answers at the address of the proxy does not speak as a proxy of that kind does. Check the port, and whether it must be http or socks5 in network.proxy.",
		"该地址上的服务不是这种代理。请检查端口，以及 network.proxy 应写 http 还是 socks5。"),
	ProxyUntrusted: reason.New("network_proxy_untrusted", "The certificate of the proxy is not trusted. Write its address by the name in its certificate. For certificates of your own authority set network.ca_certificates.",
		"代理的证书不受信任。请用证书上的名称填写代理地址。自建 CA 的证书可通过 network.ca_certificates 设为信任。"),

	Expired: reason.New("network_certificate_expired", "The certificate has expired by the clock of this machine. When the clock is right, the service has to renew it; if it is your own, do so.",
		"按本机时钟，证书已过期。如果时钟没错，就需要对方更新证书；如果是你自己的服务，请更新。"),
	NotYetValid: reason.New("network_certificate_not_yet_valid", "The certificate is not valid yet by the clock of this machine. Set the clock; when it is right, the service has the wrong certificate.",
		"按本机时钟，证书尚未生效。请校准时钟；如果时钟没错，则对方的证书有误。"),
	WrongName: reason.New("network_certificate_wrong_name", "The certificate is for another host. The address is not right, or something between intercepts the connection: compare the names below.",
		"证书属于另一个域名。可能地址不对，也可能连接被劫持：请对照下方证书中的域名。"),
	SelfSigned: reason.New("network_certificate_self_signed", "The certificate is self-signed, so no authority vouches for it. For a public service that means that something intercepts the connection, such as a filter of the network; for your own service, set network.ca_certificates to its certificate.",
		"证书是自签名的，没有任何机构为它担保。公共服务出现这种情况说明连接被劫持（例如网络过滤）；如果是你自己的服务，请把它的证书填入 network.ca_certificates。"),
	Untrusted: reason.New("network_certificate_untrusted", "The certificate comes from an authority that this machine does not know. Something may intercept the connection (a virus scanner, a filter): see who issued it. Or this machine lacks the usual authorities: install the package ca-certificates. For certificates of your own authority set network.ca_certificates.",
		"签发证书的机构不受本机信任。可能有软件在劫持连接（杀毒软件、网络过滤），请看下方的签发者；也可能是本机缺少根证书：请安装 ca-certificates。自建 CA 的证书可通过 network.ca_certificates 设为信任。"),
	ClockWrong: reason.New("network_clock_wrong", "The clock of this machine is wrong, so the certificate seems not to be valid. Set the clock, best by switching on time synchronisation (NTP).",
		"本机时钟不准，所以证书看起来无效。请校准时钟，最好开启自动对时（NTP）。"),
	NotTLS: reason.New("network_not_tls", "The server answers without TLS. Write http instead of https if that is right, or correct the port.",
		"对方没有使用 TLS。如果本该如此，请把 https 改为 http，否则请更正端口。"),
	TLSCut: reason.New("network_tls_cut", "The connection is cut during the TLS handshake. That is how filters block a host by its name: try another network, or set network.proxy.",
		"TLS 握手时连接被切断。按域名封锁的网络就是这种表现：请换个网络试试，或设置 network.proxy。"),
	TLSSilent: reason.New("network_tls_silent", "The host takes the connection and then does not answer the TLS handshake. A filter may hold it: try another network, or set network.proxy.",
		"主机接受了连接，但不回应 TLS 握手，可能被过滤：请换个网络试试，或设置 network.proxy。"),
	TLSFailed: reason.New("network_tls_failed", "The TLS handshake fails: both sides found nothing in common, or something between disturbs it.",
		"TLS 握手失败：双方没有共同支持的方式，或中间有干扰。"),

	HTTPSilent: reason.New("network_http_silent", "The connection is there, but no answer comes in time. The service may be overloaded: try again later, or raise network.timeout_seconds.",
		"连接已建立，但没有及时得到回应。对方可能过载：请稍后重试，或调大 network.timeout_seconds。"),
	HTTPCut: reason.New("network_http_cut", "The connection is cut before the answer. The service may be down, or something between stops it: try again, or set network.proxy.",
		"得到回应之前连接被切断。对方可能停机，也可能被中途拦截：请重试，或设置 network.proxy。"),
	HTTPBroken: reason.New("network_http_broken", "The answer is not HTTP. Check the port of the address.",
		"对方说的不是 HTTP。请检查地址中的端口。"),
	ServerFailed: reason.New("network_server_failed", "The network is fine, but the service itself fails. Wait and try again; marks wait in the queue meanwhile.",
		"线路畅通，是对方服务出了故障。请稍后重试，期间标记会在队列中等待。"),
	TooMany: reason.New("network_too_many_requests", "The service received too many requests from this address. Wait; lower catalog.requests_per_minute if it happens again.",
		"对方要求减少请求。请等待；如果再次出现，请调低 catalog.requests_per_minute。"),
	NotJSON: reason.New("network_not_json", "A web page came instead of an answer of the API: perhaps a sign-in page of the network, a block page, or the wrong address. Check catalog.api_url.",
		"本该由 API 回应，却得到一个网页：可能是网络登录页、封锁页，或地址不对。请检查 catalog.api_url。"),

	ClockOff: reason.New("network_clock_off", "Everything works, but the clock of this machine differs from the server's. Set it, best by switching on time synchronisation (NTP): certificates and sign-ins depend on it.",
		"一切正常，但本机时钟与服务器不一致。请校准时钟，最好开启自动对时（NTP）：证书和登录都依赖它。"),
}

// Advice says what the problem means and what to do.
func (p Problem) Advice() reason.Reason {
	if kind := Problems[p]; kind != nil {
		return kind.With()
	}
	return reason.Reason{}
}
