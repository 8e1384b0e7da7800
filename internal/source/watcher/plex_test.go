package watcher

import (
	"strings"
	"testing"
	"time"

	"watchmark/internal/platform/secret"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/mediaservertest"
)

// plexRig is a service that follows a simulated Plex of mira, which is shared with alex.
type plexRig struct {
	*rig
	server *mediaservertest.Server
	show   []string // ids of the episodes of season 1
}

func newPlexRig(t *testing.T) *plexRig {
	server := mediaservertest.Start(t, mediaservertest.Config{
		Kind: mediaservertest.Plex, ID: "machine-1", Name: "attic", TV: mediaservertest.StartPlexTV(t),
		Users:     []mediaservertest.User{{Name: "mira", Password: "pw", Home: true}, {Name: "alex", Password: "pw"}, {Name: "bench", Managed: true, Home: true, PIN: "1234"}},
		Libraries: []mediaservertest.Library{{ID: "3", Name: "Shows", Kind: "show"}},
		Shows:     []mediaservertest.Show{{ID: "4700", Library: "3", Title: "Star"}},
	})
	server.PlexTV().PollEvery = time.Nanosecond
	r := &plexRig{rig: newRig(t, dbtest.Folder(t), newFake()), server: server}
	for n := range 8 {
		r.show = append(r.show, server.Add(mediaservertest.Item{Library: "3", Show: "4700", Title: "Night", Season: 1, Episode: n + 1, Date: "2024-05-19", Length: 24 * time.Minute}).ID)
	}
	r.real(server.PlexTV().URL)
	t.Cleanup(r.end)
	return r
}

func (r *plexRig) watch(user string, episode int) {
	r.t.Helper()
	must(r.t, r.server.Watch(user, r.show[episode-1]))
}

// connect signs somebody in by the page and chooses for them; person is a member of the Home, empty for the one who signs in.
func (r *plexRig) connect(user, person, pin string) Login {
	r.t.Helper()
	l, err := r.service.Add(r.t.Context(), NewLogin{Kind: mediaserver.Plex, URL: r.server.URL})
	must(r.t, err)
	if l.State != SignedOut || l.SignIn == nil || !strings.Contains(l.SignIn.URL, l.SignIn.Code) {
		r.t.Fatalf("the login waits as %+v", l)
	}
	must(r.t, r.server.Confirm(l.SignIn.Code, user))
	r.until("it is confirmed", func() bool { l = r.login(l.ID); return l.State == Connected || l.Choices != nil })
	if l.Choices != nil {
		choice := ""
		for _, one := range l.Choices.People {
			if one.Name == person {
				choice = one.ID
			}
		}
		l, err = r.service.Choose(r.t.Context(), l.ID, "machine-1", choice, pin)
		must(r.t, err)
	}
	r.until("it is followed", func() bool { l = r.login(l.ID); return l.State == Connected && l.Way == Live && l.ComparedAt != nil })
	return l
}

func TestPlexIsFollowed(t *testing.T) {
	for _, who := range []struct{ account, person, pin, name string }{{"alex", "", "", "alex"}, {"mira", "", "", "mira"}, {"mira", "bench", "1234", "bench"}} {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			r := newPlexRig(t)
			r.watch(who.name, 1) // before it is connected
			other := map[bool]string{true: "mira", false: "alex"}[who.name != "mira"]
			r.start()
			l := r.connect(who.account, who.person, who.pin)
			if l.UserName != who.name || l.MediaUserName != who.name || l.ServerName != "attic" || l.URL != r.server.URL {
				t.Errorf("the login is %+v", l)
			}
			r.watch(other, 2)
			r.watch(who.name, 3)
			r.until("a play is a record", func() bool { return len(r.events()) == 1 })
			r.expect("live", "Star S1 E3")

			// A lost connection, and plays while nobody listens.
			r.stop()
			r.watch(who.name, 4)
			r.watch(other, 5)
			r.watch(who.name, 6)
			must(t, r.server.Delete(r.show[5])) // the history knows it still
			must(t, r.server.Mark(who.name, r.show[6], r.server.Now()))
			r.start()
			r.until("it is caught up", func() bool { return len(r.events()) == 4 })
			r.expect("after a stop", "Star S1 E3", "Star S1 E4", "Star S1 E6", "Star S1 E7")
			for _, e := range r.events() {
				if e.UserName != who.name || e.ServerID != "machine-1" || time.Since(e.OccurredAt).Abs() > time.Minute {
					t.Errorf("the event is %+v", e)
				}
			}
		})
	}
}

// TestPlexIsFollowedThroughItsTraps has mira, who owns the server, or alex, who does not, play episodes 2 and 3 in ways that are easily missed.
func TestPlexIsFollowedThroughItsTraps(t *testing.T) {
	both := func(r *plexRig, who string) { r.watch(who, 2); r.watch(who, 3) }
	for name, test := range map[string]struct {
		quirks mediaservertest.PlexQuirks
		ahead  time.Duration
		play   func(r *plexRig, who string)
	}{
		"a clock that is a day ahead":   {ahead: 24 * time.Hour, play: both},
		"a clock that is a day behind":  {ahead: -24 * time.Hour, play: both},
		"everybody's sessions are told": {quirks: mediaservertest.PlexQuirks{Everybody: true}, play: both},
		"sessions are not told of":      {quirks: mediaservertest.PlexQuirks{NoSessions: true}, play: both},
		"the next episode starts itself": {play: func(r *plexRig, who string) {
			for n := 2; n <= 4; n++ {
				must(r.t, r.server.Start(who, r.show[n-1]))
				if n < 4 {
					must(r.t, r.server.Progress(who, r.show[n-1], 97))
				}
			}
		}},
		"somebody else plays meanwhile": {play: func(r *plexRig, who string) {
			must(r.t, r.server.Start(map[bool]string{true: "mira", false: "alex"}[who != "mira"], r.show[6]))
			both(r, who)
		}},
	} {
		for _, who := range []string{"mira", "alex"} {
			t.Run(name+", "+who, func(t *testing.T) {
				t.Parallel()
				r := newPlexRig(t)
				r.server.SetAhead(test.ahead)
				before := r.server.Now().Add(-time.Hour)
				r.server.Add(mediaservertest.Item{Library: "3", Show: "4700", Season: 1, Episode: 9, Watched: map[string]time.Time{"mira": before, "alex": before}})
				r.server.SetQuirks(test.quirks)
				r.start()
				r.connect(who, who, "")
				test.play(r, who)
				r.until("the plays are records", func() bool { return len(r.events()) >= 2 })
				r.expect("live", "Star S1 E2", "Star S1 E3")
				for _, e := range r.events() {
					if time.Since(e.OccurredAt).Abs() > time.Minute {
						t.Errorf("played at %s", e.OccurredAt)
					}
				}
			})
		}
	}
}

func TestPlexIsFollowedWhereItHasMoved(t *testing.T) {
	t.Parallel()
	r := newPlexRig(t)
	r.start()
	l := r.connect("alex", "", "")
	r.stop()
	k, err := r.service.store.get(t.Context(), l.ID)
	must(t, err)
	k.URL, k.token = "http://127.0.0.1:9", secret.Text("old")
	must(t, r.service.store.lead(t.Context(), k))
	r.watch("alex", 2)
	r.start()
	r.until("the address is found", func() bool { return len(r.events()) == 1 })
	if l = r.login(l.ID); l.URL != r.server.URL || l.State != Connected {
		t.Errorf("the login is %+v", l)
	}
}

// TestPlexSignOutLeavesOthers: all sign-ins of one installation are one device at Plex.
func TestPlexSignOutLeavesOthers(t *testing.T) {
	t.Parallel()
	r := newPlexRig(t)
	r.start()
	mira, alex := r.connect("mira", "mira", ""), r.connect("alex", "", "")
	must(t, r.service.Remove(t.Context(), mira.ID))
	gone := func(id int64) func() bool {
		return func() bool {
			all, err := r.service.store.all(t.Context())
			must(t, err)
			for _, k := range all {
				if k.ID == id {
					return false
				}
			}
			return true
		}
	}
	r.until("it is forgotten", gone(mira.ID))
	signOuts := func() (n int) {
		for _, request := range r.server.PlexTV().Requests() {
			if strings.HasPrefix(request, "DELETE ") {
				n++
			}
		}
		return n
	}
	if n := signOuts(); n != 0 {
		t.Errorf("%d sign-outs while another login is there", n)
	}
	must(t, r.service.Remove(t.Context(), alex.ID))
	r.until("it is forgotten", gone(alex.ID))
	if n := signOuts(); n != 1 {
		t.Errorf("%d sign-outs with the last login", n)
	}
}
