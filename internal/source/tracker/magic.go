package tracker

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// loginScope is what a sign-in by mail asks for; offline_access brings the refresh token.
const loginScope = "public openid profile email offline_access"

// proof ties the steps of one sign-in together: PKCE (RFC 7636, S256) and the state. It is
// made once for a mail (upstreams/tracker.md section 8).
type proof struct {
	verifier secret.Text
	state    string
}

func newProof() proof { return proof{secret.Text(oauth2.GenerateVerifier()), rand.Text()} }

// askMail is step 1: the tracker sends a code to the address, which voids the one before.
func (k *Service) askMail(ctx context.Context, o Options, email string) error {
	resp, err := k.send(ctx, opAskMail, formRequest(o, "/auth/magic", url.Values{"email": {email}}))
	if err != nil {
		return err
	}
	if resp.Status != http.StatusOK {
		return pageRefusal(opAskMail, resp, mailRefused.With())
	}
	return nil
}

// submitCode is step 2: it trades the code for the cookie of a signed-in browser, as
// name=value. The error is ErrWrongCode for 401.
func (k *Service) submitCode(ctx context.Context, o Options, email, otp string) (cookie secret.Text, err error) {
	resp, err := k.send(ctx, opSendCode, formRequest(o, "/auth/magic/submit", url.Values{"email": {email}, "otp": {otp}}))
	switch {
	case err != nil:
		return "", err
	case resp.Status == http.StatusUnauthorized:
		return "", &Error{Op: opSendCode, Kind: ErrWrongCode, Status: resp.Status, Detail: ErrWrongCode.With()}
	case resp.Status != http.StatusOK:
		return "", pageRefusal(opSendCode, resp, codeRefused.With())
	}
	return sessionCookie(resp.Header), nil
}

// pageRefusal is what a refusal of the sign-in page means; wrong is said where it is about what was sent.
func pageRefusal(op *reason.Kind, resp *httpx.Response, wrong reason.Reason) *Error {
	e := refusal(op, resp)
	switch {
	case resp.Status == http.StatusBadRequest || resp.Status == http.StatusUnprocessableEntity:
		e.Detail = wrong
	case resp.Status == http.StatusUnauthorized, resp.Status == http.StatusForbidden && !isPage(resp):
		e.Kind = ErrForbidden
		e.Detail = mailLoginRefused.With(resp.Status)
	}
	return e
}

// formRequest is a form sent as the sign-in page sends it.
func formRequest(o Options, path string, form url.Values) httpx.Request {
	return httpx.Request{
		Method: http.MethodPost, URL: o.AuthURL + path, Body: []byte(form.Encode()),
		Header: http.Header{
			"Content-Type": {"application/x-www-form-urlencoded"}, "Accept": {"*/*"},
			"Origin": {o.AuthURL}, "Referer": {o.AuthURL + "/signin"},
		},
	}
}

// sessionCookie is name=value of the logged-in cookie, unchanged; empty when there is none.
// Cookies are read as text: nothing may decode or drop what goes back as it came.
func sessionCookie(header http.Header) secret.Text {
	for _, line := range header.Values("Set-Cookie") {
		pair, _, _ := strings.Cut(line, ";")
		pair = strings.TrimSpace(pair)
		name, value, found := strings.Cut(pair, "=")
		if found && value != "" && strings.HasPrefix(name, "__Secure-") && strings.HasSuffix(name, ".session_token") {
			return secret.Text(pair)
		}
	}
	return ""
}

// authorize is step 3: with the cookie it asks for a code, which comes in the Location of a
// redirect or in a body. Whatever else comes, an answer without the very state that was
// sent is ErrState.
func (k *Service) authorize(ctx context.Context, o Options, cookie secret.Text, p proof) (code secret.Text, err error) {
	query := url.Values{
		"response_type": {"code"}, "client_id": {o.ClientID}, "redirect_uri": {o.RedirectURI}, "scope": {loginScope},
		"code_challenge": {oauth2.S256ChallengeFromVerifier(p.verifier.Reveal())}, "code_challenge_method": {"S256"}, "state": {p.state},
	}
	resp, err := k.send(ctx, opAuthorize, httpx.Request{
		URL:    o.AuthURL + "/api/auth/oauth2/authorize?" + query.Encode(),
		Header: http.Header{"Accept": {"text/html,application/json"}, "Cookie": {cookie.Reveal()}},
	})
	if err != nil {
		return "", err
	}
	back, given := returned(resp)
	if !given {
		if resp.Status == http.StatusOK {
			return "", &Error{Op: opAuthorize, Kind: ErrRefused, Status: resp.Status, Detail: noCode.With()}
		}
		return "", pageRefusal(opAuthorize, resp, checkMailClient.With())
	}
	if !sameState(back["state"], p.state) {
		return "", ErrState
	}
	if codes := back["code"]; len(codes) == 1 && codes[0] != "" {
		return secret.Text(codes[0]), nil
	}
	return "", &Error{Op: opAuthorize, Kind: ErrRefused, Status: resp.Status, Detail: checkMailClient.With()}
}

// returned is the query of the address that an answer leads to.
func returned(resp *httpx.Response) (query url.Values, given bool) {
	address := ""
	switch {
	case slices.Contains([]int{301, 302, 303, 307, 308}, resp.Status):
		address = resp.Header.Get("Location")
	case resp.Status == http.StatusOK:
		var said struct {
			URL string `json:"url"`
		}
		if json.Unmarshal(resp.Body, &said) == nil {
			address = said.URL
		}
	}
	if address == "" {
		return nil, false
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, true // something came, and it has no state
	}
	return u.Query(), true
}

// sameState reports, in constant time, whether exactly the state that was sent came back.
func sameState(got []string, want string) bool {
	return len(got) == 1 && want != "" && subtle.ConstantTimeCompare([]byte(got[0]), []byte(want)) == 1
}

// tradeCode is step 4: code and verifier for a credential.
func (k *Service) tradeCode(ctx context.Context, o Options, code secret.Text, p proof) (Credential, error) {
	return k.trade(ctx, opTradeCode, o.AuthURL+"/oauth/token", map[string]string{
		"grant_type": "authorization_code", "code": code.Reveal(), "redirect_uri": o.RedirectURI, "client_id": o.ClientID, "code_verifier": p.verifier.Reveal(),
	})
}
