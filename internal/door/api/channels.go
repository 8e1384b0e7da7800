package api

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/platform/secret"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
)

const notificationTag = "Notifications"

// channelInput is a channel as a person enters it. What Config holds depends on the type of the channel.
type channelInput struct {
	Name    string          `json:"name" maxLength:"100" doc:"What people call it." example:"Family group"`
	Enabled *bool           `json:"enabled,omitempty" doc:"Whether rules may send to it; true when left out."`
	Config  json.RawMessage `json:"config" doc:"Its settings. Where a secret reads *** it stays as it is."`
}

// channelOutput is a channel as it stands.
type channelOutput struct {
	ID      int64          `json:"id"`
	Type    channelType    `json:"type"`
	Name    string         `json:"name"`
	Enabled bool           `json:"enabled"`
	Config  channel.Config `json:"config" doc:"Its settings; secrets read ***."`
	Where   string         `json:"where" doc:"Where messages go, in a few words, without a secret."`
	ChannelStanding
}

// channelType is the type of a channel.
type channelType channel.Type

// Schema lists the types that there are.
func (channelType) Schema(huma.Registry) *huma.Schema { return oneOf(channel.Types()) }

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
	ChannelID int64       `json:"channel_id"`
	Type      channelType `json:"type"`
	Name      string      `json:"name"`
	OK        bool        `json:"ok" doc:"Whether the receiver has taken the message."`
	LatencyMS int64       `json:"latency_ms" doc:"How long it took, in milliseconds."`
	Problem   string      `json:"problem" doc:"What went wrong; empty when nothing did."`
	Advice    string      `json:"advice" doc:"What to do about it; may be empty."`
}

// channelTests is how a test of all channels went.
type channelTests struct {
	Results []channelTest `json:"results"`
}

func testsOf(results []notify.TestResult) []channelTest {
	tests := make([]channelTest, len(results))
	for i, r := range results {
		tests[i] = channelTest{r.ChannelID, channelType(r.Type), r.Name, r.OK, r.Latency.Milliseconds(), r.Problem, r.Advice}
	}
	return tests
}

func (s *server) registerChannels() {
	for _, a := range channel.Adapters {
		s.registerChannelsOf(a)
	}
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

// registerChannelsOf registers the resource of one type of channel.
func (s *server) registerChannelsOf(a channel.Adapter) {
	id, name := string(a.Type), a.Noun
	path := "/api/notification/" + id + "s"
	types := channelTypesOf(a)
	body := func() *huma.RequestBody { return &huma.RequestBody{Content: s.content(types.input, true)} }
	answers := func(status string, t reflect.Type) map[string]*huma.Response {
		return map[string]*huma.Response{status: {Content: s.content(t, s.forDocument)}}
	}
	get := func(ctx context.Context, id int64) (notify.Channel, error) {
		c, err := s.Notices.Channel(ctx, id)
		if err == nil && c.Type != a.Type {
			err = notify.ErrNotFound
		}
		return c, err
	}
	out := func(c notify.Channel, err error) (*JSON[channelOutput], error) {
		if err != nil {
			return nil, err
		}
		return answer(outputOf(a, c), nil)
	}
	register(s, huma.Operation{
		Method: http.MethodGet, Path: path, OperationID: "list-" + id + "-channels", Tags: []string{notificationTag},
		Summary: "List the channels of type " + id, Description: "The oldest first.", Responses: answers("200", types.page),
	}, func(ctx context.Context, in *struct{ PageQuery }) (*JSON[Page[channelOutput]], error) {
		all, err := s.Notices.Channels(ctx)
		if err != nil {
			return nil, err
		}
		var outputs []channelOutput
		for _, c := range all {
			if c.Type == a.Type {
				outputs = append(outputs, outputOf(a, c))
			}
		}
		return answer(pageOf(outputs, in.PageQuery))
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: path, OperationID: "create-" + id + "-channel", Tags: []string{notificationTag},
		Summary: "Add a " + name, Description: "Nothing is sent to it; test it afterwards.", DefaultStatus: http.StatusCreated, Errors: []int{http.StatusConflict},
		RequestBody: body(), Responses: answers("201", types.output),
	}, func(ctx context.Context, in *JSON[channelInput]) (*JSON[channelOutput], error) {
		c, err := in.Body.channel(a, nil)
		if err != nil {
			return nil, err
		}
		return out(s.Notices.CreateChannel(ctx, c))
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: path + "/{id}", OperationID: "get-" + id + "-channel", Tags: []string{notificationTag},
		Summary: "Get a " + name, Errors: []int{http.StatusNotFound}, Responses: answers("200", types.output),
	}, func(ctx context.Context, in *ByID) (*JSON[channelOutput], error) {
		return out(get(ctx, in.ID))
	})
	register(s, huma.Operation{
		Method: http.MethodPut, Path: path + "/{id}", OperationID: "replace-" + id + "-channel", Tags: []string{notificationTag},
		Summary: "Replace a " + name, Description: "A channel that was paused is resumed.", Errors: []int{http.StatusNotFound},
		RequestBody: body(), Responses: answers("200", types.output),
	}, func(ctx context.Context, in *struct {
		ByID
		JSON[channelInput]
	}) (*JSON[channelOutput], error) {
		old, err := get(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		c, err := in.Body.channel(a, configOf(a, old))
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
		if _, err := get(ctx, in.ID); err != nil {
			return nil, err
		}
		return nil, s.Notices.DeleteChannel(ctx, in.ID)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: path + "/{id}/test", OperationID: "test-" + id + "-channel", Tags: []string{notificationTag},
		Summary: "Send a test to a " + name, Description: "Sends a test message past all rules, also to a channel that is switched off. One that works resumes a paused channel.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*JSON[channelTest], error) {
		if _, err := get(ctx, in.ID); err != nil {
			return nil, err
		}
		results, err := s.Notices.Test(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		return answer(testsOf(results)[0], nil)
	})
}

// content is a JSON body of type t; without its schema when that is not wanted.
func (s *server) content(t reflect.Type, described bool) map[string]*huma.MediaType {
	if !described {
		return nil
	}
	return map[string]*huma.MediaType{"application/json": {Schema: s.api.OpenAPI().Components.Schemas.Schema(t, true, "")}}
}

// channelTypes are the Go types that describe the bodies of one type of channel.
type channelTypes struct{ config, input, output, page reflect.Type }

func channelTypesOf(a channel.Adapter) channelTypes {
	t := channelTypes{config: reflect.TypeOf(a.Empty())}
	t.input = with(reflect.TypeFor[channelInput](), "Config", t.config)
	t.output = with(reflect.TypeFor[channelOutput](), "Config", t.config)
	t.page = with(reflect.TypeFor[Page[channelOutput]](), "Items", reflect.SliceOf(t.output))
	return t
}

// with is the struct type t whose field called name is of another type.
func with(t reflect.Type, name string, other reflect.Type) reflect.Type {
	fields := reflect.VisibleFields(t)
	fields = slices.DeleteFunc(fields, func(f reflect.StructField) bool { return len(f.Index) > 1 })
	for i := range fields {
		if fields[i].Name == name {
			fields[i].Type = other
		}
	}
	return reflect.StructOf(fields)
}

// channelSchemas are the names of the schemas of all types of channels.
var channelSchemas = func() map[reflect.Type]string {
	names := map[reflect.Type]string{}
	for _, a := range channel.Adapters {
		t := channelTypesOf(a)
		name := t.config.Name() + "Config"
		names[t.config], names[t.input], names[t.output], names[t.page] = name, name+"ChannelInput", name+"ChannelOutput", name+"ChannelOutputPage"
	}
	return names
}()

// channel is the input as it is stored; secrets that were not touched are those of old.
func (in channelInput) channel(a channel.Adapter, old channel.Config) (notify.Channel, error) {
	config, err := a.Read(string(in.Config))
	if err != nil { // a number that is none of Go's, such as 1e3
		return notify.Channel{}, fieldProblem("body.config", "cannot be read")
	}
	config, wrong := config.Keep(old).Check()
	if len(wrong) > 0 {
		fields := make([]FieldProblem, len(wrong))
		for i, w := range wrong {
			fields[i] = FieldProblem{"body.config." + w.Field, w.Problem}
		}
		return notify.Channel{}, fieldProblems(fields)
	}
	return notify.Channel{Type: a.Type, Name: in.Name, Enabled: orTrue(in.Enabled), Config: secret.Text(config.Plain())}, nil
}

// configOf is the configuration of a channel of type a; empty when it cannot be read any more.
func configOf(a channel.Adapter, c notify.Channel) channel.Config {
	config, err := a.Read(c.Config.Reveal())
	if err != nil { // the channel is paused then, and says so
		return a.Empty()
	}
	return config
}

func outputOf(a channel.Adapter, c notify.Channel) channelOutput {
	config := configOf(a, c)
	return channelOutput{c.ID, channelType(c.Type), c.Name, c.Enabled, config, config.Where(), standingOf(c)}
}
