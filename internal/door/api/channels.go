package api

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/door/access"
	"watchmark/internal/door/problem"
	"watchmark/internal/platform/reason"
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
	Paused         string        `json:"paused" doc:"Why nothing is sent until a person mends the channel; empty when it works. Changing it, or a test that works, resumes it."`
	PausedValue    reason.Reason `json:"paused_value,omitzero"`
	Waiting        int           `json:"waiting" doc:"How many notices wait for it."`
	LastError      string        `json:"last_error" doc:"The newest failure; empty when the last message arrived."`
	LastErrorValue reason.Reason `json:"last_error_value,omitzero"`
	LastErrorAt    *time.Time    `json:"last_error_at" doc:"When that was; null for never."`
	LastSentAt     *time.Time    `json:"last_sent_at" doc:"When a message last arrived; null for never."`
	RetryAt        *time.Time    `json:"retry_at" doc:"When it is tried again after a failure; null when nothing holds it up."`
	CreatedAt      time.Time     `json:"created_at"`
	UpdatedAt      time.Time     `json:"updated_at"`
}

func standingOf(c notify.Channel) ChannelStanding {
	return ChannelStanding{c.Paused.Text, c.Paused, c.Waiting, c.LastError.Text, c.LastError, orNil(c.LastErrorAt), orNil(c.LastSentAt), orNil(c.RetryAt), c.CreatedAt, c.UpdatedAt}
}

// channelTest is how a test of a channel went.
type channelTest struct {
	ChannelID int64         `json:"channel_id"`
	Type      channelType   `json:"type"`
	Name      string        `json:"name"`
	OK        bool          `json:"ok" doc:"Whether the receiver has taken the message."`
	LatencyMS int64         `json:"latency_ms" doc:"How long it took, in milliseconds."`
	Problem   reason.Reason `json:"problem_value,omitzero" doc:"What went wrong; empty when nothing did."`
	Advice    reason.Reason `json:"advice_value,omitzero" doc:"What to do about it; may be empty."`
}

// MarshalJSON has the texts of reasons beside them.
func (t channelTest) MarshalJSON() ([]byte, error) {
	type plain channelTest
	return reason.MarshalBeside((*plain)(&t))
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

// Notifications are telling people: channels, the rules of what goes to them, and the inbox.
type Notifications struct{ Notices *notify.Notifier }

func (n Notifications) register(s *server) {
	s.owned[access.Channel] = func(ctx context.Context, id int64) error {
		_, err := n.Notices.Channel(ctx, id)
		return err
	}
	for _, a := range channel.Adapters {
		channelsOf{n.Notices, a}.register(s)
	}
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/notification/test", OperationID: "test-notifications", Tags: []string{notificationTag},
		Summary: "Send a test to all channels", Description: "Sends a test message to every channel of the caller that is enabled, past all rules, and answers how it went with each.",
		Errors: []int{http.StatusConflict, http.StatusTooManyRequests},
	}, func(ctx context.Context, _ *none) (*JSON[channelTests], error) {
		results, err := n.Notices.Test(ctx)
		if err == nil && len(results) == 0 {
			err = noChannelOn
		}
		return answer(channelTests{testsOf(results)}, err)
	})
	n.registerRules(s)
	n.registerInbox(s)
}

// channelsOf is the resource of one type of channel.
type channelsOf struct {
	*notify.Notifier
	channel.Adapter
}

func (cs channelsOf) register(s *server) {
	id, name := string(cs.Type), cs.Noun
	path := "/api/notification/" + id + "s"
	input, output, page := cs.schemas(s.api.OpenAPI().Components.Schemas)
	body := func() *huma.RequestBody { return &huma.RequestBody{Content: jsonOf(input)} }
	answers := func(status string, schema *huma.Schema) map[string]*huma.Response {
		return map[string]*huma.Response{status: {Content: jsonOf(schema)}}
	}
	register(s, huma.Operation{
		Method: http.MethodGet, Path: path, OperationID: "list-" + id + "-channels", Tags: []string{notificationTag},
		Summary: "List the channels of type " + id, Description: "The oldest first.", Responses: answers("200", page),
	}, func(ctx context.Context, in *struct{ PageQuery }) (*JSON[Page[channelOutput]], error) {
		all, err := cs.Channels(ctx)
		if err != nil {
			return nil, err
		}
		var outputs []channelOutput
		for _, c := range all {
			if c.Type == cs.Type {
				outputs = append(outputs, cs.output(c))
			}
		}
		return paged(in.PageQuery, outputs, nil)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: path, OperationID: "create-" + id + "-channel", Tags: []string{notificationTag},
		Summary: "Add a " + name, Description: "Nothing is sent to it; test it afterwards. The first one of a person who is not the owner comes with the first rule, and sends to the internet alone unless notification.people_home_network is set.", DefaultStatus: http.StatusCreated, Errors: []int{http.StatusConflict},
		RequestBody: body(), Responses: answers("201", output),
	}, func(ctx context.Context, in *JSON[channelInput]) (*JSON[channelOutput], error) {
		c, err := cs.input(in.Body, nil)
		if err != nil {
			return nil, err
		}
		c, err = cs.CreateChannel(ctx, c)
		return answer(cs.output(c), err)
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: path + "/{id}", OperationID: "get-" + id + "-channel", Tags: []string{notificationTag},
		Summary: "Get a " + name, Errors: []int{http.StatusNotFound}, Responses: answers("200", output),
	}, func(ctx context.Context, in *ByID) (*JSON[channelOutput], error) {
		c, err := cs.get(ctx, in.ID)
		return answer(cs.output(c), err)
	})
	register(s, huma.Operation{
		Method: http.MethodPut, Path: path + "/{id}", OperationID: "replace-" + id + "-channel", Tags: []string{notificationTag},
		Summary: "Replace a " + name, Description: "A channel that was paused is resumed.", Errors: []int{http.StatusNotFound},
		RequestBody: body(), Responses: answers("200", output),
	}, func(ctx context.Context, in *struct {
		ByID
		JSON[channelInput]
	}) (*JSON[channelOutput], error) {
		old, err := cs.get(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		c, err := cs.input(in.Body, cs.config(old))
		if err != nil {
			return nil, err
		}
		c.ID = in.ID
		c, err = cs.UpdateChannel(ctx, c)
		return answer(cs.output(c), err)
	})
	registerOther(s, huma.Operation{
		Method: http.MethodDelete, Path: path + "/{id}", OperationID: "delete-" + id + "-channel", Tags: []string{notificationTag},
		Summary: "Remove a " + name, Description: "What waits for it is not sent any more. Rules that name no other channel are switched off.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*none, error) {
		if _, err := cs.get(ctx, in.ID); err != nil {
			return nil, err
		}
		return nil, cs.DeleteChannel(ctx, in.ID)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: path + "/{id}/test", OperationID: "test-" + id + "-channel", Tags: []string{notificationTag},
		Summary: "Send a test to a " + name, Description: "Sends a test message past all rules, also to a channel that is switched off. One that works resumes a paused channel.", Errors: []int{http.StatusNotFound, http.StatusTooManyRequests},
	}, func(ctx context.Context, in *ByID) (*JSON[channelTest], error) {
		if _, err := cs.get(ctx, in.ID); err != nil {
			return nil, err
		}
		results, err := cs.Test(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		return answer(testsOf(results)[0], nil)
	})
}

// schemas describe the bodies: those of channelInput and channelOutput, with the settings of this type as their config.
func (cs channelsOf) schemas(registry huma.Registry) (input, output, page *huma.Schema) {
	empty := cs.Empty()
	name := reflect.TypeOf(empty).Name() + "Config"
	// described gives the schema of v a name of its own, and its field, if any, a type of its own.
	described := func(name string, v any, field string, of *huma.Schema) *huma.Schema {
		schema := huma.SchemaFromType(registry, reflect.TypeOf(v))
		if field != "" {
			with := *of
			with.Description = schema.Properties[field].Description
			schema.Properties[field] = &with
		}
		registry.Map()[name] = schema
		return &huma.Schema{Ref: "#/components/schemas/" + name}
	}
	config := described(name, empty, "", nil)
	input = described(name+"ChannelInput", channelInput{}, "config", config)
	output = described(name+"ChannelOutput", channelOutput{}, "config", config)
	page = described(name+"ChannelOutputPage", Page[bool]{}, "items", &huma.Schema{Type: huma.TypeArray, Items: output})
	return input, output, page
}

// jsonOf is a JSON body.
func jsonOf(schema *huma.Schema) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{"application/json": {Schema: schema}}
}

// get is a channel of this type, or notify.ErrNotFound.
func (cs channelsOf) get(ctx context.Context, id int64) (notify.Channel, error) {
	c, err := cs.Channel(ctx, id)
	if err == nil && c.Type != cs.Type {
		err = notify.ErrNotFound
	}
	return c, err
}

// input is a channel as it is stored; secrets that were not touched are those of old.
func (cs channelsOf) input(in channelInput, old channel.Config) (notify.Channel, error) {
	config, err := cs.Read(string(in.Config))
	if err != nil { // a number that is none of Go's, such as 1e3
		return notify.Channel{}, fieldProblem("body.config", configBroken)
	}
	config, wrong := config.Keep(old).Check()
	if len(wrong) > 0 {
		fields := make([]problem.Field, len(wrong))
		for i, w := range wrong {
			fields[i] = problem.At("body.config."+w.Field, w.What)
		}
		return notify.Channel{}, problem.OfFields(fields...)
	}
	return notify.Channel{Type: cs.Type, Name: in.Name, Enabled: orTrue(in.Enabled), Config: secret.Text(config.Plain())}, nil
}

// config is the configuration of a channel; empty when it cannot be read any more.
func (cs channelsOf) config(c notify.Channel) channel.Config {
	config, err := cs.Read(c.Config.Reveal())
	if err != nil { // the channel is paused then, and says so
		return cs.Empty()
	}
	return config
}

func (cs channelsOf) output(c notify.Channel) channelOutput {
	config := cs.config(c)
	return channelOutput{c.ID, channelType(c.Type), c.Name, c.Enabled, config, config.Where(), standingOf(c)}
}
