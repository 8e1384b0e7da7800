package app_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/app"
	"watchmark/internal/catalog"
	"watchmark/internal/platform/secret"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/dbtest"
)

// form is body as the one field of a multipart form.
func form(field, body string) (contentType, text string) {
	return mime.FormatMediaType("multipart/form-data", map[string]string{"boundary": "edge"}),
		"--edge\r\nContent-Disposition: form-data; name=\"" + field + "\"\r\n\r\n" + body + "\r\n--edge--\r\n"
}

func TestEverySourceMarksTheRightEpisodeOfTheRightAccount(t *testing.T) {
	s := start(t)
	plexType, plexBody := form("payload", `{"event":"media.scrobble","user":true,"owner":true,"Account":{"id":1,"title":"Mira"},
		"Server":{"title":"attic"},"Metadata":{"librarySectionType":"show","type":"episode","title":"第七夜","grandparentTitle":"灯塔守望者",
		"originalTitle":"灯台守のうた","index":7,"parentIndex":2,"year":2025,"originallyAvailableAt":"2025-02-19","guid":"plex://episode/1"}}`)
	embyType, embyBody := form("data", `{"Event":"playback.stop","User":{"Name":"mira TV"},"Item":{"Name":"二","Type":"Episode","SeriesName":"灯塔守望者",
		"ParentIndexNumber":1,"IndexNumber":2,"PremiereDate":"2024-01-17T00:00:00.0000000Z"},"PlaybackInfo":{"PlayedToCompletion":true}}`)
	cases := []struct {
		name, source, contentType, body string
		want                            []string
	}{
		{"plex: season 2, which the catalog counts on", "plex", plexType, plexBody, []string{"mira/90000207"}},
		{"tautulli: the other person", "tautulli", "application/json", `{"event":"watched","media_type":"episode","title":"灯塔守望者","season":"1","episode":"3",
			"release_date":"2024-01-24","user_name":"alex"}`, []string{"alex/90000103"}},
		{"emby: the second name of a person", "emby", embyType, embyBody, []string{"mira/90000102"}},
		{"jellyfin: a special, as plain text", "jellyfin", "text/plain", `{"NotificationType":"PlaybackStop","ItemType":"Episode","SeriesName":"灯塔守望者","Name":"島の休日",
			"SeasonNumber":0,"EpisodeNumber":1,"PremiereDate":"2024-05-01","PlayedToCompletion":"True","NotificationUsername":"Mira"}`, []string{"mira/90000151"}},
		{"custom: numbers as text", "custom", "application/json", `{"title":"灯塔守望者","season":"1","episode":"4","release_date":"2024-01-31","user_name":"Mira"}`, []string{"mira/90000104"}},
	}
	want := map[string]bool{}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, id := range s.accepted(s.webhook(c.source, c.contentType, c.body)) {
				if r := s.settled(id); r.Status != "success" {
					t.Errorf("the record is %+v", r)
				}
				s.explained(id)
			}
			for _, m := range c.want {
				want[m] = true
			}
			if diff := cmp.Diff(want, s.marked()); diff != "" {
				t.Errorf("marks (-want +got):\n%s", diff)
			}
		})
	}
	writes := len(s.list.Writes())
	if r := s.settled(s.accepted(s.webhook("plex", plexType, plexBody))[0]); r.Status != "success" || !strings.Contains(r.Message, "already watched") {
		t.Errorf("the repeated record is %+v", r)
	}
	if again := len(s.list.Writes()); again != writes {
		t.Errorf("repeating an event writes %d times", again-writes)
	}
}

func TestWhatCannotBeMarkedIsToldAndLeavesTheServiceHealthy(t *testing.T) {
	s := start(t)
	s.api(http.MethodPost, "/api/blocked-keywords", `{"keyword":"购物"}`, http.StatusCreated, nil)
	s.api(http.MethodPost, "/api/accounts", `{"username":"bench","access_token":"unused-token-5d1c9","media_user_names":["sleeper"],"enabled":false}`, http.StatusCreated, nil)
	s.list.AddSubject(catalogtest.Subject{ID: 20, Type: catalog.Music, Name: "灯台守のうた OST", Date: "2024-03-01"},
		catalogtest.Subject{ID: 21, Type: catalog.Anime, Name: "星の庭", Platform: "TV", Date: "2024-03-01", Eps: 12})
	s.list.AddEpisodes(20, catalogtest.Episode{ID: 2001, Sort: 1})
	s.list.AddEpisodes(21, catalogtest.Episode{ID: 2101, Sort: 1}, catalogtest.Episode{ID: 2102, Sort: 2})
	recorded := []struct{ name, body, status, kind string }{
		{"unknown user", `{"title":"灯塔守望者","season":1,"episode":1,"user_name":"a guest"}`, "error", "no_account"},
		{"another case of the name", `{"title":"灯塔守望者","season":1,"episode":1,"user_name":"mira"}`, "error", "no_account"},
		{"a space after the name", `{"title":"灯塔守望者","season":1,"episode":1,"user_name":"Mira "}`, "error", "no_account"},
		{"disabled account", `{"title":"灯塔守望者","season":1,"episode":1,"user_name":"sleeper"}`, "error", "no_account"},
		{"empty user name", `{"title":"灯塔守望者","season":1,"episode":1,"user_name":""}`, "error", "user_name_missing"},
		{"no user name", `{"title":"灯塔守望者","season":1,"episode":1}`, "error", "user_name_missing"},
		{"blocked keyword", `{"title":"灯塔购物频道","season":1,"episode":1,"user_name":"Mira"}`, "ignored", ""},
		{"blocked keyword, unknown user", `{"title":"灯塔购物频道","season":1,"episode":1,"user_name":"a guest"}`, "ignored", ""},
		{"blocked keyword, no user name", `{"title":"灯塔购物频道","season":1,"episode":1}`, "ignored", ""},
		{"blocked keyword, disabled account", `{"title":"灯塔购物频道","season":1,"episode":1,"user_name":"sleeper"}`, "ignored", ""},
		{"the id of an album", `{"title":"zzz qqq xxx","season":1,"episode":1,"user_name":"Mira","ids":{"bangumi":"20"}}`, "error", "not_matched"},
		{"the id of an album, and a title that is known", `{"title":"灯塔守望者","season":1,"episode":1,"user_name":"Mira","ids":{"bangumi":"20"}}`, "review", ""},
		{"the id of a show for a film", `{"media_type":"Film","title":"zzz qqq xxx","user_name":"Mira","ids":{"bangumi":"21"}}`, "review", ""},
		{"nothing like it", `{"title":"zzz qqq xxx","season":1,"episode":1,"user_name":"Mira"}`, "error", "not_matched"},
		{"an episode too many", `{"title":"灯塔守望者","season":1,"episode":99,"user_name":"Mira"}`, "error", "episode_not_found"},
	}
	for _, c := range recorded {
		t.Run(c.name, func(t *testing.T) {
			r := s.settled(s.custom(c.body))
			if r.Status != c.status || r.ErrorKind != c.kind || r.Message == "" {
				t.Errorf("the record is %+v", r)
			}
			s.explained(r.ID)
		})
	}
	refused := []struct {
		name   string
		got    answer
		status int
		says   string
	}{
		{"season missing", s.webhook("custom", "application/json", `{"title":"灯塔守望者","episode":1,"user_name":"Mira"}`), http.StatusBadRequest, "season"},
		{"title missing", s.webhook("custom", "application/json", `{"season":1,"episode":1,"user_name":"Mira"}`), http.StatusBadRequest, "title"},
		{"episode missing", s.webhook("custom", "application/json", `{"title":"x","season":1,"user_name":"Mira"}`), http.StatusBadRequest, "episode"},
		{"broken JSON", s.webhook("custom", "application/json", `{"title":`), http.StatusBadRequest, ""},
		{"oversized body", s.webhook("custom", "application/json", `{"title":"`+strings.Repeat("a", 11<<20)+`"}`), http.StatusRequestEntityTooLarge, "max_body"},
		{"no key", s.do(s.request(http.MethodPost, "/webhook/custom", "application/json", `{}`)), http.StatusUnauthorized, "key"},
		{"wrong key", s.do(s.request(http.MethodPost, "/webhook/custom/"+s.hook[1:]+"x", "application/json", `{}`)), http.StatusUnauthorized, "key"},
		{"the address of another tool", s.do(s.request(http.MethodPost, "/Plex", "application/json", `{}`)), http.StatusNotFound, "legacy_paths"},
		{"unknown source", s.webhook("nobody", "application/json", `{}`), http.StatusNotFound, ""},
	}
	for _, c := range refused {
		t.Run(c.name, func(t *testing.T) {
			if c.got.status != c.status || !strings.Contains(c.got.body, c.says) {
				t.Errorf("the answer is %d: %s", c.got.status, c.got.body)
			}
		})
	}
	if marks := s.marked(); len(marks) != 0 {
		t.Errorf("something was marked: %v", marks)
	}
	if health := s.do(s.request(http.MethodGet, "/health", "", "")); health.status != http.StatusOK {
		t.Errorf("after all this the service answers %d: %s", health.status, health.body)
	}
	if r := s.settled(s.custom(`{"title":"灯塔守望者","season":1,"episode":1,"user_name":"Mira"}`)); r.Status != "success" {
		t.Errorf("after all this a good event ends as %+v", r)
	}
	var log struct {
		Items []struct{ Status int } `json:"items"`
	}
	s.api(http.MethodGet, "/api/webhook-log?limit=50", "", http.StatusOK, &log)
	if want := len(recorded) + len(refused) + 1; len(log.Items) != want {
		t.Errorf("the webhook log has %d requests of %d", len(log.Items), want)
	}
}

// TestBurst sends 500 webhooks at once for 20 shows.
func TestBurst(t *testing.T) {
	const shows, episodes = 20, 25
	s := start(t)
	names := []string{"青い羽根", "銀の鍵", "雨の図書館", "星を編む", "砂の城下町", "眠れる汽笛", "紙の船団", "琥珀の時計", "鈴鳴りの丘", "硝子の森",
		"月と歯車", "北窓の猫", "風待ち食堂", "赤錆の塔", "海鳴り通信", "桜坂探偵社", "夜更けの楽団", "白磁の剣", "水底の庭", "火花と綿毛"}
	var bodies []string
	want := map[string]bool{}
	for i, name := range names {
		subject := catalog.SubjectID(700 + i)
		s.list.AddSubject(catalogtest.Subject{ID: subject, Type: catalog.Anime, Name: name, Date: "2021-04-05", Platform: "TV", Eps: episodes})
		for n := 1; n <= episodes; n++ {
			id := int(subject)*1000 + n
			s.list.AddEpisodes(subject, catalogtest.Episode{ID: catalog.EpisodeID(id), Sort: float64(n), AirDate: fmt.Sprintf("2021-%02d-%02d", 4+n/5, 1+n%5*6)})
			bodies = append(bodies, fmt.Sprintf(`{"title":%q,"season":1,"episode":%d,"user_name":"Mira"}`, name, n))
			want[fmt.Sprintf("mira/%d", id)] = true
		}
	}
	rand.Shuffle(len(bodies), func(i, j int) { bodies[i], bodies[j] = bodies[j], bodies[i] })
	ids := make([]int64, len(bodies))
	var sending sync.WaitGroup
	for i, body := range bodies {
		sending.Go(func() { ids[i] = s.custom(body) })
	}
	sending.Wait()
	for _, id := range ids {
		if r := s.settled(id); r.Status != "success" {
			t.Fatalf("a record of the burst is %+v", r)
		}
	}
	if diff := cmp.Diff(want, s.marked()); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
	written := map[catalog.EpisodeID]int{}
	for _, w := range s.list.Writes() {
		for _, e := range w.Episodes {
			written[e]++
		}
	}
	for e, n := range written {
		if n > 1 {
			t.Errorf("episode %d was written %d times", e, n)
		}
	}
	if n := len(s.list.Writes()); n >= len(bodies) {
		t.Errorf("%d writes for %d episodes: nothing was gathered", n, len(bodies))
	}
}

func TestWhatTheCatalogMissedIsMarkedLater(t *testing.T) {
	s := start(t)
	if err := s.list.SetFault(catalogtest.Fault{Mode: catalogtest.Refuse}); err != nil {
		t.Fatal(err)
	}
	id := s.custom(`{"title":"灯塔守望者","season":1,"episode":5,"user_name":"Mira"}`)
	if r := s.settled(id); r.Status != "queued" || !strings.Contains(r.Message, "Bangumi cannot be reached") {
		t.Fatalf("with the catalog down the record is %+v", r)
	}
	if err := s.list.SetFault(catalogtest.Fault{Mode: catalogtest.None}); err != nil {
		t.Fatal(err)
	}
	s.until(id, func(r recordView) bool { return r.Status == "success" })
	if diff := cmp.Diff(map[string]bool{"mira/90000105": true}, s.marked()); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
}

func TestSettingsApplyWhileRunning(t *testing.T) {
	s := start(t, "WATCHMARK_MATCHING_MARGIN=0.05")
	bare := func() int {
		return s.do(s.request(http.MethodPost, "/webhook/custom", "application/json", `{"title":"灯塔守望者","season":1,"episode":1,"user_name":"Mira"}`)).status
	}
	if got := bare(); got != http.StatusUnauthorized {
		t.Errorf("without a key a webhook is answered %d", got)
	}
	s.api(http.MethodPatch, "/api/settings", `{"auth":{"webhook_auth_enabled":false}}`, http.StatusOK, nil)
	if got := bare(); got != http.StatusAccepted {
		t.Errorf("with the check off a webhook is answered %d", got)
	}
	s.api(http.MethodPatch, "/api/settings", `{"auth":{"webhook_auth_enabled":true}}`, http.StatusOK, nil)
	var rotated struct{ Key string }
	s.api(http.MethodPost, "/api/webhook-key/rotate", "", http.StatusOK, &rotated)
	if got := s.webhook("custom", "application/json", `{}`); got.status != http.StatusUnauthorized {
		t.Errorf("the old key still opens: %d", got.status)
	}
	s.hook = rotated.Key
	s.custom(`{"title":"灯塔守望者","season":1,"episode":1,"user_name":"Mira"}`)
	locked := s.api(http.MethodPatch, "/api/settings", `{"matching":{"margin":0.2}}`, http.StatusUnprocessableEntity, nil)
	if !strings.Contains(locked.body, "matching.margin") {
		t.Errorf("a key of the environment is refused with %s", locked.body)
	}
}

func TestUnderABasePath(t *testing.T) {
	s := start(t, "WATCHMARK_SERVER_BASE_PATH=/wm")
	s.settled(s.custom(`{"title":"灯塔守望者","season":1,"episode":1,"user_name":"Mira"}`))
	page := s.do(s.request(http.MethodGet, "/records", "", ""))
	if page.status != http.StatusSeeOther || page.header.Get("Location") != "/wm/login?next=%2Frecords" {
		t.Errorf("/records answers %d to %q", page.status, page.header.Get("Location"))
	}
	docs := s.do(s.request(http.MethodGet, "/api/docs", "", ""))
	if strings.Contains(docs.body, `"/api/`) || strings.Contains(docs.body, `"/static/`) {
		t.Errorf("the page of the API leads out of the base path: %s", docs.body)
	}
	connect := func() string { return s.get("/sources/webhooks?source=emby").body }
	if address := s.url + "/webhook/emby/" + s.hook; !strings.Contains(connect(), address) {
		t.Errorf("the page Webhooks does not tell %s", address)
	}
	s.api(http.MethodPatch, "/api/settings", `{"server":{"public_url":"https://watch.example/wm"}}`, http.StatusOK, nil)
	if address := "https://watch.example/wm/webhook/emby/" + s.hook; !strings.Contains(connect(), address) {
		t.Errorf("the page Webhooks does not tell %s", address)
	}
	if got := s.do(s.request(http.MethodGet, "", "", "")); got.status != http.StatusPermanentRedirect || got.header.Get("Location") != "/wm/" {
		t.Errorf("without the slash the answer is %d to %q", got.status, got.header.Get("Location"))
	}
	outside, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	s.url = outside.Scheme + "://" + outside.Host
	if got := s.do(s.request(http.MethodGet, "/health", "", "")); got.status != http.StatusNotFound {
		t.Errorf("outside of the base path the answer is %d", got.status)
	}
}

// TestALostKeyIsMissedWhateverItSealed: where the webhook key is the operator's, nothing need be sealed but a channel.
func TestALostKeyIsMissedWhateverItSealed(t *testing.T) {
	s := startEmpty(t, "WATCHMARK_AUTH_WEBHOOK_KEY=a-key-of-the-operator")
	s.api(http.MethodPost, "/api/notification/webhooks", `{"name":"phone","config":{"url":"https://ntfy.example/topic"}}`, http.StatusCreated, nil)
	s.stop()
	if err := os.Remove(filepath.Join(s.dir, "secret.key")); err != nil {
		t.Fatal(err)
	}
	if _, err := app.New(t.Context(), app.Options{DataDir: s.dir, Environ: s.catalog, Logs: s.logs}); !missesKey(err) {
		t.Errorf("without its key the service starts: %v", err)
	}
}

// missesKey reports whether an error is about the key that is not there. A replica gets it from the others.
func missesKey(err error) bool {
	if dbtest.OnServer() {
		return err != nil && strings.Contains(err.Error(), "needs a key that all replicas have")
	}
	return errors.Is(err, secret.ErrNoKey)
}

func TestALostKeyIsNotReplacedInSilence(t *testing.T) {
	s := start(t)
	s.stop()
	key := filepath.Join(s.dir, "secret.key")
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	if _, err := app.New(t.Context(), app.Options{DataDir: s.dir, Environ: s.catalog, Logs: s.logs}); !missesKey(err) {
		t.Fatalf("without its key the service starts: %v", err)
	}
	if _, err := os.Stat(key); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a key now: %v", err)
	}
	if dbtest.OnServer() {
		return // it is told what to do before that
	}
	// A new key is a person's decision; what the old one sealed is then told as missing.
	if err := os.WriteFile(key, []byte(strings.Repeat("0f", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.again("WATCHMARK_AUTH_WEBHOOK_KEY=a-new-webhook-key-2026")
	if r := s.settled(s.custom(`{"title":"灯塔守望者","season":1,"episode":1,"user_name":"Mira"}`)); r.Status != "error" || r.ErrorKind != "unauthorized" {
		t.Errorf("without its token the account's record is %+v", r)
	}
	var tested struct {
		OK      bool
		Message string
	}
	s.api(http.MethodPost, "/api/accounts/1/test", "", http.StatusOK, &tested)
	if tested.OK || !strings.Contains(tested.Message, "token") {
		t.Errorf("the account's test says %+v", tested)
	}
	s.api(http.MethodPatch, "/api/accounts/1", `{"access_token":"`+miraToken+`"}`, http.StatusOK, nil)
	if r := s.settled(s.custom(`{"title":"灯塔守望者","season":1,"episode":2,"user_name":"Mira"}`)); r.Status != "success" {
		t.Errorf("with the token entered again the record is %+v", r)
	}
}
