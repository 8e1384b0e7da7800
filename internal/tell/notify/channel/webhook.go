package channel

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// Bounds of a request, in bytes, and of its headers in number.
const (
	maxBody = 64 << 10
	// maxQuery is what servers commonly take of an address.
	maxQuery   = 6 << 10
	maxAddress = 4 << 10
	maxHeaders = 30
)

// TypeWebhook is the type of a Webhook.
const TypeWebhook Type = "webhook"

// Webhook sends messages as requests to an address (upstreams/channels.md, section 3).
type Webhook struct {
	// URL is http or https. It is a secret as a whole: many receivers have their key in it.
	URL secret.Text `json:"url" doc:"The address, http or https."`
	// Method is POST, PUT or GET; empty = POST. GET has the body flattened into its query.
	Method  string   `json:"method" required:"false" enum:"POST,PUT,GET" default:"POST" doc:"GET puts what would be the body into the query."`
	Headers []Header `json:"headers" required:"false" doc:"Further headers."`
	// Template is JSON, in whose strings {placeholders} are replaced; empty = DefaultTemplate.
	Template string `json:"template" required:"false" doc:"The body: JSON, in whose texts {placeholders} are replaced. Empty is the standard one of /docs/notifications#webhook."`
}

// Header is a header of a webhook's requests.
type Header struct {
	Name  string      `json:"name" example:"Authorization"`
	Value secret.Text `json:"value" example:"Bearer paste-the-token-here"`
}

// webhookAdapter is the webhook as a type of channel.
var webhookAdapter = Adapter{
	Type: TypeWebhook, Name: Words{English: "Webhook", Chinese: "Webhook"}, Noun: "webhook", Icon: "webhook", Group: Programs,
	About:   Words{English: "any other service, or a program of your own", Chinese: "其他服务，或你自己的程序"},
	Add:     Words{English: "Add a webhook", Chinese: "添加 Webhook"},
	Example: Words{English: "My phone", Chinese: "我的手机"},
	Read:    read[Webhook],
	Rate:    usualRate,
	Fields: []Field{
		{Name: "url", Input: SecretLine, Label: Words{English: "Address", Chinese: "地址"}, Required: true, Keyboard: "url",
			Help: Words{English: "It may hold a key, so it is encrypted and never shown again.", Chinese: "地址中可能含有密钥，因此会加密保存，之后不再显示。"}},
		{Name: "template", Input: Template, Label: Words{English: "Body", Chinese: "请求体"}, More: true, Example: DefaultTemplate,
			Help: Words{English: "JSON in which {placeholders} are replaced. Empty sends the standard body, which the field shows.", Chinese: "JSON，其中的 {占位符} 会被替换。留空则发送输入框中所示的标准内容。"}},
		{Name: "headers", Input: HeaderLines, Label: Words{English: "Headers", Chinese: "请求头"}, More: true,
			Help: Words{English: "One per line, such as `Authorization: Bearer …`. Values are encrypted and shown as ***.", Chinese: "每行一个，例如 `Authorization: Bearer …`。值会加密保存，显示为 ***。"}},
		{Name: "method", Input: Choice, Label: Words{English: "Method", Chinese: "方法"}, More: true, Options: []Option{{Value: http.MethodPost}, {Value: http.MethodPut}, {Value: http.MethodGet}}},
	},
	MoreTitle: Words{English: "More: body, headers, method", Chinese: "更多：请求体、请求头、方法"},
	Guide: Guide{
		Note: Words{English: "For receivers that have no type of their own here. The receiver tells its address, and what body and headers it expects.", Chinese: "用于这里没有单独列出的接收方。地址、请求体和请求头都以接收方的说明为准。"},
	},
}

// Type is TypeWebhook.
func (w Webhook) Type() Type { return TypeWebhook }

// Keep takes untouched secrets from old. Values of headers belong to the origin of the address.
func (w Webhook) Keep(old Config) Config {
	before, ok := old.(Webhook)
	if !ok {
		return w
	}
	if w.URL.Reveal() == secret.Shown {
		w.URL = before.URL
	}
	if origin(w.URL.Reveal()) != origin(before.URL.Reveal()) {
		return w
	}
	w.Headers = slices.Clone(w.Headers)
	for i, h := range w.Headers {
		at := slices.IndexFunc(before.Headers, func(o Header) bool { return strings.EqualFold(o.Name, strings.TrimSpace(h.Name)) })
		if h.Value.Reveal() == secret.Shown && at >= 0 {
			w.Headers[i].Value = before.Headers[at].Value
		}
	}
	return w
}

// origin is scheme, host and port of an address.
func origin(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}

// Check is the config as it is stored, and what is wrong with it.
func (w Webhook) Check() (Config, []*reason.FieldError) {
	var wrong problems
	w.URL = w.checkURL(&wrong)
	w.Method = strings.ToUpper(strings.TrimSpace(w.Method))
	switch w.Method {
	case "":
		w.Method = http.MethodPost
	case http.MethodPost, http.MethodPut, http.MethodGet:
	default:
		wrong.add("method", unknownMethod.With())
	}
	w.checkHeaders(&wrong)
	w.Template = strings.TrimSpace(w.Template)
	if template, err := parseTemplate(w.Template); err != nil {
		wrong.add("template", err)
	} else if _, isObject := template.(map[string]any); !isObject && w.Method == http.MethodGet {
		wrong.add("template", templateForGet.With())
	}
	return w, wrong
}

func (w Webhook) checkURL(wrong *problems) secret.Text {
	if wrong.again("url", w.URL) {
		return w.URL
	}
	u, err := url.Parse(strings.TrimSpace(w.URL.Reveal()))
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		wrong.add("url", notHTTP.With())
		return w.URL
	case len(w.URL) > maxAddress:
		wrong.add("url", addressTooLong.With(maxAddress))
	}
	checkPlace("url", u, wrong)
	u.Fragment, u.RawFragment = "", ""
	return secret.Text(u.String())
}

// checkPlace reports whether u leads to an address that may be, and adds what is wrong with that and its port. A name is judged when it is
// connected to.
func checkPlace(field string, u *url.URL, wrong *problems) bool {
	if port := u.Port(); port != "" && !validPort(port) {
		wrong.add(field, addressPort.With())
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil && allow(addr) != nil {
		wrong.add(field, allow(addr))
		return false
	}
	return true
}

func validPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}

var headerToken = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$")

// ownHeaders are those that the connection, or Watchmark, sets itself.
var ownHeaders = []string{
	"Accept-Encoding", "Connection", "Content-Length", "Expect", "Host", "Idempotency-Key", "Keep-Alive",
	"Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

func (w *Webhook) checkHeaders(wrong *problems) {
	if len(w.Headers) > maxHeaders {
		wrong.add("headers", tooMany.With(maxHeaders))
	}
	given := w.Headers
	w.Headers = []Header{}
	seen := map[string]bool{}
	for _, h := range given {
		name, value := strings.TrimSpace(h.Name), strings.TrimSpace(h.Value.Reveal())
		if name == "" && value == "" {
			continue
		}
		key := http.CanonicalHeaderKey(name)
		switch {
		case !headerToken.MatchString(name):
			wrong.add("headers", badHeaderName.With(cut(clean(name), 60)))
		case slices.Contains(ownHeaders, key):
			wrong.add("headers", reservedHeader.With(name))
		case seen[key]:
			wrong.add("headers", headerTwice.With(name))
		case wrong.again("headers", h.Value):
		case len(value) > maxAddress || strings.ContainsFunc(value, unicode.IsControl):
			wrong.add("headers", badHeaderValue.With(name, maxAddress))
		}
		seen[key] = true
		w.Headers = append(w.Headers, Header{key, secret.Text(value)})
	}
}

// Plain is the config with its secrets.
func (w Webhook) Plain() string {
	type header struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	plain := struct {
		Webhook
		URL     string   `json:"url"`
		Headers []header `json:"headers"`
	}{Webhook: w, URL: w.URL.Reveal(), Headers: []header{}}
	for _, h := range w.Headers {
		plain.Headers = append(plain.Headers, header{h.Name, h.Value.Reveal()})
	}
	return string(encode(plain))
}

// Secrets are the address up to its query, and whatever looks like a key in address, headers
// and template.
func (w Webhook) Secrets() []string {
	var all []string
	if u, err := url.Parse(w.URL.Reveal()); err == nil {
		if password, ok := u.User.Password(); ok {
			all = append(all, password)
		}
		all = append(all, keys(strings.Split(u.Path, "/"))...)
		for _, values := range u.Query() {
			all = append(all, keys(values)...)
		}
		if len(u.Path) > 1 {
			all = append(all, (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String())
		}
	}
	for _, h := range w.Headers {
		if secret.SensitiveField(h.Name) {
			all = append(all, h.Value.Reveal())
		}
		all = append(all, keys(strings.Fields(h.Value.Reveal()))...)
	}
	template, _ := parseTemplate(w.Template) // what cannot be read holds no strings
	_ = mapStrings(template, func(s string) string {
		all = append(all, keys([]string{s})...)
		return s
	})
	return all
}

var keyText = regexp.MustCompile(`^[A-Za-z0-9._:+=~-]{8,}$`)

// keys are those of texts that look like keys: letters and digits mixed, or long.
func keys(texts []string) []string {
	var all []string
	for _, s := range texts {
		mixed := strings.ContainsAny(s, "0123456789") && strings.ContainsFunc(s, unicode.IsLetter)
		if keyText.MatchString(s) && (mixed || len(s) >= 20) {
			all = append(all, s)
		}
	}
	return all
}

// host is where messages go.
func (w Webhook) host() string { return hostOf(w.URL.Reveal()) }

// Where is the origin of the address.
func (w Webhook) Where() string { return origin(w.URL.Reveal()) }

var textPlace = regexp.MustCompile(`\{text(:[0-9]+)?\}`)

// holdsSeveral reports whether its body has a place for the text.
func (w Webhook) holdsSeveral() bool { return w.Template == "" || textPlace.MatchString(w.Template) }

// Open is a sender with these settings.
func (w Webhook) Open(tools *Tools) Sender { return webhook{w, tools} }

type webhook struct {
	Webhook
	tools *Tools
}

// Send is taken when the answer has a status of 2xx.
func (w webhook) Send(ctx context.Context, m Message) error {
	req, err := w.request(m.tidy())
	if err != nil {
		return &Failure{Blame: OfChannel, Problem: reason.Of(err), Advice: correctSettings.With()}
	}
	got, err := w.tools.do(ctx, req)
	if err != nil {
		return repeatable(err) // its Idempotency-Key tells the receiver
	}
	if got.status/100 == 2 {
		return nil
	}
	f := &Failure{Problem: receiverAnswered.With(got.status), RetryAfter: got.retryAfter}
	if text := w.tools.excerpt(got); text != "" {
		f.Problem = receiverAnsweredText.With(got.status, text)
	}
	switch s := got.status; {
	case s/100 == 3:
		return got.redirected(req.URL)
	case temporary(s):
	case s == http.StatusUnauthorized, s == http.StatusForbidden, s == http.StatusProxyAuthRequired:
		f.Blame, f.Advice = OfChannel, checkKey.With()
	case s == http.StatusNotFound, s == http.StatusGone:
		f.Blame, f.Advice = OfChannel, checkAddress.With()
	case s == http.StatusMethodNotAllowed:
		f.Blame, f.Advice = OfChannel, chooseAnotherMethod.With()
	case s == http.StatusRequestEntityTooLarge, s == http.StatusRequestURITooLong:
		f.Blame, f.Advice = OfMessage, shortenTemplate.With()
	default:
		f.Blame, f.Advice = OfMessage, compareTemplate.With()
	}
	return f
}

func (w webhook) request(m Message) (httpx.Request, error) {
	template, err := parseTemplate(w.Template)
	if err != nil {
		return httpx.Request{}, fmt.Errorf("the template cannot be used: %w", err)
	}
	target, err := url.Parse(w.URL.Reveal())
	if err != nil {
		return httpx.Request{}, addressUnreadable
	}
	req := httpx.Request{Method: w.Method, URL: target.String(), Header: http.Header{}}
	if w.Method == http.MethodGet {
		render(template, m, func(filled any) bool {
			q := target.Query()
			flatten("", filled, q)
			u := *target
			u.RawQuery = q.Encode()
			req.URL = u.String()
			return len(u.RawQuery) <= maxQuery
		})
	} else {
		req.Header.Set("Content-Type", "application/json; charset=utf-8")
		render(template, m, func(filled any) bool {
			req.Body = encode(filled)
			return len(req.Body) <= maxBody
		})
	}
	for _, h := range w.Headers {
		req.Header.Set(h.Name, h.Value.Reveal())
	}
	req.Header.Set("Idempotency-Key", m.ID)
	return req, nil
}
