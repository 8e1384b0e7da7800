package engine

import (
	"context"
	"time"

	"watchmark/internal/match"
	"watchmark/internal/record"
)

// asDryRun ends a matched record of an account on dry run: it says what would have been
// marked. The account is read anew at every run of a record, so what waited in the queue
// when the switch went on ends here too, and a retry after it went off marks.
func (e *Engine) asDryRun(ctx context.Context, s settled) settled {
	r := s.trace.Result
	var what any = r.SubjectName
	if r.SubjectName == "" {
		what = entryNumber.With(r.SubjectID)
	}
	if r.EpisodeSort != nil {
		what = episodeOf.With(what, number(*r.EpisodeSort))
	}
	would := dryRunMark
	if isStart(s.work.Event) {
		would = dryRunStart
	}
	s.outcome = record.Outcome{Status: record.Ignored, Message: would.With(what, s.account.Username)}
	step := match.Step{
		Name: match.StepMark, Status: match.Skipped,
		Input:  map[string]any{"account": s.account.Username, "subject_id": r.SubjectID, "episode_id": r.EpisodeID},
		Output: map[string]any{"because": dryRun.With(s.account.Username)},
	}.Ended(time.Now())
	e.tell(ctx, step)
	s.trace.Steps = append(s.trace.Steps, step)
	return s
}
