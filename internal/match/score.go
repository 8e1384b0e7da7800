package match

import (
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/reason"
	"watchmark/internal/watch"
	"watchmark/internal/watch/title"
)

// proposal is a subject that a layer proposes, with the episode it leads to.
type proposal struct {
	// layer is the name of the layer that proposes it.
	layer StepName
	// subject is the one to be marked: that of the target.
	subject catalog.Subject
	target  target
	parts   parts
	// counted is set when the season was counted along the sequels, and no title marks it.
	counted bool
	score   float64
	reason  reason.Reason
}

// parts are what a score is made of, each a ratio 0..1.
type parts struct {
	title   float64
	season  float64
	kind    float64
	episode float64
	// date is meaningless unless dated: a missing date is no evidence.
	date  float64
	dated bool
	// named is set when an id of the event stands for the subject: no title is needed.
	named bool
	// ownDay is set when the episode of a series, by its number, aired on the very day of the event.
	ownDay bool
}

// pull is how far a date that agrees takes the doubt about a title away.
type pull struct {
	// share is what of the doubt a perfect date takes away.
	share float64
	// From the likeness sure on, the date pulls with its whole strength, at none it does not:
	// shows that merely sound alike would profit from it.
	sure, none float64
}

var (
	// Dozens of shows begin in the same week.
	pullOfDate = pull{share: 0.6, sure: 0.75, none: 0.6}
	// That an episode has this number and aired on this very day is true of a handful of
	// shows. One of them that shares half of the title, as translations do, is the one.
	pullOfOwnDay = pull{share: 0.72, sure: 0.5, none: 0.3}
)

// of is the share of the doubt that goes when the title is alike and the date fits, each 0..1.
func (p pull) of(title, date float64) float64 {
	strength := min(1, max(0, (title-p.none)/(p.sure-p.none)))
	return p.share * strength * (date - 0.5) * 2
}

// score weighs the parts. The title is the base; season and kind can only take away
// from it. A date that agrees takes away doubt, one that contradicts halves the
// score. An episode that the number does not say clearly lowers it at the end, so
// that no date makes up for it.
func (p parts) score() float64 {
	title := p.title
	if p.named {
		title = 1
	}
	score := title * (0.4 + 0.6*p.season) * (0.4 + 0.6*p.kind)
	switch {
	case !p.dated:
	case p.date >= 0.5:
		pull := pullOfDate
		if p.ownDay {
			pull = pullOfOwnDay
		}
		score += (1 - score) * pull.of(title, p.date)
	default:
		score *= 0.5 + p.date
	}
	return round3(score * (0.5 + 0.5*p.episode))
}

func (p parts) asMap() map[string]float64 {
	m := map[string]float64{"title": round(p.title), "season": round(p.season), "kind": round(p.kind), "episode": round(p.episode)}
	if p.dated {
		m["date"] = round(p.date)
	}
	if p.named {
		m["id"] = 1
	}
	return m
}

func round(x float64) float64  { return math.Round(x*100) / 100 }
func round3(x float64) float64 { return math.Round(x*1000) / 1000 }

// likeness is how well the titles of an event fit those of a subject.
type likeness struct {
	// own says that the event names this very subject, marks included.
	own float64
	// family says that the event names the show which the subject is a season of.
	family float64
	// exact is set when own comes from an equal title, not a similar one.
	exact bool
	// side is set when family comes from titles of which one alone says that it is a side piece.
	side bool
}

// likeness compares every title of the event with every title of a subject.
func (s *session) likeness(subject catalog.Subject) likeness {
	var best likeness
	for _, want := range s.names {
		for _, have := range s.cached.namesOf(subject) {
			l := compare(want, have)
			if l.own > best.own {
				best.own, best.exact = l.own, l.exact
			}
			if l.family > best.family {
				best.family, best.side = l.family, l.side
			}
		}
	}
	return best
}

func compare(want, have name) likeness {
	switch {
	case want.plain == have.plain || want.Full == have.Full:
		return likeness{own: 1, family: 1, exact: true}
	case want.full == have.full:
		return likeness{own: 0.99, family: 1, exact: true}
	}
	if want.latin != have.latin && want.reading != "" && want.reading == have.reading {
		return likeness{own: 0.97, family: 0.97, exact: true} // romaji
	}
	sameMarks := max(want.Season, 1) == max(have.Season, 1) && max(want.Part, 1) == max(have.Part, 1) && want.Yearly == have.Yearly
	if want.base == have.base {
		switch {
		case sideKind(want.Kind) != sideKind(have.Kind):
			// "Show" and "Show OVA" are two things that belong to one show.
			return likeness{own: otherKind, family: 0.85, side: true}
		case sameMarks && want.Final == have.Final:
			return likeness{own: 0.97, family: 0.97, exact: true}
		}
		return likeness{own: 0.5, family: 0.97}
	}
	if want.outer == have.full {
		return likeness{own: 0.5, family: 0.97}
	}
	l := likeness{own: 0.98 * max(title.Similarity(want.full, have.full), title.Similarity(want.base, have.base))}
	l.family = l.own
	if inside(want.base, have.base) {
		// "Show" and "Show: Something" are relatives, not a slip of the pen.
		l.own = min(l.own, 0.75)
		l.family = max(l.family, 0.8)
	}
	if !sameMarks {
		l.own = min(l.own, 0.5)
	}
	if l.side = sideKind(want.Kind) != sideKind(have.Kind); l.side {
		l.own = min(l.own, otherKind)
	}
	return l
}

// title is how well a start fits the title of the event. A later season may bear the name of
// the show in another form.
func (s *session) title(l likeness) float64 {
	if s.season > 1 && !l.side {
		return max(l.own, l.family)
	}
	return l.own
}

// otherKind is the likeness of titles of which one says that it is a side piece: no date makes up for that.
const otherKind = 0.4

// sideKind is the kind of a title as far as it makes another thing of a show. A film is
// told by its form as well, and servers leave the word out.
func sideKind(k title.Kind) title.Kind {
	if k == title.Film {
		return title.Unmarked
	}
	return k
}

// inside reports whether one key begins with the other, which is long enough to mean something.
func inside(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return strings.HasPrefix(b, a) && (utf8.RuneCountInString(a) >= 4 || len(a) >= 6)
}

// kindFit says how well the form of a subject fits the kind of the event. What a
// media server calls film or episode is a hint only: it never outweighs an exact title.
func (r request) kindFit(subject catalog.Subject) float64 {
	switch form := formOf(subject); r.event.Media {
	case watch.Movie:
		return [...]float64{series: 0.7, ova: 0.8, film: 1}[form]
	case watch.OVA:
		return [...]float64{series: 0.8, ova: 1, film: 0.8}[form]
	default:
		return [...]float64{series: 1, ova: 0.9, film: 0.6}[form]
	}
}

// tolerance is how many days two dates may differ and still be the same: time zones,
// late-night programmes, and premieres of a day before.
const tolerance = 2

// sameDay reports whether the date of the event is known to the day and is that of other.
func (r request) sameDay(other watch.Date) bool {
	days, ok := r.date.DaysFrom(other)
	return ok && days >= -tolerance && days <= tolerance
}

// dateFit compares the date of the event with the episode, the premieres of the
// season and the run of the subject. known is false when there is nothing to compare.
func (r request) dateFit(t target, rows []catalog.EpisodeInfo) (fit float64, known bool, why reason.Reason) {
	first := t.subject.Date
	switch {
	case r.date.IsZero(), first.IsZero() && (t.row == nil || t.row.AirDate.IsZero()):
		return 0, false, reason.Reason{}
	case !r.date.IsFull():
		return r.yearFit(t)
	case t.row != nil && r.sameDay(t.row.AirDate):
		return 1, true, airedOn.With(t.row.AirDate.String())
	case r.sameDay(first), r.sameDay(t.start.Date):
		return 0.95, true, seasonBegan.With()
	case first.IsZero() || !first.IsFull():
		return r.yearFit(t)
	}
	if other := r.onDay(rows); other != nil && t.row != nil {
		return 0.3, true, otherAired.With(other.Sort)
	}
	from, to := first.Time(), lastDay(first, rows)
	at := r.date.Time()
	away := max(from.Sub(at), at.Sub(to)).Hours() / 24
	if r.event.IsFilm() {
		// The first showing, the release in cinemas and the release at home are months apart.
		switch {
		case away <= 60:
			return 0.7, true, releaseNear.With()
		case away <= 400:
			return 0.5, true, reason.Reason{}
		}
		return 0.05, true, releaseFar.With(first.String())
	}
	switch {
	case away <= 0:
		return 0.55, true, onAir.With()
	case away <= 45:
		return 0.4, true, nearAir.With()
	}
	return 0.05, true, offAirThen.With()
}

// yearFit compares what is known of two dates to the year or the month.
func (r request) yearFit(t target) (fit float64, known bool, why reason.Reason) {
	best := math.MaxInt
	for _, d := range []watch.Date{t.subject.Date, t.start.Date} {
		if !d.IsZero() {
			best = min(best, abs(d.Year-r.date.Year))
		}
	}
	if t.row != nil && !t.row.AirDate.IsZero() {
		best = min(best, abs(t.row.AirDate.Year-r.date.Year))
	}
	switch best {
	case 0:
		return 0.8, true, ofYear.With(r.date.Year)
	case 1:
		return 0.45, true, reason.Reason{}
	case math.MaxInt:
		return 0, false, reason.Reason{}
	}
	return 0.05, true, notOfYear.With(r.date.Year)
}

func abs(n int) int { return max(n, -n) }

// lastDay is when the last known episode aired. A list that has one date for
// everything tells the premiere only; it is taken to run weekly.
func lastDay(first watch.Date, rows []catalog.EpisodeInfo) time.Time {
	last := first.Time()
	for _, row := range rows {
		if row.AirDate.IsFull() && row.AirDate.Time().After(last) {
			last = row.AirDate.Time()
		}
	}
	if last.Equal(first.Time()) {
		last = last.AddDate(0, 0, 7*len(rows))
	}
	return last
}

func candidatesOf(proposals []proposal, source StepName) []Candidate {
	list := make([]Candidate, 0, len(proposals))
	for _, p := range proposals {
		list = append(list, p.candidate(source))
	}
	return list
}

func (p proposal) candidate(source StepName) Candidate {
	c := Candidate{
		SubjectID: p.subject.ID, Name: p.subject.Name, NameCN: p.subject.NameCN, Score: p.score, Source: string(source),
		Reason: p.reason, Date: p.subject.Date.String(), Platform: p.subject.Platform, Eps: p.subject.Eps,
	}
	if start := p.target.start.ID; start != p.subject.ID {
		c.StartID = start
	}
	if p.target.row != nil {
		c.EpisodeSort = &p.target.row.Sort
	}
	if p.parts != (parts{}) {
		c.Parts = p.parts.asMap()
	}
	return c
}
