package snapshot_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/task"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/upkeep/snapshot"
)

// ledger is everything on mira's list, by subject.
type ledger map[catalog.SubjectID]page

type page struct {
	catalogtest.Listed
	Marks map[catalog.EpisodeID]catalog.EpisodeState
}

func (r *rig) ledger() ledger {
	all := ledger{}
	for _, l := range r.list.Listed("mira") {
		slices.Sort(l.Tags)
		all[l.SubjectID] = page{l, map[catalog.EpisodeID]catalog.EpisodeState{}}
	}
	for _, m := range r.list.Marks() {
		if p, there := all[m.SubjectID]; there {
			p.Marks[m.EpisodeID] = m.Type
		}
	}
	return all
}

// same compares two ledgers in what names entries.
func (r *rig) same(what string, want, got ledger, only func(catalog.SubjectID) bool) {
	r.t.Helper()
	for subject := range want {
		if !only(subject) {
			continue
		}
		if diff := cmp.Diff(want[subject], got[subject], cmpopts.EquateEmpty()); diff != "" {
			r.t.Errorf("%s, subject %d: %s", what, subject, diff)
			return
		}
	}
}

func every(catalog.SubjectID) bool { return true }

// restores brings back, and waits for that.
func (r *rig) restores(s snapshot.Snapshot, req snapshot.RestoreRequest) (int64, snapshot.Restoring) {
	r.t.Helper()
	return r.restored(r.Restore(r.t.Context(), s.ID, req))
}

func (r *rig) restored(work *task.Task, err error) (int64, snapshot.Restoring) {
	r.t.Helper()
	ended := r.ends(work, err)
	result, is := task.ResultOf[snapshot.Restoring](ended)
	if ended.State != task.Done || !is {
		r.t.Fatalf("it ended as %s: %v", ended.State, ended.Message)
	}
	return ended.ID, result
}

// damage makes random changes as somebody else, each of another entry, and marks of others as this service. It tells which.
func (r *rig) damage(random *rand.Rand, theirs, ours int) (hurt, marked []catalog.SubjectID) {
	r.t.Helper()
	r.offset.Add(int64(time.Minute))
	all, before := r.list.Listed("mira"), r.ledger()
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	r.ours = map[catalog.SubjectID][]catalog.EpisodeID{}
	for _, l := range all {
		first, marks := catalog.EpisodeID(int(l.SubjectID)*100), len(before[l.SubjectID].Marks)
		if len(hurt) == theirs {
			next := first + catalog.EpisodeID(marks)
			if len(marked) < ours && r.list.SetMark("mira", next, catalog.EpisodeWatched) == nil {
				r.ours[l.SubjectID] = []catalog.EpisodeID{next}
				marked = append(marked, l.SubjectID)
			}
			continue
		}
		hurt = append(hurt, l.SubjectID)
		switch kind := random.IntN(9); {
		case kind == 0 && l.Type != catalog.Wish: // a rating of a wish does not come back
			l.Rate = (l.Rate + 1 + random.IntN(9)) % 11
		case kind == 1:
			l.Comment += "damaged"
		case kind == 2:
			l.Tags = []string{"damaged"}
		case kind == 3:
			l.Private = !l.Private
		case kind == 4 && l.Type != catalog.Wish:
			l.Type = catalog.Wish + l.Type%5
		case kind == 5:
			r.list.Remove("mira", l.SubjectID, true)
			continue
		case kind == 6 && marks > 0:
			r.send(http.MethodPatch, l.SubjectID, fmt.Sprintf(`{"episode_id":[%d],"type":0}`, first))
			continue
		case kind == 7 && marks > 0:
			r.send(http.MethodPatch, l.SubjectID, fmt.Sprintf(`{"episode_id":[%d],"type":0}`, first))
			r.send(http.MethodPatch, l.SubjectID, fmt.Sprintf(`{"episode_id":[%d],"type":3}`, first))
			continue
		default:
			l.Comment, l.Tags = "", []string{"damaged", "more"}
		}
		must(r.t, r.list.Put(l))
	}
	if len(hurt) != theirs || len(marked) != ours {
		r.t.Fatalf("%d and %d are damaged", len(hurt), len(marked))
	}
	return hurt, marked
}

// play takes a snapshot of a list, damages it, brings half back, then the rest, then nothing, and takes all of it back.
func (r *rig) play(theirs, ours int) (took []time.Duration) {
	r.t.Helper()
	random := rand.New(rand.NewPCG(26, 26))
	lap := func() func() {
		begin := time.Now()
		return func() { took = append(took, time.Since(begin)) }
	}
	end := lap()
	first, _ := r.take()
	end()
	whole := r.ledger()
	hurt, marked := r.damage(random, theirs, ours)
	damaged := r.ledger()
	end = lap()
	second, _ := r.take()
	end()
	d, err := r.Diff(r.t.Context(), first.ID, second.ID)
	must(r.t, err)
	by := map[catalog.SubjectID]snapshot.By{}
	for _, id := range hurt {
		by[id] = snapshot.Another
	}
	for _, id := range marked {
		by[id] = snapshot.Us
	}
	for _, c := range d.Items {
		if by[c.SubjectID] != c.By {
			r.t.Errorf("subject %d was changed by %q, and is told to be by %q: %v", c.SubjectID, by[c.SubjectID], c.By, c.Kinds)
		}
		delete(by, c.SubjectID)
	}
	if len(by) > 0 {
		r.t.Errorf("%d changes are not told, such as %v", len(by), by)
	}

	// Without leave nothing goes down, and what is not ticked stays.
	ticked := hurt[:theirs/2]
	isTicked := func(id catalog.SubjectID) bool { return slices.Contains(ticked, id) }
	writes := len(r.list.Writes())
	_, preview := r.restores(first, snapshot.RestoreRequest{Entries: ticked, DryRun: true})
	if n := len(r.list.Writes()); n != writes || !preview.DryRun || preview.Counts[snapshot.ToWrite] == 0 || len(preview.Rows) != len(ticked) {
		r.t.Errorf("the preview wrote %d times and tells %+v", n-writes, preview.Counts)
	}
	lines := r.list.Timeline()
	_, cautious := r.restores(first, snapshot.RestoreRequest{Entries: ticked})
	if cautious.Lines != r.list.Timeline()-lines || cautious.Lines != preview.Lines || cautious.Counts[snapshot.Written] != preview.Counts[snapshot.ToWrite] || cautious.Counts[snapshot.Failed] != 0 {
		r.t.Errorf("%d lines became public; the preview says %d and %v, the result %d and %v", r.list.Timeline()-lines, preview.Lines, preview.Counts, cautious.Lines, cautious.Counts)
	}
	now := r.ledger()
	r.same("what was not ticked", damaged, now, func(id catalog.SubjectID) bool { return !isTicked(id) })
	rank := map[catalog.CollectionType]int{catalog.Wish: 1, catalog.OnHold: 2, catalog.Dropped: 2, catalog.Doing: 3, catalog.Done: 4}
	for id, was := range damaged {
		is := now[id]
		if is.Rate < was.Rate || rank[is.Type] < rank[was.Type] || len(is.Marks) < len(was.Marks) || was.Comment != "" && is.Comment == "" || len(was.Tags) > 0 && len(is.Tags) == 0 {
			r.t.Errorf("subject %d went down from %+v to %+v", id, was, is)
		}
	}

	// With leave it is as it was.
	end = lap()
	r.restores(first, snapshot.RestoreRequest{Entries: ticked, Lower: ticked})
	end()
	r.same("what was ticked", whole, r.ledger(), isTicked)
	r.same("what was not ticked", damaged, r.ledger(), func(id catalog.SubjectID) bool { return !isTicked(id) })
	all := slices.Concat(hurt, marked)
	task, rest := r.restores(first, snapshot.RestoreRequest{Lower: all})
	r.same("everything", whole, r.ledger(), every)
	if rest.Counts[snapshot.Same] != first.Entries-theirs+len(ticked)-ours || rest.Counts[snapshot.Written] != theirs-len(ticked)+ours || !rest.Undo {
		r.t.Errorf("of all it tells %v", rest.Counts)
	}
	writes = len(r.list.Writes())
	_, again := r.restores(first, snapshot.RestoreRequest{Lower: all})
	if n := len(r.list.Writes()); n != writes || again.Counts[snapshot.Same] != first.Entries {
		r.t.Errorf("twice wrote %d times, and tells %v", n-writes, again.Counts)
	}
	third, _ := r.take()
	d, err = r.Diff(r.t.Context(), second.ID, third.ID)
	must(r.t, err)
	for _, c := range d.Items {
		if c.By != snapshot.Us {
			r.t.Errorf("what was brought back of subject %d is told to be by %q: %v", c.SubjectID, c.By, c.Kinds)
		}
	}

	// And back.
	_, undone := r.restored(r.UndoRestore(r.t.Context(), task, false))
	want := damaged
	for _, id := range ticked {
		want[id] = whole[id]
	}
	removed := func(id catalog.SubjectID) bool { _, there := damaged[id]; return !there } // what was put on the list anew stays there, dropped and hidden
	r.same("taken back", want, r.ledger(), func(id catalog.SubjectID) bool { return !removed(id) })
	if undone.Undoes != task || undone.Undo || undone.Counts[snapshot.Written] != rest.Counts[snapshot.Written] {
		r.t.Errorf("of taking back it tells %+v", undone.Counts)
	}
	return took
}

func TestWhatWasDamagedIsBroughtBack(t *testing.T) {
	r := newRig(t)
	entries, marks, scale := 120, 2400, 1
	if os.Getenv("WATCHMARK_LOAD_LIST") != "" {
		entries, marks, scale = 2000, 40_000, 5
	}
	must(t, r.list.AddLarge("mira", 1, entries, marks))
	r.play(60*scale, 10*scale)
}

// BenchmarkAList prints what a long list takes: requests, time and size of the first reading, of one after changes, and of bringing 300 entries back.
func BenchmarkAList(b *testing.B) {
	for b.Loop() {
		r := newRig(b)
		must(b, r.list.AddLarge("mira", 1, 2000, 40_000))
		var laps []int
		count := func() {
			n := 0
			for _, times := range r.list.Requests() {
				n += times
			}
			laps = append(laps, n)
		}
		size := func() (bytes int) {
			must(b, r.db.Read().QueryRowContext(b.Context(), `SELECT SUM(LENGTH(entry) + LENGTH(marks)) FROM listed_entries`).Scan(&bytes))
			return bytes
		}
		random := rand.New(rand.NewPCG(26, 26))
		begin := time.Now()
		lap := func(what string) {
			count()
			n := laps[len(laps)-1]
			if len(laps) > 1 {
				n -= laps[len(laps)-2]
			}
			b.Logf("%s: %d requests, %v, %d bytes kept", what, n, time.Since(begin).Round(time.Millisecond), size())
			begin = time.Now()
		}
		first, _ := r.take()
		lap("the first reading")
		r.take()
		lap("one after it")
		hurt, marked := r.damage(random, 300, 50)
		count()
		begin = time.Now()
		r.take()
		lap("one after 350 changes")
		_, preview := r.restores(first, snapshot.RestoreRequest{Entries: hurt, Lower: hurt, DryRun: true})
		lap("the preview of 300")
		whole := r.ledger()
		r.restores(first, snapshot.RestoreRequest{Entries: hurt, Lower: hurt})
		lap(fmt.Sprintf("bringing 300 back, with %d lines", preview.Lines))
		if len(marked) != 50 || len(whole) == 0 {
			b.Fatal("nothing was damaged")
		}
	}
}

func TestBringingBackGoesOn(t *testing.T) {
	r := newRig(t)
	must(t, r.list.AddLarge("mira", 1, 60, 600))
	first, _ := r.take()
	whole := r.ledger()
	hurt, _ := r.damage(rand.New(rand.NewPCG(1, 1)), 40, 0)
	lines, calls := r.list.Timeline(), 0
	trouble := func(req *http.Request) { // answers that are lost, in the middle of an entry
		if req.Method != http.MethodGet {
			calls++
			if mode := map[int]catalogtest.FaultMode{7: catalogtest.Cut, 18: catalogtest.Status, 31: catalogtest.Cut}[calls]; mode != "" {
				must(t, r.list.SetFault(catalogtest.Fault{Mode: mode, Paths: catalogtest.Writes, Times: 1}))
			}
		}
	}
	r.before.Store(&trouble)
	_, got := r.restores(first, snapshot.RestoreRequest{Lower: hurt})
	r.same("everything", whole, r.ledger(), every)
	if got.Lines != r.list.Timeline()-lines || got.Counts[snapshot.Written] != len(hurt) {
		t.Errorf("%d lines became public, and it tells %d, %v", r.list.Timeline()-lines, got.Lines, got.Counts)
	}
}

func TestBringingBackIsCancelled(t *testing.T) {
	r := newRig(t)
	must(t, r.list.AddLarge("mira", 1, 60, 600))
	first, _ := r.take()
	whole := r.ledger()
	hurt, _ := r.damage(rand.New(rand.NewPCG(2, 2)), 40, 0)
	damaged := r.ledger()
	writes, work := 0, make(chan *task.Task, 1)
	cancel := func(req *http.Request) {
		if req.Method != http.MethodGet {
			if writes++; writes == 12 {
				must(t, r.tasks.Cancel(t.Context(), (<-work).Status().ID))
			}
		}
	}
	r.before.Store(&cancel)
	started, err := r.Restore(t.Context(), first.ID, snapshot.RestoreRequest{Lower: hurt})
	must(t, err)
	if _, err := r.Restore(t.Context(), first.ID, snapshot.RestoreRequest{}); err == nil {
		t.Error("two are under way")
	}
	if _, err := r.UndoRestore(t.Context(), started.Status().ID, false); err == nil {
		t.Error("one that runs is taken back")
	}
	work <- started
	ended := r.ends(started, nil)
	got, _ := task.ResultOf[snapshot.Restoring](ended)
	if ended.State != task.Cancelled || got.Counts[snapshot.Waiting] == 0 || got.Counts[snapshot.Written] == 0 || !got.Undo {
		t.Fatalf("%s %+v", ended.State, got.Counts)
	}
	now := r.ledger()
	for _, row := range got.Rows { // each is as it was or as it is to be, and none half
		want := whole
		if row.Status == snapshot.Waiting {
			want = damaged
		}
		r.same(string(row.Status), want, now, func(id catalog.SubjectID) bool { return id == row.SubjectID })
	}
	r.before.Store(nil)
	r.restored(r.UndoRestore(t.Context(), ended.ID, false))
	for id, was := range damaged {
		r.same("taken back", ledger{id: was}, r.ledger(), every)
	}
	if _, err := r.UndoRestore(t.Context(), 9999, false); err == nil {
		t.Error("a task that is none is taken back")
	}
}

func TestATaskThatEndsBeforeItIsKnownToHaveEnded(t *testing.T) {
	r := newRig(t)
	r.fill()
	first, _ := r.take()
	r.write(http.MethodPatch, 1, `{"comment":"new"}`)
	lower := []catalog.SubjectID{firstID + 1}
	id, want := r.restores(first, snapshot.RestoreRequest{Lower: lower})
	must(t, r.db.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error { // what a crash leaves after the work and before the end of the task
		if _, err := tx.ExecContext(ctx, `UPDATE tasks SET state = 'running', owner = 99, result = '' WHERE id = ?`, id); err != nil {
			return err
		}
		return task.FreeTx(ctx, tx, []int64{99})
	}))
	writes := len(r.list.Writes())
	for range 2 {
		must(t, r.Continuing().Run(t.Context(), nil))
		work, err := r.tasks.Get(t.Context(), id)
		must(t, err)
		if ended := r.ends(work, nil); ended.State != task.Done {
			t.Fatalf("it is %s: %v", ended.State, ended.Message)
		}
		work, err = r.tasks.Get(t.Context(), id)
		must(t, err)
		if got, _ := task.ResultOf[snapshot.Restoring](work.Status()); got.Counts[snapshot.Written] != want.Counts[snapshot.Written] || len(r.list.Writes()) != writes {
			t.Errorf("%+v, and it wrote %d times", got.Counts, len(r.list.Writes())-writes)
		}
	}
}

func TestMarksAndBringingBackTakeTurns(t *testing.T) {
	r := newRig(t)
	must(t, r.list.AddLarge("mira", 1, 40, 400))
	first, _ := r.take()
	hurt, _ := r.damage(rand.New(rand.NewPCG(3, 3)), 30, 0)
	r.writeTime = 5 * time.Millisecond
	var marking sync.WaitGroup
	var once sync.Map
	marked := map[catalog.SubjectID]catalog.EpisodeID{}
	for subject, page := range r.ledger() { // the episode after the last one that is marked, where there is one
		next := catalog.EpisodeID(int(subject)*100 + len(page.Marks))
		if page.Type == catalog.Doing && r.list.SetMark("mira", next, catalog.Unmarked) == nil {
			marked[subject] = next
		}
	}
	mark := func(req *http.Request) { // while an entry is brought back
		var subject int
		if _, err := fmt.Sscanf(req.URL.Path, "/v0/users/-/collections/%d", &subject); err != nil || req.Method == http.MethodGet || marked[catalog.SubjectID(subject)] == 0 {
			return
		}
		if _, again := once.LoadOrStore(subject, true); !again {
			marking.Go(func() {
				id := catalog.SubjectID(subject)
				if _, err := r.clients.Mark(context.Background(), r.mira, id, []catalog.EpisodeID{marked[id]}, nil); err != nil {
					t.Error(err)
				}
			})
		}
	}
	r.before.Store(&mark)
	r.restores(first, snapshot.RestoreRequest{Lower: hurt})
	marking.Wait()
	n := 0
	now := r.ledger()
	once.Range(func(subject, _ any) bool {
		n++
		id := catalog.SubjectID(subject.(int))
		if p := now[id]; p.Marks[marked[id]] != catalog.EpisodeWatched && p.Type != catalog.Done { // what is done is not marked
			t.Errorf("the mark of subject %d was lost: %+v", id, p)
		}
		return true
	})
	if overlaps := r.list.Overlaps(); n == 0 || len(overlaps) > 0 {
		t.Errorf("%d marks met what was brought back, and %d writes overlapped: %v", n, len(overlaps), overlaps)
	}
}

func TestWhatCannotBeBroughtBack(t *testing.T) {
	r := newRig(t)
	r.fill()
	r.list.AddSubject(catalogtest.Subject{ID: 77, Type: catalog.Anime, Name: "locked", Locked: true})
	must(t, r.list.Put(catalogtest.Listed{Username: "mira", SubjectID: 77, Type: catalog.Done, Rate: 8}))
	must(t, r.list.Put(catalogtest.Listed{Username: "mira", SubjectID: firstID, Type: catalog.Wish, Rate: 7}))
	must(t, r.list.Put(catalogtest.Listed{Username: "mira", SubjectID: firstID + 1, Type: catalog.Doing, Comment: strings.Repeat("长", 400), Tags: []string{"x"}}))
	must(t, r.list.Put(catalogtest.Listed{Username: "mira", SubjectID: firstID + 4, Type: catalog.Doing, Comment: "forbidden"}))
	first, _ := r.take()
	r.offset.Add(int64(time.Minute))
	must(t, r.list.Put(catalogtest.Listed{Username: "mira", SubjectID: 77, Type: catalog.Done, Rate: 1}))
	must(t, r.list.Put(catalogtest.Listed{Username: "mira", SubjectID: firstID, Type: catalog.Wish}))
	must(t, r.list.Put(catalogtest.Listed{Username: "mira", SubjectID: firstID + 1, Type: catalog.Doing}))
	must(t, r.list.Put(catalogtest.Listed{Username: "mira", SubjectID: firstID + 4, Type: catalog.Doing}))
	must(t, r.list.Put(catalogtest.Listed{Username: "mira", SubjectID: firstID + subjects - 1, Type: catalog.Doing}))
	r.mark(7, 2, catalog.Unmarked)
	r.list.RemoveEpisode(episode(7, 0))
	want := map[catalog.SubjectID]string{77: "cannot entry_locked", firstID: "cannot entry_rating_of_wish", firstID + 1: "cannot entry_comment_long entry_tags_refused",
		firstID + 4: "written entry_word_filter", firstID + 7: "written entry_episodes_gone", firstID + subjects - 1: "cannot restore_added_since"}
	told := func(got snapshot.Restoring) map[catalog.SubjectID]string {
		all := map[catalog.SubjectID]string{}
		for _, row := range got.Rows {
			text := string(row.Status)
			for _, n := range row.Notes {
				text += " " + n.Reason.Code
			}
			all[row.SubjectID] = text
		}
		return all
	}
	_, preview := r.restores(first, snapshot.RestoreRequest{DryRun: true})
	foreseen := map[catalog.SubjectID]string{}
	for id, text := range want {
		foreseen[id] = strings.Replace(strings.TrimSuffix(text, " entry_word_filter"), "written", "write", 1)
	}
	if diff := cmp.Diff(foreseen, told(preview)); diff != "" {
		t.Error(diff)
	}
	_, got := r.restores(first, snapshot.RestoreRequest{})
	if diff := cmp.Diff(want, told(got)); diff != "" {
		t.Error(diff)
	}
	writes := len(r.list.Writes())
	want[firstID+4], want[firstID+7] = "cannot entry_word_filter", "cannot entry_episodes_gone"
	_, got = r.restores(first, snapshot.RestoreRequest{})
	if diff := cmp.Diff(want, told(got)); diff != "" || len(r.list.Writes()) != writes {
		t.Errorf("%s, and it wrote %d times", diff, len(r.list.Writes())-writes)
	}
	if _, err := r.Restore(t.Context(), 9999, snapshot.RestoreRequest{}); err == nil {
		t.Error("a snapshot that is not there is brought back")
	}
}

func TestASnapshotThatIsBroughtBackIsNotForgottenBefore(t *testing.T) {
	r := newRig(t)
	r.fill()
	r.keep = 1
	r.take()
	old, _ := r.take() // the first of the month stays in any case
	r.write(http.MethodPatch, 1, `{"rate":9}`)
	r.write(http.MethodPatch, 4, `{"comment":"new"}`)
	if _, got := r.restores(old, snapshot.RestoreRequest{Lower: []catalog.SubjectID{firstID + 1, firstID + 4}}); got.Counts[snapshot.Written] != 2 {
		t.Errorf("%v", got.Counts)
	}
	if left, err := r.List(t.Context(), r.mira.ID); err != nil || len(left) != 2 {
		t.Errorf("%d snapshots are left, %v", len(left), err)
	}
}
