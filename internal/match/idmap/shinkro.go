package idmap

import (
	"bufio"
	"io"
	"slices"
	"strings"
	"watchmark/internal/platform/reason"

	"go.yaml.in/yaml/v3"
)

// shinkroRow is an entry of MyAnimeList with the series and season that it is at TheTVDB.
type shinkroRow struct {
	MAL    uint32 `yaml:"malid"`
	TVDB   uint32 `yaml:"tvdbid"`
	Season int    `yaml:"tvdbseason"`
	// Start is the first episode of the season that the entry is, 0 for the season's first one.
	Start      int  `yaml:"start"`
	UseMapping bool `yaml:"useMapping"`
	// Mapping divides an entry that is several seasons; it counts where UseMapping is set.
	Mapping []struct {
		Season int `yaml:"tvdbseason"`
		// Start is the episode of the entry with which the season begins, 0 for its first one.
		Start    int         `yaml:"start"`
		Explicit map[int]int `yaml:"explicitEpisodes"` // from TheTVDB's number to that of the entry
		Skip     []int       `yaml:"skipMalEpisodes"`
	} `yaml:"animeMapping"`
}

// ReadShinkro reads tvdb-mal.yaml of shinkro-mapping (id-map.md section 6): a list of rows below the key AnimeMap. Each row is parsed
// by itself, so that the memory for it is small, and one that makes no sense is left out. The error wraps errListFormat when it is
// not such a list, or is cut.
func ReadShinkro(document io.Reader) (*Seasons, error) {
	list := &Seasons{Name: "shinkro", of: mal}
	lines := bufio.NewScanner(document)
	var row []byte // the lines of the row that is read
	indent := -1   // that of the rows
	take := func() {
		var read []shinkroRow
		if len(row) == 0 || yaml.Unmarshal(row, &read) != nil {
			return
		}
		for _, r := range read {
			if a, ok := r.anime(); ok {
				list.entries = append(list.entries, a)
			}
		}
	}
	for begun := false; lines.Scan(); {
		line := lines.Text()
		text := strings.TrimLeft(line, " ")
		switch depth := len(line) - len(text); {
		case !begun:
			if text != "" && text[0] != '#' {
				if begun = strings.TrimRight(text, " ") == "AnimeMap:"; !begun {
					return nil, reason.Because.With(errListFormat, delimiterMissing.With("AnimeMap"))
				}
			}
			continue
		case strings.HasPrefix(text, "- ") && (indent < 0 || depth == indent):
			indent = depth
			take()
			row = row[:0]
		}
		if len(row) > maxRow || len(list.entries) > maxAnime {
			return nil, reason.Because.With(errListFormat, tooManyEntries.With(maxAnime))
		}
		row = append(append(row, line...), '\n')
	}
	if err := lines.Err(); err != nil {
		return nil, noList(err)
	}
	take()
	if len(list.entries) == 0 {
		return nil, reason.Because.With(errListFormat, noItems)
	}
	list.index()
	return list, nil
}

// maxRow bounds a row in bytes; the longest of 2026 has 2,000.
const maxRow = 256 << 10

// anime is the entry as the list has it; ok is false for one that TheTVDB does not have.
func (r shinkroRow) anime() (a anime, ok bool) {
	if r.MAL == 0 || r.TVDB == 0 || !fits(r.Season, r.Start) {
		return anime{}, false
	}
	a = anime{id: r.MAL}
	a.at[TMDB].season = unnumbered
	a.at[TVDB] = numbered{series: r.TVDB, season: int16(r.Season), offset: int16(max(r.Start, 1) - 1)}
	if !r.UseMapping {
		return a, true
	}
	a.at[TVDB].season, a.at[TVDB].offset = through, 0
	left := maxExceptions
	for _, m := range r.Mapping {
		if left -= 1 + len(m.Explicit) + len(m.Skip); left < 0 || !fits(m.Season, m.Start) {
			continue
		}
		row := exception{season: [numberings]int16{TVDB: int16(m.Season), TMDB: unnumbered}}
		for there, own := range m.Explicit {
			if fits(there, own) {
				row.pairs = append(row.pairs, pair{int16(own), int16(there)})
			}
		}
		if len(m.Explicit) == 0 {
			row.start = int16(max(m.Start, 1))
			row.offset = 1 - row.start
			for _, own := range m.Skip {
				if fits(own) {
					row.skip = append(row.skip, int16(own))
				}
			}
			slices.Sort(row.skip)
		}
		a.rows = append(a.rows, row)
	}
	// A season ends where the next one begins.
	for i := range a.rows {
		for _, other := range a.rows {
			if end := other.start - 1; a.rows[i].start != 0 && end >= a.rows[i].start && (a.rows[i].end == 0 || end < a.rows[i].end) {
				a.rows[i].end = end
			}
		}
	}
	return a, true
}

// fits reports whether numbers are such as a list may have for seasons and episodes.
func fits(numbers ...int) bool {
	return !slices.ContainsFunc(numbers, func(n int) bool { return n < 0 || n > 30_000 })
}
