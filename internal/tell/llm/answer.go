package llm

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
)

// longestText bounds the text of an answer, in runes.
const longestText = 20_000

// reply is the body of an answer, or of one line of a stream: everything that some service sends.
type reply struct {
	Model   string `json:"model"`
	Choices []struct {
		Message      content `json:"message"`
		Delta        content `json:"delta"`
		FinishReason string  `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// content is what a model answers. What it thought (reasoning_content) is left alone.
type content struct {
	Content parts  `json:"content"`
	Refusal string `json:"refusal"`
}

// parts is a text that may come as a list of parts, or as null.
type parts string

// UnmarshalJSON takes texts, lists of texts and parts with a text, and null. Anything else is no text.
func (p *parts) UnmarshalJSON(data []byte) error {
	var whole string
	if json.Unmarshal(data, &whole) == nil {
		*p = parts(whole)
		return nil
	}
	var list []json.RawMessage
	_ = json.Unmarshal(data, &list) // what is no list has no parts
	var text strings.Builder
	for _, item := range list {
		var plain string
		var part struct {
			Text string `json:"text"`
		}
		if json.Unmarshal(item, &plain) == nil {
			text.WriteString(plain)
		} else if json.Unmarshal(item, &part) == nil {
			text.WriteString(part.Text)
		}
	}
	*p = parts(text.String())
	return nil
}

// read is the answer that a response holds. The error is an *Error.
func read(resp *httpx.Response) (Answer, error) {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		kind = ""
	}
	body := bytes.TrimSpace(resp.Body)
	isPage := strings.Contains(kind, "html") || bytes.HasPrefix(body, []byte("<"))
	if resp.Status < 200 || resp.Status > 299 {
		failure := explain(resp.Status, body, isPage)
		failure.RetryAfter = resp.RetryAfter()
		if at := resp.Header.Get("Location"); at != "" && failure.Kind == WrongAddress {
			failure.Detail = redirects.With(at)
		}
		return Answer{}, failure
	}
	if isPage {
		return Answer{}, &Error{Kind: WrongAddress, Status: resp.Status, Detail: webPage.With()}
	}
	// Some gateways stream whatever was asked for.
	if kind == "text/event-stream" || bytes.HasPrefix(body, []byte("data:")) {
		return readStream(resp.Status, body)
	}
	var r reply
	if httpx.JSON(body, &r, maxValues) != nil {
		return Answer{}, &Error{Kind: WrongAddress, Status: resp.Status, Detail: answerNotJSON.With()}
	}
	var got gathered
	if failure := got.add(resp.Status, body, r); failure != nil {
		return Answer{}, failure
	}
	return got.answer(resp.Status)
}

// readStream reads server-sent events, one delta each.
func readStream(status int, body []byte) (Answer, error) {
	var got gathered
	for line := range bytes.Lines(body) {
		data, is := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
		data = bytes.TrimSpace(data)
		if !is || len(data) == 0 || bytes.Equal(data, []byte("[DONE]")) {
			continue
		}
		var r reply
		if httpx.JSON(data, &r, maxValues) != nil {
			return Answer{}, &Error{Kind: NoText, Status: status, Detail: streamNotJSON.With()}
		}
		if failure := got.add(status, data, r); failure != nil {
			return Answer{}, failure
		}
	}
	return got.answer(status)
}

// gathered is what replies add up to.
type gathered struct {
	text, refusal strings.Builder
	finish        string
	choices       bool
	got           Answer
}

// add takes up one reply, which was read of data. It returns why there will be no answer.
func (g *gathered) add(status int, data []byte, r reply) *Error {
	if len(r.Error) > 0 && !bytes.Equal(r.Error, []byte("null")) && !bytes.Equal(r.Error, []byte(`""`)) {
		return explain(status, data, false)
	}
	if r.Model != "" {
		g.got.Model = oneLine(r.Model, 100)
	}
	if r.Usage != nil {
		g.got.Prompt, g.got.Completion = max(r.Usage.Prompt, 0), max(r.Usage.Completion, 0)
	}
	if len(r.Choices) == 0 {
		return nil
	}
	g.choices = true
	first := r.Choices[0]
	for _, s := range []content{first.Message, first.Delta} {
		g.text.WriteString(string(s.Content))
		g.refusal.WriteString(s.Refusal)
	}
	if first.FinishReason != "" {
		g.finish = first.FinishReason
	}
	return nil
}

// answer is the answer when everything was taken up; what was used counts in any case.
func (g *gathered) answer(status int) (Answer, error) {
	a := g.got
	a.Cut = g.finish == "length"
	a.Text = withoutThoughts(g.text.String())
	if runes := []rune(a.Text); len(runes) > longestText {
		a.Text, a.Cut = string(runes[:longestText]), true
	}
	if a.Text != "" {
		return a, nil
	}
	failure := &Error{Kind: NoText, Status: status}
	switch {
	case !g.choices:
		failure.Kind, failure.Detail = WrongAddress, noChoices.With()
	case g.refusal.Len() > 0:
		failure.Kind, failure.Detail = Refused, reason.Text(g.refusal.String())
	case g.finish == "content_filter":
		failure.Kind, failure.Detail = Refused, contentFilter.With()
	default:
		failure.empty = true
		if g.finish != "" {
			failure.Detail = finishReason.With(oneLine(g.finish, 40))
		}
	}
	return a, failure
}

// thoughts are what models write between such marks before they answer; the end may be missing.
var thoughts = regexp.MustCompile(`(?is)<think(?:ing)?>.*?(?:</think(?:ing)?>|\z)`)

// withoutThoughts is text without what the model thought before it answered, and without characters
// that only control.
func withoutThoughts(text string) string {
	text = thoughts.ReplaceAllString(text, "")
	// Where the template of a model opens the mark, only its end is seen.
	if _, after, found := strings.Cut(text, "</think>"); found {
		text = after
	}
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "")
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text))
}

// explain is the error that an answer with a failure stands for.
func explain(status int, body []byte, isPage bool) *Error {
	e := &Error{Status: status}
	text := ""
	if !isPage {
		text, e.code, e.param = complaint(body, complaintDepth)
		e.Detail = reason.Text(text)
	}
	// Gateways tell the status of the service behind them as the code of an answer with 200.
	if n, err := strconv.Atoi(e.code); err == nil && n >= 400 && n < 600 && status < 400 {
		status = n
	}
	if isPage && status >= 400 && status < 500 && status != http.StatusTooManyRequests {
		e.Kind, e.Detail = WrongAddress, webPage.With()
		return e
	}
	e.Kind, e.again = kindOf(status, e.code, text)
	return e
}

// complaintDepth is how deep a complaint may stand in a body: each level is read anew.
const complaintDepth = 8

// complaint is what a body says went wrong, in each of the forms that services have: an object or
// a text called error, a message, a detail, a list of one of these, or plain text. What stands
// deeper than so many levels says nothing.
func complaint(body []byte, levels int) (text, code, param string) {
	if levels == 0 {
		return "", "", ""
	}
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		return complaint(list[0], levels-1)
	}
	var whole string
	if json.Unmarshal(body, &whole) == nil {
		return whole, "", ""
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) != nil {
		return string(body[:min(len(body), 4*longestDetail)]), "", ""
	}
	for _, name := range []string{"error", "detail", "message", "msg"} {
		if inner, has := object[name]; has && !bytes.Equal(inner, []byte("null")) {
			text, code, param = complaint(inner, levels-1)
			break
		}
	}
	if own := plain(object["code"]); own != "" && code == "" {
		code = own
	}
	if own := plain(object["type"]); own != "" && code == "" {
		code = own
	}
	if own := plain(object["param"]); own != "" && param == "" {
		param = own
	}
	return text, code, param
}

// plain is a text or a number of JSON as text; empty for anything else.
func plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var number json.Number
	if json.Unmarshal(raw, &number) == nil {
		return number.String()
	}
	return ""
}

// oneLine makes foreign text a short line.
func oneLine(text string, most int) string {
	text = strings.ToValidUTF8(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " "), "")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most])
	}
	return text
}
