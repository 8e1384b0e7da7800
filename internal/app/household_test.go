package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"watchmark/internal/door/access"
	"watchmark/internal/door/auth"
)

// member is somebody of a household who signs in.
type member struct {
	s      *service
	id     int64
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

// joins adds a person, who accepts an invitation and connects an account with a token.
func (s *service) joins(name, token string) member {
	s.t.Helper()
	var person struct {
		ID int64 `json:"id"`
	}
	s.api(http.MethodPost, "/api/people", fmt.Sprintf(`{"name":%q,"role":"person","media_user_names":[%[1]q]}`, name), http.StatusCreated, &person)
	var invited struct {
		URL string `json:"url"`
	}
	s.api(http.MethodPost, fmt.Sprintf("/api/people/%d/invitation", person.ID), "", http.StatusOK, &invited)
	link, err := url.Parse(invited.URL)
	if err != nil {
		s.t.Fatal(err)
	}
	if page := s.do(s.request(http.MethodGet, link.RequestURI(), "", "")); page.status != http.StatusOK || !strings.Contains(page.body, name) {
		s.t.Fatalf("the page of the invitation answers %d: %s", page.status, page.body)
	}
	accepted := s.do(s.request(http.MethodPost, "/api/invitation", "application/json", fmt.Sprintf(`{"token":%q,"password":%q}`, link.Query().Get("token"), password)))
	m := member{s: s, id: person.ID}
	for _, cookie := range (&http.Response{Header: accepted.header}).Cookies() {
		if cookie.Name == auth.CookieName {
			m.cookie = cookie.Value
		}
	}
	if strings.Contains(s.logs.String(), link.Query().Get("token")) {
		s.t.Error("the log has the token of the invitation")
	}
	// A token of somebody else is not saved.
	m.want(http.MethodPost, "/api/accounts", fmt.Sprintf(`{"username":%q,"access_token":"wrong"}`, name), http.StatusUnprocessableEntity)
	if made := m.want(http.MethodPost, "/api/accounts", fmt.Sprintf(`{"username":%q,"access_token":%q}`, name, token), http.StatusCreated); strings.Contains(made.body, token) {
		s.t.Error("the answer has the token")
	}
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

// Two people of a household sign in, connect, watch and take back; nobody sees or changes anything of the other.
func TestAHousehold(t *testing.T) {
	s := startEmpty(t, "WATCHMARK_SERVER_METRICS=true")
	if err := s.app.SetUp(t.Context(), "bench", password); err != nil {
		t.Fatal(err)
	}
	mira, alex := s.joins("mira", miraToken), s.joins("alex", alexToken)
	s.api(http.MethodPost, "/api/people", `{"name":"visitor","role":"guest","media_user_names":["visitor"]}`, http.StatusCreated, nil)
	records := map[string]int64{}
	for who, title := range map[string]string{"mira": "灯塔守望者", "alex": "风之测量师", "visitor": "灯塔守望者"} {
		records[who] = s.settled(s.custom(fmt.Sprintf(`{"title":%q,"season":1,"episode":1,"user_name":%q}`, title, who))).ID
	}
	if r := s.settled(records["visitor"]); r.Status != "ignored" {
		t.Errorf("what a guest watched is %s", r.Status)
	}
	if got := mira.want(http.MethodGet, "/api/records", "", http.StatusOK); !strings.Contains(got.body, "灯塔守望者") || strings.Contains(got.body, "风之测量师") || strings.Contains(got.body, "visitor") {
		t.Errorf("mira lists %s", got.body)
	}
	for _, at := range []string{"", "/unmark"} {
		method := map[string]string{"": http.MethodGet, "/unmark": http.MethodPost}[at]
		theirs := mira.want(method, fmt.Sprintf("/api/records/%d%s", records["alex"], at), "", http.StatusNotFound)
		nobodys := mira.want(method, "/api/records/4711"+at, "", http.StatusNotFound)
		if theirs.body != nobodys.body {
			t.Errorf("%s tells %s of the record of somebody else, %s of none", at, theirs.body, nobodys.body)
		}
	}
	before := s.settled(records["alex"])
	if r := s.settled(records["mira"]); r.Status != "success" {
		t.Errorf("the record of mira is %s: %s", r.Status, r.Message)
	}
	mira.want(http.MethodPost, fmt.Sprintf("/api/records/%d/unmark", records["mira"]), "", http.StatusOK)
	if after := s.settled(records["alex"]); after != before {
		t.Errorf("the record of alex is %+v, was %+v", after, before)
	}

	// The pages.
	for path, has := range map[string]string{"/mine": "灯塔守望者", "/mine/account": "mira", "/mine/access": "password"} {
		page := mira.want(http.MethodGet, path, "", http.StatusOK)
		if !strings.Contains(page.body, has) {
			t.Errorf("%s of mira lacks %s", path, has)
		}
		for _, leak := range []string{"alex", "风之测量师", "visitor", "bench", "/settings"} {
			if strings.Contains(page.body, leak) {
				t.Errorf("%s of mira shows %s", path, leak)
			}
		}
	}
	if page := mira.want(http.MethodGet, "/mine?q=%E9%A3%8E", "", http.StatusOK); strings.Contains(page.body, "风之测量师") {
		t.Error("a search of mira finds what alex watched")
	}
	part := regexp.MustCompile(`\{[^}]+\}`)
	for _, path := range access.Paths() {
		if rule, _ := access.Path(path); rule.Person != access.Nothing {
			continue
		}
		at := part.ReplaceAllString(strings.ReplaceAll(path, "{$}", ""), fmt.Sprint(records["alex"]))
		if got := mira.as(http.MethodGet, at, ""); got.status != http.StatusForbidden && (at != "/" || got.status != http.StatusSeeOther) {
			t.Errorf("%s of mira answers %d", at, got.status)
		} else if strings.Contains(got.body, "风之测量师") || strings.Contains(got.body, "alex") {
			t.Errorf("%s of mira tells of alex", at)
		}
	}

	// The owner sees all, and no token.
	for _, path := range []string{"/api/accounts", "/api/people", "/people/household", "/people"} {
		got := s.get(path)
		if got.status != http.StatusOK || !strings.Contains(got.body, "alex") {
			t.Errorf("%s of the owner answers %d", path, got.status)
		}
		if strings.Contains(got.body, alexToken) {
			t.Errorf("%s shows a token", path)
		}
	}
	var me struct {
		Role string `json:"role"`
	}
	if err := json.Unmarshal([]byte(alex.want(http.MethodGet, "/api/me", "", http.StatusOK).body), &me); err != nil || me.Role != "person" {
		t.Errorf("alex is %q, %v", me.Role, err)
	}

	// What the service logs is about everybody.
	alex.want(http.MethodGet, "/api/logs/stream", "", http.StatusForbidden)
	s.api(http.MethodDelete, fmt.Sprintf("/api/people/%d", alex.id), "", http.StatusNoContent, nil)
	alex.want(http.MethodGet, "/api/me", "", http.StatusUnauthorized)
	s.api(http.MethodGet, fmt.Sprintf("/api/records/%d", records["alex"]), "", http.StatusOK, nil)
}
