package secret

import (
	"net/url"
	"regexp"
	"strings"
)

var (
	userInfo    = regexp.MustCompile(`(://)[^/\s@?#"']+@`)
	mailAddress = regexp.MustCompile(`[\p{L}\p{N}._%+\-]+(?:@|%40)(?:[\p{L}\p{N}\-]+\.)+\p{L}{2,}`)
	bearer      = regexp.MustCompile(`(?i)\b(bearer(?:\s+|%20|\+))[^\s"'\\,;&<>]+`)
	basic       = regexp.MustCompile(`(?i)\b(basic(?:\s+|%20|\+))[A-Za-z0-9+/_=\-]{12,}`)
	webhookPath = regexp.MustCompile(`(/webhook/[^/\s?#"'&]+/)[^/\s?#"'\\&]+`)
	// calendarPath is the address of a calendar, whose name nobody may know.
	calendarPath = regexp.MustCompile(`(/calendar/)[A-Za-z0-9_\-%]{16,}`)
	// assignment is a name followed by = or :, the name perhaps in (escaped) quotes.
	assignment = regexp.MustCompile(`([\p{L}\p{N}_.\-\[\]%]+?)(\\*["'])?(\s*)(=>|=|:|%3[dD]|%3[aA])(\s*)`)
	headerName = regexp.MustCompile(`(?i)^(?:proxy-|x-emby-)?authorization$|^(?:set-)?cookie$`)
)

// Mask takes out of any text every known value, and what looks like a
// credential: name=value, name: value and "name":"value" whose name is
// sensitive, "Bearer xyz", user and password in a URL, the key in a webhook
// path, and e-mail addresses. Bodies and URLs are better given to Body and URL,
// which know their structure.
func (m *Masker) Mask(text string) string {
	return maskPatterns(m.known(text))
}

// maskPatterns runs an expression only on text that has a character it needs:
// most text has none, and expressions are slow.
func maskPatterns(text string) string {
	if strings.ContainsAny(text, "=:%") {
		text = maskAssignments(text)
		text = userInfo.ReplaceAllString(text, "${1}"+Shown+"@")
	}
	if strings.ContainsAny(text, " \t\n%+") {
		text = bearer.ReplaceAllString(text, "${1}"+Shown)
		text = basic.ReplaceAllString(text, "${1}"+Shown)
	}
	if strings.Contains(text, "/webhook/") {
		text = webhookPath.ReplaceAllString(text, "${1}"+Shown)
	}
	if strings.Contains(text, "/calendar/") {
		text = calendarPath.ReplaceAllString(text, "${1}"+Shown)
	}
	if strings.ContainsAny(text, "@%") {
		text = mailAddress.ReplaceAllString(text, Shown)
	}
	return text
}

// maskAssignments walks the text from name to name; a value is skipped whole, so
// that what stands in a masked value is not looked at again.
func maskAssignments(text string) string {
	var out strings.Builder
	for {
		at := assignment.FindStringSubmatchIndex(text)
		if at == nil {
			out.WriteString(text)
			return out.String()
		}
		part := func(i int) string {
			if at[2*i] < 0 {
				return ""
			}
			return text[at[2*i]:at[2*i+1]]
		}
		name, nameQuote, sign, space := part(1), part(2), part(4), part(5)
		out.WriteString(text[:at[1]])
		text = text[at[1]:]
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain[strings.LastIndexAny(plain, "?&=/;")+1:] // an escaped query may stand before it
		}
		equals := sign == "=" || strings.EqualFold(sign, "%3d")
		if !SensitiveField(name) && (!equals || !sensitiveParameter(name)) {
			continue
		}
		// "Code:Realize" is a title.
		prose := sign == ":" && nameQuote == "" && (space != "" || strings.EqualFold(name, "code"))
		if n := valueLength(text, name, prose); n > 0 {
			out.WriteString(maskedValue(text[:n]))
			text = text[n:]
		}
	}
}

// maskedValue keeps the quotes of a quoted value, so that JSON stays JSON.
func maskedValue(value string) string {
	n := quoteLength(value)
	if n == 0 || len(value) < 2*n || value[len(value)-n:] != value[:n] {
		return Shown
	}
	return value[:n] + Shown + value[:n]
}

// valueLength is how many bytes at the start of text are the value of the field
// name; 0 = there is none. prose says that the field reads "name: value", as
// sentences do too: "refresh token: refused" is left alone.
func valueLength(text, name string, prose bool) int {
	if text == "" {
		return 0
	}
	if n := quoteLength(text); n > 0 {
		quote, rest := text[:n], text[n:]
		for at := 0; ; {
			i := strings.Index(rest[at:], quote)
			if i < 0 {
				return len(text)
			}
			at += i
			// A quote with more backslashes than the opening one is part of the value.
			if at == 0 || rest[at-1] != '\\' {
				return n + at + n
			}
			at += n
		}
	}
	if headerName.MatchString(name) { // the rest of the line: "Cookie: a=b; c=d"
		if i := strings.IndexAny(text, "\r\n\"'"); i >= 0 {
			return i
		}
		return len(text)
	}
	if text[0] == '{' || text[0] == '[' { // broken JSON: to where it seems to end
		depth := 0
		for i, r := range text {
			switch r {
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return len(text)
	}
	n := strings.IndexFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n&\"',;<>)]}\\", r) })
	if n < 0 {
		n = len(text)
	}
	if i := strings.Index(text[:n], "%26"); i >= 0 {
		n = i
	}
	if prose && !credentialLike(name, text[:n]) {
		return 0
	}
	return n
}

// credentialLike tells "token: 3f9ac0" from "token: refused".
func credentialLike(name, value string) bool {
	return strings.Contains(name, "-") || strings.Contains(strings.ToLower(name), "password") ||
		len(value) >= 16 || strings.ContainsAny(value, "0123456789")
}

// quoteLength is the length of the quote text starts with, its backslashes
// included; 0 = it does not start with one.
func quoteLength(text string) int {
	rest := strings.TrimLeft(text, `\`)
	if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		return len(text) - len(rest) + 1
	}
	return 0
}
