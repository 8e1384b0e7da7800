// Package diagnose finds out why another service cannot be reached: it goes the way of a
// request stage by stage (name, connection, proxy, TLS, HTTP), tells at which one it ended, and
// what to do about it.
//
// What it promises: no stage waits without bound; no credential of a service is sent, only what the
// proxy asks for; what an address holds beside its host, and the password of a proxy, are never told.
package diagnose

import (
	"context"
	"crypto/x509"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// ErrRunning is returned while a diagnosis is under way.
var ErrRunning = reason.New("diagnosis_running", "a diagnosis is under way: wait for its end", "诊断正在进行：请等它结束").For(reason.Conflict)

// Kind says what a target is to this service.
type Kind string

// The kinds of targets.
const (
	CatalogAPI    Kind = "catalog_api"
	CatalogWeb    Kind = "catalog_web"
	CatalogImages Kind = "catalog_images"
	Archive       Kind = "archive"
	ArchiveMirror Kind = "archive_mirror"
	Dataset       Kind = "dataset"
	AnimeLists    Kind = "anime_lists"
	Shinkro       Kind = "shinkro"
	TrackerAuth   Kind = "tracker_auth"
	TrackerAPI    Kind = "tracker_api"
	TrackerAppAPI Kind = "tracker_app_api"
	LoginProvider Kind = "login_provider"
	Database      Kind = "database"
)

// Other is an address that a caller named and no setting does.
const Other Kind = "other"

// Kinds are all of them.
var Kinds = []Kind{CatalogAPI, CatalogWeb, CatalogImages, Archive, ArchiveMirror, Dataset, AnimeLists, Shinkro, TrackerAuth, TrackerAPI, TrackerAppAPI, LoginProvider, Database}

// Target is a service to reach.
type Target struct {
	Kind Kind
	// URL is what is asked for, http or https; with Query it only names the host.
	URL string
	// Query asks the target by connections of the caller's own, which go no proxy's way, and answers what was seen there and how far this
	// clock is ahead; nil has URL asked for.
	Query func(ctx context.Context) (detail string, ahead time.Duration, err error)
	// InUse is whether this service asks there as it is set now.
	InUse bool
	// JSON is set where anything but JSON is not the service's own answer.
	JSON bool
}

// Host is the host of the target, with its port where the address names one.
func (t Target) Host() string {
	u, err := url.Parse(t.URL)
	if err != nil {
		return ""
	}
	return u.Host
}

// Result is how a target was found.
type Result struct {
	Kind  Kind   `json:"kind" enum:"catalog_api,catalog_web,catalog_images,archive,archive_mirror,dataset,anime_lists,shinkro,tracker_auth,tracker_api,tracker_app_api,login_provider,database,other" doc:"What the host is to this service; other is one that the caller named and no setting does."`
	Host  string `json:"host" example:"api.example"`
	InUse bool   `json:"in_use" doc:"Whether this service asks there as it is set now."`
	// CheckedAt is nil before the first diagnosis.
	CheckedAt *time.Time `json:"checked_at" doc:"null before the first diagnosis."`
	Running   bool       `json:"running" doc:"Whether it is being looked at now."`
	OK        bool       `json:"ok" doc:"Whether it can be reached the way requests go."`
	// Routes begins with the way that requests go.
	Routes []Route `json:"routes" doc:"The way that requests go, and where that is a proxy the direct way too."`
}

// Config says what to look at and how.
type Config struct {
	// Targets are the services to look at, as the settings name them now, the API of the catalog first.
	Targets func() []Target
	// ProxyFor is the proxy that requests to an address go through; nil for none.
	ProxyFor func(*url.URL) (*url.URL, error)
	// Timeout bounds each stage.
	Timeout   func() time.Duration
	UserAgent string
	Masker    *secret.Masker
	// Roots gives the authorities that are trusted; nil is those of the system.
	Roots func() *x509.CertPool
	// Resolver finds the addresses of names; nil is that of the system.
	Resolver *net.Resolver
}

// Doctor looks at targets and remembers how it found them. It may be used by several goroutines.
type Doctor struct {
	Config

	mu      sync.Mutex
	running map[string]bool // by the address of a target
	found   map[string]Result
}

// New is a Doctor with c.
func New(c Config) *Doctor {
	return &Doctor{Config: c, running: map[string]bool{}, found: map[string]Result{}}
}

// Diagnose looks at all targets at once and gives how it found them, or at one address alone when it is given. It returns
// ErrRunning while another call does, ErrAddress and ErrForbidden. What ctx cut short is not remembered.
func (d *Doctor) Diagnose(ctx context.Context, only string) ([]Result, error) {
	targets := d.Targets()
	if only != "" {
		one, err := d.targetAt(only, targets)
		if err != nil {
			return nil, err
		}
		targets = []Target{one}
		if one.Kind == Other {
			defer d.forget(one.URL)
		}
	}
	d.mu.Lock()
	if len(d.running) > 0 {
		d.mu.Unlock()
		return nil, ErrRunning
	}
	if only == "" {
		maps.DeleteFunc(d.found, func(address string, _ Result) bool {
			return !slices.ContainsFunc(targets, func(t Target) bool { return t.URL == address })
		})
	}
	for _, t := range targets {
		d.running[t.URL] = true
	}
	d.mu.Unlock()
	var looking sync.WaitGroup
	for _, t := range targets {
		looking.Go(func() { d.check(ctx, t) })
	}
	looking.Wait()
	return d.stateOf(targets), ctx.Err()
}

// ErrAddress says that what was given is no address to look at.
var ErrAddress = reason.New("diagnosis_address", "must be an address such as https://api.example", "必须是形如 https://api.example 的地址").For(reason.Invalid)

// targetAt is the target on the host of an address, or the address itself.
func (d *Doctor) targetAt(address string, targets []Target) (Target, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return Target{}, ErrAddress
	}
	if forbidden(u.Hostname()) {
		return Target{}, ErrForbidden
	}
	at := slices.IndexFunc(targets, func(t Target) bool { return t.Host() == u.Host && strings.HasPrefix(t.URL, u.Scheme+"://") })
	if at >= 0 {
		return targets[at], nil
	}
	return Target{Kind: Other, URL: (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}).String(), InUse: true}, nil
}

// forget drops how an address was found.
func (d *Doctor) forget(address string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.found, address)
}

func (d *Doctor) check(ctx context.Context, t Target) {
	var result Result
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.running, t.URL)
		if ctx.Err() == nil {
			d.found[t.URL] = result
		}
	}()
	now := time.Now()
	result.CheckedAt = &now
	result.Routes = d.routes(ctx, t)
	result.OK = result.Routes[0].OK
}

// State is how the targets were found last.
func (d *Doctor) State() []Result { return d.stateOf(d.Targets()) }

func (d *Doctor) stateOf(targets []Target) []Result {
	d.mu.Lock()
	defer d.mu.Unlock()
	state := make([]Result, 0, len(targets))
	for _, t := range targets {
		r := d.found[t.URL]
		r.Kind, r.Host, r.InUse, r.Running = t.Kind, t.Host(), t.InUse, d.running[t.URL]
		if r.Routes == nil {
			r.Routes = []Route{}
		}
		state = append(state, r)
	}
	return state
}

// routes goes the way that requests to t go, and where that is by a proxy the direct way as well.
func (d *Doctor) routes(ctx context.Context, t Target) []Route {
	routes := d.ways(ctx, t)
	routes[0].Used = true
	return routes
}

func (d *Doctor) ways(ctx context.Context, t Target) []Route {
	target, err := url.Parse(t.URL)
	if err != nil || target.Hostname() == "" {
		return []Route{broken(Direct)}
	}
	if t.Query != nil {
		return []Route{d.walk(ctx, trip{target: target, query: t.Query})}
	}
	proxy, err := d.ProxyFor(target)
	if err != nil {
		return []Route{broken(ByProxy)}
	}
	if proxy == nil {
		return []Route{d.walk(ctx, trip{target: target, json: t.JSON, named: t.Kind == Other})}
	}
	return d.both(ctx, trip{target: target, proxy: proxy, json: t.JSON}, trip{target: target, json: t.JSON, named: t.Kind == Other})
}

// both goes by the proxy, and directly.
func (d *Doctor) both(ctx context.Context, byProxy, directly trip) []Route {
	routes := make([]Route, 2)
	var walking sync.WaitGroup
	walking.Go(func() { routes[0] = d.walk(ctx, byProxy) })
	walking.Go(func() { routes[1] = d.walk(ctx, directly) })
	walking.Wait()
	return routes
}

// broken is the route to, or by, what is no usable address.
func broken(by Via) Route {
	r := Route{Via: by, Stages: []Stage{}, Chain: []Certificate{}}
	r.fail(Stage{Name: DNS, Problem: BadAddress})
	return r
}
