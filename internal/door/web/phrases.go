package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/reason"
)

// phrases say in another language what the service says of itself, in English: reasons, messages, errors.
// Those are stored, logged, searched and answered by the API as they are; only pages retell them.
//
// A phrase is a text of the sources, with the verbs of fmt where something is filled in: %d stands for digits, %q for
// a quoted text, every other verb for anything. Its translation has {1}, {2} … for these, in any order. What stands in place of a verb
// is retold in its turn, but for numbers and quoted texts.
type phrases struct {
	// byWord are the phrases by their first word, loose those whose first word is filled in; those with most text of their own first.
	byWord map[string][]phrase
	loose  []phrase
}

type phrase struct {
	// texts are what stands before, between and behind the verbs.
	texts []string
	verbs []byte
	to    string
}

// weight is how much text the phrase has of its own.
func (f phrase) weight() int {
	n := 0
	for _, text := range f.texts {
		n += len(text)
	}
	return n
}

// vague reports whether the phrase fits nearly anything, such as "%s episode %s". It is only looked
// for where it is all that stands in place of a verb.
func (f phrase) vague() bool {
	n := len(f.verbs)
	return n > 0 && f.texts[0] == "" && f.texts[n] == "" && f.verbs[n-1] != 'd' && f.weight() < 12
}

const (
	// longestPhrase bounds what is retold, in bytes; longer texts come from outside and stay as they are.
	longestPhrase = 2000
	// partsMost is in how many parts a text is read, the last of which is all the rest, and deepest how deep texts stand within texts.
	partsMost = 16
	deepest   = 4
	// readersTexts bounds what a page hands in at once, in bytes, and strangersTexts what the page of the sign-in does: a text of
	// longestPhrase can take tens of milliseconds.
	readersTexts   = 64 << 10
	strangersTexts = 2 << 10
)

// retold is a text that the service says of itself, for the page of a reader.
type retold struct {
	Text string
	// Lang is the language of Text, for it stays in English as long as nobody has translated it.
	Lang string
}

// loadPhrases reads the phrases of a language; none for the one that the service speaks.
func loadPhrases(words catalogue, lang string) (*phrases, error) {
	p := &phrases{byWord: map[string][]phrase{}}
	text, err := files.ReadFile("locales/phrases." + lang + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("read the phrases of %s: %w", lang, err)
	}
	for from, to := range all {
		p.add(from, to)
	}
	for _, kind := range reason.Kinds() {
		if from, to := phraseOfKind(kind); strings.ContainsFunc(strings.NewReplacer("%s", "", "%q", "").Replace(from), unicode.IsLetter) {
			p.add(strings.TrimSpace(from), to)
		}
	}
	for key, to := range words[lang] {
		if from, ok := phraseOfKey(key, words[languages[0].Tag][key]); ok {
			p.add(from, to)
		}
	}
	longFirst := func(a, b phrase) int {
		return cmp.Compare(len(strings.Join(b.texts, "")), len(strings.Join(a.texts, "")))
	}
	for _, list := range p.byWord {
		slices.SortFunc(list, longFirst)
	}
	slices.SortFunc(p.loose, longFirst)
	return p, nil
}

// phraseOfKind is a kind of reason as a phrase, for texts of it that come as English alone.
func phraseOfKind(kind *reason.Kind) (from, to string) {
	texts := kind.Texts()
	names := []string{}
	from = braces.ReplaceAllStringFunc(strings.ReplaceAll(texts.English, "%", "%%"), func(place string) string {
		name, quoted := strings.CutSuffix(strings.Trim(place, "{}"), ":q")
		names = append(names, name)
		if quoted {
			return "%q"
		}
		return "%s"
	})
	to = braces.ReplaceAllStringFunc(texts.Chinese, func(place string) string {
		name, quoted := strings.CutSuffix(strings.Trim(place, "{}"), ":q")
		place = "{" + strconv.Itoa(slices.Index(names, name)+1) + "}"
		if quoted {
			place = "“" + place + "”"
		}
		return place
	})
	return from, to
}

var braces = regexp.MustCompile(`\{[^}]*\}`)

// phraseOfKey is what the service says where a page shows it by a key of the catalogue, so that it needs no phrase.
func phraseOfKey(key, text string) (string, bool) {
	if strings.HasPrefix(key, "network.problem.") {
		return text, true // package diagnose says it with the same words
	}
	for _, prefix := range []string{"script.device.why.", "script.device.how."} {
		if said, ok := strings.CutPrefix(key, prefix); ok {
			return said, true
		}
	}
	return "", false
}

func (p *phrases) add(from, to string) {
	f := phrase{to: to}
	text := strings.Builder{}
	for rest := from; rest != ""; {
		n := 1
		switch {
		case strings.HasPrefix(rest, "%%"):
			n = 2
			text.WriteByte('%')
		case rest[0] == '%' && len(rest) > 1:
			n = 1 + strings.IndexFunc(rest[1:], unicode.IsLetter) + 1
			f.texts, f.verbs = append(f.texts, text.String()), append(f.verbs, rest[n-1])
			text.Reset()
		default:
			text.WriteByte(rest[0])
		}
		rest = rest[n:]
	}
	f.texts = append(f.texts, text.String())
	word, _, whole := strings.Cut(f.texts[0], " ")
	if !whole && len(f.verbs) > 0 {
		p.loose = append(p.loose, f)
		return
	}
	p.byWord[word] = append(p.byWord[word], f)
}

// say retells text; ok is false when no part of it is known, and then it stays as it is.
//
// Errors are wrapped and reasons stand in a row, so a text is read in parts, which joints end. From its beginning on
// the run of parts is retold that is a phrase, that with most text of its own; a part that begins none stays as it is.
func (p *phrases) say(text string) (told string, ok bool) { return p.sayWithin(text, deepest) }

// sayWithin is say for a text that stands in place of a verb; depth is how often that may go on.
func (p *phrases) sayWithin(text string, depth int) (told string, ok bool) {
	core := strings.TrimSpace(text)
	if core == "" || len(core) > longestPhrase || depth == 0 {
		return text, false
	}
	if first, size := utf8.DecodeRuneInString(core); unicode.IsUpper(first) && strings.HasSuffix(core, ".") && p.find(core, depth, false).weight == 0 {
		// The API makes sentences of errors.
		if told, begins, _ := p.read(string(unicode.ToLower(first))+core[size:len(core)-1], depth); begins {
			return strings.TrimSuffix(told, "。") + "。", true
		}
	}
	if told, _, ok := p.read(core, depth); ok {
		return told, true
	}
	return text, false
}

// read retells what is known of a text in its parts; begins is set when its beginning is.
func (p *phrases) read(text string, depth int) (told string, begins, some bool) {
	all := partsOf(text)
	var out strings.Builder
	before := false // whether the part before was retold
	for i := 0; i < len(all); {
		last, found := i, finding{tell: func() string { return text[all[i].from:all[i].to] }}
		for end := i; end < len(all); end++ {
			if f := p.find(text[all[i].from:all[end].to], depth, depth < deepest && end-i == len(all)-1); f.betters(found) {
				last, found = end, f
			}
		}
		known := found.weight > 0
		if i > 0 {
			joint := joints[all[i-1].joint]
			if before || known {
				out.WriteString(joint.to)
			} else {
				out.WriteString(joint.from)
			}
		}
		out.WriteString(found.tell())
		before, begins, some = known, begins || known && i == 0, some || known
		i = last + 1
	}
	return out.String(), begins, some
}

// finding is a text that is a phrase: how much of it is the phrase's own, whether what it begins with is filled in, and the text retold.
// Its weight is 0 when it is none.
type finding struct {
	weight int
	loose  bool
	tell   func() string
}

// betters prefers what begins as a phrase does: else a phrase that begins with something filled in would take the one before it for that.
func (f finding) betters(g finding) bool {
	if f.weight == 0 || g.weight == 0 || f.loose == g.loose {
		return f.weight > g.weight
	}
	return g.loose
}

// find looks for a text as a phrase, a vague one too or not, with a remark in brackets behind it or without.
func (p *phrases) find(text string, depth int, vague bool) finding {
	word, _, _ := strings.Cut(text, " ")
	for _, list := range [][]phrase{p.byWord[word], p.loose} {
		for _, f := range list {
			if values, ok := fit(f.texts, f.verbs, text); ok && (vague || !f.vague()) {
				return finding{f.weight(), f.texts[0] == "", func() string { return p.fill(f, values, depth) }}
			}
		}
	}
	if at := strings.Index(text, " ("); at > 0 && text[len(text)-1] == ')' {
		if head := p.find(text[:at], depth, false); head.weight > 0 {
			if whole := p.find(text[at+1:], depth, false); whole.weight > 0 { // the brackets are part of a phrase
				return finding{head.weight, head.loose, func() string { return head.tell() + whole.tell() }}
			}
			return finding{head.weight, head.loose, func() string {
				remark, _ := p.sayWithin(text[at+2:len(text)-1], depth-1)
				return head.tell() + "（" + remark + "）"
			}}
		}
	}
	return finding{}
}

// fit are the values of verbs in text.
func fit(texts []string, verbs []byte, text string) ([]string, bool) {
	text, ok := strings.CutPrefix(text, texts[0])
	if !ok || len(verbs) == 0 {
		return nil, ok && text == ""
	}
	if len(verbs) == 1 {
		value, ok := strings.CutSuffix(text, texts[1])
		return []string{value}, ok && suits(verbs[0], value)
	}
	for at := 0; at <= len(text); at++ {
		next := strings.Index(text[at:], texts[1])
		if next < 0 {
			return nil, false
		}
		at += next
		if !suits(verbs[0], text[:at]) {
			continue
		}
		if values, ok := fit(texts[1:], verbs[1:], text[at:]); ok {
			return append([]string{text[:at]}, values...), true
		}
	}
	return nil, false
}

// suits reports whether a verb of fmt can have written value.
func suits(verb byte, value string) bool {
	switch verb {
	case 'd':
		return value != "" && strings.Trim(value, "-0123456789") == ""
	case 'q':
		quoted, err := strconv.QuotedPrefix(value)
		return err == nil && quoted == value
	}
	return true
}

// fill puts values in place of {1}, {2} … of a translation.
func (p *phrases) fill(f phrase, values []string, depth int) string {
	pairs := make([]string, 0, 2*len(values))
	for i, value := range values {
		said := value
		if unquoted, err := strconv.Unquote(value); err == nil && value[0] == '"' {
			said = unquoted
			if f.verbs[i] != 'q' {
				said = "“" + unquoted + "”"
			}
		} else if f.verbs[i] != 'd' {
			said, _ = p.sayWithin(value, depth-1)
		}
		pairs = append(pairs, "{"+strconv.Itoa(i+1)+"}", said)
	}
	return strings.NewReplacer(pairs...).Replace(f.to)
}

// joints are what joins phrases, with what stands for it between translations.
var joints = []struct{ from, to string }{{": ", "："}, {"; ", "；"}, {", ", "，"}, {"\n", "\n"}}

// piece is a part of a text.
type piece struct {
	from, to int
	joint    int // behind it, of joints; of no meaning for the last
}

// partsOf cuts text at its joints, but for those in brackets.
func partsOf(text string) []piece {
	var all []piece
	from := 0
	for at := 0; at < len(text) && len(all) < partsMost-1; at++ {
		if text[at] == '(' {
			at += strings.IndexByte(text[at:], ')') + 1 // one that nobody closes is no bracket
		}
		for i, joint := range joints {
			if strings.HasPrefix(text[min(at, len(text)):], joint.from) {
				all = append(all, piece{from, at, i})
				at += len(joint.from) - 1
				from = at + 1
				break
			}
		}
	}
	return append(all, piece{from: from, to: len(text)})
}

// say is what the service says, in lang where that has a phrase for it.
func (s *site) say(lang, said string) string {
	if phrases := s.phrases[lang]; phrases != nil {
		said, _ = phrases.say(said)
	}
	return said
}

// retell is what the service says, for a page in lang; nil for nothing, which is what templates ask.
func (s *site) retell(lang string, said any) *retold {
	r, is := said.(reason.Reason)
	if !is {
		r = reason.Text(fmt.Sprint(said))
	}
	if r.Code == "" {
		r = reason.Plain(r.Text)
	}
	if r.IsZero() {
		return nil
	}
	if r.Known() {
		return &retold{r.In(bilingual.Language(lang)), lang}
	}
	if told, ok := s.phrases[lang].say(r.Text); ok {
		return &retold{told, lang}
	}
	return &retold{r.Text, languages[0].Tag}
}

// reasons answers the reasons that a script sends, a JSON list of reasons or of their texts, with their texts in the language of
// its page. The API itself speaks English alone.
func (s *site) reasons(w http.ResponseWriter, r *http.Request) {
	most := int64(strangersTexts)
	if _, signedIn := s.Viewer(r); signedIn {
		most = readersTexts
	}
	var all []reason.Reason
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, most)).Decode(&all); err != nil {
		http.Error(w, "Send the reasons as a JSON list.", http.StatusBadRequest)
		return
	}
	texts := make([]string, len(all))
	for i, one := range all {
		if words := s.retell(string(bilingual.Asked(r)), one); words != nil {
			texts[i] = words.Text
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(texts) // a reader that went away needs no answer
}
