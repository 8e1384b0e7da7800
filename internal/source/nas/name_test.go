package nas

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"watchmark/internal/watch"
)

func TestParseName(t *testing.T) {
	season := func(n int) *int { return &n }
	cases := []struct {
		text, title string
		season      *int
		episode     float64
		ok          bool
	}{
		{"灯塔守望者.S02E07.1080p.mkv", "灯塔守望者", season(2), 7, true},
		{"Deep.Sea.Line.s01.e12.mkv", "Deep Sea Line", season(1), 12, true},
		{"[group] Deep Sea Line - S00E03 [1080p].mkv", "Deep Sea Line", season(0), 3, true},
		{"[group][灯塔守望者][EP07][1080p].mp4", "灯塔守望者", nil, 7, true},
		{"灯塔守望者 第7话.mp4", "灯塔守望者", nil, 7, true},
		{"灯塔守望者 第 07 集", "灯塔守望者", nil, 7, true},
		{"灯塔守望者 第二季 第3話", "灯塔守望者 第二季", nil, 3, true},
		{"第12回", "", nil, 12, true},
		{"S01E02.mkv", "", season(1), 2, true},
		{"深海电车_E05.mkv", "深海电车", nil, 5, true},
		{"A film 2019.mkv", "", nil, 0, false},
		{"灯塔守望者 07.mkv", "", nil, 0, false},    // a bare number may be anything
		{"灯塔守望者 第2季.mkv", "", nil, 0, false},   // a season is no episode
		{"Deep Sea1e5.mkv", "", nil, 0, false}, // e5 is part of a word
		{"S01E12345.mkv", "", nil, 0, false},   // longer than any number of an episode
		{"视频-1024.mp4", "", nil, 0, false},     // the placeholder of an unrecognised file
		{"x\x00S01E02\xff", "x", season(1), 2, true},
	}
	for _, c := range cases {
		got, ok := parseName(c.text)
		if ok != c.ok || got.title != c.title || got.episode != c.episode || (got.season == nil) != (c.season == nil) || got.season != nil && *got.season != *c.season {
			t.Errorf("parseName(%q) = %+v, %v", c.text, got, ok)
		}
	}
}

func FuzzParseName(f *testing.F) {
	for _, text := range []string{"灯塔守望者.S02E07.mkv", "[a][b][EP07]", "第12回", "【x】E1", "S1E1", "[", "视频-1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := parseName(text)
		if !ok {
			if got != (name{}) {
				t.Fatalf("nothing was found, but %+v", got)
			}
			return
		}
		if got.episode < 0 || got.episode > watch.MaxEpisode || got.episode != math.Trunc(got.episode) || got.season != nil && (*got.season < 0 || *got.season > watch.MaxSeason) {
			t.Fatalf("%q gives numbers that no episode has: %+v", text, got)
		}
		if len(got.title) > watch.MaxText || got.title != strings.TrimSpace(got.title) || !utf8.ValidString(got.title) {
			t.Fatalf("%q gives the title %q", text, got.title)
		}
	})
}
