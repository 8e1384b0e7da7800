package channel

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"html/template"
	netmail "net/mail"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/wneessen/go-mail"
)

// Bounds of a letter, in bytes.
const (
	// maxMailText keeps a letter below 1 MB: both of its parts hold the text, in which a Chinese
	// character becomes nine bytes.
	maxMailText = 64 << 10
	maxSubject  = 500
)

//go:embed letter.html
var letterPage string

var letterTemplate = template.Must(template.New("letter").Parse(letterPage))

// compose is the letter as it is sent, in text and HTML.
func (e mailer) compose(m Message) ([]byte, error) {
	m.Title = cut(m.Title, maxSubject)
	m.Text = cut(m.Text, maxMailText)
	m.Link = linkTarget(m.Link)
	var page bytes.Buffer
	if err := letterTemplate.Execute(&page, struct {
		Message
		Lines []string
	}{m, strings.Split(m.Text, "\n")}); err != nil {
		return nil, err
	}
	from, err := netmail.ParseAddress(e.From)
	if err != nil {
		return nil, err
	}
	msg := mail.NewMsg()
	msg.SetGenHeaderPreformatted("From", mailbox(cmp.Or(from.Name, service), from.Address))
	to := make([]string, len(e.To))
	for i, text := range e.To {
		one, err := netmail.ParseAddress(text)
		if err != nil {
			return nil, err
		}
		to[i] = mailbox(one.Name, one.Address)
	}
	msg.SetGenHeaderPreformatted("To", strings.Join(to, ","+fold))
	_, domain, _ := strings.Cut(from.Address, "@")
	msg.SetMessageIDWithValue(messageID(m.ID) + "@" + domain)
	msg.SetDateWithValue(e.tools.now())
	msg.SetGenHeaderPreformatted("Subject", headerText(cmp.Or(m.Title, service)))
	msg.SetUserAgent(service)
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // no absence notes, please
	msg.SetBodyString(mail.TypeTextPlain, m.Title+"\n\n"+m.Text+"\n\n-- \n"+signature(m, Text)+"\n")
	msg.AddAlternativeString(mail.TypeTextHTML, page.String())
	var out bytes.Buffer
	_, err = msg.WriteTo(&out)
	return out.Bytes(), err
}

// fold continues a header in the next line.
const fold = "\r\n "

// headerText is text as a header has it (RFC 2047): as it is where that fits behind the name of the header, else in encoded
// words, each of which does. The library leaves the first line of a header empty when its first word is longer.
func headerText(text string) string {
	const fits, longest = 60, 39 // characters of a line; bytes that 52 characters of base64 hold
	if len(text) <= fits && !strings.Contains(text, "=?") && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		return text
	}
	var words []string
	word := ""
	for _, r := range text {
		if len(word)+utf8.RuneLen(r) > longest {
			words, word = append(words, word), ""
		}
		word += string(r)
	}
	words = append(words, word)
	for i, word := range words {
		words[i] = "=?UTF-8?B?" + base64.StdEncoding.EncodeToString([]byte(word)) + "?="
	}
	return strings.Join(words, fold)
}

// mailbox is an address with its name as a header has it.
func mailbox(name, address string) string {
	bare := netmail.Address{Address: address}
	if text := headerText(name); text != name {
		return text + fold + bare.String()
	}
	bare.Name = name
	return bare.String()
}

// messageID is the first half of a Message-ID, the same for the same id.
func messageID(id string) string {
	if plainID.MatchString(id) {
		return "watchmark." + id
	}
	sum := sha256.Sum256([]byte(id))
	return "watchmark." + hex.EncodeToString(sum[:16])
}

var plainID = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_-]{0,62}[A-Za-z0-9])?$`)
