package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/scope"
)

const callbackPath = "/api/accounts/oauth/callback"

func (as Accounts) registerOAuth(s *server) {
	const tag = "Accounts"
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/accounts/oauth/start", OperationID: "start-oauth", Tags: []string{tag},
		Summary:     "Connect an account by OAuth",
		Description: "Answers the address of Bangumi where the person agrees; it is good for ten minutes, for whoever asked for it, and leads back to the callback. A person connects accounts of their own.",
		Errors:      []int{http.StatusNotFound, http.StatusConflict},
	}, func(ctx context.Context, in *struct{ Body *oauthStart }) (*JSON[oauthAddress], error) {
		var id int64
		if in.Body != nil {
			id = in.Body.AccountID
		}
		address, err := as.Client.StartOAuth(ctx, s.PublicURL(ctx)+callbackPath, id)
		return answer(oauthAddress{address}, err)
	})
	registerOther(s, huma.Operation{
		Method: http.MethodGet, Path: callbackPath, OperationID: "finish-oauth", Tags: []string{tag},
		Summary: "The way back from Bangumi",
		Description: "Browsers come here from Bangumi and are sent on to the page People, or a person to their account, with connected=ID, or with oauth_error=" +
			"denied, state (too late, or begun elsewhere), not_configured, refused, unreachable, other_user (another person signed in than the account's), taken (another account is this person's) or internal.",
		DefaultStatus: http.StatusSeeOther,
	}, func(ctx context.Context, in *struct {
		Code  string `query:"code" maxLength:"2000" doc:"The code to be exchanged for tokens."`
		State string `query:"state" maxLength:"200" doc:"What start gave Bangumi to bring back."`
		Error string `query:"error" maxLength:"200" doc:"Set when the person did not agree."`
	}) (*redirect, error) {
		page := "/people"
		who, is := personOf(ctx)
		if is {
			page = "/mine/account"
		}
		if in.Error != "" {
			return s.toPage(page, "oauth_error", "denied"), nil
		}
		connected, err := as.Client.FinishOAuth(ctx, in.State, in.Code)
		if err != nil {
			reason := oauthReason(err)
			s.logWayBack(ctx, callbackPath, "an account could not be connected", reason, err)
			return s.toPage(page, "oauth_error", reason), nil
		}
		if is && len(connected.MediaUserNames) == 0 {
			names, err := as.ownNames(ctx, who, nil, nil)
			if err == nil {
				connected, err = as.Store.Update(ctx, connected.ID, account.Change{MediaUserNames: &names})
			}
			if err != nil {
				return nil, err
			}
			as.markBefore(scope.In(ctx, scope.Everything()), connected) // records without an account are the owner's
		}
		if _, err := as.usable(ctx, connected, nil); err != nil {
			return nil, err
		}
		return s.toPage(page, "connected", strconv.FormatInt(connected.ID, 10)), nil
	})
}

type oauthStart struct {
	AccountID int64 `json:"account_id,omitempty" minimum:"0" doc:"The account to connect again; leave it out for a new one."`
}

type oauthAddress struct {
	AuthorizeURL string `json:"authorize_url" doc:"Open this in the person's browser."`
}

// redirect sends a browser on.
type redirect struct {
	Location string `header:"Location"`
}

// logWayBack logs why a browser that came back from another site has got nowhere. It is sent on to a page that
// knows the reason, and gets no problem document.
func (s *server) logWayBack(ctx context.Context, path, what, reason string, err error) {
	if reason == unforeseen {
		_ = s.internal(ctx, "GET "+path, err)
		return
	}
	s.Log.WarnContext(ctx, what, "reason", reason, "error", err)
}

// unforeseen is the reason for errors that have no word of their own.
const unforeseen = "internal"

func (s *server) toPage(path, name, value string) *redirect {
	return &redirect{s.Guard.BasePath + path + "?" + url.Values{name: {value}}.Encode()}
}

// oauthReason is the word by which the page People knows what went wrong.
func oauthReason(err error) string {
	var refused *catalog.Error
	switch {
	case errors.Is(err, account.ErrState), errors.Is(err, account.ErrNotFound): // the account was deleted meanwhile
		return "state"
	case errors.Is(err, account.ErrOAuthNotConfigured):
		return "not_configured"
	case errors.Is(err, account.ErrOtherUser):
		return "other_user"
	case errors.Is(err, account.ErrTaken):
		return "taken"
	case errors.Is(err, catalog.ErrUnreachable):
		return "unreachable"
	case errors.As(err, &refused):
		return "refused"
	}
	return unforeseen
}
