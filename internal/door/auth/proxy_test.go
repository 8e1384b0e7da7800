package auth_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"watchmark/internal/door/auth"
)

func TestParseProxiesNamesTheBadEntry(t *testing.T) {
	for _, bad := range []string{"", "10.0.0.0/33", "proxy.test", "fe80::1%eth0", "::ffff:10.0.0.1", "10.0.0.1:80"} {
		if _, err := auth.ParseProxies([]string{"10.0.0.0/8", bad}); err == nil || !strings.Contains(err.Error(), `"`+bad+`"`) {
			t.Errorf("%q: got error %v", bad, err)
		}
	}
}

func TestClient(t *testing.T) {
	proxies, err := auth.ParseProxies([]string{"10.0.0.0/8", "192.168.1.2", "fd00::/8"})
	if err != nil {
		t.Fatal(err)
	}
	const proxy = "10.1.2.3:4444"
	tests := []struct {
		name, peer string
		header     http.Header
		tls        bool
		want       auth.Client
	}{
		{"direct", "203.0.113.5:80", nil, false, client("203.0.113.5", false, "")},
		{"direct with TLS", "203.0.113.5:80", nil, true, client("203.0.113.5", true, "")},
		{"stranger's word does not count", "203.0.113.5:80",
			headers("X-Forwarded-For", "10.0.0.9", "X-Forwarded-Proto", "https", "X-Forwarded-Host", "evil.test"), false, client("203.0.113.5", false, "")},
		{"proxy", proxy, headers("X-Forwarded-For", "198.51.100.4", "X-Forwarded-Proto", "HTTPS", "X-Forwarded-Host", "nas.test:8443"), false,
			client("198.51.100.4", true, "nas.test:8443")},
		{"proxy without headers", proxy, nil, false, client("10.1.2.3", false, "")},
		{"proxy with TLS to us, caller without", proxy, headers("X-Forwarded-Proto", "http"), true, client("10.1.2.3", false, "")},
		{"single address", "192.168.1.2:1", headers("X-Forwarded-For", "198.51.100.4"), false, client("198.51.100.4", false, "")},
		{"neighbour of the single address", "192.168.1.3:1", headers("X-Forwarded-For", "198.51.100.4"), false, client("192.168.1.3", false, "")},
		{"caller's own claim does not count", proxy, headers("X-Forwarded-For", "1.1.1.1, 198.51.100.4"), false, client("198.51.100.4", false, "")},
		{"chain of proxies", proxy, headers("X-Forwarded-For", "1.1.1.1, 198.51.100.4, 10.9.9.9, fd00::1"), false, client("198.51.100.4", false, "")},
		{"proxies all the way", proxy, headers("X-Forwarded-For", "10.7.7.7,10.9.9.9"), false, client("10.7.7.7", false, "")},
		{"two headers", proxy, http.Header{"X-Forwarded-For": {"1.1.1.1", "198.51.100.4"}}, false, client("198.51.100.4", false, "")},
		{"nonsense stops the walk", proxy, headers("X-Forwarded-For", "198.51.100.4, unknown, 10.9.9.9"), false, client("10.9.9.9", false, "")},
		{"with ports", proxy, headers("X-Forwarded-For", "198.51.100.4:5555, [fd00::1]:80"), false, client("198.51.100.4", false, "")},
		{"IPv4 in IPv6 form", "[::ffff:10.1.2.3]:80", headers("X-Forwarded-For", "::ffff:198.51.100.4"), false, client("198.51.100.4", false, "")},
		{"zone is dropped", "[fe80::1%eth0]:80", nil, false, client("fe80::1", false, "")},
		{"host that is none", proxy, headers("X-Forwarded-Host", "nas.test/<script>"), false, client("10.1.2.3", false, "")},
		{"first of several", proxy, headers("X-Forwarded-Proto", "https, http", "X-Forwarded-Host", "nas.test, inner.test"), false, client("10.1.2.3", true, "nas.test")},
		{"proxy names the request", proxy, headers("X-Request-Id", "7f3a-9c"), false, named("10.1.2.3", "7f3a-9c")},
		{"stranger names the request", "203.0.113.5:80", headers("X-Request-Id", "7f3a-9c"), false, client("203.0.113.5", false, "")},
		{"a name that forges a line of the log", proxy, headers("X-Request-Id", "a level=ERROR"), false, client("10.1.2.3", false, "")},
		{"Unix socket", "@", headers("X-Forwarded-For", "198.51.100.4"), false, auth.Client{Host: "service.test", Named: "service.test"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://service.test/", nil)
			r.RemoteAddr, r.TLS = test.peer, nil
			if test.tls {
				r.TLS = &tls.ConnectionState{}
			}
			if test.header != nil {
				r.Header = test.header
			}
			if diff := cmp.Diff(test.want, proxies.Client(r), cmpopts.EquateComparable(netip.Addr{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func client(addr string, https bool, host string) auth.Client {
	if host == "" {
		host = "service.test"
	}
	return auth.Client{Addr: netip.MustParseAddr(addr), HTTPS: https, Host: host, Named: "service.test"}
}

// named is client for a request that a proxy has named.
func named(addr, id string) auth.Client {
	c := client(addr, false, "")
	c.RequestID = id
	return c
}

func FuzzClient(f *testing.F) {
	proxies, err := auth.ParseProxies([]string{"10.0.0.0/8"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("198.51.100.4, 10.0.0.1", "https", "nas.test:80")
	f.Add("[fe80::1%eth0]:80,", "http,https", "[::1]:80")
	f.Add(strings.Repeat("10.0.0.1,", 100), "", "")
	f.Fuzz(func(t *testing.T, hops, proto, host string) {
		r := httptest.NewRequest(http.MethodGet, "http://service.test/", nil)
		r.RemoteAddr = "10.1.2.3:4"
		r.Header = headers("X-Forwarded-For", hops, "X-Forwarded-Proto", proto, "X-Forwarded-Host", host)
		c := proxies.Client(r)
		if !c.Addr.IsValid() || c.Addr.Zone() != "" || c.Addr.Is4In6() {
			t.Errorf("address %v", c.Addr)
		}
		if c.Host == "" || strings.ContainsAny(c.Host, " \r\n/\\<>\"'&@") {
			t.Errorf("host %q", c.Host)
		}
	})
}
