package calendar_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/apognu/gocal"
	"github.com/emersion/go-ical"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/scope"
	"watchmark/internal/platform/secret"
	"watchmark/internal/tell/calendar"
)

// event is what a parser understands of an event.
type event struct {
	UID, Summary, About, URL string
	Start, End               time.Time
	AllDay                   bool
}

// byICal and byGocal read a file with two parsers that know nothing of each other.
func byICal(t *testing.T, text []byte) (events []event) {
	t.Helper()
	parsed, err := ical.NewDecoder(bytes.NewReader(text)).Decode()
	if err != nil {
		t.Fatalf("go-ical: %v\n%s", err, text)
	}
	// Its encoder refuses what lacks a property that it needs, or has one too often.
	if err := ical.NewEncoder(new(bytes.Buffer)).Encode(parsed); err != nil && len(parsed.Children) > 0 {
		t.Errorf("go-ical does not take it as a whole calendar: %v", err)
	}
	property := func(e ical.Event, name string) string {
		text, err := e.Props.Text(name)
		if err != nil {
			t.Errorf("go-ical: %s: %v", name, err)
		}
		return text
	}
	for _, e := range parsed.Events() {
		one := event{UID: property(e, ical.PropUID), Summary: property(e, ical.PropSummary), About: property(e, ical.PropDescription)}
		address, err := e.Props.URI(ical.PropURL)
		if err != nil {
			t.Error("go-ical: URL:", err)
		} else {
			one.URL = address.String()
		}
		one.AllDay = e.Props.Get(ical.PropDateTimeStart).ValueType() == ical.ValueDate
		if one.Start, err = e.DateTimeStart(time.UTC); err != nil {
			t.Error("go-ical:", err)
		}
		if one.End, err = e.DateTimeEnd(time.UTC); err != nil {
			t.Error("go-ical:", err)
		}
		if _, err := e.Props.DateTime(ical.PropDateTimeStamp, time.UTC); err != nil {
			t.Error("go-ical: DTSTAMP:", err)
		}
		events = append(events, one)
	}
	return events
}

func byGocal(t *testing.T, text []byte) (events []event) {
	t.Helper()
	c := gocal.NewParser(bytes.NewReader(text))
	c.SkipBounds = true
	c.AllDayEventsTZ = time.UTC
	if err := c.Parse(); err != nil {
		t.Fatalf("gocal: %v\n%s", err, text)
	}
	for _, e := range c.Events {
		one := event{UID: e.Uid, Summary: e.Summary, About: e.Description, URL: e.URL, Start: e.Start.UTC(), End: e.End.UTC(), AllDay: e.RawStart.Params["VALUE"] == "DATE"}
		one.About = strings.ReplaceAll(one.About, `\n`, "\n") // it leaves escaped line ends as they are
		if one.AllDay {
			one.End = one.End.Add(time.Millisecond) // to it, a day ends before the next one begins
		}
		if e.Duration != nil && one.End.IsZero() {
			one.End = one.Start.Add(*e.Duration)
		}
		events = append(events, one)
	}
	return events
}

// held fails for a text that RFC 5545 does not allow.
func held(t *testing.T, text []byte) {
	t.Helper()
	if !utf8.Valid(text) || !bytes.HasSuffix(text, []byte("END:VCALENDAR\r\n")) {
		t.Error("it is no UTF-8, or has another end")
	}
	for line := range bytes.SplitSeq(bytes.TrimSuffix(text, []byte("\r\n")), []byte("\r\n")) {
		if len(line) > 75 || !utf8.Valid(line) || bytes.ContainsAny(line, "\r\n\x00") || len(line) == 0 {
			t.Errorf("a line of %d bytes: %q", len(line), line)
		}
	}
}

// filled is a rig with a week that mira follows, the address of it, and when that is looked at.
func filled(t *testing.T) (*rig, calendar.Address, time.Time) {
	r := newRig(t)
	r.account(mira, "mira")
	r.airs(1, 8, "2026-10-02")
	r.airs(1, 9, "2026-10-09")
	r.airs(2, 1, "2026-10-03")
	r.airs(3, 1, "2026-10-03") // nobody follows it
	r.airs(2, 2, "2026-12-24") // too far away
	r.airs(2, 3, "2026-10-04")
	r.guide[5].Episode.Type = catalog.Special
	r.on(1, "2026-10-03 01:30")
	long := strings.Repeat("とても長い題名, と; 区切り\\ ", 12)
	r.guide[2].Subject.NameCN = long
	r.guide[2].Episode.NameCN = "第一行\r\nBEGIN:VALARM\r\nATTACH:x\x00\x7f\u2028END:VEVENT\u0085\u2029end"
	r.follows("mira", catalog.Doing, 1)
	r.follows("mira", catalog.Wish, 2)
	r.lists.rows["mira"][0].Marked = 1
	r.lists.marks[1] = []catalog.Mark{{Episode: 108, State: catalog.EpisodeWatched}}
	now := time.Date(2026, 10, 3, 8, 0, 0, 0, time.UTC)
	r.look(now)
	a, err := r.Renew(r.as(mira))
	if err != nil {
		t.Fatal(err)
	}
	return r, a, now
}

func TestTheFileIsReadByParsers(t *testing.T) {
	t.Parallel()
	r, a, now := filled(t)
	file, err := r.File(t.Context(), a.Secret, now)
	if err != nil {
		t.Fatal(err)
	}
	held(t, file.Text)
	one, other := byICal(t, file.Text), byGocal(t, file.Text)
	if len(one) != 4 || len(other) != 4 {
		t.Fatalf("they read %d and %d events:\n%s", len(one), len(other), file.Text)
	}
	long := strings.Repeat("とても長い題名, と; 区切り\\ ", 12)
	at := time.Date(2026, 10, 2, 16, 30, 0, 0, time.UTC)
	day := time.Date(2026, 10, 3, 0, 0, 0, 0, time.UTC)
	for name, want := range map[string]event{
		"episode-108@watchmark": {Summary: "✓ 节目1 E8", About: "集名\n番組1", URL: "https://catalog.example/subject/1", Start: at, End: at.Add(30 * time.Minute)},
		"episode-109@watchmark": {Summary: "节目1 E9", About: "集名\n番組1", URL: "https://catalog.example/subject/1", Start: at.AddDate(0, 0, 7), End: at.AddDate(0, 0, 7).Add(30 * time.Minute)},
		"episode-201@watchmark": {Summary: long + " E1", About: "第一行\nBEGIN:VALARM\nATTACH:x\nEND:VEVENT\n\nend\n番組2", URL: "https://catalog.example/subject/2", Start: day, End: day.AddDate(0, 0, 1), AllDay: true},
	} {
		want.UID = name
		for parser, events := range map[string][]event{"go-ical": one, "gocal": other} {
			i := slices.IndexFunc(events, func(e event) bool { return e.UID == name })
			if i < 0 {
				t.Errorf("%s does not read %s", parser, name)
				continue
			}
			got := events[i]
			if got != want {
				t.Errorf("%s reads\n%+v, want\n%+v", parser, got, want)
			}
		}
	}
	for _, line := range []string{"VERSION:2.0\r\n", "PRODID:", "REFRESH-INTERVAL;VALUE=DURATION:PT2H\r\n", "X-PUBLISHED-TTL:PT2H\r\n", "X-WR-CALNAME:Watchmark: what airs\r\n", "DTSTART:20261002T163000Z\r\n", "DTSTART;VALUE=DATE:20261003\r\n", "DTSTAMP:"} {
		if !strings.Contains(string(file.Text), line) {
			t.Errorf("it lacks %q", line)
		}
	}
	for _, line := range strings.FieldsFunc(string(file.Text), func(r rune) bool { return strings.ContainsRune("\r\n\v\f\x85\u2028\u2029", r) }) { // as programs cut lines that go by Unicode
		if strings.HasPrefix(line, "ATTACH") || strings.HasPrefix(line, "BEGIN:VALARM") || strings.HasPrefix(line, "end") {
			t.Error("a name became a line of its own")
		}
	}
	if strings.Contains(string(file.Text), "METHOD") { // with one, it is a message that needs an organizer (RFC 5546 section 3.2.1)
		t.Error("it has a method")
	}
	r.lang = bilingual.Chinese
	if file, err = r.File(t.Context(), a.Secret, now); err != nil || !strings.Contains(string(file.Text), "SUMMARY:✓ 节目1 第 8 集\r\n") {
		t.Errorf("in Chinese it is\n%s, %v", file.Text, err)
	}
}

func TestTheSameFileHasTheSameTag(t *testing.T) {
	t.Parallel()
	r, a, now := filled(t)
	tag := func(at time.Time) string {
		t.Helper()
		file, err := r.File(t.Context(), a.Secret, at)
		if err != nil || !strings.HasPrefix(file.Tag, `"`) || !strings.HasSuffix(file.Tag, `"`) {
			t.Fatal(file.Tag, err)
		}
		return file.Tag
	}
	first := tag(now)
	if got := tag(now.Add(3 * time.Hour)); got != first {
		t.Error("hours later the tag is another one, and nothing has changed")
	}
	r.guide[0].Episode.NameCN = "新名"
	if tag(now) == first {
		t.Error("another text has the same tag")
	}
}

func TestTheFileIsBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.account(mira, "mira")
	r.follows("mira", catalog.Doing, 1)
	const most = 2000
	for i := range most + 500 {
		r.airs(1, float64(i), fmt.Sprintf("2026-10-%02d", 1+i/100))
	}
	now := time.Date(2026, 10, 3, 8, 0, 0, 0, time.UTC)
	r.look(now)
	a, err := r.Renew(r.as(mira))
	if err != nil {
		t.Fatal(err)
	}
	file, err := r.File(t.Context(), a.Secret, now)
	if err != nil {
		t.Fatal(err)
	}
	held(t, file.Text)
	if n := len(byICal(t, file.Text)); n != most || !strings.Contains(string(file.Text), "DTSTART;VALUE=DATE:20261001\r\n") {
		t.Errorf("it has %d events", n)
	}
}

func TestAnEmptyCalendarIsOne(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a, err := r.Renew(r.as(mira))
	if err != nil {
		t.Fatal(err)
	}
	for _, r.missing = range []calendar.Missing{"", calendar.ArchiveOff} {
		file, err := r.File(t.Context(), a.Secret, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		held(t, file.Text)
		if one, other := byICal(t, file.Text), byGocal(t, file.Text); len(one)+len(other) != 0 {
			t.Errorf("it has the events %v, %v", one, other)
		}
	}
	r.missing = calendar.ArchiveMissing // for a while: programs keep what they have
	if file, err := r.File(t.Context(), a.Secret, time.Now()); !errors.Is(err, calendar.ErrNoArchive) || len(file.Text) != 0 {
		t.Errorf("before the archive is there it is %q, %v", file.Text, err)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	r, _ := household(t)
	now := time.Date(2026, 10, 3, 0, 0, 0, 0, time.UTC)
	people := map[int64]string{0: "bench", mira: "mira", alex: "alex"}
	secrets := map[int64]string{}
	for person := range people {
		if _, err := r.Address(r.as(person)); !errors.Is(err, calendar.ErrNoAddress) {
			t.Errorf("before it is made: %v", err)
		}
		if err := r.Revoke(r.as(person)); !errors.Is(err, calendar.ErrNoAddress) {
			t.Errorf("before it is made, it is ended: %v", err)
		}
		made, err := r.Renew(r.as(person))
		if err != nil || len(made.Secret) != 26 {
			t.Fatal(made, err)
		}
		secrets[person] = made.Secret
		if calendar.SecretIn(strings.TrimPrefix(calendar.PathOf(made.Secret), "/calendar/")) != made.Secret {
			t.Errorf("the path is %s", calendar.PathOf(made.Secret))
		}
	}
	for person, name := range people {
		shown, err := r.Address(r.as(person))
		if err != nil || shown.Secret != secrets[person] || !shown.UsedAt.IsZero() {
			t.Errorf("%s is shown %+v, %v", name, shown, err)
		}
		// Whoever asks for the file has no scope, or that of somebody else: the address says whose it is.
		for _, ctx := range []context.Context{t.Context(), scope.In(t.Context(), scope.Scope{}), r.as(0), r.as(mira)} {
			file, err := r.File(ctx, secrets[person], now)
			if err != nil {
				t.Fatal(err)
			}
			own := map[string]string{"bench": "节目1 E1", "mira": "节目2 E1", "alex": "节目3 E1"}
			for other, title := range own {
				if got := strings.Contains(string(file.Text), title); got != (other == name) {
					t.Errorf("the file of %s has the show of %s: %v", name, other, got)
				}
			}
		}
		if shown, err = r.Address(r.as(person)); err != nil || shown.UsedAt.IsZero() {
			t.Errorf("after a use, %s is shown %+v, %v", name, shown, err)
		}
	}
	if made, err := r.Renew(scope.In(t.Context(), scope.Scope{})); !errors.Is(err, calendar.ErrNoAddress) || made.Secret != "" {
		t.Errorf("nobody makes the address %+v, %v", made, err)
	}
	gone := func(secret, why string) {
		t.Helper()
		if file, err := r.File(t.Context(), secret, now); !errors.Is(err, calendar.ErrNoAddress) || file.Text != nil {
			t.Errorf("%s: %s, %v", why, file.Text, err)
		}
	}
	gone("", "nothing")
	gone("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "a guess")
	gone(strings.ToLower(secrets[mira]), "in other letters")
	renewed, err := r.Renew(r.as(mira))
	if err != nil || renewed.Secret == secrets[mira] {
		t.Error(renewed, err)
	}
	gone(secrets[mira], "the address before")
	if _, err := r.File(t.Context(), renewed.Secret, now); err != nil {
		t.Error("the new address:", err)
	}
	if err := r.Revoke(r.as(mira)); err != nil {
		t.Error(err)
	}
	gone(renewed.Secret, "a revoked address")
	if _, err := r.File(t.Context(), secrets[alex], now); err != nil {
		t.Error("the address of somebody else:", err)
	}
	r.exec(`UPDATE people SET role = 'guest' WHERE id = ?`, alex)
	gone(secrets[alex], "the address of a guest")
	r.exec(`UPDATE people SET role = 'person' WHERE id = ?`, alex)
	r.exec(`DELETE FROM people WHERE id = ?`, alex)
	gone(secrets[alex], "the address of somebody who was removed")
	if _, err := r.File(t.Context(), secrets[0], now); err != nil {
		t.Error("the owner's address:", err)
	}
}

func TestAnAddressOfAnotherKeyWorksAndIsNotShown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	made, err := r.Renew(r.as(mira))
	if err != nil {
		t.Fatal(err)
	}
	other := r.Config
	if other.Box, err = secret.OpenBox(t.TempDir(), "", false); err != nil {
		t.Fatal(err)
	}
	service := calendar.New(other)
	if shown, err := service.Address(r.as(mira)); !errors.Is(err, calendar.ErrUnopened) || shown.Secret != "" || shown.CreatedAt.UnixMilli() != made.CreatedAt.UnixMilli() {
		t.Errorf("it is shown as %+v, %v", shown, err)
	}
	if _, err := service.File(t.Context(), made.Secret, time.Now()); err != nil {
		t.Error("the file:", err)
	}
	renewed, err := service.Renew(r.as(mira))
	if err != nil {
		t.Fatal(err)
	}
	if shown, err := service.Address(r.as(mira)); err != nil || shown.Secret != renewed.Secret {
		t.Errorf("a new one is shown as %+v, %v", shown, err)
	}
}

func TestNamesThatAreNoAddress(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", ".ics", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "ABCDEFGHIJKLMNOPQRSTUVWXY.ics", "ABCDEFGHIJKLMNOPQRSTUVWXYZ2.ics", "ABCDEFGHIJKLMNOPQRSTUVWXYZ.ICS"} {
		if got := calendar.SecretIn(name); got != "" {
			t.Errorf("%q has the secret %q", name, got)
		}
	}
}

func FuzzLine(f *testing.F) {
	for _, text := range []string{"", "a", "a,b;c\\d\ne", strings.Repeat("é", 80), strings.Repeat("灯塔", 60), "\xff\xfe", "a\u0085b\u2028c\u2029d", "\r\n\r", " x", strings.Repeat("a", 66) + "🗼🗼"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		line := calendar.Folded("SUMMARY:" + calendar.Escaped(text))
		whole := "BEGIN:VCALENDAR\r\n" + line + "END:VCALENDAR\r\n"
		held(t, []byte(whole))
		parsed, err := ical.NewDecoder(strings.NewReader(whole)).Decode()
		if err != nil {
			t.Fatalf("%q cannot be read: %v", line, err)
		}
		want := strings.Map(func(r rune) rune {
			if strings.ContainsRune("\u0085\u2028\u2029", r) {
				return '\n'
			}
			if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
				return -1
			}
			return r
		}, strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), ""))
		if got, err := parsed.Props.Text("SUMMARY"); err != nil || got != want {
			t.Errorf("%q is read as %q, %v", text, got, err)
		}
	})
}
