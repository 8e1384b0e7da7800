package faults

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

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
	tells map[place]time.Time // first told, accepted or not
	taken map[int64]taking    // accepted, by the id of the record
}

// taking is an event that was accepted.
type taking struct {
	event
	at time.Time
}

func newBooks() *books { return &books{tells: map[place]time.Time{}, taken: map[int64]taking{}} }

func (b *books) told(e event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at := (place{e.user, e.id}); b.tells[at].IsZero() {
		b.tells[at] = time.Now()
	}
}

func (b *books) accept(id int64, e event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken[id] = taking{e, time.Now()}
}

// result is a line of the table.
type result struct {
	fault                                    string
	rounds                                   int
	accepted, marked, lost, doubled, crossed int
	early                                    string // a number, or a dash where no order is to be kept
}

// close compares the books with the catalog, once nothing is in work any more, and reports
// every difference; told says what the service says of its records. ordered: of a list
// entry, what was accepted first must have been written first; what waited for the catalog may come after what did not.
func (b *books) close(tb testing.TB, list *catalogtest.Server, told *service, ordered bool) result {
	tb.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	on := map[place]bool{}
	for _, mark := range list.Marks() {
		at := place{mark.Username, mark.EpisodeID}
		on[at] = mark.Type == catalog.EpisodeWatched
		if b.tells[at].IsZero() {
			tb.Errorf("nobody told of it, and it is marked: %+v", mark)
		}
	}
	done, held := map[int64]bool{}, map[place]bool{}
	for _, r := range told.records("success") {
		done[r.ID] = true
		if at := (place{r.UserName, catalog.EpisodeID(r.EpisodeID)}); r.Marked {
			held[at] = true
		}
	}
	var loose []string
	for at := range on {
		if on[at] && !held[at] {
			loose = append(loose, fmt.Sprintf("episode %d on the list of %s", at.episode, at.user))
		}
	}
	report(tb, "marked by us, and no record can take it back", loose)
	var lost []string
	for id, e := range b.taken {
		if !on[place{e.user, e.id}] || !done[id] {
			lost = append(lost, fmt.Sprintf("record %d, %s episode %v, on the list of %s: %s", id, e.title, e.sort, e.user, told.fate(id)))
		}
	}
	writes := list.Writes()
	twice := doubled(writes)
	r := result{accepted: len(b.taken), marked: len(b.taken) - len(lost), lost: len(lost), doubled: len(twice), early: "–"}
	if ordered {
		early := b.early(writes)
		report(tb, "out of order", early)
		r.early = strconv.Itoa(len(early))
	}
	var crossed []string
	for _, pair := range list.Overlaps() {
		crossed = append(crossed, fmt.Sprintf("%+v met %+v", pair[1], pair[0]))
	}
	report(tb, "lost", lost)
	report(tb, "doubled", twice)
	report(tb, "written while another write of the same entry was under way", crossed)
	r.crossed = len(crossed)
	return r
}

// early names each episode that was written before another of its list entry that had been accepted before it was told of.
func (b *books) early(writes []catalogtest.Write) (lines []string) {
	type entry struct {
		user    string
		subject catalog.SubjectID
	}
	first := map[place]int{} // the write that first named it
	for i, w := range writes {
		for _, id := range w.Episodes {
			if at := (place{w.Username, id}); first[at] == 0 {
				first[at] = i + 1
			}
		}
	}
	events := map[entry]map[place]taking{} // each with its first acceptance
	for _, t := range b.taken {
		of, at := entry{t.user, t.subject}, place{t.user, t.id}
		if events[of] == nil {
			events[of] = map[place]taking{}
		}
		if known, ok := events[of][at]; !ok || t.at.Before(known.at) {
			events[of][at] = t
		}
	}
	for of, all := range events {
		for x, before := range all {
			for y := range all {
				if before.at.Before(b.tells[y]) && first[x] > first[y] && first[y] > 0 {
					lines = append(lines, fmt.Sprintf("subject %d of %s: episode %d was accepted at %v, episode %d told of at %v, and write %d names the second, write %d the first",
						of.subject, of.user, x.episode, before.at.Format(stamp), y.episode, b.tells[y].Format(stamp), first[y], first[x]))
				}
			}
		}
	}
	return lines
}

// stamp is how a moment is written in what the books report.
const stamp = "15:04:05.000"

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
	text.WriteString("\n| fault | rounds | accepted | marked | lost | doubled | overlapping | out of order |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, r := range t.lines {
		fmt.Fprintf(&text, "| %s | %d | %d | %d | %d | %d | %d | %s |\n", r.fault, r.rounds, r.accepted, r.marked, r.lost, r.doubled, r.crossed, r.early)
	}
	return text.String()
}
