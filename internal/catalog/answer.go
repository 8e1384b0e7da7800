package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
)

// maxDescription bounds what an error repeats of the catalog's words, in runes.
const maxDescription = 300

// maxValues bounds the members and elements of an answer. A page of 1000 marks has some 20 000.
const maxValues = 200_000

// judge is what is wrong with an answer; nil when it can be used.
type judge func(op reason.Reason, resp *httpx.Response) error

// notAsDue is the error for an answer that the catalog does not give to such a request: somebody else
// answers in its place, or it is out of order. What was asked may have been done all the same.
func notAsDue(op reason.Reason, resp *httpx.Response, how *reason.Kind) error {
	return &Error{Op: op, Kind: ErrUnreachable, Status: resp.Status, RetryAfter: resp.RetryAfter(), Description: how.With()}
}

// reading is the judge of a read: 200 with JSON that can be decoded into into, and of which fits says
// that it is what was asked for.
func (c *Client) reading(into any, fits func() bool) judge {
	return func(op reason.Reason, resp *httpx.Response) error {
		if err := c.apiProblem(op, resp); err != nil {
			return err
		}
		err := resp.JSON(into, maxValues)
		if resp.Status == http.StatusOK && err == nil && fits() {
			return nil
		}
		return &Error{Op: op, Kind: ErrUnreachable, Status: resp.Status, RetryAfter: resp.RetryAfter(), Description: notTheJSON.With(), Err: err}
	}
}

// writing is the judge of a write, which is done when the status is one of those the catalog gives
// then, and the body is empty (upstreams/catalog.md section 9).
func (c *Client) writing(done ...int) judge {
	return func(op reason.Reason, resp *httpx.Response) error {
		if err := c.apiProblem(op, resp); err != nil {
			return err
		}
		if !slices.Contains(done, resp.Status) || len(bytes.TrimSpace(resp.Body)) > 0 {
			return notAsDue(op, resp, notDone)
		}
		return nil
	}
}

// apiProblem is problem for the API, which sends nobody on to another address and says in JSON what it
// does not have. That something is not there is acted upon, so no other 404 is believed.
func (c *Client) apiProblem(op reason.Reason, resp *httpx.Response) error {
	err := c.problem(op, resp)
	switch {
	case resp.Status >= 300 && resp.Status < 400:
		return notAsDue(op, resp, sentOn)
	case errors.Is(err, ErrNotFound) && !isObject(resp.Body):
		return notAsDue(op, resp, notMissing)
	}
	return err
}

func isObject(body []byte) bool {
	var object map[string]json.RawMessage
	return httpx.JSON(body, &object, maxValues) == nil && object != nil
}

// problem is what is wrong with an answer by its status: only 2xx can be used. A web page is an
// outage whatever its status: the CDN answers with one when the catalog does not.
func (c *Client) problem(op reason.Reason, resp *httpx.Response) error {
	failure := &Error{Op: op, Status: resp.Status, RetryAfter: resp.RetryAfter()}
	if isPage(resp) {
		failure.Kind = ErrUnreachable
		failure.Description = webPage.With()
		return failure
	}
	switch {
	case resp.Status >= 200 && resp.Status < 300:
		return nil
	case resp.Status == http.StatusUnauthorized:
		failure.Kind = ErrUnauthorized
	case resp.Status == http.StatusForbidden:
		failure.Kind = ErrForbidden
	case resp.Status == http.StatusNotFound:
		failure.Kind = ErrNotFound
	case resp.Status == http.StatusTooManyRequests, resp.Status == http.StatusRequestTimeout:
		failure.Kind = ErrUnreachable
	case resp.Status >= 400 && resp.Status < 500:
		failure.Kind = ErrRefused
	default: // 5xx, and redirects that may not be followed
		failure.Kind = ErrUnreachable
	}
	failure.Description = reason.Text(c.words(resp.Body))
	return failure
}

// words is what an error body of the catalog says, shortened and masked.
func (c *Client) words(body []byte) string {
	var said struct {
		Title       string          `json:"title"`
		Description string          `json:"description"`
		Details     json.RawMessage `json:"details"`
	}
	if json.Unmarshal(body, &said) != nil {
		return "" // what is no error of the catalog's is not repeated
	}
	text := said.Description
	if text == "" {
		text = said.Title
	}
	var details string
	if json.Unmarshal(said.Details, &details) == nil && details != "" {
		text += ": " + details
	}
	return c.shorten(text)
}

func (c *Client) shorten(text string) string {
	text = c.http.Mask(strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), ""))
	if runes := []rune(text); len(runes) > maxDescription {
		text = string(runes[:maxDescription]) + "…"
	}
	return text
}

// isPage reports whether an answer is HTML, by its type or its first character.
func isPage(resp *httpx.Response) bool {
	return strings.Contains(strings.ToLower(resp.Header.Get("Content-Type")), "text/html") ||
		bytes.HasPrefix(bytes.TrimSpace(resp.Body), []byte("<"))
}

// mergedInto is the subject that an answer sends the reader of a merged one to, with 302 on the same
// host (upstreams/catalog.md section 7); false for every other answer.
func (c *Client) mergedInto(resp *httpx.Response) (SubjectID, bool) {
	if resp.Status != http.StatusFound {
		return 0, false
	}
	base, err := url.Parse(c.cfg.Load().APIURL)
	if err != nil {
		return 0, false
	}
	to, err := base.Parse(resp.Header.Get("Location"))
	if err != nil || to.Scheme != base.Scheme || to.Host != base.Host {
		return 0, false
	}
	// Behind a mirror with a path of its own the catalog names its own path.
	text, found := strings.CutPrefix(strings.TrimPrefix(to.Path, base.Path), "/v0/subjects/")
	id, err := strconv.ParseUint(text, 10, 32)
	return SubjectID(id), found && err == nil && id > 0
}

// rows is a list in an answer, which tells one that is missing, or null, from an empty one.
type rows[T any] struct {
	all   []T // nil when it is null
	given bool
}

// UnmarshalJSON takes an array or null.
func (r *rows[T]) UnmarshalJSON(text []byte) error {
	r.given = true
	return json.Unmarshal(text, &r.all)
}

// page is the frame of a list that comes page by page. Its data may be null where nothing is left.
type page[T any] struct {
	Data  rows[T] `json:"data"`
	Total *int    `json:"total"`
}

// fits reports whether this is a page that begins at offset; known tells a row from anything else.
func (p *page[T]) fits(offset int, known func(T) bool) bool {
	return p.Data.given && p.Total != nil && *p.Total >= 0 && (p.Data.all != nil || offset >= *p.Total) &&
		!slices.ContainsFunc(p.Data.all, func(row T) bool { return !known(row) })
}
