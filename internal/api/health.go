package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// Health says that the service answers.
type Health struct {
	Status  string `json:"status" enum:"ok" example:"ok"`
	Version string `json:"version" example:"1.0.0"`
}

func (s *server) registerHealth() {
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/health", OperationID: "health", Tags: []string{"Service"},
		Summary: "Ask whether the service answers", Description: "For probes of containers and proxies; needs no login.",
	}, func(context.Context, *none) (*JSON[Health], error) {
		return answer(Health{"ok", s.Version}, nil)
	})
}
