package app_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"watchmark/internal/testkit/catalogtest"
)

// cover asks for a cover with the API key.
func (s *service) cover(id int) answer {
	s.t.Helper()
	return s.get(fmt.Sprintf("/cover/%d", id))
}

func TestCoversCostTheCatalogNoRequestAfterAMatch(t *testing.T) {
	s := start(t)
	id := s.custom(`{"title":"灯塔守望者","ori_title":"灯台守のうた","season":2,"episode":7,"release_date":"2025-02-19","user_name":"Mira"}`)
	if r := s.settled(id); r.SubjectID != 900002 {
		t.Fatalf("it came out as %+v", r)
	}
	api := func() (n int) {
		for pattern, count := range s.list.Requests() {
			if pattern != "GET /r/{width}/pic/cover/{size}/{file...}" {
				n += count
			}
		}
		return n
	}
	before := api()
	got := s.cover(900002)
	if got.status != http.StatusOK || got.header.Get("Content-Type") != "image/jpeg" || http.DetectContentType([]byte(got.body)) != "image/jpeg" {
		t.Fatalf("the cover answers %d %v", got.status, got.header)
	}
	if n := api() - before; n != 0 {
		t.Errorf("%d requests to the API for the cover of what was just matched", n)
	}
	// What somebody searched for needs no look-up either.
	var found struct {
		Items []struct {
			ID int `json:"id"`
		} `json:"items"`
	}
	s.api(http.MethodGet, "/api/subjects?q="+url.QueryEscape("深海线"), "", http.StatusOK, &found)
	before = api()
	for _, subject := range found.Items {
		s.cover(subject.ID)
	}
	if n := api() - before; n != 0 || len(found.Items) < 2 {
		t.Errorf("%d requests to the API for the covers of %d entries that were found", n, len(found.Items))
	}
	// The image host has a door of its own: what it does never counts for the catalog.
	if err := s.list.SetFault(catalogtest.Fault{Mode: catalogtest.Status, Status: 429, Paths: catalogtest.Images}); err != nil {
		t.Fatal(err)
	}
	if got := s.cover(900001); got.header.Get("Content-Type") != "image/gif" || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("a cover that cannot be fetched answers %v", got.header)
	}
	id = s.custom(`{"title":"灯塔守望者","ori_title":"灯台守のうた","season":2,"episode":8,"release_date":"2025-02-26","user_name":"Mira"}`)
	if r := s.settled(id); r.Status != "success" {
		t.Errorf("a mark came out as %s: %s", r.Status, r.Message)
	}
	// It is kept over a restart.
	if _, err := os.Stat(filepath.Join(s.dir, "covers", "900002")); err != nil {
		t.Error(err)
	}
	s.again()
	if got := s.cover(900002); got.header.Get("Content-Type") != "image/jpeg" {
		t.Errorf("after a restart the cover answers %v", got.header)
	}
}

func TestCoversNeedALogin(t *testing.T) {
	s := start(t)
	if got := s.do(s.request(http.MethodGet, "/cover/900001", "", "")); got.status != http.StatusUnauthorized || s.list.Requests()["GET /v0/subjects/{id}"] != 0 {
		t.Errorf("without a login a cover answers %d", got.status)
	}
}
