package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/door/access"
	"watchmark/internal/platform/bilingual"
	"watchmark/internal/tell/notify"
)

// kindOutput is a kind of notice as rules name it.
type kindOutput struct {
	Kind         notify.Kind  `json:"kind" example:"marked"`
	Name         string       `json:"name" doc:"What people call it." example:"Marked"`
	NameZH       string       `json:"name_zh" doc:"The same in Chinese." example:"已标记"`
	Group        notify.Group `json:"group" enum:"events,matching,accounts,catalog,sources,work,system"`
	Severity     string       `json:"severity" enum:"info,success,warning,error"`
	First        bool         `json:"first" doc:"Whether the rule that is there at first tells it."`
	Routine      bool         `json:"routine" doc:"Whether it comes with every event: the inbox keeps fewer of these, and they are never unread."`
	Placeholders []string     `json:"placeholders" doc:"Those that it fills, beside the common ones."`
}

// ruleInput is a rule as a person enters it.
type ruleInput struct {
	Name      string        `json:"name" maxLength:"100" example:"What needs me"`
	Enabled   *bool         `json:"enabled,omitempty" doc:"Whether it sends; true when left out."`
	Kinds     []notify.Kind `json:"kinds,omitempty" doc:"What it tells, see GET /api/notification/types; empty is everything." example:"[\"mark_failed\",\"token_dead\"]"`
	Users     []string      `json:"users,omitempty" doc:"Whom it tells of: names of media-server users or of Bangumi accounts, compared exactly. Empty is everybody, and what concerns nobody." example:"[\"mira\"]"`
	Channels  []int64       `json:"channels,omitempty" doc:"Where to; empty is every channel that is enabled."`
	Title     string        `json:"title,omitempty" doc:"A title of its own, with {placeholders}; empty takes the standard one."`
	Text      string        `json:"text,omitempty" doc:"A text of its own, with {placeholders}; empty takes the standard one."`
	QuietFrom string        `json:"quiet_from,omitempty" doc:"When quiet hours begin, in the local time of the service. What comes in them is told at their end." example:"22:30"`
	QuietTo   string        `json:"quiet_to,omitempty" doc:"When quiet hours end." example:"07:00"`
	OwnOnly   bool          `json:"own_only,omitempty" doc:"Whether it leaves out what is about the accounts of people who sign in by themselves; of rules of the owner."`
	Cooldown  *int          `json:"cooldown,omitempty" doc:"For how many seconds the same matter is not told again: the same kind, account and entry; 600 when left out."`
}

// noticeKinds is all that can be told.
type noticeKinds struct {
	Items  []kindOutput `json:"items"`
	Common []string     `json:"common_placeholders" doc:"Placeholders that every kind fills."`
}

func (in ruleInput) rule(id int64) notify.Rule {
	r := notify.Rule{ID: id, Name: in.Name, Enabled: orTrue(in.Enabled), Kinds: in.Kinds, Users: in.Users, Channels: in.Channels,
		Title: in.Title, Text: in.Text, QuietFrom: in.QuietFrom, QuietTo: in.QuietTo, OwnOnly: in.OwnOnly, Cooldown: 600}
	if in.Cooldown != nil {
		r.Cooldown = *in.Cooldown
	}
	return r
}

func (n Notifications) registerRules(s *server) {
	const path = "/api/notification/rules"
	s.owned[access.MessageRule] = func(ctx context.Context, id int64) error {
		_, err := n.Notices.Rule(ctx, id)
		return err
	}
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/notification/types", OperationID: "list-notification-types", Tags: []string{notificationTag},
		Summary: "List what can be told", Description: "Every kind of notice, with the placeholders that templates may use for it beside the common ones.",
	}, func(context.Context, *none) (*JSON[noticeKinds], error) {
		var items []kindOutput
		for _, k := range notify.Kinds() {
			items = append(items, kindOutput{k.Kind, k.Name(bilingual.English), k.Name(bilingual.Chinese), k.Group, k.Severity.String(), k.First, k.Routine, append([]string{}, k.Placeholders...)})
		}
		return answer(noticeKinds{items, notify.Common}, nil)
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: path, OperationID: "list-notification-rules", Tags: []string{notificationTag},
		Summary: "List the rules", Description: "Without a rule nothing is sent. The oldest first.",
	}, func(ctx context.Context, in *struct{ PageQuery }) (*JSON[Page[notify.Rule]], error) {
		all, err := n.Notices.Rules(ctx)
		return paged(in.PageQuery, all, err)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: path, OperationID: "create-notification-rule", Tags: []string{notificationTag},
		Summary: "Add a rule", DefaultStatus: http.StatusCreated, Errors: []int{http.StatusConflict},
	}, func(ctx context.Context, in *JSON[ruleInput]) (*JSON[notify.Rule], error) {
		return answer(n.Notices.CreateRule(ctx, in.Body.rule(0)))
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: path + "/{id}", OperationID: "get-notification-rule", Tags: []string{notificationTag},
		Summary: "Get a rule", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*JSON[notify.Rule], error) {
		return answer(n.Notices.Rule(ctx, in.ID))
	})
	register(s, huma.Operation{
		Method: http.MethodPut, Path: path + "/{id}", OperationID: "replace-notification-rule", Tags: []string{notificationTag},
		Summary: "Replace a rule", Description: "What waits for a rule that is switched off is not sent any more.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *struct {
		ByID
		JSON[ruleInput]
	}) (*JSON[notify.Rule], error) {
		return answer(n.Notices.UpdateRule(ctx, in.Body.rule(in.ID)))
	})
	registerOther(s, huma.Operation{
		Method: http.MethodDelete, Path: path + "/{id}", OperationID: "delete-notification-rule", Tags: []string{notificationTag},
		Summary: "Remove a rule", Description: "What waits for it is not sent any more.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*none, error) {
		return nil, n.Notices.DeleteRule(ctx, in.ID)
	})
}
