package mediaservertest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// user finds a person by name or id.
func (m *Model) user(name string) (*User, error) {
	var names []string
	for _, u := range m.users {
		if strings.EqualFold(u.Name, name) || u.ID == name {
			return u, nil
		}
		names = append(names, u.Name)
	}
	return nil, fmt.Errorf("no user %q: there are %s", name, strings.Join(names, ", "))
}

// User finds a person by name or id.
func (m *Model) User(name string) (User, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	u, err := m.user(name)
	if err != nil {
		return User{}, err
	}
	return *u, nil
}

// ChangeUser changes a person.
func (m *Model) ChangeUser(name string, change func(*User)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	u, err := m.user(name)
	if err == nil {
		change(u)
		m.changes++
	}
	return err
}

// item is one that is in the library.
func (m *Model) item(id string) (*Item, error) {
	if i, ok := m.items[id]; ok && !i.Deleted {
		return i, nil
	}
	return nil, fmt.Errorf("no item %q", id)
}

// Find finds an episode by the title of its show and its numbers, or a film by its title.
func (m *Model) Find(title string, seasonNumber, episode int) (Item, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var has []string
	for _, i := range m.order {
		show := m.shows[i.Show]
		switch {
		case i.Deleted:
		case show == nil && i.Title == title:
			return *i, nil
		case show != nil && (show.Title == title || show.Original == title):
			if i.Season == seasonNumber && (i.Episode == episode || i.Episode < episode && episode <= i.Last) {
				return *i, nil
			}
			has = append(has, fmt.Sprintf("S%dE%d", i.Season, i.Episode))
		}
	}
	if has != nil {
		return Item{}, fmt.Errorf("%q has no season %d, episode %d: there are %s", title, seasonNumber, episode, some(has))
	}
	return Item{}, fmt.Errorf("no show and no film %q: there are %s", title, some(m.titles()))
}

// showOf is the id of the show with a title.
func (m *Model) showOf(title string) (string, error) {
	for _, show := range m.showOrder {
		if show.Title == title || show.Original == title {
			return show.ID, nil
		}
	}
	return "", fmt.Errorf("no show %q: there are %s", title, some(m.titles()))
}

// titles are those of shows and of what belongs to no show.
func (m *Model) titles() []string {
	var titles []string
	for _, show := range m.showOrder {
		titles = append(titles, show.Title)
	}
	for _, i := range m.order {
		if i.Show == "" && !i.Deleted {
			titles = append(titles, i.Title)
		}
	}
	return titles
}

func some(list []string) string {
	if len(list) > 60 {
		return strings.Join(list[:60], ", ") + fmt.Sprintf(" and %d more", len(list)-60)
	}
	return strings.Join(list, ", ")
}

// sees reports whether the person may see what is in the library.
func (u *User) sees(library string) bool {
	return u.Libraries == nil || slices.Contains(u.Libraries, library)
}

// kindOf is the Type of an item as Jellyfin and Emby call it.
func (m *Model) kindOf(i *Item) string {
	at := slices.IndexFunc(m.libraries, func(l Library) bool { return l.ID == i.Library })
	switch {
	case i.theme:
		return "Audio"
	case i.Show != "":
		return "Episode"
	case at >= 0 && m.libraries[at].Kind == "homevideos":
		return "Video"
	case at >= 0 && m.libraries[at].Kind == "music":
		return "Audio"
	}
	return "Movie"
}

// provider is an id of a provider, whatever the case of its name.
func provider(ids map[string]string, name string) string {
	for _, n := range slices.Sorted(maps.Keys(ids)) {
		if strings.EqualFold(n, name) {
			return ids[n]
		}
	}
	return ""
}
