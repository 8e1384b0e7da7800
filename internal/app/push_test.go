package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/testkit/channeltest"
)

// pushed is what a browser reads of a message.
type pushed struct {
	Title, Text, Tag, Page, Lang, Failed string
	Actions                              []struct{ Title, Token string }
}

// trustsPush are settings with which the service trusts a simulated push service, and lets people send there.
func trustsPush(t *testing.T) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "push.pem")
	if err := os.WriteFile(file, channeltest.Certificate(), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"WATCHMARK_NETWORK_CA_CERTIFICATES=" + file, "WATCHMARK_NOTIFICATION_PEOPLE_HOME_NETWORK=true"}
}

var pushKey = regexp.MustCompile(`data-key="([A-Za-z0-9_-]{87})"`)

// subscribe has a browser subscribe by the key on the page, and tell so with send; it answers the body that the browser sends.
func subscribe(t *testing.T, push *channeltest.Push, page string, send func(body string) answer) (*channeltest.PushBrowser, string, int64) {
	t.Helper()
	key := pushKey.FindStringSubmatch(page)
	if key == nil {
		t.Fatalf("the page has no key: %s", page)
	}
	b := push.Subscribe(key[1])
	body := fmt.Sprintf(`{"endpoint":%q,"expirationTime":null,"keys":{"p256dh":%q,"auth":%q}}`, b.Endpoint, b.P256dh, b.Auth)
	got := send(body)
	var made struct{ ID int64 }
	if err := json.Unmarshal([]byte(got.body), &made); err != nil || got.status != http.StatusCreated {
		t.Fatalf("subscribing answers %d: %s", got.status, got.body)
	}
	return b, body, made.ID
}

const subscribePage = "/messages/channels/new?type=browser"

// ownBrowser is a browser of the owner.
func (s *service) ownBrowser(push *channeltest.Push) (*channeltest.PushBrowser, int64) {
	s.t.Helper()
	b, _, id := subscribe(s.t, push, s.get(subscribePage).body, func(body string) answer {
		return s.api(http.MethodPost, "/api/push/subscriptions", body, http.StatusCreated, nil)
	})
	return b, id
}

// browser is one of somebody of the household.
func (m member) browser(push *channeltest.Push) (b *channeltest.PushBrowser, body string, id int64) {
	m.s.t.Helper()
	return subscribe(m.s.t, push, m.as(http.MethodGet, subscribePage, "").body, func(body string) answer {
		return m.as(http.MethodPost, "/api/push/subscriptions", body)
	})
}

// readPush waits until a browser has n messages, and reads the last.
func readPush(t *testing.T, b *channeltest.PushBrowser, n int) (p pushed) {
	t.Helper()
	got := b.Wait(t, n)
	last := got[n-1]
	if last.Err != nil {
		t.Fatalf("the browser cannot read it: %v", last.Err)
	}
	if err := json.Unmarshal(last.Plain, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// tap sends an answer as the worker of a browser does that is signed in no more.
func (s *service) tap(token string, status int) string {
	s.t.Helper()
	request := s.request(http.MethodPost, "/api/push/answers", "application/json", fmt.Sprintf(`{"token":%q}`, token))
	request.Header.Set("Accept-Language", "zh-CN")
	got := s.do(request)
	if got.status != status {
		s.t.Fatalf("the answer is %d, not %d: %s", got.status, status, got.body)
	}
	return got.body
}

func TestAQuestionIsAnsweredFromANotification(t *testing.T) {
	t.Parallel()
	s := start(t, append(trustsPush(t), "WATCHMARK_NOTIFICATION_LANGUAGE=zh-CN")...)
	push := channeltest.NewPush(t)
	phone, id := s.ownBrowser(push)

	// A test reaches the device, and what is secret is shown nowhere.
	s.api(http.MethodPost, fmt.Sprintf("/api/notification/browsers/%d/test", id), "", http.StatusOK, nil)
	if p := readPush(t, phone, 1); p.Title == "" || p.Page != "/inbox" || len(p.Actions) != 0 {
		t.Errorf("the test is %+v", p)
	}
	listed := s.api(http.MethodGet, "/api/notification/browsers", "", http.StatusOK, nil).body
	for _, secret := range []string{phone.Endpoint, phone.P256dh, phone.Auth} {
		if strings.Contains(listed, secret) || strings.Contains(s.logs.String(), secret) {
			t.Errorf("%s is told", secret)
		}
	}

	// A form that only renames it leaves the keys.
	s.api(http.MethodPut, fmt.Sprintf("/api/notification/browsers/%d", id),
		`{"name":"phone","config":{"endpoint":"***","p256dh":"***","auth":"***","site":"","language":"zh-CN"}}`, http.StatusOK, nil)

	ids := []int64{s.custom(teahouse(1))}
	s.become(ids, "review")
	asked := readPush(t, phone, 2)
	best := s.questions()[0].Candidates[0].SubjectID
	if len(asked.Actions) != 2 || asked.Actions[0].Title != "就是它" || asked.Actions[1].Title != "以后再说" || asked.Page != "/review" || asked.Lang != "zh-CN" || asked.Failed == "" {
		t.Fatalf("the question is %+v", asked)
	}
	if strings.Contains(s.logs.String(), asked.Actions[0].Token) {
		t.Error("the log has a token")
	}
	said := s.tap(asked.Actions[0].Token, http.StatusOK)
	s.become(ids, "success")
	if diff := cmp.Diff(map[string]bool{fmt.Sprintf("mira/%d01", best): true}, s.marked()); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
	if !strings.Contains(said, "对应") {
		t.Errorf("it says %s", said)
	}
	s.tap(asked.Actions[0].Token, http.StatusNotFound) // once
	if refused := s.tap(asked.Actions[1].Token, http.StatusConflict); !strings.Contains(refused, "情况有变") {
		t.Errorf("an answer to what was answered says %s", refused)
	}
	s.tap("AAAAAAAAAAAAAAAAAAAAAAAAAA", http.StatusNotFound)
	if len(s.marked()) != 1 {
		t.Errorf("marked is %v", s.marked())
	}
}

func TestAnAnswerOfAnotherKindIsNotOverruled(t *testing.T) {
	t.Parallel()
	s := start(t, trustsPush(t)...)
	push := channeltest.NewPush(t)
	phone, id := s.ownBrowser(push)
	s.api(http.MethodPost, "/api/notification/rules", `{"name":"each time","kinds":["review_waiting"],"cooldown":0}`, http.StatusCreated, nil)
	ids := []int64{s.custom(teahouse(1))}
	s.become(ids, "review")
	asked := readPush(t, phone, 1)

	// Not now: the question waits for the next episode, which asks again.
	if said := s.tap(asked.Actions[1].Token, http.StatusOK); !strings.Contains(said, "stays unmarked") {
		t.Errorf("it says %s", said)
	}
	if open := s.questions(); len(open) != 0 {
		t.Errorf("after “not now” it asks %+v", open)
	}
	s.tap(asked.Actions[0].Token, http.StatusConflict)
	ids = append(ids, s.custom(teahouse(2)))
	s.become(ids, "review")
	again := readPush(t, phone, 2)

	// Answered on the page in another way: the tap changes nothing.
	q := s.questions()[0]
	other := q.Candidates[len(q.Candidates)-1].SubjectID
	s.api(http.MethodPost, fmt.Sprintf("/api/pending-candidates/%d/confirm", q.ID), fmt.Sprintf(`{"subject_id":%d}`, other), http.StatusAccepted, nil)
	s.become(ids, "success")
	before := s.marked()
	s.tap(again.Actions[0].Token, http.StatusConflict)
	if diff := cmp.Diff(before, s.marked()); diff != "" {
		t.Errorf("the list changed: %s", diff)
	}

	// A channel that is switched off takes no answers.
	s.api(http.MethodDelete, fmt.Sprintf("/api/notification/browsers/%d", id), "", http.StatusNoContent, nil)
	s.tap(again.Actions[1].Token, http.StatusNotFound)
}

func TestAMarkIsTakenBackFromANotification(t *testing.T) {
	t.Parallel()
	s := start(t, trustsPush(t)...)
	push := channeltest.NewPush(t)
	phone, id := s.ownBrowser(push)
	s.api(http.MethodPost, "/api/notification/rules", `{"name":"marks","enabled":true,"kinds":["marked"]}`, http.StatusCreated, nil)
	first := s.custom(`{"title":"灯塔守望者","season":1,"episode":1,"user_name":"Mira"}`)
	s.become([]int64{first}, "success")
	told := readPush(t, phone, 1)
	if len(told.Actions) != 1 || told.Actions[0].Title != "Take back" || told.Page != fmt.Sprintf("/records/%d", first) {
		t.Fatalf("the mark is told as %+v", told)
	}
	if said := s.tap(told.Actions[0].Token, http.StatusOK); !strings.Contains(said, "Taken back: 灯塔守望者 S1E1") {
		t.Errorf("it says %s", said)
	}
	s.become([]int64{first}, "ignored")
	if len(s.marked()) != 0 {
		t.Errorf("marked is %v", s.marked())
	}

	// Marked anew since: that is another mark than the one that was shown.
	second := s.custom(`{"title":"灯塔守望者","season":1,"episode":2,"user_name":"Mira"}`)
	s.become([]int64{second}, "success")
	told = readPush(t, phone, 2)
	s.api(http.MethodPost, fmt.Sprintf("/api/records/%d/unmark", second), "", http.StatusOK, nil)
	s.api(http.MethodPost, fmt.Sprintf("/api/records/%d/retry", second), "", http.StatusAccepted, nil)
	s.become([]int64{second}, "success")
	s.tap(told.Actions[0].Token, http.StatusConflict)
	if len(s.marked()) != 1 {
		t.Errorf("marked is %v", s.marked())
	}

	// A browser that ended it is removed.
	phone.Unsubscribe()
	s.api(http.MethodPost, fmt.Sprintf("/api/notification/browsers/%d/test", id), "", http.StatusOK, nil)
	s.api(http.MethodGet, fmt.Sprintf("/api/notification/browsers/%d", id), "", http.StatusNotFound, nil)
}

func TestBrowsersOfAHousehold(t *testing.T) {
	t.Parallel()
	s := startEmpty(t, trustsPush(t)...)
	if err := s.app.SetUp(t.Context(), "bench", password); err != nil {
		t.Fatal(err)
	}
	mira, alex := s.joins("mira", miraToken), s.joins("alex", alexToken)
	push := channeltest.NewPush(t)
	hers, body, id := mira.browser(push)
	his, _, _ := alex.browser(push)
	owners, _ := s.ownBrowser(push)

	record := s.custom(strings.Replace(teahouse(1), "Mira", "mira", 1))
	s.become([]int64{record}, "review")
	asked := readPush(t, hers, 1)
	if len(asked.Actions) != 2 || !strings.HasPrefix(asked.Page, "/inbox/") {
		t.Fatalf("mira is asked %+v", asked)
	}
	// The owner hears of it, but the question is mira's.
	if told := readPush(t, owners, 1); len(told.Actions) != 0 {
		t.Errorf("the owner may answer for mira: %+v", told)
	}
	s.tap(asked.Actions[0].Token, http.StatusOK)
	s.become([]int64{record}, "success")
	if len(his.Got()) != 0 {
		t.Errorf("alex got %d messages", len(his.Got()))
	}
	if got := alex.want(http.MethodGet, "/api/mappings", "", http.StatusOK); strings.Contains(got.body, "Moonshade") {
		t.Errorf("the answer of mira holds for alex: %s", got.body)
	}
	for method, path := range map[string]string{
		http.MethodGet: "/api/notification/browsers/%d", http.MethodDelete: "/api/notification/browsers/%d", http.MethodPost: "/api/notification/browsers/%d/test",
	} {
		if theirs, nobodys := alex.want(method, fmt.Sprintf(path, id), "", http.StatusNotFound), alex.want(method, fmt.Sprintf(path, 4711), "", http.StatusNotFound); theirs.body != nobodys.body {
			t.Errorf("%s tells %s", method, theirs.body)
		}
	}

	// The same browser again is one channel, and who signs in there next has it.
	mira.want(http.MethodPost, "/api/push/subscriptions", body, http.StatusCreated)
	if got := mira.want(http.MethodGet, "/api/notification/browsers", "", http.StatusOK); strings.Count(got.body, `"type":"browser"`) != 1 {
		t.Errorf("mira has %s", got.body)
	}
	second := s.custom(strings.Replace(teahouse(1), "Mira", "alex", 1))
	s.become([]int64{second}, "review")
	token := readPush(t, his, 1).Actions[0].Token
	alex.want(http.MethodPost, "/api/push/subscriptions", body, http.StatusCreated)
	if got := mira.want(http.MethodGet, "/api/notification/browsers", "", http.StatusOK); strings.Contains(got.body, `"type":"browser"`) {
		t.Errorf("mira still has %s", got.body)
	}

	// A new password ends what any device gets, and what it may answer.
	alex.want(http.MethodPost, "/api/password", fmt.Sprintf(`{"old":%q,"new":"another long password"}`, password), http.StatusOK)
	s.tap(token, http.StatusNotFound)
	if r := s.settled(second); r.Status != "review" {
		t.Errorf("the record of alex is %s", r.Status)
	}
	for _, wrong := range []string{
		`{"endpoint":"http://push.example.org/x","keys":{"p256dh":"x","auth":"x"}}`,
		strings.Replace(body, "https://", "ftp://", 1),
		`{"endpoint":"https://push.example.org/x","keys":{"p256dh":"BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4","auth":"AAAA"}}`,
	} {
		mira.want(http.MethodPost, "/api/push/subscriptions", wrong, http.StatusUnprocessableEntity)
	}
	if got := s.do(s.request(http.MethodPost, "/api/push/subscriptions", "application/json", body)); got.status != http.StatusUnauthorized {
		t.Errorf("nobody subscribes with %d", got.status)
	}
}

// “This one” is offered where the message says which one that is.
func TestAMessageWithoutTheEntryConfirmsNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"its name":         {"{top_candidate_name}?", []string{"This one", "Not now"}},
		"the usual text":   {"{text}", []string{"This one", "Not now"}},
		"the title played": {"{anime} waits", []string{"Not now"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, trustsPush(t)...)
			phone, _ := s.ownBrowser(channeltest.NewPush(t))
			var rules struct{ Items []struct{ ID int64 } }
			s.api(http.MethodGet, "/api/notification/rules", "", http.StatusOK, &rules)
			for _, rule := range rules.Items {
				s.api(http.MethodDelete, fmt.Sprintf("/api/notification/rules/%d", rule.ID), "", http.StatusNoContent, nil)
			}
			s.api(http.MethodPost, "/api/notification/rules", fmt.Sprintf(`{"name":"own words","kinds":["review_waiting"],"title":"?","text":%q}`, c.text), http.StatusCreated, nil)
			s.become([]int64{s.custom(teahouse(1))}, "review")
			var got []string
			for _, action := range readPush(t, phone, 1).Actions {
				got = append(got, action.Title)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("buttons (-want +got):\n%s", diff)
			}
		})
	}
}

// Who signs out ends the notifications of the browser it happens in, and of no other, least of all one of somebody else.
func TestSigningOutEndsTheBrowser(t *testing.T) {
	t.Parallel()
	s := startEmpty(t, trustsPush(t)...)
	if err := s.app.SetUp(t.Context(), "bench", password); err != nil {
		t.Fatal(err)
	}
	push := channeltest.NewPush(t)
	mira, alex := s.invited("mira"), s.invited("alex")
	hers, _, id := mira.browser(push)
	his, _, first := alex.browser(push)
	_, _, second := alex.browser(push)
	leaves := func(b *channeltest.PushBrowser) {
		alex.want(http.MethodPost, "/api/logout", fmt.Sprintf(`{"endpoint":%q}`, b.Endpoint), http.StatusNoContent)
		alex.cookie, _ = s.enters("/api/login", `{"name":"alex","password":%q}`, password)
	}
	has := func(m member, id int64, status int) {
		t.Helper()
		m.want(http.MethodGet, fmt.Sprintf("/api/notification/browsers/%d", id), "", status)
	}
	leaves(hers)
	has(mira, id, http.StatusOK)
	has(alex, first, http.StatusOK)
	leaves(his)
	has(alex, first, http.StatusNotFound)
	has(alex, second, http.StatusOK)
	has(mira, id, http.StatusOK)
}

// A password that is lost is set on the machine, or by an invitation: whoever had it before has no device left that is told, or that answers.
func TestANewPasswordEndsTheBrowsers(t *testing.T) {
	t.Parallel()
	s := startEmpty(t, trustsPush(t)...)
	if err := s.app.SetUp(t.Context(), "bench", password); err != nil {
		t.Fatal(err)
	}
	push := channeltest.NewPush(t)
	mira, alex := s.joins("mira", miraToken), s.joins("alex", alexToken)
	hers, _, id := mira.browser(push)
	_, _, his := alex.browser(push)
	_, owners := s.ownBrowser(push)
	record := s.custom(strings.Replace(teahouse(1), "Mira", "mira", 1))
	s.become([]int64{record}, "review")
	token := readPush(t, hers, 1).Actions[0].Token

	var invited struct{ URL string }
	s.api(http.MethodPost, fmt.Sprintf("/api/people/%d/invitation", mira.id), "", http.StatusOK, &invited)
	_, invitation, _ := strings.Cut(invited.URL, "token=")
	mira.cookie, _ = s.enters("/api/invitation", `{"token":%q,"password":"another long password"}`, invitation)
	mira.want(http.MethodGet, fmt.Sprintf("/api/notification/browsers/%d", id), "", http.StatusNotFound)
	s.tap(token, http.StatusNotFound)
	alex.want(http.MethodGet, fmt.Sprintf("/api/notification/browsers/%d", his), "", http.StatusOK)

	if err := s.app.Auth.SetPassword(t.Context(), "bench", "another long password"); err != nil {
		t.Fatal(err)
	}
	s.api(http.MethodGet, fmt.Sprintf("/api/notification/browsers/%d", owners), "", http.StatusNotFound, nil)
	alex.want(http.MethodGet, fmt.Sprintf("/api/notification/browsers/%d", his), "", http.StatusOK)
	if r := s.settled(record); r.Status != "review" || len(hers.Got()) != 1 {
		t.Errorf("the record is %s, and the device got %d messages", r.Status, len(hers.Got()))
	}
}

// Where people reach the internet alone, a push service at home is refused like any other address there.
func TestAPersonsBrowserIsNotAtHome(t *testing.T) {
	t.Parallel()
	s := startEmpty(t, trustsPush(t)[0])
	if err := s.app.SetUp(t.Context(), "bench", password); err != nil {
		t.Fatal(err)
	}
	mira := s.joins("mira", miraToken)
	b := channeltest.NewPush(t).Subscribe("x")
	for _, endpoint := range []string{b.Endpoint, "https://192.168.1.2/x", "https://[fe80::1]/x", "https://nas.local/x"} {
		got := mira.want(http.MethodPost, "/api/push/subscriptions", fmt.Sprintf(`{"endpoint":%q,"keys":{"p256dh":%q,"auth":%q}}`, endpoint, b.P256dh, b.Auth), http.StatusUnprocessableEntity)
		if !strings.Contains(got.body, "body.endpoint") {
			t.Errorf("%s: %s", endpoint, got.body)
		}
	}
}
