package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
)

// A list of the kill rounds, and how much of it is damaged in each.
const (
	listEntries, listMarks = 80, 800
	listDamaged            = 30
	killWithin             = 600 * time.Millisecond
)

// TestAListIsKilled kills a service at random moments while it reads a list, while it brings it back and while it takes that back: in
// the end each entry is what it is to be (lost = 0), and nothing was written that was so already (doubled = 0).
func TestAListIsKilled(t *testing.T) {
	rounds := number(t, "WATCHMARK_FAULT_ROUNDS", 3)
	chosen := seed(t)
	t.Logf("WATCHMARK_FAULT_SEED=%d", chosen)
	random := randomOf(chosen, t.Name())
	const owner = "bench-1"
	l := &killedList{T: t, random: random, catalog: catalogtest.New(catalogtest.Config{Users: people([]string{owner}), WriteTime: func() time.Duration { return 3 * time.Millisecond }})}
	must(t, l.catalog.AddLarge(owner, 26, listEntries, listMarks))
	url, stop, err := l.catalog.Listen(context.Background(), "127.0.0.1:0")
	must(t, err)
	defer stop()
	l.service = serve(t, t.TempDir(), url)
	l.addAccounts([]string{owner})
	var lost, doubled []string
	restored := 0
	for range rounds {
		first := l.snapshot()
		whole := l.pages(owner)
		hurt := l.damage(owner)
		damaged := l.pages(owner)
		text, err := json.Marshal(map[string]any{"entries": nil, "lower": hurt})
		must(t, err)
		before := len(l.catalog.Writes())
		task := l.killed(fmt.Sprintf("/api/snapshots/%d/restore", first), string(text))
		lost = append(lost, differ("brought back", whole, l.pages(owner), func(catalog.SubjectID) bool { return true })...)
		doubled = append(doubled, sentAgain(l.catalog.Writes()[before:])...)
		restored += len(hurt)
		before = len(l.catalog.Writes())
		l.killed(fmt.Sprintf("/api/restores/%d/undo", task), `{}`)
		// What was put on the list stays there, dropped.
		lost = append(lost, differ("taken back", damaged, l.pages(owner), func(id catalog.SubjectID) bool { return damaged[id] != "" })...)
		doubled = append(doubled, sentAgain(l.catalog.Writes()[before:])...)
	}
	report(t, "lost", lost)
	report(t, "doubled", doubled)
	if n := len(l.catalog.Overlaps()); n > 0 {
		t.Errorf("%d writes of one entry overlapped", n)
	}
	t.Logf("%d rounds, killed %d times: %d entries brought back and taken back, %d lost, %d doubled", rounds, l.kills, restored, len(lost), len(doubled))
}

// killedList is a service that looks after a list and is killed.
type killedList struct {
	*testing.T
	*service
	catalog *catalogtest.Server
	random  *rand.Rand
	kills   int
}

// killed starts a task, kills the service once or twice while it is at work, and waits until the task, which goes on by itself, is done.
func (l *killedList) killed(path, body string) (task int64) {
	l.Helper()
	task = l.begin(path, body)
	for range 1 + l.random.IntN(2) {
		<-time.After(time.Duration(l.random.Int64N(int64(killWithin))))
		if l.state(task) != "running" {
			break
		}
		l.restart()
		l.kills++
	}
	defer func() {
		if l.Failed() {
			_, told, _ := l.request(context.Background(), http.MethodGet, fmt.Sprintf("/api/tasks/%d", task), nil)
			l.Logf("task %d of %s: %.2000s", task, path, told)
		}
	}()
	eventually(l, "what was cut off goes on to its end", func() bool { return l.state(task) == "done" })
	return task
}

// snapshot takes one, and is killed meanwhile: then it is asked for again.
func (l *killedList) snapshot() (id int64) {
	l.Helper()
	task := l.begin("/api/accounts/1/snapshots", "")
	<-time.After(time.Duration(l.random.Int64N(int64(killWithin / 2))))
	if l.state(task) == "running" {
		l.restart()
		l.kills++
		task = l.begin("/api/accounts/1/snapshots", "")
	}
	eventually(l, "the list is read", func() bool { return l.state(task) == "done" })
	var all struct {
		Items []struct{ ID, Entries, Marks int64 }
	}
	l.call(http.StatusOK, http.MethodGet, "/api/accounts/1/snapshots", "", &all)
	if n := len(l.catalog.Marks()); int(all.Items[0].Marks) != n {
		l.Fatalf("the snapshot has %d marks of %d", all.Items[0].Marks, n)
	}
	return all.Items[0].ID
}

func (l *killedList) begin(path, body string) int64 {
	l.Helper()
	var started struct {
		TaskID int64 `json:"task_id"`
	}
	l.call(http.StatusAccepted, http.MethodPost, path, body, &started)
	return started.TaskID
}

// state is how a task stands.
func (l *killedList) state(task int64) string {
	l.Helper()
	var now struct{ State string }
	l.call(http.StatusOK, http.MethodGet, fmt.Sprintf("/api/tasks/%d", task), "", &now)
	return now.State
}

// pages is the list as text, by subject.
func (l *killedList) pages(owner string) map[catalog.SubjectID]string {
	all := map[catalog.SubjectID]string{}
	for _, e := range l.catalog.Listed(owner) {
		slices.Sort(e.Tags)
		all[e.SubjectID] = fmt.Sprintf("%+v", e)
	}
	for _, m := range l.catalog.Marks() {
		if all[m.SubjectID] != "" {
			all[m.SubjectID] += fmt.Sprintf(" %d=%d", m.EpisodeID, m.Type)
		}
	}
	return all
}

// damage changes entries in ways that can be brought back and taken back.
func (l *killedList) damage(owner string) (hurt []catalog.SubjectID) {
	l.Helper()
	all := l.catalog.Listed(owner)
	l.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	marks := map[catalog.SubjectID][]catalog.EpisodeID{}
	for _, m := range l.catalog.Marks() {
		marks[m.SubjectID] = append(marks[m.SubjectID], m.EpisodeID)
	}
	for _, e := range all[:listDamaged] {
		hurt = append(hurt, e.SubjectID)
		kind := l.random.IntN(5)
		switch of := marks[e.SubjectID]; {
		case kind == 0 && e.Type != catalog.Wish:
			l.catalog.Remove(owner, e.SubjectID, true)
			continue
		case kind <= 2 && len(of) > 1:
			must(l, l.catalog.SetMark(owner, of[0], catalog.Unmarked))
			must(l, l.catalog.SetMark(owner, of[1], catalog.Unmarked))
		case e.Type != catalog.Wish:
			e.Type, e.Rate = catalog.Done+catalog.CollectionType((int(e.Type)-1)%4), (e.Rate+1)%11
		}
		e.Comment += "damaged"
		e.Tags = []string{"damaged"}
		must(l, l.catalog.Put(e))
	}
	return hurt
}

// differ names the entries that are not what they are to be.
func differ(what string, want, got map[catalog.SubjectID]string, of func(catalog.SubjectID) bool) (lines []string) {
	for id, page := range want {
		if of(id) && got[id] != page {
			lines = append(lines, fmt.Sprintf("%s: subject %d is %s, and not %s", what, id, got[id], page))
		}
	}
	return lines
}

// sentAgain names the writes that came again for the same entry: each was on the list before.
func sentAgain(writes []catalogtest.Write) (lines []string) {
	seen := map[string]bool{}
	for _, w := range writes {
		what := strings.Join([]string{w.Method, w.Path, w.Body, fmt.Sprint(w.Episodes, w.Type)}, " ")
		if seen[what] {
			lines = append(lines, what)
		}
		seen[what] = true
	}
	return lines
}
