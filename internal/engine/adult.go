package engine

import (
	"cmp"
	"context"
	"errors"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/match"
	"watchmark/internal/record"
)

// ruleOnAdult applies to a matched record what its account wants done with adult titles, and reports whether that was its end; again is
// as conclude answers then. A rule that does not mark them as all others needs to know whether this is one: what is not known is read
// before anything is written.
func (e *Engine) ruleOnAdult(ctx, work context.Context, s *settled) (over, again bool) {
	s.private = false
	rule := e.adultRule(s.account)
	if rule == account.MarkAdult {
		return false, false
	}
	start := time.Now()
	isAdult, err := e.isAdult(ctx, s.account, s.trace.Result)
	switch {
	case err == nil && !isAdult:
		return false, false
	case err == nil && rule == account.PrivateAdult:
		s.private = true
		return false, false
	case isOwn(ctx, err):
		return true, e.fail(ctx, s.work, err)
	case err == nil:
		s.outcome = record.Outcome{Status: record.Ignored, Message: adultSkipped.With(s.account.Username)}
		step := match.Step{
			Name: match.StepMark, Status: match.Skipped,
			Input:  map[string]any{"account": s.account.Username, "subject_id": s.trace.Result.SubjectID, "episode_id": s.trace.Result.EpisodeID},
			Output: map[string]any{"because": s.outcome.Message},
		}.Ended(start)
		e.tell(ctx, step)
		s.trace.Steps = append(s.trace.Steps, step)
	default:
		s.outcome, s.cause = markFailure(s.account, err), err
	}
	batch := []settled{*s}
	if errors.Is(err, catalog.ErrNotFound) {
		batch = e.matchOnline(work, batch)
	}
	if len(batch) > 0 {
		e.settle(work, batch)
	}
	return true, false
}

// adultRule is what an account wants done with adult titles.
func (e *Engine) adultRule(a account.Account) account.Adult {
	return cmp.Or(a.Adult, e.Options().Adult, account.MarkAdult)
}

// isAdult reports whether what was matched is an adult title. What the archive says is one is believed; that a title is none is asked of
// the catalog, for the archive is up to a week old, and a mapping leads to what nobody has looked up.
func (e *Engine) isAdult(ctx context.Context, a account.Account, found match.Result) (bool, error) {
	if found.Adult {
		return true, nil
	}
	return e.Lists.IsAdult(ctx, a, found.SubjectID)
}
