package channel

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// TypeWeCom is the type of a WeCom.
const TypeWeCom Type = "wecom"

// WeCom sends messages to a group by its robot (upstreams/channels.md, section 1).
type WeCom struct {
	// URL is the address without its query; empty = that of the provider. Others are those of
	// private deployments. Check takes the whole address, with the key, too.
	URL string `json:"url" required:"false" doc:"The whole address that the group shows, or empty when key is the key; then that of the provider."`
	// Key is what stands behind key= in the address.
	Key    secret.Text `json:"key" required:"false" doc:"What stands behind key= in the address; the whole address is taken too."`
	Format Format      `json:"format" required:"false" enum:",text,markdown" doc:"text is shown everywhere, markdown has colours."`
	// MentionUsers are user ids, MentionMobiles telephone numbers; "@all" is everybody. Messages
	// in markdown can mention user ids only.
	MentionUsers   []string `json:"mention_users" required:"false" doc:"User ids that are mentioned; @all is everybody."`
	MentionMobiles []string `json:"mention_mobiles" required:"false" doc:"Telephone numbers that are mentioned; @all is everybody."`
}

var wecom = robot{
	standard: "https://qyapi.weixin.qq.com/cgi-bin/webhook/send", param: "key", field: "key",
	credential: regexp.MustCompile(`^[A-Za-z0-9_-]{8,128}$`),
}

// wecomAdapter is WeCom as a type of channel.
var wecomAdapter = Adapter{
	Type: TypeWeCom, Name: Words{English: "WeCom", Chinese: "企业微信"}, Noun: "WeCom group", Icon: "message-circle", Group: Groups,
	About:   Words{English: "a group, by its robot", Chinese: "通过群机器人发到群里"},
	Add:     Words{English: "Add a WeCom group", Chinese: "添加企业微信群"},
	Example: Words{English: "Family group", Chinese: "家庭群"},
	Read:    read[WeCom],
	Rate:    robotRate,
	Fields: []Field{
		{Name: "key", Input: SecretLine, Label: Words{English: "Webhook address of the robot", Chinese: "机器人的 Webhook 地址"}, Required: true, Keyboard: "url",
			Help: Words{English: "The whole address or the key alone. It is encrypted and never shown again.", Chinese: "完整地址，或只填 key。会加密保存，之后不再显示。"}},
		formatField,
		mentionUsersField("mention_users", Words{English: "Separate with commas; @all mentions everybody, in the text format only.", Chinese: "用逗号分隔；@all 表示所有人，仅限纯文本格式。"}),
		mentionMobilesField("mention_mobiles"),
		ownAddressField,
	},
	MoreTitle: robotMore,
	Guide: Guide{
		Steps: []Words{
			{English: "In the group: **添加群机器人** (add a group robot), then make a new one.", Chinese: "在群聊设置中选择**添加群机器人**，新建一个机器人。"},
			{English: "Copy its **Webhook** address.", Chinese: "复制它的 **Webhook** 地址。"},
			{English: "Paste it here and test.", Chinese: "粘贴到这里并测试。"},
		},
		Note: robotNote,
	},
}

// Type is TypeWeCom.
func (w WeCom) Type() Type { return TypeWeCom }

// Keep takes an untouched key from old.
func (w WeCom) Keep(old Config) Config {
	if before, ok := old.(WeCom); ok {
		w.Key = wecom.keep(w.URL, w.Key, before.URL, before.Key)
	}
	return w
}

// Check is the config as it is stored, and what is wrong with it.
func (w WeCom) Check() (Config, []*reason.FieldError) {
	var wrong problems
	w.URL, w.Key = wecom.check(w.URL, w.Key, &wrong)
	w.Format = w.Format.check(&wrong)
	w.MentionUsers = checkMentions("mention_users", w.MentionUsers, userID, aUserID, &wrong)
	w.MentionMobiles = checkMentions("mention_mobiles", w.MentionMobiles, mobile, aTelephoneNumber, &wrong)
	if w.Format == Markdown {
		if len(w.MentionMobiles) > 0 {
			wrong.add("mention_mobiles", markdownWithNumbers.With())
		}
		if slices.Contains(w.MentionUsers, everybody) {
			wrong.add("mention_users", markdownWithEverybody.With())
		}
	}
	return w, wrong
}

// Plain is the config with its key.
func (w WeCom) Plain() string {
	return string(encode(struct {
		WeCom
		Key string `json:"key"`
	}{w, w.Key.Reveal()}))
}

// Secrets is the key.
func (w WeCom) Secrets() []string { return []string{w.Key.Reveal()} }

// host is where messages go.
func (w WeCom) host() string { return hostOf(w.URL) }

// Where is the host and the end of the key.
func (w WeCom) Where() string { return wecom.where(w.URL, w.Key) }

// Open is a sender with these settings.
func (w WeCom) Open(tools *Tools) Sender { return wecomSender{w, tools} }

type wecomSender struct {
	WeCom
	tools *Tools
}

const (
	wecomText     = 2048
	wecomMarkdown = 4096
	// maxTitle leaves room for the text.
	maxTitle = 300
)

// Send is taken when WeCom says so.
func (w wecomSender) Send(ctx context.Context, m Message) error {
	return w.tools.send(ctx, "WeCom", w.URL, url.Values{"key": {w.Key.Reveal()}}, w.message(m.tidy()), judgeWeCom)
}

type wecomContent struct {
	Content string   `json:"content"`
	Users   []string `json:"mentioned_list,omitempty"`
	Mobiles []string `json:"mentioned_mobile_list,omitempty"`
}

func (w WeCom) message(m Message) any {
	if w.Format == Text {
		// Texts know <@userid> too.
		title, text := mention.ReplaceAllString(m.Title, "＜$1"), mention.ReplaceAllString(m.Text, "＜$1")
		content := fit(cut(title, maxTitle)+"\n"+text, "\n"+signature(m, Text), wecomText)
		return map[string]any{"msgtype": Text, "text": wecomContent{content, w.MentionUsers, w.MentionMobiles}}
	}
	end := "\n" + signature(m, Markdown)
	for _, id := range w.MentionUsers {
		end += " <@" + id + ">"
	}
	content := fit("**"+cut(escapeMarkdown(m.Title), maxTitle)+"**\n"+escapeMarkdown(m.Text), end, wecomMarkdown)
	return map[string]any{"msgtype": Markdown, "markdown": wecomContent{Content: content}}
}

// mention is what makes a mention in a text of WeCom.
var mention = regexp.MustCompile(`<([ ]*@)`)

// fit is body and end in at most limit bytes; what is too long is cut from body.
func fit(body, end string, limit int) string { return cut(body, limit-len(end)) + end }

func judgeWeCom(code int64, _ string) fate {
	return wecomCodes[code]
}

var wecomCodes = map[int64]fate{
	-1:    {problem: robotBusy.With()},
	45033: {problem: tooManyAtOnce.With()},
	45009: {problem: over20AMinute.With(), wait: time.Minute},
	93000: {blame: OfChannel, problem: unknownRobot.With(), advice: robotRemoved.With()},
	40058: {blame: OfMessage, problem: messageWrongOrTooLong.With()},
	40008: {blame: OfMessage, problem: messageTypeRefused.With(), advice: chooseAnotherFormat.With()},
	40033: {blame: OfMessage, problem: characterRefused.With()},
	40035: {blame: OfMessage, problem: messageWrong.With()},
	44004: {blame: OfMessage, problem: messageEmpty.With()},
	45002: {blame: OfMessage, problem: messageTooLong.With()},
}
