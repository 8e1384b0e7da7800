package review

import (
	"context"

	"watchmark/internal/match"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// fate is what a correction does to a record.
type fate int

const (
	// runsAgain: the rules lead it elsewhere, or it did not come out as a watch before.
	runsAgain fate = iota
	// isRight: it came out where the rules lead it.
	isRight
	// leadsNowhere: the rules lead it to no episode, so what it marked is not known to be wrong.
	leadsNowhere
	// untold: the catalog cannot be asked.
	untold
)

// verdict is what is to become of a record.
type verdict struct {
	fate fate
	// wrong are its marks where the rules do not lead.
	wrong []record.Mark
	// reason is why the rules lead nowhere.
	reason string
}

// judge looks where a settled record leads by the rules of a match. One that marked nothing
// and did not come out as a watch runs again unseen.
func (s *Service) judge(ctx context.Context, r record.Record, find func(context.Context, watch.Event) match.Trace) (verdict, error) {
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
	result := find(ctx, w.Event).Result
	switch {
	case ctx.Err() != nil:
		return verdict{}, ctx.Err()
	case result.Status == match.Unreachable:
		return verdict{fate: untold}, nil
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
