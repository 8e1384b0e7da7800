package channel

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// TypeDingTalk is the type of a DingTalk.
const TypeDingTalk Type = "dingtalk"

// DingTalk sends messages to a group by its robot (upstreams/channels.md, section 2).
type DingTalk struct {
	// URL is the address without its query; empty = that of the provider. Check takes the whole
	// address, with the token, too.
	URL string `json:"url" required:"false" doc:"The whole address that the group shows, or empty when token is the token; then that of the provider."`
	// Token is what stands behind access_token= in the address.
	Token secret.Text `json:"token" required:"false" doc:"What stands behind access_token= in the address; the whole address is taken too."`
	// Secret signs messages; empty when the robot does not ask for that.
	Secret secret.Text `json:"secret" required:"false" doc:"The secret of the safety setting that signs messages; empty without it."`
	Format Format      `json:"format" required:"false" enum:",text,markdown" doc:"How messages are written."`
	// AtMobiles and AtUserIDs are mentioned in every message.
	AtMobiles []string `json:"at_mobiles" required:"false" doc:"Telephone numbers that are mentioned."`
	AtUserIDs []string `json:"at_user_ids" required:"false" doc:"User ids that are mentioned."`
	AtAll     bool     `json:"at_all" required:"false" doc:"Whether everybody is mentioned."`
}

var dingtalk = robot{
	standard: "https://oapi.dingtalk.com/robot/send", param: "access_token", field: "token",
	credential: regexp.MustCompile(`^[A-Za-z0-9_-]{8,256}$`),
}

// dingtalkAdapter is DingTalk as a type of channel.
var dingtalkAdapter = Adapter{
	Type: TypeDingTalk, Name: Words{English: "DingTalk", Chinese: "钉钉"}, Noun: "DingTalk group", Icon: "message-square", Group: Groups,
	About:   Words{English: "a group, by its robot", Chinese: "通过群机器人发到群里"},
	Add:     Words{English: "Add a DingTalk group", Chinese: "添加钉钉群"},
	Example: Words{English: "Family group", Chinese: "家庭群"},
	Read:    read[DingTalk],
	Rate:    robotRate, // a robot that sends more is blocked for ten minutes
	Fields: []Field{
		{Name: "token", Input: SecretLine, Label: Words{English: "Webhook address of the robot", Chinese: "机器人的 Webhook 地址"}, Required: true, Keyboard: "url",
			Help: Words{English: "The whole address or the token alone. It is encrypted and never shown again.", Chinese: "完整地址，或只填 access_token。会加密保存，之后不再显示。"}},
		{Name: "secret", Input: SecretLine, Label: Words{English: "Secret of the signature", Chinese: "加签密钥"},
			Help: Words{English: "Starts with SEC. Only with the safety setting 加签.", Chinese: "以 SEC 开头。仅在安全设置选了“加签”时填写。"}},
		formatField,
		mentionMobilesField("at_mobiles"),
		mentionUsersField("at_user_ids", Words{}),
		{Name: "at_all", Input: Switch, Label: Words{English: "Mention everybody", Chinese: "提醒所有人"}, More: true},
		ownAddressField,
	},
	MoreTitle: robotMore,
	Guide: Guide{
		Steps: []Words{
			{English: "On a computer, in the group: **群设置 → 机器人 → 添加机器人 → 自定义** (a custom robot).", Chinese: "在电脑端的群里：**群设置 → 机器人 → 添加机器人 → 自定义**。"},
			{English: "As safety setting choose **自定义关键词** (keyword) with `Watchmark`, which every message contains, or **加签** (signature) and enter its secret here.", Chinese: "安全设置选择**自定义关键词**并填 `Watchmark`（每条消息都包含它），或选择**加签**并把密钥填到这里。"},
			{English: "Copy its **Webhook** address and paste it here.", Chinese: "复制它的 **Webhook** 地址，粘贴到这里。"},
		},
		Note: robotNote,
	},
}

// Type is TypeDingTalk.
func (d DingTalk) Type() Type { return TypeDingTalk }

// Keep takes an untouched token and secret from old.
func (d DingTalk) Keep(old Config) Config {
	if before, ok := old.(DingTalk); ok {
		d.Token = dingtalk.keep(d.URL, d.Token, before.URL, before.Token)
		if d.Secret.Reveal() == secret.Shown { // it is never sent
			d.Secret = before.Secret
		}
	}
	return d
}

// Check is the config as it is stored, and what is wrong with it.
func (d DingTalk) Check() (Config, []*reason.FieldError) {
	var wrong problems
	d.URL, d.Token = dingtalk.check(d.URL, d.Token, &wrong)
	d.Secret = secret.Text(strings.TrimSpace(d.Secret.Reveal()))
	if !wrong.again("secret", d.Secret) && (len(d.Secret) > 256 || strings.ContainsAny(d.Secret.Reveal(), " \t\r\n/?&=")) {
		wrong.add("secret", badDingTalkSecret.With())
	}
	d.Format = d.Format.check(&wrong)
	d.AtMobiles = checkMentions("at_mobiles", d.AtMobiles, mobile, aTelephoneNumber, &wrong)
	d.AtUserIDs = checkMentions("at_user_ids", d.AtUserIDs, userID, aUserID, &wrong)
	for _, people := range []*[]string{&d.AtMobiles, &d.AtUserIDs} {
		if at := slices.Index(*people, everybody); at >= 0 {
			*people, d.AtAll = slices.Delete(*people, at, at+1), true
		}
	}
	return d, wrong
}

// Plain is the config with token and secret.
func (d DingTalk) Plain() string {
	return string(encode(struct {
		DingTalk
		Token  string `json:"token"`
		Secret string `json:"secret"`
	}{d, d.Token.Reveal(), d.Secret.Reveal()}))
}

// Secrets are the token and the secret.
func (d DingTalk) Secrets() []string { return []string{d.Token.Reveal(), d.Secret.Reveal()} }

// host is where messages go.
func (d DingTalk) host() string { return hostOf(d.URL) }

// Where is the host and the end of the token.
func (d DingTalk) Where() string { return dingtalk.where(d.URL, d.Token) }

// Open is a sender with these settings.
func (d DingTalk) Open(tools *Tools) Sender { return dingtalkSender{d, tools} }

type dingtalkSender struct {
	DingTalk
	tools *Tools
}

// maxDingTalk bounds the whole message.
const maxDingTalk = 20000

// Send is taken when DingTalk says so.
func (d dingtalkSender) Send(ctx context.Context, m Message) error {
	query := url.Values{"access_token": {d.Token.Reveal()}}
	if d.Secret != "" {
		timestamp := strconv.FormatInt(d.tools.now().UnixMilli(), 10)
		query.Set("timestamp", timestamp)
		query.Set("sign", sign(d.Secret, timestamp))
	}
	return d.tools.send(ctx, "DingTalk", d.URL, query, d.message(m.tidy()), judgeDingTalk)
}

// sign is the proof that a message of timestamp, in ms, comes from who knows key.
func sign(key secret.Text, timestamp string) string {
	mac := hmac.New(sha256.New, []byte(key.Reveal()))
	mac.Write([]byte(timestamp + "\n" + key.Reveal()))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// message is the longest that fits.
func (d DingTalk) message(m Message) any {
	for limit := maxDingTalk; ; limit -= 1000 {
		message := d.messageOf(m, limit)
		if len(encode(message)) <= maxDingTalk || limit <= 1000 {
			return message
		}
	}
}

// messageOf has a text of at most limit bytes.
func (d DingTalk) messageOf(m Message, limit int) any {
	at := map[string]any{"atMobiles": d.AtMobiles, "atUserIds": d.AtUserIDs, "isAtAll": d.AtAll}
	mentions := ""
	for _, who := range slices.Concat(d.AtMobiles, d.AtUserIDs) { // they work only when they stand in the text too
		mentions += " @" + who
	}
	title := cut(m.Title, maxTitle)
	if d.Format == Text {
		content := fit(title+"\n"+m.Text, "\n"+signature(m, Text)+mentions, limit)
		return map[string]any{"msgtype": Text, "text": map[string]any{"content": content}, "at": at}
	}
	// A line ends where two spaces stand before its end.
	text := strings.ReplaceAll(escapeMarkdown(m.Text), "\n", "  \n")
	text = fit("**"+cut(escapeMarkdown(m.Title), maxTitle)+"**\n\n"+text, "\n\n"+signature(m, Markdown)+mentions, limit)
	if title == "" {
		title = service // an empty one is refused
	}
	return map[string]any{"msgtype": Markdown, "markdown": map[string]any{"title": title, "text": text}, "at": at}
}

func judgeDingTalk(code int64, errmsg string) fate {
	if code == 310000 {
		return unsafe(errmsg)
	}
	return dingtalkCodes[code]
}

// unsafe says which safety setting of the robot refused the message; errmsg is the only place that tells.
func unsafe(errmsg string) fate {
	errmsg = strings.ToLower(errmsg)
	f := fate{blame: OfChannel, problem: safetySettingRefused.With(), advice: compareSafetySettings.With()}
	for _, hint := range []struct {
		words           string
		problem, advice reason.Reason
	}{
		{"timestamp|时间戳", signatureTimeWrong.With(), setClock.With()},
		{"keyword|关键词", keywordMissing.With(), setKeyword.With(service)},
		{"sign|签名", signatureWrong.With(), copySecret.With()},
		{"whitelist|白名单", addressNotListed.With(), addPublicAddress.With()},
	} {
		for word := range strings.SplitSeq(hint.words, "|") {
			if strings.Contains(errmsg, word) {
				f.problem, f.advice = hint.problem, hint.advice
				return f
			}
		}
	}
	return f
}

var dingtalkCodes = func() map[int64]fate {
	codes := map[int64]fate{
		-1:     {problem: robotBusy.With()},
		130101: {problem: pausedForTenMinutes.With(), wait: 10 * time.Minute},
		410100: {problem: tooFast.With(), wait: time.Minute},
	}
	for _, code := range []int64{300001, 300005, 400101} {
		codes[code] = fate{blame: OfChannel, problem: unknownToken.With(), advice: copyRobotAddress.With()}
	}
	for code, problem := range map[int64]reason.Reason{400013: groupDissolved.With(), 400102: robotStopped.With(), 400106: robotNotInGroup.With()} {
		codes[code] = fate{blame: OfChannel, problem: problem, advice: addRobot.With()}
	}
	for _, code := range []int64{400105, 40035, 43002, 43004} {
		codes[code] = fate{blame: OfMessage, problem: messageWrong.With()}
	}
	for code := int64(430101); code <= 430104; code++ {
		codes[code] = fate{blame: OfMessage, problem: messageNotAllowed.With()}
	}
	return codes
}()
