package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/door/access"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/summary"
)

// summaryJobInput is a job as a person enters it; what is left out has its default.
type summaryJobInput struct {
	Name       string  `json:"name,omitempty" doc:"Its name, which is part of the paths: letters, digits, - and _. Left out of a replacement it stays." example:"daily"`
	Enabled    *bool   `json:"enabled,omitempty" doc:"Whether it runs by its schedule; true when left out."`
	Cron       string  `json:"cron,omitempty" maxLength:"200" doc:"When it runs, as a cron expression of five fields in the local time; 0 21 * * * when left out." example:"0 21 * * *"`
	DaysBack   int     `json:"days_back,omitempty" doc:"How many days before a run it looks at, 1 to 366; 1 when left out." example:"1"`
	User       string  `json:"user,omitempty" doc:"The media-server user, compared exactly; everybody when left out."`
	Prompt     string  `json:"prompt,omitempty" doc:"What the model is told to do, up to 4,000 characters; left out it is the standard prompt in the language of notifications."`
	MaxRecords int     `json:"max_records,omitempty" doc:"How many records are told in detail at most, the newest, up to 500; 500 when left out or 0."`
	Channels   []int64 `json:"channels,omitempty" maxItems:"100" doc:"The channels it is sent to; left out or empty the rules say."`
	SkipEmpty  *bool   `json:"skip_empty,omitempty" doc:"Whether nothing is sent when nothing was watched; true when left out."`
}

func (in summaryJobInput) draft() summary.Draft {
	return summary.Draft{
		Name: in.Name, Enabled: orTrue(in.Enabled), Cron: cmp.Or(in.Cron, "0 21 * * *"), DaysBack: cmp.Or(in.DaysBack, 1), User: in.User,
		Prompt: in.Prompt, MaxRecords: in.MaxRecords, Channels: in.Channels, SkipEmpty: orTrue(in.SkipEmpty),
	}
}

// ByName is an input that names one job.
type ByName struct {
	Name string `path:"name" maxLength:"400" doc:"The name of the job." example:"daily"`
}

// summaryTriggered is how running a job came out.
type summaryTriggered struct {
	Status string          `json:"status" enum:"done,failed,skipped" doc:"skipped: the job is running already, here or in another process."`
	Result *summary.Result `json:"result,omitempty" doc:"What the run brought; not there when it was skipped."`
	Told   bool            `json:"told,omitempty" doc:"Whether the summary goes to a channel, by the job or by a rule; else it is left out, and what was made stands in the inbox alone."`
}

// Summaries are the summary jobs, and telling what airs today.
type Summaries struct {
	Service *summary.Service
	Airing  *summary.Airing
	Notices *notify.Notifier
}

func (su Summaries) register(s *server) {
	const tag = "Summaries"
	const path = "/api/summary/jobs"
	s.named[access.Summary] = func(ctx context.Context, name string) error {
		_, err := su.Service.Job(ctx, name)
		return err
	}
	register(s, huma.Operation{
		Method: http.MethodGet, Path: path, OperationID: "list-summary-jobs", Tags: []string{tag},
		Summary: "List summary jobs", Description: "Those of the caller, by name. A person's tell of that person's records alone, to that person's channels, and nobody else sees them.",
	}, func(ctx context.Context, in *PageQuery) (*JSON[Page[summary.Job]], error) {
		jobs, err := su.Service.Jobs(ctx)
		return paged(*in, jobs, err)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: path, OperationID: "create-summary-job", Tags: []string{tag},
		Summary: "Add a summary job", Description: "A person has five at most, which leave an hour between two runs.", DefaultStatus: http.StatusCreated, Errors: []int{http.StatusConflict},
	}, func(ctx context.Context, in *JSON[summaryJobInput]) (*JSON[summary.Job], error) {
		return answer(su.Service.Create(ctx, in.Body.draft()))
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: path + "/{name}", OperationID: "get-summary-job", Tags: []string{tag},
		Summary: "Get a summary job", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByName) (*JSON[summary.Job], error) {
		return answer(su.Service.Job(ctx, in.Name))
	})
	register(s, huma.Operation{
		Method: http.MethodPut, Path: path + "/{name}", OperationID: "replace-summary-job", Tags: []string{tag},
		Summary: "Replace a summary job", Errors: []int{http.StatusNotFound, http.StatusConflict},
		Description: "What is left out gets its default. A schedule that is new, or switched on again, makes up for nothing.",
	}, func(ctx context.Context, in *struct {
		ByName
		JSON[summaryJobInput]
	}) (*JSON[summary.Job], error) {
		d := in.Body.draft()
		d.Name = cmp.Or(d.Name, in.Name)
		return answer(su.Service.Update(ctx, in.Name, d))
	})
	registerOther(s, huma.Operation{
		Method: http.MethodDelete, Path: path + "/{name}", OperationID: "delete-summary-job", Tags: []string{tag},
		Summary: "Remove a summary job", Description: "Its results go with it.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByName) (*none, error) {
		return nil, su.Service.Delete(ctx, in.Name)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: path + "/{name}/trigger", OperationID: "trigger-summary-job", Tags: []string{tag},
		Summary: "Run a summary job now", Errors: []int{http.StatusNotFound, http.StatusServiceUnavailable},
		Description: "Makes the summary of the days up to now, keeps it and sends it. The answer waits for it, up to five minutes; the run goes on when the caller leaves. " +
			"While a run is under way, nothing happens and the status is skipped.",
	}, su.triggerSummary)
	register(s, huma.Operation{
		Method: http.MethodPost, Path: path + "/{name}/test", OperationID: "test-summary-job", Tags: []string{tag},
		Summary: "Try a summary job", Errors: []int{http.StatusNotFound},
		Description: "Makes the summary of the days up to now and answers it. It is not kept, and nothing is sent.",
	}, func(ctx context.Context, in *ByName) (*JSON[summary.Result], error) {
		return answer(su.Service.Test(ctx, in.Name))
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: path + "/{name}/results", OperationID: "list-summary-results", Tags: []string{tag},
		Summary: "List what a summary job brought", Description: "The newest first; 100 are kept.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *struct {
		ByName
		PageQuery
	}) (*JSON[Page[summary.Result]], error) {
		results, next, err := su.Service.Results(ctx, in.Name, in.seen, in.Limit)
		return answer(Page[summary.Result]{results, cursorOf(next)}, err)
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/summary/airing", OperationID: "get-airing-status", Tags: []string{tag},
		Summary:     "Get how telling what airs today stands",
		Description: "At notification.airing_cron, people are told once a day which episodes of what their accounts are watching air, as far as the offline data knows.",
	}, func(ctx context.Context, _ *none) (*JSON[summary.AiringStatus], error) {
		return answer(su.Airing.Status(ctx))
	})
}

func (su Summaries) triggerSummary(ctx context.Context, in *ByName) (*JSON[summaryTriggered], error) {
	result, err := su.Service.Trigger(ctx, in.Name)
	switch {
	case errors.Is(err, summary.ErrRunning):
		return answer(summaryTriggered{Status: "skipped"}, nil)
	case err != nil:
		return nil, err
	case result.Outcome == summary.Failed:
		return answer(summaryTriggered{Status: "failed", Result: &result}, nil)
	}
	job, err := su.Service.Job(ctx, in.Name)
	return answer(summaryTriggered{"done", &result, result.Outcome == summary.Done && len(su.Notices.Reaches(ctx, job.Notice())) > 0}, err)
}
