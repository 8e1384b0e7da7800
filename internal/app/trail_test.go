package app_test

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"testing"
)

// logLine is a line of the log as the API answers it.
type logLine struct {
	Level   string         `json:"level"`
	Message string         `json:"message"`
	Facts   map[string]any `json:"facts"`
}

// logged are the lines of the log with a message, the newest first.
func (s *service) logged(message string) []logLine {
	s.t.Helper()
	var lines struct {
		Items []logLine `json:"items"`
	}
	s.api(http.MethodGet, "/api/logs?level=debug&limit=200&q="+url.QueryEscape(message), "", http.StatusOK, &lines)
	return slices.DeleteFunc(lines.Items, func(l logLine) bool { return l.Message != message })
}

// TestEachLineOfTheLogSaysWhatItBelongsTo sends a webhook and follows its ids.
func TestEachLineOfTheLogSaysWhatItBelongsTo(t *testing.T) {
	s := start(t, "WATCHMARK_LOG_LEVEL=debug", "WATCHMARK_SERVER_TRUSTED_PROXIES=127.0.0.1")
	request := s.request(http.MethodPost, "/webhook/custom/"+s.hook, "application/json",
		`{"title":"灯塔守望者","season":2,"episode":7,"user_name":"Mira","release_date":"2024-05-19"}`)
	request.Header.Set("X-Request-Id", "from-the-proxy")
	got := s.do(request)
	id := s.accepted(got)[0]
	s.settled(id)
	if named := got.header.Get("X-Request-Id"); named != "from-the-proxy" {
		t.Errorf("the request is answered as %q", named)
	}
	if lines := s.logged("webhook answered"); len(lines) != 1 || lines[0].Facts["request_id"] != "from-the-proxy" {
		t.Errorf("of the request: %v", lines)
	}
	// What the catalog was asked for belongs to the record.
	if lines := s.logged("request sent"); len(lines) == 0 || slices.ContainsFunc(lines, func(l logLine) bool { return l.Facts["record_id"] != float64(id) }) {
		t.Errorf("requests for record %d: %v", id, lines)
	}
	var retry struct {
		ID int64 `json:"task_id"`
	}
	s.api(http.MethodPost, "/api/records/"+strconv.FormatInt(id, 10)+"/retry", "", http.StatusAccepted, &retry)
	s.settled(id)
	last := s.logged("record settled")
	if facts := last[0].Facts; facts["record_id"] != float64(id) || facts["task_id"] == nil {
		t.Errorf("of the retry: %v", facts)
	}
	if again := s.do(s.request(http.MethodGet, "/health", "", "")).header.Get("X-Request-Id"); len(again) < 16 {
		t.Errorf("a request that nobody named is %q", again)
	}
}
