package app

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/budget"
	"watchmark/internal/catalog/cover"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/lan"
	"watchmark/internal/platform/settings"
	"watchmark/internal/tell/llm"
)

// way is a client by which the service reaches others; it keeps to the settings while it is used.
type way interface {
	Apply(httpx.Config) error
	Close()
}

// newWay is a client that keeps to what config makes of the settings, and is closed with the service.
func (a *App) newWay(config func(settings.Settings) httpx.Config) (*httpx.Client, error) {
	client, err := httpx.New(config(a.Settings.Current()), a.masker, a.log)
	if err != nil {
		return nil, fmt.Errorf("setting network.proxy: %w", err)
	}
	a.follow(client, config)
	return client, nil
}

// follow has w keep to what config makes of the settings, until the service closes it.
func (a *App) follow(w way, config func(settings.Settings) httpx.Config) {
	a.ways = append(a.ways, w)
	a.Settings.OnChange(func(_, now settings.Settings) {
		if err := w.Apply(config(now)); err != nil {
			a.log.Error("the proxy cannot be used; requests go the old way", "error", err)
		}
	})
}

func (d *Data) outbound(s settings.Settings) httpx.Config {
	return httpx.Config{
		Proxy: s.Network.Proxy.Reveal(), Timeout: s.Network.Timeout, UserAgent: userAgent(),
		PerMinute: s.Catalog.RequestsPerMinute, Burst: s.Catalog.Burst, Retries: 2, Ended: d.countCall, Roots: d.authorities(s),
	}
}

// authorities are those whose certificates are trusted; nil is those of the system. They are read anew at each
// change of the settings, which had them read once already: that they cannot be is seldom.
func (d *Data) authorities(s settings.Settings) *x509.CertPool {
	roots, err := settings.Authorities(s.Network.CACertificates)
	if err != nil {
		d.log.Error("the certificates of network.ca_certificates cannot be used; those of the system are trusted alone", "path", s.Network.CACertificates, "error", err)
	}
	return roots
}

// outboundImages is for the image host, which has a rate of its own.
func (d *Data) outboundImages(s settings.Settings) httpx.Config {
	c := d.outbound(s)
	c.Ended = d.countCallsOf("images")
	c.PerMinute, c.Burst, c.Retries, c.MaxBody, c.Timeout = 600, 60, 1, cover.LongestImage, min(c.Timeout, 10*time.Second)
	return c
}

func catalogConfig(s settings.Settings) catalog.Config {
	return catalog.Config{APIURL: s.Catalog.APIURL, WebURL: s.Catalog.WebURL, UserAgent: userAgent()}
}

// newBudget is what may be sent to Bangumi, as the settings say at each request.
func (d *Data) newBudget(ctx context.Context) (*budget.Budget, error) {
	return budget.New(ctx, budget.Config{DB: d.db, Log: d.log, Options: func(host string) budget.Options {
		s := d.Settings.Current().Catalog
		return budget.Options{
			PerMinute: s.RequestsPerMinute, Burst: s.Burst, Ceiling: settings.RequestsMost(host),
			Egress: s.Egress, PerAccount: s.LimitCounts == settings.CountAddressAndUser,
		}
	}})
}

// outboundNotices is for the receivers of notifications, who are many.
func (d *Data) outboundNotices(s settings.Settings) httpx.Config {
	c := d.outbound(s)
	c.Ended = d.countCallsOf("notifications")
	return c
}

// outboundModel is for the language model, which has a timeout of its own. One at home is not asked
// by way of the proxy, which need not know the way back.
func (d *Data) outboundModel(s settings.Settings) httpx.Config {
	c := d.outbound(s)
	c.Ended = d.countCallsOf("language_model")
	c.PerMinute, c.Burst, c.Retries, c.MaxBody, c.Timeout = 60, 10, 0, llm.MaxBody, s.LLM.Timeout
	if base, err := url.Parse(s.LLM.BaseURL); err == nil {
		c.Direct = lan.IsHome(base.Hostname())
	}
	return c
}

// countCall counts a request to a service that the settings name.
func (d *Data) countCall(host string, status int, took time.Duration) {
	d.countCallsOf(serviceAt(d.Settings.Current(), host))(host, status, took)
}

// countCallsOf counts requests to one service, whatever its host.
func (d *Data) countCallsOf(service string) func(host string, status int, took time.Duration) {
	return func(_ string, status int, took time.Duration) {
		class := "failed"
		if status != 0 {
			class = strconv.Itoa(status/100) + "xx"
		}
		d.calls.Add(1, service, class)
		d.callTime.Add(took.Seconds(), service)
	}
}

// serviceAt names the service at a host; what the settings do not name, such as a media
// server that is imported, is "other".
func serviceAt(s settings.Settings, host string) string {
	for _, known := range []struct {
		service   string
		addresses []string
	}{
		{"catalog", []string{s.Catalog.APIURL, s.Catalog.WebURL}},
		{"plex", []string{s.Watcher.PlexURL, s.Watcher.PlexClientsURL}},
		{"tracker", []string{s.Tracker.AuthURL, s.Tracker.APIURL, s.Tracker.AppAPIURL}},
		{"id_table", []string{s.Matching.DatasetURL, s.IDMap.AnimeListsURL, s.IDMap.ShinkroURL}},
		{"archive", append([]string{s.CatalogArchive.PointerURL}, s.CatalogArchive.Mirrors...)},
		{"updates", []string{s.Server.UpdateURL}},
	} {
		for _, address := range known.addresses {
			if u, err := url.Parse(address); err == nil && address != "" && strings.EqualFold(u.Host, host) {
				return known.service
			}
		}
	}
	return "other"
}
