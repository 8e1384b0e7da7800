package watcher

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/source/preview"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/mediaservertest"
	"watchmark/internal/watch"
)

// seedRig is a service that is signed in for mira at a simulated server, and a list with the shows Listed 1, Listed 2 and so on.
type seedRig struct {
	*plexRig
	login   Login
	version string
	kind    mediaservertest.Kind
	ids     []string // of everything
	titles  map[string]string
}

var listedOn = time.Date(2025, 3, 9, 12, 0, 0, 0, time.UTC)

// newSeedRig has so many listed shows of 10 episodes, and one of each thing that comes out otherwise.
func newSeedRig(t *testing.T, kind mediaservertest.Kind, version string, shows int) *seedRig {
	t.Helper()
	cfg := mediaservertest.Config{
		Kind: kind, Version: version, ID: "machine-1", Name: "attic", Users: []mediaservertest.User{{Name: "mira", Password: "pass"}}, Writes: true,
		Libraries: []mediaservertest.Library{{ID: "3", Name: "Shows", Kind: "show"}, {ID: "4", Name: "Films", Kind: "movie"}, {ID: "5", Name: "Home", Kind: "homevideos"}},
	}
	if kind == mediaservertest.Plex {
		cfg.TV = mediaservertest.StartPlexTV(t)
		cfg.TV.PollEvery = time.Nanosecond
		cfg.Libraries = cfg.Libraries[:2]
	}
	server := mediaservertest.Start(t, cfg)
	r := &seedRig{plexRig: &plexRig{rig: newRig(t, dbtest.Folder(t), newFake()), server: server}, version: version, kind: kind, titles: map[string]string{}}
	titles := map[string]string{}
	add := func(i mediaservertest.Item) string {
		id := server.Add(i).ID
		r.ids = append(r.ids, id)
		if r.titles[id] = i.Title; i.Show != "" {
			r.titles[id] = titles[i.Show]
		}
		return id
	}
	addShow := func(title string) mediaservertest.Show {
		show := server.AddShow(mediaservertest.Show{Library: "3", Title: title})
		titles[show.ID] = title
		return show
	}
	episode := func(show mediaservertest.Show, n int) mediaservertest.Item {
		return mediaservertest.Item{Library: "3", Show: show.ID, Title: "Night", Season: 1, Episode: n, Date: "2024-05-19"}
	}
	for n := range shows {
		show := addShow(fmt.Sprintf("Listed %d", n+1))
		for e := range 10 {
			add(episode(show, e+1))
		}
	}
	first := addShow("Listed in part")
	must(t, server.Mark("mira", add(episode(first, 1)), listedOn.AddDate(0, 0, -7))) // played, and on the list
	begun := add(episode(first, 2))
	must(t, server.Start("mira", begun))
	must(t, server.Stop("mira", begun, 85)) // the ending was not watched
	double := episode(first, 3)
	double.Last = 4
	if kind != mediaservertest.Plex {
		add(double)
	}
	other := addShow("Not listed")
	must(t, server.Mark("mira", add(episode(other, 1)), listedOn))
	must(t, server.Mark("mira", r.ids[len(r.ids)-1], listedOn)) // twice
	add(episode(other, 2))
	unknown := addShow("Unknown")
	add(episode(unknown, 1))
	must(t, server.Mark("mira", add(episode(unknown, 2)), listedOn))
	add(mediaservertest.Item{Library: "4", Title: "Listed film", Date: "2024-08-30", Length: 100 * time.Minute})

	r.service.Dialer = &mediaserver.Dialer{
		HTTP: func() httpx.Config { return httpx.Config{Timeout: 10 * time.Second} },
		Plex: func() mediaserver.PlexAddresses {
			at := server.PlexTV().URL
			return mediaserver.PlexAddresses{Account: at, Clients: at, Page: at + "/auth"}
		},
		Masker: r.service.Masker, Installation: "test", Version: "1.4.0", Log: slog.New(slog.DiscardHandler),
	}
	r.list()
	t.Cleanup(func() { r.end() })
	return r
}

// list has the service ask a list of which it is known what it has.
func (r *seedRig) list() {
	r.service.Account = func(_ context.Context, id int64) error {
		if id != 1 {
			return errors.New("no such account")
		}
		return nil
	}
	r.service.ForecastFor = func(int64) preview.OfList {
		return func(_ context.Context, e watch.Event) (preview.Verdict, error) {
			switch {
			case e.UserName != "mira" || e.ServerID == "":
				return preview.Verdict{}, fmt.Errorf("an event of %q", e.UserName)
			case strings.HasPrefix(e.Title, "Listed"):
				return preview.Verdict{Status: preview.Marked, SubjectID: 8, SubjectName: e.Title, Since: listedOn}, nil
			case e.Title == "Unknown":
				return preview.Verdict{Status: preview.NotFound, Reason: reason.Text("nothing fits")}, nil
			}
			return preview.Verdict{Status: preview.Mark, SubjectID: 9, SubjectName: e.Title}, nil
		}
	}
}

// connected signs mira in, and follows the server.
func (r *seedRig) connected() {
	r.t.Helper()
	r.start()
	if r.server.PlexTV() != nil {
		r.login = r.connect("mira", "", "")
		return
	}
	l, err := r.service.Add(r.t.Context(), NewLogin{Kind: mediaserver.Kind(r.kind), URL: r.server.URL, Credentials: Credentials{"mira", "pass"}})
	must(r.t, err)
	r.until("it is followed", func() bool { r.login = r.rig.login(l.ID); return r.login.ComparedAt != nil })
}

// data is what the server keeps of everything.
func (r *seedRig) data() map[string]mediaservertest.Data {
	r.t.Helper()
	all := map[string]mediaservertest.Data{}
	for _, id := range r.ids {
		d, err := r.server.Data("mira", id)
		must(r.t, err)
		d.At = d.At.UTC().Truncate(time.Second)
		all[id] = d
	}
	return all
}

// ends waits for the end of a task.
func (r *seedRig) ends(t *task.Task, err error) (task.Status, Seeding) {
	r.t.Helper()
	must(r.t, err)
	r.until("the task ends", func() bool { return t.Status().State != task.Running })
	s := t.Status()
	result, _ := task.ResultOf[Seeding](s)
	return s, result
}

// done is ends for a task that comes to its end.
func (r *seedRig) done(t *task.Task, err error) (int64, Seeding) {
	r.t.Helper()
	s, result := r.ends(t, err)
	if s.State != task.Done {
		r.t.Fatalf("the task ended as %+v\n%s", s, r.logs)
	}
	return s.ID, result
}

func (r *seedRig) seed(req SeedRequest) (*task.Task, error) {
	req.AccountID = 1
	return r.service.Seed(r.t.Context(), r.login.ID, req)
}

// differ compares what a server keeps.
func (r *seedRig) differ(what string, want, got map[string]mediaservertest.Data) {
	r.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		r.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// quiet makes sure that a comparison of everything finds nothing new.
func (r *seedRig) quiet() {
	r.t.Helper()
	t, err := r.service.Sync(r.t.Context(), r.login.ID)
	must(r.t, err)
	r.until("it is compared", func() bool { return t.Status().State != task.Running })
	if c, _ := task.ResultOf[CatchUp](t.Status()); c.Taken != 0 || c.Held != 0 || len(r.events()) != 0 {
		r.t.Errorf("the echo came as %+v, with the records %v", c, r.events())
	}
}

func TestAListIsWrittenToAServerAndTakenBack(t *testing.T) {
	for _, c := range []struct {
		kind    mediaservertest.Kind
		version string
		shows   int
		undated bool // the server keeps no date
	}{
		{mediaservertest.Jellyfin, "10.8.13", 2, false}, {mediaservertest.Jellyfin, "10.11.8", 50, false}, {mediaservertest.Jellyfin, "12.0.0", 2, false},
		{mediaservertest.Emby, "", 2, false}, {mediaservertest.Plex, "", 2, true}, {mediaservertest.FnOS, "", 2, false},
	} {
		t.Run(string(c.kind)+" "+c.version, func(t *testing.T) {
			t.Parallel()
			if dbtest.OnServer() {
				c.shows = 2 // marks keep a pace, whatever the database
			}
			r := newSeedRig(t, c.kind, c.version, c.shows)
			r.connected()
			before := r.data()
			_, told := r.done(r.seed(SeedRequest{DryRun: true}))
			r.differ("a preview wrote", before, r.data())
			id, did := r.done(r.seed(SeedRequest{}))
			if did.DryRun = true; !did.Undo {
				t.Error("it cannot be undone")
			}
			did.Undo = false
			if diff := cmp.Diff(text(told), text(did)); diff != "" {
				t.Errorf("the result is not the preview (-want +got):\n%s", diff)
			}
			marks := 10*c.shows + 4 // the rest of Listed in part, and the film
			if c.kind == mediaservertest.Plex {
				marks -= 2
			}
			want := map[SeedStatus]int{SeedMark: marks, SeedPlayed: 3, SeedUnlisted: 1, SeedNotFound: 1}
			if diff := cmp.Diff(want, told.Counts); diff != "" {
				t.Errorf("the preview (-want +got):\n%s", diff)
			}
			for id, d := range r.data() {
				title := r.titles[id]
				if listed := strings.HasPrefix(title, "Listed"); d.Played != (listed || before[id].Played) || d.Position != 0 && listed {
					t.Errorf("%s: %+v, before %+v", title, d, before[id])
				} else if !listed || before[id].Played {
					if d != before[id] {
						t.Errorf("%s: %+v, before %+v", title, d, before[id])
					}
				} else if !c.undated && !d.At.Equal(listedOn) || d.Count < 1 {
					t.Errorf("%s: %+v, on the list since %v", title, d, listedOn)
				}
			}
			r.quiet()
			if _, again := r.done(r.seed(SeedRequest{})); again.Counts[SeedMark] != 0 || again.Undo {
				t.Errorf("the second time %+v", again.Counts)
			}
			_, back := r.done(r.service.Undo(t.Context(), id))
			if back.Counts[SeedUnmark] != marks || back.Undoes != id {
				t.Errorf("the undo is %+v", back)
			}
			r.differ("after the undo", r.exact(before), r.exact(r.data()))
			r.quiet()
			if _, err := r.service.Undo(t.Context(), id); !errors.Is(err, ErrNoUndo) {
				t.Errorf("a second undo: %v", err)
			}

			// What is watched from now on is news, also where it was written before.
			must(t, r.server.Watch("mira", r.ids[0]))
			if c.kind == mediaservertest.FnOS { // it is asked now and then
				_, err := r.service.Sync(t.Context(), r.login.ID)
				must(t, err)
			}
			r.until("a play is a record", func() bool { return len(r.events()) == 1 })
		})
	}
}

// exact leaves out of states what a server cannot be told.
func (r *seedRig) exact(all map[string]mediaservertest.Data) map[string]mediaservertest.Data {
	for id, d := range all {
		marks := r.kind == mediaservertest.Plex || r.kind == mediaservertest.FnOS || r.version == "10.8.13" // it knows marks alone
		if marks && !d.Played {
			all[id] = mediaservertest.Data{}
		}
	}
	return all
}

// text is a result as people get it.
func text(s Seeding) string {
	out, _ := json.MarshalIndent(s, "", " ")
	return string(out)
}

func TestMarksThatTheListDoesNotHaveAreTakenAwayWhenAsked(t *testing.T) {
	for _, kind := range []mediaservertest.Kind{mediaservertest.Jellyfin, mediaservertest.Emby} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			r := newSeedRig(t, kind, "", 1)
			r.connected()
			before := r.data()
			_, told := r.done(r.seed(SeedRequest{DryRun: true, Unmark: true}))
			id, did := r.done(r.seed(SeedRequest{Unmark: true}))
			if did.Counts[SeedUnmark] != 1 || did.Counts[SeedNotFound] != 2 || cmp.Diff(told.Rows, did.Rows, cmp.Comparer(func(a, b reason.Reason) bool { return a.Text == b.Text })) != "" {
				t.Errorf("the preview is %+v, the result %+v", told, did)
			}
			for id, d := range r.data() {
				if r.titles[id] == "Not listed" && d.Played {
					t.Errorf("it is played still: %+v", d)
				}
				if r.titles[id] == "Unknown" && d != before[id] {
					t.Errorf("what is not known was changed: %+v", d)
				}
			}
			r.quiet()
			r.done(r.service.Undo(t.Context(), id))
			r.differ("after the undo", before, r.data())
			r.quiet()
		})
	}
}

func TestWhatAPersonChangedSinceStays(t *testing.T) {
	r := newSeedRig(t, mediaservertest.Jellyfin, "10.11.8", 1)
	r.connected()
	before := r.data()
	id, _ := r.done(r.seed(SeedRequest{}))
	again, unmarked := r.ids[0], r.ids[1]
	must(t, r.server.Mark("mira", again, listedOn.AddDate(1, 0, 0)))
	must(t, r.server.Unmark("mira", unmarked))
	must(t, r.server.Delete(r.ids[2]))
	kept := r.ids[2]
	r.ids = append(r.ids[:2:2], r.ids[3:]...)
	changed := r.data()[again]
	_, back := r.done(r.service.Undo(t.Context(), id))
	delete(before, kept)
	before[again] = changed
	r.differ("after the undo", before, r.data())
	if back.Counts[SeedPlayed] != 1 {
		t.Errorf("the undo is %+v", back.Counts)
	}
}

func TestASeedingThatIsCutOffIsUndone(t *testing.T) {
	for name, cut := range map[string]func(r *seedRig, t *task.Task){
		"cancelled":            func(r *seedRig, t *task.Task) { must(r.t, r.service.Tasks.Cancel(r.t.Context(), t.Status().ID)) },
		"the server goes away": func(r *seedRig, _ *task.Task) { r.server.Down(true) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newSeedRig(t, mediaservertest.Jellyfin, "10.11.8", 10)
			r.connected()
			before := r.data()
			run, err := r.seed(SeedRequest{})
			must(t, err)
			r.until("something was written", func() bool { return run.Status().Message.Code == "media_login_seed_written" && run.Status().Done > 0 })
			cut(r, run)
			status, part := r.ends(run, nil)
			if status.State == task.Done {
				t.Fatal("it came to its end")
			}
			r.server.Down(false)
			written := 0
			for id, d := range r.data() {
				if d.Played != before[id].Played {
					written++
				}
			}
			if written == 0 || written > 100 || !part.Undo {
				t.Errorf("%d were written: %+v", written, part.Counts)
			}
			if name == "cancelled" && part.Counts[SeedMark] != written {
				t.Errorf("%d were written, and it says %d", written, part.Counts[SeedMark])
			}
			r.until("it is followed again", func() bool { return r.rig.login(r.login.ID).State == Connected })
			r.done(r.service.Undo(t.Context(), status.ID))
			r.differ("after the undo", before, r.data())
			r.quiet()
			if _, whole := r.done(r.seed(SeedRequest{})); whole.Counts[SeedMark] != 104 {
				t.Errorf("the next one wrote %v", whole.Counts)
			}
		})
	}
}

// Some servers keep one state for the same episode in two files.
func TestTheSameEpisodeInTwoFilesIsToldOnce(t *testing.T) {
	r := newSeedRig(t, mediaservertest.Jellyfin, "10.8.13", 0)
	odd := r.server.AddShow(mediaservertest.Show{Library: "3", Title: "Listed"}) // so that two files are not always read together
	r.ids = append(r.ids, r.server.Add(mediaservertest.Item{Library: "3", Show: odd.ID, Title: "Night", Season: 1, Episode: 1, Date: "2024-05-19"}).ID)
	for _, id := range []string{"c0", "c1"} {
		r.server.AddShow(mediaservertest.Show{ID: id, Library: "3", Title: "Listed twice", IDs: map[string]string{"Tvdb": "500"}})
		for n := range writtenTogether + 10 {
			r.ids = append(r.ids, r.server.Add(mediaservertest.Item{Library: "3", Show: id, Title: id, Season: 1, Episode: n + 1, Date: "2024-05-19"}).ID)
		}
	}
	r.connected()
	before := r.data()
	_, told := r.done(r.seed(SeedRequest{DryRun: true}))
	id, did := r.done(r.seed(SeedRequest{}))
	if diff := cmp.Diff(told.Counts, did.Counts); diff != "" {
		t.Errorf("the result is not the preview (-want +got):\n%s", diff)
	}
	r.quiet()
	r.done(r.service.Undo(t.Context(), id))
	r.differ("after the undo", r.exact(before), r.exact(r.data()))
}

// A kill between the note and the request, and one between the request and the look at what came of it.
func TestASeedingThatWasKilledIsUndoneByTheNextProcess(t *testing.T) {
	r := newSeedRig(t, mediaservertest.Jellyfin, "10.11.8", 2)
	r.connected()
	before := r.data()
	k, err := r.service.store.get(t.Context(), r.login.ID)
	must(t, err)
	client, err := r.service.open(k)
	must(t, err)
	now, err := itemsOf(t.Context(), client, r.ids[:2])
	must(t, err)
	for _, id := range r.ids[:2] {
		must(t, r.service.store.noteWrite(t.Context(), written{task: 41, login: k.ID, item: id, before: now[id].State}, now[id]))
	}
	must(t, client.Write(t.Context(), r.ids[0], mediaserver.State{Played: true, At: listedOn}))

	server, dialer := r.server, r.service.Dialer
	r.end()
	r.rig = newRig(t, r.dir, r.fake)
	r.server, r.service.Dialer = server, dialer
	r.list()
	r.start()
	r.until("it is known what came of the writes", func() bool {
		rows, err := r.service.store.unsettled(t.Context(), k.ID, "", 10)
		must(t, err)
		return len(rows) == 0
	})
	r.quiet()
	must(t, r.server.Watch("mira", r.ids[1])) // which was not written
	r.until("a play is a record", func() bool { return len(r.events()) == 1 })
	watched := r.data()[r.ids[1]]
	r.done(r.service.Undo(t.Context(), 41))
	before[r.ids[1]] = watched
	r.differ("after the undo", before, r.data())
}

func TestWhatAServerRefusesIsListed(t *testing.T) {
	r := newSeedRig(t, mediaservertest.Jellyfin, "10.11.8", 2)
	r.connected()
	r.server.SetFault(&mediaservertest.Fault{Path: "/" + r.ids[3], Status: http.StatusNotFound})
	status, got := r.ends(r.seed(SeedRequest{}))
	if status.State != task.Done || got.Counts[SeedFailed] != 1 || got.Counts[SeedMark] != 23 {
		t.Errorf("%s: %+v", status.State, got.Counts)
	}
	r.server.SetFault(&mediaservertest.Fault{Path: "/UserData", Status: http.StatusForbidden}) // then it is marked
	if status, got := r.ends(r.seed(SeedRequest{})); status.State != task.Done || got.Counts[SeedMark] != 1 {
		t.Errorf("%s: %+v", status.State, got.Counts)
	}
}

func TestAServerThatTakesNothingIsLeftAlone(t *testing.T) {
	r := newSeedRig(t, mediaservertest.Jellyfin, "10.8.13", 2)
	r.connected()
	before := r.data()
	r.server.SetFault(&mediaservertest.Fault{Path: "/PlayedItems", Status: http.StatusForbidden})
	status, got := r.ends(r.seed(SeedRequest{}))
	if status.State != task.Failed || status.Message.Code != mediaserver.ErrRefused.Code() || got.Counts[SeedFailed] != refusedMost-1 || got.Counts[SeedMark] != 0 || got.Undo {
		t.Errorf("%s %s: %+v", status.State, status.Message.Text, got.Counts)
	}
	r.differ("something was written", before, r.data())
	r.quiet()
}

func TestWhatCannotBeSeededOrUndone(t *testing.T) {
	r := newSeedRig(t, mediaservertest.Jellyfin, "", 1)
	r.connected()
	if _, err := r.service.Seed(t.Context(), 404, SeedRequest{AccountID: 1}); !errors.Is(err, ErrNotFound) {
		t.Errorf("of no login: %v", err)
	}
	var field *reason.FieldError
	if _, err := r.service.Seed(t.Context(), r.login.ID, SeedRequest{AccountID: 2}); !errors.As(err, &field) || field.Field != "account_id" {
		t.Errorf("of no account: %v", err)
	}
	if _, err := r.service.Undo(t.Context(), 404); !errors.Is(err, task.ErrNotFound) {
		t.Errorf("of no task: %v", err)
	}
	id, _ := r.done(r.seed(SeedRequest{DryRun: true}))
	if _, err := r.service.Undo(t.Context(), id); !errors.Is(err, ErrNoUndo) {
		t.Errorf("of a preview: %v", err)
	}
	old, _ := r.done(r.seed(SeedRequest{}))
	if n, err := r.service.Prune(t.Context(), 500); n != 0 || err != nil {
		t.Errorf("%d new writes are forgotten (%v)", n, err)
	}
	must(t, r.service.store.write(t.Context(), r.login.ID, `UPDATE media_writes SET written_at = ?`, time.Now().Add(-KeepWrites-time.Minute).UnixMilli()))
	for _, want := range []int64{10, 3, 0} {
		if n, err := r.service.Prune(t.Context(), 10); n != want || err != nil {
			t.Errorf("%d old writes are forgotten (%v), want %d", n, err, want)
		}
	}
	if _, err := r.service.Undo(t.Context(), old); !errors.Is(err, ErrNoUndo) {
		t.Errorf("of what was long ago: %v", err)
	}
	r.service.ForecastFor = func(int64) preview.OfList {
		return func(context.Context, watch.Event) (preview.Verdict, error) {
			return preview.Verdict{Status: preview.Refused, Reason: reason.Text("the token is dead")}, nil
		}
	}
	if status, _ := r.ends(r.seed(SeedRequest{})); status.State != task.Failed || status.Message.Text != "the token is dead" {
		t.Errorf("a list that cannot be read: %+v", status)
	}
}
