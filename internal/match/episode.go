package match

import (
	"context"
	"math"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/reason"
)

// target is where an event leads inside the catalog.
type target struct {
	// start is the subject the search began with, subject the one that holds the episode.
	start, subject catalog.Subject
	// row is the episode; nil when there is none.
	row *catalog.EpisodeInfo
	// whole is set for a film without an episode list: the mark belongs to the subject itself.
	whole bool
	// fit says how sure the episode is, a ratio 0..1.
	fit float64
	// how is the way the episode was found, or why it was not.
	how reason.Reason
}

func (t target) found() bool { return t.row != nil || t.whole }

func (t target) step(r request) Step {
	step := Step{Name: StepEpisode, Status: Miss, Input: map[string]any{"subject_id": t.start.ID, "episode": r.number}, Output: map[string]any{"how": t.how}}
	if r.event.IsFilm() {
		step.Input = map[string]any{"subject_id": t.start.ID, "film": true}
	}
	if t.found() {
		step.Status = Hit
		step.Output["subject_id"] = t.subject.ID
	}
	if t.row != nil {
		step.Output["episode_id"], step.Output["sort"], step.Output["ep"], step.Output["air_date"] = t.row.ID, t.row.Sort, t.row.Ep, t.row.AirDate.String()
	}
	return step
}

// resolveNamed finds the episode in a subject that is certain: specials among the
// special rows before the main ones, nothing guessed.
func (s *session) resolveNamed(ctx context.Context, subject catalog.Subject, number float64) (target, error) {
	if s.event.IsFilm() {
		return s.resolveFilm(ctx, subject)
	}
	if s.season == 0 {
		main, special, err := s.cached.episodesOf(ctx, subject.ID)
		if err != nil {
			return target{}, err
		}
		for _, rows := range [][]catalog.EpisodeInfo{special, main} {
			if row := s.onDay(rows); row != nil {
				return target{start: subject, subject: subject, row: row, fit: 1, how: dayOfEvent.With()}, nil
			}
		}
		for _, rows := range [][]catalog.EpisodeInfo{special, main} {
			if row := bySort(rows, number); row != nil {
				return target{start: subject, subject: subject, row: row, fit: 0.9, how: specialNumber.With()}, nil
			}
		}
		return target{start: subject, subject: subject, how: specialMissing.With(number)}, nil
	}
	t, err := s.resolve(ctx, subject, number)
	if err != nil || t.row == nil || t.row.Sort == number || t.subject.ID != subject.ID {
		return t, err
	}
	// The number is not in the list; its place is, but a list that goes on from an earlier part
	// has another number for that, and the date may say that the episode is of the earlier part.
	rows, _, err := s.cached.episodesOf(ctx, subject.ID)
	if err != nil {
		return t, err
	}
	if fit, known, _ := s.dateFit(t, rows); known && fit < offAir {
		return target{start: subject, subject: subject, how: episodeNotYet.With(number, t.row.Sort)}, nil
	}
	return t, nil
}

// offAir is the fit of a date below which the subject was not on air, nor near it.
const offAir = 0.1

// resolveFilm takes the main episode numbered 1, or the lowest; a film without rows is marked whole.
func (s *session) resolveFilm(ctx context.Context, subject catalog.Subject) (target, error) {
	main, _, err := s.cached.episodesOf(ctx, subject.ID)
	if err != nil {
		return target{}, err
	}
	t := target{start: subject, subject: subject, fit: 1}
	switch {
	case len(main) == 0 && s.cached.unseen[subject.ID]:
		t.how = s.cached.noRows(ctx, subject.ID)
	case len(main) == 0 && subject.IsFilm():
		t.whole, t.how = true, filmItself.With()
	case len(main) == 0:
		t.how = noFilmEpisode.With()
	default:
		t.row, t.how = &main[0], filmEpisode.With()
		if row := bySort(main, 1); row != nil {
			t.row = row
		}
		if len(main) > 1 && !subject.IsFilm() {
			t.fit, t.how = 0.8, filmFirst.With()
		}
	}
	return t, nil
}

// ambiguous is the fit of an episode that a number may mean in two ways.
const ambiguous = 0.5

// walkMost is how many sequels are followed at most.
const walkMost = 16

// resolve finds episode number of the season that begins with start. Where the list
// of start ends before it, the sequels are counted on: split cours and seasons that
// a media server counts through.
func (s *session) resolve(ctx context.Context, start catalog.Subject, number float64) (target, error) {
	t, err := s.resolveListed(ctx, start, number)
	if err != nil || t.found() && t.subject.ID == start.ID {
		return t, err
	}
	if s.cached.renew(ctx, start) {
		return s.resolveListed(ctx, start, number)
	}
	if s.cached.unseen[start.ID] && !t.found() {
		t.how = s.cached.noRows(ctx, start.ID)
	}
	return t, nil
}

// resolveListed is resolve by the lists as they are known.
func (s *session) resolveListed(ctx context.Context, start catalog.Subject, number float64) (target, error) {
	t := target{start: start, subject: start}
	rows, special, err := s.cached.episodesOf(ctx, start.ID)
	if err != nil {
		return t, err
	}
	if len(rows) == 0 {
		t.how = s.cached.noRows(ctx, start.ID)
		return t, nil
	}
	t.row, t.fit, t.how = s.inList(rows, number)
	switch {
	case t.row != nil && t.fit > ambiguous:
		return t, nil
	case t.row != nil:
		further, err := s.walkOn(ctx, target{start: start, subject: start}, rows, number+rows[0].Sort-1)
		if err == nil && further.row != nil && s.sameDay(further.row.AirDate) {
			return further, nil
		}
		return t, err
	}
	if row := bySort(special, number); row != nil && (number < 1 || number != math.Trunc(number)) {
		// Episode 0 and 12.5 are specials in some lists, under the same number.
		t.row, t.fit, t.how = row, 0.95, specialNumber.With()
		return t, nil
	}
	if number <= span(0, rows) {
		t.how = episodeGone.With(number, rows[len(rows)-1].Sort)
		return t, nil
	}
	return s.walkOn(ctx, t, rows, number)
}

// walkOn counts through the sequels of t.start, whose list is rows. The first place
// that the count leads to is taken, unless the air date contradicts it and agrees further on.
func (s *session) walkOn(ctx context.Context, t target, rows []catalog.EpisodeInfo, number float64) (target, error) {
	t.how = episodeBeyond.With(number, rows[len(rows)-1].Sort)
	first := t
	seen := map[catalog.SubjectID]bool{t.start.ID: true}
	current, through := t.start, span(0, rows)
	for range walkMost {
		next, found, err := s.sequel(ctx, current, seen)
		if err != nil {
			return t, err
		}
		if !found {
			break
		}
		list, _, err := s.cached.episodesOf(ctx, next.ID)
		if err != nil {
			return t, err
		}
		if row, how := countOn(list, number, through); row != nil && (!s.elsewhere[next.ID] || s.sameDay(row.AirDate)) {
			here := target{start: t.start, subject: next, row: row, how: how, fit: s.fitOfCount(t.start, next, list, row)}
			if !s.date.IsFull() || here.fit == 1 || s.sameDay(t.start.Date) {
				return here, nil
			}
			if !first.found() {
				first = here
			}
		}
		current, through = next, span(through, list)
	}
	return first, nil
}

// inList follows the advice of upstreams/catalog.md section 8: a later season whose
// sort goes on from the one before is counted by ep, everything else by sort; the
// air date breaks ties. A list with an episode 0 is never counted by ep, which is off by one there.
func (s *session) inList(rows []catalog.EpisodeInfo, number float64) (row *catalog.EpisodeInfo, fit float64, how reason.Reason) {
	first := rows[0].Sort
	sorted, counted := bySort(rows, number), byEp(rows, number)
	if first < 1 {
		counted = nil
	}
	if sorted != nil && counted != nil && sorted != counted {
		switch sortDay, epDay := s.sameDay(sorted.AirDate), s.sameDay(counted.AirDate); {
		case sortDay && !epDay:
			return sorted, 1, numberDated.With()
		case epDay && !sortDay:
			return counted, 1, placeDated.With()
		}
	}
	continued := s.season > 1 && first > 1
	switch {
	case continued && counted != nil:
		return counted, 1, placeContinued.With()
	case continued && sorted != nil:
		// The number may go on from earlier seasons, or the season may be longer than the list.
		if s.sameDay(sorted.AirDate) {
			return sorted, 1, numberAgrees.With()
		}
		return sorted, ambiguous, numberDoubtful.With()
	case sorted != nil:
		return sorted, 1, ownNumber.With()
	case counted != nil:
		return counted, 0.9, placeFrom.With(first)
	}
	return nil, 0, reason.Reason{}
}

// span is the number that a count through the seasons has reached after rows: the
// highest sort where the numbers go on, else one more for every episode.
func span(through float64, rows []catalog.EpisodeInfo) float64 {
	if len(rows) == 0 {
		return through
	}
	last := rows[len(rows)-1].Sort
	if through == 0 || rows[0].Sort > 1 && last > through {
		return last
	}
	return through + float64(wholeOnes(rows))
}

// wholeOnes counts the rows that media servers number: neither 0 nor fractions.
func wholeOnes(rows []catalog.EpisodeInfo) int {
	n := 0
	for _, r := range rows {
		if isWholeOne(r) {
			n++
		}
	}
	return n
}

func isWholeOne(r catalog.EpisodeInfo) bool { return r.Sort >= 1 && r.Sort == math.Trunc(r.Sort) }

// countOn finds number in the list of a sequel when the lists before it reached through.
func countOn(rows []catalog.EpisodeInfo, number, through float64) (*catalog.EpisodeInfo, reason.Reason) {
	if len(rows) == 0 {
		return nil, reason.Reason{}
	}
	if rows[0].Sort > 1 {
		if row := bySort(rows, number); row != nil {
			return row, numberGoesOn.With()
		}
		if row := byEp(rows, number-through); row != nil {
			return row, seasonBefore.With(through)
		}
		return nil, reason.Reason{}
	}
	if row := bySort(rows, number-through); row != nil {
		return row, episodesBefore.With(through)
	}
	return nil, reason.Reason{}
}

// fitOfCount says how sure an episode is that was found by counting into a sequel.
func (s *session) fitOfCount(start, next catalog.Subject, rows []catalog.EpisodeInfo, row *catalog.EpisodeInfo) float64 {
	switch {
	case s.sameDay(row.AirDate), s.sameDay(next.Date):
		return 1
	case rows[0].Sort > 1:
		return 0.95
	case s.isLaterPart(start, next):
		return 0.95
	case s.sameDay(start.Date):
		return 0.95
	}
	// Counted into what calls itself another season, and no date says so.
	if _, known := s.elsewhere[start.ID]; known {
		return ambiguous // the id table knows the show, and nothing of it goes on there
	}
	return 0.7
}

// byDay finds the episode of a later season in a subject that is one for all seasons,
// where the number counts in a season that the catalog does not cut there. The day
// may also be the season's first, so only the first episode, or its title, is sure.
func (s *session) byDay(ctx context.Context, subject catalog.Subject) (target, error) {
	rows, _, err := s.cached.episodesOf(ctx, subject.ID)
	t := target{start: subject, subject: subject}
	if err != nil {
		return t, err
	}
	if t.row = s.onDay(rows); t.row == nil || s.sameDay(subject.Date) {
		return target{}, nil
	}
	t.fit, t.how = ambiguous, dayAlone.With()
	if titled := s.titled(rows); s.number == 1 || titled == t.row {
		t.fit, t.how = 1, dayInWhole.With()
	}
	return t, nil
}

func bySort(rows []catalog.EpisodeInfo, number float64) *catalog.EpisodeInfo {
	for i := range rows {
		if rows[i].Sort == number {
			return &rows[i]
		}
	}
	return nil
}

func byEp(rows []catalog.EpisodeInfo, number float64) *catalog.EpisodeInfo {
	for i := range rows {
		if rows[i].Ep == number && number > 0 {
			return &rows[i]
		}
	}
	return nil
}

// onDay is the only row that aired on the day of the event; nil when there is none or several.
func (r request) onDay(rows []catalog.EpisodeInfo) *catalog.EpisodeInfo {
	var found *catalog.EpisodeInfo
	for i := range rows {
		if r.sameDay(rows[i].AirDate) {
			if found != nil {
				return nil
			}
			found = &rows[i]
		}
	}
	return found
}
