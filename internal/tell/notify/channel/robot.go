package channel

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/lan"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// Format is how a robot's message looks.
type Format string

// The formats; an empty one is Markdown.
const (
	Text     Format = "text"
	Markdown Format = "markdown"
)

func (f Format) check(wrong *problems) Format {
	return oneOf(wrong, "format", f, unknownFormat.With(), Markdown, Text)
}

// oneOf is the word that a field has, which is standard when empty; what is neither that nor one of others is wrong.
func oneOf[W ~string](wrong *problems, field string, word W, unknown reason.Reason, standard W, others ...W) W {
	word = W(strings.ToLower(strings.TrimSpace(string(word))))
	switch {
	case word == "":
		return standard
	case word != standard && !slices.Contains(others, word):
		wrong.add(field, unknown)
	}
	return word
}

// robotRate stays below the 20 messages a minute that robots take (upstreams/channels.md, sections 1 and 2).
var robotRate = Rate{PerMinute: 18, Burst: 2}

// What the forms of robots have in common.
var (
	robotMore   = Words{English: "More: format, mentions, own address", Chinese: "更多：格式、提醒成员、自建地址"}
	robotNote   = Words{English: "A robot takes 20 messages a minute; more are combined.", Chinese: "机器人每分钟最多 20 条，更多的会合并发送。"}
	formatField = Field{Name: "format", Input: Choice, Label: Words{English: "Format", Chinese: "格式"}, More: true, Options: []Option{
		{Value: string(Markdown), Label: Words{English: "Markdown: bold titles and links", Chinese: "Markdown：标题加粗、可带链接"}},
		{Value: string(Text), Label: Words{English: "Text: shown everywhere", Chinese: "纯文本：任何地方都能显示"}},
	}}
	ownAddressField = Field{Name: "url", Input: Line, Label: Words{English: "Address of your own deployment", Chinese: "自建或代理的地址"}, More: true, Keyboard: "url",
		Help: Words{English: "Leave it empty for the provider's own.", Chinese: "留空即使用官方地址。"}}
)

func mentionUsersField(name string, help Words) Field {
	return Field{Name: name, Input: List, Label: Words{English: "Mention user ids", Chinese: "提醒的成员 ID"}, Help: help, More: true}
}

func mentionMobilesField(name string) Field {
	return Field{Name: name, Input: List, Label: Words{English: "Mention telephone numbers", Chinese: "提醒的手机号"}, More: true}
}

// robot is what the addresses of WeCom and DingTalk robots have in common.
type robot struct {
	standard string // the provider's own address
	param    string // the parameter of the query that holds the credential
	field    string // the field of the config that holds it
	// credential is what one looks like.
	credential *regexp.Regexp
}

// check takes what people paste into the fields of address and credential, either of which
// may be a whole address, and gives the address without its query, and the credential.
// Other parameters, such as the timestamp and sign of one message, are left out.
func (r robot) check(address string, credential secret.Text, wrong *problems) (string, secret.Text) {
	address, given := strings.TrimSpace(address), strings.TrimSpace(credential.Reveal())
	if strings.Contains(given, "://") {
		address, given = given, ""
	}
	if address == "" {
		address = r.standard
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Port() != "" && !validPort(u.Port()) {
		wrong.add("url", badRobotAddress.With(r.standard, r.param))
		return "", credential
	}
	if u.Scheme == "http" && !lan.IsHome(u.Hostname()) {
		wrong.add("url", robotNeedsHTTPS.With())
	}
	switch inside := u.Query().Get(r.param); {
	case given == "":
		given = inside
	case inside != "" && inside != given && given != secret.Shown:
		wrong.add(r.field, robotKeyTwice.With())
	case inside != "":
		given = inside
	}
	if !wrong.again(r.field, secret.Text(given)) && !r.credential.MatchString(given) {
		wrong.add(r.field, badRobotKey.With(r.param))
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = mustParse(r.standard).Path
	}
	base := url.URL{Scheme: u.Scheme, Host: strings.ToLower(u.Host), Path: u.Path}
	return base.String(), secret.Text(given)
}

// keep is credential, or that of before when it was not touched and goes to the same host.
func (r robot) keep(address string, credential secret.Text, before string, old secret.Text) secret.Text {
	if address == "" {
		address = r.standard
	}
	if credential.Reveal() == secret.Shown && origin(address) == origin(before) {
		return old
	}
	return credential
}

// where names the robot by its host and the end of its credential.
func (r robot) where(address string, credential secret.Text) string {
	text := mustParse(address).Host
	if n := len(credential); n >= 12 {
		text += " …" + credential.Reveal()[n-4:]
	}
	return text
}

// mustParse reads an address that was checked; of any other it is an empty one.
func mustParse(address string) *url.URL {
	u, err := url.Parse(address)
	if err != nil {
		return &url.URL{}
	}
	return u
}

// fate is what a code says of a message: blame, problem, advice, and how long to wait.
type fate struct {
	blame           Blame
	problem, advice reason.Reason
	wait            time.Duration
}

// send posts message to address with query. The message is taken when the answer is JSON
// with errcode 0 and nothing else: failures have the status 200 too, and an answer without
// errcode is that of a throttle (upstreams/channels.md, sections 1 and 2). errmsg is not
// told: it holds the public address of the house.
func (t *Tools) send(ctx context.Context, provider, address string, query url.Values, message any, judge func(code int64, errmsg string) fate) error {
	req := httpx.Request{
		Method: http.MethodPost, URL: address + "?" + query.Encode(), Body: encode(message),
		Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}},
	}
	got, err := t.do(ctx, req)
	if err != nil {
		return err
	}
	var reply struct {
		Code    *json.Number `json:"errcode"`
		Message string       `json:"errmsg"`
	}
	if json.Unmarshal(got.body, &reply) == nil && reply.Code != nil {
		if code, err := reply.Code.Int64(); err == nil && (code != 0 || got.status == http.StatusOK) {
			return verdict(provider, code, reply.Message, got.retryAfter, judge)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	switch s := got.status; {
	case s/100 == 2 && !got.whole:
		return answerLost(provider)
	case s/100 == 3:
		return got.redirected(req.URL)
	case s == http.StatusNotFound, s == http.StatusGone, s == http.StatusMethodNotAllowed:
		return &Failure{Blame: OfChannel, Problem: noRobotThere.With(s), Advice: copyRobotAddressFromGroup.With()}
	}
	return &Failure{Problem: notARobotsAnswer.With(provider, got.status),
		RetryAfter: max(got.retryAfter, time.Minute)}
}

// verdict is what a code comes to. A number that nobody knows is taken for the message's
// fault, so that others are tried.
func verdict(provider string, code int64, errmsg string, wait time.Duration, judge func(int64, string) fate) error {
	if code == 0 {
		return nil
	}
	f := judge(code, errmsg)
	if f.problem.IsZero() {
		f = fate{blame: OfMessage, problem: refusedMessage.With()}
	}
	return &Failure{Blame: f.blame, Problem: robotRefused.With(provider, f.problem, code), Advice: f.advice, RetryAfter: max(f.wait, wait)}
}

// signature is the last line of every message: the name of the service, with the link.
func signature(m Message, format Format) string {
	link := linkTarget(m.Link)
	switch {
	case link == "":
		return service
	case format == Markdown:
		return "[" + service + "](" + link + ")"
	}
	return service + ": " + link
}

// linkTarget is a link with nothing in it that would end it in markdown; empty unless it is one of the web.
func linkTarget(link string) string {
	u, err := url.Parse(clean(link))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(link) > 500 {
		return ""
	}
	return strings.NewReplacer("(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "[", "%5B", "]", "%5D", " ", "%20", "\n", "").Replace(u.String())
}

// list are the entries of a field, without repeats. One entry may hold several, as people write them.
func list(entries []string) []string {
	all := []string{}
	seen := map[string]bool{}
	for _, entry := range entries {
		for _, one := range strings.FieldsFunc(entry, func(r rune) bool { return strings.ContainsRune(",;，；、\n\t ", r) }) {
			if !seen[one] {
				seen[one] = true
				all = append(all, one)
			}
		}
	}
	return all
}

const maxMentions = 50

var (
	mobile = regexp.MustCompile(`^\+?[0-9][0-9-]{4,19}$`)
	userID = regexp.MustCompile(`^[A-Za-z0-9_.@$:-]{1,64}$`)
)

// checkMentions reads a field of people to mention.
func checkMentions(field string, entries []string, form *regexp.Regexp, what *reason.Kind, wrong *problems) []string {
	all := list(entries)
	if len(all) > maxMentions {
		wrong.add(field, tooMany.With(maxMentions))
	}
	for _, one := range all {
		if one != everybody && !form.MatchString(one) {
			wrong.add(field, badMention.With(cut(clean(one), 60), what))
		}
	}
	return all
}

// everybody mentions all of a group.
const everybody = "@all"
