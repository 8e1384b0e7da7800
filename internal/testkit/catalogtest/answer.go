package catalogtest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
)

// apiError is the error body of the API (upstreams/catalog.md section 4).
type apiError struct {
	Title       string       `json:"title"`
	Description string       `json:"description"`
	Details     errorDetails `json:"details"`
	RequestID   string       `json:"request_id"`
}

type errorDetails struct {
	Path   string `json:"path"`
	Method string `json:"method"`
	Query  string `json:"query_string,omitempty"`
}

// gone is what the catalog says of what is unknown or hidden, wherever it has no words of its own for it.
const gone = "resource can't be found in the database or has been removed"

// fail answers an error with the status text as title.
func fail(w http.ResponseWriter, r *http.Request, status int, description string) {
	title := http.StatusText(status)
	if status == http.StatusTooManyRequests {
		title = "Too Many Request"
	}
	failTitled(w, r, status, title, description)
}

func failTitled(w http.ResponseWriter, r *http.Request, status int, title, description string) {
	answer(w, status, apiError{
		Title: title, Description: description,
		Details:   errorDetails{r.URL.Path, r.Method, r.URL.RawQuery},
		RequestID: "simulated",
	})
}

// answer writes v as JSON.
func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// Only a client that is gone makes this fail.
	_ = json.NewEncoder(w).Encode(v)
}

// answerText writes a body that is not JSON where JSON was due.
func answerText(w http.ResponseWriter, status int, contentType, text string) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // only a client that is gone makes this fail
}

// page is one part of a list.
type page[T any] struct {
	Data   []T `json:"data"`
	Total  int `json:"total"`
	Limit  int `json:"limit"`
	Offset int `json:"offset"`
}

// window is the part of a list that was asked for.
type window struct{ limit, offset int }

// readWindow reads limit and offset; ok is false when the 400 has been answered.
// A limit above most is refused.
func readWindow(w http.ResponseWriter, r *http.Request, usual, most int) (win window, ok bool) {
	win, problem := parseWindow(r.URL.Query(), usual)
	if problem == "" && win.limit > most {
		problem = "limit should be less equal than " + strconv.Itoa(most)
	}
	if problem != "" {
		fail(w, r, http.StatusBadRequest, problem)
		return window{}, false
	}
	return win, true
}

// parseWindow reads limit (usual when absent) and offset; problem is empty when both are well formed.
func parseWindow(query url.Values, usual int) (win window, problem string) {
	win.limit = usual
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n <= 0 {
			return win, "limit should be a positive number"
		}
		win.limit = n
	}
	if text := query.Get("offset"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return win, "offset should be greater than or equal to 0"
		}
		win.offset = n
	}
	return win, ""
}

// readOptionalInt reads a number of the query that may be absent and must be
// among allowed; ok is false when the 400 has been answered.
func readOptionalInt(w http.ResponseWriter, r *http.Request, name string, allowed ...int) (value int, given, ok bool) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, false, true
	}
	n, err := strconv.Atoi(text)
	if err == nil {
		for _, a := range allowed {
			if n == a {
				return n, true, true
			}
		}
	}
	fail(w, r, http.StatusBadRequest, strconv.Quote(text)+" is not a valid "+name)
	return 0, false, false
}

// beyond answers the 400 for an offset past the end of a list that has entries.
func (win window) beyond(w http.ResponseWriter, r *http.Request, total int) bool {
	if total > 0 && win.offset > total {
		fail(w, r, http.StatusBadRequest, "offset should be less than or equal to "+strconv.Itoa(total))
		return true
	}
	return false
}

// cut is the window's part of list.
func cut[T any](win window, list []T) []T {
	from := min(win.offset, len(list))
	return list[from:min(from+win.limit, len(list))]
}

// heldAnswer is a response that is kept back instead of sent.
type heldAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (h *heldAnswer) Header() http.Header { return h.header }

func (h *heldAnswer) WriteHeader(status int) {
	if h.status == 0 {
		h.status = status
	}
}

func (h *heldAnswer) Write(b []byte) (int, error) {
	h.WriteHeader(http.StatusOK)
	return h.body.Write(b)
}

// hold lets next answer r without sending anything.
func hold(next http.Handler, r *http.Request) *heldAnswer {
	held := &heldAnswer{header: http.Header{}}
	next.ServeHTTP(held, r)
	held.WriteHeader(http.StatusOK)
	return held
}
