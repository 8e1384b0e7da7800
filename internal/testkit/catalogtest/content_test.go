package catalogtest_test

import (
	"fmt"
	"slices"
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
)

type found struct {
	Data []struct {
		ID            int     `json:"id"`
		Date          *string `json:"date"`
		Eps           int     `json:"eps"`
		TotalEpisodes int     `json:"total_episodes"`
	} `json:"data"`
	Total, Limit, Offset int
}

func ids(f found) (list []int) {
	for _, item := range f.Data {
		list = append(list, item.ID)
	}
	return list
}

const search = "POST /v0/search/subjects"

func TestSearch(t *testing.T) {
	s, base := sample(t, catalogtest.Config{})
	s.AddSubject(
		catalogtest.Subject{ID: 1, Type: catalog.Anime, Name: "閉じた箱", Locked: true},
		catalogtest.Subject{ID: 2, Type: catalog.Anime, Name: "閉じた箱", MergedInto: 900001},
		catalogtest.Subject{ID: 3, Type: catalog.Anime, Name: "閉じた箱", RedirectsTo: 900001},
		catalogtest.Subject{ID: 4, Type: catalog.Anime, Name: "閉じた箱", Deleted: true},
	)
	tests := []struct {
		name, body, token string
		first             []int // the first hits in this order
		without           []int
	}{
		{"the same title comes first", `{"keyword":"灯台守のうた","filter":{"type":[2]}}`, "", []int{900001, 900002}, nil},
		{"the Chinese title and aliases count", `{"keyword":"toudaimori no uta","filter":{"type":[2]}}`, "", []int{900001}, nil},
		{"a scalar alias counts", `{"keyword":"Deep Sea Line","filter":{"type":[2]}}`, "", []int{900006}, nil},
		{"width, case and marks do not count", `{"keyword":"ＤＥＥＰ　sea-line!"}`, "", []int{900006}, nil},
		{"a typo still finds", `{"keyword":"Hourglas Ctiy","filter":{"type":[2]}}`, "", []int{900004}, nil},
		{"a wrong rune still finds", `{"keyword":"灯塔守忘者","filter":{"type":[2]}}`, "", []int{900001}, nil},
		{"two shows of one alias both fit", `{"keyword":"Moonshade Teahouse"}`, "", []int{900013, 900014}, nil},
		{"every kind without a type filter", `{"keyword":"灯台守のうた"}`, "", []int{900001, 900010, 900011}, nil},
		{"types are alternatives", `{"keyword":"灯台守のうた","filter":{"type":[1,4]}}`, "", []int{900010, 900011}, []int{900001}},
		{"dates are bounds that all hold", `{"keyword":"灯台守のうた","filter":{"type":[2],"air_date":[">=2025-01-01","<2025-09-01"]}}`, "", []int{900002}, []int{900001, 900003}},
		{"a bare date is that day", `{"keyword":"灯台守のうた","filter":{"air_date":["2024-01-10"]}}`, "", []int{900001}, []int{900002, 900010}},
		{"no date without a bound", `{"keyword":"雪光邮局"}`, "", []int{900018}, nil},
		{"no date never passes a bound", `{"keyword":"雪光邮局","filter":{"air_date":["<2100-01-01"]}}`, "", nil, []int{900018}},
		{"NSFW is hidden from anonymous callers, whatever they ask", `{"keyword":"夜の標本室","filter":{"nsfw":true}}`, "", nil, []int{900016}},
		{"NSFW is hidden from young accounts", `{"keyword":"夜の標本室"}`, "young-token", nil, []int{900016}},
		{"NSFW is shown to old accounts", `{"keyword":"夜の標本室","filter":{"nsfw":null}}`, "mira-token", []int{900016}, nil},
		{"nsfw false hides it from them too", `{"keyword":"夜の標本室","filter":{"nsfw":false}}`, "mira-token", nil, []int{900016}},
		{"locked, merged, redirected and deleted subjects are not indexed", `{"keyword":"閉じた箱"}`, "", nil, []int{1, 2, 3, 4}},
		{"unknown fields are tolerated", `{"keyword":"灯台守のうた","bogus":1,"filter":{"bogus":[2]}}`, "", []int{900001}, nil},
		{"rank orders by rank, unranked last", `{"keyword":"灯台守","sort":"rank","filter":{"type":[2]}}`, "", []int{900002, 900001}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := exchange{call: search, contentType: "text/plain", token: tt.token, body: tt.body, status: 200}.do(t, base)
			got := ids(decode[found](t, body))
			if len(got) < len(tt.first) || !slices.Equal(got[:len(tt.first)], tt.first) {
				t.Errorf("found %v, want first %v", got, tt.first)
			}
			for _, id := range tt.without {
				if slices.Contains(got, id) {
					t.Errorf("found %v, which has %d", got, id)
				}
			}
		})
	}

	t.Run("neighbours rather than nothing", func(t *testing.T) {
		body := exchange{call: search, body: `{"keyword":"灰烬王座 Season 9"}`, status: 200}.do(t, base)
		if len(decode[found](t, body).Data) == 0 {
			t.Error("a title that is not there found nothing")
		}
	})
	t.Run("hits have an image and the tags a total", func(t *testing.T) {
		exchange{call: search, body: `{"keyword":"灯台守のうた","filter":{"type":[2]}}`, status: 200, holds: []string{
			`"image":"https://lain.bgm.tv/pic/cover/l/45/3b/900001_sample.jpg"`, `"total_count":`,
		}}.do(t, base)
		exchange{call: "GET /v0/subjects/900001", status: 200, lacks: []string{`"image":`}}.do(t, base)
	})
	t.Run("what follows the body is not looked at", func(t *testing.T) {
		exchange{call: search, body: `{"keyword":"灯台守のうた"} and more`, status: 200}.do(t, base)
	})
	t.Run("total_episodes is eps here", func(t *testing.T) {
		body := exchange{call: search, body: `{"keyword":"灯台守のうた","filter":{"type":[2]}}`, status: 200}.do(t, base)
		if hit := decode[found](t, body).Data[0]; hit.Eps != 12 || hit.TotalEpisodes != 12 {
			t.Errorf("eps %d, total_episodes %d, want 12 and 12", hit.Eps, hit.TotalEpisodes)
		}
	})
}

func TestSearchPages(t *testing.T) {
	s, base := sample(t, catalogtest.Config{})
	for i := range 60 {
		s.AddSubject(catalogtest.Subject{ID: catalog.SubjectID(1 + i), Type: catalog.Anime, Name: fmt.Sprintf("同じ題名%d", i)})
	}
	body := `{"keyword":"同じ題名"}`
	for query, want := range map[string][3]int{ // length, limit, offset
		"":                    {10, 10, 0},
		"?limit=5":            {5, 5, 0},
		"?limit=50":           {20, 20, 0},
		"?limit=20&offset=50": {10, 20, 50},
	} {
		got := decode[found](t, exchange{call: search + query, body: body, status: 200}.do(t, base))
		if len(got.Data) != want[0] || got.Limit != want[1] || got.Offset != want[2] || got.Total < 60 {
			t.Errorf("%q: %d hits, limit %d, offset %d, total %d", query, len(got.Data), got.Limit, got.Offset, got.Total)
		}
	}
	for _, refused := range []exchange{
		{call: search + "?limit=0", body: body},
		{call: search + "?limit=x", body: body},
		{call: search + "?offset=-1", body: body},
		{call: search, body: `{"keyword":`},
		{call: search, body: `{"keyword":"x","sort":"date"}`},
		{call: search, body: `{"keyword":"x","filter":{"air_date":[">= 2024-01-01"]}}`},
		{call: search, body: `{"keyword":"x","filter":{"air_date":[">=2024-01"]}}`},
		{call: search, body: `{"keyword":"x","filter":{"air_date":["2024-02-30"]}}`},
	} {
		refused.status = 400
		refused.do(t, base)
	}
}

func TestSearchSwitchedOff(t *testing.T) {
	run(t, catalogtest.Config{SearchOff: true}, []trap{
		{"plain text with 200", []exchange{{call: search, body: `{"keyword":"x"}`, status: 200, header: map[string]string{"Content-Type": "text/plain; charset=UTF-8"}}}},
	})
}

func TestLegacySearch(t *testing.T) {
	s, base := sample(t, catalogtest.Config{})
	s.AddSubject(catalogtest.Subject{ID: 5, Type: catalog.Anime, Name: "絵のある話", Date: "2020-01-02", Image: "0a/1b/5_x.jpg", Summary: "短い話"})
	for _, tt := range []struct {
		name string
		exchange
	}{
		{"small leaves date and summary out", exchange{call: "GET /search/subject/%E7%B5%B5%E3%81%AE%E3%81%82%E3%82%8B%E8%A9%B1?type=2", status: 200,
			holds: []string{`"id":5`, `"air_date":""`, `"summary":""`, `"large":"http://lain.bgm.tv/pic/cover/l/0a/1b/5_x.jpg"`, `"url":"http://`}, lacks: []string{"https:"}}},
		{"medium has them", exchange{call: "GET /search/subject/%E7%B5%B5%E3%81%AE%E3%81%82%E3%82%8B%E8%A9%B1?responseGroup=medium", status: 200,
			holds: []string{`"air_date":"2020-01-02"`, `"summary":"短い話"`}}},
		{"results counts more than the list has", exchange{call: "GET /search/subject/Deep%20Sea%20Line?type=2&max_results=1", status: 200, holds: []string{`"results":2`, `"id":900006`}, lacks: []string{"900007"}}},
		{"start moves on", exchange{call: "GET /search/subject/Deep%20Sea%20Line?type=2&start=1", status: 200, holds: []string{`"id":900007`}, lacks: []string{"900006"}}},
		{"a blank and a dash break it", exchange{call: "GET /search/subject/Deep%20Sea%20-Line", status: 200, header: map[string]string{"Content-Type": "text/html; charset=UTF-8"}, holds: []string{"<html>"}}},
		{"nothing found can be 404", exchange{call: "GET /search/subject/qqqqqqqq", status: 404}},
		{"nothing found can be a page", exchange{call: "GET /search/subject/Deep%20Sea%20Line?type=1", status: 200, holds: []string{"<html>"}}},
		{"NSFW is hidden", exchange{call: "GET /search/subject/%E5%A4%9C%E3%81%AE%E6%A8%99%E6%9C%AC%E5%AE%A4", status: 200, holds: []string{"<html>"}}},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.do(t, base) })
	}
}

func TestSubject(t *testing.T) {
	s, base := sample(t, catalogtest.Config{})
	s.AddSubject(
		catalogtest.Subject{ID: 1, Type: catalog.Anime, Name: "統合前", MergedInto: 900001},
		catalogtest.Subject{ID: 2, Type: catalog.Anime, Name: "鍵付き", Locked: true},
		catalogtest.Subject{ID: 3, Type: catalog.Anime, Name: "壊れた", Infobox: "{{Infobox animanga/TVAnime\r\n|别名={\r\n[a]\r\nb\r\n}\r\n}}"},
		catalogtest.Subject{ID: 4, Type: catalog.Anime, Name: "別名", Infobox: "{{Infobox x\n|别名={\n[一]\n[英文名|Two|2]\n\n[]\n}\n|空= \n|网= https://x/?a=b\n|话数= 24话\n}}"},
		catalogtest.Subject{ID: 5, Type: catalog.Anime, Name: "転送", RedirectsTo: 77},
		catalogtest.Subject{ID: 6, Type: catalog.Anime, Name: "消えた", Deleted: true},
		catalogtest.Subject{ID: 7, Type: catalog.Anime, Name: "続きが三つ"},
	)
	s.AddUnordered(7, catalog.CodeSequel, 1, 900001, 900002)
	for _, tt := range []struct {
		name string
		exchange
	}{
		{"a full answer", exchange{call: "GET /v0/subjects/900001", status: 200, header: map[string]string{"Cache-Control": "public, max-age=3600"}, holds: []string{
			`"id":900001,"type":2,"name":"灯台守のうた","name_cn":"灯塔守望者","date":"2024-01-10","platform":"TV"`,
			`{"key":"别名","value":[{"k":"英文名","v":"The Lighthouse Keeper's Song"}`, `{"key":"话数","value":"12"}`,
			`"eps":12,"total_episodes":14`, `"collect":340`, `"locked":false,"nsfw":false`,
		}}},
		{"no date is null", exchange{call: "GET /v0/subjects/900018", status: 200, holds: []string{`"date":null`}}},
		{"a platform without a label is null", exchange{call: "GET /v0/subjects/2", status: 200, holds: []string{`"platform":null`, `"locked":true`}}},
		{"the label depends on the type", exchange{call: "GET /v0/subjects/900012", status: 200, holds: []string{`"platform":"日剧"`, `{"key":"季数","value":"1"}`, `"eps":10`}}},
		{"a merged one redirects", exchange{call: "GET /v0/subjects/1", status: 302, header: map[string]string{"Location": "/v0/subjects/900001"}}},
		{"a redirect leads on, also to nothing", exchange{call: "GET /v0/subjects/5", status: 302, header: map[string]string{"Location": "/v0/subjects/77"}}},
		{"a deleted one is shown all the same", exchange{call: "GET /v0/subjects/6", status: 200, holds: []string{`"locked":false`}}},
		{"a merged one stands among relations under its old id", exchange{call: "GET /v0/subjects/7/subjects", status: 200, holds: []string{`"id":1,"type":2,"name":"統合前"`}}},
		{"one mistake empties the infobox", exchange{call: "GET /v0/subjects/3", status: 200, holds: []string{`"infobox":[]`}}},
		{"lists, sub-keys, empty fields", exchange{call: "GET /v0/subjects/4", status: 200, holds: []string{
			`"infobox":[{"key":"别名","value":[{"v":"一"},{"k":"英文名","v":"Two|2"}]},{"key":"网","value":"https://x/?a=b"},{"key":"话数","value":"24话"}]`, `"eps":24`}}},
		{"relations of an unknown one", exchange{call: "GET /v0/subjects/77/subjects", status: 404}},
		{"relations of a merged one do not redirect", exchange{call: "GET /v0/subjects/1/subjects", status: 200, holds: []string{"[]"}}},
		{"relations say what the listed one is", exchange{call: "GET /v0/subjects/900001/subjects", status: 200, holds: []string{
			`"id":900002,"type":2,"name":"灯台守のうた 第二期"`, `"relation":"续集"`, `"relation":"番外篇"`, `"relation":"原声集"`, `"relation":"书籍"`, `"relation":"游戏"`}}},
		{"and the other way round", exchange{call: "GET /v0/subjects/900002/subjects", status: 200, holds: []string{`"relation":"前传"`}}},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.do(t, base) })
	}
}

func TestRelationsInNoOrder(t *testing.T) {
	s, base := sample(t, catalogtest.Config{})
	s.AddSubject(catalogtest.Subject{ID: 7, Type: catalog.Anime, Name: "続きが三つ"})
	s.AddRelation(7, catalog.CodePrequel, 900004)
	s.AddUnordered(7, catalog.CodeSequel, 900001, 900002, 900006)
	orders := map[string]bool{}
	for range 3 {
		body := exchange{call: "GET /v0/subjects/7/subjects", status: 200}.do(t, base)
		var listed []int
		for _, r := range decode[[]struct{ ID int }](t, body) {
			listed = append(listed, r.ID)
		}
		if len(listed) != 4 || listed[0] != 900004 {
			t.Errorf("listed %v, want 900004 first of four", listed)
		}
		orders[fmt.Sprint(listed)] = true
	}
	if len(orders) < 2 {
		t.Errorf("ties always came in the order %v", orders)
	}
}

func TestNSFWSubject(t *testing.T) {
	unknown := exchange{status: 404, holds: []string{"resource can't be found in the database or has been removed"}}
	hidden := func(call, token string) exchange {
		x := unknown
		x.call, x.token = call, token
		return x
	}
	run(t, catalogtest.Config{}, []trap{
		{"is 404 for anonymous callers and young accounts", []exchange{
			hidden("GET /v0/subjects/900016", ""), hidden("GET /v0/subjects/900016", "young-token"),
			hidden("GET /v0/subjects/900016/subjects", ""), hidden("GET /v0/episodes?subject_id=900016", ""),
			{call: "GET /v0/episodes/90001601", status: 404},
			{call: "POST /v0/users/-/collections/900016", token: "young-token", body: `{"type":3}`, status: 404, holds: []string{"subject not found"}},
		}},
		{"is there for old accounts", []exchange{
			{call: "GET /v0/subjects/900016", token: "mira-token", status: 200, header: map[string]string{"Cache-Control": "no-store"}},
			{call: "GET /v0/episodes?subject_id=900016", token: "mira-token", status: 200},
		}},
		{"shows to everybody after a permitted read", []exchange{
			hidden("GET /v0/subjects/900016", ""),
			{call: "GET /v0/subjects/900016", token: "mira-token", status: 200},
			{call: "GET /v0/subjects/900016", status: 200},
		}},
	})
}

type episodeList struct {
	Data []struct {
		ID, Type int
		Ep, Sort float64
	}
	Total, Limit, Offset int
}

func TestEpisodes(t *testing.T) {
	s, base := sample(t, catalogtest.Config{})
	s.AddSubject(catalogtest.Subject{ID: 1, Type: catalog.Anime, Name: "二枚組"}, catalogtest.Subject{ID: 2, Type: catalog.Anime, Name: "空"})
	s.AddEpisodes(1,
		catalogtest.Episode{ID: 15, Disc: 2, Sort: 1}, catalogtest.Episode{ID: 14, Disc: 1, Sort: 6},
		catalogtest.Episode{ID: 13, Disc: 1, Sort: 5, Duration: "00:24:00"}, catalogtest.Episode{ID: 12, Disc: 1, Type: catalog.Special, Sort: 1},
		catalogtest.Episode{ID: 16, Disc: 2, Type: 5, Sort: 1},
	)
	for i := range 240 {
		s.AddEpisodes(2, catalogtest.Episode{ID: catalog.EpisodeID(1000 + i), Sort: float64(i + 1)})
	}
	numbers := []struct {
		name, query string
		want        string
	}{
		{"a season that goes on counting has ep from 1", "subject_id=900002&limit=2", "[90000201:13/1 90000202:14/2]"},
		{"an episode 0 shifts ep by one", "subject_id=900009&limit=2", "[90000901:0/1 90000902:1/2]"},
		{"fractions stay", "subject_id=900015&limit=2&offset=3", "[90001504:4/4 90001505:4.5/4.5]"},
		{"ep is 0 for specials", "subject_id=900001&type=1", "[90000151:1/0 90000152:2/0]"},
		{"order is disc, type, sort; ep starts at the lowest disc", "subject_id=1", "[13:5/1 14:6/2 12:1/0 15:1/-3 16:1/0]"},
		{"offset at the end is an empty page", "subject_id=1&offset=5", "[]"},
		{"a kind that has none, at any offset", "subject_id=1&type=3&offset=7", "[]"},
	}
	for _, tt := range numbers {
		t.Run(tt.name, func(t *testing.T) {
			list := decode[episodeList](t, exchange{call: "GET /v0/episodes?" + tt.query, status: 200, lacks: []string{"null"}}.do(t, base))
			got := []string{}
			for _, e := range list.Data {
				got = append(got, fmt.Sprintf("%d:%v/%v", e.ID, e.Sort, e.Ep))
			}
			if fmt.Sprint(got) != tt.want {
				t.Errorf("got %v, want %s", got, tt.want)
			}
		})
	}
	pages := map[string][2]int{"": {100, 240}, "&limit=200": {200, 240}, "&limit=1000": {240, 240}, "&limit=200&offset=200": {40, 240}}
	for query, want := range pages {
		list := decode[episodeList](t, exchange{call: "GET /v0/episodes?subject_id=2" + query, status: 200}.do(t, base))
		if len(list.Data) != want[0] || list.Total != want[1] {
			t.Errorf("%q: %d of %d, want %v", query, len(list.Data), list.Total, want)
		}
	}
	for _, query := range []string{"", "?subject_id=0", "?subject_id=1&limit=1001", "?subject_id=1&limit=0", "?subject_id=1&offset=6", "?subject_id=1&type=9", "?subject_id=1&type=5"} {
		exchange{call: "GET /v0/episodes" + query, status: 400}.do(t, base)
	}
	exchange{call: "GET /v0/episodes?subject_id=77", status: 404}.do(t, base)
	exchange{call: "GET /v0/episodes/13", status: 200, holds: []string{`"ep":1,"sort":5`, `"duration_seconds":1440`}}.do(t, base)
	exchange{call: "GET /v0/episodes/77", status: 404}.do(t, base)
}

func TestReplacedContent(t *testing.T) {
	s, base := sample(t, catalogtest.Config{})
	exchange{call: search, body: `{"keyword":"灯台守のうた"}`, status: 200}.do(t, base)
	s.AddSubject(catalogtest.Subject{ID: 900001, Type: catalog.Anime, Name: "改題", Eps: 3})
	s.AddEpisodes(900001, catalogtest.Episode{ID: 90000101, Sort: 9, Name: "最終話"})
	s.AddRelation(900001, catalog.CodePrequel, 900018)
	body := exchange{call: search, body: `{"keyword":"改題"}`, status: 200}.do(t, base)
	if got := ids(decode[found](t, body)); len(got) == 0 || got[0] != 900001 {
		t.Errorf("the new title found %v", got)
	}
	exchange{call: "GET /v0/episodes/90000101", status: 200, holds: []string{`"sort":9`, "最終話"}}.do(t, base)
	exchange{call: "GET /v0/subjects/900001", status: 200, holds: []string{`"eps":3,"total_episodes":14`}}.do(t, base)
	exchange{call: "GET /v0/subjects/900001/subjects", status: 200, holds: []string{"雪明かりの郵便局", "前传"}}.do(t, base)
}

func TestImages(t *testing.T) {
	s, base := sample(t, catalogtest.Config{})
	s.AddSubject(catalogtest.Subject{ID: 5, Type: catalog.Anime, Name: "絵のある話", Image: "0a/1b/5_x.jpg"})
	jpeg := map[string]string{"Content-Type": "image/jpeg"}
	for _, tt := range []struct {
		name string
		exchange
	}{
		{"the API names all sizes at the image host", exchange{call: "GET /v0/subjects/5", status: 200, holds: []string{
			`"large":"https://lain.bgm.tv/pic/cover/l/0a/1b/5_x.jpg"`, `"small":"https://lain.bgm.tv/r/200/pic/cover/l/0a/1b/5_x.jpg"`, `"common":"https://lain.bgm.tv/r/400/`}}},
		{"one without a cover has empty texts", exchange{call: "GET /v0/subjects/900007", status: 200, holds: []string{`"small":""`}}},
		{"a cover", exchange{call: "GET /pic/cover/l/0a/1b/5_x.jpg", status: 200, header: jpeg, holds: []string{"\xff\xd8\xff"}}},
		{"no user agent is refused", exchange{call: "GET /pic/cover/l/0a/1b/5_x.jpg", agent: "-", status: 200, header: jpeg}},
		{"made smaller", exchange{call: "GET /r/200/pic/cover/l/0a/1b/5_x.jpg", status: 200, header: jpeg}},
		{"to a width that there is not", exchange{call: "GET /r/250/pic/cover/l/0a/1b/5_x.jpg", status: 400, holds: []string{"invalid size format"}}},
		{"no such file", exchange{call: "GET /pic/cover/l/0a/1b/5_y.jpg", status: 404}},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.do(t, base) })
	}
	if err := s.SetFault(catalogtest.Fault{Mode: catalogtest.Status, Paths: catalogtest.Images}); err != nil {
		t.Fatal(err)
	}
	exchange{call: "GET /r/200/pic/cover/l/0a/1b/5_x.jpg", status: 503}.do(t, base)
	exchange{call: "GET /v0/subjects/5", status: 200}.do(t, base)
}
