package channel

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/lan"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// provider is a Config of a service to which a message is one request. Its secrets are its fields of type secret.Text.
type provider interface {
	Config
	// server is the address that the secrets are sent to; where none was entered, that of the provider.
	server() string
	// request is what sends m, which is tidy.
	request(m Message) httpx.Request
	// judge is what an answer says of the message: nil only where the service documents that it was taken.
	judge(got answer) *Failure
}

// serviceSender sends the messages of a service.
type serviceSender struct {
	provider
	tools *Tools
}

// Send is taken when the service says so.
func (s serviceSender) Send(ctx context.Context, m Message) error {
	return s.tools.ask(ctx, s.request(m.tidy()), s.judge)
}

// ask sends req and returns what judge says of the answer. A message that may have been taken is Unsure.
func (t *Tools) ask(ctx context.Context, req httpx.Request, judge func(answer) *Failure) error {
	got, err := t.do(ctx, req)
	if err != nil {
		return err
	}
	if got.status/100 == 3 {
		return got.redirected(req.URL)
	}
	f := judge(got)
	if f == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if got.status/100 == 2 && !got.whole {
		return answerLost(hostOf(req.URL))
	}
	// Masked first: what is left of a secret that was cut is not known as one.
	f.Problem = f.Problem.Masked(func(text string) string { return cut(t.masker.Mask(text), maxExcerpt) })
	f.RetryAfter = max(f.RetryAfter, got.retryAfter)
	return f
}

// answerLost is what to say of a message that was taken or not: the answer ends too early.
func answerLost(receiver string) *Failure {
	return &Failure{Blame: Unsure, Problem: answerCut.With(receiver)}
}

// post is a request with a body of JSON, which asks for an answer in JSON: some services answer a page otherwise.
func post(address string, body any) httpx.Request {
	return httpx.Request{Method: http.MethodPost, URL: address, Body: encode(body),
		Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}, "Accept": {"application/json"}}}
}

// bearer is req with a token, if there is one.
func bearer(req httpx.Request, token secret.Text) httpx.Request {
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token.Reveal())
	}
	return req
}

// reads reports whether the whole answer is JSON that fits into v.
func (a answer) reads(v any) bool { return a.whole && json.Unmarshal(a.body, v) == nil }

// refused is the failure of an answer in the words of the service, which may be empty. It is nobody's fault until the caller
// says otherwise.
func (a answer) refused(name, said string) *Failure {
	said = strings.Join(strings.Fields(clean(said)), " ")
	if said == "" || said[0] == '<' {
		return &Failure{Problem: serviceAnswered.With(name, a.status)}
	}
	return &Failure{Problem: serviceSaid.With(name, a.status, said)}
}

// blames is f with the blame and what to do.
func (f *Failure) blames(b Blame, advice reason.Reason) *Failure {
	f.Blame, f.Advice = b, advice
	return f
}

// after is f with how long the service wants to be left alone.
func (f *Failure) after(seconds float64) *Failure {
	f.RetryAfter = time.Duration(min(max(seconds, 0), 7*24*3600) * float64(time.Second))
	return f
}

// byStatus is what the status says where the service gave no code that is known. An answer of success that is not of the
// service's form comes from somebody else.
func (a answer) byStatus(name, said string) *Failure {
	f := a.refused(name, said)
	switch s := a.status; {
	case temporary(s):
	case s/100 == 2:
		return &Failure{Blame: OfChannel, Problem: notTheService.With(name, s), Advice: checkServer.With()}
	case s == http.StatusUnauthorized, s == http.StatusForbidden, s == http.StatusProxyAuthRequired:
		return f.blames(OfChannel, checkSecret.With())
	case s == http.StatusNotFound, s == http.StatusMethodNotAllowed, s == http.StatusGone:
		return f.blames(OfChannel, checkServer.With())
	default:
		f.Blame = OfMessage
	}
	return f
}

// secretFields calls do for each field of a struct that is a secret.
func secretFields(v reflect.Value, do func(field reflect.Value, name string)) {
	for i := range v.NumField() {
		if v.Field(i).Type() == reflect.TypeFor[secret.Text]() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			do(v.Field(i), name)
		}
	}
}

// plainOf is the Plain of a service.
func plainOf(p provider) string {
	fields := map[string]any{}
	masked, err := json.Marshal(p)
	if err == nil {
		dec := json.NewDecoder(bytes.NewReader(masked))
		dec.UseNumber()
		err = dec.Decode(&fields)
	}
	if err != nil { // not possible: settings are text and lists of text
		panic(err)
	}
	secretFields(reflect.ValueOf(p), func(field reflect.Value, name string) { fields[name] = field.String() })
	return string(encode(fields))
}

// secretsOf are the Secrets of a service, and of those that are addresses what looks like a key in their paths.
func secretsOf(p provider) []string {
	var all []string
	secretFields(reflect.ValueOf(p), func(field reflect.Value, _ string) {
		for one := range strings.FieldsSeq(strings.ReplaceAll(field.String(), ",", " ")) {
			all = append(all, one)
			if u, err := url.Parse(one); err == nil && u.Scheme != "" && u.Host != "" {
				all = append(all, keys(strings.Split(u.Path, "/"))...)
			}
		}
		all = append(all, field.String())
	})
	return all
}

// keepOf is the Keep of a service: an untouched address that is a secret is taken first, and then what goes to the same server.
func keepOf[P provider](p P, old Config) Config {
	before, same := old.(P)
	if !same {
		return p
	}
	fields, kept := reflect.ValueOf(before), reflect.ValueOf(&p).Elem()
	keep := func(address bool) {
		secretFields(kept, func(field reflect.Value, name string) {
			if field.String() == secret.Shown && (name == "url") == address {
				field.Set(fieldNamed(fields, name))
			}
		})
	}
	keep(true)
	if origin(p.server()) == origin(before.server()) {
		keep(false)
	}
	return p
}

func fieldNamed(v reflect.Value, name string) (found reflect.Value) {
	secretFields(v, func(field reflect.Value, n string) {
		if n == name {
			found = field
		}
	})
	return found
}

// serverAddress is what a person entered as the address of a server, without a / at its end; standard where that is nothing.
func serverAddress(address, standard string, wrong *problems) string {
	address = cmp.Or(strings.TrimSpace(address), standard)
	u, err := url.Parse(address)
	if address == "" || err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		wrong.add("url", badServer.With(cmp.Or(standard, "https://push.example.org")))
		return address
	}
	if len(address) > maxAddress {
		wrong.add("url", addressTooLong.With(maxAddress))
	}
	if checkPlace("url", u, wrong) && u.Scheme == "http" && !lan.IsHome(u.Hostname()) {
		wrong.add("url", robotNeedsHTTPS.With())
	}
	base := url.URL{Scheme: u.Scheme, Host: strings.ToLower(u.Host), Path: strings.TrimRight(u.Path, "/")}
	return base.String()
}

// secretIn is what a person entered as a secret. is tells whether it is one; what says what to do when it is not.
func secretIn(field string, entered secret.Text, is func(string) bool, what error, wrong *problems) secret.Text {
	text := secret.Text(strings.TrimSpace(entered.Reveal()))
	if !wrong.again(field, text) && !is(text.Reveal()) {
		wrong.add(field, what)
	}
	return text
}

// place names where messages go: the host, and the end of a secret that is long enough to keep one.
func place(address string, key secret.Text) string {
	text := mustParse(address).Host
	if n := len(key); n >= 12 {
		text += " …" + key.Reveal()[n-4:]
	}
	return text
}

// Priority is how much a message insists, where the receiver knows such a thing.
type Priority string

// The priorities; an empty one is Normal.
const (
	Low    Priority = "low"
	Normal Priority = "normal"
	High   Priority = "high"
)

func (p Priority) check(wrong *problems) Priority {
	return oneOf(wrong, "priority", p, unknownPriority.With(), Normal, Low, High)
}

// What the forms of services have in common.
var (
	priorityField = Field{Name: "priority", Input: Choice, Label: Words{English: "Priority", Chinese: "优先级"}, More: true, Options: []Option{
		{Value: string(Normal), Label: Words{English: "Normal", Chinese: "普通"}},
		{Value: string(Low), Label: Words{English: "Low: without a sound", Chinese: "低：不响铃"}},
		{Value: string(High), Label: Words{English: "High: insistent", Chinese: "高：强提醒"}},
	}}
	ownServerField = Field{Name: "url", Input: Line, Label: Words{English: "Address of your own server", Chinese: "自建服务器的地址"}, More: true, Keyboard: "url",
		Help: Words{English: "Leave it empty for the public one.", Chinese: "留空即使用公共服务器。"}}
	serverField = Field{Name: "url", Input: Line, Label: Words{English: "Address of the server", Chinese: "服务器地址"}, Required: true, Keyboard: "url"}
	ownServer   = Words{English: "More: own server", Chinese: "更多：自建服务器"}
	keptSecret  = Words{English: "It is encrypted and never shown again.", Chinese: "会加密保存，之后不再显示。"}
)

// What is wrong with the settings of a service, what goes wrong with any of them, and what to do.
var (
	badServer       = reason.New("channel_server_address", "enter the address of the server, such as {address}, without user name and password", "请填写服务器地址，例如 {address}，其中不要带用户名和密码")
	unknownPriority = reason.New("channel_priority_unknown", "choose low, normal or high", "请选择 low、normal 或 high")
	serviceAnswered = reason.New("channel_service_answered", "{service} answered with status {status}", "{service} 返回状态码 {status}")
	serviceSaid     = reason.New("channel_service_said", "{service} answered with status {status}: {text}", "{service} 返回状态码 {status}：{text}")
	notTheService   = reason.New("channel_not_the_service", "{service} does not answer like this (status {status}): something else is at this address", "{service} 不会这样回应（状态码 {status}）：这个地址上可能是别的服务")
	checkServer     = reason.New("channel_check_server", "check the address of the server", "请检查服务器地址")
	checkSecret     = reason.New("channel_check_secret", "copy the key or token again", "请重新复制密钥或 token")
	answerCut       = reason.New("channel_answer_lost", "{receiver} got the message, but its answer was lost", "{receiver} 收到了消息，但没有收到完整的回应")
)
