package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/dataset"
)

// DatasetTask names the task of a refresh.
type DatasetTask struct {
	TaskID int64 `json:"task_id" doc:"Follow it at /api/tasks/{id}/stream." example:"7"`
}

func (s *server) registerDataset() {
	const tag = "Id table"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/dataset/status", OperationID: "get-dataset-status", Tags: []string{tag},
		Summary: "Get the state of the id table",
	}, func(context.Context, *none) (*JSON[dataset.Status], error) {
		return answer(s.Dataset.Status(), nil)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/dataset/refresh", OperationID: "refresh-dataset", Tags: []string{tag},
		Summary:       "Fetch the newest id table",
		Description:   "Starts a task. The table in use stays until a newer one was read whole.",
		DefaultStatus: http.StatusAccepted, Errors: []int{http.StatusConflict},
	}, func(context.Context, *none) (*JSON[DatasetTask], error) {
		t, err := s.Dataset.Refresh()
		if err != nil {
			return nil, err
		}
		return answer(DatasetTask{t.Status().ID}, nil)
	})
}
