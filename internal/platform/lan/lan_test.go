package lan_test

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"watchmark/internal/platform/lan"
)

func TestOnlyPrivateAddressesPass(t *testing.T) {
	for text, want := range map[string]bool{
		"10.0.0.1": true, "172.16.0.9": true, "172.31.255.254": true, "192.168.1.5": true, "100.64.0.1": true, "100.127.255.254": true,
		"fd12::5": true, "::ffff:192.168.1.5": true,
		"8.8.8.8": false, "172.32.0.1": false, "172.15.0.1": false, "192.169.0.1": false, "100.128.0.1": false, "100.63.0.1": false,
		"127.0.0.1": false, "::1": false, "::ffff:127.0.0.1": false, "::ffff:8.8.8.8": false, "169.254.169.254": false, "::ffff:169.254.169.254": false,
		"fe80::1": false, "fd12::5%eth0": false, "0.0.0.0": false, "::": false, "224.0.0.1": false, "255.255.255.255": false, "2001:db8::1": false,
		"64:ff9b::a00:1": false, "ff02::1": false, "100.100.100.200": false, "::ffff:100.100.100.200": false, "fd00:ec2::254": false,
	} {
		err := lan.Check(netip.MustParseAddr(text))
		if (err == nil) != want || err != nil && !errors.Is(err, lan.ErrNotPrivate) {
			t.Errorf("%s: %v, allowed should be %v", text, err, want)
		}
	}
	if lan.Check(netip.Addr{}) == nil {
		t.Error("no address passes")
	}
}

func TestHostsAreRead(t *testing.T) {
	for text, want := range map[string]struct {
		host string
		port uint16
	}{
		"192.168.1.5": {"192.168.1.5", 0}, " 192.168.1.5:9979 ": {"192.168.1.5", 9979}, "http://192.168.1.5:9978/": {"192.168.1.5", 9978},
		"Box.LAN:9978": {"box.lan", 9978}, "living-box": {"living-box", 0}, "[fd00::5]:9978": {"fd00::5", 9978}, "fd00::5": {"fd00::5", 0},
		"[::ffff:10.0.0.5]:1": {"10.0.0.5", 1},
	} {
		if host, port, err := lan.ParseHost(text); err != nil || host != want.host || port != want.port {
			t.Errorf("%q is %q, %d, %v", text, host, port, err)
		}
	}
	for _, text := range []string{"", " ", "192.168.1.5:0", "192.168.1.5:70000", "192.168.1.5:x", "8.8.8.8", "127.0.0.1:9978", "[::1]:9978", "http://192.168.1.5/media",
		"mira@192.168.1.5", "a b", "..", "https://192.168.1.5", "169.254.169.254", strings.Repeat("a", 300), "192.168.1.5?x"} {
		if host, port, err := lan.ParseHost(text); err == nil {
			t.Errorf("%q is taken as %q, %d", text, host, port)
		}
	}
}

func TestNetworksArePrivateAndSmall(t *testing.T) {
	for text, want := range map[string]string{"192.168.1.7/24": "192.168.1.0/24", "10.1.2.3/22": "10.1.0.0/22", "100.64.0.0/30": "100.64.0.0/30", "10.0.0.1/32": "10.0.0.1/32"} {
		if got, err := lan.ParseNetwork(text); err != nil || got.String() != want {
			t.Errorf("%s is %v, %v", text, got, err)
		}
	}
	for text, why := range map[string]string{"10.0.0.0/8": "too large", "10.0.0.0/21": "too large", "8.8.8.0/24": "public", "127.0.0.0/24": "this machine", "192.168.1": "not an IPv4 network",
		"fd00::/120": "not an IPv4 network", "169.254.0.0/24": "link-local", "::ffff:10.0.0.0/120": "not an IPv4 network", "0.0.0.0/0": "too large", "192.168.1.0/33": "not an"} {
		if got, err := lan.ParseNetwork(text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s is %v, %v; want %q", text, got, err, why)
		}
	}
}

func TestHostsOfANetwork(t *testing.T) {
	for text, want := range map[string]int{"192.168.1.0/24": 254, "10.0.0.0/22": 1022, "10.0.0.0/30": 2, "10.0.0.0/31": 2, "10.0.0.1/32": 1} {
		network := netip.MustParsePrefix(text)
		all := slices.Collect(lan.Hosts(network))
		if len(all) != want || !network.Contains(all[0]) || !network.Contains(all[len(all)-1]) {
			t.Errorf("%s has %d hosts", text, len(all))
		}
	}
	for range lan.Hosts(netip.MustParsePrefix("10.0.0.0/22")) {
		break
	}
}

func TestIsHome(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1": true, "::1": true, "192.168.1.5": true, "::ffff:10.0.0.1": true, "localhost": true, "ollama": true, "nas.local": true, "NAS.lan": true, "fritz.box": true, "nas.fritz.box": true,
		"api.openai.com": false, "8.8.8.8": false, "169.254.169.254": false, "0.0.0.0": false, "local.example.com": false, "evil.box": false, "notfritz.box": false, "": false,
	} {
		if got := lan.IsHome(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}

func TestIsOutside(t *testing.T) {
	near := []netip.Prefix{netip.MustParsePrefix("2606:4700:1:2::/64"), netip.MustParsePrefix("93.184.216.0/24")}
	for text, outside := range map[string]bool{
		"1.1.1.1": true, "8.8.8.8": true, "2606:4700:4700::1111": true, "::ffff:1.1.1.1": true, "64:ff9b::101:101": true,
		"127.0.0.1": false, "10.0.0.1": false, "172.16.3.4": false, "192.168.1.5": false, "100.64.0.1": false, "169.254.169.254": false, "0.0.0.0": false, "0.1.2.3": false,
		"192.0.0.192": false, "192.0.2.1": false, "198.18.0.1": false, "203.0.113.9": false, "224.0.0.1": false, "240.0.0.1": false, "255.255.255.255": false,
		"::": false, "::1": false, "fe80::1": false, "fe80::1%eth0": false, "fd00::1": false, "ff02::1": false, "::ffff:192.168.1.5": false, "64:ff9b::c0a8:105": false, "64:ff9b:1::1": false,
		"2001:db8::1": false, "2002:c0a8:105::1": false, "2001::1": false, "::192.168.1.5": false, "2606:4700:1:2::5": false, "93.184.216.34": false,
	} {
		if got := lan.IsOutside(netip.MustParseAddr(text), near); got != outside {
			t.Errorf("%s is outside: %t", text, got)
		}
	}
	if lan.IsOutside(netip.Addr{}, nil) {
		t.Error("no address is outside")
	}
	here, err := lan.Near()
	if err != nil || len(here) == 0 {
		t.Errorf("the networks of this machine: %v, %v", here, err)
	}
}
