package app_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"watchmark/internal/door/access"
	"watchmark/internal/testkit/dbtest"
)

// passing is what goes on with time in an answer: times, and how long ago something was.
var passing = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ][\d:.]+(Z|[+-][\d:]+)?|\d+ (second|minute)s? ago|just now|"(uptime|took|latency|elapsed)[a-z_]*":[\d.]+|\b\d+(\.\d+)? ms\b`)

// searched are words of what alex does, in all fields that are looked through.
var searched = []string{"风之测量师", "无人知晓的节目", "alex", "alexs-secret", "900002"}

// sees is all that somebody can read without the id of a thing that is not theirs: what lists, counts, searches, exports and pages answer.
func (m member) sees(ops []operation) map[string]string {
	m.s.t.Helper()
	var paths []string
	for _, op := range ops {
		if rule, _ := access.Operation(op.id); rule.Person == access.Nothing || op.method != http.MethodGet || op.streams || slices.Contains(documents, op.id) {
			continue
		}
		switch {
		case !strings.Contains(op.path, "{"):
			paths = append(paths, op.path)
		case strings.HasPrefix(op.path, "/api/accounts/{id}") && strings.Count(op.path, "{") == 1, strings.HasPrefix(op.path, "/api/records/{id}") && strings.Count(op.path, "{") == 1:
			paths = append(paths, strings.ReplaceAll(op.path, "{id}", "1")) // the first ones are mira's
		}
	}
	for _, format := range []string{"json", "csv", "mal", "watches"} {
		paths = append(paths, "/api/accounts/1/export?format="+format)
	}
	for _, path := range access.Paths() {
		if rule, _ := access.Path(path); rule.Person != access.Nothing && !strings.Contains(path, "{") && path != "/live" && path != "/docs" && path != "/reasons" {
			paths = append(paths, path)
		}
	}
	for _, word := range searched {
		q := url.QueryEscape(word)
		for _, path := range []string{"/mine?q=", "/mine?user=", "/inbox?view=all&q=", "/titles?q=", "/titles/blocked?q=", "/api/records?q=", "/api/records?user=", "/api/mappings?q=", "/api/blocked-keywords?q=", "/api/notification/inbox?q="} {
			paths = append(paths, path+q)
		}
	}
	for _, status := range []string{"success", "error", "review", "queued"} {
		paths = append(paths, "/api/records?status="+status, "/mine?status="+status)
	}
	paths = append(paths, "/people/1/list", "/records/1", "/api/backups/watchmark-backup-20260101-000000.tar.gz", "/api/backups/none", "/settings/backups")
	found := map[string]string{}
	for _, path := range paths {
		got := m.asks(asking{http.MethodGet, path, nil})
		if got.status >= http.StatusInternalServerError {
			m.s.t.Errorf("%s answers %d: %.300s", path, got.status, got.body)
		}
		found[path] = fmt.Sprintf("%d %s", got.status, passing.ReplaceAllString(got.body, "…"))
	}
	return found
}

// Whatever one does, another one sees nothing of: no list, count, search, export or page of theirs changes, and nothing that they make is
// refused for what the other one has.
func TestWhatOneDoesChangesNothingThatAnotherSees(t *testing.T) {
	t.Parallel()
	s := startEmpty(t, "WATCHMARK_MATCHING_DATASET_ENABLED=false", "WATCHMARK_AUTH_LOCKOUT_ATTEMPTS=100")
	if err := s.app.SetUp(t.Context(), "bench", password); err != nil {
		t.Fatal(err)
	}
	mira, alex := s.joins("mira", miraToken), s.joins("alex", alexToken)
	plays := func(user, title string, episode int) {
		t.Helper()
		s.settled(s.custom(fmt.Sprintf(`{"title":%q,"season":1,"episode":%d,"user_name":%q}`, title, episode, user)))
	}
	snapshot := func(account int) {
		t.Helper()
		var started struct {
			TaskID int64 `json:"task_id"`
		}
		s.api(http.MethodPost, fmt.Sprintf("/api/accounts/%d/snapshots", account), "", http.StatusAccepted, &started)
		s.taskEnds(started.TaskID)
	}
	plays("mira", "灯塔守望者", 1)
	plays("mira", "Moonshade Teahouse", 1)
	plays("mira", "灯塔守望者", 77)
	snapshot(1)
	mira.want(http.MethodPost, "/api/mappings", `{"title":"我的节目","subject_id":900001}`, http.StatusCreated)
	ops := s.operations()
	mira.sees(ops) // what a first look brings about
	before := mira.sees(ops)

	plays("alex", "灯塔守望者", 1)
	plays("alex", "Moonshade Teahouse", 1)
	plays("alex", "无人知晓的节目", 3)
	plays("Sofa TV", "风之测量师", 1)
	snapshot(2)
	const hook = `{"name":"alexs-secret","config":{"url":"https://hook.example/"}}`
	makes := []struct{ path, body string }{
		{"/api/mappings", `{"title":"风之测量师","subject_id":900002,"note":"alexs-secret"}`},
		{"/api/blocked-keywords", `{"keyword":"alexs-secret","kind":"exact"}`},
		{"/api/api-keys", `{"name":"alexs-secret"}`},
		{"/api/notification/webhooks", hook},
		{"/api/notification/rules", `{"name":"alexs-secret","kinds":["marked"]}`},
	}
	for _, c := range makes {
		alex.want(http.MethodPost, c.path, c.body, http.StatusCreated)
	}
	s.api(http.MethodPost, "/api/people", `{"name":"visitor","role":"guest","media_user_names":["visitor"]}`, http.StatusCreated, nil)
	alex.want(http.MethodPost, fmt.Sprintf("/api/pending-candidates/%d/confirm", s.questions()[0].ID), `{"subject_id":900014}`, http.StatusAccepted)
	s.idle()
	if !dbtest.OnServer() { // which has tools of its own
		s.api(http.MethodPost, "/api/backups", "", http.StatusAccepted, nil)
		s.idle()
	}

	after := mira.sees(ops)
	for _, path := range slices.Sorted(maps.Keys(after)) {
		if before[path] != after[path] {
			t.Errorf("by what alex does %s of mira changes: %s", path, differing(before[path], after[path]))
		}
	}
	if len(after) < 80 {
		t.Errorf("only %d answers were looked at", len(after))
	}
	for _, c := range makes {
		mira.want(http.MethodPost, c.path, c.body, http.StatusCreated)
	}
	// A name that is somebody's is refused as one that is nobody's.
	alike := func(path, body, theirs, nobodys string) {
		t.Helper()
		ask := func(name string) string {
			got := mira.as(http.MethodPost, path, fmt.Sprintf(body, name))
			return strings.ReplaceAll(fmt.Sprintf("%d %s", got.status, got.body), name, "NAME")
		}
		if a, b := ask(theirs), ask(nobodys); a != b {
			t.Errorf("%s tells that %q is somebody: %s, and of nobody %s", path, theirs, a, b)
		}
	}
	alike("/api/accounts", `{"username":%q,"access_token":"wrong"}`, "alex", "nobody")
	alike("/api/accounts", `{"username":%q,"access_token":"`+miraToken+`"}`, "alex", "nobody")
	for _, name := range []string{"alex", "bench", "visitor"} {
		alike("/api/login", `{"name":%q,"password":"a wrong password"}`, name, "nobody")
		alike("/api/accounts", `{"username":"mira","access_token":"`+miraToken+`","media_user_names":[%q]}`, name, "nobody")
	}
}

// Who becomes a guest is nobody from the next request on.
func TestAGuestIsNobody(t *testing.T) {
	t.Parallel()
	s := startEmpty(t, "WATCHMARK_MATCHING_DATASET_ENABLED=false")
	if err := s.app.SetUp(t.Context(), "bench", password); err != nil {
		t.Fatal(err)
	}
	guest := s.joins("mira", miraToken)
	s.settled(s.custom(`{"title":"灯塔守望者","season":1,"episode":1,"user_name":"mira"}`))
	s.api(http.MethodPatch, fmt.Sprintf("/api/people/%d", guest.id), `{"role":"guest"}`, http.StatusOK, nil)
	nobody := member{s: s, cookie: "nobody's"}
	asked := 0
	answered := func(m member, c asking) (got answer) {
		asked++
		s.wait("strangers are answered again", func() bool { // of whom only so many requests a second are
			got = m.asks(c)
			return got.status != http.StatusTooManyRequests
		})
		return got
	}
	gets := func(m member, path string) answer {
		return answered(m, asking{http.MethodGet, regexp.MustCompile(`\{[^}]+\}`).ReplaceAllString(path, "1"), nil})
	}
	refused := gets(nobody, "/api/me")
	same := func(path string, right access.Right) {
		t.Helper()
		theirs := gets(guest, path)
		if right == access.Nothing && (theirs.status == refused.status && theirs.body == refused.body || strings.HasPrefix(theirs.header.Get("Location"), "/login?next=")) {
			return
		}
		if nobodys := gets(nobody, path); theirs.status != nobodys.status || passing.ReplaceAllString(theirs.body, "…") != passing.ReplaceAllString(nobodys.body, "…") {
			t.Errorf("%s answers a guest %d %.300s, and nobody %d %.300s", path, theirs.status, theirs.body, nobodys.status, nobodys.body)
		}
	}
	for _, op := range s.operations() {
		if op.method == http.MethodGet {
			rule, _ := access.Operation(op.id)
			same(op.path, rule.Nobody)
		}
	}
	for _, path := range access.Paths() {
		rule, _ := access.Path(path)
		same(path, rule.Nobody)
	}
	if asked < 100 {
		t.Errorf("only %d were asked", asked)
	}
	for _, tried := range []string{password, "a wrong password"} {
		signIn := func(name string) answer {
			return answered(nobody, asking{http.MethodPost, "/api/login", map[string]any{"name": name, "password": tried}})
		}
		theirs, nobodys := signIn("mira"), signIn("nobody")
		if theirs.status != nobodys.status || theirs.body != nobodys.body {
			t.Errorf("a guest is let in as %d %s, and nobody as %d %s", theirs.status, theirs.body, nobodys.status, nobodys.body)
		}
	}
}
