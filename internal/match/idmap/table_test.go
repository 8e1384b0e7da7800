package idmap_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog"
	"watchmark/internal/match/idmap"
	"watchmark/internal/watch"
)

func snapshot(t testing.TB) *idmap.Table {
	t.Helper()
	table, err := idmap.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestTheSnapshotIsOfThePinnedRelease(t *testing.T) {
	table := snapshot(t)
	if table.Version() != idmap.Version {
		t.Errorf("the snapshot is of %s, pinned is %s: run go generate", table.Version(), idmap.Version)
	}
	if n := table.Len(); n < 8000 {
		t.Errorf("the snapshot has %d subjects", n)
	}
}

// brief is what the tests of look-ups compare.
type brief struct {
	Subject         catalog.SubjectID
	Season, Episode int
}

func briefs(entries []idmap.Entry) []brief {
	list := []brief{}
	for _, e := range entries {
		list = append(list, brief{e.Subject, e.Season, e.Episode})
	}
	return list
}

func TestLookUps(t *testing.T) {
	table := snapshot(t)
	const whole = idmap.AnySeason
	for _, c := range []struct {
		name string
		got  []idmap.Entry
		want []brief
	}{
		{"a show of one subject", table.Show("890"), []brief{{265, whole, 0}}},
		{"a show whose seasons have one id", table.Show("209867"), []brief{{400602, whole, 0}, {515759, whole, 0}}},
		{"films among the specials of a show", table.Show("31709"), []brief{{10392, whole, 0}, {23307, 0, 11}, {33930, 0, 14}}},
		{"a show with numbered seasons", table.Show("8853"), []brief{{11189, whole, 0}, {53752, 2, 0}}},
		{"a show with its name behind the number", table.Show("308934"), []brief{{617197, whole, 0}}},
		{"a film", table.Film("324443"), []brief{{88595, whole, 0}}},
		{"a film's number is no show", table.Show("324443"), []brief{}},
		{"a show's number is no film", table.Film("209867"), []brief{}},
		{"mal", table.ByID("mal", "52991"), []brief{{400602, whole, 0}}},
		{"mal by its whole name", table.ByID("MyAnimeList", "52991"), []brief{{400602, whole, 0}}},
		{"anidb", table.ByID("anidb", "17617"), []brief{{400602, whole, 0}}},
		{"anilist", table.ByID("AniList", "154587"), []brief{{400602, whole, 0}}},
		{"tmdb is no such site", table.ByID("tmdb", "890"), []brief{}},
		{"no number", table.ByID("mal", "52991x"), []brief{}},
		{"no id", table.Show(""), []brief{}},
		{"zero", table.Film("0"), []brief{}},
		{"the original title", table.ByTitle("葬送のフリーレン"), []brief{{400602, whole, 0}}},
		{"a title with other marks, width and case", table.ByTitle(" ｎｅｏｎ genesis EVANGELION!"), []brief{{265, whole, 0}}},
		{"items of one subject", table.ByTitle("霊剣山 星屑たちの宴"), []brief{{146861, whole, 0}}},
		{"no title", table.ByTitle(" "), []brief{}},
		{"no such title", table.ByTitle("灯塔守望者"), []brief{}},
	} {
		if diff := cmp.Diff(c.want, briefs(c.got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	want := idmap.Entry{Subject: 265, Kind: idmap.TV, Begin: watch.Date{Year: 1995, Month: 10, Day: 5}, Season: whole, AniDB: 22, MAL: 30, Show: 890, Titles: []string{
		"新世紀エヴァンゲリオン", "Neon Genesis Evangelion", "新世纪福音战士", "EVA", "新世紀福音戰士"}}
	if diff := cmp.Diff([]idmap.Entry{want}, table.Show("890")); diff != "" {
		t.Errorf("the whole entry (-want +got):\n%s", diff)
	}
}

// Every title of every entry leads back to it.
func TestEveryTitleIsFound(t *testing.T) {
	table := snapshot(t)
	tried := 0
	for id := range 2000 {
		for _, e := range table.ByID("mal", strconv.Itoa(id+1)) {
			for _, title := range e.Titles {
				tried++
				found := false
				for _, hit := range table.ByTitle(title) {
					found = found || hit.Subject == e.Subject
				}
				if !found {
					t.Errorf("%q does not lead to %d", title, e.Subject)
				}
			}
		}
	}
	if tried < 1000 {
		t.Errorf("only %d titles were tried", tried)
	}
}

func pack(t testing.TB, document string) (*idmap.Table, error) {
	t.Helper()
	packed, err := idmap.Pack(strings.NewReader(document), idmap.Head{})
	if err != nil {
		return nil, err
	}
	return idmap.Read(bytes.NewReader(packed))
}

func TestOneBadItemLosesNoOther(t *testing.T) {
	table, err := pack(t, `{"siteMeta":{},"items":[
		{"title":7,"sites":[{"site":"bangumi","id":"1"}]},
		null, [], "x",
		{"title":"no subject","sites":[{"site":"mal","id":"5"}]},
		{"title":"bad ids","type":"play","begin":"soon","sites":[{"site":"bangumi","id":"2"},{"site":"tmdb","id":"tv/x"},{"site":"tmdb","id":"tv"},
			{"site":"tmdb","id":"tv/4/season/0/episode/0"},{"site":"tmdb","id":"movie/4/season/1"},{"site":"tmdb","id":"tv/4/episode/1"},{"site":"mal","id":"-1"},{"site":"anidb","id":"99999999999"}]},
		{"title":" ","titleTranslate":{"en":["good","","good"]},"type":"movie","begin":"2026-01-31T15:00:00.000Z","sites":[{"site":"bangumi","id":"3"},{"site":"tmdb","id":"movie/4"}]}
	],"more":{"x":[1]}}`)
	if err != nil {
		t.Fatal(err)
	}
	if table.Len() != 2 || len(table.Show("4")) != 0 {
		t.Errorf("there are %d subjects, show 4 is %v", table.Len(), table.Show("4"))
	}
	want := []idmap.Entry{{Subject: 3, Kind: idmap.Movie, Begin: watch.Date{Year: 2026, Month: 2, Day: 1}, Season: idmap.AnySeason, Titles: []string{"good"}}}
	if diff := cmp.Diff(want, table.Film("4")); diff != "" {
		t.Errorf("the good item (-want +got):\n%s", diff)
	}
	want = []idmap.Entry{{Subject: 2, Season: idmap.AnySeason, Titles: []string{"bad ids"}}}
	if diff := cmp.Diff(want, table.ByTitle("bad ids")); diff != "" {
		t.Errorf("the item with bad ids (-want +got):\n%s", diff)
	}
}

func TestItemsOfOneSubjectAreOneEntry(t *testing.T) {
	table, err := pack(t, `{"items":[
		{"title":"second half","titleTranslate":{"en":["name"]},"begin":"2026-01-03T14:30:00.000Z","sites":[{"site":"bangumi","id":"3"},{"site":"tmdb","id":"tv/4"},{"site":"mal","id":"6"}]},
		{"title":"first half","titleTranslate":{"en":["name"]},"type":"tv","begin":"2025-01-03T14:30:00.000Z","sites":[{"site":"bangumi","id":"3"},{"site":"tmdb","id":"tv/4"},{"site":"mal","id":"5"}]}]}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []idmap.Entry{{Subject: 3, Kind: idmap.TV, Begin: watch.Date{Year: 2025, Month: 1, Day: 3}, Season: idmap.AnySeason, MAL: 5, Show: 4, Titles: []string{"second half", "name", "first half"}}}
	for name, got := range map[string][]idmap.Entry{"show": table.Show("4"), "one id": table.ByID("mal", "5"), "the other id": table.ByID("mal", "6"), "title": table.ByTitle("Name")} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Each new title is compared with those there are.
func TestTitlesOfAnEntryAreBounded(t *testing.T) {
	var titles strings.Builder
	for i := range 5000 {
		titles.WriteString(`,"` + strconv.Itoa(i) + `"`)
	}
	table, err := pack(t, `{"items":[{"title":"x","titleTranslate":{"en":["y"`+titles.String()+`]},"sites":[{"site":"bangumi","id":"3"},{"site":"mal","id":"5"}]}]}`)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(table.ByID("mal", "5")[0].Titles); n != 1000 {
		t.Errorf("the entry has %d titles", n)
	}
}

func TestWhatIsNotTheTableIsRefused(t *testing.T) {
	const good = `{"items":[{"title":"x","sites":[{"site":"bangumi","id":"3"}]}]}`
	if _, err := pack(t, good); err != nil {
		t.Fatal(err)
	}
	for name, document := range map[string]string{
		"nothing": "", "a page": "<!doctype html><html></html>", "a list": "[]", "no items": `{"siteMeta":{}}`, "items are no list": `{"items":{}}`,
		"no subject": `{"items":[]}`, "more behind": good + "{}", "cut in an item": good[:30], "cut behind an item": good[:len(good)-2], "cut at the end": good[:len(good)-1],
	} {
		if _, err := pack(t, document); !errors.Is(err, idmap.ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPackIsDeterministic(t *testing.T) {
	document := []byte(`{"items":[{"title":"x","titleTranslate":{"en":["a"],"ja":["b"],"zh-Hans":["c"],"zh-Hant":["d"]},"sites":[{"site":"bangumi","id":"3"}]}]}`)
	var first []byte
	for range 20 {
		packed, err := idmap.Pack(bytes.NewReader(document), idmap.Head{Version: "1.2.3"})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = packed
		}
		if !bytes.Equal(packed, first) {
			t.Fatal("the same document gives another table")
		}
	}
}

func FuzzPack(f *testing.F) {
	f.Add([]byte(`{"items":[{"title":"x","begin":"2026-01-31T15:00:00Z","titleTranslate":{"en":["a"]},"sites":[{"site":"bangumi","id":"3"},{"site":"tmdb","id":"tv/1/season/2"}]}]}`))
	f.Add([]byte(`{"items":[{"title":"x","sites":[{"site":"bangumi","id":"3"}]},{"title":"y","sites":[{"site":"bangumi","id":"3"},{"site":"mal","id":"3"}]}]}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		packed, err := idmap.Pack(bytes.NewReader(document), idmap.Head{})
		if err != nil {
			return
		}
		table, err := idmap.Read(bytes.NewReader(packed))
		if err != nil || table.Len() == 0 {
			t.Fatalf("what was packed cannot be read: %v", err)
		}
	})
}

func zipped(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// FuzzRead damages what is inside of a packed table, so that no checksum notices.
func FuzzRead(f *testing.F) {
	packed, err := idmap.Pack(strings.NewReader(`{"items":[{"title":"x","begin":"2026-01-31T15:00:00Z","titleTranslate":{"en":["a"]},"sites":[{"site":"bangumi","id":"3"},{"site":"tmdb","id":"tv/1/season/2"},{"site":"mal","id":"7"}]},
		{"title":"y","sites":[{"site":"bangumi","id":"4"}]}]}`), idmap.Head{Version: "1"})
	if err != nil {
		f.Fatal(err)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		f.Fatal(err)
	}
	content, err := io.ReadAll(unzipped)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	f.Fuzz(func(t *testing.T, content []byte) {
		table, err := idmap.Read(bytes.NewReader(zipped(t, content)))
		if err != nil {
			if !errors.Is(err, idmap.ErrFormat) {
				t.Errorf("the error is %v", err)
			}
			return
		}
		for _, found := range [][]idmap.Entry{table.Show("1"), table.Film("1"), table.ByID("mal", "7"), table.ByTitle("x")} {
			for _, e := range found {
				_ = e.Begin.String()
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	packed, err := os.ReadFile("snapshot.bin")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := idmap.Read(bytes.NewReader(packed)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHeap tells how many bytes of heap a loaded table keeps.
func BenchmarkHeap(b *testing.B) {
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		table := snapshot(b)
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(table)
	}
	b.ReportMetric(float64(after.HeapAlloc)-float64(before.HeapAlloc), "heap-B")
}

func BenchmarkByTitle(b *testing.B) {
	table := snapshot(b)
	for b.Loop() {
		_ = table.ByTitle("葬送のフリーレン")
	}
}
