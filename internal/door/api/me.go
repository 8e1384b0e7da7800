package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/door/auth"
	"watchmark/internal/platform/secret"
)

// me is who is calling.
type me struct {
	ID             int64     `json:"id" doc:"The id of the person; 0 where sign-in is turned off, or there is no owner yet."`
	Name           string    `json:"name" doc:"The name of the person; empty where the id is 0."`
	Role           auth.Role `json:"role" enum:"owner,person" doc:"What the caller may do. A guest does not sign in."`
	Kind           auth.Kind `json:"kind" enum:"session,apikey,open" doc:"How the caller showed who it is."`
	MediaUserNames []string  `json:"media_user_names" doc:"The media-server users that the person is."`
	HasPassword    bool      `json:"has_password" doc:"Whether the person signs in with a password."`
	// SignIns are the ways in beside it.
	SignIns []auth.SignIn `json:"sign_ins" doc:"The ways in beside the password: at a media server, or with the sign-in provider."`
}

// acceptedInvitation is a password for the person whom a token invites.
type acceptedInvitation struct {
	Token    secret.Text `json:"token" writeOnly:"true" doc:"The token of the invitation's link."`
	Password secret.Text `json:"password" writeOnly:"true" doc:"10 to 200 characters."`
}

func (s *server) registerMe() {
	const tag = "Login"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/me", OperationID: "get-me", Tags: []string{tag},
		Summary: "Get who is calling",
	}, func(ctx context.Context, _ *none) (*JSON[me], error) {
		who, _ := auth.IdentityOf(ctx)
		found := me{ID: who.Person, Role: who.Role, Kind: who.Kind, MediaUserNames: []string{}, SignIns: []auth.SignIn{}}
		if who.Person == 0 {
			return answer(found, nil)
		}
		p, err := s.Guard.Store.Person(ctx, who.Person)
		found.Name, found.MediaUserNames, found.HasPassword, found.SignIns = p.Name, p.MediaUserNames, p.HasPassword, p.SignIns
		return answer(found, err)
	})
	registerOther(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/invitation", OperationID: "accept-invitation", Tags: []string{tag},
		Summary:     "Accept an invitation",
		Description: "Sets the password of the person whom the token invites, and signs in. The invitation is used up. Where the person's sign-in asks for a code, the answer says needs_code: sign in with the new password.",
		Errors:      []int{http.StatusUnauthorized, http.StatusTooManyRequests},
	}, func(ctx context.Context, in *struct {
		Browser
		Body acceptedInvitation
	}) (*signedIn, error) {
		opened, err := s.Guard.Store.Accept(ctx, in.Body.Token.Reveal(), in.Body.Password.Reveal(), in.visitor(ctx))
		if errors.Is(err, auth.ErrCodeNeeded) {
			return &signedIn{Body: session{NeedsCode: true}}, nil
		}
		return s.signedIn(ctx, opened, err)
	})
}
