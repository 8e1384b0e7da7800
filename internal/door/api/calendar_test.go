package api_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestCalendar(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const path = "/api/calendar"
	r.do("GET", path, nil).problem(http.StatusConflict, "no offline data")
	for query, field := range map[string]string{
		"?from=soon": "query.from", "?from=2026-01-05&to=2026-01-04": "query.to", "?from=2026-01-01&to=2026-03-05": "query.to", "?from=2026-02-30": "query.from",
		"?zone=Mars/Base": "query.zone", "?zone=Local": "query.zone", "?zone=../../etc/passwd": "query.zone", "?mine=perhaps": "query.mine", "?account_id=0": "query.account_id", "?account_id=x": "query.account_id",
		"?limit=201": "query.limit", "?cursor=x": "query.cursor", "?from=2026-01-05T00:00:00Z": "query.from",
	} {
		r.do("GET", path+query, nil).problem(http.StatusUnprocessableEntity, field)
	}
	r.do("GET", path+"?account_id=4711", nil).problem(http.StatusNotFound)

	const address = path + "/address"
	r.do("GET", address, nil).problem(http.StatusNotFound, "no calendar")
	r.do("DELETE", address, nil).problem(http.StatusNotFound)
	made := r.do("POST", address, nil).want(http.StatusCreated, `/base/calendar/`, `.ics"`, `"used_at":null`)
	shown := r.do("GET", address, nil).want(http.StatusOK, `/base/calendar/`)
	if strings.TrimSpace(made.body) == "" || urlOf(made.body) != urlOf(shown.body) {
		t.Errorf("made is %s, shown %s", made.body, shown.body)
	}
	if renewed := r.do("POST", address, nil).want(http.StatusCreated); urlOf(renewed.body) == urlOf(made.body) {
		t.Error("the new address is the one before")
	}
	r.do("DELETE", address, nil).want(http.StatusNoContent)
	r.do("GET", address, nil).problem(http.StatusNotFound)
}

// urlOf is the field url of a body.
func urlOf(body string) string {
	_, after, _ := strings.Cut(body, `"url":"`)
	url, _, _ := strings.Cut(after, `"`)
	return url
}
