package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"golang.org/x/time/rate"

	"watchmark/internal/door/problem"
	"watchmark/internal/upkeep/diagnose"
)

// Hosts that a caller names are tried at this rate: enough for a person, too little to look through a network.
const (
	trialsPerSecond = 1
	trialsAtOnce    = 10
)

// diagnosis is how the services outside were found.
type diagnosis struct {
	OK    bool              `json:"ok" doc:"Whether everything that is in use can be reached."`
	Items []diagnose.Result `json:"items"`
}

// hostReach is whether a host can be reached.
type hostReach struct {
	Reachable bool             `json:"reachable" doc:"Whether requests of this service would reach it."`
	Routes    []diagnose.Reach `json:"routes" doc:"The way that requests go, and where that is a proxy the direct way too."`
}

// Network finds out what can be reached.
type Network struct{ Doctor *diagnose.Doctor }

// network is Network with the trials that callers have.
type network struct {
	*diagnose.Doctor
	trials   *rate.Limiter
	stopping <-chan struct{}
}

func (n Network) register(s *server) {
	net := network{n.Doctor, rate.NewLimiter(trialsPerSecond, trialsAtOnce), s.Stopping}
	const tag = "Diagnostics"
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/network/diagnose", OperationID: "diagnose-network", Tags: []string{tag},
		Summary: "Find out what cannot be reached",
		Description: "Goes to every service that the settings name (Bangumi's API, website and images, the offline data with its mirrors, the ID table, Trakt), stage by stage: " +
			"name, connection, proxy, TLS with its certificates, HTTP with the clock. Where a proxy is used, the direct way is gone too. No credentials are sent. " +
			"Each stage may take network.timeout_seconds. With a url only the way to its host is gone.",
		RequestBody: &huma.RequestBody{Required: false}, Errors: []int{http.StatusConflict, http.StatusTooManyRequests},
	}, net.diagnose)
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/proxy/test-host", OperationID: "test-host", Tags: []string{tag},
		Summary:     "Find out whether a host can be reached",
		Description: "Makes a connection to a port, by the proxy if one is used, and directly. It sends nothing there and tells nothing of what comes. After ten in a row one a second is taken.",
		Errors:      []int{http.StatusTooManyRequests},
	}, net.testHost)
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/proxy/test", OperationID: "test-proxy", Tags: []string{tag},
		Summary:     "Find out whether a proxy works",
		Description: "Goes to Bangumi through the proxy, and directly for comparison. Without a body the proxy in use is tested; another one can be tried before it is set.",
		RequestBody: &huma.RequestBody{Required: false}, Errors: []int{http.StatusTooManyRequests},
	}, net.testProxy)
}

// oneAddress is the only address to diagnose.
type oneAddress struct {
	URL string `json:"url,omitempty" maxLength:"2000" doc:"Look at the host of this address alone; left out it is every service of the settings."`
}

// diagnose goes on when the caller leaves: the page shows how it came out to whoever comes back.
func (n network) diagnose(ctx context.Context, in *struct{ Body *oneAddress }) (*JSON[diagnosis], error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	go func() {
		select {
		case <-n.stopping:
			cancel()
		case <-ctx.Done():
		}
	}()
	var only string
	if in.Body != nil && in.Body.URL != "" {
		if err := n.try(); err != nil {
			return nil, err
		}
		only = in.Body.URL
	}
	found, err := n.Diagnose(ctx, only)
	if errors.Is(err, diagnose.ErrAddress) || errors.Is(err, diagnose.ErrForbidden) {
		return nil, fieldProblem("body.url", err)
	}
	if errors.Is(err, context.Canceled) {
		return nil, stopping
	}
	return answer(diagnosisOf(found), err)
}

func diagnosisOf(found []diagnose.Result) diagnosis {
	d := diagnosis{OK: true, Items: found}
	for _, r := range found {
		d.OK = d.OK && (r.OK || !r.InUse)
	}
	return d
}

// try takes one of the trials that callers have.
func (n network) try() error {
	if reservation := n.trials.Reserve(); reservation.Delay() > 0 {
		defer reservation.Cancel()
		return problem.Of(tooManyHosts).After(seconds(reservation.Delay()))
	}
	return nil
}

// hostTrial is a host to try.
type hostTrial struct {
	Host string `json:"host" minLength:"1" maxLength:"253" pattern:"^[^\\s/@?#]+$" doc:"A name or an address." example:"api.example"`
	Port int    `json:"port,omitempty" minimum:"1" maximum:"65535" default:"443" doc:"The port."`
	// Timeout is in seconds; 0 leaves it to the setting.
	Timeout int `json:"timeout,omitempty" minimum:"1" maximum:"60" doc:"Seconds that it may take in all; left out each stage may take network.timeout_seconds."`
}

func (n network) testHost(ctx context.Context, in *JSON[hostTrial]) (*JSON[hostReach], error) {
	if err := n.try(); err != nil {
		return nil, err
	}
	if in.Body.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(in.Body.Timeout)*time.Second)
		defer cancel()
	}
	routes, err := n.TestHost(ctx, in.Body.Host, in.Body.Port)
	if errors.Is(err, diagnose.ErrForbidden) {
		return nil, fieldProblem("body.host", err)
	}
	if err != nil {
		return nil, err
	}
	return answer(hostReach{routes[0].Reachable, routes}, nil)
}

// proxyTrial is a proxy to try.
type proxyTrial struct {
	Proxy string `json:"proxy,omitempty" maxLength:"2000" doc:"The proxy to try; left out or empty it is the one in use." example:"socks5://proxy.example:1080"`
}

func (n network) testProxy(ctx context.Context, in *struct{ Body *proxyTrial }) (*JSON[diagnose.ProxyTest], error) {
	if err := n.try(); err != nil {
		return nil, err
	}
	var proxy string
	if in.Body != nil {
		proxy = in.Body.Proxy
	}
	test, err := n.TestProxy(ctx, proxy)
	if errors.Is(err, diagnose.ErrProxy) {
		return nil, fieldProblem("body.proxy", err)
	}
	return answer(test, err)
}
