package channel

import (
	"cmp"
	"regexp"
	"strings"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// TypeTelegram is the type of a Telegram.
const TypeTelegram Type = "telegram"

// Telegram sends messages to a chat by a bot (docs/design/channels.md).
type Telegram struct {
	Token secret.Text `json:"token" required:"false" doc:"The token of the bot, as @BotFather shows it."`
	// Chat is the number of a chat, negative for groups, or the @name of a public channel or group.
	Chat string `json:"chat" required:"false" doc:"The number of the chat, or the @name of a public channel."`
	// Topic is the number of a topic in a group that has some; empty is the general one.
	Topic string `json:"topic" required:"false" doc:"The number of a topic (message_thread_id) in a group with topics; empty without."`
	URL   string `json:"url" required:"false" doc:"The address of your own Bot API server; empty for api.telegram.org."`
}

const telegramServer = "https://api.telegram.org"

// telegramAdapter is Telegram as a type of channel.
var telegramAdapter = Adapter{
	Type: TypeTelegram, Name: Words{English: "Telegram", Chinese: "Telegram"}, Noun: "Telegram chat", Icon: "send", Group: Phones,
	About:   Words{English: "a chat, group or channel, by a bot", Chinese: "通过机器人发到聊天、群组或频道"},
	Add:     Words{English: "Add a Telegram chat", Chinese: "添加 Telegram 聊天"},
	Example: Words{English: "My phone", Chinese: "我的手机"},
	Read:    read[Telegram],
	Rate:    robotRate, // a group takes 20 messages a minute, a chat one a second
	Fields: []Field{
		{Name: "token", Input: SecretLine, Label: Words{English: "Token of the bot", Chinese: "机器人的 token"}, Required: true, Help: keptSecret, Example: "123456789:AA…"},
		{Name: "chat", Input: Line, Label: Words{English: "Chat", Chinese: "聊天"}, Required: true, Example: "123456789",
			Help: Words{English: "Its number, with the minus of a group, or the `@name` of a public channel.", Chinese: "聊天编号（群组带负号），或公开频道的 `@名称`。"}},
		{Name: "topic", Input: Line, Label: Words{English: "Topic", Chinese: "话题"}, More: true, Keyboard: "numeric",
			Help: Words{English: "The number of a topic in a group with topics.", Chinese: "开启话题的群组中的话题编号。"}},
		ownServerField,
	},
	MoreTitle: Words{English: "More: topic, own server", Chinese: "更多：话题、自建服务器"},
	Guide: Guide{
		Steps: []Words{
			{English: "Write `/newbot` to **@BotFather**; it answers with the token.", Chinese: "给 **@BotFather** 发送 `/newbot`，它会回复 token。"},
			{English: "Send your bot a message, or add it to the group. A bot cannot begin a chat.", Chinese: "先给机器人发一条消息，或把它加入群组。机器人不能主动开始聊天。"},
			{English: "Open `https://api.telegram.org/bot` + token + `/getUpdates`: `chat` → `id` is the number of the chat.", Chinese: "打开 `https://api.telegram.org/bot` + token + `/getUpdates`：`chat` → `id` 就是聊天编号。"},
		},
		Note: Words{English: "A group takes 20 messages a minute; more are combined.", Chinese: "群组每分钟最多 20 条，更多的会合并发送。"},
	},
}

// What is wrong with the settings of a Telegram, and what to do about its answers.
var (
	badBotToken       = reason.New("channel_telegram_token", "enter the token that @BotFather shows, such as 123456789:AA…", "请填写 @BotFather 给出的 token，形如 123456789:AA…")
	badChat           = reason.New("channel_telegram_chat", "enter the number of the chat, or the @name of a public channel", "请填写聊天编号，或公开频道的 @名称")
	badTopic          = reason.New("channel_telegram_topic", "enter the number of the topic, or nothing", "请填写话题编号，或留空")
	copyBotToken      = reason.New("channel_telegram_copy_token", "copy the token from @BotFather again", "请从 @BotFather 重新复制 token")
	botShutOut        = reason.New("channel_telegram_shut_out", "start the bot again in the chat, or add it to the group again", "请在聊天中重新启动机器人，或把它重新加入群组")
	chatUnknown       = reason.New("channel_telegram_chat_unknown", "check the number of the chat, and send the bot a message or add it to the group first", "请检查聊天编号，并先给机器人发一条消息或把它加入群组")
	chatMoved         = reason.New("channel_telegram_chat_moved", "the group has a new number: enter {number}", "群组有了新编号：请填写 {number}")
	botMayNotWrite    = reason.New("channel_telegram_may_not_write", "let the bot write in this chat, as an administrator of a channel", "请允许机器人在这里发言；在频道中需要设为管理员")
	topicUnknown      = reason.New("channel_telegram_topic_unknown", "check the number of the topic, and whether it is open", "请检查话题编号，以及话题是否已关闭")
	telegramToken     = regexp.MustCompile(`[0-9]{3,20}:[A-Za-z0-9_-]{20,100}`)
	telegramTokenOnly = regexp.MustCompile(`^` + telegramToken.String() + `$`)
	telegramChat      = regexp.MustCompile(`^(-?[0-9]{1,20}|@[A-Za-z][A-Za-z0-9_]{3,63})$`)
	telegramTopic     = regexp.MustCompile(`^[0-9]{0,18}$`)
)

// Type is TypeTelegram.
func (c Telegram) Type() Type { return TypeTelegram }

// Keep takes an untouched token from old.
func (c Telegram) Keep(old Config) Config { return keepOf(c, old) }

// Check is the config as it is stored, and what is wrong with it. An address with the token in it is taken for the token.
func (c Telegram) Check() (Config, []*reason.FieldError) {
	var wrong problems
	c.URL = serverAddress(c.URL, telegramServer, &wrong)
	if strings.Contains(c.Token.Reveal(), "bot") {
		c.Token = secret.Text(cmp.Or(telegramToken.FindString(c.Token.Reveal()), c.Token.Reveal()))
	}
	c.Token = secretIn("token", c.Token, telegramTokenOnly.MatchString, badBotToken.With(), &wrong)
	if c.Chat = strings.TrimSpace(c.Chat); !telegramChat.MatchString(c.Chat) {
		wrong.add("chat", badChat.With())
	}
	if c.Topic = strings.TrimSpace(c.Topic); !telegramTopic.MatchString(c.Topic) {
		wrong.add("topic", badTopic.With())
	}
	return c, wrong
}

// Plain is the config with its token.
func (c Telegram) Plain() string { return plainOf(c) }

// Secrets is the token.
func (c Telegram) Secrets() []string { return secretsOf(c) }

func (c Telegram) server() string { return cmp.Or(c.URL, telegramServer) }

// host is where messages go.
func (c Telegram) host() string { return hostOf(c.server()) }

// Where is the host and the chat.
func (c Telegram) Where() string { return place(c.server(), "") + " " + c.Chat }

// Open is a sender with these settings.
func (c Telegram) Open(tools *Tools) Sender { return serviceSender{c, tools} }

// maxTelegram is how much a message may have in UTF-16 code units, counted without its markup.
const maxTelegram = 4096

func (c Telegram) request(m Message) httpx.Request {
	title := cutTo(cmp.Or(m.Title, service), maxTitle, units)
	end := service
	text := cutTo(m.Text, maxTelegram-units(title+"\n\n\n\n"+end), units)
	if link := linkTarget(m.Link); link != "" {
		end = `<a href="` + htmlText.Replace(link) + `">` + end + `</a>`
	}
	body := map[string]any{
		"chat_id": c.Chat, "parse_mode": "HTML", "link_preview_options": map[string]any{"is_disabled": true},
		"text": "<b>" + htmlText.Replace(title) + "</b>\n\n" + htmlText.Replace(text) + "\n\n" + end,
	}
	if c.Topic != "" {
		body["message_thread_id"] = c.Topic
	}
	return post(c.server()+"/bot"+c.Token.Reveal()+"/sendMessage", body)
}

// htmlText makes text of HTML: of characters with a name Telegram knows these four.
var htmlText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

func (c Telegram) judge(got answer) *Failure {
	var reply struct {
		OK     bool
		Result struct {
			ID int64 `json:"message_id"`
		}
		Description string
		Parameters  struct {
			RetryAfter float64 `json:"retry_after"`
			MovedTo    int64   `json:"migrate_to_chat_id"`
		}
	}
	if !got.reads(&reply) {
		return got.byStatus("Telegram", "")
	}
	if got.status/100 == 2 && reply.OK && reply.Result.ID != 0 {
		return nil
	}
	f := got.byStatus("Telegram", reply.Description).after(reply.Parameters.RetryAfter)
	said := strings.ToLower(reply.Description)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(said, w) {
				return true
			}
		}
		return false
	}
	switch s := got.status; {
	case s == 401, s == 404:
		return f.blames(OfChannel, copyBotToken.With())
	case s == 403:
		return f.blames(OfChannel, botShutOut.With())
	case s == 400 && reply.Parameters.MovedTo != 0:
		return f.blames(OfChannel, chatMoved.With(reply.Parameters.MovedTo))
	case s == 400 && has("chat not found", "peer_id_invalid", "chat_id is empty"):
		return f.blames(OfChannel, chatUnknown.With())
	case s == 400 && has("thread not found", "topic_closed", "topic_deleted"):
		return f.blames(OfChannel, topicUnknown.With())
	case s == 400 && has("not enough rights", "have no rights", "need administrator rights", "chat_write_forbidden", "chat_restricted"):
		return f.blames(OfChannel, botMayNotWrite.With())
	}
	return f
}
