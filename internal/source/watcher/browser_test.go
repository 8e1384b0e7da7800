package watcher

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/mediaservertest"
)

// browserRig is a service that follows a simulated server of Emby's family.
type browserRig struct {
	*rig
	server *mediaservertest.Server
	cfg    mediaservertest.Config
	items  []string // ids of the episodes of season 1 of Star
	login  Login
}

// families are the kinds with their versions that behave in ways of their own.
var families = []mediaservertest.Config{
	{Kind: mediaservertest.Jellyfin, Version: "10.8.13"}, {Kind: mediaservertest.Jellyfin, Version: "10.9.11"}, {Kind: mediaservertest.Jellyfin, Version: "10.10.7"},
	{Kind: mediaservertest.Jellyfin, Version: "10.11.8", Base: "/jellyfin"}, {Kind: mediaservertest.Jellyfin, Version: "12.0.0"},
	{Kind: mediaservertest.Emby, Version: "4.7.14.0"}, {Kind: mediaservertest.Emby, Version: "4.9.1.0"},
	{Kind: mediaservertest.Ugreen}, {Kind: mediaservertest.ZSpace}, {Kind: mediaservertest.FnOS},
}

// onFamilies runs a test on kinds and versions.
func onFamilies(t *testing.T, some []mediaservertest.Config, test func(t *testing.T, r *browserRig)) {
	t.Helper()
	for _, cfg := range some {
		t.Run(fmt.Sprint(cfg.Kind, " ", cfg.Version), func(t *testing.T) {
			t.Parallel()
			test(t, newBrowserRig(t, cfg))
		})
	}
}

// modern are those of which each behaves otherwise towards a sign-in and a mark by hand.
var modern = []mediaservertest.Config{
	{Kind: mediaservertest.Jellyfin, Version: "10.11.8"}, {Kind: mediaservertest.Jellyfin, Version: "12.0.0"}, {Kind: mediaservertest.Emby, Version: "4.9.1.0"},
	{Kind: mediaservertest.ZSpace, Writes: true},
}

func newBrowserRig(t *testing.T, cfg mediaservertest.Config) *browserRig {
	cfg.ID, cfg.Name, cfg.Quiet = "server-1", "attic", 50*time.Millisecond
	cfg.Users = []mediaservertest.User{{Name: "mira", Password: "pw"}, {Name: "alex", Password: "pw"}}
	cfg.Libraries = []mediaservertest.Library{{ID: "f0", Name: "动画", Kind: "show"}, {ID: "f1", Name: "At home", Kind: "homevideos"}}
	cfg.Shows = []mediaservertest.Show{{ID: "700", Library: "f0", Title: "Star", Original: "星の標", Year: 2024, IDs: map[string]string{"Tvdb": "900002"}}}
	server := mediaservertest.Start(t, cfg)
	r := &browserRig{rig: newRig(t, dbtest.Folder(t), newFake()), server: server, cfg: cfg}
	r.real("http://127.0.0.1:9")
	for n := range 12 {
		r.items = append(r.items, server.Add(mediaservertest.Item{Library: "f0", Show: "700", Title: "Night", Season: 1, Episode: n + 1, Date: "2024-05-19", Length: 24 * time.Minute}).ID)
	}
	t.Cleanup(func() { r.end() })
	return r
}

// connect signs mira in, with a certificate that she confirms where there is one, and waits until the server is followed.
func (r *browserRig) connect() {
	r.t.Helper()
	n := NewLogin{Kind: mediaserver.Kind(r.cfg.Kind), URL: r.server.URL, Credentials: Credentials{"mira", "pw"}}
	l, err := r.service.Add(r.t.Context(), n)
	if fieldOf(err) == "certificate_sha256" {
		n.Pin, _ = reason.Of(err).Args["fingerprint"].(string)
		l, err = r.service.Add(r.t.Context(), n)
	}
	must(r.t, err)
	r.login = l
	r.until("it is followed", func() bool {
		r.refresh()
		return r.login.State == Connected && r.login.ComparedAt != nil && r.login.Way != Waiting
	})
}

func (r *browserRig) refresh() { r.login = r.rig.login(r.login.ID) }

// again starts the service on the same folder once more.
func (r *browserRig) again() {
	r.end()
	next := newRig(r.t, r.dir, r.fake)
	*r.rig = *next
	r.real("http://127.0.0.1:9")
	r.start()
	r.until("it is followed again", func() bool {
		r.refresh()
		return r.login.CatchUp != nil && r.login.CatchUp.At.After(r.began) && r.login.Way != Waiting
	})
}

// watch has mira play an episode to its end.
func (r *browserRig) watch(episode int) {
	r.t.Helper()
	must(r.t, r.server.Watch("mira", r.items[episode-1]))
}

// look has a server without a live connection read now.
func (r *browserRig) look() {
	r.t.Helper()
	if r.refresh(); r.login.Way == Live {
		return
	}
	task, err := r.service.Sync(r.t.Context(), r.login.ID)
	must(r.t, err)
	r.until("it is read", func() bool { return task.Status().EndedAt != nil })
}

func (r *browserRig) count(n int) func() bool {
	return func() bool { return len(r.events()) >= n }
}

func TestServersAreFollowed(t *testing.T) {
	onFamilies(t, families, func(t *testing.T, r *browserRig) {
		r.watch(1) // before it is connected
		must(t, r.server.Mark("mira", r.items[11], time.Time{}))
		r.start()
		r.connect()
		if r.login.Known != 2 || r.login.ServerName == "" || r.login.UserName != "mira" {
			t.Errorf("the login is %+v", r.login)
		}
		must(t, r.server.Watch("alex", r.items[1]))
		r.watch(3)
		r.look()
		r.until("a play is a record", r.count(1))
		r.expect("live", "Star S1 E3")
		if e := r.events()[0]; e.SeriesIDs["tvdb"] != "900002" || e.OriginalTitle != "星の標" && r.cfg.Kind != mediaservertest.FnOS {
			t.Errorf("the event is %+v", e)
		}

		r.stop()
		for _, n := range []int{4, 5, 6} {
			r.watch(n)
		}
		r.again()
		r.look()
		r.until("it is caught up", r.count(4))
		r.expect("after a stop", "Star S1 E3", "Star S1 E4", "Star S1 E5", "Star S1 E6")
		for _, e := range r.events() {
			dated := r.cfg.Kind != mediaservertest.Ugreen // of which no date is known
			if e.UserName != "mira" || e.OccurredAt.IsZero() == dated || dated && time.Since(e.OccurredAt).Abs() > time.Minute {
				t.Errorf("the event is %+v", e)
			}
		}

		r.server.Cut()
		r.watch(7)
		r.until("the connection is made anew", func() bool { r.refresh(); return r.login.Way != Waiting })
		r.look()
		r.until("the play is found", r.count(5))

		// A file that was replaced, and one that is begun again and given up.
		_, err := r.server.Replace(r.items[2])
		must(t, err)
		must(t, r.server.Start("mira", r.items[3]))
		must(t, r.server.Stop("mira", r.items[3], 40))
		r.watch(8)
		r.look()
		r.until("the next play is found", r.count(6))
		r.look()
		r.expect("after all", "Star S1 E3", "Star S1 E4", "Star S1 E5", "Star S1 E6", "Star S1 E7", "Star S1 E8")
	})
}

func TestARevokedSignInIsTold(t *testing.T) {
	onFamilies(t, modern, func(t *testing.T, r *browserRig) {
		r.start()
		r.connect()
		must(t, r.server.Revoke("mira"))
		task, err := r.service.Sync(t.Context(), r.login.ID)
		must(t, err)
		r.until("the task ends", func() bool { return task.Status().EndedAt != nil })
		if s := task.Status(); s.Message.Code != mediaserver.ErrSignedOut.Code() {
			t.Errorf("the task says %+v", s.Message)
		}
	})
}

func TestASeasonMarkedAtAServer(t *testing.T) {
	onFamilies(t, modern, func(t *testing.T, r *browserRig) {
		r.start()
		r.connect()
		r.watch(2)
		r.look()
		r.until("one is played", r.count(1))
		must(t, r.server.MarkSeason("mira", "700", 1, true))
		r.look()
		r.until("the season is taken", r.count(12))
		must(t, r.server.MarkSeason("mira", "700", 1, false))
		r.look()
		r.watch(2)
		r.look()
		numbers := []float64{}
		for _, e := range r.events() {
			numbers = append(numbers, *e.Episode)
		}
		slices.Sort(numbers)
		if len(slices.Compact(numbers)) != 12 || len(r.events()) != 12 {
			t.Errorf("records of %v", numbers)
		}
	})
}
