package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"watchmark/internal/engine/review"
	"watchmark/internal/match"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// cancelled has every task cancelled as soon as marks were taken back.
func (h *house) cancelled(t *testing.T) {
	t.Helper()
	h.list.unmarked = func() {
		running, err := h.tasks.Running(t.Context())
		if err != nil {
			t.Error(err)
		}
		for _, s := range running {
			if err := h.tasks.Cancel(t.Context(), s.ID); err != nil && !errors.Is(err, task.ErrEnded) {
				t.Error(err)
			}
		}
	}
}

func all() review.Correction {
	c := right()
	c.AllOfTitle = true
	return c
}

func TestACancelledCorrectionLosesNoWatch(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.run(t)
	ids := h.seen(t, episode("a", "mira", 1), episode("a", "mira", 2))
	h.cancelled(t)
	if _, status := h.correct(t, ids[0], all()); status.State == task.Done {
		t.Fatalf("the task is %+v", status)
	}
	for _, id := range ids {
		if r := h.settled(t, id); r.Status != record.Success || r.SubjectID != 9 {
			t.Errorf("record is %+v", r)
		}
		if trace, err := h.records.Trace(t.Context(), id); err != nil || !strings.Contains(string(trace), `"name":"correct"`) {
			t.Errorf("trace %s (%v)", trace, err)
		}
	}
	h.wantMarks(t, "one/9/913", "one/9/914")
}

// TestAStopDuringACorrectionLosesNoWatch has nothing work on the records between taking back and the next start.
func TestAStopDuringACorrectionLosesNoWatch(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.run(t)
	ids := h.seen(t, episode("a", "mira", 1), episode("a", "mira", 2))
	h.stop()
	<-h.stopped
	h.cancelled(t)
	h.correct(t, ids[0], all())
	h.wantMarks(t)
	for _, id := range ids {
		if r, err := h.records.Get(t.Context(), id); err != nil || r.Status != record.Received || r.Marked {
			t.Errorf("record is %+v (%v)", r, err)
		}
	}
	h.run(t)
	for _, id := range ids {
		if r := h.settled(t, id); r.Status != record.Success || r.SubjectID != 9 {
			t.Errorf("record is %+v", r)
		}
	}
	h.wantMarks(t, "one/9/913", "one/9/914")
}

func TestACorrectionPassesOverATraceThatCannotBeRead(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.run(t)
	id := h.seen(t, episode("a", "mira", 1))[0]
	err := h.DB.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		return record.SetTraceTx(ctx, tx, id, []byte(`{"steps":`))
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, status := h.correct(t, id, right()); status.State != task.Done {
		t.Fatalf("the task is %+v", status)
	}
	if r := h.settled(t, id); r.Status != record.Success || r.SubjectID != 9 {
		t.Errorf("record is %+v", r)
	}
	if trace, err := h.records.Trace(t.Context(), id); err != nil || !strings.Contains(string(trace), `"name":"correct"`) {
		t.Errorf("trace %s (%v)", trace, err)
	}
}

func TestOnlyWhatLeadsElsewhereIsCorrected(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.run(t)
	ids := h.seen(t, episode("a", "mira", 1), episode("A ", "mira", 2), episode("a", "mira", 3), episode("a", "mira", 4), episode("a", "mira", 5))
	h.matcher.lead(func(e watch.Event) *match.Result {
		switch *e.Episode {
		case 2:
			return &match.Result{Status: match.EpisodeNotFound, Reason: reason.Text("the list ends")}
		case 3:
			return &match.Result{Status: match.Unreachable, Reason: reason.Text("nobody answers")}
		case 4:
			sort := 4.0
			return &match.Result{Status: match.Matched, SubjectID: 8, EpisodeID: 804, EpisodeSort: &sort}
		}
		return nil
	})
	p, err := h.PreviewCorrection(t.Context(), ids[0], all())
	if err != nil || p.Others != 4 || p.OthersMarked != 4 || p.OthersChange != 1 || p.OthersStay != 2 || p.OthersUntold != 1 {
		t.Errorf("preview %+v (%v)", p, err)
	}
	_, status := h.correct(t, ids[0], all())
	tally, _ := task.ResultOf[review.CorrectTally](status)
	if status.State != task.Failed || !strings.Contains(status.Message.Text, "Bangumi cannot be reached") || tally.TakenBack != 2 || tally.Kept != 2 || tally.Stuck != 1 || tally.Marked != 2 {
		t.Errorf("task %+v", status)
	}
	h.wantMarks(t, "one/8/802", "one/8/803", "one/8/804", "one/9/913", "one/9/917")
	for _, i := range []int{1, 2, 3} {
		if r := h.settled(t, ids[i]); r.Status != record.Success || r.SubjectID != 8 || !r.Marked || r.Message.Text != "marked as watched" {
			t.Errorf("record is %+v", r)
		}
	}
	// The mapping leads the record itself nowhere: it is told, and nothing is taken back.
	if _, status := h.correct(t, ids[1], right()); status.State != task.Failed || !strings.Contains(status.Message.Text, "the list ends") {
		t.Errorf("task %+v", status)
	}
	h.wantMarks(t, "one/8/802", "one/8/803", "one/8/804", "one/9/913", "one/9/917")
}

// TestNothingRunsAgainBeforeAllIsTakenBack: episode 13 was marked where episode 1 leads now.
func TestNothingRunsAgainBeforeAllIsTakenBack(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	var ids []int64
	h.Log = slog.New(atLog{slog.DiscardHandler, func(r slog.Record) {
		if r.Message != "mark taken back" || h.list.unmarkedTimes() > 1 {
			return
		}
		h.Wake()
		h.seen(t, episode("b", "mira", 1)) // what could be claimed was claimed with it
		if r, err := h.records.Get(t.Context(), ids[0]); err != nil || r.Status != record.Received {
			t.Errorf("record is %+v (%v)", r, err)
		}
	}})
	h.run(t)
	h.matcher.lead(func(e watch.Event) *match.Result {
		if *e.Episode == 13 {
			return &match.Result{Status: match.Matched, SubjectID: 9, EpisodeID: 913}
		}
		return nil
	})
	ids = h.seen(t, episode("a", "mira", 1), episode("a", "mira", 13))
	h.wantMarks(t, "one/8/801", "one/9/913")
	h.matcher.lead(nil)
	if _, status := h.correct(t, ids[0], all()); status.State != task.Done {
		t.Errorf("task %+v", status)
	}
	h.wantMarks(t, "one/8/801", "one/9/913", "one/9/925") // the first one is of b
}

func TestACorrectionIsStartedOnce(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.run(t)
	id := h.seen(t, episode("a", "mira", 1))[0]
	matching, goOn := make(chan struct{}, 8), make(chan struct{})
	h.matcher.hold(func(watch.Event) { matching <- struct{}{}; <-goOn })
	started := make(chan error, 20)
	var runs []review.Corrected
	var mu sync.Mutex
	for range cap(started) {
		go func() {
			c, err := h.Correct(t.Context(), id, right())
			if err == nil {
				mu.Lock()
				runs = append(runs, c)
				mu.Unlock()
			}
			started <- err
		}()
	}
	refused := 0
	for range cap(started) {
		if err := <-started; errors.Is(err, review.ErrCorrecting) {
			refused++
		} else if err != nil {
			t.Error(err)
		}
	}
	<-matching
	close(goOn)
	if refused != cap(started)-1 || len(runs) != 1 {
		t.Fatalf("%d refused, %d started", refused, len(runs))
	}
	ended(t, runs[0].Task)
	h.correct(t, id, right())
}

// TestAMarkOfTheSameTitleIsNotLeft: who watched an episode twice did not watch it by another title.
func TestAMarkOfTheSameTitleIsNotLeft(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.run(t)
	first := h.seen(t, episode("a", "mira", 1))[0]
	again := h.seen(t, episode("A ", "mira", 1))[0]
	if r, err := h.Unmark(t.Context(), first, reason.Text("taken back")); err != nil || r.Status != record.Ignored {
		t.Errorf("record is %+v (%v)", r, err)
	}
	if r := h.settled(t, again); r.Marked {
		t.Errorf("record is %+v", r)
	}
	h.wantMarks(t)
}

// TestAMarkIsNotLeftToWhatIsTakenBackToo: the answer led two titles to one episode.
func TestAMarkIsNotLeftToWhatIsTakenBackToo(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.matcher.set("a", unsure())
	h.matcher.set("another translation", unsure())
	h.run(t)
	h.seen(t, episode("a", "mira", 1))
	a := h.confirm(t, 9)
	ended(t, a.Task)
	translated := episode("another translation", "mira", 1)
	translated.OriginalTitle = "a"
	both := h.seen(t, translated)[0]
	if r := h.settled(t, both); r.Status != record.Success || r.SubjectID != 9 || r.Marked {
		t.Fatalf("record is %+v", r)
	}
	if back := h.undo(t, a.Question.ID); !slices.Contains(back.Unmarked, both) || back.Shared != 0 {
		t.Errorf("undo: %+v", back)
	}
	h.wantMarks(t)
}

// TestAMarkIsNotLeftToWhatIsCorrectedToo: the first season's mark was found by the second's.
func TestAMarkIsNotLeftToWhatIsCorrectedToo(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.run(t)
	two := 2
	second := episode("a", "mira", 1)
	second.Season = &two
	ids := []int64{h.seen(t, episode("a", "mira", 1))[0], h.seen(t, second)[0]}
	c := all()
	c.EverySeason = true
	_, status := h.correct(t, ids[0], c)
	if tally, _ := task.ResultOf[review.CorrectTally](status); status.State != task.Done || tally.TakenBack != 1 || tally.Marked != 2 {
		t.Errorf("task %+v", status)
	}
	h.wantMarks(t, "one/9/913")
}

// TestAMarkIsLeftToAnotherTitleBesideWhatIsCorrected: both the second season, which is corrected too,
// and another title found the first season's mark.
func TestAMarkIsLeftToAnotherTitleBesideWhatIsCorrected(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.run(t)
	two := 2
	second := episode("a", "mira", 1)
	second.Season = &two
	first := h.seen(t, episode("a", "mira", 1))[0]
	h.seen(t, second)
	other := h.seen(t, episode("b", "mira", 1))[0]
	c := all()
	c.EverySeason = true
	if _, status := h.correct(t, first, c); status.State != task.Done {
		t.Errorf("task %+v", status)
	}
	h.wantMarks(t, "one/8/801", "one/9/913")
	if r := h.settled(t, other); !r.Marked {
		t.Errorf("record is %+v", r)
	}
}

// TestASpecialIsCorrectedAlone: what one special is says nothing of the others, unless all are corrected.
func TestASpecialIsCorrectedAlone(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.run(t)
	zero := 0
	special := func(n float64) watch.Event {
		e := episode("a", "mira", n)
		e.Season = &zero
		return e
	}
	ids := h.seen(t, special(1), special(2))
	c, _ := h.correct(t, ids[0], right())
	if n := c.Mapping.Episode; n == nil || *n != 1 {
		t.Errorf("the mapping is %+v", c.Mapping)
	}
	h.seen(t, special(3))
	h.wantMarks(t, "one/8/802", "one/8/803", "one/9/913")
	var field *reason.FieldError
	if _, err := h.Correct(t.Context(), ids[0], all()); !errors.As(err, &field) || field.Field != "all_of_title" {
		t.Errorf("all of a title: %v", err)
	}
	if _, status := h.correct(t, ids[1], all()); status.State != task.Done {
		t.Errorf("task %+v", status)
	}
	h.wantMarks(t, "one/9/913", "one/9/914", "one/9/915")
}
