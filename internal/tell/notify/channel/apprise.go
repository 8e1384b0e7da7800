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

// TypeApprise is the type of an Apprise.
const TypeApprise Type = "apprise"

// Apprise sends messages by an Apprise API server, to what is stored there under a key, or to addresses that it gets along
// (docs/design/channels.md).
type Apprise struct {
	URL string `json:"url" required:"false" doc:"The address of the Apprise API server."`
	// Key and URLs: one of them.
	Key  string      `json:"key" required:"false" doc:"The key of the configuration on the server; empty when urls are given."`
	Tag  string      `json:"tag" required:"false" doc:"Which of the services of the configuration get the message; empty for all of them."`
	URLs secret.Text `json:"urls" required:"false" doc:"Apprise URLs, with commas, in place of a key."`
}

// appriseAdapter is Apprise as a type of channel.
var appriseAdapter = Adapter{
	Type: TypeApprise, Name: Words{English: "Apprise", Chinese: "Apprise"}, Noun: "server of Apprise", Icon: "share-2", Group: Programs,
	About:   Words{English: "many services by your own Apprise API", Chinese: "通过自建的 Apprise API 发到众多服务"},
	Add:     Words{English: "Add an Apprise server", Chinese: "添加 Apprise 服务器"},
	Example: Words{English: "Apprise at home", Chinese: "家里的 Apprise"},
	Read:    read[Apprise],
	Rate:    usualRate,
	Fields: []Field{
		withExample(serverField, "http://apprise.lan:8000"),
		{Name: "key", Input: Line, Label: Words{English: "Key of the configuration", Chinese: "配置的 key"}, Example: "watchmark",
			Help: Words{English: "The last part of its address on the server, `/cfg/…`. Empty when you enter URLs.", Chinese: "服务器上配置地址 `/cfg/…` 的最后一段。填写下面的 URL 时留空。"}},
		{Name: "tag", Input: Line, Label: Words{English: "Tag", Chinese: "标签"}, More: true,
			Help: Words{English: "Only the services with this tag get the message.", Chinese: "只发给带有该标签的服务。"}},
		{Name: "urls", Input: SecretLine, Label: Words{English: "Apprise URLs", Chinese: "Apprise URL"}, More: true,
			Help: Words{English: "In place of a key; separate with commas. They are encrypted and never shown again.", Chinese: "用来代替 key；用逗号分隔。会加密保存，之后不再显示。"}},
	},
	MoreTitle: Words{English: "More: tag, URLs in place of a key", Chinese: "更多：标签、用 URL 代替 key"},
	Guide: Guide{
		Steps: []Words{
			{English: "Open your Apprise API, and save a configuration with the URLs of your services.", Chinese: "打开你的 Apprise API，保存一份包含各服务 URL 的配置。"},
			{English: "Enter its address and the key of the configuration.", Chinese: "填写它的地址和该配置的 key。"},
		},
		Note: Words{English: "When one of several services fails, Apprise does not say which got the message, so it is not sent again.", Chinese: "多个服务中有一个失败时，Apprise 不会说明谁已收到，因此不会重发。"},
	},
}

// What is wrong with the settings of an Apprise, and what to do about its answers.
var (
	badAppriseKey  = reason.New("channel_apprise_key", "enter the key of the configuration: up to 128 letters, digits, - and _", "请填写配置的 key：最多 128 个字母、数字、- 或 _")
	keyOrURLs      = reason.New("channel_apprise_key_or_urls", "enter the key of a configuration, or Apprise URLs, and not both", "请填写配置的 key 或 Apprise URL，只填其中一个")
	badAppriseURLs = reason.New("channel_apprise_urls", "enter Apprise URLs such as tgram://…, with commas between them", "请填写 Apprise URL，例如 tgram://…，用逗号分隔")
	badAppriseTag  = reason.New("channel_apprise_tag", "enter a tag of letters, digits, - and _, or nothing", "标签只能由字母、数字、- 和 _ 组成，也可以留空")
	nothingStored  = reason.New("channel_apprise_empty", "nothing is stored at Apprise under this key, or no URL is valid: check them there", "Apprise 上该 key 没有配置，或 URL 无效：请到那里检查")
	partlyFailed   = reason.New("channel_apprise_partly", "at least one of its services failed, or none has the tag: look at the log of Apprise. The others may have the message", "至少有一个服务失败，或没有服务带有该标签：请查看 Apprise 的日志。其他服务可能已收到")
	appriseKey     = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)
	appriseTag     = regexp.MustCompile(`^[A-Za-z0-9_-]{0,64}$`)
	appriseURLs    = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://[^\s,]+(,[a-z][a-z0-9+.-]*://[^\s,]+)*$`)
)

// Type is TypeApprise.
func (c Apprise) Type() Type { return TypeApprise }

// Keep takes untouched URLs from old.
func (c Apprise) Keep(old Config) Config { return keepOf(c, old) }

// Check is the config as it is stored, and what is wrong with it.
func (c Apprise) Check() (Config, []*reason.FieldError) {
	var wrong problems
	c.URL = serverAddress(c.URL, "", &wrong)
	for _, path := range []string{"/notify/", "/cfg/"} {
		if base, key, found := strings.Cut(c.URL, path); found {
			c.URL, c.Key = base, cmp.Or(strings.TrimSpace(c.Key), key)
		}
	}
	c.Key = strings.TrimSpace(c.Key)
	c.URLs = secret.Text(strings.Join(list([]string{c.URLs.Reveal()}), ","))
	switch {
	case (c.Key == "") == (c.URLs == ""):
		wrong.add("key", keyOrURLs.With())
	case c.Key != "" && !appriseKey.MatchString(c.Key):
		wrong.add("key", badAppriseKey.With())
	case c.URLs != "":
		c.URLs = secretIn("urls", c.URLs, appriseURLs.MatchString, badAppriseURLs.With(), &wrong)
	}
	if c.Tag = strings.TrimSpace(c.Tag); !appriseTag.MatchString(c.Tag) {
		wrong.add("tag", badAppriseTag.With())
	}
	return c, wrong
}

// Plain is the config with its URLs.
func (c Apprise) Plain() string { return plainOf(c) }

// Secrets are the URLs.
func (c Apprise) Secrets() []string { return secretsOf(c) }

func (c Apprise) server() string { return c.URL }

// host is where messages go.
func (c Apprise) host() string { return hostOf(c.URL) }

// Where is the host and the key of the configuration.
func (c Apprise) Where() string { return strings.TrimSpace(place(c.URL, "") + " " + c.Key) }

// Open is a sender with these settings.
func (c Apprise) Open(tools *Tools) Sender { return serviceSender{c, tools} }

// maxAppriseTitle is how many characters a title has at most.
const maxAppriseTitle = 250

func (c Apprise) request(m Message) httpx.Request {
	body := map[string]any{
		"title": cutTo(cmp.Or(m.Title, service), maxAppriseTitle, utf8.RuneCountInString), "type": "info", "format": "text",
		"body": fit(m.Text, "\n"+signature(m, Text), maxLongText),
	}
	address := c.URL + "/notify/"
	if c.URLs != "" {
		body["urls"] = c.URLs.Reveal()
	} else {
		address += c.Key
		if c.Tag != "" {
			body["tag"] = c.Tag
		}
	}
	return post(address, body)
}

func (c Apprise) judge(got answer) *Failure {
	var reply struct{ Error *string }
	isJSON := got.reads(&reply)
	said := ""
	if reply.Error != nil {
		said = *reply.Error
	}
	// Older servers answer with their log, as text.
	text := strings.TrimSpace(string(got.body))
	switch s := got.status; {
	case s == 200 && got.whole && said == "" && (isJSON || !strings.HasPrefix(text, "<")):
		return nil
	case s == 204:
		return got.refused("Apprise", said).blames(OfChannel, nothingStored.With())
	case s == 424:
		return got.refused("Apprise", said).blames(OfMessage, partlyFailed.With())
	}
	return got.byStatus("Apprise", said)
}
