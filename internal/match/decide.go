package match

import (
	"watchmark/internal/platform/reason"
)

// decision is the result with the proposal it came from; nil when there was none.
type decision struct {
	Result
	proposal *proposal
}

// decide is the only place that turns proposals into a result: by the floor, the
// review floor and the margin, or at once when the subject is certain because it was named.
func decide(s *session, proposals []proposal, certain bool) (decision, map[string]any) {
	if len(proposals) == 0 {
		return decision{Result: Result{Status: NotFound, Reason: s.nothing()}}, map[string]any{"because": noEntryFound.With()}
	}
	best := &proposals[0]
	d := decision{proposal: best, Result: Result{
		SubjectID: best.subject.ID, SubjectName: best.subject.DisplayName(), SubjectType: best.subject.Type,
		Film: best.subject.IsFilm() || s.event.IsFilm(), Adult: best.subject.NSFW, Method: string(best.layer), Confidence: best.score,
	}}
	output := map[string]any{"best": best.subject.ID, "score": best.score}
	rival := ""
	if len(proposals) > 1 {
		output["next"], output["ahead"] = proposals[1].subject.ID, round(best.score-proposals[1].score)
		if best.score-proposals[1].score < s.limit.Margin {
			rival = proposals[1].subject.DisplayName()
		}
	}
	switch {
	case certain && best.score == 0:
		d.Status, d.Reason, d.proposal = NotFound, best.reason, nil
	case !certain && best.score < s.limit.Review:
		return decision{Result: Result{Status: NotFound, Reason: s.nothing()}}, output
	case !certain && !s.doubt.IsZero():
		d.Status, d.Reason = Review, perhapsBut.With(best.subject.DisplayName(), s.doubt)
	case !certain && s.hidden != 0:
		d.Status, d.Reason = Review, perhapsBut.With(best.subject.DisplayName(), s.hides())
	case !certain && !s.dispute.IsZero():
		d.Status, d.Reason = Review, perhapsBut.With(best.subject.DisplayName(), s.dispute)
	case !certain && (best.score < s.limit.Accept || rival != ""):
		d.Status, d.Reason = Review, s.asks(best, rival)
	case !best.target.found():
		d.Status = EpisodeNotFound
		d.Reason = noSuchEpisode.With(best.subject.DisplayName(), best.target.how)
	default:
		d.Status, d.Reason = Matched, best.reason
		if row := best.target.row; row != nil {
			d.EpisodeID = row.ID
			d.EpisodeSort = &row.Sort
		}
	}
	output["reason"] = d.Reason
	return d, output
}

// hides says what the id table leads to in vain.
func (s *session) hides() reason.Reason {
	if s.viewed {
		return hiddenFromAccount.With(s.hidden)
	}
	return hiddenWithoutSignIn.With(s.hidden)
}

// nothing says what to do when nothing fits.
func (s *session) nothing() reason.Reason {
	if !s.doubt.IsZero() {
		return s.doubt
	}
	if s.hidden != 0 {
		return s.hides()
	}
	what := whole.With(s.event.Title)
	switch {
	case s.event.IsFilm():
	case s.season == 0:
		what = specialsOf.With(s.event.Title)
	case s.season > 1:
		what = seasonOf.With(s.event.Title, s.season)
	}
	return nothingFits.With(what)
}

// asks says why a person has to look.
func (s *session) asks(best *proposal, rival string) reason.Reason {
	if rival != "" && best.score >= s.limit.Accept {
		return twoFit.With(best.subject.DisplayName(), rival)
	}
	return perhaps.With(best.subject.DisplayName(), best.reason)
}

// explain is the reason of a scored proposal.
func explain(p parts, date reason.Reason, t target) reason.Reason {
	why := []reason.Reason{}
	switch {
	case p.named:
		why = append(why, idFits.With())
	case p.title >= 0.97:
		why = append(why, sameTitle.With())
	case p.title >= 0.8:
		why = append(why, nearTitle.With())
	default:
		why = append(why, similarTitle.With())
	}
	switch {
	case p.season < 0.7:
		why = append(why, otherSeason.With())
	case p.season == countedFit:
		why = append(why, countedSeason.With())
	}
	if p.kind < 0.7 {
		why = append(why, otherMediaType.With())
	}
	if !date.IsZero() {
		why = append(why, date)
	}
	if t.found() && p.episode < 0.8 {
		why = append(why, countedEpisode.With(t.how))
	}
	return reason.Several.With(why)
}
