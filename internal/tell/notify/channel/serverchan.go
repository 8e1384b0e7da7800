package channel

import (
	"cmp"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// TypeServerChan is the type of a ServerChan.
const TypeServerChan Type = "serverchan"

// ServerChan sends messages to WeChat by Server酱 Turbo, or to the app of Server酱³ (docs/design/channels.md). The key tells which.
type ServerChan struct {
	Key secret.Text `json:"key" required:"false" doc:"The SendKey; the whole address is taken too."`
	// URL is that of a server that passes messages on; empty is the one that the key belongs to.
	URL string `json:"url" required:"false" doc:"The address of a server of your own that passes messages on; empty for that of the provider."`
}

// serverChanAdapter is Server酱 as a type of channel.
var serverChanAdapter = Adapter{
	Type: TypeServerChan, Name: Words{English: "ServerChan", Chinese: "Server酱"}, Noun: "ServerChan key", Icon: "message-circle-more", Group: Phones,
	About:   Words{English: "WeChat, or the app of ServerChan³", Chinese: "微信，或 Server酱³ 的 App"},
	Add:     Words{English: "Add a ServerChan key", Chinese: "添加 Server酱"},
	Example: Words{English: "My WeChat", Chinese: "我的微信"},
	Read:    read[ServerChan],
	Rate:    Rate{PerMinute: 6, Burst: 1}, // free accounts have a few messages a day
	Fields: []Field{
		{Name: "key", Input: SecretLine, Label: Words{English: "SendKey", Chinese: "SendKey"}, Required: true, Help: keptSecret, Example: "SCT…"},
		ownServerField,
	},
	MoreTitle: ownServer,
	Guide: Guide{
		Steps: []Words{
			{English: "Sign in at `sct.ftqq.com` (Turbo, to WeChat) or `sc3.ft07.com` (³, to its app).", Chinese: "登录 `sct.ftqq.com`（Turbo，发到微信）或 `sc3.ft07.com`（Server酱³，发到 App）。"},
			{English: "Copy the **SendKey** and paste it here. One of Turbo starts with `SCT`, one of ³ with `sctp`.", Chinese: "复制 **SendKey** 并粘贴到这里。Turbo 的以 `SCT` 开头，Server酱³ 的以 `sctp` 开头。"},
		},
		Note: Words{English: "A free account takes a few messages a day. What comes after that waits for the next day.", Chinese: "免费账号每天只有几条额度，超出后会等到第二天再发。"},
	},
}

// What is wrong with the settings of a ServerChan, and what to do about its answers.
var (
	badSendKey    = reason.New("channel_serverchan_key", "enter the SendKey, which starts with SCT or sctp", "请填写 SendKey，以 SCT 或 sctp 开头")
	copySendKey   = reason.New("channel_serverchan_copy_key", "copy the SendKey again", "请重新复制 SendKey")
	serverChanDay = reason.New("channel_serverchan_day", "the messages of today are used up: it goes on at midnight in China", "今天的额度已用完：北京时间零点后继续发送")
	sendKey       = regexp.MustCompile(`SCT[A-Za-z0-9]{8,80}|sctp[0-9]{1,12}t[A-Za-z0-9]{8,80}`)
	sendKeyOnly   = regexp.MustCompile(`^(` + sendKey.String() + `)$`)
	sendKeyOf3    = regexp.MustCompile(`^sctp([0-9]+)t`)
	inChina       = time.FixedZone("", 8*3600)
)

// Type is TypeServerChan.
func (c ServerChan) Type() Type { return TypeServerChan }

// Keep takes an untouched key from old.
func (c ServerChan) Keep(old Config) Config { return keepOf(c, old) }

// Check is the config as it is stored, and what is wrong with it.
func (c ServerChan) Check() (Config, []*reason.FieldError) {
	var wrong problems
	if c.URL = strings.TrimSpace(c.URL); c.URL != "" {
		c.URL = serverAddress(c.URL, "", &wrong)
	}
	if strings.Contains(c.Key.Reveal(), "://") {
		c.Key = secret.Text(cmp.Or(sendKey.FindString(c.Key.Reveal()), c.Key.Reveal()))
	}
	c.Key = secretIn("key", c.Key, sendKeyOnly.MatchString, badSendKey.With(), &wrong)
	return c, wrong
}

// Plain is the config with its key.
func (c ServerChan) Plain() string { return plainOf(c) }

// Secrets is the key.
func (c ServerChan) Secrets() []string { return secretsOf(c) }

// server is where the key is sent to. Those of the provider are one: the key itself tells which of them takes it.
func (c ServerChan) server() string { return cmp.Or(c.URL, "https://sctapi.ftqq.com") }

// address is where messages are posted to.
func (c ServerChan) address() string {
	key := c.Key.Reveal()
	user := sendKeyOf3.FindStringSubmatch(key)
	if user == nil {
		return c.server() + "/" + key + ".send"
	}
	return cmp.Or(c.URL, "https://"+user[1]+".push.ft07.com") + "/send/" + key + ".send"
}

// host is where messages go.
func (c ServerChan) host() string { return hostOf(c.address()) }

// Where is the host and the end of the key.
func (c ServerChan) Where() string { return place(c.address(), c.Key) }

// Open is a sender with these settings.
func (c ServerChan) Open(tools *Tools) Sender { return serviceSender{c, tools} }

// maxServerChanTitle is how many characters a title has at most.
const maxServerChanTitle = 32

func (c ServerChan) request(m Message) httpx.Request {
	title := cutTo(cmp.Or(m.Title, service), maxServerChanTitle, utf8.RuneCountInString)
	text := inMarkdown(m, title != m.Title)
	form := url.Values{"title": {title}, "desp": {text}, "noip": {"1"}} // the message need not show where this machine is
	return httpx.Request{Method: http.MethodPost, URL: c.address(), Body: []byte(form.Encode()),
		Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded; charset=utf-8"}, "Accept": {"application/json"}}}
}

// inMarkdown is the text of m, with its title where that is not told elsewhere, and its link, as paragraphs of Markdown.
func inMarkdown(m Message, withTitle bool) string {
	text := escapeMarkdown(m.Text)
	if withTitle {
		text = "**" + escapeMarkdown(cut(m.Title, maxLongText/4)) + "**\n" + text
	}
	return strings.ReplaceAll(fit(text, "\n"+signature(m, Markdown), maxLongText), "\n", "\n\n")
}

func (c ServerChan) judge(got answer) *Failure {
	var reply struct {
		Code    *int64
		Message string
		Info    string
		Data    struct{ Errno int64 }
	}
	if !got.reads(&reply) || reply.Code == nil {
		return got.byStatus("ServerChan", "")
	}
	if got.status == 200 && *reply.Code == 0 && reply.Data.Errno == 0 {
		return nil
	}
	// The code 40001 stands for a wrong key as well as for too many messages, with a status of 200 or 400: the words tell.
	said := cmp.Or(reply.Message, reply.Info)
	f := got.refused("ServerChan", said)
	switch {
	case strings.Contains(said, "次数"):
		f.Advice, f.RetryAfter = serverChanDay.With(), untilMidnight(time.Now().In(inChina))
	case got.status >= 500 || got.status == http.StatusTooManyRequests:
	case *reply.Code == 40001, strings.Contains(said, "AUTH"):
		return f.blames(OfChannel, copySendKey.With())
	default:
		f.Blame = OfMessage
	}
	return f
}

// untilMidnight is how long the day of now still lasts, and some minutes.
func untilMidnight(now time.Time) time.Duration {
	y, m, d := now.Date()
	return time.Date(y, m, d+1, 0, 5, 0, 0, now.Location()).Sub(now)
}
