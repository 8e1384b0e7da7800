package mediaservertest

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

var errNoItem = errors.New("no such item")

// node is one thing in the tree of a library.
type node struct {
	library *Library
	show    *Show
	season  season // where its show is set
	item    *Item
}

// page is the answer to the last query before it was cut into pages: 50,000 rows are sorted once.
type page struct {
	query   string
	changes int
	nodes   []node
}

// items answers a query for items (sections 2.5, 3.4 and the table of 5).
func (c *call) items() {
	id := c.q.Get("userid")
	if len(c.ids) > 0 {
		id = c.ids[0]
	} else if id == "" && c.user != nil && (!c.b.is(Jellyfin) || c.b.from(10, 9)) {
		id = c.user.ID // 10.8 takes it for nobody
	}
	var u *User
	if id != "" {
		found, ok := c.of(id)
		if !ok {
			return
		}
		u = &found
	}
	if c.b.s.cfg.SlowDates > 0 && strings.Contains(strings.ToLower(c.q.Get("sortby")), "dateplayed") {
		timer := time.NewTimer(c.b.s.cfg.SlowDates)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-c.r.Context().Done():
			return
		}
	}
	c.page(u, func() []node { return c.b.query(u, c.q) })
}

// page answers the part of a list that the query asks for.
func (c *call) page(u *User, all func() []node) {
	b, s := c.b, c.b.s
	query := maps.Clone(c.q)
	for _, part := range []string{"startindex", "limit", "fields", "enabletotalrecordcount", "api_key", "apikey"} {
		delete(query, part)
	}
	key := fmt.Sprintf("%v %s %s", u, c.ids, query.Encode())
	s.mu.Lock()
	var nodes []node
	if query.Get("ids") != "" { // it is short, and what was sorted is kept for the next page
		nodes = all()
	} else {
		b.mu.Lock()
		if b.cache.query != key || b.cache.changes != s.changes {
			b.cache = page{key, s.changes, all()}
		}
		nodes = b.cache.nodes
		b.mu.Unlock()
	}
	total := len(nodes)
	start, _ := strconv.Atoi(c.q.Get("startindex"))
	limit, err := strconv.Atoi(c.q.Get("limit"))
	if err != nil || limit < 0 {
		limit = total
	}
	if s.cfg.PageMost > 0 {
		limit = min(limit, s.cfg.PageMost)
	}
	start = min(max(start, 0), total)
	var fields []string
	for f := range strings.SplitSeq(strings.ToLower(c.q.Get("fields")), ",") {
		fields = append(fields, strings.TrimSpace(f))
	}
	rows := make([]object, 0, min(limit, total-start))
	for _, n := range nodes[start:min(start+limit, total)] {
		row := b.row(n, u, fields)
		if u != nil && n.item != nil && c.q.Get("ids") == "" && s.split[u.ID+" "+n.item.ID] {
			row["UserData"] = b.userData(n.item, Data{}, fields)
		}
		if strings.EqualFold(c.q.Get("enableuserdata"), "false") && b.is(Jellyfin, Emby) {
			delete(row, "UserData")
		}
		rows = append(rows, row)
	}
	s.mu.Unlock()
	if strings.EqualFold(c.q.Get("enabletotalrecordcount"), "false") && b.is(Jellyfin, Emby) {
		total = 0
	}
	c.ok(object{"Items": rows, "TotalRecordCount": total, "StartIndex": start})
}

// query is what a query finds, in its order. The caller holds the lock of the model.
func (b *browser) query(u *User, q url.Values) []node {
	types := list(q.Get("includeitemtypes"))
	parent, recursive := q.Get("parentid"), strings.EqualFold(q.Get("recursive"), "true")
	switch b.s.cfg.Kind {
	case FnOS: // a list of types finds nothing
		if len(types) > 1 {
			return nil
		}
		return b.under(u, parent, recursive, types)
	case Ugreen: // nothing but the parent is known to work
		return b.under(u, parent, false, nil)
	case ZSpace:
		if parent != "" {
			return b.under(u, parent, false, nil)
		}
		if len(types) != 1 || types[0] != "movie" && types[0] != "series" {
			return nil
		}
		return b.under(u, "", true, types)
	case Emby:
		if q.Has("mediatypes") {
			types = nil
		}
	}
	var nodes []node
	if ids := q.Get("ids"); ids != "" {
		for id := range strings.SplitSeq(ids, ",") {
			if n, ok := b.node(u, strings.TrimSpace(id)); ok && (types == nil || slices.Contains(types, b.kind(n))) {
				nodes = append(nodes, n)
			}
		}
	} else {
		nodes = b.under(u, parent, recursive, types)
	}
	nodes = slices.DeleteFunc(nodes, func(n node) bool { return !b.passes(n, u, q) })
	b.sort(nodes, u, q)
	return nodes
}

func list(text string) []string {
	var all []string
	for part := range strings.SplitSeq(strings.ToLower(text), ",") {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}

// node finds a thing by its id, where the person sees it.
func (b *browser) node(u *User, id string) (node, bool) {
	s := b.s
	if i, err := s.item(id); err == nil {
		return node{item: i}, u == nil || u.sees(i.Library)
	}
	if show, ok := s.shows[id]; ok {
		return node{show: show}, u == nil || u.sees(show.Library)
	}
	if of, ok := s.seasonOf[id]; ok {
		show := s.shows[of.show]
		return node{season: of}, show != nil && (u == nil || u.sees(show.Library))
	}
	for n := range s.libraries {
		if s.libraries[n].ID == id {
			return node{library: &s.libraries[n]}, u == nil || u.sees(id)
		}
	}
	return node{}, false
}

// under are the things below a parent, directly or at any depth, of some types. Without a parent and depth they are the libraries.
func (b *browser) under(u *User, parent string, recursive bool, types []string) []node {
	s := b.s
	var nodes []node
	take := func(n node) {
		if types == nil || slices.Contains(types, b.kind(n)) {
			nodes = append(nodes, n)
		}
	}
	if parent == "" && !recursive {
		for n := range s.libraries {
			if u == nil || u.sees(s.libraries[n].ID) {
				take(node{library: &s.libraries[n]})
			}
		}
		return nodes
	}
	of, inSeason := s.seasonOf[parent]
	_, inShow := s.shows[parent]
	for _, show := range s.showOrder {
		if (u == nil || u.sees(show.Library)) && (parent == "" || parent == show.Library) {
			take(node{show: show})
		}
	}
	if inShow || recursive && !inSeason {
		for _, one := range slices.SortedFunc(maps.Keys(s.seasonOf), func(a, b string) int { return s.seasonOf[a].number - s.seasonOf[b].number }) {
			ss := s.seasonOf[one]
			show := s.shows[ss.show]
			if show != nil && (u == nil || u.sees(show.Library)) && (parent == "" || parent == ss.show || parent == show.Library) && (types == nil || slices.Contains(types, "season")) {
				take(node{season: ss})
			}
		}
	}
	items := s.order
	switch {
	case inShow:
		items = s.episodes[parent]
	case inSeason:
		items = s.episodes[of.show]
	}
	for _, i := range items {
		in := parent == "" || recursive && (i.Library == parent || i.Show == parent) ||
			i.Library == parent && i.Show == "" || inSeason && i.Show == of.show && i.Season == of.number
		if in && !i.Deleted && (u == nil || u.sees(i.Library)) {
			take(node{item: i})
		}
	}
	return nodes
}

// kind is the type of a thing, in lower case.
func (b *browser) kind(n node) string {
	switch {
	case n.item != nil:
		return strings.ToLower(b.s.kindOf(n.item))
	case n.show != nil:
		return "series"
	case n.library != nil:
		return "collectionfolder"
	}
	return "season"
}

// single answers one thing, with all that is known of it.
func (c *call) single() {
	id := c.q.Get("userid")
	if len(c.ids) > 1 {
		id = c.ids[0]
	} else if id == "" && c.user != nil {
		id = c.user.ID
	}
	u, ok := c.of(id)
	if !ok {
		return
	}
	s := c.b.s
	s.mu.Lock()
	n, ok := c.b.node(&u, c.ids[len(c.ids)-1])
	var row object
	if ok {
		row = c.b.row(n, &u, everyField)
	}
	s.mu.Unlock()
	if !ok {
		c.w.WriteHeader(http.StatusNotFound)
		return
	}
	c.ok(row)
}

// resume answers what the person has begun.
func (c *call) resume() {
	if u, ok := c.of(c.ids[0]); ok {
		c.page(&u, func() []node {
			return slices.DeleteFunc(c.b.under(&u, "", true, []string{"episode", "movie"}), func(n node) bool { return c.b.s.get(u.ID, n.item).Position == 0 })
		})
	}
}

// episodes answers those of a show.
func (c *call) episodes() {
	id := c.q.Get("userid")
	if id == "" && c.user != nil {
		id = c.user.ID
	}
	u, ok := c.of(id)
	if !ok {
		return
	}
	show := c.ids[0]
	c.page(&u, func() []node {
		return slices.DeleteFunc(c.b.under(&u, show, true, []string{"episode"}), func(n node) bool { return n.item.Show != show })
	})
}
