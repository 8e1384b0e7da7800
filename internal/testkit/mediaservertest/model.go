package mediaservertest

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// User is a person of the server. On Plex the one with the id 1 owns it.
type User struct {
	// ID is made when empty.
	ID, Name, Password string
	Admin              bool
	Disabled           bool
	// Libraries are the ids of those that the person may see; nil is all.
	Libraries []string
	// Lockout is how many wrong passwords disable the account; 0 is 3, -1 any number (upstreams/watchers.md section 2.1).
	Lockout int
	// MaxSessions is how many sign-ins the person may have; 0 is any number.
	MaxSessions int
	// NotNow is a person outside of the hours that the owner allows: every call is 403.
	NotNow bool
	// KeepOut is a person who may not change own preferences: exact user data cannot be written.
	KeepOut bool
	// Home is a member of the Plex Home of the owner, Managed one without a login of their own; PIN is what switching to the
	// member needs.
	Home, Managed bool
	PIN           string
}

// Library is one of show, movie, homevideos, music and mixed; another kind is told as it is.
type Library struct{ ID, Name, Kind string }

// Show is a show of a library.
type Show struct {
	// ID is made when empty.
	ID, Library, Title, Original string
	Year                         int
	IDs                          map[string]string // by provider: tmdb, …
}

// Item is an episode where Show is set, else a film, a home video or a piece of music as its library says.
type Item struct {
	// ID is made when empty, and so is Path.
	ID, Library, Show, Title, Original string
	Season, Episode, Last              int // Last is the last episode of a file of several
	// Unnumbered is an episode without a number, such as a special or a file that was not recognised.
	Unnumbered bool
	Date       string // YYYY-MM-DD
	// Length is 24 minutes when 0; Endless is a file whose length is not known.
	Length  time.Duration
	Endless bool
	IDs     map[string]string // by provider, of the episode
	Path    string
	// Virtual is an episode that is missing on the disk.
	Virtual bool
	// Versions is the name of a group of files that are versions of one thing; empty is none.
	Versions string
	// Collection is the name of a set of films that hides this one from lists, unless they are asked not to group.
	Collection string
	// Watched are dates by user name or id; the zero time is played without a date.
	Watched map[string]time.Time
	// Deleted is gone from the library and still in the history of plays.
	Deleted bool

	theme bool
}

// Data is what the server keeps of an item for a person.
type Data struct {
	Played   bool
	Count    int
	At       time.Time // LastPlayedDate, lastViewedAt; zero is none
	Position time.Duration
}

// Play is one row of the history of plays.
type Play struct {
	User, Item string // ids
	At         time.Time
}

// Playing is what a person plays now.
type Playing struct {
	User, Item string // ids
	Session    string
	Began, At  time.Time // At is of the last report
	Position   time.Duration
}

// What happens to data.
const (
	Started    = "start"
	Progressed = "progress"
	Stopped    = "stop"
	Marked     = "mark" // or unmarked, or written
	Scanned    = "library"
)

// Change is told to the fronts of a server after it happened.
type Change struct {
	What     string
	User     string // id; empty for a change of the library
	Item     string // of start, progress and stop
	Session  string
	Position time.Duration
	// Items are those of which the person's data changed.
	Items []string
}

// Model is what a media server holds. It is safe for parallel use; its methods take names or ids of users, and ids of items.
type Model struct {
	rules Rules
	now   func() time.Time
	kind  Kind

	mu        sync.Mutex
	ahead     time.Duration
	users     []*User
	libraries []Library
	shows     map[string]*Show
	showOrder []*Show
	items     map[string]*Item
	order     []*Item
	episodes  map[string][]*Item // by show
	seasons   map[season]string
	seasonOf  map[string]season
	themes    map[string]*Item           // by show
	data      map[string]map[string]Data // by user id and key
	detached  map[string]map[string]Data // of deleted items, likewise
	split     map[string]bool            // of which lists tell older data, by user id and item id
	plays     []Play
	playing   map[string]*Playing // by user id
	lastID    int
	changes   int
	listeners []func(Change)
	stopping  func(Change) // told before a stop changes anything; nil is nobody
}

type season struct {
	show   string
	number int
}

func (m *Model) init(kind Kind, rules Rules, now func() time.Time) {
	m.kind, m.rules, m.now, m.lastID = kind, rules, now, 5000
	m.shows, m.items = map[string]*Show{}, map[string]*Item{}
	m.seasons, m.seasonOf = map[season]string{}, map[string]season{}
	m.split = map[string]bool{}
	m.themes, m.episodes = map[string]*Item{}, map[string][]*Item{}
	m.data, m.detached, m.playing = map[string]map[string]Data{}, map[string]map[string]Data{}, map[string]*Playing{}
}

// Now is the server's clock.
func (m *Model) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.clock()
}

func (m *Model) clock() time.Time { return m.now().Add(m.ahead).UTC() }

// SetAhead has the server's clock run ahead of the true one, or behind it.
func (m *Model) SetAhead(by time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ahead = by
}

// listen has f called after each change, in their order as far as one goroutine makes them.
func (m *Model) listen(f func(Change)) { m.listeners = append(m.listeners, f) }

func (m *Model) tell(c Change) {
	for _, f := range m.listeners {
		f(c)
	}
}

// newID is an id as this kind of server makes them; seed makes the same id again where they are hashes.
func (m *Model) newID(seed string) string {
	if m.kind == Jellyfin || m.kind == FnOS {
		sum := md5.Sum([]byte(strings.ToLower(seed)))
		return hex.EncodeToString(sum[:])
	}
	m.lastID++
	return strconv.Itoa(m.lastID)
}

// AddUser adds a person, or replaces the one with the name.
func (m *Model) AddUser(u User) User {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := slices.IndexFunc(m.users, func(o *User) bool { return strings.EqualFold(o.Name, u.Name) })
	if u.ID == "" && at >= 0 {
		u.ID = m.users[at].ID
	}
	switch {
	case u.ID != "":
	case m.kind == Plex && len(m.users) == 0:
		u.ID = "1"
	case m.kind == Plex:
		u.ID = strconv.Itoa(plexNumber(u.Name))
	case m.kind == Ugreen || m.kind == ZSpace:
		u.ID = strconv.Itoa(100 + len(m.users))
	default:
		sum := md5.Sum([]byte("user " + u.Name))
		u.ID = hex.EncodeToString(sum[:])
	}
	if at >= 0 {
		m.users[at] = &u
	} else {
		m.users = append(m.users, &u)
	}
	m.changes++
	return u
}

// AddLibrary adds a library.
func (m *Model) AddLibrary(l Library) Library {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l.ID == "" {
		l.ID = m.newID("library " + l.Name)
	}
	m.libraries = append(m.libraries, l)
	return l
}

// AddShow adds a show, with the theme song that its folder holds.
func (m *Model) AddShow(show Show) Show {
	m.mu.Lock()
	defer m.mu.Unlock()
	if show.ID == "" {
		show.ID = m.newID("Series /media/" + show.Library + "/" + show.Title)
	}
	m.shows[show.ID] = &show
	m.showOrder = append(m.showOrder, &show)
	theme := &Item{ID: m.newID("Audio theme of " + show.ID), Library: show.Library, Title: "theme", Length: 90 * time.Second, theme: true}
	m.items[theme.ID], m.themes[show.ID] = theme, theme
	m.changes++
	return show
}

// Add adds an item. What was played before under the same numbers is found again where the version does that.
func (m *Model) Add(item Item) Item {
	m.mu.Lock()
	added := m.add(item)
	m.mu.Unlock()
	m.tell(Change{What: Scanned})
	return added
}

func (m *Model) add(item Item) Item {
	show := m.shows[item.Show]
	if item.Path == "" {
		folder := item.Library
		if show != nil {
			folder += "/" + show.Title
		}
		item.Path = fmt.Sprintf("/media/%s/%s S%02dE%02d %s.mkv", folder, item.Title, item.Season, item.Episode, item.Date)
	}
	if item.ID == "" {
		item.ID = m.newID(item.Path)
	}
	if item.Length == 0 && !item.Endless {
		item.Length = 24 * time.Minute
	}
	own := item
	m.items[item.ID] = &own
	m.order = append(m.order, &own)
	if item.Show != "" {
		m.seasonID(item.Show, item.Season)
		m.episodes[item.Show] = append(m.episodes[item.Show], &own)
	}
	for who, at := range item.Watched {
		if u, err := m.user(who); err == nil {
			m.set(u.ID, &own, Data{Played: true, Count: 1, At: at})
			m.plays = append(m.plays, Play{u.ID, item.ID, at})
		}
	}
	if m.rules.Reattach {
		key := m.key(&own)
		for user, rows := range m.detached {
			if row, ok := rows[key]; ok {
				m.set(user, &own, row)
				delete(rows, key)
			}
		}
	}
	m.changes++
	return own
}

// seasonID is the id of a season, which is made when it is not there.
func (m *Model) seasonID(show string, number int) string {
	of := season{show, number}
	id, ok := m.seasons[of]
	if !ok {
		id = m.newID(fmt.Sprintf("Season %s %d", show, number))
		m.seasons[of], m.seasonOf[id] = id, of
	}
	return id
}
