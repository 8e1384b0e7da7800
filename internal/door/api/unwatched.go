package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/catalog"
	"watchmark/internal/engine/review"
)

// Unwatched is what was set back to unwatched on media servers, and is asked about.
type Unwatched struct {
	Decisions *review.Service
}

// unwatchedPlay is one play that was set back to unwatched.
type unwatchedPlay struct {
	RecordID    int64             `json:"record_id" doc:"The record that marked it."`
	AccountID   int64             `json:"account_id"`
	AccountName string            `json:"account_name"`
	UserName    string            `json:"user_name"`
	Title       string            `json:"title"`
	Season      *int              `json:"season"`
	Episode     *float64          `json:"episode"`
	SubjectID   catalog.SubjectID `json:"subject_id"`
	SubjectName string            `json:"subject_name"`
	HeardAt     time.Time         `json:"heard_at" doc:"When it was set back."`
}

// unwatchedQuery are the parameters of the list, whose page is as long as pages are at most: it had none before.
type unwatchedQuery struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"200" doc:"How many items to answer at most."`
	Cursor string `query:"cursor" maxLength:"20" doc:"The next_cursor of the page before; leave it out for the first page."`
}

// unwatchedAnswer is a person's word.
type unwatchedAnswer struct {
	RecordIDs []int64 `json:"record_ids" minItems:"1" maxItems:"10000" doc:"Which of those that are asked about." example:"[7,8]"`
	TakeBack  bool    `json:"take_back" doc:"Whether the marks are taken back; otherwise they stay."`
}

func (u Unwatched) register(s *server) {
	const tag = "Records"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/unwatched", OperationID: "list-unwatched", Tags: []string{tag},
		Summary: "List what was set back to unwatched and waits for an answer", Description: "By the setting sync.unwatched, or that of the account. More than 30 at once always wait.",
	}, func(ctx context.Context, in *unwatchedQuery) (*JSON[Page[unwatchedPlay]], error) {
		from := PageQuery{Cursor: in.Cursor}
		if problems := from.Resolve(nil); problems != nil {
			return nil, problems[0]
		}
		asked, next, err := u.Decisions.Engine.Records.AskedUnwatched(ctx, from.seen, in.Limit)
		page := Page[unwatchedPlay]{Items: []unwatchedPlay{}, NextCursor: cursorOf(next)}
		for _, one := range asked {
			page.Items = append(page.Items, unwatchedPlay{one.ID, one.AccountID, one.AccountName, one.UserName, one.Title, one.Season, one.Episode, one.SubjectID, one.SubjectName, one.HeardAt})
		}
		return answer(page, err)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/unwatched", OperationID: "answer-unwatched", Tags: []string{tag},
		Summary:       "Take marks back that were set back to unwatched, or keep them",
		Description:   "Starts a task. Taken back is only what Watchmark itself wrote, and not what was watched once more since. 409 when none of the records is asked about.",
		DefaultStatus: http.StatusAccepted, Errors: []int{http.StatusConflict},
	}, func(ctx context.Context, in *JSON[unwatchedAnswer]) (*JSON[startedTask], error) {
		return started(u.Decisions.AnswerUnwatched(ctx, in.Body.RecordIDs, in.Body.TakeBack))
	})
}
