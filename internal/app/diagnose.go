package app

import (
	"context"
	"crypto/x509"
	"net/url"
	"time"

	"watchmark/internal/door/auth/oidc"
	"watchmark/internal/upkeep/diagnose"
)

// Doctor looks at the services that the settings name.
func (d *Data) Doctor() *diagnose.Doctor {
	return diagnose.New(diagnose.Config{
		Targets: d.outside, ProxyFor: d.http.ProxyFor, UserAgent: userAgent(), Masker: d.masker,
		Timeout: func() time.Duration { return d.Settings.Current().Network.Timeout },
		Roots:   func() *x509.CertPool { return d.authorities(d.Settings.Current()) },
	})
}

// outside are the services that are asked, or would be if they were switched on.
func (d *Data) outside() []diagnose.Target {
	s := d.Settings.Current()
	targets := []diagnose.Target{
		// What account.Client and the breaker ask first, with an answer of one line.
		{Kind: diagnose.CatalogAPI, URL: s.Catalog.APIURL + "/v0/episodes?subject_id=1&limit=1", InUse: true, JSON: true},
		{Kind: diagnose.CatalogWeb, URL: s.Catalog.WebURL + "/", InUse: s.Catalog.OAuthClientID != ""},
		{Kind: diagnose.CatalogImages, URL: s.Catalog.ImageURL + "/", InUse: true},
		{Kind: diagnose.Archive, URL: s.CatalogArchive.PointerURL, InUse: s.CatalogArchive.Enabled},
	}
	for _, mirror := range s.CatalogArchive.Mirrors {
		targets = append(targets, diagnose.Target{Kind: diagnose.ArchiveMirror, URL: mirror, InUse: s.CatalogArchive.Enabled})
	}
	if s.Auth.OIDCIssuer != "" {
		targets = append(targets, diagnose.Target{Kind: diagnose.LoginProvider, URL: oidc.DiscoveryURL(s.Auth.OIDCIssuer), InUse: s.Auth.OIDCClientID != "", JSON: true})
	}
	targets = append(targets, diagnose.Target{Kind: diagnose.Dataset, URL: s.Matching.DatasetURL, InUse: s.Matching.DatasetEnabled})
	if s.IDMap.AnimeListsURL != "" {
		targets = append(targets, diagnose.Target{Kind: diagnose.AnimeLists, URL: s.IDMap.AnimeListsURL, InUse: s.IDMap.Enabled})
	}
	if s.IDMap.ShinkroURL != "" {
		targets = append(targets, diagnose.Target{Kind: diagnose.Shinkro, URL: s.IDMap.ShinkroURL, InUse: s.IDMap.Enabled})
	}
	if u, err := url.Parse(s.Database.URL.Reveal()); err == nil && u.Hostname() != "" { // and not a socket of this machine
		targets = append(targets, diagnose.Target{Kind: diagnose.Database, URL: "postgres://" + u.Host, InUse: true, Query: d.inquire})
	}
	return append(targets,
		diagnose.Target{Kind: diagnose.TrackerAuth, URL: s.Tracker.AuthURL + "/", InUse: s.Tracker.Enabled},
		diagnose.Target{Kind: diagnose.TrackerAPI, URL: s.Tracker.APIURL + "/", InUse: s.Tracker.Enabled && s.Tracker.ClientID != ""},
		diagnose.Target{Kind: diagnose.TrackerAppAPI, URL: s.Tracker.AppAPIURL + "/", InUse: s.Tracker.Enabled && s.Tracker.AppClientID != ""},
	)
}

// inquire asks the database for its version and its clock.
func (d *Data) inquire(ctx context.Context) (detail string, ahead time.Duration, err error) {
	before := time.Now()
	there, err := d.db.Now(ctx)
	if err != nil {
		return "", 0, err
	}
	ahead = before.Add(time.Since(before) / 2).Round(0).Sub(there)
	engine, version, err := d.db.Describe(ctx)
	return engine + " " + version, ahead, err
}
