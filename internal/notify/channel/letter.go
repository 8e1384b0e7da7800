package channel

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"html/template"
	netmail "net/mail"
	"regexp"
	"strings"

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
	msg.FromMailAddress(&netmail.Address{Name: cmp.Or(from.Name, service), Address: from.Address})
	for _, text := range e.To {
		to, err := netmail.ParseAddress(text)
		if err != nil {
			return nil, err
		}
		msg.AddToMailAddress(to)
	}
	_, domain, _ := strings.Cut(from.Address, "@")
	msg.SetMessageIDWithValue(messageID(m.ID) + "@" + domain)
	msg.SetDateWithValue(e.tools.now())
	msg.Subject(cmp.Or(m.Title, service))
	msg.SetUserAgent(service)
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // no absence notes, please
	msg.SetBodyString(mail.TypeTextPlain, m.Title+"\n\n"+m.Text+"\n\n-- \n"+signature(m, Text)+"\n")
	msg.AddAlternativeString(mail.TypeTextHTML, page.String())
	var out bytes.Buffer
	_, err = msg.WriteTo(&out)
	return out.Bytes(), err
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
