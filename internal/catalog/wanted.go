package catalog

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"watchmark/internal/platform/reason"
)

// Limits of what an entry takes (upstreams/list.md section 4).
const (
	commentMost = 380 // code points
	tagsMost    = 10
	tagLeast    = 2 // code points
)

// Wanted is what an entry of a list is to be. What is zero or nil stays as it is.
type Wanted struct {
	Type    CollectionType `json:"type,omitzero"`
	Rate    *int           `json:"rate,omitempty"`
	Comment *string        `json:"comment,omitempty"`
	Tags    *[]string      `json:"tags,omitempty"`
	Private *bool          `json:"private,omitempty"`
	// Chapter and Volume are those of a book.
	Chapter *int `json:"ep_status,omitempty"`
	Volume  *int `json:"vol_status,omitempty"`
	// Marks are the states that episodes are to have; Unmarked takes a mark away.
	Marks []Mark `json:"marks,omitempty"`
	// AllMarks has no other episode marked than those of Marks.
	AllMarks bool `json:"all_marks,omitempty"`
	// Lower allows what takes something away: a mark, a rating, text, or a state for one before it.
	Lower bool `json:"lower,omitempty"`
	// Only leaves what is not as it is here, because somebody changed it since; nil leaves nothing.
	Only *Wanted `json:"only,omitempty"`
}

// As is the Wanted that makes an entry what e is, with its marks; of what has no episodes marks are nil.
func As(e Entry, marks []Mark) Wanted {
	w := Wanted{Type: e.Type, Rate: &e.Rate, Comment: &e.Comment, Tags: &e.Tags, Private: &e.Private}
	if e.SubjectType == Book {
		w.Chapter, w.Volume = &e.Marked, &e.Volume
	}
	if HasEpisodes(e.SubjectType) && (len(marks) > 0 || e.Marked == 0) { // else they are not known
		w.Marks, w.AllMarks = marks, true
	}
	return w
}

// HasEpisodes reports whether episodes of such subjects are marked.
func HasEpisodes(t SubjectType) bool { return t == Anime || t == Real }

// Change is what is to be written so that an entry is what is wanted.
type Change struct {
	// Create: the entry is not on the list.
	Create bool
	// Sent is what is written, Back what was there.
	Sent, Back Wanted
	// Quiet: others see the entry, and do not while it is written.
	Quiet bool
	// Cannot says what Bangumi does not take, Held what Lower would allow.
	Cannot, Held []reason.Reason
}

// Empty reports whether there is nothing to write.
func (c Change) Empty() bool {
	s := c.Sent
	return !c.Create && s.Type == 0 && s.Rate == nil && s.Comment == nil && s.Tags == nil && s.Private == nil && s.Chapter == nil && s.Volume == nil && len(s.Marks) == 0
}

// Lines is how many entries the public timeline gets: one for each state of marks, unless only specials get it (upstreams/list.md section 5).
func (c Change) Lines() (n int) {
	for _, state := range []EpisodeState{EpisodeWish, EpisodeWatched, EpisodeDropped} {
		if slices.ContainsFunc(c.Sent.Marks, func(m Mark) bool { return m.State == state && m.Kind == Main }) {
			n++
		}
	}
	return n
}

// Lock takes out what is not written because the subject takes no changes of its entry. Without one there are no marks either.
func (c *Change) Lock() {
	c.Cannot = append(c.Cannot, entryLocked.With())
	c.refuse()
}

// refuse takes out what is not written of the entry.
func (c *Change) refuse() {
	sent, back := Wanted{Marks: c.Sent.Marks}, Wanted{Marks: c.Back.Marks}
	if c.Create {
		sent, back, c.Create = Wanted{}, Wanted{}, false
	}
	c.Sent, c.Back, c.Quiet = sent, back, false
}

// Then is the change after which came another, made of what c had left.
func (c Change) Then(next Change) Change {
	c.Create = c.Create || next.Create
	if c.Quiet && c.Sent.Private == nil { // it was hidden on the way
		next.Sent.Private, next.Back.Private = nil, nil
	}
	c.Quiet = c.Quiet || next.Quiet
	c.Sent, c.Back = c.Sent.or(next.Sent, true), c.Back.or(next.Back, false)
	c.Cannot, c.Held = next.Cannot, next.Held
	return c
}

// or is w with what only other has, and with what both have of other if that goes first.
func (w Wanted) or(other Wanted, first bool) Wanted {
	if w.Type == 0 || first && other.Type != 0 {
		w.Type = other.Type
	}
	w.Rate, w.Comment, w.Tags, w.Private = either(w.Rate, other.Rate, first), either(w.Comment, other.Comment, first), either(w.Tags, other.Tags, first), either(w.Private, other.Private, first)
	w.Chapter, w.Volume = either(w.Chapter, other.Chapter, first), either(w.Volume, other.Volume, first)
	w.Marks = slices.Clone(w.Marks)
	for _, m := range other.Marks {
		i := slices.IndexFunc(w.Marks, func(one Mark) bool { return one.Episode == m.Episode })
		switch {
		case i < 0:
			w.Marks = append(w.Marks, m)
		case first:
			w.Marks[i] = m
		}
	}
	return w
}

func either[T any](a, b *T, first bool) *T {
	if a == nil || first && b != nil {
		return b
	}
	return a
}

// Dated reports whether something is written that Bangumi gives the date of today.
func (c Change) Dated() bool { return c.Sent.Type != 0 || len(c.Sent.Marks) > 0 }

// planning finds the Change from what an entry is now.
type planning struct {
	Change
	want Wanted
	now  Entry
}

// change is what makes of now, whose Type is 0 when it is not on the list, what is wanted. rows are all episodes of the subject; nil where
// marks are not looked at.
func (w Wanted) change(now Entry, rows []episodeMark) Change {
	p := planning{want: w, now: now}
	p.Create = now.Type == 0
	if p.Create && (w.Type == 0 || w.Only != nil) { // somebody removed it
		p.Create = false
		p.Cannot = append(p.Cannot, changedSince.With())
		return p.Change
	}
	p.state()
	p.rate()
	p.comment()
	p.tags()
	p.numbers()
	if w.Private != nil && (p.Create || *w.Private != now.Private) && p.asLeft(w.Only != nil && w.Only.Private != nil && *w.Only.Private != now.Private) {
		p.Sent.Private, p.Back.Private = w.Private, &now.Private
	}
	if p.Create { // an entry cannot be removed: it is dropped, and hidden from others
		p.Back.Type, p.Back.Private = Dropped, new(true)
	}
	p.Quiet = p.shows(now) && (p.Sent.Type != 0 || p.Sent.Chapter != nil || p.Sent.Volume != nil)
	if rows != nil {
		p.marks(rows)
	}
	return p.Change
}

// asLeft reports whether something is still as it was left; otherwise it says so.
func (p *planning) asLeft(changed bool) bool {
	if changed && !slices.ContainsFunc(p.Cannot, func(r reason.Reason) bool { return r.Is(changedSince) }) {
		p.Cannot = append(p.Cannot, changedSince.With())
	}
	return !changed
}

// lower reports whether something may be written that takes away if lowers is set; otherwise why says that it is held back.
func (p *planning) lower(lowers bool, why reason.Reason) bool {
	if lowers && !p.want.Lower {
		p.Held = append(p.Held, why)
		return false
	}
	return true
}

// rank orders the states of an entry by how far somebody has come.
var rank = map[CollectionType]int{Wish: 1, OnHold: 2, Dropped: 2, Doing: 3, Done: 4}

func (p *planning) state() {
	w, now := p.want, p.now
	if p.Create {
		p.Sent.Type = w.Type
		return
	}
	if w.Type == 0 || w.Type == now.Type || !p.asLeft(w.Only != nil && w.Only.Type != 0 && w.Only.Type != now.Type) {
		return
	}
	if p.lower(rank[w.Type] < rank[now.Type], heldState.With(stateNames[now.Type], stateNames[w.Type])) {
		p.Sent.Type, p.Back.Type = w.Type, now.Type
	}
}

func (p *planning) rate() {
	w, now := p.want, p.now
	if w.Rate == nil || *w.Rate == now.Rate || !p.asLeft(w.Only != nil && w.Only.Rate != nil && *w.Only.Rate != now.Rate) {
		return
	}
	// A rating that is sent for a wish is dropped without an error (upstreams/list.md section 4).
	if *w.Rate > 0 && cmp.Or(p.Sent.Type, now.Type) == Wish {
		p.Cannot = append(p.Cannot, noRatingOfWish.With(*w.Rate))
	} else if p.lower(*w.Rate < now.Rate, heldRate.With(now.Rate, *w.Rate)) {
		p.Sent.Rate, p.Back.Rate = w.Rate, &now.Rate
	}
}

func (p *planning) comment() {
	w, now := p.want, p.now
	if w.Comment == nil || sameText(*w.Comment, now.Comment) || !p.asLeft(w.Only != nil && w.Only.Comment != nil && !sameText(*w.Only.Comment, now.Comment)) {
		return
	}
	if n := utf8.RuneCountInString(plainText(*w.Comment)); n > commentMost {
		p.Cannot = append(p.Cannot, longComment.With(n, commentMost))
	} else if p.lower(n == 0, heldComment.With()) {
		p.Sent.Comment, p.Back.Comment = w.Comment, &now.Comment
	}
}

func (p *planning) tags() {
	w, now := p.want, p.now
	if w.Tags == nil || sameTags(*w.Tags, now.Tags) || !p.asLeft(w.Only != nil && w.Only.Tags != nil && !sameTags(*w.Only.Tags, now.Tags)) {
		return
	}
	// One tag that it does not take makes it refuse the whole request (upstreams/list.md section 10).
	good, bad := []string{}, []string{}
	for _, tag := range *w.Tags {
		if utf8.RuneCountInString(norm.NFKC.String(tag)) < tagLeast || strings.ContainsAny(tag, " \u3000\t\r\n") {
			bad = append(bad, tag)
		} else {
			good = append(good, tag)
		}
	}
	lost := slices.ContainsFunc(bad, func(tag string) bool { return slices.Contains(now.Tags, tag) }) // what is there would go
	switch {
	case len(good) > tagsMost:
		p.Cannot = append(p.Cannot, manyTags.With(len(good), tagsMost))
		return
	case len(bad) > 0:
		p.Cannot = append(p.Cannot, badTags.With(strings.Join(bad, " ")))
	}
	if lost || len(bad) > 0 && len(good) == 0 || sameTags(good, now.Tags) {
		return
	}
	if p.lower(len(good) == 0, heldTags.With()) {
		p.Sent.Tags, p.Back.Tags = &good, &now.Tags
	}
}

// numbers are the chapter and the volume of a book.
func (p *planning) numbers() {
	if p.now.Type != 0 && p.now.SubjectType != Book {
		return
	}
	for _, one := range []struct {
		want, only *int
		now        int
		sent, back **int
	}{
		{p.want.Chapter, p.only().Chapter, p.now.Marked, &p.Sent.Chapter, &p.Back.Chapter},
		{p.want.Volume, p.only().Volume, p.now.Volume, &p.Sent.Volume, &p.Back.Volume},
	} {
		if one.want == nil || *one.want == one.now || !p.asLeft(one.only != nil && *one.only != one.now) {
			continue
		}
		if p.lower(*one.want < one.now, heldNumber.With(one.now, *one.want)) {
			*one.sent, *one.back = one.want, &one.now
		}
	}
}

func (p *planning) only() Wanted {
	if p.want.Only == nil {
		return Wanted{}
	}
	return *p.want.Only
}

// marks finds the episodes of the marks: by id, and where that is gone by what they are (upstreams/list.md section 7).
func (p *planning) marks(rows []episodeMark) {
	var gone, held []Mark
	named := map[EpisodeID]bool{}
	find := finder(rows)
	left := map[EpisodeID]EpisodeState{}
	for _, m := range p.only().Marks {
		if row := find(m); row != nil {
			left[row.Episode.ID] = m.State
		}
	}
	put := func(row episodeMark, state EpisodeState) {
		was, mine := left[row.Episode.ID]
		before := row.mark()
		switch {
		case row.State == state, !p.asLeft(mine && was != row.State):
		case !p.want.Lower && (state == Unmarked || row.State == EpisodeWatched):
			held = append(held, before)
		default:
			after := before
			after.State, after.At = state, 0
			p.Sent.Marks, p.Back.Marks = append(p.Sent.Marks, after), append(p.Back.Marks, before)
		}
	}
	for _, m := range p.want.Marks {
		row := find(m)
		if row == nil {
			if m.State != Unmarked {
				gone = append(gone, m)
			}
			continue
		}
		named[row.Episode.ID] = true
		put(*row, m.State)
	}
	for _, row := range rows {
		if p.want.AllMarks && row.State != Unmarked && !named[row.Episode.ID] {
			put(row, Unmarked)
		}
	}
	if len(gone) > 0 {
		p.Cannot = append(p.Cannot, goneEpisodes.With(Numbers(gone)))
	}
	if len(held) > 0 {
		p.Held = append(p.Held, heldMarks.With(Numbers(held)))
	}
}

// finder finds the episode of a mark among those of its subject.
func finder(rows []episodeMark) func(Mark) *episodeMark {
	type number struct {
		kind EpisodeType
		sort float64
	}
	byID, byNumber := map[EpisodeID]*episodeMark{}, map[number]*episodeMark{}
	for i := range rows {
		e := rows[i].Episode
		n := number{e.Type, e.Sort}
		byID[e.ID] = &rows[i]
		if _, twice := byNumber[n]; twice {
			byNumber[n] = nil
		} else {
			byNumber[n] = &rows[i]
		}
	}
	return func(m Mark) *episodeMark {
		if row := byID[m.Episode]; row != nil {
			return row
		}
		return byNumber[number{m.Kind, m.Sort}]
	}
}

// Numbers are the numbers of marked episodes as people write them: those that follow each other as a span, specials with SP before them.
func Numbers(marks []Mark) string {
	sorted := slices.SortedFunc(slices.Values(marks), func(a, b Mark) int {
		return cmp.Or(cmp.Compare(min(a.Kind, 1), min(b.Kind, 1)), cmp.Compare(a.Sort, b.Sort))
	})
	var all []string
	for i := 0; i < len(sorted); {
		n := i + 1
		for n < len(sorted) && sorted[n].Sort == sorted[n-1].Sort+1 && (sorted[n].Kind == Main) == (sorted[i].Kind == Main) {
			n++
		}
		text := strconv.FormatFloat(sorted[i].Sort, 'f', -1, 64)
		if sorted[i].Kind != Main {
			text = "SP" + text
		}
		if n > i+1 {
			text += "–" + strconv.FormatFloat(sorted[n-1].Sort, 'f', -1, 64)
		}
		all = append(all, text)
		i = n
	}
	return strings.Join(all, " ")
}

// plainText is a comment as the server stores it.
func plainText(text string) string { return norm.NFC.String(strings.TrimSpace(text)) }

func sameText(a, b string) bool { return plainText(a) == plainText(b) }

// sameTags compares tags as the server does, which keeps neither their order nor their spelling (upstreams/list.md section 4).
func sameTags(a, b []string) bool { return slices.Equal(foldedTags(a), foldedTags(b)) }

func foldedTags(tags []string) []string {
	folded := make([]string, len(tags))
	for i, tag := range tags {
		folded[i] = strings.ToLower(norm.NFKC.String(tag))
	}
	slices.Sort(folded)
	return slices.Compact(folded)
}
