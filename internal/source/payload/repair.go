package payload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// repaired makes JSON of a text that senders write for it: with titles whose quotes are not escaped, as templates put them
// there that say {{{Name}}}, or as a literal of Python, as scripts between Emby and Bangumi-syncer sent it. ok is
// false when it comes to nothing that is JSON.
func repaired(text []byte) (made []byte, ok bool) {
	if made = quoted(text); json.Valid(made) {
		return made, true
	}
	made, ok = fromPython(text)
	return made, ok && json.Valid(made)
}

// textEnds is what follows the quote that ends a value: the end of what it is in, or the name of the next field.
var textEnds = regexp.MustCompile(`^\s*(?:[}\]]|$|,\s*(?:"[^"\\]{1,100}"\s*:|[}\]]))`)

// quoted escapes the quotes and control characters inside of values.
func quoted(text []byte) []byte {
	out := make([]byte, 0, len(text)+64)
	inside, value, lists := false, false, 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case !inside:
			switch c {
			case '"':
				inside = true
			case ':':
				value = true
			case ',', '{':
				value = false
			case '[':
				lists++
			case ']':
				lists--
			}
		case c == '\\' && i+1 < len(text):
			out = append(out, c)
			i++
			c = text[i]
		case c == '"' && value && lists == 0 && !textEnds.Match(text[i+1:min(len(text), i+200)]):
			out = append(out, '\\')
		case c == '"':
			inside = false
		case c < ' ':
			out = append(out, fmt.Sprintf(`\u%04x`, c)...)
			continue
		}
		out = append(out, c)
	}
	return out
}

// words are those of Python that JSON has others for.
var words = map[string]string{"True": "true", "False": "false", "None": "null"}

// fromPython turns texts, words and tuples of a Python literal into those of JSON.
func fromPython(text []byte) (made []byte, ok bool) {
	var out bytes.Buffer
	for len(text) > 0 {
		switch c := text[0]; {
		case c == '\'' || c == '"':
			value, rest, ok := pythonText(text)
			if !ok {
				return nil, false
			}
			encoded, err := json.Marshal(value)
			if err != nil {
				return nil, false
			}
			out.Write(encoded)
			text = rest
		case c >= 'A' && c <= 'Z':
			end := bytes.IndexFunc(text, func(r rune) bool { return r < 'A' || r > 'z' })
			if end < 0 {
				end = len(text)
			}
			word, known := words[string(text[:end])]
			if !known {
				return nil, false
			}
			out.WriteString(word)
			text = text[end:]
		case c == '(':
			out.WriteByte('[')
			text = text[1:]
		case c == ')':
			out.WriteByte(']')
			text = text[1:]
		default:
			out.WriteByte(c)
			text = text[1:]
		}
	}
	return out.Bytes(), true
}

// escapes are those of one character in texts of Python.
var escapes = map[byte]string{'n': "\n", 't': "\t", 'r': "\r", '\\': `\`, '\'': "'", '"': `"`, '\n': ""}

// pythonText reads the text that text begins with, in quotes of either kind.
func pythonText(text []byte) (value string, rest []byte, ok bool) {
	quote := text[0]
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		c := text[i]
		if c == quote {
			return b.String(), text[i+1:], true
		}
		if c != '\\' || i+1 == len(text) {
			b.WriteByte(c)
			continue
		}
		i++
		digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[text[i]]
		switch one, simple := escapes[text[i]]; {
		case simple:
			b.WriteString(one)
		case digits > 0 && i+digits < len(text):
			n, err := strconv.ParseUint(string(text[i+1:i+1+digits]), 16, 32)
			if err != nil || n > utf8.MaxRune {
				return "", nil, false
			}
			b.WriteRune(rune(n))
			i += digits
		default: // Python leaves what it does not know
			b.WriteByte('\\')
			b.WriteByte(text[i])
		}
	}
	return "", nil, false
}
