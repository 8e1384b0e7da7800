package calendar_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/archive"
	"watchmark/internal/match/idmap"
	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/scope"
	"watchmark/internal/platform/secret"
	"watchmark/internal/record"
	"watchmark/internal/tell/calendar"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/watch"
)

// The people of the tests. The owner's accounts have no person.
const (
	mira = 2
	alex = 3
)

// rig is a calendar over a real database, with an archive, a table and lists that a test fills.
type rig struct {
	*calendar.Service
	t       *testing.T
	db      *db.DB
	store   *account.Store
	guide   guide
	missing calendar.Missing
	rules   rules
	lists   *lists
	lang    bilingual.Language
}

// guide answers what it holds.
type guide []archive.Airing

func (g guide) Airing(_ context.Context, from, to watch.Date, of func(catalog.SubjectID) bool) (found []archive.Airing, err error) {
	for _, a := range g {
		since, _ := a.Episode.AirDate.DaysFrom(from)
		left, _ := to.DaysFrom(a.Episode.AirDate)
		if since >= 0 && left >= 0 && (of == nil || of(a.Subject.ID)) {
			found = append(found, a)
		}
	}
	return found, nil
}

func (g guide) OnAir(_ context.Context, _, _ watch.Date) (subjects []catalog.Subject, err error) {
	for _, a := range g {
		subjects = append(subjects, a.Subject)
	}
	return subjects, nil
}

func (guide) Made() time.Time { return time.Date(2026, 11, 17, 21, 3, 6, 0, time.UTC) }

type rules map[catalog.SubjectID]idmap.Broadcast

func (r rules) Broadcast(id catalog.SubjectID) (idmap.Broadcast, bool) {
	b, known := r[id]
	return b, known
}

// lists are those of the catalog, by account.
type lists struct {
	rows  map[string][]catalog.Collection
	marks map[catalog.SubjectID][]catalog.Mark
	fails map[string]error
	// read are the accounts whose list was asked for, and asked the subjects whose marks were.
	read  []string
	asked []catalog.SubjectID
	// marksFail is what asking for marks fails with.
	marksFail error
}

func (l *lists) Following(ctx context.Context, a account.Account, read func([]catalog.Collection, func(context.Context, catalog.SubjectID) ([]catalog.Mark, error)) error) error {
	l.read = append(l.read, a.Username)
	if err := l.fails[a.Username]; err != nil {
		return err
	}
	return read(l.rows[a.Username], func(_ context.Context, id catalog.SubjectID) ([]catalog.Mark, error) {
		l.asked = append(l.asked, id)
		return l.marks[id], l.marksFail
	})
}

func newRig(t *testing.T) *rig {
	t.Helper()
	dir := t.TempDir()
	r := &rig{t: t, db: dbtest.OpenIn(t, dir), rules: rules{}, lang: bilingual.English, lists: &lists{rows: map[string][]catalog.Collection{}, marks: map[catalog.SubjectID][]catalog.Mark{}, fails: map[string]error{}}}
	box, err := secret.OpenBox(dir, "", false)
	if err != nil {
		t.Fatal(err)
	}
	r.store = account.NewStore(r.db, box)
	r.exec(`INSERT INTO people (id, name, role, password_hash, created_at, updated_at) VALUES (1, 'bench', 'owner', '', 0, 0), (2, 'mira', 'person', '', 0, 0), (3, 'alex', 'person', '', 0, 0)`)
	r.Service = calendar.New(calendar.Config{
		DB: r.db, Box: box, Accounts: r.store, Lists: r.lists, Written: record.NewStore(r.db).Written, Log: slog.New(slog.DiscardHandler),
		Guide: func() (calendar.Guide, calendar.Missing) {
			if r.missing != "" {
				return nil, r.missing
			}
			return r.guide, ""
		},
		Table:      func() calendar.Table { return r.rules },
		Language:   func() bilingual.Language { return r.lang },
		SubjectURL: func(id catalog.SubjectID) string { return fmt.Sprintf("https://catalog.example/subject/%d", id) },
	})
	return r
}

func (r *rig) exec(statement string, args ...any) {
	r.t.Helper()
	err := r.db.Write(r.t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// account adds one of a person; 0 is the owner.
func (r *rig) account(person int64, name string) int64 {
	r.t.Helper()
	a, err := r.store.Create(r.t.Context(), account.Draft{Username: name, Method: account.ByToken, Enabled: true, Tokens: account.Tokens{Access: secret.Text("token-of-" + name)}})
	if err != nil {
		r.t.Fatal(err)
	}
	if person != 0 {
		r.exec(`UPDATE accounts SET person_id = ? WHERE id = ?`, person, a.ID)
	}
	return a.ID
}

// airs adds an episode; its id is a hundred times that of the subject and its number.
func (r *rig) airs(subject catalog.SubjectID, sort float64, day string) {
	r.guide = append(r.guide, archive.Airing{
		Subject: catalog.Subject{ID: subject, Type: catalog.Anime, Name: fmt.Sprint("番組", subject), NameCN: fmt.Sprint("节目", subject)},
		Episode: catalog.EpisodeInfo{ID: catalog.EpisodeID(int(subject)*100 + int(sort)), Subject: subject, Sort: sort, AirDate: watch.ParseDate(day), Name: "話", NameCN: "集名"},
	})
}

// on has a show be on every week from a time in Japan on.
func (r *rig) on(subject catalog.SubjectID, at string) {
	first, err := time.ParseInLocation("2006-01-02 15:04", at, time.FixedZone("JST", 9*60*60))
	if err != nil {
		r.t.Fatal(err)
	}
	r.rules[subject] = idmap.Broadcast{First: first, Days: 7}
}

// follows puts subjects on a list.
func (r *rig) follows(name string, state catalog.CollectionType, subjects ...catalog.SubjectID) {
	for _, id := range subjects {
		r.lists.rows[name] = append(r.lists.rows[name], catalog.Collection{Subject: id, Type: state})
	}
}

// look has the job look at the clock.
func (r *rig) look(now time.Time) (due bool) {
	r.t.Helper()
	due, err := r.Round(r.t.Context(), now)
	if err != nil {
		r.t.Fatal(err)
	}
	return due
}

// as is a context in the scope of a person; 0 is the owner.
func (r *rig) as(person int64) context.Context {
	if person == 0 {
		return scope.In(r.t.Context(), scope.Everything())
	}
	return scope.In(r.t.Context(), scope.Of(person))
}

func zoneOf(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, known := calendar.ZoneOf(name)
	if !known {
		t.Fatal("no zone " + name)
	}
	return zone
}

// said are items in short: the day, the time of it, subject and number.
func said(items []calendar.Item, zone *time.Location) []string {
	lines := []string{}
	for _, i := range items {
		clock := "--:--"
		if !i.At.IsZero() {
			clock = i.At.In(zone).Format("15:04")
		}
		line := fmt.Sprintf("%s %s %d/%v", i.Day, clock, i.Subject.ID, i.Episode.Sort)
		for _, f := range i.On {
			line += " " + f.Account
			if f.Watched {
				line += "+"
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// find is what is found, in short.
func (r *rig) find(person int64, q calendar.Query) []string {
	r.t.Helper()
	found, err := r.Find(r.as(person), q)
	if err != nil {
		r.t.Fatal(err)
	}
	return said(found.Items, q.Zone)
}

func days(from, to string, zone *time.Location) calendar.Query {
	return calendar.Query{From: watch.ParseDate(from), To: watch.ParseDate(to), Zone: zone}
}

func TestDaysAndTimesAreTheReaders(t *testing.T) {
	t.Parallel()
	const friday, night = 1, 2
	for _, c := range []struct {
		name, zone, from, to string
		want                 []string
	}{
		{"in Japan", "Asia/Tokyo", "2026-11-06", "2026-11-07", []string{"2026-11-06 22:30 1/6", "2026-11-06 --:-- 3/1", "2026-11-07 01:30 2/6"}},
		{"a night is the next day, in Japan too", "Asia/Tokyo", "2026-11-06", "2026-11-06", []string{"2026-11-06 22:30 1/6", "2026-11-06 --:-- 3/1"}},
		{"in China", "Asia/Shanghai", "2026-11-06", "2026-11-07", []string{"2026-11-06 21:30 1/6", "2026-11-06 --:-- 3/1", "2026-11-07 00:30 2/6"}},
		{"summer time in Berlin", "Europe/Berlin", "2026-10-23", "2026-10-24", []string{"2026-10-23 15:30 1/4", "2026-10-23 18:30 2/4"}},
		{"winter time in Berlin", "Europe/Berlin", "2026-10-30", "2026-10-30", []string{"2026-10-30 14:30 1/5", "2026-10-30 17:30 2/5"}},
		{"summer time in New York", "America/New_York", "2026-10-30", "2026-10-30", []string{"2026-10-30 09:30 1/5", "2026-10-30 12:30 2/5"}},
		{"winter time in New York", "America/New_York", "2026-11-06", "2026-11-06", []string{"2026-11-06 08:30 1/6", "2026-11-06 11:30 2/6", "2026-11-06 --:-- 3/1"}},
		{"half an hour of summer time", "Australia/Lord_Howe", "2026-10-02", "2026-10-10", []string{"2026-10-03 00:00 1/1", "2026-10-03 03:00 2/1", "2026-10-10 00:30 1/2", "2026-10-10 03:30 2/2"}},
		{"the day after, far in the east", "Pacific/Kiritimati", "2026-10-03", "2026-10-03", []string{"2026-10-03 03:30 1/1", "2026-10-03 06:30 2/1"}},
		{"far in the west", "Etc/GMT+12", "2026-10-02", "2026-10-02", []string{"2026-10-02 01:30 1/1", "2026-10-02 04:30 2/1"}},
		{"three quarters of an hour", "Asia/Kathmandu", "2026-10-02", "2026-10-02", []string{"2026-10-02 19:15 1/1", "2026-10-02 22:15 2/1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			for n, day := range []string{"2026-10-02", "2026-10-09", "2026-10-16", "2026-10-23", "2026-10-30", "2026-11-06"} {
				r.airs(friday, float64(n+1), day)
				r.airs(night, float64(n+1), day) // the catalog gives 25:30 to the evening before
			}
			r.airs(3, 1, "2026-11-06")
			r.on(friday, "2026-10-02 22:30")
			r.on(night, "2026-10-03 01:30")
			if diff := cmp.Diff(c.want, r.find(0, days(c.from, c.to, zoneOf(t, c.zone)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatContradictsHasNoTime(t *testing.T) {
	t.Parallel()
	r, zone := newRig(t), zoneOf(t, "Asia/Tokyo")
	r.airs(1, 1, "2026-10-02")
	r.airs(1, 2, "2026-10-16") // after a week without it
	r.airs(1, 3, "2026-10-25") // moved to a Sunday
	r.airs(1, 4, "2026-10-30")
	r.guide[3].Episode.Type = catalog.Special
	r.on(1, "2026-10-02 22:30")
	want := []string{"2026-10-02 22:30 1/1", "2026-10-16 22:30 1/2", "2026-10-25 --:-- 1/3", "2026-10-30 --:-- 1/4"}
	if diff := cmp.Diff(want, r.find(0, days("2026-10-01", "2026-10-31", zone))); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	r, zone := newRig(t), time.UTC
	for id := catalog.SubjectID(1); id <= 4; id++ {
		r.airs(id, 1, "2026-10-02")
	}
	r.guide[1].Subject.NSFW = true
	r.guide[2].Episode.Type = 3 // an ending
	r.account(0, "bench")
	r.follows("bench", catalog.Doing, 1, 2, 3)
	r.lists.rows["bench"] = append(r.lists.rows["bench"], catalog.Collection{Subject: 4, Type: catalog.Doing, Private: true})
	r.look(time.Now())
	all := days("2026-10-02", "2026-10-02", zone)
	if diff := cmp.Diff([]string{"2026-10-02 --:-- 1/1 bench", "2026-10-02 --:-- 4/1"}, r.find(0, all)); diff != "" {
		t.Error("everything:", diff)
	}
	all.Mine = true
	if diff := cmp.Diff([]string{"2026-10-02 --:-- 1/1 bench"}, r.find(0, all)); diff != "" {
		t.Error("of the list:", diff)
	}
	r.exec(`UPDATE accounts SET private = 1`)
	if diff := cmp.Diff([]string{"2026-10-02 --:-- 1/1 bench", "2026-10-02 --:-- 4/1 bench"}, r.find(0, all)); diff != "" {
		t.Error("of an account that makes everything private:", diff)
	}
}

func TestDaysThatCannotBeAskedFor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, q := range []calendar.Query{days("2026-10-02", "2026-10-01", time.UTC), days("2026-10-01", "2026-12-02", time.UTC), days("2026-10", "2026-10-02", time.UTC), days("", "", time.UTC)} {
		if _, err := r.Find(r.as(0), q); !errors.Is(err, calendar.ErrDays) {
			t.Errorf("%s to %s: %v", q.From, q.To, err)
		}
	}
	if _, err := r.Find(r.as(0), days("2026-10-01", "2026-12-01", time.UTC)); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"", "Local", "../etc/passwd", "/etc/passwd", "Europe", "Mars/Base", strings.Repeat("Europe/Berlin", 10), "Europe/Berlin\x00"} {
		if zone, known := calendar.ZoneOf(name); known {
			t.Errorf("%q is the zone %s", name, zone)
		}
	}
}

func TestNothingIsKnown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.airs(1, 1, "2026-10-02")
	r.missing = calendar.ArchiveOff
	found, err := r.Find(r.as(0), days("2026-10-02", "2026-10-02", time.UTC))
	if err != nil || found.Missing != calendar.ArchiveOff || len(found.Items) != 0 {
		t.Errorf("found is %+v, %v", found, err)
	}
	if _, _, err := r.Today(t.Context(), account.Account{}, time.Now()); !errors.Is(err, calendar.ErrNoArchive) {
		t.Error(err)
	}
}

// household is a rig where the owner, mira and alex follow the same show, and each one of their own, and have marked it.
func household(t *testing.T) (r *rig, ids map[string]int64) {
	r = newRig(t)
	ids = map[string]int64{"bench": r.account(0, "bench"), "mira": r.account(mira, "mira"), "alex": r.account(alex, "alex")}
	for id := catalog.SubjectID(1); id <= 4; id++ {
		r.airs(id, 1, "2026-10-02")
	}
	for name, own := range map[string]catalog.SubjectID{"bench": 1, "mira": 2, "alex": 3} {
		r.follows(name, catalog.Doing, own)
		r.lists.rows[name] = append(r.lists.rows[name], catalog.Collection{Subject: 4, Type: catalog.Doing, Marked: 1, Changed: time.Unix(int64(own), 0)})
	}
	r.lists.marks[4] = []catalog.Mark{{Episode: 401, State: catalog.EpisodeWatched}}
	r.look(time.Now())
	return r, ids
}

func TestNobodySeesTheListOfSomebodyElse(t *testing.T) {
	t.Parallel()
	r, ids := household(t)
	for person, name := range map[int64]string{0: "bench", mira: "mira", alex: "alex"} {
		own := map[string]catalog.SubjectID{"bench": 1, "mira": 2, "alex": 3}[name]
		q := days("2026-10-02", "2026-10-02", time.UTC)
		want := []string{}
		for id := catalog.SubjectID(1); id <= 4; id++ {
			line := fmt.Sprintf("2026-10-02 --:-- %d/1", id)
			switch id {
			case own:
				line += " " + name
			case 4:
				line += " " + name + "+"
			}
			want = append(want, line)
		}
		if diff := cmp.Diff(want, r.find(person, q)); diff != "" {
			t.Errorf("%s sees of everything: %s", name, diff)
		}
		q.Mine = true
		mine := []string{fmt.Sprintf("2026-10-02 --:-- %d/1 %s", own, name), "2026-10-02 --:-- 4/1 " + name + "+"}
		if diff := cmp.Diff(mine, r.find(person, q)); diff != "" {
			t.Errorf("%s sees as followed: %s", name, diff)
		}
		for other, id := range ids {
			q.Account = id
			found, err := r.Find(r.as(person), q)
			if other == name {
				if diff := cmp.Diff(mine, said(found.Items, time.UTC)); diff != "" || err != nil {
					t.Errorf("%s sees of the own account: %s, %v", name, diff, err)
				}
				continue
			}
			if !errors.Is(err, account.ErrNotFound) || len(found.Items)+len(found.Lists) != 0 {
				t.Errorf("%s asks for the account of %s: %+v, %v", name, other, found, err)
			}
		}
		found, err := r.Find(r.as(person), days("2026-10-02", "2026-10-02", time.UTC))
		if err != nil || len(found.Lists) != 1 || found.Lists[0].Account != name || found.Lists[0].Entries != 2 {
			t.Errorf("%s is told of the lists %+v, %v", name, found.Lists, err)
		}
	}
	found, err := r.Find(scope.In(t.Context(), scope.Scope{}), calendar.Query{From: watch.ParseDate("2026-10-02"), To: watch.ParseDate("2026-10-02"), Zone: time.UTC, Mine: true})
	if err != nil || len(found.Items) != 0 || len(found.Lists) != 0 {
		t.Errorf("nobody sees %+v, %v", found, err)
	}
}

func TestSeveralAccountsOfOnePerson(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.airs(1, 1, "2026-10-02")
	for i := range calendar.AccountsMost + 2 {
		name := fmt.Sprintf("mira%02d", i)
		r.account(mira, name)
		r.follows(name, catalog.Wish, 1)
	}
	r.exec(`UPDATE accounts SET enabled = 0 WHERE username = 'mira00'`)
	r.look(time.Now())
	q := days("2026-10-02", "2026-10-02", time.UTC)
	q.Mine = true
	found, err := r.Find(r.as(mira), q)
	if err != nil || len(found.Lists) != calendar.AccountsMost || !found.More || len(found.Items) != 1 || len(found.Items[0].On) != calendar.AccountsMost {
		t.Errorf("found are %d lists, more %v, items %+v, %v", len(found.Lists), found.More, found.Items, err)
	}
	if slices.Contains(r.lists.read, "mira00") {
		t.Error("the list of an account that is switched off was read")
	}
}

func TestWatchedIsWhatIsMarked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.account(mira, "mira")
	for n := range 4 {
		r.airs(1, float64(n+1), fmt.Sprintf("2026-10-%02d", n*7+2))
	}
	r.lists.rows["mira"] = []catalog.Collection{{Subject: 1, Type: catalog.Doing, Marked: 2, Changed: time.Unix(5, 0)}}
	r.lists.marks[1] = []catalog.Mark{{Episode: 101, State: catalog.EpisodeWatched}, {Episode: 102, State: catalog.EpisodeDropped}, {Episode: 103, State: catalog.EpisodeWish}}
	now := time.Now()
	r.look(now)
	q := days("2026-10-01", "2026-10-31", time.UTC)
	want := []string{"2026-10-02 --:-- 1/1 mira+", "2026-10-09 --:-- 1/2 mira", "2026-10-16 --:-- 1/3 mira", "2026-10-23 --:-- 1/4 mira"}
	if diff := cmp.Diff(want, r.find(mira, q)); diff != "" {
		t.Error("as the list has it:", diff)
	}
	// What is marked afterwards, the list does not have yet.
	r.exec(`INSERT INTO records (id, status, is_test, source, action, media_type, user_name, title, original_title, release_date, event, created_at, updated_at) VALUES (1, 'success', 0, 'custom', 'watched', 'episode', '', 'x', '', '', '{}', 1, 1)`)
	r.exec(`INSERT INTO record_marks (record_id, account_id, subject_id, episode_id, completed, created, was, intended_at, written_at, task_id) VALUES (1, ?, 1, 104, 0, 0, -1, 0, ?, 0)`, id, now.UnixMilli())
	want[3] += "+"
	if diff := cmp.Diff(want, r.find(mira, q)); diff != "" {
		t.Error("with what was marked since:", diff)
	}
}

func TestListsAreReadAgainAndAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	now := time.Date(2026, 10, 2, 12, 0, 0, 0, time.UTC)
	r.account(mira, "mira")
	r.airs(1, 1, "2026-10-02")
	r.lists.rows["mira"] = []catalog.Collection{{Subject: 1, Type: catalog.Doing, Marked: 1, Changed: now}, {Subject: 9, Type: catalog.Doing, Marked: 5}, {Subject: 1, Type: catalog.Wish}}
	if !r.look(now) || len(r.lists.read) != 1 || !slices.Equal(r.lists.asked, []catalog.SubjectID{1}) {
		t.Fatalf("at first, lists of %v and marks of %v were read", r.lists.read, r.lists.asked)
	}
	if r.look(now.Add(5*time.Hour)) || len(r.lists.read) != 1 {
		t.Errorf("after five hours, read were %v", r.lists.read)
	}
	if r.look(now.Add(6*time.Hour)) || len(r.lists.read) != 2 || len(r.lists.asked) != 1 {
		t.Errorf("after six hours, read were %v and marks of %v, which did not change", r.lists.read, r.lists.asked)
	}
	r.lists.rows["mira"][0].Changed = now.Add(7 * time.Hour)
	r.look(now.Add(13 * time.Hour))
	if !slices.Equal(r.lists.asked, []catalog.SubjectID{1, 1}) {
		t.Errorf("after a change, marks of %v were read", r.lists.asked)
	}
	// A new account is not waited for until the others are old.
	r.account(alex, "alex")
	if !r.look(now.Add(13*time.Hour + time.Minute)) {
		t.Error("the job is not due for a new account")
	}
	if got := r.lists.read[len(r.lists.read)-1]; got != "alex" {
		t.Errorf("read was %s", got)
	}
}

func TestAListThatCannotBeReadStaysAsItWas(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	now := time.Now()
	r.account(mira, "mira")
	r.account(mira, "nora")
	r.airs(1, 1, "2026-10-02")
	r.follows("mira", catalog.Doing, 1)
	r.look(now)
	before := len(r.lists.read)
	state := func() calendar.ListState {
		t.Helper()
		found, err := r.Find(r.as(mira), days("2026-10-02", "2026-10-02", time.UTC))
		if err != nil || len(found.Items) != 1 || len(found.Items[0].On) != 1 {
			t.Errorf("found is %+v, %v", found, err)
		}
		return found.Lists[slices.IndexFunc(found.Lists, func(l calendar.ListState) bool { return l.Account == "mira" })]
	}
	r.lists.fails["mira"] = &catalog.Error{Kind: catalog.ErrUnauthorized}
	r.look(now.Add(7 * time.Hour))
	if got := state(); got.Problem.IsZero() || !got.ReadAt.Equal(now.Truncate(time.Millisecond)) {
		t.Errorf("after a refusal it stands at %+v", got)
	}
	if len(r.lists.read) != before+2 {
		t.Errorf("the refusal of one kept it from the other: read were %v", r.lists.read[before:])
	}
	r.look(now.Add(7*time.Hour + 10*time.Minute))
	if len(r.lists.read) != before+2 {
		t.Error("it is tried again at once")
	}
	delete(r.lists.fails, "mira")
	r.look(now.Add(8 * time.Hour))
	if got := state(); !got.Problem.IsZero() || !got.ReadAt.After(now.Add(7*time.Hour)) {
		t.Errorf("afterwards it stands at %+v", got)
	}
	// While the catalog does not answer, the others are not asked for either.
	before = len(r.lists.read)
	for _, name := range []string{"mira", "nora"} {
		r.lists.fails[name] = &catalog.Error{Kind: catalog.ErrUnreachable}
	}
	r.look(now.Add(20 * time.Hour))
	if len(r.lists.read) != before+1 {
		t.Errorf("while the catalog does not answer, read were %v", r.lists.read[before:])
	}
	// Marks that cannot be read leave everything as it was.
	clear(r.lists.fails)
	r.lists.rows["mira"] = []catalog.Collection{{Subject: 1, Type: catalog.Doing, Marked: 3}}
	r.lists.marksFail = &catalog.Error{Kind: catalog.ErrUnreachable}
	r.look(now.Add(30 * time.Hour))
	if got := state(); got.Problem.IsZero() {
		t.Errorf("without the marks it stands at %+v", got)
	}
}
