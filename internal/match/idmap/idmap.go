// Package idmap is the community table of bangumi-data: which subject of the catalog
// an id of another site stands for, and which titles it has in several languages.
//
// A snapshot of it is part of the program, made by go generate. A Dataset fetches a newer
// one by schedule into the data folder, and gives out the table in use. Both are made by
// Pack, so that they hold the same. What is fetched is not believed before it was read to
// its end: the table in use stays until then.
//
//go:generate go run ./gen
package idmap

import (
	"strconv"
	"strings"

	"watchmark/internal/catalog"
	"watchmark/internal/watch"
)

// Version is the release of bangumi-data that the snapshot in the program is made from.
const Version = "0.3.208"

// Kind is what an entry is.
type Kind string

// The kinds. An entry of a kind that this program does not know has the empty one.
const (
	TV    Kind = "tv"
	Web   Kind = "web" // made for streaming
	Movie Kind = "movie"
	OVA   Kind = "ova"
)

// kinds are the kinds by the number that a packed table has for them.
var kinds = [...]Kind{"", TV, Web, Movie, OVA}

// AnySeason is the Season of an entry whose id names none.
const AnySeason = -1

// Entry is a subject as the table tells it.
type Entry struct {
	Subject catalog.SubjectID
	Kind    Kind
	// Begin is when it was first shown, the day in Japan by the clock: what is shown at one
	// in the morning there, the catalog often counts to the day before. Zero when unknown.
	Begin watch.Date
	// Season is that of the TMDB show that Show found the entry by: AnySeason when the id
	// is that of the whole show, 0 for its specials. Other look-ups give AnySeason.
	Season int
	// Episode is the episode of Season that the entry begins with (id-map.md section 0), 0 when
	// the id names none: then it is the first one. Parts divides a season by it.
	Episode int
	// AniDB, MAL and Show are its ids at AniDB, MyAnimeList and, for a show, TMDB; 0 when the table has none.
	AniDB, MAL, Show uint32
	// Titles are all that the table has, the original one first. They are not folded.
	Titles []string
}

// site is a site whose ids lead to entries.
type site int

// The sites, in the order of a packed table. TMDB numbers shows and films apart.
const (
	tmdbShow site = iota
	tmdbFilm
	mal
	aniDB
	aniList
	sites
)

// providers are the sites that have one id a subject, by the names that people have for them.
var providers = map[string]site{"mal": mal, "myanimelist": mal, "anidb": aniDB, "anilist": aniList}

// reference is what a site has for an entry.
type reference struct {
	id      uint32
	season  int16 // AnySeason when the id names none
	episode uint16
}

// parseTMDB reads an id of the table's site "tmdb": tv/1, tv/1/season/2,
// tv/1/season/2/episode/13 or movie/1; a number may have the name of the show behind it,
// as in tv/1-name.
func parseTMDB(text string) (site, reference, bool) {
	parts := strings.Split(text, "/")
	if len(parts)%2 != 0 || len(parts) > 6 {
		return 0, reference{}, false
	}
	number, _, _ := strings.Cut(parts[1], "-")
	r, ok := parseID(number)
	if !ok {
		return 0, r, false
	}
	if parts[0] == "movie" {
		return tmdbFilm, r, len(parts) == 2
	}
	if parts[0] != "tv" {
		return 0, r, false
	}
	if len(parts) > 2 {
		n, err := strconv.ParseUint(parts[3], 10, 15)
		if err != nil || parts[2] != "season" {
			return 0, r, false
		}
		r.season = int16(n)
	}
	if len(parts) > 4 {
		n, err := strconv.ParseUint(parts[5], 10, 16)
		if err != nil || n == 0 || parts[4] != "episode" {
			return 0, r, false
		}
		r.episode = uint16(n)
	}
	return tmdbShow, r, true
}

// parseID reads an id that is a number.
func parseID(text string) (reference, bool) {
	id, err := strconv.ParseUint(text, 10, 32)
	return reference{id: uint32(id), season: AnySeason}, err == nil && id != 0
}
