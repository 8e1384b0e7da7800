package mediaserver_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"watchmark/internal/source/mediaserver"
)

// row is an episode of a list.
func row(id, series string, n int, data object) object {
	return object{"Id": id, "Type": "Episode", "Name": "第七夜", "SeriesName": "灯塔守望者", "SeriesId": series, "IndexNumber": n, "ParentIndexNumber": 2,
		"ProviderIds": object{"Tvdb": "900002"}, "PremiereDate": "2024-05-19T00:00:00.0000000Z", "ProductionYear": 2024, "RunTimeTicks": 14400000000, "UserData": data}
}

func at(day int) string {
	return time.Date(2026, 5, 1, 12, 0, 3, 136208100, time.UTC).AddDate(0, 0, day).Format("2006-01-02T15:04:05.0000000Z")
}

// listing serves rows by pages, as Items of the user.
func listing(rows []object) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		start, _ := strconv.Atoi(q.Get("StartIndex"))
		limit, _ := strconv.Atoi(q.Get("Limit"))
		page := object{"StartIndex": start, "TotalRecordCount": 0}
		if q.Get("EnableTotalRecordCount") == "true" {
			page["TotalRecordCount"] = len(rows)
		}
		of := rows
		if ids := q.Get("Ids"); ids != "" {
			of, limit = nil, mostRows
			for _, r := range rows {
				if slices.Contains(strings.Split(ids, ","), r["Id"].(string)) {
					of = append(of, r)
				}
			}
		}
		page["Items"] = of[min(start, len(of)):min(start+limit, len(of))]
		answer(w, page)
	}
}

const mostRows = 1 << 20

var items = "/Users/" + userID + "/Items"

var shows = []mediaserver.Library{{ID: "f0", Kind: "show"}}

// collect reads what was played, and how many were said to be left.
func collect(t *testing.T, c mediaserver.Client, since time.Time) (all []mediaserver.Item, left []int, err error) {
	t.Helper()
	err = c.Played(t.Context(), shows, since, func(items []mediaserver.Item, more int) error {
		all, left = append(all, items...), append(left, more)
		return nil
	})
	return all, left, err
}

func TestWhatWasPlayedIsReadWhole(t *testing.T) {
	var rows []object
	for i := range 1203 {
		rows = append(rows, row(fmt.Sprint("e", i), "s1", i%99, object{"Played": true, "PlayCount": 2, "LastPlayedDate": at(0), "PlaybackPositionTicks": 6000000000}))
	}
	rows = append(rows, object{"Id": "v1", "Type": "Video", "UserData": object{"Played": true}}, object{"Id": "../x", "Type": "Episode", "UserData": object{"Played": true}})
	d := newDoor(t, map[string]http.HandlerFunc{"/System/Info/Public": says(jellyfinPublic), items: listing(rows)})
	c := d.open(t, mediaserver.Jellyfin)
	all, left, err := collect(t, c, time.Time{})
	if err != nil || len(all) != 1203 || !slices.Equal(left, []int{705, 205, 0}) {
		t.Fatalf("%d items, left %v: %v", len(all), left, err)
	}
	item := all[7]
	e := item.Report.Event
	if e.ItemID != "e7" || e.SeriesID != "s1" || e.Title != "灯塔守望者" || *e.Season != 2 || *e.Episode != 7 || e.ItemIDs["tvdb"] != "900002" || item.Year != 2024 || item.Library != "f0" {
		t.Errorf("%+v", item)
	}
	want := mediaserver.State{Played: true, Count: 2, At: time.Date(2026, 5, 1, 12, 0, 3, 136208100, time.UTC), Position: 10 * time.Minute}
	if item.State != want || item.Length != 24*time.Minute || !item.Begins {
		t.Errorf("state %+v, length %s", item.State, item.Length)
	}
	if asked := d.asked(items); len(asked) != 3 || strings.Count(strings.Join(asked, " "), "EnableTotalRecordCount=true") != 1 {
		t.Errorf("asked %v", asked)
	}
	if n, err := c.Count(t.Context()); err != nil || n != 1205 {
		t.Errorf("count %d %v", n, err)
	}
}

func TestWhatIsNewIsReadUntilItIsOld(t *testing.T) {
	var rows []object
	for i := range 1000 {
		data := object{"Played": true, "PlayCount": 1, "LastPlayedDate": at(-i / 10)}
		if i >= 900 {
			data = object{"Played": true}
		}
		rows = append(rows, row(fmt.Sprint("e", i), "s1", 1, data))
	}
	d := newDoor(t, map[string]http.HandlerFunc{"/System/Info/Public": says(jellyfinPublic), items: listing(rows)})
	for _, c := range []struct { // rows without a date are behind all others
		days, pages int
	}{{1, 1}, {18, 1}, {19, 2}, {85, 5}, {3000, 5}} {
		before := len(d.asked(items))
		_, _, err := collect(t, d.open(t, mediaserver.Jellyfin), time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC).AddDate(0, 0, -c.days))
		if pages := len(d.asked(items)) - before; err != nil || pages != c.pages {
			t.Errorf("%d days: %d pages, want %d: %v", c.days, pages, c.pages, err)
		}
	}
}

func TestEmbyIsAskedForDates(t *testing.T) {
	d := newDoor(t, map[string]http.HandlerFunc{"/System/Info/Public": says(embyPublic), items: listing(nil)})
	c := d.open(t, mediaserver.Emby)
	_, _, err := collect(t, c, time.Now())
	_, _, again := collect(t, c, time.Time{})
	for _, r := range d.asked(items) {
		u, _ := url.Parse(strings.TrimPrefix(r, "GET "))
		if fields := u.Query().Get("Fields"); !strings.Contains(fields, "UserDataLastPlayedDate") || !strings.Contains(fields, "UserDataPlayCount") {
			t.Errorf("asked %s", r)
		}
	}
	if err != nil || again != nil {
		t.Error(err, again)
	}
}

func TestAFilterThatIsIgnored(t *testing.T) {
	var rows []object
	for i := range 40 {
		rows = append(rows, row(fmt.Sprint("e", i), "s1", 1, object{"Played": i < 10, "LastPlayedDate": at(-i)}))
	}
	d := newDoor(t, map[string]http.HandlerFunc{"/System/Info/Public": says(jellyfinPublic), items: listing(rows)})
	c := d.open(t, mediaserver.Jellyfin)
	all, _, err := collect(t, c, time.Time{})
	if err != nil || len(all) != 10 || !c.Quirks().NoFilter {
		t.Errorf("%d items, %+v, %v", len(all), c.Quirks(), err)
	}
	if _, err := c.Count(t.Context()); !errors.Is(err, mediaserver.ErrCannot) {
		t.Errorf("count: %v", err)
	}
}

func TestARowThatDisagreesWithItsFilterIsReadAgain(t *testing.T) {
	rows := []object{row("e1", "s1", 1, object{"Played": true}), row("e2", "s1", 2, object{"Played": false}), row("e3", "s1", 3, object{"Played": true})}
	d := newDoor(t, map[string]http.HandlerFunc{"/System/Info/Public": says(jellyfinPublic)})
	d.answers[items] = func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("Ids") != "" {
			listing([]object{row("e2", "s1", 2, object{"Played": true})})(w, r)
			return
		}
		listing(rows)(w, r)
	}
	c := d.open(t, mediaserver.Jellyfin)
	all, _, err := collect(t, c, time.Time{})
	if err != nil || len(all) != 3 || c.Quirks().NoFilter || all[2].Library != "f0" {
		t.Errorf("%+v %+v %v", all, c.Quirks(), err)
	}
}

func TestAServerThatIsSlowWithDates(t *testing.T) {
	stop := make(chan struct{})
	rows := []object{row("e1", "s1", 1, object{"Played": true})}
	d := newDoor(t, map[string]http.HandlerFunc{"/System/Info/Public": says(jellyfinPublic)})
	d.answers[items] = func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Query().Get("SortBy"), "DatePlayed") {
			select {
			case <-stop:
			case <-r.Context().Done():
			}
			return
		}
		listing(rows)(w, r)
	}
	t.Cleanup(func() { close(stop) })
	mediaserver.SetLongest(t, 100*time.Millisecond)
	c := d.open(t, mediaserver.Jellyfin)
	all, _, err := collect(t, c, time.Now())
	if err != nil || len(all) != 1 || !c.Quirks().SlowDates {
		t.Fatalf("%v %+v %v", all, c.Quirks(), err)
	}
	before := len(d.asked(items))
	if all, _, err = collect(t, c, time.Now()); err != nil || len(all) != 0 || len(d.asked(items)) != before+1 {
		t.Errorf("with nothing new: %v %v, asked %v", all, err, d.asked(items)[before:])
	}
	rows = append(rows, row("e2", "s1", 2, object{"Played": true}))
	if all, _, err = collect(t, c, time.Now()); err != nil || len(all) != 2 {
		t.Errorf("with one more: %v %v", all, err)
	}
}

func TestAnswersOfHostileServers(t *testing.T) {
	same := listing([]object{row("e1", "s1", 1, object{"Played": true})})
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		want   error
	}{
		{"no list", says(`{}`), mediaserver.ErrUnreachable},
		{"a list of other things", says(`{"Items":[1,"x",null,[],{"Id":7}],"TotalRecordCount":5}`), nil},
		{"no JSON", says(`{"Items":`), mediaserver.ErrUnreachable},
		{"a page", says(`<html>`), mediaserver.ErrUnreachable},
		{"a list that never ends", func(w http.ResponseWriter, r *http.Request) {
			q := r.URL.Query()
			q.Set("StartIndex", "0")
			r.URL.RawQuery = q.Encode()
			same(w, r)
		}, mediaserver.ErrUnreachable},
		{"too many values", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"Items":[` + strings.Repeat("{},", 500_000) + `{}]}`))
		}, mediaserver.ErrUnreachable},
		{"odd values", says(`{"Items":[{"Id":"a/../b","Type":"Episode"},{"Id":"e1","Type":"Episode","SeriesId":"../../x","RunTimeTicks":-5,"UserData":{"Played":"yes","PlayCount":-3,"LastPlayedDate":"0001-01-01T00:00:00Z"}},
			{"Id":"e2","Type":"Episode","RunTimeTicks":1e300,"UserData":[]}],"TotalRecordCount":-1}`), nil},
		{"signed out", status(http.StatusUnauthorized), mediaserver.ErrSignedOut},
		{"refused", status(http.StatusForbidden), mediaserver.ErrRefused},
		{"broken", status(http.StatusInternalServerError), mediaserver.ErrUnreachable},
		{"sent on", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.example/", http.StatusFound)
		}, mediaserver.ErrUnreachable},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDoor(t, map[string]http.HandlerFunc{"/System/Info/Public": says(jellyfinPublic)})
			once := false
			d.answers[items] = func(w http.ResponseWriter, r *http.Request) {
				if once && c.want == nil {
					listing(nil)(w, r)
					return
				}
				once = true
				c.answer(w, r)
			}
			client := d.open(t, mediaserver.Jellyfin)
			for _, all := range []func() error{
				func() error { once = false; _, _, err := collect(t, client, time.Time{}); return err },
				func() error { once = false; _, _, err := collect(t, client, time.Now()); return err },
				func() error {
					once = false
					_, err := client.Items(t.Context(), []string{"e1", "e1/../../x", ""})
					return err
				},
			} {
				if err := all(); !errors.Is(err, c.want) {
					if c.name == "a list that never ends" { // nothing is asked for by pages, or the first was old
						continue
					}
					t.Errorf("got %v, want %v", err, c.want)
				}
			}
			for _, r := range d.asked("Ids=") {
				if strings.Contains(r, "..") || strings.Contains(r, "%2F") {
					t.Errorf("asked %s", r)
				}
			}
		})
	}
}

func TestAServerThatAsksToWaitIsNotAsked(t *testing.T) {
	d := newDoor(t, map[string]http.HandlerFunc{"/System/Info/Public": says(jellyfinPublic)})
	d.answers[items] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "300")
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	c := d.open(t, mediaserver.Jellyfin)
	for range 3 {
		if _, err := c.Count(t.Context()); !errors.Is(err, mediaserver.ErrUnreachable) {
			t.Errorf("got %v", err)
		}
	}
	if n := len(d.asked(items)); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestAnotherServerGetsNoToken(t *testing.T) {
	d := newDoor(t, map[string]http.HandlerFunc{"/System/Info/Public": says(strings.Replace(jellyfinPublic, serverID, "another", 1)), items: listing(nil)})
	c := d.open(t, mediaserver.Jellyfin)
	if _, err := c.Count(t.Context()); !errors.Is(err, mediaserver.ErrOther) {
		t.Errorf("got %v", err)
	}
	if err := c.Listen(t.Context(), func() { t.Error("connected") }, nil); !errors.Is(err, mediaserver.ErrOther) {
		t.Errorf("got %v", err)
	}
	if err := c.SignOut(t.Context()); !errors.Is(err, mediaserver.ErrOther) {
		t.Errorf("got %v", err)
	}
	for i, h := range d.headers {
		if strings.Contains(h.Get("Authorization"), token) || !strings.Contains(d.requests[i], "Public") {
			t.Errorf("%s with %v", d.requests[i], h)
		}
	}
}

func TestTheClockOfTheServer(t *testing.T) {
	for _, c := range []struct {
		name  string
		ahead time.Duration
		want  time.Duration
	}{{"right", time.Minute, 0}, {"a day ahead", 24 * time.Hour, 24 * time.Hour}, {"behind", -time.Hour, -time.Hour}} {
		t.Run(c.name, func(t *testing.T) {
			d := newDoor(t, map[string]http.HandlerFunc{"/System/Info/Public": says(jellyfinPublic)})
			d.answers[items] = func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Date", time.Now().Add(c.ahead).UTC().Format(http.TimeFormat))
				listing(nil)(w, r)
			}
			client := d.open(t, mediaserver.Jellyfin)
			if _, err := client.Count(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := client.Skew(); (got-c.want).Abs() > time.Minute || c.want == 0 && got != 0 {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if client.Requests() != 2 {
				t.Errorf("%d requests", client.Requests())
			}
		})
	}
}

func TestWhatAServerCannotIsTriedAgainAfterAnUpdate(t *testing.T) {
	d := newDoor(t, map[string]http.HandlerFunc{"/System/Info/Public": says(jellyfinPublic), "/Users/Me": says(`{"Name":"mira","Id":"` + userID + `"}`)})
	for _, c := range []struct {
		learned string
		slow    bool
	}{{"10.10.6", false}, {"10.10.7", true}} {
		client, err := newDialer(t).Open(mediaserver.Server{Kind: mediaserver.Jellyfin, URL: d.URL, ID: serverID, Token: token, UserID: userID,
			Quirks: mediaserver.Quirks{SlowDates: true, Prefix: "", Version: c.learned}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Who(t.Context()); err != nil || client.Quirks().SlowDates != c.slow || client.Quirks().Version != "10.10.7" {
			t.Errorf("learned of %s: %+v %v", c.learned, client.Quirks(), err)
		}
	}
}

func TestTheTokenFollowsNoRedirect(t *testing.T) {
	other := newDoor(t, map[string]http.HandlerFunc{items: listing(nil), "/socket": says("{}"), "/Sessions/Logout": says("{}")})
	onward := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1)+r.URL.RequestURI(), http.StatusTemporaryRedirect)
	}
	d := newDoor(t, map[string]http.HandlerFunc{"/System/Info/Public": says(jellyfinPublic), items: onward, "/socket": onward, "/Users/Me": onward, "/Sessions/Logout": onward})
	c := d.open(t, mediaserver.Jellyfin)
	_, count := c.Count(t.Context())
	for _, err := range []error{count, c.Listen(t.Context(), nil, nil), c.SignOut(t.Context())} {
		if !errors.Is(err, mediaserver.ErrUnreachable) {
			t.Errorf("got %v", err)
		}
	}
	if len(other.requests) > 0 {
		t.Errorf("another host was asked %v", other.requests)
	}
}

func TestOneServerIsAskedByOneAtATime(t *testing.T) {
	var now, most atomic.Int32
	d := newDoor(t, map[string]http.HandlerFunc{"/System/Info/Public": says(jellyfinPublic)})
	d.answers[items] = func(w http.ResponseWriter, r *http.Request) {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		runtime.Gosched()
		listing(nil)(w, r)
	}
	var all sync.WaitGroup
	for range 4 {
		c := d.open(t, mediaserver.Jellyfin)
		all.Go(func() {
			for range 5 {
				if _, err := c.Count(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if most.Load() != 1 {
		t.Errorf("%d at once", most.Load())
	}
}
