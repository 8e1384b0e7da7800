package snapshot_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/entries"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/hold"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/replica"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/upkeep/snapshot"
)

const (
	token    = "by-hand-of-mira"
	subjects = 230 // three pages, the last one not full
	rows     = 6   // episodes of each
	firstID  = 10_000
)

// rig keeps the list of mira at a simulated catalog.
type rig struct {
	*snapshot.Service
	config    snapshot.Config
	t         testing.TB
	list      *catalogtest.Server
	url       string
	db        *db.DB
	mira      account.Account
	keep      int
	writeTime time.Duration
	clients   *account.Client
	tasks     *task.Registry
	ours      map[catalog.SubjectID][]catalog.EpisodeID // what this service is known to have written
	before    atomic.Pointer[func(*http.Request)]
	offset    atomic.Int64 // of the catalog's clock
	refused   atomic.Int64 // requests for marks are answered with 500 while it is above 0
}

func newRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{t: t, db: dbtest.Open(t), keep: 60}
	r.list = catalogtest.New(catalogtest.Config{Now: func() time.Time { return time.Now().Add(time.Duration(r.offset.Load())) }, AtomicMarks: true, WriteTime: func() time.Duration { return r.writeTime }, Filter: []string{"forbidden"}, Users: []catalogtest.User{{ID: 7, Username: "mira", Nickname: "Mira", Token: token}}})
	for i := range subjects {
		id := catalog.SubjectID(firstID + i)
		r.list.AddSubject(catalogtest.Subject{ID: id, Type: catalog.Anime, Name: fmt.Sprintf("Title %d", i), Eps: rows, Date: "2020-01-01"})
		for n := range rows {
			r.list.AddEpisodes(id, catalogtest.Episode{ID: episode(i, n), Sort: float64(n + 1)})
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if hook := r.before.Load(); hook != nil {
			(*hook)(req)
		}
		if strings.HasSuffix(req.URL.Path, "/episodes") && r.refused.Load() > 0 {
			r.refused.Add(-1)
			http.Error(w, "{}", http.StatusInternalServerError)
			return
		}
		r.list.ServeHTTP(w, req)
	}))
	t.Cleanup(server.Close)
	r.url = server.URL
	log := slog.New(slog.DiscardHandler)
	masker := &secret.Masker{}
	box, err := secret.OpenBox(t.TempDir(), "", false)
	must(t, err)
	out, err := httpx.New(httpx.Config{PerMinute: 1e6, Burst: 1e6}, masker, log)
	must(t, err)
	t.Cleanup(out.Close)
	client, err := catalog.New(catalog.Config{APIURL: server.URL, WebURL: server.URL, UserAgent: catalog.UserAgent("test")}, out, log)
	must(t, err)
	accounts := account.NewStore(r.db, box)
	r.mira, err = accounts.Create(t.Context(), account.Draft{Username: "mira", Method: account.ByToken, Enabled: true, Tokens: account.Tokens{Access: token}, MediaUserNames: []string{"mira"}})
	must(t, err)
	tasks := task.New(r.db, dbtest.Self(1), log)
	t.Cleanup(func() { _ = tasks.Stop(context.Background()) })
	self, err := replica.Join(t.Context(), replica.Config{DB: r.db, Name: "here", Free: []func(context.Context, *sql.Tx, []int64) error{entries.FreeTx}, Log: log})
	must(t, err)
	living, end := context.WithCancel(context.Background())
	heard := make(chan struct{})
	go func() { self.Run(living); close(heard) }()
	t.Cleanup(func() { end(); <-heard })
	no := func(context.Context, int64, catalog.SubjectID) (bool, error) { return false, nil }
	r.tasks = tasks
	r.clients = account.NewClient(account.ClientConfig{
		Store: accounts, Catalog: client, Subjects: catalog.NewCached(client), Marker: catalog.NewMarker(), Known: no, Left: no, Masker: masker, Log: log,
		App: func() catalog.App { return catalog.App{} },
	})
	r.config = snapshot.Config{
		DB: r.db, Accounts: accounts, Tasks: tasks, Holds: hold.New(r.db, dbtest.Self(1), log), Log: log, Keep: func() int { return r.keep }, Plan: func() schedule.Plan { return schedule.Plan{} },
		Lists: r.clients,
		Seen:  func(context.Context, int64, []catalog.Entry) error { return nil },
		Written: func(context.Context, int64, time.Time, time.Time) (map[catalog.SubjectID][]catalog.EpisodeID, error) {
			return r.ours, nil
		},
		Entries: entries.New(r.db, self), Resumed: record.ResumedTx,
		Code: func(id catalog.SubjectID) int {
			if id%2 == 0 {
				return int(id) + 1_000_000
			}
			return 0
		},
	}
	r.Service = snapshot.NewService(r.config)
	return r
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func episode(subject, n int) catalog.EpisodeID { return catalog.EpisodeID((firstID+subject)*100 + n) }

// write is what somebody else does to the list.
func (r *rig) write(method string, subject int, body string) {
	r.t.Helper()
	r.send(method, catalog.SubjectID(firstID+subject), body)
}

func (r *rig) send(method string, subject catalog.SubjectID, body string) {
	r.t.Helper()
	path := fmt.Sprintf("/v0/users/-/collections/%d", subject)
	if strings.Contains(body, "episode_id") {
		path += "/episodes"
	}
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, strings.NewReader(body))
	must(r.t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "somebody/else")
	resp, err := http.DefaultClient.Do(req)
	must(r.t, err)
	_ = resp.Body.Close()
	if resp.StatusCode >= 300 {
		r.t.Fatalf("%s %s %s: %s", method, path, body, resp.Status)
	}
}

// mark marks or clears the first episodes of a subject.
func (r *rig) mark(subject, n int, state catalog.EpisodeState) {
	r.t.Helper()
	var ids []catalog.EpisodeID
	for i := range n {
		ids = append(ids, episode(subject, i))
	}
	text, err := json.Marshal(map[string]any{"episode_id": ids, "type": state})
	must(r.t, err)
	r.write(http.MethodPatch, subject, string(text))
}

// take takes a snapshot and waits for it.
func (r *rig) take() (snapshot.Snapshot, task.Status) {
	r.t.Helper()
	s := r.ends(r.Take(r.t.Context(), r.mira.ID))
	result, _ := task.ResultOf[snapshot.Snapshot](s)
	return result, s
}

// ends waits for a task.
func (r *rig) ends(work *task.Task, err error) task.Status {
	r.t.Helper()
	must(r.t, err)
	for last := 0; ; {
		lines, more := work.After(last)
		last += len(lines)
		if s := work.Status(); s.State != task.Running {
			return s
		}
		<-more
	}
}

// fill makes a list of all subjects but the last ten, with marks on two of three.
func (r *rig) fill() (entries, marks int) {
	r.t.Helper()
	for i := range subjects - 10 {
		state := []catalog.CollectionType{catalog.Wish, catalog.Doing, catalog.Done}[i%3]
		must(r.t, r.list.Collect("mira", catalog.SubjectID(firstID+i), state, false))
		for n := range rows {
			if i%3 != 0 {
				must(r.t, r.list.SetMark("mira", episode(i, n), catalog.EpisodeWatched))
				marks++
			}
		}
		entries++
	}
	return entries, marks
}

// marksRead is how many requests for marks the catalog got since the last call.
func (r *rig) marksRead() int {
	n := 0
	for call, times := range r.list.Requests() {
		if strings.HasPrefix(call, "GET") && strings.HasSuffix(call, "/episodes") {
			n += times
		}
	}
	return n
}

func TestSnapshotsTellWhatHasChanged(t *testing.T) {
	r := newRig(t)
	entries, marks := r.fill()
	first, ended := r.take()
	if ended.State != task.Done || first.Entries != entries || first.Marks != marks || !first.Whole {
		t.Fatalf("the first snapshot is %+v (%v), want %d entries with %d marks", first, ended.Message, entries, marks)
	}
	read := r.marksRead()
	if with := marks / rows; read != with {
		t.Errorf("%d requests for marks, want one for each of %d entries", read, with)
	}
	same, _ := r.take()
	if d, err := r.Diff(t.Context(), first.ID, same.ID); err != nil || len(d.Items) != 0 || r.marksRead() != read {
		t.Errorf("without a change there are %+v, %v, and %d more requests", d.Items, err, r.marksRead()-read)
	}

	r.write(http.MethodPatch, 1, `{"rate":9}`)
	r.write(http.MethodPatch, 2, `{"comment":"so good","tags":["TV","原创"]}`)
	r.write(http.MethodPatch, 4, `{"type":4}`)
	r.write(http.MethodPatch, 5, `{"private":true}`)
	r.mark(7, 2, catalog.Unmarked)
	r.mark(6, 3, catalog.EpisodeWatched) // of one that had none
	r.write(http.MethodPost, subjects-1, `{"type":3,"rate":7}`)
	r.mark(subjects-1, 1, catalog.EpisodeWatched)
	next, ended := r.take()
	if ended.State != task.Done || next.Whole {
		t.Fatalf("the next snapshot is %+v: %v", next, ended.Message)
	}
	want := map[int][]snapshot.Kind{
		1: {snapshot.Rated}, 2: {snapshot.Commented, snapshot.Tagged}, 4: {snapshot.Moved}, 5: {snapshot.Privacy}, 6: {snapshot.Marked}, 7: {snapshot.Unmarked}, subjects - 1: {snapshot.Added},
	}
	d, err := r.Diff(t.Context(), first.ID, next.ID)
	must(t, err)
	for _, c := range d.Items {
		i := int(c.SubjectID) - firstID
		if !slices.Equal(c.Kinds, want[i]) || c.By != snapshot.Another {
			t.Errorf("subject %d: %v by %s, want %v by somebody else", i, c.Kinds, c.By, want[i])
		}
		delete(want, i)
	}
	if len(want) > 0 {
		t.Errorf("not told: %v", want)
	}
	r.ours = map[catalog.SubjectID][]catalog.EpisodeID{firstID + 6: {episode(6, 0), episode(6, 1), episode(6, 2)}, firstID + 1: {episode(1, 0)}, firstID + subjects - 1: {episode(subjects-1, 0)}}
	d, err = r.Diff(t.Context(), first.ID, next.ID)
	must(t, err)
	for _, c := range d.Items {
		want := map[catalog.SubjectID]snapshot.By{firstID + 6: snapshot.Us, firstID + 1: snapshot.Both, firstID + subjects - 1: snapshot.Us}[c.SubjectID]
		if want != "" && c.By != want || want == "" && c.By != snapshot.Another {
			t.Errorf("subject %d was changed by %s", c.SubjectID-firstID, c.By)
		}
	}
	back, err := r.Diff(t.Context(), next.ID, first.ID)
	must(t, err)
	if back.Counts[snapshot.Removed] != 1 || back.Counts[snapshot.Marked] != 1 || back.Counts[snapshot.Unmarked] != 1 || back.Counts[snapshot.Rated] != 1 {
		t.Errorf("the other way round it counts %v", back.Counts)
	}
	if n := r.marksRead() - read; n > 8 {
		t.Errorf("%d requests for marks of 7 changed entries", n)
	}
	history, err := r.History(t.Context(), r.mira.ID, firstID+7)
	must(t, err)
	if len(history) != 2 || !slices.Equal(history[0].Kinds, []snapshot.Kind{snapshot.Unmarked}) || len(history[1].Marks) != rows {
		t.Errorf("the history of an entry is %+v", history)
	}
}

func TestAnEntryThatGoesAndComesBack(t *testing.T) {
	r := newRig(t)
	r.fill()
	first, _ := r.take()
	back := 0
	r.list.Reset() // the person's list is empty
	empty, ended := r.take()
	if ended.State != task.Done || empty.Entries != 0 {
		t.Fatalf("%+v %v", empty, ended.Message)
	}
	lost, err := r.Shrunk(t.Context())
	must(t, err)
	if len(lost) != 1 || lost[0].Before != first.Entries {
		t.Errorf("a list that is gone is told as %+v", lost)
	}
	d, err := r.Diff(t.Context(), first.ID, empty.ID)
	must(t, err)
	if d.Counts[snapshot.Removed] != first.Entries {
		t.Errorf("it counts %v", d.Counts)
	}
	entries, _ := r.fill()
	again, _ := r.take()
	d, err = r.Diff(t.Context(), first.ID, again.ID)
	must(t, err)
	if again.Entries != entries || len(d.Items) != 0 {
		t.Errorf("what came back differs in %d entries, such as %+v", len(d.Items), d.Counts)
	}
	history, err := r.History(t.Context(), r.mira.ID, firstID+1)
	must(t, err)
	for _, v := range history {
		if v.Entry == nil {
			back++
		}
	}
	if len(history) != 3 || back != 1 {
		t.Errorf("the history of an entry that was gone for a while is %+v", history)
	}
	must(t, r.Delete(t.Context(), empty.ID))
	if left, err := r.List(t.Context(), r.mira.ID); err != nil || len(left) != 2 {
		t.Errorf("%d are left: %v", len(left), err)
	}
	var export bytes.Buffer
	must(t, r.Export(t.Context(), r.mira, first, snapshot.JSON, &export))
	if n := bytes.Count(export.Bytes(), []byte(`"subject_id"`)); n != first.Entries {
		t.Errorf("the first has %d entries left", n)
	}
}

func TestASnapshotThatIsCutOffGoesOn(t *testing.T) {
	r := newRig(t)
	_, marks := r.fill()
	calls := 0
	cut := func(req *http.Request) {
		if strings.HasSuffix(req.URL.Path, "/episodes") {
			if calls++; calls == 57 {
				r.refused.Store(100)
			}
		}
	}
	r.before.Store(&cut)
	if _, ended := r.take(); ended.State != task.Failed {
		t.Fatalf("it ended as %s", ended.State)
	}
	if all, err := r.List(t.Context(), r.mira.ID); err != nil || len(all) != 0 {
		t.Errorf("one that is not whole is listed: %+v %v", all, err)
	}
	r.refused.Store(0)
	before := calls
	s, ended := r.take()
	if ended.State != task.Done || s.Marks != marks {
		t.Fatalf("%+v: %v", s, ended.Message)
	}
	if n := calls - before; n > marks/rows-40 {
		t.Errorf("it asked for %d of %d entries again", n, marks/rows)
	}
}

func TestAListThatMovesIsReadAgain(t *testing.T) {
	r := newRig(t)
	r.fill()
	moves := 2
	move := func(req *http.Request) {
		if strings.HasSuffix(req.URL.Path, "/mira/collections") && req.URL.Query().Get("offset") == "100" && moves > 0 {
			moves--
			r.write(http.MethodPatch, moves, `{"comment":"moves to the front, from a page that was to come"}`)
		}
	}
	r.before.Store(&move)
	s, ended := r.take()
	if ended.State != task.Done || s.Entries != subjects-10 {
		t.Errorf("%d of %d entries: %v", s.Entries, subjects-10, ended.Message)
	}
	moves = 100
	if _, ended := r.take(); ended.State != task.Failed {
		t.Errorf("a list that never stands still ended as %s", ended.State)
	}
}

func TestOldSnapshotsGo(t *testing.T) {
	r := newRig(t)
	r.fill()
	r.keep = 2
	var all []snapshot.Snapshot
	for i := range 5 {
		r.write(http.MethodPatch, 1, fmt.Sprintf(`{"rate":%d}`, i+1))
		s, _ := r.take()
		all = append(all, s)
	}
	left, err := r.List(t.Context(), r.mira.ID)
	must(t, err)
	if len(left) != 3 || left[2].ID != all[0].ID || left[1].ID != all[3].ID { // the first of the month stays
		t.Errorf("left are %+v", left)
	}
	d, err := r.Diff(t.Context(), all[0].ID, all[4].ID)
	must(t, err)
	if len(d.Items) != 1 || d.Items[0].Before.Rate != 1 || d.Items[0].After.Rate != 5 {
		t.Errorf("between what is left: %+v", d.Items)
	}
}

func TestListsAreTakenOut(t *testing.T) {
	r := newRig(t)
	entries, marks := r.fill()
	r.write(http.MethodPatch, 1, `{"rate":8,"comment":"=cmd|' /C calc'!A0","tags":["TV"]}`)
	s, _ := r.take()
	var out bytes.Buffer
	must(t, r.Export(t.Context(), r.mira, s, snapshot.JSON, &out))
	var whole struct {
		Format  int
		Account struct{ Username string }
		TakenAt time.Time `json:"taken_at"`
		Entries []struct {
			catalog.Entry
			Marks []catalog.Mark
		}
	}
	must(t, json.Unmarshal(out.Bytes(), &whole))
	n := 0
	for _, e := range whole.Entries {
		n += len(e.Marks)
	}
	if whole.Format != 1 || whole.Account.Username != "mira" || len(whole.Entries) != entries || n != marks || !whole.TakenAt.Equal(s.TakenAt) {
		t.Errorf("the JSON has format %d of %q with %d entries and %d marks", whole.Format, whole.Account.Username, len(whole.Entries), n)
	}
	out.Reset()
	must(t, r.Export(t.Context(), r.mira, s, snapshot.CSV, &out))
	table, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(out.String(), "\ufeff"))).ReadAll()
	must(t, err)
	if len(table) != entries+1 || table[2][5] != "8" || table[2][7] != `'=cmd|' /C calc'!A0` || table[2][4] != "doing" || table[2][9] != "6" {
		t.Errorf("the CSV has %d lines, such as %q", len(table), table[2])
	}
	out.Reset()
	must(t, r.Export(t.Context(), r.mira, s, snapshot.MAL, &out))
	var list struct {
		Anime []struct {
			ID      int    `xml:"series_animedb_id"`
			Watched int    `xml:"my_watched_episodes"`
			Status  string `xml:"my_status"`
		} `xml:"anime"`
	}
	must(t, xml.Unmarshal(out.Bytes(), &list))
	if len(list.Anime) != entries/2 || list.Anime[1].Status != "Completed" || list.Anime[1].Watched != rows || list.Anime[0].Status != "Plan to Watch" {
		t.Errorf("the XML has %d anime, such as %+v", len(list.Anime), list.Anime[:2])
	}
}
