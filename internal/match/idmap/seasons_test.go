package idmap_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/match/idmap"
)

// listed are rows of the form of Anime-Lists, made after the worked examples of id-map.md section 9; the names are invented.
const listed = `<?xml version="1.0" encoding="utf-8"?>
<!-- a comment -->
<anime-list>
  <anime anidbid="17617" tvdbid="424536" defaulttvdbseason="1" tmdbtv="209867" tmdbseason="1"><name>Plain Show</name></anime>
  <anime anidbid="13241" tvdbid="267440" defaulttvdbseason="3" tmdbtv="1429" tmdbseason="3"><name>Split Show 3</name>
    <mapping-list><mapping anidbseason="0" tvdbseason="0">;1-0;2-0;</mapping></mapping-list>
    <supplemental-info><studio>A Studio</studio></supplemental-info></anime>
  <anime anidbid="14444" tvdbid="267440" defaulttvdbseason="3" episodeoffset="12"><name>Split Show 3 Part 2</name></anime>
  <anime anidbid="9826" tvdbid="267440" defaulttvdbseason="0"><name>Split Show OAD</name>
    <mapping-list><mapping anidbseason="1" tvdbseason="0">;1-7;2-12;</mapping></mapping-list></anime>
  <anime anidbid="2369" tvdbid="74796" defaulttvdbseason="a"><name>Long Show</name>
    <mapping-list><mapping anidbseason="1" tvdbseason="3" start="42" end="63" offset="-41"/>
      <mapping anidbseason="1" tvdbseason="23" start="300" offset="-299"/></mapping-list></anime>
  <anime anidbid="12" tvdbid="72070" defaulttvdbseason="1"><name>Recap Show</name>
    <mapping-list><mapping anidbseason="1" tvdbseason="1" start="10" end="17" offset="-1"/>
      <mapping anidbseason="1" tvdbseason="0">;9-1;18-2;</mapping></mapping-list></anime>
  <anime anidbid="6327" tvdbid="102261" defaulttvdbseason="1"><name>Web Show</name>
    <mapping-list><mapping anidbseason="0" tvdbseason="1">;1-13;</mapping></mapping-list></anime>
  <anime anidbid="12498" tvdbid="254653" defaulttvdbseason="4" episodeoffset="-1"><name>Zero Show</name>
    <mapping-list><mapping anidbseason="1" tvdbseason="0">;1-18;</mapping></mapping-list></anime>
  <anime anidbid="1517" tvdbid="153151" defaulttvdbseason="1"><name>One Of Two</name></anime>
  <anime anidbid="1578" tvdbid="153151" defaulttvdbseason="1"><name>Two Of Two</name></anime>
  <anime anidbid="3651" tvdbid="79414" defaulttvdbseason="1"><name>Reordered</name></anime>
  <anime anidbid="6367" tvdbid="79414" defaulttvdbseason="2"><name>Reordered 2009</name>
    <mapping-list><mapping anidbseason="1" tvdbseason="1">1-25;25-1;</mapping></mapping-list></anime>
  <anime anidbid="9453" tvdbid="102262" defaulttvdbseason="0"><name>Film And Parts</name>
    <mapping-list><mapping anidbseason="1" tvdbseason="0">;1-3+4+5;2-3;3-4;4-5;</mapping></mapping-list></anime>
  <anime anidbid="7" tvdbid="movie" tmdbid="128" imdbid="tt0119698,tt0000002"><name>A Film</name></anime>
  <anime anidbid="none" tvdbid="1" defaulttvdbseason="1"><name>No id</name></anime>
  <anime anidbid="17617" tvdbid="1" defaulttvdbseason="1"><name>Again</name></anime>
  <odd><nested/></odd>
</anime-list>`

// brief is a place as the tests write it: entry e number, or entry S number for a special.
func briefPlaces(places []idmap.Place) string {
	var b strings.Builder
	for i, p := range places {
		if i > 0 {
			b.WriteString(" ")
		}
		kind := "e"
		if p.Special {
			kind = "S"
		}
		fmt.Fprintf(&b, "%d%s%d", p.ID, kind, p.Number)
	}
	return b.String()
}

func TestPlacesOfAnimeLists(t *testing.T) {
	list, err := idmap.ReadAnimeLists(strings.NewReader(listed))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name            string
		site            idmap.Numbering
		series          uint32
		season, episode int
		want            string
	}{
		{"plain", idmap.TVDB, 424536, 1, 5, "17617e5"},
		{"plain at TMDB", idmap.TMDB, 209867, 1, 5, "17617e5"},
		{"another site has another series", idmap.TMDB, 424536, 1, 5, ""},
		{"the first of two by offset", idmap.TVDB, 267440, 3, 12, "13241e12"},
		{"the second of two by offset", idmap.TVDB, 267440, 3, 15, "14444e3"},
		{"a season that is not listed", idmap.TVDB, 267440, 2, 1, ""},
		{"specials by pairs", idmap.TVDB, 267440, 0, 12, "9826e2"},
		{"a special without a pair goes by the season", idmap.TVDB, 267440, 0, 3, "9826e3"},
		{"the pair takes the number from the season", idmap.TVDB, 267440, 0, 2, ""},
		{"through all seasons, by a range", idmap.TVDB, 74796, 3, 5, "2369e46"},
		{"behind the end of a range", idmap.TVDB, 74796, 3, 23, ""},
		{"a range without an end", idmap.TVDB, 74796, 23, 5, "2369e304"},
		{"through all seasons, without a range", idmap.TVDB, 74796, 1, 1, ""},
		{"before a recap", idmap.TVDB, 72070, 1, 8, "12e8"},
		{"behind a recap", idmap.TVDB, 72070, 1, 9, "12e10"},
		{"the recap itself", idmap.TVDB, 72070, 0, 1, "12e9"},
		{"a special of AniDB in a season", idmap.TVDB, 102261, 1, 13, "6327S1"},
		{"a negative offset", idmap.TVDB, 254653, 4, 1, "12498e2"},
		{"two that nothing tells apart", idmap.TVDB, 153151, 1, 1, "1517e1 1578e1"},
		{"shown in another order", idmap.TVDB, 79414, 1, 1, "6367e25 3651e1"},
		{"a film beside its parts", idmap.TVDB, 102262, 0, 4, "9453e3"},
		{"no series", idmap.TVDB, 0, 1, 1, ""},
		{"no episode 0", idmap.TVDB, 424536, 1, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := briefPlaces(list.Places(c.site, c.series, c.season, c.episode)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if got := briefPlaces(list.FilmOf("imdb", "tt0000002")) + ", " + briefPlaces(list.FilmOf("tmdb", "128")) + ", " + briefPlaces(list.FilmOf("tmdb", "tt")); got != "7e2, 7e1, " {
		t.Errorf("films are %q", got)
	}
	places := list.Places(idmap.TVDB, 267440, 3, 15)
	if got := briefPlaces(places[0].Before); got != "13241e15" {
		t.Errorf("before it comes %q", got)
	}
	if list.Len() != 14 {
		t.Errorf("the list has %d entries", list.Len())
	}
}

// counted are rows of the form of shinkro-mapping, with comments and quotes as they occur.
const counted = `AnimeMap:
    - malid: 1
      title: Plain
      type: tv
      tvdbid: 76885
      tvdbseason: 1
      start: 0
      useMapping: false
      animeMapping: []

    - malid: 2
      title: 'Part: 2'
      type: tv
      tvdbid: 76885
      tvdbseason: 1
      start: 14
      useMapping: false
      animeMapping: []
    - malid: 59
      title: Recaps
      type: tv
      tvdbid: 72070
      tvdbseason: 0
      start: 0
      useMapping: true
      animeMapping:
        - tvdbseason: 0
          start: 0
          mappingType: explicit
          explicitEpisodes:
            1: 9
            2: 18
        - tvdbseason: 1
          start: 1
          skipMalEpisodes:
            - 9
            - 18
    - malid: 22
      title: Seasons
      type: tv
      tvdbid: 73532
      tvdbseason: 0
      start: 0
      useMapping: true
      animeMapping:
        - tvdbseason: 1
          start: 1
        - tvdbseason: 2
          start: 27
    - malid: 23
      title: Not there
      tvdbid: 0
      tvdbseason: 1
    - malid: five
      title: Odd
      tvdbid: 5
`

func TestPlacesOfShinkro(t *testing.T) {
	list, err := idmap.ReadShinkro(strings.NewReader(counted))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, q := range [][3]int{{76885, 1, 13}, {76885, 1, 14}, {72070, 1, 8}, {72070, 1, 9}, {72070, 1, 17}, {72070, 0, 2}, {73532, 1, 26}, {73532, 1, 27}, {73532, 2, 3}} {
		got = append(got, briefPlaces(list.Places(idmap.TVDB, uint32(q[0]), q[1], q[2])))
	}
	want := []string{"1e13", "2e1", "59e8", "59e10", "59e19", "59e18", "22e26", "", "22e29"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
}

func FuzzReadAnimeLists(f *testing.F) {
	f.Add(listed)
	f.Add(`<anime-list><anime anidbid="1" tvdbid="1" defaulttvdbseason="1"><mapping-list><mapping anidbseason="1" tvdbseason="1" start="1" end="-1">;1-1+</mapping></mapping-list></anime></anime-list>`)
	f.Fuzz(func(t *testing.T, document string) {
		list, err := idmap.ReadAnimeLists(strings.NewReader(document))
		if err != nil {
			return
		}
		for _, p := range list.Places(idmap.TVDB, 1, 1, 1) {
			if p.ID == 0 {
				t.Errorf("a place without an entry: %+v", p)
			}
		}
	})
}

func FuzzReadShinkro(f *testing.F) {
	f.Add(counted)
	f.Add("AnimeMap: &a [*a, *a]\n")
	f.Fuzz(func(t *testing.T, document string) {
		list, err := idmap.ReadShinkro(strings.NewReader(document))
		if err != nil {
			return
		}
		for _, p := range list.Places(idmap.TVDB, 1, 1, 1) {
			if p.ID == 0 {
				t.Errorf("a place without an entry: %+v", p)
			}
		}
	})
}

// BenchmarkReadAnimeLists reads the list that WATCHMARK_MATCHBENCH names.
func BenchmarkReadAnimeLists(b *testing.B) {
	folder := os.Getenv("WATCHMARK_MATCHBENCH")
	if folder == "" {
		b.Skip("WATCHMARK_MATCHBENCH does not name a folder with anime-list.xml.gz")
	}
	packed, err := os.ReadFile(filepath.Join(folder, "anime-list.xml.gz"))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		document, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := idmap.ReadAnimeLists(document); err != nil {
			b.Fatal(err)
		}
	}
}
