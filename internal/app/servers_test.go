package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"watchmark/internal/testkit/mediaservertest"
)

// TestALoginAndAWebhookOfOneServer: what a person plays is one record, whichever comes first, and the webhook that comes second is
// answered and logged as ignored.
func TestALoginAndAWebhookOfOneServer(t *testing.T) {
	t.Parallel()
	server := mediaServer(t, mediaservertest.Jellyfin)
	s := start(t)
	s.api(http.MethodPatch, "/api/accounts/1", `{"media_user_names":["mira","bench"]}`, http.StatusOK, nil)
	var login struct {
		ID       int64      `json:"id"`
		Way      string     `json:"way"`
		Webhook  bool       `json:"webhook"`
		Compared *time.Time `json:"compared_at"`
		ServerID string     `json:"server_id"`
	}
	look := func(is func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("within a minute the login is %+v", login)
			}
			s.api(http.MethodGet, "/api/servers/1", "", http.StatusOK, &login)
		}
	}
	s.api(http.MethodPost, "/api/servers", fmt.Sprintf(`{"kind":"jellyfin","url":%q,"username":"bench","password":%q}`, server.URL, mediaPassword), http.StatusCreated, &login)
	look(func() bool { return login.Way == "live" && login.Compared != nil })

	// tell sends the webhook of an episode; bare is without the ids that templates leave out.
	tell := func(episode int, bare bool) answer {
		t.Helper()
		item, err := server.Find("灯塔守望者", 2, episode)
		if err != nil {
			t.Fatal(err)
		}
		body := fmt.Sprintf(`"NotificationType":"PlaybackStop","ItemType":"Episode","SeriesName":"灯塔守望者","SeasonNumber":2,"EpisodeNumber":%d,"NotificationUsername":"bench","PlayedToCompletion":true`, episode)
		if !bare {
			body += fmt.Sprintf(`,"ServerId":%q,"ItemId":%q`, login.ServerID, item.ID)
		}
		return s.webhook("jellyfin", "application/json", "{"+body+"}")
	}
	records := func() (n int) {
		var page struct {
			Items []recordView `json:"items"`
		}
		s.api(http.MethodGet, "/api/records?limit=100", "", http.StatusOK, &page)
		return len(page.Items)
	}
	taken := func(n int) {
		t.Helper()
		look(func() bool { return records() >= n })
	}
	watches(t, server, 7)
	taken(1)
	if r := s.settled(1); r.Status != "success" || r.AccountName != "mira" || r.UserName != "bench" {
		t.Errorf("the play is %+v", r)
	}
	for _, bare := range []bool{false, true} {
		if got := tell(7, bare); got.status != http.StatusOK || !strings.Contains(got.body, "is a record") {
			t.Errorf("the webhook afterwards is answered %d: %s", got.status, got.body)
		}
	}
	s.accepted(tell(8, false)) // before the server has told of it
	s.accepted(tell(9, true))
	watches(t, server, 8)
	watches(t, server, 9)
	watches(t, server, 10)
	taken(4)
	var begun struct {
		TaskID int64 `json:"task_id"`
	}
	s.api(http.MethodPost, "/api/servers/1/sync", "", http.StatusAccepted, &begun)
	look(func() bool {
		var task struct {
			State string `json:"state"`
		}
		s.api(http.MethodGet, fmt.Sprint("/api/tasks/", begun.TaskID), "", http.StatusOK, &task)
		return task.State == "done" && login.Webhook
	})
	if n := records(); n != 4 {
		t.Errorf("%d records of four plays", n)
	}
	var log struct {
		Items []struct {
			Status int    `json:"status"`
			Reason string `json:"reason"`
		} `json:"items"`
	}
	s.api(http.MethodGet, "/api/webhook-log?outcome=ignored", "", http.StatusOK, &log)
	if len(log.Items) != 2 || log.Items[0].Status != http.StatusOK || !strings.Contains(log.Items[0].Reason, "is a record") {
		t.Errorf("the log of webhooks has %+v", log.Items)
	}
}
