package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/door/problem"
	"watchmark/internal/platform/reason"
	"watchmark/internal/tell/llm"
)

// llmTest is how a test of the language model came out.
type llmTest struct {
	OK           bool          `json:"ok"`
	Model        string        `json:"model" doc:"What the service calls the model that answered; that of the settings when none did."`
	LatencyMS    int64         `json:"latency_ms" doc:"How long the answer took, in milliseconds."`
	Kind         llm.Kind      `json:"kind" enum:",unreachable,timeout,wrong_address,bad_key,no_credit,unknown_model,too_long,bad_request,busy,refused,no_text,too_large" doc:"What kind of problem there is; empty when it answered."`
	Status       int           `json:"status" doc:"The HTTP status of the service's answer to a request that failed; 0 otherwise."`
	Problem      string        `json:"problem" doc:"What went wrong, with what the service said of it; empty when it answered."`
	Advice       string        `json:"advice" doc:"What to do about it."`
	ProblemValue reason.Reason `json:"problem_value,omitzero"`
	AdviceValue  reason.Reason `json:"advice_value,omitzero"`
}

// LLM is the language model that writes summaries.
type LLM struct{ Client *llm.Client }

func (l LLM) register(s *server) {
	const tag = "Language model"
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/llm/test", OperationID: "test-llm", Tags: []string{tag},
		Summary: "Try the language model",
		Description: "Asks the service of the stored settings for one word, once, and waits for llm.timeout at most. What it says does not matter, so an empty completion is ok, too. " +
			"That it does not answer as it should is an answer with ok false, a problem and what to do.",
		Errors: []int{http.StatusConflict},
	}, func(ctx context.Context, _ *none) (*JSON[llmTest], error) {
		got, err := l.Client.Ping(ctx)
		test := llmTest{OK: err == nil, Model: got.Model, LatencyMS: got.Latency.Milliseconds()}
		var failure *llm.Error
		if errors.As(err, &failure) {
			test.Kind, test.Status, test.ProblemValue, test.AdviceValue = failure.Kind, failure.Status, failure.Problem(), failure.Advice()
			test.Problem, test.Advice = problem.Of(test.ProblemValue).Detail, problem.Of(test.AdviceValue).Detail
			err = nil
		}
		return answer(test, err)
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/llm/usage", OperationID: "get-llm-usage", Tags: []string{tag},
		Summary: "Get what the language model was used for", Description: "By day and job, for the last days. It is kept for 365 days.",
	}, func(ctx context.Context, in *struct {
		Days int `query:"days" minimum:"1" maximum:"365" default:"30" doc:"How many days, today included."`
	}) (*JSON[llm.Report], error) {
		return answer(l.Client.Usage.Report(ctx, time.Now(), in.Days))
	})
}
