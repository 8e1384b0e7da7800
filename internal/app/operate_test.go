package app_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/upkeep/backup"
)

const episode7 = `{"title":"灯塔守望者","season":2,"episode":7,"user_name":"Mira","release_date":"2024-05-19"}`

// metrics are the figures of the service.
func (s *service) metrics() string {
	s.t.Helper()
	got := s.get("/metrics")
	if got.status != http.StatusOK || got.header.Get("Content-Type") != "text/plain; version=0.0.4; charset=utf-8" {
		s.t.Fatalf("the metrics answer %d as %s: %s", got.status, got.header.Get("Content-Type"), got.body)
	}
	return got.body
}

func TestMetricsAreForThoseWhoMayReadThem(t *testing.T) {
	s := start(t)
	s.expect(http.MethodGet, "/health", http.StatusOK)
	s.expect(http.MethodGet, "/health/live", http.StatusOK)
	s.expect(http.MethodGet, "/health/ready", http.StatusOK)
	s.api(http.MethodGet, "/metrics", "", http.StatusNotFound, nil)
	s.api(http.MethodPatch, "/api/settings", `{"server":{"metrics":true}}`, http.StatusOK, nil)
	s.expect(http.MethodGet, "/metrics", http.StatusUnauthorized)
	s.metrics()
}

// expect sends a request of nobody.
func (s *service) expect(method, path string, status int) {
	s.t.Helper()
	if got := s.do(s.request(method, path, "", "")); got.status != status {
		s.t.Errorf("%s %s answers %d: %s", method, path, got.status, got.body)
	}
}

func TestMetricsTellWhatHappened(t *testing.T) {
	s := start(t, "WATCHMARK_SERVER_METRICS=true", "WATCHMARK_NETWORK_PROXY=")
	s.settled(s.custom(episode7))
	s.do(s.request(http.MethodPost, "/webhook/plex/wrong-key", "application/json", `{}`))
	s.do(s.request(http.MethodPost, "/webhook/nobody/"+s.hook, "application/json", `{}`))
	s.webhook("custom", "application/json", `{`)
	var text string
	s.wait("the run of the record", func() bool {
		text = s.metrics()
		return strings.Contains(text, `watchmark_record_runs_total{source="custom",status="review"} 1`)
	})
	for _, line := range []string{
		`watchmark_webhook_requests_total{source="custom",outcome="accepted",code="202"} 1`,
		`watchmark_webhook_requests_total{source="custom",outcome="refused",code="400"} 1`,
		`watchmark_webhook_requests_total{source="plex",outcome="refused",code="401"} 1`,
		`watchmark_webhook_requests_total{source="unknown",outcome="refused",code="404"} 1`,
		`watchmark_record_runs_total{source="custom",status="review"} 1`,
		`watchmark_match_seconds_count 1`,
		`watchmark_records{status="review"} 1`,
		`watchmark_queue_marks{state="pending"} 0`,
		`watchmark_queue_oldest_seconds 0`,
		`watchmark_media_logins{state="connected"} 0`,
		`watchmark_catalog_reachable 1`,
		`watchmark_replica_info{replica="`,
		`watchmark_replicas{state="live"} 1`,
		`watchmark_replicas{state="gone"} 0`,
		`watchmark_replica_evictions_total 0`,
		`watchmark_catalog_banned{host="`,
		`watchmark_upstream_requests_total{service="catalog",class="2xx"} `,
		`watchmark_database_bytes `,
		`process_start_time_seconds `,
	} {
		if !strings.Contains(text, "\n"+line) {
			t.Errorf("the figures lack %s", line)
		}
	}
	families := map[string]bool{}
	for _, line := range strings.Split(text, "\n") {
		if name, is := strings.CutPrefix(line, "# HELP "); is {
			name, _, _ = strings.Cut(name, " ")
			if families[name] {
				t.Errorf("%s is told twice, which no reader takes", name)
			}
			families[name] = true
		}
	}
	for _, private := range []string{"灯塔", "Mira", "mira", s.hook, s.key} {
		if strings.Contains(text, private) {
			t.Errorf("the figures tell %s", private)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestWorkThatWasSkippedIsNoSuccess(t *testing.T) {
	if dbtest.OnServer() {
		t.Skip("a replica begins with offline data up to a minute after its start")
	}
	source := &weekly{}
	source.publish(t, "2026-11-17.210306Z", 1)
	site := httptest.NewServer(source)
	t.Cleanup(site.Close)
	source.address = site.URL
	s := start(t, "WATCHMARK_SERVER_METRICS=true", "WATCHMARK_CATALOG_ARCHIVE_ENABLED=true", "WATCHMARK_CATALOG_ARCHIVE_MIN_FREE_MB=1000000", "WATCHMARK_CATALOG_ARCHIVE_POINTER_URL="+site.URL+"/latest.json")
	s.wait("an import for which there is no room", func() bool {
		return strings.Contains(s.api(http.MethodGet, "/api/catalog_archive/status", "", http.StatusOK, nil).body, `"last_outcome":"skipped"`)
	})
	if text := s.metrics(); !strings.Contains(text, "\nwatchmark_job_failing{work=\"archive\"} 0") || !strings.Contains(text, "\nwatchmark_job_last_success_timestamp_seconds{work=\"archive\"} 0\n") {
		t.Errorf("the figures are %s", text)
	}
}

// TestFiguresAreThereBeforeAnythingHappens: of a counter that appears with its first event, Prometheus tells no increase.
func TestFiguresAreThereBeforeAnythingHappens(t *testing.T) {
	s := start(t, "WATCHMARK_SERVER_METRICS=true")
	before := series(s.metrics())
	s.settled(s.custom(episode7))
	for _, path := range []string{"/webhook/plex/wrong-key", "/webhook/nobody/" + s.hook, "/Emby"} {
		s.do(s.request(http.MethodPost, path, "application/json", `{}`))
	}
	s.webhook("custom", "application/json", `{`)
	s.webhook("jellyfin", "image/png", `x`)
	s.webhook("custom", "application/json", strings.Repeat(" ", 3<<20))
	if !dbtest.OnServer() { // where none is made
		var made struct {
			ID int64 `json:"task_id"`
		}
		s.api(http.MethodPost, "/api/backups", "", http.StatusAccepted, &made)
		s.taskEnds(made.ID)
	}
	for name, value := range series(s.metrics()) {
		was, there := before[name]
		if !there {
			t.Errorf("%s appears with its first event", name)
		}
		if strings.Contains(name, "_total{") && was != "0" && was == value {
			t.Errorf("%s is %s at the start", name, was)
		}
	}
	for _, want := range []string{
		`watchmark_webhook_requests_total{source="plex",outcome="refused",code="401"}`, `watchmark_record_runs_total{source="tracker",status="error"}`,
		`watchmark_upstream_requests_total{service="catalog",class="failed"}`, `watchmark_upstream_seconds_total{service="images"}`, `watchmark_notifications_total{channel="email",state="failed"}`,
		`watchmark_tasks_running{kind="archive_import"}`, `watchmark_tasks_ended_total{kind="import",state="failed"}`, `watchmark_job_failing{work="nas"}`, `watchmark_job_last_success_timestamp_seconds{work="backup"}`,
	} {
		if before[want] != "0" {
			t.Errorf("%s is %q at the start", want, before[want])
		}
	}
}

// series are the values of figures by name and labels.
func series(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, is := strings.Cut(strings.TrimSpace(line), "} "); is && line[0] != '#' {
			all[name+"}"] = value
		} else if name, value, is := strings.Cut(strings.TrimSpace(line), " "); is && line[0] != '#' {
			all[name] = value
		}
	}
	return all
}

// TestTheBoardShowsWhatIsMeasured holds contrib/grafana and the alert rules of contrib/prometheus against what the service answers.
func TestTheBoardShowsWhatIsMeasured(t *testing.T) {
	s := start(t, "WATCHMARK_SERVER_METRICS=true")
	answered, gauges := map[string]bool{}, map[string]bool{}
	text := s.metrics()
	for _, line := range regexp.MustCompile(`(?m)^# TYPE (\w+) gauge$`).FindAllStringSubmatch(text, -1) {
		gauges[line[1]] = true
	}
	for figure := range series(text) {
		name, _, _ := strings.Cut(figure, "{")
		if !strings.HasSuffix(name, "_sum") && !strings.HasSuffix(name, "_count") {
			answered[name] = false
		}
	}
	document, err := os.ReadFile(filepath.FromSlash("../../contrib/grafana/watchmark.json"))
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string `json:"title"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal(document, &board); err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`\b(?:watchmark|go|process)_\w+`)
	adds := regexp.MustCompile(`\bsum(?: by \([^)]*\))? ?\((\w+)`)
	rules, err := os.ReadFile(filepath.FromSlash("../../contrib/prometheus/watchmark.rules.yml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, used := range name.FindAllString(string(rules), -1) {
		if _, known := answered[used]; !known {
			t.Errorf("the alert rules ask for %s, which the service does not answer", used)
		}
	}
	shown := map[string]bool{}
	for _, panel := range board.Panels {
		for _, target := range panel.Targets {
			shown[strings.ReplaceAll(target.Expr, "$instance", ".+")] = true
			for _, added := range adds.FindAllStringSubmatch(target.Expr, -1) {
				if gauges[added[1]] {
					t.Errorf("panel %q adds up %s, which several replicas tell alike", panel.Title, added[1])
				}
			}
			for _, shown := range name.FindAllString(target.Expr, -1) {
				if _, known := answered[shown]; !known {
					t.Errorf("panel %q shows %s, which the service does not answer", panel.Title, shown)
				}
				answered[shown] = true
			}
		}
	}
	for measured, is := range answered {
		if !is {
			t.Errorf("no panel shows %s", measured)
		}
	}
	tested, err := os.ReadFile(filepath.FromSlash("../../contrib/prometheus/watchmark.test.yml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, expr := range regexp.MustCompile(`(?m)^ +- expr: (.+)$`).FindAllStringSubmatch(string(tested), -1) {
		if !shown[expr[1]] {
			t.Errorf("no panel asks for %s, which is tested", expr[1])
		}
	}
}

func TestBackupsAreMadeKeptAndDownloaded(t *testing.T) {
	if dbtest.OnServer() {
		t.Skip("a server has backups of its own")
	}
	s := start(t, "WATCHMARK_BACKUP_KEEP=2")
	s.settled(s.custom(episode7))
	var names []string
	for range 3 {
		var made struct {
			ID int64 `json:"task_id"`
		}
		s.api(http.MethodPost, "/api/backups", "", http.StatusAccepted, &made)
		s.taskEnds(made.ID)
		names = append([]string{s.backups().Items[0].Name}, names...)
	}
	left := s.backups()
	if len(left.Items) != 2 || left.Items[0].Name != names[0] || left.Items[1].Name != names[1] || left.NextRun == nil || !left.LastError.IsZero() || left.KeyMissing {
		t.Errorf("of %v there is left: %+v", names, left)
	}
	if got := s.api(http.MethodGet, "/api/backups/"+names[0], "", http.StatusOK, nil); !strings.HasPrefix(got.body, "SQLite format 3") ||
		got.header.Get("Content-Disposition") != `attachment; filename="`+names[0]+`"` || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the download is %.20q with %v", got.body, got.header)
	}
	s.expect(http.MethodGet, "/api/backups/"+names[0], http.StatusUnauthorized)
	s.api(http.MethodGet, "/api/backups/"+names[2], "", http.StatusNotFound, nil)
	s.api(http.MethodGet, "/api/backups/..%2Fsecret.key", "", http.StatusNotFound, nil)
	s.api(http.MethodDelete, "/api/backups/..%2Fsecret.key", "", http.StatusNotFound, nil)
	s.api(http.MethodDelete, "/api/backups/"+names[1], "", http.StatusNoContent, nil)
	s.stop()
	// What was downloaded is put back by the command.
	restored, err := backup.Restore(t.Context(), s.dir, filepath.Join(s.dir, "backups", names[0]))
	if err != nil || !restored.Checked || !slices.Contains(restored.Files, "secret.key") || !slices.Contains(restored.Files, "watchmark.db") {
		t.Errorf("restore: %v, %v", restored, err)
	}
	s.run(append([]string{"WATCHMARK_AUTH_ENABLED=false"}, s.catalog...))
	s.expect(http.MethodGet, "/api/backups/"+names[0], http.StatusForbidden)
	if got := s.backups(); len(got.Items) != 1 {
		t.Errorf("after the restore: %+v", got)
	}
}

func (s *service) backups() (b backup.Status) {
	s.t.Helper()
	s.api(http.MethodGet, "/api/backups", "", http.StatusOK, &b)
	return b
}

// TestAMissedBackupIsMadeAtTheStart as of a machine that sleeps at night, and people hear of one that fails.
func TestAMissedBackupIsMadeAtTheStart(t *testing.T) {
	if dbtest.OnServer() {
		t.Skip("a server has backups of its own")
	}
	s := start(t)
	s.stop()
	folder := filepath.Join(s.dir, "backups")
	old := "watchmark-" + time.Now().AddDate(0, 0, -3).Format("20060102-150405") + ".backup"
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, old), []byte("of three days ago"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run(s.catalog)
	s.wait("the missed backup", func() bool { b := s.backups(); return len(b.Items) == 2 && !b.Running && b.Items[1].Name == old })
	s.stop()
	// A folder that cannot be made.
	blocked := filepath.Join(s.dir, "no-folder")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.run(append([]string{"WATCHMARK_BACKUP_DIR=" + filepath.Join(blocked, "backups")}, s.catalog...))
	s.api(http.MethodPost, "/api/backups", "", http.StatusAccepted, nil)
	s.wait("the failed backup", func() bool { b := s.backups(); return !b.Running && strings.Contains(b.LastError.Text, "backup.dir") })
}

// wait waits until something holds.
func (s *service) wait(what string, holds func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("%s did not come: %s", what, s.logs)
		}
	}
}

func TestTheLogGoesToAFileToo(t *testing.T) {
	s := startEmpty(t, "WATCHMARK_LOG_FILE=true")
	path := filepath.Join(s.dir, "logs", "watchmark.log")
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "watchmark is running") || !strings.Contains(string(text), "/setup?token=") {
		t.Errorf("the file holds %s (%v)", text, err)
	}
	if !strings.Contains(s.logs.String(), "watchmark is running") {
		t.Errorf("nothing is printed: %s", s.logs)
	}
	s.stop()
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "msg=stopped") {
		t.Errorf("at the end the file holds %s (%v)", text, err)
	}
}
