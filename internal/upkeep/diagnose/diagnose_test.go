package diagnose_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"watchmark/internal/upkeep/diagnose"
)

// one looks at one address, and is impatient where silence is expected.
func (g *rig) one(t *testing.T, address string, asJSON bool, expected diagnose.Problem) diagnose.Result {
	t.Helper()
	g.wait = patience
	if strings.HasSuffix(string(expected), "silent") {
		g.wait = little
	}
	g.targets = []diagnose.Target{{Kind: diagnose.CatalogAPI, URL: address, InUse: true, JSON: asJSON}}
	return must(g.Diagnose(t.Context(), ""))(t)[0]
}

// stages are the names of the stages of a route, the failed one with an exclamation mark.
func stages(r diagnose.Route) string {
	var all []string
	for _, s := range r.Stages {
		name := string(s.Name)
		if !s.OK {
			name += "!"
		}
		all = append(all, name)
	}
	return strings.Join(all, " ")
}

func TestDiagnosisTellsTheStageThatFailed(t *testing.T) {
	g := newRig(t)
	good := g.certificate(t, nil, false)
	past := func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Hour) }
	future := func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Hour) }
	other := func(c *x509.Certificate) { c.DNSNames, c.IPAddresses = []string{"other.test"}, nil }
	ok := answering(200, "{}", "Content-Type", "application/json")
	at := func(d time.Duration) http.HandlerFunc {
		return answering(200, "{}", "Date", time.Now().Add(d).UTC().Format(http.TimeFormat))
	}
	stranger := newRig(t)
	silent := func(net.Conn) {}
	for _, c := range []struct {
		name, url string
		json      bool
		stages    string
		problem   diagnose.Problem
	}{
		{"all is well", "https://service.test:" + secured(t, good, ok), true, "dns tcp tls http", ""},
		{"plain HTTP", "http://service.test:" + plain(t, ok), true, "dns tcp http", ""},
		{"an unknown name", "https://nowhere.test", false, "dns!", diagnose.NameUnknown},
		{"a name server that fails", "https://broken.test", false, "dns!", diagnose.DNSFailed},
		{"a name server that is silent", "https://silent.test", false, "dns!", diagnose.DNSSilent},
		{"a closed port", "https://service.test:" + closed(t), false, "dns tcp!", diagnose.Refused},
		{"an expired certificate", "https://service.test:" + secured(t, g.certificate(t, past, false), ok), false, "dns tcp tls!", diagnose.Expired},
		{"one of the future", "https://service.test:" + secured(t, g.certificate(t, future, false), ok), false, "dns tcp tls!", diagnose.NotYetValid},
		{"one that is expired by our clock only", "https://service.test:" + secured(t, g.certificate(t, past, false), at(-2*time.Hour)), false, "dns tcp tls!", diagnose.ClockWrong},
		{"one for another name", "https://service.test:" + secured(t, g.certificate(t, other, false), ok), false, "dns tcp tls!", diagnose.WrongName},
		{"one signed by itself", "https://service.test:" + secured(t, g.certificate(t, nil, true), ok), false, "dns tcp tls!", diagnose.SelfSigned},
		{"one of a strange authority", "https://service.test:" + secured(t, stranger.certificate(t, nil, false), ok), false, "dns tcp tls!", diagnose.Untrusted},
		{"no TLS at all", "https://service.test:" + plain(t, ok), false, "dns tcp tls!", diagnose.NotTLS},
		{"a handshake that is cut", "https://service.test:" + listen(t, func(c net.Conn) { _ = c.Close() }), false, "dns tcp tls!", diagnose.TLSCut},
		{"a handshake without an answer", "https://service.test:" + listen(t, silent), false, "dns tcp tls!", diagnose.TLSSilent},
		{"no answer", "http://service.test:" + listen(t, silent), false, "dns tcp http!", diagnose.HTTPSilent},
		{"an answer that is cut", "http://service.test:" + listen(t, talking("HTTP/1.1 200")), false, "dns tcp http!", diagnose.HTTPCut},
		{"no HTTP", "http://service.test:" + listen(t, talking("SSH-2.0-OpenSSH\r\n\r\n")), false, "dns tcp http!", diagnose.HTTPBroken},
		{"a failing service", "https://service.test:" + secured(t, good, answering(503, "")), false, "dns tcp tls http!", diagnose.ServerFailed},
		{"too many requests", "https://service.test:" + secured(t, good, answering(429, "")), false, "dns tcp tls http!", diagnose.TooMany},
		{"a web page for an API", "https://service.test:" + secured(t, good, answering(200, "<html>", "Content-Type", "text/html")), true, "dns tcp tls http!", diagnose.NotJSON},
		{"a page that wants a login is an answer", "https://service.test:" + secured(t, good, answering(403, "")), false, "dns tcp tls http", ""},
		{"a clock behind", "https://service.test:" + secured(t, good, at(10*time.Minute)), false, "dns tcp tls http", diagnose.ClockOff},
		{"a clock ahead", "http://service.test:" + plain(t, at(-10*time.Minute)), false, "dns tcp http", diagnose.ClockOff},
		{"an old answer of a cache is no wrong clock", "http://service.test:" + plain(t, answering(200, "", "Age", "600", "Date", time.Now().Add(-10*time.Minute).UTC().Format(http.TimeFormat))), false, "dns tcp http", ""},
		{"no address", "https://", false, "dns!", diagnose.BadAddress},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := g.one(t, c.url, c.json, c.problem)
			if len(got.Routes) != 1 || got.CheckedAt == nil {
				t.Fatalf("%+v", got)
			}
			r := got.Routes[0]
			if stages(r) != c.stages || r.Problem != c.problem {
				t.Errorf("stages %q, problem %q; want %q, %q: %+v", stages(r), r.Problem, c.stages, c.problem, r.Stages)
			}
			failed := strings.HasSuffix(c.stages, "!")
			if r.OK == failed || got.OK == failed || (r.Failed != "") != failed || !r.Used || r.Via != diagnose.Direct {
				t.Errorf("the route says %+v", r)
			}
			if (c.problem != "") != (!r.Advice.IsZero()) {
				t.Errorf("the advice is %q", r.Advice)
			}
			if chained := strings.Contains(r.TLSVersion, "TLS 1."); chained != (len(r.Chain) > 0) {
				t.Errorf("%q with %d certificates", r.TLSVersion, len(r.Chain))
			}
		})
	}
}

// talking says words to whoever comes with something, and ends the connection.
func talking(words string) func(net.Conn) {
	return func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 4096))
		_, _ = io.WriteString(conn, words)
		_ = conn.Close()
	}
}

func plain(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return must(url.Parse(server.URL))(t).Port()
}

func TestChainAndClockAreTold(t *testing.T) {
	g := newRig(t)
	r := g.one(t, "https://service.test:"+secured(t, g.certificate(t, func(c *x509.Certificate) { c.NotAfter = time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC) }, false),
		answering(200, "", "Date", time.Now().Add(-90*time.Second).UTC().Format(http.TimeFormat))), false, diagnose.Expired).Routes[0]
	if len(r.Chain) != 1 || r.Chain[0].Subject != "CN=service.test" || r.Chain[0].Issuer != "CN=Test authority" || len(r.Chain[0].Fingerprint) != 64 ||
		!slices.Equal(r.Chain[0].Names, []string{"service.test", "127.0.0.1"}) || r.Chain[0].NotAfter.Year() != 2001 {
		t.Errorf("the chain is %+v", r.Chain)
	}
	if r.Problem != diagnose.Expired || !strings.Contains(r.Stages[2].Detail.Text, "2001-02-03T04:05:06Z") {
		t.Errorf("it says %s: %s", r.Problem, r.Stages[2].Detail)
	}
	if d := r.ClockDifference; d == nil || *d < 85 || *d > 120 {
		t.Errorf("the clock differs by %v", d)
	}
}

func TestDiagnosisByAProxy(t *testing.T) {
	g := newRig(t)
	const login = "Basic bmFtZTpwYTU1cGhyYXNl" // name:pa55phrase
	service := "https://service.test:" + secured(t, g.certificate(t, nil, false), answering(200, ""))
	expired := "https://service.test:" + secured(t, g.certificate(t, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Hour) }, false), answering(200, ""))
	gone := "https://service.test:" + closed(t)
	for _, c := range []struct {
		name, proxy, url string
		stages           string
		problem          diagnose.Problem
	}{
		{"it works", "http://127.0.0.1:" + httpProxy(t, 200, ""), service, "dns tcp proxy tls http", ""},
		{"with a login", "http://name:pa55phrase@127.0.0.1:" + httpProxy(t, 200, login), service, "dns tcp proxy tls http", ""},
		{"without the login", "http://127.0.0.1:" + httpProxy(t, 200, login), service, "dns tcp proxy!", diagnose.ProxyLogin},
		{"it knows names that we do not", "http://127.0.0.1:" + httpProxy(t, 200, ""), strings.Replace(service, "service.test", "hidden.test", 1), "dns tcp proxy tls!", diagnose.WrongName},
		{"it forbids", "http://127.0.0.1:" + httpProxy(t, 403, ""), service, "dns tcp proxy!", diagnose.ProxyForbids},
		{"it finds no way", "http://127.0.0.1:" + httpProxy(t, 200, ""), gone, "dns tcp proxy!", diagnose.ProxyNoWay},
		{"it is off", "http://127.0.0.1:" + closed(t), service, "dns tcp!", diagnose.ProxyUnreachable},
		{"its name is unknown", "http://nowhere.test:3128", service, "dns!", diagnose.ProxyUnreachable},
		{"it is silent", "http://127.0.0.1:" + listen(t, func(net.Conn) {}), service, "dns tcp proxy!", diagnose.ProxySilent},
		{"it is none", "http://127.0.0.1:" + listen(t, func(c net.Conn) { _ = c.Close() }), service, "dns tcp proxy!", diagnose.ProxyBroken},
		{"its certificate is of nobody known", quietTLS(t), service, "dns tcp proxy!", diagnose.ProxyUntrusted},
		{"a certificate behind it", "http://127.0.0.1:" + httpProxy(t, 200, ""), expired, "dns tcp proxy tls!", diagnose.Expired},
		{"plain HTTP needs no tunnel", "http://127.0.0.1:" + httpProxy(t, 200, ""), "http://service.test/x", "dns tcp http", ""},
		{"plain HTTP without the login", "http://127.0.0.1:" + httpProxy(t, 200, login), "http://service.test/x", "dns tcp http!", diagnose.ProxyLogin},
		{"SOCKS", "socks5://127.0.0.1:" + socksProxy(t, 0, false), service, "dns tcp proxy tls http", ""},
		{"SOCKS with a login", "socks5h://name:pa55phrase@127.0.0.1:" + socksProxy(t, 0, true), service, "dns tcp proxy tls http", ""},
		{"SOCKS with a wrong one", "socks5://name:wrong@127.0.0.1:" + socksProxy(t, 0, true), service, "dns tcp proxy!", diagnose.ProxyLogin},
		{"SOCKS without one", "socks5://127.0.0.1:" + socksProxy(t, 0, true), service, "dns tcp proxy!", diagnose.ProxyLogin},
		{"SOCKS that forbids", "socks5://127.0.0.1:" + socksProxy(t, 2, false), service, "dns tcp proxy!", diagnose.ProxyForbids},
		{"SOCKS without a way", "socks5://127.0.0.1:" + socksProxy(t, 0, false), gone, "dns tcp proxy!", diagnose.ProxyNoWay},
		{"HTTP where SOCKS is wanted", "socks5://127.0.0.1:" + listen(t, talking("HTTP/1.1 400 Bad Request\r\n\r\n")), service, "dns tcp proxy!", diagnose.ProxyBroken},
	} {
		t.Run(c.name, func(t *testing.T) {
			g.proxy = must(url.Parse(c.proxy))(t)
			got := g.one(t, c.url, false, c.problem)
			if len(got.Routes) != 2 || !got.Routes[0].Used || got.Routes[0].Via != diagnose.ByProxy || got.Routes[1].Used || got.Routes[1].Via != diagnose.Direct {
				t.Fatalf("%+v", got.Routes)
			}
			r := got.Routes[0]
			if stages(r) != c.stages || r.Problem != c.problem || got.OK != r.OK {
				t.Errorf("stages %q, problem %q; want %q, %q: %+v", stages(r), r.Problem, c.stages, c.problem, r.Stages)
			}
			if c.url == service && !got.Routes[1].OK {
				t.Errorf("directly: %+v", got.Routes[1])
			}
			if text := string(must(json.Marshal(got))(t)); strings.Contains(text, "pa55") || strings.Contains(text, login[6:]) {
				t.Errorf("the password of the proxy is told: %s", text)
			}
		})
	}
}

// quietTLS is the address of a server with a certificate that nobody knows.
func quietTLS(t *testing.T) string {
	s := httptest.NewUnstartedServer(nil)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL
}

func TestWhatWasFoundIsRemembered(t *testing.T) {
	g := newRig(t)
	started, release := make(chan bool, 2), make(chan bool)
	port := plain(t, func(http.ResponseWriter, *http.Request) {
		started <- true
		<-release
	})
	g.targets = []diagnose.Target{{Kind: diagnose.Archive, URL: "http://service.test:" + port + "/a?token=x"}, {Kind: diagnose.Dataset, URL: "http://nowhere.test"}}
	if s := g.State(); s[0].CheckedAt != nil || s[0].Routes == nil || s[0].Running {
		t.Errorf("before the first: %+v", s[0])
	}
	ended := make(chan error)
	go func() {
		_, err := g.Diagnose(t.Context(), "")
		ended <- err
	}()
	<-started
	if s := g.State(); !s[0].Running || s[0].Host != "service.test:"+port {
		t.Errorf("while it runs: %+v", s[0])
	}
	second, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if _, err := g.Diagnose(second, ""); !errors.Is(err, diagnose.ErrRunning) {
		t.Errorf("a second one: %v", err)
	}
	close(release)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	s := g.State()
	if !s[0].OK || s[0].Running || s[1].OK || s[1].CheckedAt == nil {
		t.Errorf("after it: %+v", s)
	}
	given, give := context.WithCancel(t.Context())
	give()
	if _, err := g.Diagnose(given, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	if got := g.State(); !got[0].CheckedAt.Equal(*s[0].CheckedAt) {
		t.Error("what was given up is remembered")
	}
	g.targets[0].URL += "2"
	if s := g.State(); s[0].CheckedAt != nil {
		t.Error("what was found at another address is told")
	}
}

func TestHostIsTested(t *testing.T) {
	g := newRig(t)
	banner := listen(t, func(c net.Conn) { _, _ = io.WriteString(c, "secret banner") })
	number := func(port string) int { return must(net.LookupPort("tcp", port))(t) }
	got := must(g.TestHost(t.Context(), "service.test", number(banner)))(t)
	if len(got) != 1 || !got[0].Reachable || !got[0].Used || strings.Contains(string(must(json.Marshal(got))(t)), "127.0.0.1") {
		t.Errorf("%+v", got)
	}
	if got := must(g.TestHost(t.Context(), "[127.0.0.1]", number(closed(t))))(t); got[0].Reachable || got[0].Problem != diagnose.Refused {
		t.Errorf("%+v", got)
	}
	g.proxy = must(url.Parse("http://127.0.0.1:" + httpProxy(t, 200, "")))(t)
	if got := must(g.TestHost(t.Context(), "hidden.test", number(banner)))(t); len(got) != 2 || !got[0].Reachable || got[0].Via != diagnose.ByProxy || got[1].Problem != diagnose.NameUnknown {
		t.Errorf("%+v", got)
	}
}

// TestForbiddenAddressesAreNotAsked names addresses where hosts of virtual machines keep their secrets, in every way.
func TestForbiddenAddressesAreNotAsked(t *testing.T) {
	g := newRig(t)
	for _, host := range []string{"169.254.169.254", "[fe80::1]", "::ffff:169.254.169.254", "100.100.100.200", "[fd00:ec2::254]", "0.0.0.0"} {
		if _, err := g.TestHost(t.Context(), host, 80); !errors.Is(err, diagnose.ErrForbidden) {
			t.Errorf("%s: %v", host, err)
		}
		if _, err := g.Diagnose(t.Context(), "http://"+net.JoinHostPort(strings.Trim(host, "[]"), "80")+"/latest"); !errors.Is(err, diagnose.ErrForbidden) {
			t.Errorf("the address of %s: %v", host, err)
		}
	}
	if got := must(g.TestHost(t.Context(), "link.test", 80))(t); got[0].Reachable || got[0].Problem != diagnose.Forbidden {
		t.Errorf("a name that leads there: %+v", got)
	}
	g.targets = []diagnose.Target{{Kind: diagnose.CatalogAPI, URL: "http://service.test:" + closed(t), InUse: true}}
	if got := must(g.Diagnose(t.Context(), "http://link.test/latest"))(t)[0]; got.OK || got.Routes[0].Problem != diagnose.Forbidden || got.Kind != diagnose.Other {
		t.Errorf("an address that leads there: %+v", got)
	}
	if got := must(g.TestProxy(t.Context(), "http://link.test:80"))(t); got.OK || got.Routes[0].Problem != diagnose.Forbidden {
		t.Errorf("a proxy that leads there: %+v", got)
	}
}

func TestOneAddressIsLookedAtAlone(t *testing.T) {
	g := newRig(t)
	listening := "https://service.test:" + secured(t, g.certificate(t, nil, false), answering(200, "{}", "Content-Type", "application/json"))
	g.targets = []diagnose.Target{{Kind: diagnose.CatalogAPI, URL: "http://service.test:" + closed(t), InUse: true}, {Kind: diagnose.TrackerAPI, URL: listening + "/x", InUse: true, JSON: true}}
	if got := must(g.Diagnose(t.Context(), listening+"/v2/anything?x=1"))(t); len(got) != 1 || got[0].Kind != diagnose.TrackerAPI || !got[0].OK {
		t.Errorf("a service of the settings: %+v", got)
	}
	server := httptest.NewServer(answering(200, "{}", "Content-Type", "application/json"))
	t.Cleanup(server.Close)
	if got := must(g.Diagnose(t.Context(), server.URL))(t); len(got) != 1 || got[0].Kind != diagnose.Other || !got[0].OK {
		t.Errorf("another one: %+v", got)
	}
	for _, bad := range []string{"service.test", "ftp://service.test", "http://", "http://name:pass@service.test", "http://a b"} {
		if _, err := g.Diagnose(t.Context(), bad); !errors.Is(err, diagnose.ErrAddress) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestProxyIsTested(t *testing.T) {
	g := newRig(t)
	service := "https://service.test:" + secured(t, g.certificate(t, nil, false), answering(200, "{}", "Content-Type", "application/json"))
	working, refusing := "http://name:pa55phrase@127.0.0.1:"+httpProxy(t, 200, ""), "http://127.0.0.1:"+httpProxy(t, 403, "")
	for _, c := range []struct {
		name, set, given string
		url              string
		ok               bool
		says             string
		routes           int
	}{
		{"the one in use", working, "", service, true, "ms through the proxy", 2},
		{"another one", refusing, working, service, true, "ms directly", 2},
		{"only by the proxy", working, "", strings.Replace(service, "https://service.test", "http://hidden.test", 1), true, "cannot be reached directly", 2},
		{"neither", refusing, "", "https://nowhere.test", false, "neither through", 2},
		{"it refuses", working, refusing, service, false, "and answers in", 2},
		{"none", "", "", service, false, "No proxy is set", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			g.targets, g.proxy = []diagnose.Target{{Kind: diagnose.CatalogAPI, URL: c.url}}, nil
			if c.set != "" {
				g.proxy = must(url.Parse(c.set))(t)
			}
			got := must(g.TestProxy(t.Context(), c.given))(t)
			if got.OK != c.ok || !strings.Contains(got.Message.Text, c.says) || len(got.Routes) != c.routes || (got.LatencyMS == 0) != (got.Proxy == "") {
				t.Errorf("%+v", got)
			}
			if text := string(must(json.Marshal(got))(t)); strings.Contains(text, "pa55") {
				t.Errorf("the password of the proxy is told: %s", text)
			}
		})
	}
	if _, err := g.TestProxy(t.Context(), "ftp://x"); !errors.Is(err, diagnose.ErrProxy) {
		t.Errorf("no proxy: %v", err)
	}
}
