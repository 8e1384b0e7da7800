package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// App is the application registered with the catalog by whoever runs this service.
type App struct {
	ClientID     string
	ClientSecret secret.Text
	// RedirectURL is compared exactly with the registered one.
	RedirectURL string
}

// Token is what an authorisation or a refresh gives.
type Token struct {
	Access secret.Text
	// Refresh can be used once; empty when the answer held none.
	Refresh secret.Text
	// ExpiresAt is when Access dies; zero when the answer did not tell.
	ExpiresAt time.Time
}

// AuthorizeURL is where the person's browser goes to say yes (upstreams/catalog.md
// section 10). state comes back with the code and must be compared.
func (c *Client) AuthorizeURL(app App, state string) string {
	return c.cfg.Load().WebURL + "/oauth/authorize?" + url.Values{
		"client_id": {app.ClientID}, "response_type": {"code"}, "redirect_uri": {app.RedirectURL}, "state": {state},
	}.Encode()
}

// Exchange turns the code that came back into a token. The code lives 60 s and
// works once. Errors: ErrGrantInvalid, ErrRefused (the app's id, secret or
// redirect URL is wrong; the description says which), ErrUnreachable.
func (c *Client) Exchange(ctx context.Context, app App, code secret.Text) (Token, error) {
	return c.token(ctx, opExchangeCode.With(), app, url.Values{
		"grant_type": {"authorization_code"}, "code": {code.Reveal()},
	})
}

// Refresh turns a refresh token into a new token. The old refresh token may be
// dead at once, whether or not the answer arrives: let one caller at a time do
// this for an account, and store the new pair before using it. Errors as Exchange.
func (c *Client) Refresh(ctx context.Context, app App, refresh secret.Text) (Token, error) {
	return c.token(forMark(ctx), opRefreshToken.With(), app, url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {refresh.Reveal()},
	})
}

func (c *Client) token(ctx context.Context, op reason.Reason, app App, form url.Values) (Token, error) {
	cfg := c.cfg.Load()
	form.Set("client_id", app.ClientID)
	form.Set("client_secret", app.ClientSecret.Reveal())
	form.Set("redirect_uri", app.RedirectURL)
	asked := time.Now()
	resp, err := c.roundTrip(ctx, c.web, op, 0, httpx.Request{
		Method: http.MethodPost, URL: cfg.WebURL + "/oauth/access_token", Body: []byte(form.Encode()),
		Header: http.Header{
			"User-Agent": {cfg.UserAgent}, "Accept": {"application/json"}, "Content-Type": {"application/x-www-form-urlencoded"},
		},
	}, c.tokenProblem)
	if err != nil {
		return Token{}, err
	}
	var body struct {
		Access    secret.Text     `json:"access_token"`
		Refresh   secret.Text     `json:"refresh_token"`
		ExpiresIn json.RawMessage `json:"expires_in"` // a number or a string
	}
	if resp.JSON(&body, maxValues) != nil || body.Access == "" {
		return Token{}, &Error{Op: op, Kind: ErrUnreachable, Status: resp.Status, Description: noToken.With()}
	}
	token := Token{Access: body.Access, Refresh: body.Refresh}
	if seconds := number(body.ExpiresIn); seconds > 0 {
		token.ExpiresAt = asked.Add(time.Duration(min(seconds, 10*365*24*3600)) * time.Second)
	}
	return token, nil
}

// tokenProblem is the judge of the token endpoint, whose 4xx bodies come in two shapes
// (upstreams/catalog.md section 10). A 400 that has invalid_grant anywhere in its body, whatever its form, ends the grant.
func (c *Client) tokenProblem(op reason.Reason, resp *httpx.Response) error {
	ended := resp.Status == http.StatusBadRequest && bytes.Contains(resp.Body, []byte("invalid_grant"))
	if ended && isPage(resp) {
		return &Error{Op: op, Kind: ErrGrantInvalid, Status: resp.Status}
	}
	err := c.problem(op, resp)
	var failure *Error
	if !errors.As(err, &failure) || errors.Is(err, ErrUnreachable) {
		return err
	}
	var said struct {
		Error       json.RawMessage `json:"error"`
		Description json.RawMessage `json:"error_description"`
		Message     json.RawMessage `json:"message"`
		Code        json.RawMessage `json:"code"`
	}
	_ = json.Unmarshal(resp.Body, &said) // what is not JSON has no words to repeat
	code := text(said.Code)
	failure.Kind = ErrRefused
	if ended || code == "INVALID_REFRESH_TOKEN" || code == "INVALID_AUTHORIZATION_CODE" {
		failure.Kind = ErrGrantInvalid
	}
	for _, words := range []string{text(said.Description), text(said.Message), text(said.Error), code} {
		if words != "" {
			failure.Description = reason.Text(c.shorten(words))
			break
		}
	}
	return failure
}

// text reads a JSON string; anything else is empty.
func text(raw json.RawMessage) (s string) {
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// number reads 123 and "123"; anything else is 0.
func number(raw json.RawMessage) int {
	n, err := strconv.Atoi(string(bytes.Trim(bytes.TrimSpace(raw), `"`)))
	if err != nil {
		return 0
	}
	return n
}
