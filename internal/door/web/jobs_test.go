package web_test

import (
	"context"
	"database/sql"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/task"
	"watchmark/internal/source/tracker"
	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/testkit/jobtest"
)

// plans are those of the jobs of the rigs.
var plans = []struct{ name, plan string }{
	{"nas_scan", "*/5 * * * *"},
	{"tracker_sync", "0 */6 * * *"},
	{"backup", "17 4 * * *"},
	{"archive_import", "CRON_TZ=Asia/Shanghai 0 8 * * 3"},
	{"dataset_refresh", "0 3 1-7 * 0"},
	{"summaries", "0 21 * * *; 0 20 * * 0"},
	{"account_tokens", "@every 1h0m0s"},
	{"tracker_tokens", "@every 24h0m0s"},
	{"update_check", ""},
}

// newJobs registers jobs that do nothing, all due in a while.
func newJobs(d *db.DB) (*schedule.Registry, *task.Registry) {
	jobs, tasks, _ := jobtest.New(d, slog.New(slog.DiscardHandler))
	for _, one := range plans {
		plan := schedule.Plan{Text: one.plan, Next: func(after time.Time) time.Time { return after.Add(95 * time.Minute) }}
		if one.plan == "" {
			plan = schedule.Plan{}
		}
		jobs.Add(schedule.Job{Name: one.name, Plan: func() schedule.Plan { return plan }, Run: func(context.Context, *schedule.Run) error { return nil }})
	}
	return jobs, tasks
}

// fillJobs has jobs have run: the first one runs, the second one failed, the third one came to its end.
func (g *rig) fillJobs(t testing.TB) {
	t.Helper()
	now := time.Now()
	const insert = `INSERT INTO jobs (name, plan, planned_from, next_run, retry_ms, ended_at, outcome, problem) VALUES (?, ?, ?, ?, 0, ?, ?, ?)`
	err := g.db.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		for i, row := range []struct {
			outcome schedule.Outcome
			problem error
		}{{schedule.Done, nil}, {schedule.Failed, tracker.ErrDead}, {schedule.Done, nil}} {
			problem := ""
			if row.problem != nil {
				problem = row.problem.Error()
			}
			ended := now.Add(-time.Duration(i+1) * 40 * time.Minute).UnixMilli()
			if _, err := tx.ExecContext(ctx, insert, plans[i].name, plans[i].plan, ended, now.Add(time.Hour).UnixMilli(), ended, row.outcome, problem); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO holds (name, owner) VALUES (?, 2)`, "job "+plans[0].name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestJobsAreShown(t *testing.T) {
	g := newRig(t)
	in := g.client(t, true)
	for lang, want := range map[string][]string{
		"en": {"Jobs", "Reading the media library of the NAS", `href="/sources/nas"`, "Every 5 minutes", "Every 6 hours", "Every day at 4:17", "Wednesdays at 8:00 (Asia/Shanghai)", "0 3 1-7 * 0",
			"Every day at 21:00; Sundays at 20:00", "Every hour", "Every day<", "Switched off", "Has not run yet", "next run", "/api/jobs/backup/run", "Run now"},
		"zh-CN": {"定时任务", "读取 NAS 影视库", "每 5 分钟", "每 6 小时", "每小时", "每天<", "（Asia/Shanghai）", "已停用", "尚未运行", "立即运行"},
	} {
		page := g.get(t, in, "/settings/tasks", lang).body
		mustContain(t, page, want...)
		if strings.Contains(page, "EXTRA") || strings.Contains(page, "MISSING") {
			t.Errorf("%s: a text has not its arguments", lang)
		}
	}
	g.fillJobs(t)
	page := g.get(t, in, "/settings/tasks", "en").body
	mustContain(t, page, `data-again="2"`, "Running", "Failed", "sign in again", "last run")
	if strings.Contains(page, "/api/jobs/nas_scan/run") || !strings.Contains(page, "/api/jobs/tracker_sync/run") {
		t.Error("a job that runs can be run, or one that failed cannot")
	}
}

func TestAJobIsRunByAButton(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/settings/tasks"), browsertest.Until(browsertest.Listening),
		browsertest.Click("#job-backup button"), browsertest.Until(browsertest.Says("#toasts", "Started.")))
	if diff := cmp.Diff([]apiCall{{"POST", "/api/jobs/backup/run", ""}}, g.asked()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}
