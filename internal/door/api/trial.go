package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/door/problem"
	"watchmark/internal/match"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
	"watchmark/internal/source"
	"watchmark/internal/watch"
)

// trialBytes is the largest body of a test.
const trialBytes = 64 << 10

// trialEvent is what the custom webhook makes of the body.
func trialEvent(text []byte) (watch.Event, error) {
	delivery, err := source.Parse(watch.Custom, source.Request{Body: text})
	if err != nil {
		return watch.Event{}, err
	}
	if len(delivery.Events) == 0 {
		return watch.Event{}, problem.With(http.StatusBadRequest, delivery.Ignored)
	}
	return delivery.Events[0], nil
}

// testedRecord is a settled record with its trace.
type testedRecord struct {
	record.Record
	Trace match.Trace `json:"trace" doc:"Step by step, why the record came out so."`
}

// MarshalJSON adds the text of the message.
func (t testedRecord) MarshalJSON() ([]byte, error) {
	type bare record.Record // without its MarshalJSON
	return reason.MarshalBeside(&struct {
		bare
		Trace match.Trace `json:"trace"`
	}{bare(t.Record), t.Trace})
}

const trialRule = " The body is that of the custom webhook: numbers may come as texts, unknown fields are passed over. " +
	"A user name that no account lists ends as no account, unless the setting sync.test_skip_permission_check is on."

// Trials run an event that somebody makes up.
type Trials struct {
	Engine interface {
		Preview(ctx context.Context, event watch.Event) (match.Trace, error)
		Test(ctx context.Context, event watch.Event) (record.Record, error)
		AcceptTest(ctx context.Context, event watch.Event) (int64, error)
	}
	Records *record.Store
}

func (t Trials) register(s *server) {
	const tag = "Tests"
	body := s.customBody()
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/test-match", OperationID: "test-match", Tags: []string{tag},
		Summary:     "Try a match",
		Description: "Finds the entry and the episode of an event and answers the trace. It writes nothing and notifies nobody. Where several accounts name the user, it is what the first of them gets, by the mappings and blocked titles of its person." + trialRule,
		RequestBody: body, SkipValidateBody: true, MaxBodyBytes: trialBytes,
	}, func(ctx context.Context, in *struct{ RawBody []byte }) (*JSON[match.Trace], error) {
		event, err := trialEvent(in.RawBody)
		if err != nil {
			return nil, err
		}
		return answer(t.Engine.Preview(ctx, event))
	})
	registerOther(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/test-sync", OperationID: "test-sync", Tags: []string{tag},
		Summary:     "Try an event",
		Description: "Runs an event whole, the mark included, as a webhook's would be." + trialRule,
		RequestBody: body, SkipValidateBody: true, MaxBodyBytes: trialBytes,
		Responses: map[string]*huma.Response{
			"200": s.response("The settled record, with its trace.", testedRecord{}),
			"202": s.response("With async_mode: the record is on its way.", acceptedRecords{}),
		},
	}, t.testSync)
	// The library adds that the body is read raw, which is true and says nothing.
	delete(body.Content, "application/octet-stream")
}

// trialOutcome is the one or the other answer of test-sync.
type trialOutcome struct {
	Status int
	Body   any
}

func (t Trials) testSync(ctx context.Context, in *struct {
	Async   bool `query:"async_mode" doc:"Answer the id of the record at once, instead of the settled record."`
	RawBody []byte
}) (*trialOutcome, error) {
	event, err := trialEvent(in.RawBody)
	if err != nil {
		return nil, err
	}
	if in.Async {
		id, err := t.Engine.AcceptTest(ctx, event)
		if err != nil {
			return nil, err
		}
		return &trialOutcome{http.StatusAccepted, acceptedRecords{[]int64{id}}}, nil
	}
	settled, err := t.Engine.Test(ctx, event)
	if err != nil {
		return nil, err
	}
	tested := testedRecord{Record: settled}
	text, err := t.Records.Trace(ctx, settled.ID)
	if errors.Is(err, record.ErrNotFound) { // it failed before the matching
		tested.Trace = match.Trace{Result: match.Result{Reason: settled.Message}, Steps: []match.Step{}}
		return &trialOutcome{http.StatusOK, tested}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the trace of the test: %w", err)
	}
	if err := json.Unmarshal(text, &tested.Trace); err != nil {
		return nil, fmt.Errorf("decode the trace of record %d: %w", settled.ID, err)
	}
	return &trialOutcome{http.StatusOK, tested}, nil
}
