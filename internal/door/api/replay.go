package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/engine/queue"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/settings"
)

// Queue is the marks that wait for the catalog, and the scheduler that sends them again.
type Queue struct {
	Queue     *queue.Queue
	Scheduler *queue.Scheduler
	Settings  *settings.Manager
	// Reachability is what is known of the catalog without asking it.
	Reachability func() catalog.Reachability
	// Probe asks the catalog for a sign of life in the name of the preferred account.
	Probe func(context.Context) (account.Account, error)
	// CloseNews closes what people were told of a record, where it is left alone now.
	CloseNews func(ctx context.Context, id int64) error
}

// replayStatus is how the scheduler and the queue stand.
type replayStatus struct {
	Enabled     bool                 `json:"enabled" doc:"The setting catalog_replay.enabled."`
	Running     bool                 `json:"running" doc:"Whether waiting marks are sent again by themselves now."`
	Cron        string               `json:"cron" doc:"The setting catalog_replay.cron." example:"*/5 * * * *"`
	NextRun     *time.Time           `json:"next_run" doc:"When the next round by cron is due; null while it is switched off. Rounds come sooner when there is something to do."`
	LastRun     *time.Time           `json:"last_run" doc:"When the last round ended; null before the first one since the start."`
	LastOutcome queue.Outcome        `json:"last_outcome" enum:",empty,unreachable,busy,none_due,sent,no_account,failed" doc:"How it came out: nothing waited, Bangumi did not answer, the service had enough to do, nothing was due, marks were sent, no account could be used, or the database failed."`
	LastCount   int                  `json:"last_count" doc:"How many marks it sent."`
	MaxRetries  int                  `json:"max_retries" doc:"The setting catalog_replay.max_retries: after so many failed retries a task is given up."`
	Counts      map[queue.Status]int `json:"counts" doc:"Tasks by state."`
	Breaker     breaker              `json:"breaker"`
}

// breaker is what is known of the catalog without asking it.
type breaker struct {
	State     string     `json:"state" enum:"closed,open" doc:"open while Bangumi is known to be unreachable: marks then wait without a request."`
	Since     *time.Time `json:"since" doc:"Since when it is open."`
	NextTrial *time.Time `json:"next_trial" doc:"When Bangumi is asked again at the earliest."`
	Problem   string     `json:"problem" doc:"The last failure; empty while it is closed."`
	// ProblemValue is the same as a value.
	ProblemValue reason.Reason `json:"problem_value,omitzero" doc:"The same as a value: its code, its arguments, and the text."`
}

// probe is how a probe went.
type probe struct {
	OK      bool   `json:"ok" doc:"Whether Bangumi answers and takes the token."`
	Reason  string `json:"reason" enum:",no_account,empty_token,unreachable,refused" doc:"Why not; empty when it does."`
	Message string `json:"message" doc:"The same in plain words."`
	// Value is the message as a value.
	Value     reason.Reason `json:"message_value,omitzero" doc:"The same as a value: its code, its arguments, and the text."`
	Account   string        `json:"account" doc:"The account that was used; empty when there is none."`
	ElapsedMS float64       `json:"elapsed_ms"`
}

func (q Queue) register(s *server) {
	const tag = "Queue"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/catalog_replay/status", OperationID: "get-replay-status", Tags: []string{tag},
		Summary: "Get the state of queue and scheduler",
	}, q.replayStatus)
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/catalog_replay/queue", OperationID: "list-queue", Tags: []string{tag},
		Summary:     "List the marks that wait",
		Description: "Tasks in the order they are sent in, done and abandoned ones included. One whose account is disabled, deleted or without a token is held: it is sent when that is over.",
	}, q.listQueue)
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/catalog_replay/replay", OperationID: "replay-queue", Tags: []string{tag},
		Summary:       "Send waiting marks now",
		Description:   "Sends the oldest pending tasks through the pipeline again, due or not, but for those that wait for their account. While Bangumi is known to be unreachable it is probed first, and nothing is sent when it still does not answer.",
		DefaultStatus: http.StatusAccepted, Errors: []int{http.StatusConflict, http.StatusBadGateway},
	}, q.replayQueue)
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/catalog_replay/replay/{record_id}", OperationID: "replay-record", Tags: []string{tag},
		Summary:       "Send one waiting mark now",
		Description:   "As for all, for the task of one record, abandoned or not.",
		DefaultStatus: http.StatusAccepted, Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusBadGateway},
	}, func(ctx context.Context, in *byRecord) (*JSON[acceptedRecords], error) {
		return answer(acceptedRecords{[]int64{in.ID}}, q.Scheduler.ReplayOne(ctx, in.ID))
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/catalog_replay/probe", OperationID: "probe-catalog", Tags: []string{tag},
		Summary:     "Ask Bangumi for a sign of life",
		Description: "Checks the token of the preferred account. An answer ends an outage that the service knows of; nothing else is sent by this call.",
	}, q.probeCatalog)
	registerOther(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/catalog_replay/queue/{record_id}/revive", OperationID: "revive-task", Tags: []string{tag},
		Summary:       "Revive an abandoned task",
		Description:   "It waits for Bangumi again, with all its tries before it.",
		DefaultStatus: http.StatusNoContent, Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, func(ctx context.Context, in *byRecord) (*none, error) {
		return nil, q.Scheduler.Revive(ctx, in.ID)
	})
	registerOther(s, huma.Operation{
		Method: http.MethodDelete, Path: "/api/catalog_replay/queue/{record_id}", OperationID: "delete-task", Tags: []string{tag},
		Summary:       "Take a task out of the queue",
		Description:   "A record that waited for it becomes ignored; it can still be retried.",
		DefaultStatus: http.StatusNoContent, Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, func(ctx context.Context, in *byRecord) (*none, error) {
		if err := q.Queue.Delete(ctx, in.ID); err != nil {
			return nil, err
		}
		return nil, q.CloseNews(ctx, in.ID)
	})
}

// byRecord is an input that names a record.
type byRecord struct {
	ID int64 `path:"record_id" minimum:"1" doc:"The id of the record." example:"42"`
}

func (q Queue) replayStatus(ctx context.Context, _ *none) (*JSON[replayStatus], error) {
	counts, err := q.Queue.Counts(ctx)
	if err != nil {
		return nil, err
	}
	current, standing := q.Settings.Current().CatalogReplay, q.Scheduler.Standing()
	return answer(replayStatus{
		Enabled: standing.Enabled, Running: standing.Running, Cron: current.Cron, NextRun: orNil(standing.NextRun),
		LastRun: orNil(standing.Last.At), LastOutcome: standing.Last.Outcome, LastCount: standing.Last.Count, MaxRetries: current.MaxRetries,
		Counts: counts, Breaker: breakerOf(q.Reachability()),
	}, nil)
}

func breakerOf(known catalog.Reachability) breaker {
	if known.Reachable {
		return breaker{State: "closed"}
	}
	return breaker{State: "open", Since: &known.Since, NextTrial: &known.NextTrial, Problem: known.Problem.Text, ProblemValue: known.Problem}
}

func (q Queue) listQueue(ctx context.Context, in *struct {
	PageQuery
	Status string `query:"status" enum:"pending,synced,abandoned" doc:"Only tasks in this state."`
}) (*JSON[Page[queue.Entry]], error) {
	entries, next, err := q.Queue.List(ctx, queue.Filter{Status: queue.Status(in.Status), After: in.seen, Limit: in.Limit})
	return answer(Page[queue.Entry]{entries, cursorOf(next)}, err)
}

func (q Queue) replayQueue(ctx context.Context, in *struct {
	Limit int `query:"limit" minimum:"1" maximum:"500" default:"100" doc:"How many tasks to send at most."`
}) (*JSON[acceptedRecords], error) {
	ids, err := q.Scheduler.Replay(ctx, in.Limit)
	if ids == nil {
		ids = []int64{}
	}
	return answer(acceptedRecords{ids}, err)
}

func (q Queue) probeCatalog(ctx context.Context, _ *none) (*JSON[probe], error) {
	start := time.Now()
	a, err := q.Probe(ctx)
	found := probe{OK: err == nil, Account: a.Username, ElapsedMS: float64(time.Since(start).Microseconds()) / 1000}
	var problem *catalog.Error
	switch {
	case err == nil:
		found.Value = probeAnswered.With(a.Username)
	case errors.Is(err, account.ErrNotFound):
		found.Reason, found.Value = "no_account", probeNobody.With()
	case errors.Is(err, account.ErrNoToken):
		found.Reason, found.Value = "empty_token", probeNoToken.With(a.Username)
	case errors.Is(err, catalog.ErrUnreachable) && errors.As(err, &problem):
		found.Reason, found.Value = "unreachable", catalogProblem(problem).With()
	case errors.As(err, &problem):
		found.Reason, found.Value = "refused", catalogProblem(problem).With()
	case errors.Is(err, account.ErrOtherUser), errors.Is(err, account.ErrTaken):
		found.Reason, found.Value = "refused", probeForeign.With(a.Username)
	default:
		return nil, err
	}
	found.Message = found.Value.Text
	return answer(found, nil)
}
