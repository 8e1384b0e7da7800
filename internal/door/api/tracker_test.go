package api_test

import (
	"context"
	"database/sql"
	"log/slog"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/secret"
	"watchmark/internal/source/tracker"
	"watchmark/internal/testkit/trackertest"
	"watchmark/internal/watch"
)

// newTracker is the side of the tracker that the settings name.
func (r *rig) newTracker(box *secret.Box, masker *secret.Masker, log *slog.Logger) *tracker.Service {
	k := tracker.NewService(tracker.Config{
		DB: r.db, Box: box, HTTP: must(httpx.New(unhurried, masker, log))(r.t), Masker: masker, Tasks: r.tasks, Holds: r.holds, Intake: r.engine, Log: log,
		Imported: func(context.Context, []int64) (map[int64]bool, error) { return map[int64]bool{}, nil },
		Schedule: r.jobs, Plan: func() schedule.Plan { return schedule.Every(6 * time.Hour) },
		Mapped:   func(context.Context, []string, watch.Event) (bool, error) { return false, nil },
		Forecast: r.engine.Forecast,
		Options: func() tracker.Options {
			t := r.settings.Current().Tracker
			return tracker.Options{Enabled: t.Enabled, AuthURL: t.AuthURL, APIURL: t.APIURL, AppAPIURL: t.AppAPIURL, ClientID: t.ClientID,
				RedirectURI: t.RedirectURI, AppClientID: t.AppClientID, AppClientSecret: t.AppClientSecret, Genres: t.Genres, Overlap: t.Overlap}
		},
	})
	r.jobs.Add(k.Jobs()...)
	return k
}

const trackerMail = "mira@home.example"

// trackerRig is an API whose settings name a simulated tracker.
func trackerRig(t *testing.T) (*rig, *trackertest.Server) {
	t.Helper()
	remote, url := trackertest.Start(t, trackertest.Config{
		Clients: []trackertest.Client{{ID: "web-client", RedirectURI: "https://app.trakt.tv/callback"}},
		Users:   []trackertest.User{{Email: trackerMail, Name: "mira", UUID: "uuid-of-mira"}},
	})
	return newRig(t, "WATCHMARK_TRACKER_AUTH_URL="+url, "WATCHMARK_TRACKER_API_URL="+url, "WATCHMARK_TRACKER_CLIENT_ID=web-client"), remote
}

func TestTrackerLoginByMail(t *testing.T) {
	r, remote := trackerRig(t)
	mail := map[string]any{"email": trackerMail}
	r.do("POST", "/api/tracker/email-login/start", map[string]any{"email": "mira"}).problem(http.StatusUnprocessableEntity, "body.email")
	r.do("POST", "/api/tracker/email-login/complete", map[string]any{"otp": "123456"}).problem(http.StatusConflict, "request a new code")
	r.do("POST", "/api/tracker/email-login/start", mail).want(http.StatusOK, `"expires_in":`, `"retry_after":60`)
	soon := r.do("POST", "/api/tracker/email-login/start", mail).problem(http.StatusTooManyRequests, "sent just now")
	if wait, _ := soon.get("retry_after").(float64); wait < 50 || wait > 60 || soon.header.Get("Retry-After") == "" {
		t.Errorf("retry after %v, header %q", wait, soon.header.Get("Retry-After"))
	}
	r.do("POST", "/api/tracker/email-login/complete", map[string]any{"email": trackerMail, "otp": "12345x"}).problem(http.StatusUnprocessableEntity, "body.otp", "six digits")
	for range tracker.MaxOTPAttempts {
		r.do("POST", "/api/tracker/email-login/complete", map[string]any{"email": trackerMail, "otp": "000000"}).problem(http.StatusUnauthorized, "body.otp", "wrong or has expired")
	}
	last := r.do("POST", "/api/tracker/email-login/complete", map[string]any{"email": trackerMail, "otp": 0}).problem(http.StatusUnauthorized, "body.otp", "MAX_OTP_ATTEMPTS", "request a new code")
	if wait, _ := last.get("retry_after").(float64); wait < 50 || wait > 60 {
		t.Errorf("a new code can be had in %v", wait)
	}
	r.do("POST", "/api/tracker/email-login/complete", map[string]any{"email": trackerMail, "otp": "000000"}).problem(http.StatusConflict, "request a new code")
	r.do("POST", "/api/tracker/email-login/start", mail).problem(http.StatusTooManyRequests, "body.email", "request another one in")
	r.do("POST", "/api/tracker/email-login/start", map[string]any{"email": "alex@home.example"}).problem(http.StatusTooManyRequests, "body.email", "request another one in")
	if n := remote.Requests()["POST /auth/magic"]; n != 1 {
		t.Errorf("%d mails", n)
	}
	if err := r.db.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE tracker_mail SET asked_at = asked_at - 60000`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	r.do("POST", "/api/tracker/email-login/start", mail).want(http.StatusOK)
	otp, err := strconv.Atoi(remote.LastCode(trackerMail))
	if err != nil {
		t.Fatal(err)
	}
	r.do("POST", "/api/tracker/email-login/complete", map[string]any{"email": trackerMail, "otp": otp}).
		want(http.StatusOK, `"name":"mira"`, `"state":"connected"`)
	status := r.do("GET", "/api/tracker/status", nil).want(http.StatusOK, `"enabled":false`, `"email_login_ready":true`, `"app_ready":false`, `"name":"mira"`)
	if strings.Contains(status.body, "acc-") || strings.Contains(status.body, "ref-") {
		t.Errorf("the status holds tokens: %s", status.body)
	}
	r.do("DELETE", "/api/tracker/credential", nil).want(http.StatusOK, `"revoked":true`)
	r.do("DELETE", "/api/tracker/credential", nil).problem(http.StatusNotFound, "/api/tracker/status")
}

func TestTrackerLoginByBrowser(t *testing.T) {
	r := newRig(t)
	back := r.url + "/base/api/tracker/oauth/callback"
	remote, address := trackertest.Start(t, trackertest.Config{
		Clients: []trackertest.Client{{ID: "app", Secret: "secret-of-the-app", RedirectURI: back}},
		Users:   []trackertest.User{{Email: trackerMail, Name: "mira", UUID: "uuid-of-mira"}},
	})
	if err := r.settings.Patch(t.Context(), map[string]map[string]any{
		"tracker": {"auth_url": address, "app_api_url": address, "app_client_id": "app", "app_client_secret": "secret-of-the-app"},
	}); err != nil {
		t.Fatal(err)
	}
	// away does what the browser does at the tracker, and gives the query it comes back with.
	away := func() string {
		t.Helper()
		start, _ := r.do("POST", "/api/tracker/oauth/start", nil).want(http.StatusOK).get("authorize_url").(string)
		browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		answer, err := browser.Get(start)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		query, found := strings.CutPrefix(answer.Header.Get("Location"), back+"?")
		if !found {
			t.Fatalf("the tracker answers %d and sends to %q", answer.StatusCode, answer.Header.Get("Location"))
		}
		return query
	}
	comes := func(query, want string) {
		t.Helper()
		if got := r.do("GET", "/api/tracker/oauth/callback?"+query, nil).want(http.StatusSeeOther).header.Get("Location"); !strings.HasSuffix(got, "/sources/tracker?"+want) {
			t.Errorf("%s leads to %s", query, got)
		}
	}
	comes("error=access_denied&state=x", "tracker_error=denied")
	comes("code=x&state=x", "tracker_error=state")
	comes("code=x", "tracker_error=state")
	good := away()
	comes(good, "tracker_connected=1")
	comes(good, "tracker_error=state")
	used := away()
	comes(regexp.MustCompile(`code=[^&]*`).ReplaceAllString(used, "code=another"), "tracker_error=refused")
	late := away()
	remote.SetFault(&trackertest.Fault{Path: "/oauth/token", Status: 503})
	comes(late, "tracker_error=unreachable")
	r.do("GET", "/api/tracker/status", nil).want(http.StatusOK, `"app_ready":true`, `"email_login_ready":false`, `"method":"code"`, `"state":"connected"`)
}

func TestTrackerLoginNeedsItsSettings(t *testing.T) {
	r := newRig(t)
	r.do("POST", "/api/tracker/email-login/start", map[string]any{"email": trackerMail}).problem(http.StatusConflict, "tracker.client_id")
	r.do("POST", "/api/tracker/oauth/start", nil).problem(http.StatusConflict, "tracker.app_client_id")
	r.do("POST", "/api/tracker/device/start", nil).problem(http.StatusConflict, "tracker.app_client_id")
	r.do("POST", "/api/tracker/sync/manual", nil).problem(http.StatusConflict, "tracker.enabled")
	r.do("GET", "/api/tracker/sync/status", nil).want(http.StatusOK, `"enabled":false`, `"next_run":null`, `"users":[]`)
}

func TestTrackerAnswersAreExplained(t *testing.T) {
	r, remote := trackerRig(t)
	remote.SetFault(&trackertest.Fault{Path: "/auth/magic", Status: 426})
	r.do("POST", "/api/tracker/email-login/start", map[string]any{"email": trackerMail}).problem(http.StatusBadGateway, "VIP")
	remote.SetFault(&trackertest.Fault{Path: "/auth/magic", Status: 429, RetryAfter: 9})
	if got := r.do("POST", "/api/tracker/email-login/start", map[string]any{"email": trackerMail}).problem(http.StatusBadGateway, "429"); got.header.Get("Retry-After") != "9" || got.get("retry_after") != 9.0 {
		t.Errorf("header %v", got.header)
	}
}

func TestTrackerSyncByHand(t *testing.T) {
	r, remote := trackerRig(t)
	if err := r.settings.Patch(t.Context(), map[string]map[string]any{"tracker": {"enabled": true}}); err != nil {
		t.Fatal(err)
	}
	r.mira()
	r.do("POST", "/api/tracker/sync/manual", nil).problem(http.StatusConflict, "No Trakt user")
	remote.AddTitle(trackertest.Title{Kind: "show", ID: 1, Name: "Lighthouse", Genres: []string{"anime"}})
	remote.AddPlays(trackerMail, trackertest.Play{ID: 1, WatchedAt: time.Now().Add(-time.Hour), Kind: "show", Title: 1, Season: 1, Episode: 1})
	r.do("POST", "/api/tracker/email-login/start", map[string]any{"email": trackerMail}).want(http.StatusOK)
	r.do("POST", "/api/tracker/email-login/complete", map[string]any{"otp": remote.LastCode(trackerMail)}).want(http.StatusOK)
	ends := func(with string, got reply) {
		t.Helper()
		id, _ := got.want(http.StatusAccepted).get("task_id").(float64)
		task, err := r.tasks.Get(t.Context(), int64(id))
		if err != nil {
			t.Fatal(err)
		}
		for task.Status().EndedAt == nil {
			if _, more := task.After(0); task.Status().EndedAt == nil {
				<-more
			}
		}
		if text := task.Status().JSON(); !strings.Contains(text, with) {
			t.Errorf("the task is %s, without %s", text, with)
		}
	}
	ends(`"taken":0`, r.do("POST", "/api/tracker/sync/manual", nil))
	ends(`"subject_id":265`, r.do("POST", "/api/tracker/sync/manual", map[string]any{"preview": "yes"}))
	ends(`"taken":0`, r.do("POST", "/api/tracker/sync/manual", map[string]any{"full_sync": "no"}))
	for i, yes := range []any{"yes", 1, true, "TRUE", "on"} {
		taken := `"taken":0`
		if i == 0 {
			taken = `"taken":1`
		}
		ends(taken, r.do("POST", "/api/tracker/sync/manual", map[string]any{"full_sync": yes}))
	}
	ends(`"known":1`, r.do("POST", "/api/tracker/sync/manual?full_sync=1", nil))
	r.do("POST", "/api/tracker/sync/manual?full_sync=perhaps", nil).problem(http.StatusUnprocessableEntity, "query.full_sync")
	r.do("POST", "/api/tracker/sync/manual", map[string]any{"full_sync": "perhaps"}).want(http.StatusUnprocessableEntity)
	for _, unknown := range []any{99, "99", "nobody"} {
		r.do("POST", "/api/tracker/sync/manual", map[string]any{"user_id": unknown}).problem(http.StatusNotFound)
	}
	for _, known := range []any{1, "1", "mira", 0, ""} {
		ends(`"known":1`, r.do("POST", "/api/tracker/sync/manual", map[string]any{"user_id": known, "full_sync": true}))
	}
	r.do("GET", "/api/tracker/sync/status", nil).want(http.StatusOK, `"last_outcome":"taken"`, `"taken":1`, `"running":false`)
}
