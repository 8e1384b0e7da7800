package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"watchmark/internal/catalog/account"
)

// scrobble sends what a player sends to Trakt, with an API key.
func (s *service) scrobble(key, action, body string) answer {
	s.t.Helper()
	request := s.request(http.MethodPost, "/scrobble/"+action, "application/json", body)
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("trakt-api-version", "2")
	request.Header.Set("trakt-api-key", "client")
	return s.do(request)
}

// scrobbleView is what clients of Trakt look at.
type scrobbleView struct {
	ID     int64
	Action string
	Movie  *struct {
		Title string
		IDs   map[string]any
	}
	Show, Episode *struct {
		Season *int
		Number *float64
		Title  *string
		IDs    map[string]any
	}
}

// stopped is the body of an episode that was stopped.
func stopped(title string, season, episode int, progress float64) string {
	return fmt.Sprintf(`{"show":{"title":%q,"year":2024,"ids":{"trakt":1,"tvdb":410001}},"episode":{"season":%d,"number":%d},"progress":%v,"app_version":"1.0"}`,
		title, season, episode, progress)
}

// keyOf makes an API key of somebody who is signed in.
func (m member) keyOf() string {
	m.s.t.Helper()
	var made struct {
		Key string `json:"key"`
	}
	got := m.want(http.MethodPost, "/api/api-keys", `{"name":"player"}`, http.StatusCreated)
	if err := json.Unmarshal([]byte(got.body), &made); err != nil || made.Key == "" {
		m.s.t.Fatalf("no key in %s", got.body)
	}
	return made.Key
}

// A player tells what is played: an episode to its end is marked on the list of the person whose API key it has, and nothing else is.
func TestAPlayerScrobbles(t *testing.T) {
	t.Parallel()
	s := startEmpty(t)
	if err := s.app.SetUp(t.Context(), "bench", password); err != nil {
		t.Fatal(err)
	}
	mira, alex := s.joins("mira", miraToken), s.joins("alex", alexToken)
	key := mira.keyOf()
	for action, body := range map[string]string{
		"start": stopped(houseShow, 2, 1, 1), "pause": stopped(houseShow, 2, 1, 95), "stop": stopped(houseShow, 2, 1, 79.9),
	} {
		got := s.scrobble(key, action, body)
		var told scrobbleView
		if err := json.Unmarshal([]byte(got.body), &told); err != nil || got.status != http.StatusCreated || told.ID != 0 || told.Action == "scrobble" {
			t.Errorf("%s is answered %d: %s", action, got.status, got.body)
		}
	}
	if n := s.recordCount(); n != 0 {
		t.Fatalf("there are %d records", n)
	}
	got := s.scrobble(key, "stop", stopped(houseShow, 2, 1, 97.5))
	var told scrobbleView
	if err := json.Unmarshal([]byte(got.body), &told); err != nil || got.status != http.StatusCreated || told.Action != "scrobble" || told.ID == 0 ||
		told.Show == nil || told.Episode == nil || *told.Episode.Number != 1 || told.Show.IDs["tvdb"] != 410001.0 || !strings.Contains(got.body, `"trakt":null`) {
		t.Fatalf("the stop is answered %d: %s", got.status, got.body)
	}
	r := s.settled(told.ID)
	if r.Status != "success" || r.AccountName != "mira" || r.UserName != "mira" {
		t.Errorf("the record is %+v", r)
	}
	// The same stop again, and many at once, are one record.
	again := s.scrobble(key, "stop", stopped(houseShow, 2, 1, 97.5))
	var before struct {
		WatchedAt, ExpiresAt time.Time
	}
	if err := json.Unmarshal([]byte(strings.NewReplacer("watched_at", "WatchedAt", "expires_at", "ExpiresAt").Replace(again.body)), &before); err != nil ||
		again.status != http.StatusConflict || !before.ExpiresAt.After(before.WatchedAt) {
		t.Errorf("the second stop is answered %d: %s", again.status, again.body)
	}
	statuses := make([]int, 8)
	var all sync.WaitGroup
	for i := range statuses {
		all.Go(func() { statuses[i] = s.scrobble(key, "stop", stopped(houseShow, 2, 2, 99)).status })
	}
	all.Wait()
	created := 0
	for _, status := range statuses {
		if status == http.StatusCreated {
			created++
		}
	}
	if created != 1 || s.recordCount() != 2 {
		t.Errorf("of many stops at once %d are records: %v, of %d", created, statuses, s.recordCount())
	}
	// The same episode on another evening is another play; one that comes late says when it was, and comes twice.
	late := strings.Replace(stopped(houseShow, 2, 1, 97.5), `"progress"`, fmt.Sprintf(`"watched_at":%q,"progress"`, time.Now().Add(-30*time.Hour).UTC().Format(time.RFC3339)), 1)
	for _, want := range []int{http.StatusCreated, http.StatusConflict} {
		if got := s.scrobble(key, "stop", late); got.status != want {
			t.Errorf("what comes late is answered %d, not %d: %s", got.status, want, got.body)
		}
	}
	// A film, with what other clients send, and the same episode of somebody else.
	film := s.scrobble(key, "stop", `{"movie":{"title":"潮汐之间","year":2023,"ids":{"trakt":28,"slug":"x","imdb":"tt0000001","tmdb":118340}},"progress":99.9}`)
	if err := json.Unmarshal([]byte(film.body), &told); err != nil || film.status != http.StatusCreated || told.Movie == nil || told.Movie.Title != "潮汐之间" {
		t.Errorf("the film is answered %d: %s", film.status, film.body)
	}
	if got := s.scrobble(alex.keyOf(), "stop", stopped(houseShow, 2, 1, 97.5)); got.status != http.StatusCreated {
		t.Errorf("the same of alex is answered %d: %s", got.status, got.body)
	}
	s.wait("all is through", func() bool {
		for _, r := range list[recordView](s, "/api/records?limit=100") {
			if r.Status == "received" || r.Status == "processing" {
				return false
			}
		}
		return true
	})
	marked := s.marked()
	for _, want := range []string{"mira/90000201", "mira/90000202", "alex/90000201"} {
		if !marked[want] {
			t.Errorf("%s is not marked: %v", want, marked)
		}
	}
	if marked["alex/90000202"] {
		t.Error("alex has what mira watched")
	}
	for _, m := range []member{mira, alex} {
		if got := m.want(http.MethodGet, "/api/records", "", http.StatusOK); strings.Contains(got.body, `"user_name":"mira"`) == (m == alex) {
			t.Errorf("a person reads %s", got.body)
		}
	}
	if strings.Contains(s.logs.String(), key) {
		t.Error("the log has the key")
	}
	s.explained(r.ID)
}

// What is no good request is refused with a reason, and kept nowhere but in the webhook log.
func TestAPlayerIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	good := stopped(houseShow, 2, 1, 99)
	for name, c := range map[string]struct {
		key, action, body string
		status            int
	}{
		"no key":            {"", "stop", good, http.StatusUnauthorized},
		"a wrong key":       {"wm_" + strings.Repeat("0", 64), "stop", good, http.StatusUnauthorized},
		"the webhook key":   {s.hook, "stop", good, http.StatusUnauthorized},
		"another action":    {s.key, "finish", good, http.StatusNotFound},
		"broken":            {s.key, "stop", `{"show":`, http.StatusBadRequest},
		"nothing":           {s.key, "stop", ``, http.StatusBadRequest},
		"no progress":       {s.key, "stop", `{"movie":{"title":"x"}}`, http.StatusBadRequest},
		"no item":           {s.key, "stop", `{"progress":99}`, http.StatusBadRequest},
		"ids alone":         {s.key, "stop", `{"episode":{"ids":{"trakt":16}},"progress":99}`, http.StatusBadRequest},
		"no such season":    {s.key, "stop", strings.Replace(good, `"season":2`, `"season":2.5`, 1), http.StatusBadRequest},
		"no season":         {s.key, "stop", strings.Replace(good, `"season":2,`, ``, 1), http.StatusBadRequest},
		"at the beginning":  {s.key, "stop", stopped(houseShow, 2, 1, 0.5), http.StatusUnprocessableEntity},
		"too large":         {s.key, "stop", `{"movie":{"title":"` + strings.Repeat("x", 70<<10) + `"},"progress":99}`, http.StatusRequestEntityTooLarge},
		"far too much JSON": {s.key, "stop", strings.Repeat(`{"show":`, 9000), http.StatusRequestEntityTooLarge},
	} {
		if got := s.scrobble(c.key, c.action, c.body); got.status != c.status {
			t.Errorf("%s is answered %d, not %d: %s", name, got.status, c.status, got.body)
		} else if got.status == http.StatusRequestEntityTooLarge && !strings.Contains(got.body, "64 KiB") {
			t.Errorf("%s is told %s", name, got.body)
		}
	}
	if got := s.do(s.request(http.MethodGet, "/scrobble/stop", "", "")); got.status != http.StatusMethodNotAllowed {
		t.Errorf("a GET is answered %d", got.status)
	}
	if n := s.recordCount(); n != 0 {
		t.Errorf("there are %d records", n)
	}
}

// The owner of a household without people has several accounts: the preferred one is meant, or nobody.
func TestTheKeyOfAnOwnerWithSeveralAccounts(t *testing.T) {
	t.Parallel()
	s := start(t, "WATCHMARK_AUTH_ENABLED=false") // without sign-in, a player still shows a key
	scrobbled := func(episode int) recordView {
		t.Helper()
		var told scrobbleView
		got := s.scrobble(s.key, "stop", stopped(houseShow, 2, episode, 99))
		if err := json.Unmarshal([]byte(got.body), &told); err != nil || told.ID == 0 {
			t.Fatalf("answered %d: %s", got.status, got.body)
		}
		return s.settled(told.ID)
	}
	if r := scrobbled(1); r.Status != "success" || r.AccountName != "mira" {
		t.Errorf("the record is %+v", r)
	}
	if got := s.do(s.request(http.MethodPost, "/scrobble/stop", "application/json", stopped(houseShow, 2, 2, 99))); got.status != http.StatusUnauthorized {
		t.Errorf("without a key it is answered %d", got.status)
	}
	accounts, err := s.app.Accounts.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	off := false
	_, err = s.app.Accounts.Create(t.Context(), account.Draft{Username: "bench", Method: account.ByToken, Enabled: true, Tokens: account.Tokens{Access: "bench-token"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range accounts {
		if a.Preferred {
			if _, err := s.app.Accounts.Update(t.Context(), a.ID, account.Change{Enabled: &off}); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := scrobbled(3)
	if r.Status != "error" || r.ErrorKind != "no_account" || r.AccountName != "" {
		t.Errorf("the record is %+v", r)
	}
	if marked := s.marked(); len(marked) != 1 || !marked["mira/90000201"] {
		t.Errorf("marked are %v", marked)
	}
}

// The payloads that the parser is held to (internal/source/testdata/scrobble) go all the way: what its golden file calls an event is one
// record, and what it does not is none. Only what they name is marked.
func TestPayloadsOfPlayersComeToAMark(t *testing.T) {
	t.Parallel()
	s := startEmpty(t)
	if err := s.app.SetUp(t.Context(), "bench", password); err != nil {
		t.Fatal(err)
	}
	key := s.joins("mira", miraToken).keyOf()
	files, err := filepath.Glob("../source/testdata/scrobble/*.json")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d payloads: %v", len(files), err)
	}
	records := map[string]int64{}
	for n, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		var golden struct {
			Events     []json.RawMessage
			BadRequest *json.RawMessage
		}
		var body map[string]any
		for path, into := range map[string]any{file: &body, file + ".golden": &golden} {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(text, into); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
		}
		// Each is a play of its own: an evening apart, most recent last.
		body["watched_at"] = time.Now().Add(time.Duration(n-len(files)) * 24 * time.Hour).UTC().Format(time.RFC3339)
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		got := s.scrobble(key, "stop", string(text))
		var told scrobbleView
		if err := json.Unmarshal([]byte(got.body), &told); err != nil {
			t.Fatalf("%s: %s", name, got.body)
		}
		switch {
		case golden.BadRequest != nil && got.status == http.StatusBadRequest:
		case golden.BadRequest == nil && got.status == http.StatusCreated && (told.ID != 0) == (len(golden.Events) > 0):
			if told.ID != 0 {
				records[name] = told.ID
			}
		default:
			t.Errorf("%s is answered %d: %s", name, got.status, got.body)
		}
	}
	for name, id := range records {
		r := s.settled(id)
		want := "success"
		switch name {
		case "special", "number_abs": // a number alone is not sure
			want = "review"
		case "film", "ids_of_the_catalog", "season_wrong_number_abs": // titles, ids and episodes that the catalog of the test does not have
			want = "error"
		}
		if r.Status != want || r.AccountName != "mira" {
			t.Errorf("%s is %+v", name, r)
		}
	}
	if n := s.recordCount(); n != len(records) {
		t.Errorf("there are %d records, not %d", n, len(records))
	}
	if marked := s.marked(); len(marked) != 1 || !marked["mira/90000207"] {
		t.Errorf("marked are %v", marked)
	}
}

// A key is its person's: a body cannot name another one, and the key is worth nothing once the person is a guest or gone.
func TestTheKeyOfAPlayerIsOfOnePerson(t *testing.T) {
	t.Parallel()
	s := startEmpty(t)
	if err := s.app.SetUp(t.Context(), "bench", password); err != nil {
		t.Fatal(err)
	}
	mira, alex := s.joins("mira", miraToken), s.joins("alex", alexToken)
	key, other := mira.keyOf(), alex.keyOf()
	named := strings.Replace(stopped(houseShow, 2, 1, 99), `{"show"`, `{"user_name":"alex","person_id":0,"account":"alex","user":{"username":"alex"},"show"`, 1)
	got := s.scrobble(key, "stop", named)
	var told scrobbleView
	if err := json.Unmarshal([]byte(got.body), &told); err != nil || got.status != http.StatusCreated {
		t.Fatalf("answered %d: %s", got.status, got.body)
	}
	if r := s.settled(told.ID); r.Status != "success" || r.AccountName != "mira" || r.UserName != "mira" {
		t.Errorf("the record is %+v", r)
	}
	refused := func(key, what string) {
		t.Helper()
		for _, action := range []string{"start", "pause", "stop"} {
			if got := s.scrobble(key, action, stopped(houseShow, 2, 3, 99)); got.status != http.StatusUnauthorized {
				t.Errorf("the key %s is answered %d to %s: %s", what, got.status, action, got.body)
			}
		}
	}
	var keys struct{ Items []struct{ ID int64 } }
	if err := json.Unmarshal([]byte(mira.want(http.MethodGet, "/api/api-keys", "", http.StatusOK).body), &keys); err != nil || len(keys.Items) != 1 {
		t.Fatalf("mira has the keys %v: %v", keys, err)
	}
	mira.want(http.MethodDelete, fmt.Sprintf("/api/api-keys/%d", keys.Items[0].ID), "", http.StatusNoContent)
	refused(key, "that was deleted")
	key = mira.keyOf()
	s.api(http.MethodPatch, fmt.Sprintf("/api/people/%d", mira.id), `{"role":"guest"}`, http.StatusOK, nil)
	refused(key, "of a guest")
	s.api(http.MethodDelete, fmt.Sprintf("/api/people/%d", alex.id), "", http.StatusNoContent, nil)
	refused(other, "of nobody")
	if marked, n := s.marked(), s.recordCount(); len(marked) != 1 || !marked["mira/90000201"] || n > 1 {
		t.Errorf("marked are %v, in %d records", marked, n)
	}
}

// What the key of somebody who was removed told is nobody else's: who is added later has another id, and their list gets nothing of it.
func TestWhatTheKeyOfSomebodyRemovedTold(t *testing.T) {
	t.Parallel()
	s := startEmpty(t)
	if err := s.app.SetUp(t.Context(), "bench", password); err != nil {
		t.Fatal(err)
	}
	mira := s.invited("mira")
	var told scrobbleView
	into(t, s.scrobble(mira.keyOf(), "stop", stopped(houseShow, 2, 1, 99)).body, &told)
	if r := s.settled(told.ID); r.Status != "error" || r.AccountName != "" {
		t.Fatalf("without an account the record is %+v", r)
	}
	s.api(http.MethodDelete, fmt.Sprintf("/api/people/%d", mira.id), "", http.StatusNoContent, nil)
	alex := s.joins("alex", alexToken)
	if alex.id <= mira.id {
		t.Errorf("alex has the id %d after %d was removed", alex.id, mira.id)
	}
	var task struct {
		ID int64 `json:"task_id"`
	}
	s.api(http.MethodPost, fmt.Sprintf("/api/records/%d/retry", told.ID), "", http.StatusAccepted, &task)
	s.taskEnds(task.ID)
	if r := s.settled(told.ID); r.Status != "error" || r.AccountName != "" {
		t.Errorf("run again, the record is %+v", r)
	}
	if marked := s.marked(); len(marked) != 0 {
		t.Errorf("marked are %v", marked)
	}
	if mine := list[recordView](s, "/api/records"); len(mine) != 1 {
		t.Errorf("the owner has %+v", mine)
	}
	if sees := alex.want(http.MethodGet, "/api/records", "", http.StatusOK); strings.Contains(sees.body, houseShow) {
		t.Errorf("alex sees %s", sees.body)
	}
}

// What a player told with the key of somebody without an account is theirs: nobody is asked who the user is, and nobody's word makes it
// somebody else's. It is marked once they have an account.
func TestWhatAPlayerToldBeforeThereIsAnAccount(t *testing.T) {
	t.Parallel()
	s := startEmpty(t)
	if err := s.app.SetUp(t.Context(), "bench", password); err != nil {
		t.Fatal(err)
	}
	alex, mira := s.joins("alex", alexToken), s.invited("mira")
	var told scrobbleView
	into(t, s.scrobble(mira.keyOf(), "stop", stopped(houseShow, 2, 1, 99)).body, &told)
	failed := func(when string) {
		t.Helper()
		if r := s.settled(told.ID); r.Status != "error" || r.AccountName != "" || r.ErrorKind != "no_account" {
			t.Fatalf("%s the record is %+v", when, r)
		}
	}
	failed("without an account")
	if unknown := s.api(http.MethodGet, "/api/unknown-users", "", http.StatusOK, nil); strings.Contains(unknown.body, "mira") {
		t.Errorf("mira is an unknown user: %s", unknown.body)
	}
	owner := member{s: s}
	owner.cookie, _ = s.enters("/api/login", `{"name":"bench","password":%q}`, password)
	for _, page := range []string{"/people", "/inbox", fmt.Sprintf("/records/%d", told.ID)} {
		if got := owner.want(http.MethodGet, page, "", http.StatusOK); strings.Contains(got.body, "/api/ignored-users") || strings.Contains(got.body, "/people/assign?") {
			t.Errorf("%s asks who mira is", page)
		}
	}
	s.api(http.MethodPost, "/api/ignored-users", `{"name":"mira"}`, http.StatusNoContent, nil)
	failed("after somebody ignored a user of that name")
	s.api(http.MethodDelete, "/api/ignored-users?name=mira", "", http.StatusNoContent, nil)
	mira.connectsAccount("mira", miraToken)
	if r := s.until(told.ID, func(r recordView) bool { return r.Status == "success" }); r.AccountName != "mira" {
		t.Errorf("with an account the record is %+v", r)
	}
	if marked := s.marked(); len(marked) != 1 || !marked["mira/90000201"] {
		t.Errorf("marked are %v", marked)
	}
	if sees := list[recordView](s, "/api/records?user=mira"); len(sees) != 1 {
		t.Errorf("the owner has %+v", sees)
	}
	if sees := alex.want(http.MethodGet, "/api/records", "", http.StatusOK); strings.Contains(sees.body, houseShow) {
		t.Errorf("alex sees %s", sees.body)
	}
}
