package channel

import (
	"cmp"
	"regexp"
	"strings"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// TypeGotify is the type of a Gotify.
const TypeGotify Type = "gotify"

// Gotify sends messages as an application of a Gotify server (docs/design/channels.md).
type Gotify struct {
	URL      string      `json:"url" required:"false" doc:"The address of the server."`
	Token    secret.Text `json:"token" required:"false" doc:"The token of an application; that of a client does not work."`
	Priority Priority    `json:"priority" required:"false" enum:",low,normal,high" doc:"How much it insists."`
}

// gotifyAdapter is Gotify as a type of channel.
var gotifyAdapter = Adapter{
	Type: TypeGotify, Name: Words{English: "Gotify", Chinese: "Gotify"}, Noun: "Gotify server", Icon: "megaphone", Group: Phones,
	About:   Words{English: "Android and browsers, by your own server", Chinese: "自建服务器，支持 Android 和浏览器"},
	Add:     Words{English: "Add a Gotify server", Chinese: "添加 Gotify 服务器"},
	Example: Words{English: "My phone", Chinese: "我的手机"},
	Read:    read[Gotify],
	Rate:    usualRate,
	Fields: []Field{
		withExample(serverField, "http://gotify.lan"),
		{Name: "token", Input: SecretLine, Label: Words{English: "Token of the application", Chinese: "应用的 token"}, Required: true, Help: keptSecret},
		priorityField,
	},
	MoreTitle: Words{English: "More: priority", Chinese: "更多：优先级"},
	Guide: Guide{
		Steps: []Words{
			{English: "In Gotify: **Apps → Create application**.", Chinese: "在 Gotify 中：**Apps → Create application**。"},
			{English: "Show its token and copy it here.", Chinese: "显示它的 token，复制到这里。"},
		},
		Note: Words{English: "The token of a client does not work: it may read messages, and not send them.", Chinese: "客户端（Clients）的 token 不能用：它只能读取消息，不能发送。"},
	},
}

// What is wrong with the settings of a Gotify, and what to do about its answers.
var (
	badGotifyToken   = reason.New("channel_gotify_token", "enter the token of an application", "请填写应用的 token")
	copyGotifyToken  = reason.New("channel_gotify_copy_token", "copy the token of an application again; that of a client does not work", "请重新复制应用的 token；客户端的 token 不能用")
	gotifyToken      = regexp.MustCompile(`^[A-Za-z0-9._-]{8,200}$`)
	gotifyPriorities = map[Priority]int{Low: 2, Normal: 5, High: 8}
)

// withExample is f with an example.
func withExample(f Field, example string) Field {
	f.Example = example
	return f
}

// Type is TypeGotify.
func (c Gotify) Type() Type { return TypeGotify }

// Keep takes an untouched token from old.
func (c Gotify) Keep(old Config) Config { return keepOf(c, old) }

// Check is the config as it is stored, and what is wrong with it.
func (c Gotify) Check() (Config, []*reason.FieldError) {
	var wrong problems
	c.URL = strings.TrimSuffix(serverAddress(c.URL, "", &wrong), "/message")
	c.Token = secretIn("token", c.Token, gotifyToken.MatchString, badGotifyToken.With(), &wrong)
	c.Priority = c.Priority.check(&wrong)
	return c, wrong
}

// Plain is the config with its token.
func (c Gotify) Plain() string { return plainOf(c) }

// Secrets is the token.
func (c Gotify) Secrets() []string { return secretsOf(c) }

func (c Gotify) server() string { return c.URL }

// host is where messages go.
func (c Gotify) host() string { return hostOf(c.URL) }

// Where is the host and the end of the token.
func (c Gotify) Where() string { return place(c.URL, c.Token) }

// Open is a sender with these settings.
func (c Gotify) Open(tools *Tools) Sender { return serviceSender{c, tools} }

// maxLongText is how many bytes a text has at most where the receiver sets no bound that a message comes near to.
const maxLongText = 16 << 10

func (c Gotify) request(m Message) httpx.Request {
	body := map[string]any{
		"title": cut(cmp.Or(m.Title, service), maxTitle), "message": cut(cmp.Or(m.Text, m.Title, service), maxLongText),
		"priority": cmp.Or(gotifyPriorities[c.Priority], 5),
	}
	if link := linkTarget(m.Link); link != "" {
		body["extras"] = map[string]any{"client::notification": map[string]any{"click": map[string]any{"url": link}}}
	}
	req := post(c.URL+"/message", body)
	req.Header.Set("X-Gotify-Key", c.Token.Reveal())
	return req
}

func (c Gotify) judge(got answer) *Failure {
	var reply struct {
		ID          int64
		AppID       int64
		Description string `json:"errorDescription"`
	}
	if !got.reads(&reply) {
		return got.byStatus("Gotify", "")
	}
	if got.status == 200 && reply.ID != 0 && reply.AppID != 0 {
		return nil
	}
	f := got.byStatus("Gotify", reply.Description)
	if f.Blame == OfChannel && (got.status == 401 || got.status == 403) {
		f.Advice = copyGotifyToken.With()
	}
	return f
}
