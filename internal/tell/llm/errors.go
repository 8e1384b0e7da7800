package llm

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// Kind is what kind of failure an Error is.
type Kind string

// The kinds.
const (
	Unreachable  Kind = "unreachable"   // no answer
	TimedOut     Kind = "timeout"       // no answer in time
	WrongAddress Kind = "wrong_address" // something answers that is no such service
	BadKey       Kind = "bad_key"       // the key, the region or a permission
	NoCredit     Kind = "no_credit"
	UnknownModel Kind = "unknown_model" // or the path
	TooLong      Kind = "too_long"      // what was sent is longer than the model can read
	BadRequest   Kind = "bad_request"
	Busy         Kind = "busy"
	Refused      Kind = "refused" // the model, or a filter before it, does not want to answer
	NoText       Kind = "no_text" // the answer holds none
	TooLarge     Kind = "too_large"
)

// problems say what happened, advices what to do about it.
var problems, advices = map[Kind]*reason.Kind{
	Unreachable:  reason.New("llm_unreachable", "the language model cannot be reached", "无法连接大模型"),
	TimedOut:     reason.New("llm_timeout", "the language model did not answer in time", "大模型未在时限内回答"),
	WrongAddress: reason.New("llm_wrong_address", "what answers at llm.base_url is not a service of chat completions", "llm.base_url 处的服务不是兼容 OpenAI 的对话接口"),
	BadKey:       reason.New("llm_bad_key", "the service of the language model refuses the key", "大模型服务拒绝了密钥"),
	NoCredit:     reason.New("llm_no_credit", "the credit at the service of the language model is used up", "大模型服务的额度已用完"),
	UnknownModel: reason.New("llm_unknown_model", "the service does not know this model or path", "服务中没有这个模型或路径"),
	TooLong:      reason.New("llm_too_long", "there was more to read than the language model can take", "内容超出了大模型能读取的长度"),
	BadRequest:   reason.New("llm_bad_request", "the service of the language model refuses the request", "大模型服务拒绝了请求"),
	Busy:         reason.New("llm_busy", "the service of the language model is overloaded or broken", "大模型服务过载或出现故障"),
	Refused:      reason.New("llm_refused", "the language model refuses to answer", "大模型拒绝回答"),
	NoText:       reason.New("llm_no_text", "the answer of the language model holds no text", "大模型的回答中没有文字"),
	TooLarge:     reason.New("llm_too_large", "the answer of the language model is too large", "大模型的回答过大"),
}, map[Kind]*reason.Kind{
	Unreachable:  reason.New("llm_unreachable_advice", "check llm.base_url, that the service runs, and network.proxy", "请检查 llm.base_url、服务是否在运行，以及 network.proxy"),
	TimedOut:     reason.New("llm_timeout_advice", "raise llm.timeout, or choose a smaller model", "请调大 llm.timeout，或换用更小的模型"),
	WrongAddress: reason.New("llm_wrong_address_advice", "llm.base_url must be the address of the API up to its version, such as https://api.openai.com/v1, not that of a web page", "llm.base_url 应为写到版本号的接口地址，例如 https://api.openai.com/v1，而不是网页地址"),
	BadKey:       reason.New("llm_bad_key_advice", "check llm.api_key, and that the key may use this model from where this service runs", "请检查 llm.api_key，以及该密钥能否在本服务所在地使用这个模型"),
	NoCredit:     reason.New("llm_no_credit_advice", "top up the account at the service, or choose another one", "请为该服务充值，或换用其他服务"),
	UnknownModel: reason.New("llm_unknown_model_advice", "check llm.model against the list of models of the service, and that llm.base_url ends with its version, such as /v1", "请对照服务的模型列表检查 llm.model，并确认 llm.base_url 以版本号（如 /v1）结尾"),
	TooLong:      reason.New("llm_too_long_advice", "lower the most records of the job, or choose a model with a larger context", "请减少任务的记录上限，或换用上下文更长的模型"),
	BadRequest:   reason.New("llm_bad_request_advice", "check llm.model, llm.max_tokens and llm.temperature", "请检查 llm.model、llm.max_tokens 和 llm.temperature"),
	Busy:         reason.New("llm_busy_advice", "try again later", "请稍后重试"),
	Refused:      reason.New("llm_refused_advice", "change the prompt of the job, or choose another model", "请修改任务的提示词，或换用其他模型"),
	NoText:       reason.New("llm_no_text_advice", "raise llm.max_tokens: models that think before they answer spend them on that too", "请调大 llm.max_tokens：会先思考的模型，思考也占用额度"),
	TooLarge:     reason.New("llm_too_large_advice", "lower llm.max_tokens", "请调小 llm.max_tokens"),
}

// Error is why there is no answer. It holds no secret.
type Error struct {
	Kind Kind
	// Status is that of the answer; 0 when there was none.
	Status int
	// Said is what the service said about it, one line, masked and cut, or what is wrong with its answer; may be empty.
	Said reason.Reason
	// RetryAfter is how long the service wants to be left alone; 0 when it did not say.
	RetryAfter time.Duration

	again bool   // it is worth another try at once
	empty bool   // the service answered with a completion that holds no text
	code  string // what the service calls the failure
	param string // which parameter it is about
	cause error
}

// Problem is one sentence that says what happened, and what the service said of it.
func (e *Error) Problem() reason.Reason {
	problem := problems[e.Kind].With()
	if e.Said.IsZero() {
		return problem
	}
	return reason.WithDetail.With(problem, e.Said)
}

// Advice is one sentence that says what to do.
func (e *Error) Advice() reason.Reason { return advices[e.Kind].With() }

// Reason is problem and advice.
func (e *Error) Reason() reason.Reason { return problemAndAdvice.With(e.Problem(), e.Advice()) }

func (e *Error) Error() string { return e.Reason().Text }

// Unwrap is the error of the HTTP client, when there was no answer.
func (e *Error) Unwrap() error { return e.cause }

// refuses reports whether the service does not support a parameter.
func (e *Error) refuses(param string) bool {
	if e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return false
	}
	said := strings.ToLower(e.Said.Text)
	unsupported := e.code == "unsupported_parameter" || e.code == "unsupported_value" ||
		slices.ContainsFunc([]string{"unsupported", "not support", "not allowed", "not permitted"}, func(text string) bool { return strings.Contains(said, text) })
	return unsupported && (e.param == param || e.param == "" && strings.Contains(said, param))
}

// unanswered is the error for a request that brought no whole answer.
func (c *Client) unanswered(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	failure := &Error{Kind: Unreachable, Said: reason.Of(err), cause: err}
	var outside *httpx.Error
	switch {
	case errors.Is(err, httpx.ErrTooLarge):
		failure.Kind, failure.Said = TooLarge, reason.Reason{}
	case errors.As(err, &outside) && outside.Kind == httpx.Timeout:
		failure.Kind, failure.Said = TimedOut, reason.Reason{} // another try would cost the same time again
	case errors.As(err, &outside) && outside.Kind == httpx.Connection:
		failure.again = true
	}
	return failure
}

// kindOf is what an answer with an error is about, and whether it is worth another try
// (upstreams/channels.md section 6).
func kindOf(status int, code, said string) (kind Kind, again bool) {
	said = strings.ToLower(said)
	switch {
	case code == "insufficient_quota" || status == http.StatusPaymentRequired:
		return NoCredit, false
	case code == "context_length_exceeded" || strings.Contains(said, "context length") || strings.Contains(said, "context window") || status == http.StatusRequestEntityTooLarge:
		return TooLong, false
	case code == "content_filter" || code == "content_policy_violation":
		return Refused, false
	case code == "invalid_api_key":
		return BadKey, false
	case code == "model_not_found":
		return UnknownModel, false
	}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return BadKey, false
	case http.StatusNotFound:
		return UnknownModel, false
	case http.StatusMethodNotAllowed:
		return WrongAddress, false
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, overloaded:
		return Busy, true
	}
	switch {
	case status >= 500:
		return Busy, false
	case status >= 300 && status < 400:
		return WrongAddress, false
	}
	return BadRequest, false
}

// overloaded is the status of some services for too much at once.
const overloaded = 529

// longestSaid is how much of what a service says is kept, in runes.
const longestSaid = 300

// clean makes what the service said fit for people: one line, without the key. Services repeat a
// wrong key with its middle starred out, so what shares a part with it goes too.
func (c *Client) clean(said string, key secret.Text) string {
	said = c.HTTP.Mask(strings.Join(strings.FieldsFunc(said, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " "))
	words := strings.Split(said, " ")
	for i, word := range words {
		if isOfKey(word, key.Reveal()) {
			words[i] = secret.Shown
		}
	}
	said = strings.Join(words, " ")
	if runes := []rune(said); len(runes) > longestSaid {
		said = string(runes[:longestSaid]) + "…"
	}
	return said
}

// isOfKey reports whether word shows a part of key, or is starred out.
func isOfKey(word, key string) bool {
	const tells = 4
	if strings.Contains(word, "**") {
		return true
	}
	if len(key) < tells {
		return key != "" && word == key
	}
	hidden := strings.ContainsAny(word, "*…") || strings.Contains(word, "...")
	if hidden && (strings.Contains(word, key[:tells]) || strings.Contains(word, key[len(key)-tells:])) {
		return true
	}
	const part = 8
	for i := 0; i+part <= len(key); i++ {
		if strings.Contains(word, key[i:i+part]) {
			return true
		}
	}
	return strings.Contains(word, key)
}
