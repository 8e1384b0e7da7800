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

// TypePushDeer is the type of a PushDeer.
const TypePushDeer Type = "pushdeer"

// PushDeer sends messages to the devices of a PushDeer key (docs/design/channels.md).
type PushDeer struct {
	Key secret.Text `json:"key" required:"false" doc:"The key, which starts with PDU; several with commas."`
	URL string      `json:"url" required:"false" doc:"The address of your own server; empty for api2.pushdeer.com."`
}

const pushDeerServer = "https://api2.pushdeer.com"

// pushDeerAdapter is PushDeer as a type of channel.
var pushDeerAdapter = Adapter{
	Type: TypePushDeer, Name: Words{English: "PushDeer", Chinese: "PushDeer"}, Noun: "PushDeer key", Icon: "bell-dot", Group: Phones,
	About:   Words{English: "iOS, macOS and Android", Chinese: "支持 iOS、macOS 和 Android"},
	Add:     Words{English: "Add a PushDeer key", Chinese: "添加 PushDeer"},
	Example: Words{English: "My phone", Chinese: "我的手机"},
	Read:    read[PushDeer],
	Rate:    Rate{PerMinute: 50, Burst: 5}, // 60 requests a minute
	Fields: []Field{
		{Name: "key", Input: SecretLine, Label: Words{English: "Key", Chinese: "Key"}, Required: true, Help: keptSecret, Example: "PDU…"},
		ownServerField,
	},
	MoreTitle: ownServer,
	Guide: Guide{
		Steps: []Words{
			{English: "In the app: sign in, then **Devices → register this device**.", Chinese: "在 App 中登录，然后在**设备**页注册当前设备。"},
			{English: "**Keys → +**, then copy the key and paste it here.", Chinese: "在 **Key** 页点 **+** 新建，复制后粘贴到这里。"},
		},
		Note: Words{English: "PushDeer takes a message for a key without a device, too, and nobody sees it; then the test says so.", Chinese: "没有注册设备的 key 也会被接受，但没有人收到；这时测试会提示。"},
	},
}

// What is wrong with the settings of a PushDeer, and what to do about its answers.
var (
	badPushKey     = reason.New("channel_pushdeer_key", "enter the key, which starts with PDU", "请填写以 PDU 开头的 key")
	copyPushKey    = reason.New("channel_pushdeer_copy_key", "copy the key from the app again", "请从 App 重新复制 key")
	noDevice       = reason.New("channel_pushdeer_no_device", "PushDeer sent the message to no device", "PushDeer 没有把消息发到任何设备")
	registerDevice = reason.New("channel_pushdeer_register", "check the key, and register a device in the app", "请检查 key，并在 App 中注册设备")
	pushKeys       = regexp.MustCompile(`^PDU[A-Za-z0-9]{8,80}(,PDU[A-Za-z0-9]{8,80}){0,9}$`)
)

// Type is TypePushDeer.
func (c PushDeer) Type() Type { return TypePushDeer }

// Keep takes an untouched key from old.
func (c PushDeer) Keep(old Config) Config { return keepOf(c, old) }

// Check is the config as it is stored, and what is wrong with it.
func (c PushDeer) Check() (Config, []*reason.FieldError) {
	var wrong problems
	c.URL = strings.TrimSuffix(serverAddress(c.URL, pushDeerServer, &wrong), "/message/push")
	c.Key = secret.Text(strings.Join(list([]string{c.Key.Reveal()}), ","))
	c.Key = secretIn("key", c.Key, pushKeys.MatchString, badPushKey.With(), &wrong)
	return c, wrong
}

// Plain is the config with its key.
func (c PushDeer) Plain() string { return plainOf(c) }

// Secrets are the keys.
func (c PushDeer) Secrets() []string { return secretsOf(c) }

func (c PushDeer) server() string { return cmp.Or(c.URL, pushDeerServer) }

// host is where messages go.
func (c PushDeer) host() string { return hostOf(c.server()) }

// Where is the host and the end of the key.
func (c PushDeer) Where() string { return place(c.server(), c.Key) }

// Open is a sender with these settings.
func (c PushDeer) Open(tools *Tools) Sender { return serviceSender{c, tools} }

func (c PushDeer) request(m Message) httpx.Request {
	return post(c.server()+"/message/push", map[string]any{
		"pushkey": c.Key.Reveal(), "type": "markdown", "text": cut(cmp.Or(m.Title, service), maxTitle), "desp": inMarkdown(m, false),
	})
}

func (c PushDeer) judge(got answer) *Failure {
	var reply struct {
		Code    *int64
		Error   string
		Content struct{ Result []json.RawMessage }
	}
	if !got.reads(&reply) || reply.Code == nil {
		f := got.byStatus("PushDeer", "")
		if got.status == 500 {
			f.Advice = copyPushKey.With() // servers of one's own fail like this for a key that they do not know
		}
		return f
	}
	if got.status == 200 && *reply.Code == 0 {
		for _, one := range reply.Content.Result {
			if pushed(one) {
				return nil
			}
		}
		return &Failure{Blame: OfChannel, Problem: noDevice.With(), Advice: registerDevice.With()}
	}
	f := got.refused("PushDeer", reply.Error)
	switch {
	case *reply.Code == 80403, *reply.Code == 80501: // sign-in, arguments: the key is the one that can be wrong
		return f.blames(OfChannel, copyPushKey.With())
	case got.status/100 == 4 && !temporary(got.status):
		f.Blame = OfMessage
	}
	return f
}

// pushed reports whether a result of one device is a delivery. It is JSON, mostly as a text.
func pushed(result json.RawMessage) bool {
	var text string
	if json.Unmarshal(result, &text) == nil {
		result = json.RawMessage(text)
	}
	var device struct {
		Counts int64
		Logs   []json.RawMessage
	}
	if json.Unmarshal(result, &device) != nil || device.Counts < 1 {
		return false
	}
	for _, log := range device.Logs {
		if strings.Contains(string(log), "failed-push") {
			return false
		}
	}
	return true
}
