package channel_test

import (
	"context"
	"crypto/x509"
	"errors"
	"mime"
	"net"
	netmail "net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/tell/notify/channel"
	"watchmark/internal/testkit/channeltest"
)

// mails is a config for m.
func mails(m *channeltest.Mail, mode channel.TLS) channel.Email {
	return channel.Email{Host: m.Host, Port: m.Port, TLS: mode, From: "mira@example.org", To: []string{"kai@example.org"}}
}

func TestMailIsSent(t *testing.T) {
	for name, c := range map[string]struct {
		mode channel.TLS
		ways []string
		way  string
	}{
		"implicit":                     {channel.Implicit, nil, "PLAIN"},
		"STARTTLS":                     {channel.STARTTLS, nil, "PLAIN"},
		"unencrypted in the home":      {channel.None, nil, "PLAIN"},
		"LOGIN alone":                  {channel.STARTTLS, []string{"LOGIN"}, "LOGIN"},
		"LOGIN unencrypted":            {channel.None, []string{"LOGIN"}, "LOGIN"},
		"unknown ways too":             {channel.Implicit, []string{"CRAM-MD5", "XOAUTH2", "LOGIN"}, "LOGIN"},
		"without signing in":           {channel.STARTTLS, nil, ""},
		"unencrypted, nobody signs in": {channel.None, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			set := channeltest.MailConfig{TLS: string(c.mode), Ways: c.ways}
			if c.way != "" {
				set.User, set.Password = "mira@example.org", "pass word+ü"
			}
			server := channeltest.NewMail(t, set)
			cfg := mails(server, c.mode)
			cfg.User, cfg.Password = set.User, "pass word+ü"
			if c.way == "" {
				cfg.Password = ""
			}
			cfg.To = []string{"Kai <kai@example.org>; ann@example.org", "kai2@example.org,"}
			if err := open(t, tools(t), cfg).Send(t.Context(), message()); err != nil {
				t.Fatal(err)
			}
			got := server.Messages()[0]
			if got.Way != c.way || got.Encrypted != (c.mode != channel.None) || got.From != "mira@example.org" || !slices.Equal(got.To, []string{"kai@example.org", "ann@example.org", "kai2@example.org"}) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestLetter(t *testing.T) {
	server := channeltest.NewMail(t, channeltest.MailConfig{TLS: "starttls"})
	m := message()
	m.Title = `<b>标记失败</b> & more`
	m.Text = "line <script>alert(1)</script>\n.\n..dots\nend"
	sender := open(t, tools(t), mails(server, channel.STARTTLS))
	for range 2 {
		if err := sender.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	got := server.Messages()[0]
	subject, err := new(mime.WordDecoder).DecodeHeader(got.Header.Get("Subject"))
	if err != nil || subject != m.Title || strings.Contains(got.Header.Get("Subject"), "标") {
		t.Errorf("%q, %v", subject, err)
	}
	for name, want := range map[string]string{
		"From": `"Watchmark" <mira@example.org>`, "To": "<kai@example.org>", "Message-Id": "<watchmark.n-17@example.org>", "Mime-Version": "1.0",
		"Auto-Submitted": "auto-generated", "User-Agent": "Watchmark",
	} {
		if v := got.Header.Get(name); v != want {
			t.Errorf("%s: %q", name, v)
		}
	}
	if sent, err := got.Header.Date(); err != nil || time.Since(sent) > time.Hour {
		t.Errorf("%v, %v", sent, err)
	}
	if want := m.Title + "\r\n\r\nline <script>alert(1)</script>\r\n.\r\n..dots\r\nend\r\n\r\n-- \r\nWatchmark: https://watch.example.org/records/7\r\n"; got.Text != want {
		t.Errorf("%q", got.Text)
	}
	for _, part := range []string{"&lt;b&gt;标记失败&lt;/b&gt; &amp; more</h1>", "line &lt;script&gt;alert(1)&lt;/script&gt;<br>", `href="https://watch.example.org/records/7"`, "prefers-color-scheme: dark"} {
		if !strings.Contains(got.HTML, part) {
			t.Errorf("%q is not in %s", part, got.HTML)
		}
	}
	if strings.Contains(got.HTML, "<script") {
		t.Error(got.HTML)
	}
	if again := server.Messages()[1]; again.Header.Get("Message-Id") != got.Header.Get("Message-Id") {
		t.Error("a repeat has another Message-ID")
	}
}

func TestHeadersBeginBehindTheirName(t *testing.T) {
	for name, c := range map[string]struct{ title, sender, to string }{
		"Chinese":            {strings.Repeat("葬送的芙莉莲标记失败", 12), "家里的追番记录小助手每天晚上告诉我们看了什么", "米拉的很长很长的名字在这里也要写得下"},
		"a long word":        {strings.Repeat("Frieren", 12), strings.Repeat("Watch", 20), "Kai"},
		"what looks encoded": {"=?UTF-8?B?eA==?=", "=?UTF-8?Q?x?=", "=?UTF-8?Q?x?="},
		"short":              {"Marked", "Watchmark", "Kai"},
	} {
		t.Run(name, func(t *testing.T) {
			server := channeltest.NewMail(t, channeltest.MailConfig{TLS: "none"})
			m, cfg := message(), mails(server, channel.None)
			m.Title, cfg.From, cfg.To = c.title, (&netmail.Address{Name: c.sender, Address: "mira@example.org"}).String(), []string{(&netmail.Address{Name: c.to, Address: "kai@example.org"}).String(), "ann@example.org"}
			if err := open(t, tools(t), cfg).Send(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			got := server.Messages()[0]
			head, _, _ := strings.Cut(string(got.Raw), "\r\n\r\n")
			for line := range strings.SplitSeq(head, "\r\n") {
				if strings.HasSuffix(strings.TrimSpace(line), ":") || strings.Contains(line, "=?") && len(line) > 76 {
					t.Errorf("a line is %q", line)
				}
			}
			subject, err := new(mime.WordDecoder).DecodeHeader(got.Header.Get("Subject"))
			from, wrongFrom := got.Header.AddressList("From")
			to, wrongTo := got.Header.AddressList("To")
			if err := errors.Join(err, wrongFrom, wrongTo); err != nil {
				t.Fatal(err)
			}
			if subject != c.title || from[0].Name != c.sender || from[0].Address != "mira@example.org" || len(to) != 2 || to[0].Name != c.to || to[1].Address != "ann@example.org" {
				t.Errorf("it has %q, %v, %v", subject, from, to)
			}
		})
	}
}

func TestHeadersCannotBeInjected(t *testing.T) {
	server := channeltest.NewMail(t, channeltest.MailConfig{TLS: "implicit"})
	m := message()
	m.ID = "a>\r\nX-Evil: 1"
	m.Title = "x\r\nBcc: evil@example.org\r\n\r\nbody\x00 " + strings.Repeat("long 题 ", 400)
	m.Link = "javascript:alert(1)"
	cfg := mails(server, channel.Implicit)
	cfg.From = `"Wa\"tch, mark" <mira@example.org>`
	if err := open(t, tools(t), cfg).Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	got := server.Messages()[0]
	if got.Header.Get("Bcc") != "" || got.Header.Get("X-Evil") != "" || len(got.To) != 1 || strings.Contains(got.HTML+got.Text, "javascript:") || strings.Contains(got.HTML, "<a ") {
		t.Errorf("%v", got.Header)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(got.Header.Get("Subject"))
	if err != nil || !strings.HasPrefix(subject, "x Bcc: evil@example.org body long") || len(subject) > 500 {
		t.Errorf("%q, %v", subject, err)
	}
	if id := got.Header.Get("Message-Id"); !strings.HasPrefix(id, "<watchmark.") || !strings.HasSuffix(id, "@example.org>") || strings.ContainsAny(id[1:len(id)-1], "<> \r\n") {
		t.Error(id)
	}
}

func TestLongMailIsCut(t *testing.T) {
	server := channeltest.NewMail(t, channeltest.MailConfig{TLS: "none"})
	m := message()
	for i, long := range []string{strings.Repeat("a long line ", 50_000), strings.Repeat("\n短", 200_000), "<" + strings.Repeat("\n", 200_000) + ">" + strings.Repeat("x", 1<<20)} {
		m.Text = long
		if err := open(t, tools(t), mails(server, channel.None)).Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		if got := server.Messages()[i]; len(got.Raw) > 1_000_000 || !strings.Contains(got.Text, "…") {
			t.Errorf("%d bytes of %.20q", len(got.Raw), long)
		}
	}
}

func TestMailFailures(t *testing.T) {
	for name, c := range map[string]struct {
		mode  channel.TLS
		what  string
		code  int
		blame channel.Blame
		text  string
	}{
		"too many connections": {channel.STARTTLS, "greeting", 421, channel.Temporary, "421"},
		"closed at once":       {channel.STARTTLS, "greeting", 554, channel.OfChannel, "554"},
		"login refused":        {channel.Implicit, "login", 535, channel.OfChannel, "app password"},
		"login closed":         {channel.STARTTLS, "login", 421, channel.Temporary, "421"},
		"login later":          {channel.STARTTLS, "login", 454, channel.Temporary, "454"},
		"sender refused":       {channel.STARTTLS, "sender", 553, channel.OfChannel, "address that signs in"},
		"sender later":         {channel.STARTTLS, "sender", 451, channel.Temporary, "451"},
		"recipient unknown":    {channel.Implicit, "kai@example.org", 550, channel.OfChannel, "check the recipients"},
		"greylisted":           {channel.Implicit, "kai@example.org", 451, channel.Temporary, "Greylisted"},
		"spam":                 {channel.Implicit, "data", 554, channel.OfMessage, "spam"},
		"too large":            {channel.Implicit, "data", 552, channel.OfMessage, "too large"},
		"other sender, late":   {channel.Implicit, "data", 553, channel.OfChannel, "address that signs in"},
		"mail later":           {channel.Implicit, "data", 451, channel.Temporary, "451"},
	} {
		t.Run(name, func(t *testing.T) {
			server := channeltest.NewMail(t, channeltest.MailConfig{TLS: string(c.mode), User: "mira@example.org", Password: "hidden-word"})
			server.Refuse(c.what, c.code)
			cfg := mails(server, c.mode)
			cfg.User, cfg.Password = "mira@example.org", "hidden-word"
			sender := open(t, tools(t), cfg)
			f := failure(t, sender.Send(t.Context(), message()), c.blame, "hidden-word", "aGlkZGVuLXdvcmQ", "kai@example.org")
			if !strings.Contains(f.Error(), c.text) {
				t.Error(f)
			}
			if len(server.Messages()) != 0 {
				t.Error("a mail was taken")
			}
			server.Refuse(c.what, 0)
			if err := sender.Send(t.Context(), message()); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

func TestMailWithAWrongPassword(t *testing.T) {
	for _, ways := range [][]string{{"PLAIN"}, {"LOGIN"}} {
		server := channeltest.NewMail(t, channeltest.MailConfig{TLS: "implicit", User: "mira@example.org", Password: "right", Ways: ways})
		cfg := mails(server, channel.Implicit)
		cfg.User, cfg.Password = "mira@example.org", "wrong-word"
		f := failure(t, open(t, tools(t), cfg).Send(t.Context(), message()), channel.OfChannel, "wrong-word")
		if !strings.Contains(f.Problem.Text, "535") || server.Logins() != 1 {
			t.Errorf("%v after %d tries", f, server.Logins())
		}
	}
}

func TestMailGoesToThoseWhoAreTaken(t *testing.T) {
	server := channeltest.NewMail(t, channeltest.MailConfig{TLS: "implicit"})
	server.Refuse("kai@example.org", 550)
	cfg := mails(server, channel.Implicit)
	cfg.To = []string{"kai@example.org", "ann@example.org", "bo@example.org"}
	f := failure(t, open(t, tools(t), cfg).Send(t.Context(), message()), channel.OfMessage, "kai@example.org")
	if !strings.Contains(f.Problem.Text, "1 of 3 recipients") || !strings.Contains(f.Problem.Text, "example.org") {
		t.Error(f)
	}
	if got := server.Messages(); len(got) != 1 || !slices.Equal(got[0].To, []string{"ann@example.org", "bo@example.org"}) {
		t.Errorf("%+v", got)
	}
	server.Refuse("ann@example.org", 550)
	server.Refuse("bo@example.org", 451)
	failure(t, open(t, tools(t), cfg).Send(t.Context(), message()), channel.Temporary)
}

func TestMailIsNotSentUnencryptedByMistake(t *testing.T) {
	plain := channeltest.NewMail(t, channeltest.MailConfig{TLS: "none", User: "mira", Password: "hidden-word"})
	cfg := mails(plain, channel.STARTTLS)
	cfg.User, cfg.Password = "mira", "hidden-word"
	if f := failure(t, open(t, tools(t), cfg).Send(t.Context(), message()), channel.OfChannel); f.Problem.Code != "channel_mail_no_starttls" {
		t.Error(f)
	}
	cfg.TLS = channel.Implicit
	if f := failure(t, open(t, tools(t), cfg).Send(t.Context(), message()), channel.OfChannel); f.Problem.Code != "channel_mail_no_implicit" {
		t.Error(f)
	}
	if plain.Logins() != 0 || len(plain.Messages()) != 0 {
		t.Error("the password was sent")
	}
	cfg.Host, cfg.TLS = "smtp.example.org", channel.None
	if got := wrongFields(cfg); got != "tls" {
		t.Errorf("a password for the world, unencrypted: %q", got)
	}
}

func TestServersWithoutAKnownLogin(t *testing.T) {
	for _, set := range []channeltest.MailConfig{{TLS: "implicit"}, {TLS: "implicit", User: "mira", Password: "x", Ways: []string{"CRAM-MD5"}}} {
		server := channeltest.NewMail(t, set)
		cfg := mails(server, channel.Implicit)
		cfg.User, cfg.Password = "mira", "hidden-word"
		if f := failure(t, open(t, tools(t), cfg).Send(t.Context(), message()), channel.OfChannel); f.Problem.Code != "channel_mail_no_sign_in" {
			t.Error(f)
		}
	}
	server := channeltest.NewMail(t, channeltest.MailConfig{TLS: "implicit", User: "mira", Password: "x"})
	f := failure(t, open(t, tools(t), mails(server, channel.Implicit)).Send(t.Context(), message()), channel.OfChannel)
	if !strings.Contains(f.Problem.Text, "502") {
		t.Error(f)
	}
}

func TestCertificatesAreVerified(t *testing.T) {
	for _, mode := range []channel.TLS{channel.Implicit, channel.STARTTLS} {
		server := channeltest.NewMail(t, channeltest.MailConfig{TLS: string(mode)})
		cfg := mails(server, mode)
		cfg.Host = "127.0.0.1" // not the name in the certificate
		if f := failure(t, open(t, tools(t), cfg).Send(t.Context(), message()), channel.OfChannel); !strings.Contains(f.Problem.Text, "not trusted") || !strings.Contains(f.Advice.Text, "network.ca_certificates") {
			t.Error(f)
		}
		own := x509.NewCertPool()
		with := toolsWith(t, httpx.Config{Roots: own}, time.Now)
		if f := failure(t, open(t, with, mails(server, mode)).Send(t.Context(), message()), channel.OfChannel); !strings.Contains(f.Problem.Text, "not trusted") {
			t.Errorf("of an authority that is none of ours: %v", f)
		}
		own.AppendCertsFromPEM(channeltest.Certificate())
		if err := with.Apply(httpx.Config{Roots: own}); err != nil {
			t.Fatal(err)
		}
		if err := open(t, with, mails(server, mode)).Send(t.Context(), message()); err != nil {
			t.Errorf("of an authority of ours: %v", err)
		}
		cfg.SkipVerify = true
		if err := open(t, tools(t), cfg).Send(t.Context(), message()); err != nil {
			t.Error(err)
		}
		old := channeltest.NewMail(t, channeltest.MailConfig{TLS: string(mode), Expired: true})
		if f := failure(t, open(t, tools(t), mails(old, mode)).Send(t.Context(), message()), channel.Temporary); !strings.Contains(f.Problem.Text, "expired") {
			t.Error(f)
		}
	}
}

func TestMailServerThatDoesNotAnswer(t *testing.T) {
	server := channeltest.NewMail(t, channeltest.MailConfig{TLS: "starttls"})
	server.Hang()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := open(t, tools(t), mails(server, channel.STARTTLS)).Send(ctx, message()); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	cfg := mails(server, channel.STARTTLS)
	impatient := tools(t)
	impatient.SetPatience(time.Second)
	if f := failure(t, open(t, impatient, cfg).Send(t.Context(), message()), channel.Temporary); !strings.Contains(f.Problem.Text, "did not answer in time") || !strings.Contains(f.Advice.Text, "implicit") {
		t.Error(f)
	}
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Port = door.Addr().(*net.TCPAddr).Port
	_ = door.Close()
	failure(t, open(t, tools(t), cfg).Send(t.Context(), message()), channel.Temporary)
}

func TestMailIsNotSentToMetadataServices(t *testing.T) {
	cfg := channel.Email{Host: "169.254.169.254", Port: 25, TLS: channel.None, From: "a@example.org", To: []string{"b@example.org"}}
	if f := failure(t, cfg.Open(tools(t)).Send(t.Context(), message()), channel.OfChannel); f.Problem.Code != "channel_mail_server_forbidden" {
		t.Error(f)
	}
}

// A server that never ends its greeting gets no memory for it.
func TestMailServerThatSaysTooMuch(t *testing.T) {
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = door.Close() })
	go func() {
		conn, err := door.Accept()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		for err == nil {
			_, err = conn.Write([]byte("220-" + strings.Repeat("x", 1000) + "\r\n"))
		}
	}()
	cfg := channel.Email{Host: "127.0.0.1", Port: door.Addr().(*net.TCPAddr).Port, TLS: channel.None, From: "a@example.org", To: []string{"b@example.org"}}
	if f := failure(t, open(t, tools(t), cfg).Send(t.Context(), message()), channel.Temporary); !strings.Contains(f.Problem.Text, "too much text") {
		t.Error(f)
	}
}

func TestEmailCheck(t *testing.T) {
	good := channel.Email{Host: "smtp.example.org", User: "mira@example.org", Password: "x", To: []string{"kai@example.org"}}
	for name, c := range map[string]struct {
		change func(*channel.Email)
		port   int
		mode   channel.TLS
		wrong  string
	}{
		"defaults":            {func(*channel.Email) {}, 465, channel.Implicit, ""},
		"port 587":            {func(e *channel.Email) { e.Port = 587 }, 587, channel.STARTTLS, ""},
		"port 25":             {func(e *channel.Email) { e.Port = 25 }, 25, channel.STARTTLS, ""},
		"starttls":            {func(e *channel.Email) { e.TLS = " StartTLS " }, 587, channel.STARTTLS, ""},
		"none":                {func(e *channel.Email) { e.TLS, e.Host = channel.None, "nas.local" }, 25, channel.None, ""},
		"host with port":      {func(e *channel.Email) { e.Host = "SMTP.example.org:2525" }, 2525, channel.STARTTLS, ""},
		"address of a host":   {func(e *channel.Email) { e.Host = "[fd12::5]" }, 465, channel.Implicit, ""},
		"unknown tls":         {func(e *channel.Email) { e.TLS = "ssl" }, 0, "ssl", "tls port"},
		"no host":             {func(e *channel.Email) { e.Host = "" }, 465, channel.Implicit, "host"},
		"address as host":     {func(e *channel.Email) { e.Host = "https://smtp.example.org" }, 465, channel.Implicit, "host"},
		"metadata":            {func(e *channel.Email) { e.Host = "169.254.169.254" }, 465, channel.Implicit, "host"},
		"port":                {func(e *channel.Email) { e.Port = 70000 }, 70000, channel.STARTTLS, "port"},
		"user alone":          {func(e *channel.Email) { e.Password = "" }, 465, channel.Implicit, "password"},
		"password alone":      {func(e *channel.Email) { e.User, e.From = "", "a@example.org" }, 465, channel.Implicit, "password"},
		"password with break": {func(e *channel.Email) { e.Password = "a\nb" }, 465, channel.Implicit, "password"},
		"user is no address":  {func(e *channel.Email) { e.User = "mira" }, 465, channel.Implicit, "from"},
		"from":                {func(e *channel.Email) { e.From = "a@b\r\nBcc: x@y" }, 465, channel.Implicit, "from"},
		"no recipient":        {func(e *channel.Email) { e.To = []string{" ; ,"} }, 465, channel.Implicit, "to"},
		"nobody":              {func(e *channel.Email) { e.To = nil }, 465, channel.Implicit, "to"},
		"bad recipient":       {func(e *channel.Email) { e.To = []string{"kai@example.org; kai"} }, 465, channel.Implicit, "to"},
		"not ASCII":           {func(e *channel.Email) { e.To = []string{"卡伊@example.org"} }, 465, channel.Implicit, "to"},
	} {
		cfg := good
		c.change(&cfg)
		got, wrong := cfg.Check()
		e := got.(channel.Email)
		if e.Port != c.port || e.TLS != c.mode || wrongFields(cfg) != c.wrong {
			t.Errorf("%s: %d %s %v", name, e.Port, e.TLS, wrong)
		}
	}
	good.To = []string{"Kai 凯 <kai@example.org>;ann@example.org，ann@example.org", "\"Bo\" <bo@example.org>\nkai@example.org"}
	got, wrong := good.Check()
	e := got.(channel.Email)
	want := []string{"=?utf-8?q?Kai_=E5=87=AF?= <kai@example.org>", "ann@example.org", `"Bo" <bo@example.org>`, "kai@example.org"}
	if e.From != "mira@example.org" || !slices.Equal(e.To, want) || len(wrong) > 0 || e.Where() != "smtp.example.org:465" {
		t.Errorf("%+v %v", e, wrong)
	}
	if again, wrong := e.Check(); len(wrong) > 0 || !slices.Equal(again.(channel.Email).To, want) {
		t.Errorf("a second check: %v %v", again, wrong)
	}
}
