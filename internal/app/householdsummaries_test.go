package app_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"watchmark/internal/testkit/channeltest"
	"watchmark/internal/testkit/llmtest"
)

// Two people and the owner have a summary of the same name: each tells of what is theirs, to their own channels, and nobody reads anything of another's.
func TestSummariesOfPeople(t *testing.T) {
	t.Parallel()
	remote, base := llmtest.Start(t, llmtest.Config{})
	remote.Answer(func(r llmtest.Request) string { return "It was told: " + r.User }) // so that all that leaves comes back
	s := startEmpty(t, "WATCHMARK_NOTIFICATION_PEOPLE_HOME_NETWORK=true", "WATCHMARK_LLM_BASE_URL="+base, "WATCHMARK_LLM_MODEL=m-1")
	if err := s.app.SetUp(t.Context(), "bench", password); err != nil {
		t.Fatal(err)
	}
	mira, alex := s.joins("mira", miraToken), s.joins("alex", alexToken)
	ofOwner, ofMira, ofAlex := channeltest.NewHook(t), channeltest.NewHook(t), channeltest.NewHook(t)
	hook := func(h *channeltest.Hook) string { return fmt.Sprintf(`{"name":"phone","config":{"url":%q}}`, h.URL) }
	s.api(http.MethodPost, "/api/notification/webhooks", hook(ofOwner), http.StatusCreated, nil)
	s.api(http.MethodPost, "/api/notification/rules", `{"name":"all"}`, http.StatusCreated, nil)
	for m, h := range map[member]*channeltest.Hook{mira: ofMira, alex: ofAlex} {
		m.want(http.MethodPost, "/api/notification/webhooks", hook(h), http.StatusCreated)
		m.want(http.MethodPost, "/api/notification/rules", `{"name":"summaries","kinds":["summary_ready"]}`, http.StatusCreated)
	}
	alex.want(http.MethodPost, "/api/blocked-keywords", `{"keyword":"月影茶馆","kind":"exact"}`, http.StatusCreated)
	for _, e := range []string{
		`{"title":"灯塔守望者","season":1,"episode":1,"user_name":"mira"}`, `{"title":"风之测量师","season":1,"episode":1,"user_name":"alex"}`,
		`{"title":"月影茶馆","season":1,"episode":1,"user_name":"alex"}`, `{"title":"没有账号的人看的","season":1,"episode":1,"user_name":"stranger"}`,
	} {
		s.settled(s.custom(e))
	}

	const jobs, named = "/api/summary/jobs", "/api/summary/jobs/daily"
	s.api(http.MethodPost, jobs, `{"name":"daily","user":"nobody"}`, http.StatusCreated, nil)
	for _, m := range []member{mira, alex} {
		m.want(http.MethodPost, jobs, `{"name":"daily","channels":[1,2,3]}`, http.StatusCreated)
		m.want(http.MethodPost, jobs, `{"name":"daily"}`, http.StatusConflict)
	}
	alex.want(http.MethodPost, jobs, `{"name":"secret-of-alex","cron":"0 21 * * 1"}`, http.StatusCreated)
	alex.want(http.MethodPost, jobs, `{"name":"often","cron":"*/30 * * * *"}`, http.StatusUnprocessableEntity)
	leaks := []string{"灯塔守望者", "mira", "月影茶馆", "没有账号", "stranger"}
	clean := func(what, text string) {
		t.Helper()
		if i := slices.IndexFunc(leaks, func(leak string) bool { return strings.Contains(text, leak) }); i >= 0 {
			t.Errorf("%s has %s: %s", what, leaks[i], text)
		}
	}
	tried := alex.want(http.MethodPost, named+"/test", "", http.StatusOK)
	if !strings.Contains(tried.body, "风之测量师") || !strings.Contains(tried.body, `"records":1`) || !strings.Contains(tried.body, `"model":"m-1"`) {
		t.Errorf("a try of alex says %s", tried.body)
	}
	clean("a try of alex", tried.body)
	if got := alex.want(http.MethodPost, named+"/trigger", "", http.StatusOK); !strings.Contains(got.body, `"told":true`) {
		t.Errorf("a run of alex says %s", got.body)
	}
	message := string(ofAlex.Wait(t, 1)[0].Body)
	if !strings.Contains(message, "风之测量师") {
		t.Errorf("the message is %s", message)
	}
	clean("the message", message)
	for _, path := range []string{jobs, named + "/results", "/api/notification/inbox?kind=summary_ready", "/messages/summaries", "/messages/summaries/daily", "/messages/summaries/secret-of-alex"} {
		got := alex.want(http.MethodGet, path, "", http.StatusOK)
		clean(path, got.body)
	}

	// It names a user who is somebody else: nothing is theirs.
	alex.want(http.MethodPut, "/api/summary/jobs/secret-of-alex", `{"user":"mira","cron":"0 21 * * 1","skip_empty":false}`, http.StatusOK)
	if got := alex.want(http.MethodPost, "/api/summary/jobs/secret-of-alex/test", "", http.StatusOK); !strings.Contains(got.body, `"records":0`) {
		t.Errorf("what mira watched is told to alex: %s", got.body)
	}

	// The owner and mira see nothing of it: not the text, not the name, not that there is one.
	for path, status := range map[string]int{jobs: 200, "/messages/summaries": 200, "/api/notification/inbox?limit=200": 200, "/inbox": 200, "/api/llm/usage": 200, "/messages/llm": 200, "/api/tasks": 200,
		jobs + "/secret-of-alex": 404, "/messages/summaries/secret-of-alex": 404, named + "/results": 200} {
		for who, got := range map[string]answer{"the owner": s.get(path), "mira": mira.as(http.MethodGet, path, "")} {
			if who == "mira" && (path == "/api/llm/usage" || path == "/messages/llm") {
				continue
			}
			if got.status != status || status == 200 && strings.Contains(got.body, "secret-of-alex") || strings.Contains(got.body, "It was told") {
				t.Errorf("%s reads %d at %s: %.600s", who, got.status, path, got.body)
			}
		}
	}
	if got := s.get("/api/llm/usage"); !strings.Contains(got.body, `"job":"*"`) || !strings.Contains(got.body, `"requests":2`) {
		t.Errorf("the use of the model is %s", got.body)
	}
	for _, h := range []*channeltest.Hook{ofOwner, ofMira} {
		for _, r := range h.Requests() {
			if strings.Contains(string(r.Body), "It was told") {
				t.Errorf("another one is told %s", r.Body)
			}
		}
	}

	// By hand it is run so often, and no more.
	for i := range 5 {
		status := http.StatusOK
		if i >= 2 {
			status = http.StatusTooManyRequests
		}
		alex.want(http.MethodPost, named+"/test", "", status)
	}
	mira.want(http.MethodPost, named+"/test", "", http.StatusOK)
	for i := range 4 {
		status := http.StatusCreated
		if i == 3 {
			status = http.StatusConflict
		}
		alex.want(http.MethodPost, jobs, fmt.Sprintf(`{"name":"more-%d"}`, i), status)
	}

	// Who is removed leaves nothing of it.
	s.api(http.MethodDelete, fmt.Sprintf("/api/people/%d", alex.id), "", http.StatusNoContent, nil)
	for _, path := range []string{"/api/notification/inbox?limit=200&kind=summary_ready", jobs} {
		if got := s.get(path); strings.Contains(got.body, "It was told") || strings.Contains(got.body, "secret-of-alex") || strings.Contains(got.body, "more-1") {
			t.Errorf("%s has what was of somebody who is gone: %s", path, got.body)
		}
	}
	mira.want(http.MethodGet, named, "", http.StatusOK)
	s.api(http.MethodGet, named, "", http.StatusOK, nil)
}
