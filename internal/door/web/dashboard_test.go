package web_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/cover"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/source/device"
	"watchmark/internal/source/nas"
	"watchmark/internal/source/tracker"
	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/watch"
)

func TestSourcesThatWentSilent(t *testing.T) {
	days := func(ago ...int) (at []time.Time) {
		for _, n := range ago {
			at = append(at, time.Now().AddDate(0, 0, -n))
		}
		return at
	}
	for name, c := range map[string]struct {
		records []time.Time
		request time.Time // the newest in the log; zero is none
		silent  string    // in the words of the page; empty when it is not
	}{
		"steady, then nothing for 20 days":     {records: days(30, 27, 24, 20), silent: "No events for 20 days"},
		"steady until last week":               {records: days(30, 20, 16, 8)},
		"came on two days only":                {records: days(30, 20, 20, 20)},
		"one import of many":                   {records: days(20, 20, 20, 20, 20, 20, 20)},
		"silent for so long that it is unused": {records: days(110, 105, 100, 95)},
		"still sends what does not count":      {records: days(30, 27, 24, 20), request: time.Now().Add(-time.Hour)},
		"never":                                {},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t)
			g.insert(t, episode(watch.Plex, "mira", "other", "", 1, 1, ""), time.Now())
			for _, at := range c.records {
				g.insert(t, episode(watch.Emby, "mira", "show", "", 1, 1, ""), at)
			}
			if !c.request.IsZero() {
				g.write(t, func(ctx context.Context, tx *sql.Tx) error {
					return webhooklog.InsertTx(ctx, tx, webhooklog.Entry{At: c.request, Source: watch.Emby, Status: 200})
				})
			}
			body := g.get(t, g.client(t, true), "/", "en").body
			if silent := strings.Contains(body, `>No events lately<`); silent != (c.silent != "") || !strings.Contains(body, c.silent) {
				t.Errorf("the page says silent: %v, want %q", silent, c.silent)
			}
		})
	}
}

func TestPolledSources(t *testing.T) {
	g := newRig(t)
	in := g.client(t, true)
	g.insert(t, episode(watch.Device, "TV", "show", "", 1, 1, ""), time.Now())
	_, body, _ := strings.Cut(g.get(t, in, "/", "en").body, `id="sources-title"`)
	if strings.Contains(body, "TV box") || strings.Contains(body, "NAS") || strings.Contains(body, "Emby") {
		t.Error("sources that are switched off, or were never heard, are listed")
	}
	mustContain(t, body, "Nothing reports by itself yet.")
	g.nas.status = nas.Status{Enabled: true, LastError: reason.Text("no <such> file")}
	g.device = device.Status{Enabled: true, Devices: []device.Device{{Problem: reason.Text("switched off")}}}
	g.tracker.status = tracker.Status{Enabled: true, Users: []tracker.User{{Name: "mira", State: tracker.Dead, Problem: reason.Text("sign in again")}, {Name: "alex", State: tracker.Connected, Problem: reason.Text("try later")}}}
	body = g.get(t, in, "/", "en").body
	mustContain(t, body, "The library of the NAS cannot be read", "no &lt;such&gt; file", "The sign-in at Trakt is no longer valid", "mira: sign in again", "TV box")
	if n := strings.Count(body, ">Fails<"); n != 2 {
		t.Errorf("%d sources fail, want 2", n)
	}
	mustContain(t, g.get(t, in, "/", "zh-CN").body, "无法读取 NAS 媒体库", "Trakt 登录已失效")
}

func TestNeedsBeginWithWhatStopsMarks(t *testing.T) {
	g := newRig(t)
	g.queue(t, g.fill(t).queued)
	g.nas.status = nas.Status{Enabled: true, LastError: reason.Text("gone")}
	body := g.get(t, g.client(t, true), "/", "en").body
	body = body[strings.Index(body, `id="needs-title"`):]
	at := 0
	for _, words := range []string{"Account bench", "The library of the NAS", "records failed", "titles wait", "Bangumi does not answer", "mark waits"} {
		next := strings.Index(body[at:], words)
		if next < 0 {
			t.Fatalf("%q is not there, or too early", words)
		}
		at += next
	}
	if latest := strings.Index(body, `id="latest-title"`); latest < at {
		t.Error("what needs somebody does not come first")
	}
}

func TestYearAndTrend(t *testing.T) {
	g := newRig(t)
	in := g.client(t, true)
	add := func(ago int, status record.Status, n int) {
		for range n {
			g.addRecord(t, episode(watch.Plex, "mira", "show", "", 1, 1, ""), time.Now().AddDate(0, 0, -ago), record.Outcome{Status: status, SubjectID: 8}, account.Account{})
		}
	}
	add(0, record.Ignored, 1)
	mustContain(t, g.get(t, in, "/", "en").body, "Nothing was marked in the last 30 days.", "Nothing was marked in the last 12 months.")
	add(5, record.Success, 3)
	add(5, record.Failed, 1)
	add(40, record.Success, 1)
	add(200, record.Success, 7)
	add(360, record.Success, 2)
	add(390, record.Success, 9) // before the year
	body := g.get(t, in, "/", "en").body
	best := time.Now().AddDate(0, 0, -200).Format("Jan 2, 2006")
	mustContain(t, body, "75 %", "of 4 marked automatically", "13 marked", "13 marks on 4 days; most of them on "+best+": 7.")
	days := func(drawing string) (first time.Time, counts []string) {
		m := regexp.MustCompile(`<svg id="` + drawing + `-drawing"[^>]* data-first="([^"]*)" data-days="([^"]*)">`).FindStringSubmatch(body)
		if m == nil {
			t.Fatalf("there is no drawing %s", drawing)
		}
		first, err := time.ParseInLocation(time.DateOnly, m[1], time.Local)
		if err != nil {
			t.Fatal(err)
		}
		return first, strings.Fields(m[2])
	}
	first, counts := days("trend")
	if want := midnight(time.Now()).AddDate(0, 0, -29); !first.Equal(want) || len(counts) != 30 || counts[24] != "3,0,1" || counts[29] != "0,0,0" {
		t.Errorf("the trend begins on %s and has %v", first, counts)
	}
	first, counts = days("year")
	today := len(counts) - 1
	if first.Weekday() != time.Monday || !first.AddDate(0, 0, today).Equal(midnight(time.Now())) || today < 364 || today > 370 {
		t.Errorf("the year begins on %s and has %d days", first, len(counts))
	}
	// Quarters: the least of four is the lightest, the most the darkest.
	for level, day := range map[int]struct {
		ago  int
		want string
	}{0: {1, "0"}, 1: {40, "1"}, 2: {360, "2"}, 3: {5, "3"}, 4: {200, "7"}} {
		number := today - day.ago
		cell := fmt.Sprintf("M%d %dh8", 13*(number/7)+1, 18+13*(number%7)+1)
		if path := regexp.MustCompile(fmt.Sprintf(`class="l%d" d="[^"]*%s`, level, cell)); counts[number] != day.want || !path.MatchString(body) {
			t.Errorf("the day %d days ago has %s marks, and %s in its place", day.ago, counts[number], path)
		}
	}
	mustContain(t, g.get(t, in, "/", "zh-CN").body, "月</text>")
}

// midnight is when the day of a time began.
func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

func TestBrowserTellsDaysOfTheDrawings(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	browsertest.Complaints(t, tab)
	for range 3 {
		g.addRecord(t, episode(watch.Plex, "mira", "show", "", 1, 1, ""), time.Now().AddDate(0, 0, -9), record.Outcome{Status: record.Success, SubjectID: 8}, account.Account{})
	}
	g.addRecord(t, episode(watch.Plex, "mira", "other", "", 1, 1, ""), time.Now().AddDate(0, 0, -9), record.Outcome{Status: record.Failed, ErrorKind: record.NotMatched}, account.Account{})
	// pointed is a pointer at the day that lies part of the width and of the height into a drawing.
	pointed := func(kind, drawing string, x, y float64) browsertest.Step {
		return chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{
			const drawing = document.getElementById(%q);
			drawing.scrollIntoView({ block: "center" });
			const frame = drawing.getBoundingClientRect();
			drawing.dispatchEvent(new PointerEvent(%q, { bubbles: true, clientX: frame.left + frame.width * %f, clientY: frame.top + frame.height * %f }));
		}`, drawing, kind, x, y))
	}
	shown := func(id string) string {
		return fmt.Sprintf(`(() => { const e = document.getElementById(%q); return !e.hidden && e.getBoundingClientRect().width > 0; })()`, id)
	}
	day := time.Now().AddDate(0, 0, -9).Format("Jan 2, 2006")
	column := float64(weekdayFromMonday(time.Now()))
	weeks := 53.0
	number := 52*7 + column - 9 // of the day nine days ago
	week, row := math.Floor(number/7), math.Mod(number, 7)
	browsertest.Run(t, tab, browsertest.Sized(1280, 844), g.signIn(), chromedp.Navigate(g.server.URL+"/"), browsertest.Until(browsertest.Listening),
		pointed("pointermove", "trend-drawing", 20.3/30, .5),
		browsertest.Until(browsertest.Says("#trend-day", day+": 3 marked, 1 failed")), browsertest.Until("!"+shown("trend-sum")),
		pointed("pointermove", "year-drawing", (week+.4)/weeks, (18+13*(row+.4))/109),
		browsertest.Until(browsertest.Says("#year-day", day+": 3 marked")), browsertest.Until("!"+shown("year-sum")),
		browsertest.Until(shown("trend-sum")+` && !`+shown("trend-day")), // which the pointer left
		// Between the labels of the months there is no day, and none after today.
		pointed("pointermove", "year-drawing", .5, .01), browsertest.Until(shown("year-sum")+` && !`+shown("year-day")),
		// A phone is tapped, and what was told gives way to what is new.
		browsertest.Sized(390, 844), pointed("pointerdown", "year-drawing", (week+.4)/weeks, (18+13*(row+.4))/109),
		browsertest.Until(browsertest.Says("#year-day", day+": 3 marked")), browsertest.Until(`document.documentElement.scrollWidth <= 390`),
	)
	id := g.insert(t, episode(watch.Plex, "mira", "newest", "", 1, 1, ""), time.Now())
	g.records.Feed.Publish(id)
	browsertest.Run(t, tab, browsertest.Until(browsertest.Says(".shelf", "newest")), browsertest.Until(shown("year-sum")+` && !`+shown("year-day")))
}

// weekdayFromMonday counts from Monday, which is 0.
func weekdayFromMonday(t time.Time) int { return (int(t.Weekday()) + 6) % 7 }

func TestLatestShowsEachTitleOnce(t *testing.T) {
	g := newRig(t)
	for n := range 3 {
		g.addRecord(t, episode(watch.Plex, "mira", "show", "", 2, float64(n+1), ""), time.Now(), record.Outcome{Status: record.Success, SubjectID: 8}, account.Account{})
	}
	g.addRecord(t, episode(watch.Plex, "mira", "show", "", 1, 1, ""), time.Now(), record.Outcome{Status: record.Success, SubjectID: 7}, account.Account{})
	g.insert(t, episode(watch.Plex, "mira", "show", "", 2, 4, ""), time.Now())
	body := g.get(t, g.client(t, true), "/", "en").body
	mustContain(t, body, "S2 E4", "S1 E1", "and 3 more episodes recently", `<img src="/cover/8" alt=""`, `<img src="/cover/7"`)
	if strings.Contains(body, "S2 E3") || strings.Count(body, `src="/cover/8"`) != 1 {
		t.Error("a show stands there twice")
	}
}

// TestLatestCountsWhatSeveralPeopleWatchOnce: two plays of one episode are no two episodes.
func TestLatestCountsWhatSeveralPeopleWatchOnce(t *testing.T) {
	g := newRig(t)
	for _, who := range []string{"mira", "alex"} {
		g.addRecord(t, episode(watch.Plex, who, "show", "", 1, 99, ""), time.Now(), record.Outcome{Status: record.Success, SubjectID: 8}, account.Account{})
		g.addRecord(t, film(watch.Plex, who, "film", "", ""), time.Now(), record.Outcome{Status: record.Success, SubjectID: 9}, account.Account{})
	}
	body := g.get(t, g.client(t, true), "/", "en").body
	mustContain(t, body, "S1 E99")
	if strings.Contains(body, "lately") || strings.Contains(body, "×") {
		t.Error("what two people watched is counted twice")
	}
}

// TestASourceWorksAfterAPause: what is heard and understood works, whatever it told last.
func TestASourceWorksAfterAPause(t *testing.T) {
	for status, want := range map[int]string{http.StatusAccepted: "Works", http.StatusOK: "Works", http.StatusBadRequest: "Not understood", http.StatusUnauthorized: "Wrong key"} {
		t.Run(want, func(t *testing.T) {
			g := newRig(t)
			g.insert(t, episode(watch.Plex, "mira", "show", "", 1, 1, ""), time.Now().Add(-time.Hour))
			g.write(t, func(ctx context.Context, tx *sql.Tx) error {
				return webhooklog.InsertTx(ctx, tx, webhooklog.Entry{At: time.Now(), Source: watch.Plex, Status: status, Reason: value("webhook_not_finished", "media.pause")})
			})
			_, body, _ := strings.Cut(g.get(t, g.client(t, true), "/", "en").body, `id="sources-title"`)
			mustContain(t, body, ">"+want+"<")
			if strings.Contains(body, ">Ignored<") {
				t.Error("a source that works shows that it is ignored")
			}
		})
	}
}

func TestCoverAnswers(t *testing.T) {
	g := newRig(t, underPath("/wm"))
	in := g.client(t, true)
	g.covers = map[catalog.SubjectID]cover.Image{8: {Type: "image/jpeg", Data: catalogtest.DrawCover(8, 100), At: time.Now().Add(-time.Hour)}}
	there := g.get(t, in, "/cover/8", "en")
	if there.status != http.StatusOK || there.header.Get("Content-Type") != "image/jpeg" || there.header.Get("X-Content-Type-Options") != "nosniff" ||
		there.header.Get("Cache-Control") != "private, max-age=604800" || there.body != string(g.covers[8].Data) {
		t.Errorf("a cover answers %d %v", there.status, there.header)
	}
	none := g.get(t, in, "/cover/9", "en")
	if none.status != http.StatusOK || http.DetectContentType([]byte(none.body)) != "image/gif" || none.header.Get("Content-Type") != "image/gif" || none.header.Get("Cache-Control") != "private, max-age=3600" {
		t.Errorf("no cover answers %d %v", none.status, none.header)
	}
	for _, path := range []string{"/cover/0", "/cover/x", "/cover/-1", "/cover/99999999999", "/cover/8/9"} {
		if page := g.get(t, in, path, "en"); page.status != http.StatusNotFound {
			t.Errorf("%s answers %d", path, page.status)
		}
	}
	if page := g.get(t, g.client(t, false), "/cover/8", "en"); page.status != http.StatusUnauthorized || strings.Contains(page.body, "\xff\xd8") {
		t.Errorf("who is not signed in gets %d", page.status)
	}
	for name, err := range map[string]error{"on its way": cover.ErrLater, "the disk fails": errors.New("disk")} {
		later := newRig(t, func(g *rig) {
			g.config.Cover = func(context.Context, catalog.SubjectID) (cover.Image, error) { return cover.Image{}, err }
		})
		if page := later.get(t, later.client(t, true), "/cover/8", "en"); page.status != http.StatusOK || page.header.Get("Cache-Control") != "no-store" || page.header.Get("Content-Type") != "image/gif" {
			t.Errorf("%s: %d %v", name, page.status, page.header)
		}
	}
}

func TestBrowserShowsCoversAndPlaceholders(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t, underPath("/wm"))
	browsertest.Complaints(t, tab)
	g.covers = map[catalog.SubjectID]cover.Image{8: {Type: "image/jpeg", Data: catalogtest.DrawCover(8, 200), At: time.Now()}}
	g.addRecord(t, episode(watch.Plex, "mira", "nothing found", "", 1, 1, ""), time.Now(), record.Outcome{Status: record.Failed, ErrorKind: record.NotMatched}, account.Account{})
	g.addRecord(t, episode(watch.Plex, "mira", "without", "", 1, 1, ""), time.Now(), record.Outcome{Status: record.Success, SubjectID: 9}, account.Account{})
	g.addRecord(t, episode(watch.Plex, "mira", "with", "", 1, 1, ""), time.Now(), record.Outcome{Status: record.Success, SubjectID: 8}, account.Account{})
	const boxes = `[...document.querySelectorAll(".shelf .cover")].map((c) => [c.offsetWidth, c.offsetHeight].join("×"))`
	browsertest.Run(t, tab, browsertest.Sized(390, 844), g.signIn(), chromedp.Navigate(g.server.URL+"/wm/"), browsertest.Until(browsertest.Listening),
		browsertest.Until(`[...document.querySelectorAll(".shelf img")].every((i) => i.complete && i.naturalWidth > 0)`),
		browsertest.Until(`document.querySelector(".shelf img[src='/wm/cover/8']").naturalWidth === 200`),
		browsertest.Until(`document.querySelector(".shelf img[src='/wm/cover/9']").naturalWidth === 1`),
		browsertest.Until(`new Set(`+boxes+`).size === 1 && document.querySelectorAll(".shelf .cover").length === 3 && document.querySelectorAll(".shelf img").length === 2`),
		browsertest.Until(`document.getElementById("year").scrollLeft === 0 && document.getElementById("year").scrollWidth > 390`), // the newest weeks are in sight
		chromedp.Evaluate[chromedp.Void](`{
			window.kept = document.querySelector(".shelf img[src='/wm/cover/8']");
			window.asked = document.querySelector(".shelf img[src='/wm/cover/9']");
			document.getElementById("year").scrollLeft = -100;
		}`),
	)
	id := g.insert(t, episode(watch.Plex, "mira", "new", "", 1, 1, ""), time.Now())
	g.records.Feed.Publish(id)
	browsertest.Run(t, tab, browsertest.Until(browsertest.Says(".shelf", "new")),
		browsertest.Until(`document.querySelector(".shelf img[src='/wm/cover/8']") === window.kept && document.querySelector(".shelf img[src='/wm/cover/9']") !== window.asked`),
		browsertest.Until(`document.getElementById("year").scrollLeft === -100`),
		browsertest.Until(`document.documentElement.scrollWidth <= 390`),
	)
}
