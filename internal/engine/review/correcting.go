package review

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/engine"
	"watchmark/internal/match"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// CorrectTally is what a correction brought.
type CorrectTally struct {
	// TakenBack is how many marks were removed from lists.
	TakenBack int `json:"taken_back"`
	// Kept are records that stay as they are: they came out right already, or the mapping
	// leads to no episode for them.
	Kept int `json:"kept"`
	// Stuck are records that were left as they are because their mark could not be taken
	// back, or the catalog could not be asked where they lead now.
	Stuck int `json:"stuck"`
	engine.Tally
}

// correcting is a correction at work.
type correcting struct {
	*Service
	asked   Correction
	mapping mapping.Mapping
	// correction is what is stored of it.
	correction int64
	// id is the record that the person corrects, all are those that are corrected with it.
	id      int64
	all     []int64
	task    *task.Task
	tally   CorrectTally
	nowhere reason.Reason // why the mapping leads the record id to no episode
	problem reason.Reason // why the first stuck record is stuck
}

// plan is what is to be done with a record, and how far it is done.
type plan struct {
	record record.Record
	// wrong are the marks to take back, taken what became of them so far.
	wrong []heldMark
	taken []takenBack
	// stuck: a mark could not be taken back, so the record stays as it is.
	stuck bool
	// held: its marks were taken back, and it runs again when it is released.
	held bool
}

// isFree reports whether all wrong marks are gone, those of back counted as taken.
func (p *plan) isFree(back ...takenBack) bool {
	return !p.stuck && len(p.taken)+len(back) == len(p.wrong)
}

// run takes all wrong marks back, then runs the records again in parts, the oldest first. Not
// before all are gone: one record may lead to where another one was wrong.
func (c *correcting) run(ctx context.Context) error {
	ctx = within(ctx, c.mapping.PersonID)
	for _, id := range c.all {
		defer c.Engine.Follow(id, c.task)()
	}
	c.task.Progress(0, len(c.all), correctingRecords.With(len(c.all)))
	plans, err := c.plans(ctx)
	if err != nil {
		return err
	}
	changed := make([]int64, len(plans))
	for i, p := range plans {
		changed[i] = p.record.ID
	}
	if err := c.Questions.Corrects(ctx, c.id, c.correction, changed); err != nil {
		return err
	}
	defer c.release(context.WithoutCancel(ctx), plans)
	goOn, err := c.takeAllBack(ctx, plans)
	if err != nil {
		return err
	}
	done := len(c.all) - len(goOn)
	for part := range slices.Chunk(goOn, engine.RunMost) {
		err := c.part(ctx, part)
		done += len(part)
		c.task.SetResult(c.tally)
		c.task.Progress(done, len(c.all), correctedSoFar.With(c.tally.TakenBack, c.tally.Kept, c.tally.Reason()))
		if err != nil {
			return err
		}
	}
	c.task.SetResult(c.tally)
	switch {
	case c.tally.Stuck > 0:
		return correctStuck.With(c.tally.Stuck, len(c.all), c.problem)
	case !c.nowhere.IsZero():
		return correctNowhere.With(c.id, c.nowhere)
	}
	return nil
}

// plans looks where the records lead now. Those that stay as they are have none.
func (c *correcting) plans(ctx context.Context) ([]*plan, error) {
	var plans []*plan
	for _, id := range c.all {
		r, err := c.Engine.Settled(ctx, id)
		if errors.Is(err, record.ErrNotFound) {
			c.tally.Skipped++
			continue
		}
		if err != nil {
			return nil, err
		}
		v, err := c.judge(ctx, r, func(ctx context.Context, person int64, event watch.Event) match.Trace {
			return c.Engine.Matcher.Match(mapping.For(ctx, person), event)
		})
		if errors.Is(err, record.ErrNotFound) {
			c.tally.Skipped++
			continue
		}
		if err != nil {
			return nil, err
		}
		switch {
		case v.fate == unknown:
			c.stuck(unreachable)
		case v.fate == leadsNowhere:
			c.tally.Kept++
			if id == c.id {
				c.nowhere = v.reason
			}
		case v.fate == isRight && id != c.id:
			c.tally.Kept++
		default:
			p := &plan{record: r}
			for _, m := range v.wrong {
				if c.asked.Unmark {
					p.wrong = append(p.wrong, heldMark{m, r})
				}
			}
			plans = append(plans, p)
		}
	}
	return plans, nil
}

func (c *correcting) stuck(problem *reason.Kind) {
	c.tally.Stuck++
	if c.problem.IsZero() {
		c.problem = problem.With()
	}
}

// takeAllBack removes the wrong marks, entry by entry, and answers the plans that go on. The
// transaction that forgets the last mark of a record gives the record back to the engine, so
// that it is finished whatever happens to this task.
func (c *correcting) takeAllBack(ctx context.Context, plans []*plan) (goOn []*plan, err error) {
	byID := map[int64]*plan{}
	var wrong []heldMark
	for _, p := range plans {
		byID[p.record.ID] = p
		wrong = append(wrong, p.wrong...)
	}
	message := correctedTo.With(c.mapping.SubjectID)
	for _, group := range byEntry(wrong) {
		back, err := c.takeBack(ctx, group, taking{together: c.all, message: message, end: func(ctx context.Context, tx *sql.Tx, back []takenBack) error {
			return c.endTx(ctx, tx, plans, back)
		}})
		if ctx.Err() == nil && err != nil {
			c.Engine.Log.WarnContext(ctx, "cannot take back marks", "subject_id", group[0].SubjectID, "records", len(group), "error", err)
			for _, m := range group {
				if p := byID[m.RecordID]; !p.stuck {
					p.stuck = true
					c.stuck(unmarkProblem(err))
				}
			}
		}
		for _, t := range back {
			p := byID[t.RecordID]
			p.taken = append(p.taken, t)
			p.held = c.asked.Mark && p.isFree()
			if t.sharer == 0 {
				c.tally.TakenBack++
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	for _, p := range plans {
		if !p.stuck {
			goOn = append(goOn, p)
		}
	}
	return goOn, nil
}

// endTx writes what becomes of the records of marks that were taken back, once the last mark
// of each is: it is noted, and the record runs again or is ignored.
func (c *correcting) endTx(ctx context.Context, tx *sql.Tx, plans []*plan, back []takenBack) error {
	for _, p := range plans {
		id, isHeld := p.record.ID, p.held // those of earlier entries wait on
		now := slices.DeleteFunc(slices.Clone(back), func(t takenBack) bool { return t.RecordID != id })
		if len(now) > 0 && p.isFree(now...) {
			if err := c.noteTx(ctx, tx, p.record, slices.Concat(p.taken, now)); err != nil {
				return err
			}
			if !c.asked.Mark {
				if err := record.IgnoreTx(ctx, tx, id, now[len(now)-1].message); err != nil {
					return err
				}
				continue
			}
			if _, err := record.RequeueTx(ctx, tx, id); err != nil {
				return err
			}
			isHeld = true
		}
		if isHeld {
			if err := record.HoldTx(ctx, tx, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// release has the engine work on what is held.
func (c *correcting) release(ctx context.Context, plans []*plan) {
	var held []int64
	for _, p := range plans {
		if p.held {
			held = append(held, p.record.ID)
		}
	}
	if len(held) == 0 {
		return
	}
	err := c.Engine.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { return record.LetTx(ctx, tx, held...) })
	if err != nil {
		c.Engine.Log.ErrorContext(ctx, "cannot give corrected records back; they are worked on when their hold ends", "error", err)
		return
	}
	for _, p := range plans {
		p.held = false
	}
	c.Engine.Wake()
}

// part runs some records again, and waits until all are settled.
func (c *correcting) part(ctx context.Context, plans []*plan) error {
	var running []int64
	for _, p := range plans {
		id := p.record.ID
		if p.held {
			running = append(running, id)
			continue
		}
		if len(p.wrong) > 0 {
			continue // it is ignored now
		}
		err := c.Engine.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
			if err := c.noteTx(ctx, tx, p.record, nil); err != nil || !c.asked.Mark {
				return err
			}
			requeued, err := record.RequeueTx(ctx, tx, id)
			if err == nil && !requeued {
				err = engine.ErrInProgress
			}
			return err
		})
		switch {
		case errors.Is(err, engine.ErrInProgress):
			c.tally.Skipped++
		case err != nil:
			return err
		case c.asked.Mark:
			running = append(running, id)
		}
		c.Engine.Records.Feed.Publish(id)
	}
	c.release(context.WithoutCancel(ctx), plans)
	return c.Engine.Await(ctx, running, &c.tally.Tally, func(int) {})
}

// noteTx adds the correction to the trace of a record, within tx. One without a trace, or with one that cannot be read, gets one.
func (c *correcting) noteTx(ctx context.Context, tx *sql.Tx, r record.Record, taken []takenBack) error {
	fresh := match.Trace{Result: match.Result{Status: match.NotFound, Reason: r.Message}}
	trace := fresh
	text, err := record.TraceTx(ctx, tx, r.ID)
	if err != nil && !errors.Is(err, record.ErrNotFound) {
		return err
	}
	if err == nil {
		if damaged := json.Unmarshal(text, &trace); damaged != nil {
			c.Engine.Log.WarnContext(ctx, "the trace of a corrected record cannot be read and begins anew", "record_id", r.ID, "error", damaged)
			trace = fresh
		}
	}
	step := match.Step{
		Name: match.StepCorrect, Status: match.Hit,
		Input: map[string]any{
			"subject_id": c.mapping.SubjectID, "episode_offset": c.mapping.EpisodeOffset,
			"old_subject_id": r.SubjectID, "old_subject": r.SubjectName, "old_result": r.Message.Text,
		},
		Output: map[string]any{"mapping_id": c.mapping.ID, "mapping": c.mapping.Title},
	}.Ended(time.Now())
	var episodes []catalog.EpisodeID
	for _, t := range taken {
		switch {
		case t.sharer != 0:
			step.Output["left_to_record"] = t.sharer
		case t.EpisodeID != 0:
			episodes = append(episodes, t.EpisodeID)
		}
		if t.reopened {
			step.Output["subject_reopened"] = true
		}
	}
	if len(episodes) > 0 {
		step.Output["unmarked_episode_ids"] = episodes
	}
	c.Engine.LogSteps(ctx, r.ID, step)
	trace.Steps = append(trace.Steps, step)
	encoded, err := json.Marshal(trace)
	if err != nil {
		return fmt.Errorf("encode the trace of record %d: %w", r.ID, err)
	}
	return record.SetTraceTx(ctx, tx, r.ID, encoded)
}
