package app_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/channeltest"
)

const (
	film   = `{"title":"劇場版 灯台守のうた 北の光","media_type":"movie","release_date":"2025-09-12","user_name":"Mira"}`
	ofFilm = "/api/accounts/1/entries/900003/word"
)

// watchedButLast has mira's list hold a season of twelve without its last mark.
func (s *service) watchedButLast() {
	s.t.Helper()
	if err := s.list.Collect("mira", 900001, catalog.Doing, false); err != nil {
		s.t.Fatal(err)
	}
	for n := range 11 {
		if err := s.list.SetMark("mira", catalog.EpisodeID(90000101+n), catalog.EpisodeWatched); err != nil {
			s.t.Fatal(err)
		}
	}
}

// asked are the open questions for a word, by subject.
func (s *service) asked() []string {
	s.t.Helper()
	var page struct {
		Items []struct {
			AccountID int64 `json:"account_id"`
			Facts     map[string]string
			SettledAt *time.Time `json:"settled_at"`
		}
	}
	s.api(http.MethodGet, "/api/notification/inbox?kind=word_asked&limit=200", "", http.StatusOK, &page)
	open := []string{}
	for _, one := range page.Items {
		if one.SettledAt == nil {
			open = append(open, fmt.Sprintf("%d %s", one.AccountID, one.Facts["subject_id"]))
		}
	}
	slices.Sort(open)
	return open
}

// listed is what mira's list has of a subject.
func (s *service) listed(subject catalog.SubjectID) catalogtest.Listed {
	s.t.Helper()
	all := s.list.Listed("mira")
	i := slices.IndexFunc(all, func(l catalogtest.Listed) bool { return l.SubjectID == subject })
	if i < 0 {
		s.t.Fatalf("%d is not on the list", subject)
	}
	return all[i]
}

func lastEpisode(more string) string {
	return `{"title":"灯塔守望者","season":1,"episode":12,"user_name":"Mira"` + more + `}`
}

func TestAWordAtTheEnd(t *testing.T) {
	s := start(t, "WATCHMARK_SERVER_PUBLIC_URL=https://watch.example")
	hook := channeltest.NewHook(t)
	s.api(http.MethodPost, "/api/notification/webhooks", `{"name":"hook","config":{"url":"`+hook.URL+`"}}`, http.StatusCreated, nil)
	s.watchedButLast()
	if r := s.settled(s.custom(lastEpisode(""))); r.Status != "success" {
		t.Fatal(r.Message)
	}
	if got := string(hook.Wait(t, 1)[0].Body); !strings.Contains(got, "https://watch.example/people/1/entries/900001/word") || !strings.Contains(got, "灯塔守望者") {
		t.Errorf("the message is %s", got)
	}
	if r := s.settled(s.custom(film)); r.Status != "success" {
		t.Fatal(r.Message)
	}
	if got := s.asked(); !slices.Equal(got, []string{"1 900001", "1 900003"}) {
		t.Fatalf("asked are %v", got)
	}
	writes := len(s.list.Writes())

	// The page shows what stands on the list, and needs a sign-in.
	if got := s.do(s.request(http.MethodGet, "/people/1/entries/900003/word", "", "")); got.status != http.StatusSeeOther && got.status != http.StatusFound {
		t.Errorf("without a sign-in the page answers %d", got.status)
	}
	if err := s.list.Put(catalogtest.Listed{Username: "mira", SubjectID: 900003, Type: catalog.Done, Tags: []string{"剧场版", "北方"}, Comment: "before"}); err != nil {
		t.Fatal(err)
	}
	page := s.get("/people/1/entries/900003/word")
	for _, want := range []string{"剧场版 灯塔守望者", "before", "剧场版 北方", "Not now", `src="/cover/900003"`} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	var word struct {
		Asked, Hidden bool
		Entry         catalog.Entry
	}
	s.api(http.MethodGet, ofFilm, "", http.StatusOK, &word)
	if !word.Asked || word.Entry.Comment != "before" || word.Entry.Rate != 0 {
		t.Errorf("it stands %+v", word)
	}
	if len(s.list.Writes()) != writes {
		t.Errorf("looking wrote %+v", s.list.Writes()[writes:])
	}

	// What was changed meanwhile is not written over.
	if err := s.list.Put(catalogtest.Listed{Username: "mira", SubjectID: 900003, Type: catalog.Done, Tags: []string{"剧场版", "北方"}, Comment: "elsewhere"}); err != nil {
		t.Fatal(err)
	}
	got := s.api(http.MethodPut, ofFilm, `{"rate":9,"comment":"mine","shown":{"rate":0,"comment":"before"}}`, http.StatusConflict, nil)
	if !strings.Contains(got.body, "nothing was written") || s.listed(900003).Comment != "elsewhere" || s.listed(900003).Rate != 0 {
		t.Errorf("written over: %s, %+v", got.body, s.listed(900003))
	}
	// What cannot be written says what to do, and changes nothing.
	for _, c := range []struct{ body, says string }{
		{`{"rate":11,"comment":"","shown":{"rate":0,"comment":"elsewhere"}}`, "rate"},
		{`{"rate":3,"comment":"` + strings.Repeat("字", 381) + `","shown":{"rate":0,"comment":"elsewhere"}}`, "381"},
		{`{"rate":3,"comment":"a\u200bb","shown":{"rate":0,"comment":"elsewhere"}}`, "U+200B"},
		{`{"rate":3,"comment":"x"}`, "shown"},
	} {
		if got := s.api(http.MethodPut, ofFilm, c.body, http.StatusUnprocessableEntity, nil); !strings.Contains(got.body, c.says) {
			t.Errorf("%s: %s", c.body, got.body)
		}
	}
	if len(s.list.Writes()) != writes {
		t.Errorf("a refusal wrote %+v", s.list.Writes()[writes:])
	}
	// It is written once, and nothing but what was said; nobody is told.
	lines := s.list.Timeline()
	body := `{"rate":9,"comment":" e\u0301　好 ","shown":{"rate":0,"comment":"elsewhere"}}`
	s.api(http.MethodPut, ofFilm, body, http.StatusOK, &word)
	s.api(http.MethodPut, ofFilm, body, http.StatusOK, nil)
	if now := s.listed(900003); now.Rate != 9 || now.Comment != "é 好" || now.Type != catalog.Done || len(now.Tags) != 2 || now.Private {
		t.Errorf("the list has %+v", now)
	}
	if len(s.list.Writes()) != writes+1 || s.list.Timeline() != lines {
		t.Errorf("writes %+v, timeline %d", s.list.Writes()[writes:], s.list.Timeline()-lines)
	}
	if got := s.asked(); !slices.Equal(got, []string{"1 900001"}) {
		t.Errorf("asked are %v", got)
	}

	// Rated elsewhere, the question closes when the list is read; and nothing is asked twice.
	if err := s.list.Put(catalogtest.Listed{Username: "mira", SubjectID: 900001, Type: catalog.Doing, Rate: 4}); err != nil {
		t.Fatal(err)
	}
	s.api(http.MethodPost, "/api/accounts/1/snapshots", "", http.StatusAccepted, nil)
	s.wait("snapshot", func() bool { return len(s.asked()) == 0 })
	if err := s.list.Put(catalogtest.Listed{Username: "mira", SubjectID: 900001, Type: catalog.Doing}); err != nil {
		t.Fatal(err)
	}
	if err := s.list.SetMark("mira", 90000112, catalog.Unmarked); err != nil {
		t.Fatal(err)
	}
	s.settled(s.custom(lastEpisode("")))
	if got := s.asked(); len(got) != 0 {
		t.Errorf("asked again: %v", got)
	}
}

func TestAWordIsAskedForWhatIsWatchedNow(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(*service)
		event   string
		asked   bool
	}{
		"the last episode":      {nil, lastEpisode(""), true},
		"an earlier one":        {nil, `{"title":"灯塔守望者","season":1,"episode":5,"user_name":"Mira"}`, false},
		"rated before":          {func(s *service) { s.put(catalogtest.Listed{SubjectID: 900001, Type: catalog.Doing, Rate: 7}) }, lastEpisode(""), false},
		"done before":           {func(s *service) { s.put(catalogtest.Listed{SubjectID: 900001, Type: catalog.Done}) }, lastEpisode(""), false},
		"completed with it":     {func(s *service) { s.api(http.MethodPatch, "/api/accounts/1", `{"complete_series":true}`, 200, nil) }, lastEpisode(""), true},
		"the account's dry run": {func(s *service) { s.api(http.MethodPatch, "/api/accounts/1", `{"dry_run":true}`, 200, nil) }, lastEpisode(""), false},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.watchedButLast()
			if c.arrange != nil {
				c.arrange(s)
			}
			if r := s.settled(s.custom(c.event)); r.Status != "success" && r.Status != "ignored" {
				t.Fatal(r.Message)
			}
			if got := len(s.asked()) == 1; got != c.asked {
				t.Errorf("asked: %v", s.asked())
			}
		})
	}
}

// put changes mira's list.
func (s *service) put(l catalogtest.Listed) {
	s.t.Helper()
	l.Username = "mira"
	if err := s.list.Put(l); err != nil {
		s.t.Fatal(err)
	}
}

func TestAWordIsClosed(t *testing.T) {
	s := start(t)
	s.settled(s.custom(film))
	s.api(http.MethodDelete, ofFilm, "", http.StatusNoContent, nil)
	if got := s.asked(); len(got) != 0 {
		t.Errorf("not closed: %v", got)
	}
	// A word on the filter's list hides the entry, which is told.
	if err := s.list.SetFault(catalogtest.Fault{Mode: catalogtest.Refuse}); err != nil {
		t.Fatal(err)
	}
	if got := s.api(http.MethodGet, ofFilm, "", http.StatusServiceUnavailable, nil); !strings.Contains(got.body, "Bangumi") {
		t.Error(got.body)
	}
	if page := s.get("/people/1/entries/900003/word"); page.status != http.StatusOK || !strings.Contains(page.body, "Try again") || strings.Contains(page.body, `name="rate"`) {
		t.Errorf("while Bangumi is away the page answers %d", page.status)
	}
	if err := s.list.SetFault(catalogtest.Fault{Mode: catalogtest.None}); err != nil {
		t.Fatal(err)
	}
	s.watchedButLast()
	s.settled(s.custom(lastEpisode("")))
	s.wait("asked", func() bool { return len(s.asked()) == 1 })
	s.api(http.MethodDelete, "/api/accounts/1", "", http.StatusNoContent, nil)
	if got := s.asked(); len(got) != 0 {
		t.Errorf("the account is gone, asked are %v", got)
	}
	s.api(http.MethodGet, ofFilm, "", http.StatusNotFound, nil)
	if page := s.get("/people/1/entries/900003/word"); page.status != http.StatusNotFound {
		t.Errorf("without its account the page answers %d", page.status)
	}
}

// Who marks a library by hand is not asked a hundred times.
func TestWordsOfADayAreBounded(t *testing.T) {
	s := start(t)
	for n := range 9 {
		id := catalog.SubjectID(950001 + n)
		s.list.AddSubject(catalogtest.Subject{ID: id, Type: catalog.Anime, Name: fmt.Sprintf("映画の題名%d番", n), Platform: "剧场版", Eps: 1, Date: "2021-02-03"})
		s.list.AddEpisodes(id, catalogtest.Episode{ID: catalog.EpisodeID(9500010 + n), Sort: 1})
		r := s.settled(s.custom(fmt.Sprintf(`{"title":"映画の題名%d番","media_type":"movie","release_date":"2021-02-03","user_name":"Mira"}`, n)))
		if r.Status != "success" {
			t.Fatal(r.Message)
		}
	}
	if got := s.asked(); len(got) != 5 {
		t.Errorf("asked are %v", got)
	}
}
