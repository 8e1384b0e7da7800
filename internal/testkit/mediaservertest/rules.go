package mediaservertest

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Rules are what a family of servers writes when: the table of upstreams/watchers.md section 2.3.
type Rules struct {
	// StartClears has the start of a play set Played to false (Jellyfin 10.8 to 10.11).
	StartClears bool
	// StartDates has it set the date and raise the count, which the end then leaves alone.
	StartDates bool
	// LastSecond has a stop within a second of the end count as finished.
	LastSecond bool
	// Keyed keeps data under the ids and numbers of the show, so that a new file of the same episode has them at once.
	Keyed bool
	// Reattach gives the data of a deleted item to one with its ids and numbers that is added later.
	Reattach bool
	// Spread marks all versions when one was played to its end.
	Spread bool
	// MarkNow has a mark by hand set the date of now, whatever was there (Plex).
	MarkNow bool
}

// rulesOf is the row of a kind and version.
func rulesOf(kind Kind, v version) Rules {
	switch {
	case kind == Plex:
		return Rules{Keyed: true, MarkNow: true}
	case kind != Jellyfin: // expected to be as at the fork: section 3.2
		return Rules{StartDates: true, Keyed: true}
	case v.before(10, 11, 0):
		return Rules{StartClears: true, StartDates: true, Keyed: true}
	case v.before(12, 0, 0): // 10.11.0 to 10.11.5 lost the state of a file that was replaced: section 2.6
		return Rules{StartClears: true, StartDates: true, LastSecond: true, Reattach: !v.before(10, 11, 6)}
	}
	return Rules{StartDates: true, LastSecond: true, Reattach: true, Spread: true}
}

// The thresholds of the servers as they come.
const (
	minResume = 5 // percent
	maxResume = 90
	shortest  = 5 * time.Minute
)

// key is what the data of an item hang on across files: UserData.Key.
func (m *Model) key(i *Item) string {
	if i.theme {
		return "theme"
	}
	if show := m.shows[i.Show]; show != nil {
		if m.rules.MarkNow {
			return fmt.Sprintf("%s/%d/%d", cmp.Or(show.Original, show.Title), i.Season, i.Episode)
		}
		if id := cmp.Or(provider(show.IDs, "custom"), provider(show.IDs, "tvdb"), provider(show.IDs, "imdb")); id != "" && !i.Unnumbered {
			return fmt.Sprintf("%s%03d%03d", id, i.Season, i.Episode)
		}
		return i.ID
	}
	return cmp.Or(provider(i.IDs, "tmdb"), provider(i.IDs, "imdb"), i.ID)
}

// keys are where data are looked for, the first one first, and written.
func (m *Model) keys(i *Item) []string {
	if m.rules.Keyed && !i.theme {
		return []string{m.key(i), "id " + i.ID}
	}
	return []string{"id " + i.ID}
}

func (m *Model) get(user string, i *Item) Data {
	for _, key := range m.keys(i) {
		if d, ok := m.data[user][key]; ok {
			return d
		}
	}
	return Data{}
}

func (m *Model) set(user string, i *Item, d Data) {
	rows := m.data[user]
	if rows == nil {
		rows = map[string]Data{}
		m.data[user] = rows
	}
	for _, key := range m.keys(i) {
		rows[key] = d
	}
	m.changes++
}

// Data is what the server keeps of an item for a person.
func (m *Model) Data(user, item string) (Data, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	u, i, err := m.both(user, item)
	if err != nil {
		return Data{}, err
	}
	return m.get(u.ID, i), nil
}

func (m *Model) both(user, item string) (*User, *Item, error) {
	u, err := m.user(user)
	if err != nil {
		return nil, nil, err
	}
	i, err := m.item(item)
	return u, i, err
}

// change runs do for a person and an item, and tells what changed.
func (m *Model) change(what, user, item string, do func(u *User, i *Item, d *Data) Change) error {
	m.mu.Lock()
	u, i, err := m.both(user, item)
	if err != nil {
		m.mu.Unlock()
		return err
	}
	d := m.get(u.ID, i)
	c := do(u, i, &d)
	m.set(u.ID, i, d)
	c.What, c.User, c.Item = what, u.ID, i.ID
	c.Items = slices.Insert(c.Items, 0, i.ID)
	m.mu.Unlock()
	m.tell(c)
	return nil
}

// Start has a person begin to play, from where the last play of it stopped.
func (m *Model) Start(user, item string) error { return m.startAt(user, item, 0) }

// startAt begins some time ago.
func (m *Model) startAt(user, item string, ago time.Duration) error {
	return m.change(Started, user, item, func(u *User, i *Item, d *Data) Change {
		now := m.clock().Add(-ago)
		m.lastID++
		p := &Playing{User: u.ID, Item: i.ID, Session: fmt.Sprint(m.lastID), Began: now, At: m.clock(), Position: d.Position}
		if last := m.playing[u.ID]; last != nil && last.Item != i.ID && m.rules.MarkNow { // the next one without a stop
			m.leave(u, last)
		}
		m.playing[u.ID] = p
		if m.rules.StartDates {
			d.At = now
			d.Count++
		}
		if m.rules.StartClears {
			d.Played = false
		}
		c := Change{Session: p.Session, Position: p.Position}
		if theme := m.themeOf(i); theme != nil {
			m.set(u.ID, theme, Data{Played: true, Count: 1, At: now})
			c.Items = append(c.Items, theme.ID)
		}
		return c
	})
}

// themeOf is the theme song that plays when somebody looks at the show of an item.
func (m *Model) themeOf(i *Item) *Item {
	if i.Show == "" || m.rules.MarkNow {
		return nil
	}
	return m.themes[i.Show]
}

// Progress has the player of a person report how far it is, in percent. Nothing is pushed.
func (m *Model) Progress(user, item string, percent float64) error {
	return m.change(Progressed, user, item, func(u *User, i *Item, d *Data) Change {
		at := part(i, percent)
		p := m.playing[u.ID]
		if p == nil || p.Item != i.ID {
			p = &Playing{User: u.ID, Item: i.ID, Session: fmt.Sprint(m.lastID), Began: m.clock()}
			m.playing[u.ID] = p
		}
		p.At, p.Position = m.clock(), at
		m.reached(i, d, at, false)
		if m.rules.MarkNow {
			d.At = m.clock()
		}
		return Change{Session: p.Session, Position: at}
	})
}

// Stop has a person stop at so many percent; below 0 the player tells no position.
func (m *Model) Stop(user, item string, percent float64) error {
	m.mu.Lock()
	u, i, err := m.both(user, item)
	m.mu.Unlock()
	if err != nil {
		return err
	}
	if m.stopping != nil {
		m.stopping(Change{What: Stopped, User: u.ID, Item: i.ID, Position: part(i, percent)})
	}
	return m.change(Stopped, user, item, func(u *User, i *Item, d *Data) Change {
		at := part(i, percent)
		c := Change{Position: at}
		if p := m.playing[u.ID]; p != nil {
			c.Session = p.Session
		}
		delete(m.playing, u.ID)
		done := true
		if percent < 0 {
			d.Played, d.Position = true, 0
			d.Count++
		} else {
			done = m.reached(i, d, at, true)
		}
		if done {
			m.finished(u, i, d, &c)
		} else if m.rules.MarkNow {
			d.At = m.clock()
		}
		return c
	})
}

// leave ends what a person played before, where it was.
func (m *Model) leave(u *User, last *Playing) {
	i, err := m.item(last.Item)
	if err != nil {
		return // it was deleted meanwhile
	}
	d := m.get(u.ID, i)
	if m.reached(i, &d, last.Position, true) {
		m.finished(u, i, &d, &Change{})
	}
	m.set(u.ID, i, d)
}

// finished notes a play that reached its end.
func (m *Model) finished(u *User, i *Item, d *Data, c *Change) {
	m.plays = append(m.plays, Play{u.ID, i.ID, m.clock()})
	if m.rules.MarkNow {
		d.At = m.clock()
		d.Count++
	}
	if !m.rules.Spread || i.Versions == "" {
		return
	}
	for _, o := range m.order {
		if o != i && o.Versions == i.Versions && !o.Deleted {
			other := m.get(u.ID, o)
			other.Played, other.Position = true, 0
			m.set(u.ID, o, other)
			c.Items = append(c.Items, o.ID)
		}
	}
}

func part(i *Item, percent float64) time.Duration {
	return time.Duration(float64(i.Length) * max(percent, 0) / 100)
}

// reached writes a position as the server does, and reports whether it is the end of the item.
func (m *Model) reached(i *Item, d *Data, at time.Duration, stop bool) bool {
	if i.Endless {
		if stop {
			d.Played, d.Position = true, 0
		}
		return stop
	}
	percent := 100 * float64(at) / float64(i.Length)
	switch {
	case percent < minResume:
		d.Position = 0
		return false
	case percent > maxResume, m.rules.LastSecond && at >= i.Length-time.Second, i.Length < shortest && !m.rules.MarkNow:
		d.Played, d.Position = d.Played || stop || !m.rules.MarkNow, 0
		return true
	}
	d.Position = at
	return false
}

// Watch has a person play to the end: start, progress and stop. The play began a length of the item ago and ends now.
func (m *Model) Watch(user, item string) error {
	m.mu.Lock()
	_, i, err := m.both(user, item)
	m.mu.Unlock()
	if err != nil {
		return err
	}
	if err := m.startAt(user, item, i.Length); err != nil {
		return err
	}
	for _, percent := range []float64{50, 95} {
		if err := m.Progress(user, item, percent); err != nil {
			return err
		}
	}
	return m.Stop(user, item, 99)
}
