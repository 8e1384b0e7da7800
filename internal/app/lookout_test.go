package app_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"watchmark/internal/app"
	"watchmark/internal/catalog/account"
	"watchmark/internal/door/auth"
	"watchmark/internal/platform/secret"
	"watchmark/internal/tell/notify"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/trackertest"
)

// home is a service in a bubble, with the catalog that it asks.
type home struct {
	*app.App
	*bubble
	list    *catalogtest.Server
	environ []string
	stop    func()
}

// atHome runs test on a service with the account of mira and the settings.
func atHome(t *testing.T, environ []string, test func(t *testing.T, h *home)) {
	t.Helper()
	inBubble(t, func(t *testing.T, b *bubble) {
		h := &home{bubble: b, environ: environ, list: catalogtest.New(catalogtest.Config{Users: []catalogtest.User{{Username: "mira", Token: miraToken}}})}
		longShows(h.list)
		b.site("catalog", h.list)
		h.App, h.stop = b.start(environ...)
		_, err := h.Accounts.Create(t.Context(), account.Draft{Username: "mira", Tokens: account.Tokens{Access: secret.Text(miraToken)}, Method: account.ByToken, Enabled: true, MediaUserNames: []string{"mira"}})
		if err != nil {
			t.Fatal(err)
		}
		test(t, h)
	})
}

// again starts the service anew, after it was off for a while.
func (h *home) again(off time.Duration) {
	h.stop()
	time.Sleep(off)
	h.App, h.stop = h.start(h.environ...)
}

// told are the notices of the kinds that are no routine, the oldest first, since the last call.
func (h *home) told(after *int64) []notify.Entry {
	h.t.Helper()
	entries, _, err := h.Notices.List(h.t.Context(), notify.Filter{Limit: 200})
	if err != nil {
		h.t.Fatal(err)
	}
	entries = slices.DeleteFunc(entries, func(e notify.Entry) bool { return e.ID <= *after || notify.InfoOf(e.Kind).Routine })
	slices.Reverse(entries)
	for _, e := range entries {
		*after = max(*after, e.ID)
	}
	return entries
}

// wants checks the kinds of what was told since the last call.
func (h *home) wants(after *int64, when string, want ...notify.Kind) []notify.Entry {
	h.t.Helper()
	got := h.told(after)
	kinds := []notify.Kind{}
	for _, e := range got {
		kinds = append(kinds, e.Kind)
	}
	if !slices.Equal(kinds, append([]notify.Kind{}, want...)) {
		h.t.Errorf("%s: told %v, want %v", when, kinds, want)
	}
	return got
}

func (h *home) watched(episode int) {
	h.t.Helper()
	post(h.t, fmt.Sprintf(`{"title":"晨雾邮局","season":1,"episode":%d,"user_name":"mira"}`, episode))
}

func (h *home) catalog(mode catalogtest.FaultMode) {
	h.t.Helper()
	if err := h.list.SetFault(catalogtest.Fault{Mode: mode}); err != nil {
		h.t.Fatal(err)
	}
}

func TestAnOutageOfTheCatalogIsToldOnce(t *testing.T) {
	atHome(t, nil, func(t *testing.T, h *home) {
		var last int64
		time.Sleep(time.Minute)
		h.wants(&last, "at the first start")
		h.catalog(catalogtest.Refuse)
		h.watched(1)
		time.Sleep(30 * time.Second)
		h.wants(&last, "after a moment")
		h.catalog(catalogtest.None)
		time.Sleep(3 * time.Minute)
		h.wants(&last, "after a moment's outage")
		h.catalog(catalogtest.Refuse)
		h.watched(2)
		time.Sleep(3 * time.Minute)
		h.wants(&last, "after three minutes", notify.CatalogUnreachable)
		h.again(0)
		h.watched(3)
		time.Sleep(time.Hour)
		h.wants(&last, "after a restart and an hour")
		h.catalog(catalogtest.None)
		time.Sleep(5 * time.Minute)
		back := h.wants(&last, "after the return", notify.CatalogBack)
		if len(back) == 1 && back[0].Facts["duration"] == "" {
			t.Errorf("the return says %v", back[0].Facts)
		}
		// All have gone out by the time that it is told.
		if len(back) == 1 && back[0].Facts["pending_count"] != "2" {
			t.Errorf("the return counts %q marks that waited, 2 wanted", back[0].Facts["pending_count"])
		}
	})
}

func TestADeadTokenIsToldOnceUntilItWorksAgain(t *testing.T) {
	atHome(t, nil, func(t *testing.T, h *home) {
		var last int64
		revoked := secret.Text("a-token-that-was-revoked-since")
		if _, err := h.Accounts.Update(t.Context(), 1, account.Change{AccessToken: &revoked}); err != nil {
			t.Fatal(err)
		}
		for n := range 3 {
			h.watched(n + 1)
			time.Sleep(time.Minute)
		}
		told := h.told(&last)
		dead := slices.DeleteFunc(slices.Clone(told), func(e notify.Entry) bool { return e.Kind != notify.TokenDead })
		if len(dead) != 1 || dead[0].Account != "mira" || dead[0].Facts["error_message"] == "" || len(told) != 4 {
			t.Errorf("told %+v, want one dead token and three marks that failed", told)
		}
		h.again(0)
		time.Sleep(time.Hour)
		h.wants(&last, "after a restart")
		if err := h.Accounts.Delete(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		entries, _, err := h.Notices.List(t.Context(), notify.Filter{Kinds: []notify.Kind{notify.TokenDead}, Limit: 9})
		if err != nil || len(entries) != 1 || entries[0].OverAt.IsZero() || entries[0].Unread {
			t.Errorf("when the account is gone there is %+v, %v, want one that is settled", entries, err)
		}
	})
}

func TestATokenThatEndsSoonIsTold(t *testing.T) {
	atHome(t, nil, func(t *testing.T, h *home) {
		var last int64
		_, err := h.Accounts.Create(t.Context(), account.Draft{Username: "noah", Tokens: account.Tokens{Access: "another-token-of-noah", ExpiresAt: time.Now().Add(14*24*time.Hour + 2*time.Hour)},
			Method: account.ByToken, Enabled: true, MediaUserNames: []string{"noah"}})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		h.wants(&last, "more than two weeks before")
		time.Sleep(4 * time.Hour)
		h.wants(&last, "two weeks before, and later", notify.TokenExpiring)
	})
}

func TestASourceThatGoesSilentIsTold(t *testing.T) {
	atHome(t, []string{"WATCHMARK_NOTIFICATION_SILENT_DAYS=1", "WATCHMARK_MATCHING_DATASET_ENABLED=false"}, func(t *testing.T, h *home) {
		var last int64
		h.again(12 * time.Hour)
		for n := range 3 { // three days at noon; between them it is off, for a service ticks
			h.watched(n + 1)
			time.Sleep(time.Hour)
			h.again(22 * time.Hour)
			time.Sleep(time.Minute)
		}
		h.wants(&last, "while it brings something")
		time.Sleep(4 * time.Hour)
		silent := h.wants(&last, "after a day", notify.SourceSilent)
		if len(silent) == 1 && silent[0].Facts["source"] != "custom" {
			t.Errorf("it says %v", silent[0].Facts)
		}
		time.Sleep(3 * time.Hour)
		h.wants(&last, "after more than a day")
	})
}

func TestWorkThatFailsIsToldOnce(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.db")
	atHome(t, []string{"WATCHMARK_NAS_ENABLED=true", "WATCHMARK_NAS_DATABASE_PATH=" + missing, "WATCHMARK_CATALOG_ARCHIVE_ENABLED=true"}, func(t *testing.T, h *home) {
		var last int64
		time.Sleep(3 * time.Hour)
		kinds := map[notify.Kind]int{}
		for _, e := range h.told(&last) {
			kinds[e.Kind]++
		}
		if kinds[notify.JobFailed] != 1 || kinds[notify.ArchiveFailed]+kinds[notify.ArchiveSkipped] != 1 || len(kinds) != 2 {
			t.Errorf("told %v, want one failure of the NAS and one of the archive", kinds)
		}
	})
}

func TestGuessedPasswordsAreTold(t *testing.T) {
	atHome(t, nil, func(t *testing.T, h *home) {
		var last int64
		for range 10 {
			_, _ = h.Auth.Login(t.Context(), "admin", "guess", "", auth.Visitor{Addr: netip.MustParseAddr("198.51.100.7")})
			time.Sleep(time.Second)
		}
		time.Sleep(2 * time.Minute)
		h.wants(&last, "after ten guesses", notify.LoginLocked)
		time.Sleep(2 * time.Hour)
		entries, _, err := h.Notices.List(t.Context(), notify.Filter{Kinds: []notify.Kind{notify.LoginLocked}, Limit: 9})
		if err != nil || len(entries) != 1 || entries[0].OverAt.IsZero() || entries[0].Unread {
			t.Errorf("two hours later there is %+v, %v, want one that is settled", entries, err)
		}
	})
}

func TestAnUpdateIsToldAndAFirstStartIsNot(t *testing.T) {
	atHome(t, nil, func(t *testing.T, h *home) {
		var last int64
		time.Sleep(time.Minute)
		h.wants(&last, "at the first start")
		if err := h.Notices.Once(t.Context(), "version", "0.0.1", func(string) []notify.Notice { return nil }); err != nil {
			t.Fatal(err)
		}
		h.again(0)
		time.Sleep(time.Minute)
		updated := h.wants(&last, "after an update", notify.NewVersion)
		if len(updated) == 1 && updated[0].Facts["previous_version"] != "0.0.1" {
			t.Errorf("it says %v", updated[0].Facts)
		}
	})
}

// TestEachReadingOfTheTrackerIsToldWithItsOwnPlays reads a history twice, and then is refused.
func TestEachReadingOfTheTrackerIsToldWithItsOwnPlays(t *testing.T) {
	const mail = "mira@home.example"
	atHome(t, []string{"WATCHMARK_TRACKER_ENABLED=true", "WATCHMARK_TRACKER_AUTH_URL=http://tracker.example", "WATCHMARK_TRACKER_API_URL=http://tracker.example", "WATCHMARK_TRACKER_CLIENT_ID=web-client", "WATCHMARK_TRACKER_CRON="}, func(t *testing.T, h *home) {
		remote := trackertest.New(trackertest.Config{
			Clients: []trackertest.Client{{ID: "web-client", RedirectURI: "https://app.trakt.tv/callback"}}, Users: []trackertest.User{{Email: mail, Name: "mira", UUID: "uuid-of-mira"}},
		})
		h.site("tracker.example", remote)
		remote.AddTitle(trackertest.Title{Kind: "show", ID: 1, Name: "Lighthouse", Genres: []string{"anime"}})
		post := func(path, body string) {
			t.Helper()
			answer, err := http.Post("http://watchmark/api/tracker/"+path, "application/json", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode/100 != 2 {
				t.Fatalf("%s is answered %d", path, answer.StatusCode)
			}
		}
		play := 0
		reads := func(plays int) {
			t.Helper()
			for range plays {
				play++
				remote.AddPlays(mail, trackertest.Play{ID: int64(play), WatchedAt: time.Now(), Kind: "show", Title: 1, Season: 1, Episode: play})
			}
			post("sync/manual", `{}`)
			time.Sleep(2 * time.Minute)
		}
		post("email-login/start", `{"email":"`+mail+`"}`)
		post("email-login/complete", `{"otp":"`+remote.LastCode(mail)+`"}`)
		reads(0)
		var seen int64
		totals := func(want ...string) {
			t.Helper()
			got := []string{}
			for _, e := range h.told(&seen) {
				switch e.Kind {
				case notify.TrackerSyncDone:
					got = append(got, e.Facts["total"])
				case notify.TrackerSyncFailed, notify.TokenDead:
					got = append(got, string(e.Kind))
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("told %q, want %q", got, want)
			}
		}
		totals("0")
		reads(3)
		totals("3")
		reads(2)
		totals("2")
		remote.SetFault(&trackertest.Fault{Path: "/sync/", Status: http.StatusUnauthorized})
		reads(1)
		totals(string(notify.TokenDead))
	})
}
