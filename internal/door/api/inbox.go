package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/door/access"
	"watchmark/internal/platform/reason"
	"watchmark/internal/tell/notify"
)

// NoticeAnswer is a notice of the inbox.
type NoticeAnswer struct {
	ID        int64             `json:"id"`
	Kind      notify.Kind       `json:"kind" example:"mark_failed"`
	At        time.Time         `json:"at"`
	Severity  string            `json:"severity" enum:"info,success,warning,error"`
	Unread    bool              `json:"unread" doc:"Whether the caller has not read it. Never set for what comes with every event, nor to the owner for what is a person's."`
	Title     string            `json:"title" doc:"The standard title, in the language of notification.language."`
	Text      string            `json:"text"`
	UserName  string            `json:"user_name"`
	AccountID int64             `json:"account_id"`
	Account   string            `json:"account"`
	RecordID  int64             `json:"record_id" doc:"The record it tells of; 0 for none."`
	Facts     map[string]string `json:"facts" doc:"What its text is made of."`
	Times     int               `json:"times" doc:"How often its matter came up, of a warning or an error: this notice stands for those before it."`
	Replaced  bool              `json:"replaced" doc:"Whether a newer notice of the same matter stands for it."`
	SettledAt *time.Time        `json:"settled_at" doc:"When the matter was settled; null while it is open."`
}

func (n Notifications) noticeOf(e notify.Entry) NoticeAnswer {
	title, text := e.Words(n.Notices.Language())
	return NoticeAnswer{e.ID, e.Kind, e.At, e.Severity.String(), e.Unread, title, text, e.User, e.AccountID, e.Account, e.RecordID, e.Facts, e.Times, e.Replaced, orNil(e.OverAt)}
}

// deliveryOutput is a notice on its way to one channel.
type deliveryOutput struct {
	ID        int64         `json:"id"`
	ChannelID int64         `json:"channel_id"`
	Channel   string        `json:"channel"`
	RuleID    int64         `json:"rule_id" doc:"The rule that told it; 0 for what went past the rules."`
	State     notify.State  `json:"state" enum:"waiting,sending,sent,failed,unsure,dropped" doc:"unsure: the service ended while it was being sent, so it may have arrived. dropped: too much waited for the channel, or channel or rule were switched off."`
	Tries     int           `json:"tries"`
	Problem   reason.Reason `json:"problem_value,omitzero" doc:"Why it was not sent; empty when it was."`
	CreatedAt time.Time     `json:"created_at"`
	UpdatedAt time.Time     `json:"updated_at"`
}

// MarshalJSON has the texts of reasons beside them.
func (d deliveryOutput) MarshalJSON() ([]byte, error) {
	type plain deliveryOutput
	return reason.MarshalBeside((*plain)(&d))
}

// deliveredNotice is a notice with what became of it at each channel.
type deliveredNotice struct {
	NoticeAnswer
	Deliveries []deliveryOutput `json:"deliveries"`
}

// unreadCount is how much the caller has not read.
type unreadCount struct {
	All       int `json:"all"`
	Attention int `json:"attention" doc:"How much of it is a warning or an error."`
}

// readInput says which notices somebody has read.
type readInput struct {
	IDs  []int64 `json:"ids,omitempty" maxItems:"200"`
	UpTo int64   `json:"up_to,omitempty" minimum:"0"`
}

func (n Notifications) registerInbox(s *server) {
	const path = "/api/notification/inbox"
	s.owned[access.Notice] = func(ctx context.Context, id int64) error {
		_, err := n.Notices.Get(ctx, id)
		return err
	}
	s.owned[access.Delivery] = n.Notices.Resendable
	register(s, huma.Operation{
		Method: http.MethodGet, Path: path, OperationID: "list-notices", Tags: []string{notificationTag},
		Summary: "List what happened", Description: "The inbox: every notice that the caller may see, whether a rule sends it or not. The newest first.",
	}, func(ctx context.Context, in *struct {
		PageQuery
		Kind      string `query:"kind" maxLength:"40" doc:"Only this kind." example:"mark_failed"`
		Attention bool   `query:"attention" doc:"Only warnings and errors."`
		Unread    bool   `query:"unread" doc:"Only what the caller has not read."`
		Text      string `query:"q" maxLength:"200" doc:"Only notices with this text in them."`
	}) (*JSON[Page[NoticeAnswer]], error) {
		f := notify.Filter{Attention: in.Attention, Unread: in.Unread, Text: in.Text, Before: in.seen, Limit: in.Limit}
		if in.Kind != "" {
			f.Kinds = []notify.Kind{notify.Kind(in.Kind)}
		}
		entries, next, err := n.Notices.List(ctx, f)
		page := Page[NoticeAnswer]{Items: []NoticeAnswer{}, NextCursor: cursorOf(next)}
		for _, e := range entries {
			page.Items = append(page.Items, n.noticeOf(e))
		}
		return answer(page, err)
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: path + "/unread", OperationID: "count-unread-notices", Tags: []string{notificationTag},
		Summary: "Count unread notices", Description: "Without what comes with every event. Neither is counted beyond 1000.",
	}, func(ctx context.Context, _ *none) (*JSON[unreadCount], error) {
		unread, err := n.Notices.Unread(ctx)
		return answer(unreadCount{unread.All, unread.Attention}, err)
	})
	registerOther(s, huma.Operation{
		Method: http.MethodPost, Path: path + "/read", OperationID: "read-notices", Tags: []string{notificationTag},
		Summary: "Mark notices as read", Description: "Those with the ids given, or all up to and with one id: give the newest that a person has seen.",
	}, func(ctx context.Context, in *JSON[readInput]) (*none, error) {
		var err error
		if len(in.Body.IDs) > 0 {
			err = n.Notices.MarkRead(ctx, in.Body.IDs...)
		}
		if in.Body.UpTo > 0 {
			err = errors.Join(err, n.Notices.MarkAllRead(ctx, in.Body.UpTo))
		}
		return nil, err
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: path + "/{id}", OperationID: "get-notice", Tags: []string{notificationTag},
		Summary: "Get a notice", Description: "With what became of it at each channel of the caller.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*JSON[deliveredNotice], error) {
		e, err := n.Notices.Get(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		deliveries, err := n.Notices.Deliveries(ctx, in.ID)
		outputs := make([]deliveryOutput, len(deliveries))
		for i, d := range deliveries {
			outputs[i] = deliveryOutput{d.ID, d.ChannelID, d.Channel, d.RuleID, d.State, d.Tries, d.Problem, d.CreatedAt, d.UpdatedAt}
		}
		return answer(deliveredNotice{n.noticeOf(e), outputs}, err)
	})
	registerOther(s, huma.Operation{
		Method: http.MethodDelete, Path: path + "/{id}", OperationID: "delete-notice", Tags: []string{notificationTag},
		Summary: "Remove a notice", Description: "What of it waits to be sent is not sent any more.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*none, error) {
		if _, err := n.Notices.Get(ctx, in.ID); err != nil {
			return nil, err
		}
		return nil, n.Notices.Delete(ctx, in.ID)
	})
	registerOther(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/notification/deliveries/{id}/resend", OperationID: "resend-delivery", Tags: []string{notificationTag},
		Summary: "Send a notice to a channel again", Description: "One that failed, was dropped, or may not have arrived.", Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusTooManyRequests},
	}, func(ctx context.Context, in *ByID) (*none, error) {
		return nil, n.Notices.Resend(ctx, in.ID)
	})
}
