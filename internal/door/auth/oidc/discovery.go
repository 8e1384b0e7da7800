package oidc

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	upstream "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"watchmark/internal/platform/secret"
)

const (
	// freshFor is how long what discovery said holds; failedFor how long its failure is not asked again.
	freshFor  = time.Hour
	failedFor = 5 * time.Second
)

// endpoints are what discovery said of an issuer, or its failure.
type endpoints struct {
	upstream.ProviderConfig
	asked    string    // the issuer of the settings
	at       time.Time // when it answered, or failed to
	err      error
	issuer   string   // as the provider writes it
	methods  []string // by which a client shows its secret; none where nothing is said
	scopes   []string // that may be asked for; none where nothing is said
	provider *upstream.Provider
	keys     upstream.KeySet
}

func (e *endpoints) fresh(issuer string) bool {
	if e == nil || e.asked != issuer {
		return false
	}
	if e.err != nil {
		return time.Since(e.at) < failedFor
	}
	return time.Since(e.at) < freshFor
}

func (e *endpoints) oauth(f Flow, clientSecret secret.Text, more ...string) *oauth2.Config {
	endpoint := e.provider.Endpoint()
	endpoint.AuthStyle = oauth2.AuthStyleInHeader // holds where nothing is said
	if clientSecret == "" || len(e.methods) > 0 && !slices.Contains(e.methods, "client_secret_basic") {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	return &oauth2.Config{
		ClientID: f.ClientID, ClientSecret: clientSecret.Reveal(), RedirectURL: f.RedirectURI,
		Endpoint: endpoint, Scopes: append([]string{upstream.ScopeOpenID, "email"}, more...),
	}
}

// endpoints asks the issuer where its doors are, or remembers. One asks at a time.
func (p *Provider) endpoints(ctx context.Context, issuer string) (*endpoints, error) {
	select {
	case p.asking <- struct{}{}:
	case <-ctx.Done():
		return nil, ErrUnreachable.With(ctx.Err())
	}
	defer func() { <-p.asking }()
	p.mu.Lock()
	known := p.found
	p.mu.Unlock()
	if known.fresh(issuer) {
		return known, known.err
	}
	e := &endpoints{asked: issuer}
	e.err = p.discover(ctx, e)
	e.at = time.Now()
	if e.err == nil && known != nil && known.JWKSURL == e.JWKSURL && known.err == nil {
		e.keys = known.keys
	}
	if e.err == nil || ctx.Err() == nil { // a person who left says nothing of the provider
		p.mu.Lock()
		p.found = e
		p.mu.Unlock()
	}
	return e, e.err
}

// DiscoveryURL is where an issuer says how it is reached (OpenID Connect Discovery 1.0, section 4).
func DiscoveryURL(issuer string) string {
	return strings.TrimRight(issuer, "/") + "/.well-known/openid-configuration"
}

// discover reads that document.
func (p *Provider) discover(ctx context.Context, e *endpoints) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, DiscoveryURL(e.asked), nil)
	if err != nil {
		return ErrRefused.With(issuerInvalid)
	}
	answer, err := p.http.Do(req)
	if failure := reach(err); failure != nil {
		return failure
	}
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // it is in memory
	if answer.StatusCode != http.StatusOK {
		return ErrRefused.With(issuerAnswered.With(answer.StatusCode))
	}
	var document struct {
		upstream.ProviderConfig
		Methods []string `json:"token_endpoint_auth_methods_supported"`
		Scopes  []string `json:"scopes_supported"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&document); err != nil {
		return ErrRefused.With(issuerNoProvider)
	}
	// A slash at the end is easily lost on the way from one page to another, and leads to the same document.
	if strings.TrimRight(document.IssuerURL, "/") != strings.TrimRight(e.asked, "/") {
		return ErrRefused.With(issuerNamed.With(document.IssuerURL))
	}
	addresses := []string{document.AuthURL, document.TokenURL, document.JWKSURL}
	if document.UserInfoURL != "" {
		addresses = append(addresses, document.UserInfoURL)
	}
	for _, address := range addresses {
		if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "https" && !strings.HasPrefix(e.asked, "http://") {
			return ErrRefused.With(noAddresses)
		}
	}
	e.ProviderConfig, e.issuer, e.methods, e.scopes = document.ProviderConfig, document.IssuerURL, document.Methods, document.Scopes
	outlives := upstream.ClientContext(context.Background(), p.http)
	e.provider, e.keys = e.NewProvider(outlives), upstream.NewRemoteKeySet(outlives, e.JWKSURL)
	return nil
}
