package match_test

import (
	"strings"
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/match"
	"watchmark/internal/match/idmap"
	"watchmark/internal/platform/reason"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/watch"
)

// otherSeasons says how TheTVDB numbers the shows of numberedShows.
const otherSeasons = `<anime-list>
  <anime anidbid="1" tvdbid="500" defaulttvdbseason="1"><name>Hoshi no Shirube</name></anime>
  <anime anidbid="2" tvdbid="500" defaulttvdbseason="2"><name>Hoshi no Shirube 2</name></anime>
  <anime anidbid="5" tvdbid="500" defaulttvdbseason="2" episodeoffset="12"><name>Hoshi no Shirube: Saishuushou</name></anime>
  <anime anidbid="3" tvdbid="500" defaulttvdbseason="0" episodeoffset="4"><name>Hoshi no Shirube: Gaiden</name></anime>
  <anime anidbid="4" tvdbid="500" defaulttvdbseason="0" episodeoffset="9" imdbid="tt0000777"><name>Gekijouban Hoshi no Shirube</name></anime>
  <anime anidbid="11" tvdbid="600" defaulttvdbseason="1"><name>Futatsu no Michi</name></anime>
  <anime anidbid="13" tvdbid="600" defaulttvdbseason="2"><name>Futatsu no Michi: Besshou</name></anime>
  <anime anidbid="21" tvdbid="700" defaulttvdbseason="1"><name>Joined</name></anime>
  <anime anidbid="22" tvdbid="700" defaulttvdbseason="1" episodeoffset="12"><name>Joined 2</name></anime>
  <anime anidbid="41" tvdbid="800" defaulttvdbseason="1"><name>Kakurezato</name></anime>
  <anime anidbid="42" tvdbid="800" defaulttvdbseason="2"><name>Kakurezato Yoru no Shou</name></anime>
  <anime anidbid="43" tvdbid="800" defaulttvdbseason="3"><name>Kakurezato Asa no Shou</name></anime>
  <anime anidbid="44" tvdbid="800" defaulttvdbseason="3" episodeoffset="12" imdbid="tt0000888"><name>Kakurezato Yoru no Shou 2</name></anime>
</anime-list>`

// numberedShows is a catalog of shows that TheTVDB numbers in another way, with the table of their ids and that list.
func numberedShows(t *testing.T) *match.Matcher {
	t.Helper()
	server, client := newCatalog(t)
	add := func(id catalog.SubjectID, name, platform, date string, n int) {
		server.AddSubject(catalogtest.Subject{ID: id, Type: catalog.Anime, Name: name, Date: date, Platform: platform})
		weekly(server, id, 1, n, date)
	}
	add(9001, "星の標", "TV", "2019-04-06", 12)
	add(9002, "星の標 第2期", "TV", "2020-04-04", 12)
	add(9005, "星の標 最終章", "TV", "2022-01-08", 12)
	server.AddSubject(
		catalogtest.Subject{ID: 9003, Type: catalog.Anime, Name: "星の標 外伝", Date: "2021-05-01", Platform: "OVA"},
		catalogtest.Subject{ID: 9004, Type: catalog.Anime, Name: "劇場版 星の標", Date: "2021-10-01", Platform: "剧场版"})
	for i := range 3 { // all of one day
		server.AddEpisodes(9003, catalogtest.Episode{ID: catalog.EpisodeID(900301 + i), Sort: float64(i + 1), AirDate: "2021-05-01"})
	}
	sequel(server, 9001, 9002)
	sequel(server, 9002, 9005)
	server.AddRelation(9001, catalog.CodeSideStory, 9003)
	server.AddRelation(9001, catalog.CodeSideStory, 9004)
	add(9101, "二つの道", "TV", "2018-01-06", 12)
	add(9102, "二つの道 第2期", "TV", "2019-01-05", 12)
	add(9103, "二つの道 別章", "TV", "2020-01-04", 12)
	sequel(server, 9101, 9102)
	add(9201, "一つに続く", "TV", "2016-01-09", 24)
	add(9301, "ゆうやけこやけ", "TV", "2015-01-10", 12)
	add(9401, "隠れ里", "TV", "2012-01-07", 12)
	add(9403, "隠れ里 朝の章", "TV", "2014-01-04", 24)
	sequel(server, 9401, 9403)
	add(9405, "隠れ里 夕の章", "TV", "2015-04-04", 12)
	table, _ := tableOf(t,
		[]string{"9001", "anidb/1", "2019-04-06", "星の標", "星之路标"}, []string{"9002", "anidb/2", "2020-04-04", "星の標 第2期"}, []string{"9003", "anidb/3", "2021-05-01", "星の標 外伝"},
		[]string{"9004", "anidb/4", "2021-10-01", "劇場版 星の標"}, []string{"9005", "anidb/5", "2022-01-08", "星の標 最終章"},
		[]string{"9101", "anidb/11", "2018-01-06", "二つの道", "两条路"}, []string{"9102", "anidb/12", "2019-01-05", "二つの道 第2期"}, []string{"9103", "anidb/13", "2020-01-04", "二つの道 別章"},
		[]string{"9201", "anidb/21", "2016-01-09", "一つに続く"}, []string{"9301", "anidb/31", "2015-01-10", "ゆうやけこやけ"},
		[]string{"9401", "anidb/41", "2012-01-07", "隠れ里"}, []string{"9402", "anidb/42", "2013-01-05", "隠れ里 夜の章"}, []string{"9403", "anidb/43", "2014-01-04", "隠れ里 朝の章"},
		[]string{"9404", "anidb/44", "2015-01-03", "隠れ里 夜の章 第2期"}, []string{"9405", "anidb/44", "2015-04-04", "隠れ里 夕の章"},
	)()
	list, err := idmap.ReadAnimeLists(strings.NewReader(otherSeasons))
	if err != nil {
		t.Fatal(err)
	}
	list.Version = "2026"
	table.Lists = []*idmap.Seasons{list}
	return match.New(match.Config{Catalog: client, Archive: noArchive, Rules: newRules(t), Options: standard,
		Dataset: func() (*idmap.Table, reason.Reason) { return table, reason.Reason{} }})
}

func TestSeasonsOfOtherSites(t *testing.T) {
	m := numberedShows(t)
	tvdb := func(id string) func(*watch.Event) {
		return func(e *watch.Event) { e.SeriesIDs = watch.IDs{"tvdb": id} }
	}
	for name, c := range map[string]struct {
		event watch.Event
		want  string
	}{
		"by id, a later season":                 {with(episode("Qwerty", 2, 3, ""), tvdb("500")), "matched 9002/900203"},
		"by id, the second entry of a season":   {with(episode("Qwerty", 2, 14, ""), tvdb("500")), "matched 9005/900502"},
		"by id, and the day agrees":             {with(episode("Qwerty", 2, 14, "2022-01-15"), tvdb("500")), "matched 9005/900502"},
		"by id, and the day contradicts":        {with(episode("Qwerty", 2, 14, "2019-04-13"), tvdb("500")), "review"},
		"by id, a special of the list":          {with(episode("Qwerty", 0, 6, "2021-05-01"), tvdb("500")), "matched 9003/900302"},
		"by id, a film among the specials":      {with(episode("Qwerty", 0, 10, ""), tvdb("500")), "matched 9004/0"},
		"by id, a special that nobody knows":    {with(episode("星の標", 0, 20, ""), tvdb("500")), "not_found"},
		"by id, behind the end of all":          {with(episode("Qwerty", 2, 60, ""), tvdb("500")), "not_found"},
		"by id, of an entry that Bangumi joins": {with(episode("Qwerty", 1, 15, ""), tvdb("700")), "matched 9201/920115"},
		"an id that nobody knows":               {with(episode("Qwerty", 1, 1, ""), tvdb("501")), "not_found"},
		"an id that is no number":               {with(episode("Qwerty", 1, 1, ""), tvdb("../500")), "not_found"},
		"a film by its id at IMDb":              {with(movie("Qwerty", "", ""), func(e *watch.Event) { e.ItemIDs = watch.IDs{"imdb": "tt0000777"} }), "matched 9004/0"},
		"romaji":                                {episode("Hoshi no Shirube", 1, 5, ""), "matched 9001/900105"},
		"romaji in another spelling":            {episode("Hosi no Sirube", 1, 5, ""), "matched 9001/900105"},
		"kana in romaji":                        {episode("Yuuyake Koyake", 1, 3, ""), "matched 9301/930103"},
		"romaji, counted through":               {episode("Hoshi no Shirube", 2, 14, ""), "matched 9005/900502"},
		"romaji, a special of the list":         {episode("Hoshi no Shirube", 0, 5, "2021-05-01"), "matched 9003/900301"},
		"Chinese, a season of its own only":     {episode("星之路标", 3, 2, ""), "matched 9005/900502"},
		"a special by its day, of several":      {episode("二つの道", 0, 3, "2021-05-01"), "not_found"},
		"two numberings differ":                 {episode("两条路", 2, 1, ""), "review"},
		"and the day speaks for the list":       {episode("两条路", 2, 1, "2020-01-04"), "matched 9103/910301"},
		"and the day speaks for the catalog":    {episode("两条路", 2, 1, "2019-01-05"), "matched 9102/910201"},
		"the title of a later entry":            {episode("二つの道 別章", 1, 3, ""), "matched 9103/910303"},
	} {
		t.Run(name, func(t *testing.T) {
			trace := m.Match(t.Context(), c.event)
			if got := outcome(trace.Result); got != c.want {
				t.Errorf("%s, want %s\n%s", got, c.want, brief(trace))
			}
		})
	}
}

// TestADisputeIsAskedWithBothEntries holds what a person sees where two numberings differ.
func TestADisputeIsAskedWithBothEntries(t *testing.T) {
	m := numberedShows(t)
	trace := m.Match(t.Context(), episode("两条路", 2, 1, ""))
	found := map[catalog.SubjectID]bool{}
	told := false
	for _, step := range trace.Steps {
		for _, c := range step.Candidates {
			found[c.SubjectID] = true
		}
		if rows, is := step.Output["numbering"].(reason.Reason); is {
			told = rows.Text == "TheTVDB: Anime-Lists 2026, AniDB 13 (S2+0) is entry #9103, episode 1"
		}
	}
	if trace.Result.Status != match.Review || !found[9102] || !found[9103] || !told {
		t.Errorf("%s, candidates %v, the row is told: %v", outcome(trace.Result), found, told)
	}
}

// TestTheReasonSaysWhatLedThere holds that only a match by an id of the event is explained by one.
func TestTheReasonSaysWhatLedThere(t *testing.T) {
	m := numberedShows(t)
	for name, c := range map[string]struct {
		event watch.Event
		want  string
	}{
		"by id":    {with(episode("Qwerty", 2, 14, ""), func(e *watch.Event) { e.SeriesIDs = watch.IDs{"tvdb": "500"} }), "fits_id"},
		"by title": {episode("Hoshi no Shirube", 2, 14, ""), "fits_title"},
	} {
		t.Run(name, func(t *testing.T) {
			trace := m.Match(t.Context(), c.event)
			why, _ := trace.Result.Reason.Args["reasons"].([]reason.Reason)
			if len(why) == 0 || why[0].Code != c.want || outcome(trace.Result) != "matched 9005/900502" {
				t.Errorf("%s because %v, want %s\n%s", outcome(trace.Result), trace.Result.Reason, c.want, brief(trace))
			}
		})
	}
}

// TestWhatTheCatalogHidesIsAsked holds that nothing else is marked in the place of an entry that the id leads to and the catalog does
// not show, unless the day of the event is that of the episode.
func TestWhatTheCatalogHidesIsAsked(t *testing.T) {
	m := numberedShows(t)
	of := func(e watch.Event) watch.Event { e.SeriesIDs = watch.IDs{"tvdb": "800"}; return e }
	for name, c := range map[string]struct {
		event  watch.Event
		want   string
		hidden any
	}{
		"a season before it":                  {of(episode("隠れ里", 1, 3, "")), "matched 9401/940103", nil},
		"where the catalog counts another":    {of(episode("隠れ里", 2, 3, "")), "review", catalog.SubjectID(9402)},
		"and the day is that of another":      {of(episode("隠れ里", 2, 3, "2014-01-18")), "review", catalog.SubjectID(9402)},
		"of a title that nobody knows":        {of(episode("Qwerty", 2, 3, "")), "not_found", catalog.SubjectID(9402)},
		"the first half of an entry of AniDB": {of(episode("Qwerty", 3, 13, "")), "not_found", catalog.SubjectID(9404)},
		"the second half, by its day":         {of(episode("Qwerty", 3, 13, "2015-04-04")), "matched 9405/940501", nil},
		"a film by its id at IMDb":            {with(movie("隠れ里", "", ""), func(e *watch.Event) { e.ItemIDs = watch.IDs{"imdb": "tt0000888"} }), "review", catalog.SubjectID(9404)},
		"the season of the entry before it":   {of(episode("Qwerty", 3, 2, "")), "matched 9403/940302", nil},
	} {
		t.Run(name, func(t *testing.T) {
			trace := m.Match(t.Context(), c.event)
			var hidden any
			for _, step := range trace.Steps {
				if step.Name == match.StepDataset {
					hidden = step.Output["hidden"]
				}
			}
			if got := outcome(trace.Result); got != c.want || hidden != c.hidden {
				t.Errorf("%s, hidden %v, want %s, hidden %v\n%s", got, hidden, c.want, c.hidden, brief(trace))
			}
		})
	}
}
