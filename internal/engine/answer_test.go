package engine_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"watchmark/internal/candidate"
	"watchmark/internal/engine"
	"watchmark/internal/match"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// unsure is a match that is left to a person.
func unsure() match.Trace {
	return match.Trace{Result: match.Result{Status: match.Review, SubjectID: 8, Reason: "perhaps"},
		Steps: []match.Step{{Name: "api", Status: "hit", Candidates: []match.Candidate{{SubjectID: 8, Name: "eight", Score: .7}}}}}
}

// sure is a match by a mapping.
func sure(number float64) match.Trace {
	return match.Trace{Result: match.Result{Status: match.Matched, SubjectID: 8, EpisodeID: 800, EpisodeSort: &number, Method: "mapping", Confidence: 1}}
}

// pending is the questions that wait.
func (h *house) pending(t *testing.T) []candidate.Question {
	t.Helper()
	questions, _, err := h.questions.List(t.Context(), candidate.Filter{Statuses: []candidate.Status{candidate.Pending}})
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

	h.matcher.set("a", sure(1))
	a, err := h.Confirm(t.Context(), open[0].ID, candidate.Choice{SubjectID: 8})
	if err != nil {
		t.Fatal(err)
	}
	status := ended(t, a.Task)
	var tally engine.Tally
	if err := json.Unmarshal(must(json.Marshal(status.Result))(t), &tally); err != nil || tally.Marked != 2 {
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

	h.matcher.set("a", unsure())
	back, err := h.UndoAnswer(t.Context(), open[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	ended(t, back.Task)
	if len(back.Marked) != 2 || back.Marked[0].EpisodeID != 800 || !slices.Equal(back.RecordIDs, ids) {
		t.Errorf("undo: %+v", back)
	}
	if open := h.pending(t); len(open) != 1 || open[0].Waiting != 2 {
		t.Errorf("after undo the questions are %+v", open)
	}
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
	h.matcher.set("a", sure(2))
	a, err := h.Confirm(t.Context(), h.pending(t)[0].ID, candidate.Choice{SubjectID: 8})
	if err != nil {
		t.Fatal(err)
	}
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
	h.matcher.set("a", sure(1))
	question := h.pending(t)[0].ID
	if _, err := h.Confirm(t.Context(), question, candidate.Choice{SubjectID: 8}); err != nil {
		t.Fatal(err)
	}
	<-matching
	undone := make(chan engine.Answered)
	go func() {
		back, err := h.UndoAnswer(t.Context(), question)
		if err != nil {
			t.Error(err)
		}
		undone <- back
	}()
	h.matcher.set("a", unsure())
	close(goOn)
	back := <-undone
	if len(back.Marked) != 1 {
		t.Errorf("undo did not wait until the record was marked: %+v", back)
	}
	if r := h.settled(t, id); r.Status != record.Review {
		t.Errorf("after undo the record is %+v", r)
	}
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
