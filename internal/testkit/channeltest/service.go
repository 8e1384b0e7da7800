package channeltest

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// Shown is a message as a service shows it to people: what its markup means is gone from the texts.
type Shown struct {
	Title, Text string
	// Link is where it leads; empty without one.
	Link string
	// Body is the request as it came.
	Body []byte
}

// Service is a receiver that behaves like one of the real services, as docs/design/channels.md tells them. Its methods may be
// used by several goroutines.
type Service struct {
	URL string

	answer func(s *Service, w http.ResponseWriter, r *http.Request, body []byte)

	mu      sync.Mutex
	changed *sync.Cond
	shown   []Shown
	asked   int
	busy    int  // how many messages are refused because there are too many
	cut     bool // the answer ends too early, after the message was taken
	order   func() (Reply, bool)
	known   map[string]string // of Matrix: the events by transaction
	limited func(http.ResponseWriter)
}

// What the services know. Whatever else is wrong.
const (
	TelegramToken = "123456789:AAfake_fake_fake_fake_fake_fake_f-9"
	TelegramChat  = "-1001234567890"
	DiscordID     = "123456789012345678"
	DiscordToken  = "fakeFakefake-fake_fakeFake0123456789fakeFake0123456789fakeFake012345"
	SlackPath     = "/services/T0FAKE/B0FAKE/fakeFakefake0123456789xy"
	NtfyTopic     = "mira-watched-7319"
	NtfyToken     = "tk_fakefakefakefakefake7319fake1"
	GotifyToken   = "AfakeFake.0123-"
	BarkKey       = "fakeKey7319fakeKey7319"
	TurboKey      = "SCT7319TfakeFakefake0123456789"
	ServerChan3   = "sctp7319tfakefake0123456789"
	PushDeerKey   = "PDU7319TfakeFakefake0123456789"
	AppriseKey    = "watchmark"
	HAToken       = "eyJhbGciOiJmYWtlIn0.fake7319.fakefakefake"
	HAAction      = "mobile_app_phone"
	HAWebhook     = "watchmark-7319-fake"
	MatrixToken   = "syt_ZmFrZQ_fakeFakefake7319_0fake0"
	MatrixRoom    = "!fake7319:example.org"
	MatrixAlias   = "#home:example.org"
)

// serve runs a service until the test ends. limited writes its answer to a message that is too much.
func serve(t TB, answer func(*Service, http.ResponseWriter, *http.Request, []byte), limited func(http.ResponseWriter)) *Service {
	s := &Service{answer: answer, limited: limited, known: map[string]string{}}
	s.changed = sync.NewCond(&s.mu)
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	s.URL = web.URL
	return s
}

// Shown are the messages that people saw.
func (s *Service) Shown() []Shown {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Shown(nil), s.shown...)
}

// Wait is Shown once there are n.
func (s *Service) Wait(t TB, n int) []Shown {
	t.Helper()
	if !await(s.changed, func() bool { return len(s.shown) >= n }) {
		t.Fatalf("%d messages came, not %d", len(s.Shown()), n)
	}
	return s.Shown()
}

// Asked is how many requests came.
func (s *Service) Asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// Busy has the next n messages refused because there are too many.
func (s *Service) Busy(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = n
}

// CutAnswers has the connection end in the middle of each answer from now on, or no longer.
func (s *Service) CutAnswers(cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut = cut
}

// Answer has every request answered with r.
func (s *Service) Answer(r Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.order = func() (Reply, bool) { return r, true }
}

// ServeHTTP answers a request.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.changed.Broadcast()
	s.asked++
	switch {
	case s.order != nil:
		reply, _ := s.order()
		for name, values := range reply.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(max(reply.Status, http.StatusOK))
		_, _ = io.WriteString(w, reply.Body)
	case s.busy > 0:
		s.busy--
		s.limited(w)
	case s.cut:
		kept := httptest.NewRecorder()
		s.answer(s, kept, r, body)
		w.Header().Set("Content-Length", strconv.Itoa(kept.Body.Len()+100))
		w.WriteHeader(kept.Code)
		_, _ = w.Write(kept.Body.Bytes()[:kept.Body.Len()/2])
	default:
		s.answer(s, w, r, body)
	}
}

func (s *Service) show(m Shown) { s.shown = append(s.shown, m) }

// say answers JSON.
func say(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the sender sees when it is gone
}

// page answers a page of HTML, as what stands at an address that is none.
func page(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "<!DOCTYPE html><html><body>nothing here</body></html>")
}

type object = map[string]any

// NewTelegram is the Bot API with a bot that is in one chat.
func NewTelegram(t TB) *Service {
	return serve(t, answerTelegram, func(w http.ResponseWriter) {
		say(w, 429, object{"ok": false, "error_code": 429, "description": "Too Many Requests: retry after 35", "parameters": object{"retry_after": 35}})
	})
}

// htmlTags are those that Telegram knows of the ones that are sent to it.
var htmlTags = regexp.MustCompile(`^</?(b|a)( href="[^"<>]*")?>$`)

// parsedHTML is what a message in Telegram's HTML shows, or what is wrong with it.
func parsedHTML(text string) (shown, link, wrong string) {
	var out strings.Builder
	var open []string
	for i := 0; i < len(text); {
		if text[i] != '<' {
			end := strings.IndexByte(text[i:], '<')
			if end < 0 {
				end = len(text) - i
			}
			out.WriteString(html.UnescapeString(text[i : i+end]))
			i += end
			continue
		}
		end := strings.IndexByte(text[i:], '>')
		if end < 0 {
			return "", "", fmt.Sprintf("Unclosed start tag at byte offset %d", i)
		}
		tag := text[i : i+end+1]
		if !htmlTags.MatchString(tag) {
			return "", "", fmt.Sprintf("Unsupported start tag \"%s\" at byte offset %d", strings.Trim(tag, "<>/"), i)
		}
		if name := strings.Trim(strings.Fields(strings.Trim(tag, "<>"))[0], "/"); tag[1] == '/' {
			if len(open) == 0 || open[len(open)-1] != name {
				return "", "", fmt.Sprintf("Unexpected end tag at byte offset %d", i)
			}
			open = open[:len(open)-1]
		} else {
			open = append(open, name)
			if _, address, found := strings.Cut(tag, `href="`); found {
				link = html.UnescapeString(strings.TrimSuffix(address, `">`))
			}
		}
		i += end + 1
	}
	if len(open) > 0 {
		return "", "", fmt.Sprintf("Can't find end tag corresponding to start tag \"%s\"", open[0])
	}
	return out.String(), link, ""
}

func answerTelegram(s *Service, w http.ResponseWriter, r *http.Request, body []byte) {
	fail := func(code int, description string) {
		say(w, code, object{"ok": false, "error_code": code, "description": description})
	}
	token, method, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/bot"), "/")
	var m struct {
		Chat  string `json:"chat_id"`
		Topic string `json:"message_thread_id"`
		Text  string
		Mode  string `json:"parse_mode"`
	}
	switch {
	case !strings.HasPrefix(r.URL.Path, "/bot") || !regexp.MustCompile(`^[0-9]+:[A-Za-z0-9_-]{35}$`).MatchString(token) || method != "sendMessage":
		fail(404, "Not Found")
		return
	case token != TelegramToken:
		fail(401, "Unauthorized")
		return
	case json.Unmarshal(body, &m) != nil || m.Mode != "HTML":
		fail(400, "Bad Request: message text is empty")
		return
	}
	switch m.Chat {
	case TelegramChat:
	case "1000001":
		fail(403, "Forbidden: bot was blocked by the user")
		return
	case "-1000002":
		say(w, 400, object{"ok": false, "error_code": 400, "description": "Bad Request: group chat was upgraded to a supergroup chat", "parameters": object{"migrate_to_chat_id": -1009999999999}})
		return
	case "-1000003":
		fail(400, "Bad Request: not enough rights to send text messages to the chat")
		return
	default:
		fail(400, "Bad Request: chat not found")
		return
	}
	if m.Topic != "" && m.Topic != "7" {
		fail(400, "Bad Request: message thread not found")
		return
	}
	text, link, wrong := parsedHTML(m.Text)
	switch {
	case wrong != "":
		fail(400, "Bad Request: can't parse entities: "+wrong)
	case strings.TrimSpace(text) == "":
		fail(400, "Bad Request: message text is empty")
	case len(utf16.Encode([]rune(text))) > 4096:
		fail(400, "Bad Request: message is too long")
	default:
		title, rest, _ := strings.Cut(text, "\n\n")
		s.show(Shown{title, rest, link, body})
		say(w, 200, object{"ok": true, "result": object{"message_id": len(s.shown), "date": 1700000000, "chat": object{"id": -1001234567890}}})
	}
}

// DiscordPath is the path of the webhook.
const DiscordPath = "/api/webhooks/" + DiscordID + "/" + DiscordToken

// NewDiscord has one webhook, whose channel has the thread 55555.
func NewDiscord(t TB) *Service {
	return serve(t, answerDiscord, func(w http.ResponseWriter) {
		w.Header().Set("Retry-After", "65")
		w.Header().Set("X-RateLimit-Limit", "5")
		w.Header().Set("X-RateLimit-Remaining", "0")
		w.Header().Set("X-RateLimit-Reset-After", "64.57")
		say(w, 429, object{"message": "You are being rate limited.", "retry_after": 64.57, "global": false})
	})
}

// unmarked takes the backslashes from in front of the marks; a mark without one is told.
func unmarked(text, marks string) (plain, mark string) {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && text[i+1] > ' ' && text[i+1] < 0x7f && !regexp.MustCompile(`[0-9A-Za-z]`).MatchString(text[i+1:i+2]):
			i++
			out.WriteByte(text[i])
		case strings.IndexByte(marks, c) >= 0:
			return "", text[i:]
		default:
			out.WriteByte(c)
		}
	}
	return out.String(), ""
}

func answerDiscord(s *Service, w http.ResponseWriter, r *http.Request, body []byte) {
	fail := func(status, code int, text string) { say(w, status, object{"message": text, "code": code}) }
	var m struct {
		Content string
		Allowed struct{ Parse []string } `json:"allowed_mentions"`
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	query := r.URL.Query()
	thread := query.Get("thread_id")
	switch {
	case len(parts) != 4 || r.Method != http.MethodPost:
		say(w, 404, object{"message": "404: Not Found", "code": 0})
		return
	case parts[2] != DiscordID:
		fail(404, 10015, "Unknown Webhook")
		return
	case parts[3] != DiscordToken:
		fail(401, 50027, "Invalid Webhook Token")
		return
	case thread == "44444":
		fail(400, 220001, "Webhooks posted to forum channels must have a thread_name or thread_id")
		return
	case thread != "" && thread != "55555":
		fail(404, 10003, "Unknown Channel")
		return
	case json.Unmarshal(body, &m) != nil || m.Allowed.Parse == nil:
		fail(400, 50109, "The request body contains invalid JSON.")
		return
	case strings.TrimSpace(m.Content) == "":
		fail(400, 50006, "Cannot send an empty message")
		return
	case utf8.RuneCountInString(m.Content) > 2000:
		say(w, 400, object{"message": "Invalid Form Body", "code": 50035, "errors": object{"content": object{"_errors": []object{{"code": "BASE_TYPE_MAX_LENGTH", "message": "Must be 2000 or fewer in length."}}}}})
		return
	}
	first, rest, _ := strings.Cut(m.Content, "\n")
	link := regexp.MustCompile(`\nWatchmark(: <(https?://[^>\s]+)>)?$`).FindStringSubmatchIndex(rest)
	shown := Shown{Body: body}
	if link != nil {
		if link[4] >= 0 {
			shown.Link = rest[link[4]:link[5]]
		}
		rest = rest[:link[0]]
	}
	var mark string
	for _, part := range []struct {
		to   *string
		text string
	}{{&shown.Title, strings.TrimSuffix(strings.TrimPrefix(first, "**"), "**")}, {&shown.Text, rest}} {
		if *part.to, mark = unmarked(part.text, "*_~`|<>[]#@"); mark != "" { // something is not shown as it is written
			*part.to = "FORMATTED: " + mark
		}
	}
	s.show(shown)
	if query.Get("wait") != "true" {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	say(w, 200, object{"id": "1234567890123456789", "type": 0, "content": m.Content, "channel_id": "42"})
}

// NewSlack has one incoming webhook, at SlackPath.
func NewSlack(t TB) *Service {
	return serve(t, answerSlack, func(w http.ResponseWriter) {
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, "rate_limited")
	})
}

func answerSlack(s *Service, w http.ResponseWriter, r *http.Request, body []byte) {
	fail := func(status int, text string) { w.WriteHeader(status); _, _ = io.WriteString(w, text) }
	var m struct{ Text string }
	switch {
	case strings.HasSuffix(r.URL.Path, "/archived0000"):
		fail(410, "channel_is_archived")
		return
	case strings.HasSuffix(r.URL.Path, "/forbidden000"):
		fail(403, "action_prohibited")
		return
	case r.URL.Path != SlackPath:
		fail(404, "no_service")
		return
	case json.Unmarshal(body, &m) != nil:
		fail(400, "invalid_payload")
		return
	case m.Text == "":
		fail(400, "no_text")
		return
	}
	shown := Shown{Body: body}
	if utf8.RuneCountInString(m.Text) > 40000 { // Slack cuts what is longer
		m.Text = string([]rune(m.Text)[:40000])
	}
	at := strings.LastIndex(m.Text, "\n")
	if link := regexp.MustCompile(`^<([^|>]+)\|Watchmark>$`).FindStringSubmatch(m.Text[at+1:]); link != nil {
		shown.Link = strings.ReplaceAll(link[1], "&amp;", "&")
	}
	first, rest, _ := strings.Cut(m.Text[:max(at, 0)], "\n")
	first = strings.TrimSuffix(strings.TrimPrefix(first, "*"), "*")
	if strings.ContainsAny(first+rest, "<>*~`") || regexp.MustCompile(`(?m)^&gt;|&([^alg]|$)`).MatchString(rest) {
		rest = "FORMATTED: " + rest
	}
	shown.Title, shown.Text = html.UnescapeString(first), html.UnescapeString(rest)
	s.show(shown)
	_, _ = io.WriteString(w, "ok")
}

// NewNtfy has the topic NtfyTopic, to which everybody writes, and "protected", which wants NtfyToken.
func NewNtfy(t TB) *Service {
	return serve(t, answerNtfy, func(w http.ResponseWriter) {
		say(w, 429, object{"code": 42901, "http": 429, "error": "limit reached: too many requests", "link": "https://ntfy.sh/docs/publish/#limitations"})
	})
}

func answerNtfy(s *Service, w http.ResponseWriter, r *http.Request, body []byte) {
	fail := func(status, code int, text string) {
		say(w, status, object{"code": code, "http": status, "error": text})
	}
	var m struct {
		Topic, Title, Message, Click string
		Priority                     int
	}
	auth := r.Header.Get("Authorization")
	switch {
	case r.URL.Path != "/" && r.URL.Path != "":
		fail(404, 40401, "page not found")
		return
	case auth != "" && auth != "Bearer "+NtfyToken:
		fail(401, 40101, "unauthorized")
		return
	case len(body) > 2*4096:
		fail(413, 41303, "JSON body too large")
		return
	case json.Unmarshal(body, &m) != nil:
		fail(400, 40017, "invalid request: request body must be message JSON")
		return
	case !regexp.MustCompile(`^[-_A-Za-z0-9]{1,64}$`).MatchString(m.Topic):
		fail(400, 40009, "invalid request: topic invalid")
		return
	case m.Topic == "docs":
		fail(400, 40010, "invalid request: topic name is not allowed")
		return
	case m.Topic == "protected" && auth == "":
		fail(403, 40301, "forbidden")
		return
	case m.Priority < 0 || m.Priority > 5:
		fail(400, 40007, "invalid priority parameter")
		return
	}
	if m.Message == "" {
		m.Message = "triggered"
	}
	said := object{"id": "fakeId7319", "time": 1700000000, "event": "message", "topic": m.Topic, "title": m.Title, "message": m.Message}
	if len(m.Message) > 4096 { // becomes a file, which nobody reads on a telephone
		said["message"], said["attachment"] = "You received a file: attachment.txt", object{"name": "attachment.txt"}
		m.Message = "You received a file: attachment.txt"
	}
	s.show(Shown{m.Title, m.Message, m.Click, body})
	say(w, 200, said)
}

// NewGotify has one application.
func NewGotify(t TB) *Service {
	return serve(t, answerGotify, func(w http.ResponseWriter) { page(w, 429) }) // a proxy in front of it: Gotify has no limit
}

func answerGotify(s *Service, w http.ResponseWriter, r *http.Request, body []byte) {
	fail := func(status int, text string) {
		say(w, status, object{"error": http.StatusText(status), "errorCode": status, "errorDescription": text})
	}
	var m struct {
		Title, Message string
		Priority       *int
		Extras         map[string]struct {
			Click struct{ URL string }
		}
	}
	switch {
	case r.URL.Path != "/message":
		fail(404, "page not found")
	case r.Header.Get("X-Gotify-Key") != GotifyToken:
		fail(401, "you need to provide a valid access token or user credentials to access this api")
	case json.Unmarshal(body, &m) != nil:
		fail(400, "invalid character")
	case m.Message == "":
		fail(400, "Field 'message' is required")
	default:
		s.show(Shown{m.Title, m.Message, m.Extras["client::notification"].Click.URL, body})
		say(w, 200, object{"id": len(s.shown), "appid": 5, "message": m.Message, "title": m.Title, "priority": m.Priority, "date": "2026-11-21T20:15:00Z"})
	}
}

// NewBark has one device.
func NewBark(t TB) *Service {
	return serve(t, answerBark, func(w http.ResponseWriter) {
		say(w, 500, object{"code": 500, "message": "push failed: TooManyRequests", "timestamp": 1700000000})
	})
}

func answerBark(s *Service, w http.ResponseWriter, r *http.Request, body []byte) {
	say := func(status int, text string) {
		say(w, status, object{"code": status, "message": text, "timestamp": 1700000000})
	}
	var m struct {
		Key   string `json:"device_key"`
		Title string
		Body  string
		URL   string
		Group string
		ID    string
		Level string
	}
	switch {
	case r.URL.Path != "/push" || r.Method != http.MethodPost:
		say(404, "Cannot POST "+r.URL.Path)
		return
	case json.Unmarshal(body, &m) != nil:
		say(400, "request bind failed: invalid character")
		return
	case m.Key == "":
		say(400, "device key is empty")
		return
	case m.Key == "removedKey7319":
		say(500, "push failed: BadDeviceToken")
		return
	case m.Key != BarkKey:
		say(400, "failed to get device token: failed to get ["+m.Key+"] device token from database")
		return
	}
	// The notice that goes to Apple, which Go's JSON escapes once more.
	notice, err := json.Marshal(object{
		"aps": object{"alert": object{"title": m.Title, "subtitle": "", "body": m.Body}, "sound": "1107", "category": "myNotificationCategory", "thread-id": m.Group, "mutable-content": 1},
		"url": m.URL, "group": m.Group, "id": m.ID, "level": m.Level,
	})
	if err != nil || len(notice) > 4096 {
		say(500, "push failed: PayloadTooLarge")
		return
	}
	s.show(Shown{m.Title, m.Body, m.URL, body})
	say(200, "success")
}

// NewServerChan is Server酱, both Turbo and ³.
func NewServerChan(t TB) *Service {
	return serve(t, answerServerChan, func(w http.ResponseWriter) {
		say(w, 400, object{"message": "[AUTH]超过当天的发送次数限制[5]，请稍后再试", "code": 40001, "info": "[AUTH]超过当天的发送次数限制[5]，请稍后再试", "args": []any{nil}})
	})
}

// linkLine is the last paragraph of what inMarkdown writes.
var linkLine = regexp.MustCompile(`(^|\n\n)(\[Watchmark\]\((https?://[^)\s]+)\)|Watchmark)$`)

// fromMarkdown is what Markdown shows whose marks are full-width characters, and where its last paragraph links to.
func fromMarkdown(text string) (plain, link string) {
	if m := linkLine.FindStringSubmatchIndex(text); m != nil {
		if m[6] >= 0 {
			link = text[m[6]:m[7]]
		}
		text = text[:m[0]]
	}
	return strings.ReplaceAll(text, "\n\n", "\n"), link
}

func answerServerChan(s *Service, w http.ResponseWriter, r *http.Request, body []byte) {
	form, err := url.ParseQuery(string(body))
	if err != nil || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		form = url.Values{}
	}
	title := form.Get("title")
	switch {
	case r.URL.Path != "/"+TurboKey+".send" && r.URL.Path != "/send/"+ServerChan3+".send":
		say(w, 400, object{"message": "[AUTH]用户不存在或者权限不足", "code": 40001, "info": "[AUTH]用户不存在或者权限不足", "args": []any{nil}})
	case title == "":
		say(w, 400, object{"message": "[INPUT]消息标题不能为空", "code": 40011})
	default:
		if utf8.RuneCountInString(title) > 32 { // Turbo cuts it
			title = string([]rune(title)[:32])
		}
		text, link := fromMarkdown(form.Get("desp"))
		s.show(Shown{title, text, link, body})
		say(w, 200, object{"code": 0, "message": "", "data": object{"pushid": "7319", "readkey": "fake", "error": "SUCCESS", "errno": 0}})
	}
}

// NewPushDeer has one key with a device, and PDU0000TnodeviceNodevice without one.
func NewPushDeer(t TB) *Service {
	return serve(t, answerPushDeer, func(w http.ResponseWriter) {
		w.Header().Set("Retry-After", "42")
		w.Header().Set("X-RateLimit-Limit", "60")
		w.Header().Set("X-RateLimit-Remaining", "0")
		say(w, 429, object{"message": "Too Many Attempts."})
	})
}

func answerPushDeer(s *Service, w http.ResponseWriter, r *http.Request, body []byte) {
	var m struct{ Pushkey, Text, Desp, Type string }
	if r.URL.Path != "/message/push" {
		page(w, 404)
		return
	}
	if json.Unmarshal(body, &m) != nil || m.Pushkey == "" || m.Text == "" {
		if r.Header.Get("Accept") != "application/json" { // Laravel sends whoever did not ask for JSON back to where they came from
			w.Header().Set("Location", "/")
			w.WriteHeader(http.StatusFound)
			return
		}
		say(w, 422, object{"message": "The given data was invalid.", "errors": object{"text": []string{"The text field is required."}}})
		return
	}
	switch m.Pushkey {
	case PushDeerKey:
		text, link := fromMarkdown(m.Desp)
		s.show(Shown{m.Text, text, link, body})
		say(w, 200, object{"code": 0, "content": object{"result": []string{`{"counts":1,"logs":[],"success":"ok"}`}}})
	case "PDU0000TnodeviceNodevice":
		say(w, 200, object{"code": 0, "content": object{"result": []string{}}})
	case "PDU0000TremovedRemoved00":
		say(w, 200, object{"code": 0, "content": object{"result": []string{`{"counts":1,"logs":[{"type":"failed-push","platform":"ios","error":"BadDeviceToken"}],"success":"ok"}`}}})
	case "PDU0000TstoppedStopped00":
		say(w, 200, object{"code": 80501, "error": "此账号已被停用"})
	default: // the server of the project falls over a key that it does not know
		page(w, 500)
	}
}

// NewApprise has one configuration, under AppriseKey, and "empty" without anything.
func NewApprise(t TB) *Service {
	return serve(t, answerApprise, func(w http.ResponseWriter) { page(w, 503) }) // it has no limit; this is a proxy in front of it
}

func answerApprise(s *Service, w http.ResponseWriter, r *http.Request, body []byte) {
	var m struct{ Title, Body, Type, Format, Tag, URLs string }
	asJSON := strings.Contains(r.Header.Get("Accept"), "application/json")
	answer := func(status int, failure any, log string) {
		if !asJSON {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, log)
			return
		}
		if status == http.StatusNoContent {
			w.WriteHeader(status)
			return
		}
		say(w, status, object{"error": failure, "details": [][]string{{"INFO", "2026-11-21 20:15:00,000", log}}})
	}
	key, stored := strings.CutPrefix(r.URL.Path, "/notify/")
	bad := json.Unmarshal(body, &m) != nil || m.Body == "" || m.Type != "info"
	switch {
	case !stored:
		page(w, 404)
	case bad:
		answer(400, "Payload lacks minimum requirements", "")
	case key == "" && !strings.Contains(m.URLs, "://"), key != "" && key != AppriseKey:
		answer(204, "There was no configuration found", "")
	case m.Tag == "broken" || strings.Contains(m.URLs, "broken"):
		answer(424, "One or more notification could not be sent", "Failed to send")
	default:
		text, link := m.Body, ""
		if at := strings.LastIndex(text, "\nWatchmark"); at >= 0 {
			link = strings.TrimPrefix(strings.TrimPrefix(text[at:], "\nWatchmark"), ": ")
			text = text[:at]
		}
		s.show(Shown{m.Title, text, link, body})
		answer(200, nil, "Sent notification")
	}
}

// NewHomeAssistant has one telephone and one automation with a webhook.
func NewHomeAssistant(t TB) *Service {
	return serve(t, answerHomeAssistant, func(w http.ResponseWriter) { page(w, 502) }) // it has no limit; this is a proxy in front of it
}

func answerHomeAssistant(s *Service, w http.ResponseWriter, r *http.Request, body []byte) {
	fail := func(status int) {
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, "%d: %s", status, http.StatusText(status))
	}
	var m struct {
		Title, Message, Link string
		Data                 struct{ URL string }
	}
	wrong := json.Unmarshal(body, &m)
	if id, is := strings.CutPrefix(r.URL.Path, "/api/webhook/"); is {
		if id == HAWebhook && wrong == nil {
			s.show(Shown{m.Title, m.Message, m.Link, body})
		}
		w.WriteHeader(http.StatusOK) // it does not give away which webhooks there are
		return
	}
	name, is := strings.CutPrefix(r.URL.Path, "/api/services/notify/")
	template := regexp.MustCompile(`\{[{%#]`)
	switch {
	case !is:
		fail(404)
	case r.Header.Get("Authorization") != "Bearer "+HAToken:
		fail(401)
	case wrong != nil:
		say(w, 400, object{"message": "Data should be valid JSON."})
	case name != HAAction, m.Message == "":
		fail(400)
	case template.MatchString(m.Title + "\n" + m.Message): // title and message are templates; a broken one is refused
		fail(400)
	default:
		s.show(Shown{m.Title, m.Message, m.Data.URL, body})
		say(w, 200, []any{})
	}
}

// NewMatrix is a homeserver with one account, in one room.
func NewMatrix(t TB) *Service {
	return serve(t, answerMatrix, func(w http.ResponseWriter) {
		say(w, 429, object{"errcode": "M_LIMIT_EXCEEDED", "error": "Too Many Requests", "retry_after_ms": 2500})
	})
}

func answerMatrix(s *Service, w http.ResponseWriter, r *http.Request, body []byte) {
	fail := func(status int, code, text string) { say(w, status, object{"errcode": code, "error": text}) }
	path, known := strings.CutPrefix(r.URL.Path, "/_matrix/client/v3")
	if !known {
		fail(404, "M_UNRECOGNIZED", "Unrecognized request")
		return
	}
	if alias, is := strings.CutPrefix(path, "/directory/room/"); is {
		if alias != MatrixAlias {
			fail(404, "M_NOT_FOUND", "Room alias "+alias+" not found")
			return
		}
		say(w, 200, object{"room_id": MatrixRoom, "servers": []string{"example.org"}})
		return
	}
	parts := strings.Split(strings.Trim(path, "/"), "/") // rooms, the room, send, the type, the transaction
	var m struct {
		Type      string `json:"msgtype"`
		Body      string
		Format    string
		Formatted string `json:"formatted_body"`
	}
	auth := r.Header.Get("Authorization")
	switch {
	case len(parts) != 5 || parts[0] != "rooms" || parts[2] != "send" || r.Method != http.MethodPut:
		fail(405, "M_UNRECOGNIZED", "Unrecognized request")
		return
	case auth == "":
		fail(401, "M_MISSING_TOKEN", "Missing access token")
		return
	case auth != "Bearer "+MatrixToken:
		fail(401, "M_UNKNOWN_TOKEN", "Invalid access token passed.")
		return
	case parts[1] != MatrixRoom:
		fail(403, "M_FORBIDDEN", "User @watchmark:example.org not in room "+parts[1])
		return
	case json.Unmarshal(body, &m) != nil:
		fail(400, "M_NOT_JSON", "Content not JSON.")
		return
	case len(body)+400 > 65536:
		fail(413, "M_TOO_LARGE", "event too large")
		return
	}
	event := s.known[r.URL.Path]
	if event == "" {
		event = fmt.Sprintf("$fake%d:example.org", len(s.known))
		s.known[r.URL.Path] = event
		title, rest, _ := strings.Cut(m.Formatted, "</strong><br>")
		shown := Shown{Title: html.UnescapeString(strings.TrimPrefix(title, "<strong>")), Body: body}
		at := strings.LastIndex(rest, "<br>")
		if link := regexp.MustCompile(`^<br><a href="([^"]*)">Watchmark</a>$`).FindStringSubmatch(rest[max(at, 0):]); link != nil {
			shown.Link = html.UnescapeString(link[1])
		}
		rest = strings.ReplaceAll(rest[:max(at, 0)], "<br>", "\n")
		if strings.ContainsAny(rest, "<>") {
			rest = "FORMATTED: " + rest
		}
		shown.Text = html.UnescapeString(rest)
		s.show(shown)
	}
	say(w, 200, object{"event_id": event})
}
