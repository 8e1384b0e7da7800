package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/notify"
	"watchmark/internal/notify/channel"
	"watchmark/internal/secret"
)

const notificationTag = "Notifications"

// channelInput is a channel of one type as a person enters it.
type channelInput[C channel.Config] struct {
	Name    string `json:"name" maxLength:"100" doc:"What people call it." example:"Family group"`
	Enabled *bool  `json:"enabled,omitempty" doc:"Whether rules may send to it; true when left out."`
	Config  C      `json:"config" doc:"Its settings. Where a secret reads *** it stays as it is."`
}

// channelOutput is a channel as it stands.
type channelOutput[C channel.Config] struct {
	ID      int64        `json:"id"`
	Type    channel.Type `json:"type" enum:"webhook,email,wecom,dingtalk"`
	Name    string       `json:"name"`
	Enabled bool         `json:"enabled"`
	Config  C            `json:"config" doc:"Its settings; secrets read ***."`
	Where   string       `json:"where" doc:"Where messages go, in a few words, without a secret."`
	ChannelStanding
}

// ChannelStanding is how sending to a channel goes.
type ChannelStanding struct {
	Paused      string     `json:"paused" doc:"Why nothing is sent until a person mends the channel; empty when it works. Changing it, or a test that works, resumes it."`
	Waiting     int        `json:"waiting" doc:"How many notices wait for it."`
	LastError   string     `json:"last_error" doc:"The newest failure; empty when the last message arrived."`
	LastErrorAt *time.Time `json:"last_error_at" doc:"When that was; null for never."`
	LastSentAt  *time.Time `json:"last_sent_at" doc:"When a message last arrived; null for never."`
	RetryAt     *time.Time `json:"retry_at" doc:"When it is tried again after a failure; null when nothing holds it up."`
	CreatedAt   time.Time  `json:"created_at"`
	UpdatedAt   time.Time  `json:"updated_at"`
}

func standingOf(c notify.Channel) ChannelStanding {
	return ChannelStanding{c.Paused, c.Waiting, c.LastError, orNever(c.LastErrorAt), orNever(c.LastSentAt), orNever(c.RetryAt), c.CreatedAt, c.UpdatedAt}
}

// orNever is t, or nil when it is zero.
func orNever(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// channelTest is how a test of a channel went.
type channelTest struct {
	ChannelID int64        `json:"channel_id"`
	Type      channel.Type `json:"type" enum:"webhook,email,wecom,dingtalk"`
	Name      string       `json:"name"`
	OK        bool         `json:"ok" doc:"Whether the receiver has taken the message."`
	LatencyMS int64        `json:"latency_ms" doc:"How long it took, in milliseconds."`
	Problem   string       `json:"problem" doc:"What went wrong; empty when nothing did."`
	Advice    string       `json:"advice" doc:"What to do about it; may be empty."`
}

func testsOf(results []notify.TestResult) []channelTest {
	tests := make([]channelTest, len(results))
	for i, r := range results {
		tests[i] = channelTest{r.ChannelID, r.Type, r.Name, r.OK, r.Latency.Milliseconds(), r.Problem, r.Advice}
	}
	return tests
}

func (s *server) registerNotifications() {
	registerChannels[channel.Webhook](s, "webhooks", "webhook", "webhook")
	registerChannels[channel.Email](s, "emails", "email", "mail address")
	registerChannels[channel.WeCom](s, "wecoms", "wecom", "WeCom group")
	registerChannels[channel.DingTalk](s, "dingtalks", "dingtalk", "DingTalk group")
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/notification/test", OperationID: "test-notifications", Tags: []string{notificationTag},
		Summary: "Send a test to all channels", Description: "Sends a test message to every channel that is enabled, past all rules, and answers how it went with each.",
		Errors: []int{http.StatusConflict},
	}, func(ctx context.Context, _ *none) (*JSON[struct {
		Results []channelTest `json:"results"`
	}], error) {
		results, err := s.Notices.Test(ctx)
		if err == nil && len(results) == 0 {
			err = problem(http.StatusConflict, "There is no channel that is switched on: add one first, or switch one on.")
		}
		return answer(struct {
			Results []channelTest `json:"results"`
		}{testsOf(results)}, err)
	})
	s.registerNotificationRules()
	s.registerInbox()
}

// registerChannels registers the resource of one type of channel.
func registerChannels[C channel.Config](s *server, plural, id, name string) {
	path := "/api/notification/" + plural
	get := func(ctx context.Context, id int64) (notify.Channel, C, error) {
		c, err := s.Notices.Channel(ctx, id)
		var config C
		if err != nil {
			return c, config, err
		}
		if c.Type != config.Type() {
			return c, config, notify.ErrNotFound
		}
		return c, configOf[C](c), nil
	}
	out := func(c notify.Channel, err error) (*JSON[channelOutput[C]], error) {
		if err != nil {
			return nil, err
		}
		return answer(outputOf[C](c), nil)
	}
	register(s, huma.Operation{
		Method: http.MethodGet, Path: path, OperationID: "list-" + id + "-channels", Tags: []string{notificationTag},
		Summary: "List the channels of type " + id, Description: "The oldest first.",
	}, func(ctx context.Context, in *struct{ PageQuery }) (*JSON[Page[channelOutput[C]]], error) {
		all, err := s.Notices.Channels(ctx)
		if err != nil {
			return nil, err
		}
		var outputs []channelOutput[C]
		for _, c := range all {
			var config C
			if c.Type == config.Type() {
				outputs = append(outputs, outputOf[C](c))
			}
		}
		return answer(pageOf(outputs, in.PageQuery))
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: path, OperationID: "create-" + id + "-channel", Tags: []string{notificationTag},
		Summary: "Add a " + name, Description: "Nothing is sent to it; test it afterwards.", DefaultStatus: http.StatusCreated, Errors: []int{http.StatusConflict},
	}, func(ctx context.Context, in *JSON[channelInput[C]]) (*JSON[channelOutput[C]], error) {
		c, err := in.Body.channel(nil)
		if err != nil {
			return nil, err
		}
		return out(s.Notices.CreateChannel(ctx, c))
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: path + "/{id}", OperationID: "get-" + id + "-channel", Tags: []string{notificationTag},
		Summary: "Get a " + name, Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*JSON[channelOutput[C]], error) {
		c, _, err := get(ctx, in.ID)
		return out(c, err)
	})
	register(s, huma.Operation{
		Method: http.MethodPut, Path: path + "/{id}", OperationID: "replace-" + id + "-channel", Tags: []string{notificationTag},
		Summary: "Replace a " + name, Description: "A channel that was paused is resumed.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *struct {
		ByID
		JSON[channelInput[C]]
	}) (*JSON[channelOutput[C]], error) {
		_, old, err := get(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		c, err := in.Body.channel(old)
		if err != nil {
			return nil, err
		}
		c.ID = in.ID
		return out(s.Notices.UpdateChannel(ctx, c))
	})
	registerOther(s, huma.Operation{
		Method: http.MethodDelete, Path: path + "/{id}", OperationID: "delete-" + id + "-channel", Tags: []string{notificationTag},
		Summary: "Remove a " + name, Description: "What waits for it is not sent any more. Rules that name no other channel are switched off.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*none, error) {
		if _, _, err := get(ctx, in.ID); err != nil {
			return nil, err
		}
		return nil, s.Notices.DeleteChannel(ctx, in.ID)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: path + "/{id}/test", OperationID: "test-" + id + "-channel", Tags: []string{notificationTag},
		Summary: "Send a test to a " + name, Description: "Sends a test message past all rules, also to a channel that is switched off. One that works resumes a paused channel.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*JSON[channelTest], error) {
		if _, _, err := get(ctx, in.ID); err != nil {
			return nil, err
		}
		results, err := s.Notices.Test(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		return answer(testsOf(results)[0], nil)
	})
}

// channel is the input as it is stored; secrets that were not touched are those of old.
func (in channelInput[C]) channel(old channel.Config) (notify.Channel, error) {
	config, wrong := in.Config.Keep(old).Check()
	if len(wrong) > 0 {
		fields := make([]FieldProblem, len(wrong))
		for i, w := range wrong {
			fields[i] = FieldProblem{"body.config." + w.Field, w.Problem}
		}
		return notify.Channel{}, fieldProblems(fields)
	}
	return notify.Channel{Type: config.Type(), Name: in.Name, Enabled: orTrue(in.Enabled), Config: secret.Text(config.Plain())}, nil
}

// configOf is the configuration of a channel of that type; zero when it cannot be read any more.
func configOf[C channel.Config](c notify.Channel) C {
	config, _ := channel.Read(c.Type, c.Config.Reveal()) // the channel is paused then, and says so
	read, _ := config.(C)
	return read
}

func outputOf[C channel.Config](c notify.Channel) channelOutput[C] {
	config := configOf[C](c)
	return channelOutput[C]{c.ID, c.Type, c.Name, c.Enabled, config, config.Where(), standingOf(c)}
}

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
	Users     []string      `json:"users,omitempty" doc:"Whom it tells of: names of media-server users or of catalog accounts, compared exactly. Empty is everybody, and what concerns nobody." example:"[\"mira\"]"`
	Channels  []int64       `json:"channels,omitempty" doc:"Where to; empty is every channel that is enabled."`
	Title     string        `json:"title,omitempty" doc:"A title of its own, with {placeholders}; empty takes the standard one."`
	Text      string        `json:"text,omitempty" doc:"A text of its own, with {placeholders}; empty takes the standard one."`
	QuietFrom string        `json:"quiet_from,omitempty" doc:"When quiet hours begin, in the local time of the service. What comes in them is told at their end." example:"22:30"`
	QuietTo   string        `json:"quiet_to,omitempty" doc:"When quiet hours end." example:"07:00"`
	Cooldown  *int          `json:"cooldown,omitempty" doc:"For how many seconds the same matter is not told again: the same kind, account and subject; 600 when left out."`
}

func (in ruleInput) rule(id int64) notify.Rule {
	r := notify.Rule{ID: id, Name: in.Name, Enabled: orTrue(in.Enabled), Kinds: in.Kinds, Users: in.Users, Channels: in.Channels,
		Title: in.Title, Text: in.Text, QuietFrom: in.QuietFrom, QuietTo: in.QuietTo, Cooldown: 600}
	if in.Cooldown != nil {
		r.Cooldown = *in.Cooldown
	}
	return r
}

func (s *server) registerNotificationRules() {
	const path = "/api/notification/rules"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/notification/types", OperationID: "list-notification-types", Tags: []string{notificationTag},
		Summary: "List what can be told", Description: "Every kind of notice, with the placeholders that templates may use for it beside the common ones.",
	}, func(context.Context, *none) (*JSON[struct {
		Items  []kindOutput `json:"items"`
		Common []string     `json:"common_placeholders" doc:"Placeholders that every kind fills."`
	}], error) {
		var items []kindOutput
		for _, k := range notify.Kinds() {
			items = append(items, kindOutput{k.Kind, k.Name(notify.English), k.Name(notify.Chinese), k.Group, k.Severity.String(), k.First, k.Routine, append([]string{}, k.Placeholders...)})
		}
		return answer(struct {
			Items  []kindOutput `json:"items"`
			Common []string     `json:"common_placeholders" doc:"Placeholders that every kind fills."`
		}{items, notify.Common}, nil)
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: path, OperationID: "list-notification-rules", Tags: []string{notificationTag},
		Summary: "List the rules", Description: "Without a rule nothing is sent. The oldest first.",
	}, func(ctx context.Context, in *struct{ PageQuery }) (*JSON[Page[notify.Rule]], error) {
		all, err := s.Notices.Rules(ctx)
		if err != nil {
			return nil, err
		}
		return answer(pageOf(all, in.PageQuery))
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: path, OperationID: "create-notification-rule", Tags: []string{notificationTag},
		Summary: "Add a rule", DefaultStatus: http.StatusCreated, Errors: []int{http.StatusConflict},
	}, func(ctx context.Context, in *JSON[ruleInput]) (*JSON[notify.Rule], error) {
		return answer(s.Notices.CreateRule(ctx, in.Body.rule(0)))
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: path + "/{id}", OperationID: "get-notification-rule", Tags: []string{notificationTag},
		Summary: "Get a rule", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*JSON[notify.Rule], error) {
		return answer(s.Notices.Rule(ctx, in.ID))
	})
	register(s, huma.Operation{
		Method: http.MethodPut, Path: path + "/{id}", OperationID: "replace-notification-rule", Tags: []string{notificationTag},
		Summary: "Replace a rule", Description: "What waits for a rule that is switched off is not sent any more.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *struct {
		ByID
		JSON[ruleInput]
	}) (*JSON[notify.Rule], error) {
		return answer(s.Notices.UpdateRule(ctx, in.Body.rule(in.ID)))
	})
	registerOther(s, huma.Operation{
		Method: http.MethodDelete, Path: path + "/{id}", OperationID: "delete-notification-rule", Tags: []string{notificationTag},
		Summary: "Remove a rule", Description: "What waits for it is not sent any more.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*none, error) {
		return nil, s.Notices.DeleteRule(ctx, in.ID)
	})
}

// NoticeAnswer is a notice of the inbox.
type NoticeAnswer struct {
	ID        int64             `json:"id"`
	Kind      notify.Kind       `json:"kind" example:"mark_failed"`
	At        time.Time         `json:"at"`
	Severity  string            `json:"severity" enum:"info,success,warning,error"`
	Unread    bool              `json:"unread" doc:"Never set for what comes with every event."`
	Title     string            `json:"title" doc:"The standard title, in the language of notification.language."`
	Text      string            `json:"text"`
	UserName  string            `json:"user_name"`
	AccountID int64             `json:"account_id"`
	Account   string            `json:"account"`
	RecordID  int64             `json:"record_id" doc:"The record it tells of; 0 for none."`
	Facts     map[string]string `json:"facts" doc:"What its text is made of."`
}

func (s *server) noticeOf(e notify.Entry) NoticeAnswer {
	language := s.Notices.Language()
	title, text := e.Retold(func(said string) string { return s.Notices.Say(language, said) }).Words(language)
	return NoticeAnswer{e.ID, e.Kind, e.At, e.Severity.String(), e.Unread, title, text, e.User, e.AccountID, e.Account, e.RecordID, e.Facts}
}

// deliveryOutput is a notice on its way to one channel.
type deliveryOutput struct {
	ID        int64        `json:"id"`
	ChannelID int64        `json:"channel_id"`
	Channel   string       `json:"channel"`
	RuleID    int64        `json:"rule_id" doc:"The rule that told it; 0 for what went past the rules."`
	State     notify.State `json:"state" enum:"waiting,sending,sent,failed,unsure,dropped" doc:"unsure: the service ended while it was being sent, so it may have arrived. dropped: too much waited for the channel, or channel or rule were switched off."`
	Tries     int          `json:"tries"`
	Problem   string       `json:"problem" doc:"Why it was not sent; empty when it was."`
	CreatedAt time.Time    `json:"created_at"`
	UpdatedAt time.Time    `json:"updated_at"`
}

func (s *server) registerInbox() {
	const path = "/api/notification/inbox"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: path, OperationID: "list-notices", Tags: []string{notificationTag},
		Summary: "List what happened", Description: "The inbox: every notice, whether a rule sends it or not. The newest first.",
	}, func(ctx context.Context, in *struct {
		PageQuery
		Kind      string `query:"kind" maxLength:"40" doc:"Only this kind." example:"mark_failed"`
		Attention bool   `query:"attention" doc:"Only warnings and errors."`
		Unread    bool   `query:"unread" doc:"Only what nobody has read."`
		Text      string `query:"q" maxLength:"200" doc:"Only notices with this text in them."`
	}) (*JSON[Page[NoticeAnswer]], error) {
		before, err := in.position()
		if err != nil {
			return nil, err
		}
		f := notify.Filter{Attention: in.Attention, Unread: in.Unread, Text: in.Text, Before: before, Limit: in.Limit}
		if in.Kind != "" {
			f.Kinds = []notify.Kind{notify.Kind(in.Kind)}
		}
		entries, next, err := s.Notices.List(ctx, f)
		page := Page[NoticeAnswer]{Items: []NoticeAnswer{}, NextCursor: cursorOf(next)}
		for _, e := range entries {
			page.Items = append(page.Items, s.noticeOf(e))
		}
		return answer(page, err)
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: path + "/unread", OperationID: "count-unread-notices", Tags: []string{notificationTag},
		Summary: "Count what nobody has read", Description: "Without what comes with every event. Neither is counted beyond 1000.",
	}, func(ctx context.Context, _ *none) (*JSON[struct {
		All       int `json:"all"`
		Attention int `json:"attention" doc:"How much of it is a warning or an error."`
	}], error) {
		unread, err := s.Notices.Unread(ctx)
		return answer(struct {
			All       int `json:"all"`
			Attention int `json:"attention" doc:"How much of it is a warning or an error."`
		}{unread.All, unread.Attention}, err)
	})
	registerOther(s, huma.Operation{
		Method: http.MethodPost, Path: path + "/read", OperationID: "read-notices", Tags: []string{notificationTag},
		Summary: "Mark notices as read", Description: "Those with the ids given, or all up to and with one id: give the newest that a person has seen.",
	}, func(ctx context.Context, in *JSON[struct {
		IDs  []int64 `json:"ids,omitempty" maxItems:"200"`
		UpTo int64   `json:"up_to,omitempty" minimum:"0"`
	}]) (*none, error) {
		var err error
		if len(in.Body.IDs) > 0 {
			err = s.Notices.MarkRead(ctx, in.Body.IDs...)
		}
		if in.Body.UpTo > 0 {
			err = errors.Join(err, s.Notices.MarkAllRead(ctx, in.Body.UpTo))
		}
		return nil, err
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: path + "/{id}", OperationID: "get-notice", Tags: []string{notificationTag},
		Summary: "Get a notice", Description: "With what became of it at each channel.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*JSON[struct {
		NoticeAnswer
		Deliveries []deliveryOutput `json:"deliveries"`
	}], error) {
		e, err := s.Notices.Get(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		deliveries, err := s.Notices.Deliveries(ctx, in.ID)
		outputs := make([]deliveryOutput, len(deliveries))
		for i, d := range deliveries {
			outputs[i] = deliveryOutput{d.ID, d.ChannelID, d.Channel, d.RuleID, d.State, d.Tries, d.Problem, d.CreatedAt, d.UpdatedAt}
		}
		return answer(struct {
			NoticeAnswer
			Deliveries []deliveryOutput `json:"deliveries"`
		}{s.noticeOf(e), outputs}, err)
	})
	registerOther(s, huma.Operation{
		Method: http.MethodDelete, Path: path + "/{id}", OperationID: "delete-notice", Tags: []string{notificationTag},
		Summary: "Remove a notice", Description: "What of it waits to be sent is not sent any more.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*none, error) {
		if _, err := s.Notices.Get(ctx, in.ID); err != nil {
			return nil, err
		}
		return nil, s.Notices.Delete(ctx, in.ID)
	})
	registerOther(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/notification/deliveries/{id}/resend", OperationID: "resend-delivery", Tags: []string{notificationTag},
		Summary: "Send a notice to a channel again", Description: "One that failed, was dropped, or may not have arrived.", Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, func(ctx context.Context, in *ByID) (*none, error) {
		return nil, s.Notices.Resend(ctx, in.ID)
	})
}
