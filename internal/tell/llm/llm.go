// Package llm asks a language model by the chat completions that OpenAI made common, as
// upstreams/channels.md section 6 describes them with their traps, and keeps account of it.
//
// What it promises: the key goes to the address of the settings and nowhere else, and stands
// in no error; an answer is bounded; what the model thought before it answered is not part of
// the answer; every failure says what to do.
package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/scope"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/turn"
)

// MaxBody bounds an answer in bytes; it is for the configuration of the HTTP client.
const MaxBody = 2 << 20

// maxValues bounds the members and elements of an answer, which has some dozens.
const maxValues = 100_000

const (
	// tries is how often a request is sent at most while the service is busy.
	tries = 3
	// firstWait is the wait before the second try; each further one is three times as long.
	firstWait = time.Second
	// longestWait is the longest Retry-After that is waited for.
	longestWait = time.Minute
)

// PersonMost is how often a person may have the model, which the owner pays, asked within a day.
const (
	PersonMost = 10
	personSpan = 24 * time.Hour
)

// Options are the settings.
type Options struct {
	// BaseURL is the address up to the version, or the whole path of the chat completions;
	// empty is off.
	BaseURL string
	APIKey  secret.Text // may be empty
	Model   string      // may be empty: the server has only one
	// MaxTokens bounds an answer; 0 is not sent.
	MaxTokens int
	// Temperature is a number; empty is not sent.
	Temperature json.Number
}

// Message is one of a conversation.
type Message struct {
	Role    Role   `json:"role"`
	Content string `json:"content"`
}

// Role is who speaks.
type Role string

// The roles.
const (
	System Role = "system"
	User   Role = "user"
)

// Answer is what a model said.
type Answer struct {
	// Text is never empty.
	Text string
	// Model is what the service calls the model that answered.
	Model string
	// Cut is set when the answer ended at the most tokens that it may have.
	Cut bool
	// Prompt and Completion count tokens; 0 when the service did not tell.
	Prompt, Completion int
	// Latency is how long it took, waits between tries included.
	Latency time.Duration
}

// Tokens is the sum of what was counted.
func (a Answer) Tokens() int { return a.Prompt + a.Completion }

// Config is what a Client is made of; every field must be set.
type Config struct {
	// HTTP has the timeout of one request. Its MaxBody is MaxBody.
	HTTP *httpx.Client
	// Options is asked at each use.
	Options func() Options
	Usage   *Usage
	Log     *slog.Logger
}

// Client asks the service of the settings. It may be used by several goroutines.
type Client struct {
	Config
	turns turn.Keys[int64] // of people
}

// New is a client.
func New(c Config) *Client { return &Client{Config: c} }

// Enabled reports whether a service is set up.
func (c *Client) Enabled() bool { return c.Options().BaseURL != "" }

// Chat gives the model's answer to messages, which counts as use of job. A service that is
// busy is asked again, up to three times in all. The error is ErrOff, an *Error, or that of ctx; for a person, whose questions
// are asked one after the other, also ErrOften.
func (c *Client) Chat(ctx context.Context, job string, messages []Message) (Answer, error) {
	person := scope.From(ctx).Person()
	if person == 0 {
		return c.counted(ctx, job, messages, tries)
	}
	end, err := c.turns.Take(ctx, person)
	if err != nil {
		return Answer{}, err
	}
	defer end()
	count, err := c.Usage.by(ctx, person, time.Now().Add(-personSpan))
	switch {
	case err != nil:
		return Answer{}, err
	case count >= PersonMost:
		return Answer{}, ErrOften
	}
	return c.counted(ctx, job, messages, tries)
}

// Ping has the model say one word, and is asked once. What it says does not matter: a completion without text is an
// answer, too. The errors are those of Chat.
func (c *Client) Ping(ctx context.Context) (Answer, error) {
	return c.counted(ctx, "", []Message{{User, "Reply with the single word: pong"}}, 1)
}

// counted asks and keeps account of it.
func (c *Client) counted(ctx context.Context, job string, messages []Message, most int) (Answer, error) {
	o := c.Options()
	if o.BaseURL == "" {
		return Answer{}, ErrOff
	}
	start := time.Now()
	answer, err := c.ask(ctx, o, messages, most)
	answer.Latency = time.Since(start)
	var failure *Error
	if job == "" && errors.As(err, &failure) && failure.empty {
		err = nil
	}
	if answer.Model == "" {
		answer.Model = o.Model
	}
	// What was used counts even when the caller has gone.
	if failed := c.Usage.add(context.WithoutCancel(ctx), job, start, answer, err); failed != nil {
		c.Log.WarnContext(ctx, "the use of the language model cannot be counted", "error", failed)
	}
	return answer, err
}

// ask sends the request until it is answered.
func (c *Client) ask(ctx context.Context, o Options, messages []Message, most int) (Answer, error) {
	r := request{Model: o.Model, Messages: messages, Temperature: o.Temperature}
	if o.MaxTokens > 0 {
		r.MaxTokens = &o.MaxTokens
	}
	for try := 1; ; {
		answer, err := c.send(ctx, o, r)
		var failure *Error
		if err == nil || !errors.As(err, &failure) || ctx.Err() != nil {
			return answer, err
		}
		if r.without(failure) {
			continue
		}
		wait := firstWait
		for range try - 1 {
			wait *= 3
		}
		wait = max(failure.RetryAfter, wait/2+rand.N(wait))
		if !failure.again || try >= most || failure.RetryAfter > longestWait {
			return answer, err
		}
		try++
		select {
		case <-ctx.Done():
			return answer, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// request is the body of a request.
type request struct {
	Model               string      `json:"model,omitempty"`
	Messages            []Message   `json:"messages"`
	MaxTokens           *int        `json:"max_tokens,omitempty"`
	MaxCompletionTokens *int        `json:"max_completion_tokens,omitempty"`
	Temperature         json.Number `json:"temperature,omitempty"`
	Stream              bool        `json:"stream"`
}

// without takes out of the request what the service does not support, and reports whether there
// was something. Reasoning models want max_completion_tokens instead of max_tokens, and no temperature.
func (r *request) without(failure *Error) bool {
	switch {
	case failure.refuses("max_tokens") && r.MaxTokens != nil:
		r.MaxTokens, r.MaxCompletionTokens = nil, r.MaxTokens
	case failure.refuses("temperature") && r.Temperature != "":
		r.Temperature = ""
	default:
		return false
	}
	return true
}

// send sends the request once.
func (c *Client) send(ctx context.Context, o Options, r request) (Answer, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return Answer{}, fmt.Errorf("encode the request to the language model: %w", err)
	}
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}
	if o.APIKey != "" {
		header.Set("Authorization", "Bearer "+o.APIKey.Reveal())
	}
	endpoint := endpointOf(o.BaseURL)
	// A redirect is not followed: it would be asked without the body, or with the key elsewhere.
	resp, err := c.HTTP.Do(ctx, httpx.Request{Method: http.MethodPost, URL: endpoint, Header: header, Body: body})
	if err != nil {
		return Answer{}, c.unanswered(ctx, err)
	}
	answer, err := read(resp)
	var failure *Error
	if errors.As(err, &failure) {
		failure.Detail = failure.Detail.Masked(func(text string) string { return c.clean(text, o.APIKey) })
	}
	return answer, err
}

// endpointOf is where chat completions are asked for. People give the address with its version,
// without one, or with the whole path.
func endpointOf(base string) string {
	const path = "/chat/completions"
	base = strings.TrimRight(base, "/")
	if strings.HasSuffix(base, path) {
		return base
	}
	if u, err := url.Parse(base); err == nil && u.Path == "" {
		base += "/v1"
	}
	return base + path
}
