package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// TestPagesStaySmallWithManyAccounts: no page lists everybody, and whose user it is can be chosen all the same.
func TestPagesStaySmallWithManyAccounts(t *testing.T) {
	g := newRig(t)
	in := g.client(t, true)
	for n := range 70 {
		name := fmt.Sprintf("person-%02d", n)
		g.addAccount(t, account.Draft{Username: name, Method: account.ByToken, Enabled: true, MediaUserNames: []string{"TV of " + name}})
	}
	g.addRecord(t, episode(watch.Plex, "guest", "Show", "", 1, 1, "2024-01-01"), time.Now(), record.Outcome{Status: record.Failed, ErrorKind: record.NoAccount}, account.Account{})
	for _, path := range []string{"/records", "/records/1"} {
		body := g.get(t, in, path, "en").body
		mustContain(t, body, `href="/people?add=guest"`, "Choose an account")
		if strings.Contains(body, "person-") {
			t.Errorf("%s lists accounts", path)
		}
	}
	first := g.get(t, in, "/people?add=guest", "en").body
	mustContain(t, first, "Choose the account that guest belongs to", "This is person-00", `href="/people/assign?account=1&amp;user=guest"`, "person-29", `href="/people?add=guest&amp;from=30"`)
	last := g.get(t, in, "/people?add=guest&from=60", "en").body
	mustContain(t, last, "This is person-69", `href="/people?add=guest&amp;from=30"`)
	for _, body := range []string{first, last} {
		if strings.Contains(body, "person-40") {
			t.Error("a page lists those of another one")
		}
	}
	found := g.get(t, in, "/people?q=person-4&add=guest", "en").body
	mustContain(t, found, "This is person-40", "This is person-49")
	if strings.Contains(found, "person-50") {
		t.Error("a search finds everybody")
	}
	mustContain(t, g.get(t, in, "/people?q=nobody+of+that+name", "en").body, "No account matches", "Show all accounts")
	// None of them has a token, which the dashboard says in a few lines.
	dashboard := g.get(t, in, "/", "en").body
	mustContain(t, dashboard, "Account person-04", "65 more accounts need a new token", `href="/people?trouble=1"`)
	if strings.Contains(dashboard, "person-05") {
		t.Error("the dashboard names all accounts")
	}
	mustContain(t, g.get(t, in, "/people?trouble=1", "en").body, "need a new token soon", `href="/people?from=30&amp;trouble=1"`)
}
