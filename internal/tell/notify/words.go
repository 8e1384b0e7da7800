package notify

import (
	"cmp"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"
	"unicode"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/source"
	"watchmark/internal/tell/notify/channel"
	"watchmark/internal/watch"
)

// The marks between the parts of a title, and the lines of a text.
const (
	partMark = " · "
	lineMark = "\n"
)

// jobNames are what people call the jobs of the service that can fail. A summary has the name that was given to it.
var jobNames = map[string]bilingual.Text{
	"backup":          {English: "Backup", Chinese: "备份"},
	"dataset_refresh": {English: "Update of the ID table", Chinese: "更新 ID 对照表"},
	"nas_scan":        {English: "Reading the media library of the NAS", Chinese: "读取 NAS 影视库"},
	"snapshots":       {English: "Snapshots of all lists", Chinese: "全部列表快照"},
}

// Words are the standard title, one line, and text of an entry.
func (e Entry) Words(l bilingual.Language) (title, text string) { return e.words(l, e.facts(l)) }

func (e Entry) words(l bilingual.Language, facts map[string]string) (title, text string) {
	w := InfoOf(e.Kind).words(l)
	if name, ok := source.Name(watch.Source(facts["source"])); ok { // templates of people get the word that programs know
		facts = maps.Clone(facts)
		facts["source"] = name.In(l)
	}
	title = oneLine(expandParts(w.title, partMark, facts))
	text = strings.TrimSpace(expandParts(w.text, lineMark, facts))
	return cmp.Or(title, w.name), text
}

// facts are those that the notice was given, and what follows from them.
func (e Entry) facts(l bilingual.Language) map[string]string {
	kind := InfoOf(e.Kind)
	facts := make(map[string]string, len(e.Facts)+12)
	maps.Copy(facts, e.Facts)
	user := cmp.Or(e.User, facts["user_name"])
	facts["user_name"], facts["user"] = user, user
	facts["account"] = e.Account
	facts["who"] = cmp.Or(e.Account, user)
	if name, ok := jobNames[facts["job_name"]]; ok && e.Kind == JobFailed {
		facts["job_name"] = name.In(l)
	}
	facts["what"] = what(l, facts)
	facts["anime"] = facts["title"]
	if !e.Reason.IsZero() {
		facts[reasonFact] = e.Reason.In(l)
	}
	facts["error"] = facts[reasonFact]
	facts["type_name"] = kind.Name(l)
	facts["severity"] = kind.Severity.String()
	if d, err := time.ParseDuration(facts["duration"]); err == nil {
		facts["duration"] = length(l, d)
	}
	return facts
}

// length is a duration in words, to the minute.
func length(l bilingual.Language, d time.Duration) string {
	minutes := max(1, int(d.Round(time.Minute).Minutes()))
	hours := minutes / 60
	minutes %= 60
	switch {
	case l == bilingual.Chinese && hours == 0:
		return fmt.Sprintf("%d 分钟", minutes)
	case l == bilingual.Chinese:
		return fmt.Sprintf("%d 小时 %d 分钟", hours, minutes)
	case hours == 0:
		return fmt.Sprintf("%d min", minutes)
	}
	return fmt.Sprintf("%d h %d min", hours, minutes)
}

// messageBy is the title and text of an entry by a rule: its templates, or the standard texts where it has none or they
// come out empty.
func (e Entry) messageBy(l bilingual.Language, base string, r Rule) (title, text string) {
	values := e.facts(l)
	title, text = e.words(l, values)
	if r.Title == "" && r.Text == "" {
		return title, text
	}
	values["title"], values["text"] = title, text
	values["type"] = string(e.Kind)
	values["timestamp"] = channel.Timestamp(e.At)
	values["link"] = e.link(base)
	values["count"] = "1"
	own := func(template string) string {
		return strings.TrimSpace(channel.Expand(template, func(name string) string { return values[name] }))
	}
	return cmp.Or(oneLine(own(r.Title)), title), cmp.Or(own(r.Text), text)
}

// what is the title and number of what was watched.
func what(l bilingual.Language, facts map[string]string) string {
	name := cmp.Or(facts["title"], facts["subject_name"], facts["ori_title"])
	number := ""
	if season := facts["season"]; season != "" {
		number = "S" + season
	}
	if episode := facts["episode"]; episode != "" {
		number += "E" + episode
	}
	switch {
	case name == "" && l == bilingual.Chinese:
		name = "未知作品"
	case name == "":
		name = "An unknown title"
	case l == bilingual.Chinese:
		name = "《" + name + "》"
	}
	if number == "" {
		return name
	}
	return name + " " + number
}

// link leads to the page that shows more, or to the inbox, and of a person to the notice there; empty without a base.
func (e Entry) link(base string) string {
	if base == "" {
		return ""
	}
	return strings.TrimRight(base, "/") + e.pageToShow()
}

// pageToShow is the path that link leads to.
func (e Entry) pageToShow() string {
	if e.toPerson {
		return inboxPage + "/" + strconv.FormatInt(e.ID, 10)
	}
	return cmp.Or(e.Page(), inboxPage)
}

// Page is the path of the page that shows more, without the base path: that of its record, or of what its kind is about.
// It is empty when no page does.
func (e Entry) Page() string {
	if e.Kind == WordAsked {
		return fmt.Sprintf("/people/%d/entries/%s/word", e.AccountID, e.Facts["subject_id"])
	}
	if e.RecordID != 0 && e.Kind != ReviewWaiting {
		return "/records/" + strconv.FormatInt(e.RecordID, 10)
	}
	return InfoOf(e.Kind).page
}

// inboxPage is where the page shows the inbox.
const inboxPage = "/inbox"

// oneLine puts single spaces in the place of spaces, line breaks and what else cannot be seen.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// expandParts expands each part of a template between separators, and leaves those out in which a value is empty or 0.
func expandParts(template, separator string, values map[string]string) string {
	var parts []string
	for part := range strings.SplitSeq(template, separator) {
		whole := true
		expanded := channel.Expand(part, func(name string) string {
			whole = whole && values[name] != "" && values[name] != "0"
			return values[name]
		})
		if whole {
			parts = append(parts, expanded)
		}
	}
	return strings.Join(parts, separator)
}
