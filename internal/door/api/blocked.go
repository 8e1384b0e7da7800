package api

import (
	"cmp"
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/match/mapping"
)

// blockedInput is a blocked keyword as a person enters it.
type blockedInput struct {
	Keyword string            `json:"keyword" doc:"The text to look for in titles." example:"预告"`
	Kind    mapping.BlockKind `json:"kind,omitempty" enum:"contains,exact,regex" default:"contains" doc:"contains: anywhere in the title; exact: the whole title; both without regard to case. regex: a regular expression (RE2) found in the title."`
}

func (b blockedInput) blocked(id int64, source mapping.Origin) mapping.Blocked {
	return mapping.Blocked{ID: id, Keyword: b.Keyword, Kind: cmp.Or(b.Kind, mapping.Contains), Source: source}
}

func (ms Mappings) registerBlocked(s *server) {
	const tag = "Blocked keywords"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/blocked-keywords", OperationID: "list-blocked-keywords", Tags: []string{tag},
		Summary: "List blocked keywords", Description: "Events whose title has one of these are ignored, without a failed record. The newest first.",
	}, func(ctx context.Context, in *struct {
		PageQuery
		Text string `query:"q" maxLength:"200" doc:"Only keywords with this text in them."`
	}) (*JSON[Page[mapping.Blocked]], error) {
		blocked, next, err := ms.Store.ListBlocked(ctx, mapping.Filter{Text: in.Text, Before: in.seen, Limit: in.Limit})
		return answer(Page[mapping.Blocked]{blocked, cursorOf(next)}, err)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/blocked-keywords", OperationID: "create-blocked-keyword", Tags: []string{tag},
		Summary: "Block a keyword", DefaultStatus: http.StatusCreated, Errors: []int{http.StatusConflict},
	}, func(ctx context.Context, in *JSON[blockedInput]) (*JSON[mapping.Blocked], error) {
		return answer(ms.Store.Block(ctx, in.Body.blocked(0, mapping.ByPerson)))
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/blocked-keywords/{id}", OperationID: "get-blocked-keyword", Tags: []string{tag},
		Summary: "Get a blocked keyword", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*JSON[mapping.Blocked], error) {
		return answer(ms.Store.GetBlocked(ctx, in.ID))
	})
	register(s, huma.Operation{
		Method: http.MethodPut, Path: "/api/blocked-keywords/{id}", OperationID: "replace-blocked-keyword", Tags: []string{tag},
		Summary: "Replace a blocked keyword", Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, func(ctx context.Context, in *struct {
		ByID
		JSON[blockedInput]
	}) (*JSON[mapping.Blocked], error) {
		return answer(ms.Store.UpdateBlocked(ctx, in.Body.blocked(in.ID, mapping.ByPerson)))
	})
	registerOther(s, huma.Operation{
		Method: http.MethodDelete, Path: "/api/blocked-keywords/{id}", OperationID: "delete-blocked-keyword", Tags: []string{tag},
		Summary: "Unblock a keyword", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*none, error) {
		return nil, ms.Store.Unblock(ctx, in.ID)
	})
}
