package secret

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// maxNested bounds JSON in a string of JSON in a string …; what lies deeper is masked whole.
const maxNested = 8

// Header is a copy of h fit for a log: sensitive headers masked whole, the
// others by what they hold.
func (m *Masker) Header(h http.Header) http.Header {
	masked := make(http.Header, len(h))
	for name, values := range h {
		for _, value := range values {
			if SensitiveField(name) {
				value = Shown
			} else {
				value = m.Mask(value)
			}
			masked[name] = append(masked[name], value)
		}
	}
	return masked
}

// URL is u fit for a log: no user and password, no webhook key, no sensitive
// parameter in query or fragment.
func (m *Masker) URL(u *url.URL) string {
	var out strings.Builder
	bare := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath, Opaque: u.Opaque}
	text := bare.String()
	if u.User != nil {
		text = strings.Replace(text, "://", "://"+Shown+"@", 1)
	}
	out.WriteString(m.Mask(text))
	if u.RawQuery != "" {
		out.WriteString("?" + m.form(u.RawQuery))
	}
	if u.Fragment != "" {
		out.WriteString("#" + m.form(u.EscapedFragment()))
	}
	return out.String()
}

// Body is a request or response body fit for a log, by its content type: JSON
// and forms by their structure, other text by pattern, everything else as its
// length. What is not as its type says is masked by pattern. A result longer than most bytes
// is cut to that with the length of the body behind it; of JSON no more is read than is shown.
func (m *Masker) Body(contentType string, body []byte, most int) string {
	text := m.body(contentType, body, most)
	if len(text) <= most {
		return text
	}
	length := fmt.Sprintf("… (%d bytes)", len(body))
	return strings.ToValidUTF8(text[:max(most-len(length), 0)], "") + length
}

// body may be longer than most. It is never cut before it is masked: a cut secret would not be known.
func (m *Masker) body(contentType string, body []byte, most int) string {
	if len(body) == 0 {
		return ""
	}
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind = ""
	}
	switch {
	case kind == "multipart/form-data":
		if text, err := m.multipart(body, params["boundary"]); err == nil {
			return text
		}
	case kind == "application/x-www-form-urlencoded":
		return m.form(string(body))
	case kind == "application/octet-stream", strings.HasPrefix(kind, "image/"), strings.HasPrefix(kind, "video/"),
		strings.HasPrefix(kind, "audio/"), !utf8.Valid(body):
		return fmt.Sprintf("(%d bytes of %s)", len(body), kind)
	}
	return m.text(string(body), 0, most)
}

// text masks JSON by its structure, until the result is longer than most, and everything else
// by pattern.
func (m *Masker) text(text string, nested, most int) string {
	if trimmed := strings.TrimSpace(text); trimmed != "" && strings.ContainsRune(`{["`, rune(trimmed[0])) {
		if nested >= maxNested {
			return Shown
		}
		if masked, err := m.json(trimmed, nested, most); err == nil {
			return masked
		}
	}
	return m.Mask(text)
}

// level is an object or array that is being read.
type level struct {
	object bool
	key    bool // in an object: the next string is a key
	first  bool
}

// json rewrites a JSON text token by token, so that order and repeated keys stay. It ends early
// once the result is longer than most.
func (m *Masker) json(text string, nested, most int) (string, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var out bytes.Buffer
	stack := []level{}
	hide := false // the value that comes belongs to a sensitive key
	for {
		if out.Len() > most {
			return m.known(out.String()), nil
		}
		token, err := dec.Token()
		if errors.Is(err, io.EOF) && len(stack) == 0 {
			return m.known(out.String()), nil
		}
		if err != nil {
			return "", err
		}
		top := len(stack) - 1
		if delim, ok := token.(json.Delim); ok && (delim == '}' || delim == ']') {
			out.WriteRune(rune(delim))
			stack = stack[:top]
			valueRead(stack)
			continue
		}
		if top >= 0 && (!stack[top].object || stack[top].key) && !stack[top].first {
			out.WriteByte(',')
		} else if top < 0 && out.Len() > 0 {
			out.WriteByte('\n') // several JSON texts in a row
		}
		if top >= 0 {
			stack[top].first = false
		}
		if top >= 0 && stack[top].key {
			name, _ := token.(string) // the decoder refuses other keys
			out.WriteString(quote(m.Mask(name)) + ":")
			stack[top].key = false
			hide = SensitiveField(name)
			continue
		}
		switch v := token.(type) {
		case json.Delim:
			if hide {
				if err := skipValue(dec); err != nil {
					return "", err
				}
				out.WriteString(quote(Shown))
				break
			}
			out.WriteRune(rune(v))
			stack = append(stack, level{object: v == '{', key: v == '{', first: true})
			continue
		case string:
			if hide && v != "" {
				v = Shown
			}
			out.WriteString(quote(m.text(v, nested+1, most)))
		case json.Number:
			if hide {
				out.WriteString(quote(Shown))
				break
			}
			out.WriteString(m.number(v))
		case bool:
			fmt.Fprint(&out, v)
		case nil:
			out.WriteString("null")
		}
		hide = false
		valueRead(stack)
	}
}

// number is v, or a masked string when a known secret is in it.
func (m *Masker) number(v json.Number) string {
	if masked := m.known(v.String()); masked != v.String() {
		return quote(masked)
	}
	return v.String()
}

// valueRead says that a value ended: in an object a key comes next.
func valueRead(stack []level) {
	if n := len(stack); n > 0 && stack[n-1].object {
		stack[n-1].key = true
	}
}

// skipValue reads to the end of the object or array that was just opened.
func skipValue(dec *json.Decoder) error {
	for depth := 1; depth > 0; {
		token, err := dec.Token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return nil
}

func quote(s string) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil { // not possible for a string
		return `"` + Shown + `"`
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// form masks a query string or form body pair by pair and keeps the rest as it is.
func (m *Masker) form(text string) string {
	pairs := strings.Split(text, "&")
	for i, pair := range pairs {
		name, value, found := strings.Cut(pair, "=")
		plainName, err := url.QueryUnescape(name)
		if err != nil {
			plainName = name
		}
		switch {
		case !found:
			pairs[i] = m.formPart(pair)
		case value == "":
			pairs[i] = m.formPart(name) + "="
		case sensitiveParameter(plainName):
			pairs[i] = m.formPart(name) + "=" + Shown
		default:
			pairs[i] = m.formPart(name) + "=" + m.formPart(value)
		}
	}
	return m.known(strings.Join(pairs, "&"))
}

func (m *Masker) formPart(text string) string {
	plain, err := url.QueryUnescape(text)
	if err != nil {
		return m.Mask(text)
	}
	masked := m.text(plain, 0, math.MaxInt)
	if masked == plain {
		return text
	}
	return strings.ReplaceAll(url.QueryEscape(masked), url.QueryEscape(Shown), Shown)
}

// multipart tells the fields of a form, one a line; of files the size only.
func (m *Masker) multipart(body []byte, boundary string) (string, error) {
	if boundary == "" {
		return "", http.ErrMissingBoundary
	}
	reader := multipart.NewReader(bytes.NewReader(body), boundary)
	var out strings.Builder
	for {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) && out.Len() > 0 {
			return out.String(), nil
		}
		if err != nil {
			return "", err
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return "", err
		}
		shown := m.body(part.Header.Get("Content-Type"), value, math.MaxInt)
		switch {
		case part.FileName() != "":
			shown = fmt.Sprintf("(file of %d bytes)", len(value))
		case sensitiveParameter(part.FormName()):
			shown = Shown
		}
		fmt.Fprintf(&out, "%s=%s\n", m.Mask(part.FormName()), shown)
	}
}
