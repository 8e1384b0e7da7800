package web_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/archive"
	"watchmark/internal/catalog/cover"
	"watchmark/internal/door/auth"
	"watchmark/internal/match/idmap"
	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/scope"
	"watchmark/internal/tell/calendar"
	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/watch"
)

// airingWeek is what airs, and when; nil Items are no archive.
type airingWeek struct {
	Items []archive.Airing
	Rules map[catalog.SubjectID]idmap.Broadcast
}

func (w *airingWeek) Airing(_ context.Context, from, to watch.Date, of func(catalog.SubjectID) bool) (found []archive.Airing, err error) {
	for _, a := range w.Items {
		since, _ := a.Episode.AirDate.DaysFrom(from)
		left, _ := to.DaysFrom(a.Episode.AirDate)
		if since >= 0 && left >= 0 && (of == nil || of(a.Subject.ID)) {
			found = append(found, a)
		}
	}
	return found, nil
}

func (*airingWeek) OnAir(context.Context, watch.Date, watch.Date) ([]catalog.Subject, error) {
	return nil, nil
}
func (*airingWeek) Made() time.Time { return time.Unix(1e9, 0) }

func (w *airingWeek) Broadcast(id catalog.SubjectID) (idmap.Broadcast, bool) {
	b, known := w.Rules[id]
	return b, known
}

// newCalendar knows what the rig's week says. Lists are as a test stores them.
func (g *rig) newCalendar() *calendar.Service {
	return calendar.New(calendar.Config{
		DB: g.db, Box: plainSeal{}, Accounts: g.accounts, Written: g.records.Written, Log: slog.New(slog.DiscardHandler), SubjectURL: g.config.SubjectURL,
		Language: func() bilingual.Language { return bilingual.English },
		Guide: func() (calendar.Guide, calendar.Missing) {
			if g.week.Items == nil {
				return nil, calendar.ArchiveMissing
			}
			return &g.week, ""
		},
		Table: func() calendar.Table { return &g.week },
	})
}

// airs adds a show with an episode each week around today, at a time in Japan; an empty clock is not known.
func (g *rig) airs(id catalog.SubjectID, name, nameCN string, number float64, ahead int, clock, episode string) {
	day := time.Now().In(time.FixedZone("JST", 9*60*60)).AddDate(0, 0, ahead)
	for week := -2; week <= 4; week++ {
		if n := number + float64(week); n > 0 {
			g.week.Items = append(g.week.Items, archive.Airing{
				Subject: catalog.Subject{ID: id, Type: catalog.Anime, Name: name, NameCN: nameCN},
				Episode: catalog.EpisodeInfo{ID: catalog.EpisodeID(int(id)*100 + int(n)), Subject: id, Sort: n, Name: "第" + fmt.Sprint(n) + "話", NameCN: episode, AirDate: watch.DateOf(day.AddDate(0, 0, 7*week))},
			})
		}
	}
	if at, err := time.Parse("15:04", clock); err == nil {
		first := time.Date(day.Year(), day.Month(), day.Day()-70, at.Hour(), at.Minute(), 0, 0, time.FixedZone("JST", 9*60*60))
		g.week.Rules[id] = idmap.Broadcast{First: first, Days: 7}
	}
}

// fillWeek has a week air of which the list of account 1, where there is one, follows some.
func (g *rig) fillWeek(t testing.TB) {
	t.Helper()
	g.week = airingWeek{Items: []archive.Airing{}, Rules: map[catalog.SubjectID]idmap.Broadcast{}}
	g.airs(400602, "葬送のフリーレン", "葬送的芙莉莲", 8, 0, "23:00", "葬送的芙莉莲")
	g.airs(395378, "ダンジョン飯", "迷宫饭", 9, 0, "22:30", "")
	g.airs(413741, "灯台守のうた", "灯塔守望者", 7, 1, "01:30", "暴风雨之夜，灯塔的灯灭了")
	g.airs(900002, "雨の図書館", "雨中图书馆", 3, 2, "", "借书证")
	g.airs(900021, "とても長い題名の物語、その題名は一行に入らないので折り返される", "标题非常长、一行放不下只好换行的故事 第二季", 12, 3, "23:45", "又一个很长很长的标题，用来看看会不会把页面撑破")
	g.airs(900022, "夜の果樹園", "", 5, 3, "21:00", "")
	g.airs(900031, "深海電車", "深海电车", 2, 5, "18:00", "启程")
	if g.covers == nil {
		g.covers = map[catalog.SubjectID]cover.Image{}
	}
	for _, id := range []catalog.SubjectID{400602, 395378, 413741, 900002} {
		g.covers[id] = cover.Image{Type: "image/jpeg", Data: catalogtest.DrawCover(id, 200), At: time.Now()}
	}
	if _, err := g.accounts.Get(t.Context(), 1); err == nil {
		g.follow(t, 1, map[catalog.SubjectID]catalog.CollectionType{400602: catalog.Doing, 395378: catalog.Doing, 413741: catalog.Doing, 900002: catalog.Wish, 900021: catalog.Doing}, 40060208)
	}
}

// follow stores the list of an account as it was read just now.
func (g *rig) follow(t testing.TB, id int64, states map[catalog.SubjectID]catalog.CollectionType, watched ...catalog.EpisodeID) {
	t.Helper()
	type entry struct {
		Subject catalog.SubjectID      `json:"subject"`
		State   catalog.CollectionType `json:"state"`
		Watched []catalog.EpisodeID    `json:"watched"`
	}
	var entries []entry
	for subject, state := range states {
		entries = append(entries, entry{subject, state, watched})
	}
	text, err := json.Marshal(entries)
	if err != nil {
		t.Fatal(err)
	}
	g.exec(t, `INSERT INTO calendar_lists (account_id, read_at, tried_at, entries) VALUES (?, ?, ?, ?)`, id, time.Now().UnixMilli(), time.Now().UnixMilli(), string(text))
}

func TestCalendarPage(t *testing.T) {
	g := newRig(t)
	mira := g.addAccount(t, account.Draft{Username: "mira", Method: account.ByToken, Tokens: token("secret-token-of-mira"), Enabled: true})
	alex := g.addAccount(t, account.Draft{Username: "alex", Method: account.ByToken, Tokens: token("secret-token-of-alex"), Enabled: true})
	g.fillWeek(t)
	g.follow(t, alex.ID, map[catalog.SubjectID]catalog.CollectionType{900031: catalog.Doing})
	client := g.client(t, true)
	for _, c := range []struct {
		name, path, lang string
		has, lacks       []string
	}{
		{"my list", "/calendar?zone=Asia/Shanghai", "en", []string{"葬送的芙莉莲", `<span class="clock">22:00</span>`, `<span class="clock">21:30</span>`, `<span class="clock">00:30</span>`, "time unknown", "Watched", "wished", "episode 8",
			`href="https://catalog.example/subject/400602"`, `src="/cover/400602"`, "深海电车", "All accounts", "time zone Asia/Shanghai", "Make an address"}, []string{"夜の果樹園"}},
		{"in Chinese", "/calendar?zone=Asia/Tokyo", "zh-CN", []string{"放送日历", "我的列表", `<span class="clock">23:00</span>`, "已看过", "想看", "第 8 集", "创建地址", "日期和时间按时区 Asia/Tokyo 显示"}, []string{"夜の果樹園"}},
		{"everything", "/calendar?zone=Asia/Tokyo&all=1", "en", []string{"夜の果樹園", "葬送的芙莉莲"}, nil},
		{"one account", fmt.Sprintf("/calendar?zone=Asia/Tokyo&account=%d", alex.ID), "en", []string{"深海电车", fmt.Sprintf(`value="%d" selected`, alex.ID)}, []string{"葬送的芙莉莲"}},
		{"one day", "/calendar?zone=Asia/Tokyo&days=1", "en", []string{"葬送的芙莉莲", `aria-current="page">Today`}, []string{"深海电车", "雨中图书馆"}},
		{"other days", "/calendar?zone=Asia/Tokyo&from=1999-01-01", "en", []string{"Nothing of your list airs", "1998-12-25", "1999-01-08"}, []string{"葬送的芙莉莲"}},
		{"what nobody can mean", "/calendar?zone=../x&days=99&from=x&after=999999999999&account=x", "en", []string{"UTC", "7 days"}, nil},
	} {
		got := g.get(t, client, c.path, c.lang)
		if got.status != http.StatusOK {
			t.Errorf("%s: %d", c.name, got.status)
		}
		for _, text := range c.has {
			if !strings.Contains(got.body, text) {
				t.Errorf("%s: the page lacks %q", c.name, text)
			}
		}
		for _, text := range c.lacks {
			if strings.Contains(got.body, text) {
				t.Errorf("%s: the page has %q", c.name, text)
			}
		}
	}
	for path, text := range map[string]string{"/calendar?days=1": ">Today</a>", "/calendar?days=1&from=2026-01-02": ">1 day</a>", "/calendar?from=2026-01-02": ">1 day</a>"} {
		if got := g.get(t, client, path, "en"); !strings.Contains(got.body, text) {
			t.Errorf("%s has no tab %q", path, text)
		}
	}
	if got := g.get(t, client, "/calendar?account=77", "en"); got.status != http.StatusNotFound {
		t.Errorf("an account that is not there: %d", got.status)
	}
	g.exec(t, `UPDATE calendar_lists SET problem = '{"code":"x","text":"the catalog refused the token"}' WHERE account_id = ?`, mira.ID)
	if got := g.get(t, client, "/calendar", "en"); !strings.Contains(got.body, "The list of mira cannot be read") || !strings.Contains(got.body, "refused the token") {
		t.Error("the page does not say that a list cannot be read")
	}
}

func TestCalendarPageWithoutAnything(t *testing.T) {
	g := newRig(t)
	client := g.client(t, true)
	says := func(text string) {
		t.Helper()
		if got := g.get(t, client, "/calendar", "en"); got.status != http.StatusOK || !strings.Contains(got.body, text) {
			t.Errorf("%d, and the page lacks %q", got.status, text)
		}
	}
	says("Go to the offline data")
	g.role = auth.RolePerson
	says("Ask the owner")
	g.role = ""
	g.fillWeek(t)
	says("No account is in use")
	g.addAccount(t, account.Draft{Username: "mira", Method: account.ByToken, Tokens: token("secret-token-of-mira"), Enabled: true})
	says("Your list is being read")
	g.follow(t, 1, nil)
	says("Nothing of your list airs")
	g.exec(t, `UPDATE accounts SET access_token = ''`)
	says("the account has no token")
}

func TestCalendarOfAPersonIsTheirOwn(t *testing.T) {
	g := newRig(t)
	g.addAccount(t, account.Draft{Username: "mira", Method: account.ByToken, Tokens: token("secret-token-of-mira"), Enabled: true})
	other := g.addAccount(t, account.Draft{Username: "secret-other", Method: account.ByToken, Tokens: token("secret-token-of-alex"), Enabled: true})
	g.asFirst(t)
	g.fillWeek(t)
	g.follow(t, other.ID, map[catalog.SubjectID]catalog.CollectionType{900022: catalog.Doing, 400602: catalog.Doing})
	client := g.client(t, true)
	for _, path := range []string{"/calendar", "/calendar?all=1", "/calendar?days=30", "/calendar?account=1"} {
		got := g.get(t, client, path, "en")
		if got.status != http.StatusOK || !strings.Contains(got.body, "葬送的芙莉莲") || strings.Contains(got.body, "secret-other") {
			t.Errorf("%s answers %d", path, got.status)
		}
		if strings.Contains(got.body, "夜の果樹園") != strings.Contains(path, "all") {
			t.Errorf("%s tells what somebody else follows", path)
		}
	}
	if got := g.get(t, client, fmt.Sprintf("/calendar?account=%d", other.ID), "en"); got.status != http.StatusNotFound || strings.Contains(got.body, "夜の果樹園") {
		t.Errorf("for the account of somebody else it answers %d", got.status)
	}
}

func TestCalendarOfManyEpisodes(t *testing.T) {
	g := newRig(t)
	g.fillWeek(t)
	for i := range 400 {
		g.airs(catalog.SubjectID(1000+i), fmt.Sprint("show", i), "", 5, 1, "", "")
	}
	client := g.client(t, true)
	seen := map[string]bool{}
	path := "/calendar?zone=Asia/Tokyo&all=1&days=7"
	for pages := 0; path != ""; pages++ {
		got := g.get(t, client, path, "en")
		n := strings.Count(got.body, `<li class="line"><div class="covered">`)
		if n == 0 || n > 150 || pages > 5 {
			t.Fatalf("page %d has %d episodes", pages, n)
		}
		for i := range 400 {
			if strings.Contains(got.body, fmt.Sprintf(">show%d<", i)) {
				if seen[fmt.Sprint(i)] {
					t.Errorf("show %d stands on two pages", i)
				}
				seen[fmt.Sprint(i)] = true
			}
		}
		path = ""
		if before, _, more := strings.Cut(got.body, `">Next page`); more {
			path = strings.ReplaceAll(before[strings.LastIndex(before, `href="`)+len(`href="`):], "&amp;", "&")
		}
		if back := strings.Contains(got.body, "Previous page"); back != (pages > 0) {
			t.Errorf("page %d leads back: %v", pages, back)
		}
	}
	if len(seen) != 400 {
		t.Errorf("%d of 400 shows stand on the pages", len(seen))
	}
}

func TestCalendarFile(t *testing.T) {
	g := newRig(t, underPath("/wm"))
	g.addAccount(t, account.Draft{Username: "mira", Method: account.ByToken, Tokens: token("secret-token-of-mira"), Enabled: true})
	g.fillWeek(t)
	made, err := g.newCalendar().Renew(scope.In(t.Context(), scope.Everything()))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, path, tag string) (*http.Response, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, g.server.URL+"/wm"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tag != "" {
			r.Header.Set("If-None-Match", tag)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		if len(response.Cookies()) != 0 {
			t.Errorf("%s %s sets cookies", method, path)
		}
		return response, string(body)
	}
	path := calendar.PathOf(made.Secret)
	response, body := ask(http.MethodGet, path, "")
	tag := response.Header.Get("ETag")
	if response.StatusCode != http.StatusOK || !strings.HasPrefix(body, "BEGIN:VCALENDAR\r\n") || !strings.Contains(body, "葬送的芙莉莲") || tag == "" ||
		response.Header.Get("Content-Type") != "text/calendar; charset=utf-8" || response.Header.Get("Cache-Control") != "private, max-age=3600" {
		t.Errorf("it answers %d, %v\n%s", response.StatusCode, response.Header, body)
	}
	if head, text := ask(http.MethodHead, path, ""); head.StatusCode != http.StatusOK || text != "" || head.Header.Get("ETag") != tag || head.ContentLength != int64(len(body)) {
		t.Errorf("HEAD answers %d, %v", head.StatusCode, head.Header)
	}
	if same, text := ask(http.MethodGet, path, tag); same.StatusCode != http.StatusNotModified || text != "" {
		t.Errorf("with its tag it answers %d", same.StatusCode)
	}
	if other, _ := ask(http.MethodGet, path, `"x"`); other.StatusCode != http.StatusOK {
		t.Errorf("with another tag it answers %d", other.StatusCode)
	}
	if post, _ := ask(http.MethodPost, path, ""); post.StatusCode == http.StatusOK {
		t.Error("it takes POST")
	}
	wanted := ""
	for _, wrong := range []string{"ABCDEFGHIJKLMNOPQRSTUVWXYZ.ics", strings.TrimSuffix(strings.TrimPrefix(path, "/calendar/"), ".ics"), "x.ics", "..ics", "%00.ics"} {
		missing, text := ask(http.MethodGet, "/calendar/"+wrong, tag)
		answer := fmt.Sprint(missing.StatusCode, missing.Header.Get("Content-Type"), missing.Header.Get("Cache-Control"), missing.Header.Get("ETag"), text)
		if missing.StatusCode != http.StatusNotFound || cmp.Or(wanted, answer) != answer {
			t.Errorf("%s answers %s, others %s", wrong, answer, wanted)
		}
		wanted = answer
	}
	items := g.week.Items
	g.week.Items = nil // the archive is not there yet: programs keep what they have
	if none, text := ask(http.MethodGet, path, tag); none.StatusCode != http.StatusServiceUnavailable || none.Header.Get("Retry-After") == "" || none.Header.Get("ETag") != "" {
		t.Errorf("without an archive it answers %d, %v\n%s", none.StatusCode, none.Header, text)
	}
	g.week.Items = items
	page := g.get(t, g.client(t, true), "/calendar", "en")
	if !strings.Contains(page.body, g.server.URL+"/wm"+path) || !strings.Contains(page.body, "works only on this machine") {
		t.Error("the page does not show the address, or not that only this machine reaches it")
	}
}

func TestBrowserCalendar(t *testing.T) {
	g := newRig(t)
	g.addAccount(t, account.Draft{Username: "mira", Method: account.ByToken, Tokens: token("secret-token-of-mira"), Enabled: true})
	g.fillWeek(t)
	service := g.newCalendar()
	owner := scope.In(t.Context(), scope.Everything())
	g.answer = func(c apiCall) (int, string) {
		switch c.Method + " " + c.Path {
		case "POST /api/calendar/address":
			if _, err := service.Renew(owner); err != nil {
				t.Error(err)
			}
			return http.StatusCreated, `{"url":"x"}`
		case "DELETE /api/calendar/address":
			if err := service.Revoke(owner); err != nil {
				t.Error(err)
			}
			return http.StatusNoContent, ""
		}
		return http.StatusOK, `{}`
	}
	tab := browsertest.Start(t)
	browsertest.Run(t, tab, g.signIn(),
		chromedp.Navigate(g.server.URL+"/calendar"),
		// The page is asked for in the zone of the browser.
		browsertest.Until(`new URL(location.href).searchParams.get("zone") === Intl.DateTimeFormat().resolvedOptions().timeZone`),
		browsertest.Until(browsertest.Listening), browsertest.Until(browsertest.Says(".airing", "葬送的芙莉莲")),
		browsertest.Click("#calendar-address .primary"), browsertest.Until(browsertest.Says("#calendar-address code", ".ics")),
		browsertest.Until(`(window.before = document.querySelector("#calendar-address code").innerText) !== ""`),
		browsertest.Click("#calendar-address form[data-api=POST] button"), browsertest.Until(browsertest.Says("dialog[open]", "get nothing any more")),
		browsertest.Click("dialog[open] [value=yes]"), browsertest.Until(`document.querySelector("#calendar-address code").innerText !== window.before`),
		browsertest.Click("#calendar-address form[data-api=DELETE] button"), browsertest.Until(browsertest.Says("dialog[open]", "End the address?")),
		browsertest.Click("dialog[open] [value=yes]"), browsertest.Until(browsertest.Says("#calendar-address", "Make an address")),
		browsertest.Until(`!document.querySelector("#calendar-address code")`))
}
