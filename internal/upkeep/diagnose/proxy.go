package diagnose

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"

	"watchmark/internal/platform/reason"
)

// enter passes the proxy: TLS where it is spoken to by https, then the tunnel to to, if one is wanted.
func (d *Doctor) enter(ctx context.Context, conn net.Conn, proxy *url.URL, to string, tunnel bool) (net.Conn, string, Problem, error) {
	if proxy.Scheme == "https" {
		secured := tls.Client(conn, &tls.Config{ServerName: proxy.Hostname(), RootCAs: d.roots(), NextProtos: []string{"http/1.1"}})
		if err := secured.HandshakeContext(ctx); err != nil {
			problem := ProxyBroken
			if untrusted := new(tls.CertificateVerificationError); errors.As(err, &untrusted) {
				problem = ProxyUntrusted
			}
			return nil, "", problem, fmt.Errorf("TLS with the proxy: %w", err)
		}
		conn = secured
	}
	if !tunnel {
		return conn, "", "", nil
	}
	defer limit(ctx, conn)()
	var detail string
	var problem Problem
	var err error
	if proxy.Scheme == "socks5" || proxy.Scheme == "socks5h" {
		problem, err = socks(conn, proxy, to)
	} else {
		detail, problem, err = connect(conn, proxy, to)
	}
	if err != nil {
		switch {
		case silent(err):
			problem = ProxySilent
		case problem == "":
			problem = ProxyBroken
		}
	}
	return conn, detail, problem, err
}

// basic is the value of Proxy-Authorization for a proxy; empty when it names no user.
func basic(proxy *url.URL) string {
	if proxy.User == nil {
		return ""
	}
	password, _ := proxy.User.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(proxy.User.Username()+":"+password))
}

// connect asks an HTTP proxy for a tunnel (RFC 9110, section 9.3.6).
func connect(conn net.Conn, proxy *url.URL, to string) (detail string, p Problem, err error) {
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: to}, Host: to, Header: http.Header{}}
	if login := basic(proxy); login != "" {
		req.Header.Set("Proxy-Authorization", login)
	}
	if err := req.Write(conn); err != nil {
		return "", "", err
	}
	// Nothing follows the head before we speak, so the reader takes nothing that belongs to the tunnel.
	answer, err := readHead(conn, req)
	if err != nil {
		return "", "", err
	}
	switch status := answer.code; {
	case status/100 == 2:
		return answer.status, "", nil
	case status == http.StatusProxyAuthRequired, status == http.StatusUnauthorized:
		return answer.status, ProxyLogin, nil
	case status == http.StatusBadGateway, status == http.StatusServiceUnavailable, status == http.StatusGatewayTimeout:
		return answer.status, ProxyNoWay, nil
	}
	return answer.status, ProxyForbids, nil
}

// socksReplies are the codes of a reply (RFC 1928, section 6).
var socksReplies = map[byte]struct {
	problem Problem
	text    reason.Reason
}{
	1: {ProxyNoWay, socksFailure.With()},
	2: {ProxyForbids, socksNotAllowed.With()},
	3: {ProxyNoWay, socksNoNetwork.With()},
	4: {ProxyNoWay, socksNoHost.With()},
	5: {ProxyNoWay, socksRefused.With()},
	6: {ProxyNoWay, socksTTLExpired.With()},
	7: {ProxyForbids, socksNoCommand.With()},
	8: {ProxyNoWay, socksNoAddressType.With()},
}

var errNoSocks = reason.New("socks_other_answer", "the answer is not that of a SOCKS5 proxy",
	"返回的不是 SOCKS5 代理的应答").Was("diagnose_answer_not_socks5_proxy")

// socks asks a SOCKS5 proxy for a connection (RFC 1928), with name and password where the proxy's address has them (RFC 1929).
// Names are resolved by the proxy.
func socks(conn net.Conn, proxy *url.URL, to string) (Problem, error) {
	const none, login = 0, 2
	methods := []byte{5, 1, none}
	if proxy.User != nil {
		methods = []byte{5, 2, none, login}
	}
	chosen, err := exchange(conn, methods, 2)
	switch {
	case err != nil:
		return "", err
	case chosen[0] != 5:
		return ProxyBroken, errNoSocks
	case chosen[1] == login && proxy.User != nil:
		password, _ := proxy.User.Password()
		name := proxy.User.Username()
		if len(name) > 255 || len(password) > 255 {
			return ProxyLogin, loginTooLong
		}
		text := append([]byte{1, byte(len(name))}, name...)
		text = append(append(text, byte(len(password))), password...)
		if answer, err := exchange(conn, text, 2); err != nil {
			return "", err
		} else if answer[1] != 0 {
			return ProxyLogin, loginRefused
		}
	case chosen[1] != none:
		return ProxyLogin, noLoginMethod
	}
	request, err := socksRequest(to)
	if err != nil {
		return BadAddress, err
	}
	answer, err := exchange(conn, request, 4)
	if err != nil {
		return "", err
	}
	if answer[0] != 5 {
		return ProxyBroken, errNoSocks
	}
	if reply, refused := socksReplies[answer[1]]; refused {
		return reply.problem, reply.text
	}
	if answer[1] != 0 {
		return ProxyBroken, errNoSocks
	}
	return "", skipBound(conn, answer[3])
}

// socksRequest asks to be connected to host:port.
func socksRequest(to string) ([]byte, error) {
	host, text, err := net.SplitHostPort(to)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return nil, err
	}
	request := []byte{5, 1, 0}
	if ip, err := netip.ParseAddr(host); err == nil {
		kind := byte(1)
		if ip.Is6() {
			kind = 4
		}
		request = append(append(request, kind), ip.WithZone("").AsSlice()...)
	} else {
		if len(host) > 255 {
			return nil, hostNameTooLong
		}
		request = append(append(request, 3, byte(len(host))), host...)
	}
	return append(request, byte(port>>8), byte(port)), nil
}

// exchange sends a message and reads an answer of n bytes.
func exchange(conn net.Conn, message []byte, n int) ([]byte, error) {
	if _, err := conn.Write(message); err != nil {
		return nil, err
	}
	answer := make([]byte, n)
	_, err := io.ReadFull(conn, answer)
	return answer, err
}

// skipBound reads past the address that ends a reply, of a kind of RFC 1928.
func skipBound(conn net.Conn, kind byte) error {
	length := map[byte]int64{1: 4, 4: 16}[kind]
	if kind == 3 {
		one := make([]byte, 1)
		if _, err := io.ReadFull(conn, one); err != nil {
			return err
		}
		length = int64(one[0])
	}
	if length == 0 {
		return errNoSocks
	}
	_, err := io.CopyN(io.Discard, conn, length+2)
	return err
}
