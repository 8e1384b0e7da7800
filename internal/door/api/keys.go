package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/door/access"
	"watchmark/internal/door/auth"
)

type keyInput struct {
	Name string `json:"name" doc:"What the key is for; 1 to 100 characters." example:"nightly script"`
}

// newKey is an API key that was just made.
type newKey struct {
	auth.Key
	Plain string `json:"key" doc:"The key itself. It cannot be seen again." example:"wm_…"`
}

func (s *server) registerKeys() {
	const tag = "Login"
	s.owned[access.Key] = func(ctx context.Context, id int64) error { return s.Guard.Store.HasKey(ctx, id) }
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/api-keys", OperationID: "list-api-keys", Tags: []string{tag},
		Summary: "List API keys", Description: "Those of the caller, without the keys themselves.",
	}, func(ctx context.Context, in *struct{ PageQuery }) (*JSON[Page[auth.Key]], error) {
		all, err := s.Guard.Store.ListKeys(ctx)
		return paged(in.PageQuery, all, err)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/api-keys", OperationID: "create-api-key", Tags: []string{tag},
		Summary: "Make an API key", Description: "It is the caller's, and may do what the caller may. The answer is the only place where the key is shown.",
		DefaultStatus: http.StatusCreated, Errors: []int{http.StatusConflict},
	}, func(ctx context.Context, in *JSON[keyInput]) (*JSON[newKey], error) {
		plain, key, err := s.Guard.Store.CreateKey(ctx, in.Body.Name)
		return answer(newKey{key, plain}, err)
	})
	registerOther(s, huma.Operation{
		Method: http.MethodDelete, Path: "/api/api-keys/{id}", OperationID: "delete-api-key", Tags: []string{tag},
		Summary: "Remove an API key", Description: "It stops working at once.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*none, error) {
		return nil, s.Guard.Store.DeleteKey(ctx, in.ID)
	})
}
