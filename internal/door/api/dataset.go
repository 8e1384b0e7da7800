package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/match/idmap"
)

// Dataset is the id table.
type Dataset struct{ Table *idmap.Dataset }

func (d Dataset) register(s *server) {
	const tag = "ID table"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/dataset/status", OperationID: "get-dataset-status", Tags: []string{tag},
		Summary: "Get the state of the ID table",
	}, func(context.Context, *none) (*JSON[idmap.Status], error) {
		return answer(d.Table.Status(), nil)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/dataset/refresh", OperationID: "refresh-dataset", Tags: []string{tag},
		Summary:       "Fetch the newest ID table",
		Description:   "Starts a task. The table in use stays until a newer one was read whole.",
		DefaultStatus: http.StatusAccepted, Errors: []int{http.StatusConflict},
	}, func(ctx context.Context, _ *none) (*JSON[startedTask], error) {
		return started(d.Table.Refresh(ctx))
	})
}
