package catalog

import (
	"time"

	"watchmark/internal/watch"
)

// SubjectID identifies an entry of the catalog. 0 is no subject.
type SubjectID int

// EpisodeID identifies a chapter of a subject. 0 is no episode.
type EpisodeID int

// SubjectType is the catalog's kind of entry.
type SubjectType int

// Subject types (upstreams/catalog.md section 5).
const (
	Book  SubjectType = 1
	Anime SubjectType = 2
	Music SubjectType = 3
	Game  SubjectType = 4
	Real  SubjectType = 6
)

// EpisodeType is the kind of a chapter.
type EpisodeType int

// Episode types (upstreams/catalog.md section 5).
const (
	Main    EpisodeType = 0
	Special EpisodeType = 1
)

// CollectionType is the state of a subject on a person's list.
type CollectionType int

// Collection types (upstreams/catalog.md section 5).
const (
	Wish    CollectionType = 1
	Done    CollectionType = 2
	Doing   CollectionType = 3
	OnHold  CollectionType = 4
	Dropped CollectionType = 5
)

// EpisodeState is the state of an episode on a person's list.
type EpisodeState int

// Episode states (upstreams/catalog.md section 5).
const (
	Unmarked       EpisodeState = 0
	EpisodeWish    EpisodeState = 1
	EpisodeWatched EpisodeState = 2
	EpisodeDropped EpisodeState = 3
)

// Subject is an entry of the catalog, as far as this service uses it.
type Subject struct {
	ID     SubjectID
	Type   SubjectType
	Name   string // original title
	NameCN string // Chinese title; may be empty
	// Aliases are the other titles the infobox lists.
	Aliases []string
	// Date is the first air or release date; zero when unknown.
	Date watch.Date
	// Platform is the catalog's label (TV, OVA, 剧场版, WEB, 日剧, …); may be empty.
	Platform string
	// Eps is the wiki's episode count; 0 when unknown. Count Episodes to be sure.
	Eps int
	// Image is the address of the cover; may be empty.
	Image  string
	NSFW   bool
	Locked bool
	// Sparse is set for hits of the old search while the new one is switched off: there may be better ones.
	Sparse bool
}

// DisplayName is the Chinese title, or the original one where there is none.
func (s Subject) DisplayName() string {
	if s.NameCN != "" {
		return s.NameCN
	}
	return s.Name
}

// IsFilm reports whether the platform says the subject is a film.
func (s Subject) IsFilm() bool { return s.Platform == "剧场版" || s.Platform == "电影" }

// Relation is a neighbour of a subject. Label says what the neighbour is, seen
// from the subject asked for: 续集 means the neighbour is the sequel.
type Relation struct {
	ID     SubjectID
	Type   SubjectType
	Name   string
	NameCN string
	Label  string
}

// Labels of relations between anime (upstreams/catalog.md section 7).
const (
	Prequel   = "前传"
	Sequel    = "续集"
	SideStory = "番外篇"
)

// EpisodeInfo is one chapter of a subject.
type EpisodeInfo struct {
	ID      EpisodeID
	Subject SubjectID
	Type    EpisodeType
	// Sort is the number viewers know; it may go on from earlier seasons and may be fractional.
	Sort float64
	// Ep counts inside the subject; 0 for everything that is not a main episode.
	Ep      float64
	Name    string
	NameCN  string
	AirDate watch.Date
	Disc    int
}

// SearchQuery asks for subjects by title.
type SearchQuery struct {
	Keyword string
	Types   []SubjectType
	// From and To bound the subject's date, both inclusive; zero is open. A
	// subject without a date never passes a bound.
	From, To watch.Date
	Limit    int // at most 20
}

// Collection is a person's entry for one subject.
type Collection struct {
	Subject SubjectID
	Type    CollectionType
	Private bool
	// Marked is how many episodes have a mark, -1 when that is not told; Changed is when the entry was written to last.
	Marked  int
	Changed time.Time
}

// User is the owner of a token, as /v0/me names them.
type User struct {
	ID       int    `json:"id"`
	Username string `json:"username"` // what user paths want; re-read it, people may change it once
	Nickname string `json:"nickname"`
}
