package diagnose_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"watchmark/internal/platform/secret"
	"watchmark/internal/upkeep/diagnose"
)

// A stage waits for patience, and for little where a test wants to see it run out.
const (
	patience = 2 * time.Minute
	little   = 150 * time.Millisecond
)

// rig is a doctor with an authority of its own, a name server and a list of targets.
type rig struct {
	*diagnose.Doctor
	authority *x509.Certificate
	key       *ecdsa.PrivateKey
	targets   []diagnose.Target
	proxy     *url.URL
	wait      time.Duration
	masker    *secret.Masker
}

func newRig(t *testing.T) *rig {
	t.Helper()
	g := &rig{wait: patience, masker: &secret.Masker{}}
	g.authority, g.key = certify(t, x509.Certificate{
		Subject: pkix.Name{CommonName: "Test authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().AddDate(-20, 0, 0), NotAfter: time.Now().AddDate(20, 0, 0),
	}, nil, nil)
	roots := x509.NewCertPool()
	roots.AddCert(g.authority)
	names := nameServer(t)
	g.Doctor = diagnose.New(diagnose.Config{
		Targets:  func() []diagnose.Target { return g.targets },
		ProxyFor: func(*url.URL) (*url.URL, error) { return g.proxy, nil },
		Timeout:  func() time.Duration { return g.wait }, UserAgent: "watchmark/test", Masker: g.masker, Roots: func() *x509.CertPool { return roots },
		Resolver: &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "udp", names)
		}},
	})
	return g
}

// certify makes a certificate, signed by another one or by itself.
func certify(t *testing.T, c x509.Certificate, by *x509.Certificate, byKey *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	c.SerialNumber = must(rand.Int(rand.Reader, big.NewInt(1<<62)))(t)
	if by == nil {
		by, byKey = &c, key
	}
	return must(x509.ParseCertificate(must(x509.CreateCertificate(rand.Reader, &c, by, &key.PublicKey, byKey))(t)))(t), key
}

// certificate is one of a server named service.test, changed by with.
func (g *rig) certificate(t *testing.T, with func(*x509.Certificate), selfSigned bool) tls.Certificate {
	t.Helper()
	c := x509.Certificate{
		Subject: pkix.Name{CommonName: "service.test"}, DNSNames: []string{"service.test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(48 * time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if with != nil {
		with(&c)
	}
	by, byKey := g.authority, g.key
	if selfSigned {
		by, byKey = nil, nil
	}
	made, key := certify(t, c, by, byKey)
	return tls.Certificate{Certificate: [][]byte{made.Raw}, PrivateKey: key}
}

// listen serves every connection by handle, and gives the port.
func listen(t *testing.T, handle func(net.Conn)) string {
	t.Helper()
	l := must(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
			go handle(conn)
		}
	}()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// secured serves HTTP over TLS.
func secured(t *testing.T, certificate tls.Certificate, answer http.HandlerFunc) string {
	t.Helper()
	l := must(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	server := &http.Server{Handler: answer, ErrorLog: nil, TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}}}
	t.Cleanup(func() { _ = server.Close() })
	go func() { _ = server.Serve(tls.NewListener(l, server.TLSConfig)) }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// answering answers every request so; a header is given as name and value.
func answering(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// closed is a port at which nobody listens.
func closed(t *testing.T) string {
	t.Helper()
	l := must(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	defer func() { _ = l.Close() }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// nameServer knows that service.test is 127.0.0.1, never answers for silent.test, fails for
// broken.test, and knows no other name.
func nameServer(t *testing.T) string {
	t.Helper()
	conn := must(new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if answer := resolve(buf[:n]); answer != nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	}()
	return conn.LocalAddr().String()
}

// resolve answers a query of one question (RFC 1035, section 4).
func resolve(query []byte) []byte {
	name, at := "", 12
	for query[at] != 0 {
		name += string(query[at+1:at+1+int(query[at])]) + "."
		at += 1 + int(query[at])
	}
	question := query[12 : at+5]
	kind := binary.BigEndian.Uint16(query[at+1:])
	answer := append(append([]byte{}, query[:2]...), 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0)
	answer = append(answer, question...)
	switch name {
	case "silent.test.":
		return nil
	case "broken.test.":
		answer[3] |= 2
	case "service.test.", "link.test.":
		if kind == 1 {
			answer[7] = 1
			answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4)
			if name == "link.test." {
				answer = append(answer, 169, 254, 169, 254)
			} else {
				answer = append(answer, 127, 0, 0, 1)
			}
		}
	default:
		answer[3] |= 3
	}
	return answer
}

// httpProxy makes tunnels, or answers CONNECT with a status. It wants a login when one is given.
func httpProxy(t *testing.T, status int, login string) string {
	t.Helper()
	return listen(t, func(conn net.Conn) {
		reader := bufio.NewReader(conn)
		req, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		switch {
		case login != "" && req.Header.Get("Proxy-Authorization") != login:
			_, _ = io.WriteString(conn, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
		case status != http.StatusOK:
			_, _ = io.WriteString(conn, "HTTP/1.1 "+strconv.Itoa(status)+" x\r\n\r\n")
		case req.Method != http.MethodConnect:
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Asked: "+req.RequestURI+"\r\n\r\n")
		default:
			tunnel(t, conn, reader, req.Host, func(err error) string {
				if err != nil {
					return "HTTP/1.1 502 Bad Gateway\r\n\r\n"
				}
				return "HTTP/1.1 200 Connection established\r\n\r\n"
			})
		}
	})
}

// socksProxy makes tunnels, or answers a reply code. It wants the login name:pa55phrase when asked to.
func socksProxy(t *testing.T, reply byte, login bool) string {
	t.Helper()
	return listen(t, func(conn net.Conn) {
		reader := bufio.NewReader(conn)
		next := func(n int) []byte {
			buf := make([]byte, n)
			_, _ = io.ReadFull(reader, buf)
			return buf
		}
		methods := next(int(next(2)[1]))
		method := byte(0)
		if login {
			if method = 2; len(methods) < 2 {
				method = 0xff
			}
		}
		_, _ = conn.Write([]byte{5, method})
		if login {
			name := string(next(int(next(2)[1])))
			word := string(next(int(next(1)[0])))
			if name+":"+word != "name:pa55phrase" {
				_, _ = conn.Write([]byte{1, 1})
				return
			}
			_, _ = conn.Write([]byte{1, 0})
		}
		host := ""
		switch next(4)[3] {
		case 1:
			host = net.IP(next(4)).String()
		case 3:
			host = string(next(int(next(1)[0])))
		}
		port := next(2)
		if reply != 0 {
			_, _ = conn.Write([]byte{5, reply, 0, 1, 0, 0, 0, 0, 0, 0})
			return
		}
		to := net.JoinHostPort(host, big.NewInt(int64(binary.BigEndian.Uint16(port))).String())
		tunnel(t, conn, reader, to, func(err error) string {
			if err != nil {
				return string([]byte{5, 5, 0, 1, 0, 0, 0, 0, 0, 0})
			}
			return string([]byte{5, 0, 0, 3, 3, 'a', 'b', 'c', 0, 0})
		})
	})
}

// tunnel connects conn with to, which is on this machine whatever its name, and says how that went.
func tunnel(t *testing.T, conn net.Conn, from io.Reader, to string, say func(error) string) {
	_, port, _ := net.SplitHostPort(to)
	there, err := new(net.Dialer).DialContext(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", port))
	_, _ = io.WriteString(conn, say(err))
	if err != nil {
		return
	}
	t.Cleanup(func() { _ = there.Close() })
	go func() { _, _ = io.Copy(there, from) }()
	_, _ = io.Copy(conn, there)
	_ = conn.Close()
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
