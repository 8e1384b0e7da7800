package summary_test

import (
	"archive/zip"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/archive"
	"watchmark/internal/match/idmap"
	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/settings"
	"watchmark/internal/record"
	"watchmark/internal/tell/calendar"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/summary"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/dbtest"
)

// today is a Friday, at seven in the morning.
var today = time.Date(2026, 5, 29, 7, 0, 0, 0, time.Local)

// airingRig tells two people what airs, by a real archive and a simulated catalog.
type airingRig struct {
	t      *testing.T
	db     *db.DB
	list   *catalogtest.Server
	airing *summary.Airing
	ids    map[string]int64 // of accounts
	told   []notify.Notice
	cron   string
	reason summary.Reason
	fails  error
	// reading is called while a list is read.
	reading func(account.Account)
}

// lists reads lists, and tells the rig.
type lists struct {
	calendar.Lists
	rig *airingRig
}

func (l lists) Following(ctx context.Context, a account.Account, read func([]catalog.Collection, func(context.Context, catalog.SubjectID) ([]catalog.Mark, error)) error) error {
	l.rig.reading(a)
	return l.Lists.Following(ctx, a, read)
}

// broadcasts are the times of shows: the fourth is on at nine in the evening in Japan.
type broadcasts struct{}

func (broadcasts) Broadcast(id catalog.SubjectID) (idmap.Broadcast, bool) {
	return idmap.Broadcast{First: time.Date(2026, 5, 30, 12, 0, 0, 0, time.UTC), Days: 7}, id == 4
}

// guide is a dump in which two shows of anime and one of live action air today, one of them 60 times.
func guide(t *testing.T) *archive.Archive {
	t.Helper()
	var subjects, episodes []string
	for id, name := range map[int]string{1: "灯台守のうた", 2: "雨の図書館", 3: "夜の果樹園", 4: "明日の店"} {
		subjects = append(subjects, fmt.Sprintf(`{"id":%d,"type":%d,"name":%q,"name_cn":%q,"platform":1,"date":"2026-04-01"}`, id, map[int]int{1: 2, 2: 2, 3: 6, 4: 2}[id], name, map[int]string{1: "灯塔守望者"}[id]))
	}
	add := func(subject, id int, sort float64, kind int, day, name string) {
		episodes = append(episodes, fmt.Sprintf(`{"id":%d,"subject_id":%d,"sort":%v,"type":%d,"airdate":%q,"name":%q}`, id, subject, sort, kind, day, name))
	}
	add(1, 101, 8, 0, "2026-05-29", "The\nstorm")
	add(1, 102, 1, 1, "2026-05-29", "")
	add(1, 103, 9, 0, "2026-06-05", "")
	add(2, 201, 3, 0, "2026-05-29", "")
	for i := range 60 {
		add(3, 301+i, float64(i+1), 0, "2026-05-29", "")
	}
	add(4, 401, 1, 0, "2026-05-30", "")
	var dump bytes.Buffer
	w := zip.NewWriter(&dump)
	for name, rows := range map[string][]string{"subject.jsonlines": subjects, "episode.jsonlines": episodes, "subject-relations.jsonlines": nil} {
		member, err := w.Create(name)
		if err == nil {
			_, err = io.WriteString(member, strings.Join(rows, "\n"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a := archive.New(t.TempDir(), slog.New(slog.DiscardHandler))
	t.Cleanup(func() { _ = a.Close() })
	if _, err := a.Import(t.Context(), archive.Dump{Data: bytes.NewReader(dump.Bytes()), Size: int64(dump.Len())}, func(archive.Progress) {}); err != nil {
		t.Fatal(err)
	}
	return a
}

func newAiringRig(t *testing.T) *airingRig {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	r := &airingRig{t: t, ids: map[string]int64{}, cron: "0 9 * * *", reading: func(account.Account) {}}
	dir := t.TempDir()
	r.db = dbtest.OpenIn(t, dir)
	var address string
	r.list, address = catalogtest.Start(t, catalogtest.Config{Users: []catalogtest.User{{Username: "mira", Token: "token-of-mira"}, {Username: "alex", Token: "token-of-alex"}}})
	for id, kind := range map[catalog.SubjectID]catalog.SubjectType{1: catalog.Anime, 2: catalog.Anime, 3: catalog.Real, 4: catalog.Anime} {
		r.list.AddSubject(catalogtest.Subject{ID: id, Type: kind, Name: fmt.Sprint("subject ", id)})
	}
	box, err := secret.OpenBox(dir, "", false)
	must(err)
	masker, log := &secret.Masker{}, slog.New(slog.DiscardHandler)
	out, err := httpx.New(httpx.Config{PerMinute: 1e6, Burst: 1e6}, masker, log)
	must(err)
	t.Cleanup(out.Close)
	client, err := catalog.New(catalog.Config{APIURL: address, WebURL: address, UserAgent: catalog.UserAgent("test")}, out, log)
	must(err)
	accounts := account.NewStore(r.db, box)
	for _, name := range []string{"mira", "alex"} {
		a, err := accounts.Create(t.Context(), account.Draft{Username: name, Method: account.ByToken, Enabled: true, Tokens: account.Tokens{Access: secret.Text("token-of-" + name)}})
		must(err)
		r.ids[name] = a.ID
	}
	known := guide(t)
	r.airing = summary.NewAiring(summary.AiringConfig{
		DB: r.db, Accounts: accounts, Log: log, Language: func() bilingual.Language { return bilingual.English }, Wake: func() {},
		Calendar: calendar.New(calendar.Config{DB: r.db, Box: box, Accounts: accounts, Log: log, Table: func() calendar.Table { return broadcasts{} }, Written: record.NewStore(r.db).Written, Lists: lists{account.NewClient(account.ClientConfig{
			Store: accounts, Catalog: client, Subjects: catalog.NewCached(client), Marker: catalog.NewMarker(), Known: func(context.Context, int64, catalog.SubjectID) (bool, error) { return false, nil }, Left: func(context.Context, int64, catalog.SubjectID) (bool, error) { return false, nil }, Masker: masker, Log: log, App: func() catalog.App { return catalog.App{} },
		}), r},
			Guide: func() (calendar.Guide, calendar.Missing) {
				if r.reason != "" {
					return nil, calendar.Missing(r.reason)
				}
				return known, ""
			},
		}),
		Plan: func() schedule.Plan {
			if r.cron == "" {
				return schedule.Plan{}
			}
			return schedule.Plan{Text: r.cron, Next: func(after time.Time) time.Time {
				next, err := settings.NextRun(r.cron, after)
				must(err)
				return next
			}}
		},
		Notify: func(_ context.Context, _ *sql.Tx, notices ...notify.Notice) error {
			if r.fails == nil {
				r.told = append(r.told, notices...)
			}
			return r.fails
		},
	})
	return r
}

// doing puts subjects on a list.
func (r *airingRig) doing(name string, subjects ...catalog.SubjectID) {
	r.t.Helper()
	for _, id := range subjects {
		if err := r.list.Collect(name, id, catalog.Doing, false); err != nil {
			r.t.Fatal(err)
		}
	}
}

// at looks at the clock, and gives what was told of then, as account: list.
func (r *airingRig) at(after time.Duration) []string {
	r.t.Helper()
	r.told = nil
	if err := r.airing.Round(r.t.Context(), today.Add(after)); err != nil {
		r.t.Fatal(err)
	}
	var told []string
	for _, n := range r.told {
		if n.Kind != notify.AiringToday || n.AccountID != r.ids[n.Account] {
			r.t.Errorf("told is %+v", n)
		}
		told = append(told, n.Account+": "+n.Facts["list"])
	}
	slices.Sort(told)
	return told
}

func TestWhatAirsToday(t *testing.T) {
	r := newAiringRig(t)
	r.doing("mira", 1, 4)
	r.doing("alex", 2, 3)
	if err := r.list.Collect("mira", 2, catalog.Wish, false); err != nil {
		t.Fatal(err)
	}
	if got := r.at(0); got != nil {
		t.Errorf("before nine it tells %q", got)
	}
	reads := r.list.Requests()["GET /v0/users/{username}/collections"]
	got := r.at(3 * time.Hour)
	if len(got) != 2 || got[1] != "mira: - 灯塔守望者 (灯台守のうた): episode 8 The storm\n- 灯塔守望者 (灯台守のうた): SP 1" {
		t.Errorf("at ten it tells %q", got)
	}
	for _, n := range r.told {
		if want := map[string]string{"mira": "2", "alex": "61"}[n.Account]; n.Facts["total"] != want || n.Facts["airdate"] != "2026-05-29" || n.About != "airing 2026-05-29" {
			t.Errorf("told is %+v", n)
		}
	}
	if lines := strings.Split(got[0], "\n"); len(lines) != 51 || lines[50] != "… and 11 more episodes" {
		t.Errorf("alex is told %d lines, the last %q", len(lines), lines[len(lines)-1])
	}
	asked := func() int { return r.list.Requests()["GET /v0/users/{username}/collections"] }
	once := asked()
	if once == reads {
		t.Fatal("the requests are not counted")
	}
	if got := r.at(4 * time.Hour); got != nil || asked() != once {
		t.Errorf("an hour later it tells %q after %d requests", got, asked()-once)
	}
	got = r.at(27 * time.Hour)
	if len(got) != 1 || got[0] != "mira: - "+time.Date(2026, 5, 30, 12, 0, 0, 0, time.UTC).Local().Format("15:04")+" 明日の店: episode 1" {
		t.Errorf("on the next day it tells %q", got)
	}
	status, err := r.airing.Status(t.Context())
	if err != nil || len(status.Told) != 2 || status.Told[0].Account != "alex" || status.Told[0].Day != "2026-05-30" || status.Told[0].Episodes != 0 || status.Told[1].Episodes != 1 || status.NextRun == nil || status.Reason != "" {
		t.Errorf("it stands at %+v, %v", status, err)
	}
}

func TestListsOfMoreThanOnePage(t *testing.T) {
	r := newAiringRig(t)
	r.doing("mira", 1)
	for id := catalog.SubjectID(1000); id < 1120; id++ {
		r.list.AddSubject(catalogtest.Subject{ID: id, Type: catalog.Anime, Name: fmt.Sprint("subject ", id)})
		r.doing("mira", id)
	}
	if got := r.at(3 * time.Hour); len(got) != 1 {
		t.Errorf("told is %q", got)
	}
}

func TestHiddenEntries(t *testing.T) {
	r := newAiringRig(t)
	if err := r.list.Collect("mira", 1, catalog.Doing, true); err != nil {
		t.Fatal(err)
	}
	if got := r.at(3 * time.Hour); got != nil {
		t.Errorf("what a person hid is told: %q", got)
	}
	r.private("mira")
	if got := r.at(3 * time.Hour); got != nil {
		t.Errorf("it is told twice: %q", got)
	}
	r.forget()
	if got := r.at(3 * time.Hour); len(got) != 1 {
		t.Errorf("of an account that makes everything private, told is %q", got)
	}
}

func TestNobodyIsTold(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*airingRig)
	}{
		{"it is switched off", func(r *airingRig) { r.cron = "" }},
		{"the archive is switched off", func(r *airingRig) { r.reason = summary.ArchiveOff }},
		{"there is no archive", func(r *airingRig) { r.reason = summary.ArchiveMissing }},
		{"it is not the day", func(r *airingRig) { r.cron = "0 9 * * 1" }},
		{"the account is switched off", func(r *airingRig) { r.execute(`UPDATE accounts SET enabled = 0`) }},
		{"the account has no token", func(r *airingRig) { r.execute(`UPDATE accounts SET access_token = ''`) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newAiringRig(t)
			r.doing("mira", 1)
			c.change(r)
			if got := r.at(3 * time.Hour); got != nil || len(r.list.Requests()) != 0 {
				t.Errorf("it tells %q after %v", got, r.list.Requests())
			}
			status, err := r.airing.Status(t.Context())
			want := map[string]summary.Reason{"it is switched off": summary.SwitchedOff}
			if reason := want[c.name]; err != nil || reason != "" && status.Reason != reason || r.reason != "" && status.Reason != r.reason || (status.NextRun == nil) != (status.Reason != "") {
				t.Errorf("it stands at %+v, %v", status, err)
			}
		})
	}
}

func TestACatalogThatDoesNotAnswerIsAskedAgain(t *testing.T) {
	r := newAiringRig(t)
	r.doing("mira", 1)
	if err := r.list.SetFault(catalogtest.Fault{Mode: catalogtest.Status, Status: http.StatusBadGateway}); err != nil {
		t.Fatal(err)
	}
	if got := r.at(3 * time.Hour); got != nil {
		t.Errorf("told is %q", got)
	}
	if err := r.list.SetFault(catalogtest.Fault{Mode: catalogtest.None}); err != nil {
		t.Fatal(err)
	}
	if got := r.at(3*time.Hour + 20*time.Minute); got != nil {
		t.Errorf("too soon, told is %q", got)
	}
	r.fails = errors.New("the disk is full")
	if err := r.airing.Round(t.Context(), today.Add(4*time.Hour)); err == nil {
		t.Error("what could not be stored is no error")
	}
	r.fails = nil
	if got := r.at(4*time.Hour + time.Minute); len(got) != 1 {
		t.Errorf("afterwards, told is %q", got)
	}
}

func TestAnAccountWhoseTokenIsRefused(t *testing.T) {
	r := newAiringRig(t)
	r.doing("alex", 1)
	r.list.RevokeToken("token-of-mira")
	if got := r.at(3 * time.Hour); len(got) != 1 || !strings.HasPrefix(got[0], "alex") {
		t.Errorf("told is %q", got)
	}
	status, err := r.airing.Status(t.Context())
	if err != nil || len(status.Told) != 2 || status.Told[1].Problem.IsZero() {
		t.Errorf("it stands at %+v, %v", status, err)
	}
}

func TestAnotherProcessIsFaster(t *testing.T) {
	r := newAiringRig(t)
	r.doing("mira", 1)
	r.doing("alex", 1)
	r.reading = func(a account.Account) {
		if a.Username == "mira" {
			r.execute(`INSERT INTO airing_days (account_id, day, at, episodes, problem) VALUES (?, '2026-05-29', 1, 1, '')`, a.ID)
		}
	}
	if got := r.at(3 * time.Hour); len(got) != 1 || !strings.HasPrefix(got[0], "alex") {
		t.Errorf("told is %q", got)
	}
}

func (r *airingRig) execute(statement string, args ...any) { execute(r.t, r.db, statement, args...) }

func (r *airingRig) private(name string) {
	r.execute(`UPDATE accounts SET private = 1 WHERE id = ?`, r.ids[name])
}

func (r *airingRig) forget() { r.execute(`DELETE FROM airing_days`) }
