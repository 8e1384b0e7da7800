package app_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"watchmark/internal/testkit/catalogtest"
)

// agrees begins a connection as somebody, agrees at Bangumi as a user, and answers the way back.
func (s *service) agrees(as member, body, username string) (back string) {
	s.t.Helper()
	const secret = "secret-of-the-application"
	s.list.SetApp(catalogtest.App{ClientID: "watchmark-app", ClientSecret: secret, RedirectURI: s.url + "/api/accounts/oauth/callback", Username: username})
	s.api(http.MethodPatch, "/api/settings", `{"catalog":{"oauth_client_id":"watchmark-app","oauth_client_secret":"`+secret+`"}}`, http.StatusOK, nil)
	var begun struct {
		AuthorizeURL string `json:"authorize_url"`
	}
	into(s.t, as.want(http.MethodPost, "/api/accounts/oauth/start", body, http.StatusOK).body, &begun)
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, begun.AuthorizeURL, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	response, err := browser.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = response.Body.Close()
	at, err := url.Parse(response.Header.Get("Location"))
	if err != nil || at.Query().Get("code") == "" {
		s.t.Fatalf("Bangumi leads to %q: %v", response.Header.Get("Location"), err)
	}
	return "/api/accounts/oauth/callback?" + at.RawQuery
}

// A person connects their account at Bangumi's own page. Who else opens the way back gets nothing, nor does anybody learn of the accounts of others.
func TestAPersonConnectsTheirAccountByOAuth(t *testing.T) {
	s := startEmpty(t)
	if err := s.app.SetUp(t.Context(), "bench", password); err != nil {
		t.Fatal(err)
	}
	alex := s.joins("alex", alexToken)
	mira := s.invited("mira")
	mira.want(http.MethodPost, "/api/accounts/oauth/start", "", http.StatusConflict) // no application is set
	leads := func(got answer, to string) {
		t.Helper()
		if at := got.header.Get("Location"); got.status != http.StatusSeeOther || !strings.HasSuffix(at, to) {
			t.Errorf("the way back answers %d and leads to %q, not %q", got.status, at, to)
		}
	}
	before := s.settled(s.custom(`{"title":"灯塔守望者","season":1,"episode":2,"user_name":"mira"}`)).ID
	back := s.agrees(mira, "", "mira")
	leads(alex.as(http.MethodGet, back, ""), "/mine/account?oauth_error=state")
	leads(s.get(back), "/people?oauth_error=state") // the owner
	if nobody := s.do(s.request(http.MethodGet, back, "", "")); nobody.status != http.StatusSeeOther || !strings.Contains(nobody.header.Get("Location"), "/login?next=") {
		t.Errorf("nobody is led to %q", nobody.header.Get("Location"))
	}
	back = s.agrees(mira, "", "mira")
	leads(mira.as(http.MethodGet, back, ""), "/mine/account?connected=2")
	leads(mira.as(http.MethodGet, back, ""), "/mine/account?oauth_error=state") // once
	var page struct {
		Items []struct {
			ID             int64
			Username       string
			AuthMethod     string   `json:"auth_method"`
			MediaUserNames []string `json:"media_user_names"`
			PersonID       int64    `json:"person_id"`
		}
	}
	into(t, mira.want(http.MethodGet, "/api/accounts", "", http.StatusOK).body, &page)
	if len(page.Items) != 1 || page.Items[0].Username != "mira" || page.Items[0].AuthMethod != "oauth" || page.Items[0].PersonID != mira.id || fmt.Sprint(page.Items[0].MediaUserNames) != "[mira]" {
		t.Errorf("mira has %+v", page.Items)
	}
	s.become([]int64{before}, "success")
	if r := s.settled(s.custom(`{"title":"灯塔守望者","season":1,"episode":1,"user_name":"mira"}`)); r.Status != "success" || r.AccountName != "mira" {
		t.Errorf("what mira watches is %+v", r)
	}
	if shown := mira.want(http.MethodGet, "/mine/account?connected=2", "", http.StatusOK).body; !strings.Contains(shown, "Account mira is connected") || !strings.Contains(shown, "/api/accounts/oauth/start") {
		t.Error("the page does not say that the account is connected, or offers no sign-in at Bangumi")
	}
	// The account of another is as one that does not exist, and the user of another's account is nobody's new one.
	theirs, nobodys := mira.want(http.MethodPost, "/api/accounts/oauth/start", `{"account_id":1}`, http.StatusNotFound), mira.want(http.MethodPost, "/api/accounts/oauth/start", `{"account_id":4711}`, http.StatusNotFound)
	if theirs.body != nobodys.body {
		t.Errorf("the account of alex is told as %s, one that is not there as %s", theirs.body, nobodys.body)
	}
	leads(mira.as(http.MethodGet, s.agrees(mira, "", "alex"), ""), "/mine/account?oauth_error=taken")
	leads(mira.as(http.MethodGet, s.agrees(mira, `{"account_id":2}`, "alex"), ""), "/mine/account?oauth_error=other_user")
	leads(mira.as(http.MethodGet, s.agrees(mira, `{"account_id":2}`, "mira"), ""), "/mine/account?connected=2")
	// Given to somebody else meanwhile, it is not connected for who had it.
	back = s.agrees(mira, `{"account_id":2}`, "mira")
	s.api(http.MethodPatch, "/api/accounts/2", fmt.Sprintf(`{"person_id":%d}`, alex.id), http.StatusOK, nil)
	leads(mira.as(http.MethodGet, back, ""), "/mine/account?oauth_error=state")
}
