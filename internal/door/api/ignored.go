package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/catalog/account"
)

func (as Accounts) registerIgnored(s *server) {
	const tag, path = "Accounts", "/api/ignored-users"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: path, OperationID: "list-ignored-users", Tags: []string{tag},
		Summary: "List ignored users", Description: "The media-server users whose plays are left alone, by name.",
	}, func(ctx context.Context, in *PageQuery) (*JSON[Page[account.IgnoredUser]], error) {
		all, err := as.Store.Ignored(ctx)
		return paged(*in, all, err)
	})
	registerOther(s, huma.Operation{
		Method: http.MethodPost, Path: path, OperationID: "ignore-user", Tags: []string{tag},
		Summary:     "Ignore a media-server user",
		Description: "What failed because no account names this user is ignored, and so is what comes. An account that names the user goes first.",
	}, func(ctx context.Context, in *JSON[mediaUserName]) (*none, error) {
		return nil, as.Engine.IgnoreUser(ctx, in.Body.Name)
	})
	registerOther(s, huma.Operation{
		Method: http.MethodDelete, Path: path, OperationID: "heed-user", Tags: []string{tag},
		Summary:     "Take back that a media-server user is ignored",
		Description: "What came meanwhile stands as failed, for want of an account, and can be retried.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *struct {
		Name string `query:"name" required:"true" maxLength:"500" doc:"The name of the user." example:"Mira TV"`
	}) (*none, error) {
		return nil, as.Engine.HeedUser(ctx, in.Name)
	})
}
