package lan

import "watchmark/internal/platform/reason"

// What people are told.
var (
	publicAddress                    = reason.New("lan_public_address", "a public address", "公网地址")
	addressZone                      = reason.New("lan_address_zone", "an address with a zone", "带区域标识的地址")
	addressWhereHostsVirtualMachines = reason.New("lan_address_where_hosts_virtual_machines", "an address where hosts of virtual machines keep their secrets",
		"虚拟机宿主存放机密的地址")
	machineItself          = reason.New("lan_machine_itself", "this machine itself", "本机")
	linkLocalAddress       = reason.New("lan_link_local_address", "a link-local address", "链路本地地址")
	noAddressSingleMachine = reason.New("lan_no_address_single_machine", "no address of a single machine", "不是单台机器的地址")
	privateOnes1000        = reason.New("lan_private_ones_10_0_0", "{addr} {err_not_private}: it is {what}; private ones are 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10 and fc00::/7",
		"{addr} {err_not_private}：它是{what}；内网地址为 10.0.0.0/8、172.16.0.0/12、192.168.0.0/16、100.64.0.0/10 和 fc00::/7")
	portNotBetween165535 = reason.New("lan_port_not_between_1_65535", "{given:q} has a port that is not between 1 and 65535",
		"“{given}”的端口不在 1 到 65535 之间")
	notHostOrHostPort = reason.New("lan_not_host_or_host_port", "{given:q} is not host or host:port, such as 192.168.1.5 or 192.168.1.5:9978",
		"“{given}”不是主机或“主机:端口”，例如 192.168.1.5 或 192.168.1.5:9978")
	notIpv4NetworkSuch192 = reason.New("lan_not_ipv4_network_such_192", "{given:q} is not an IPv4 network such as 192.168.1.0/24",
		"“{given}”不是 192.168.1.0/24 这样的 IPv4 网段")
	tooWideWhichAddressesMost = reason.New("lan_too_wide_which_addresses_most", "{network} is too wide: a /{widest}, which has {value} addresses, is the most",
		"{network} 范围太大：最大为 /{widest}，即 {value} 个地址")
)
