package diagnose

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/lan"
	"watchmark/internal/platform/reason"
)

// Reach is whether a port of a host can be reached by one way.
type Reach struct {
	Via       Via           `json:"via" enum:"direct,proxy"`
	Used      bool          `json:"used" doc:"Whether requests of this service would go this way."`
	Reachable bool          `json:"reachable"`
	Failed    StageName     `json:"failed" enum:",dns,tcp,proxy" doc:"The stage that failed; empty when none did."`
	Problem   Problem       `json:"problem" doc:"What failed, in one word."`
	Advice    reason.Reason `json:"advice_value,omitzero" doc:"What that means and what to do."`
	ElapsedMS float64       `json:"elapsed_ms"`
}

// MarshalJSON has the texts of its reasons beside them.
func (r Reach) MarshalJSON() ([]byte, error) {
	type plain Reach
	return reason.MarshalBeside((*plain)(&r))
}

// ErrForbidden is returned for an address that nothing is connected to, whoever names it.
var ErrForbidden = reason.New("diagnosis_forbidden",
	"is an address of the machine's own network link, where hosts of virtual machines keep their secrets: name another host",
	"是本机网络链路的地址，虚拟机的宿主机在那里保存机密：请填写其他主机").For(reason.Invalid)

// forbidden reports whether host is written as an address that nothing is connected to.
func forbidden(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && lan.Forbidden(addr)
}

// TestHost finds out whether a connection to a port can be made: the way that requests go, and where that is a proxy
// the direct way too. Nothing is sent there, and nothing is told of what it says. It returns ErrForbidden.
func (d *Doctor) TestHost(ctx context.Context, host string, port int) ([]Reach, error) {
	host = strings.Trim(host, "[]")
	if forbidden(host) {
		return nil, ErrForbidden
	}
	number := strconv.Itoa(port)
	proxy, err := d.ProxyFor(&url.URL{Scheme: "https", Host: net.JoinHostPort(host, number)})
	if err != nil {
		return []Reach{{Via: ByProxy, Used: true, Failed: DNS, Problem: BadAddress, Advice: BadAddress.Advice()}}, nil //nolint:nilerr // it is the finding
	}
	ways := []*url.URL{nil}
	if proxy != nil {
		ways = []*url.URL{proxy, nil}
	}
	all := make([]Reach, 0, len(ways))
	for _, way := range ways {
		r := Route{Via: via(way)}
		start := time.Now()
		conn, reached := d.reach(ctx, &r, way, host, number, true, way == nil)
		if reached {
			_ = conn.Close() // nothing was sent
		}
		all = append(all, Reach{r.Via, len(all) == 0, reached, r.Failed, r.Problem, r.Advice, milliseconds(time.Since(start))})
	}
	return all, nil
}

// via is the way that leads by proxy; nil is none.
func via(proxy *url.URL) Via {
	if proxy == nil {
		return Direct
	}
	return ByProxy
}

// ErrProxy says that what was given is no usable address of a proxy.
var ErrProxy = reason.New("diagnosis_proxy", "the proxy must be an address such as http://proxy.example:3128 or socks5://proxy.example:1080",
	"代理必须是形如 http://proxy.example:3128 或 socks5://proxy.example:1080 的地址").For(reason.Invalid)

// ProxyTest is how a proxy was found.
type ProxyTest struct {
	OK bool `json:"ok" doc:"Whether Bangumi can be reached through the proxy."`
	// Proxy shows neither user nor password.
	Proxy     string        `json:"proxy" doc:"The proxy, without user and password; empty when there is none." example:"socks5://proxy.example:1080"`
	Message   reason.Reason `json:"message_value,omitzero" doc:"How it came out, in plain words."`
	LatencyMS float64       `json:"latency_ms" doc:"How long a request through the proxy took; 0 without a proxy."`
	// Routes begins with the way through the proxy, if there is one; the direct way is last.
	Routes []Route `json:"routes" doc:"The way through the proxy, if there is one, and the direct way."`
}

// MarshalJSON has the texts of its reasons beside them.
func (t ProxyTest) MarshalJSON() ([]byte, error) {
	type plain ProxyTest
	return reason.MarshalBeside((*plain)(&t))
}

// TestProxy goes to the catalog through a proxy, and directly. An empty text is the proxy that requests go through now. It
// returns ErrProxy.
func (d *Doctor) TestProxy(ctx context.Context, text string) (ProxyTest, error) {
	catalog := d.Targets()[0]
	target, err := url.Parse(catalog.URL)
	if err != nil {
		return ProxyTest{}, readAddress.With(err)
	}
	var proxy *url.URL
	if text == "" {
		proxy, err = d.ProxyFor(target)
	} else {
		proxy, err = httpx.ParseProxy(text)
	}
	if err != nil {
		return ProxyTest{}, ErrProxy
	}
	if proxy == nil {
		return ProxyTest{Message: noProxy.With(), Routes: []Route{d.walk(ctx, trip{target: target, json: catalog.JSON})}}, nil
	}
	if password, has := proxy.User.Password(); has {
		d.Masker.Add(password)
	}
	routes := d.both(ctx, trip{target: target, proxy: proxy, json: catalog.JSON, named: text != ""}, trip{target: target, json: catalog.JSON})
	test := ProxyTest{OK: routes[0].OK, Proxy: (&url.URL{Scheme: proxy.Scheme, Host: proxy.Host}).String(), LatencyMS: routes[0].ElapsedMS, Routes: routes}
	switch {
	case routes[0].OK && routes[1].OK:
		test.Message = bothWays.With(fmt.Sprintf("%.0f", routes[0].ElapsedMS), fmt.Sprintf("%.0f", routes[1].ElapsedMS))
	case routes[0].OK:
		test.Message = onlyByProxy.With(fmt.Sprintf("%.0f", routes[0].ElapsedMS))
	case routes[1].OK:
		test.Message = onlyDirectly.With(fmt.Sprintf("%.0f", routes[1].ElapsedMS), routes[0].Advice)
	default:
		test.Message = neitherWay.With(routes[0].Advice)
	}
	return test, nil
}
