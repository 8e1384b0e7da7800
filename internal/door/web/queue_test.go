package web_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/engine"
	"watchmark/internal/engine/queue"
	"watchmark/internal/engine/review"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/source/importer"
	"watchmark/internal/source/tracker"
	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/watch"
)

// waits adds a record of mira that waits, with so many failed tries.
func (g *rig) waits(t testing.TB, e watch.Event, subject string, tries int, rest time.Duration) int64 {
	t.Helper()
	id := g.addRecord(t, e, time.Now().Add(-30*time.Minute), record.Outcome{Status: record.Queued, ErrorKind: record.Unreachable, SubjectID: catalog.SubjectID(900000 + len(subject)), SubjectName: subject}, account.Account{ID: 1, Username: "mira"})
	for range tries + 1 {
		g.write(t, func(ctx context.Context, tx *sql.Tx) error {
			put, err := queue.PutTx(ctx, tx, queue.Task{RecordID: id, AccountID: 1, SubjectID: 900001, Episodes: []catalog.EpisodeID{5}, Action: watch.Watched,
				LastError: value("waits", reason.WithDetail.With(value("outage"), "<b>502</b> Bad Gateway")), Asked: true, RetryAfter: rest}, 3)
			if err == nil && put.Status == queue.Abandoned {
				err = record.MoveTx(ctx, tx, id, record.Queued, record.Failed, record.Abandoned, value("given_up", 3, value("outage")))
			}
			return err
		})
	}
	return id
}

// fillQueue adds marks in every state: two that wait, one that was given up, one that is done.
func (g *rig) fillQueue(t testing.TB) (waiting, given int64) {
	t.Helper()
	waiting = g.waits(t, episode(watch.Plex, "mira", "迷宫饭", "ダンジョン飯", 1, 13, ""), "迷宫饭", 2, 4*time.Minute)
	g.waits(t, film(watch.Emby, "mira", hostileTitle, "", ""), "A film with a rather long title that does not fit into one line of a phone", 0, 0)
	given = g.waits(t, episode(watch.NAS, "mira", "间谍过家家", "", 2, 5, ""), "间谍过家家 Season 2", 3, 0)
	done := g.waits(t, episode(watch.Tracker, "mira", "摇曳露营", "", 3, 2, ""), "摇曳露营△ 第三季", 1, 0)
	g.write(t, func(ctx context.Context, tx *sql.Tx) error { _, err := queue.DoneTx(ctx, tx, done); return err })
	next := time.Now().Add(4 * time.Minute)
	g.scheduler = queue.Standing{Enabled: true, Running: true, NextRun: next, Last: queue.Round{At: time.Now().Add(-time.Minute), Outcome: queue.Sent, Count: 2}}
	return waiting, given
}

// ran starts a task that ends at once with a result, or by an error.
func (g *rig) ran(t testing.TB, kind string, about int64, result any, err error) *task.Task {
	t.Helper()
	run, failure := g.tasks.Start(t.Context(), task.Spec{Kind: kind, About: about}, func(_ context.Context, t *task.Task) error {
		t.SetResult(result)
		return err
	})
	if failure != nil {
		t.Fatal(failure)
	}
	for run.Status().State == task.Running {
		_, more := run.After(0)
		if run.Status().State == task.Running {
			<-more
		}
	}
	return run
}

// runs starts a task that has a log and goes on until it is cancelled.
func (g *rig) runs(t testing.TB, kind string, about int64, done, total int, message string) *task.Task {
	t.Helper()
	log := slog.New(task.Handler(slog.DiscardHandler))
	told := make(chan struct{})
	run, err := g.tasks.Start(t.Context(), task.Spec{Kind: kind, About: about}, func(ctx context.Context, t *task.Task) error {
		t.Progress(done, total, reason.Text(message))
		log.DebugContext(ctx, "request sent", "url", "https://catalog.example/v0/subjects/8", "body", "<script>alert(1)</script>")
		log.WarnContext(ctx, "it takes long", "elapsed", time.Second)
		close(told)
		<-ctx.Done()
		return ctx.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	<-told
	return run
}

// fillTasks adds tasks of every kind.
func (g *rig) fillTasks(t testing.TB) (running *task.Task) {
	t.Helper()
	g.fillJobs(t)
	tally := engine.Tally{Retried: 9, Marked: 6, Queued: 1, Failed: 2}
	g.ran(t, "tracker_device", 0, tracker.User{Name: "mira@tracker"}, nil)
	g.ran(t, "tracker_sync", 0, []tracker.RunResult{{Name: "mira", Taken: 3, Known: 40}, {Name: "bench", Taken: 4, Known: 2, Unreadable: 1}}, nil)
	g.ran(t, "tracker_preview", 0, tracker.Preview{}, nil)
	g.ran(t, "import_preview", 0, importer.Preview{}, nil)
	g.ran(t, "import", 0, importer.Result{Taken: 812, Known: 5, Skipped: importer.Skipped{Count: 3}}, nil)
	g.ran(t, "device_sync", 0, map[string]int{"devices": 2, "online": 1}, nil)
	g.ran(t, "dataset_refresh", 0, map[string]any{"outcome": "refreshed", "entries": 8521}, nil)
	g.ran(t, "archive_import", 0, map[string]any{"outcome": "failed", "reason": "502"}, value("fetch_newest", value("fetch_status", 502, "<b>Bad</b> Gateway")))
	g.ran(t, "correct", 4, review.CorrectTally{TakenBack: 2, Tally: tally}, nil)
	g.ran(t, "answer", 3, tally, nil)
	g.ran(t, "retry", 2, record.Record{ID: 2, Status: record.Failed, ErrorKind: record.NotMatched}, nil)
	g.ran(t, "retry_failed", 0, tally, nil)
	return g.runs(t, "archive_import", 0, 42, 100, "read")
}

func TestAMarkThatWaitsForItsAccount(t *testing.T) {
	g := newRig(t)
	g.fill(t)
	g.fillQueue(t)
	g.write(t, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE accounts SET enabled = 0`)
		return err
	})
	page := g.get(t, g.client(t, true), "/records/queue", "en").body
	mustContain(t, page, "Waits for its account", `/people"`)
	if strings.Contains(page, "Due now") || strings.Contains(page, `/api/catalog_replay/replay/`) {
		t.Error("what waits for its account is said to be due, or can be sent")
	}
}

func TestQueuePage(t *testing.T) {
	g := newRig(t)
	g.fill(t)
	waiting, given := g.fillQueue(t)
	in := g.client(t, true)
	g.down = time.Time{}
	for _, c := range []struct {
		name, path string
		change     func()
		en, zh     []string
		never      string
	}{
		{"what waits", "/records/queue", nil, []string{"Marks have not gone through yet", "2 marks sent", "in 4 minutes", "迷宫饭", "S1 E13", "2 of 50 tries failed", "Next try", "Due now", "not tried again yet", "Film", "&lt;b&gt;502",
			fmt.Sprintf(`/api/catalog_replay/replay/%d"`, waiting), fmt.Sprintf(`/records/%d"`, waiting), "Send all now", "https://catalog.example/subject/900001"},
			[]string{"有标记尚未写入", "发送了 2 个标记", "已失败 2 次，最多 50 次", "全部发送"}, "间谍过家家"},
		{"what was given up", "/records/queue?status=abandoned", nil, []string{"间谍过家家", fmt.Sprintf("/api/catalog_replay/queue/%d/revive", given), "stays failed"}, []string{"恢复等待"}, "迷宫饭"},
		{"what is done", "/records/queue?status=synced", nil, []string{"摇曳露营", "its mark stay"}, []string{"摇曳露营"}, "/api/catalog_replay/replay/"},
		{"no such state", "/records/queue?status=lost&after=x", nil, []string{"迷宫饭"}, []string{"迷宫饭"}, "间谍过家家"},
		{"in an outage", "/records/queue", func() { g.down = time.Now().Add(-25 * time.Minute) }, []string{"Bangumi does not answer", "25 minutes ago", "in 1 minute", "connection refused", "Sent as soon as Bangumi answers", `data-again="5"`}, []string{"Bangumi 无响应"}, "Due now"},
		{"switched off", "/records/queue", func() { g.down, g.scheduler = time.Time{}, queue.Standing{} }, []string{"Switched off", "not since the start", `name="catalog_replay.enabled"`, "marks wait until you send them", "Waits for you", "Marks wait for you", "no mark is lost"}, []string{"已停用", "没有丢失"}, "retried automatically"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.change != nil {
				c.change()
			}
			for lang, wanted := range map[string][]string{"en": c.en, "zh-CN": c.zh} {
				page := g.get(t, in, c.path, lang)
				if page.status != http.StatusOK {
					t.Fatalf("in %s it answers %d", lang, page.status)
				}
				mustContain(t, page.body, wanted...)
				if c.never != "" && strings.Contains(page.body, c.never) || strings.Contains(page.body, "<script>alert") {
					t.Errorf("in %s it holds what it must not", lang)
				}
			}
		})
	}
}

func TestQueueIsPaged(t *testing.T) {
	g := newRig(t)
	g.addAccount(t, account.Draft{Username: "mira", Method: account.ByToken, Tokens: token("x"), Enabled: true})
	for n := range 60 {
		g.waits(t, episode(watch.Plex, "mira", fmt.Sprintf("show %02d", n), "", 1, 1, ""), "", 0, 0)
	}
	in := g.client(t, true)
	first := g.get(t, in, "/records/queue", "en").body
	mustContain(t, first, "show 00", "show 49")
	further := regexp.MustCompile(`href="(/records/queue\?after=\d+)"`).FindStringSubmatch(first)
	if further == nil || strings.Contains(first, "show 50") {
		t.Fatal("the first page shows all, or has no way on")
	}
	second := g.get(t, in, further[1], "en").body
	mustContain(t, second, "show 50", "show 59", "To the start")
	if strings.Contains(second, "show 49") {
		t.Error("the second page repeats a mark")
	}
}

func TestTaskPages(t *testing.T) {
	g := newRig(t)
	in := g.client(t, true)
	mustContain(t, g.get(t, in, "/settings/tasks", "en").body, "No tasks", `data-again="10"`)
	running := g.fillTasks(t)
	page := g.get(t, in, "/settings/tasks", "en").body
	mustContain(t, page, `data-again="2"`, "Reading the dump: 42 %", "/api/tasks/13/cancel", "Sign-in at Trakt with a code", "Signed in as mira@tracker.", "7 new, 42 already known, 1 not understood.",
		"812 imported, 5 imported before, 3 skipped.", "2 found (1 online).", "Refreshed and in use: 8,521 entries.", "it answered 502 &lt;b&gt;Bad", "Marks taken back: 2. 6 marked, 1 waiting, 2 failed again.",
		"It did not work. No entry matched", `href="/review?before=4#question-3"`, `href="/records/4"`, "Record 2", "The preview is ready.")
	_, retried, _ := strings.Cut(page, "Retry of a record")
	retried, _, _ = strings.Cut(retried, "It did not work")
	mustContain(t, retried, `state bad`, "Failed")
	zh := g.get(t, in, "/settings/tasks", "zh-CN").body
	mustContain(t, zh, "正在读取：42 %", "导入以前的观看历史", "导入 812 项", "重试全部失败记录")
	for _, never := range []string{"{", "%!", "<b>502", "<nil>"} {
		if i := strings.Index(page[strings.Index(page, `id="tasks"`):], never); i >= 0 {
			t.Errorf("the page holds %q", never)
		}
	}
	path := fmt.Sprintf("/settings/tasks/%d", running.Status().ID)
	mustContain(t, g.get(t, in, path, "en").body, "Import of the offline data", "request sent", "url: https://catalog.example/v0/subjects/8", "&lt;script&gt;alert", `<li class="warn">`, "elapsed: 1s", `href="/titles/archive"`, fmt.Sprintf(`data-stream="/api/tasks/%d/stream"`, running.Status().ID))
	mustContain(t, g.get(t, in, "/records/queue", "en").body, "1 task running")
	for _, missing := range []string{"/settings/tasks/99", "/settings/tasks/x"} {
		if status := g.get(t, in, missing, "en").status; status != http.StatusNotFound {
			t.Errorf("%s answers %d", missing, status)
		}
	}
}

// TestRunningWorkIsFoundAgain: who left the page of a run finds it there again.
func TestRunningWorkIsFoundAgain(t *testing.T) {
	g := newRig(t)
	s := g.fill(t)
	in := g.client(t, true)
	for kind, path := range map[string]string{engine.RetryFailedKind: "/records", review.CorrectKind: fmt.Sprintf("/records/%d", s.success), engine.RetryKind: fmt.Sprintf("/records/%d", s.review)} {
		if strings.Contains(g.get(t, in, path, "en").body, "data-follow") {
			t.Errorf("%s follows a run that there is not", path)
		}
		var about int64
		_, _ = fmt.Sscanf(path, "/records/%d", &about)
		run := g.runs(t, kind, about, 0, 1, "")
		mustContain(t, g.get(t, in, path, "en").body, fmt.Sprintf(`data-follow="%d"`, run.Status().ID))
	}
}

func TestRecordsOfSomeDays(t *testing.T) {
	g := newRig(t)
	in := g.client(t, true)
	failed := record.Outcome{Status: record.Failed, ErrorKind: record.NotMatched}
	for title, at := range map[string]string{"before": "2026-03-01T15:59:00Z", "early": "2026-03-01T16:01:00Z", "late": "2026-03-03T15:59:00Z", "after": "2026-03-03T16:01:00Z"} {
		moment, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		g.addRecord(t, episode(watch.NAS, "mira", title+" show", "", 1, 1, ""), moment, failed, account.Account{})
	}
	body := g.get(t, in, "/records?from=2026-03-02&to=2026-03-03&zone=Asia%2FShanghai&status=error&source=nas", "en").body
	mustContain(t, body, "early show", "late show", `value="2026-03-02"`, `value="Asia/Shanghai"`, "Clear the filter",
		"/api/records/retry?"+strings.ReplaceAll(url.Values{"since": {"2026-03-02T00:00:00+08:00"}, "source": {"nas"}, "until": {"2026-03-04T00:00:00+08:00"}}.Encode(), "&", "&amp;"))
	for _, never := range []string{"before show", "after show"} {
		if strings.Contains(body, never) {
			t.Errorf("it lists %s", never)
		}
	}
	// Clocks skip the midnight of 29 March on the Azores: that day begins at one.
	mustContain(t, g.get(t, in, "/records?from=2026-03-01&to=2026-03-28&zone=Atlantic%2FAzores&status=error", "en").body, "early show", url.Values{"until": {"2026-03-29T01:00:00Z"}}.Encode())
	mustContain(t, g.get(t, in, "/records?from=2026-13-99&to=%3Cb%3E&zone=../etc/passwd", "en").body, "before show", "after show", `name="zone" value=""`)
}

func TestRecordShowsWhatCameIn(t *testing.T) {
	g := newRig(t)
	s := g.fill(t)
	in := g.client(t, true)
	mustContain(t, g.get(t, in, fmt.Sprintf("/records/%d", s.success), "en").body, "The request, with secrets masked", "192.168.1.20", "&#34;event&#34;: &#34;media.scrobble&#34;", "&#34;user_name&#34;: &#34;mira&#34;", "What this record marked stays")
	mustContain(t, g.get(t, in, fmt.Sprintf("/records/%d", s.hostile), "en").body, "No request is shown", fmt.Sprintf(`data-also="/api/records/%d/retry"`, s.hostile), "/api/blocked-keywords")
	polled := g.addRecord(t, episode(watch.Device, "mira", "show", "", 1, 1, ""), time.Now(), record.Outcome{Status: record.Ignored, Trace: []byte(`{"result":{"status":"blocked"}}`)}, account.Account{})
	body := g.get(t, in, fmt.Sprintf("/records/%d", polled), "en").body
	mustContain(t, body, "Watchmark reads this source by itself")
	if strings.Contains(body, "Block the title") {
		t.Error("a title that is blocked can be blocked")
	}
	mustContain(t, g.get(t, in, fmt.Sprintf("/records/%d", s.review), "en").body, fmt.Sprintf("/api/pending-candidates/%d/reject", s.question))
	mustContain(t, g.get(t, in, fmt.Sprintf("/records/%d", s.queued), "en").body, `href="/records/queue"`)
}

func TestBrowserSteersTheQueue(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.fill(t)
	waiting, given := g.fillQueue(t)
	g.answer = func(c apiCall) (int, string) {
		switch {
		case c.Path == "/api/catalog_replay/probe":
			return 200, `{"ok":false,"reason":"unreachable","message":"The catalog could not be reached."}`
		case c.Path == "/api/catalog_replay/replay":
			return 502, `{"status":502,"detail":"The catalog could not be reached."}`
		case c.Method == http.MethodDelete:
			if err := queue.NewQueue(g.db).Delete(t.Context(), waiting); err != nil {
				t.Error(err)
			}
		}
		return 202, `{}`
	}
	browsertest.Run(t, tab, browsertest.Sized(390, 844), g.signIn(), chromedp.Navigate(g.server.URL+"/records/queue"), browsertest.Until(browsertest.Listening),
		browsertest.Click("form[data-url$='/probe'] button"), browsertest.Until(browsertest.Says("#toasts .bad", "Bangumi still does not answer.")), browsertest.Click("#toasts button"),
		browsertest.Click("#queue-head form button"), browsertest.Until(browsertest.Says("#toasts .bad", "nothing was sent, and nothing is lost")),
		browsertest.Click(fmt.Sprintf("#waits-%d form[data-api=DELETE] button", waiting)), browsertest.Until(browsertest.Says("#confirm", "Take “迷宫饭” out of the queue?")), browsertest.Click("#confirm [value=yes]"),
		browsertest.Until(fmt.Sprintf(`!document.getElementById("waits-%d")`, waiting)), browsertest.Until(browsertest.Says("#queue .tabs [aria-current] .count", "1")),
	)
	// It hears of what changes by itself: the outage ends without any record changing.
	g.down = time.Time{}
	browsertest.Run(t, tab, browsertest.Until(browsertest.Says("#queue .verdict", "Marks have not gone through yet")),
		chromedp.Navigate(g.server.URL+"/records/queue?status=abandoned"), browsertest.Until(browsertest.Listening),
		browsertest.Click("form[data-url$='/revive'] button"), browsertest.Until(browsertest.Says("#toasts", "It waits again")))
	want := []apiCall{{"POST", "/api/catalog_replay/probe", ""}, {"POST", "/api/catalog_replay/replay", ""}, {"DELETE", fmt.Sprintf("/api/catalog_replay/queue/%d", waiting), ""},
		{"POST", fmt.Sprintf("/api/catalog_replay/queue/%d/revive", given), ""}}
	if diff := cmp.Diff(want, g.asked()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestBrowserFollowsATask(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	run := g.runs(t, engine.RetryFailedKind, 0, 2, 8, "2 run again")
	id := run.Status().ID
	g.answer = func(c apiCall) (int, string) {
		if strings.HasSuffix(c.Path, "/cancel") {
			if err := g.tasks.Cancel(t.Context(), id); err != nil {
				t.Error(err)
			}
		}
		return 202, `{}`
	}
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/records"), browsertest.Until(browsertest.Says("#run", "2 of 8")),
		chromedp.Evaluate[chromedp.Void](`window.fetch = () => Promise.reject(new TypeError("no network"))`),
		browsertest.Click("#run [data-cancel]"), browsertest.Until(browsertest.Says("#toasts .bad", "The service does not answer.")),
		chromedp.Navigate(g.server.URL+"/settings/tasks"), browsertest.Until(browsertest.Listening),
		browsertest.Until(browsertest.Says("#tasks", "Running: 2 of 8.")), browsertest.Click("#tasks a.name"),
		browsertest.Until(fmt.Sprintf(`location.pathname === "/settings/tasks/%d" && document.readyState === "complete"`, id)), browsertest.Until(browsertest.Listening),
		browsertest.Until(browsertest.Says(".log", "request sent")))
	run.Progress(5, 8, reason.Text("5 run again"))
	browsertest.Run(t, tab, browsertest.Until(browsertest.Says("#task", "Running: 5 of 8.")), browsertest.Until(`document.querySelector("#task progress").value === 5`),
		browsertest.Click("#task form button"), browsertest.Until(browsertest.Says("#task", "Stopped: what was done stays")), browsertest.Until(`!document.querySelector("#task form")`))
}

func TestBrowserBlocksATitle(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	s := g.fill(t)
	g.answer = func(apiCall) (int, string) { return 202, `{"task_id":7}` }
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+fmt.Sprintf("/records/%d", s.noAccount)), browsertest.Until(browsertest.Listening),
		browsertest.Click("form[data-url$='/blocked-keywords'] button"), browsertest.Until(browsertest.Says("#confirm", "Block the title “灵能百分百”?")), browsertest.Click("#confirm [value=yes]"),
		browsertest.Until(browsertest.Says("#toasts", "The title is blocked.")), browsertest.Until(`!document.getElementById("run").hidden`))
	want := []apiCall{{"POST", "/api/blocked-keywords", `{"keyword":"灵能百分百","kind":"exact"}`}, {"POST", fmt.Sprintf("/api/records/%d/retry", s.noAccount), ""}}
	if diff := cmp.Diff(want, g.asked()[:2]); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestBrowserFiltersByDay(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.fill(t)
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/records"), browsertest.Until(browsertest.Listening),
		browsertest.Type("#from", "2020-01-02"), browsertest.Click(".filters .button:not([type=button])"),
		browsertest.Until(`location.search === "?from=2020-01-02&zone=" + encodeURIComponent(Intl.DateTimeFormat().resolvedOptions().timeZone) && document.readyState === "complete"`),
		browsertest.Until(browsertest.Says("#records", "迷宫饭")))
}
