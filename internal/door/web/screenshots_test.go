package web_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"watchmark/internal/catalog/archive"
	"watchmark/internal/door/auth"
	"watchmark/internal/door/auth/oidc"
	"watchmark/internal/engine/review"
	"watchmark/internal/match/idmap"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/scope"
	"watchmark/internal/record"
	"watchmark/internal/source/importer"
	"watchmark/internal/source/nas"
	"watchmark/internal/source/tracker"
	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/upkeep/backup"
	"watchmark/internal/upkeep/oldtexts"
	"watchmark/internal/upkeep/replicas"
	"watchmark/internal/upkeep/snapshot"
	"watchmark/internal/upkeep/update"
)

// shot is a page in a state worth looking at.
type shot struct {
	name     string
	rig      *rig
	path     string
	signedIn bool
	click    string // what is clicked before it is looked at
}

// isError reports whether the page itself is answered with an error: it is not there, or not for who asks.
func (s shot) isError() bool { return s.name == "not-found" || s.name == "mine-refused" }

// shots are all rooms, filled and empty: what is pictured, and what is held against the rules of accessibility.
func shots(t *testing.T) []shot {
	t.Helper()
	if testing.Short() {
		t.Skip("all pages take long, and are made one after the other")
	}
	full, empty, fresh := newRig(t, withEnviron(settingsEnviron...)), newRig(t, asDemo), newRig(t, beforeSetup)
	full.year(t)
	s := full.fill(t)
	if err := oldtexts.Upgrade(t.Context(), full.db); err != nil { // the samples are told as older versions stored them
		t.Fatal(err)
	}
	full.fillQueue(t)
	running := full.fillTasks(t).Status().ID
	full.fillSettings(t)
	full.fillSources(t)
	notice := full.fillNotices(t)
	full.fillSummaries(t)
	full.answer = sourceAnswers
	since := time.Now().Add(-50 * time.Hour)
	full.twoFactor = auth.TwoFactor{On: true, Since: &since, RecoveryCodes: 2}
	clocks := reason.Reason{Code: "oidc_other_time", Text: "the time of the token is wrong: check the clocks of this machine and of the provider"}
	full.provider = oidc.Status{On: true, Name: "Authelia", Somebody: true, Problem: oidc.ErrRefused.With(clocks), Last: &oidc.Attempt{
		At: time.Now().Add(-5 * time.Minute), Person: oidc.Person{Subject: "4bd2c7a1-6f20-4e0c-9d4e-2f1b8a7c5e30", Email: "mira@example.org"}, Item: "4bd2c7a1-6f20-4e0c-9d4e-2f1b8a7c5e30"}}
	entered, own := newRig(t), newRig(t)
	entered.provider = oidc.Status{On: true, Name: "Authelia"}
	token := entered.household(t)
	own.role, own.signIns = auth.RolePerson, []auth.SignIn{{ID: 1, Service: "Jellyfin (attic)", Name: "mira", UsedAt: time.Now()}, {ID: 2, Service: "Plex", Name: "mira", UsedAt: since}}
	coded := newRig(t, asDemo)
	coded.enrolment = auth.Enrolment{Secret: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", URI: "otpauth://totp/Watchmark:mira?issuer=Watchmark&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"}
	coded.provider = oidc.Status{On: true, Name: "Authelia"}
	coded.answer = func(apiCall) (int, string) { return http.StatusOK, `{"needs_code":true}` }
	failing := newRig(t)
	failing.nas.status = nas.Status{Enabled: true, LastError: value("nas_no_file", "/nas/trimmedia.db"), LastErrorKind: nas.Missing}
	failing.tracker.status = tracker.Status{Enabled: true, Users: []tracker.User{{ID: 1, Name: "mira", State: tracker.Dead, Problem: tracker.ErrDead.With()}}}
	failing.backups = backup.Status{OnServer: true}
	imported := newRig(t)
	before, now := full.keepLists(t)
	full.ran(t, snapshot.RestoreTask, 1, restored(before.ID, false), nil)
	full.ran(t, snapshot.PreviewTask, 1, restored(before.ID, true), nil)
	full.endedOf(t, 0, review.UndoPreviewKind, undoing(true, 0))
	imported.endedOf(t, 0, review.UndoKind, undoing(false, 0))
	full.asksAboutUnwatched(t, s.success)
	full.said.put(0, "灯塔很美。", true)
	undone := imported.endedOf(t, 0, importer.RunTask, importer.Result{Server: "home", User: "mira", Taken: 3})
	imported.ended(t, importer.RunTask, importer.Result{Server: "home", User: "mira", Taken: 61, Known: 4, Records: map[record.Status]int{record.Success: 55, record.Review: 4, record.Failed: 2}})
	next := time.Now().Add(90 * time.Hour)
	full.archive = archive.Status{Enabled: true, IndexReady: true, Size: 151_345_617, LastOutcome: archive.Failed, LastRun: time.Now().Add(-20 * time.Minute), NextRun: &next,
		LastError: value("fetch_newest", value("fetch_status", 502, "Bad Gateway")),
		Info:      archive.Info{Version: "2026-11-17.210306Z", ImportedAt: time.Now().Add(-80 * time.Hour), Counts: archive.Counts{Subjects: 56_512, Episodes: 812_331, Relations: 55_000, Titles: 214_120}}}
	full.seasons = idmap.ListsStatus{Enabled: true, NextRun: &next, Sources: []idmap.SourceStatus{{Name: "bangumi-data"},
		{Name: "anime-lists", Enabled: true, Version: "sha256-82fd8eee4416", Rows: 10731, FetchedAt: time.Now().Add(-5 * time.Hour)},
		{Name: "shinkro", Enabled: true, LastError: reason.Of(idmap.ErrFormat)}}}
	full.dataset = idmap.Status{Enabled: true, LastOutcome: idmap.Refused, LastRun: time.Now().Add(-20 * time.Minute), NextRun: &next,
		LastError: value("dataset_moved_seasons", value("dataset_other_meaning", "0.3.208"), 123, 5464, 27),
		Moved: []idmap.Moved{
			{Kind: idmap.MovedSeason, Count: 123, Of: 5_464, AtMost: 27, Examples: []idmap.Move{{ID: "tmdb:tv/45782", Season: 2, Episode: 1, From: 92382, To: 225604}, {ID: "tmdb:tv/73833", Season: 1, Episode: 1, From: 210864, To: 399820}}},
			{Kind: idmap.MovedFilm, Count: 1, Of: 1_918, AtMost: 10, Examples: []idmap.Move{{ID: "tmdb:movie/324443", From: 88595, To: 88596}}},
		},
		InUse: idmap.InUse{Version: "0.3.215", Entries: 8_521, Made: idmap.FromDownload, FetchedAt: time.Now().Add(-80 * time.Hour)}}
	made := time.Now().Add(-9 * time.Hour)
	full.backups = backup.Status{Dir: "/var/lib/watchmark/backups", Keep: 7, NextRun: &next, LastRun: made, LastError: value("backup_not_listed", reason.Of(syscall.EACCES)), KeyMissing: true}
	for i := range 3 {
		at := made.AddDate(0, 0, -i)
		full.backups.Items = append(full.backups.Items, backup.File{Name: "watchmark-" + at.Format("20060102-150405") + ".backup", MadeAt: at, Size: 41_345_617})
	}
	empty.backups = backup.Status{Dir: "/var/lib/watchmark/backups", Keep: 1, NextRun: &next}
	unlisted := newRig(t)
	unlisted.fill(t)
	shared := newRig(t)
	shared.overview = someReplicas()
	full.overview.Database = replicas.Database{Engine: "SQLite", Version: "3.53.1", Bytes: 41_345_617}
	empty.overview.Database = full.overview.Database
	full.update = update.Status{Enabled: true, Newer: "1.5.0", URL: "https://git.example/watchmark/releases/1.5.0", CheckedAt: made}
	person, household := newRig(t), newRig(t)
	hers, his := person.asPerson(t)
	records, _, _ := person.waiting(t, hers, his)
	someone, another := household.asOwner(t)
	_, theirs, _ := household.waiting(t, someone, another)
	household.given(t, personOfRig, someone, "灯塔守望者 II")
	household.given(t, 3, another, "A very long title of the lighthouse keeper, who keeps a very long watch beside a very wide sea")
	expected := newRig(t)
	expected.asOwner(t)
	expected.exec(t, `INSERT INTO people (id, name, role, password_hash, created_at, updated_at) VALUES (4, 'noah', 'person', '', 0, 0)`)
	expected.exec(t, `INSERT INTO person_media_users (name, person_id) VALUES ('Noah TV', 4), ('Tablet of Mira', 2)`)
	expected.strangers(t, "Noah TV", "Tablet of Mira", "visitor")
	told, alone := newRig(t), newRig(t)
	ownNotice, ownChannel, ownRule := told.ownMessages(t)
	alone.asPerson(t)
	home, newcomer := newRig(t), newRig(t)
	seen := home.fill(t)
	home.asFirst(t)
	home.keepLists(t)
	home.said.put(0, "", true)
	home.asksAboutUnwatched(t, seen.success)
	done := home.endedIn(scope.In(t.Context(), scope.Of(personOfRig)), t, 0, importer.RunTask, importer.Result{Server: "Trakt", User: "mira", Taken: 61, Known: 4, Records: map[record.Status]int{record.Success: 55, record.Review: 4, record.Failed: 2}})
	newcomer.role = auth.RolePerson
	newcomer.exec(t, `INSERT INTO people (id, name, role, password_hash, created_at, updated_at) VALUES (1, 'bench', 'owner', '', 0, 0), (?, 'mira', 'person', '', 0, 0)`, personOfRig)
	full.fillWeek(t)
	home.fillWeek(t)
	if _, err := home.newCalendar().Renew(scope.In(t.Context(), scope.Of(personOfRig))); err != nil {
		t.Fatal(err)
	}
	lonely := newRig(t)
	lonely.fillWeek(t)
	return []shot{
		{"mine", home, "/mine", true, ""},
		{"mine-search", home, "/mine?q=%E7%9A%84", true, ""},
		{"mine-failed", home, "/mine?status=error", true, ""},
		{"mine-none-found", home, "/mine?q=zzz", true, ""},
		{"mine-empty", alone, "/mine", true, ""},
		{"mine-new", newcomer, "/mine", true, ""},
		{"mine-menu", home, "/mine", true, ".menu > summary"},
		{"mine-take-back", home, "/mine", true, "#mine-records form[data-confirm] button"},
		{"mine-account", home, "/mine/account", true, ""},
		{"mine-account-new", newcomer, "/mine/account", true, ""},
		{"mine-access-password", home, "/mine/access", true, ""},
		{"mine-list", home, "/people/1/list", true, ""},
		{"mine-word", home, wordPath, true, ""},
		{"mine-undo", home, "/records/undo", true, ""},
		{"mine-import", home, "/sources/import", true, ""},
		{"mine-import-new", newcomer, "/sources/import", true, ""},
		{"mine-task", home, fmt.Sprintf("/settings/tasks/%d", done), true, ""},
		{"mine-record", home, fmt.Sprintf("/records/%d", seen.success), true, ""},
		{"mine-blocked", person, "/titles/blocked", true, ""},
		{"mine-review-empty", newcomer, "/review", true, ""},
		{"mine-refused", home, "/settings", true, ""},
		{"mine-calendar", home, "/calendar?zone=Asia/Shanghai", true, ""},
		{"calendar", full, "/calendar?zone=Asia/Shanghai", true, ""},
		{"calendar-all", full, "/calendar?zone=Europe/Berlin&all=1&days=14", true, ""},
		{"calendar-empty", empty, "/calendar?zone=Asia/Shanghai", true, ""},
		{"calendar-no-account", lonely, "/calendar?zone=Asia/Shanghai", true, ""},
		{"own-inbox", told, "/inbox", true, ""},
		{"own-inbox-empty", alone, "/inbox", true, ""},
		{"own-notice", told, fmt.Sprintf("/inbox/%d", ownNotice), true, ""},
		{"own-messages", told, "/messages", true, ""},
		{"own-messages-empty", alone, "/messages", true, ""},
		{"own-messages-menu", told, "/messages", true, ".menu > summary"},
		{"own-channel", told, fmt.Sprintf("/messages/channels/%d", ownChannel), true, ""},
		{"own-rule", told, fmt.Sprintf("/messages/rules/%d", ownRule), true, ""},
		{"own-summaries", told, "/messages/summaries", true, ""},
		{"own-summaries-new", told, "/messages/summaries", true, "#new-job summary"},
		{"own-summaries-empty", alone, "/messages/summaries", true, ""},
		{"own-summary", told, "/messages/summaries/evening", true, ""},
		{"login", empty, "/login", false, ""},
		{"login-ways", entered, "/login", false, "#server-1 summary"},
		{"invitation", entered, "/invitation?token=" + token + "&problem=plex_access", false, ""},
		{"household", entered, "/people/household", true, ""},
		{"mine-access", own, "/mine/access", true, ""},
		{"access-servers", entered, "/settings/access", true, ""},
		{"login-provider", full, "/login?problem=stranger", false, ""},
		{"login-code", coded, "/login", false, "#login .primary"},
		{"setup", fresh, "/setup?token=abc", false, ""},
		{"dashboard", full, "/", true, ""},
		{"dashboard-empty", empty, "/", true, ""},
		{"person-review", person, "/review", true, ""},
		{"person-record", person, fmt.Sprintf("/records/%d", records[0]), true, ""},
		{"person-titles", person, "/titles", true, ""},
		{"review-people", household, "/review", true, ""},
		{"review-people-undo", household, "/review", true, "[data-url*='person_id=3'] button"},
		{"titles-people", household, "/titles", true, ""},
		{"mapping-person", household, fmt.Sprintf("/titles/%d", theirs[1]), true, ""},
		{"records", full, "/records", true, ""},
		{"records-empty", empty, "/records", true, ""},
		{"record", full, fmt.Sprintf("/records/%d", s.success), true, ""},
		{"record-correct", full, fmt.Sprintf("/records/%d", s.success), true, "#record-head [data-opens]"},
		{"record-review", full, fmt.Sprintf("/records/%d", s.review), true, ""},
		{"record-error", full, fmt.Sprintf("/records/%d", s.noAccount), true, ""},
		{"record-unmatched", full, fmt.Sprintf("/records/%d", s.hostile), true, "#record [data-opens]"},
		{"accounts", full, "/people", true, ""},
		{"accounts-newcomer", expected, "/people", true, ""},
		{"accounts-edit", full, "/people", true, "details.fold summary"},
		{"delete", full, "/people", true, "form[data-api=DELETE] button"},
		{"menu", full, "/records?status=error", true, "details.menu summary"},
		{"assign", full, "/people/assign?account=1&user=+G%C3%A4ste+", true, ""},
		{"accounts-empty", empty, "/people", true, ""},
		{"sources", full, "/sources", true, ""},
		{"sources-empty", empty, "/sources", true, ""},
		{"sources-failing", failing, "/sources", true, ""},
		{"connect-plex", full, "/sources/webhooks?source=plex", true, ""},
		{"connect-tautulli", full, "/sources/webhooks?source=tautulli", true, ""},
		{"connect-jellyfin", full, "/sources/webhooks?source=jellyfin", true, ""},
		{"connect-scrobble", full, "/sources/webhooks?source=scrobble", true, ""},
		{"connect-custom", full, "/sources/webhooks?source=custom", true, ""},
		{"archive", full, "/titles/archive?q=%E7%81%AF%E5%A1%94%E5%AE%88%E6%9C%9B%E8%80%85", true, "#upload summary"},
		{"review", full, "/review", true, ""},
		{"review-more", full, "/review", true, ".question:nth-of-type(4) .other summary"},
		{"review-empty", empty, "/review", true, ""},
		{"queue", full, "/records/queue", true, ""},
		{"undo", full, "/records/undo", true, ""},
		{"undo-done", imported, "/records/undo", true, ""},
		{"undo-empty", empty, "/records/undo", true, ""},
		{"undo-task", imported, fmt.Sprintf("/records/undo?task=%d", undone), true, ""},
		{"queue-abandoned", full, "/records/queue?status=abandoned", true, ""},
		{"queue-empty", empty, "/records/queue", true, ""},
		{"tasks", full, "/settings/tasks", true, ""},
		{"tasks-empty", empty, "/settings/tasks", true, ""},
		{"task", full, fmt.Sprintf("/settings/tasks/%d", running), true, ""},
		{"record-request", full, fmt.Sprintf("/records/%d", s.success), true, "#raw-request summary"},
		{"mappings", full, "/titles", true, ""},
		{"mapping", full, "/titles/3", true, ""},
		{"mapping-new", full, "/titles/new?title=%E6%B5%B7%E5%9B%BE&season=2", true, ""},
		{"blocked", full, "/titles/blocked", true, "#edit-1 summary"},
		{"mappings-import", full, "/titles/import", true, ""},
		{"mappings-empty", empty, "/titles", true, ""},
		{"mappings-none-found", full, "/titles?q=nothing", true, ""},
		{"blocked-empty", empty, "/titles/blocked", true, ""},
		{"list", full, fmt.Sprintf("/people/1/list?from=%d&to=%d", before.ID, now.ID), true, ""},
		{"list-restored", full, "/people/1/list", true, "#not-restored summary"},
		{"list-entry", full, fmt.Sprintf("/people/1/list?from=%d&to=%d&entry=900001", before.ID, now.ID), true, ""},
		{"word", full, wordPath, true, ""},
		{"word-gone", unlisted, wordPath, true, ""},
		{"list-empty", full, "/people/2/list", true, ""},
		{"servers", full, "/sources/servers", true, ""},
		{"servers-empty", empty, "/sources/servers", true, ""},
		{"server", full, "/sources/servers/1", true, "#seed summary"},
		{"server-edit", full, "/sources/servers/1", true, "#server-edit summary"},
		{"server-signed-out", full, "/sources/servers/3", true, ""},
		{"server-new", full, "/sources/servers/new", true, ""},
		{"server-plex", full, "/sources/servers/5?new", true, ""},
		{"server-choose", full, "/sources/servers/6?new", true, "#choose [value=p2] + span"},
		{"server-code", full, "/sources/servers/7?new", true, ""},
		{"server-account", full, "/sources/servers/2?new", true, ""},
		{"nas", full, "/sources/nas", true, "#nas-earlier summary"},
		{"nas-off", empty, "/sources/nas", true, ""},
		{"device", full, "/sources/device", true, ""},
		{"device-scan", full, "/sources/device", true, "#scan button"},
		{"device-off", empty, "/sources/device", true, ""},
		{"tracker", full, "/sources/tracker", true, ".box .fold summary"},
		{"tracker-code", full, "/sources/tracker", true, "form[data-url$='/device/start'] button"},
		{"tracker-off", empty, "/sources/tracker", true, ""},
		{"import", full, "/sources/import", true, ""},
		{"import-done", imported, "/sources/import", true, ""},
		{"import-empty", empty, "/sources/import", true, ""},
		{"summaries", full, "/messages/summaries", true, ""},
		{"summaries-new", full, "/messages/summaries", true, "#new-job summary"},
		{"summaries-try", full, "/messages/summaries", true, ".job form[data-url$='/test'] button"},
		{"summaries-empty", empty, "/messages/summaries", true, ""},
		{"summary", full, "/messages/summaries/daily", true, "#job-edit summary"},
		{"summary-empty", full, "/messages/summaries/family", true, ""},
		{"llm", full, "/messages/llm", true, "#usage-days summary"},
		{"llm-test", full, "/messages/llm", true, "form[data-url$='/llm/test'] button"},
		{"llm-off", empty, "/messages/llm", true, ""},
		{"archive-off", empty, "/titles/archive", true, ""},
		{"settings", full, "/settings", true, ""},
		{"settings-matching", full, "/settings?section=matching", true, "#setting-matching-arbiter_enabled"},
		{"settings-archive", full, "/settings?section=catalog_archive", true, "#advanced-catalog_archive summary"},
		{"settings-server", full, "/settings?section=server", true, "[data-back]"},
		{"settings-found", full, "/settings?q=proxy", true, "[data-back]"},
		{"settings-none", empty, "/settings?q=zzz", true, ""},
		{"access", full, "/settings/access", true, "#password-change summary"},
		{"backups", full, "/settings/backups", true, ""},
		{"backups-download", full, "/settings/backups", true, "a[data-confirm]"},
		{"backups-empty", empty, "/settings/backups", true, ""},
		{"backups-server", failing, "/settings/backups", true, ""},
		{"access-empty", empty, "/settings/access", true, ""},
		{"access-enrolment", coded, "/settings/access", true, ""},
		{"access-recovery", full, "/settings/access?problem=stranger", true, "#recovery-renew summary"},
		{"debug", full, "/settings/tools?title=%E8%91%AC%E9%80%81%E7%9A%84%E8%8A%99%E8%8E%89%E8%8E%B2&episode=26&user_name=mira", true, ""},
		{"debug-wrong", full, "/settings/tools?title=x&season=a&release_date=soon", true, ""},
		{"debug-empty", empty, "/settings/tools", true, ""},
		{"debug-webhooks", full, "/settings/tools/webhooks", true, "#request-6 summary"},
		{"debug-webhooks-empty", empty, "/settings/tools/webhooks", true, ""},
		{"debug-network", full, "/settings/tools/network", true, ".targets li:nth-child(1) summary"},
		{"debug-network-empty", empty, "/settings/tools/network", true, ""},
		{"debug-log", full, "/settings/tools/log", true, ""},
		{"debug-log-empty", empty, "/settings/tools/log", true, ""},
		{"inbox", full, "/inbox", true, ""},
		{"inbox-all", full, "/inbox?view=all&q=Mira", true, ""},
		{"inbox-empty", empty, "/inbox", true, ""},
		{"inbox-read", empty, "/inbox?view=unread", true, ""},
		{"notice", full, fmt.Sprintf("/inbox/%d", notice), true, ""},
		{"notifications", full, "/messages", true, "form[data-tests=tested-3] button"},
		{"notifications-empty", empty, "/messages", true, ""},
		{"channel-webhook", full, "/messages/channels/1", true, "#more summary"},
		{"channel-telegram-new", full, "/messages/channels/new?type=telegram", true, ""},
		{"channel-bark-new", full, "/messages/channels/new?type=bark", true, "#more summary"},
		{"channel-homeassistant-new", full, "/messages/channels/new?type=homeassistant", true, "#more summary"},
		{"channel-mail", full, "/messages/channels/2", true, "#more summary"},
		{"channel-mail-new", full, "/messages/channels/new?type=email", true, "[data-preset=qq]"},
		{"channel-wecom", full, "/messages/channels/3", true, "#more summary"},
		{"channel-browser-new", full, "/messages/channels/new?type=browser", true, ""},
		{"channel-dingtalk-new", full, "/messages/channels/new?type=dingtalk", true, ""},
		{"rule", full, "/messages/rules/2", true, "#placeholders summary"},
		{"rule-new", empty, "/messages/rules/new", true, "[data-ticks=none]"},
		{"debug-notifications", full, "/settings/tools/notifications", true, ""},
		{"debug-notifications-empty", empty, "/settings/tools/notifications", true, ""},
		{"about", full, "/settings/about", true, "#modules summary"},
		{"about-replicas", shared, "/settings/about", true, ""},
		{"about-off", empty, "/settings/about", true, ""},
		{"docs", full, "/docs", true, ""},
		{"docs-page", full, "/docs/access", true, ""},
		{"docs-stranger", full, "/docs/notifications", false, ""},
		{"docs-settings", full, "/docs/settings", true, ""},
		{"docs-found", full, "/docs?q=proxy", true, ""},
		{"docs-none", full, "/docs?q=zzz", true, ""},
		{"not-found", full, "/nowhere", true, ""},
	}
}

// open is what it takes to look at a shot.
func (s shot) open() []browsertest.Step {
	steps := []browsertest.Step{browsertest.Send(network.ClearBrowserCookies, cdp.Empty{})}
	if s.signedIn {
		steps = append(steps, s.rig.signIn())
	}
	steps = append(steps, chromedp.Navigate(s.rig.server.URL+s.path), browsertest.Until(`document.readyState === "complete"`))
	if s.click != "" {
		steps = append(steps, browsertest.Click(s.click))
	}
	return steps
}

// themed has the browser prefer a theme, and no motion: what still fades would be seen halfway.
func themed(theme string) browsertest.Step {
	return browsertest.Send(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	})
}

// TestScreenshots writes a picture of every page at two widths, in both themes and both
// languages, and those of the README, into the folder that WATCHMARK_SCREENSHOTS names.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv("WATCHMARK_SCREENSHOTS")
	if dir == "" {
		t.Skip("set WATCHMARK_SCREENSHOTS to a folder to get pictures of every page")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name string, picture []byte, err error) {
		t.Helper()
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	tab := browsertest.Start(t)
	calm := newRig(t)
	record := calm.calm(t)
	for _, shot := range []shot{
		{"dashboard", calm, "/", true, ""},
		{"record", calm, fmt.Sprintf("/records/%d", record), true, ""},
		{"review", calm, "/review", true, ""},
	} {
		for lang, name := range map[string]string{"en": "readme-" + shot.name, "zh-CN": "readme-zh-CN-" + shot.name} {
			browsertest.Run(t, tab, append([]browsertest.Step{speak(lang), browsertest.Sized(1280, 900), themed("light")}, shot.open()...)...)
			picture, err := chromedp.Run(tab, chromedp.CaptureScreenshot())
			write(name, picture, err)
		}
	}
	all := shots(t)
	for _, shot := range all {
		t.Run(shot.name, func(t *testing.T) {
			for _, width := range []int64{1280, 390} {
				for _, theme := range []string{"light", "dark"} {
					for _, lang := range []string{"en", "zh-CN"} {
						browsertest.Run(t, tab, append([]browsertest.Step{speak(lang), browsertest.Sized(width, 844), themed(theme)}, shot.open()...)...)
						write(fmt.Sprintf("%s-%d-%s-%s", shot.name, width, theme, lang), browsertest.WholePage(t, tab, width), nil)
					}
				}
			}
		})
	}
}
