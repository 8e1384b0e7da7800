package mediaservertest

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"
)

// passes reports whether a thing passes the filters.
func (b *browser) passes(n node, u *User, q url.Values) bool {
	d := Data{}
	if n.item != nil && u != nil {
		d = b.s.get(u.ID, n.item)
	}
	filters := list(q.Get("filters"))
	wantsPlayed := slices.Contains(filters, "isplayed") || strings.EqualFold(q.Get("isplayed"), "true")
	wantsUnplayed := slices.Contains(filters, "isunplayed") || strings.EqualFold(q.Get("isplayed"), "false")
	if !b.s.cfg.NoFilters && u != nil && (wantsPlayed && !d.Played || wantsUnplayed && d.Played) {
		return false
	}
	if slices.Contains(filters, "isresumable") && d.Position == 0 {
		return false
	}
	if n.item != nil && n.item.Virtual {
		if places := list(q.Get("locationtypes")); places != nil && !slices.Contains(places, "virtual") {
			return false
		}
		if slices.Contains(list(q.Get("excludelocationtypes")), "virtual") {
			return false
		}
	}
	if n.item != nil && n.item.Collection != "" && q.Get("ids") == "" {
		group := "collapseboxsetitems"
		if b.is(Emby) {
			group = "groupitemsintocollections"
		}
		if !strings.EqualFold(q.Get(group), "false") {
			return false
		}
	}
	if want := list(q.Get("anyprovideridequals")); want != nil && b.is(Emby) {
		return slices.ContainsFunc(want, func(pair string) bool {
			name, id, _ := strings.Cut(pair, ".")
			return id != "" && provider(n.ids(), name) == id
		})
	}
	return true
}

func (n node) ids() map[string]string {
	switch {
	case n.item != nil:
		return n.item.IDs
	case n.show != nil:
		return n.show.IDs
	}
	return nil
}

// sort orders things by the last play or by their names; without a wish they stay in the order of the library.
func (b *browser) sort(nodes []node, u *User, q url.Values) {
	by, orders := list(q.Get("sortby")), list(q.Get("sortorder"))
	at := func(n node) time.Time {
		if n.item == nil || u == nil {
			return time.Time{}
		}
		return b.s.get(u.ID, n.item).At
	}
	type dated struct {
		node
		at time.Time
	}
	all := make([]dated, len(nodes))
	for k, n := range nodes {
		all[k] = dated{n, at(n)}
	}
	slices.SortStableFunc(all, func(x, y dated) int {
		for k, key := range by {
			order := ""
			if len(orders) > 0 {
				order = orders[min(k, len(orders)-1)]
			}
			way := 0
			switch key {
			case "dateplayed":
				way = x.at.Compare(y.at) // none is the earliest, as in SQLite
			case "seriessortname":
				way = strings.Compare(b.show(x.node), b.show(y.node))
			case "sortname":
				way = cmp.Or(cmp.Compare(x.number(), y.number()), strings.Compare(x.name(), y.name()))
			}
			if order == "descending" {
				way = -way
			}
			if way != 0 {
				return way
			}
		}
		return 0
	})
	for k := range all {
		nodes[k] = all[k].node
	}
}

// show is the title of the show that a thing belongs to.
func (b *browser) show(n node) string {
	if n.item != nil {
		if show := b.s.shows[n.item.Show]; show != nil {
			return show.Title
		}
	}
	return ""
}

func (n node) number() int {
	if n.item != nil && n.item.Show != "" {
		return n.item.Season*10000 + n.item.Episode
	}
	return 0
}

func (n node) name() string {
	switch {
	case n.item != nil:
		return n.item.Title
	case n.show != nil:
		return n.show.Title
	case n.library != nil:
		return n.library.Name
	}
	return ""
}
