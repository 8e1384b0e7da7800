package main

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestSigningInAtASimulatedTracker goes each way that docs/sources/trakt.md names, from the sign-in to
// its end at the tracker.
func TestSigningInAtASimulatedTracker(t *testing.T) {
	list := simulate(t, "--tracker", "127.0.0.1:0")
	remote := list.printed(regexp.MustCompile(`simulated tracker on (\S+)`))
	env := []string{"WATCHMARK_LOG_LEVEL=debug", "WATCHMARK_TRACKER_ENABLED=true", "WATCHMARK_TRACKER_CLIENT_ID=" + trackerClient,
		"WATCHMARK_TRACKER_APP_CLIENT_ID=" + trackerApp, "WATCHMARK_TRACKER_APP_CLIENT_SECRET=" + trackerAppSecret}
	for _, host := range []string{"AUTH_URL", "API_URL", "APP_API_URL"} {
		env = append(env, "WATCHMARK_TRACKER_"+host+"="+remote)
	}
	var service *process
	var key string
	var begun []*process
	begin := func() {
		data := t.TempDir()
		key = makeKey(t, data, "test")
		service = launch(t, command(t, env, "serve", "--listen", "127.0.0.1:0", "--data", data), serviceListens)
		begun = append(begun, service)
	}
	api := func(status int, method, path, body string, out any) string {
		t.Helper()
		return wants(t, status, method, service.url+"/api/"+path, key, body, out).body
	}
	steer := func(path, body string) {
		t.Helper()
		wants(t, http.StatusNoContent, http.MethodPost, remote+"/_sim/"+path, "", body, nil)
	}
	type task struct {
		TaskID int64 `json:"task_id"`
	}
	ended := func(started task, with string) {
		t.Helper()
		for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
			got := api(http.StatusOK, http.MethodGet, fmt.Sprint("tasks/", started.TaskID), "", nil)
			if !strings.Contains(got, `"state":"running"`) {
				mustHold(t, got, with)
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("the task stays %s", got)
			}
		}
	}
	const email = "mira@home.example"
	byMail := func(status int) string {
		t.Helper()
		api(http.StatusOK, http.MethodPost, "tracker/email-login/start", `{"email":"`+email+`"}`, nil)
		var sent struct {
			OTP string `json:"otp"`
		}
		wants(t, http.StatusOK, http.MethodGet, remote+"/_sim/mail?email="+url.QueryEscape(email), "", "", &sent)
		return api(status, http.MethodPost, "tracker/email-login/complete", `{"email":"`+email+`","otp":"`+sent.OTP+`"}`, nil)
	}

	// A mail is followed by another after a minute at the earliest, however its sign-in ended: the next sign-in is that of
	// somebody else, who begins anew.
	begin()
	steer("answer", `{"state":"wrong"}`)
	mustHold(t, byMail(http.StatusBadGateway), "does not belong to this sign-in")
	mustHold(t, api(http.StatusTooManyRequests, http.MethodPost, "tracker/email-login/start", `{"email":"`+email+`"}`, nil), `"retry_after":`)
	begin()
	steer("answer", `{"as_json":true}`)
	mustHold(t, byMail(http.StatusOK), `"name":"mira"`, `"state":"connected"`)

	// An access token that ended early is renewed; a refresh token that ended is the end.
	var sync task
	steer("expire", "")
	api(http.StatusAccepted, http.MethodPost, "tracker/sync/manual", "", &sync)
	ended(sync, `"state":"done"`)
	steer("revoke", "")
	api(http.StatusAccepted, http.MethodPost, "tracker/sync/manual", "", &sync)
	ended(sync, "sign in again")
	mustHold(t, api(http.StatusOK, http.MethodGet, "tracker/status", "", nil), `"state":"dead"`, "sign in again")
	api(http.StatusConflict, http.MethodPost, "tracker/sync/manual", "", nil)

	// By device code the same person is back.
	var device struct {
		task
		UserCode string `json:"user_code"`
	}
	api(http.StatusOK, http.MethodPost, "tracker/device/start", "", &device)
	steer("approve", `{"user_code":"`+device.UserCode+`","email":"mira@home.example"}`)
	ended(device.task, `"method":"device"`)
	if got := api(http.StatusOK, http.MethodGet, "tracker/status", "", nil); strings.Count(got, `"state":"connected"`) != 1 || strings.Contains(got, "dead") {
		t.Errorf("the status is %s", got)
	}
	mustHold(t, api(http.StatusOK, http.MethodDelete, "tracker/credential", "", nil), `"revoked":true`)
	mustHold(t, api(http.StatusOK, http.MethodGet, "tracker/status", "", nil), `"state":"disconnected"`)

	log := ""
	for _, each := range begun {
		text, _ := each.out.read()
		log += text
	}
	for _, leak := range []string{`mira(@|%40)home`, `[^a-z](acc|ref|id)-[A-Z2-7]{26}`, `code=[A-Z2-7]{26}`, `session_token=[A-Z2-7]`, `otp=[0-9]`, trackerAppSecret, device.UserCode} {
		if found := regexp.MustCompile(leak).FindString(log); found != "" {
			t.Errorf("the log holds %q", found)
		}
	}
}
