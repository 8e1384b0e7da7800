package app_test

import (
	"net/http"
	"strings"
	"testing"

	"watchmark/internal/testkit/catalogtest"
)

func TestMappingsAreTriedAndShown(t *testing.T) {
	s := start(t)
	created := s.api(http.MethodPost, "/api/mappings", seasonInstead, http.StatusCreated, nil)
	if !strings.Contains(created.body, `"subject_name":"灯塔守望者 第二季"`) {
		t.Errorf("the mapping is %s", created.body)
	}
	try := func(body string, status int, wanted ...string) {
		t.Helper()
		got := s.api(http.MethodPost, "/api/mappings/test", body, status, nil)
		for _, want := range wanted {
			if !strings.Contains(got.body, want) {
				t.Errorf("%s answers %s, which lacks %s", body, got.body, want)
			}
		}
	}
	try(`{"title":"灯塔守望者","season":1,"episode":2}`, http.StatusOK, `"status":"matched"`, `"subject_id":900002`, `"episode_id":90000202`)
	try(`{"title":"灯塔守望者","season":2}`, http.StatusOK, `{"draft":"","passed_over":""}`)
	try(`{"title":"灯塔守望者","season":1,"episode":99}`, http.StatusOK, `"status":"episode_not_found"`)
	try(`{"title":"某剧场版","is_film":true,"draft":{"title":"剧场版$","is_regex":true,"subject_id":900001}}`, http.StatusOK, `"draft":"applies"`, `leads to a show, but the event is of the other type`)
	page := s.get("/titles")
	if page.status != http.StatusOK || !strings.Contains(page.body, "灯塔守望者 第二季") {
		t.Errorf("the page answers %d", page.status)
	}

	if err := s.list.SetFault(catalogtest.Fault{Mode: catalogtest.Status, Status: http.StatusBadGateway}); err != nil {
		t.Fatal(err)
	}
	s.api(http.MethodPost, "/api/mappings", `{"title":"nobody answers","subject_id":900777}`, http.StatusCreated, nil)
	try(`{"title":"nobody answers"}`, http.StatusServiceUnavailable, "try again later")
	try(`{"title":"something else"}`, http.StatusOK, `{"draft":"","passed_over":""}`)
}
