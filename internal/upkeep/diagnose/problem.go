package diagnose

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

	ClockOff Problem = "clock_off"
)

// Problems are all of them, each with what it means and what to do.
var Problems = map[Problem]string{
	BadAddress: "This is no usable address. Correct it in the settings.",
	Forbidden:  "This leads to an address of the machine's own network link, where hosts of virtual machines keep their secrets. Nothing is connected to there: name another host.",

	NameUnknown: "The DNS knows no such name. Check the address for a typing error; when it is right, your DNS server hides it: " +
		"set another one on this machine or router, or set network.proxy.",
	DNSSilent: "The DNS server of this machine does not answer in time. Check its address in the network settings of the machine or " +
		"container, and whether the machine has a network at all.",
	DNSFailed: "The DNS server of this machine cannot answer. Try again, and set another DNS server if it stays so.",

	Refused:       "The host is there, but nothing listens on this port. Check the port of the address, and whether the service runs.",
	ConnectSilent: "The host does not answer at this port. It may be down, or a firewall or your network provider blocks it: try from another network, or set network.proxy.",
	NoRoute:       "There is no way from this machine to the host. Check the network and the gateway of this machine or container.",
	ConnectFailed: "No connection could be made. Check the network of this machine, and whether a firewall stops it.",

	ProxyUnreachable: "The proxy itself cannot be reached. Check that it runs, and its address and port in network.proxy.",
	ProxyLogin:       "The proxy wants a user name and password, or refuses those that are set. Put them into network.proxy: http://NAME:PASSWORD@host:port.",
	ProxyForbids:     "The proxy forbids this host or port. Allow it there, or use another proxy.",
	ProxyNoWay:       "The proxy works, but cannot reach the host itself. Choose another way out in the proxy.",
	ProxySilent:      "The proxy takes the connection and then does not answer. Check whether it has a way out, and whether network.proxy names the right kind (http or socks5).",
	ProxyBroken:      "What answers at the address of the proxy does not speak as a proxy of that kind does. Check the port, and whether it must be http or socks5 in network.proxy.",
	ProxyUntrusted: "The certificate of the proxy is not trusted. Write its address by the name in its certificate. " +
		"One of your own authority is trusted by network.ca_certificates.",

	Expired:     "The certificate has expired by the clock of this machine. When the clock is right, the service has to renew it; if it is your own, do so.",
	NotYetValid: "The certificate is not valid yet by the clock of this machine. Set the clock; when it is right, the service has the wrong certificate.",
	WrongName:   "The certificate is for another host. The address is not right, or something between intercepts the connection: compare the names below.",
	SelfSigned: "The certificate is signed by itself, so nobody vouches for it. For a public service that means that something intercepts the " +
		"connection, such as a filter of the network; for your own, name its certificate in network.ca_certificates.",
	Untrusted: "The certificate comes from an authority that this machine does not know. Something may intercept the connection (a virus " +
		"scanner, a filter): see who issued it. Or this machine lacks the usual authorities: install the package ca-certificates. " +
		"One of your own authority is trusted by network.ca_certificates.",
	ClockWrong: "The clock of this machine is wrong, so the certificate seems not to be valid. Set the clock, best by switching on time synchronisation (NTP).",
	NotTLS:     "The server answers without TLS. Write http instead of https if that is right, or correct the port.",
	TLSCut:     "The connection is cut during the TLS handshake. That is how filters block a host by its name: try another network, or set network.proxy.",
	TLSSilent:  "The host takes the connection and then does not answer the TLS handshake. A filter may hold it: try another network, or set network.proxy.",
	TLSFailed:  "The TLS handshake fails: both sides found nothing in common, or something between disturbs it.",

	HTTPSilent:   "The connection stands, but no answer comes in time. The service may be overloaded: try again later, or raise network.timeout_seconds.",
	HTTPCut:      "The connection is cut before the answer. The service may be down, or something between stops it: try again, or set network.proxy.",
	HTTPBroken:   "What answers does not speak HTTP. Check the port of the address.",
	ServerFailed: "The way is free, but the service itself fails. Wait and try again; marks wait in the queue meanwhile.",
	TooMany:      "The service wants fewer requests from this address. Wait; lower catalog.requests_per_minute if it happens again.",
	NotJSON:      "A web page comes back where the API should answer: a sign-in page of the network, a block page, or the wrong address. Check catalog.api_url.",

	ClockOff: "All is well, but the clock of this machine differs from the server's. Set it, best by switching on time synchronisation (NTP): certificates and sign-ins depend on it.",
}

// Advice says what the problem means and what to do.
func (p Problem) Advice() string { return Problems[p] }
