package channel

import (
	"cmp"
	"net"
	netmail "net/mail"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"watchmark/internal/platform/lan"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// TypeEmail is the type of an Email.
const TypeEmail Type = "email"

// Email sends messages by an SMTP server (upstreams/channels.md, section 4).
type Email struct {
	Host string `json:"host" doc:"The mail server that takes mail from its users." example:"smtp.example.org"`
	// Port is 0 for the usual one of TLS.
	Port int `json:"port" required:"false" doc:"0 is the usual one of tls: 465, 587 or 25."`
	// TLS is how the connection is encrypted; empty = what is usual for Port.
	TLS TLS `json:"tls" required:"false" enum:",implicit,starttls,none" doc:"How the connection is encrypted: from the first byte, after a greeting, or not at all. Empty is what is usual for the port."`
	// SkipVerify takes any certificate.
	SkipVerify bool `json:"skip_verify" required:"false" doc:"Takes any certificate: only for a server at home that has one of its own."`
	// User and Password sign in; without a user nobody does.
	User     string      `json:"user" required:"false" doc:"Signs in; empty when nobody has to." example:"mira@example.org"`
	Password secret.Text `json:"password" required:"false" doc:"Most providers want an app password here."`
	// From is an address, maybe with a name; empty = User.
	From string `json:"from" required:"false" doc:"The sender, maybe with a name; empty is user." example:"Watchmark <mira@example.org>"`
	// To are addresses. Check takes lists with commas or semicolons in an entry.
	To []string `json:"to" doc:"Who gets the mail." example:"[\"mira@example.org\"]"`
}

// TLS is how the connection to a mail server is encrypted.
type TLS string

// Implicit encrypts from the first byte (port 465), STARTTLS after a greeting (port 587), and
// gives up when the server does not offer it; None does not encrypt (port 25).
const (
	Implicit TLS = "implicit"
	STARTTLS TLS = "starttls"
	None     TLS = "none"
)

var usualPorts = map[TLS]int{Implicit: 465, STARTTLS: 587, None: 25}

// emailAdapter is mail as a type of channel.
var emailAdapter = Adapter{
	Type: TypeEmail, Name: Words{English: "Mail", Chinese: "邮件"}, Noun: "mail address", Icon: "mail", Group: Programs,
	About:   Words{English: "any mail provider, by SMTP", Chinese: "任意邮箱服务商，通过 SMTP"},
	Add:     Words{English: "Add mail", Chinese: "添加邮件"},
	Example: Words{English: "My mail", Chinese: "我的邮箱"},
	Read:    read[Email],
	Rate:    usualRate,
	Fields: []Field{
		{Name: "to", Input: List, Label: Words{English: "To", Chinese: "收件人"}, Required: true, Keyboard: "email",
			Help: Words{English: "One or more addresses, separated by commas.", Chinese: "一个或多个地址，用逗号分隔。"}},
		{Name: "host", Input: Line, Label: Words{English: "Mail server (SMTP)", Chinese: "邮件服务器（SMTP）"}, Required: true, Half: true, Example: "smtp.example.org"},
		{Name: "user", Input: Line, Label: Words{English: "User name", Chinese: "用户名"}, Half: true,
			Help: Words{English: "Most often the whole address. Empty when nobody has to sign in.", Chinese: "通常是完整的邮箱地址。无需登录时留空。"}},
		{Name: "password", Input: Password, Label: Words{English: "Password", Chinese: "密码"},
			Help: Words{English: "Most providers want one made for apps, not that of the account.", Chinese: "多数服务商要求填授权码或应用专用密码，而不是登录密码。"}},
		{Name: "port", Input: Number, Label: Words{English: "Port", Chinese: "端口"}, More: true, Half: true, Example: "465"},
		{Name: "tls", Input: Choice, Label: Words{English: "Encryption", Chinese: "加密方式"}, More: true, Half: true, Options: []Option{
			{Label: Words{English: "As usual for the port", Chinese: "按端口自动选择"}},
			{Value: string(Implicit), Label: Words{English: "TLS from the start (465)", Chinese: "直接 TLS（465）"}},
			{Value: string(STARTTLS), Label: Words{English: "STARTTLS (587)", Chinese: "STARTTLS（587）"}},
			{Value: string(None), Label: Words{English: "None (25)", Chinese: "不加密（25）"}},
		}},
		{Name: "from", Input: Line, Label: Words{English: "Sender", Chinese: "发件人"}, More: true, Half: true,
			Help: Words{English: "Leave it empty for the user name. Watchmark <mira@example.org> works too.", Chinese: "留空即用户名。也可写成 Watchmark <mira@example.org>。"}},
		{Name: "skip_verify", Input: Switch, Label: Words{English: "Take any certificate", Chinese: "接受任何证书"}, More: true,
			Help: Words{English: "Only for a server in your own network.", Chinese: "仅限自家网络中的服务器。"}},
	},
	MoreTitle:    Words{English: "More: port, encryption, sender", Chinese: "更多：端口、加密方式、发件人"},
	PresetsTitle: Words{English: "Provider", Chinese: "邮箱服务商"},
	Presets: []Preset{
		mailPreset("qq", "QQ", "smtp.qq.com",
			Words{English: "**QQ Mail**: 设置 → 账户, switch on POP3/IMAP/SMTP, then 生成授权码. That code is the password.", Chinese: "**QQ 邮箱**：设置 → 账户，开启 POP3/IMAP/SMTP 服务，再生成授权码。密码处填授权码。"}),
		mailPreset("netease", "163", "smtp.163.com",
			Words{English: "**163 and 126**: 设置 → POP3/SMTP/IMAP, switch on SMTP, which shows the 授权码. That code is the password.", Chinese: "**163、126 邮箱**：设置 → POP3/SMTP/IMAP，开启 SMTP 后会显示授权码。密码处填授权码。"}),
		mailPreset("netease", "126", "smtp.126.com", Words{}),
		mailPreset("gmail", "Gmail", "smtp.gmail.com",
			Words{English: "**Gmail**: switch on 2-Step Verification, then make an app password at `myaccount.google.com/apppasswords`.", Chinese: "**Gmail**：先开启两步验证，再到 `myaccount.google.com/apppasswords` 生成应用专用密码。"}),
	},
	Guide: Guide{
		Note: Words{English: "Choose your provider to begin with its server, and make a password for apps there.", Chinese: "选择邮箱服务商会自动填好服务器，再到那里生成授权码。"},
	},
}

func mailPreset(id, name, host string, hint Words) Preset {
	return Preset{ID: id, Name: name, Hint: hint, Fills: map[string]string{"host": host, "port": strconv.Itoa(usualPorts[Implicit]), "tls": string(Implicit)}}
}

// Type is TypeEmail.
func (e Email) Type() Type { return TypeEmail }

// Keep takes an untouched password from old.
func (e Email) Keep(old Config) Config {
	before, ok := old.(Email)
	if ok && e.Password.Reveal() == secret.Shown && strings.EqualFold(strings.TrimSpace(e.Host), before.Host) {
		e.Password = before.Password
	}
	return e
}

const maxRecipients = 50

var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9.])?$`)

// Check is the config as it is stored, and what is wrong with it.
func (e Email) Check() (Config, []*reason.FieldError) {
	var wrong problems
	e.checkServer(&wrong)
	e.User = strings.TrimSpace(e.User)
	e.Password = secret.Text(strings.TrimRight(e.Password.Reveal(), "\r\n"))
	switch {
	case strings.ContainsFunc(e.User+e.Password.Reveal(), unicode.IsControl):
		wrong.add("password", controlCharacters.With())
	case (e.User == "") != (e.Password == ""):
		wrong.add("password", userWithoutPassword.With())
	case wrong.again("password", e.Password):
	case e.User != "" && e.TLS == None && !lan.IsHome(e.Host):
		wrong.add("tls", passwordUnencrypted.With())
	}
	if from, err := parseMail(cmp.Or(strings.TrimSpace(e.From), e.User)); err != nil {
		wrong.add("from", badSender.With(err))
	} else {
		e.From = from
	}
	e.checkTo(&wrong)
	return e, wrong
}

func (e *Email) checkServer(wrong *problems) {
	e.Host = strings.ToLower(strings.TrimSpace(e.Host))
	if host, port, err := net.SplitHostPort(e.Host); err == nil && e.Port == 0 && validPort(port) {
		e.Host = host
		e.Port, _ = strconv.Atoi(port) // validPort read it
	}
	if addr, err := netip.ParseAddr(strings.Trim(e.Host, "[]")); err == nil {
		e.Host = addr.String()
		if err := allow(addr); err != nil {
			wrong.add("host", err)
		}
	} else if !hostName.MatchString(e.Host) {
		wrong.add("host", mailHostMissing.With())
	}
	e.TLS = TLS(strings.ToLower(strings.TrimSpace(string(e.TLS))))
	switch {
	case e.TLS != "" && usualPorts[e.TLS] == 0:
		wrong.add("tls", unknownEncryption.With())
	case e.TLS == "" && (e.Port == 0 || e.Port == usualPorts[Implicit]):
		e.TLS = Implicit
	case e.TLS == "":
		e.TLS = STARTTLS
	}
	if e.Port == 0 {
		e.Port = usualPorts[e.TLS]
	}
	if e.Port < 1 || e.Port > 65535 {
		wrong.add("port", portOutOfRange.With())
	}
}

func (e *Email) checkTo(wrong *problems) {
	given, others := e.To, len(*wrong)
	e.To = []string{}
	for _, entry := range given {
		for _, one := range strings.FieldsFunc(entry, func(r rune) bool { return strings.ContainsRune(",;，；\r\n", r) }) {
			if one = strings.TrimSpace(one); one == "" {
				continue
			}
			to, err := parseMail(one)
			switch {
			case err != nil:
				wrong.add("to", err)
			case !slices.Contains(e.To, to):
				e.To = append(e.To, to)
			}
		}
	}
	switch {
	case len(e.To) == 0 && len(*wrong) == others:
		wrong.add("to", noRecipient.With())
	case len(e.To) > maxRecipients:
		wrong.add("to", tooMany.With(maxRecipients))
	}
}

// parseMail is one address, maybe with a name, in the form of a header.
func parseMail(text string) (string, error) {
	address, err := netmail.ParseAddress(text)
	if err != nil || strings.ContainsFunc(address.Address, func(r rune) bool { return r <= ' ' || r >= 0x7f }) || len(text) > 320 {
		return "", badMailAddress.With(cut(clean(text), 60))
	}
	if clean(address.Name) != address.Name {
		return "", unprintableName
	}
	if address.Name == "" {
		return address.Address, nil
	}
	return (&netmail.Address{Name: address.Name, Address: address.Address}).String(), nil
}

// Plain is the config with its password.
func (e Email) Plain() string {
	return string(encode(struct {
		Email
		Password string `json:"password"`
	}{e, e.Password.Reveal()}))
}

// Secrets is the password.
func (e Email) Secrets() []string { return []string{e.Password.Reveal()} }

// Where is the server.
func (e Email) Where() string { return net.JoinHostPort(e.Host, strconv.Itoa(e.Port)) }

// Open is a sender with these settings.
func (e Email) Open(tools *Tools) Sender { return mailer{e, tools} }

// bare is the address of a mail address with a name.
func bare(text string) string {
	address, err := netmail.ParseAddress(text)
	if err != nil { // Check refuses it
		return ""
	}
	return address.Address
}
