package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/platform/secret"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
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
	return ChannelStanding{c.Paused, c.Waiting, c.LastError, orNil(c.LastErrorAt), orNil(c.LastSentAt), orNil(c.RetryAt), c.CreatedAt, c.UpdatedAt}
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

// channelTests is how a test of all channels went.
type channelTests struct {
	Results []channelTest `json:"results"`
}

func testsOf(results []notify.TestResult) []channelTest {
	tests := make([]channelTest, len(results))
	for i, r := range results {
		tests[i] = channelTest{r.ChannelID, r.Type, r.Name, r.OK, r.Latency.Milliseconds(), r.Problem, r.Advice}
	}
	return tests
}

func (s *server) registerChannels() {
	registerChannelsOf[channel.Webhook](s, "webhook")
	registerChannelsOf[channel.Email](s, "mail address")
	registerChannelsOf[channel.WeCom](s, "WeCom group")
	registerChannelsOf[channel.DingTalk](s, "DingTalk group")
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/notification/test", OperationID: "test-notifications", Tags: []string{notificationTag},
		Summary: "Send a test to all channels", Description: "Sends a test message to every channel that is enabled, past all rules, and answers how it went with each.",
		Errors: []int{http.StatusConflict},
	}, func(ctx context.Context, _ *none) (*JSON[channelTests], error) {
		results, err := s.Notices.Test(ctx)
		if err == nil && len(results) == 0 {
			err = problem(http.StatusConflict, "There is no channel that is switched on: add one first, or switch one on.")
		}
		return answer(channelTests{testsOf(results)}, err)
	})
}

// registerChannelsOf registers the resource of one type of channel; name is what such a channel is called.
func registerChannelsOf[C channel.Config](s *server, name string) {
	var zero C
	kind := zero.Type()
	id := string(kind)
	path := "/api/notification/" + id + "s"
	get := func(ctx context.Context, id int64) (notify.Channel, C, error) {
		c, err := s.Notices.Channel(ctx, id)
		var config C
		if err != nil {
			return c, config, err
		}
		if c.Type != kind {
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
			if c.Type == kind {
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
