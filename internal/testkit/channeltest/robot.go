// Package channeltest has receivers of notifications for tests, in the process: the robots of
// WeCom and DingTalk, a mail server, and a receiver of webhooks. They answer as
// upstreams/channels.md says the real ones do, traps included, and misbehave on command.
package channeltest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// TB is what a test has.
type TB interface {
	Helper()
	Cleanup(fn func())
	Fatalf(format string, args ...any)
}

// patience bounds the waiting for what should come at once.
const patience = 20 * time.Second

// Said is a message that a robot has shown to its group.
type Said struct {
	// Format is text or markdown.
	Format string
	// Title is that of DingTalk's markdown, which telephones show.
	Title string
	Text  string
	// Mentioned are the user ids and numbers, @all among them.
	Mentioned []string
}

// Fault is how a robot misbehaves; a robot without a fault works.
type Fault string

// The faults.
const (
	// Page answers an HTML page with status 200.
	Page Fault = "page"
	// Punish answers JSON without errcode, as DingTalk's throttle does.
	Punish Fault = "punish"
	// Broken answers with status 502.
	Broken Fault = "broken"
	// Cut closes the connection in the middle of the answer.
	Cut Fault = "cut"
	// Redirect answers a redirect to another host.
	Redirect Fault = "redirect"
	// Empty answers {} with status 200.
	Empty Fault = "empty"
)

// Robot is the robot of a group. Set its fields before it is used; its methods may be
// used by several goroutines.
type Robot struct {
	// Address is what its provider shows to people: with its key or token.
	Address string
	// PerMinute is how many messages it takes in a minute; 0 = 20.
	PerMinute int
	// Secret, Keyword and ForeignOnly are safety settings of DingTalk: messages must be signed,
	// contain the keyword, or come from elsewhere.
	Secret, Keyword string
	ForeignOnly     bool
	// Now is its clock.
	Now func() time.Time

	judge func(r *Robot, request *http.Request, body []byte) (Said, int, string)

	mu      sync.Mutex
	changed *sync.Cond
	said    []Said
	taken   []time.Time
	blocked time.Time
	fault   Fault
	ordered int // the code that every message is refused with; 0 for none
}

// credential is the key or token of every robot.
const credential = "693a91f6-7aoc-4bc4-97a0-0ec2sifa5aaa"

// NewWeCom is a robot of WeCom that runs until the test ends.
func NewWeCom(t TB) *Robot {
	t.Helper()
	return start(t, "/cgi-bin/webhook/send?key=", judgeWeCom)
}

// NewDingTalk is a robot of DingTalk that runs until the test ends.
func NewDingTalk(t TB) *Robot {
	t.Helper()
	return start(t, "/robot/send?access_token=", judgeDingTalk)
}

func start(t TB, path string, judge func(*Robot, *http.Request, []byte) (Said, int, string)) *Robot {
	r := &Robot{Now: time.Now, judge: judge}
	r.changed = sync.NewCond(&r.mu)
	web := httptest.NewServer(r)
	t.Cleanup(web.Close)
	r.Address = web.URL + path + credential
	return r
}

// Messages are those that the group has seen.
func (r *Robot) Messages() []Said {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Said(nil), r.said...)
}

// Wait is Messages once there are n.
func (r *Robot) Wait(t TB, n int) []Said {
	t.Helper()
	if !await(r.changed, func() bool { return len(r.said) >= n }) {
		t.Fatalf("%d messages came, not %d", len(r.Messages()), n)
	}
	return r.Messages()
}

// await waits, for a while, until ok holds; ok is asked under the lock of c.
func await(c *sync.Cond, ok func() bool) bool {
	late := false
	timer := time.AfterFunc(patience, func() {
		c.L.Lock()
		late = true
		c.L.Unlock()
		c.Broadcast()
	})
	defer timer.Stop()
	c.L.Lock()
	defer c.L.Unlock()
	for !ok() && !late {
		c.Wait()
	}
	return ok()
}

// Misbehave has every answer spoilt; an empty fault ends it.
func (r *Robot) Misbehave(f Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault = f
}

// Answer has every message refused with code.
func (r *Robot) Answer(code int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ordered = code
}

// ServeHTTP answers a message.
func (r *Robot) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(io.LimitReader(request.Body, 1<<20))
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.changed.Broadcast()
	if r.fault != "" {
		r.misbehave(w)
		return
	}
	said, code, text := r.judge(r, request, body)
	if code == 0 {
		r.said = append(r.said, said)
		text = "ok"
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	_ = json.NewEncoder(w).Encode(map[string]any{"errcode": code, "errmsg": text}) // the sender sees when it is gone
}

func (r *Robot) misbehave(w http.ResponseWriter) {
	switch r.fault {
	case Page:
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!DOCTYPE html><html><body>亲，访问太频繁</body></html>")
	case Punish:
		_, _ = io.WriteString(w, `{"status":1111,"wait":5,"source":"x5","punish":"deny","uuid":"x"}`)
	case Empty:
		_, _ = io.WriteString(w, "{}")
	case Broken:
		w.WriteHeader(http.StatusBadGateway)
	case Redirect:
		w.Header().Set("Location", "https://elsewhere.example/robot")
		w.WriteHeader(http.StatusFound)
	case Cut:
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, `{"errcode":0`)
	}
}

// full reports that a minute's messages were taken already, and otherwise counts one more.
func (r *Robot) full() bool {
	now := r.Now()
	for len(r.taken) > 0 && now.Sub(r.taken[0]) >= time.Minute {
		r.taken = r.taken[1:]
	}
	most := r.PerMinute
	if most == 0 {
		most = 20
	}
	if len(r.taken) >= most {
		return true
	}
	r.taken = append(r.taken, now)
	return false
}

// badRequest is what both providers refuse before they look at the message.
func badRequest(request *http.Request) bool {
	return request.Method != http.MethodPost || !strings.HasPrefix(request.Header.Get("Content-Type"), "application/json")
}

func judgeWeCom(r *Robot, request *http.Request, body []byte) (Said, int, string) {
	hint := ", hint: [1700000000123456789], from ip: 203.0.113.7, more info at https://open.work.weixin.qq.com"
	if r.ordered != 0 {
		return Said{}, r.ordered, "ordered" + hint
	}
	type content struct {
		Content string   `json:"content"`
		Users   []string `json:"mentioned_list"`
		Mobiles []string `json:"mentioned_mobile_list"`
	}
	var m struct {
		Type     string  `json:"msgtype"`
		Text     content `json:"text"`
		Markdown content `json:"markdown"`
	}
	c, most := &m.Text, 2048
	broken := json.Unmarshal(body, &m) != nil || !utf8.Valid(body)
	if m.Type == "markdown" {
		c, most = &m.Markdown, 4096
	}
	switch {
	case request.URL.Query().Get("key") != credential:
		return Said{}, 93000, "invalid webhook url" + hint
	case badRequest(request) || broken || m.Type != "text" && m.Type != "markdown":
		return Said{}, 40008, "invalid message type" + hint
	case c.Content == "":
		return Said{}, 44004, "content size out of limit" + hint
	case len(c.Content) > most:
		return Said{}, 40058, fmt.Sprintf("%s.content exceed max length %d. invalid Request Parameter%s", m.Type, most, hint)
	case r.full():
		return Said{}, 45009, "api freq out of limit" + hint
	}
	return Said{Format: m.Type, Text: c.Content, Mentioned: append(c.Users, c.Mobiles...)}, 0, ""
}

func judgeDingTalk(r *Robot, request *http.Request, body []byte) (Said, int, string) {
	if r.ordered != 0 {
		return Said{}, r.ordered, "ordered"
	}
	var m struct {
		Type     string `json:"msgtype"`
		Text     struct{ Content string }
		Markdown struct{ Title, Text string }
		At       struct {
			AtMobiles, AtUserIDs []string
			IsAtAll              bool
		}
	}
	broken := json.Unmarshal(body, &m) != nil
	said := Said{Format: m.Type, Title: m.Markdown.Title, Text: m.Text.Content + m.Markdown.Text}
	now, query := r.Now(), request.URL.Query()
	switch {
	case query.Get("access_token") != credential:
		return Said{}, 300005, "token is not exist"
	case request.Method != http.MethodPost:
		return Said{}, 43002, "require POST method"
	case badRequest(request):
		return Said{}, 43004, "content-type should be application/json"
	case broken || m.Type != "text" && m.Type != "markdown":
		return Said{}, 400105, "unsupported message type"
	case said.Text == "" || m.Type == "markdown" && said.Title == "":
		return Said{}, 40035, "缺少参数 markdown.title"
	case len(body) > 20000:
		return Said{}, 460101, "message too long, exceed 20000 bytes"
	case now.Before(r.blocked):
		return Said{}, 130101, "send too fast, exceed 20 times per minute"
	case r.full():
		r.blocked = now.Add(10 * time.Minute)
		return Said{}, 130101, "send too fast, exceed 20 times per minute"
	case r.ForeignOnly:
		return Said{}, 310000, "ip 203.0.113.7 not in whitelist"
	case r.Keyword != "" && !strings.Contains(string(body), r.Keyword):
		return Said{}, 310000, "keywords not in content"
	}
	if text := r.signed(query.Get("timestamp"), query.Get("sign"), now); text != "" {
		return Said{}, 310000, text
	}
	for _, who := range append(m.At.AtMobiles, m.At.AtUserIDs...) {
		if strings.Contains(said.Text, "@"+who) {
			said.Mentioned = append(said.Mentioned, who)
		}
	}
	if m.At.IsAtAll {
		said.Mentioned = append(said.Mentioned, "@all")
	}
	return said, 0, ""
}

// signed is what is wrong with a signature.
func (r *Robot) signed(timestamp, sign string, now time.Time) string {
	if r.Secret == "" {
		return ""
	}
	ms, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || now.Sub(time.UnixMilli(ms)).Abs() > time.Hour {
		return "invalid timestamp"
	}
	mac := hmac.New(sha256.New, []byte(r.Secret))
	mac.Write([]byte(timestamp + "\n" + r.Secret))
	if base64.StdEncoding.EncodeToString(mac.Sum(nil)) != sign {
		return "sign not match"
	}
	return ""
}
