package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/catalog"
	"watchmark/internal/door/access"
	"watchmark/internal/match"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/watch"
)

// RecordRestriction are the parameters that restrict which records are meant.
type RecordRestriction struct {
	Source anySource `query:"source" doc:"Only records of this source."`
	User   string    `query:"user" maxLength:"500" doc:"Only records of this media-server user, compared exactly."`
	Text   string    `query:"q" maxLength:"200" doc:"Only records with this text in a title, the entry or the user name. A page of a search may be short, or empty, and have a next_cursor: older records are then still to be searched."`
	Since  time.Time `query:"since" doc:"Only records that came in at this time or later."`
	Until  time.Time `query:"until" doc:"Only records that came in before this time."`
}

func (r RecordRestriction) filter() record.Filter {
	return record.Filter{Source: watch.Source(r.Source), User: r.User, Text: r.Text, Since: r.Since, Until: r.Until}
}

// recordQuery selects records.
type recordQuery struct {
	PageQuery
	Status  string `query:"status" enum:"received,processing,success,ignored,review,queued,error" doc:"Only records in this state."`
	Rewatch bool   `query:"rewatch" doc:"Only records of episodes that were watched once more."`
	RecordRestriction
}

// filter is the query as the record store wants it.
func (q recordQuery) filter() record.Filter {
	f := q.RecordRestriction.filter()
	f.Status, f.Before, f.Limit, f.Rewatch = record.Status(q.Status), q.seen, q.Limit, q.Rewatch
	return f
}

// matchRecord is how the matching of one record came out, without its trace.
type matchRecord struct {
	ID            int64             `json:"id" doc:"The id of the record."`
	Status        record.Status     `json:"status"`
	MatchStatus   match.Status      `json:"match_status" doc:"How the matching itself came out." enum:"matched,review,not_found,episode_not_found,blocked,no_account,unreachable"`
	Method        string            `json:"method" doc:"The layer whose candidate won; empty when none did."`
	Confidence    float64           `json:"confidence" doc:"How sure the match is, 0 to 1."`
	Reason        string            `json:"reason" doc:"Why it came out so, in one sentence."`
	ReasonValue   reason.Reason     `json:"reason_value,omitzero" doc:"The same as a value: its code, its arguments, and the text."`
	ElapsedMS     float64           `json:"elapsed_ms" doc:"How long the matching took, in milliseconds."`
	Source        watch.Source      `json:"source"`
	UserName      string            `json:"user_name"`
	MediaType     watch.Media       `json:"media_type"`
	Title         string            `json:"title"`
	OriginalTitle string            `json:"original_title"`
	Season        *int              `json:"season"`
	Episode       *float64          `json:"episode"`
	SubjectID     catalog.SubjectID `json:"subject_id"`
	SubjectName   string            `json:"subject_name"`
	EpisodeID     catalog.EpisodeID `json:"episode_id"`
	EpisodeSort   *float64          `json:"episode_sort"`
	CreatedAt     time.Time         `json:"created_at"`
	UpdatedAt     time.Time         `json:"updated_at"`
}

// Records are what became of every event.
type Records struct {
	Store    *record.Store
	Webhooks *webhooklog.Log
	Engine   interface {
		Retry(ctx context.Context, id int64) (*task.Task, error)
	}
}

func (rs Records) register(s *server) {
	const tag = "Records"
	s.owned[access.Record] = func(ctx context.Context, id int64) error {
		_, err := rs.Store.Get(ctx, id)
		return err
	}
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/records", OperationID: "list-records", Tags: []string{tag},
		Summary:     "List records",
		Description: "What became of every event for every account that the caller may see, newest first.",
	}, rs.listRecords)
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/records/{id}", OperationID: "get-record", Tags: []string{tag},
		Summary: "Get a record", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*JSON[record.Record], error) {
		return answer(rs.Store.Get(ctx, in.ID))
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/records/{id}/arrival", OperationID: "get-record-arrival", Tags: []string{tag},
		Summary:     "Get what came in",
		Description: "What the record was made of: the event as the source was understood, and the request that brought it, masked, as long as the log of webhooks keeps it. A record of a polled source or an import, and one that another account got of the same event, has no request of its own.",
		Errors:      []int{http.StatusNotFound},
	}, rs.arrivalOf)
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/records/{id}/retry", OperationID: "retry-record", Tags: []string{tag},
		Summary:       "Run a record again",
		Description:   "Sends the record through the whole pipeline again, with all that the event carried: account, match, mark. The answer does not wait for it: follow it by its stream, or get the record to see how it came out.",
		DefaultStatus: http.StatusAccepted, Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, rs.retryRecord)
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/match-records", OperationID: "list-match-records", Tags: []string{tag},
		Summary:     "List matches",
		Description: "The records that have a stored trace, newest first, with how the matching came out. A page may hold fewer items than asked for and still have a next_cursor.",
	}, rs.listMatchRecords)
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/match-records/{id}/trace", OperationID: "get-match-trace", Tags: []string{tag},
		Summary: "Get the trace of a record", Errors: []int{http.StatusNotFound},
		Description: "Step by step, why the record came out so; the same object that test-match answers.",
		Responses:   map[string]*huma.Response{"200": s.response("OK", match.Trace{})},
	}, func(ctx context.Context, in *ByID) (*JSON[json.RawMessage], error) {
		return answer(rs.Store.Trace(ctx, in.ID))
	})
}

func (rs Records) listRecords(ctx context.Context, in *recordQuery) (*JSON[Page[record.Record]], error) {
	records, next, err := rs.Store.List(ctx, in.filter())
	return answer(Page[record.Record]{records, cursorOf(next)}, err)
}

// recordArrival is what a record was made of.
type recordArrival struct {
	Event   watch.Event       `json:"event" doc:"The event as it was understood."`
	Request *webhooklog.Entry `json:"request,omitempty" doc:"The request that brought it, secrets masked; not there when none is kept."`
}

func (rs Records) arrivalOf(ctx context.Context, in *ByID) (*JSON[recordArrival], error) {
	work, err := rs.Store.Work(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	arrival := recordArrival{Event: work.Event}
	request, err := rs.Webhooks.OfRecord(ctx, in.ID, work.CreatedAt)
	switch {
	case err == nil:
		arrival.Request = &request
	case !errors.Is(err, webhooklog.ErrNotFound):
		return nil, err
	}
	return answer(arrival, nil)
}

// acceptedRecords answers that records are on their way.
type acceptedRecords struct {
	RecordIDs []int64 `json:"record_ids" doc:"The ids of the records." example:"[42]"`
}

// retriedRecord answers that a record is run again.
type retriedRecord struct {
	RecordIDs []int64 `json:"record_ids" doc:"The id of the record." example:"[42]"`
	TaskID    int64   `json:"task_id" doc:"The id of the task that follows the run." example:"7"`
}

func (rs Records) retryRecord(ctx context.Context, in *ByID) (*JSON[retriedRecord], error) {
	t, err := rs.Engine.Retry(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return answer(retriedRecord{[]int64{in.ID}, t.Status().ID}, nil)
}

// matchScan is how many records one page of matches looks through at most.
const matchScan = 1000

func (rs Records) listMatchRecords(ctx context.Context, in *recordQuery) (*JSON[Page[matchRecord]], error) {
	filter := in.filter()
	page := Page[matchRecord]{Items: []matchRecord{}}
	for seen := 0; seen < matchScan; {
		records, next, err := rs.Store.List(ctx, filter)
		if err != nil {
			return nil, err
		}
		for i, r := range records {
			m, err := rs.matchOf(ctx, r)
			if errors.Is(err, record.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			page.Items = append(page.Items, m)
			if len(page.Items) == in.Limit && (next != 0 || i < len(records)-1) {
				page.NextCursor = cursorOf(r.ID)
				return answer(page, nil)
			}
		}
		if next == 0 {
			return answer(page, nil)
		}
		seen += len(records)
		filter.Before = next
	}
	page.NextCursor = cursorOf(filter.Before)
	return answer(page, nil)
}

// matchOf is the match of a record, or record.ErrNotFound when it has no trace (yet).
func (rs Records) matchOf(ctx context.Context, r record.Record) (matchRecord, error) {
	text, err := rs.Store.Trace(ctx, r.ID)
	if err != nil {
		return matchRecord{}, err
	}
	var trace struct {
		Result    match.Result `json:"result"`
		ElapsedMS float64      `json:"elapsed_ms"`
	}
	if err := json.Unmarshal(text, &trace); err != nil {
		return matchRecord{}, fmt.Errorf("decode the trace of record %d: %w", r.ID, err)
	}
	return matchRecord{
		ID: r.ID, Status: r.Status, MatchStatus: trace.Result.Status, Method: r.Method, Confidence: r.Confidence,
		Reason: trace.Result.Reason.Text, ReasonValue: trace.Result.Reason, ElapsedMS: trace.ElapsedMS, Source: r.Source, UserName: r.UserName,
		MediaType: r.MediaType, Title: r.Title, OriginalTitle: r.OriginalTitle, Season: r.Season, Episode: r.Episode,
		SubjectID: r.SubjectID, SubjectName: r.SubjectName, EpisodeID: r.EpisodeID, EpisodeSort: r.EpisodeSort,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}, nil
}
