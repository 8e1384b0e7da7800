package web_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/source/device"
	"watchmark/internal/source/importer"
	"watchmark/internal/source/nas"
	"watchmark/internal/source/preview"
	"watchmark/internal/source/tracker"
	"watchmark/internal/source/watcher"
)

// nasStub is a NAS that is as a test says.
type nasStub struct {
	status nas.Status
	users  []nas.User
	err    error // of the users
}

func (n *nasStub) Status(context.Context) (nas.Status, error) { return n.status, nil }
func (n *nasStub) Users(context.Context) ([]nas.User, error)  { return n.users, n.err }

// trackerStub is a tracker that is as a test says.
type trackerStub struct {
	status tracker.Status
	sync   tracker.SyncStatus
}

func (s *trackerStub) Status(context.Context) (tracker.Status, error)         { return s.status, nil }
func (s *trackerStub) SyncStatus(context.Context) (tracker.SyncStatus, error) { return s.sync, nil }

func ago(d time.Duration) *time.Time {
	t := time.Now().Add(-d)
	return &t
}

// patch changes settings as the API does.
func (g *rig) patch(t testing.TB, section string, keys map[string]any) {
	t.Helper()
	if err := g.settings.Patch(t.Context(), map[string]map[string]any{section: keys}); err != nil {
		t.Fatal(err)
	}
}

// begin starts a task that ends with result as soon as it is told to; with an error it fails, as an import.
func (g *rig) begin(t testing.TB, kind string, result any) (id int64, end func()) {
	t.Helper()
	done := make(chan struct{})
	started, err := g.tasks.Start(t.Context(), task.Spec{Kind: kind}, func(ctx context.Context, one *task.Task) error {
		one.Progress(3, 12, value("import_looked_up", "动画", 3))
		select {
		case <-done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err, fails := result.(error); fails {
			one.SetResult(importer.Result{Server: "home", User: "mira"})
			return err
		}
		one.SetResult(result)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return started.Status().ID, func() {
		close(done)
		for started.Status().State == task.Running {
			_, more := started.After(0)
			if started.Status().State == task.Running {
				<-more
			}
		}
	}
}

// ended runs a task to its end.
func (g *rig) ended(t testing.TB, kind string, result any) {
	t.Helper()
	_, end := g.begin(t, kind, result)
	end()
}

// table is a forecast with a row of every status.
func table() *preview.Table {
	first, second := 1, 2
	rows := []preview.Row{
		{Title: "灯塔守望者", Season: &second, Episodes: []float64{1, 2, 3, 4, 5, 7}, Status: preview.Mark, SubjectID: 900002, SubjectName: "灯塔守望者 第二季", Reason: reason.Several.With([]reason.Reason{value("fits_title"), value("fits_aired_on", "2024-05-19")})},
		{Title: hostileTitle, Film: true, Status: preview.Mark, SubjectID: 900003, SubjectName: "北の光", Reason: value("fits_title")},
		{Title: "彩虹放送局", Season: &first, Episodes: []float64{1, 2}, Status: preview.Review, Reason: value("two_fit", "彩虹放送局", "彩虹放送局 第二季")},
		{Title: "A Home Video", Season: &first, Episodes: []float64{3}, Status: preview.NotFound, Reason: value("nothing_fits", value("title", "A Home Video"))},
		{Title: "迷宫饭", Season: &second, Episodes: []float64{13.5}, Status: preview.EpisodeNotFound, SubjectID: 395378, SubjectName: "迷宫饭", Reason: value("no_such_episode", "迷宫饭", value("episode_beyond", 13.5, 24))},
		{Title: "购物频道", Season: &first, Episodes: []float64{120}, Status: preview.Blocked, Accounts: []string{"mira"}, Reason: value("keyword_blocks", "购物")},
		{Title: "购物频道", Season: &first, Episodes: []float64{120}, Status: preview.Mark, SubjectID: 900001, SubjectName: "购物频道", Accounts: []string{"alex", hostileTitle}, Reason: value("fits_title")},
		{Title: "葬送的芙莉莲", Season: &first, Episodes: []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, Status: preview.Marked, SubjectID: 400602, SubjectName: "葬送的芙莉莲", Reason: value("already_watched")},
	}
	made := preview.NewTable(nil)
	made.Rows = rows
	for _, row := range rows {
		n := max(1, len(row.Episodes))
		made.Counts[row.Status] += n
		made.Items += n
	}
	return made
}

// fillSources sets the sources that are asked up as a household might have them.
func (g *rig) fillSources(t testing.TB) {
	t.Helper()
	next, later := time.Now().Add(3*time.Minute), time.Now().Add(4*time.Hour)
	g.patch(t, "nas", map[string]any{"enabled": true, "database_path": "/nas/trimmedia.db"})
	g.nas = nasStub{
		status: nas.Status{
			Enabled: true, DatabasePath: "/nas/trimmedia.db", Since: ago(30 * 24 * time.Hour), Watermark: ago(95 * time.Minute), LastScan: time.Now().Add(-2 * time.Minute), Handling: nas.Live,
			Counts: nas.Counts{Read: 41, Known: 12, Skipped: 26, Taken: 3, Reasons: []nas.Reason{
				{Reason: reason.Text("not watched to the end"), Count: 19, Example: "迷宫饭 / 第 1 季 / 第七话"}, {Reason: reason.Text("an episode without a number"), Count: 6, Example: "灯塔守望者 / 特典映像"}, {Reason: reason.Text("另一版本的原因"), Count: 1},
			}},
			WatchedValues: []string{"0", "1", "2"}, Missing: []string{}, NextRun: &next,
		},
		users: []nas.User{{GUID: "a1b2c3", UserName: "mira", Active: true, Admin: true}, {GUID: "d4e5f6", UserName: "guest <b>", Active: true}, {GUID: "0a0b0c", UserName: "old", Active: false}},
	}
	season := 2
	reading := device.Reading{Title: "灯塔守望者 第二季", Base: "灯塔守望者", Kind: device.Episode, Season: &season, Episodes: []float64{7}, From: "label", How: "第…集"}
	g.patch(t, "device", map[string]any{"enabled": true, "addresses": []any{"192.168.1.5"}, "subnets": []any{"192.168.1.0/24"}})
	g.device = device.Status{Enabled: true, LastScan: ago(2 * time.Hour), Found: 2, Devices: []device.Device{
		{Address: "192.168.1.9:9978", UUID: "u-2", Name: "Bedroom Box", LastSeen: ago(11 * time.Hour), OfflineSince: ago(10 * time.Hour), Problem: reason.Of(syscall.ECONNREFUSED),
			LastEvent: &device.Event{At: time.Now().Add(-11 * time.Hour), Title: "彩虹放送局", Label: "全12集", Share: .95, Outcome: device.Skipped, Reason: reason.Text("the label counts episodes and names none")}},
		{Address: "192.168.1.5:9978", UUID: "u-1", Name: "Mira TV", Listed: true, Online: true, LastSeen: ago(20 * time.Second), NextPoll: &next,
			Now:       &device.Now{Title: "灯塔守望者 第二季", Label: "第7集", State: device.Playing, Position: 610, Duration: 1440, Speed: 1, Share: .42, Highest: .42, Seen: true, Reading: reading},
			LastEvent: &device.Event{At: time.Now().Add(-25 * time.Minute), Title: "灯塔守望者 第二季", Label: "第6集", Share: .97, Outcome: device.Counted, RecordIDs: []int64{1}}},
		{Address: "192.168.1.77", Listed: true, OfflineSince: ago(time.Hour), Problem: reason.Of(syscall.EHOSTUNREACH)},
	}}
	g.patch(t, "tracker", map[string]any{"enabled": true, "client_id": "web-client", "app_client_id": "app", "app_client_secret": "secret-of-the-app"})
	g.tracker = trackerStub{
		status: tracker.Status{Enabled: true, MailReady: true, AppReady: true, Users: []tracker.User{
			{ID: 1, Name: "mira", Method: tracker.ByMail, State: tracker.Connected, ConnectedAt: time.Now().Add(-40 * 24 * time.Hour), RefreshedAt: ago(5 * time.Hour)},
			{ID: 2, Name: "stranger", Method: tracker.ByDevice, State: tracker.Dead, Problem: tracker.ErrDead.With(), ConnectedAt: time.Now().Add(-90 * 24 * time.Hour)},
		}},
		sync: tracker.SyncStatus{Enabled: true, NextRun: &later, Users: []tracker.UserSync{
			{ID: 1, Name: "mira", State: tracker.Connected, LastRun: ago(2 * time.Hour), Outcome: tracker.Taken, ReadUntil: ago(2 * time.Hour), Taken: 31, Seen: 214},
			{ID: 2, Name: "stranger", State: tracker.Dead, LastRun: ago(30 * time.Hour), Outcome: tracker.Failed, Error: tracker.ErrDead.With()},
		}},
	}
	g.servers.logins = logins()
	g.endedOf(t, 1, watcher.SeedTask, seeding(true))
	g.endedOf(t, 3, importer.PreviewTask, importer.Preview{Server: "cellar", User: "mira", Table: table(), Known: 12})
	g.ended(t, tracker.PreviewTask, tracker.Preview{UserID: 1, Name: "mira", Table: table(), Known: 31, Skipped: 180, Unreadable: 2})
	g.ended(t, importer.RunTask, importer.Result{Server: "home", User: "bench", Taken: 61, Known: 4, Records: map[record.Status]int{record.Success: 55, record.Review: 4, record.Failed: 2}})
	g.ended(t, importer.PreviewTask, importer.Preview{Server: "home", User: "Mira TV", Table: table(), Known: 12,
		Skipped: importer.Skipped{Count: 2, Some: []importer.SkippedBy{{Title: "特典映像", Reason: value("webhook_no_episode_number", "import")}, {Title: "Trailer", Reason: value("webhook_no_episode_number", "import")}}}})
}

// sourceAnswers is what the API answers the rooms of the sources.
func sourceAnswers(c apiCall) (int, string) {
	if status, body, ours := summaryAnswers(c); ours {
		return status, body
	}
	switch c.Path {
	case "/api/nas/sync/manual":
		return 200, `{"read":30,"known":4,"skipped":20,"reasons":[],"taken":6,"more":false,"record_ids":[1,2]}`
	case "/api/device/debug/scan":
		return 200, `{"complete":false,"devices":[` + seenBox + `,{"address":"192.168.1.9:9978","addresses":[],"name":"Bedroom Box","online":false},{"address":"192.168.1.77","name":"","online":false}]}`
	case "/api/device/debug/sync":
		return 200, `{"before":{"address":"192.168.1.5:9978","name":"Mira TV","online":false},"after":` + seenBox + `,"event":{"title":"灯塔守望者","label":"第6集","outcome":"skipped","reason":"it was jumped to its end","record_ids":[]},"reason":"it is at 41 %, and counts from 80 %","marks":[]}`
	case "/api/device/sync/manual":
		return 202, `{"task_id":7}`
	case "/api/tracker/email-login/start":
		return 200, `{"expires_in":300,"retry_after":60}`
	case "/api/tracker/email-login/complete":
		return 200, `{"id":3,"name":"mira","state":"connected"}`
	case "/api/tracker/device/start":
		return 200, `{"user_code":"5E1C7D9B","verification_url":"https://tracker.example/activate","expires_at":"` + time.Now().Add(10*time.Minute).UTC().Format(time.RFC3339) + `","task_id":7}`
	case "/api/tracker/credential":
		return 200, `{"revoked":true}`
	case "/api/import/server":
		return 200, `{"id":"s","name":"home","users":[{"id":"u2","name":"guest","accounts":[]},{"id":"u1","name":"Mira","accounts":["mira"]}],"libraries":[{"id":"3","name":"动画"},{"id":"4","name":"Films"}]}`
	}
	return 200, "{}"
}

const seenBox = `{"address":"192.168.1.5:9978","addresses":["192.168.1.5:9978"],"uuid":"u-1","name":"Mira TV","online":true,"now":{"title":"灯塔守望者 第二季","label":"第7集","state":"playing","position":610,"duration":1440,"speed":1,"share":0.42,"live":false,
	"reading":{"title":"灯塔守望者 第二季","base_title":"灯塔守望者","kind":"episode","season":2,"episodes":[7],"from":"label","how":"the only number","problem":""}}}`

func TestSourcePages(t *testing.T) {
	full, empty := newRig(t), newRig(t)
	full.fill(t)
	full.fillSources(t)
	next := time.Now().Add(time.Hour)
	failed := newRig(t)
	failed.patch(t, "nas", map[string]any{"enabled": true, "user": "0a0b"})
	failed.nas = nasStub{status: nas.Status{Enabled: true, LastScan: time.Now(), LastError: reason.Text("there is no file <b>/x</b>"), LastErrorKind: nas.Missing, NextRun: &next}, err: &nas.Problem{Kind: nas.Missing, Detail: reason.Text("there is no file <b>/x</b>")}}
	failed.patch(t, "device", map[string]any{"enabled": true})
	failed.device = device.Status{Enabled: true}
	failed.patch(t, "tracker", map[string]any{"enabled": true})
	failed.tracker.status = tracker.Status{Enabled: true, Users: []tracker.User{{ID: 4, Name: "mira", Method: tracker.ByCode, State: tracker.Connected, Problem: reason.Text("the key of this service is another one")}}}
	failed.ended(t, importer.RunTask, errors.New("the server has gone"))
	copied := newRig(t, withEnviron("WATCHMARK_NAS_ENABLED=true", "WATCHMARK_DEVICE_ADDRESSES=192.168.1.5"))
	copied.nas.status = nas.Status{Enabled: true, LastScan: time.Now(), Handling: nas.Copied, Missing: []string{"no air dates"}, MissingValue: []reason.Reason{reason.Text("no air dates")}}
	copied.nas.users = []nas.User{{GUID: "a1", UserName: "of the copy", Active: true}}
	running := newRig(t)
	running.begin(t, device.TaskKind, nil)
	running.begin(t, tracker.SyncTask, nil)
	running.begin(t, importer.RunTask, nil)

	for _, c := range []struct {
		name  string
		rig   *rig
		path  string
		en    []string
		zh    []string
		never []string
	}{
		{"the NAS", full, "/sources/nas", []string{"Read regularly", "/nas/trimmedia.db", "41 plays", "while the media app keeps running", "not watched to the end", "such as 迷宫饭", "另一版本的原因", "<code>2</code>", "in 3 minutes",
			`/records?source=nas"`, "guest &lt;b&gt;", "no account lists this user name", "米拉", "Administrator", `value="1month"`, "The old history is marked", `data-again="20"`},
			[]string{"没有看完", "与影视应用同时打开", "没有账号填写了这个用户名"}, []string{"Connect the NAS", "<code>0</code>"}},
		{"the NAS, off", empty, "/sources/nas", []string{"Switched off", "Connect the NAS", "trim.media/database:/nas:ro", "Save and switch on", "section=nas"}, []string{"未启用", "保存并启用"}, []string{"Last scan", "Scan now"}},
		{"the NAS, not found", failed, "/sources/nas", []string{"The library cannot be read", "There is no such file", "<strong>inside</strong>", "&lt;b&gt;/x", "The users cannot be listed", `<option value="0a0b" selected>`}, []string{"找不到该文件"}, []string{"<b>/x"}},
		{"the NAS by copies, set by the environment", copied, "/sources/nas", []string{"Read, but not all of it", "no air dates", "as a copy", "Read the users", "WATCHMARK_NAS_ENABLED"}, []string{"复制后读取"}, []string{"of the copy", "Switch off"}},
		{"the users of a copy", copied, "/sources/nas?users", []string{"of the copy"}, []string{"of the copy"}, []string{"Read the users"}},
		{"the boxes", full, "/sources/device", []string{"Boxes are asked", "Mira TV", "Playing", "42 %", "Read as", "灯塔守望者 · season 2 · episode 7", "from the label of the episode", "第…集", "Bedroom Box", "Off or asleep", "Not counted", "the label counts episodes and names none",
			"connection refused", "No answer yet", `href="/records/1"`, "192.168.1.0/24", `name="uuid" value="u-1"`, `name="address" value="192.168.1.77"`}, []string{"正在播放", "第 2 季", "标签只写了总集数"}, []string{"No box found yet"}},
		{"the boxes, off", empty, "/sources/device", []string{"Switched off", "No box found yet", "Scan and see"}, []string{"未启用", "扫描看看"}, []string{"Ask all now"}},
		{"the boxes, nowhere", failed, "/sources/device", []string{"Switched on, but no box or network is set"}, []string{"没有填写盒子或网段"}, nil},
		{"the boxes, set by the environment", copied, "/sources/device", []string{`<textarea id="device-addresses" name="device.addresses" data-type="lines" rows="3" autocapitalize="none" spellcheck="false" placeholder="192.168.1.5" aria-describedby="device-addresses-help" disabled>`, "WATCHMARK_DEVICE_ADDRESSES"}, []string{"由环境变量"}, nil},
		{"the boxes, being asked", running, "/sources/device", []string{`data-follow="1"`}, []string{`data-follow="1"`}, nil},
		{"the tracker", full, "/sources/tracker", []string{"Somebody has to sign in again", "by e-mail", "31 plays became records", "214 more are older", "Sign-in has ended", "Reading failed", "Disconnect stranger from Trakt?", "Preview of the history of mira",
			"episode 1–5, 7", "https://catalog.example/subject/900002", "Would be marked", "?status=not_found", "182 were skipped", "Send the code", "one-time-code", "does not document it", "/api/tracker/oauth/callback", "Go to Trakt"},
			[]string{"需要重新登录", "31 次播放成为记录", "将标记", "官方并未公开"}, []string{"secret-of-the-app", "set `tracker"}},
		{"the tracker, a status and no row", full, "/sources/tracker?status=not_found&from=900", []string{"A Home Video"}, []string{"A Home Video"}, []string{"<span class=\"name\">灯塔守望者</span>"}},
		{"the tracker, an unknown status", full, "/sources/tracker?status=%3Cb%3E&from=x", []string{"A Home Video", "灯塔守望者"}, nil, []string{"<b>"}},
		{"the tracker, off", empty, "/sources/tracker", []string{"Switched off", "Nobody is connected yet", "tracker.client_id", "tracker.app_client_id", "section=tracker#section-tracker"}, []string{"还没有成员连接"}, []string{"Send the code", "Get a code", "Go to Trakt"}},
		{"the tracker, in trouble", failed, "/sources/tracker", []string{"There is a problem with a sign-in", "the key of this service is another one", "Read now"}, []string{"登录出现问题"}, nil},
		{"the tracker, come back", full, "/sources/tracker?tracker_connected=1", []string{"mira is connected."}, []string{"mira 已连接"}, nil},
		{"the tracker, refused", full, "/sources/tracker?tracker_error=denied", []string{"You did not allow access"}, []string{"你没有在 Trakt 授权"}, nil},
		{"the tracker, refused otherwise", full, "/sources/tracker?tracker_error=call+0900", []string{"The sign-in failed"}, nil, []string{"call 0900"}},
		{"the tracker, being read", running, "/sources/tracker", []string{`data-follow="2"`}, []string{`data-follow="2"`}, nil},
		{"the import", full, "/sources/import", []string{"Imported: bench on home", "61 imported.", "/records?status=review&amp;user=bench", "Preview: Mira TV on home", "import is about an episode without an episode number.", "X-Plex-Token", "Dashboard → API Keys"}, []string{"已导入：bench（home）", "预览：Mira TV（home）"}, []string{"There is no Bangumi account yet"}},
		{"the import, empty", empty, "/sources/import", []string{"There is no Bangumi account yet"}, []string{"还没有 Bangumi 账号"}, []string{"Preview:", "Imported: bench"}},
		{"the import, broken off", failed, "/sources/import", []string{"The import failed: mira on home", "the server has gone", "Import again to continue"}, []string{"导入失败"}, nil},
		{"the import, under way", running, "/sources/import", []string{`data-follow="3"`}, []string{`data-follow="3"`}, nil},
		{"the sources", full, "/sources", []string{`href="/sources/webhooks"`, `href="/sources/nas"`, `href="/sources/device"`, `href="/sources/tracker"`, "Read regularly", "Somebody has to sign in again", "Imported: bench on home"}, []string{"已导入：bench（home）"}, []string{"Connect a NAS"}},
		{"the sources, never set up", empty, "/sources", []string{"Connect a media server", "Connect a NAS", "of a NAS with fnOS", "Connect a TV box", "Connect Trakt", `href="/sources/import"`}, []string{"接入 NAS", "飞牛 fnOS"}, []string{`note bad`, `note warn`, "Switched off", "Nothing has arrived yet"}},
		{"the sources, in trouble", failed, "/sources", []string{"The library cannot be read", `note bad`}, []string{"无法读取"}, []string{"Connect a NAS"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := c.rig.client(t, true)
			for lang, wanted := range map[string][]string{"en": c.en, "zh-CN": c.zh} {
				page := c.rig.get(t, in, c.path, lang)
				if page.status != 200 {
					t.Fatalf("in %s it answers %d", lang, page.status)
				}
				mustContain(t, page.body, wanted...)
				for _, never := range append(c.never, "%!", "<script>alert", `style="`, "onclick=") {
					if strings.Contains(page.body, never) {
						t.Errorf("in %s it holds %q", lang, never)
					}
				}
			}
		})
	}
}

// TestAForecastIsPaged has more rows than a page shows.
func TestAForecastIsPaged(t *testing.T) {
	g := newRig(t)
	long := preview.NewTable(nil)
	for n := range 250 {
		status := preview.Mark
		if n%2 == 1 {
			status = preview.NotFound
		}
		long.Rows = append(long.Rows, preview.Row{Title: fmt.Sprintf("film %03d", n), Film: true, Status: status})
		long.Counts[status]++
		long.Items++
	}
	g.ended(t, importer.PreviewTask, importer.Preview{User: "mira", Server: "home", Table: long})
	in := g.client(t, true)
	for path, want := range map[string]struct {
		has, hasNot []string
	}{
		"/sources/import":                           {[]string{"film 000", "film 099", `href="/sources/import?from=100"`}, []string{"film 100", "Previous page"}},
		"/sources/import?from=200":                  {[]string{"film 200", "film 249", `href="/sources/import?from=100"`}, []string{"film 199", "Next page"}},
		"/sources/import?status=not_found":          {[]string{"film 001", "film 199", `href="/sources/import?from=100&amp;status=not_found"`}, []string{"film 000", "film 201"}},
		"/sources/import?status=not_found&from=100": {[]string{"film 201", "film 249", `href="/sources/import?status=not_found"`}, []string{"film 199"}},
	} {
		body := g.get(t, in, path, "en").body
		mustContain(t, body, want.has...)
		for _, never := range want.hasNot {
			if strings.Contains(body, never) {
				t.Errorf("%s holds %q", path, never)
			}
		}
	}
}
