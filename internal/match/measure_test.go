package match_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/match"
	"watchmark/internal/match/idmap"
	"watchmark/internal/platform/reason"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/watch"
)

// floor is what a measure must hold, each a ratio 0..1. A wrong mark is the worst outcome.
type floor struct {
	precision, recall float64
	// falseAccept is the share of absent and foreign titles that may be decided on.
	falseAccept float64
}

// labelled is one line of the cases.
type labelled struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Request struct {
		MediaType   watch.Media `json:"media_type"`
		Title       string      `json:"title"`
		OriTitle    string      `json:"ori_title"`
		Season      *int        `json:"season"`
		Episode     *float64    `json:"episode"`
		ReleaseDate string      `json:"release_date"`
		IDs         watch.IDs   `json:"ids"`
	} `json:"request"`
	Expect struct {
		SubjectID   catalog.SubjectID `json:"subject_id"`
		EpisodeSort *float64          `json:"episode_sort"`
	} `json:"expect"`
	// TMDB is the id of the show or film there, such as tv/1; empty when it is not known.
	TMDB string `json:"tmdb"`
}

func (c labelled) event() watch.Event {
	r := c.Request
	e := watch.Event{Source: watch.Custom, Action: watch.Watched, Media: r.MediaType, Title: strings.TrimSpace(r.Title), OriginalTitle: r.OriTitle,
		Season: r.Season, Episode: r.Episode, AirDate: watch.ParseDate(r.ReleaseDate), UserName: "bench"}
	if e.IsFilm() {
		e.Season, e.Episode = nil, nil
	}
	if len(c.Request.IDs) > 0 {
		e.SeriesIDs = c.Request.IDs
	}
	switch kind, id, _ := strings.Cut(c.TMDB, "/"); {
	case kind == "movie" && e.IsFilm():
		e.ItemIDs = watch.IDs{"tmdb": id}
	case kind == "tv" && !e.IsFilm():
		e.SeriesIDs = watch.IDs{"tmdb": id}
	}
	return e
}

// judge is the rule of score.py.
func (c labelled) judge(r match.Result) string {
	decided := r.Status == match.Matched && r.SubjectID != 0
	switch {
	case c.Expect.SubjectID == 0 && decided:
		return "wrong"
	case c.Expect.SubjectID == 0:
		return "correct"
	case !decided:
		return "undecided"
	case r.SubjectID != c.Expect.SubjectID:
		return "wrong"
	case c.Expect.EpisodeSort != nil && (r.EpisodeSort == nil || *r.EpisodeSort != *c.Expect.EpisodeSort):
		return "wrong"
	}
	return "correct"
}

// The labelled cases, real titles with the subject and episode they belong to, and the
// dump they are looked up in; testdata/README.md says where they come from.
const (
	casesFile = "testdata/cases-dev.jsonl"
	dumpFile  = "testdata/catalog-dump.zip"
	// idsFile has the TMDB ids of the cases.
	idsFile = "testdata/tmdb-dev.jsonl"
)

func loadCases(t testing.TB, path string) []labelled {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var cases []labelled
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var c labelled
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return cases
}

// withIDs is the cases with the ids that a media server would send along.
func withIDs(t *testing.T, cases []labelled) []labelled {
	t.Helper()
	ids := map[string]string{}
	for _, c := range loadCases(t, idsFile) {
		ids[c.ID] = c.TMDB
	}
	cases = slices.Clone(cases)
	for i, c := range cases {
		cases[i].TMDB = ids[c.ID]
	}
	return cases
}

// everyNth thins out the cases: the race detector makes them ten times slower.
func everyNth(cases []labelled, n int) []labelled {
	thin := []labelled{}
	for i := 0; i < len(cases); i += n {
		thin = append(thin, cases[i])
	}
	return thin
}

// TestMeasure asks for every labelled case, prints the table of score.py, and holds the
// floors: with the catalog alone, with archive and catalog, and with the archive while
// the catalog is off. MATCH_SHOW=kind (or all) prints what went wrong.
func TestMeasure(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	if dbtest.OnServer() {
		t.Skip("the database has no part in what is measured")
	}
	cases := loadCases(t, casesFile)
	if raceDetector {
		cases = everyNth(cases, 32)
	}
	server, base := catalogtest.Start(t, catalogtest.Config{})
	if err := server.LoadDump(dumpFile); err != nil {
		t.Fatal(err)
	}
	offline := importDump(t, dumpFile)
	table, err := idmap.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	on := func() (match.Catalog, reason.Reason) { return offline, reason.Reason{} }
	withTable := func() (*idmap.Table, reason.Reason) { return table, reason.Reason{} }
	for _, mode := range []struct {
		name    string
		archive func() (match.Catalog, reason.Reason)
		table   func() (*idmap.Table, reason.Reason)
		arbiter bool
		ids     bool // the event carries the TMDB id of its show or film
		down    bool // the catalog refuses connections
		floor   floor
	}{
		{name: "catalog alone", archive: noArchive, table: noTable, floor: floor{0.999, 0.936, 0.007}},
		{name: "archive and catalog", archive: on, table: noTable, floor: floor{0.999, 0.939, 0.007}},
		{name: "archive while the catalog is down", archive: on, table: noTable, down: true, floor: floor{0.999, 0.939, 0.007}},
		{name: "arbiter", archive: on, table: noTable, arbiter: true, floor: floor{0.999, 0.925, 0.007}},
		{name: "arbiter while the catalog is down", archive: on, table: noTable, arbiter: true, down: true, floor: floor{0.999, 0.925, 0.007}},
		{name: "titles of the id table", archive: on, table: withTable, floor: floor{0.999, 0.993, 0.007}},
		{name: "ids", archive: on, table: withTable, ids: true, floor: floor{0.999, 0.997, 0.007}},
		{name: "ids and arbiter", archive: on, table: withTable, ids: true, arbiter: true, floor: floor{0.999, 0.996, 0.007}},
	} {
		t.Run(mode.name, func(t *testing.T) {
			fault := catalogtest.Fault{Mode: catalogtest.None}
			if mode.down {
				fault.Mode = catalogtest.Refuse
			}
			if err := server.SetFault(fault); err != nil {
				t.Fatal(err)
			}
			before := requests(server)
			options := func() match.Options { return match.Options{Thresholds: asItComes, Arbiter: mode.arbiter} }
			m := match.New(match.Config{Catalog: newClient(t, base), Archive: mode.archive, Dataset: mode.table, Rules: newRules(t), Options: options})
			asked := cases
			if mode.ids {
				asked = withIDs(t, cases)
			}
			measure(t, m, asked, mode.floor)
			t.Logf("%.2f requests a case", float64(requests(server)-before)/float64(len(cases)))
		})
	}
}

func requests(server *catalogtest.Server) (sum int) {
	for _, n := range server.Requests() {
		sum += n
	}
	return sum
}

// measure asks m for every case.
func measure(t *testing.T, m *match.Matcher, cases []labelled, hold floor) {
	traces := make([]match.Trace, len(cases))
	var workers sync.WaitGroup
	next := make(chan int)
	for range 4 {
		workers.Go(func() {
			for i := range next {
				traces[i] = m.Match(context.Background(), cases[i].event())
			}
		})
	}
	start := time.Now()
	for i := range cases {
		next <- i
	}
	close(next)
	workers.Wait()

	tally := map[string]map[string]int{}
	for i, c := range cases {
		verdict := c.judge(traces[i].Result)
		if tally[c.Kind] == nil {
			tally[c.Kind] = map[string]int{}
		}
		tally[c.Kind][verdict]++
		if show := os.Getenv("MATCH_SHOW"); verdict != "correct" && (show == "all" || show == c.Kind || show == verdict) {
			t.Log(verdict, c.ID, describe(c), "\n      got", brief(traces[i]))
		}
	}
	t.Logf("%d cases in %v\n%s", len(cases), time.Since(start).Round(time.Millisecond), table(tally))
	total := map[string]int{}
	absent := map[string]int{}
	for kind, verdicts := range tally {
		into := total
		if kind == "absent" || kind == "foreign" {
			into = absent
		}
		for verdict, n := range verdicts {
			into[verdict] += n
		}
	}
	precision := float64(total["correct"]) / float64(max(1, total["correct"]+total["wrong"]))
	recall := float64(total["correct"]) / float64(total["correct"]+total["wrong"]+total["undecided"])
	falseAccept := float64(absent["wrong"]) / float64(absent["wrong"]+absent["correct"])
	slices.SortFunc(traces, func(a, b match.Trace) int { return cmp.Compare(a.ElapsedMS, b.ElapsedMS) })
	t.Logf("precision %.4f recall %.4f false_accept %.4f p50_ms %.1f p99_ms %.1f (four at once, loopback HTTP included)", precision, recall, falseAccept,
		traces[len(traces)/2].ElapsedMS, traces[len(traces)*99/100].ElapsedMS)
	if raceDetector {
		return // of the few cases that are left one is a great share
	}
	if precision < hold.precision || recall < hold.recall || falseAccept > hold.falseAccept {
		t.Errorf("worse than the floor: %+v", hold)
	}
}

func table(tally map[string]map[string]int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-22s%6s%9s%7s%11s\n", "kind", "n", "correct", "wrong", "undecided")
	for _, kind := range slices.Sorted(maps.Keys(tally)) {
		v := tally[kind]
		fmt.Fprintf(&b, "%-22s%6d%9d%7d%11d\n", kind, v["correct"]+v["wrong"]+v["undecided"], v["correct"], v["wrong"], v["undecided"])
	}
	return b.String()
}

func describe(c labelled) string {
	season, episode := "-", "-"
	if c.Request.Season != nil {
		season = fmt.Sprint(*c.Request.Season)
	}
	if c.Request.Episode != nil {
		episode = fmt.Sprint(*c.Request.Episode)
	}
	want := fmt.Sprint(c.Expect.SubjectID)
	if c.Expect.EpisodeSort != nil {
		want += fmt.Sprint(" sort ", *c.Expect.EpisodeSort)
	}
	return fmt.Sprintf("%s | %s | S%s E%s %s %s want %s", c.Request.Title, c.Request.OriTitle, season, episode, c.Request.ReleaseDate, c.Request.MediaType, want)
}

func brief(t match.Trace) string {
	sort := "-"
	if t.Result.EpisodeSort != nil {
		sort = fmt.Sprint(*t.Result.EpisodeSort)
	}
	lines := []string{fmt.Sprint(t.Result.Status, " ", t.Result.SubjectID, " sort ", sort, ": ", t.Result.Reason)}
	for _, step := range t.Steps {
		candidates := slices.Clone(step.Candidates)
		slices.SortStableFunc(candidates, func(a, b match.Candidate) int { return cmp.Compare(b.Score, a.Score) })
		for _, c := range candidates[:min(3, len(candidates))] {
			lines = append(lines, fmt.Sprintf("%d %.3f %v %s / %s %s", c.SubjectID, c.Score, c.Parts, c.Name, c.NameCN, c.Date))
		}
	}
	return strings.Join(lines, "\n        ")
}
