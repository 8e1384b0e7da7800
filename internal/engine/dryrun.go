package engine

import (
	"context"
	"fmt"
	"time"

	"watchmark/internal/match"
	"watchmark/internal/record"
)

// onlyTold ends a matched record of an account on dry run: it says what would have been
// marked. The account is read anew at every run of a record, so what waited in the queue
// when the switch went on ends here too, and a retry after it went off marks.
func (e *Engine) onlyTold(ctx context.Context, s settled) settled {
	r := s.trace.Result
	what := r.SubjectName
	if what == "" {
		what = fmt.Sprintf("subject %d", r.SubjectID)
	}
	if r.EpisodeSort != nil {
		what += " episode " + number(*r.EpisodeSort)
	}
	would := "dry run: %s would have been marked for %s; switch dry run off at the account and retry the record to mark it"
	if isStart(s.work.Event) {
		would = "dry run: %s would have been put on the list of what is being watched of %s; switch dry run off at the account and retry the record to mark it"
	}
	s.outcome = record.Outcome{Status: record.Ignored, Message: fmt.Sprintf(would, what, s.account.Username)}
	step := match.Step{
		Name: match.StepMark, Status: match.Skipped,
		Input:  map[string]any{"account": s.account.Username, "subject_id": r.SubjectID, "episode_id": r.EpisodeID},
		Output: map[string]any{"because": fmt.Sprintf("the account %s is on dry run: nothing was sent to its list", s.account.Username)},
	}.Ended(time.Now())
	e.tell(ctx, step)
	s.trace.Steps = append(s.trace.Steps, step)
	return s
}
