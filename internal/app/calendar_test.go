package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-ical"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/archive"
	"watchmark/internal/tell/calendar"
	"watchmark/internal/testkit/catalogtest"
)

// airingNow adds an archive in which three shows air tomorrow.
func (s *service) airingNow() (day string) {
	s.t.Helper()
	day = time.Now().AddDate(0, 0, 1).Format(time.DateOnly)
	dump := dumpOf(s.t, map[string][]string{
		"subject.jsonlines": {
			`{"id":901,"type":2,"name":"砂の灯台","name_cn":"沙之灯塔","platform":1,"date":"2026-04-01"}`,
			`{"id":902,"type":6,"name":"雨の駅","name_cn":"雨之站","platform":1,"date":"2026-04-01"}`,
			`{"id":903,"type":2,"name":"風の店","name_cn":"风之店","platform":1,"date":"2026-04-01"}`,
		},
		"episode.jsonlines": {
			fmt.Sprintf(`{"id":90101,"subject_id":901,"sort":1,"type":0,"airdate":%q,"name":"一"}`, day),
			fmt.Sprintf(`{"id":90201,"subject_id":902,"sort":1,"type":0,"airdate":%q,"name":"一"}`, day),
			fmt.Sprintf(`{"id":90301,"subject_id":903,"sort":1,"type":0,"airdate":%q,"name":"一"}`, day),
		},
		"subject-relations.jsonlines": {},
	})
	if _, err := s.app.Archive.Import(s.t.Context(), archive.Dump{Data: bytes.NewReader(dump), Size: int64(len(dump))}, func(archive.Progress) {}); err != nil {
		s.t.Fatal(err)
	}
	for id, kind := range map[catalog.SubjectID]catalog.SubjectType{901: catalog.Anime, 902: catalog.Real, 903: catalog.Anime} {
		s.list.AddSubject(catalogtest.Subject{ID: id, Type: kind, Name: fmt.Sprint("subject ", id)})
	}
	s.api(http.MethodPatch, "/api/settings", `{"catalog_archive":{"enabled":true}}`, http.StatusOK, nil)
	return day
}

// titles are those of the events of a calendar.
func titles(t *testing.T, text string) (all []string) {
	t.Helper()
	parsed, err := ical.NewDecoder(strings.NewReader(text)).Decode()
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, e := range parsed.Events() {
		title, err := e.Props.Text(ical.PropSummary)
		if err != nil {
			t.Error(err)
		}
		all = append(all, title)
	}
	slices.Sort(all)
	return all
}

// Two people have a calendar each, on the page, by the API and at an address; nobody gets that of the other.
func TestTheCalendarOfAHousehold(t *testing.T) {
	s := startEmpty(t, "WATCHMARK_CATALOG_ARCHIVE_POINTER_URL=http://127.0.0.1:9/latest.json", "WATCHMARK_LOG_LEVEL=debug")
	if err := s.app.SetUp(t.Context(), "bench", password); err != nil {
		t.Fatal(err)
	}
	mira, alex := s.joins("mira", miraToken), s.joins("alex", alexToken)
	if got := mira.want(http.MethodGet, "/api/calendar", "", http.StatusConflict); !strings.Contains(got.body, "offline data") {
		t.Errorf("without an archive it answers %s", got.body)
	}
	day := s.airingNow()
	for name, ids := range map[string][]catalog.SubjectID{"mira": {901, 902}, "alex": {902, 903}} {
		for _, id := range ids {
			if err := s.list.Collect(name, id, catalog.Doing, false); err != nil {
				t.Fatal(err)
			}
		}
	}
	own := map[string][]string{"mira": {"沙之灯塔 E1", "雨之站 E1"}, "alex": {"雨之站 E1", "风之店 E1"}, "bench": nil}
	query := "/api/calendar?zone=Asia/Tokyo&mine=true&from=" + day + "&to=" + day
	s.wait("the job", func() bool { // which may be at work by itself
		request := s.request(http.MethodPost, "/api/jobs/"+calendar.Job+"/run", "application/json", "")
		request.Header.Set("Authorization", "Bearer "+s.key)
		return s.do(request).status == http.StatusAccepted
	})
	s.wait("the lists", func() bool {
		return strings.Count(mira.as(http.MethodGet, query, "").body, `"subject_id"`) == 2 && strings.Count(alex.as(http.MethodGet, query, "").body, `"subject_id"`) == 2
	})
	asks := map[string]func(method, path string) answer{
		"mira": func(method, path string) answer { return mira.as(method, path, "") },
		"alex": func(method, path string) answer { return alex.as(method, path, "") },
		"bench": func(method, path string) answer {
			request := s.request(method, path, "application/json", "")
			request.Header.Set("Authorization", "Bearer "+s.key)
			return s.do(request)
		},
	}
	secrets := map[string]string{}
	for name, ask := range asks {
		var found struct {
			Items []struct {
				SubjectNameCN string `json:"subject_name_cn"`
				Day           string
				Lists         []struct{ Account string }
			}
		}
		into(t, ask(http.MethodGet, query).body, &found)
		if len(found.Items) != len(own[name]) {
			t.Errorf("%s is told of %+v", name, found.Items)
		}
		for _, i := range found.Items {
			if len(i.Lists) != 1 || i.Lists[0].Account != name || i.Day != day || !slices.Contains(own[name], i.SubjectNameCN+" E1") {
				t.Errorf("%s is told of %+v", name, i)
			}
		}
		all := ask(http.MethodGet, strings.Replace(query, "mine=true&", "", 1))
		for other := range own {
			if got := strings.Contains(all.body, `"account":"`+other+`"`); got != (other == name && name != "bench") {
				t.Errorf("of everything, %s is told of the account of %s: %v", name, other, got)
			}
		}
		for id := int64(1); id <= 2; id++ {
			theirs := name == "mira" && id == 1 || name == "alex" && id == 2
			got := ask(http.MethodGet, fmt.Sprintf("%s&account_id=%d", query, id))
			if want := map[bool]int{true: http.StatusOK, false: http.StatusNotFound}[theirs]; got.status != want {
				t.Errorf("%s asks for account %d and is answered %d: %s", name, id, got.status, got.body)
			}
		}
		if none := ask(http.MethodGet, "/api/calendar/address"); none.status != http.StatusNotFound {
			t.Errorf("%s has an address: %s", name, none.body)
		}
		var made struct{ URL string }
		if err := json.Unmarshal([]byte(ask(http.MethodPost, "/api/calendar/address").body), &made); err != nil {
			t.Fatal(err)
		}
		secrets[name] = made.URL
		if page := ask(http.MethodGet, "/calendar"); page.status != http.StatusOK || !strings.Contains(page.body, made.URL) {
			t.Errorf("the page of %s answers %d without %s", name, page.status, made.URL)
		}
	}
	fetch := func(address, tag string) answer {
		t.Helper()
		at, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+at.Path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tag != "" {
			request.Header.Set("If-None-Match", tag)
		}
		return s.do(request)
	}
	for name, address := range secrets {
		file := fetch(address, "")
		if file.status != http.StatusOK || file.header.Get("Content-Type") != "text/calendar; charset=utf-8" || file.header.Get("Set-Cookie") != "" {
			t.Fatalf("the file of %s: %d, %v", name, file.status, file.header)
		}
		if got := titles(t, file.body); !slices.Equal(got, own[name]) {
			t.Errorf("the file of %s tells of %q", name, got)
		}
		if same := fetch(address, file.header.Get("ETag")); same.status != http.StatusNotModified {
			t.Errorf("with its tag it answers %d", same.status)
		}
	}
	// An end is one at once.
	renewed := mira.want(http.MethodPost, "/api/calendar/address", "", http.StatusCreated)
	if got := fetch(secrets["mira"], ""); got.status != http.StatusNotFound || strings.Contains(got.body, "灯塔") {
		t.Errorf("the address before answers %d", got.status)
	}
	var now struct{ URL string }
	into(t, renewed.body, &now)
	if got := fetch(now.URL, ""); got.status != http.StatusOK {
		t.Errorf("the new address answers %d", got.status)
	}
	mira.want(http.MethodDelete, "/api/calendar/address", "", http.StatusNoContent)
	if got := fetch(now.URL, ""); got.status != http.StatusNotFound {
		t.Errorf("after its end it answers %d", got.status)
	}
	s.api(http.MethodDelete, fmt.Sprintf("/api/people/%d", alex.id), "", http.StatusNoContent, nil)
	if got := fetch(secrets["alex"], ""); got.status != http.StatusNotFound {
		t.Errorf("the address of somebody who was removed answers %d", got.status)
	}
	// A guess is told no more than who has an address that ended. It comes by the guard, which bounds strangers and refuses bad keys.
	if guess, ended := fetch("/calendar/ABCDEFGHIJKLMNOPQRSTUVWXYZ.ics", ""), fetch(now.URL, ""); guess.status != http.StatusNotFound || guess.body != ended.body {
		t.Errorf("a guess answers %d %q, an address that ended %q", guess.status, guess.body, ended.body)
	}
	request := s.request(http.MethodGet, "/calendar/ABCDEFGHIJKLMNOPQRSTUVWXYZ.ics", "", "")
	request.Header.Set("Authorization", "Bearer wm_unknown")
	if got := s.do(request); got.status != http.StatusUnauthorized {
		t.Errorf("with a bad key a guess answers %d", got.status)
	}
	for _, address := range []string{secrets["mira"], secrets["alex"], secrets["bench"], now.URL} {
		name := strings.TrimSuffix(address[strings.LastIndexByte(address, '/')+1:], ".ics")
		if len(name) != 26 || strings.Contains(s.logs.String(), name) {
			t.Errorf("%q is in the log", name)
		}
	}
}
