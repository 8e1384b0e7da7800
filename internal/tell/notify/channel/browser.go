package channel

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/tell/notify/webpush"
)

// TypeBrowser is the type of a Browser.
const TypeBrowser Type = "browser"

// Browser sends messages to one browser by its push service (RFC 8030). The browser itself gives all of it but the language.
type Browser struct {
	// Endpoint is an address of the push service. Who knows it, and the keys, can send to the browser.
	Endpoint secret.Text `json:"endpoint" doc:"The address of the push service, which a browser tells that subscribes."`
	// P256dh is the public key of the browser, Auth 16 random bytes; both in base64url.
	P256dh secret.Text `json:"p256dh" doc:"The public key of the browser: 65 bytes in base64url."`
	Auth   secret.Text `json:"auth" doc:"16 bytes in base64url, which the browser made."`
	// Site is the address of this service in that browser, by which the operator of a push service finds who sends.
	Site string `json:"site" required:"false" doc:"The https address of this service in that browser; push services want to know who sends."`
	// Language is that of messages; empty = the language of notifications.
	Language string `json:"language" required:"false" enum:",en,zh-CN" doc:"The language of messages; empty is notification.language."`
}

// browserAdapter is a browser or phone as a type of channel.
var browserAdapter = Adapter{
	Type: TypeBrowser, Name: Words{English: "Browser or phone", Chinese: "浏览器或手机"}, Noun: "browser", Icon: "monitor-smartphone", Group: Phones,
	About:   Words{English: "this device, with buttons to answer", Chinese: "这台设备，通知上可直接回答"},
	Add:     Words{English: "Notify this device", Chinese: "在这台设备上接收通知"},
	Example: Words{English: "My phone", Chinese: "我的手机"},
	Read:    read[Browser],
	Rate:    usualRate,
	Fields: []Field{
		{Name: "endpoint", Input: Given, Label: Words{English: "Address of the push service", Chinese: "推送服务的地址"}},
		{Name: "p256dh", Input: Given, Label: Words{English: "Key of the browser", Chinese: "浏览器的密钥"}},
		{Name: "auth", Input: Given, Label: Words{English: "Secret of the browser", Chinese: "浏览器的密文"}},
		{Name: "site", Input: Given, Label: Words{English: "Address of this service", Chinese: "本服务的地址"}},
		{Name: "language", Input: Choice, Label: Words{English: "Language", Chinese: "语言"}, Options: []Option{
			{Value: "", Label: Words{English: "That of all messages", Chinese: "与其他消息相同"}},
			{Value: string(bilingual.English), Label: Words{English: "English", Chinese: "English"}},
			{Value: string(bilingual.Chinese), Label: Words{English: "简体中文", Chinese: "简体中文"}},
		}},
	},
	Guide: Guide{
		Steps: []Words{
			{English: "Open this page on the device that is to be notified, by `https://`.", Chinese: "在要接收通知的设备上用 `https://` 打开本页。"},
			{English: "On an iPhone or iPad: choose **Share**, then **Add to Home Screen**, and open Watchmark from there (iOS 16.4 or later).",
				Chinese: "iPhone 或 iPad：点**分享**，再点**添加到主屏幕**，然后从主屏幕打开 Watchmark（iOS 16.4 或更高版本）。"},
			{English: "Press **Notify this device** and allow notifications.", Chinese: "点**在这台设备上接收通知**，并允许通知。"},
		},
		Note: Words{English: "The push service of the browser carries the messages: Google, Mozilla, Apple or Microsoft. They are encrypted, and only this device can read them.",
			Chinese: "消息由浏览器的推送服务传递（Google、Mozilla、Apple 或 Microsoft），内容已加密，只有这台设备能读。"},
	},
}

// Type is TypeBrowser.
func (b Browser) Type() Type { return TypeBrowser }

// Keep takes what a form did not touch from old.
func (b Browser) Keep(old Config) Config {
	before, ok := old.(Browser)
	if !ok {
		return b
	}
	// They belong together: one that is new is never joined with those of before.
	if b.Endpoint.Reveal() == secret.Shown && b.P256dh.Reveal() == secret.Shown && b.Auth.Reveal() == secret.Shown {
		b.Endpoint, b.P256dh, b.Auth, b.Site = before.Endpoint, before.P256dh, before.Auth, before.Site
	}
	return b
}

// maxEndpoint is longer than any known address of a push service.
const maxEndpoint = 2 << 10

// Check is the config as it is stored, and what is wrong with it.
func (b Browser) Check() (Config, []*reason.FieldError) {
	var wrong problems
	for _, field := range []struct {
		name  string
		value *secret.Text
	}{{"endpoint", &b.Endpoint}, {"p256dh", &b.P256dh}, {"auth", &b.Auth}} {
		*field.value = secret.Text(strings.TrimSpace(field.value.Reveal()))
		if wrong.again(field.name, *field.value) {
			return b, wrong
		}
	}
	endpoint := b.Endpoint.Reveal()
	u, err := url.Parse(endpoint)
	switch {
	case len(endpoint) > maxEndpoint:
		wrong.add("endpoint", addressTooLong.With(maxEndpoint))
	case err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "":
		wrong.add("endpoint", badEndpoint.With())
	default:
		checkPlace("endpoint", u, &wrong)
	}
	if _, err := b.receiver(); err != nil {
		if webpush.IsAuthWrong(err) {
			wrong.add("auth", badBrowserAuth.With())
		} else {
			wrong.add("p256dh", badBrowserKey.With())
		}
	}
	if site, err := url.Parse(b.Site); err != nil || len(b.Site) > maxName || site.Scheme != "https" || site.Hostname() == "" {
		b.Site = "" // without it most push services take messages all the same
	}
	switch bilingual.Language(b.Language) {
	case "", bilingual.English, bilingual.Chinese:
	default:
		wrong.add("language", unknownLanguage.With())
	}
	return b, wrong
}

// maxName bounds the address of a site, in bytes.
const maxName = 300

func (b Browser) receiver() (webpush.Receiver, error) {
	return webpush.ParseReceiver(b.P256dh.Reveal(), b.Auth.Reveal())
}

// Plain is the config with its secrets.
func (b Browser) Plain() string {
	return string(encode(struct {
		Browser
		Endpoint string `json:"endpoint"`
		P256dh   string `json:"p256dh"`
		Auth     string `json:"auth"`
	}{b, b.Endpoint.Reveal(), b.P256dh.Reveal(), b.Auth.Reveal()}))
}

// Secrets are the address and the keys.
func (b Browser) Secrets() []string {
	return []string{b.Endpoint.Reveal(), b.P256dh.Reveal(), b.Auth.Reveal()}
}

// host is where messages go.
func (b Browser) host() string { return hostOf(b.Endpoint.Reveal()) }

// Where is the host of the push service.
func (b Browser) Where() string { return b.host() }

// Spoken is the language of its messages; empty for that of all.
func (b Browser) Spoken() bilingual.Language { return bilingual.Language(b.Language) }

// Answers is true: its messages may have actions.
func (b Browser) Answers() bool { return true }

// Open is a sender with these settings.
func (b Browser) Open(tools *Tools) Sender { return browser{b, tools} }

type browser struct {
	Browser
	tools *Tools
}

const (
	// pushLife is for how long a push service keeps a message for a device that is off.
	pushLife = 24 * time.Hour
	// Bounds of what a notification shows, in bytes.
	pushTitle, pushText = 300, 1200
)

// pushMessage is a message as the worker of the pages reads it (assets/worker.js).
type pushMessage struct {
	Title string `json:"title"`
	Text  string `json:"text"`
	// Tag is that of the message: what comes twice is shown once.
	Tag  string `json:"tag"`
	Page string `json:"page"`
	Lang string `json:"lang"`
	At   int64  `json:"at"`
	// Failed is what to show when an answer could not be sent.
	Failed  string       `json:"failed,omitempty"`
	Actions []pushAction `json:"actions,omitempty"`
}

type pushAction struct {
	Title string `json:"title"`
	Token string `json:"token"`
}

// Send is taken when the push service says 2xx. That the browser is subscribed no more is a Failure with Gone. A repeat takes the place of the
// message that it repeats: both have its id as topic and as tag.
func (b browser) Send(ctx context.Context, m Message) error {
	req, err := b.request(m.tidy())
	if err != nil {
		return &Failure{Blame: OfChannel, Problem: reason.Of(err), Advice: subscribeAgain.With()}
	}
	err = repeatable(b.tools.ask(ctx, req, b.judge))
	var f *Failure
	if errors.As(err, &f) && f.Blame == OfChannel { // nobody can mend an address that nobody entered
		f.Advice = subscribeAgain.With()
	}
	return err
}

func (b browser) judge(got answer) *Failure {
	if got.status/100 == 2 {
		return nil
	}
	f := &Failure{Problem: receiverAnswered.With(got.status)}
	if text := b.tools.excerpt(got); text != "" {
		f.Problem = receiverAnsweredText.With(got.status, text)
	}
	switch s := got.status; {
	case s == http.StatusNotFound, s == http.StatusGone:
		f.Blame, f.Problem = Gone, subscriptionGone.With()
	case temporary(s):
	case s == http.StatusUnauthorized, s == http.StatusForbidden, strings.Contains(string(got.body), "VapidPkHashMismatch"): // so Apple, with 400
		f.Blame = OfChannel
	default:
		f.Blame = OfMessage
	}
	return f
}

func (b browser) request(m Message) (httpx.Request, error) {
	receiver, err := b.receiver()
	if err != nil {
		return httpx.Request{}, err
	}
	shown := pushMessage{Title: cut(m.Title, pushTitle), Text: cut(m.Text, pushText), Tag: m.ID, Page: m.Page, Lang: string(m.Language), At: m.At.UnixMilli()}
	if len(m.Actions) > 0 {
		shown.Failed = actionUnsent.With().In(m.Language)
	}
	for _, action := range m.Actions {
		shown.Actions = append(shown.Actions, pushAction{action.Label, action.Token})
	}
	plain := encode(shown)
	if len(plain) > webpush.MaxPlain { // escapes make a text up to six times as long
		shown.Title, shown.Text = cut(shown.Title, pushTitle/3), cut(shown.Text, pushText/6)
		plain = encode(shown)
	}
	body, err := receiver.Encrypt(plain)
	if err != nil {
		return httpx.Request{}, err
	}
	authorization, err := b.tools.pushKey.Authorization(b.Endpoint.Reveal(), b.Site, b.tools.now())
	if err != nil {
		return httpx.Request{}, err
	}
	header := http.Header{
		"Authorization": {authorization}, "Content-Encoding": {"aes128gcm"}, "Content-Type": {"application/octet-stream"},
		"Ttl": {strconv.Itoa(int(pushLife.Seconds()))}, "Urgency": {"normal"},
	}
	if pushTopic(m.ID) {
		header.Set("Topic", m.ID) // a repeat replaces what was not delivered yet
	}
	return httpx.Request{Method: http.MethodPost, URL: b.Endpoint.Reveal(), Header: header, Body: body}, nil
}

// pushTopic reports whether a text may be a topic: at most 32 characters of base64url (RFC 8030, section 5.4).
func pushTopic(id string) bool {
	return id != "" && len(id) <= 32 && !strings.ContainsFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

// BrowserOf is the config of a subscription as a browser tells it, PushSubscription.toJSON().
func BrowserOf(endpoint, p256dh, auth, site string, l bilingual.Language) Browser {
	return Browser{Endpoint: secret.Text(endpoint), P256dh: secret.Text(p256dh), Auth: secret.Text(auth), Site: site, Language: string(l)}
}
