package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/app"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/movetest"
	"watchmark/internal/upkeep/movein"
)

// moveIn stops the service, takes a folder over, and starts the service again.
func (s *service) moveIn(folder string, environ ...string) movein.Report {
	s.t.Helper()
	report, err := s.tryMoveIn(folder, environ...)
	if err != nil {
		s.t.Fatal(err)
	}
	s.run(append(append(environ, asksNobody...), s.catalog...))
	return report
}

// asksNobody keeps the service from asking the world for what a folder switched on.
var asksNobody = []string{"WATCHMARK_CATALOG_ARCHIVE_ENABLED=false", "WATCHMARK_NAS_ENABLED=false", "WATCHMARK_DEVICE_ENABLED=false", "WATCHMARK_TRACKER_ENABLED=false"}

func intoAFolder(t *testing.T) {
	t.Helper()
	if dbtest.OnServer() {
		t.Skip("data is moved into a folder")
	}
}

func (s *service) tryMoveIn(folder string, environ ...string) (movein.Report, error) {
	s.t.Helper()
	intoAFolder(s.t)
	s.stop()
	agree := func([]string, movein.Report) (bool, error) { return true, nil }
	return app.MoveIn(context.Background(), app.Options{DataDir: s.dir, Environ: append(environ, s.catalog...), Logs: s.logs}, folder, agree)
}

// told is a report as text, one line for each thing.
func told(r movein.Report) []string {
	var lines []string
	for _, part := range r.Parts {
		for _, line := range part.Lines {
			lines = append(lines, fmt.Sprintf("%s: %s: %s", line.Fate, part.Name, line.What))
		}
	}
	return lines
}

// want checks that the report says each of lines, and nothing of what else.
func (s *service) tells(r movein.Report, want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(want, told(r)); diff != "" {
		s.t.Errorf("the report (-want +got):\n%s", diff)
	}
}

// leaves checks that the report names each of these as not taken.
func (s *service) leaves(r movein.Report, want ...string) {
	s.t.Helper()
	var got []string
	for _, left := range r.Left {
		what := left.What
		if filepath.IsAbs(what) {
			what = filepath.Base(what)
		}
		got = append(got, what)
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("not taken (-want +got):\n%s", diff)
	}
}

// everything is all that people see of what can be taken over, as the API answers it.
func (s *service) everything() string {
	s.t.Helper()
	var all strings.Builder
	for _, path := range []string{"/api/settings", "/api/accounts", "/api/mappings", "/api/blocked-keywords", "/api/notification/webhooks", "/api/notification/emails", "/api/notification/wecoms",
		"/api/notification/dingtalks", "/api/notification/rules", "/api/summary/jobs", "/api/tracker/status", "/api/records?limit=200"} {
		all.WriteString(path + " " + s.api(http.MethodGet, path, "", http.StatusOK, nil).body + "\n")
	}
	return sending.ReplaceAllString(all.String(), "")
}

// sending is how sending to a channel stands, which goes on by itself.
var sending = regexp.MustCompile(`"(paused|waiting|last_error|last_error_at|last_sent_at|retry_at)":("([^"\\]|\\.)*"|[^",}]*),?`)

// list reads a list of the API.
func list[T any](s *service, path string) []T {
	s.t.Helper()
	var got struct{ Items []T }
	s.api(http.MethodGet, path, "", http.StatusOK, &got)
	return got.Items
}

// quiet checks that no secret of the folder is seen.
func (s *service) quiet(r movein.Report) {
	s.t.Helper()
	report, err := json.Marshal(r)
	if err != nil {
		s.t.Fatal(err)
	}
	places := dbtest.Kept(s.t, s.dir)
	places["the report"], places["the log"], places["the API"] = string(report), s.logs.String(), s.everything()
	for where, text := range places {
		for _, secret := range movetest.Secrets {
			if strings.Contains(text, secret) {
				s.t.Errorf("%s holds %s", where, secret)
			}
		}
	}
}

// pastView is what the tests look at of a record that was taken over.
type pastView struct {
	Status    string    `json:"status"`
	Test      bool      `json:"test"`
	Source    string    `json:"source"`
	Media     string    `json:"media_type"`
	User      string    `json:"user_name"`
	Account   string    `json:"account_name"`
	Title     string    `json:"title"`
	Season    *int      `json:"season"`
	Episode   *float64  `json:"episode"`
	Subject   int       `json:"subject_id"`
	Chapter   int       `json:"episode_id"`
	Method    string    `json:"method"`
	ErrorKind string    `json:"error_kind"`
	Message   string    `json:"message"`
	Marked    bool      `json:"marked"`
	CreatedAt time.Time `json:"created_at"`
}

func (p pastView) String() string {
	number := "film"
	if p.Episode != nil {
		number = fmt.Sprintf("S%dE%v", *p.Season, *p.Episode)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s→%s %s %s %d/%d %s %s", p.CreatedAt.Local().Format("01-02 15:04"), p.Status, p.Source, p.User, p.Account, p.Title, number, p.Subject, p.Chapter, p.Method, p.ErrorKind))
}

// past are the records, the oldest first.
func (s *service) past() []string {
	s.t.Helper()
	var all []string
	for _, p := range list[pastView](s, "/api/records?limit=200") {
		all = append(all, p.String())
	}
	slices.Reverse(all)
	return all
}

func TestMovesInAFolderOfTheFirstVersions(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	s := startEmpty(t)
	folder := movetest.First(t)
	report := s.moveIn(folder)
	s.tells(report,
		"takes: Settings: network.proxy", "takes: Settings: matching.dataset_enabled", "takes: Settings: notification.language",
		"takes: Accounts: mira, for Mira",
		"takes: Mappings: 魔王学院的不适任者")
	s.leaves(report)
	s.quiet(report)
	accounts := list[accountView](s, "/api/accounts")
	if len(accounts) != 1 || accounts[0].Username != "mira" || !accounts[0].HasToken || accounts[0].Private || !accounts[0].Enabled || !accounts[0].Preferred || !accounts[0].CompleteFilms {
		t.Errorf("the accounts are %+v", accounts)
	}
	if got := s.app.Settings.Current(); got.Network.Proxy.Reveal() != "http://user:"+movetest.ProxyPassword+"@127.0.0.1:7890" || got.Matching.DatasetEnabled {
		t.Errorf("the settings are %+v", got.Network)
	}
	s.unchangedBy(folder)
}

// accountView is what the tests look at of an account.
type accountView struct {
	Username      string   `json:"username"`
	HasToken      bool     `json:"has_token"`
	Names         []string `json:"media_user_names"`
	Enabled       bool     `json:"enabled"`
	Preferred     bool     `json:"preferred"`
	Private       bool     `json:"private"`
	CompleteFilms bool     `json:"complete_films"`
}

// unchangedBy checks that taking a folder again changes nothing.
func (s *service) unchangedBy(folder string) {
	s.t.Helper()
	before := s.everything()
	report := s.moveIn(folder)
	if report.Takes() {
		s.t.Errorf("the second run takes %v and %+v", told(report), report.History)
	}
	if diff := cmp.Diff(before, s.everything()); diff != "" {
		s.t.Errorf("after the second run:\n%s", diff)
	}
}

func TestMovesInAFolderOfSeveralAccounts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	s := startEmpty(t)
	folder := movetest.Second(t)
	report := s.moveIn(folder)
	s.tells(report,
		"takes: Settings: auth.lockout_attempts", "takes: Settings: auth.lockout_minutes", "takes: Settings: notification.language", "takes: Settings: log.level",
		"takes: Accounts: mira, for emby mira, plex_mira", "takes: Accounts: alex, for alex",
		"takes: Mappings: 假面骑士加布", "takes: Mappings: blocked: 预告", "takes: Mappings: blocked: NCOP",
		"takes: Channels: Webhook 1 (Bangumi-syncer)", "takes: Channels: Email 1 (Bangumi-syncer)",
		"takes: Rules: Webhook 1 (Bangumi-syncer)", "takes: Rules: Email 1 (Bangumi-syncer)")
	s.leaves(report, "[auth] session_timeout", "[dev] ssl_verify", "[email-1] email_subject", "its login")
	s.quiet(report)
	if diff := cmp.Diff(movein.History{Past: 3, Unusable: 2}, report.History); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{
		"01-10 21:30 success plex plex_mira→mira 灯塔守望者 S1E1 900001/910001",
		"01-17 21:30 error emby alex→alex 灯塔守望者 S1E2 0/0  not_matched",
		"01-18 21:30 ignored jellyfin stranger→ 灯塔守望者 S1E2 0/0",
	}, s.past()); diff != "" {
		t.Error(diff)
	}
	if accounts := list[accountView](s, "/api/accounts"); len(accounts) != 2 || accounts[1].Private != (accounts[1].Username == "alex") || accounts[0].Private != (accounts[0].Username == "alex") {
		t.Errorf("the accounts are %+v", accounts)
	}
	webhooks := s.api(http.MethodGet, "/api/notification/webhooks", "", http.StatusOK, nil).body
	if !strings.Contains(webhooks, `{anime} S{season}E{episode} 100% {type}\"}`) || !strings.Contains(webhooks, "X-Extra") || strings.Contains(webhooks, "Content-Type") {
		t.Errorf("the webhook is %s", webhooks)
	}
	if got := s.app.Settings.Current(); got.Auth.LockoutAttempts != 8 || got.Auth.Lockout != 16*time.Minute {
		t.Errorf("the settings are %+v", got.Auth)
	}
	s.unchangedBy(folder)
}

func TestMovesInAFolderOfTheNewestVersions(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	s := startEmpty(t)
	folder := movetest.Newest(t)
	before := contents(t, folder)
	report := s.moveIn(folder)
	if diff := cmp.Diff(before, contents(t, folder)); diff != "" {
		t.Errorf("the folder was written:\n%s", diff)
	}
	s.tells(report,
		"takes: Settings: matching.live_action_enabled", "takes: Settings: sync.film_start_marks_doing", "takes: Settings: server.base_path", "kept: Settings: catalog.api_url",
		"takes: Settings: server.record_days", "takes: Settings: catalog_archive.enabled", "takes: Settings: catalog_archive.update_cron", "takes: Settings: catalog_replay.max_retries",
		"takes: Settings: tracker.app_client_id", "takes: Settings: tracker.app_client_secret", "takes: Settings: notification.language", "takes: Settings: nas.enabled", "takes: Settings: nas.database_path",
		"takes: Settings: nas.min_percent", "takes: Settings: device.enabled", "takes: Settings: device.addresses", "takes: Settings: device.subnets",
		"takes: Settings: llm.api_key", "takes: Settings: llm.temperature", "takes: Settings: llm.base_url", "takes: Settings: llm.model",
		"takes: Settings: notification.airing_cron", "takes: Settings: server.legacy_key", "takes: Settings: tracker.enabled",
		"takes: Accounts: mira, for Mira, mira TV", "takes: Accounts: alex, for alex",
		"takes: Trakt: the sign-in of default_user",
		"takes: Mappings: 我推的孩子", "takes: Mappings: 灯塔", "takes: Mappings: 葬送的芙莉莲", "takes: Mappings: ^.*之.*刃$", "refused: Mappings: (?<=a)b", "takes: Mappings: blocked: 总集篇",
		"takes: Channels: WeCom 1 (Bangumi-syncer)", "takes: Channels: Email 1 (Bangumi-syncer)",
		"takes: Rules: 同步失败",
		"takes: Summaries: 每日-总结")
	s.leaves(report, "[dev] ech_mode", "[sync] match_confidence_threshold", "a rule of bangumi_mapping.json", "its login", "mapping 坏", "section [from-the-future]", "what it noted of the NAS library as synced")
	if diff := cmp.Diff(movein.History{Past: 4, Open: 3}, report.History); diff != "" {
		t.Error(diff)
	}
	s.quiet(report)

	// What waited is worked on; what was settled there is not.
	for _, r := range list[recordView](s, "/api/records?limit=200") {
		s.settled(r.ID)
		if r.Title != "" {
			s.explained(r.ID)
		}
	}
	if diff := cmp.Diff([]string{
		"07-01 20:00 success plex Mira→mira 灯塔守望者 S1E1 900001/910001 api",
		"07-02 20:00 success emby Mira→mira 一部电影 film 900777/0 mapping",
		"07-03 20:00 success jellyfin Mira→mira 灯塔守望者 S1E2 900001/90000102 payload_id",
		"07-04 20:00 error tracker alex→alex 灯台守 S1E3 0/0  not_matched",
		"07-05 20:00 ignored custom Mira→mira 测试 S1E1 0/0",
		"07-06 20:00 ignored custom Mira→mira 没有状态 S1E1 0/0",
		"07-03 20:00 success jellyfin Mira→mira 灯塔守望者 S1E4 900001/90000104 payload_id",
	}, s.past()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]bool{"mira/90000102": true, "mira/90000104": true}, s.marked()); diff != "" {
		t.Error(diff)
	}
	var tests int
	for _, p := range list[pastView](s, "/api/records?limit=200") {
		if p.Test {
			tests++
		}
		if p.Marked != (p.Method == "payload_id") {
			t.Errorf("taking back is offered wrongly for %v", p)
		}
	}
	if tests != 1 {
		t.Errorf("%d records are tests", tests)
	}
	s.newestAsTheApplicationTells()
	s.unchangedBy(folder)
}

// newestAsTheApplicationTells checks by the API what came of the newest folder beside its records.
func (s *service) newestAsTheApplicationTells() {
	s.t.Helper()
	now := s.app.Settings.Current()
	if now.Server.BasePath != "/Bangumi" || now.Server.LegacyPaths || now.Server.LegacyKey.Reveal() != movetest.WebhookKey || now.LLM.APIKey.Reveal() != movetest.ModelKey || now.LLM.BaseURL != "https://api.openai.com/v1" ||
		now.LLM.Temperature != "0.5" || fmt.Sprint(now.Device.Subnets, now.Device.Addresses) != "[192.168.1.0/24] [192.168.1.20 192.168.1.21]" || now.Notification.AiringCron != "30 8 * * *" ||
		now.Tracker.AppClientSecret.Reveal() != movetest.TraktSecret || now.CatalogReplay.MaxRetries != 30 {
		s.t.Errorf("the settings are %+v", now)
	}
	for name, token := range map[string]string{"mira": movetest.MiraToken, "alex": movetest.AlexToken} {
		accounts, err := s.app.Accounts.ForUser(s.t.Context(), map[string]string{"mira": "mira TV", "alex": "alex"}[name])
		if err != nil || len(accounts) != 1 || accounts[0].CompleteFilms || accounts[0].Preferred != (name == "mira") {
			s.t.Fatalf("the accounts of %s are %+v, %v", name, accounts, err)
		}
		if got, err := s.app.Accounts.Tokens(s.t.Context(), accounts[0].ID); err != nil || got.Access.Reveal() != token || got.Refresh != "" {
			s.t.Errorf("the tokens of %s are other ones: %v", name, err)
		}
	}
	var tracker struct {
		Users []struct {
			State       string
			ConnectedAt time.Time `json:"connected_at"`
		}
	}
	s.api(http.MethodGet, "/api/tracker/status", "", http.StatusOK, &tracker)
	if len(tracker.Users) != 1 || tracker.Users[0].State != "connected" || tracker.Users[0].ConnectedAt.Unix() != 1755400000 {
		s.t.Errorf("at the tracker there are %+v", tracker.Users)
	}
	var mappings []string
	for _, m := range list[struct {
		Title       string
		Subject     int  `json:"subject_id"`
		FirstSeason bool `json:"first_season"`
		Season      *int
		Origin      string
	}](s, "/api/mappings") {
		season := "all"
		if m.Season != nil {
			season = fmt.Sprint(*m.Season)
		}
		mappings = append(mappings, fmt.Sprintf("%s %d %s %v %s", m.Title, m.Subject, season, m.FirstSeason, m.Origin))
	}
	slices.Sort(mappings)
	if diff := cmp.Diff([]string{"^.*之.*刃$ 245665 all true import", "我推的孩子 386809 all true import", "灯塔 900001 all true import", "葬送的芙莉莲 400602 1 false import"}, mappings); diff != "" {
		s.t.Error(diff)
	}
	var rule struct {
		Enabled  bool
		Kinds    []string
		Channels []int64
	}
	for _, r := range list[json.RawMessage](s, "/api/notification/rules") {
		if strings.Contains(string(r), "同步失败") {
			if err := json.Unmarshal(r, &rule); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	if !rule.Enabled || len(rule.Channels) != 2 || strings.Join(rule.Kinds, " ") != "abandoned mark_failed no_account token_dead token_expiring" {
		s.t.Errorf("the rule is %+v", rule)
	}
	job := s.api(http.MethodGet, "/api/summary/jobs", "", http.StatusOK, nil).body
	for _, want := range []string{`"name":"每日-总结"`, `"days_back":2`, `"user":"Mira"`, `你是一个追番助手。\n\n规则：100% 简短`, `"max_records":0`, `"channels":[1,2]`} {
		if !strings.Contains(job, want) {
			s.t.Errorf("the summary has no %s: %s", want, job)
		}
	}
}

// contents are the files of a folder and when they were written.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		all[path] = fmt.Sprint(len(text), info.ModTime()) + string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// What could not be read the first time is taken the second time: "put that file there and run it again".
func TestMovingInAgainTakesWhatCouldNotBeRead(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	s := startEmpty(t)
	folder := t.TempDir()
	write := func(key string) {
		movetest.Write(t, folder, "config.ini", key+`
[bangumi]
username = mira
access_token = `+movetest.Seal("the-key", movetest.MiraToken)+`
media_server_username = Mira

[notify-webhook-1]
enabled = True
url = http://127.0.0.1:9/x
template = {"content": "{anime} {error_message}"}

[notify-wecom-1]
enabled = True
key = `+movetest.Seal("the-key", "11112222-3333-4444-5555-666677778888")+`

[notify-rule-1]
name = both
enabled = True
types = mark_failed,watching_summary_weekly
channels = notify-webhook-1,notify-wecom-1

[summary-daily]
cron = 0 20 * * *

[summary-weekly]
name = each week
cron = 0 20 * * 0
`)
	}
	write("")
	s.tells(s.moveIn(folder), "takes: Settings: notification.language", "takes: Accounts: mira, for Mira", "takes: Channels: Webhook 1 (Bangumi-syncer)", "takes: Rules: both", "takes: Summaries: daily", "takes: Summaries: each-week")
	write("[auth]\nsecret_key = the-key\n")
	s.tells(s.moveIn(folder), "same: Settings: notification.language", "takes: Accounts: mira, for Mira", "same: Channels: Webhook 1 (Bangumi-syncer)", "takes: Channels: WeCom 1 (Bangumi-syncer)", "takes: Rules: both",
		"same: Summaries: daily", "takes: Summaries: each-week")
	s.tells(s.moveIn(folder), "same: Settings: notification.language", "same: Accounts: mira, for Mira", "same: Channels: Webhook 1 (Bangumi-syncer)", "same: Channels: WeCom 1 (Bangumi-syncer)", "same: Rules: both",
		"same: Summaries: daily", "same: Summaries: each-week")
	accounts, err := s.app.Accounts.ForUser(t.Context(), "Mira")
	if err != nil || len(accounts) != 1 {
		t.Fatal(accounts, err)
	}
	if tokens, err := s.app.Accounts.Tokens(t.Context(), accounts[0].ID); err != nil || tokens.Access.Reveal() != movetest.MiraToken {
		t.Errorf("the token is not there: %v", err)
	}
	rules, err := s.app.Notices.Rules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if last := rules[len(rules)-1]; fmt.Sprintf("%s %v %v", last.Name, last.Channels, last.Kinds) != "both [1 2] [abandoned mark_failed no_account]" {
		t.Errorf("the rule is %+v", last)
	}
	if jobs := s.api(http.MethodGet, "/api/summary/jobs", "", http.StatusOK, nil).body; strings.Count(jobs, `"channels":[1,2]`) != 1 || strings.Count(jobs, `"channels":[]`) != 1 {
		t.Errorf("the summaries are %s", jobs)
	}
	if s.app.Settings.Current().Notification.Language != "zh-CN" {
		t.Error("messages are not in Chinese any more")
	}
}

func TestMovingInOfANASForOnePersonNeverTakesAll(t *testing.T) {
	s := startEmpty(t)
	folder := t.TempDir()
	movetest.Write(t, folder, "config.ini", "[feiniu]\nenabled = True\ndb_path = /data/trimmedia.db\nuser_filter = mira, alex\n")
	s.tells(s.moveIn(folder), "takes: Settings: notification.language", "refused: Settings: nas.enabled", "takes: Settings: nas.database_path", "refused: Settings: nas.user")
	if now := s.app.Settings.Current().NAS; now.Enabled {
		t.Errorf("the NAS is read for %s", now.User)
	}
}

func TestMovingInTellsWhatADatabaseLacks(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	const table = `CREATE TABLE sync_records (id INTEGER PRIMARY KEY, timestamp DATETIME, user_name TEXT, title TEXT, season INTEGER, episode INTEGER, status TEXT, message TEXT, source TEXT)`
	const signIn = `CREATE TABLE trakt_config (id INTEGER PRIMARY KEY, user_id TEXT, access_token TEXT, refresh_token TEXT, expires_at INTEGER, enabled BOOLEAN, sync_interval TEXT, sync_filter_enabled BOOLEAN)`
	for name, c := range map[string]struct {
		journal    bool
		statements []string
		without    string // a file that is not copied
		left       []string
		says       string
	}{
		"whole":               {false, []string{table}, "", nil, ""},
		"with its journal":    {true, []string{table}, "", nil, ""},
		"without its journal": {true, []string{table, "PRAGMA wal_checkpoint"}, "sync_records.db-wal", []string{"sync_records.db"}, "the newest records are missing"},
		"without tables":      {false, []string{"CREATE TABLE other (id INTEGER)"}, "", []string{"sync_records.db"}, "it has no table of records"},
		"with a filter":       {false, []string{table, signIn, `INSERT INTO trakt_config VALUES (1, 'mira', 'a', 'r', 4102444800, 1, '0 */2 * * *', 1)`}, "", []string{"sync_filter_enabled of mira at Trakt", "the sign-in at Trakt of mira"}, "there is no such filter"},
	} {
		t.Run(name, func(t *testing.T) {
			s, folder := startEmpty(t), t.TempDir()
			movetest.Database(t, folder, "sync_records.db", c.journal, c.statements...)
			if c.without != "" {
				if err := os.Remove(filepath.Join(folder, c.without)); err != nil {
					t.Fatal(err)
				}
			}
			report := s.moveIn(folder)
			s.leaves(report, c.left...)
			if len(c.left) > 0 && !strings.Contains(report.Left[0].Why, c.says) {
				t.Errorf("it says %q", report.Left[0].Why)
			}
		})
	}
}

// What a script called itself is kept: of a record that comes in, and of one that was taken over.
func TestTheSourceOfAScriptIsKept(t *testing.T) {
	s := startEmpty(t)
	s.moveIn(movetest.Newest(t))
	id := s.custom(`{"title":"灯塔守望者","season":2,"episode":7,"user_name":"Mira","source":"my-player"}`)
	s.settled(id)
	page := s.get(fmt.Sprintf("/records/%d", id)).body
	if records := s.api(http.MethodGet, "/api/records?limit=200", "", http.StatusOK, nil).body; !strings.Contains(records, `"source_label":"my-player"`) || !strings.Contains(records, `"source_label":"my-script"`) {
		t.Errorf("the records are %s", records)
	}
	if !strings.Contains(page, "my-player") {
		t.Errorf("the page of the record has no source: %.300s", page)
	}
}

func TestMovingInTakesHowOftenTheTrackerIsRead(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	s, folder := startEmpty(t), t.TempDir()
	movetest.Write(t, folder, "config.ini", "[trakt]\nclient_id = app\nclient_secret = word\n")
	movetest.Database(t, folder, "sync_records.db", false, `CREATE TABLE sync_records (id INTEGER PRIMARY KEY)`,
		`CREATE TABLE trakt_config (id INTEGER PRIMARY KEY, user_id TEXT, access_token TEXT, refresh_token TEXT, expires_at INTEGER, enabled BOOLEAN, sync_interval TEXT, auth_type TEXT)`,
		`INSERT INTO trakt_config VALUES (1, 'mira', 'access', 'refresh', 4102444800, 1, '0 */2 * * *', 'oauth')`)
	s.moveIn(folder)
	if cron := s.app.Settings.Current().Tracker.Cron; cron != "0 */2 * * *" {
		t.Errorf("the tracker is read at %s", cron)
	}
}

func TestMovingInKeepsWhatIsHere(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	s := start(t, "WATCHMARK_LOG_LEVEL=warn")
	s.api(http.MethodPatch, "/api/settings", `{"auth":{"lockout_attempts":3}}`, http.StatusOK, nil)
	s.api(http.MethodPost, "/api/mappings", `{"title":"假面骑士加布","subject_id":900001,"first_season":true}`, http.StatusCreated, nil)
	s.api(http.MethodPost, "/api/blocked-keywords", `{"keyword":"NCOP","kind":"contains"}`, http.StatusCreated, nil)
	s.api(http.MethodPost, "/api/notification/webhooks", `{"name":"Webhook 1 (Bangumi-syncer)","enabled":true,"config":{"url":"https://mine.example/x"}}`, http.StatusCreated, nil)
	s.api(http.MethodPost, "/api/notification/rules", `{"name":"Email 1 (Bangumi-syncer)","enabled":false,"kinds":[],"users":[],"channels":[],"title":"","text":"","quiet_from":"","quiet_to":"","cooldown":0}`, http.StatusCreated, nil)
	before := s.everything()
	report := s.moveIn(movetest.Second(t), "WATCHMARK_LOG_LEVEL=warn")
	s.tells(report,
		"kept: Settings: auth.lockout_attempts", "takes: Settings: auth.lockout_minutes", "takes: Settings: notification.language", "kept: Settings: log.level",
		"kept: Accounts: mira, for emby mira, plex_mira", "kept: Accounts: alex, for alex",
		"kept: Mappings: 假面骑士加布", "takes: Mappings: blocked: 预告", "same: Mappings: blocked: NCOP",
		"kept: Channels: Webhook 1 (Bangumi-syncer)", "takes: Channels: Email 1 (Bangumi-syncer)",
		"takes: Rules: Webhook 1 (Bangumi-syncer)", "kept: Rules: Email 1 (Bangumi-syncer)")
	after := s.everything()
	for _, path := range []string{"/api/accounts ", "/api/mappings ", "/api/notification/webhooks "} {
		line := func(all string) string {
			_, rest, _ := strings.Cut(all, path)
			found, _, _ := strings.Cut(rest, "\n")
			return found
		}
		if diff := cmp.Diff(line(before), line(after)); diff != "" {
			t.Errorf("%s changed:\n%s", path, diff)
		}
	}
}

// A person may go back to the tool for a while.
func TestMovingInAgainTakesOnlyWhatCameSince(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	s := startEmpty(t)
	folder := t.TempDir()
	table := `CREATE TABLE sync_records (id INTEGER PRIMARY KEY, timestamp DATETIME, user_name TEXT, title TEXT, season INTEGER, episode INTEGER, status TEXT, message TEXT, source TEXT)`
	first := `INSERT INTO sync_records VALUES (1, '2024-01-10 21:30:00', 'Mira', '灯塔守望者', 1, 1, 'error', 'no', 'plex')`
	movetest.Database(t, folder, "sync_records.db", false, table, first)
	if report := s.moveIn(folder); report.History != (movein.History{Past: 1}) {
		t.Errorf("the first time: %+v", report.History)
	}
	movetest.Database(t, folder, "sync_records.db", false, table, first, `UPDATE sync_records SET status = 'retried'`,
		`INSERT INTO sync_records VALUES (2, '2024-01-11 21:30:00', 'Mira', '灯塔守望者', 1, 1, 'success', '', 'plex')`)
	if report := s.moveIn(folder); report.History != (movein.History{Past: 1, Known: 1}) {
		t.Errorf("after one more: %+v", report.History)
	}
	// A tool that was set up anew counts from 1 again.
	movetest.Database(t, folder, "sync_records.db", false, table, `INSERT INTO sync_records VALUES (1, '2024-02-01 21:30:00', 'Mira', '灯塔守望者', 1, 1, 'success', '', 'plex')`)
	if report := s.moveIn(folder); report.History != (movein.History{Past: 1}) {
		t.Errorf("of a new database: %+v", report.History)
	}
	if past := s.past(); len(past) != 3 {
		t.Errorf("the records are %v", past)
	}
}

func TestHostileHistoryIsCutAndNeverMarked(t *testing.T) {
	s := start(t)
	folder := t.TempDir()
	movetest.Database(t, folder, "sync_records.db", false,
		`CREATE TABLE sync_records (id, timestamp, user_name, title, season, episode, subject_id, status, message, source, media_type, match_score)`,
		`INSERT INTO sync_records VALUES
			(1, '2024-01-10 21:30:00', 'Mira', 'a'||char(10)||char(27)||'[31mb', 1, 1, '-5', 'success', NULL, 'plex', 'episode', 'nan'),
			(2, '2024-01-10 21:30:00', printf('%.9000c', 'u'), printf('%.9000c', 't'), 1, 1, 99999999999999, 'received', x'ff00', char(27)||'x', 'episode', 7),
			(3, '2024-01-10 21:30:00', 'Mira', '灯塔守望者', -1, 1, 1, 'success', '', 'plex', 'episode', 0),
			(4, '2024-01-10 21:30:00', 'Mira', '灯塔守望者', 1, 1e300, 1, 'success', '', 'plex', 'episode', 0),
			(5, '2024-01-10 21:30:00', 'Mira', '灯塔守望者', 1, 1, 1, 'processing', '', 'plex', 'hologram', 0),
			(6, NULL, 'Mira', '灯塔守望者', 1, 1, 1, 'success', '', 'plex', 'episode', 0),
			(NULL, '2024-01-10 21:30:00', 'Mira', '灯塔守望者', 1, 1, 1, '', '', 'plex', 'episode', 0)`)
	report := s.moveIn(folder)
	if report.History != (movein.History{Past: 3, Unusable: 4}) {
		t.Errorf("taken %+v", report.History)
	}
	for _, r := range list[recordView](s, "/api/records?limit=200") {
		if r.Status != "success" && r.Status != "ignored" || strings.ContainsAny(r.Title+r.UserName, "\n\x1b") || len(r.Title) > 500 || len(r.UserName) > 500 || r.SubjectID < 0 {
			t.Errorf("taken as %+v", r)
		}
	}
	if marked := s.marked(); len(marked) > 0 {
		t.Errorf("marked %v", marked)
	}
}

func TestMovingInBesideAToolThatRuns(t *testing.T) {
	intoAFolder(t)
	s := startEmpty(t)
	folder := movetest.Newest(t)
	_, err := app.MoveIn(t.Context(), app.Options{DataDir: s.dir, Environ: s.catalog, Logs: s.logs}, folder, nil)
	if err == nil || !strings.Contains(err.Error(), "stop it first") {
		t.Errorf("beside the service: %v", err)
	}
	s.stop()
	_, err = app.MoveIn(t.Context(), app.Options{DataDir: s.dir, Environ: s.catalog, Logs: s.logs}, movetest.Second(t), func(files []string, _ movein.Report) (bool, error) {
		database := files[slices.IndexFunc(files, func(file string) bool { return strings.HasSuffix(file, ".db") })]
		at := time.Now().Add(time.Second)
		return true, os.Chtimes(database, at, at) // as a write would
	})
	if err == nil || !strings.Contains(err.Error(), "stop Bangumi-syncer") {
		t.Errorf("while its database is written: %v", err)
	}
	s.run(s.catalog)
}
