package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/door/auth"
	"watchmark/internal/platform/secret"
)

// passwordOnly asks somebody who is signed in for the password once more.
type passwordOnly struct {
	Password secret.Text `json:"password" writeOnly:"true" doc:"The password that you sign in with."`
}

// signedInPassword is that, and the browser that sends it.
type signedInPassword struct {
	Browser
	Body passwordOnly
}

type codeInput struct {
	Code digitCode `json:"code" writeOnly:"true" doc:"The code that the app shows now, as text or as a number." example:"\"123456\""`
}

// recoveryCodes are shown once.
type recoveryCodes struct {
	Codes []string `json:"recovery_codes" doc:"Each opens the sign-in once in place of a code. They cannot be seen again."`
}

func (s *server) registerTwoFactor() {
	const tag = "Login"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/two-factor", OperationID: "get-two-factor", Tags: []string{tag},
		Summary: "See whether signing in asks for a code",
	}, func(ctx context.Context, _ *none) (*JSON[auth.TwoFactor], error) {
		identity, _ := auth.IdentityOf(ctx)
		return answer(s.Guard.Store.TwoFactor(ctx, identity.Person))
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/two-factor/start", OperationID: "start-two-factor", Tags: []string{tag},
		Summary:     "Begin to set up codes at sign-in",
		Description: "Answers what an authenticator app needs (RFC 6238: SHA-1, six digits, thirty seconds). Nothing changes until a code of the app confirms it, within a quarter of an hour. It needs a session, as everything here that changes something: an API key cannot do it.",
		Errors:      []int{http.StatusConflict, http.StatusTooManyRequests},
	}, func(ctx context.Context, in *signedInPassword) (*JSON[auth.Enrolment], error) {
		who, err := signedInBy(ctx)
		if err != nil {
			return nil, err
		}
		made, err := s.Guard.Store.StartTwoFactor(ctx, who.Name, in.Body.Password.Reveal(), in.visitor(ctx))
		return answer(made, passwordField(err))
	})
	registerOther(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/two-factor/cancel", OperationID: "cancel-two-factor", Tags: []string{tag},
		Summary: "Give up setting codes up",
	}, func(ctx context.Context, _ *none) (*none, error) {
		who, err := signedInBy(ctx)
		if err == nil {
			err = s.Guard.Store.CancelEnrolment(ctx, who.Person)
		}
		return nil, err
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/two-factor/confirm", OperationID: "confirm-two-factor", Tags: []string{tag},
		Summary:     "Ask for a code at sign-in from now on",
		Description: "Takes the first code of the app, ends every session but this one, and answers the recovery codes.",
		Errors:      []int{http.StatusConflict},
	}, func(ctx context.Context, in *struct {
		Browser
		Body codeInput
	}) (*JSON[recoveryCodes], error) {
		who, err := signedInBy(ctx)
		if err != nil {
			return nil, err
		}
		codes, err := s.Guard.Store.ConfirmTwoFactor(ctx, who.Person, in.Body.Code.Reveal(), in.Session)
		if errors.Is(err, auth.ErrBadCode) {
			return nil, fieldProblem("body.code", auth.ErrBadCode)
		}
		return answer(recoveryCodes{codes}, err)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/two-factor/recovery-codes", OperationID: "renew-recovery-codes", Tags: []string{tag},
		Summary: "Make new recovery codes", Description: "The old ones end.",
		Errors: []int{http.StatusConflict, http.StatusTooManyRequests},
	}, func(ctx context.Context, in *signedInPassword) (*JSON[recoveryCodes], error) {
		who, err := signedInBy(ctx)
		if err != nil {
			return nil, err
		}
		codes, err := s.Guard.Store.RenewRecoveryCodes(ctx, who.Name, in.Body.Password.Reveal(), in.visitor(ctx))
		return answer(recoveryCodes{codes}, passwordField(err))
	})
	registerOther(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/two-factor/off", OperationID: "turn-off-two-factor", Tags: []string{tag},
		Summary: "Ask for no code any more", Description: "Who lost the app and the recovery codes turns it off on the machine: watchmark two-factor off NAME",
		Errors: []int{http.StatusConflict, http.StatusTooManyRequests},
	}, func(ctx context.Context, in *signedInPassword) (*none, error) {
		who, err := signedInBy(ctx)
		if err != nil {
			return nil, err
		}
		return nil, passwordField(s.Guard.Store.TurnOffTwoFactor(ctx, who.Name, in.Body.Password.Reveal(), in.visitor(ctx)))
	})
}

// passwordField turns a wrong password into a problem with the field: the caller is signed in, and
// 401 would lead to the sign-in.
func passwordField(err error) error {
	if errors.Is(err, auth.ErrBadCredentials) {
		return fieldProblem("body.password", wrongPassword)
	}
	return err
}
