package channel

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// TypeHomeAssistant is the type of a HomeAssistant.
const TypeHomeAssistant Type = "homeassistant"

// HomeAssistant sends messages to a notify action of Home Assistant, or to the webhook of an automation (docs/design/channels.md).
type HomeAssistant struct {
	URL string `json:"url" required:"false" doc:"The address of Home Assistant."`
	// Action and Token belong together; Webhook is in place of them.
	Action  string      `json:"action" required:"false" doc:"The notify action, such as notify.mobile_app_phone; empty with a webhook."`
	Token   secret.Text `json:"token" required:"false" doc:"A long-lived access token, for the action."`
	Webhook secret.Text `json:"webhook" required:"false" doc:"The id of a webhook that triggers an automation, in place of an action."`
}

// homeAssistantAdapter is Home Assistant as a type of channel.
var homeAssistantAdapter = Adapter{
	Type: TypeHomeAssistant, Name: Words{English: "Home Assistant", Chinese: "Home Assistant"}, Noun: "Home Assistant", Icon: "house", Group: Programs,
	About:   Words{English: "its app on a phone, or an automation", Chinese: "手机上的 Home Assistant，或一个自动化"},
	Add:     Words{English: "Add a Home Assistant", Chinese: "添加 Home Assistant"},
	Example: Words{English: "Home", Chinese: "家"},
	Read:    read[HomeAssistant],
	Rate:    usualRate,
	Fields: []Field{
		withExample(serverField, "http://homeassistant.local:8123"),
		{Name: "action", Input: Line, Label: Words{English: "Notify action", Chinese: "通知动作"}, Example: "notify.mobile_app_phone", Half: true,
			Help: Words{English: "As under **Developer tools → Actions**.", Chinese: "见**开发者工具 → 动作**。"}},
		{Name: "token", Input: SecretLine, Label: Words{English: "Access token", Chinese: "访问令牌"}, Half: true, Help: keptSecret},
		{Name: "webhook", Input: SecretLine, Label: Words{English: "Webhook id", Chinese: "Webhook ID"}, More: true,
			Help: Words{English: "Of an automation that a webhook triggers, in place of action and token.", Chinese: "由 Webhook 触发的自动化的 ID，用来代替动作和令牌。"}},
	},
	MoreTitle: Words{English: "More: a webhook in place of an action", Chinese: "更多：用 Webhook 代替动作"},
	Guide: Guide{
		Steps: []Words{
			{English: "Find the action under **Developer tools → Actions**: `notify.mobile_app_…` is a phone with the app.", Chinese: "在**开发者工具 → 动作**中找到动作：`notify.mobile_app_…` 是装了 App 的手机。"},
			{English: "Make the token in your profile: **Security → Long-lived access tokens**.", Chinese: "在个人资料中创建令牌：**安全 → 长期访问令牌**。"},
		},
		Note: Words{English: "Home Assistant answers any webhook id with success, so look whether the automation ran. There, `{{ trigger.json.title }}` is the title.", Chinese: "任何 Webhook ID 都会返回成功，请确认自动化确实运行了。其中 `{{ trigger.json.title }}` 是标题。"},
	},
}

// What is wrong with the settings of a HomeAssistant, and what to do about its answers.
var (
	actionOrWebhook = reason.New("channel_ha_action_or_webhook", "enter a notify action with its token, or the id of a webhook, and not both", "请填写通知动作和令牌，或 Webhook ID，只填其中一种")
	badAction       = reason.New("channel_ha_action", "enter the action as Home Assistant names it, such as notify.mobile_app_phone", "请按 Home Assistant 中的名称填写动作，例如 notify.mobile_app_phone")
	badHAToken      = reason.New("channel_ha_token", "enter a long-lived access token", "请填写长期访问令牌")
	badHAWebhook    = reason.New("channel_ha_webhook", "enter the id of the webhook, or its whole address", "请填写 Webhook ID，或它的完整地址")
	newHAToken      = reason.New("channel_ha_new_token", "make a new long-lived access token in Home Assistant", "请在 Home Assistant 中新建长期访问令牌")
	addressBanned   = reason.New("channel_ha_banned", "Home Assistant shut this machine out: remove its address from ip_bans.yaml", "Home Assistant 封禁了本机：请从 ip_bans.yaml 中删除本机地址")
	actionUnknown   = reason.New("channel_ha_action_unknown", "check the name of the action under Developer tools → Actions", "请在“开发者工具 → 动作”中核对动作名称")
	haAction        = regexp.MustCompile(`^[a-z0-9_]{1,128}$`)
	haToken         = regexp.MustCompile(`^[A-Za-z0-9._-]{20,1000}$`)
	haWebhook       = regexp.MustCompile(`^[A-Za-z0-9._-]{1,200}$`)
)

// Type is TypeHomeAssistant.
func (c HomeAssistant) Type() Type { return TypeHomeAssistant }

// Keep takes untouched secrets from old.
func (c HomeAssistant) Keep(old Config) Config { return keepOf(c, old) }

// Check is the config as it is stored, and what is wrong with it.
func (c HomeAssistant) Check() (Config, []*reason.FieldError) {
	var wrong problems
	if base, id, found := strings.Cut(strings.TrimSpace(cmp.Or(c.Webhook.Reveal(), c.URL)), "/api/webhook/"); found {
		c.URL, c.Webhook = cmp.Or(base, c.URL), secret.Text(id)
	}
	c.URL = strings.TrimSuffix(serverAddress(c.URL, "", &wrong), "/api")
	c.Action = strings.TrimPrefix(strings.TrimSpace(c.Action), "notify.")
	switch {
	case c.Webhook != "" && (c.Action != "" || c.Token != ""), c.Webhook == "" && c.Action == "":
		wrong.add("action", actionOrWebhook.With())
	case c.Webhook != "":
		c.Webhook = secretIn("webhook", c.Webhook, haWebhook.MatchString, badHAWebhook.With(), &wrong)
	default:
		if !haAction.MatchString(c.Action) {
			wrong.add("action", badAction.With())
		}
		c.Token = secretIn("token", c.Token, haToken.MatchString, badHAToken.With(), &wrong)
	}
	if c.Action != "" {
		c.Action = "notify." + c.Action
	}
	return c, wrong
}

// Plain is the config with its secrets.
func (c HomeAssistant) Plain() string { return plainOf(c) }

// Secrets are the token, and the id of the webhook when it looks like one.
func (c HomeAssistant) Secrets() []string {
	return append(keys([]string{c.Webhook.Reveal()}), c.Token.Reveal())
}

func (c HomeAssistant) server() string { return c.URL }

// host is where messages go.
func (c HomeAssistant) host() string { return hostOf(c.URL) }

// Where is the host and the action, or the end of the webhook's id.
func (c HomeAssistant) Where() string {
	return strings.TrimSpace(place(c.URL, c.Webhook) + " " + c.Action)
}

// Open is a sender with these settings.
func (c HomeAssistant) Open(tools *Tools) Sender { return serviceSender{c, tools} }

func (c HomeAssistant) request(m Message) httpx.Request {
	title, text, link := cut(cmp.Or(m.Title, service), maxTitle), cut(cmp.Or(m.Text, m.Title, service), maxLongText), linkTarget(m.Link)
	if c.Webhook != "" {
		return post(c.URL+"/api/webhook/"+c.Webhook.Reveal(), map[string]any{"title": title, "message": text, "type": m.Kind, "link": link, "id": m.ID})
	}
	body := map[string]any{"title": noTemplate(title), "message": noTemplate(text)}
	if name := strings.TrimPrefix(c.Action, "notify."); link != "" && strings.HasPrefix(name, "mobile_app_") {
		body["data"] = map[string]any{"url": link, "clickAction": link} // of iOS and of Android
	}
	return bearer(post(c.URL+"/api/services/notify/"+strings.TrimPrefix(c.Action, "notify."), body), c.Token)
}

var templateStart = regexp.MustCompile(`\{([{%#])`)

// noTemplate is text in which nothing starts a template: Home Assistant fills in those of titles and messages, and refuses broken
// ones.
func noTemplate(text string) string {
	for templateStart.MatchString(text) { // {{{ holds two
		text = templateStart.ReplaceAllString(text, "｛$1")
	}
	return text
}

func (c HomeAssistant) judge(got answer) *Failure {
	var states []json.RawMessage
	switch s := got.status; {
	case s == 200 && c.Webhook != "" && !strings.HasPrefix(strings.TrimSpace(string(got.body)), "<"):
		return nil // whether there is such a webhook or not
	case s == 200 && c.Webhook == "" && got.reads(&states):
		return nil
	case s == 400 && c.Webhook == "":
		return got.refused("Home Assistant", string(got.body)).blames(OfChannel, actionUnknown.With())
	case s == 401:
		return got.refused("Home Assistant", string(got.body)).blames(OfChannel, newHAToken.With())
	case s == 403:
		return got.refused("Home Assistant", string(got.body)).blames(OfChannel, addressBanned.With())
	}
	return got.byStatus("Home Assistant", string(got.body))
}
