package titles_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog/archive/titles"
	"watchmark/internal/watch/title"
)

func build(t testing.TB, lists ...[]titles.Entry) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "index")
	for _, list := range lists {
		titles.Sort(list)
	}
	different := map[titles.Entry]bool{}
	for _, list := range lists {
		for _, e := range list {
			e.Kind = 0 // a title that a subject has twice counts once
			different[e] = e.Key != ""
		}
	}
	maps.DeleteFunc(different, func(_ titles.Entry, counts bool) bool { return !counts })
	if n, err := titles.Build(context.Background(), path, 2, lists...); err != nil || n != len(different) {
		t.Fatalf("built with %d titles, not %d: %v", n, len(different), err)
	}
	return path
}

func open(t testing.TB, path string) *titles.Index {
	t.Helper()
	x, err := titles.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}

func entry(text string, subject uint32, kind titles.Kind) titles.Entry {
	return titles.Entry{Key: title.Key(text), Subject: subject, Type: 2, Kind: kind}
}

func anything(titles.Entry) bool { return true }

func subjects[E any](list []E, of func(E) uint32) []uint32 {
	ids := []uint32{}
	for _, e := range list {
		ids = append(ids, of(e))
	}
	return ids
}

func TestLookUps(t *testing.T) {
	many := []titles.Entry{}
	for i := range uint32(300) { // equal titles that fill many blocks
		many = append(many, entry("同名の番組", 1000+i, titles.Alias))
	}
	x := open(t, build(t,
		[]titles.Entry{entry("Dungeon Meshi", 1, titles.Name), entry("迷宫饭", 1, titles.NameCN), entry("ダンジョン飯", 1, titles.Name), entry("迷宫饭", 2, titles.Alias), entry("迷宫饭", 1, titles.Alias)},
		[]titles.Entry{entry("迷宫饭 第二季", 3, titles.NameCN), entry("A", 4, titles.Name), entry("", 5, titles.Name), entry("a", 6, titles.Alias)},
		many,
	))
	ofEntry := func(e titles.Entry) uint32 { return e.Subject }
	for _, c := range []struct {
		name  string
		find  func() ([]titles.Entry, error)
		want  []uint32
		count int
	}{
		{"equal, the name before the alias", func() ([]titles.Entry, error) { return x.Exact(title.Key("迷宫饭"), 9) }, []uint32{1, 2}, 2},
		{"kana", func() ([]titles.Entry, error) { return x.Exact(title.Key("だんじょん飯"), 9) }, []uint32{1}, 1},
		{"one letter", func() ([]titles.Entry, error) { return x.Exact("a", 9) }, []uint32{4, 6}, 2},
		{"not there, before all", func() ([]titles.Entry, error) { return x.Exact("!", 9) }, []uint32{}, 0},
		{"not there, behind all", func() ([]titles.Entry, error) { return x.Exact("\U0010fffd", 9) }, []uint32{}, 0},
		{"no key", func() ([]titles.Entry, error) { return x.Exact("", 9) }, []uint32{}, 0},
		{"a beginning", func() ([]titles.Entry, error) { return x.Prefix(title.Key("迷宫"), 9) }, []uint32{1, 2, 3}, 3},
		{"a beginning, limited", func() ([]titles.Entry, error) { return x.Prefix(title.Key("迷宫"), 2) }, []uint32{1, 2}, 2},
		{"over blocks", func() ([]titles.Entry, error) { return x.Exact(title.Key("同名の番組"), 500) }, nil, 300},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.find()
			if err != nil {
				t.Fatal(err)
			}
			if ids := subjects(got, ofEntry); len(ids) != c.count || c.want != nil && !slices.Equal(ids, c.want) {
				t.Errorf("found %v, want %v", ids, c.want)
			}
		})
	}
	hits, err := x.Like(title.Key("Dungeon Mehsi"), 3, anything)
	if err != nil || len(hits) == 0 || hits[0].Subject != 1 || hits[0].Likeness < 0.8 {
		t.Errorf("swapped letters lead to %+v, %v", hits, err)
	}
	if hits, err := x.Like(title.Key("迷宫飯"), 9, func(e titles.Entry) bool { return e.Subject != 1 }); err != nil || len(hits) == 0 || hits[0].Subject != 2 {
		t.Errorf("without subject 1: %+v, %v", hits, err)
	}
}

func TestEmptyIndex(t *testing.T) {
	x := open(t, build(t, nil))
	for name, find := range map[string]func() (int, error){
		"equal": func() (int, error) { e, err := x.Exact("a", 9); return len(e), err },
		"like":  func() (int, error) { h, err := x.Like("a", 9, anything); return len(h), err },
	} {
		if n, err := find(); n != 0 || err != nil {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
}

// The lists of the workers may be cut anywhere: the file is the same.
func TestSameFileHoweverTheListsAreCut(t *testing.T) {
	var all []titles.Entry
	for i := range uint32(2000) {
		all = append(all, entry(fmt.Sprintf("タイトル %d 物語", i*7919%3000), i, titles.Kind(i%3)))
	}
	one, err := os.ReadFile(build(t, slices.Clone(all)))
	if err != nil {
		t.Fatal(err)
	}
	three, err := os.ReadFile(build(t, slices.Clone(all[:100]), slices.Clone(all[100:101]), slices.Clone(all[101:])))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(len(one), len(three)); diff != "" || !slices.Equal(one, three) {
		t.Errorf("the files differ %s", diff)
	}
}

// The first title of a block says that it shares more with the one before than a number can hold.
func TestDamageThatOverflows(t *testing.T) {
	path := build(t, []titles.Entry{entry("a title that is long enough", 1, titles.Name)})
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	const blocks = 88 // behind the header
	if _, err := file.WriteAt([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x02}, blocks); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if found, err := open(t, path).Exact(title.Key("a title that is long enough"), 1); !errors.Is(err, titles.ErrDamaged) {
		t.Errorf("found %+v, %v", found, err)
	}
}

// A damaged file is told or found out at the look-up; it never panics.
func TestDamage(t *testing.T) {
	var all []titles.Entry
	for i := range uint32(500) {
		all = append(all, entry(fmt.Sprintf("show %d of the %d 夏目", i, i%37), i, titles.Name))
	}
	whole, err := os.ReadFile(build(t, all))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "damaged")
	dice := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		damaged := slices.Clone(whole)
		for range 1 + dice.IntN(4) {
			damaged[dice.IntN(len(damaged))] ^= byte(1 + dice.IntN(255))
		}
		if dice.IntN(4) == 0 {
			damaged = damaged[:dice.IntN(len(damaged))]
		}
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		x, err := titles.Open(path)
		if err != nil {
			continue
		}
		for i := range 20 {
			key := title.Key(fmt.Sprintf("show %d of the %d 夏目", i, i%37))
			_, _ = x.Exact(key, 5)  // must not panic
			_, _ = x.Prefix("s", 5) // must not panic
			_, _ = x.Like(key, 5, anything)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
