package notify

import (
	"cmp"
	"maps"
	"strconv"
	"strings"
	"time"
)

// The marks between the parts of a title, and the lines of a text.
const (
	partMark = " · "
	lineMark = "\n"
)

// Words are the standard title, one line, and text of an entry.
func (e Entry) Words(l Language) (title, text string) {
	return e.standard(l, e.placeholders(l, ""))
}

func (e Entry) standard(l Language, values map[string]string) (title, text string) {
	kind := InfoOf(e.Kind)
	w := kind.words(l)
	title = oneLine(fillParts(w.title, partMark, values))
	text = strings.TrimSpace(fillParts(w.text, lineMark, values))
	return cmp.Or(title, w.name), text
}

// placeholders are all that a template may name: the facts, what is Common, and the names that other programs of the
// kind give them. Base is the address of this service, empty when it is not known.
func (e Entry) placeholders(l Language, base string) map[string]string {
	kind := InfoOf(e.Kind)
	values := make(map[string]string, len(e.Facts)+24)
	maps.Copy(values, e.Facts)
	values["type"], values["type_name"], values["notification_type"], values["type_display_name"] = string(e.Kind), kind.Name(l), string(e.Kind), kind.Name(l)
	values["severity"] = kind.Severity.String()
	values["timestamp"] = e.At.Local().Format(time.DateTime)
	user := cmp.Or(e.User, values["user_name"])
	values["user_name"], values["user"] = user, user
	values["account"] = e.Account
	values["who"] = cmp.Or(e.Account, user)
	values["anime"], values["bgm_title"] = values["title"], values["subject_name"]
	values["error"] = values["error_message"]
	values["what"] = what(l, values)
	values["link"] = e.link(base)
	values["count"] = "1"
	values["headline"], values["text"] = e.standard(l, values)
	// Templates for every kind may rely on a title, also where nothing was watched.
	values["title"] = cmp.Or(values["title"], values["headline"])
	return values
}

// what is the title and number of what was watched.
func what(l Language, values map[string]string) string {
	name := cmp.Or(values["title"], values["subject_name"], values["ori_title"])
	number := ""
	if season := values["season"]; season != "" {
		number = "S" + season
	}
	if episode := values["episode"]; episode != "" {
		number += "E" + episode
	}
	switch {
	case name == "" && l == Chinese:
		name = "未知作品"
	case name == "":
		name = "An unknown title"
	case l == Chinese:
		name = "《" + name + "》"
	}
	if number == "" {
		return name
	}
	return name + " " + number
}

// link leads to the page that shows more; empty without a base.
func (e Entry) link(base string) string {
	base = strings.TrimRight(base, "/")
	switch page := InfoOf(e.Kind).page; {
	case base == "":
		return ""
	case e.RecordID != 0 && e.Kind != ReviewWaiting:
		return base + "/records/" + strconv.FormatInt(e.RecordID, 10)
	case page != "":
		return base + page
	}
	return base + inboxPage
}

// inboxPage is where the page shows the inbox.
const inboxPage = "/inbox"

// oneLine puts spaces in the place of line breaks, and of what else cannot be seen.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 }), " ")
}
