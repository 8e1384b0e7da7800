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

// TypeDiscord is the type of a Discord.
const TypeDiscord Type = "discord"

// Discord sends messages to a channel of a server by its webhook (docs/design/channels.md).
type Discord struct {
	// URL holds the token, so it is a secret as a whole.
	URL secret.Text `json:"url" required:"false" doc:"The address of the webhook, as Discord shows it."`
	// Thread is the id of a thread, or of a post of a forum; empty is the channel itself.
	Thread string `json:"thread" required:"false" doc:"The id of a thread, or of a post in a forum; empty for the channel itself."`
}

// discordAdapter is Discord as a type of channel.
var discordAdapter = Adapter{
	Type: TypeDiscord, Name: Words{English: "Discord", Chinese: "Discord"}, Noun: "Discord channel", Icon: "gamepad-2", Group: Groups,
	About:   Words{English: "a channel of a server, by its webhook", Chinese: "通过 Webhook 发到服务器的频道"},
	Add:     Words{English: "Add a Discord channel", Chinese: "添加 Discord 频道"},
	Example: Words{English: "Anime server", Chinese: "动画服务器"},
	Read:    read[Discord],
	Rate:    Rate{PerMinute: 25, Burst: 4}, // five in two seconds; a channel takes fewer in the long run
	Fields: []Field{
		{Name: "url", Input: SecretLine, Label: Words{English: "Webhook URL", Chinese: "Webhook URL"}, Required: true, Keyboard: "url", Help: keptSecret, Example: "https://discord.com/api/webhooks/…"},
		{Name: "thread", Input: Line, Label: Words{English: "Thread", Chinese: "子区"}, More: true, Keyboard: "numeric",
			Help: Words{English: "The id of a thread. A forum needs that of a post.", Chinese: "子区的 ID。论坛频道必须填写一个帖子的 ID。"}},
	},
	MoreTitle: Words{English: "More: thread", Chinese: "更多：子区"},
	Guide: Guide{
		Steps: []Words{
			{English: "**Server settings → Integrations → Webhooks → New webhook**, then choose the channel.", Chinese: "**服务器设置 → 整合 → Webhook → 新 Webhook**，再选择频道。"},
			{English: "**Copy webhook URL** and paste it here.", Chinese: "**复制 Webhook URL**，粘贴到这里。"},
		},
		Note: Words{English: "The message has the name and picture of the webhook, and mentions nobody.", Chinese: "消息使用该 Webhook 的名称和头像，不会 @ 任何人。"},
	},
}

// What is wrong with the settings of a Discord, and what to do about its answers.
var (
	badDiscordAddress = reason.New("channel_discord_address", "enter the whole address of the webhook, such as https://discord.com/api/webhooks/…/…", "请填写完整的 Webhook 地址，形如 https://discord.com/api/webhooks/…/…")
	badThread         = reason.New("channel_discord_thread", "enter the id of the thread, a number, or nothing", "请填写子区 ID（数字），或留空")
	webhookDeleted    = reason.New("channel_discord_webhook", "the webhook was deleted, or its address is not whole: make one and copy its address", "该 Webhook 已被删除，或地址不完整：请新建并复制地址")
	threadUnknown     = reason.New("channel_discord_thread_unknown", "check the id of the thread", "请检查子区 ID")
	threadNeeded      = reason.New("channel_discord_thread_needed", "the channel is a forum: enter the id of a post as the thread", "该频道是论坛：请在“子区”填写一个帖子的 ID")
	discordPath       = regexp.MustCompile(`^(/[^/]+)?/api(/v[0-9]+)?/webhooks/[0-9]{5,25}/[A-Za-z0-9_-]{20,120}$`)
	snowflake         = regexp.MustCompile(`^[0-9]{0,25}$`)
)

// Type is TypeDiscord.
func (c Discord) Type() Type { return TypeDiscord }

// Keep takes an untouched address from old.
func (c Discord) Keep(old Config) Config { return keepOf(c, old) }

// Check is the config as it is stored, and what is wrong with it.
func (c Discord) Check() (Config, []*reason.FieldError) {
	var wrong problems
	c.URL = secretAddress(c.URL, discordPath, badDiscordAddress.With(), &wrong)
	if c.Thread = strings.TrimSpace(c.Thread); !snowflake.MatchString(c.Thread) {
		wrong.add("thread", badThread.With())
	}
	return c, wrong
}

// secretAddress is an address that is a secret as a whole, without its query.
func secretAddress(entered secret.Text, path *regexp.Regexp, what error, wrong *problems) secret.Text {
	if wrong.again("url", entered) {
		return entered
	}
	u, err := url.Parse(strings.TrimSpace(entered.Reveal()))
	if err != nil || !path.MatchString(strings.TrimRight(u.Path, "/")) {
		wrong.add("url", what)
		return entered
	}
	u.RawQuery, u.Fragment = "", ""
	return secret.Text(serverAddress(u.String(), "", wrong))
}

// Plain is the config with its address.
func (c Discord) Plain() string { return plainOf(c) }

// Secrets are the address, and the token in it.
func (c Discord) Secrets() []string { return secretsOf(c) }

func (c Discord) server() string { return c.URL.Reveal() }

// host is where messages go.
func (c Discord) host() string { return hostOf(c.URL.Reveal()) }

// Where is the host and the end of the token.
func (c Discord) Where() string { return place(c.URL.Reveal(), c.URL) }

// Open is a sender with these settings.
func (c Discord) Open(tools *Tools) Sender { return serviceSender{c, tools} }

// maxDiscord is how many characters a message may have, backslashes among them.
const maxDiscord = 2000

func (c Discord) request(m Message) httpx.Request {
	escaped := func(text string) int { return units(escapeDiscord(text)) }
	start := "**" + escapeDiscord(cutTo(cmp.Or(m.Title, service), maxTitle, escaped)) + "**\n"
	end := "\n" + service
	if link := linkTarget(m.Link); link != "" {
		end += ": <" + link + ">"
	}
	query := url.Values{"wait": {"true"}} // without it, what is not saved gives no error
	if c.Thread != "" {
		query.Set("thread_id", c.Thread)
	}
	const withoutPreviews = 1 << 2
	return post(c.URL.Reveal()+"?"+query.Encode(), map[string]any{
		"content": start + escapeDiscord(cutTo(m.Text, maxDiscord-units(start+end), escaped)) + end,
		"flags":   withoutPreviews, "allowed_mentions": map[string]any{"parse": []string{}},
	})
}

var (
	// discordMarks mean something anywhere, discordStarts at the start of a line.
	discordMarks  = regexp.MustCompile("[\\\\*_~`|<>\\[\\]()#@]")
	discordStarts = regexp.MustCompile(`(?m)^([ ]*)([-+]|\d+(\.))`)
)

// escapeDiscord is plain text that reads the same as Discord's Markdown: a backslash takes the meaning from any mark.
func escapeDiscord(text string) string {
	text = discordMarks.ReplaceAllString(text, `\$0`)
	return discordStarts.ReplaceAllStringFunc(text, func(s string) string { return s[:len(s)-1] + `\` + s[len(s)-1:] })
}

func (c Discord) judge(got answer) *Failure {
	var reply struct {
		ID         string
		Code       int64
		Message    string
		RetryAfter float64 `json:"retry_after"`
	}
	if !got.reads(&reply) {
		f := got.byStatus("Discord", "")
		if got.status == 429 { // a page: the whole network is shut out for a while
			f.RetryAfter = max(got.retryAfter, time.Minute)
		}
		return f
	}
	if got.status/100 == 2 && reply.ID != "" {
		return nil
	}
	f := got.byStatus("Discord", reply.Message).after(reply.RetryAfter)
	switch reply.Code {
	case 10015, 50027: // unknown webhook, invalid token
		return f.blames(OfChannel, webhookDeleted.With())
	case 10003: // unknown channel
		return f.blames(OfChannel, threadUnknown.With())
	case 220001: // a forum wants a thread
		return f.blames(OfChannel, threadNeeded.With())
	}
	return f
}
