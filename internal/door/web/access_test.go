package web_test

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"watchmark/internal/door/access"
	"watchmark/internal/door/auth"
	"watchmark/internal/door/web"
)

// Every page and path that is served has an entry of its own in the table, and docs/design/access.md has it, too.
func TestEveryPathHasAnEntry(t *testing.T) {
	g := newRig(t)
	listed := string(func() []byte {
		text, err := os.ReadFile("../../../docs/design/access.md")
		if err != nil {
			t.Fatal(err)
		}
		return text
	}())
	served := web.Served(g.groups())
	for _, path := range served {
		if _, named := access.Path(path); !named {
			t.Errorf("the table does not name %s: say who may see it, or that it is the owner's", path)
		}
		if !strings.Contains(listed, "| `"+path+"` |") {
			t.Errorf("docs/design/access.md does not list %s", path)
		}
	}
	beside := []string{"/metrics", "/static/{file}", "/preferences", "/reasons", "/live", "/cover/{subject}", "/docs/pictures/{file}", "/docs/zh-CN/pictures/{file}"}
	for _, path := range access.Paths() {
		if !slices.Contains(served, path) && !slices.Contains(beside, path) {
			t.Errorf("the table names %s, which is not served", path)
		}
	}
}

// A person is led to what is theirs, sees no door of the owner, and gets no other page.
func TestAPersonSeesOnlyTheirPages(t *testing.T) {
	g := newRig(t)
	g.fill(t)
	in := g.client(t, true)
	for _, role := range []auth.Role{auth.RolePerson, auth.RoleGuest, "unheard-of"} {
		g.role = role
		for _, path := range web.Served(g.groups()) {
			rule, _ := access.Path(path)
			right := rule.Person
			if role != auth.RolePerson {
				right = rule.Nobody
			}
			if right != access.Nothing {
				continue
			}
			at := regexp.MustCompile(`\{[^}]+\}`).ReplaceAllString(strings.ReplaceAll(path, "{$}", ""), "1")
			page, want := g.get(t, in, at, "en"), http.StatusForbidden
			if at == "/" {
				want = http.StatusSeeOther // to the own pages
			}
			if page.status != want {
				t.Errorf("%s as %s answers %d", at, role, page.status)
			}
			for _, leak := range []string{"灯塔守望者", `href="/records"`, `href="/settings`, `href="/people"`, "data-live="} {
				if strings.Contains(page.body, leak) && (role != auth.RolePerson || leak != "data-live=") {
					t.Errorf("%s as %s shows %s", at, role, leak)
				}
			}
		}
	}
	g.role = auth.RolePerson
	for _, path := range []string{"/metrics", "/sources/unheard-of/of", "/people/household/x"} {
		if page := g.get(t, in, path, "en"); page.status != http.StatusForbidden && page.status != http.StatusNotFound {
			t.Errorf("%s answers %d", path, page.status)
		}
	}
	g.role = auth.RoleOwner
	if page := g.get(t, in, "/", "en"); strings.Contains(page.body, `href="/mine"`) || !strings.Contains(page.body, `href="/records"`) {
		t.Error("the owner has the wrong menu")
	}
}
