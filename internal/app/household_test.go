package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"watchmark/internal/door/auth"
)

// member is somebody of a household who signs in.
type member struct {
	s      *service
	id     int64
	user   string // at a media server
	cookie string
}

// as sends a request of somebody who is signed in.
func (m member) as(method, path, body string) answer {
	m.s.t.Helper()
	request := m.s.request(method, path, "application/json", body)
	request.Header.Set("Cookie", auth.CookieName+"="+m.cookie)
	return m.s.do(request)
}

// want is as for an answer with a status.
func (m member) want(method, path, body string, status int) answer {
	m.s.t.Helper()
	got := m.as(method, path, body)
	if got.status != status {
		m.s.t.Fatalf("%s %s answers %d, not %d: %.500s", method, path, got.status, status, got.body)
	}
	return got
}

// invites adds a person with names of media-server users, and answers the token of an invitation.
func (s *service) invites(name string, users ...string) (id int64, token string) {
	s.t.Helper()
	names, err := json.Marshal(append([]string{}, users...))
	if err != nil {
		s.t.Fatal(err)
	}
	var person struct{ ID int64 }
	s.api(http.MethodPost, "/api/people", fmt.Sprintf(`{"name":%q,"role":"person","media_user_names":%s}`, name, names), http.StatusCreated, &person)
	var invited struct{ URL string }
	s.api(http.MethodPost, fmt.Sprintf("/api/people/%d/invitation", person.ID), "", http.StatusOK, &invited)
	link, err := url.Parse(invited.URL)
	if err != nil {
		s.t.Fatal(err)
	}
	if page := s.do(s.request(http.MethodGet, link.RequestURI(), "", "")); page.status != http.StatusOK || !strings.Contains(page.body, name) {
		s.t.Fatalf("the page of the invitation answers %d: %s", page.status, page.body)
	}
	return person.ID, link.Query().Get("token")
}

// enters asks for a way in, and answers the session and the whole answer.
func (s *service) enters(path, body string, args ...any) (session string, got answer) {
	s.t.Helper()
	got = s.do(s.request(http.MethodPost, path, "application/json", fmt.Sprintf(body, args...)))
	return got.cookie(auth.CookieName), got
}

// cookie is the value of a cookie that an answer sets.
func (a answer) cookie(name string) string {
	for _, cookie := range (&http.Response{Header: a.header}).Cookies() {
		if cookie.Name == name {
			return cookie.Value
		}
	}
	return ""
}

// invited adds a person who is one media-server user, accepts an invitation with a password, and has no account.
func (s *service) invited(name string) member {
	s.t.Helper()
	id, token := s.invites(name, name)
	session, _ := s.enters("/api/invitation", `{"token":%q,"password":%q}`, token, password)
	if strings.Contains(s.logs.String(), token) {
		s.t.Error("the log has the token of the invitation")
	}
	return member{s: s, id: id, cookie: session}
}

// connectsAccount adds the account of a person, with a token that the catalog confirms. A token of somebody else is not saved.
func (m member) connectsAccount(name, token string) {
	m.s.t.Helper()
	m.want(http.MethodPost, "/api/accounts", fmt.Sprintf(`{"username":%q,"access_token":"wrong"}`, name), http.StatusUnprocessableEntity)
	if made := m.want(http.MethodPost, "/api/accounts", fmt.Sprintf(`{"username":%q,"access_token":%q}`, name, token), http.StatusCreated); strings.Contains(made.body, token) {
		m.s.t.Error("the answer has the token")
	}
}

// joins is invited, and connects an account.
func (s *service) joins(name, token string) member {
	s.t.Helper()
	m := s.invited(name)
	m.connectsAccount(name, token)
	return m
}

// What somebody watched before they had an account is marked once they have one.
func TestWhatWasWatchedBeforeTheAccountIsMarked(t *testing.T) {
	s := startEmpty(t)
	if err := s.app.SetUp(t.Context(), "bench", password); err != nil {
		t.Fatal(err)
	}
	watched := s.custom(`{"title":"灯塔守望者","season":1,"episode":1,"user_name":"mira"}`)
	if r := s.settled(watched); r.Status != "error" {
		t.Fatalf("without an account the record is %s", r.Status)
	}
	mira := s.joins("mira", miraToken)
	s.become([]int64{watched}, "success")
	if got := mira.want(http.MethodGet, "/api/records", "", http.StatusOK); !strings.Contains(got.body, "灯塔守望者") {
		t.Errorf("mira lists %s", got.body)
	}
}

// Two people answer the same question, each for themselves. The owner reads who answered what, and undoes the answer of one on the page: that
// one's mark is taken back, and that one is asked again; the other's stays.
func TestTheOwnerUndoesTheAnswerOfAPerson(t *testing.T) {
	t.Parallel()
	s := startEmpty(t)
	if err := s.app.SetUp(t.Context(), "bench", password); err != nil {
		t.Fatal(err)
	}
	mira, alex := s.joins("mira", miraToken), s.joins("alex", alexToken)
	var records []int64
	for _, user := range []string{"mira", "alex"} {
		records = append(records, s.custom(fmt.Sprintf(`{"title":"Moonshade Teahouse","season":1,"episode":1,"user_name":%q}`, user)))
	}
	s.become(records, "review")
	question := s.questions()[0].ID
	path := fmt.Sprintf("/api/pending-candidates/%d", question)
	for _, m := range []member{mira, alex} {
		m.want(http.MethodPost, path+"/confirm", `{"subject_id":900014}`, http.StatusAccepted)
	}
	s.become(records, "success")
	if marked := s.marked(); len(marked) != 2 {
		t.Fatalf("marked are %v", marked)
	}
	buttons := func(page answer) (urls []string) {
		t.Helper()
		for _, found := range regexp.MustCompile(`data-url="(/api/pending-candidates/\d+/undo\?person_id=\d+)"\s+data-done="[^"]+"\s+data-confirm="[^"]+"`).FindAllStringSubmatch(page.body, -1) {
			urls = append(urls, found[1])
		}
		slices.Sort(urls)
		return urls
	}
	undo := func(m member) string { return fmt.Sprintf("%s/undo?person_id=%d", path, m.id) }
	if got, want := buttons(s.get("/review")), []string{undo(mira), undo(alex)}; !slices.Equal(got, want) {
		t.Fatalf("the owner undoes %v, not %v", got, want)
	}
	answers := func(ask func(path string) answer, person int64) string {
		return ask(fmt.Sprintf("/api/pending-candidates?status=confirmed&person_id=%d", person)).body
	}
	byMira := func(path string) answer { return mira.want(http.MethodGet, path, "", http.StatusOK) }
	if got := answers(s.get, mira.id); !strings.Contains(got, `"subject_id":900014`) {
		t.Errorf("the owner reads of the answers of mira %s", got)
	}
	if got := answers(s.get, 0); strings.Contains(got, `"subject_id":900014`) {
		t.Errorf("as answers for all the owner reads %s", got)
	}

	// Whomever a person names, it is their own answer.
	if answers(byMira, alex.id) != answers(byMira, mira.id) || len(buttons(byMira("/review"))) != 0 || strings.Contains(byMira("/review").body, "alex") {
		t.Error("mira reads what alex answered")
	}

	s.api(http.MethodPost, buttons(s.get("/review"))[0], "", http.StatusAccepted, nil)
	s.become(records[:1], "review")
	marked := s.marked()
	if len(marked) != 1 || !strings.HasPrefix(slices.Collect(maps.Keys(marked))[0], "alex/") {
		t.Errorf("marked are %v", marked)
	}
	if got := buttons(s.get("/review")); !slices.Equal(got, []string{undo(alex)}) {
		t.Errorf("the owner still undoes %v", got)
	}
	if got := byMira("/api/pending-candidates").body; !strings.Contains(got, fmt.Sprintf(`"id":%d`, question)) {
		t.Errorf("mira is not asked again: %s", got)
	}
	if r := s.settled(records[1]); r.Status != "success" {
		t.Errorf("the record of alex is %s", r.Status)
	}
	mira.want(http.MethodPost, undo(alex), "", http.StatusConflict)
}

// The owner reads whose a user without an account is: of somebody who is still to connect one, it waits; another's account is not offered.
func TestAUserWithoutAnAccountIsSaidToBeOfAPerson(t *testing.T) {
	t.Parallel()
	s := startEmpty(t)
	if err := s.app.SetUp(t.Context(), "bench", password); err != nil {
		t.Fatal(err)
	}
	s.joins("alex", alexToken)
	mira := s.invited("mira")
	s.api(http.MethodPatch, "/api/accounts/1", `{"enabled":false}`, http.StatusOK, nil)
	var ids []int64
	for _, user := range []string{"mira", "alex", "stranger"} {
		ids = append(ids, s.custom(fmt.Sprintf(`{"title":"灯塔守望者","season":1,"episode":1,"user_name":%q}`, user)))
	}
	s.become(ids, "error")
	const newcomer, known = "This user is mira, who has not connected an account yet", "This user is alex."
	has := func(path string, texts ...string) {
		t.Helper()
		page := s.get(path)
		for _, text := range []string{newcomer, known} {
			if strings.Contains(page.body, text) != slices.Contains(texts, text) {
				t.Errorf("%s answers %d, and says or leaves out %q: %.2000s", path, page.status, text, page.body)
			}
		}
	}
	for _, path := range []string{"/people", "/records?unrouted=", "/inbox"} {
		has(path, newcomer, known)
	}
	for i, texts := range [][]string{{newcomer}, {known}, nil} {
		has(fmt.Sprintf("/records/%d", ids[i]), texts...)
	}
	if page := s.get(fmt.Sprintf("/records/%d", ids[0])); strings.Contains(page.body, "/people/assign") || !strings.Contains(page.body, `href="/people/household"`) {
		t.Error("an account of somebody else is offered, or the way to the household is missing")
	}
	if got := s.get("/api/unknown-users").body; !strings.Contains(got, fmt.Sprintf(`"person_id":%d`, mira.id)) || !strings.Contains(got, `"person_id":0`) {
		t.Errorf("the list of users is %s", got)
	}
	mira.connectsAccount("mira", miraToken)
	s.become(ids[:1], "success")
	has("/people", known)
}
