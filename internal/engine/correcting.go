package engine

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"watchmark/internal/catalog"
	"watchmark/internal/mapping"
	"watchmark/internal/match"
	"watchmark/internal/record"
	"watchmark/internal/task"
)

// stepCorrect is the step that a correction adds to the trace of a record, and
// correctionsMost how many of them later runs keep.
const (
	stepCorrect     = "correct"
	correctionsMost = 3
)

// CorrectTally is what a correction brought.
type CorrectTally struct {
	// TakenBack is how many marks were removed from lists.
	TakenBack int `json:"taken_back"`
	// Stuck are records that were left as they are because their mark could not be taken back.
	Stuck int `json:"stuck"`
	Tally
}

// correcting is a correction at work.
type correcting struct {
	*Engine
	c       Correction
	mapping mapping.Mapping
	all     []int64
	task    *task.Task
	tally   CorrectTally
	problem string // why the first stuck record is stuck
}

// run corrects all records in parts, the oldest first.
func (c *correcting) run(ctx context.Context) error {
	for _, id := range c.all {
		defer c.follow(id, c.task)()
	}
	done := 0
	for part := range slices.Chunk(c.all, retryMost) {
		c.task.Progress(done, len(c.all), fmt.Sprintf("correcting %d records", len(part)))
		err := c.part(ctx, part)
		done += len(part)
		c.task.SetResult(c.tally)
		c.task.Progress(done, len(c.all), fmt.Sprintf("%d marks taken back, %s", c.tally.TakenBack, c.tally.Tally))
		if err != nil {
			return err
		}
	}
	if c.tally.Stuck > 0 {
		return fmt.Errorf("the mapping is written; %d of %d records keep their mark and stay as they were, because it could not be taken back: %s. Correct them again later",
			c.tally.Stuck, len(c.all), c.problem)
	}
	return nil
}

// part takes back what some records marked wrongly, and runs them again.
func (c *correcting) part(ctx context.Context, ids []int64) error {
	var records []record.Record
	var wrong []heldMark
	for _, id := range ids {
		r, err := c.settledRecord(ctx, id)
		if errors.Is(err, record.ErrNotFound) {
			c.tally.Skipped++
			continue
		}
		if err != nil {
			return err
		}
		records = append(records, r)
		marks, err := c.wrongMarks(ctx, r)
		if err != nil {
			return err
		}
		wrong = append(wrong, marks...)
	}
	taken, stuck, err := c.takeAllBack(ctx, wrong)
	if err != nil {
		return err
	}
	var again []int64
	for _, r := range records {
		if stuck[r.ID] {
			continue
		}
		if err := c.note(ctx, r, taken[r.ID]); err != nil {
			return err
		}
		again = append(again, r.ID)
	}
	c.tally.Stuck += len(stuck)
	if !c.c.Mark {
		return nil
	}
	return c.retryPart(ctx, again, &c.tally.Tally)
}

// wrongMarks is what a record marked and the mapping does not lead to.
func (c *correcting) wrongMarks(ctx context.Context, r record.Record) ([]heldMark, error) {
	if !c.c.Unmark {
		return nil, nil
	}
	marks, err := c.Records.Marks(ctx, r.ID)
	if err != nil || len(marks) == 0 {
		return nil, err
	}
	w, err := c.Records.Work(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	trace := c.Matcher.Match(ctx, w.Event)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var wrong []heldMark
	for _, m := range marks {
		if !isOf(trace.Result, m) {
			wrong = append(wrong, heldMark{Mark: m, of: r})
		}
	}
	return wrong, nil
}

// takeAllBack removes marks, entry by entry. stuck are the records for which that failed.
func (c *correcting) takeAllBack(ctx context.Context, wrong []heldMark) (taken map[int64][]takenBack, stuck map[int64]bool, err error) {
	taken, stuck = map[int64][]takenBack{}, map[int64]bool{}
	corrected := map[int64]bool{}
	for _, id := range c.all {
		corrected[id] = true
	}
	message := fmt.Sprintf("corrected by a person to subject %d", c.mapping.SubjectID)
	for _, group := range byEntry(wrong) {
		back, err := c.takeBack(ctx, group, message, corrected)
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err != nil {
			c.Log.WarnContext(ctx, "cannot take back marks", "subject_id", group[0].SubjectID, "records", len(group), "error", err)
			if c.problem == "" {
				c.problem = unmarkProblem(err)
			}
			for _, m := range group {
				stuck[m.RecordID] = true
			}
			continue
		}
		for _, t := range back {
			taken[t.RecordID] = append(taken[t.RecordID], t)
			if t.sharer == 0 {
				c.tally.TakenBack++
			}
		}
	}
	return taken, stuck, nil
}

// note adds the correction to the trace of a record. One without a trace gets one.
func (c *correcting) note(ctx context.Context, r record.Record, taken []takenBack) error {
	trace := match.Trace{Result: match.Result{Status: match.NotFound, Reason: r.Message}}
	text, err := c.Records.Trace(ctx, r.ID)
	if err != nil && !errors.Is(err, record.ErrNotFound) {
		return err
	}
	if err == nil {
		if err := json.Unmarshal(text, &trace); err != nil {
			return fmt.Errorf("decode the trace of record %d: %w", r.ID, err)
		}
	}
	step := match.Step{
		Name: stepCorrect, Status: "hit", Candidates: []match.Candidate{},
		Input: map[string]any{
			"subject_id": c.mapping.SubjectID, "episode_offset": c.mapping.EpisodeOffset,
			"old_subject_id": r.SubjectID, "old_subject": r.SubjectName, "old_result": r.Message,
		},
		Output: map[string]any{"mapping_id": c.mapping.ID, "mapping": c.mapping.Title},
	}
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
	c.tell(ctx, record.Work{Record: r}, step)
	trace.Steps = append(trace.Steps, step)
	encoded, err := json.Marshal(trace)
	if err != nil {
		return fmt.Errorf("encode the trace of record %d: %w", r.ID, err)
	}
	err = c.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { return record.SetTraceTx(ctx, tx, r.ID, encoded) })
	if err == nil {
		c.Records.Feed.Publish(r.ID)
	}
	return err
}

// corrections are the steps that corrections added to the trace of a record that runs
// again, so that the new trace tells of them too. A trace that cannot be read has none.
func (e *Engine) corrections(ctx context.Context, w record.Work) []match.Step {
	if w.Attempts <= 1 && !w.Test {
		return nil
	}
	text, err := e.Records.Trace(ctx, w.ID)
	if err != nil {
		return nil
	}
	var trace match.Trace
	if err := json.Unmarshal(text, &trace); err != nil {
		return nil
	}
	steps := slices.DeleteFunc(trace.Steps, func(s match.Step) bool { return s.Name != stepCorrect })
	return steps[max(0, len(steps)-correctionsMost):]
}
