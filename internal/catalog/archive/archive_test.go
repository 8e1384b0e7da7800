package archive_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/archive"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/secret"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/dumptest"
	"watchmark/internal/watch"
)

// synthetic is a dump of that scale and seed, as bytes.
func synthetic(t testing.TB, scale float64, seed uint64) (dumptest.Spec, []byte) {
	t.Helper()
	spec := dumptest.Scaled(scale)
	spec.Seed = seed
	var zip bytes.Buffer
	if err := dumptest.Write(&zip, spec); err != nil {
		t.Fatal(err)
	}
	return spec, zip.Bytes()
}

func open(t testing.TB, dir string) *archive.Archive {
	t.Helper()
	a := archive.New(dir, slog.New(slog.DiscardHandler))
	if err := a.Refresh(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func put(t testing.TB, a *archive.Archive, zip []byte) archive.Info {
	t.Helper()
	info, err := importBytes(a, zip, archive.Dump{})
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func importBytes(a *archive.Archive, zip []byte, d archive.Dump) (archive.Info, error) {
	d.Data, d.Size = bytes.NewReader(zip), int64(len(zip))
	return a.Import(context.Background(), d, func(archive.Progress) {})
}

// files lists what is in a folder, the lock aside.
func files(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.Name() != "import.lock" {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestEveryTitleIsFound(t *testing.T) {
	spec, zip := synthetic(t, 0.01, 3)
	a := open(t, t.TempDir())
	info := put(t, a, zip)
	if info.Subjects != int64(spec.Watchable) {
		t.Errorf("%d subjects, the dump has %d", info.Subjects, spec.Watchable)
	}
	ctx := context.Background()
	missed := 0
	for title := range dumptest.Titles(spec) {
		for _, text := range slices.Concat([]string{title.Name, title.NameCN}, title.Aliases) {
			if text == "" {
				continue
			}
			found, err := a.Find(ctx, archive.Query{Text: text})
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(found, func(f archive.Found) bool { return int(f.Subject.ID) == title.Subject })
			if i < 0 || found[i].How != archive.Equal {
				t.Errorf("%q does not lead to subject %d but to %v", text, title.Subject, found)
				if missed++; missed > 10 {
					t.FailNow()
				}
			}
		}
	}
}

// The archive must tell the same as the catalog's API does, from the same dump.
func TestSameAsTheCatalog(t *testing.T) {
	_, zip := synthetic(t, 0.002, 5)
	server, url := catalogtest.Start(t, catalogtest.Config{})
	if err := server.LoadDumpReader(bytes.NewReader(zip), int64(len(zip))); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	http, err := httpx.New(httpx.Config{PerMinute: 6e6, Burst: 1e6}, &secret.Masker{}, log)
	if err != nil {
		t.Fatal(err)
	}
	defer http.Close()
	client, err := catalog.New(catalog.Config{APIURL: url, WebURL: url, UserAgent: "watchmark test"}, http, log)
	if err != nil {
		t.Fatal(err)
	}
	a := open(t, t.TempDir())
	put(t, a, zip)
	ctx := context.Background()

	subjects, episodes, relations := 0, 0, 0
	for id := catalog.SubjectID(1); id < 1400; id++ {
		want, err := client.Subject(ctx, id)
		if errors.Is(err, catalog.ErrNotFound) {
			// Unknown, or of adults, which the archive shows and the API hides.
			if got, err := a.Subject(ctx, id); err == nil && !got.NSFW {
				t.Errorf("the archive has subject %d, which the catalog has not", id)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.Subject(ctx, id)
		if want.Type != catalog.Anime && want.Type != catalog.Real {
			if !errors.Is(err, catalog.ErrNotFound) {
				t.Errorf("subject %d is of type %d and yet in the archive (%v)", id, want.Type, err)
			}
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		subjects++
		want.Image = ""
		if want.Aliases == nil { // one mistake empties the infobox of the API
			got.Aliases = nil
			want.Eps = got.Eps
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("subject %d (- catalog, + archive):\n%s", id, diff)
		}
		wantRows, err := client.Episodes(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		gotRows, err := a.Episodes(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wantRows, gotRows); diff != "" {
			t.Errorf("episodes of subject %d (- catalog, + archive):\n%s", id, diff)
		}
		for _, row := range gotRows {
			episodes++
			if one, err := a.Episode(ctx, row.ID); err != nil || one != row {
				t.Errorf("episode %d alone is %+v, %v", row.ID, one, err)
			}
		}
		wantNext, err := client.Relations(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		wantNext = slices.DeleteFunc(wantNext, func(r catalog.Relation) bool { return r.Type != catalog.Anime && r.Type != catalog.Real })
		gotNext, err := a.Relations(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range wantNext {
			relations++
			if !slices.Contains(gotNext, r) {
				t.Errorf("the archive lacks relation %+v of subject %d, it has %+v", r, id, gotNext)
			}
		}
	}
	if subjects < 150 || episodes < 1000 || relations < 50 {
		t.Errorf("only %d subjects, %d episodes and %d relations were compared", subjects, episodes, relations)
	}
	if _, err := a.Episode(ctx, 1<<30); !errors.Is(err, catalog.ErrNotFound) {
		t.Errorf("an unknown episode: %v", err)
	}
}

func TestChainAndAiring(t *testing.T) {
	a := open(t, t.TempDir())
	put(t, a, zipOf(t, map[string]string{
		"subject.jsonlines": lines(
			`{"id":1,"type":2,"name":"Show","platform":1,"date":"2020-01-05"}`,
			`{"id":2,"type":2,"name":"Show 2nd Season","platform":1,"date":"2021-04-04"}`,
			`{"id":3,"type":2,"name":"Show OVA","platform":2,"date":"2020-12-24"}`,
			`{"id":4,"type":1,"name":"Show","date":"2019-01-01"}`),
		"episode.jsonlines": lines(
			`{"id":11,"subject_id":1,"sort":1,"type":0,"airdate":"2020-01-05"}`,
			`{"id":12,"subject_id":1,"sort":1.5,"type":1,"airdate":"2020-1-6","name_cn":"番外"}`,
			`{"id":21,"subject_id":2,"sort":13,"type":0,"airdate":"2021-04-04","disc":0}`,
			`{"id":22,"subject_id":2,"sort":14,"type":0,"airdate":"2021-04-11"}`,
			`{"id":41,"subject_id":4,"sort":1,"type":0,"airdate":"2020-01-05"}`,
			`{"id":91,"subject_id":99,"sort":1,"type":0,"airdate":"2020-01-05"}`),
		"subject-relations.jsonlines": lines(
			`{"subject_id":1,"relation_type":3,"related_subject_id":3,"order":0}`,
			`{"subject_id":3,"relation_type":3,"related_subject_id":2,"order":0}`,
			`{"subject_id":3,"relation_type":2,"related_subject_id":1,"order":1}`,
			`{"subject_id":1,"relation_type":1,"related_subject_id":4,"order":1}`,
			`{"subject_id":1,"relation_type":11,"related_subject_id":2,"order":1}`,
			`{"subject_id":1,"relation_type":3,"related_subject_id":3,"order":2}`,
			`{"subject_id":1,"relation_type":3,"related_subject_id":77,"order":3}`),
	}))
	ctx := context.Background()
	chain, err := a.Chain(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	var ids []catalog.SubjectID
	for _, s := range chain {
		ids = append(ids, s.ID)
	}
	if !slices.Equal(ids, []catalog.SubjectID{1, 3, 2}) {
		t.Errorf("the chain is %v", ids)
	}
	for _, c := range []struct {
		name, from, to string
		want           []catalog.EpisodeID
	}{
		{"one day", "2020-01-05", "2020-01-05", []catalog.EpisodeID{11}},
		{"two days, the second written in another form", "2020-01-05", "2020-01-06", []catalog.EpisodeID{11, 12}},
		{"over months", "2020-01-06", "2021-01-01", []catalog.EpisodeID{12}},
		{"to the last day", "2021-04-05", "2021-04-11", []catalog.EpisodeID{22}},
		{"nothing", "2022-01-01", "2022-02-01", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, err := a.Airing(ctx, watch.ParseDate(c.from), watch.ParseDate(c.to), nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []catalog.EpisodeID
			for _, e := range list {
				got = append(got, e.Episode.ID)
				if e.Subject.ID != e.Episode.Subject || e.Subject.Name == "" {
					t.Errorf("episode %d comes with subject %+v", e.Episode.ID, e.Subject)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
			subjects, err := a.OnAir(ctx, watch.ParseDate(c.from), watch.ParseDate(c.to))
			if err != nil {
				t.Fatal(err)
			}
			for _, subject := range subjects {
				list = slices.DeleteFunc(list, func(e archive.Airing) bool { return e.Subject.ID == subject.ID })
			}
			if len(list) > 0 || len(subjects) > len(c.want) {
				t.Errorf("on air are %v, without %v", subjects, list)
			}
		})
	}
	if _, err := a.OnAir(ctx, watch.ParseDate("2020"), watch.ParseDate("2020-01-05")); err == nil {
		t.Error("what is on air from no day is answered")
	}
	rows, err := a.Episodes(ctx, 2)
	if err != nil || len(rows) != 2 || rows[0].Ep != 1 || rows[1].Ep != 2 || rows[1].Sort != 14 {
		t.Errorf("a season that counts on: %+v, %v", rows, err)
	}
	if rows, err := a.Episodes(ctx, 3); err != nil || rows == nil || len(rows) != 0 {
		t.Errorf("a subject without episodes: %v, %v", rows, err)
	}
	if _, err := a.Episodes(ctx, 99); !errors.Is(err, catalog.ErrNotFound) {
		t.Errorf("a subject that is not there: %v", err)
	}
	if relations, err := a.Relations(ctx, 1); err != nil || len(relations) != 2 || relations[0].Label != catalog.Sequel {
		t.Errorf("relations %+v, %v: the book, the missing one and the repetition do not belong there", relations, err)
	}
}

func TestFindInSpiteOf(t *testing.T) {
	a := open(t, t.TempDir())
	put(t, a, zipOf(t, map[string]string{
		"subject.jsonlines": lines(
			`{"id":1,"type":2,"name":"葬送のフリーレン","name_cn":"葬送的芙莉莲","date":"2023-09-29","infobox":"{{Infobox animanga/TVAnime\r\n|别名={\r\n[Frieren: Beyond Journey's End]\r\n[罗马字|Sousou no Frieren]\r\n}\r\n}}"}`,
			`{"id":2,"type":2,"name":"葬送のフリーレン 第2期","name_cn":"葬送的芙莉莲 第二季","date":"2026-01-16"}`,
			`{"id":3,"type":2,"name":"日常","name_cn":"日常","date":"2011-04-02"}`,
			`{"id":4,"type":6,"name":"日常","name_cn":"","date":"2015-01-01","favorite":{"wish":900}}`,
			`{"id":5,"type":2,"name":"けいおん！","name_cn":"轻音少女","date":"2009-04-02"}`,
			`{"id":6,"type":2,"name":"けいおん!!","name_cn":"轻音少女 第二季","date":"2010-04-06"}`),
		"episode.jsonlines":           lines(`{"id":11,"subject_id":1,"sort":1,"type":0}`),
		"subject-relations.jsonlines": "",
	}))
	for _, c := range []struct {
		name  string
		query archive.Query
		want  catalog.SubjectID
		how   archive.How
	}{
		{"the name", archive.Query{Text: "葬送のフリーレン"}, 1, archive.Equal},
		{"the Chinese name", archive.Query{Text: "葬送的芙莉莲"}, 1, archive.Equal},
		{"an alias", archive.Query{Text: "Frieren: Beyond Journey's End"}, 1, archive.Equal},
		{"an alias with a key", archive.Query{Text: "sousou no frieren"}, 1, archive.Equal},
		{"width, case, punctuation", archive.Query{Text: "ＦＲＩＥＲＥＮ - beyond journey’s end"}, 1, archive.Equal},
		{"kana", archive.Query{Text: "葬送のふりーれん"}, 1, archive.Equal},
		{"a season", archive.Query{Text: "葬送的芙莉莲 第二季"}, 2, archive.Equal},
		{"a wrong character", archive.Query{Text: "葬送的芙利莲"}, 1, archive.Alike},
		{"a missing character", archive.Query{Text: "葬送的芙莲"}, 1, archive.Alike},
		{"swapped letters", archive.Query{Text: "Sousou no Freiren"}, 1, archive.Alike},
		{"the beginning", archive.Query{Text: "Frieren: Beyond"}, 1, archive.Begins},
		{"two characters", archive.Query{Text: "日常"}, 4, archive.Equal},
		{"two characters, of a type", archive.Query{Text: "日常", Types: []catalog.SubjectType{catalog.Anime}}, 3, archive.Equal},
		{"two characters, of a time", archive.Query{Text: "日常", From: watch.Date{Year: 2011}, To: watch.Date{Year: 2012}}, 3, archive.Equal},
		{"what differs in a mark only", archive.Query{Text: "けいおん!!"}, 6, archive.Equal},
		{"and the other", archive.Query{Text: "けいおん!"}, 5, archive.Equal},
		{"nothing alike", archive.Query{Text: "Breaking Bad"}, 0, ""},
		{"no text", archive.Query{Text: "  "}, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := a.Find(context.Background(), c.query)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case c.want == 0 && len(found) > 0:
				t.Errorf("found %+v", found)
			case c.want != 0 && len(found) == 0:
				t.Error("found nothing")
			case c.want != 0 && (found[0].Subject.ID != c.want || found[0].How != c.how):
				t.Errorf("found %+v first, want %d (%s)", found[0], c.want, c.how)
			}
		})
	}
}

// While one archive takes the place of another, no look-up may fail or see half of each.
func TestLookUpsDuringImports(t *testing.T) {
	_, first := synthetic(t, 0.002, 1)
	_, second := synthetic(t, 0.002, 2)
	dir := t.TempDir()
	a := open(t, dir)
	put(t, a, first)
	ctx, stop := context.WithCancel(context.Background())
	var looked atomic.Int64
	var g sync.WaitGroup
	for worker := range 4 {
		g.Go(func() {
			for id := worker; ctx.Err() == nil; id++ {
				s, err := a.Subject(context.Background(), catalog.SubjectID(id%1300+1))
				if errors.Is(err, catalog.ErrNotFound) {
					continue
				}
				if err == nil {
					_, err = a.Episodes(context.Background(), s.ID)
				}
				if err == nil || errors.Is(err, catalog.ErrNotFound) { // the other archive may lack it
					_, err = a.Find(context.Background(), archive.Query{Text: s.Name})
				}
				if err != nil {
					t.Error(err)
					return
				}
				looked.Add(1)
			}
		})
	}
	for i := range 4 {
		if _, err := importBytes(a, [][]byte{second, first}[i%2], archive.Dump{AllowSmaller: true}); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	g.Wait()
	if looked.Load() < 100 {
		t.Errorf("only %d look-ups ran", looked.Load())
	}
	if got := files(t, dir); len(got) != 3 {
		t.Errorf("the folder holds %v", got)
	}
}

// TestImportLeavesTheMemoryLimit: marks are made while an archive is imported, and share the collector with it.
func TestImportLeavesTheMemoryLimit(t *testing.T) {
	_, zip := synthetic(t, 0.002, 1)
	before := debug.SetMemoryLimit(-1)
	phases := map[archive.Phase]bool{}
	a := open(t, t.TempDir())
	_, err := a.Import(context.Background(), archive.Dump{Data: bytes.NewReader(zip), Size: int64(len(zip))}, func(p archive.Progress) {
		phases[p.Phase] = true
		if now := debug.SetMemoryLimit(-1); now != before {
			t.Errorf("the limit is %d bytes in phase %s, %d before", now, p.Phase, before)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, phase := range []archive.Phase{archive.Reading, archive.Indexing, archive.Writing} {
		if !phases[phase] {
			t.Errorf("phase %s was not reported", phase)
		}
	}
}

func TestSameVersionTwice(t *testing.T) {
	_, zip := synthetic(t, 0.001, 1)
	dir := t.TempDir()
	a := open(t, dir)
	for range 3 {
		if _, err := importBytes(a, zip, archive.Dump{Version: "2026-01-06.210306Z"}); err != nil {
			t.Fatal(err)
		}
		if got := files(t, dir); len(got) != 3 {
			t.Errorf("the folder holds %v", got)
		}
	}
	if found, err := a.Search(context.Background(), catalog.SearchQuery{Keyword: "x"}); err != nil {
		t.Error(found, err)
	}
}

// A service takes up what another process has imported.
func TestAnotherProcessImports(t *testing.T) {
	_, zip := synthetic(t, 0.001, 1)
	dir := t.TempDir()
	service := open(t, dir)
	if service.Ready() {
		t.Fatal("ready with nothing there")
	}
	if _, err := service.Find(context.Background(), archive.Query{Text: "x"}); !errors.Is(err, archive.ErrNone) {
		t.Errorf("a look-up into nothing: %v", err)
	}
	other := open(t, dir)
	put(t, other, zip)
	if err := service.Refresh(context.Background()); err != nil {
		t.Fatal(err)
	}
	// Until the service looks again, it finds everything in files that are gone.
	_, next := synthetic(t, 0.001, 2)
	info := put(t, other, next)
	var g sync.WaitGroup
	gone, leave := context.WithCancel(context.Background())
	leave() // somebody who went away while it was looked up
	for range 50 {
		_, _ = service.Find(gone, archive.Query{Text: "the"})
	}
	for range 16 {
		g.Go(func() {
			for id := range catalog.SubjectID(300) {
				if _, err := service.Episodes(context.Background(), id); err != nil && !errors.Is(err, catalog.ErrNotFound) {
					t.Errorf("look-up in an archive that was replaced: %v", err)
					return
				}
			}
		})
	}
	g.Wait()
	if err := service.Refresh(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got, ok := service.Info(); !ok || got.Version != info.Version {
		t.Errorf("the service uses %+v, want %+v", got, info)
	}
}

func TestLeftoversAreRemoved(t *testing.T) {
	_, zip := synthetic(t, 0.001, 1)
	dir := t.TempDir()
	info := put(t, open(t, dir), zip)
	whole := files(t, dir)
	for _, name := range []string{"catalog_archive_new.tmp.db", "catalog_archive_new.tmp.titles", "catalog_archive_old.db", "upload-123.part", "current.json.tmp",
		"download-" + info.Version + ".part", "download-" + info.Version + ".part.json"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kept := []string{"mine.txt", "download-2026-01-13.210306Z.part", "download-2026-01-13.210306Z.part.json"} // the next update goes on with it
	for _, name := range kept {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open(t, dir).Clean()
	if diff := cmp.Diff(slices.Sorted(slices.Values(append(whole, kept...))), files(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestDamagedArchive(t *testing.T) {
	_, zip := synthetic(t, 0.001, 1)
	for name, damage := range map[string]func(dir, pair string) error{
		"no database":    func(_, pair string) error { return os.Remove(pair + ".db") },
		"no index":       func(_, pair string) error { return os.Remove(pair + ".titles") },
		"a cut index":    func(_, pair string) error { return os.Truncate(pair+".titles", 5000) },
		"an empty index": func(_, pair string) error { return os.Truncate(pair+".titles", 0) },
		"a cut database": func(_, pair string) error { return os.Truncate(pair+".db", 100) },
		"a wrong current.json": func(dir, _ string) error {
			return os.WriteFile(filepath.Join(dir, "current.json"), []byte(`{"name":"../x"}`), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			info := put(t, open(t, dir), zip)
			if err := damage(dir, filepath.Join(dir, "catalog_archive_"+info.Version)); err != nil {
				t.Fatal(err)
			}
			a := archive.New(dir, slog.New(slog.DiscardHandler))
			err := a.Refresh(context.Background())
			if err == nil || !strings.Contains(err.Error(), "import again") || a.Ready() {
				t.Errorf("opened with %v", err)
			}
			if _, err := importBytes(a, zip, archive.Dump{}); err != nil || !a.Ready() {
				t.Errorf("an import does not mend it: %v", err)
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func lines(rows ...string) string { return strings.Join(rows, "\n") + "\n" }

func TestCancel(t *testing.T) {
	_, zip := synthetic(t, 0.002, 1)
	dir := t.TempDir()
	a := open(t, dir)
	for _, phase := range []archive.Phase{archive.Reading, archive.Indexing, archive.Writing} {
		ctx, cancel := context.WithCancel(context.Background())
		_, err := a.Import(ctx, archive.Dump{Data: bytes.NewReader(zip), Size: int64(len(zip))}, func(p archive.Progress) {
			if p.Phase == phase {
				cancel()
			}
		})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled in phase %s: %v", phase, err)
		}
		if got := files(t, dir); len(got) != 0 {
			t.Errorf("cancelled in phase %s, the folder holds %v", phase, got)
		}
	}
}

func TestTwoImportsAtOnce(t *testing.T) {
	_, zip := synthetic(t, 0.002, 1)
	a := open(t, t.TempDir())
	var second error
	var once sync.Once
	_, err := a.Import(context.Background(), archive.Dump{Data: bytes.NewReader(zip), Size: int64(len(zip))}, func(archive.Progress) {
		once.Do(func() { _, second = importBytes(a, zip, archive.Dump{}) })
	})
	if err != nil || !errors.Is(second, archive.ErrBusy) {
		t.Errorf("the first: %v, the second meanwhile: %v", err, second)
	}
}
