// Package llmtest is a service of chat completions for tests and for trying things out. It
// checks what such services check, and falls into their traps (upstreams/channels.md section
// 6) when it is told to.
package llmtest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"watchmark/internal/testkit/simulated"
)

// Trap is a way in which services differ.
type Trap string

// The traps.
const (
	// Reasoning refuses max_tokens and temperature.
	Reasoning Trap = "reasoning"
	// Parts answers a list of parts instead of a text.
	Parts Trap = "parts"
	// Thinks answers reasoning_content beside the text, ThinksAloud thoughts inside of it.
	Thinks      Trap = "thinks"
	ThinksAloud Trap = "thinks_aloud"
	// Streams streams whatever was asked for.
	Streams Trap = "streams"
	// NoUsage counts no tokens, NullUsage says null.
	NoUsage   Trap = "no_usage"
	NullUsage Trap = "null_usage"
	// Cut ends the answer in the middle.
	Cut Trap = "cut"
)

// Config says what a Server is.
type Config struct {
	// Key must be sent; empty asks for none.
	Key string
	// Models are those it knows, the first also under no name; none is one called m-1.
	Models []string
}

// Reply is an answer that takes the place of the usual one.
type Reply struct {
	Status      int // 0 = 200
	ContentType string
	Header      map[string]string
	Body        string
	// Wait has the answer wait until it is closed, or the caller has gone; nil does not wait.
	Wait <-chan struct{}
}

// Request is one that came in.
type Request struct {
	Path          string
	Authorization string
	// Body holds what was sent, by name, as JSON has it.
	Body map[string]any
	// System and User are the texts of the messages.
	System, User string
}

// Server is the service; it is an http.Handler.
type Server struct {
	cfg Config

	mu       sync.Mutex
	traps    []Trap
	next     []Reply
	answer   func(Request) string
	requests []Request
}

// New is a service that answers politely.
func New(cfg Config) *Server {
	if len(cfg.Models) == 0 {
		cfg.Models = []string{"m-1"}
	}
	return &Server{cfg: cfg, answer: politely}
}

// politely is the usual answer.
func politely(r Request) string {
	if strings.Contains(r.User, "pong") {
		return "pong"
	}
	return "A quiet day with good episodes. (This text is simulated.)"
}

// Listen serves on addr until stop is called; url is the address that answers, to which /v1 is added
// for llm.base_url.
func (s *Server) Listen(ctx context.Context, addr string) (url string, stop func(), err error) {
	return simulated.Listen(ctx, s, addr)
}

// Start serves for one test on a free port of the loopback; base is the address for llm.base_url.
func Start(tb simulated.TB, cfg Config) (s *Server, base string) {
	tb.Helper()
	s = New(cfg)
	return s, simulated.Start(tb, s) + "/v1"
}

// Fall has the service fall into these traps, and no others, from now on.
func (s *Server) Fall(traps ...Trap) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.traps = traps
}

// Next has the next requests answered so, one each.
func (s *Server) Next(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = append(s.next, replies...)
}

// Answer has f write the answers.
func (s *Server) Answer(f func(Request) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

// Requests are those that came in so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ServeHTTP answers POST /v1/chat/completions.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	got := Request{Path: r.URL.Path, Authorization: r.Header.Get("Authorization")}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4<<20)).Decode(&got.Body)
	messages, _ := got.Body["messages"].([]any) // what is none is refused below
	for _, m := range messages {
		message, _ := m.(map[string]any)
		text, _ := message["content"].(string)
		switch message["role"] {
		case "system":
			got.System += text
		case "user":
			got.User += text
		}
	}
	s.mu.Lock()
	s.requests = append(s.requests, got)
	traps, write := s.traps, s.answer
	var instead *Reply
	if len(s.next) > 0 {
		instead, s.next = &s.next[0], s.next[1:]
	}
	s.mu.Unlock()
	if instead != nil {
		instead.send(w, r)
		return
	}
	has := func(t Trap) bool { return slices.Contains(traps, t) }
	model, _ := got.Body["model"].(string)
	model = cmp.Or(model, s.cfg.Models[0])
	switch {
	case r.URL.Path != "/v1/chat/completions":
		http.NotFound(w, r)
	case r.Method != http.MethodPost:
		fail(w, http.StatusMethodNotAllowed, "method not allowed", "", "")
	case s.cfg.Key != "" && got.Authorization != "Bearer "+s.cfg.Key:
		sent := strings.TrimPrefix(got.Authorization, "Bearer ")
		fail(w, http.StatusUnauthorized, "Incorrect API key provided: "+starred(sent)+". You can find your API key in your account.", "invalid_api_key", "")
	case err != nil || len(messages) == 0:
		fail(w, http.StatusBadRequest, "we could not parse the JSON body of your request", "", "messages")
	case !slices.Contains(s.cfg.Models, model):
		fail(w, http.StatusNotFound, "the model `"+model+"` does not exist", "model_not_found", "model")
	case has(Reasoning) && got.Body["max_tokens"] != nil:
		fail(w, http.StatusBadRequest, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
			"unsupported_parameter", "max_tokens")
	case has(Reasoning) && got.Body["temperature"] != nil:
		fail(w, http.StatusBadRequest, "Unsupported value: 'temperature' does not support this value with this model. Only the default (1) value is supported.",
			"unsupported_value", "temperature")
	default:
		complete(w, has, model, write(got))
	}
}

// complete answers text, by way of the traps.
func complete(w http.ResponseWriter, has func(Trap) bool, model, text string) {
	message := map[string]any{"role": "assistant", "content": text}
	finish := "stop"
	switch {
	case has(Parts):
		message["content"] = []any{map[string]any{"type": "text", "text": text}}
	case has(Thinks):
		message["reasoning_content"] = "They want a summary, so I count."
	case has(ThinksAloud):
		message["content"] = "<think>\nThey want a summary, so I count.\n</think>\n\n" + text
	case has(Cut):
		runes := []rune(text)
		message["content"], finish = string(runes[:len(runes)/2]), "length"
	}
	usage := map[string]any{"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150}
	whole := map[string]any{"id": "chatcmpl-1", "object": "chat.completion", "model": model, "usage": usage,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}}}
	switch {
	case has(NoUsage):
		delete(whole, "usage")
	case has(NullUsage):
		whole["usage"] = nil
	}
	if has(Streams) {
		stream(w, model, text, usage)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(whole) // who went away gets nothing
}

// stream answers a few words a line.
func stream(w http.ResponseWriter, model, text string, usage map[string]any) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	line := func(v map[string]any) {
		data, _ := json.Marshal(v) // made of texts and numbers
		_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
	}
	delta := func(delta map[string]any, finish any) {
		line(map[string]any{"model": model, "choices": []any{map[string]any{"delta": delta, "finish_reason": finish}}, "usage": nil})
	}
	_, _ = fmt.Fprint(w, ": keep alive\n\n")
	delta(map[string]any{"role": "assistant", "content": ""}, nil)
	delta(map[string]any{"reasoning_content": "They want a summary."}, nil)
	for word := range strings.SplitAfterSeq(text, " ") {
		delta(map[string]any{"content": word}, nil)
	}
	delta(map[string]any{}, "stop")
	line(map[string]any{"model": model, "choices": []any{}, "usage": usage})
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
}

// fail answers an error in the usual form.
func fail(w http.ResponseWriter, status int, message, code, param string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "code": orNull(code), "param": orNull(param)}})
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// starred is a key as such services repeat it.
func starred(key string) string {
	const shown = 4
	if len(key) <= 2*shown {
		return key
	}
	return key[:shown] + strings.Repeat("*", len(key)-2*shown) + key[len(key)-shown:]
}

// send writes the reply.
func (p *Reply) send(w http.ResponseWriter, r *http.Request) {
	if p.Wait != nil {
		select {
		case <-p.Wait:
		case <-r.Context().Done():
		}
	}
	w.Header().Set("Content-Type", cmp.Or(p.ContentType, "application/json"))
	w.Header().Set("Content-Length", strconv.Itoa(len(p.Body)))
	for name, value := range p.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(cmp.Or(p.Status, http.StatusOK))
	_, _ = w.Write([]byte(p.Body)) // who went away gets nothing
}
