package llm_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/scope"
	"watchmark/internal/platform/secret"
	"watchmark/internal/tell/llm"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/llmtest"
	"watchmark/internal/testkit/memnet"
)

const key = "sk-proj-AbCdEf0123456789wxyz"

// rig is a client of a simulated service, with its account in a real database.
type rig struct {
	remote  *llmtest.Server
	options llm.Options
	client  *llm.Client
	usage   *llm.Usage
	db      *db.DB
	log     *strings.Builder
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{}
	var base string
	r.remote, base = llmtest.Start(t, llmtest.Config{Key: key})
	r.options = llm.Options{BaseURL: base, APIKey: key, Model: "m-1", MaxTokens: 2000}
	r.db = dbtest.Open(t)
	r.client, r.usage, r.log = newClient(t, r.db, httpx.Config{Timeout: time.Minute}, func() llm.Options { return r.options })
	return r
}

func newClient(t *testing.T, d *db.DB, cfg httpx.Config, options func() llm.Options) (*llm.Client, *llm.Usage, *strings.Builder) {
	t.Helper()
	log := &strings.Builder{}
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	cfg.PerMinute, cfg.Burst, cfg.MaxBody = 60000, 1000, llm.MaxBody
	outside, err := httpx.New(cfg, &secret.Masker{}, logger)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(outside.Close)
	usage := llm.NewUsage(d)
	return llm.New(llm.Config{HTTP: outside, Options: options, Usage: usage, Log: logger}), usage, log
}

var question = []llm.Message{{Role: llm.System, Content: "be brief"}, {Role: llm.User, Content: "what was watched?"}}

const polite = "A quiet day with good episodes. (This text is simulated.)"

// failure is the *llm.Error of a question that must fail.
func (r *rig) failure(t *testing.T) *llm.Error {
	t.Helper()
	_, err := r.client.Ping(t.Context())
	var failure *llm.Error
	if !errors.As(err, &failure) {
		t.Fatalf("the error is %v", err)
	}
	return failure
}

func TestEveryWayToWriteTheAddress(t *testing.T) {
	r := newRig(t)
	root := strings.TrimSuffix(r.options.BaseURL, "/v1")
	for name, base := range map[string]string{
		"with the version": root + "/v1", "without it": root, "with a slash": root + "/v1/", "the whole path": root + "/v1/chat/completions",
		"the whole path with a slash": root + "/v1/chat/completions/",
	} {
		t.Run(name, func(t *testing.T) {
			r.options.BaseURL = base
			if got, err := r.client.Chat(t.Context(), "daily", question); err != nil || got.Text != polite {
				t.Errorf("%q, %v", got.Text, err)
			}
		})
	}
}

func TestWhatIsSent(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		name   string
		change func(*llm.Options)
		want   string // JSON, without the messages
	}{
		{"everything", func(o *llm.Options) { o.Temperature = "0.7" }, `{"model":"m-1","max_tokens":2000,"temperature":0.7,"stream":false}`},
		{"no temperature", func(*llm.Options) {}, `{"model":"m-1","max_tokens":2000,"stream":false}`},
		{"no limit", func(o *llm.Options) { o.MaxTokens = 0 }, `{"model":"m-1","stream":false}`},
		{"no model", func(o *llm.Options) { o.Model = "" }, `{"max_tokens":2000,"stream":false}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := r.options
			defer func() { r.options = before }()
			c.change(&r.options)
			if _, err := r.client.Chat(t.Context(), "daily", question); err != nil {
				t.Fatal(err)
			}
			all := r.remote.Requests()
			last := all[len(all)-1]
			if last.System != "be brief" || last.User != "what was watched?" || last.Authorization != "Bearer "+key {
				t.Errorf("sent was %+v", last)
			}
			delete(last.Body, "messages")
			got, _ := json.Marshal(last.Body)
			var want map[string]any
			_ = json.Unmarshal([]byte(c.want), &want)
			if wanted, _ := json.Marshal(want); string(got) != string(wanted) {
				t.Errorf("the body is %s, want %s", got, wanted)
			}
		})
	}
}

func TestLocalServersNeedNoKey(t *testing.T) {
	r := newRig(t)
	var base string
	r.remote, base = llmtest.Start(t, llmtest.Config{})
	r.options = llm.Options{BaseURL: base}
	if _, err := r.client.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.remote.Requests()[0].Authorization; got != "" {
		t.Errorf("it sends %q", got)
	}
}

func TestAnswers(t *testing.T) {
	r := newRig(t)
	whole := func(content string) string {
		return `{"choices":[{"message":{"content":` + content + `},"finish_reason":"stop"}]}`
	}
	for _, c := range []struct {
		name  string
		traps []llmtest.Trap
		reply *llmtest.Reply
		text  string
		cut   bool
		token int
	}{
		{"a text", nil, nil, polite, false, 150},
		{"a list of parts", []llmtest.Trap{llmtest.Parts}, nil, polite, false, 150},
		{"a list of texts", nil, &llmtest.Reply{Body: whole(`["one ","two"]`)}, "one two", false, 0},
		{"thoughts beside it", []llmtest.Trap{llmtest.Thinks}, nil, polite, false, 150},
		{"thoughts in it", []llmtest.Trap{llmtest.ThinksAloud}, nil, polite, false, 150},
		{"the end of thoughts alone", nil, &llmtest.Reply{Body: whole(`"I count them.\n</think>\n\nDone."`)}, "Done.", false, 0},
		{"thoughts in capitals", nil, &llmtest.Reply{Body: whole(`"<THINKING>hm</THINKING> Done."`)}, "Done.", false, 0},
		{"a stream that nobody asked for", []llmtest.Trap{llmtest.Streams}, nil, polite, false, 150},
		{"a stream by another content type", nil, &llmtest.Reply{ContentType: "text/plain", Body: "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\r\n\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"lo\"}}]}\r\ndata: [DONE]"}, "Hello", false, 0},
		{"no usage", []llmtest.Trap{llmtest.NoUsage}, nil, polite, false, 0},
		{"usage null", []llmtest.Trap{llmtest.NullUsage}, nil, polite, false, 0},
		{"an answer that was cut", []llmtest.Trap{llmtest.Cut}, nil, "A quiet day with good episod", true, 150},
		{"error null beside an answer", nil, &llmtest.Reply{Body: `{"error":null,"choices":[{"message":{"content":"Done."}}]}`}, "Done.", false, 0},
		{"characters that control", nil, &llmtest.Reply{Body: whole(`"a\u0000b\u001b[31m\r\nc"`)}, "a b [31m\nc", false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r.remote.Fall(c.traps...)
			if c.reply != nil {
				r.remote.Next(*c.reply)
			}
			got, err := r.client.Chat(t.Context(), "daily", question)
			if err != nil || got.Text != c.text || got.Cut != c.cut || got.Tokens() != c.token || got.Model != "m-1" {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestALongAnswerIsBounded(t *testing.T) {
	r := newRig(t)
	r.remote.Answer(func(llmtest.Request) string { return strings.Repeat("字", 30_000) })
	got, err := r.client.Chat(t.Context(), "daily", question)
	if err != nil || len([]rune(got.Text)) != 20_000 || !got.Cut {
		t.Errorf("%d runes, cut %v, %v", len([]rune(got.Text)), got.Cut, err)
	}
	r.remote.Answer(func(llmtest.Request) string { return strings.Repeat("x", 3<<20) })
	if failure := r.failure(t); failure.Kind != llm.TooLarge {
		t.Errorf("3 MiB are %v", failure)
	}
	r.remote.Next(llmtest.Reply{Body: `{"choices":[` + strings.Repeat(`{},`, 500_000) + `{}]}`})
	if failure := r.failure(t); failure.Kind != llm.WrongAddress {
		t.Errorf("half a million choices are %v", failure)
	}
}

func TestReasoningModels(t *testing.T) {
	r := newRig(t)
	r.remote.Fall(llmtest.Reasoning)
	r.options.Temperature = "0.7"
	if got, err := r.client.Chat(t.Context(), "daily", question); err != nil || got.Text != polite {
		t.Fatalf("%+v, %v", got, err)
	}
	all := r.remote.Requests()
	if len(all) != 3 {
		t.Fatalf("%d requests", len(all))
	}
	last := all[2].Body
	if _, has := last["max_tokens"]; has || last["max_completion_tokens"] != 2000.0 || last["temperature"] != nil {
		t.Errorf("the last one has %v", last)
	}
	// One that refuses the new name too is asked no further.
	for range 2 {
		r.remote.Next(llmtest.Reply{Status: 400, Body: `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported","param":"max_tokens","code":"unsupported_parameter"}}`})
	}
	if failure := r.failure(t); failure.Kind != llm.BadRequest || len(r.remote.Requests()) != 5 {
		t.Errorf("%v after %d requests", failure, len(r.remote.Requests())-3)
	}
	// A value that is too high is no unsupported parameter.
	r.remote.Next(llmtest.Reply{Status: 400, Body: `{"error":{"message":"max_tokens is too large: 9","param":"max_tokens","code":null}}`})
	if failure := r.failure(t); failure.Kind != llm.BadRequest || len(r.remote.Requests()) != 6 {
		t.Errorf("%v after %d requests", failure, len(r.remote.Requests())-5)
	}
}

func TestFailures(t *testing.T) {
	r := newRig(t)
	page := func(status int) llmtest.Reply {
		return llmtest.Reply{Status: status, ContentType: "text/html; charset=utf-8", Body: "<!doctype html><title>Welcome</title>"}
	}
	body := func(status int, text string) llmtest.Reply { return llmtest.Reply{Status: status, Body: text} }
	for _, c := range []struct {
		name  string
		reply llmtest.Reply
		kind  llm.Kind
		said  string
	}{
		{"a web page", page(200), llm.WrongAddress, "the answer is a web page"},
		{"a web page that is not there", page(404), llm.WrongAddress, "the answer is a web page"},
		{"a web page that takes no POST", page(405), llm.WrongAddress, "the answer is a web page"},
		{"the page of a proxy", page(502), llm.Busy, ""},
		{"a web page without a content type", llmtest.Reply{ContentType: "text/plain", Body: "\n<html>"}, llm.WrongAddress, "the answer is a web page"},
		{"plain text", llmtest.Reply{ContentType: "text/plain", Body: "Ollama is running"}, llm.WrongAddress, "the answer is not JSON"},
		{"JSON of something else", body(200, `{"hello":"world"}`), llm.WrongAddress, "the answer has no choices"},
		{"a list", body(200, `[]`), llm.WrongAddress, "the answer is not JSON"},
		{"a redirect", llmtest.Reply{Status: 307, Header: map[string]string{"Location": "https://elsewhere.example/v1"}}, llm.WrongAddress, "it redirects to https://elsewhere.example/v1"},
		{"nothing at all", body(200, ``), llm.WrongAddress, "the answer is not JSON"},
		{"content null", body(200, `{"choices":[{"message":{"content":null},"finish_reason":"tool_calls"}]}`), llm.NoText, "finish_reason tool_calls"},
		{"a refusal", body(200, `{"choices":[{"message":{"content":null,"refusal":"I cannot."},"finish_reason":"stop"}]}`), llm.Refused, "I cannot."},
		{"a content filter", body(200, `{"choices":[{"message":{"content":""},"finish_reason":"content_filter"}]}`), llm.Refused, "stopped by its content filter"},
		{"all spent on thoughts", body(200, `{"choices":[{"message":{"content":"","reasoning_content":"hm"},"finish_reason":"length"}]}`), llm.NoText, "finish_reason length"},
		{"all spent on thoughts in the text", body(200, `{"choices":[{"message":{"content":"<think>hm"},"finish_reason":"length"}]}`), llm.NoText, "finish_reason length"},
		{"200 with an error", body(200, `{"error":{"message":"no such model","code":404}}`), llm.UnknownModel, "no such model"},
		{"200 with an error as text", body(200, `{"error":"something broke"}`), llm.BadRequest, "something broke"},
		{"an error in a stream", llmtest.Reply{ContentType: "text/event-stream", Body: "data: {\"error\":{\"message\":\"overloaded\",\"code\":529}}\n\n"}, llm.Busy, "overloaded"},
		{"a stream that is broken", llmtest.Reply{ContentType: "text/event-stream", Body: "data: {\"choi\n\n"}, llm.NoText, "a line of the streamed answer is not JSON"},
		{"401", body(401, `{"error":{"message":"who are you"}}`), llm.BadKey, "who are you"},
		{"403", body(403, `{"message":"not in your region"}`), llm.BadKey, "not in your region"},
		{"402", body(402, `{"detail":"pay first"}`), llm.NoCredit, "pay first"},
		{"429 without credit", body(429, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`), llm.NoCredit, "You exceeded your current quota"},
		{"404", body(404, `{"error":{"message":"model not found","type":"not_found_error"}}`), llm.UnknownModel, "model not found"},
		{"405", body(405, `{}`), llm.WrongAddress, ""},
		{"400", body(400, `{"error":"bad"}`), llm.BadRequest, "bad"},
		{"400 in a list", body(400, `[{"error":{"message":"bad","status":"INVALID"}}]`), llm.BadRequest, "bad"},
		{"400 with details", body(422, `{"detail":[{"loc":["body"],"msg":"field required"}]}`), llm.BadRequest, "field required"},
		{"400 in lists without end", body(400, strings.Repeat("[", 5000)+`"bad"`+strings.Repeat("]", 5000)), llm.BadRequest, ""},
		{"400 as text", llmtest.Reply{Status: 400, ContentType: "text/plain", Body: "bad\x00 request"}, llm.BadRequest, "bad request"},
		{"too long", body(400, `{"error":{"message":"reduce the length","code":"context_length_exceeded"}}`), llm.TooLong, "reduce the length"},
		{"too long in words", body(400, `{"error":{"message":"This model's maximum context length is 4096"}}`), llm.TooLong, "This model's maximum context length is 4096"},
		{"413", body(413, ``), llm.TooLong, ""},
		{"429", body(429, `{"error":{"message":"slow down"}}`), llm.Busy, "slow down"},
		{"501", body(501, `{"error":"not implemented"}`), llm.Busy, "not implemented"},
		{"a long complaint", body(400, `{"error":"`+strings.Repeat("字", 500)+`"}`), llm.BadRequest, strings.Repeat("字", 300) + "…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r.remote.Next(c.reply)
			var failure *llm.Error
			if c.kind == llm.NoText {
				if _, err := r.client.Chat(t.Context(), "daily", question); !errors.As(err, &failure) {
					t.Fatalf("the error is %v", err)
				}
			} else {
				failure = r.failure(t)
			}
			if failure.Kind != c.kind || failure.Detail.Text != c.said || failure.Problem().IsZero() || failure.Advice().IsZero() {
				t.Errorf("%s: %q, want %s: %q", failure.Kind, failure.Detail, c.kind, c.said)
			}
		})
	}
}

func TestNobodyAnswers(t *testing.T) {
	r := newRig(t)
	r.options.BaseURL = "http://127.0.0.1:1/v1"
	if failure := r.failure(t); failure.Kind != llm.Unreachable || !strings.Contains(failure.Error(), "check llm.base_url") {
		t.Errorf("nothing listens: %v", failure)
	}
	r.options.BaseURL = ""
	if _, err := r.client.Ping(t.Context()); !errors.Is(err, llm.ErrOff) {
		t.Errorf("off: %v", err)
	}
}

func TestTimeout(t *testing.T) {
	remote, base := llmtest.Start(t, llmtest.Config{})
	client, _, _ := newClient(t, dbtest.Open(t), httpx.Config{Timeout: 50 * time.Millisecond}, func() llm.Options { return llm.Options{BaseURL: base} })
	never := make(chan struct{})
	remote.Next(llmtest.Reply{Wait: never})
	_, err := client.Chat(t.Context(), "daily", question)
	var failure *llm.Error
	if !errors.As(err, &failure) || failure.Kind != llm.TimedOut || len(remote.Requests()) != 1 {
		t.Errorf("%v after %d requests", err, len(remote.Requests()))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client.Chat(ctx, "daily", question); !errors.Is(err, context.Canceled) {
		t.Errorf("the caller has gone: %v", err)
	}
}

func TestTheKeyIsNeverShown(t *testing.T) {
	for name, text := range map[string]string{
		"whole":                        "Incorrect API key provided: " + key + ".",
		"starred out":                  "Incorrect API key provided: sk-p*****************wxyz.",
		"with dots":                    "Incorrect API key provided: sk-proj-AbCd...wxyz",
		"its beginning":                "Incorrect API key: 'sk-proj-AbCdEf'",
		"its end":                      "key ending in ef0123456789wxyz or Ef0123456789wxyz",
		"in the header of the request": "Authorization: Bearer " + key,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			text, _ := json.Marshal(map[string]any{"error": map[string]any{"message": text}})
			r.remote.Next(llmtest.Reply{Status: 401, Body: string(text)})
			_, err := r.client.Ping(t.Context())
			report, failed := r.usage.Report(t.Context(), time.Now(), 1)
			if failed != nil {
				t.Fatal(failed)
			}
			for what, shown := range map[string]string{"the error": err.Error(), "the account": report.LastError.Text} {
				for _, part := range []string{"AbCd", "wxyz", "sk-p"} {
					if strings.Contains(shown, part) {
						t.Errorf("%s shows %q: %s", what, part, shown)
					}
				}
			}
			if strings.Contains(r.log.String(), key) {
				t.Error("the log shows the key")
			}
		})
	}
}

func TestARedirectDoesNotGetTheKey(t *testing.T) {
	var asked []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("Authorization"))
	}))
	defer other.Close()
	for _, status := range []int{301, 302, 307, 308} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			r := newRig(t)
			r.remote.Next(llmtest.Reply{Status: status, Header: map[string]string{"Location": other.URL + "/v1/chat/completions"}})
			if failure := r.failure(t); failure.Kind != llm.WrongAddress {
				t.Errorf("it is %v", failure)
			}
		})
	}
	if len(asked) > 0 {
		t.Errorf("the other host was asked with %q", asked)
	}
}

// TestPatience has a busy service asked again, by a clock that need not be waited for.
func TestPatience(t *testing.T) {
	busy := func(status int, after string) llmtest.Reply {
		reply := llmtest.Reply{Status: status, Body: `{"error":"busy"}`}
		if after != "" {
			reply.Header = map[string]string{"Retry-After": after}
		}
		return reply
	}
	for _, c := range []struct {
		name     string
		replies  []llmtest.Reply
		requests int
		works    bool
		min, max time.Duration
	}{
		{"408", []llmtest.Reply{busy(408, "")}, 2, true, 500 * time.Millisecond, 1500 * time.Millisecond},
		{"409", []llmtest.Reply{busy(409, "")}, 2, true, 500 * time.Millisecond, 1500 * time.Millisecond},
		{"429", []llmtest.Reply{busy(429, "")}, 2, true, 500 * time.Millisecond, 1500 * time.Millisecond},
		{"500", []llmtest.Reply{busy(500, "")}, 2, true, 500 * time.Millisecond, 1500 * time.Millisecond},
		{"502, then 504", []llmtest.Reply{busy(502, ""), busy(504, "")}, 3, true, 2 * time.Second, 6 * time.Second},
		{"503 for longer", []llmtest.Reply{busy(503, ""), busy(503, ""), busy(503, "")}, 3, false, 2 * time.Second, 6 * time.Second},
		{"529 with Retry-After", []llmtest.Reply{busy(529, "20")}, 2, true, 20 * time.Second, 21 * time.Second},
		{"a Retry-After too long to wait", []llmtest.Reply{busy(429, "3600")}, 1, false, 0, 0},
		{"501", []llmtest.Reply{busy(501, "")}, 1, false, 0, 0},
		{"401", []llmtest.Reply{busy(401, "")}, 1, false, 0, 0},
		{"402", []llmtest.Reply{busy(402, "")}, 1, false, 0, 0},
		{"404", []llmtest.Reply{busy(404, "")}, 1, false, 0, 0},
		{"400", []llmtest.Reply{busy(400, "")}, 1, false, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := dbtest.Folder(t)
			synctest.Test(t, func(t *testing.T) {
				network := memnet.New(t)
				remote := llmtest.New(llmtest.Config{})
				server := &http.Server{Handler: remote, ReadHeaderTimeout: time.Minute}
				door, ended := network.Listen("model"), make(chan struct{})
				go func() { _ = server.Serve(door); close(ended) }()
				defer func() { _ = server.Close(); <-ended }()
				d := dbtest.OpenIn(t, dir)
				outside, err := httpx.New(httpx.Config{PerMinute: 60000, Burst: 100, Timeout: time.Minute}, &secret.Masker{}, slog.New(slog.DiscardHandler))
				if err != nil {
					t.Fatal(err)
				}
				defer outside.Close()
				client := llm.New(llm.Config{HTTP: outside, Options: func() llm.Options { return llm.Options{BaseURL: "http://model"} }, Usage: llm.NewUsage(d), Log: slog.New(slog.DiscardHandler)})
				remote.Next(c.replies...)
				start := time.Now()
				_, err = client.Chat(t.Context(), "daily", question)
				if took := time.Since(start); (err == nil) != c.works || len(remote.Requests()) != c.requests || took < c.min || took > c.max {
					t.Errorf("%v after %d requests in %v", err, len(remote.Requests()), took)
				}
			})
		})
	}
}

func TestUseIsCounted(t *testing.T) {
	r := newRig(t)
	for range 2 {
		if _, err := r.client.Chat(t.Context(), "daily", question); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.client.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.remote.Next(llmtest.Reply{Status: 404, Body: `{"error":"no such model"}`})
	if _, err := r.client.Chat(t.Context(), "daily", question); err == nil {
		t.Fatal("it answers")
	}
	now := time.Now()
	got, err := r.usage.Report(t.Context(), now, 30)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Days) != 2 || got.Days[0].Job != "" || got.Days[0].Requests != 1 || got.Days[1].Job != "daily" || got.Days[1].Day != now.Format(time.DateOnly) ||
		got.Days[1].Requests != 3 || got.Days[1].Failed != 1 || got.Days[1].PromptTokens != 240 || got.Days[1].CompletionTokens != 60 {
		t.Errorf("by day: %+v", got.Days)
	}
	if got.Total.Requests != 4 || got.Total.PromptTokens != 360 || !strings.Contains(got.LastError.Text, "no such model") || got.LastErrorAt == nil {
		t.Errorf("in all: %+v", got)
	}
	if later, err := r.usage.Report(t.Context(), now.AddDate(0, 0, 31), 30); err != nil || len(later.Days) != 0 || later.Total.Requests != 0 {
		t.Errorf("a month later: %+v, %v", later, err)
	}
	for _, want := range []int64{3, 1, 0} {
		if n, err := r.usage.Prune(t.Context(), now.Add(time.Minute), 3); err != nil || n != want {
			t.Errorf("%d removed, want %d, %v", n, want, err)
		}
	}
}

// A person has the model asked so often in a day; the owner as often as they like, and another person for themselves.
func TestAPersonAsksSoOftenInADay(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	err := r.db.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO people (id, name, role, password_hash, created_at, updated_at) VALUES (2, 'mira', 'person', '', 0, 0), (3, 'alex', 'person', '', 0, 0)`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(person int64) error {
		_, err := r.client.Chat(scope.In(t.Context(), scope.Of(person)), "mine", question)
		return err
	}
	var together sync.WaitGroup
	var asked atomic.Int64
	for range llm.PersonMost + 5 { // at the same time, too
		together.Go(func() {
			switch err := ask(2); {
			case err == nil:
				asked.Add(1)
			case !errors.Is(err, llm.ErrOften):
				t.Error(err)
			}
		})
	}
	together.Wait()
	if asked.Load() != llm.PersonMost || len(r.remote.Requests()) != llm.PersonMost {
		t.Errorf("the model answered %d times, and was asked %d times", asked.Load(), len(r.remote.Requests()))
	}
	if err := ask(3); err != nil {
		t.Errorf("another person: %v", err)
	}
	if _, err := r.client.Chat(t.Context(), "of the owner", question); err != nil {
		t.Errorf("the owner: %v", err)
	}
	report, err := r.usage.Report(t.Context(), time.Now(), 1)
	if err != nil || len(report.Days) != 2 || report.Days[0].Job != llm.OfPeople || report.Days[0].Requests != llm.PersonMost+1 || report.Days[1].Job != "of the owner" {
		t.Errorf("the use is %+v, %v", report.Days, err)
	}
	err = r.db.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE llm_usage SET at = ?`, time.Now().Add(-24*time.Hour).UnixMilli())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := ask(2); err != nil {
		t.Errorf("a day later: %v", err)
	}
}
