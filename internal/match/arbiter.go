package match

import (
	"slices"

	"watchmark/internal/platform/reason"
)

// The arbiter hears all layers before it decides, and asks rather than errs.
const (
	// trust is how far the score of a search is believed by itself. The id table is
	// believed whole: people have looked at each of its lines.
	trust = 0.97
	// trustCounted is how far any score is believed of a season that was only counted along the
	// sequels: neither a mark in a title nor a date says so, and where the catalog lacks a season the count is off.
	trustCounted = 0.95
	// agreement is the share of the doubt that goes when the id table and a search lead to
	// the same subject. The archive and the catalog are one witness: they hold the same entries.
	agreement = 0.5
	// arbiterAccept and arbiterMargin are the least that the arbiter accepts by; settings
	// that ask for more are obeyed.
	arbiterAccept = 0.86
	arbiterMargin = 0.08
)

// arbitrate weighs what the layers have found together, and raises what decides.
func (s *session) arbitrate() Step {
	agreed := []int{}
	for i, p := range s.found {
		tabled, searched := scoreOf(s.tabled, p), scoreOf(s.searched, p)*trust
		if p.counted && !p.parts.dated {
			tabled, searched = tabled*trustCounted, searched*trustCounted
		}
		best := max(tabled, searched)
		if min(tabled, searched) >= s.limit.Review {
			best += (1 - best) * agreement
			agreed = append(agreed, int(p.subject.ID))
		}
		s.found[i].score = round3(best)
	}
	sortByScore(s.found)
	s.limit.Accept, s.limit.Margin = max(s.limit.Accept, arbiterAccept), max(s.limit.Margin, arbiterMargin)
	step := Step{Name: StepArbiter, Status: Miss, Candidates: candidatesOf(s.found, StepArbiter)}
	step.Input, step.Output = s.limit.input(), map[string]any{"verdict": s.verdict()}
	if len(agreed) > 0 {
		step.Output["agreed"] = agreed
	}
	if len(s.found) > 0 {
		step.Status = Hit
	}
	return step
}

// verdict is what the arbiter makes of the best subject.
func (s *session) verdict() reason.Reason {
	if len(s.found) == 0 || s.found[0].score < s.limit.Review {
		return verdictReject.With()
	}
	if s.found[0].score < s.limit.Accept {
		return verdictAsk.With()
	}
	if len(s.found) > 1 && s.found[0].score-s.found[1].score < s.limit.Margin {
		return verdictNear.With(s.found[1].subject.ID)
	}
	return verdictAccept.With()
}

// scoreOf is the score of the subject of p among proposals, 0 when it is not there.
func scoreOf(proposals []proposal, p proposal) float64 {
	at := slices.IndexFunc(proposals, func(q proposal) bool { return q.subject.ID == p.subject.ID })
	if at < 0 {
		return 0
	}
	return proposals[at].score
}
