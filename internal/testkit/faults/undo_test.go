package faults

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
)

// TestAnUndoIsKilled kills a service at random moments while it takes back what it wrote since a moment. Started again and told again, it
// leaves no mark and no entry of that time, and writes nothing twice; what was there before stays.
func TestAnUndoIsKilled(t *testing.T) {
	const perRound = 30
	rounds := number(t, "WATCHMARK_FAULT_ROUNDS", 4)
	s := newStage(t, randomOf(seed(t), t.Name()), certain(t), (rounds+1)*perRound, t.TempDir())
	s.deliver(s.next(perRound)).wait()
	s.settled()
	kept := s.onLists()
	marked, cut := 0, 0
	for range rounds {
		since := time.Now()
		<-time.After(2 * time.Millisecond) // a moment of whole milliseconds stands between what was before and what comes
		s.deliver(s.next(perRound)).wait()
		s.settled()
		marked += len(s.onLists()) - len(kept)
		s.breakCatalog(catalogtest.Fault{Mode: catalogtest.Slow, Delay: 10 * time.Millisecond})
		body := fmt.Sprintf(`{"since":%q,"until":%q}`, since.Add(time.Millisecond).Format(time.RFC3339Nano), time.Now().Add(time.Minute).Format(time.RFC3339Nano))
		s.call(http.StatusAccepted, http.MethodPost, "/api/undo", body, nil)
		s.moment(500 * time.Millisecond)
		s.restart()
		s.breakCatalog(catalogtest.Fault{Mode: catalogtest.None})
		if s.undone(body) > 0 {
			cut++
		}
		if n := s.undone(body); n != 0 {
			t.Errorf("the second undo took back %d marks", n)
		}
		if got := s.onLists(); len(got) != len(kept) {
			t.Errorf("%d marks are on the lists, %d before", len(got), len(kept))
		}
	}
	var lost []string
	now := s.onLists()
	for at := range kept {
		if !now[at] {
			lost = append(lost, fmt.Sprintf("episode %d on the list of %s", at.episode, at.user))
		}
	}
	twice := repeated(s.catalog.Writes())
	report(t, "lost", lost)
	report(t, "doubled", twice)
	t.Logf("%d rounds, of which %d were cut off: %d marks taken back, %d lost, %d doubled", rounds, cut, marked, len(lost), len(twice))
}

// onLists are the episodes that are watched now.
func (s *stage) onLists() map[place]bool {
	on := map[place]bool{}
	for _, mark := range s.catalog.Marks() {
		if mark.Type == catalog.EpisodeWatched {
			on[place{mark.Username, mark.EpisodeID}] = true
		}
	}
	return on
}

// undone undoes and answers how many marks that took back.
func (s *stage) undone(body string) int {
	s.Helper()
	var started struct {
		ID int64 `json:"task_id"`
	}
	var now struct {
		State   string
		Message string
		Result  struct {
			TakenBack int `json:"taken_back"`
			Failed    int `json:"failed"`
		}
	}
	s.call(http.StatusAccepted, http.MethodPost, "/api/undo", body, &started)
	eventually(s, "the undo ends", func() bool {
		s.call(http.StatusOK, http.MethodGet, fmt.Sprintf("/api/tasks/%d", started.ID), "", &now)
		return now.State != "running"
	})
	if text, _ := json.Marshal(now); now.State != "done" {
		s.Errorf("the undo ends as %s", text)
	}
	return now.Result.TakenBack
}

// repeated names each write that was applied and put an episode or an entry into the state that it had.
func repeated(writes []catalogtest.Write) (lines []string) {
	type entry struct {
		user    string
		subject catalog.SubjectID
	}
	states, entries := map[place]int{}, map[entry]int{}
	for _, w := range writes {
		if w.Episodes == nil {
			state := w.Type
			if state == 0 {
				state = int(catalog.Doing)
			}
			if at := (entry{w.Username, w.SubjectID}); entries[at] == state {
				lines = append(lines, fmt.Sprintf("%s %s by %s at %v: the entry was in state %d", w.Method, w.Path, w.Username, w.At, state))
			}
			entries[entry{w.Username, w.SubjectID}] = state
			continue
		}
		for _, id := range w.Episodes {
			at := place{w.Username, id}
			if states[at] == w.Type {
				lines = append(lines, fmt.Sprintf("%s %s by %s at %v: episode %d was in state %d", w.Method, w.Path, w.Username, w.At, id, w.Type))
			}
			states[at] = w.Type
		}
	}
	return lines
}
