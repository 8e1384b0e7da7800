package watcher

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/testkit/dbtest"
)

// fieldOf is the field that an error is about.
func fieldOf(err error) string {
	var field *reason.FieldError
	if errors.As(err, &field) {
		return field.Field
	}
	return fmt.Sprint(err)
}

func TestWhatIsWrongIsToldAtItsFieldAndStoresNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		mira := Credentials{"mira", "pass"}
		r.dialer.nothing = "nowhere:8096"
		for name, c := range map[string]struct {
			l     NewLogin
			field string
		}{
			"no kind":                   {NewLogin{URL: "http://attic:8096", Credentials: mira}, "kind"},
			"no address":                {NewLogin{Kind: mediaserver.Emby, Credentials: mira}, "url"},
			"nothing at the address":    {NewLogin{Kind: mediaserver.Jellyfin, URL: "nowhere:8096", Credentials: mira}, "url"},
			"a wrong password":          {NewLogin{Kind: mediaserver.Jellyfin, URL: "http://attic:8096", Credentials: Credentials{"mira", "nope"}}, "password"},
			"no user name at an Emby":   {NewLogin{Kind: mediaserver.Emby, URL: "http://attic:8096"}, "username"},
			"a password for Plex":       {NewLogin{Kind: mediaserver.Plex, Credentials: mira}, "username"},
			"another kind":              {NewLogin{Kind: mediaserver.Plex, URL: "http://attic:8096"}, "kind"},
			"a name that is too long":   {NewLogin{Kind: mediaserver.Jellyfin, URL: "http://attic:8096", Credentials: mira, MediaUserName: strings.Repeat("x", 501)}, "media_user_name"},
			"a certificate of somebody": {NewLogin{Kind: mediaserver.Plex, URL: "https://pinned:32400"}, "certificate_sha256"},
		} {
			if _, err := r.service.Add(t.Context(), c.l); fieldOf(err) != c.field {
				t.Errorf("%s: told at %s: %v", name, fieldOf(err), err)
			}
		}
		if all, err := r.service.Logins(t.Context()); err != nil || len(all) != 0 {
			t.Errorf("stored: %+v, %v", all, err)
		}
	})
}

func TestAPasswordIsNotKeptAndATokenIsSealed(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.signIn()
		r.run()
		r.stop()
		_ = r.db.Close()
		for place, content := range dbtest.Kept(t, r.dir) {
			for _, text := range []string{"token-of-mira", "pass\""} {
				if strings.Contains(content, text) {
					t.Errorf("%s holds %q", place, text)
				}
			}
		}
		if log := fmt.Sprint(r.logs); strings.Contains(log, "token-of-mira") {
			t.Error("the log holds the token")
		}
	})
}

func TestASignInByCode(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.fake.episode("a", "Star", 1, 1)
		l, err := r.service.Add(t.Context(), NewLogin{Kind: mediaserver.Jellyfin, URL: "http://attic:8096"})
		must(t, err)
		if l.State != SignedOut || l.SignIn == nil || l.SignIn.Code != "482913" || time.Until(l.SignIn.ExpiresAt) < 9*time.Minute {
			t.Fatalf("login %+v", l)
		}
		r.run()
		rest()
		r.restart() // the code outlives it
		r.fake.change(func() { r.dialer.confirmed = true })
		rest()
		if l = r.login(l.ID); l.State != Connected || l.SignIn != nil || l.UserName != "mira" || l.MediaUserName != "mira" || l.Way != Live {
			t.Fatalf("confirmed: %+v", l)
		}
		r.fake.play("a")
		rest()
		r.expect("afterwards", "Star S1 E1")
	})
}

// What is played once a person is told that they are connected is news, also where the server dates it before.
func TestAPlayRightAfterTheSignIn(t *testing.T) {
	for name, code := range map[string]bool{"by password": false, "by code": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				r.fake.season("Star", 3)
				r.run()
				r.fake.set("Star-1", mediaserver.State{Played: true, Count: 1, At: r.fake.now().Add(-time.Second)})
				r.fake.change(func() { r.fake.slow, r.dialer.confirmed = 3*time.Second, true }) // the first look takes its time
				var l Login
				if code {
					var err error
					l, err = r.service.Add(t.Context(), NewLogin{Kind: mediaserver.Jellyfin, URL: "http://attic:8096"})
					must(t, err)
					for l.State != Connected {
						time.Sleep(10 * time.Millisecond)
						l = r.login(l.ID)
					}
				} else {
					l = r.signIn()
				}
				if l.State != Connected || l.ComparedAt == nil || l.Known != 1 || l.Way != Live {
					t.Fatalf("connected as %+v", l)
				}
				r.fake.set("Star-2", mediaserver.State{Played: true, Count: 1, At: r.fake.now().Add(-length)})
				r.fake.push("Star-2")
				rest()
				r.expect("at once", "Star S1 E2")
			})
		})
	}
}

func TestASignInAtALargeServerDoesNotKeepAPersonWaiting(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.fake.season("Star", 3)
		r.run()
		r.fake.change(func() { r.fake.slow = time.Minute })
		began := time.Now()
		if l := r.signIn(); l.State != Connected || l.ComparedAt != nil || time.Since(began) > firstMost+time.Second {
			t.Errorf("after %s: %+v", time.Since(began), l)
		}
		r.fake.mark(true, "Star-1")
		time.Sleep(5 * time.Minute)
		r.expect("after the first look", "Star S1 E1")
	})
}

func TestACodeThatNobodyConfirms(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		l, err := r.service.Add(t.Context(), NewLogin{Kind: mediaserver.Jellyfin, URL: "http://attic:8096"})
		must(t, err)
		r.run()
		time.Sleep(11 * time.Minute)
		if l = r.login(l.ID); l.State != SignedOut || l.SignIn != nil || l.Problem.Code != "media_login_code_expired" {
			t.Errorf("expired: %+v", l)
		}
		// By password instead, on the same row.
		l, err = r.service.SignIn(t.Context(), l.ID, Credentials{"mira", "pass"})
		if err != nil || l.State != Connected {
			t.Errorf("by password: %+v, %v", l, err)
		}
	})
}

func TestTheSamePersonAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.fake.episode("a", "Star", 1, 1)
		l := r.signIn()
		r.run()
		r.fake.play("a")
		rest()
		if again := r.signIn(); again.ID != l.ID || again.Known != 1 {
			t.Errorf("by password: %+v", again)
		}
		byCode, err := r.service.Add(t.Context(), NewLogin{Kind: mediaserver.Jellyfin, URL: "http://attic:8096"})
		must(t, err)
		r.fake.change(func() { r.dialer.confirmed = true })
		rest()
		if _, err := r.service.Login(t.Context(), byCode.ID); byCode.ID != l.ID && !errors.Is(err, ErrNotFound) {
			t.Errorf("the row of the code stays: %v", err)
		}
		all, err := r.service.Logins(t.Context())
		if err != nil || len(all) != 1 || all[0].ID != l.ID || all[0].State != Connected || all[0].Known != 1 {
			t.Errorf("logins %+v, %v", all, err)
		}
		r.expect("once", "Star S1 E1")
		if _, err := r.service.SignIn(t.Context(), l.ID, Credentials{"alex", "word"}); fieldOf(err) != "username" {
			t.Errorf("somebody else: %v", err)
		}
	})
}

func TestASignInByCodeWhileTheOldOneHolds(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.fake.season("Star", 2)
		l := r.signIn()
		r.run()
		l, err := r.service.SignIn(t.Context(), l.ID, Credentials{})
		if err != nil || l.State != Connected || l.SignIn == nil {
			t.Fatalf("waiting: %+v, %v", l, err)
		}
		rest()
		r.fake.play("Star-1")
		rest()
		r.expect("meanwhile", "Star S1 E1")
		time.Sleep(11 * time.Minute)
		if l = r.login(l.ID); l.State != Connected || l.SignIn != nil || l.Way != Live {
			t.Errorf("the code expired: %+v", l)
		}
		r.fake.play("Star-2")
		rest()
		r.expect("afterwards", "Star S1 E1", "Star S1 E2")
	})
}

func TestPlexChoosesByItselfWhereThereIsNothingToChoose(t *testing.T) {
	attic, cellar := mediaserver.PlexServer{ID: "server-1", Name: "attic"}, mediaserver.PlexServer{ID: "server-2", Name: "cellar", Owner: "jona"}
	mira, child := mediaserver.PlexPerson{ID: "mira", Name: "mira"}, mediaserver.PlexPerson{ID: "child", Name: "child", PIN: true}
	for name, c := range map[string]struct {
		servers []mediaserver.PlexServer
		people  []mediaserver.PlexPerson
		asks    bool
	}{
		"one server":            {[]mediaserver.PlexServer{attic}, nil, false},
		"one server, one in it": {[]mediaserver.PlexServer{attic}, []mediaserver.PlexPerson{mira}, false},
		"two servers":           {[]mediaserver.PlexServer{attic, cellar}, nil, true},
		"two people":            {[]mediaserver.PlexServer{attic}, []mediaserver.PlexPerson{mira, child}, true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				r.dialer.servers, r.dialer.people, r.dialer.confirmed = c.servers, c.people, true
				l, err := r.service.Add(t.Context(), NewLogin{Kind: mediaserver.Plex})
				must(t, err)
				r.run()
				l = r.login(l.ID)
				if (l.Choices != nil) != c.asks || (l.State == Connected) == c.asks {
					t.Fatalf("login %+v", l)
				}
				if !c.asks {
					if _, err := r.service.Choose(t.Context(), l.ID, "server-1", "", ""); !errors.Is(err, ErrNoChoice) {
						t.Errorf("a choice of nothing: %v", err)
					}
					return
				}
				if _, err := r.service.Choose(t.Context(), l.ID, "nowhere", "", ""); fieldOf(err) != "server" {
					t.Errorf("no such server: %v", err)
				}
				person := ""
				if len(c.people) > 0 {
					person = "child"
					if _, err := r.service.Choose(t.Context(), l.ID, "server-1", "nobody", ""); fieldOf(err) != "person" {
						t.Errorf("no such person: %v", err)
					}
					if _, err := r.service.Choose(t.Context(), l.ID, "server-1", "child", "9999"); fieldOf(err) != "pin" {
						t.Errorf("a wrong PIN: %v", err)
					}
				}
				l, err = r.service.Choose(t.Context(), l.ID, "server-1", person, "1234")
				if err != nil || l.State != Connected || l.Choices != nil || l.ServerName != "attic" {
					t.Errorf("chosen: %+v, %v", l, err)
				}
				must(t, r.service.keepAccounts(t.Context(), &schedule.Run{}))
				if r.fake.asked("keep account-token") != 1 {
					t.Error("the account is not kept alive")
				}
			})
		})
	}
}

func TestAnAccountWithoutAServer(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.dialer.confirmed = true
		l, err := r.service.Add(t.Context(), NewLogin{Kind: mediaserver.Plex})
		must(t, err)
		r.run()
		if l = r.login(l.ID); l.State != SignedOut || l.SignIn != nil || l.Problem.Code != "media_login_no_servers" {
			t.Errorf("login %+v", l)
		}
	})
}

func TestChanges(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.fake.season("Star", 3)
		r.dialer.other = newFake()
		r.dialer.other.id = "server-2"
		l := r.signIn()
		r.run()
		l, err := r.service.Change(t.Context(), l.ID, Change{MediaUserName: new(" Mira of the attic ")})
		if err != nil || l.MediaUserName != "Mira of the attic" {
			t.Fatalf("a name: %+v, %v", l, err)
		}
		rest()
		r.fake.play("Star-1")
		rest()
		if e := r.events(); len(e) != 1 || e[0].UserName != "Mira of the attic" {
			t.Errorf("events %+v", e)
		}
		if _, err := r.service.Change(t.Context(), l.ID, Change{MediaUserName: new(" ")}); fieldOf(err) != "media_user_name" {
			t.Errorf("no name: %v", err)
		}
		if _, err := r.service.Change(t.Context(), l.ID, Change{URL: new("http://other:8096")}); fieldOf(err) != "url" {
			t.Errorf("another server: %v", err)
		}
		l, err = r.service.Change(t.Context(), l.ID, Change{URL: new("http://moved:8096")})
		if err != nil || l.URL != "http://moved:8096" || l.State != Connected {
			t.Errorf("moved: %+v, %v", l, err)
		}
		l, err = r.service.Change(t.Context(), l.ID, Change{Enabled: new(false)})
		if err != nil || l.Enabled {
			t.Errorf("off: %+v, %v", l, err)
		}
		rest()
		r.fake.play("Star-2")
		rest()
		if l = r.login(l.ID); len(r.events()) != 1 || l.Way != Waiting || l.NextCatchUp != nil {
			t.Errorf("while it is off: %+v", l)
		}
		_, err = r.service.Change(t.Context(), l.ID, Change{Enabled: new(true)})
		must(t, err)
		rest()
		if len(r.events()) != 2 {
			t.Error("what was played meanwhile is not caught up")
		}
		if _, err := r.service.Change(t.Context(), 99, Change{}); !errors.Is(err, ErrNotFound) {
			t.Errorf("nobody: %v", err)
		}
	})
}

func TestALoginIsRemoved(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		for n, id := range r.fake.season("Star", 1200) {
			r.fake.set(id, mediaserver.State{Played: true, Count: 1, At: time.Now().Add(-time.Duration(n+1) * time.Hour)})
		}
		l := r.signIn()
		r.run()
		if got := r.login(l.ID); got.Known != 1200 {
			t.Fatalf("known %d", got.Known)
		}
		must(t, r.service.Remove(t.Context(), l.ID))
		if _, err := r.service.Login(t.Context(), l.ID); !errors.Is(err, ErrNotFound) {
			t.Errorf("there still: %v", err)
		}
		rest()
		var left int
		must(t, r.db.Read().QueryRowContext(context.Background(), `SELECT (SELECT COUNT(*) FROM media_plays) + (SELECT COUNT(*) FROM media_logins)`).Scan(&left))
		if left != 0 || r.fake.signedOut != 1 {
			t.Errorf("%d rows are left, signed out %d times", left, r.fake.signedOut)
		}
		if err := r.service.Remove(t.Context(), l.ID); !errors.Is(err, ErrNotFound) {
			t.Errorf("once more: %v", err)
		}
		if again := r.signIn(); again.ID == 0 {
			t.Error("no login again")
		}
	})
}

func TestARemovalThatTheEndOfTheServiceCutsOff(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		l := r.signIn()
		r.run()
		r.stop()
		must(t, r.service.Remove(t.Context(), l.ID))
		r.restart()
		var left int
		must(t, r.db.Read().QueryRowContext(context.Background(), `SELECT COUNT(*) FROM media_logins`).Scan(&left))
		if left != 0 || r.fake.signedOut != 1 {
			t.Errorf("%d rows are left, signed out %d times", left, r.fake.signedOut)
		}
	})
}
