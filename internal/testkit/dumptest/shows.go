package dumptest

import "strings"

// A show is a watchable subject.
type show struct {
	watchable, index, id int
	group                int32
	place                int
	role                 role
	anime                bool
	platform             int
	franchise            franchise
	own                  phrase
	name, nameCN         string
	day                  int
	date                 string
	nsfw                 bool
}

// showDay gives the day a show starts, whether or not its date is known.
func (p *plan) showDay(f *franchise, w int) int {
	day := f.day + int(p.placeOf[w])*f.gap
	if r := p.roleOf[w]; r != season {
		g := p.groups[p.groupOf[w]]
		day = f.day + (int(p.placeOf[w])-int(g.seasons)+1)*f.gap*2/3
	}
	return min(day, lastDay)
}

func (p *plan) show(d *dice, w int) show {
	number := p.groupOf[w]
	s := show{
		watchable: w, index: p.watchableIndex(w), group: number, place: int(p.placeOf[w]), role: p.roleOf[w],
		anime: p.groups[number].anime, platform: int(p.platform[w]), franchise: p.franchise(d, number),
	}
	f := &s.franchise
	s.id = subjectID(s.index)
	s.day = p.showDay(f, w)
	d.reset(forShow, w)
	s.own = d.phrase()
	original := f.original()
	s.name = s.title(original)
	switch {
	case d.permille(40):
		s.nameCN = ""
	case original == chinese && d.permille(600):
		// The site leaves the Chinese title empty if the original is Chinese,
		// or repeats it.
		s.nameCN = s.name
	case f.chinese:
		s.nameCN = s.title(chinese)
	}
	if !d.permille(40) {
		s.date = string(appendDay(nil, s.day))
	}
	s.nsfw = d.permille(15)
	return s
}

func (f *franchise) original() script {
	switch f.origin {
	case fromJapan:
		return japanese
	case fromChina:
		return chinese
	case fromWest:
		return english
	default:
		return korean
	}
}

func (s *show) title(in script) string {
	f := &s.franchise
	return f.memberTitle(f.base(in), s.role, s.place, &s.own, in)
}

// An alias is a title in the infobox, with a sub-key or without.
type alias struct{ key, value string }

// aliases draws other titles of a show, none of them equal to its names.
func (s *show) aliases(d *dice) []alias {
	d.reset(forAliases, s.watchable)
	count := pick(d, []int{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6})
	if count == 0 {
		return nil
	}
	f := &s.franchise
	var found []alias
	add := func(key, value string) {
		value = strings.TrimSpace(value)
		if value == "" || value == s.name || value == s.nameCN {
			return
		}
		for _, a := range found {
			if a.value == value {
				return
			}
		}
		found = append(found, alias{key, value})
	}
	other := f.phrase
	other.adjective, other.noun2, other.genre = d.IntN(len(adjectives)), d.IntN(len(nouns)), d.IntN(len(genres))
	first := d.IntN(7)
	for k := range 7 {
		if len(found) >= count {
			break
		}
		switch (first + k) % 7 {
		case 0:
			add(pick(d, []string{"英文名", "英文名", "英文名", "", "", "英语", "en"}), s.title(english))
		case 1:
			if f.origin == fromKorea {
				add(pick(d, []string{"", "韩文名"}), f.memberTitle(f.phrase.spelled(patterns[f.number].en, hangul, japanese), s.role, s.place, &s.own, english))
			} else {
				add(pick(d, []string{"罗马字", "罗马字", ""}), f.memberTitle(f.phrase.spelled(patterns[f.number].en, syllables, english), s.role, s.place, &s.own, english))
			}
		case 2:
			add(pick(d, []string{"第二中文名", "中文别名", ""}), f.memberTitle(other.title(f.number, chinese), s.role, s.place, &s.own, chinese))
		case 3:
			add("", strings.ReplaceAll(s.title(chinese), "的", "之"))
		case 4:
			add(pick(d, []string{"日文名", "jp", ""}), s.title(japanese))
		case 5:
			add(pick(d, []string{"", "", "tw", "繁体中文名"}), s.title(chinese))
		case 6:
			add("", f.shortForm())
		}
	}
	return found
}

// shortForm puts together the beginnings of the words of the title as fans
// do; it is empty for titles too short for that.
func (f *franchise) shortForm() string {
	original := f.original()
	if original == english || original == korean {
		var b strings.Builder
		for field := range strings.FieldsSeq(f.base(original)) {
			b.WriteByte(field[0])
		}
		if b.Len() < 5 {
			return ""
		}
		return b.String()
	}
	template := patterns[f.number].ja
	var short []rune
	for {
		at := strings.IndexByte(template, '%')
		if at < 0 {
			break
		}
		end := at + 2
		if strings.HasPrefix(template[end:], "2") {
			end++
		}
		word := []rune(f.phrase.filled(template[at:end], original))
		short = append(short, word[:min(2, len(word))]...)
		template = template[end:]
	}
	if len(short) < 4 {
		return ""
	}
	return string(short)
}
