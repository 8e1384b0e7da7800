package app_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// TestEveryLinkLeadsToAPage follows all links of the pages of a real service: a feature that a page lacks fails here.
func TestEveryLinkLeadsToAPage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	s := start(t, "WATCHMARK_AUTH_ENABLED=false")
	links := regexp.MustCompile(` href="(/[^"#]*)`)
	waiting, seen := []string{"/", "/setup"}, map[string]bool{}
	for len(waiting) > 0 {
		path := waiting[0]
		waiting = waiting[1:]
		if seen[path] || strings.HasPrefix(path, "/static/") {
			continue
		}
		seen[path] = true
		page := s.do(s.request(http.MethodGet, path, "", ""))
		if page.status != http.StatusOK {
			t.Errorf("%s answers %d", path, page.status)
		}
		if strings.HasPrefix(path, "/api/") {
			continue
		}
		for _, link := range links.FindAllStringSubmatch(page.body, -1) {
			waiting = append(waiting, html.UnescapeString(link[1]))
		}
	}
	for _, path := range []string{"/records/queue", "/settings/backups", "/settings/tools/network", "/messages/rules/new", "/messages/summaries", "/settings/about"} {
		if !seen[path] {
			t.Errorf("no link leads to %s", path)
		}
	}
}
