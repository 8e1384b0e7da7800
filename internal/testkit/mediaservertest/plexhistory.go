package mediaservertest

import (
	"fmt"
	"net/http"
)

// history has a row for each play to the end: everybody's for the owner, one's own for others. Marks by hand are not in it,
// and of an item that was deleted the key is missing.
func (p *plexServer) history(w http.ResponseWriter, r *http.Request, u User) {
	m := &p.s.Model
	m.mu.Lock()
	defer m.mu.Unlock()
	var rows []plexRow
	for n, play := range m.plays {
		i := m.items[play.Item]
		if i == nil || !u.owns() && play.User != u.ID || !u.sees(i.Library) {
			continue
		}
		fields := map[string]int64{
			"viewedAt": play.At.Unix(), "accountID": int64(number(play.User)), "librarySectionID": int64(number(i.Library)), "metadataItemID": int64(number(i.ID)),
		}
		rows = append(rows, plexRow{fields, func(bool) object {
			row := p.plain(i)
			row["historyKey"], row["viewedAt"] = fmt.Sprintf("/status/sessions/history/%d", 90000+n), play.At.Unix()
			row["accountID"], row["deviceID"], row["librarySectionID"] = number(play.User), 44, i.Library
			if i.Deleted {
				for _, name := range []string{"key", "ratingKey", "parentKey", "grandparentKey"} {
					delete(row, name)
				}
			}
			return row
		}})
	}
	p.page(w, r, p.chosen(rows, r.URL.Query()))
}

// markAll marks an item, or everything of a season or a show, for a person; it is false when they see none of that id.
func (p *plexServer) markAll(u User, id string, played bool) bool {
	m := &p.s.Model
	m.mu.Lock()
	of, isSeason := m.seasonOf[id]
	show := m.shows[id]
	if isSeason {
		show = m.shows[of.show]
	}
	i, err := m.item(id)
	sees := show != nil && u.sees(show.Library) || err == nil && u.sees(i.Library)
	m.mu.Unlock()
	switch {
	case !sees:
		return false
	case isSeason:
		return m.MarkSeason(u.ID, of.show, of.number, played) == nil
	case show != nil:
		return m.MarkSeason(u.ID, id, -1, played) == nil
	case played:
		return m.Mark(u.ID, id, m.Now()) == nil
	}
	return m.Unmark(u.ID, id) == nil
}
