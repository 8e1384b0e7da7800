// Package payload is what the push-source adapters share: the JSON text inside a
// webhook request, a JSON object that can be read leniently, and the one place
// that judges whether what was read makes a watch.Event.
package payload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"regexp"
	"strings"

	"watchmark/internal/platform/reason"
)

// BadRequest is the error for a request that the sender has to change.
type BadRequest struct {
	// Field names what is at fault, several names separated by ", "; empty is the whole body.
	Field string
	// Detail is a whole sentence that can be shown to the sender; it holds no long or raw text of the request.
	Detail reason.Reason
}

// Error is the detail in English.
func (e *BadRequest) Error() string { return e.Detail.Text }

// Reason is the detail.
func (e *BadRequest) Reason() reason.Reason { return e.Detail }

// Request is the part of a webhook request that adapters look at. The caller bounds Body.
type Request struct {
	// Action is what the path says that somebody did, such as stop; empty where it does not.
	Action      string
	ContentType string
	Query       url.Values
	Body        []byte
}

const (
	maxParts  = 32       // form fields of a multipart body; the senders have at most two
	maxFields = 500      // fields of a urlencoded body
	maxField  = 2 << 20  // bytes of one multipart field; a longer one is cut and then is no JSON
	maxForm   = 64 << 10 // bytes of one plain form field
)

// formStart is the beginning of a urlencoded body.
var formStart = regexp.MustCompile(`^[A-Za-z0-9_.%+-]{1,64}=`)

// carriers are the form fields that hold the JSON text: Plex payload, Emby data
// (upstreams/media-servers.md, sections 1 and 3).
var carriers = []string{"payload", "data"}

// JSON is the JSON text of the request, wherever it stands: the body itself, or
// the field payload or data of a multipart or urlencoded form. A form without
// those fields is returned as an object of its fields, every value a string.
// What the body holds decides, not its content type: senders label it wrongly
// (upstreams/media-servers.md, section 0). The text is not checked for syntax.
//
// It returns a *BadRequest when there is nothing inside and an error that wraps
// ErrUnsupportedMedia when the body is something else.
func (r Request) JSON() ([]byte, error) {
	body := trim(r.Body)
	switch {
	case len(body) == 0:
		return nil, &BadRequest{"", emptyBody.With()}
	case body[0] == '{':
		return body, nil
	case body[0] == '[' || body[0] == '"':
		return nil, &BadRequest{"", noJSONObject.With()}
	case bytes.HasPrefix(body, []byte("--")):
		line, _, _ := bytes.Cut(body[2:], []byte("\n"))
		return fromMultipart(r.Body, string(bytes.TrimRight(line, "\r \t")))
	case formStart.Match(body):
		return fromURLEncoded(body)
	}
	if kind, params, err := mime.ParseMediaType(r.ContentType); err == nil &&
		strings.HasPrefix(kind, "multipart/") && params["boundary"] != "" {
		return fromMultipart(r.Body, params["boundary"])
	}
	return nil, fmt.Errorf("read webhook body: %w", ErrUnsupportedMedia)
}

// Object is the JSON object of the request; see JSON and ParseObject for the errors.
func (r Request) Object() (Object, error) {
	text, err := r.JSON()
	if err != nil {
		return nil, err
	}
	return ParseObject(text)
}

// trim removes a byte order mark and the white space around a text.
func trim(text []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(text), []byte("\uFEFF")))
}

func fromMultipart(body []byte, boundary string) ([]byte, error) {
	if boundary == "" || len(boundary) > 200 {
		return nil, fmt.Errorf("read multipart body: %w", ErrUnsupportedMedia)
	}
	form := multipart.NewReader(bytes.NewReader(body), boundary)
	fields := map[string]string{}
	for range maxParts {
		part, err := form.NextPart()
		if err != nil {
			break // the end, or a body cut short: what came before still counts
		}
		name := part.FormName()
		if name == "" || (part.FileName() != "" && !isCarrier(name)) {
			continue
		}
		if _, seen := fields[name]; seen {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(part, maxField))
		if err != nil {
			break
		}
		fields[name] = string(text)
	}
	return fromFields(fields)
}

func fromURLEncoded(body []byte) ([]byte, error) {
	for _, name := range carriers {
		if raw, ok := bytes.CutPrefix(body, []byte(name+"=")); ok && bytes.HasPrefix(raw, []byte("{")) {
			return raw, nil // labelled a form, but never encoded
		}
	}
	values, err := url.ParseQuery(string(body))
	if err != nil && len(values) == 0 {
		return nil, &BadRequest{"", formEncoding.With()}
	}
	if len(values) > maxFields {
		return nil, &BadRequest{"", tooManyFields.With(maxFields)}
	}
	fields := make(map[string]string, len(values))
	for name := range values {
		fields[name] = values.Get(name)
	}
	return fromFields(fields)
}

// fromFields is the JSON text a form carries, or the form itself as JSON.
func fromFields(fields map[string]string) ([]byte, error) {
	for _, name := range carriers {
		if text := trim([]byte(fields[name])); bytes.HasPrefix(text, []byte("{")) {
			return text, nil
		}
	}
	for name, text := range fields {
		if text == "" || len(text) > maxForm {
			delete(fields, name)
		}
	}
	if len(fields) == 0 {
		return nil, &BadRequest{"payload", emptyForm.With()}
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("write form fields as JSON: %w", err)
	}
	return text, nil
}

func isCarrier(name string) bool { return name == carriers[0] || name == carriers[1] }
