package channel

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// TypeMatrix is the type of a Matrix.
const TypeMatrix Type = "matrix"

// Matrix sends messages to a room (docs/design/channels.md).
type Matrix struct {
	// Room is an id (!…), or an alias (#…:server), which is resolved for each message.
	Room  string      `json:"room" required:"false" doc:"The id (!…) or the alias (#…:server) of the room."`
	Token secret.Text `json:"token" required:"false" doc:"The access token of an account that is in the room."`
	URL   string      `json:"url" required:"false" doc:"The address of the homeserver; empty for matrix-client.matrix.org."`
}

const matrixServer = "https://matrix-client.matrix.org"

// matrixAdapter is Matrix as a type of channel.
var matrixAdapter = Adapter{
	Type: TypeMatrix, Name: Words{English: "Matrix", Chinese: "Matrix"}, Noun: "Matrix room", Icon: "brackets", Group: Groups,
	About:   Words{English: "a room, such as in Element", Chinese: "房间，例如在 Element 中"},
	Add:     Words{English: "Add a Matrix room", Chinese: "添加 Matrix 房间"},
	Example: Words{English: "Family room", Chinese: "家庭房间"},
	Read:    read[Matrix],
	Rate:    Rate{PerMinute: 10, Burst: 2}, // what servers take by default in the long run
	Fields: []Field{
		{Name: "room", Input: Line, Label: Words{English: "Room", Chinese: "房间"}, Required: true, Example: "!abc:example.org",
			Help: Words{English: "Its id, which starts with `!`, or its alias, which starts with `#`.", Chinese: "以 `!` 开头的房间 ID，或以 `#` 开头的别名。"}},
		{Name: "token", Input: SecretLine, Label: Words{English: "Access token", Chinese: "访问令牌"}, Required: true, Help: keptSecret},
		{Name: "url", Input: Line, Label: Words{English: "Address of the homeserver", Chinese: "主服务器地址"}, Keyboard: "url", Example: matrixServer,
			Help: Words{English: "Empty for an account at matrix.org.", Chinese: "matrix.org 的账号可留空。"}},
	},
	Guide: Guide{
		Steps: []Words{
			{English: "Make an account for Watchmark, and let it join the room.", Chinese: "为 Watchmark 注册一个账号，并让它加入房间。"},
			{English: "Its token: in Element, **All settings → Help & about → Access token**. Do not sign out there, or the token ends.", Chinese: "令牌在 Element 的**所有设置 → 帮助与关于 → 访问令牌**。不要在那里退出登录，否则令牌失效。"},
			{English: "The room: **Room settings → Advanced → Internal room ID**.", Chinese: "房间 ID 在**房间设置 → 高级 → 内部房间 ID**。"},
		},
		Note: Words{English: "In an encrypted room the message arrives unencrypted, with a warning.", Chinese: "在加密房间里，消息会以未加密的形式送达并带有警告。"},
	},
}

// What is wrong with the settings of a Matrix, and what to do about its answers.
var (
	badRoom         = reason.New("channel_matrix_room", "enter the id of the room, such as !abc:example.org, or its alias, such as #home:example.org", "请填写房间 ID（如 !abc:example.org）或别名（如 #home:example.org）")
	badMatrixToken  = reason.New("channel_matrix_token", "enter the access token of the account", "请填写账号的访问令牌")
	newMatrixToken  = reason.New("channel_matrix_new_token", "sign in with the account again and copy its new access token", "请重新登录该账号，并复制新的访问令牌")
	notInRoom       = reason.New("channel_matrix_not_in_room", "let the account join the room, and let it write there", "请让该账号加入房间，并允许它发言")
	roomUnknown     = reason.New("channel_matrix_room_unknown", "check the id or the alias of the room", "请检查房间 ID 或别名")
	enterHomeserver = reason.New("channel_matrix_homeserver", "enter the address at which the homeserver answers apps, such as {address}", "请填写主服务器供客户端使用的地址，例如 {address}")
	matrixRoom      = regexp.MustCompile(`^(!\S{1,254}|#[^\s:]{1,200}:\S{1,200})$`)
	matrixToken     = regexp.MustCompile(`^[A-Za-z0-9._~+/=-]{8,1000}$`)
)

// Type is TypeMatrix.
func (c Matrix) Type() Type { return TypeMatrix }

// Keep takes an untouched token from old.
func (c Matrix) Keep(old Config) Config { return keepOf(c, old) }

// Check is the config as it is stored, and what is wrong with it.
func (c Matrix) Check() (Config, []*reason.FieldError) {
	var wrong problems
	c.URL = serverAddress(c.URL, matrixServer, &wrong)
	if c.Room = strings.TrimSpace(c.Room); !matrixRoom.MatchString(c.Room) {
		wrong.add("room", badRoom.With())
	}
	c.Token = secretIn("token", c.Token, matrixToken.MatchString, badMatrixToken.With(), &wrong)
	return c, wrong
}

// Plain is the config with its token.
func (c Matrix) Plain() string { return plainOf(c) }

// Secrets is the token.
func (c Matrix) Secrets() []string { return secretsOf(c) }

func (c Matrix) server() string { return cmp.Or(c.URL, matrixServer) }

// host is where messages go.
func (c Matrix) host() string { return hostOf(c.server()) }

// Where is the host and the room.
func (c Matrix) Where() string { return place(c.server(), "") + " " + c.Room }

// Open is a sender with these settings.
func (c Matrix) Open(tools *Tools) Sender { return matrixSender{c, tools} }

type matrixSender struct {
	Matrix
	tools *Tools
}

// Send is taken when the homeserver names the event. It knows a message by its id, so a repeat is not shown twice.
func (s matrixSender) Send(ctx context.Context, m Message) error {
	if strings.HasPrefix(s.Room, "#") {
		resolve := bearer(post(s.server()+"/_matrix/client/v3/directory/room/"+url.PathEscape(s.Room), nil), s.Token)
		resolve.Method, resolve.Body = http.MethodGet, nil
		err := s.tools.ask(ctx, resolve, func(got answer) *Failure {
			var reply struct {
				ID string `json:"room_id"`
			}
			if got.status == http.StatusOK && got.reads(&reply) && strings.HasPrefix(reply.ID, "!") {
				s.Room = reply.ID
				return nil
			}
			return s.judge(got)
		})
		if err != nil {
			return repeatable(err)
		}
	}
	return repeatable(s.tools.ask(ctx, s.request(m.tidy()), s.judge))
}

// maxMatrix is how many bytes the text may have, escaped: an event has 65536 with everything, and the text is in it twice.
const maxMatrix = 16 << 10

func (c Matrix) request(m Message) httpx.Request {
	title := cut(cmp.Or(m.Title, service), maxTitle)
	text := cutTo(m.Text, maxMatrix, func(text string) int { return len(inHTML(text)) })
	end := service
	if link := linkTarget(m.Link); link != "" {
		end = `<a href="` + htmlText.Replace(link) + `">` + service + `</a>`
	}
	req := bearer(post(c.server()+"/_matrix/client/v3/rooms/"+url.PathEscape(c.Room)+"/send/m.room.message/"+url.PathEscape(m.ID), map[string]any{
		"msgtype": "m.text", // telephones are silent for m.notice
		"body":    title + "\n" + text + "\n" + signature(m, Text),
		// Who is mentioned: nobody. Without it clients look for names, and @room, in the text.
		"m.mentions": map[string]any{},
		"format":     "org.matrix.custom.html", "formatted_body": "<strong>" + inHTML(title) + "</strong><br>" + inHTML(text) + "<br>" + end,
	}), c.Token)
	req.Method = http.MethodPut
	return req
}

// inHTML is plain text as HTML shows it.
func inHTML(text string) string { return strings.ReplaceAll(htmlText.Replace(text), "\n", "<br>") }

func (c Matrix) judge(got answer) *Failure {
	var reply struct {
		Event string `json:"event_id"`
		Code  string `json:"errcode"`
		Error string
		After float64 `json:"retry_after_ms"`
	}
	if got.reads(&reply) && got.status == http.StatusOK && reply.Event != "" {
		return nil
	}
	f := got.byStatus("Matrix", strings.TrimSpace(reply.Code+" "+reply.Error)).after(reply.After / 1000)
	switch reply.Code {
	case "M_UNKNOWN_TOKEN", "M_MISSING_TOKEN", "M_USER_DEACTIVATED":
		return f.blames(OfChannel, newMatrixToken.With())
	case "M_FORBIDDEN":
		return f.blames(OfChannel, notInRoom.With())
	case "M_NOT_FOUND", "M_INVALID_PARAM":
		return f.blames(OfChannel, roomUnknown.With())
	case "M_LIMIT_EXCEEDED", "M_RESOURCE_LIMIT_EXCEEDED":
		f.Blame, f.Advice = Temporary, reason.Reason{}
	case "M_TOO_LARGE":
		return f.blames(OfMessage, reason.Reason{})
	case "", "M_UNRECOGNIZED":
		if f.Blame == OfChannel {
			f.Advice = enterHomeserver.With(matrixServer)
		}
	}
	return f
}
