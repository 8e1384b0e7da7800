package mediaservertest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Mark has a person mark an item as played by hand; at is the date that the app sends, zero for an app that sends none.
func (m *Model) Mark(user, item string, at time.Time) error {
	return m.change(Marked, user, item, func(_ *User, _ *Item, d *Data) Change {
		m.mark(d, at)
		return Change{}
	})
}

// mark writes a mark by hand. Without a date an old date stays: the trap of section 2.3.
func (m *Model) mark(d *Data, at time.Time) {
	switch {
	case m.rules.MarkNow:
		d.At = m.clock()
		d.Count++
	case !at.IsZero():
		d.At = at.UTC()
		d.Count++
	case d.At.IsZero():
		d.At = m.clock()
	}
	d.Count = max(d.Count, 1)
	d.Played, d.Position = true, 0
}

// Unmark has a person mark an item as not played.
func (m *Model) Unmark(user, item string) error {
	return m.change(Marked, user, item, func(_ *User, _ *Item, d *Data) Change {
		*d = Data{}
		return Change{}
	})
}

// Write sets exactly what is kept of an item.
func (m *Model) Write(user, item string, to Data) error {
	return m.change(Marked, user, item, func(_ *User, _ *Item, d *Data) Change {
		*d = to
		return Change{}
	})
}

// MarkSeason has a person mark a season by hand, without a date, or all of a show where number is below 0: one change
// with every episode, played ones too. show is an id.
func (m *Model) MarkSeason(user, show string, number int, played bool) error {
	m.mu.Lock()
	u, err := m.user(user)
	if err != nil {
		m.mu.Unlock()
		return err
	}
	c := Change{What: Marked, User: u.ID}
	for _, i := range m.episodes[show] {
		if i.Deleted || number >= 0 && i.Season != number {
			continue
		}
		d := Data{}
		if played {
			d = m.get(u.ID, i)
			m.mark(&d, time.Time{})
		}
		m.set(u.ID, i, d)
		c.Items = append(c.Items, i.ID)
	}
	m.mu.Unlock()
	if len(c.Items) == 0 {
		return fmt.Errorf("show %q has no season %d", show, number)
	}
	m.tell(c)
	return nil
}

// Import has an NFO file say that an item was watched, and not when: nobody is told (section 2.3).
func (m *Model) Import(user, item string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	u, i, err := m.both(user, item)
	if err == nil {
		m.set(u.ID, i, Data{Played: true, Count: 1})
	}
	return err
}

// Split has the server keep two rows of data of an item, as a 10.11 can after moving its data: a filter reads the newer one and a
// list tells the older one, in which the item was not played (section 2.5).
func (m *Model) Split(user, item string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	u, i, err := m.both(user, item)
	if err == nil {
		m.split[u.ID+" "+i.ID] = true
		m.changes++
	}
	return err
}

// Delete takes an item out of the library. Data that hang on the item alone are set aside by its numbers, or lost.
func (m *Model) Delete(item string) error {
	m.mu.Lock()
	_, err := m.remove(item)
	m.mu.Unlock()
	if err == nil {
		m.tell(Change{What: Scanned})
	}
	return err
}

func (m *Model) remove(item string) (*Item, error) {
	i, err := m.item(item)
	if err != nil {
		return nil, err
	}
	for user, rows := range m.data {
		d, has := rows["id "+i.ID]
		delete(rows, "id "+i.ID)
		if has && m.rules.Reattach {
			if m.detached[user] == nil {
				m.detached[user] = map[string]Data{}
			}
			m.detached[user][m.key(i)] = d
		}
	}
	i.Deleted = true
	m.changes++
	return i, nil
}

// Replace deletes an item and adds its file again under another name: it gets a new id, and what was played before is found
// again with its old date where the version does that. Nobody is told of it.
func (m *Model) Replace(item string) (Item, error) {
	m.mu.Lock()
	old, err := m.remove(item)
	if err != nil {
		m.mu.Unlock()
		return Item{}, err
	}
	again := *old
	again.ID, again.Deleted, again.Watched = "", false, nil
	again.Path = strings.TrimSuffix(old.Path, ".mkv") + " v2.mkv"
	added := m.add(again)
	m.mu.Unlock()
	m.tell(Change{What: Scanned})
	return added, nil
}

// Renumber has a scan give an item other numbers; its id stays.
func (m *Model) Renumber(item string, seasonNumber, episode int) error {
	m.mu.Lock()
	i, err := m.item(item)
	if err == nil {
		i.Season, i.Episode = seasonNumber, episode
		m.seasonID(i.Show, seasonNumber)
		m.changes++
	}
	m.mu.Unlock()
	if err == nil {
		m.tell(Change{What: Scanned})
	}
	return err
}

// Now playing.

// Playing is what everybody plays now, by user.
func (m *Model) Playing() []Playing {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []Playing
	for _, user := range slices.Sorted(maps.Keys(m.playing)) {
		list = append(list, *m.playing[user])
	}
	return list
}

// Watched is one item that one person has played.
type Watched struct {
	User     string `json:"user"`
	Title    string `json:"title"` // of the show or the film
	Season   int    `json:"season,omitempty"`
	Episode  int    `json:"episode,omitempty"`
	ItemID   string `json:"item_id"`
	Count    int    `json:"count"`
	PlayedAt string `json:"played_at,omitempty"` // RFC 3339
}

// Played is what is played, by user in the order of the library.
func (m *Model) Played() []Watched {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := []Watched{}
	for _, u := range m.users {
		for _, i := range m.order {
			d := m.get(u.ID, i)
			if !d.Played || i.Deleted {
				continue
			}
			w := Watched{User: u.Name, Title: i.Title, Season: i.Season, Episode: i.Episode, ItemID: i.ID, Count: d.Count}
			if show := m.shows[i.Show]; show != nil {
				w.Title = show.Title
			}
			if !d.At.IsZero() {
				w.PlayedAt = d.At.Format(time.RFC3339)
			}
			list = append(list, w)
		}
	}
	return list
}

// Generate adds shows of 25 episodes each until there are n episodes, all of which the persons have played, one an hour back
// from the day before.
func (m *Model) Generate(n int, users ...string) {
	library := m.libraries[0].ID
	at := m.Now().Add(-24 * time.Hour).Truncate(time.Second)
	aired := time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC)
	var show Show
	for k := range n {
		number := k / 25
		if k%25 == 0 {
			show = m.AddShow(Show{Library: library, Title: fmt.Sprintf("Show %04d", number+1), IDs: map[string]string{"Tvdb": fmt.Sprint(700000 + number)}})
		}
		watched := make(map[string]time.Time, len(users))
		for _, u := range users {
			watched[u] = at.Add(-time.Duration(k) * time.Hour)
		}
		m.mu.Lock()
		m.add(Item{Library: library, Show: show.ID, Title: fmt.Sprintf("Episode %d", k%25+1), Season: 1, Episode: k%25 + 1,
			Date: aired.AddDate(0, 0, 7*k%5000).Format(time.DateOnly), Watched: watched})
		m.mu.Unlock()
	}
}
