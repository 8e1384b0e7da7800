package match_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog"
	"watchmark/internal/match"
	"watchmark/internal/match/mapping"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/watch"
)

// world is a small catalog: a show with a split second season, its specials, its
// film, its side story, and the traps around them.
func world(t *testing.T) (*catalogtest.Server, *mapping.Store, *match.Matcher) {
	t.Helper()
	server, client := newCatalog(t)
	rules := newRules(t)
	tv := func(id catalog.SubjectID, name, nameCN, date string, aliases ...string) {
		server.AddSubject(catalogtest.Subject{ID: id, Type: catalog.Anime, Name: name, NameCN: nameCN, Date: date, Platform: "TV", Aliases: aliases})
	}
	tv(100, "灯台の見張り", "灯塔守望者", "2020-01-05", "Lighthouse Keeper")
	weekly(server, 100, 1, 12, "2020-01-05")
	server.AddEpisodes(100, catalogtest.Episode{ID: 10090, Type: catalog.Special, Sort: 1, Name: "海の特別編", AirDate: "2020-05-01"},
		catalogtest.Episode{ID: 10091, Type: catalog.Special, Sort: 6.5, Name: "総集編", AirDate: "2020-02-12"})
	tv(101, "灯台の見張り 嵐の章", "灯塔守望者 风暴之章", "2021-04-04") // the second season, by its place in the chain alone
	weekly(server, 101, 13, 12, "2021-04-04")
	tv(102, "灯台の見張り 嵐の章 第2クール", "灯塔守望者 风暴之章 第2部分", "2021-10-03")
	weekly(server, 102, 25, 12, "2021-10-03")
	tv(103, "灯台の見張り 3rd Season", "灯塔守望者 第三季", "2023-01-08")
	weekly(server, 103, 1, 10, "2023-01-08")
	sequel(server, 100, 101)
	sequel(server, 101, 102)
	sequel(server, 102, 103)
	server.AddSubject(
		catalogtest.Subject{ID: 110, Type: catalog.Anime, Name: "灯台の見張り 夏の島", NameCN: "灯塔守望者 夏之岛", Date: "2020-08-20", Platform: "OVA"},
		catalogtest.Subject{ID: 111, Type: catalog.Anime, Name: "劇場版 灯台の見張り", NameCN: "剧场版 灯塔守望者", Date: "2022-07-01", Platform: "剧场版"},
		catalogtest.Subject{ID: 112, Type: catalog.Book, Name: "灯台の見張り", NameCN: "灯塔守望者", Date: "2018-03-01", Platform: "漫画"},
		catalogtest.Subject{ID: 113, Type: catalog.Real, Name: "潮の町", NameCN: "潮汐小镇", Date: "2019-04-01", Platform: "日剧"},
	)
	weekly(server, 110, 1, 1, "2020-08-20")
	weekly(server, 113, 1, 10, "2019-04-01")
	server.AddSubject(catalogtest.Subject{ID: 115, Type: catalog.Music, Name: "灯台の見張り OST", Date: "2020-03-01"})
	weekly(server, 115, 1, 3, "2020-03-01")
	server.AddSubject(catalogtest.Subject{ID: 116, Type: catalog.Anime, Name: "始まる星", Date: "2026-11-15", Platform: "TV", Eps: 12},
		catalogtest.Subject{ID: 117, Type: catalog.Anime, Name: "終わる星", Date: "2019-11-15", Platform: "剧场版"})
	weekly(server, 116, 1, 1, "2026-11-15")
	weekly(server, 117, 1, 1, "2019-11-15")
	server.AddRelation(100, catalog.CodeSideStory, 110)
	server.AddRelation(100, catalog.CodeSideStory, 111)

	tv(120, "双子の港", "双子港", "2010-04-01") // two shows of one name
	tv(121, "双子の港", "双子港", "2018-04-01")
	weekly(server, 120, 1, 12, "2010-04-01")
	weekly(server, 121, 1, 12, "2018-04-01")
	tv(130, "ゼロの海図", "零号海图", "2015-07-04") // has an episode 0
	weekly(server, 130, 0, 12, "2015-07-04")
	tv(140, "日付のない航海", "没有日期的航海", "")
	server.AddEpisodes(140, catalogtest.Episode{ID: 14001, Sort: 1}, catalogtest.Episode{ID: 14002, Sort: 2})
	tv(150, "長い潮流", "长潮", "2016-01-03") // 26 episodes, then a second season that goes on with 27
	weekly(server, 150, 1, 12, "2016-01-03")
	tv(151, "長い潮流 第2期", "长潮 第二季", "2017-01-08")
	weekly(server, 151, 13, 26, "2017-01-08")
	sequel(server, 150, 151)

	tv(160, "終わらない旅", "没有尽头的旅途", "2001-04-01") // one subject for every season
	weekly(server, 160, 1, 300, "2001-04-01")

	tv(170, "古い港", "旧港", "1998-04-05") // goes on after a long pause
	weekly(server, 170, 1, 12, "1998-04-05")
	tv(171, "古い港 帰り道", "旧港 归途", "2014-04-06")
	weekly(server, 171, 1, 12, "2014-04-06")
	sequel(server, 170, 171)
	tv(180, "風の地図", "风之地图", "2010-01-10") // its second season is not on Bangumi
	weekly(server, 180, 1, 12, "2010-01-10")
	tv(181, "風の地図 第3期", "风之地图 第三季", "2014-01-12")
	weekly(server, 181, 1, 12, "2014-01-12")
	tv(182, "風の地図 終わりの海", "风之地图 终末之海", "2016-01-10")
	weekly(server, 182, 1, 12, "2016-01-10")
	sequel(server, 180, 181)
	sequel(server, 181, 182)

	tv(190, "輪の歌", "轮之歌", "2012-04-01") // its sequel differs by a sign
	weekly(server, 190, 1, 12, "2012-04-01")
	tv(191, "輪の歌！", "轮之歌！", "2013-04-07")
	weekly(server, 191, 1, 12, "2013-04-07")
	sequel(server, 190, 191)

	return server, rules, match.New(match.Config{Catalog: client, Archive: noArchive, Rules: rules, Dataset: noTable, Options: standard})
}

// weekly adds n main episodes from sort first on, one a week from day on; the id is subject*100 + place.
func weekly(server *catalogtest.Server, subject catalog.SubjectID, first float64, n int, day string) {
	at := watch.ParseDate(day).Time()
	for i := range n {
		server.AddEpisodes(subject, catalogtest.Episode{ID: catalog.EpisodeID(int(subject)*100 + i + 1), Sort: first + float64(i),
			AirDate: at.Add(time.Duration(i) * 7 * 24 * time.Hour).Format(time.DateOnly)})
	}
}

func sequel(server *catalogtest.Server, from, to catalog.SubjectID) {
	server.AddRelation(from, catalog.CodeSequel, to)
	server.AddRelation(to, catalog.CodePrequel, from)
}

func episode(title string, season int, number float64, date string) watch.Event {
	return watch.Event{Source: watch.Custom, Action: watch.Watched, Media: watch.Episode, Title: title, Season: &season, Episode: &number,
		AirDate: watch.ParseDate(date), UserName: "mira"}
}

func movie(title, original, date string) watch.Event {
	return watch.Event{Source: watch.Custom, Action: watch.Watched, Media: watch.Movie, Title: title, OriginalTitle: original,
		AirDate: watch.ParseDate(date), UserName: "mira"}
}

func with(e watch.Event, change func(*watch.Event)) watch.Event {
	change(&e)
	return e
}

// outcome is what the cases compare: "matched 100/10003", or the status alone.
func outcome(r match.Result) string {
	switch r.Status {
	case match.Matched:
		return fmt.Sprintf("matched %d/%d", r.SubjectID, r.EpisodeID)
	case match.EpisodeNotFound:
		return fmt.Sprintf("episode_not_found %d", r.SubjectID)
	}
	return string(r.Status)
}

func TestMatch(t *testing.T) {
	_, _, m := world(t)
	for name, c := range map[string]struct {
		event watch.Event
		want  string
	}{
		"title and date":                               {episode("灯塔守望者", 1, 3, "2020-01-19"), "matched 100/10003"},
		"alias, no date":                               {episode("Lighthouse Keeper", 1, 3, ""), "matched 100/10003"},
		"the day before, somewhere west":               {episode("灯台の見張り", 1, 3, "2020-01-18"), "matched 100/10003"},
		"the season's first date":                      {episode("灯台の見張り", 1, 9, "2020-01-05"), "matched 100/10009"},
		"the year only":                                {episode("灯台の見張り (2020)", 1, 9, ""), "matched 100/10009"},
		"slip of the pen, the date agrees":             {episode("灯塔守者", 1, 3, "2020-01-19"), "matched 100/10003"},
		"slip of the pen, no date":                     {episode("灯塔守者", 1, 3, ""), "review"},
		"same title, far from that date":               {episode("灯塔守望者", 1, 3, "2004-06-01"), "review"},
		"nothing like it":                              {episode("The Office", 1, 3, "2005-03-24"), "not_found"},
		"a name that two shows bear, no date":          {episode("双子港", 1, 3, ""), "review"},
		"a name that two shows bear, date":             {episode("双子港", 1, 3, "2018-04-15"), "matched 121/12103"},
		"a catalog entry without a date":               {episode("没有日期的航海", 1, 2, "2001-01-01"), "matched 140/14002"},
		"second season along the chain":                {episode("灯塔守望者", 2, 3, "2021-04-18"), "matched 101/10103"},
		"second season, no date":                       {episode("灯塔守望者", 2, 3, ""), "matched 101/10103"},
		"split cour, counted in the season":            {episode("灯塔守望者", 2, 15, "2021-10-17"), "matched 102/10203"},
		"split cour, no date":                          {episode("灯塔守望者", 2, 25, ""), "matched 102/10201"},
		"third season by its mark":                     {episode("灯塔守望者", 3, 2, ""), "matched 103/10302"},
		"season in the title, library says 1":          {episode("灯塔守望者 第三季", 1, 2, "2023-01-15"), "matched 103/10302"},
		"a season the catalog lacks":                   {episode("灯塔守望者", 4, 1, "2025-01-05"), "not_found"},
		"a season the catalog lacks, no date":          {episode("灯塔守望者", 4, 1, ""), "not_found"},
		"counted over a long pause, no date":           {episode("旧港", 2, 3, ""), "review"},
		"counted over a long pause, the date agrees":   {episode("旧港", 2, 3, "2014-04-20"), "matched 171/17103"},
		"counted where a season is missing, no date":   {episode("风之地图", 4, 3, ""), "review"},
		"counted where a season is missing, date":      {episode("风之地图", 4, 3, "2016-01-24"), "matched 182/18203"},
		"marked where a season is missing":             {episode("风之地图", 3, 3, ""), "matched 181/18103"},
		"the season that is missing":                   {episode("风之地图", 2, 3, ""), "not_found"},
		"absolute number, the date agrees":             {episode("灯塔守望者", 1, 26, "2021-10-10"), "matched 102/10202"},
		"continued numbers mean the place":             {episode("长潮", 2, 14, "2017-04-09"), "matched 151/15114"},
		"continued numbers, the date says sort":        {episode("长潮", 2, 14, "2017-01-15"), "matched 151/15102"},
		"episode 0 shifts nothing":                     {episode("零号海图", 1, 3, "2015-07-25"), "matched 130/13004"},
		"episode 0 itself":                             {episode("零号海图", 1, 0, "2015-07-04"), "matched 130/13001"},
		"a list that begins with 0 is not counted":     {episode("零号海图", 1, 12, ""), "episode_not_found 130"},
		"a fraction among the specials":                {episode("灯塔守望者", 1, 6.5, "2020-02-12"), "matched 100/10091"},
		"the list lacks the episode":                   {episode("双子港", 1, 30, "2018-04-01"), "episode_not_found 121"},
		"special row by its day":                       {episode("灯塔守望者", 0, 7, "2020-05-01"), "matched 100/10090"},
		"special by its number alone":                  {episode("灯塔守望者", 0, 1, ""), "review"},
		"side story by its day":                        {episode("灯塔守望者", 0, 9, "2020-08-20"), "matched 110/11001"},
		"special on the day a later season began":      {episode("灯塔守望者", 0, 9, "2023-01-08"), "not_found"},
		"special on a day of a weekly relative":        {episode("灯塔守望者", 0, 9, "2021-04-11"), "not_found"},
		"equal but for a sign, the first is meant":     {episode("轮之歌", 1, 2, ""), "matched 190/19002"},
		"the name with something behind it":            {episode("Lighthouse Keeper EX", 1, 3, ""), "review"},
		"special on a day of nothing":                  {episode("灯塔守望者", 0, 9, "2024-08-20"), "not_found"},
		"film without an episode list":                 {movie("剧场版 灯塔守望者", "劇場版 灯台の見張り", "2022-07-01"), "matched 111/0"},
		"film, original title alone is known":          {movie("The Lighthouse Movie", "劇場版 灯台の見張り", "2022-07-01"), "matched 111/0"},
		"live action is not looked for unasked":        {episode("潮汐小镇", 1, 2, ""), "not_found"},
		"live action":                                  {with(episode("潮汐小镇", 1, 2, ""), func(e *watch.Event) { e.Media = watch.RealAction }), "matched 113/11302"},
		"live action is not looked for in anime":       {with(episode("灯塔守望者", 1, 2, ""), func(e *watch.Event) { e.Media = watch.RealAction }), "not_found"},
		"one subject for all seasons, counted through": {episode("没有尽头的旅途", 5, 200, "2005-01-23"), "matched 160/16200"},
		"one subject for all seasons, first episode":   {episode("没有尽头的旅途", 5, 1, "2005-01-23"), "matched 160/16200"},
		"one subject for all seasons, counted anew":    {episode("没有尽头的旅途", 5, 4, "2005-01-23"), "review"},
		"the date is that of another episode":          {episode("灯塔守望者", 1, 4, "2020-01-19"), "review"},
		"no season told":                               {with(episode("灯塔守望者", 1, 2, ""), func(e *watch.Event) { e.Season = nil }), "matched 100/10002"},
		"the season's own title is the known one":      {with(episode("终末之海", 1, 3, ""), func(e *watch.Event) { e.SeasonTitle = "风之地图 终末之海" }), "matched 182/18203"},
		"the season's own title has the number":        {with(episode("灯塔守望者", 1, 2, ""), func(e *watch.Event) { e.SeasonTitle = "灯塔守望者 第三季" }), "matched 103/10302"},
		"the season's own title, specials":             {with(episode("灯塔守望者", 0, 7, "2020-05-01"), func(e *watch.Event) { e.SeasonTitle = "灯塔守望者 第三季" }), "matched 100/10090"},
		"the season's own title, unknown":              {with(episode("灯塔守望者", 4, 1, ""), func(e *watch.Event) { e.SeasonTitle = "灯塔守望者 终章" }), "not_found"},
		"special by the title of the episode":          {with(episode("灯塔守望者", 0, 3, ""), func(e *watch.Event) { e.EpisodeTitle = "海の特別編" }), "matched 100/10090"},
	} {
		t.Run(name, func(t *testing.T) {
			trace := m.Match(t.Context(), c.event)
			if got := outcome(trace.Result); got != c.want {
				t.Errorf("%s, want %s\n%s", got, c.want, brief(trace))
			}
			if trace.Result.Reason.IsZero() {
				t.Error("no reason given")
			}
			checkSteps(t, trace)
		})
	}
}

// checkSteps holds what every trace promises: the steps in order, no null list, ratios that are ratios.
func checkSteps(t *testing.T, trace match.Trace) {
	t.Helper()
	text, err := json.Marshal(trace)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{`"input":null`, `"output":null`, `"candidates":null`, `"steps":null`} {
		if strings.Contains(string(text), bad) {
			t.Errorf("the trace holds %s: %s", bad, text)
		}
	}
	names := []string{}
	for _, step := range trace.Steps {
		names = append(names, string(step.Name))
		for _, c := range step.Candidates {
			if c.Score < 0 || c.Score > 1 {
				t.Errorf("score %v of %d", c.Score, c.SubjectID)
			}
			for part, value := range c.Parts {
				if value < 0 || value > 1 {
					t.Errorf("part %s = %v", part, value)
				}
			}
		}
	}
	want := []string{"block", "mapping", "payload_id", "dataset", "archive", "api", "live_action", "adult", "episode", "decision"}
	if trace.Result.Status == match.NotFound {
		want = slices.DeleteFunc(want, func(name string) bool { return name == "episode" })
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

func TestFilmIsTold(t *testing.T) {
	_, _, m := world(t)
	r := m.Match(t.Context(), movie("剧场版 灯塔守望者", "", "")).Result
	if !r.Film || r.SubjectType != catalog.Anime || r.EpisodeID != 0 || r.EpisodeSort != nil {
		t.Errorf("%+v", r)
	}
	if r := m.Match(t.Context(), episode("灯塔守望者", 1, 2, "")).Result; r.Film || r.EpisodeSort == nil || *r.EpisodeSort != 2 {
		t.Errorf("%+v", r)
	}
}

func TestMappingsComeFirst(t *testing.T) {
	server, rules, m := world(t)
	zero, two, nine := 0, 2, 9.0
	for _, mp := range []mapping.Mapping{
		{Title: "灯塔守望者", Season: &two, SubjectID: 121, EpisodeOffset: 4, Origin: mapping.ByPerson},
		{Title: "灯塔守望者", SubjectID: 120, Origin: mapping.ByPerson},
		{Title: "灯塔", Regex: true, SubjectID: 100, Origin: mapping.ByPerson},
		{Title: "Hidden", SubjectID: 4444, Origin: mapping.ByPerson},
		{Title: "Film", SubjectID: 111, Origin: mapping.ByPerson},
		{Title: "Second half", SubjectID: 102, Origin: mapping.ByPerson},
		{Title: "旧港", SubjectID: 111, Origin: mapping.ByPerson},
		{Title: "长潮", SubjectID: 150, Origin: mapping.ByPerson},
		{Title: "剧场版 灯塔守望者", Form: mapping.FilmForm, SubjectID: 120, Origin: mapping.ByConfirm},
		{Title: "灯台の見張り", Season: &zero, Form: mapping.ShowForm, Episode: &nine, SubjectID: 110, EpisodeOffset: -8, Origin: mapping.ByConfirm},
		{Title: "潮声", Form: mapping.FilmForm, SubjectID: 120, Origin: mapping.ByConfirm},
		{Title: "潮声", Form: mapping.ShowForm, SubjectID: 111, Origin: mapping.ByConfirm},
	} {
		if _, err := rules.Create(t.Context(), mp); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		event watch.Event
		want  string
	}{
		"this season with an offset":       {episode("灯塔守望者", 2, 3, "2021-04-18"), "matched 121/12107"},
		"every season":                     {episode("灯塔守望者", 1, 3, ""), "matched 120/12003"},
		"expression":                       {episode("小灯塔", 1, 3, ""), "matched 100/10003"},
		"before the media server's own id": {with(episode("灯塔守望者", 1, 3, ""), func(e *watch.Event) { e.CatalogSubject = 103 }), "matched 120/12003"},
		"behind the end of the list":       {episode("灯塔守望者", 1, 90, ""), "episode_not_found 120"},
		"a subject the catalog lacks":      {episode("Hidden", 1, 1, ""), "not_found"},
		"a film":                           {movie("Film", "", ""), "matched 111/0"},
		"by its number in a later part":    {episode("Second half", 1, 26, ""), "matched 102/10202"},
		"by its place in a later part":     {episode("Second half", 1, 2, ""), "matched 102/10202"},
		"by its place, the date agrees":    {episode("Second half", 1, 2, "2021-10-10"), "matched 102/10202"},
		"by its place, before that part":   {episode("Second half", 1, 2, "2020-01-12"), "episode_not_found 102"},
		"for every season, to a film":      {episode("旧港", 1, 3, ""), "matched 170/17003"},
		"for every season, to a show":      {movie("长潮", "", ""), "review"},
		"an answer, to a show":             {movie("剧场版 灯塔守望者", "", ""), "matched 120/12001"},
		"an answer about the film":         {movie("潮声", "", ""), "matched 120/12001"},
		"an answer about the show":         {with(episode("潮声", 1, 1, ""), func(e *watch.Event) { e.Season = nil }), "episode_not_found 111"},
		"a special, its number":            {episode("灯台の見張り", 0, 9, ""), "matched 110/11001"},
		"another special":                  {episode("灯台の見張り", 0, 1, ""), "review"},
		"another special, of a day":        {episode("灯台の見張り", 0, 1, "2020-05-01"), "matched 100/10090"},
		"other titles go their way":        {episode("双子港", 1, 3, "2018-04-15"), "matched 121/12103"},
	} {
		t.Run(name, func(t *testing.T) {
			before := searches(server)
			trace := m.Match(t.Context(), c.event)
			if got := outcome(trace.Result); got != c.want {
				t.Errorf("%s, want %s\n%s", got, c.want, brief(trace))
			}
			checkSteps(t, trace)
			if led := trace.Rule != nil && trace.Rule.PassedOver.IsZero(); led != (trace.Result.Method == "mapping") {
				t.Errorf("by %s, the rule is %+v", trace.Result.Method, trace.Rule)
			}
			if want := (match.Rule{MappingID: 1, SubjectID: 121, EpisodeOffset: 4}); name == "this season with an offset" && !reflect.DeepEqual(*trace.Rule, want) {
				t.Errorf("the rule is %+v, want %+v", trace.Rule, want)
			}
			if trace.Result.Method == "mapping" && searches(server) != before {
				t.Error("searched although a mapping decided")
			}
		})
	}
}

func searches(server *catalogtest.Server) int {
	n := 0
	for path, count := range server.Requests() {
		if strings.Contains(path, "search") {
			n += count
		}
	}
	return n
}

func TestBlockedTitleIsNotLookedUp(t *testing.T) {
	server, rules, m := world(t)
	if _, err := rules.Block(t.Context(), mapping.Blocked{Keyword: "灯台", Kind: mapping.Contains, Source: mapping.ByPerson}); err != nil {
		t.Fatal(err)
	}
	blocked := with(episode("Lighthouse Keeper", 1, 3, ""), func(e *watch.Event) { e.OriginalTitle = "灯台の見張り" })
	trace := m.Match(t.Context(), blocked)
	if trace.Result.Status != match.Blocked || !strings.Contains(trace.Result.Reason.Text, "灯台") {
		t.Errorf("%+v", trace.Result)
	}
	if alone, stops := m.Blocked(t.Context(), blocked); !stops || !reflect.DeepEqual(alone.Result, trace.Result) || len(alone.Steps) != 1 || alone.Steps[0].Status != "hit" {
		t.Errorf("asked alone, the block says %v %+v", stops, alone)
	}
	if _, stops := m.Blocked(t.Context(), episode("Lighthouse Keeper", 1, 3, "")); stops {
		t.Error("another title is stopped")
	}
	if len(server.Requests()) != 0 {
		t.Errorf("asked the catalog: %v", server.Requests())
	}
}

func TestOutageIsNotAMiss(t *testing.T) {
	server, _, m := world(t)
	for name, c := range map[string]struct {
		fault catalogtest.Fault
		want  match.Status
	}{
		"connection reset":   {catalogtest.Fault{Mode: catalogtest.Refuse}, match.Unreachable},
		"server error":       {catalogtest.Fault{Mode: catalogtest.Status, Status: 503}, match.Unreachable},
		"too many requests":  {catalogtest.Fault{Mode: catalogtest.Status, Status: 429}, match.Unreachable},
		"a page for JSON":    {catalogtest.Fault{Mode: catalogtest.HTML}, match.Unreachable},
		"the client refused": {catalogtest.Fault{Mode: catalogtest.Status, Status: 403}, match.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			if err := server.SetFault(c.fault); err != nil {
				t.Fatal(err)
			}
			for _, event := range []watch.Event{
				episode("灯塔守望者", 1, 3, ""),
				with(episode("灯塔守望者", 1, 3, ""), func(e *watch.Event) { e.CatalogEpisode = 10003 }),
			} {
				trace := m.Match(catalog.Probing(t.Context()), event)
				last := trace.Steps[len(trace.Steps)-1]
				if trace.Result.Status != c.want || last.Status != "error" || trace.Result.Reason.IsZero() {
					t.Errorf("%+v, last step %+v", trace.Result, last)
				}
			}
		})
	}
}

// lagging is a catalog whose search lists a subject that it does not show.
type lagging struct {
	match.Catalog
	gone catalog.Subject
}

func (l lagging) Search(ctx context.Context, q catalog.SearchQuery) ([]catalog.Subject, error) {
	hits, err := l.Catalog.Search(ctx, q)
	return append([]catalog.Subject{l.gone}, hits...), err
}

func TestWhatTheSearchListsMayBeGone(t *testing.T) {
	_, _, m := world(t)
	m.Catalog = lagging{m.Catalog, catalog.Subject{ID: 777, Type: catalog.Anime, Name: "灯台の見張り", NameCN: "灯塔守望者"}}
	trace := m.Match(t.Context(), episode("灯塔守望者", 1, 3, "2020-01-19"))
	if got := outcome(trace.Result); got != "matched 100/10003" {
		t.Errorf("%s\n%s", got, brief(trace))
	}
}

func TestThresholdsApplyAtOnce(t *testing.T) {
	_, _, m := world(t)
	limits := asItComes
	m.Options = func() match.Options { return match.Options{Thresholds: limits} }
	event := episode("灯塔守者", 1, 3, "")
	for _, c := range []struct {
		accept, review float64
		want           match.Status
	}{{0.85, 0.5, match.Review}, {0.7, 0.5, match.Matched}, {0.95, 0.9, match.NotFound}} {
		limits.Accept, limits.Review = c.accept, c.review
		if got := m.Match(t.Context(), event).Result.Status; got != c.want {
			t.Errorf("accept %v review %v: %s, want %s", c.accept, c.review, got, c.want)
		}
	}
}
