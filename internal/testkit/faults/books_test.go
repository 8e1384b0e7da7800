package faults

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
)

// place is an episode on somebody's list.
type place struct {
	user    string
	episode catalog.EpisodeID
}

// books are what the service was told and what it took on.
type books struct {
	mu    sync.Mutex
	tells map[place]bool  // told, accepted or not
	taken map[int64]event // accepted, by the id of the record
}

func newBooks() *books { return &books{tells: map[place]bool{}, taken: map[int64]event{}} }

func (b *books) told(e event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tells[place{e.user, e.id}] = true
}

func (b *books) accept(id int64, e event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken[id] = e
}

// result is a line of the table.
type result struct {
	fault                           string
	rounds                          int
	accepted, marked, lost, doubled int
}

// close compares the books with the catalog, once nothing is in work any more, and reports
// every difference; fate tells what the service says of a record.
func (b *books) close(tb testing.TB, list *catalogtest.Server, fate func(id int64) string) result {
	tb.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	on := map[place]bool{}
	for _, mark := range list.Marks() {
		at := place{mark.Username, mark.EpisodeID}
		on[at] = mark.Type == catalog.EpisodeWatched
		if !b.tells[at] {
			tb.Errorf("nobody told of it, and it is marked: %+v", mark)
		}
	}
	var lost []string
	for id, e := range b.taken {
		if !on[place{e.user, e.id}] {
			lost = append(lost, fmt.Sprintf("record %d, %s episode %v, on the list of %s: %s", id, e.title, e.sort, e.user, fate(id)))
		}
	}
	twice := doubled(list.Writes())
	report(tb, "lost", lost)
	report(tb, "doubled", twice)
	return result{accepted: len(b.taken), marked: len(b.taken) - len(lost), lost: len(lost), doubled: len(twice)}
}

// report fails with the first of the lines, if there are any.
func report(tb testing.TB, what string, lines []string) {
	tb.Helper()
	const most = 10
	if len(lines) > 0 {
		tb.Errorf("%d %s:\n%s", len(lines), what, strings.Join(lines[:min(len(lines), most)], "\n"))
	}
}

// doubled goes through the writes that the catalog applied, in their order, and names each
// that named an episode which was watched already, to mark it again or to clear it, or a list
// entry in the state it had: writes that were not needed but that a public timeline shows. It
// needs every write with the episodes in it: a number of writes, or the marks as they are at
// the end, do not tell {1,2,3} and {2} from {1,3} and {2}.
//
// One doubled write cannot be avoided by any client: one that the catalog applies after the
// client gave it up and read the list. No scenario makes that happen.
func doubled(writes []catalogtest.Write) (lines []string) {
	type entry struct {
		user    string
		subject catalog.SubjectID
	}
	watched, states := map[place]bool{}, map[entry]int{}
	for _, w := range writes {
		if w.Episodes == nil {
			at := entry{w.Username, w.SubjectID}
			state := cmp.Or(w.Type, int(catalog.Doing)) // what an entry is put on the list as when nobody is to be told
			if states[at] == state {
				lines = append(lines, fmt.Sprintf("%s %s by %s at %v: the entry was in state %d", w.Method, w.Path, w.Username, w.At, state))
			}
			states[at] = state
			continue
		}
		for _, id := range w.Episodes {
			at := place{w.Username, id}
			if watched[at] {
				lines = append(lines, fmt.Sprintf("%s %s by %s at %v: episode %d was watched", w.Method, w.Path, w.Username, w.At, id))
			}
			watched[at] = catalog.EpisodeState(w.Type) == catalog.EpisodeWatched
		}
	}
	return lines
}

// table are the results of all scenarios in Markdown.
type table struct {
	mu    sync.Mutex
	lines []result
}

func (t *table) add(r result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, r)
}

func (t *table) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var text strings.Builder
	text.WriteString("\n| fault | rounds | accepted | marked | lost | doubled |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, r := range t.lines {
		fmt.Fprintf(&text, "| %s | %d | %d | %d | %d | %d |\n", r.fault, r.rounds, r.accepted, r.marked, r.lost, r.doubled)
	}
	return text.String()
}
