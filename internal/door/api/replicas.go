package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/upkeep/replicas"
)

// Replicas are the processes that work on the database.
type Replicas struct {
	Overview func(context.Context) (replicas.Overview, error)
}

func (r Replicas) register(s *server) {
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/replicas", OperationID: "list-replicas", Tags: []string{"Service"},
		Summary:     "List replicas, and how database and budgets stand",
		Description: "The database, the replicas that work on it, and what may be sent to Bangumi by each way out. A service on SQLite is its only replica.",
	}, func(ctx context.Context, _ *none) (*JSON[replicas.Overview], error) {
		return answer(r.Overview(ctx))
	})
}
