package channel

import (
	"cmp"
	"net/url"
	"regexp"
	"strings"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// TypeNtfy is the type of an Ntfy.
const TypeNtfy Type = "ntfy"

// Ntfy sends messages to a topic of a ntfy server (docs/design/channels.md).
type Ntfy struct {
	// Topic is a secret: who knows it reads what is sent to it, unless the server protects it.
	Topic secret.Text `json:"topic" required:"false" doc:"The topic that the app subscribes to; its whole address is taken too."`
	// Token is an access token, for a topic that not everybody may write to; it may be empty.
	Token    secret.Text `json:"token" required:"false" doc:"An access token, for a protected topic; empty without."`
	Priority Priority    `json:"priority" required:"false" enum:",low,normal,high" doc:"How much it insists."`
	URL      string      `json:"url" required:"false" doc:"The address of your own server; empty for ntfy.sh."`
}

const ntfyServer = "https://ntfy.sh"

// ntfyAdapter is ntfy as a type of channel.
var ntfyAdapter = Adapter{
	Type: TypeNtfy, Name: Words{English: "ntfy", Chinese: "ntfy"}, Noun: "ntfy topic", Icon: "bell-ring", Group: Phones,
	About:   Words{English: "Android, iOS and browsers; no account", Chinese: "支持 Android、iOS 和浏览器，无需账号"},
	Add:     Words{English: "Add a ntfy topic", Chinese: "添加 ntfy 主题"},
	Example: Words{English: "My phone", Chinese: "我的手机"},
	Read:    read[Ntfy],
	Rate:    Rate{PerMinute: 12, Burst: 5}, // the public server takes 60 requests, then one every five seconds
	Fields: []Field{
		{Name: "topic", Input: SecretLine, Label: Words{English: "Topic", Chinese: "主题"}, Required: true,
			Help: Words{English: "Choose one that nobody guesses: who knows it can read along. It is encrypted and never shown again.", Chinese: "请选一个别人猜不到的：知道主题的人都能看到消息。会加密保存，之后不再显示。"}},
		{Name: "token", Input: SecretLine, Label: Words{English: "Access token", Chinese: "访问令牌"}, More: true, Example: "tk_…",
			Help: Words{English: "Only for a topic that the server protects.", Chinese: "仅在服务器限制了该主题时填写。"}},
		priorityField,
		ownServerField,
	},
	MoreTitle: Words{English: "More: token, priority, own server", Chinese: "更多：令牌、优先级、自建服务器"},
	Guide: Guide{
		Steps: []Words{
			{English: "Install the **ntfy** app and subscribe to a topic of your own.", Chinese: "安装 **ntfy** 应用，订阅一个自己起名的主题。"},
			{English: "Enter the same topic here.", Chinese: "在这里填写同一个主题。"},
		},
		Note: Words{English: "The public server `ntfy.sh` takes a limited number of messages a day; a server of your own does not.", Chinese: "公共服务器 `ntfy.sh` 每天的消息数有限；自建服务器没有限制。"},
	},
}

// What is wrong with the settings of an Ntfy, and what to do about its answers.
var (
	badTopicName   = reason.New("channel_ntfy_topic", "enter a topic of up to 64 letters, digits, - and _", "请填写主题：最多 64 个字母、数字、- 或 _")
	badNtfyToken   = reason.New("channel_ntfy_token", "enter an access token, which starts with tk_, or nothing", "请填写以 tk_ 开头的访问令牌，或留空")
	copyNtfyToken  = reason.New("channel_ntfy_copy_token", "make an access token in the account of the server, and enter it", "请在服务器的账号页面新建访问令牌并填写")
	ntfyProtected  = reason.New("channel_ntfy_protected", "the topic is protected: enter an access token that may write to it, or choose another topic", "该主题受保护：请填写有写权限的访问令牌，或换一个主题")
	chooseTopic    = reason.New("channel_ntfy_choose_topic", "choose another topic", "请换一个主题")
	ntfyDayIsOver  = reason.New("channel_ntfy_day", "the server takes no more messages today; use one of your own, or an account", "服务器今天不再接收消息；可改用自建服务器或登录账号")
	ntfyTopic      = regexp.MustCompile(`^[-_A-Za-z0-9]{1,64}$`)
	ntfyToken      = regexp.MustCompile(`^(tk_[A-Za-z0-9]{10,64})?$`)
	ntfyPriorities = map[Priority]int{Low: 2, Normal: 3, High: 5}
)

// Type is TypeNtfy.
func (c Ntfy) Type() Type { return TypeNtfy }

// Keep takes untouched topic and token from old.
func (c Ntfy) Keep(old Config) Config { return keepOf(c, old) }

// Check is the config as it is stored, and what is wrong with it.
func (c Ntfy) Check() (Config, []*reason.FieldError) {
	var wrong problems
	if u, err := url.Parse(strings.TrimSpace(c.Topic.Reveal())); err == nil && u.Scheme != "" && u.Host != "" {
		c.URL, c.Topic = u.Scheme+"://"+u.Host, secret.Text(strings.Trim(u.Path, "/"))
	}
	c.URL = serverAddress(c.URL, ntfyServer, &wrong)
	c.Topic = secretIn("topic", c.Topic, ntfyTopic.MatchString, badTopicName.With(), &wrong)
	c.Token = secretIn("token", c.Token, ntfyToken.MatchString, badNtfyToken.With(), &wrong)
	c.Priority = c.Priority.check(&wrong)
	return c, wrong
}

// Plain is the config with its secrets.
func (c Ntfy) Plain() string { return plainOf(c) }

// Secrets are the topic, when it looks like one, and the token.
func (c Ntfy) Secrets() []string { return append(keys([]string{c.Topic.Reveal()}), c.Token.Reveal()) }

func (c Ntfy) server() string { return cmp.Or(c.URL, ntfyServer) }

// host is where messages go.
func (c Ntfy) host() string { return hostOf(c.server()) }

// Where is the host and the end of the topic.
func (c Ntfy) Where() string { return place(c.server(), c.Topic) }

// Open is a sender with these settings.
func (c Ntfy) Open(tools *Tools) Sender { return serviceSender{c, tools} }

// maxNtfy is how many bytes a text may have: with more than 4096 it becomes a file, and telephones are told 4 KB with everything.
// The whole request may have twice as many.
const maxNtfy = 3000

func (c Ntfy) request(m Message) httpx.Request {
	body := map[string]any{
		"topic": c.Topic.Reveal(), "title": cut(cmp.Or(m.Title, service), maxTitle), "priority": cmp.Or(ntfyPriorities[c.Priority], 3),
		"message": cutTo(cmp.Or(m.Text, m.Title, service), maxNtfy, func(text string) int { return max(len(text), len(encode(text))/2) }),
	}
	if link := linkTarget(m.Link); link != "" {
		body["click"] = link
	}
	return bearer(post(c.server(), body), c.Token)
}

func (c Ntfy) judge(got answer) *Failure {
	var reply struct {
		ID, Event, Topic string
		Code             int64
		Error            string
	}
	if !got.reads(&reply) {
		return got.byStatus("ntfy", "")
	}
	if got.status == 200 && reply.ID != "" && reply.Event == "message" && reply.Topic == c.Topic.Reveal() {
		return nil
	}
	f := got.byStatus("ntfy", reply.Error)
	switch reply.Code {
	case 40101:
		return f.blames(OfChannel, copyNtfyToken.With())
	case 40301, 50701: // 50701: a topic of UnifiedPush that nobody subscribed to
		return f.blames(OfChannel, ntfyProtected.With())
	case 40009, 40010:
		return f.blames(OfChannel, chooseTopic.With())
	case 42908:
		f.Advice, f.RetryAfter = ntfyDayIsOver.With(), time.Hour
	}
	return f
}
