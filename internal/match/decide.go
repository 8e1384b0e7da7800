package match

import (
	"fmt"
	"strings"
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
		return decision{Result: Result{Status: NotFound, Reason: s.nothing()}}, map[string]any{"because": "no layer proposed a subject"}
	}
	best := &proposals[0]
	d := decision{proposal: best, Result: Result{
		SubjectID: best.subject.ID, SubjectName: best.subject.DisplayName(), SubjectType: best.subject.Type,
		Film: best.subject.IsFilm() || s.event.IsFilm(), Method: string(best.layer), Confidence: best.score,
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
	case !certain && s.doubt != "":
		d.Status, d.Reason = Review, fmt.Sprintf("perhaps %s, but %s", best.subject.DisplayName(), s.doubt)
	case !certain && s.hidden != 0:
		d.Status, d.Reason = Review, fmt.Sprintf("perhaps %s, but %s", best.subject.DisplayName(), s.hides())
	case !certain && (best.score < s.limit.Accept || rival != ""):
		d.Status, d.Reason = Review, s.asks(best, rival)
	case !best.target.found():
		d.Status = EpisodeNotFound
		d.Reason = fmt.Sprintf("%s is the subject, but %s: look at its episodes in the catalog, or add a mapping with an episode offset", best.subject.DisplayName(), best.target.how)
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
func (s *session) hides() string {
	if s.viewed {
		return fmt.Sprintf("the id table leads to subject %d, which the catalog does not show: it is gone, or this account may not see it (too young, or not allowed)", s.hidden)
	}
	return fmt.Sprintf("the id table leads to subject %d, which the catalog does not show: it is gone, or an adult title, which is hidden from look-ups without a login", s.hidden)
}

// nothing says what to do when nothing fits.
func (s *session) nothing() string {
	if s.doubt != "" {
		return s.doubt
	}
	if s.hidden != 0 {
		return s.hides()
	}
	what := fmt.Sprintf("%q", s.event.Title)
	switch {
	case s.event.IsFilm():
	case s.season == 0:
		what += " specials"
	case s.season > 1:
		what += fmt.Sprintf(" season %d", s.season)
	}
	return fmt.Sprintf("no entry matched %s: look for it in the catalog and add a mapping for the title, or block it if it does not belong there", what)
}

// asks says why a person has to look.
func (s *session) asks(best *proposal, rival string) string {
	if rival != "" && best.score >= s.limit.Accept {
		return fmt.Sprintf("%s and %s fit nearly alike: choose one on the page Review", best.subject.DisplayName(), rival)
	}
	return fmt.Sprintf("perhaps %s, but not sure (%s): confirm it on the page Review", best.subject.DisplayName(), best.reason)
}

// explain is the reason of a scored proposal in one sentence.
func explain(p parts, date string, t target) string {
	words := []string{}
	switch {
	case p.named:
		words = append(words, "an id that the media server sent stands for it")
	case p.title >= 0.97:
		words = append(words, "the title is the same")
	case p.title >= 0.8:
		words = append(words, "the title is nearly the same")
	default:
		words = append(words, "the title is similar")
	}
	switch {
	case p.season < 0.7:
		words = append(words, "the season is another one or unknown")
	case p.season == countedFit:
		words = append(words, "the season was counted along the sequels")
	}
	if p.kind < 0.7 {
		words = append(words, "it is of another kind")
	}
	if date != "" {
		words = append(words, date)
	}
	if t.found() && p.episode < 0.8 {
		words = append(words, "the episode was counted: "+t.how)
	}
	return strings.Join(words, ", ")
}
