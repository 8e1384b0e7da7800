package channel

import (
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// service stands in every message: robots with a keyword as their safety setting take only
// messages that contain it.
const service = "Watchmark"

// Expand replaces each {name} in template, a name of lower-case letters, digits and _, by its
// value, and {name:100} by at most 100 characters of it. What values hold is not expanded
// again, and other braces stay as they are.
func Expand(template string, value func(name string) string) string {
	return placeholder.ReplaceAllStringFunc(template, func(found string) string {
		name, limit, limited := strings.Cut(found[1:len(found)-1], ":")
		text := value(name)
		most, err := strconv.Atoi(limit)
		if !limited || err != nil || utf8.RuneCountInString(text) <= most {
			return text
		}
		runes := []rune(text)
		return strings.TrimRight(string(runes[:max(most-1, 0)]), " \n") + ellipsis
	})
}

var placeholder = regexp.MustCompile(`\{[a-z0-9_]+(:[1-9][0-9]{0,4})?\}`)

// ellipsis stands where something was cut off.
const ellipsis = "…"

// value is that of a placeholder: of the message itself, or one of its Facts. Unknown ones are
// empty.
func (m Message) value(name string) string {
	switch name {
	case "id":
		return m.ID
	case "type":
		return m.Kind
	case "title":
		return m.Title
	case "text":
		return m.Text
	case "link":
		return m.Link
	case "timestamp":
		return Timestamp(m.At)
	case "count":
		return strconv.Itoa(max(m.Count, 1))
	}
	return m.Facts[name]
}

// Timestamp is a moment as messages tell it: in the zone of the service, with its offset.
func Timestamp(at time.Time) string { return at.Local().Format(time.RFC3339) }

// tidy is m with what comes from outside made fit to be shown: valid UTF-8 without control
// characters, the title in one line.
func (m Message) tidy() Message {
	m.Title = strings.Join(strings.Fields(clean(m.Title)), " ")
	m.Text = strings.TrimSpace(clean(m.Text))
	return m
}

// clean keeps line feeds, as the only control characters, and drops what turns the direction
// of the text around.
func clean(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\r', r == '\u2028', r == '\u2029':
			return '\n'
		case r == '\t':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == '\uFEFF':
			return -1
		}
		return r
	}, text)
}

// cut is text in at most limit bytes. What is cut ends at a whole character, with "…".
func cut(text string, limit int) string {
	return cutTo(text, limit, func(text string) int { return len(text) })
}

// cutTo is text as long as its size is at most limit, in the unit that the receiver counts in: size counts what is sent for a text,
// so it may escape it first; each character counts at least one. What is cut ends at a whole character, with "…"; where not even that fits, it is empty.
func cutTo(text string, limit int, size func(string) int) string {
	if size(text) <= limit {
		return text
	}
	var starts []int // of its characters, as far as they can fit
	for at := range text {
		if len(starts) > limit {
			break
		}
		starts = append(starts, at)
	}
	short := func(n int) string { return strings.TrimRight(text[:starts[n]], " \n") + ellipsis }
	n := sort.Search(len(starts), func(n int) bool { return size(short(n)) > limit }) - 1
	for ; n >= 0; n-- { // an escaped text is not always longer than one of its beginnings
		if fits := short(n); size(fits) <= limit {
			return fits
		}
	}
	return ""
}

// units is how many UTF-16 code units a text has.
func units(text string) (n int) {
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// wide are the characters that make links, mentions, colours, emphasis and code in the markdown
// of the robots, with the full-width ones that look like them: it is not documented that
// a backslash keeps them from meaning something (upstreams/channels.md, sections 1 and 2).
var wide = strings.NewReplacer(
	"<", "＜", ">", "＞", "[", "［", "]", "］", "@", "＠", "*", "＊", "`", "｀", "~", "～", `\`, "＼", "|", "｜",
)

var (
	entity     = regexp.MustCompile(`&([#A-Za-z])`)
	underscore = regexp.MustCompile(`_+`)
	// heading is a line of # in front of text; ruler is one that makes a heading of the line above, or a rule.
	heading = regexp.MustCompile(`(?m)^[ ]*#+`)
	ruler   = regexp.MustCompile(`(?m)^[ ]*[-=+][-=+ ]*$`)
	number  = regexp.MustCompile(`(?m)^[ ]*(\d+)\.([ ]|$)`)
	indent  = regexp.MustCompile(`(?m)^[ ]+`)
)

// escapeMarkdown is plain text that reads the same as markdown, and means nothing in it.
// Addresses stay: they show where they lead.
func escapeMarkdown(text string) string {
	text = wide.Replace(text)
	text = entity.ReplaceAllString(text, "＆$1")
	text = heading.ReplaceAllStringFunc(text, func(s string) string { return strings.ReplaceAll(s, "#", "＃") })
	text = ruler.ReplaceAllStringFunc(text, func(s string) string { return strings.NewReplacer("-", "－", "=", "＝", "+", "＋").Replace(s) })
	text = number.ReplaceAllString(text, "$1．$2")
	text = indent.ReplaceAllString(text, "")
	return outsideWords(text)
}

// outsideWords replaces each _ that is not inside of a word, where it means nothing.
func outsideWords(text string) string {
	var out strings.Builder
	last := 0
	for _, at := range underscore.FindAllStringIndex(text, -1) {
		before, _ := utf8.DecodeLastRuneInString(text[:at[0]])
		after, _ := utf8.DecodeRuneInString(text[at[1]:])
		if isWord(before) && isWord(after) {
			continue
		}
		out.WriteString(text[last:at[0]])
		out.WriteString(strings.Repeat("＿", at[1]-at[0]))
		last = at[1]
	}
	out.WriteString(text[last:])
	return out.String()
}

func isWord(r rune) bool { return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
