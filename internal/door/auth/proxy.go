package auth

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/netip"
	"strings"

	"watchmark/internal/platform/logs"
)

// Proxies are the reverse proxies whose word about the caller counts. The zero value trusts none.
type Proxies struct {
	networks []netip.Prefix
}

// ParseProxies reads networks ("10.0.0.0/8") and single addresses ("::1"). The error names the entry that is neither.
func ParseProxies(list []string) (Proxies, error) {
	var p Proxies
	for _, entry := range list {
		network, err := netip.ParsePrefix(entry)
		if err != nil {
			addr, addrErr := netip.ParseAddr(entry)
			if addrErr != nil || addr.Zone() != "" {
				return Proxies{}, notNetwork.With(entry)
			}
			network = netip.PrefixFrom(addr, addr.BitLen())
		}
		if network.Addr().Is4In6() {
			return Proxies{}, mappedNetwork.With(entry)
		}
		p.networks = append(p.networks, network.Masked())
	}
	return p, nil
}

// Trust reports whether addr is one of them.
func (p Proxies) Trust(addr netip.Addr) bool {
	for _, network := range p.networks {
		if network.Contains(addr) {
			return true
		}
	}
	return false
}

// Client is who sent a request, and how the caller reached the service.
type Client struct {
	// Addr is the caller's address. It is invalid when the peer has none (a Unix socket).
	Addr netip.Addr
	// HTTPS tells whether the caller speaks TLS, to the service or to a trusted proxy.
	HTTPS bool
	// Host is the host, with a port if any, that the caller asked for, as a trusted proxy tells it.
	// Named is the one that the request itself names: a proxy may pass on what the caller claims the host to be.
	Host, Named string
	// RequestID is what a trusted proxy calls the request; Clients makes one where it is empty.
	RequestID string
}

// requestHeader is the header with a request's id.
const requestHeader = "X-Request-Id"

// maxHops bounds how many entries of X-Forwarded-For are read.
const maxHops = 32

// Client tells who sent the request. X-Forwarded-For, -Proto and -Host and X-Request-Id count only when the
// peer is a trusted proxy; of the first, the last address that is no trusted proxy.
func (p Proxies) Client(r *http.Request) Client {
	c := Client{HTTPS: r.TLS != nil, Host: r.Host, Named: r.Host}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return c
	}
	c.Addr = plainAddr(peer.Addr())
	if !p.Trust(c.Addr) {
		return c
	}
	hops := strings.Join(r.Header.Values("X-Forwarded-For"), ",")
	for range maxHops {
		var hop string
		if comma := strings.LastIndexByte(hops, ','); comma >= 0 {
			hops, hop = hops[:comma], hops[comma+1:]
		} else {
			hops, hop = "", hops
		}
		addr, ok := parseHop(hop)
		if !ok {
			break
		}
		c.Addr = addr
		if !p.Trust(addr) {
			break
		}
	}
	if proto := firstValue(r, "X-Forwarded-Proto"); proto != "" {
		c.HTTPS = strings.EqualFold(proto, "https")
	}
	if host := firstValue(r, "X-Forwarded-Host"); isHost(host) {
		c.Host = host
	}
	if id := r.Header.Get(requestHeader); isRequestID(id) {
		c.RequestID = id
	}
	return c
}

// parseHop reads an entry of X-Forwarded-For: an address, which some proxies send with a port.
func parseHop(hop string) (netip.Addr, bool) {
	hop = strings.TrimSpace(hop)
	if addr, err := netip.ParseAddr(hop); err == nil {
		return plainAddr(addr), true
	}
	if withPort, err := netip.ParseAddrPort(hop); err == nil {
		return plainAddr(withPort.Addr()), true
	}
	return netip.Addr{}, false
}

func plainAddr(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }

// firstValue is what the proxy nearest to the caller said.
func firstValue(r *http.Request, header string) string {
	value, _, _ := strings.Cut(r.Header.Get(header), ",")
	return strings.TrimSpace(value)
}

func isHost(s string) bool {
	if s == "" || len(s) > 255 {
		return false
	}
	for _, c := range []byte(s) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && !strings.ContainsRune(".-_:[]", rune(c)) {
			return false
		}
	}
	return true
}

// isRequestID tells the ids that proxies make from what somebody wants to have in the log.
func isRequestID(s string) bool {
	return 0 < len(s) && len(s) <= 64 && !strings.ContainsFunc(s, func(c rune) bool {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		return !letter && !strings.ContainsRune("-_.:", c)
	})
}

type clientKey struct{}

// Clients works out the Client of every request under the proxies trusted at that moment, sets the
// request's Host to the client's, and passes it on for ClientOf. What is logged with the request's context
// carries its id as request_id, and the answer has it in X-Request-Id. It stands before everything else
// of this package.
func Clients(trusted func() Proxies, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := trusted().Client(r)
		if c.RequestID == "" {
			c.RequestID = rand.Text()
		}
		w.Header().Set(requestHeader, c.RequestID)
		r = r.WithContext(context.WithValue(logs.With(r.Context(), "request_id", c.RequestID), clientKey{}, c))
		r.Host = c.Host
		next.ServeHTTP(w, r)
	})
}

// ClientOf is the Client that Clients found; the zero value outside of it.
func ClientOf(ctx context.Context) Client {
	c, _ := ctx.Value(clientKey{}).(Client)
	return c
}
