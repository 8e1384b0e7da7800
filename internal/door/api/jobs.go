package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	jobs "watchmark/internal/platform/schedule"
)

// Jobs are the work that comes by the clock.
type Jobs struct{ Registry *jobs.Registry }

func (j Jobs) register(s *server) {
	const tag = "Tasks"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/jobs", OperationID: "list-jobs", Tags: []string{tag},
		Summary:     "List jobs",
		Description: "The work that comes by the clock: when it runs, how its last run ended, and when it is due next. A time that was missed is made up for once.",
	}, func(ctx context.Context, _ *none) (*JSON[Page[jobs.JobStatus]], error) {
		all, err := j.Registry.List(ctx)
		return answer(Page[jobs.JobStatus]{Items: all}, err)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/jobs/{name}/run", OperationID: "run-job", Tags: []string{tag},
		Summary:       "Run a job now",
		Description:   "Starts it, due or not. The answer tells how it stands then; task_id is the task to follow, where its runs are tasks.",
		DefaultStatus: http.StatusAccepted, Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, func(ctx context.Context, in *struct {
		Name string `path:"name" maxLength:"100" doc:"The name of the job." example:"backup"`
	}) (*JSON[jobs.JobStatus], error) {
		if _, err := j.Registry.Start(ctx, in.Name); err != nil {
			return nil, err
		}
		return answer(j.Registry.Status(ctx, in.Name))
	})
}
