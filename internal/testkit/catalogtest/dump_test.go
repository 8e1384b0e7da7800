package catalogtest_test

import (
	"archive/zip"
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/simulated"
)

// zipped makes a dump of the given members.
func zipped(t *testing.T, members map[string]string) *bytes.Reader {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range members {
		member, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := member.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(b.Bytes())
}

func smallDump() map[string]string {
	return map[string]string{
		"subject.jsonlines": `{"id":8,"type":2,"name":"A \u003c B","name_cn":"","infobox":"{{Infobox animanga/TVAnime\r\n|别名= 乙\r\n|话数= *\r\n}}","platform":5,` +
			`"summary":"` + strings.Repeat("長", 40000) + `","nsfw":false,"date":"","score":7.5,"score_details":{"7":2,"10":1},"rank":9,"favorite":{"done":4},"future":{}}` + "\n" +
			`{"id":9,"type":2,"name":"C","platform":4,"infobox":""}` + "\n",
		"episode.jsonlines": `{"id":1,"subject_id":8,"sort":7.5,"type":0,"duration":"24m"}` + "\n" +
			`{"id":2,"subject_id":8,"sort":7,"type":0,"airdate":"2020-01-01"}` + "\n" + `{"id":3,"subject_id":77,"sort":1,"type":0}`,
		"subject-relations.jsonlines": `{"subject_id":8,"relation_type":3,"related_subject_id":77,"order":0}` + "\n" +
			`{"subject_id":8,"relation_type":3,"related_subject_id":9,"order":1}` + "\n" + `{"subject_id":8,"relation_type":3,"related_subject_id":9,"order":1}` + "\n",
		"person.jsonlines": "not even JSON",
	}
}

func TestLoadDump(t *testing.T) {
	s, base := catalogtest.Start(t, catalogtest.Config{Users: users})
	dump := zipped(t, smallDump())
	if err := s.LoadDumpReader(dump, dump.Size()); err != nil {
		t.Fatal(err)
	}
	body := exchange{call: "GET /v0/subjects/8", status: 200, holds: []string{
		`A \u003c B`, `"date":null,"platform":"WEB"`, `{"key":"话数","value":"*"}`, `"eps":0,"total_episodes":2`, `"rank":9,"total":3`, `"collect":4`,
	}}.do(t, base)
	if len(body) < 120000 {
		t.Error("the long line lost its summary")
	}
	exchange{call: "GET /v0/subjects/9", status: 200, holds: []string{`"platform":null`, `"infobox":[]`}}.do(t, base)
	exchange{call: "GET /v0/episodes/3", status: 404}.do(t, base)
	exchange{call: "GET /v0/users/-/collections/-/episodes/3", token: mira, status: 404}.do(t, base)
	exchange{call: "GET /v0/episodes?subject_id=8", status: 200, holds: []string{`"ep":1,"sort":7,`, `"ep":1.5,"sort":7.5,`, `"duration_seconds":1440`}}.do(t, base)
	related := exchange{call: "GET /v0/subjects/8/subjects", status: 200, holds: []string{`"id":9`}}.do(t, base)
	if strings.Count(related, "续集") != 1 {
		t.Errorf("relations are %s", related)
	}
}

func TestBrokenDumps(t *testing.T) {
	s := catalogtest.New(catalogtest.Config{})
	for name, edit := range map[string]func(map[string]string){
		"a member is missing": func(m map[string]string) { delete(m, "episode.jsonlines") },
		"a line is cut":       func(m map[string]string) { m["episode.jsonlines"] += "\n" + `{"id":4,` },
	} {
		t.Run(name, func(t *testing.T) {
			members := smallDump()
			edit(members)
			dump := zipped(t, members)
			if err := s.LoadDumpReader(dump, dump.Size()); err == nil || !strings.Contains(err.Error(), "episode.jsonlines") {
				t.Errorf("error is %v", err)
			}
		})
	}
	if err := s.LoadDumpReader(strings.NewReader("PK"), 2); err == nil {
		t.Error("two bytes are no dump")
	}
	if err := s.LoadDump("missing.zip"); err == nil {
		t.Error("a missing file is no dump")
	}
}

// matchbench is a dump of thousands of real subjects. It is not part of the
// repository: the WATCHMARK_TEST_DUMP variable says where it is.
func matchbench(tb testing.TB) *catalogtest.Server {
	tb.Helper()
	path := os.Getenv("WATCHMARK_TEST_DUMP")
	if path == "" {
		tb.Skip("there is no dump to load: set WATCHMARK_TEST_DUMP to the path of one")
	}
	s := catalogtest.New(catalogtest.Config{})
	started := time.Now()
	if err := s.LoadDump(path); err != nil {
		tb.Fatal(err)
	}
	tb.Logf("loaded in %s", time.Since(started))
	return s
}

func TestMatchbenchDump(t *testing.T) {
	s := matchbench(t)
	base := simulated.Start(t, s)
	exchange{call: "GET /v0/subjects/50", status: 200, holds: []string{`"name":"機動戦士ガンダム"`, `"eps":43,"total_episodes":43`, `"platform":"TV"`, `机动战士高达0079`}}.do(t, base)
	exchange{call: "GET /v0/episodes?subject_id=8&limit=1", status: 200, holds: []string{`"ep":1,"sort":1`}}.do(t, base)
	for keyword, want := range map[string]int{"機動戦士ガンダム": 50, "机动战士高达0079": 50, "机动戦士ガンダム": 50} {
		body := exchange{call: search, body: `{"keyword":"` + keyword + `","filter":{"type":[2]}}`, status: 200}.do(t, base)
		if got := ids(decode[found](t, body)); !slices.Contains(got[:min(3, len(got))], want) {
			t.Errorf("%s found %v, want %d among the first three", keyword, got, want)
		}
	}
}

func TestSampleHoldsTogether(t *testing.T) {
	_, base := sample(t, catalogtest.Config{})
	for id, want := range map[catalog.SubjectID]int{900001: 12, 900002: 12, 900003: 1, 900004: 12, 900005: 12, 900009: 13, 900012: 10} {
		list := decode[episodeList](t, exchange{call: "GET /v0/episodes?type=0&subject_id=" + strconv.Itoa(int(id)), status: 200}.do(t, base))
		if list.Total != want {
			t.Errorf("subject %d has %d main episodes, want %d", id, list.Total, want)
		}
	}
}

func BenchmarkLoadDump(b *testing.B) {
	for b.Loop() {
		matchbench(b)
	}
}

func BenchmarkSearchDump(b *testing.B) {
	s := matchbench(b)
	for name, keyword := range map[string]string{"japanese": "機動戦士ガンダムの夜", "english": "the story of another world", "one-rune": "の"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r := httptest.NewRequest(http.MethodPost, "/v0/search/subjects?limit=20", strings.NewReader(`{"keyword":"`+keyword+`"}`))
				r.Header.Set("User-Agent", agent)
				s.ServeHTTP(httptest.NewRecorder(), r)
			}
		})
	}
}
