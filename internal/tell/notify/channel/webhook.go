package channel

import (
	"context"
	"errors"
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

// Webhook sends messages as requests to an address (upstreams/channels.md, section 3).
type Webhook struct {
	// URL is http or https. It is a secret as a whole: many receivers have their key in it.
	URL secret.Text `json:"url" doc:"The address, http or https."`
	// Method is POST, PUT or GET; empty = POST. GET has the body flattened into its query.
	Method  string   `json:"method" required:"false" enum:"POST,PUT,GET" default:"POST" doc:"GET puts what would be the body into the query."`
	Headers []Header `json:"headers" required:"false" doc:"Further headers."`
	// Template is JSON, in whose strings {placeholders} are replaced; empty = DefaultTemplate.
	Template string `json:"template" required:"false" doc:"The body: JSON, in whose texts {placeholders} are replaced. Empty is the standard one of docs/notifications.md."`
}

// Header is a header of a webhook's requests.
type Header struct {
	Name  string      `json:"name" example:"Authorization"`
	Value secret.Text `json:"value" example:"Bearer paste-the-token-here"`
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
func (w Webhook) Check() (Config, []FieldError) {
	var wrong problems
	w.URL = w.checkURL(&wrong)
	w.Method = strings.ToUpper(strings.TrimSpace(w.Method))
	switch w.Method {
	case "":
		w.Method = http.MethodPost
	case http.MethodPost, http.MethodPut, http.MethodGet:
	default:
		wrong.add("method", "take POST, PUT or GET")
	}
	w.checkHeaders(&wrong)
	w.Template = strings.TrimSpace(w.Template)
	if template, err := parseTemplate(w.Template); err != nil {
		wrong.add("template", "%s", err)
	} else if _, isObject := template.(map[string]any); !isObject && w.Method == http.MethodGet {
		wrong.add("template", "with GET it must be an object, {…}, whose fields become the parameters of the query")
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
		wrong.add("url", "enter an address that starts with http:// or https://")
		return w.URL
	case len(w.URL) > maxAddress:
		wrong.add("url", "is longer than %d bytes", maxAddress)
	}
	if port := u.Port(); port != "" && !validPort(port) {
		wrong.add("url", "the port must be between 1 and 65535")
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
		if err := allow(addr); err != nil {
			wrong.add("url", "%s", err)
		}
	}
	u.Fragment, u.RawFragment = "", ""
	return secret.Text(u.String())
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
		wrong.add("headers", "are more than %d", maxHeaders)
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
			wrong.add("headers", "%q is not a name of a header: it consists of letters, digits and hyphens", cut(clean(name), 60))
		case slices.Contains(ownHeaders, key):
			wrong.add("headers", "%s is set by Watchmark itself", name)
		case seen[key]:
			wrong.add("headers", "the header %s is there twice", name)
		case wrong.again("headers", h.Value):
		case len(value) > maxAddress || strings.ContainsFunc(value, unicode.IsControl):
			wrong.add("headers", "the value of %s holds a line break or another control character, or more than %d bytes", name, maxAddress)
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

// Where is the origin of the address.
func (w Webhook) Where() string { return origin(w.URL.Reveal()) }

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
		return &Failure{Blame: OfChannel, Problem: err.Error(), Advice: "correct the settings of the channel"}
	}
	got, err := w.tools.do(ctx, req)
	if err != nil {
		return err
	}
	if got.status/100 == 2 {
		return nil
	}
	f := &Failure{Problem: fmt.Sprintf("the receiver answered with status %d", got.status), RetryAfter: got.retryAfter}
	if text := w.tools.excerpt(got); text != "" {
		f.Problem += ": " + text
	}
	switch s := got.status; {
	case s/100 == 3:
		return got.redirected(req.URL)
	case temporary(s):
	case s == http.StatusUnauthorized, s == http.StatusForbidden, s == http.StatusProxyAuthRequired:
		f.Blame, f.Advice = OfChannel, "check the key in the address or the headers"
	case s == http.StatusNotFound, s == http.StatusGone:
		f.Blame, f.Advice = OfChannel, "check the address"
	case s == http.StatusMethodNotAllowed:
		f.Blame, f.Advice = OfChannel, "choose another method"
	case s == http.StatusRequestEntityTooLarge, s == http.StatusRequestURITooLong:
		f.Blame, f.Advice = OfMessage, "shorten the template"
	default:
		f.Blame, f.Advice = OfMessage, "compare the template with what the receiver expects"
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
		return httpx.Request{}, errors.New("the address cannot be read")
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
