package tracker

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"watchmark/internal/watch"
)

// play is an item of the history (upstreams/tracker.md section 4). What is not needed is
// not read, so that it cannot be wrong.
type play struct {
	ID        int64    `json:"id"`
	WatchedAt string   `json:"watched_at"`
	Action    string   `json:"action"`
	Type      string   `json:"type"`
	Episode   *episode `json:"episode"`
	Show      *work    `json:"show"`
	Movie     *work    `json:"movie"`
}

type episode struct {
	Season     *int     `json:"season"`
	Number     *float64 `json:"number"`
	Title      string   `json:"title"`
	FirstAired string   `json:"first_aired"`
	IDs        ids      `json:"ids"`
}

// work is a show or a film.
type work struct {
	Title    string   `json:"title"`
	Original string   `json:"original_title"`
	Year     number   `json:"year"`
	Released string   `json:"released"`
	Genres   []string `json:"genres"`
	IDs      ids      `json:"ids"`
	Airs     struct {
		Timezone string `json:"timezone"`
	} `json:"airs"`
}

// ids are those of an object; any but the tracker's own may be null, 0 or empty.
type ids map[string]json.RawMessage

// get is the id at a provider; empty when there is none.
func (i ids) get(provider string) string {
	text := strings.Trim(string(i[provider]), `"`)
	if text == "null" || text == "0" || len(text) > 40 || strings.ContainsAny(text, `{}[]\`) {
		return ""
	}
	return text
}

// known are the ids that mean something to the matcher.
func (i ids) known() watch.IDs {
	known := watch.IDs{}
	for _, provider := range []string{"tmdb", "tvdb", "imdb"} {
		if id := i.get(provider); id != "" {
			known[provider] = id
		}
	}
	return known
}

var errUnreadable = errors.New("the play cannot be read")

// readPlay reads an item. The error is errUnreadable; id may be known all the same.
func readPlay(raw json.RawMessage) (p play, err error) {
	err = json.Unmarshal(raw, &p)
	if err != nil {
		var bare struct {
			ID int64 `json:"id"`
		}
		_ = json.Unmarshal(raw, &bare) // without an id it is read again the next time
		return play{ID: bare.ID}, errUnreadable
	}
	if w := p.work(); p.ID <= 0 || w == nil || p.Type == "episode" && (p.Episode == nil || p.Episode.Number == nil) {
		return p, errUnreadable
	}
	return p, nil
}

// work is the show or film of a play; nil for what is neither.
func (p play) work() *work {
	switch p.Type {
	case "episode":
		return p.Show
	case "movie":
		return p.Movie
	}
	return nil
}

// kind is show or movie, as paths of the tracker name them without their s.
func (p play) kind() string {
	if p.Type == "movie" {
		return "movie"
	}
	return "show"
}

// at is when it was watched; zero when that is not known, which the tracker says with the epoch.
func (p play) at() time.Time {
	t, err := time.Parse(time.RFC3339, p.WatchedAt)
	if err != nil || t.Year() < 1971 {
		return time.Time{}
	}
	return t.UTC()
}

// wanted reports whether the genres of a play are among those asked for. What has none passes.
func (p play) wanted(genres []string) bool {
	have := p.work().Genres
	if len(genres) == 0 || len(have) == 0 {
		return true
	}
	return slices.ContainsFunc(have, func(genre string) bool {
		return slices.ContainsFunc(genres, func(asked string) bool { return strings.EqualFold(asked, genre) })
	})
}

// airDate is the day of an episode where it is broadcast. first_aired is in UTC, by which a
// show of late night would fall on the day before.
func (p play) airDate() watch.Date {
	if p.Type == "movie" {
		return watch.ParseDate(cmp.Or(p.Movie.Released, yearText(int64(p.Movie.Year))))
	}
	aired, err := time.Parse(time.RFC3339, p.Episode.FirstAired)
	if err != nil {
		return watch.ParseDate(p.Episode.FirstAired)
	}
	if zone, err := time.LoadLocation(p.Show.Airs.Timezone); err == nil && p.Show.Airs.Timezone != "" {
		return watch.DateOf(aired.In(zone))
	}
	return watch.DateOf(aired.UTC())
}

func yearText(year int64) string {
	if year == 0 {
		return ""
	}
	return strconv.FormatInt(year, 10)
}

// event is a play as the engine takes it in, under titles that were looked up. The error is
// errUnreadable for what no event can say.
func (p play) event(u User, t titles) (watch.Event, error) {
	w := p.work()
	e := watch.Event{
		Source: watch.Tracker, Action: watch.Watched, Media: watch.Movie,
		Title: strings.TrimSpace(cmp.Or(t.translated, w.Title, w.Original)), OriginalTitle: strings.TrimSpace(cmp.Or(w.Original, t.original)),
		AirDate: p.airDate(), SeriesIDs: w.IDs.known(), UserName: u.Name, UserID: u.uid,
		ItemID: strconv.FormatInt(p.ID, 10), RawEvent: p.Action, OccurredAt: p.at(),
	}
	if p.Type == "movie" {
		e.ItemIDs, e.SeriesIDs = e.SeriesIDs, nil
	} else {
		e.Media, e.Season, e.Episode = watch.Episode, p.Episode.Season, p.Episode.Number
		e.EpisodeTitle, e.ItemIDs = p.Episode.Title, p.Episode.IDs.known()
	}
	if len(e.EpisodeTitle) > watch.MaxText {
		e.EpisodeTitle = ""
	}
	if len(e.RawEvent) > watch.MaxText || e.Validate() != nil {
		return watch.Event{}, errUnreadable
	}
	return e, nil
}

// EventOf is a play as the files of Trakt's export have it, which are those of its history, with its number there. The number
// may be known where the error says that it cannot be read.
func EventOf(raw []byte, user string) (number string, e watch.Event, err error) {
	p, err := readPlay(raw)
	if p.ID > 0 {
		number = strconv.FormatInt(p.ID, 10)
	}
	if err != nil {
		return number, e, err
	}
	e, err = p.event(User{Name: user}, titles{})
	return number, e, err
}
