package engine_test

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/engine"
	"watchmark/internal/engine/review"
	"watchmark/internal/match"
	"watchmark/internal/platform/logs"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// unsure is a match that is left to a person.
func unsure() match.Trace {
	return match.Trace{Result: match.Result{Status: match.Review, SubjectID: 8, Reason: reason.Text("perhaps")},
		Steps: []match.Step{{Name: "api", Status: "hit", Candidates: []match.Candidate{{SubjectID: 8, Name: "eight", Score: .7}}}}}
}

// pending is the questions that wait.
func (h *house) pending(t *testing.T) []review.Question {
	t.Helper()
	questions, _, err := h.questions.List(t.Context(), review.Filter{Statuses: []review.Status{review.Pending}})
	if err != nil {
		t.Fatal(err)
	}
	return questions
}

func TestTwoEpisodesOfOneTitleAreOneQuestion(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.matcher.set("a", unsure())
	h.run(t)
	ids := h.accept(t, episode("a", "mira", 1), episode("a", "mira", 2))
	for _, id := range ids {
		if r := h.settled(t, id); r.Status != record.Review {
			t.Fatalf("record is %+v", r)
		}
	}
	open := h.pending(t)
	if len(open) != 1 || open[0].Waiting != 2 || len(open[0].Candidates) != 1 {
		t.Fatalf("questions are %+v", open)
	}

	a := h.confirm(t, 8)
	status := ended(t, a.Task)
	if tally, ok := task.ResultOf[engine.Tally](status); !ok || tally.Marked != 2 {
		t.Errorf("the task ends as %+v", status)
	}
	log := ""
	lines, _ := a.Task.After(0)
	for _, line := range lines {
		log += line.Text
	}
	if !strings.Contains(log, "record settled") {
		t.Errorf("the task's log lacks the runs: %s", log)
	}
}

// confirm answers the one question that waits.
func (h *house) confirm(t *testing.T, subject catalog.SubjectID) review.Answered {
	t.Helper()
	open := h.pending(t)
	if len(open) != 1 {
		t.Fatalf("questions are %+v", open)
	}
	a, err := h.Confirm(t.Context(), open[0].ID, 0, review.Choice{SubjectID: subject})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// undo takes an answer back and waits until its records are through.
func (h *house) undo(t *testing.T, question int64) review.Answered {
	t.Helper()
	back, err := h.Undo(t.Context(), question, 0)
	if err != nil {
		t.Fatal(err)
	}
	ended(t, back.Task)
	return back
}

// wrongly has a title of mira confirmed as subject 9, for two records that waited and one that
// came later, beside an episode that was on the list before.
func (h *house) wrongly(t *testing.T) (question int64, ids []int64) {
	t.Helper()
	h.account(t, "one", true, "mira")
	h.list.watched["one/9/904"] = true
	h.matcher.set("a", unsure())
	h.matcher.set("A ", unsure())
	h.run(t)
	ids = h.accept(t, episode("a", "mira", 1), episode("a", "mira", 2))
	for _, id := range ids {
		h.settled(t, id)
	}
	a := h.confirm(t, 9)
	ended(t, a.Task)
	later := h.accept(t, episode("A ", "mira", 3), episode("a", "mira", 4))
	for _, id := range later {
		if r := h.settled(t, id); r.Status != record.Success || r.SubjectID != 9 {
			t.Fatalf("record is %+v", r)
		}
	}
	h.wantMarks(t, "one/9/901", "one/9/902", "one/9/903", "one/9/904")
	return a.Question.ID, append(ids, later...)
}

func TestUndoTakesBackAllThatTheAnswerCaused(t *testing.T) {
	h := newHouse(t)
	question, ids := h.wrongly(t)
	other := h.accept(t, episode("b", "mira", 7))[0]
	if r := h.settled(t, other); !r.Marked {
		t.Fatalf("record is %+v", r)
	}
	back := h.undo(t, question)
	if !slices.Equal(back.Unmarked, ids[:3]) || !slices.Equal(back.RecordIDs, ids) || back.Kept || back.Shared+back.Left != 0 {
		t.Errorf("undo: %+v", back)
	}
	h.wantMarks(t, "one/8/807", "one/9/904") // what was there before the service came, and another title's
	for _, id := range ids {
		if r := h.settled(t, id); r.Status != record.Review || r.Marked {
			t.Errorf("record is %+v", r)
		}
	}
	if open := h.pending(t); len(open) != 1 || open[0].ID != question || open[0].Waiting != 4 {
		t.Errorf("after undo the questions are %+v", open)
	}
}

func TestUndoChangesNothingWhileMarksCannotBeTakenBack(t *testing.T) {
	h := newHouse(t)
	question, ids := h.wrongly(t)
	h.list.fail(&catalog.Error{Kind: catalog.ErrUnreachable, Status: 503})
	if _, err := h.Undo(t.Context(), question, 0); !errors.Is(err, catalog.ErrUnreachable) {
		t.Errorf("undo: %v", err)
	}
	h.wantMarks(t, "one/9/901", "one/9/902", "one/9/903", "one/9/904")
	if all, err := h.mappings.All(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("mappings %v (%v)", all, err)
	}
	for _, id := range ids {
		if r := h.settled(t, id); r.Status != record.Success {
			t.Errorf("record is %+v", r)
		}
	}
	h.list.fail(nil)
	h.undo(t, question)
	h.wantMarks(t, "one/9/904")
}

func TestUndoLeavesWhatWasCorrectedSince(t *testing.T) {
	h := newHouse(t)
	question, ids := h.wrongly(t)
	for _, i := range []int{0, 1, 3} {
		h.correct(t, ids[i], right())
	}
	h.wantMarks(t, "one/9/903", "one/9/904", "one/9/913", "one/9/914", "one/9/916")
	back := h.undo(t, question)
	if !slices.Equal(back.Unmarked, ids[2:3]) {
		t.Errorf("undo: %+v", back)
	}
	h.wantMarks(t, "one/9/904", "one/9/913", "one/9/914", "one/9/915", "one/9/916")
}

func TestAnswerReachesWhatIsBeingMatched(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.matcher.set("a", unsure())
	matching, answered := make(chan struct{}, 8), make(chan struct{})
	h.matcher.hold(func(e watch.Event) {
		if *e.Episode == 2 {
			matching <- struct{}{}
			<-answered
		}
	})
	h.run(t)
	h.settled(t, h.accept(t, episode("a", "mira", 1))[0])
	late := h.accept(t, episode("a", "mira", 2))[0]
	<-matching
	a := h.confirm(t, 8)
	close(answered)
	ended(t, a.Task)
	if r := h.settled(t, late); r.Status != record.Success {
		t.Errorf("what was matched by the rules from before comes out as %+v", r)
	}
	if open := h.pending(t); len(open) != 0 {
		t.Errorf("it is asked again: %+v", open)
	}
}

func TestUndoWaitsForWhatIsOnItsWay(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.matcher.set("a", unsure())
	h.run(t)
	id := h.accept(t, episode("a", "mira", 1))[0]
	h.settled(t, id)
	matching, goOn := make(chan struct{}, 8), make(chan struct{})
	h.matcher.hold(func(watch.Event) { matching <- struct{}{}; <-goOn })
	question := h.confirm(t, 8).Question.ID
	<-matching
	undone := make(chan review.Answered)
	go func() {
		back, err := h.Undo(t.Context(), question, 0)
		if err != nil {
			t.Error(err)
		}
		undone <- back
	}()
	close(goOn)
	back := <-undone
	if len(back.Unmarked) != 1 {
		t.Errorf("undo did not wait until the record was marked: %+v", back)
	}
	if r := h.settled(t, id); r.Status != record.Review {
		t.Errorf("after undo the record is %+v", r)
	}
}

// TestARecordThatIsGivenBackAndClaimedInHandIsWorkedOn: between the commit that gives a
// record back and its worker letting it go, it is claimed anew.
func TestARecordThatIsGivenBackAndClaimedInHandIsWorkedOn(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.matcher.set("a", unsure())
	matching, answered := make(chan struct{}), make(chan struct{})
	h.matcher.hold(func(e watch.Event) {
		if e.Title == "a" && *e.Episode == 2 {
			matching <- struct{}{}
			<-answered
		}
	})
	var late atomic.Int64
	var once sync.Once
	h.Log = slog.New(logs.Handler(atLog{slog.DiscardHandler, func(r slog.Record) {
		about := false
		r.Attrs(func(a slog.Attr) bool {
			about = about || a.Key == "record_id" && a.Value.Any() == late.Load()
			return true
		})
		if !strings.HasPrefix(r.Message, "record is given back") || !about {
			return
		}
		once.Do(func() {
			for h.attempts(t, late.Load()) < 2 {
				h.Wake()
				time.Sleep(time.Millisecond)
			}
			h.seen(t, episode("b", "mira", 1)) // claimed after it, so that claim is over
			h.matcher.hold(nil)
		})
	}}))
	h.run(t)
	h.seen(t, episode("a", "mira", 1))
	late.Store(h.accept(t, episode("a", "mira", 2))[0])
	<-matching
	h.confirm(t, 8)
	close(answered)
	if r := h.settled(t, late.Load()); r.Status != record.Success {
		t.Errorf("record is %+v", r)
	}
}

// attempts is how often a record was claimed.
func (h *house) attempts(t *testing.T, id int64) int {
	t.Helper()
	r, err := h.records.Get(t.Context(), id)
	if err != nil {
		t.Error(err)
	}
	return r.Attempts
}

func TestAnAnswerThatDoesNotHelpIsKept(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.matcher.set("a", unsure())
	h.run(t)
	id := h.seen(t, episode("a", "mira", 1))[0]
	h.matcher.lead(func(watch.Event) *match.Result {
		return &match.Result{Status: match.Review, SubjectID: 8, Reason: reason.Text("perhaps")}
	})
	a := h.confirm(t, 9)
	ended(t, a.Task)
	if r := h.settled(t, id); r.Status != record.Review || !strings.Contains(r.Message.Text, "undo the answer") {
		t.Errorf("record is %+v", r)
	}
	if open := h.pending(t); len(open) != 0 {
		t.Errorf("it is asked again: %+v", open)
	}
	h.matcher.lead(nil)
	if back := h.undo(t, a.Question.ID); back.Kept || !slices.Equal(back.RecordIDs, []int64{id}) {
		t.Errorf("undo: %+v", back)
	}
	if open := h.pending(t); len(open) != 1 {
		t.Errorf("the questions are %+v", open)
	}
}
