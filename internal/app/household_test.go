package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
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
