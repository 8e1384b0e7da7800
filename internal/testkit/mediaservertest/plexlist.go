package mediaservertest

import (
	"cmp"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// plexAgents are what kinds of libraries are looked up with; the last one is personal media.
var plexAgents = map[string]string{"show": "tv.plex.agents.series", "movie": "tv.plex.agents.movie", "music": "tv.plex.agents.music", "homevideos": "tv.plex.agents.none"}

// sections are the libraries that the person may see.
func (p *plexServer) sections(w http.ResponseWriter, r *http.Request, u User) {
	list := []object{}
	for _, l := range p.libraries() {
		if !u.sees(l.ID) {
			continue
		}
		kind := map[string]string{"music": "artist", "homevideos": "movie"}[l.Kind]
		list = append(list, object{
			"key": l.ID, "type": cmp.Or(kind, l.Kind), "title": l.Name, "agent": cmp.Or(plexAgents[l.Kind], plexAgents["movie"]), "scanner": "Plex TV Series",
			"language": "zh-CN", "uuid": plexHash("library "+l.ID, 32), "updatedAt": 1716100000, "createdAt": 1716000000,
		})
	}
	plexAnswer(w, r, http.StatusOK, "MediaContainer", object{"size": len(list), "allowSync": false, "title1": "Plex Library", "Directory": list})
}

// all is what stands in a library, of one type: 1 films, 2 shows, 4 episodes.
func (p *plexServer) all(w http.ResponseWriter, r *http.Request, u User) {
	section := r.PathValue("id")
	libraries := p.libraries()
	at := slices.IndexFunc(libraries, func(l Library) bool { return l.ID == section })
	if at < 0 || !u.sees(section) {
		plexRefuse(w, http.StatusNotFound)
		return
	}
	q, quirks := r.URL.Query(), p.quirk()
	for _, name := range []string{"X-Plex-Token", "X-Plex-Container-Start", "X-Plex-Container-Size"} {
		q.Del(name)
	}
	kind := cmp.Or(q.Get("type"), map[string]string{"show": "2"}[libraries[at].Kind], "1")
	m := &p.s.Model
	m.mu.Lock()
	defer m.mu.Unlock()
	if list := fmt.Sprint(m.changes, section, u.ID, quirks.NoUnwatched, q.Encode()); list != p.list || strings.Contains(list, "=-") { // not all of it for each page
		p.list, p.rows = list, p.chosen(p.contents(section, kind, &u, q.Get("unwatched"), quirks), q)
	}
	p.page(w, r, p.rows)
}

// contents are the rows of a library; the lock of the model is held.
func (p *plexServer) contents(section, kind string, u *User, unwatched string, quirks PlexQuirks) (rows []plexRow) {
	m := &p.s.Model
	if kind == "2" {
		for _, show := range m.showOrder {
			if show.Library == section {
				rows = append(rows, plexRow{render: func(guids bool) object { return p.show(show, u, guids) }})
			}
		}
		return rows
	}
	for _, i := range m.order {
		if i.Deleted || i.Library != section || m.kindOf(i) == "Audio" || kind != map[bool]string{true: "1", false: "4"}[i.Show == ""] {
			continue
		}
		d := m.get(u.ID, i)
		if !p.s.cfg.NoFilters && unwatched != "" && (unwatched == "0") != (d.Count > 0 && (!quirks.NoUnwatched || kind != "4")) {
			continue
		}
		fields := map[string]int64{"addedAt": plexAdded, "viewCount": int64(d.Count)}
		if !d.At.IsZero() {
			fields["lastViewedAt"] = d.At.Unix()
		}
		rows = append(rows, plexRow{fields, func(guids bool) object { return p.item(i, u, guids) }})
	}
	return rows
}

// plexAdded is when everything was added.
const plexAdded = 1716100000

// plexRow is a row of a list before it is rendered.
type plexRow struct {
	fields map[string]int64 // by which it is sorted and filtered; one that it lacks meets no filter
	render func(guids bool) object
}

// chosen are the rows that pass the filters of a query, in its order.
func (p *plexServer) chosen(rows []plexRow, q url.Values) []plexRow {
	if !p.s.cfg.NoFilters {
		rows = slices.DeleteFunc(rows, func(row plexRow) bool { return !row.passes(q, p.s.clock()) })
	}
	if field, direction, _ := strings.Cut(q.Get("sort"), ":"); field != "" {
		slices.SortStableFunc(rows, func(a, b plexRow) int {
			order := cmp.Compare(a.fields[field], b.fields[field])
			if direction == "desc" {
				return -order
			}
			return order
		})
	}
	return rows
}

// page answers the part of rows that is asked for. Both X-Plex-Container-Start and -Size are needed.
func (p *plexServer) page(w http.ResponseWriter, r *http.Request, rows []plexRow) {
	q := r.URL.Query()
	container := object{}
	total := len(rows)
	start, startErr := strconv.Atoi(plexParameter(r, "X-Plex-Container-Start"))
	size, sizeErr := strconv.Atoi(plexParameter(r, "X-Plex-Container-Size"))
	if startErr == nil && sizeErr == nil && start >= 0 && size >= 0 && !p.quirk().Unpaged {
		if most := p.s.cfg.PageMost; most > 0 {
			size = min(size, most)
		}
		start = min(start, total)
		rows = rows[start:min(start+size, total)]
		container["offset"], container["totalSize"] = start, total
	} else if limit, err := strconv.Atoi(q.Get("limit")); err == nil && limit >= 0 {
		rows = rows[:min(limit, total)]
	}
	list := make([]object, 0, len(rows))
	for _, row := range rows {
		list = append(list, row.render(q.Get("includeGuids") == "1"))
	}
	container["size"], container["Metadata"] = len(list), list
	plexAnswer(w, r, http.StatusOK, "MediaContainer", container)
}

// passes reports whether a row meets the filters of a query on what it is filtered by, such as lastViewedAt>>=1779192000 or
// viewedAt>=-3d.
func (row plexRow) passes(q url.Values, now time.Time) bool {
	for name, values := range q {
		field := strings.TrimRight(name, "<>!")
		if !slices.Contains([]string{"lastViewedAt", "viewedAt", "addedAt", "viewCount", "accountID", "librarySectionID", "metadataItemID"}, field) {
			continue
		}
		has, ok := row.fields[field]
		if !ok {
			return false
		}
		for _, value := range values {
			want := plexTime(value, now)
			switch name[len(field):] {
			case "":
				ok = has == want
			case "!":
				ok = has != want
			case ">":
				ok = has >= want
			case ">>":
				ok = has > want
			case "<":
				ok = has <= want
			case "<<":
				ok = has < want
			}
			if !ok {
				return false
			}
		}
	}
	return true
}

// plexTime is a number, such as an epoch in seconds, or a time before now such as -3d.
func plexTime(text string, now time.Time) int64 {
	units := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}
	for unit, length := range units {
		if before, ok := strings.CutSuffix(text, unit); ok {
			n, _ := strconv.Atoi(before)
			return now.Add(time.Duration(n) * length).Unix()
		}
	}
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// metadata are items, seasons and shows by their ids, without those that the person may not see.
func (p *plexServer) metadata(w http.ResponseWriter, r *http.Request, u User) {
	guids := r.URL.Query().Get("includeGuids") == "1"
	m := &p.s.Model
	m.mu.Lock()
	defer m.mu.Unlock()
	list := []object{}
	for id := range strings.SplitSeq(r.PathValue("ids"), ",") {
		i, err := m.item(id)
		show := m.shows[id]
		switch {
		case show != nil && u.sees(show.Library):
			list = append(list, p.show(show, &u, guids))
		case err == nil && u.sees(i.Library):
			list = append(list, p.item(i, &u, guids))
		}
	}
	if len(list) == 0 {
		plexRefuse(w, http.StatusNotFound)
		return
	}
	plexAnswer(w, r, http.StatusOK, "MediaContainer", object{"size": len(list), "Metadata": list})
}

// item is an episode or a film as the person has it; the lock of the model is held.
func (p *plexServer) item(i *Item, u *User, guids bool) object {
	m := &p.s.Model
	d := m.get(u.ID, i)
	row := p.plain(i)
	row["addedAt"], row["guid"], row["librarySectionID"] = plexAdded, p.guid(i), number(i.Library)
	if i.Original != "" {
		row["originalTitle"] = i.Original
	}
	if !i.Endless {
		row["duration"] = i.Length.Milliseconds()
	}
	if len(i.Date) > 4 {
		row["year"] = number(i.Date[:4])
	}
	if show := m.shows[i.Show]; show != nil {
		row["parentRatingKey"], row["grandparentRatingKey"] = m.seasonID(i.Show, i.Season), i.Show
		row["grandparentGuid"], row["parentTitle"] = plexShowGUID(show), fmt.Sprintf("第 %d 季", i.Season)
	}
	if d.Count > 0 {
		row["viewCount"] = d.Count
	}
	if !d.At.IsZero() {
		row["lastViewedAt"] = d.At.Unix()
	}
	if d.Position > 0 {
		row["viewOffset"] = d.Position.Milliseconds()
	}
	if guids && !strings.HasPrefix(p.guid(i), "com.") {
		row["Guid"] = plexGuids(i.IDs)
	}
	return row
}

// plain is what the library and the history have in common.
func (p *plexServer) plain(i *Item) object {
	kind := map[bool]string{false: "movie", true: "track"}[p.s.kindOf(i) == "Audio"]
	row := object{"ratingKey": i.ID, "key": "/library/metadata/" + i.ID, "type": kind, "title": i.Title, "originallyAvailableAt": i.Date}
	if show := p.s.shows[i.Show]; show != nil {
		row["type"], row["grandparentTitle"], row["parentIndex"] = "episode", show.Title, i.Season
		row["grandparentKey"], row["parentKey"] = "/library/metadata/"+show.ID, "/library/metadata/"+p.s.seasonID(show.ID, i.Season)
		if !i.Unnumbered {
			row["index"] = i.Episode
		}
	}
	if i.Date == "" {
		delete(row, "originallyAvailableAt")
	}
	return row
}

// show is a series; the lock of the model is held.
func (p *plexServer) show(show *Show, u *User, guids bool) object {
	leaves, viewed := 0, 0
	for _, i := range p.s.order {
		if i.Show == show.ID && !i.Deleted {
			leaves++
			if p.s.get(u.ID, i).Count > 0 {
				viewed++
			}
		}
	}
	row := object{
		"ratingKey": show.ID, "key": "/library/metadata/" + show.ID + "/children", "guid": plexShowGUID(show), "type": "show", "title": show.Title,
		"librarySectionID": number(show.Library), "leafCount": leaves, "viewedLeafCount": viewed, "addedAt": plexAdded,
	}
	if show.Original != "" {
		row["originalTitle"] = show.Original
	}
	if show.Year > 0 {
		row["year"] = show.Year
	}
	if guids && provider(show.IDs, "hama") == "" {
		row["Guid"] = plexGuids(show.IDs)
	}
	return row
}

// guid is what Plex keeps of an item when its file is deleted and added again. An id of the provider hama, such as
// anidb-9876, makes it one of that agent.
func (p *plexServer) guid(i *Item) string {
	show := p.s.shows[i.Show]
	if show == nil {
		return "plex://movie/" + plexHash(p.s.key(i), 24)
	}
	if hama := provider(show.IDs, "hama"); hama != "" {
		return fmt.Sprintf("com.plexapp.agents.hama://%s/%d/%d?lang=en", hama, i.Season, i.Episode)
	}
	return "plex://episode/" + plexHash(p.s.key(i), 24)
}

func plexShowGUID(show *Show) string {
	if hama := provider(show.IDs, "hama"); hama != "" {
		return "com.plexapp.agents.hama://" + hama + "?lang=en"
	}
	return "plex://show/" + plexHash("show "+show.Title, 24)
}

func plexHash(text string, digits int) string {
	sum := md5.Sum([]byte(text))
	return hex.EncodeToString(sum[:])[:digits]
}

// plexGuids are the ids of those providers that Plex knows.
func plexGuids(ids map[string]string) []object {
	list := []object{}
	for _, name := range slices.Sorted(maps.Keys(ids)) {
		if lower := strings.ToLower(name); slices.Contains([]string{"imdb", "tmdb", "tvdb"}, lower) {
			list = append(list, object{"id": lower + "://" + ids[name]})
		}
	}
	return list
}

func (p *plexServer) libraries() []Library {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return slices.Clone(p.s.libraries)
}
