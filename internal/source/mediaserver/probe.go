package mediaserver

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/source/payload"
)

const (
	// probeTime bounds one request of a probe, probeMost all of those to one address.
	probeTime = 6 * time.Second
	probeMost = 20 * time.Second
)

// found is a Found with the path under which its API stands.
type found struct {
	Found
	prefix string
}

// Probe finds out which media server is at an address as a person writes it: without a scheme or a port the usual ones are tried.
// Nothing secret is sent, so a certificate that nobody has signed is no obstacle: its fingerprint is in the answer. The error is a
// *reason.FieldError for url, or that of ctx.
func (d *Dialer) Probe(ctx context.Context, address, pin string) (Found, error) {
	bases, err := candidates(address)
	if err != nil {
		return Found{}, err
	}
	type result struct {
		found found
		err   error
	}
	results := make([]result, len(bases))
	var all sync.WaitGroup
	for i, base := range bases {
		all.Go(func() {
			r := &results[i]
			r.found, r.err = d.identify(ctx, base, pin)
			if its := httpx.Fingerprint(r.err); its != "" {
				r.found, r.err = d.identify(ctx, base, its)
				r.found.Pin = its
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return Found{}, ctx.Err()
	}
	for _, guessed := range []bool{false, true} { // what says its name is believed before what does not
		for _, r := range results {
			if r.err == nil && r.found.Kind.Experimental() == guessed {
				return r.found.Found, nil
			}
		}
	}
	if len(results) > 1 {
		u, _ := url.Parse(bases[0]) // CheckURL has parsed it
		return Found{}, reason.At("url", nothingFound.With(u.Hostname()))
	}
	return Found{}, atURL(results[0].err)
}

// identify finds out which media server is at a base address. A redirect on the same host leads to the address to use.
func (d *Dialer) identify(ctx context.Context, base, pin string) (found, error) {
	ctx, cancel := context.WithTimeout(ctx, probeMost)
	defer cancel()
	for range 3 {
		f, next, err := d.identifyAt(ctx, base, pin)
		if next == "" {
			return f, err
		}
		base = next
	}
	return found{}, unreachable(sentOn)
}

// identifyAt is identify for one address; next is where the server sends on to.
func (d *Dialer) identifyAt(ctx context.Context, base, pin string) (f found, next string, err error) {
	client, brief, err := d.client(base, pin, probeBody)
	if err != nil {
		return f, "", err
	}
	defer client.Close()
	w := newWire(client, hostOf(base), base, min(brief, probeTime))
	p := prober{wire: w, base: base}
	f, err = p.run(ctx)
	f.URL = base
	return f, p.next, err
}

// prober asks one address who is there.
type prober struct {
	wire *wire
	base string
	next string
}

// run asks for what each kind tells without a sign-in (upstreams/watchers.md section 1 "Base path and prefix", and section 5).
func (p *prober) run(ctx context.Context) (found, error) {
	for _, prefix := range []string{"", "/emby"} {
		info, err := p.read(ctx, prefix+"/System/Info/Public")
		if err != nil || p.next != "" {
			return found{}, err
		}
		if f, ok := told(info, prefix); ok {
			return p.complete(ctx, f), nil
		}
	}
	identity, err := p.read(ctx, "/identity")
	if err != nil {
		return found{}, err
	}
	if box := identity.Object("MediaContainer"); box.Line("machineIdentifier") != "" {
		return found{Found: Found{Kind: Plex, ID: box.Line("machineIdentifier"), Version: box.Line("version"), Codes: true}}, nil
	}
	return p.unnamed(ctx)
}

// told is what a server says of itself in public, under prefix.
func told(info payload.Object, prefix string) (found, bool) {
	f := found{prefix: prefix, Found: Found{Kind: Emby, ID: info.Line("Id"), Name: info.Line("ServerName"), Version: info.Line("Version", "ServerVersion")}}
	product := strings.ToLower(info.Line("ProductName"))
	switch {
	case f.Version == "" && product == "":
		return found{}, false
	case strings.Contains(product, "jellyfin"):
		f.Kind = Jellyfin
	case strings.Contains(product, "ugreen"):
		f.Kind = Ugreen
	case strings.Contains(product, "zspace"), info.Line("ServerVersion") != "" && info.Line("Version") == "":
		f.Kind = ZSpace
	case product == "" && !info.Has("RemoteAddresses") && !info.Has("LocalAddress") && !info.Has("WanAddress"):
		f.Kind = FnOS // or an Emby that tells little: how it refuses decides
	}
	if !validID(f.ID) {
		f.ID = ""
	}
	return f, true
}

// complete asks for what else is to be known.
func (p *prober) complete(ctx context.Context, f found) found {
	switch f.Kind {
	case Jellyfin:
		resp, err := p.wire.send(ctx, ask{path: f.prefix + "/QuickConnect/Enabled"}, nil)
		f.Codes = err == nil && strings.EqualFold(strings.TrimSpace(string(resp.Body)), "true")
	case FnOS:
		if is, err := p.isFnOS(ctx, f.prefix); err == nil && !is {
			f.Kind = Emby
			return p.complete(ctx, f)
		}
	case Emby, ZSpace, Ugreen:
		if f.prefix != "" {
			break
		}
		// It answers both ways; its own programs use the one with the prefix.
		if info, err := p.read(ctx, "/emby/System/Info/Public"); err == nil && len(info) > 0 {
			f.prefix = "/emby"
		}
	}
	return f
}

// unnamed finds the NAS kinds that have no public route: by their port and by how they refuse.
func (p *prober) unnamed(ctx context.Context) (found, error) {
	for _, prefix := range []string{"", "/emby"} {
		is, err := p.isFnOS(ctx, prefix)
		if err != nil {
			return found{}, err
		}
		if is {
			return found{Found: Found{Kind: FnOS}, prefix: prefix}, nil
		}
	}
	resp, err := p.wire.send(ctx, ask{path: "/emby/System/Info"}, nil)
	if resp == nil {
		return found{}, err
	}
	if resp.Status == http.StatusOK && !isPage(resp) || resp.Status == http.StatusUnauthorized && resp.Header.Get("WWW-Authenticate") == "" {
		var info payload.Object
		if resp.Status == http.StatusOK && p.wire.decode(resp, &info) == nil {
			if f, ok := told(info, "/emby"); ok {
				return f, nil
			}
		}
		if strings.HasPrefix(p.base, "https://") { // the only address of UGREEN's
			return found{Found: Found{Kind: Ugreen}, prefix: "/emby"}, nil
		}
		return found{Found: Found{Kind: ZSpace}, prefix: "/emby"}, nil
	}
	return found{}, unreachable(nothingFound.With(hostOf(p.base)))
}

// isFnOS reports whether a server wants the header that fnOS alone names when it refuses. No name or password is sent.
func (p *prober) isFnOS(ctx context.Context, prefix string) (bool, error) {
	resp, err := p.wire.send(ctx, ask{method: http.MethodPost, path: prefix + "/Users/AuthenticateByName", body: struct{}{}}, nil)
	if resp == nil {
		return false, err
	}
	return resp.Status == http.StatusBadRequest && strings.Contains(string(resp.Body), "X-Emby-Authorization"), nil
}

// read asks for a path without a token. What is not there, or is not JSON, is an empty object; where a redirect leads to on the
// same host is noted.
func (p *prober) read(ctx context.Context, path string) (payload.Object, error) {
	resp, err := p.wire.send(ctx, ask{path: path}, nil)
	if resp == nil {
		return nil, err
	}
	switch {
	case resp.Status >= 500 || resp.Status == http.StatusTooManyRequests:
		return nil, err
	case resp.Status >= 300 && resp.Status < 400:
		if p.next = sentTo(p.base, path, resp.Header.Get("Location")); p.next == "" {
			return nil, err
		}
		return nil, nil
	case resp.Status != http.StatusOK:
		return nil, nil
	}
	var o payload.Object
	if isPage(resp) || resp.JSON(&o, mostValues) != nil {
		return nil, nil //nolint:nilerr // it is the answer
	}
	return o, nil
}

// sentTo is the base address to which a redirect from a path below base leads; empty when that is another host, another path,
// or from https to http.
func sentTo(base, path, location string) string {
	from, err := url.Parse(base + path)
	if err != nil {
		return ""
	}
	to, err := from.Parse(location)
	if err != nil || !strings.EqualFold(to.Hostname(), from.Hostname()) || from.Scheme == "https" && to.Scheme != "https" {
		return ""
	}
	to.RawQuery, to.Fragment = "", ""
	root, ok := strings.CutSuffix(to.String(), path)
	if !ok { // one with a base path sends browsers to its pages
		root, _, ok = strings.Cut(to.String(), "/web")
	}
	if next, err := CheckURL(root); ok && err == nil && next != base {
		return next
	}
	return ""
}

func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	return u.Host
}
