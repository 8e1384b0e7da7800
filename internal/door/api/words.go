package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/catalog"
	"watchmark/internal/tell/word"
)

// Words are the ratings and comments that people are asked for when they have watched an entry to its end.
type Words struct{ Service *word.Service }

// Said is a rating and a comment.
type Said struct {
	Rate    int    `json:"rate" minimum:"0" maximum:"10" doc:"1 to 10; 0 is none."`
	Comment string `json:"comment" maxLength:"10000" doc:"At most 380 characters (code points) can be written; one of before may be longer."`
}

// wordInput is what a person says, who saw what stood on the list.
type wordInput struct {
	Said
	Shown Said `json:"shown" doc:"What GET answered: when the list says something else by now, nothing is written."`
}

// Word is what the list says of an entry now.
type Word struct {
	Account string        `json:"account"`
	Asked   bool          `json:"asked" doc:"Whether the question for it is open."`
	Hidden  bool          `json:"hidden" doc:"Bangumi shows the entry to its owner only since this was written, because of a word in the comment."`
	Entry   catalog.Entry `json:"entry"`
}

func wordOf(v word.View, err error) (*JSON[Word], error) {
	return answer(Word{v.Account.Username, v.Asked, v.Hidden, v.Entry}, notAsked(err))
}

// EntryOf is an input that names an entry of a list.
type EntryOf struct {
	ByID
	SubjectID int `path:"subject_id" minimum:"1" maximum:"2147483647" doc:"Of the entry, on Bangumi."`
}

func (ws Words) register(s *server) {
	const tag, path = "Snapshots", "/api/accounts/{id}/entries/{subject_id}/word"
	upstream := []int{http.StatusNotFound, http.StatusConflict, http.StatusBadGateway, http.StatusServiceUnavailable}
	register(s, huma.Operation{
		Method: http.MethodGet, Path: path, OperationID: "get-word", Tags: []string{tag}, Summary: "Read the rating and comment of an entry",
		Description: "As they are on Bangumi now. The question that was asked when the entry was watched to its end is closed when it is rated by now.",
		Errors:      upstream,
	}, func(ctx context.Context, in *EntryOf) (*JSON[Word], error) {
		return wordOf(ws.Service.Show(ctx, in.ID, catalog.SubjectID(in.SubjectID)))
	})
	register(s, huma.Operation{
		Method: http.MethodPut, Path: path, OperationID: "put-word", Tags: []string{tag}, Summary: "Rate an entry and comment on it",
		Description: "Writes what differs from what was shown, and nothing else of the entry; nobody is told of it in public. 409 when the list says something else than was shown: read it again.",
		Errors:      upstream,
	}, func(ctx context.Context, in *struct {
		EntryOf
		JSON[wordInput]
	}) (*JSON[Word], error) {
		b := in.Body
		return wordOf(ws.Service.Write(ctx, in.ID, catalog.SubjectID(in.SubjectID), catalog.Said(b.Shown), catalog.Said(b.Said)))
	})
	registerOther(s, huma.Operation{
		Method: http.MethodDelete, Path: path, OperationID: "close-word", Tags: []string{tag}, Summary: "Close the question for a rating and a comment",
		Description: "Nothing on Bangumi changes, and the entry is not asked about again.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *EntryOf) (*none, error) {
		return nil, ws.Service.Close(ctx, in.ID, catalog.SubjectID(in.SubjectID))
	})
}
