package catalog_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/secret"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/simulated"
	"watchmark/internal/watch"
)

// connect is a client of the catalog at address without a rate that tests would notice.
func connect(t *testing.T, address string, timeout time.Duration) *catalog.Client {
	t.Helper()
	return connectLogging(t, address, timeout, slog.New(slog.DiscardHandler))
}

func connectLogging(t *testing.T, address string, timeout time.Duration, log *slog.Logger) *catalog.Client {
	t.Helper()
	out, err := httpx.New(httpx.Config{PerMinute: 60000, Burst: 1000, Timeout: timeout}, &secret.Masker{}, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(out.Close)
	c, err := catalog.New(catalog.Config{APIURL: address, WebURL: address, UserAgent: catalog.UserAgent("1.2.3")}, out, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// answering is a client of a server that answers every request with h.
func answering(t *testing.T, h http.HandlerFunc) *catalog.Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return connect(t, s.URL, 5*time.Second)
}

func say(status int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

const (
	asJSON = "application/json; charset=UTF-8"
	asPage = "text/html; charset=UTF-8"
)

func TestErrorKinds(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		want   error
		says   string
	}{
		{"400", say(400, asJSON, `{"title":"Bad Request","description":"subject id is wrong","details":{"path":"/x"}}`), catalog.ErrRefused, "subject id is wrong"},
		{"401", say(401, asJSON, `{"title":"Unauthorized","description":"access token has been expired or doesn't exist"}`), catalog.ErrUnauthorized, "expired"},
		{"403", say(403, asJSON, `{"title":"Forbidden","description":"insufficient token scope"}`), catalog.ErrForbidden, "insufficient token scope"},
		{"404", say(404, asJSON, `{"title":"Not Found","description":"subject not found","details":["a"]}`), catalog.ErrNotFound, "subject not found"},
		{"415", say(415, asJSON, `{"title":"Unsupported"}`), catalog.ErrRefused, "Unsupported"},
		{"422", say(422, asJSON, `{}`), catalog.ErrRefused, ""},
		{"429", say(429, asJSON, `{"title":"Too Many Request"}`), catalog.ErrUnreachable, "Too Many"},
		{"500", say(500, asJSON, `{"title":"Internal Server Error","details":"broker down"}`), catalog.ErrUnreachable, "broker down"},
		{"503", say(503, "text/plain", `down`), catalog.ErrUnreachable, "503"},
		{"521 page", say(521, asPage, `<html>`), catalog.ErrUnreachable, "web page"},
		{"page with 200", say(200, asPage, `<html>Just a moment`), catalog.ErrUnreachable, "web page"},
		{"page that lies about its type", say(200, asJSON, ` <!DOCTYPE html>`), catalog.ErrUnreachable, "web page"},
		{"page with 403", say(403, asPage, `<html>challenge`), catalog.ErrUnreachable, "web page"},
		{"broken JSON", say(200, asJSON, `{"id":`), catalog.ErrUnreachable, "JSON"},
		{"something else", say(200, asJSON, `{}`), catalog.ErrUnreachable, "not the expected JSON"},
		{"a redirect that goes round", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }, catalog.ErrUnreachable, "redirects"},
		{"a cut answer", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, catalog.ErrUnreachable, "no connection"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := answering(t, c.answer).Subject(t.Context(), 8)
			var failure *catalog.Error
			if !errors.Is(err, c.want) || !errors.As(err, &failure) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "read entry 8") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestRetryAfterIsTold(t *testing.T) {
	c := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "90")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	_, err := c.Subject(t.Context(), 8)
	var failure *catalog.Error
	if !errors.As(err, &failure) || failure.RetryAfter != 90*time.Second || failure.Status != 429 {
		t.Errorf("%+v", failure)
	}
}

func TestUnreachableByNetwork(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	address := s.URL
	s.Close()
	err := ping(t.Context(), connect(t, address, time.Second))
	var below *httpx.Error
	if !errors.Is(err, catalog.ErrUnreachable) || !errors.As(err, &below) || below.Kind != httpx.Connection {
		t.Error(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ping(gone, connect(t, address, time.Second)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestLookUpsAreAnonymousAndIntroduceThemselves(t *testing.T) {
	var seen atomic.Pointer[http.Header]
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		h := r.Header.Clone()
		seen.Store(&h)
		say(200, asJSON, `{"data":[],"total":0}`)(w, r)
	})
	if _, err := c.Search(t.Context(), catalog.SearchQuery{Keyword: "x"}); err != nil {
		t.Fatal(err)
	}
	h := *seen.Load()
	if h.Get("Authorization") != "" || h.Get("Content-Type") != "application/json" ||
		!strings.HasPrefix(h.Get("User-Agent"), "watchmark/watchmark/1.2.3 (") {
		t.Error(h)
	}
}

// ping asks for anything at all, past an open breaker. That it is not there is an answer.
func ping(ctx context.Context, c *catalog.Client) error {
	_, err := c.Episodes(catalog.Probing(ctx), 1)
	if errors.Is(err, catalog.ErrNotFound) {
		return nil
	}
	return err
}

func TestAddressesAreChecked(t *testing.T) {
	c := answering(t, say(404, asJSON, `{}`))
	for _, bad := range []string{"catalog.example", "ftp://catalog.example", "https://a:b@catalog.example", "https://catalog.example/?x=1"} {
		if err := c.Apply(catalog.Config{APIURL: bad}); err == nil {
			t.Error(bad)
		}
	}
	if err := ping(t.Context(), c); err != nil {
		t.Errorf("the old address is gone: %v", err)
	}
	other := httptest.NewServer(say(503, asJSON, `{}`))
	t.Cleanup(other.Close)
	if err := c.Apply(catalog.Config{APIURL: other.URL + "/"}); err != nil {
		t.Fatal(err)
	}
	if err := ping(t.Context(), c); !errors.Is(err, catalog.ErrUnreachable) {
		t.Errorf("the new address is not used: %v", err)
	}
}

func TestAliasForms(t *testing.T) {
	c := answering(t, say(200, asJSON, `{"id":9,"type":2,"name":"原題","name_cn":"中文名","date":null,"platform":null,"eps":0,"images":null,
		"infobox":[{"key":"中文名","value":"中文名"},{"key":"别名","value":"One"},{"key":"别名","value":[{"v":"Two"},{"k":"英文名","v":"Three"},{"v":"One"},{"v":4},5,"Six"]},
		{"key":"英文名","value":"Seven "},{"key":"话数","value":"12"},{"key":"别名","value":{"odd":true}},{"key":"别名","value":null}]}`))
	got, err := c.Subject(t.Context(), 9)
	if err != nil {
		t.Fatal(err)
	}
	want := catalog.Subject{ID: 9, Type: catalog.Anime, Name: "原題", NameCN: "中文名", Aliases: []string{"One", "Two", "Three", "Six", "Seven"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSearchFallsBackToTheLegacyOne(t *testing.T) {
	legacy := `{"results":2,"list":[{"id":1,"type":2,"name":"A","name_cn":"甲","air_date":"2024-01-05","eps":[{"id":1}],"images":{"common":"http://i.example/a.jpg"}},
		{"id":2,"type":2,"name":"B","name_cn":"","air_date":"2019-01-05","images":null},{"id":3,"type":2,"name":"C","air_date":""}]}`
	for _, c := range []struct {
		name        string
		first, then http.HandlerFunc
		want        []catalog.SubjectID
		err         error
	}{
		{"switched off", say(200, "text/plain", "search is not enable"), say(200, "text/html", legacy), []catalog.SubjectID{1}, nil},
		{"switched off, and nothing found", say(200, "text/plain", "search is not enable"), say(404, asJSON, `{}`), nil, catalog.ErrUnreachable},
		{"switched off, and a page for nothing found", say(200, "text/plain", "search is not enable"), say(200, asPage, `<html>`), nil, catalog.ErrUnreachable},
		{"gone, and no legacy one", say(404, asJSON, `{}`), say(404, asJSON, `{}`), nil, catalog.ErrUnreachable},
		{"gone", say(404, asJSON, `{}`), say(200, asJSON, legacy), []catalog.SubjectID{1}, nil},
		{"refused", say(400, asJSON, `{}`), say(200, asJSON, legacy), []catalog.SubjectID{1}, nil},
		{"refused, nothing found", say(400, asJSON, `{}`), say(404, asJSON, `{}`), []catalog.SubjectID{}, nil},
		{"refused, page for nothing found", say(400, asJSON, `{}`), say(200, asPage, `<html>`), []catalog.SubjectID{}, nil},
		{"refused, legacy down", say(400, asJSON, `{}`), say(502, asPage, `<html>`), nil, catalog.ErrUnreachable},
		{"down", say(503, asJSON, `{}`), say(200, asJSON, legacy), nil, catalog.ErrUnreachable},
		{"page", say(200, asPage, `<html>`), say(200, asJSON, legacy), nil, catalog.ErrUnreachable},
		{"nothing", say(200, asJSON, `{"data":null,"total":0}`), say(200, asJSON, legacy), []catalog.SubjectID{}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var path atomic.Value
			client := answering(t, func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/v0/") {
					c.first(w, r)
					return
				}
				path.Store(r.URL.EscapedPath())
				c.then(w, r)
			})
			got, err := client.Search(t.Context(), catalog.SearchQuery{Keyword: "a/b  -c", From: watch.Date{Year: 2024}, To: watch.Date{Year: 2024, Month: 1}})
			if !errors.Is(err, c.err) {
				t.Fatal(err)
			}
			ids := []catalog.SubjectID{}
			for _, s := range got {
				ids = append(ids, s.ID)
			}
			if err == nil && !cmp.Equal(ids, c.want) {
				t.Errorf("got %v want %v", ids, c.want)
			}
			if p, ok := path.Load().(string); ok && p != "/search/subject/a%2Fb%20c" {
				t.Errorf("asked %s", p)
			}
		})
	}
}

// house is a catalog with one series that is in season two, and a long one.
func house(t *testing.T, cfg catalogtest.Config) (*catalogtest.Server, *catalog.Client) {
	t.Helper()
	s := furnished(cfg)
	return s, connect(t, simulated.Start(t, s), 5*time.Second)
}

// furnished is a catalog with mira and the subjects of the house.
func furnished(cfg catalogtest.Config) *catalogtest.Server {
	cfg.Users = append(cfg.Users, catalogtest.User{ID: 7, Username: "mira", Token: token})
	s := catalogtest.New(cfg)
	s.AddSubject(
		catalogtest.Subject{ID: 100, Type: catalog.Anime, Name: "旅路", NameCN: "旅程", Aliases: []string{"Journey"}, Date: "2023-10-01", Platform: "TV", Eps: 3},
		catalogtest.Subject{ID: 101, Type: catalog.Anime, Name: "旅路 第二期", Date: "2024-10-01", Platform: "TV", Eps: 12},
		catalogtest.Subject{ID: 102, Type: catalog.Anime, Name: "剧场版 旅路", Date: "2025-03-01", Platform: "剧场版", Eps: 1},
		catalogtest.Subject{ID: 103, Type: catalog.Anime, Name: "旧条目", MergedInto: 100},
		catalogtest.Subject{ID: 104, Type: catalog.Anime, Name: "无章节"},
		catalogtest.Subject{ID: 105, Type: catalog.Anime, Name: "長寿", Date: "1999-10-20"},
	)
	s.AddEpisodes(100, catalogtest.Episode{ID: 1001, Sort: 1, AirDate: "2023-10-01"}, catalogtest.Episode{ID: 1002, Sort: 2}, catalogtest.Episode{ID: 1003, Sort: 3},
		catalogtest.Episode{ID: 1004, Type: catalog.Special, Sort: 1})
	s.AddEpisodes(102, catalogtest.Episode{ID: 1021, Sort: 1})
	long := make([]catalogtest.Episode, 1200)
	for i := range long {
		long[i] = catalogtest.Episode{ID: catalog.EpisodeID(20000 + i), Sort: float64(i + 1)}
	}
	s.AddEpisodes(105, long...)
	s.AddRelation(100, 3, 101)
	return s
}

const token = "Mira0token0of0forty0characters0abcdefghi"

func TestLookUps(t *testing.T) {
	s, c := house(t, catalogtest.Config{})
	ctx := t.Context()
	subject, err := c.Subject(ctx, 103)
	if err != nil || subject.ID != 100 || !cmp.Equal(subject.Aliases, []string{"Journey"}) || subject.Date != (watch.Date{Year: 2023, Month: 10, Day: 1}) {
		t.Errorf("merged: %+v, %v", subject, err)
	}
	if _, err := c.Subject(ctx, 999999); !errors.Is(err, catalog.ErrNotFound) {
		t.Error(err)
	}
	hits, err := c.Search(ctx, catalog.SearchQuery{Keyword: "旅路", Types: []catalog.SubjectType{catalog.Anime}, From: watch.Date{Year: 2024}, To: watch.Date{Year: 2024}})
	if err != nil || len(hits) != 1 || hits[0].ID != 101 {
		t.Errorf("%+v, %v", hits, err)
	}
	if hits, err := c.Search(ctx, catalog.SearchQuery{Keyword: " "}); err != nil || len(hits) != 0 {
		t.Error(hits, err)
	}
	relations, err := c.Relations(ctx, 100)
	if want := []catalog.Relation{{ID: 101, Type: catalog.Anime, Name: "旅路 第二期", Label: catalog.Sequel}}; err != nil || !cmp.Equal(relations, want) {
		t.Error(relations, err)
	}
	episodes, err := c.Episodes(ctx, 105)
	if err != nil || len(episodes) != 1200 || episodes[1199].Sort != 1200 || episodes[1199].Ep != 1200 {
		t.Error(len(episodes), err)
	}
	if n := s.Requests()["GET /v0/episodes"]; n != 6 {
		t.Errorf("%d pages", n)
	}
	episodes, err = c.Episodes(ctx, 100)
	if err != nil || len(episodes) != 4 || episodes[3].Type != catalog.Special || episodes[0].AirDate.String() != "2023-10-01" {
		t.Error(episodes, err)
	}
	if episodes, err := c.Episodes(ctx, 104); err != nil || episodes == nil || len(episodes) != 0 {
		t.Error(episodes, err)
	}
	if e, err := c.Episode(ctx, 1003); err != nil || e.Subject != 100 || e.Ep != 3 {
		t.Error(e, err)
	}
	if err := ping(ctx, c); err != nil {
		t.Error(err)
	}
	me, err := c.As(token).Me(ctx)
	if err != nil || me.Username != "mira" || me.ID != 7 {
		t.Error(me, err)
	}
	if _, err := c.As("wrong").Me(ctx); !errors.Is(err, catalog.ErrUnauthorized) {
		t.Error(err)
	}
}

func TestWatched(t *testing.T) {
	s, c := house(t, catalogtest.Config{})
	for _, subject := range []catalog.SubjectID{100, 104, 105} {
		must(t, s.Collect("mira", subject, catalog.Doing, false))
	}
	must(t, s.Collect("mira", 102, catalog.Done, false))
	must(t, s.SetMark("mira", 20000, catalog.EpisodeWatched))
	must(t, s.SetMark("mira", 20001, catalog.EpisodeWish))
	must(t, s.SetMark("mira", 21199, catalog.EpisodeWatched)) // of the second page
	type ids = map[catalog.EpisodeID]time.Time
	for subject, want := range map[catalog.SubjectID]catalog.Watched{
		100: {Entry: catalog.Doing, Episodes: ids{}},
		101: {},
		102: {Entry: catalog.Done},
		104: {Entry: catalog.Doing, Episodes: ids{}},
		105: {Entry: catalog.Doing, Episodes: ids{20000: {}, 21199: {}}},
	} {
		entry := entryOf(c, subject)
		got, err := entry.Watched(t.Context())
		must(t, err)
		if (got.Entry != 0) != (time.Since(got.Changed) < time.Minute) {
			t.Errorf("subject %d was changed at %v", subject, got.Changed)
		}
		got.Changed = time.Time{}
		for id, at := range got.Episodes {
			if time.Since(at) > time.Minute {
				t.Errorf("episode %d was marked at %v", id, at)
			}
			got.Episodes[id] = time.Time{}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("subject %d: %s", subject, diff)
		}
	}
}

// A day that makes no sense is not known; the mark beside it counts all the same.
func TestDaysOfMarksAreReadLeniently(t *testing.T) {
	day := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Time{
		strconv.FormatInt(day.Unix(), 10): day,
		`"2026-01-02T11:04:05+08:00"`:     day,
		`0`:                               {}, `-5`: {}, `null`: {}, `"soon"`: {}, `{"at":1}`: {}, `1.5`: {},
		strconv.FormatInt(day.UnixMilli(), 10): {}, // a time in the year 57889
	} {
		c := answering(t, func(w http.ResponseWriter, r *http.Request) {
			body := `{"subject_id":8,"type":3,"updated_at":` + text + `}`
			if strings.HasSuffix(r.URL.Path, "/episodes") {
				body = `{"data":[{"episode":{"id":801,"subject_id":8},"type":2,"updated_at":` + text + `}],"total":1,"limit":1000,"offset":0}`
			}
			say(200, asJSON, body)(w, r)
		})
		entry := entryOf(c, 8)
		got, err := entry.Watched(t.Context())
		at, marked := got.Episodes[801]
		if err != nil || !marked || !at.Equal(want) || !got.Changed.Equal(want) {
			t.Errorf("%s: %v, %v, %v (%v)", text, got.Changed, marked, at, err)
		}
	}
}

func TestSearchSwitchedOffInTheWholeCatalog(t *testing.T) {
	_, c := house(t, catalogtest.Config{SearchOff: true})
	hits, err := c.Search(t.Context(), catalog.SearchQuery{Keyword: "旅路"})
	if err != nil || len(hits) < 3 || hits[0].Name != "旅路" {
		t.Errorf("%+v, %v", hits, err)
	}
	// The legacy search says "nothing found" as it says "not now": that is not believed, and is no outage of everything else.
	for range 5 {
		hits, err = c.Search(t.Context(), catalog.SearchQuery{Keyword: "旅路", Types: []catalog.SubjectType{catalog.Book, catalog.Music, catalog.Game, catalog.Real}})
		if !errors.Is(err, catalog.ErrUnreachable) || !catalog.Asked(err) || !c.Reachability().Reachable {
			t.Errorf("nothing of the kinds asked for: %+v, %v, %+v", hits, err, c.Reachability())
		}
	}
}

// Entries of subjects that are gone count and are not there.
func TestListsArePagedByWhereTheyBegin(t *testing.T) {
	var asked []string
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		asked = append(asked, r.URL.EscapedPath()+" "+q.Get("subject_type")+" "+q.Get("type")+" "+q.Get("limit")+" "+q.Get("offset")+" "+r.Header.Get("Authorization"))
		data := map[string]string{"0": `[{"subject_id":1,"type":3,"private":true},{"subject_id":2,"type":3,"ep_status":4}]`, "50": `[]`, "100": `[{"subject_id":3,"type":3}]`}[q.Get("offset")]
		say(200, asJSON, `{"data":`+data+`,"total":101,"limit":50,"offset":0}`)(w, r)
	})
	got, err := c.As("token").Collections(t.Context(), "mi/ra", catalog.Anime, catalog.Doing)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]catalog.Collection{{Subject: 1, Type: catalog.Doing, Private: true, Marked: -1}, {Subject: 2, Type: catalog.Doing, Marked: 4}, {Subject: 3, Type: catalog.Doing, Marked: -1}}, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	const path = "/v0/users/mi%2Fra/collections 2 3 50 "
	if diff := cmp.Diff([]string{path + "0 Bearer token", path + "50 Bearer token", path + "100 Bearer token"}, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}
