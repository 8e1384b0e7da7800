package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/match/idmap"
)

// IDMap is the map from what other sites number to entries: the ID table and the lists of seasons.
type IDMap struct{ Lists *idmap.Lists }

func (m IDMap) register(s *server) {
	const tag = "ID table"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/idmap/status", OperationID: "get-idmap-status", Tags: []string{tag},
		Summary: "Get the state of the ID table and of the lists of seasons",
	}, func(context.Context, *none) (*JSON[idmap.ListsStatus], error) {
		return answer(m.Lists.Status(), nil)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/idmap/update", OperationID: "update-idmap", Tags: []string{tag},
		Summary:       "Fetch the newest ID table and lists of seasons",
		Description:   "Starts a task. What is in use stays until a newer one was read whole; what has not changed is not fetched again.",
		DefaultStatus: http.StatusAccepted, Errors: []int{http.StatusConflict},
	}, func(ctx context.Context, _ *none) (*JSON[startedTask], error) {
		return started(m.Lists.Update(ctx))
	})
}
