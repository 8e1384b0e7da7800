// Package lan says which addresses belong to a home network: the only ones at which
// devices are looked for and asked. It imports nothing of ours.
package lan

import (
	"iter"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"watchmark/internal/platform/reason"
)

// shared is the network that carriers, and overlay networks such as those between a
// person's own machines, use inside (RFC 6598).
var shared = netip.MustParsePrefix("100.64.0.0/10")

// ErrNotPrivate is wrapped by the errors of Check.
var ErrNotPrivate = reason.New("lan_not_address_home_network", "is not an address of a home network", "不是内网地址")

// metadata are addresses at which hosts of virtual machines tell these their secrets: of Alibaba
// Cloud, Oracle Cloud and AWS.
var metadata = []netip.Addr{
	netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("192.0.0.192"), netip.MustParseAddr("fd00:ec2::254"),
}

// IsMetadata reports whether hosts of virtual machines tell these their secrets at addr. The one such
// address that is link-local is not among them: no link-local address should be asked.
func IsMetadata(addr netip.Addr) bool { return slices.Contains(metadata, addr.Unmap().WithZone("")) }

// Forbidden reports whether nothing may be connected to at addr, whoever names it: link-local addresses and those that
// IsMetadata tells, where hosts of virtual machines keep their secrets, and what is no address of a single machine.
func Forbidden(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	return addr.IsLinkLocalUnicast() || addr.IsMulticast() || addr.IsUnspecified() || IsMetadata(addr)
}

// Check returns an error that wraps ErrNotPrivate unless addr is private: RFC 1918,
// 100.64.0.0/10, or fc00::/7. An IPv4 address written as IPv6 is judged as the IPv4
// address that it is. Link-local addresses are refused, and those that IsMetadata tells.
func Check(addr netip.Addr) error {
	addr = addr.Unmap()
	what := publicAddress.With()
	switch {
	case !addr.IsValid() || addr.Zone() != "":
		what = zonedAddress.With()
	case IsMetadata(addr):
		what = metadataAddress.With()
	case addr.IsPrivate() || shared.Contains(addr):
		return nil
	case addr.IsLoopback():
		what = loopbackAddress.With()
	case addr.IsLinkLocalUnicast(), addr.IsLinkLocalMulticast():
		what = linkLocalAddress.With()
	case addr.IsMulticast(), addr.IsUnspecified():
		what = notOneMachine.With()
	}
	return notPrivate.With(addr, ErrNotPrivate, what)
}

// special are prefixes of addresses that are no machine of the internet, though nothing in their form tells (RFC 6890, the registries of
// IANA for special addresses).
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("192.88.99.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("3fff::/20"),
}

// Of IPv6, internet is what is given to machines of the internet, and translated holds an IPv4 address in its last four bytes (RFC 6052).
var (
	internet   = netip.MustParsePrefix("2000::/3")
	translated = netip.MustParsePrefix("64:ff9b::/96")
)

// IsOutside reports whether addr is a machine of the internet, and none of the networks that this machine stands in: near are the
// addresses of its interfaces with their networks, for with IPv6 a machine of the home network has a public address, too.
func IsOutside(addr netip.Addr, near []netip.Prefix) bool {
	addr = addr.Unmap()
	if translated.Contains(addr) {
		whole := addr.As16()
		addr = netip.AddrFrom4([4]byte(whole[12:]))
	}
	switch {
	case !addr.IsValid(), addr.Zone() != "", Forbidden(addr), addr.IsLoopback(), addr.IsPrivate(), shared.Contains(addr), addr.Is6() && !internet.Contains(addr):
		return false
	}
	holds := func(network netip.Prefix) bool { return network.Contains(addr) }
	return !slices.ContainsFunc(special, holds) && !slices.ContainsFunc(near, holds)
}

// Near are the addresses of this machine's interfaces with their networks.
func Near() ([]netip.Prefix, error) {
	all, err := net.InterfaceAddrs()
	var near []netip.Prefix
	for _, one := range all {
		if prefix, err := netip.ParsePrefix(one.String()); err == nil {
			near = append(near, netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()).Masked())
		}
	}
	return near, err
}

// homeDomains end the names that only a home network gives out. Anybody may register a name below
// box; fritz.box belongs to the maker of the routers that call themselves so.
var homeDomains = []string{".localhost", ".local", ".lan", ".home", ".internal", ".home.arpa", ".fritz.box"}

// IsHomeName reports whether no public host has a name like this: it has no domain, or one of home
// networks.
func IsHomeName(name string) bool {
	name = "." + strings.ToLower(name)
	return strings.Count(name, ".") == 1 || slices.ContainsFunc(homeDomains, func(domain string) bool { return strings.HasSuffix(name, domain) })
}

// IsHome reports whether a host is this machine or one of the home network as far as it tells
// by itself: a loopback or private address, or a name as IsHomeName judges it.
func IsHome(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().IsLoopback() || Check(addr) == nil
	}
	return host != "" && IsHomeName(host)
}

// ParseHost takes host or host:port, also with http:// in front of it, and gives the host
// and the port, 0 when there was none. The error says what is wrong, an address that
// Check refuses among it. A name is taken as it is: what it leads to is to be checked
// whenever it is connected to.
func ParseHost(text string) (host string, port uint16, err error) {
	given := strings.TrimSpace(text)
	host = strings.TrimSuffix(strings.TrimPrefix(given, "http://"), "/")
	if h, p, err := net.SplitHostPort(host); err == nil {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || n == 0 {
			return "", 0, badPort.With(short(given))
		}
		host, port = h, uint16(n)
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().String(), port, Check(addr)
	}
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._"
	if host == "" || len(host) > 253 || strings.Trim(host, allowed) != "" || strings.Trim(host, "-._") == "" {
		return "", 0, badHost.With(short(given))
	}
	return strings.ToLower(host), port, nil
}

// widest is the shortest prefix of a network that may be scanned: 1024 addresses.
const widest = 22

// ParseNetwork takes a private IPv4 network in CIDR form that is small enough to be
// scanned, a /22 at most. The error says what is wrong.
func ParseNetwork(text string) (netip.Prefix, error) {
	given := strings.TrimSpace(text)
	network, err := netip.ParsePrefix(given)
	if err != nil || !network.Addr().Is4() {
		return netip.Prefix{}, badNetwork.With(short(given))
	}
	network = network.Masked()
	if network.Bits() < widest {
		return netip.Prefix{}, networkTooWide.With(network, widest, 1<<(32-widest))
	}
	return network, Check(network.Addr())
}

// Hosts are the addresses of an IPv4 network that machines may have: all but, where it
// has more than two, its first and its last.
func Hosts(network netip.Prefix) iter.Seq[netip.Addr] {
	return func(yield func(netip.Addr) bool) {
		network = network.Masked()
		whole := network.Bits() >= 31
		for addr := network.Addr(); network.Contains(addr); addr = addr.Next() {
			edge := addr == network.Addr() || !network.Contains(addr.Next())
			if (whole || !edge) && !yield(addr) {
				return
			}
		}
	}
}

// short makes foreign text fit for a sentence.
func short(text string) string {
	const most = 60
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
