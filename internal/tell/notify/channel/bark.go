package channel

import (
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// TypeBark is the type of a Bark.
const TypeBark Type = "bark"

// Bark sends messages to an iPhone or iPad with the Bark app (docs/design/channels.md).
type Bark struct {
	Key      secret.Text `json:"key" required:"false" doc:"The key of the device; the test address that the app shows is taken too."`
	Priority Priority    `json:"priority" required:"false" enum:",low,normal,high" doc:"How much it insists."`
	URL      string      `json:"url" required:"false" doc:"The address of your own server; empty for api.day.app."`
}

const barkServer = "https://api.day.app"

// barkAdapter is Bark as a type of channel.
var barkAdapter = Adapter{
	Type: TypeBark, Name: Words{English: "Bark", Chinese: "Bark"}, Noun: "Bark device", Icon: "smartphone", Group: Phones,
	About:   Words{English: "iPhone and iPad", Chinese: "iPhone 和 iPad"},
	Add:     Words{English: "Add a Bark device", Chinese: "添加 Bark 设备"},
	Example: Words{English: "My phone", Chinese: "我的手机"},
	Read:    read[Bark],
	Rate:    usualRate,
	Fields: []Field{
		{Name: "key", Input: SecretLine, Label: Words{English: "Key of the device", Chinese: "设备 key"}, Required: true,
			Help: Words{English: "The key, or the whole test address of the app. It is encrypted and never shown again.", Chinese: "key，或 App 中的整个测试地址。会加密保存，之后不再显示。"}},
		priorityField,
		ownServerField,
	},
	MoreTitle: Words{English: "More: priority, own server", Chinese: "更多：优先级、自建服务器"},
	Guide: Guide{
		Steps: []Words{
			{English: "Install **Bark** from the App Store and open it.", Chinese: "从 App Store 安装 **Bark** 并打开。"},
			{English: "Copy the test address at the top, and paste it here.", Chinese: "复制首页顶部的测试地址，粘贴到这里。"},
		},
		Note: Words{English: "With a server of your own, the test address tells it too.", Chinese: "使用自建服务器时，测试地址里也包含了它。"},
	},
}

// What is wrong with the settings of a Bark, and what to do about its answers.
var (
	badBarkKey    = reason.New("channel_bark_key", "enter the key of the device, or the whole test address that the app shows", "请填写设备 key，或 App 显示的整个测试地址")
	barkUnknown   = reason.New("channel_bark_unknown", "copy the test address from the app again: the server does not know this key", "请从 App 重新复制测试地址：服务器不认识这个 key")
	barkGone      = reason.New("channel_bark_gone", "open the app on the device, so that it registers again, and copy its test address", "请在设备上打开 App 重新注册，再复制测试地址")
	barkKey       = regexp.MustCompile(`^[A-Za-z0-9_-]{6,64}$`)
	barkLevels    = map[Priority]string{Low: "passive", High: "timeSensitive"}
	barkCallNames = map[string]bool{"push": true, "register": true, "ping": true}
)

// Type is TypeBark.
func (c Bark) Type() Type { return TypeBark }

// Keep takes an untouched key from old.
func (c Bark) Keep(old Config) Config { return keepOf(c, old) }

// Check is the config as it is stored, and what is wrong with it.
func (c Bark) Check() (Config, []*reason.FieldError) {
	var wrong problems
	if u, err := url.Parse(strings.TrimSpace(c.Key.Reveal())); err == nil && u.Scheme != "" && u.Host != "" {
		key, _, _ := strings.Cut(strings.Trim(u.Path, "/"), "/")
		c.URL, c.Key = u.Scheme+"://"+u.Host, secret.Text(key)
	}
	c.URL = strings.TrimSuffix(serverAddress(c.URL, barkServer, &wrong), "/push")
	is := func(key string) bool { return barkKey.MatchString(key) && !barkCallNames[key] }
	c.Key = secretIn("key", c.Key, is, badBarkKey.With(), &wrong)
	c.Priority = c.Priority.check(&wrong)
	return c, wrong
}

// Plain is the config with its key.
func (c Bark) Plain() string { return plainOf(c) }

// Secrets is the key.
func (c Bark) Secrets() []string { return secretsOf(c) }

func (c Bark) server() string { return cmp.Or(c.URL, barkServer) }

// host is where messages go.
func (c Bark) host() string { return hostOf(c.server()) }

// Where is the host and the end of the key.
func (c Bark) Where() string { return place(c.server(), c.Key) }

// Open is a sender with these settings.
func (c Bark) Open(tools *Tools) Sender { return serviceSender{c, tools} }

// maxBark is how many bytes the texts may have in the notice that Apple takes: 4096 with everything.
const maxBark = 2600

func (c Bark) request(m Message) httpx.Request {
	body := map[string]any{
		"device_key": c.Key.Reveal(), "group": service, "id": m.ID, // a newer one with the same id takes the place of the older
		"title": cutTo(cmp.Or(m.Title, service), maxTitle, inApple), "body": cutTo(m.Text, maxBark, inApple),
	}
	if level := barkLevels[c.Priority]; level != "" {
		body["level"] = level
	}
	if link := linkTarget(m.Link); link != "" {
		body["url"] = link
	}
	return post(c.server()+"/push", body)
}

// inApple is how many bytes text becomes on its way to Apple: the server writes JSON in which <, > and & have six.
func inApple(text string) int {
	encoded, err := json.Marshal(text)
	if err != nil { // not possible for text
		return len(text)
	}
	return len(encoded) - 2
}

func (c Bark) judge(got answer) *Failure {
	var reply struct {
		Code    int64
		Message string
	}
	if !got.reads(&reply) || reply.Code == 0 {
		return got.byStatus("Bark", "")
	}
	if got.status == 200 && reply.Code == 200 {
		return nil
	}
	f := got.byStatus("Bark", reply.Message)
	switch said := reply.Message; {
	case strings.Contains(said, "failed to get device token"), strings.Contains(said, "device key is empty"):
		return f.blames(OfChannel, barkUnknown.With())
	case strings.Contains(said, "BadDeviceToken"), strings.Contains(said, "Unregistered"), strings.Contains(said, "DeviceTokenNotForTopic"):
		return f.blames(OfChannel, barkGone.With())
	case strings.Contains(said, "PayloadTooLarge"):
		f.Blame = OfMessage
	case got.status/100 == 2: // a refusal with a code of its own
		f = got.refused("Bark", said)
		f.Blame = OfMessage
	}
	return f
}
