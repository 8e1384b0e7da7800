package review

import (
	"context"
	"errors"
	"slices"
	"time"

	"watchmark/internal/match"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// Effect is what a correction would do.
type Effect struct {
	// Corrected is set when the record has a correction that can be undone.
	Corrected bool
	// Marks is what the record wrote and nobody took back.
	Marks []record.Mark
	// Others are the other records that AllOfTitle would take, OthersMarked those of them that hold a mark.
	Others, OthersMarked int
	// OthersChange of them would run again, OthersStay would stay as they are, and of
	// OthersUntold that cannot be told now; all 0 without AllOfTitle and a subject.
	OthersChange, OthersStay, OthersUntold int
	// Leads is where the record would come out; nil when the correction names no subject.
	Leads *match.Result
	// EpisodeName is the title of the episode that it leads to; may be empty.
	EpisodeName string
	// Same is set when all that the record marked is what the correction leads to: nothing is taken back.
	Same bool
}

// PreviewCorrection tells what Correct would do, and writes nothing. With SubjectID 0 it
// tells only what there is to correct. Errors as those of Correct.
func (s *Service) PreviewCorrection(ctx context.Context, id int64, c Correction) (Effect, error) {
	w, err := s.Engine.Records.Work(ctx, id)
	if err != nil {
		return Effect{}, err
	}
	var p Effect
	if p.Marks, err = s.Engine.Records.Marks(ctx, id); err != nil {
		return Effect{}, err
	}
	if p.Corrected, err = s.Questions.IsCorrected(ctx, id); err != nil {
		return Effect{}, err
	}
	whose := answering(ctx, 0)
	if c.Personal {
		person, err := s.personOf(ctx, w.Record)
		if err != nil {
			return Effect{}, err
		}
		whose = answering(ctx, person)
	}
	ctx = within(ctx, whose)
	others, err := s.Engine.Records.SameTitle(ctx, titlesOf(w.Record, c.EverySeason), correctMost)
	if err != nil {
		return Effect{}, err
	}
	others = slices.DeleteFunc(others, func(one record.Titled) bool { return one.ID == id })
	p.Others = len(others)
	for _, one := range others {
		if one.Marked {
			p.OthersMarked++
		}
	}
	if c.SubjectID == 0 {
		return p, nil
	}
	_, rules, err := s.mappingFor(ctx, w, c)
	if err != nil {
		return Effect{}, err
	}
	trace := s.MatchBy(ctx, w.Event, rules)
	if trace.Result.Status == match.Unreachable && trace.Err != nil {
		return Effect{}, trace.Err
	}
	p.Leads = &trace.Result
	p.Same = len(p.Marks) > 0 && !slices.ContainsFunc(p.Marks, func(m record.Mark) bool { return !isOf(trace.Result, m) })
	if c.AllOfTitle {
		if err := s.previewOthers(ctx, others, rules, &p); err != nil {
			return Effect{}, err
		}
	}
	p.EpisodeName = s.episodeName(ctx, trace.Result.EpisodeID)
	return p, nil
}

// previewTime is how long a preview looks where other records lead.
const previewTime = 10 * time.Second

// previewOthers counts what a correction would do to other records.
func (s *Service) previewOthers(ctx context.Context, others []record.Titled, rules *mapping.Rules, p *Effect) error {
	looking, stop := context.WithTimeout(ctx, previewTime)
	defer stop()
	for _, one := range others {
		r, err := s.Engine.Records.Get(ctx, one.ID)
		if errors.Is(err, record.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		v := verdict{fate: unknown}
		if !r.Status.IsOnTheWay() && looking.Err() == nil {
			v, err = s.judge(looking, r, func(ctx context.Context, person int64, event watch.Event) match.Trace {
				return s.MatchBy(ctx, event, rules.Of(person))
			})
			if looking.Err() != nil {
				v, err = verdict{fate: unknown}, ctx.Err()
			}
			if err != nil {
				return err
			}
		}
		switch v.fate {
		case runsAgain:
			p.OthersChange++
		case unknown:
			p.OthersUntold++
		default:
			p.OthersStay++
		}
	}
	return nil
}

// isOf reports whether a match leads to what was marked.
func isOf(r match.Result, m record.Mark) bool {
	return r.Status == match.Matched && r.SubjectID == m.SubjectID && (m.EpisodeID == 0 || r.EpisodeID == m.EpisodeID)
}

// fate is what a correction does to a record.
type fate int

const (
	// runsAgain: the rules lead it elsewhere, or it did not come out as a watch before.
	runsAgain fate = iota
	// isRight: it came out where the rules lead it.
	isRight
	// leadsNowhere: the rules lead it to no episode, so what it marked is not known to be wrong.
	leadsNowhere
	// unknown: the catalog cannot be asked.
	unknown
)

// verdict is what is to become of a record.
type verdict struct {
	fate fate
	// wrong are its marks where the rules do not lead.
	wrong []record.Mark
	// reason is why the rules lead nowhere.
	reason reason.Reason
}

// judge looks where a settled record leads by the rules of a match, as they hold for the person whose record it is. One that marked nothing
// and did not come out as a watch runs again unseen.
func (s *Service) judge(ctx context.Context, r record.Record, find func(ctx context.Context, person int64, event watch.Event) match.Trace) (verdict, error) {
	marks, err := s.Engine.Records.Marks(ctx, r.ID)
	if err != nil {
		return verdict{}, err
	}
	if len(marks) == 0 && r.Status != record.Success {
		return verdict{}, nil
	}
	w, err := s.Engine.Records.Work(ctx, r.ID)
	if err != nil {
		return verdict{}, err
	}
	person, err := s.personOf(ctx, r)
	if err != nil {
		return verdict{}, err
	}
	result := find(ctx, person, w.Event).Result
	switch {
	case ctx.Err() != nil:
		return verdict{}, ctx.Err()
	case result.Status == match.Unreachable:
		return verdict{fate: unknown}, nil
	case result.Status != match.Matched:
		return verdict{fate: leadsNowhere, reason: result.Reason}, nil
	}
	var v verdict
	for _, m := range marks {
		if !isOf(result, m) {
			v.wrong = append(v.wrong, m)
		}
	}
	if len(v.wrong) == 0 && r.Status == record.Success && r.SubjectID == result.SubjectID && r.EpisodeID == result.EpisodeID {
		v.fate = isRight
	}
	return v, nil
}
