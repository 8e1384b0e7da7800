package dumptest

import "iter"

// A Title is what a watchable subject is called.
type Title struct {
	// Subject is the id.
	Subject int
	// Type is 2 for anime, 6 for live action.
	Type int
	// Name and NameCN are as in the dump; NameCN may be empty.
	Name, NameCN string
	// Aliases are the values of the infobox's 别名 in their order, without
	// empty ones and, in a broken infobox, without those of malformed lines.
	Aliases []string
	// Date is empty or like 2006-01-02.
	Date string
}

// Titles yields the watchable subjects of the dump that Write makes of s, in
// the order of their ids.
func Titles(s Spec) iter.Seq[Title] {
	return func(yield func(Title) bool) {
		p := newPlan(s)
		d := newDice(p.Seed)
		var text []byte
		for w := range p.Watchable {
			show := p.show(d, w)
			title := Title{Subject: show.id, Type: 6, Name: show.name, NameCN: show.nameCN, Date: show.date}
			if show.anime {
				title.Type = 2
			}
			aliases := show.aliases(d)
			text, title.Aliases = appendAliases(text[:0], d, aliases, show.damage())
			if !yield(title) {
				return
			}
		}
	}
}
