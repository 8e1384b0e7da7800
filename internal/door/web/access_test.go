package web_test

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"watchmark/internal/door/access"
	"watchmark/internal/door/auth"
	"watchmark/internal/door/web"
	"watchmark/internal/engine/review"
	"watchmark/internal/platform/scope"
	"watchmark/internal/record"
	"watchmark/internal/source/importer"
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
	beside := []string{"/metrics", "/static/{file}", "/preferences", "/reasons", "/manifest.webmanifest", "/worker.js", "/offline", "/live", "/cover/{subject}", "/calendar/{file}", "/docs/pictures/{file}", "/docs/zh-CN/pictures/{file}"}
	for _, path := range access.Paths() {
		if !slices.Contains(served, path) && !slices.Contains(beside, path) {
			t.Errorf("the table names %s, which is not served", path)
		}
	}
}

// The pages of a person show what is theirs, lead nowhere that they may not go, and tell of nobody else's things as of none.
func TestThePagesOfAPerson(t *testing.T) {
	g := newRig(t)
	s := g.fill(t)
	before, now := g.keepLists(t)
	g.asksAboutUnwatched(t, s.success)
	g.said.put(0, "", true)
	g.asFirst(t)
	mine := scope.In(t.Context(), scope.Of(personOfRig))
	task := g.endedIn(mine, t, 0, importer.RunTask, importer.Result{Server: "Trakt", User: "mira", Taken: 3, Records: map[record.Status]int{record.Success: 3}})
	g.endedIn(mine, t, 0, review.UndoPreviewKind, undoing(true, 0))
	theirs := g.endedIn(t.Context(), t, 0, importer.RunTask, importer.Result{Server: "home", User: "bench", Taken: 61})
	in := g.client(t, true)
	link := regexp.MustCompile(`href="(/[^"]*)"`)
	for path, has := range map[string]string{
		"/mine": "灯塔守望者", "/mine?status=error": hostileTitle[:4], "/mine/account": "米拉",
		fmt.Sprintf("/people/1/list?from=%d&to=%d", before.ID, now.ID): "list-out", wordPath: "word-comment",
		"/sources/import": "Mira TV", "/records/undo": "undo-title", fmt.Sprintf("/settings/tasks/%d", task): "3",
	} {
		page := g.get(t, in, path, "en")
		if page.status != http.StatusOK || !strings.Contains(page.body, has) {
			t.Errorf("%s answers %d, without %s", path, page.status, has)
		}
		for _, leak := range []string{"bench", "alex", "log-title", "import-url"} {
			if strings.Contains(page.body, leak) {
				t.Errorf("%s shows %s", path, leak)
			}
		}
		for _, to := range link.FindAllStringSubmatch(page.body, -1) {
			at, _, _ := strings.Cut(strings.ReplaceAll(to[1], "&amp;", "&"), "#")
			if strings.HasPrefix(at, "/api/") || strings.HasPrefix(at, "/static/") || strings.HasPrefix(at, "/docs") {
				continue
			}
			if got := g.get(t, in, at, "en"); got.status != http.StatusOK && (at != "/" || got.status != http.StatusSeeOther) {
				t.Errorf("%s leads to %s, which answers %d", path, at, got.status)
			}
		}
	}
	for _, pair := range [][2]string{
		{"/people/2/list", "/people/4711/list"}, {"/people/2/entries/900001/word", "/people/4711/entries/900001/word"},
		{fmt.Sprintf("/settings/tasks/%d", theirs), "/settings/tasks/4711"}, {fmt.Sprintf("/records/undo?task=%d", theirs), "/records/undo?task=4711"},
	} {
		there, none := g.get(t, in, pair[0], "en"), g.get(t, in, pair[1], "en")
		if there.status != http.StatusNotFound || strings.ReplaceAll(there.body, pair[0], pair[1]) != none.body {
			t.Errorf("%s answers %d and tells that it exists", pair[0], there.status)
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
