package app_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"watchmark/internal/testkit/trackertest"
)

// TestWhatTheTrackerKnowsIsMarked goes the whole way: a sign-in by mail, a sync by hand, marks.
func TestWhatTheTrackerKnowsIsMarked(t *testing.T) {
	const mail = "mira@home.example"
	remote, url := trackertest.Start(t, trackertest.Config{
		Clients: []trackertest.Client{{ID: "web-client", RedirectURI: "https://app.trakt.tv/callback"}},
		Users:   []trackertest.User{{Email: mail, Name: "Mira", UUID: "uuid-of-mira"}},
	})
	remote.AddTitle(trackertest.Title{Kind: "show", ID: 1, Name: "The Lighthouse Keeper's Song", Original: "灯台守のうた", Genres: []string{"anime"}, Timezone: "Asia/Tokyo",
		In: map[string]string{"cn": "灯塔守望者"}})
	remote.AddPlays(mail, trackertest.Play{ID: 1, WatchedAt: time.Now().Add(-24 * time.Hour), Kind: "show", Title: 1, Season: 2, Episode: 7, Aired: "2025-02-18T15:30:00.000Z"})
	s := start(t, "WATCHMARK_LOG_LEVEL=debug", "WATCHMARK_TRACKER_ENABLED=true", "WATCHMARK_TRACKER_AUTH_URL="+url, "WATCHMARK_TRACKER_API_URL="+url, "WATCHMARK_TRACKER_CLIENT_ID=web-client")
	s.api(http.MethodPost, "/api/tracker/email-login/start", `{"email":"`+mail+`"}`, http.StatusOK, nil)
	otp := remote.LastCode(mail)
	s.api(http.MethodPost, "/api/tracker/email-login/complete", `{"email":"`+mail+`","otp":"`+otp+`"}`, http.StatusOK, nil)

	ended := func(body string) string {
		t.Helper()
		var started struct {
			TaskID int64 `json:"task_id"`
		}
		s.api(http.MethodPost, "/api/tracker/sync/manual", body, http.StatusAccepted, &started)
		return s.taskEnds(started.TaskID).body
	}
	if got := ended(`{"preview":true}`); !strings.Contains(got, `"subject_id":900002`) || !strings.Contains(got, `"status":"mark"`) {
		t.Errorf("the preview is %s", got)
	}
	if len(s.marked()) != 0 {
		t.Errorf("the preview marked %v", s.marked())
	}
	if got := ended(`{"full_sync":"yes"}`); !strings.Contains(got, `"taken":1`) {
		t.Errorf("the sync is %s", got)
	}
	if got := s.settled(1); got.Status != "success" || got.SubjectID != 900002 || got.AccountName != "mira" {
		t.Errorf("the record is %+v", got)
	}
	if len(s.marked()) != 1 {
		t.Errorf("marked %v", s.marked())
	}
	const over = "The sign-in at Trakt is no longer valid"
	dashboard := func() string { return s.api(http.MethodGet, "/", "", http.StatusOK, nil).body }
	if strings.Contains(dashboard(), over) {
		t.Error("the dashboard says so while it works")
	}
	remote.RevokeAll()
	ended(`{}`)
	if !strings.Contains(dashboard(), over) {
		t.Error("the dashboard does not tell that the sign-in has ended")
	}
	for _, text := range []string{otp, mail, "mira%40home.example", "acc-", "session_token="} {
		if strings.Contains(s.logs.String(), text) {
			t.Errorf("the log holds %q", text)
		}
	}
}
