package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// Health says whether the service answers, or takes webhooks.
type Health struct {
	Status   string   `json:"status" enum:"ok,not_ready" example:"ok"`
	Version  string   `json:"version" example:"1.0.0"`
	Problems []string `json:"problems" doc:"What keeps the service from taking webhooks, in plain words; empty when nothing does."`
}

// healthAnswer is a Health with its HTTP status.
type healthAnswer struct {
	Status int
	Body   Health
}

// HealthChecks say how the service is.
type HealthChecks struct {
	// Problems are what keeps the service from taking webhooks, in words for everybody.
	Problems func(ctx context.Context) []string
}

func (h HealthChecks) register(s *server) {
	live := func(context.Context, *none) (*JSON[Health], error) {
		return answer(Health{"ok", s.Version, []string{}}, nil)
	}
	ready := func(ctx context.Context, _ *none) (*healthAnswer, error) {
		if problems := h.Problems(ctx); len(problems) > 0 {
			return &healthAnswer{http.StatusServiceUnavailable, Health{"not_ready", s.Version, problems}}, nil
		}
		return &healthAnswer{http.StatusOK, Health{"ok", s.Version, []string{}}}, nil
	}
	notReady := map[string]*huma.Response{"503": s.response("The service does not take webhooks now.", Health{})}
	registerOther(s, huma.Operation{
		Method: http.MethodGet, Path: "/health", OperationID: "health", Tags: []string{"Service"}, Responses: notReady,
		Summary: "Ask whether the service takes webhooks",
		Description: "For probes of containers and proxies; needs no login. It says that the database can be read and written and that there is room on the disk, not that Bangumi answers: " +
			"while that is down, webhooks are taken and wait. Asked more often than once a second, it answers what it found last.",
	}, ready)
	registerOther(s, huma.Operation{
		Method: http.MethodGet, Path: "/health/ready", OperationID: "health-ready", Tags: []string{"Service"}, Responses: map[string]*huma.Response{"503": notReady["503"]},
		Summary: "Ask whether the service takes webhooks", Description: "The same as /health.",
	}, ready)
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/health/live", OperationID: "health-live", Tags: []string{"Service"},
		Summary: "Ask whether the service answers", Description: "For probes that restart what does not answer; needs no login. It asks neither database nor disk.",
	}, live)
}
