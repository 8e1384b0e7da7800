package watch

import (
	"strconv"
	"strings"
	"time"

	"watchmark/internal/platform/reason"
)

// Source names where an event comes from. It is a segment of the webhook path.
type Source string

// The sources that other packages name: some of those that push, those that are polled, and files that people bring.
// Package source lists them all.
const (
	Plex     Source = "plex"
	Tautulli Source = "tautulli"
	Emby     Source = "emby"
	Jellyfin Source = "jellyfin"
	Custom   Source = "custom"
	Scrobble Source = "scrobble"
	NAS      Source = "nas"
	Device   Source = "device"
	Tracker  Source = "tracker"
	Watcher  Source = "watcher"
	File     Source = "file"
)

// Action is what the person did with the item.
type Action string

// FromHistory is the RawEvent of what was taken in from a history, of a server or in a file.
const FromHistory = "import"

// Watched means played to the end or marked so by hand; Started means playback began.
// Unwatched takes Watched back; it becomes no record.
const (
	Watched   Action = "watched"
	Started   Action = "started"
	Unwatched Action = "unwatched"
)

// Media is the kind of item, as far as the source can tell.
type Media string

// The media kinds. An OVA is counted like an episode; RealAction is an episode of a live-action show.
const (
	Episode    Media = "episode"
	Movie      Media = "movie"
	OVA        Media = "ova"
	RealAction Media = "real_action"
)

// MediaOf is the media kind a sender means by its word for the item type, in any case:
// episode, movie or film, ova or oad, real_action; and series, show and tv, by which
// people who write a body themselves mean an episode. ok is false for every other item.
func MediaOf(itemType string) (media Media, ok bool) {
	switch media := Media(strings.ToLower(itemType)); media {
	case Episode, Movie, OVA, RealAction:
		return media, true
	case "series", "show", "tv":
		return Episode, true
	case "film":
		return Movie, true
	case "oad":
		return OVA, true
	}
	return "", false
}

// IDs are provider ids by lower-case provider name: tmdb, tvdb, imdb, anidb, …
type IDs map[string]string

// PlainID is an id of a media server without what its spellings differ by: some servers, and templates of Jellyfin's webhooks, write
// dashes into it (upstreams/media-servers.md section 4a).
func PlainID(id string) string { return strings.ToLower(strings.ReplaceAll(id, "-", "")) }

// Event is one report of a source about one episode or one film.
type Event struct {
	Source Source `json:"source"`
	// Label is the free text a script gave as its source; empty for media servers.
	Label  string `json:"label,omitempty"`
	Action Action `json:"action"`
	Media  Media  `json:"media"`

	// Title is the show's title, or the film's. Trimmed, never empty.
	Title string `json:"title"`
	// OriginalTitle is the show's (or film's) title in its original language; empty when unknown.
	OriginalTitle string `json:"original_title,omitempty"`
	// SeasonTitle is the season's own title where the library has one that names the show; empty otherwise.
	SeasonTitle string `json:"season_title,omitempty"`
	// Season is nil when the source did not tell; 0 means specials.
	Season *int `json:"season,omitempty"`
	// Episode is the number inside the season; it may be fractional. Nil exactly for films.
	Episode *float64 `json:"episode,omitempty"`
	// EpisodeTitle is the title of the episode in the library's language.
	EpisodeTitle string `json:"episode_title,omitempty"`
	// AirDate is the date of this item (not of the show), as precise as the source told it.
	AirDate Date `json:"air_date,omitzero"`

	// ItemIDs belong to the episode or film itself, SeriesIDs to its show.
	ItemIDs   IDs `json:"item_ids,omitempty"`
	SeriesIDs IDs `json:"series_ids,omitempty"`
	// CatalogSubject and CatalogEpisode are ids of the catalog itself, where a
	// metadata plugin put them into the payload; 0 when absent.
	CatalogSubject int `json:"catalog_subject,omitempty"`
	CatalogEpisode int `json:"catalog_episode,omitempty"`

	// UserName is the media-server user exactly as sent, case and spaces included.
	UserName string `json:"user_name"`
	UserID   string `json:"user_id,omitempty"`
	// PersonID is whose watch it is where the sender showed that by an API key: a person, or 0 for the owner. Nil where the accounts that
	// name the media-server user say it.
	PersonID *int64 `json:"person_id,omitempty"`

	ServerName string `json:"server_name,omitempty"`
	// ServerID and SeriesID are the ids that the media server gives itself and the series.
	ServerID string `json:"server_id,omitempty"`
	SeriesID string `json:"series_id,omitempty"`
	ItemID   string `json:"item_id,omitempty"`
	Client   string `json:"client,omitempty"`
	Library  string `json:"library,omitempty"`
	Path     string `json:"path,omitempty"`

	// RawEvent is the source's own name of the event, such as media.scrobble.
	RawEvent string `json:"raw_event,omitempty"`
	// OccurredAt is zero when the source did not tell.
	OccurredAt time.Time `json:"occurred_at,omitzero"`
}

// EpisodeLabel is the short name of an episode, such as S2 E7, of what is known of its numbers; empty for a film.
func (e Event) EpisodeLabel() string { return EpisodeLabel(e.Season, e.Episode) }

// EpisodeLabel is the short name of an episode by its numbers; nil ones are left out.
func EpisodeLabel(season *int, episode *float64) string {
	var words []string
	if season != nil {
		words = append(words, "S"+strconv.Itoa(*season))
	}
	if episode != nil {
		words = append(words, "E"+strconv.FormatFloat(*episode, 'f', -1, 64))
	}
	return strings.Join(words, " ")
}

// IsFilm reports whether the event is about a film, which has no episode number.
func (e Event) IsFilm() bool { return e.Media == Movie }

// Limits of the texts, in bytes, and numbers an event may carry.
const (
	MaxText    = 500
	MaxSeason  = 999
	MaxEpisode = 99999
)

// Validate returns a *reason.FieldError for the first rule that e breaks, with the field as webhooks spell it.
// An empty user name is not an error here: it becomes a record that says so.
func (e Event) Validate() error {
	switch e.Action {
	case Watched, Started, Unwatched:
	default:
		return reason.At("action", badAction.With(e.Action))
	}
	switch e.Media {
	case Episode, Movie, OVA, RealAction:
	default:
		return reason.At("media_type", badMedia.With(e.Media))
	}
	if strings.TrimSpace(e.Title) == "" {
		return reason.At("title", missing)
	}
	for _, field := range []struct{ name, text string }{{"title", e.Title}, {"ori_title", e.OriginalTitle}, {"season_title", e.SeasonTitle}, {"user_name", e.UserName}} {
		if len(field.text) > MaxText {
			return reason.At(field.name, tooLong.With(MaxText))
		}
	}
	if e.Season != nil && (*e.Season < 0 || *e.Season > MaxSeason) {
		return reason.At("season", outOfRange.With(*e.Season, MaxSeason))
	}
	if e.IsFilm() {
		if e.Episode != nil {
			return reason.At("episode", filmEpisode)
		}
		return nil
	}
	if e.Episode == nil {
		return reason.At("episode", missing)
	}
	if !(*e.Episode >= 0 && *e.Episode <= MaxEpisode) {
		return reason.At("episode", outOfRange.With(*e.Episode, MaxEpisode))
	}
	return nil
}
