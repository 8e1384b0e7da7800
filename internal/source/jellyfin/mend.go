package jellyfin

import (
	"bytes"
	"strconv"
	"strings"
)

// mend repairs what the plugin's template engine is known to break in JSON: a
// missing key without quotes leaves a hole, booleans are True and False, padded
// numbers start with 0, and texts may hold raw line breaks and backslashes
// (upstreams/media-servers.md, section 4a, "Two body modes"). Text that is broken in
// another way stays broken.
func mend(text []byte) []byte {
	out := make([]byte, 0, len(text)+64)
	for i := 0; i < len(text); {
		switch rest := text[i:]; {
		case rest[0] == '"':
			var length int
			out, length = mendString(out, rest)
			i += length
		case rest[0] == ':':
			out = append(out, ':')
			i++
			next := bytes.TrimLeft(text[i:], " \t\r\n")
			if len(next) > 0 && (next[0] == ',' || next[0] == '}') {
				out = append(out, "null"...)
			}
		case bytes.HasPrefix(rest, []byte("True")):
			out = append(out, "true"...)
			i += len("True")
		case bytes.HasPrefix(rest, []byte("False")):
			out = append(out, "false"...)
			i += len("False")
		case rest[0] == '0' && len(rest) > 1 && isDigit(rest[1]) && !isDigit(lastOf(out)) && lastOf(out) != '.':
			i++
		default:
			out = append(out, rest[0])
			i++
		}
	}
	return out
}

// mendString appends the string literal at the start of text and tells how many
// bytes of text it took.
func mendString(out, text []byte) (_ []byte, length int) {
	out = append(out, '"')
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return append(out, '"'), i + 1
		case c < ' ':
			out = append(out, ' ')
		case c == '\\' && isEscape(text[i:]):
			out = append(out, c, text[i+1])
			i++
		case c == '\\':
			out = append(out, `\\`...)
		default:
			out = append(out, c)
		}
	}
	return out, len(text)
}

// isEscape reports whether the backslash that text begins with means something in JSON.
func isEscape(text []byte) bool {
	if len(text) < len(`\u0000`) || text[1] != 'u' {
		return len(text) > 1 && strings.IndexByte(`"\/bfnrt`, text[1]) >= 0
	}
	_, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return err == nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// lastOf is the last byte of text, 0 when empty.
func lastOf(text []byte) byte {
	if len(text) == 0 {
		return 0
	}
	return text[len(text)-1]
}
