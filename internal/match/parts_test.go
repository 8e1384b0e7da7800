package match_test

import (
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/match"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/watch"
)

// merged is a small catalog of shows that the catalog has by parts and TMDB by seasons that run through them, as in
// upstreams/id-map.md section 0: the ids are real, the lists that go on and those that begin anew, too.
func merged(t *testing.T) *match.Matcher {
	t.Helper()
	server, client := newCatalog(t)
	tv := func(id catalog.SubjectID, name, date string, first float64, n int) {
		server.AddSubject(catalogtest.Subject{ID: id, Type: catalog.Anime, Name: name, Date: date, Platform: "TV"})
		weekly(server, id, first, n, date)
	}
	tv(294993, "呪術廻戦", "2020-10-02", 1, 24)
	tv(369304, "呪術廻戦 懐玉・玉折／渋谷事変", "2023-07-06", 25, 23)
	tv(472741, "呪術廻戦 死滅回游 前編", "2026-01-08", 48, 12)
	tv(888801, "呪術廻戦 死滅回游 後編", "2027-01-07", 60, 12) // newer than the table
	sequel(server, 294993, 369304)
	sequel(server, 369304, 472741)
	sequel(server, 472741, 888801)
	tv(400602, "葬送のフリーレン", "2023-09-29", 1, 28)
	tv(515759, "葬送のフリーレン 第2期", "2026-01-16", 29, 10)
	sequel(server, 400602, 515759)
	tv(888802, "葬送のフリーレン 第3期", "2028-01-07", 1, 12)
	sequel(server, 515759, 888802)
	tv(329906, "SPY×FAMILY", "2022-04-09", 1, 12)
	tv(373267, "SPY×FAMILY 第2クール", "2022-10-01", 1, 13) // numbered anew
	tv(411427, "SPY×FAMILY Season 2", "2023-10-07", 1, 12)
	sequel(server, 329906, 373267)
	sequel(server, 373267, 411427)
	tv(43558, "ジョジョの奇妙な冒険", "2012-10-05", 1, 26)
	tv(332261, "ジョジョの奇妙な冒険 ストーンオーシャン", "2022-01-07", 1, 12)
	tv(375913, "ジョジョの奇妙な冒険 ストーンオーシャン 第2クール", "2022-10-07", 13, 12)
	tv(395782, "ジョジョの奇妙な冒険 ストーンオーシャン 第3クール", "2023-01-06", 25, 14)
	sequel(server, 332261, 375913)
	sequel(server, 375913, 395782)
	tv(777, "短い夏", "2019-07-01", 1, 10) // the catalog has less of it than TMDB
	tv(778, "短い夏 第2部", "2020-07-01", 1, 12)
	sequel(server, 777, 778)
	tv(781, "数え歌", "2021-01-04", 1, 12)
	tv(782, "数え歌 後編", "2021-04-05", 14, 12) // the catalog counts a recap before it, TMDB does not
	sequel(server, 781, 782)
	server.AddSubject(catalogtest.Subject{ID: 80993, Type: catalog.Anime, Name: "進撃の巨人 OAD", Date: "2013-12-09", Platform: "OVA"},
		catalogtest.Subject{ID: 88595, Type: catalog.Anime, Name: "君の名は。", Date: "2016-08-26", Platform: "剧场版"})
	weekly(server, 80993, 1, 3, "2013-12-09")
	return match.New(match.Config{Catalog: client, Archive: noArchive, Rules: newRules(t), Dataset: noTable, Options: standard})
}

var (
	// asOf219 are rows as they stand since bangumi-data 0.3.219, asOf208 the same shows before.
	asOf219 = [][]string{
		{"294993", "tv/95479", "2020-10-02", "呪術廻戦"}, {"369304", "tv/95479/season/1/episode/25", "2023-07-06", "呪術廻戦 懐玉・玉折／渋谷事変"}, {"472741", "tv/95479/season/1/episode/48", "2026-01-08", "呪術廻戦 死滅回游 前編"},
		{"400602", "tv/209867", "2023-09-29", "葬送のフリーレン"}, {"515759", "tv/209867/season/1/episode/29", "2026-01-16", "葬送のフリーレン(第2期)"},
		{"329906", "tv/120089", "2022-04-09", "SPY×FAMILY"}, {"373267", "tv/120089/season/1/episode/13", "2022-10-01", "SPY×FAMILY(第2クール)"}, {"411427", "tv/120089/season/2", "2023-10-07", "SPY×FAMILY Season 2"},
		{"43558", "tv/45790", "2012-10-05", "ジョジョの奇妙な冒険"}, {"332261", "tv/45790/season/5", "2022-01-07", "ジョジョの奇妙な冒険 ストーンオーシャン"},
		{"375913", "tv/45790/season/5/episode/13", "2022-10-07", "ジョジョの奇妙な冒険 ストーンオーシャン(第2クール)"}, {"395782", "tv/45790/season/5/episode/25", "2023-01-06", "ジョジョの奇妙な冒険 ストーンオーシャン(第3クール)"},
		{"777", "tv/7", "2019-07-01", "短い夏"}, {"778", "tv/7/season/1/episode/13", "2020-07-01", "短い夏 第2部"},
		{"781", "tv/8", "2021-01-04", "数え歌"}, {"782", "tv/8/season/1/episode/13", "2021-04-05", "数え歌 後編"},
		{"80993", "tv/1429/season/0/episode/7", "2013-12-09", "進撃の巨人 OAD"}, {"88595", "movie/372058", "2016-08-26", "君の名は。"},
	}
	asOf208 = [][]string{
		{"294993", "tv/95479", "2020-10-02", "呪術廻戦"}, {"369304", "tv/95479", "2023-07-06", "呪術廻戦 懐玉・玉折／渋谷事変"}, {"472741", "tv/95479", "2026-01-08", "呪術廻戦 死滅回游 前編"},
		{"400602", "tv/209867", "2023-09-29", "葬送のフリーレン"}, {"515759", "tv/209867", "2026-01-16", "葬送のフリーレン(第2期)"},
		{"329906", "tv/120089", "2022-04-09", "SPY×FAMILY"}, {"373267", "tv/120089", "2022-10-01", "SPY×FAMILY(第2クール)"}, {"411427", "tv/120089/season/2", "2023-10-07", "SPY×FAMILY Season 2"},
		{"43558", "tv/45790", "2012-10-05", "ジョジョの奇妙な冒険"}, {"332261", "tv/45790/season/5", "2022-01-07", "ジョジョの奇妙な冒険 ストーンオーシャン"},
		{"375913", "tv/45790/season/5", "2022-10-07", "ジョジョの奇妙な冒険 ストーンオーシャン(第2クール)"}, {"395782", "tv/45790/season/5", "2023-01-06", "ジョジョの奇妙な冒険 ストーンオーシャン(第3クール)"},
		{"777", "tv/7", "2019-07-01", "短い夏"}, {"778", "tv/7", "2020-07-01", "短い夏 第2部"},
		{"781", "tv/8", "2021-01-04", "数え歌"}, {"782", "tv/8", "2021-04-05", "数え歌 後編"},
		{"80993", "tv/1429/season/0/episode/7", "2013-12-09", "進撃の巨人 OAD"}, {"88595", "movie/372058", "2016-08-26", "君の名は。"},
	}
)

func TestASeasonThatSeveralEntriesAre(t *testing.T) {
	m := merged(t)
	for name, c := range map[string]struct {
		event watch.Event
		want  string
		// before is the want with the table of before, where that differs.
		before string
	}{
		"the first part":                        {with(episode("Qwerty", 1, 5, ""), ofShow("95479")), "matched 294993/29499305", ""},
		"its last episode":                      {with(episode("Qwerty", 1, 24, ""), ofShow("95479")), "matched 294993/29499324", ""},
		"the first of the second part":          {with(episode("Qwerty", 1, 25, ""), ofShow("95479")), "matched 369304/36930401", ""},
		"the last of the second part":           {with(episode("Qwerty", 1, 47, ""), ofShow("95479")), "matched 369304/36930423", ""},
		"the third part":                        {with(episode("Qwerty", 1, 50, ""), ofShow("95479")), "matched 472741/47274103", ""},
		"a part that the table lacks":           {with(episode("Qwerty", 1, 61, "2027-01-14"), ofShow("95479")), "matched 888801/88880102", ""},
		"behind all, in a season it lacks":      {with(episode("Qwerty", 1, 39, ""), ofShow("209867")), "review", ""},
		"by its title, too":                     {with(episode("葬送のフリーレン", 1, 39, ""), ofShow("209867")), "review", ""},
		"in a season it lacks, and dated":       {with(episode("Qwerty", 1, 39, "2028-01-07"), ofShow("209867")), "matched 888802/88880201", ""},
		"behind all":                            {with(episode("Qwerty", 1, 99, ""), ofShow("95479")), "episode_not_found 472741", "episode_not_found 294993"},
		"another show, first part":              {with(episode("Qwerty", 1, 5, ""), ofShow("209867")), "matched 400602/40060205", ""},
		"another show, second part":             {with(episode("Qwerty", 1, 30, ""), ofShow("209867")), "matched 515759/51575902", ""},
		"a part that is numbered anew":          {with(episode("Qwerty", 1, 15, ""), ofShow("120089")), "matched 373267/37326703", ""},
		"its first part":                        {with(episode("Qwerty", 1, 5, ""), ofShow("120089")), "matched 329906/32990605", ""},
		"the next season":                       {with(episode("Qwerty", 2, 1, ""), ofShow("120089")), "matched 411427/41142701", ""},
		"behind the season, not in the next":    {with(episode("Qwerty", 1, 26, ""), ofShow("120089")), "episode_not_found 373267", "episode_not_found 329906"},
		"behind the season, and dated":          {with(episode("Qwerty", 1, 26, "2023-10-07"), ofShow("120089")), "matched 411427/41142701", ""},
		"under the name of the show":            {with(episode("SPY×FAMILY", 1, 15, ""), ofShow("120089")), "matched 373267/37326703", ""},
		"a later season":                        {with(episode("Qwerty", 5, 5, ""), ofShow("45790")), "matched 332261/33226105", ""},
		"a later season, second part":           {with(episode("Qwerty", 5, 14, ""), ofShow("45790")), "matched 375913/37591302", ""},
		"a later season, third part":            {with(episode("Qwerty", 5, 38, ""), ofShow("45790")), "matched 395782/39578214", ""},
		"its first season":                      {with(episode("Qwerty", 1, 14, ""), ofShow("45790")), "matched 43558/4355814", ""},
		"counted anew in a part, by date":       {with(episode("Qwerty", 5, 2, "2022-10-14"), ofShow("45790")), "matched 375913/37591302", ""},
		"a part under its own title":            {with(episode("呪術廻戦 死滅回游 前編", 1, 3, ""), ofShow("95479")), "matched 472741/47274103", "matched 294993/29499303"},
		"and counted through":                   {with(episode("呪術廻戦 死滅回游 前編", 1, 50, ""), ofShow("95479")), "matched 472741/47274103", ""},
		"its own title, and a number for both":  {with(episode("SPY×FAMILY(第2クール)", 1, 13, ""), ofShow("120089")), "matched 373267/37326713", "matched 373267/37326701"},
		"and a number before it":                {with(episode("SPY×FAMILY(第2クール)", 1, 12, ""), ofShow("120089")), "matched 373267/37326712", "matched 329906/32990612"},
		"which the date tells":                  {with(episode("SPY×FAMILY(第2クール)", 1, 13, "2022-12-24"), ofShow("120089")), "matched 373267/37326713", ""},
		"between the end and the next part":     {with(episode("Qwerty", 1, 11, ""), ofShow("7")), "episode_not_found 777", "matched 778/77801"},
		"and it goes on":                        {with(episode("Qwerty", 1, 13, ""), ofShow("7")), "matched 778/77801", "matched 778/77803"},
		"place and number differ":               {with(episode("Qwerty", 1, 15, ""), ofShow("8")), "review", ""},
		"the date tells the place":              {with(episode("Qwerty", 1, 15, "2021-04-19"), ofShow("8")), "matched 782/78203", ""},
		"the date tells the number":             {with(episode("Qwerty", 1, 15, "2021-04-12"), ofShow("8")), "matched 782/78202", ""},
		"a special, the first of an entry":      {with(episode("Qwerty", 0, 7, ""), ofShow("1429")), "matched 80993/8099301", ""},
		"a special, the second of it, undated":  {with(episode("Qwerty", 0, 8, ""), ofShow("1429")), "review", ""},
		"a special, the second of it, and when": {with(episode("Qwerty", 0, 8, "2013-12-16"), ofShow("1429")), "matched 80993/8099302", ""},
		"a special behind its end":              {with(episode("Qwerty", 0, 10, ""), ofShow("1429")), "not_found", ""},
		"a film":                                {with(movie("Qwerty", "", ""), func(e *watch.Event) { e.ItemIDs = watch.IDs{"tmdb": "372058"} }), "matched 88595/0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, table := range []struct {
				name string
				rows [][]string
				want string
			}{{"now", asOf219, c.want}, {"before", asOf208, c.before}} {
				if table.want == "" {
					table.want = c.want
				}
				m.Dataset = tableOf(t, table.rows...)
				trace := m.Match(t.Context(), c.event)
				if got := outcome(trace.Result); got != table.want {
					t.Errorf("%s: %s, want %s\n%s", table.name, got, table.want, brief(trace))
				}
				checkSteps(t, trace)
			}
		})
	}
}
