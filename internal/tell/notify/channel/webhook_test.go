package channel_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/secret"
	"watchmark/internal/tell/notify/channel"
	"watchmark/internal/testkit/channeltest"
)

// hook sends message by a webhook to h, and gives the request.
func hook(t *testing.T, h *channeltest.Hook, cfg channel.Webhook, m channel.Message) channeltest.Request {
	t.Helper()
	if cfg.URL == "" {
		cfg.URL = secret.Text(h.URL)
	}
	if err := open(t, tools(t), cfg).Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	all := h.Requests()
	return all[len(all)-1]
}

func TestWebhookSendsTheDefaultBody(t *testing.T) {
	h := channeltest.NewHook(t)
	r := hook(t, h, channel.Webhook{}, message())
	if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json; charset=utf-8" || r.Header.Get("Idempotency-Key") != "n-17" || r.Header.Get("User-Agent") != "watchmark/test" {
		t.Errorf("%s %v", r.Method, r.Header)
	}
	var got map[string]string
	if err := json.Unmarshal(r.Body, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"service": "Watchmark", "id": "n-17", "type": "mark_failed", "type_name": "失败", "title": "标记失败", "text": "葬送的芙莉莲 第 3 话\n服务器没有回答",
		"link": "https://watch.example.org/records/7", "timestamp": "2026-11-22T04:15:00+08:00", "count": "1", "user": "mira", "anime": "Frieren",
		"season": "1", "episode": "3", "source": "plex", "error": "no answer",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTimesAreThoseOfTheService(t *testing.T) {
	h := channeltest.NewHook(t)
	if r := hook(t, h, channel.Webhook{Template: `{"at":"{timestamp}"}`}, message()); string(r.Body) != `{"at":"2026-11-22T04:15:00+08:00"}` {
		t.Errorf("it sends %s", r.Body)
	}
}

func TestWebhookTemplate(t *testing.T) {
	h := channeltest.NewHook(t)
	m := message()
	m.Title = `a "quoted" \ </script> {error} & more`
	r := hook(t, h, channel.Webhook{
		Method: "put", Headers: []channel.Header{{Name: "x-gotify-key", Value: " abc "}, {Name: "Content-Type", Value: "application/x-own"}, {}},
		Template: `{"message":"{title}!","priority":5,"big":12345678901234567890,"nested":{"list":["{user}",null,true,"{nothing}"]},"{title}":"{type}"}`,
	}, m)
	if r.Method != http.MethodPut || r.Header.Get("X-Gotify-Key") != "abc" || r.Header.Get("Content-Type") != "application/x-own" {
		t.Errorf("%s %v", r.Method, r.Header)
	}
	want := `{"big":12345678901234567890,"message":"a \"quoted\" \\ </script> {error} & more!","nested":{"list":["mira",null,true,""]},"priority":5,"{title}":"mark_failed"}`
	if string(r.Body) != want {
		t.Errorf("%s", r.Body)
	}
}

func TestWebhookByGETHasTheBodyInItsQuery(t *testing.T) {
	h := channeltest.NewHook(t)
	m := message()
	m.Title = "a&b=c#d 第"
	r := hook(t, h, channel.Webhook{URL: secret.Text(h.URL + "/push?key=k1&title=old"), Method: "GET", Template: `{"title":"{title}","n":5,"a":{"b":["x","{user}"]},"none":null}`}, m)
	want := map[string][]string{"key": {"k1"}, "title": {"a&b=c#d 第"}, "n": {"5"}, "a.b.0": {"x"}, "a.b.1": {"mira"}}
	if diff := cmp.Diff(want, map[string][]string(r.URL.Query())); diff != "" || r.Method != http.MethodGet || r.URL.Path != "/push" || len(r.Body) != 0 {
		t.Errorf("%s %s %s", r.Method, r.URL, diff)
	}
	if r.Header.Get("Idempotency-Key") != "n-17" {
		t.Errorf("%v", r.Header)
	}
}

func TestWebhookOfALongMessageIsCut(t *testing.T) {
	h := channeltest.NewHook(t)
	m := message()
	m.Text = strings.Repeat("芙", 100_000)
	r := hook(t, h, channel.Webhook{}, m)
	if len(r.Body) > 64<<10 || !json.Valid(r.Body) || !strings.Contains(string(r.Body), "芙…") {
		t.Errorf("%d bytes", len(r.Body))
	}
	r = hook(t, h, channel.Webhook{Template: `["` + strings.Repeat("{text}", 2000) + `","kept"]`}, m)
	if len(r.Body) > 64<<10 || !strings.Contains(string(r.Body), "kept") {
		t.Errorf("%d bytes of a template with many texts", len(r.Body))
	}
	r = hook(t, h, channel.Webhook{Method: "GET"}, m)
	if len(r.URL.RawQuery) > 6<<10 || r.URL.Query().Get("title") != "标记失败" {
		t.Errorf("%d bytes of query", len(r.URL.RawQuery))
	}
}

func TestWebhookFailures(t *testing.T) {
	for name, c := range map[string]struct {
		reply channeltest.Reply
		blame channel.Blame
		text  string
		wait  time.Duration
	}{
		"created":             {reply: channeltest.Reply{Status: 201}},
		"no content":          {reply: channeltest.Reply{Status: 204}},
		"busy":                {channeltest.Reply{Status: 429, Header: http.Header{"Retry-After": {"120"}}}, channel.Temporary, "429", 2 * time.Minute},
		"broken":              {channeltest.Reply{Status: 500, Body: "<html>oops</html>"}, channel.Temporary, "status 500", 0},
		"maintenance":         {channeltest.Reply{Status: 503, Header: http.Header{"Retry-After": {"9999999"}}}, channel.Temporary, "503", 7 * 24 * time.Hour},
		"timeout":             {channeltest.Reply{Status: 408}, channel.Temporary, "408", 0},
		"key refused":         {channeltest.Reply{Status: 401}, channel.OfChannel, "check the key", 0},
		"forbidden":           {channeltest.Reply{Status: 403}, channel.OfChannel, "check the key", 0},
		"not there":           {channeltest.Reply{Status: 404}, channel.OfChannel, "check the address", 0},
		"gone":                {channeltest.Reply{Status: 410}, channel.OfChannel, "check the address", 0},
		"method":              {channeltest.Reply{Status: 405}, channel.OfChannel, "another method", 0},
		"bad body":            {channeltest.Reply{Status: 400, Body: `{"message":"chat\nnot found"}`}, channel.OfMessage, `{"message":"chat\nnot found"}`, 0},
		"too large":           {channeltest.Reply{Status: 413}, channel.OfMessage, "shorten", 0},
		"moved elsewhere":     {channeltest.Reply{Status: 301, Header: http.Header{"Location": {"https://elsewhere.example/a?token=abcdef123456"}}}, channel.OfChannel, "https://elsewhere.example;", 0},
		"moved nowhere":       {channeltest.Reply{Status: 307}, channel.OfChannel, "redirects", 0},
		"endless success":     {reply: channeltest.Reply{Body: strings.Repeat("x", 1<<20)}},
		"endless refusal":     {channeltest.Reply{Status: 422, Body: strings.Repeat("y", 1<<20)}, channel.OfMessage, "yyy…", 0},
		"answer with secrets": {channeltest.Reply{Status: 400, Body: `token=abcdef123456 was wrong`}, channel.OfMessage, "token=***", 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := channeltest.NewHook(t)
			h.Reply(c.reply)
			err := open(t, tools(t), channel.Webhook{URL: secret.Text(h.URL + "/x?token=abcdef123456")}).Send(t.Context(), message())
			if c.text == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			f := failure(t, err, c.blame, "abcdef123456")
			if !strings.Contains(f.Error(), c.text) || f.RetryAfter != c.wait || len(f.Error()) > 500 {
				t.Errorf("%v after %v", f, f.RetryAfter)
			}
			if len(h.Requests()) != 1 {
				t.Errorf("sent %d times", len(h.Requests()))
			}
		})
	}
}

func TestWebhookFollowsNoRedirect(t *testing.T) {
	for _, method := range []string{"GET", "POST"} {
		other, h := channeltest.NewHook(t), channeltest.NewHook(t)
		h.Reply(channeltest.Reply{Status: 302, Header: http.Header{"Location": {other.URL}}})
		cfg := channel.Webhook{URL: secret.Text(h.URL), Method: method, Headers: []channel.Header{{Name: "Authorization", Value: "Bearer abcdef123456"}}}
		failure(t, open(t, tools(t), cfg).Send(t.Context(), message()), channel.OfChannel)
		if len(other.Requests()) != 0 || h.Requests()[0].Header.Get("Authorization") != "Bearer abcdef123456" {
			t.Errorf("%s: %d requests went on", method, len(other.Requests()))
		}
	}
}

func TestWebhookWithoutAnAnswer(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	hanging := channeltest.NewHook(t)
	hanging.Reply(channeltest.Reply{Hang: true})
	secured := httptest.NewTLSServer(nil)
	t.Cleanup(secured.Close)
	quick := toolsWith(t, httpx.Config{Timeout: 100 * time.Millisecond}, time.Now)
	for name, address := range map[string]string{"refused": gone.URL, "hangs": hanging.URL, "unknown certificate": secured.URL} {
		f := failure(t, open(t, quick, channel.Webhook{URL: secret.Text(address + "/abcdef123456")}).Send(t.Context(), message()), channel.Temporary, "abcdef123456")
		if !strings.Contains(f.Problem.Text, "127.0.0.1") {
			t.Errorf("%s: %v", name, f)
		}
	}
	impatient := tools(t)
	impatient.SetPatience(200 * time.Millisecond)
	failure(t, open(t, impatient, channel.Webhook{URL: secret.Text(hanging.URL)}).Send(t.Context(), message()), channel.Temporary)
	ctx, cancel := context.WithCancel(t.Context())
	sent := make(chan error)
	go func() { sent <- open(t, tools(t), channel.Webhook{URL: secret.Text(hanging.URL)}).Send(ctx, message()) }()
	hanging.Wait(t, 3)
	cancel()
	if err := <-sent; !errors.Is(err, context.Canceled) {
		t.Errorf("the end of the context is told as %v", err)
	}
}

func TestMetadataServicesAreNotAsked(t *testing.T) {
	for _, address := range []string{"http://169.254.169.254/latest", "http://[fe80::1]/", "http://[::ffff:169.254.169.254]/", "http://100.100.100.200/", "http://[fd00:ec2::254]/", "http://0.0.0.0:80/"} {
		if got := wrongFields(channel.Webhook{URL: secret.Text(address)}); got != "url" {
			t.Errorf("%s: %q", address, got)
		}
		// Also when the check was before this rule, or a name leads there.
		for _, made := range []*channel.Tools{tools(t), toolsWith(t, httpx.Config{Proxy: "http://127.0.0.1:9"}, time.Now)} {
			f := failure(t, channel.Webhook{URL: secret.Text(address), Method: "POST"}.Open(made).Send(t.Context(), message()), channel.OfChannel)
			if f.Problem.Code != "channel_address_forbidden" {
				t.Errorf("%s: %v", address, f)
			}
		}
	}
	for _, address := range []string{"http://192.168.1.5:8080/", "http://10.0.0.2", "http://bark/", "http://[fd12::5]/"} {
		if got := wrongFields(channel.Webhook{URL: secret.Text(address)}); got != "" {
			t.Errorf("%s: %q", address, got)
		}
	}
}

func TestProxyIsForTheWorldOnly(t *testing.T) {
	asked := make(chan string, 2)
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.String() }))
	t.Cleanup(proxy.Close)
	through := toolsWith(t, httpx.Config{Proxy: proxy.URL}, time.Now)
	if err := open(t, through, channel.Webhook{URL: "http://api.example.org/x"}).Send(t.Context(), message()); err != nil {
		t.Error(err)
	}
	if got := <-asked; got != "http://api.example.org/x" {
		t.Error(got)
	}
	h := channeltest.NewHook(t)
	if err := open(t, through, channel.Webhook{URL: secret.Text(h.URL)}).Send(t.Context(), message()); err != nil || len(h.Requests()) != 1 {
		t.Error(err)
	}
	if err := through.Apply(httpx.Config{Proxy: "ftp://x"}); err == nil {
		t.Error("a proxy of no known kind was taken")
	}
}

func TestWebhookCheck(t *testing.T) {
	good := channel.Webhook{URL: "https://hooks.example.org/a"}
	with := func(change func(*channel.Webhook)) channel.Webhook {
		w := good
		change(&w)
		return w
	}
	header := func(name, value string) channel.Webhook {
		return with(func(w *channel.Webhook) { w.Headers = []channel.Header{{Name: name, Value: secret.Text(value)}} })
	}
	for name, c := range map[string]struct {
		cfg  channel.Webhook
		want string
	}{
		"good":                {good, ""},
		"no address":          {channel.Webhook{}, "url"},
		"ftp":                 {channel.Webhook{URL: "ftp://x.example/"}, "url"},
		"no host":             {channel.Webhook{URL: "http:///x"}, "url"},
		"bad port":            {channel.Webhook{URL: "http://x.example:99999/"}, "url"},
		"masked":              {channel.Webhook{URL: "***"}, "url"},
		"long":                {channel.Webhook{URL: secret.Text("http://x.example/" + strings.Repeat("a", 5000))}, "url"},
		"method":              {with(func(w *channel.Webhook) { w.Method = "DELETE" }), "method"},
		"header name":         {header("X Y", "z"), "headers"},
		"header line break":   {header("X-Y", "a\r\nX-Evil: 1"), "headers"},
		"header of transport": {header("host", "a"), "headers"},
		"header masked":       {header("X-Key", "***"), "headers"},
		"header twice": {with(func(w *channel.Webhook) {
			w.Headers = []channel.Header{{Name: "X-A", Value: "1"}, {Name: "x-a", Value: "2"}}
		}), "headers"},
		"no JSON":        {with(func(w *channel.Webhook) { w.Template = `{"a": {title}}` }), "template"},
		"half JSON":      {with(func(w *channel.Webhook) { w.Template = `{"a":` }), "template"},
		"more than JSON": {with(func(w *channel.Webhook) { w.Template = `{} {}` }), "template"},
		"plain string":   {with(func(w *channel.Webhook) { w.Template = `"{text}"` }), "template"},
		"list by GET":    {with(func(w *channel.Webhook) { w.Template, w.Method = `["a"]`, "GET" }), "template"},
		"long template":  {with(func(w *channel.Webhook) { w.Template = `["` + strings.Repeat("a", 17<<10) + `"]` }), "template"},
	} {
		if got := wrongFields(c.cfg); got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
	normal, _ := channel.Webhook{URL: " https://x.example/a#b "}.Check()
	if w := normal.(channel.Webhook); w.URL.Reveal() != "https://x.example/a" || w.Method != http.MethodPost || w.Where() != "https://x.example" {
		t.Errorf("%+v", w)
	}
}

// Messages of people reach machines of the internet alone, whatever a name leads to and whatever proxy there is.
func TestPeopleReachTheInternetAlone(t *testing.T) {
	hook := channeltest.NewHook(t)
	asked := make(chan string, 10)
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.String() }))
	t.Cleanup(proxy.Close)
	made := toolsWith(t, httpx.Config{Proxy: proxy.URL}, time.Now)
	anywhere := false
	people := made.ForPeople(func() bool { return anywhere })
	for _, address := range []string{hook.URL, strings.Replace(hook.URL, "127.0.0.1", "localhost", 1)} {
		err := open(t, people, channel.Webhook{URL: secret.Text(address)}).Send(t.Context(), channel.Message{ID: "1", Title: "x"})
		var failure *channel.Failure
		if !errors.As(err, &failure) || failure.Blame != channel.OfChannel || !strings.Contains(failure.Problem.Text, "not a machine of the internet") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if n := len(hook.Requests()); n != 0 || len(asked) != 0 {
		t.Errorf("%d messages reached the home network, %d the proxy", n, len(asked))
	}
	sender := open(t, people, channel.Webhook{URL: secret.Text(hook.URL)})
	anywhere = true
	if err := sender.Send(t.Context(), channel.Message{ID: "2", Title: "x"}); err != nil {
		t.Error(err)
	}
	mail, _ := channel.Email{Host: "smtp.example.org", Port: 465, From: "mira@example.org", To: []string{"mira@example.org"}}.Check()
	if err := people.Check(mail); err == nil {
		t.Error("a person may send by a mail server")
	}
	if err := made.Check(mail); err != nil {
		t.Error(err)
	}
}
