package importer

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"

	"watchmark/internal/source/payload"
	"watchmark/internal/watch"
)

// simklTitle is a title of Simkl's backup (upstreams/exports.md section 2). Ids are texts or numbers.
type simklTitle struct {
	Status    string     `json:"status"`
	Watched   int        `json:"watched_episodes_count"`
	Total     int        `json:"total_episodes_count"`
	LastAt    string     `json:"last_watched_at"`
	AnimeType string     `json:"anime_type"`
	Show      *simklWork `json:"show"`
	Movie     *simklWork `json:"movie"`
	Seasons   []struct {
		Number   *int `json:"number"`
		Episodes []struct {
			Number    int    `json:"number"`
			WatchedAt string `json:"watched_at"`
		} `json:"episodes"`
	} `json:"seasons"`
}

// simklIDs are the ids of a title that mean something here; a backup has more than an event may hold.
var simklIDs = []string{"simkl", "mal", "anidb", "anilist", "tvdb", "tmdb", "imdb"}

type simklWork struct {
	Title string         `json:"title"`
	Year  int            `json:"year"`
	IDs   map[string]any `json:"ids"`
}

// simkl reads Simkl's backup: the zip, or the JSON in it.
func (x *export) simkl(take func(row) error) error {
	lists := func(r io.Reader) error { return simklLists(r, take) }
	single, archive, err := x.open()
	if err != nil {
		return err
	}
	if archive == nil {
		return lists(single)
	}
	for _, f := range archive {
		if simklMember.MatchString(f.Name) {
			return member(f, lists)
		}
	}
	return fileNoBackup
}

// simklLists reads the lists of a backup a title at a time.
func simklLists(r io.Reader, take func(row) error) error {
	t, err := unpacked()(r, "{")
	if err != nil {
		return err
	}
	d := json.NewDecoder(t)
	if _, err := d.Token(); err != nil { // the bracket
		return err
	}
	for d.More() {
		t.Row()
		list, err := d.Token()
		if err != nil {
			return err
		}
		if list == "movies" || list == "shows" || list == "anime" {
			err = t.list(d, func(raw json.RawMessage) error {
				var title simklTitle
				if json.Unmarshal(raw, &title) != nil {
					return take(row{id: "?", why: fileRow.With()})
				}
				return title.rows(list == "anime", take)
			})
		} else {
			err = t.skip(d)
		}
		if err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// rows are what a title says was watched. Anime are one title for each entry of MyAnimeList or AniDB, with a numbering of its own; other
// shows have the seasons of TheTVDB.
func (t simklTitle) rows(anime bool, take func(row) error) error {
	work := t.Show
	if t.Movie != nil {
		work = t.Movie
	}
	if work == nil {
		return take(row{id: "?", why: fileRow.With()})
	}
	ids := watch.IDs{}
	for _, provider := range simklIDs {
		switch id := work.IDs[provider].(type) {
		case string:
			ids = payload.AddID(ids, provider, id)
		case float64:
			ids = payload.AddID(ids, provider, strconv.FormatFloat(id, 'f', -1, 64))
		}
	}
	one := row{id: ids["simkl"], title: payload.Clean(work.Title, watch.MaxText)}
	if one.id == "" {
		one.why = fileRow.With()
		return take(one)
	}
	one.event = watch.Event{Title: one.title, Media: watch.Episode, OccurredAt: timeOf(t.LastAt)}
	if anime { // of a film these ids tell the same, but its others do, too
		for _, provider := range []string{"mal", "anidb"} {
			if ids[provider] != "" {
				one.ids = append(one.ids, providerID{provider, ids[provider]})
			}
		}
		if len(one.ids) == 0 {
			one.why = fileNoID.With()
			return take(one)
		}
	}
	numbers, specials := t.watched()
	completed := strings.EqualFold(t.Status, "completed")
	if t.Movie != nil || anime && strings.EqualFold(t.AnimeType, "movie") {
		if !completed && (!anime || len(numbers) == 0) {
			return nil // it is planned, or was dropped
		}
		one.event.Media, one.event.ItemIDs = watch.Movie, ids
		if work.Year > 0 {
			one.event.AirDate = watch.ParseDate(strconv.Itoa(work.Year))
		}
		return take(one)
	}
	if anime {
		if specials > 0 {
			if err := take(row{id: one.id, title: one.title, why: fileSpecials.With(specials)}); err != nil {
				return err
			}
		}
		one.numbers, one.all = numbers, completed && len(t.Seasons) == 0 && len(numbers) == 0
		if len(numbers) == 0 && !one.all {
			return nil
		}
		return take(one)
	}
	one.event.SeriesIDs = ids
	for _, season := range t.Seasons {
		for _, e := range season.Episodes {
			play := one
			play.event.Season, play.event.Episode, play.event.OccurredAt = season.Number, new(float64(e.Number)), timeOf(e.WatchedAt)
			play.id = one.id + "/" + watch.EpisodeLabel(play.event.Season, play.event.Episode)
			if err := take(play); err != nil {
				return err
			}
		}
	}
	return nil
}

// watched are the numbers of the episodes of an anime: those that are listed, and where a title is listed without, as many as it counts.
// specials is how many are listed beside: an anime is an entry with one season, and a special has a number of its own on each site.
func (t simklTitle) watched() (numbers []int, specials int) {
	for _, season := range t.Seasons {
		for _, e := range season.Episodes {
			if e.Number > 0 && (season.Number == nil || *season.Number == 1) {
				numbers = append(numbers, e.Number)
			} else {
				specials++
			}
		}
	}
	if len(t.Seasons) > 0 {
		return numbers, specials
	}
	count := t.Watched
	if count == 0 && strings.EqualFold(t.Status, "completed") {
		count = t.Total
	}
	return firstOnes(count), 0
}

// countMost bounds what a title may count: the longest show has fewer.
const countMost = 10000

// firstOnes are the numbers from 1 to n.
func firstOnes(n int) []int {
	numbers := make([]int, max(0, min(n, countMost)))
	for i := range numbers {
		numbers[i] = i + 1
	}
	return numbers
}

// timeOf is when something was watched; zero where it is not known, which some say with the epoch.
func timeOf(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Year() < 1971 {
		return time.Time{}
	}
	return at.UTC()
}
