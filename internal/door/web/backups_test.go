package web_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/upkeep/backup"
	"watchmark/internal/upkeep/update"
)

// someBackups are two, of which the newest is watchmark-20260314-041700.backup.
func someBackups() backup.Status {
	newest, next := time.Date(2026, 3, 14, 4, 17, 0, 0, time.Local), time.Now().Add(9*time.Hour)
	return backup.Status{Dir: "/data/backups", Keep: 7, NextRun: &next, LastRun: newest, Items: []backup.File{
		{Name: "watchmark-20260314-041700.backup", MadeAt: newest, Size: 41_345_617},
		{Name: "watchmark-20260313-041700.backup", MadeAt: newest.AddDate(0, 0, -1), Size: 1_345_617},
	}}
}

func TestBackupsPage(t *testing.T) {
	g := newRig(t)
	in := g.client(t, true)
	next := time.Now().Add(9 * time.Hour)
	g.backups = backup.Status{Dir: "/data/backups", Keep: 7, NextRun: &next}
	mustContain(t, g.get(t, in, "/settings/backups", "en").body, "No backup yet", "the newest 7", "watchmark restore FILE --data DIR", `aria-current="page">Backups`, "No backup yet")
	g.backups = someBackups()
	mustContain(t, g.get(t, in, "/settings/backups", "en").body, "Works", "41 MB", "1.3 MB", "as safe as a password", "/data/backups/watchmark-20260314-041700.backup&#34; --data DIR",
		`href="/api/backups/watchmark-20260314-041700.backup" download=`, `data-url="/api/backups/watchmark-20260313-041700.backup"`)
	mustContain(t, g.get(t, in, "/settings/backups", "zh-CN").body, "立即备份", "像密码一样")
	g.backups.LastError, g.backups.KeyMissing = value("backup_space_lacks", backup.ErrNoSpace, "/data", 12, 300), true
	mustContain(t, g.get(t, in, "/settings/backups", "zh-CN").body, "上次备份失败", "空间不足", "WATCHMARK_SECRET_KEY")
	g.backups = backup.Status{Keep: 7}
	mustContain(t, g.get(t, in, "/settings/backups", "en").body, "Switched off", "not scheduled")
	g.backups = backup.Status{Keep: 7, OnServer: true}
	page := g.get(t, in, "/settings/backups", "en").body
	mustContain(t, page, "no backup is made here", "watchmark backup FILE --data DIR", `href="/docs/operations#backups-of-postgresql"`)
	if strings.Contains(page, "backup-now") || strings.Contains(page, "watchmark restore") {
		t.Error("it offers what it does not do")
	}
}

func TestWhereNobodySignsInNothingIsDownloaded(t *testing.T) {
	g := newRig(t)
	g.backups = someBackups()
	g.open = true
	page := g.get(t, g.client(t, true), "/settings/backups", "en").body
	mustContain(t, page, "backups cannot be downloaded")
	if strings.Contains(page, `href="/api/backups/`) {
		t.Error("a link leads to a download")
	}
}

func TestAboutTellsOfNewerVersions(t *testing.T) {
	g := newRig(t)
	in := g.client(t, true)
	for want, status := range map[string]update.Status{
		"Watchmark does not look for newer versions": {},
		"Version 1.5.0 is available":                 {Enabled: true, Newer: "1.5.0", URL: "https://git.example/1.5.0", CheckedAt: time.Now()},
		"This is the newest version":                 {Enabled: true, CheckedAt: time.Now()},
		"The first check runs in a few minutes":      {Enabled: true},
		"answered with status 404":                   {Enabled: true, CheckedAt: time.Now(), Problem: value("update_check_answers", 404)},
	} {
		g.update = status
		mustContain(t, g.get(t, in, "/settings/about", "en").body, want, status.URL)
	}
}

func TestBrowserMakesAndDownloadsABackup(t *testing.T) {
	g := newRig(t)
	g.backups = someBackups()
	g.answer = func(c apiCall) (int, string) {
		if c.Path == "/api/backups" {
			return http.StatusAccepted, `{"task_id":3}`
		}
		return http.StatusOK, `{}`
	}
	download := apiCall{"GET", "/api/backups/watchmark-20260314-041700.backup", ""}
	tab := browsertest.Start(t)
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/settings/backups"), browsertest.Until(browsertest.Listening),
		browsertest.Click("#backup-now button"), browsertest.Until(`!document.querySelector("#run").hidden`),
		browsertest.Click("a[data-confirm]"), browsertest.Until(browsertest.Says("#confirm", "tokens of all accounts")), browsertest.Click("#confirm [value=no]"),
		browsertest.Until(`!document.querySelector("#confirm").open`))
	if calls := g.asked(); !slices.Contains(calls, apiCall{"POST", "/api/backups", ""}) || slices.Contains(calls, download) {
		t.Errorf("calls: %v", calls)
	}
	browsertest.Run(t, tab, browsertest.Click("a[data-confirm]"), browsertest.Until(`document.querySelector("#confirm").open`), browsertest.Click("#confirm [value=yes]"))
	for deadline := time.Now().Add(2 * time.Minute); !slices.Contains(g.asked(), download); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("nothing is downloaded: %v", g.asked())
		}
	}
}
