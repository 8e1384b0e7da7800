package match_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/match"
	"watchmark/internal/match/idmap"
	"watchmark/internal/platform/reason"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/watch"
)

// tableOf is an id table of items of bangumi-data: subject, id at TMDB (or anidb/ID), first day, titles.
func tableOf(t *testing.T, items ...[]string) func() (*idmap.Table, reason.Reason) {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"siteMeta":{},"items":[`)
	for i, item := range items {
		if i > 0 {
			b.WriteString(",")
		}
		translated := make([]string, 0, len(item))
		for _, title := range item[4:] {
			translated = append(translated, fmt.Sprintf("%q", title))
		}
		site, id := "tmdb", item[1]
		if anidb, is := strings.CutPrefix(id, "anidb/"); is {
			site, id = "anidb", anidb
		}
		fmt.Fprintf(&b, `{"title":%q,"titleTranslate":{"zh-Hans":[%s]},"type":"tv","begin":"%sT10:00:00.000Z","end":"","sites":[{"site":"bangumi","id":%q},{"site":%q,"id":%q}]}`,
			item[3], strings.Join(translated, ","), item[2], item[0], site, id)
	}
	b.WriteString(`]}`)
	packed, err := idmap.Pack(strings.NewReader(b.String()), idmap.Head{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	table, err := idmap.Read(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	return func() (*idmap.Table, reason.Reason) { return table, reason.Reason{} }
}

func ofShow(id string) func(*watch.Event) {
	return func(e *watch.Event) { e.SeriesIDs = watch.IDs{"tmdb": id} }
}

func TestIDTable(t *testing.T) {
	_, _, m := world(t)
	m.Dataset = tableOf(t,
		[]string{"100", "tv/7", "2020-01-05", "灯台の見張り", "灯塔守望者", "看海的人"},
		[]string{"101", "tv/7/season/2", "2021-04-04", "灯台の見張り 嵐の章"},
		[]string{"102", "tv/7/season/2", "2021-10-03", "灯台の見張り 嵐の章 第2クール"},
		[]string{"103", "tv/7/season/3", "2023-01-08", "灯台の見張り 3rd Season"},
		[]string{"110", "tv/7/season/0/episode/4", "2020-08-20", "灯台の見張り 夏の島"},
		[]string{"111", "movie/8", "2022-07-01", "劇場版 灯台の見張り"},
		[]string{"9999", "tv/9", "2020-01-05", "隠された番組", "隐藏的节目"},
		[]string{"9997", "tv/11/season/1", "2019-01-05", "一"},
		[]string{"100", "tv/11/season/1", "2020-01-05", "灯台の見張り"},
		[]string{"101", "tv/11/season/1", "2021-04-04", "灯台の見張り 嵐の章"},
		[]string{"9998", "tv/10", "2010-04-01", "双子の港", "双子港"},
	)
	for name, c := range map[string]struct {
		event watch.Event
		want  string
	}{
		"show and season, whatever the title":          {with(episode("Qwerty", 3, 2, ""), ofShow("7")), "matched 103/10302"},
		"a show without a season in the table":         {with(episode("Qwerty", 1, 3, "2020-01-19"), ofShow("7")), "matched 100/10003"},
		"two entries share a season, by count":         {with(episode("Qwerty", 2, 15, ""), ofShow("7")), "matched 102/10203"},
		"two entries share a season, by date":          {with(episode("Qwerty", 2, 27, "2021-10-17"), ofShow("7")), "matched 102/10203"},
		"counted anew in the second entry, by date":    {with(episode("Qwerty", 2, 3, "2021-10-17"), ofShow("7")), "matched 102/10203"},
		"a season with a hidden part, by count":        {with(episode("Qwerty", 1, 14, ""), ofShow("11")), "review"},
		"a season with a hidden part, by date":         {with(episode("Qwerty", 1, 14, "2021-04-11"), ofShow("11")), "matched 101/10102"},
		"the first day of the second entry":            {with(episode("Qwerty", 2, 15, "2021-10-03"), ofShow("7")), "matched 102/10203"},
		"a season under its own title":                 {with(episode("灯台の見張り 3rd Season", 1, 2, ""), ofShow("7")), "matched 103/10302"},
		"a special that is a subject of its own":       {with(episode("Qwerty", 0, 4, ""), ofShow("7")), "matched 110/11001"},
		"a season that neither has":                    {with(episode("Qwerty", 5, 2, ""), ofShow("7")), "not_found"},
		"a date that contradicts":                      {with(episode("Qwerty", 1, 3, "2009-01-19"), ofShow("7")), "review"},
		"an episode behind the end":                    {with(episode("Qwerty", 3, 44, ""), ofShow("7")), "episode_not_found 103"},
		"a film":                                       {with(movie("Keepers", "", "2022-07-01"), func(e *watch.Event) { e.ItemIDs = watch.IDs{"tmdb": "8"} }), "matched 111/0"},
		"a show's id is no film's":                     {with(movie("Keepers", "", ""), func(e *watch.Event) { e.ItemIDs = watch.IDs{"tmdb": "7"} }), "not_found"},
		"the id of the episode says nothing":           {with(episode("Keepers", 1, 3, ""), func(e *watch.Event) { e.ItemIDs = watch.IDs{"tmdb": "7"} }), "not_found"},
		"an id that the table lacks":                   {with(episode("灯塔守望者", 1, 3, ""), ofShow("77")), "matched 100/10003"},
		"a title that only the table has":              {episode("看海的人", 2, 3, "2021-04-18"), "matched 101/10103"},
		"an id of what the catalog does not show":      {with(episode("灯塔守望者", 1, 3, ""), ofShow("9")), "review"},
		"a title of what the catalog does not show":    {episode("隐藏的节目", 1, 3, ""), "not_found"},
		"a later season of what it does not show":      {episode("双子港", 2, 3, "2018-04-15"), "matched 121/12103"},
		"the catalog's own id before that of the show": {with(episode("?", 1, 4, ""), func(e *watch.Event) { e.SeriesIDs, e.CatalogSubject = watch.IDs{"tmdb": "7"}, 121 }), "matched 121/12104"},
		"a special of what it does not show":           {with(episode("双子港", 0, 1, ""), func(e *watch.Event) { e.EpisodeTitle = "x" }), "not_found"},
		"live action is not in the table":              {with(episode("潮汐小镇", 1, 2, ""), func(e *watch.Event) { e.Media, e.SeriesIDs = watch.RealAction, watch.IDs{"tmdb": "7"} }), "matched 113/11302"},
	} {
		t.Run(name, func(t *testing.T) {
			trace := m.Match(t.Context(), c.event)
			if got := outcome(trace.Result); got != c.want {
				t.Errorf("%s, want %s\n%s", got, c.want, brief(trace))
			}
			checkSteps(t, trace)
		})
	}
	if r := m.Match(t.Context(), episode("隐藏的节目", 1, 3, "")).Result; !strings.Contains(r.Reason.Text, "9999") {
		t.Errorf("it is not told what is hidden: %s", r.Reason)
	}
	if r := m.Match(t.Context(), with(episode("Qwerty", 2, 3.5, ""), ofShow("7"))).Result; r.Status != match.EpisodeNotFound || !strings.Contains(r.Reason.Text, "episode 3.5 is not in the season") {
		t.Errorf("a number between two episodes: %s: %s", r.Status, r.Reason)
	}
	m.Dataset = noTable
	if r := m.Match(t.Context(), with(episode("Qwerty", 3, 2, ""), ofShow("7"))).Result; r.Status != match.NotFound {
		t.Errorf("switched off, the table still leads to %d", r.SubjectID)
	}
}

// What a metadata plugin names is held against what the event is: an album, or a series for a film, is a mistake of the library.
func TestCatalogIDs(t *testing.T) {
	_, _, m := world(t)
	for name, c := range map[string]struct {
		event watch.Event
		want  string
	}{
		"the catalog's episode id":                      {with(episode("?", 1, 99, ""), func(e *watch.Event) { e.CatalogEpisode = 10305 }), "matched 103/10305"},
		"the catalog's subject id":                      {with(episode("?", 3, 4, ""), func(e *watch.Event) { e.CatalogSubject = 103 }), "matched 103/10304"},
		"the catalog's subject id, no such episode":     {with(episode("?", 1, 99, ""), func(e *watch.Event) { e.CatalogSubject = 103 }), "episode_not_found 103"},
		"an id the catalog does not know":               {with(episode("灯塔守望者", 1, 3, ""), func(e *watch.Event) { e.CatalogSubject, e.CatalogEpisode = 999, 998 }), "matched 100/10003"},
		"the id of a book, and nothing by the title":    {with(episode("?", 1, 3, ""), func(e *watch.Event) { e.CatalogSubject = 112 }), "not_found"},
		"the id of a book, and the show by its title":   {with(episode("灯塔守望者", 1, 3, ""), func(e *watch.Event) { e.CatalogSubject = 112 }), "review"},
		"the id of an episode of an album":              {with(episode("灯塔守望者", 1, 3, ""), func(e *watch.Event) { e.CatalogEpisode = 11501 }), "review"},
		"a film with the id of a series":                {with(movie("灯塔守望者", "", ""), func(e *watch.Event) { e.CatalogSubject = 100 }), "review"},
		"a film with the id of a series, title of none": {with(movie("?", "", ""), func(e *watch.Event) { e.CatalogSubject = 100 }), "review"},
		"a film with the id of a series that begins":    {with(movie("?", "", ""), func(e *watch.Event) { e.CatalogSubject = 116 }), "review"},
		"a special that is a film by its id":            {with(episode("?", 0, 1, ""), func(e *watch.Event) { e.CatalogEpisode = 11701 }), "matched 117/11701"},
		"a film with the id of a film":                  {with(movie("?", "", ""), func(e *watch.Event) { e.CatalogSubject = 111 }), "matched 111/0"},
		"a film with the id of an OVA of one episode":   {with(movie("?", "", ""), func(e *watch.Event) { e.CatalogSubject = 110 }), "matched 110/11001"},
		"an episode with the id of a film":              {with(episode("剧场版 灯塔守望者", 1, 1, ""), func(e *watch.Event) { e.CatalogSubject = 111 }), "review"},
		"an episode with the id of an OVA":              {with(episode("?", 1, 1, ""), func(e *watch.Event) { e.CatalogSubject = 110 }), "matched 110/11001"},
		"an episode with the id of live action":         {with(episode("?", 1, 2, ""), func(e *watch.Event) { e.CatalogSubject = 113 }), "matched 113/11302"},
	} {
		t.Run(name, func(t *testing.T) {
			trace := m.Match(t.Context(), c.event)
			if got := outcome(trace.Result); got != c.want {
				t.Errorf("%s, want %s\n%s", got, c.want, brief(trace))
			}
			checkSteps(t, trace)
		})
	}
	if r := m.Match(t.Context(), with(movie("?", "", ""), func(e *watch.Event) { e.CatalogSubject = 115 })).Result; !strings.Contains(r.Reason.Text, "entry 115, 灯台の見張り OST, which is neither anime nor live action") {
		t.Errorf("it is told: %s", r.Reason)
	}
}

func TestLiveActionIsLookedForLast(t *testing.T) {
	_, _, m := world(t)
	m.Options = func() match.Options { return match.Options{Thresholds: asItComes, LiveAction: true} }
	for title, want := range map[string]string{"潮汐小镇": "matched 113/11302", "灯塔守望者": "matched 100/10002", "The Office": "not_found"} {
		trace := m.Match(t.Context(), episode(title, 1, 2, ""))
		if got := outcome(trace.Result); got != want {
			t.Errorf("%s: %s, want %s", title, got, want)
		}
		at := slices.IndexFunc(trace.Steps, func(s match.Step) bool { return s.Name == "live_action" })
		if asked := trace.Steps[at].Status != "skipped"; asked == (title == "灯塔守望者") {
			t.Errorf("%s: live action is %s", title, trace.Steps[at].Status)
		}
	}
}

func TestArbiterHearsAllLayers(t *testing.T) {
	server, _, m := world(t)
	m.Options = func() match.Options { return match.Options{Thresholds: asItComes, Arbiter: true} }
	m.Dataset = tableOf(t, []string{"101", "tv/7/season/2", "2021-04-04", "灯台の見張り 嵐の章"}, []string{"120", "tv/5", "2010-04-01", "双子の港", "双子港"})
	for name, c := range map[string]struct {
		event         watch.Event
		want, verdict string
	}{
		"both agree":                         {with(episode("灯塔守望者", 2, 3, ""), ofShow("7")), "matched 101/10103", "accept"},
		"counted along the sequels only":     {episode("灯塔守望者", 2, 3, ""), "review", "ask a person"},
		"counted, and the date agrees":       {episode("灯塔守望者", 2, 3, "2021-04-18"), "matched 101/10103", "accept"},
		"counted on into an unmarked sequel": {episode("旧港", 1, 14, ""), "review", "ask a person"},
		"an equal title":                     {episode("灯塔守望者", 1, 3, ""), "matched 100/10003", "accept"},
		"the table against two equal names":  {with(episode("双子港", 1, 3, ""), ofShow("5")), "review", "ask a person: 121 fits almost as well"},
		"nothing like it":                    {episode("The Office", 1, 3, ""), "not_found", "discard"},
	} {
		t.Run(name, func(t *testing.T) {
			before := searches(server)
			trace := m.Match(t.Context(), c.event)
			if got := outcome(trace.Result); got != c.want {
				t.Errorf("%s, want %s\n%s", got, c.want, brief(trace))
			}
			at := slices.IndexFunc(trace.Steps, func(s match.Step) bool { return s.Name == "arbiter" })
			if at < 0 || fmt.Sprint(trace.Steps[at].Output["verdict"]) != c.verdict {
				t.Fatalf("the arbiter says %v, want %s", trace.Steps[max(at, 0)].Output, c.verdict)
			}
			if searches(server) == before {
				t.Error("the catalog was not heard")
			}
		})
	}
	trace := m.Match(t.Context(), with(episode("?", 1, 4, ""), func(e *watch.Event) { e.CatalogSubject = 121 }))
	if slices.ContainsFunc(trace.Steps, func(s match.Step) bool { return s.Name == "arbiter" }) {
		t.Error("the arbiter is asked about what the media server named")
	}
}

// almanac is a catalog that also knows what airs on a day, as the archive does.
type almanac struct {
	match.Catalog
	onAir map[watch.Date]catalog.Subject
}

func (a almanac) OnAir(_ context.Context, from, to watch.Date) ([]catalog.Subject, error) {
	var subjects []catalog.Subject
	for day, subject := range a.onAir {
		if at := day.Time(); !at.Before(from.Time()) && !at.After(to.Time()) {
			subjects = append(subjects, subject)
		}
	}
	return subjects, nil
}

func TestEpisodeOfTheDaySpeaksForItsShow(t *testing.T) {
	server, client := newCatalog(t)
	book := almanac{client, map[watch.Date]catalog.Subject{}}
	for _, s := range []catalogtest.Subject{
		{ID: 1, Type: catalog.Anime, Name: "神は遊戯に飢えている。", NameCN: "神渴望着游戏", Date: "2024-04-01", Platform: "TV"},
		{ID: 2, Type: catalog.Anime, Name: "別の番組", NameCN: "另一部节目", Date: "2024-04-02", Platform: "TV"},
	} {
		server.AddSubject(s)
		weekly(server, s.ID, 1, 12, s.Date)
		subject, err := client.Subject(t.Context(), s.ID)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := client.Episodes(t.Context(), s.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			book.onAir[row.AirDate] = subject
		}
	}
	m := match.New(match.Config{
		Catalog: client, Archive: func() (match.Catalog, reason.Reason) { return book, reason.Reason{} }, Rules: newRules(t), Dataset: noTable, Options: standard,
	})
	for name, c := range map[string]struct {
		event watch.Event
		want  string
	}{
		"another translation, the day and the number": {episode("神明渴望游戏", 1, 3, "2024-04-15"), "matched 1/103"},
		"another translation, no date":                {episode("神明渴望游戏", 1, 3, ""), "review"},
		"another translation, another number":         {episode("神明渴望游戏", 1, 7, "2024-04-15"), "review"},
		"the day alone":                               {episode("完全不同", 1, 3, "2024-04-15"), "not_found"},
		"half of the title":                           {episode("神渴望着长夜之光", 1, 3, "2024-04-15"), "review"},
		"too little of the title":                     {episode("诸神的棋局着", 1, 3, "2024-04-15"), "not_found"},
		"a side piece of that day":                    {episode("神渴望着游戏 迷你动画", 1, 3, "2024-04-15"), "review"},
	} {
		t.Run(name, func(t *testing.T) {
			trace := m.Match(t.Context(), c.event)
			if got := outcome(trace.Result); got != c.want {
				t.Errorf("%s, want %s\n%s", got, c.want, brief(trace))
			}
		})
	}
}
