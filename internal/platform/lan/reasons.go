package lan

import "watchmark/internal/platform/reason"

// What is wrong with an address.
var (
	publicAddress    = reason.New("lan_public_address", "a public address", "公网地址")
	zonedAddress     = reason.New("lan_zoned_address", "an address with a zone", "带区域标识的地址").Was("lan_address_zone")
	metadataAddress  = reason.New("lan_metadata_address", "an address where hosts of virtual machines keep their secrets", "虚拟机宿主存放机密的地址").Was("lan_address_where_hosts_virtual_machines")
	loopbackAddress  = reason.New("lan_loopback_address", "this machine itself", "本机").Was("lan_machine_itself")
	linkLocalAddress = reason.New("lan_link_local_address", "a link-local address", "链路本地地址")
	notOneMachine    = reason.New("lan_not_one_machine", "not the address of one machine", "不是单台机器的地址").Was("lan_no_address_single_machine")

	notPrivate = reason.New("lan_address_not_private", "{address} {problem}: it is {kind}; addresses of home networks are 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10 and fc00::/7",
		"{address} {problem}：它是{kind}；内网地址为 10.0.0.0/8、172.16.0.0/12、192.168.0.0/16、100.64.0.0/10 和 fc00::/7").Was("lan_private_ones_10_0_0", "addr", "err_not_private", "what")
	badPort = reason.New("lan_bad_port", "{given:q} has a port that is not between 1 and 65535", "“{given}”的端口不在 1 到 65535 之间").Was("lan_port_not_between_1_65535")
	badHost = reason.New("lan_bad_host", "{given:q} is not host or host:port, such as 192.168.1.5 or 192.168.1.5:9978",
		"“{given}”应为“主机”或“主机:端口”，例如 192.168.1.5 或 192.168.1.5:9978").Was("lan_not_host_or_host_port")
	badNetwork     = reason.New("lan_bad_network", "{given:q} is not an IPv4 network such as 192.168.1.0/24", "“{given}”不是 192.168.1.0/24 这样的 IPv4 网段").Was("lan_not_ipv4_network_such_192")
	networkTooWide = reason.New("lan_network_too_wide", "{network} is too large: use at most a /{widest}, which has {addresses} addresses",
		"{network} 范围太大：最大为 /{widest}，即 {addresses} 个地址").Was("lan_too_wide_which_addresses_most", "network", "widest", "value")
)
