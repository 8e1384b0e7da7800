package channel

import (
	"cmp"
	"regexp"
	"strings"
	"unicode/utf8"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// TypeSlack is the type of a Slack.
const TypeSlack Type = "slack"

// Slack sends messages to a channel by an incoming webhook (docs/design/channels.md).
type Slack struct {
	// URL is a secret as a whole.
	URL secret.Text `json:"url" required:"false" doc:"The address of the incoming webhook."`
}

// slackAdapter is Slack as a type of channel.
var slackAdapter = Adapter{
	Type: TypeSlack, Name: Words{English: "Slack", Chinese: "Slack"}, Noun: "Slack channel", Icon: "hash", Group: Groups,
	About:   Words{English: "a channel, by an incoming webhook", Chinese: "通过 Incoming Webhook 发到频道"},
	Add:     Words{English: "Add a Slack channel", Chinese: "添加 Slack 频道"},
	Example: Words{English: "Home workspace", Chinese: "家庭工作区"},
	Read:    read[Slack],
	Rate:    Rate{PerMinute: 50, Burst: 2}, // one a second
	Fields: []Field{
		{Name: "url", Input: SecretLine, Label: Words{English: "Webhook URL", Chinese: "Webhook URL"}, Required: true, Keyboard: "url", Help: keptSecret, Example: "https://hooks.slack.com/services/…"},
	},
	Guide: Guide{
		Steps: []Words{
			{English: "Open `api.slack.com/apps`: **Create New App → From scratch**.", Chinese: "打开 `api.slack.com/apps`：**Create New App → From scratch**。"},
			{English: "**Incoming Webhooks**: switch them on, then **Add New Webhook to Workspace** and choose the channel.", Chinese: "进入 **Incoming Webhooks** 并开启，再点 **Add New Webhook to Workspace** 选择频道。"},
			{English: "Copy the **Webhook URL** and paste it here.", Chinese: "复制 **Webhook URL**，粘贴到这里。"},
		},
		Note: Words{English: "The channel belongs to the webhook: for another channel, make another webhook.", Chinese: "频道由 Webhook 决定：发到其他频道需要另建一个 Webhook。"},
	},
}

// What is wrong with the settings of a Slack, and what to do about its answers.
var (
	badSlackAddress = reason.New("channel_slack_address", "enter the whole address of the incoming webhook, such as https://hooks.slack.com/services/…/…/…", "请填写完整的 Webhook 地址，形如 https://hooks.slack.com/services/…/…/…")
	slackRemoved    = reason.New("channel_slack_removed", "the webhook or its channel is gone: make a webhook and copy its address", "该 Webhook 或其频道已不存在：请新建并复制地址")
	slackForbidden  = reason.New("channel_slack_forbidden", "the workspace does not let this webhook write there: choose another channel, or ask its administrator", "工作区不允许该 Webhook 在那里发言：请换一个频道，或联系管理员")
	slackPath       = regexp.MustCompile(`^(/[^/]+)?/services/[A-Za-z0-9]+/[A-Za-z0-9]+/[A-Za-z0-9]{10,80}$`)
)

// Type is TypeSlack.
func (c Slack) Type() Type { return TypeSlack }

// Keep takes an untouched address from old.
func (c Slack) Keep(old Config) Config { return keepOf(c, old) }

// Check is the config as it is stored, and what is wrong with it.
func (c Slack) Check() (Config, []*reason.FieldError) {
	var wrong problems
	c.URL = secretAddress(c.URL, slackPath, badSlackAddress.With(), &wrong)
	return c, wrong
}

// Plain is the config with its address.
func (c Slack) Plain() string { return plainOf(c) }

// Secrets are the address, and the keys in it.
func (c Slack) Secrets() []string { return secretsOf(c) }

func (c Slack) server() string { return c.URL.Reveal() }

// host is where messages go.
func (c Slack) host() string { return hostOf(c.URL.Reveal()) }

// Where is the host and the end of the address.
func (c Slack) Where() string { return place(c.URL.Reveal(), c.URL) }

// Open is a sender with these settings.
func (c Slack) Open(tools *Tools) Sender { return serviceSender{c, tools} }

// maxSlack is how many characters Slack recommends at most; it takes ten times as many.
const maxSlack = 4000

func (c Slack) request(m Message) httpx.Request {
	escaped := func(text string) int { return utf8.RuneCountInString(escapeSlack(text)) }
	start := "*" + escapeSlack(cutTo(cmp.Or(m.Title, service), maxTitle, escaped)) + "*\n"
	end := "\n" + service
	if link := linkTarget(m.Link); link != "" {
		end = "\n<" + strings.ReplaceAll(strings.ReplaceAll(link, "&", "&amp;"), "|", "%7C") + "|" + service + ">"
	}
	text := escapeSlack(cutTo(m.Text, maxSlack-utf8.RuneCountInString(start+end), escaped))
	return post(c.URL.Reveal(), map[string]any{"text": start + text + end, "unfurl_links": false, "unfurl_media": false})
}

var (
	slackMarks = strings.NewReplacer("*", "＊", "~", "～", "`", "｀")
	slackQuote = regexp.MustCompile(`(?m)^[ ]*>+`)
	slackHTML  = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
)

// escapeSlack is plain text that reads the same as Slack's mrkdwn. Slack escapes &, < and >; what formats cannot be escaped, so it
// becomes the full-width character that looks like it. A line that begins with an escaped > is a quote all the same.
func escapeSlack(text string) string {
	text = outsideWords(slackMarks.Replace(text))
	text = slackQuote.ReplaceAllStringFunc(text, func(s string) string { return strings.ReplaceAll(s, ">", "＞") })
	return slackHTML.Replace(text)
}

func (c Slack) judge(got answer) *Failure {
	said := strings.TrimSpace(string(got.body))
	if got.status == 200 && got.whole && said == "ok" {
		return nil
	}
	f := got.byStatus("Slack", said)
	switch said {
	case "no_service", "no_service_id", "no_team", "team_disabled", "invalid_token", "channel_not_found", "channel_is_archived":
		return f.blames(OfChannel, slackRemoved.With())
	case "action_prohibited", "posting_to_general_channel_denied":
		return f.blames(OfChannel, slackForbidden.With())
	}
	return f
}
