package tracker

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// Credential is what a sign-in or a refresh gives.
type Credential struct {
	Access    secret.Text
	Refresh   secret.Text
	ID        secret.Text
	TokenType string
	Scope     string
	ExpiresIn int64 // seconds, as told; 0 when it was not
	ExpiresAt time.Time
}

// assumedLife is that of an access token when the answer does not tell.
const assumedLife = 7 * 24 * time.Hour

// number reads 123 and "123"; anything else is 0, and so is what overflows a time in seconds.
type number int64

// UnmarshalJSON never fails.
func (n *number) UnmarshalJSON(text []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(text), `"`), 64)
	if err != nil || !(f >= 0 && f <= 9e9) { // not a number is neither
		f = 0
	}
	*n = number(f)
	return nil
}

// trade asks the token endpoint for a credential (upstreams/tracker.md sections 6 and 8).
// op says what for. Errors are *Error, ErrGrantInvalid for a code or token that is dead.
func (k *Service) trade(ctx context.Context, op *reason.Kind, address string, body map[string]string) (Credential, error) {
	asked := time.Now()
	resp, err := k.postJSON(ctx, op, address, body)
	if err != nil {
		return Credential{}, err
	}
	// The word counts wherever the body has it (upstreams/tracker.md section 8).
	if resp.Status == http.StatusBadRequest && bytes.Contains(resp.Body, []byte("invalid_grant")) {
		return Credential{}, &Error{Op: op, Kind: ErrGrantInvalid, Status: resp.Status, Detail: grantEnded.With()}
	}
	if resp.Status != http.StatusOK {
		return Credential{}, tokenRefusal(op, resp)
	}
	var said struct {
		Access    secret.Text `json:"access_token"`
		Refresh   secret.Text `json:"refresh_token"`
		ID        secret.Text `json:"id_token"`
		TokenType string      `json:"token_type"`
		Scope     string      `json:"scope"`
		ExpiresIn number      `json:"expires_in"`
		ExpiresAt number      `json:"expires_at"`
		CreatedAt number      `json:"created_at"`
	}
	if resp.JSON(&said, mostValues) != nil || said.Access == "" {
		return Credential{}, &Error{Op: op, Kind: ErrUnreachable, Status: resp.Status, Detail: noToken.With()}
	}
	c := Credential{Access: said.Access, Refresh: said.Refresh, ID: said.ID, TokenType: said.TokenType, Scope: said.Scope, ExpiresIn: int64(said.ExpiresIn)}
	for _, text := range []secret.Text{c.Access, c.Refresh, c.ID} {
		k.Masker.Add(text.Reveal())
	}
	c.ExpiresAt = expiry(asked, said.ExpiresAt, said.ExpiresIn, said.CreatedAt)
	return c, nil
}

// expiry is when a token that was asked for now ends, by what the answer says in seconds. An end
// that is over already was told by another clock: a token would be renewed at every use.
func expiry(now time.Time, at, in, created number) time.Time {
	if at == 0 && in > 0 && created > 0 {
		at = created + in
	}
	switch end := time.Unix(int64(at), 0); {
	case end.After(now):
		return end
	case in > 0:
		return now.Add(time.Duration(in) * time.Second)
	}
	return now.Add(assumedLife)
}

// tokenRefusal: what the token endpoint refuses, but for a grant, is about the client and not about
// a token. Of an application that was deleted it says 400 or 401 (upstreams/tracker.md section 1).
func tokenRefusal(op *reason.Kind, resp *httpx.Response) *Error {
	e := refusal(op, resp)
	if resp.Status == http.StatusBadRequest || resp.Status == http.StatusUnauthorized {
		e.Kind = ErrForbidden
		e.Detail = secretRefused.With(resp.Status)
	}
	return e
}

func (k *Service) postJSON(ctx context.Context, op *reason.Kind, address string, body map[string]string) (*httpx.Response, error) {
	text, _ := json.Marshal(body) // texts always can be written
	return k.send(ctx, op, httpx.Request{
		Method: http.MethodPost, URL: address, Body: text,
		Header: http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}},
	})
}

// sealed is a Credential as it stands in the sealed text, where a secret.Text would be hidden.
type sealed struct {
	Access    string `json:"access_token"`
	Refresh   string `json:"refresh_token"`
	ID        string `json:"id_token,omitempty"`
	TokenType string `json:"token_type,omitempty"`
	Scope     string `json:"scope,omitempty"`
	ExpiresIn int64  `json:"expires_in,omitempty"`
	ExpiresAt int64  `json:"expires_at"` // unix milliseconds
}

func (c Credential) marshal() string {
	text, _ := json.Marshal(sealed{c.Access.Reveal(), c.Refresh.Reveal(), c.ID.Reveal(), c.TokenType, c.Scope, c.ExpiresIn, c.ExpiresAt.UnixMilli()}) //nolint:gosec // the store seals what this answers; texts and numbers always can be written
	return string(text)
}

func unmarshalCredential(text string) (Credential, error) {
	var s sealed
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return Credential{}, err
	}
	return Credential{secret.Text(s.Access), secret.Text(s.Refresh), secret.Text(s.ID), s.TokenType, s.Scope, s.ExpiresIn, time.UnixMilli(s.ExpiresAt)}, nil
}
