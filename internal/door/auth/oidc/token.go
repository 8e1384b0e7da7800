package oidc

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	upstream "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
)

// skew is how far the clocks of provider and service may be apart.
const skew = 2 * time.Minute

// algorithms are the signatures that count: those with a key that only the provider has. "none" and
// those with a shared secret are not among them, whatever discovery lists.
var algorithms = []string{upstream.RS256, upstream.RS384, upstream.RS512, upstream.ES256, upstream.ES384, upstream.ES512,
	upstream.PS256, upstream.PS384, upstream.PS512, upstream.EdDSA}

// person trades the code for tokens and reads whose they are.
func (p *Provider) person(ctx context.Context, f Flow, now Settings, a Answer) (Person, error) {
	if a.Error != "" {
		return Person{}, ErrRefused.With(says(a.Error))
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	e, err := p.endpoints(ctx, f.Issuer)
	if err != nil {
		return Person{}, err
	}
	ctx = upstream.ClientContext(ctx, p.http)
	tokens, err := e.oauth(f, now.ClientSecret).Exchange(ctx, a.Code, oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return Person{}, exchangeError(err)
	}
	raw, ok := tokens.Extra("id_token").(string)
	if !ok {
		return Person{}, ErrRefused.With(noIDToken)
	}
	keys := &noting{KeySet: e.keys}
	// The library reads the token and checks its signature. What it finds wrong with the claims it tells in words alone, so
	// those are checked below.
	verifier := upstream.NewVerifier(e.issuer, keys, &upstream.Config{
		SupportedSigningAlgs: algorithms, SkipIssuerCheck: true, SkipClientIDCheck: true, SkipExpiryCheck: true,
	})
	token, err := verifier.Verify(ctx, raw)
	if failure := reach(keys.err); failure != nil {
		return Person{}, failure
	}
	if err != nil {
		return Person{}, ErrRefused.With(notSigned)
	}
	var claims struct {
		Email         string  `json:"email"`
		EmailVerified truth   `json:"email_verified"`
		Authorized    string  `json:"azp"`
		NotBefore     float64 `json:"nbf"` // seconds since 1970
	}
	if err := token.Claims(&claims); err != nil {
		return Person{}, ErrRefused.With(noClaims)
	}
	clock := time.Now()
	switch { // OpenID Connect Core 1.0, section 3.1.3.7
	case !issuedBy(e.issuer, token.Issuer):
		return Person{}, ErrRefused.With(otherIssuer)
	case !slices.Contains(token.Audience, f.ClientID):
		return Person{}, ErrRefused.With(otherClient)
	case token.Expiry.Before(clock.Add(-skew)), claims.NotBefore > float64(clock.Add(skew).Unix()):
		return Person{}, ErrRefused.With(otherTime)
	case subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(f.Nonce)) != 1:
		return Person{}, ErrRefused.With(otherSignIn)
	case len(token.Audience) > 1 && claims.Authorized != f.ClientID:
		return Person{}, ErrRefused.With(otherClient)
	case token.Subject == "":
		return Person{}, ErrRefused.With(noUser)
	}
	person := Person{Subject: token.Subject, Email: claims.Email, EmailVerified: bool(claims.EmailVerified)}
	if len(now.Groups) > 0 {
		person.belongs(token.Claims, now.GroupsClaim)
	}
	if (person.Email == "" || len(now.Groups) > 0 && (person.Groups == nil || person.Name == "")) && e.UserInfoURL != "" {
		return p.askMore(ctx, e, tokens, person, now)
	}
	return person, nil
}

// mostGroups bounds the groups of an account.
const mostGroups = 1000

// belongs reads the name and the groups of an account where they are not known yet. Groups count only as a list of texts: what else a
// provider writes may mean anything.
func (p *Person) belongs(claimsTo func(any) error, groupsClaim string) {
	var claims map[string]json.RawMessage
	if claimsTo(&claims) != nil {
		return
	}
	for _, name := range []string{"preferred_username", "name"} {
		var text string
		if p.Name == "" && json.Unmarshal(claims[name], &text) == nil {
			p.Name = text
		}
	}
	var groups []*string
	if p.Groups != nil || json.Unmarshal(claims[groupsClaim], &groups) != nil || groups == nil || len(groups) > mostGroups || slices.Contains(groups, nil) {
		return
	}
	p.Groups = make([]string, len(groups))
	for i, group := range groups {
		p.Groups[i] = *group
	}
}

// issuedBy reports whether a token that names issuer is of the provider, which calls itself want. Google leaves the
// scheme out of its tokens.
func issuedBy(want, issuer string) bool {
	return issuer == want || want == "https://accounts.google.com" && issuer == "accounts.google.com"
}

// askMore asks for the e-mail address and the groups where the token does not tell them, as some providers do.
func (p *Provider) askMore(ctx context.Context, e *endpoints, tokens *oauth2.Token, person Person, now Settings) (Person, error) {
	info, err := e.provider.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if failure := reach(err); failure != nil {
		return Person{}, failure
	}
	if err != nil {
		return person, nil //nolint:nilerr // the subject is known, and that is enough for many
	}
	if info.Subject != person.Subject { // OpenID Connect Core 1.0, section 5.3.2
		return Person{}, ErrRefused.With(otherAccount)
	}
	if person.Email == "" {
		person.Email, person.EmailVerified = info.Email, info.EmailVerified
	}
	if len(now.Groups) > 0 {
		person.belongs(info.Claims, now.GroupsClaim)
	}
	return person, nil
}

// truth is a boolean, which some providers send as text.
type truth bool

// UnmarshalJSON takes true and "true" for true, and all else for false.
func (t *truth) UnmarshalJSON(text []byte) error {
	*t = string(text) == "true" || string(text) == `"true"`
	return nil
}

// noting is a set of keys that keeps the error of the last use, which the library makes a text of.
type noting struct {
	upstream.KeySet
	err error
}

// VerifySignature is that of the set.
func (n *noting) VerifySignature(ctx context.Context, jwt string) ([]byte, error) {
	var payload []byte
	payload, n.err = n.KeySet.VerifySignature(ctx, jwt)
	return payload, n.err
}

// reach is ErrUnreachable for the *httpx.Error in the chain of err; nil when there is none.
func reach(err error) error {
	var failure *httpx.Error
	if errors.As(err, &failure) {
		return ErrUnreachable.With(failure)
	}
	return nil
}

// exchangeError is what went wrong with the code.
func exchangeError(err error) error {
	if failure := reach(err); failure != nil {
		return failure
	}
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		switch refused.ErrorCode {
		case "invalid_client", "unauthorized_client":
			return ErrRefused.With(clientUnknown)
		case "":
			return ErrRefused.With(codeAnswered.With(refused.Response.StatusCode))
		}
		return ErrRefused.With(says(refused.ErrorCode))
	}
	return ErrRefused.With(noTokens)
}

// says tells a code of the protocol (RFC 6749, 4.1.2.1), which is all that is shown of what came.
func says(code string) reason.Reason {
	const longest = 60
	if len(code) > longest || strings.ContainsFunc(code, func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' }) {
		return errorUnknown.With()
	}
	return errorCode.With(code)
}
