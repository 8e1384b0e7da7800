package mediaserver_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"watchmark/internal/source/mediaserver"
	"watchmark/internal/testkit/mediaservertest"
)

// families are a server of each kind and of each version that behaves in its own way.
var families = []mediaservertest.Config{
	{Kind: mediaservertest.Jellyfin, Version: "10.8.13"}, {Kind: mediaservertest.Jellyfin, Version: "10.9.11"}, {Kind: mediaservertest.Jellyfin, Version: "10.10.7", Base: "/jellyfin"},
	{Kind: mediaservertest.Jellyfin, Version: "10.11.8"}, {Kind: mediaservertest.Jellyfin, Version: "12.0.0"},
	{Kind: mediaservertest.Emby, Version: "4.7.14.0"}, {Kind: mediaservertest.Emby, Version: "4.9.1.0"},
	{Kind: mediaservertest.Ugreen}, {Kind: mediaservertest.ZSpace}, {Kind: mediaservertest.FnOS}, {Kind: mediaservertest.FnOS, Writes: true},
}

// simulate serves the sample library to mira and alex as cfg says.
func simulate(t *testing.T, cfg mediaservertest.Config) *mediaservertest.Server {
	t.Helper()
	sample := mediaservertest.Sample(cfg.Kind, mediaservertest.User{Name: "mira", Password: "open sesame"}, mediaservertest.User{Name: "alex", Password: "alex"})
	cfg.Libraries, cfg.Shows, cfg.Items, cfg.Users = sample.Libraries, sample.Shows, sample.Items, sample.Users
	cfg.Quiet = time.Millisecond
	return mediaservertest.Start(t, cfg)
}

// signIn probes s and signs mira in, as the page does.
func signIn(t *testing.T, d *mediaserver.Dialer, s *mediaservertest.Server) (mediaserver.Login, mediaserver.Client) {
	t.Helper()
	found, err := d.Probe(t.Context(), s.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	login, err := d.SignIn(t.Context(), mediaserver.Server{Kind: found.Kind, URL: found.URL, Pin: found.Pin}, "mira", "open sesame")
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.Open(login.Server)
	if err != nil {
		t.Fatal(err)
	}
	return login, c
}

// usual are the libraries that are read by themselves.
func usual(t *testing.T, c mediaserver.Client) []mediaserver.Library {
	t.Helper()
	all, err := c.Libraries(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(l mediaserver.Library) bool { return !l.Usual() })
}

// ids are those of what was played since, once each.
func played(t *testing.T, c mediaserver.Client, since time.Time) map[string]mediaserver.Item {
	t.Helper()
	all := map[string]mediaserver.Item{}
	err := c.Played(t.Context(), usual(t, c), since, func(items []mediaserver.Item, _ int) error {
		for _, i := range items {
			all[i.Report.Event.ItemID] = i
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// watch plays an episode to its end.
func watch(t *testing.T, s *mediaservertest.Server, title string, season, episode int) string {
	t.Helper()
	i, err := s.Find(title, season, episode)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Watch("mira", i.ID); err != nil {
		t.Fatal(err)
	}
	return i.ID
}

func TestSimulatedServers(t *testing.T) {
	for _, cfg := range families {
		t.Run(string(cfg.Kind)+cfg.Version+map[bool]string{true: " that writes"}[cfg.Writes], func(t *testing.T) {
			t.Parallel()
			s := simulate(t, cfg)
			first, film := watch(t, s, "灯塔守望者", 2, 7), watch(t, s, "剧场版 灯塔守望者 北之光", 0, 0)
			d := newDialer(t)
			login, c := signIn(t, d, s)
			kind := mediaserver.Kind(cfg.Kind)
			nas := kind.Experimental()
			if login.Server.Kind != kind || login.UserName != "mira" || login.Server.ID == "" {
				t.Errorf("signed in as %+v", login)
			}
			who, err := c.Who(t.Context())
			if err != nil || who.UserName != "mira" && !nas {
				t.Errorf("who: %+v %v", who, err)
			}
			if libraries := usual(t, c); !nas && len(libraries) != 2 || len(libraries) < 2 || libraries[0].Name != "动画" {
				t.Errorf("libraries %+v", libraries)
			}
			for _, since := range []time.Time{{}, time.Now().Add(-48 * time.Hour)} {
				c, err := d.Open(login.Server)
				if err != nil {
					t.Fatal(err)
				}
				all := played(t, c, since)
				e := all[first].Report.Event
				if len(all) != 2 || e.Title != "灯塔守望者" || e.Season == nil || *e.Season != 2 || *e.Episode != 7 || e.AirDate.IsZero() || all[first].Year == 0 || all[first].Library == "" {
					t.Errorf("since %s: %+v", since, all)
				}
				if state := all[first].State; !nas && (state.At.IsZero() || state.Count == 0) {
					t.Errorf("state %+v", state)
				}
				if all[film].Report.ItemType != "Movie" {
					t.Errorf("the film: %+v", all[film])
				}
				if shows, err := c.Shows(t.Context(), []string{e.SeriesID}); err != nil || len(shows) != 1 || shows[0].IDs["tvdb"] == "" || shows[0].Original == "" {
					t.Errorf("shows %+v %v", shows, err)
				}
			}
			n, err := c.Count(t.Context())
			if wrong := err != nil || n != 2; wrong && (!nas || !errors.Is(err, mediaserver.ErrCannot)) {
				t.Errorf("count %d %v", n, err)
			}
			total := 0
			if err := c.All(t.Context(), usual(t, c), func(items []mediaserver.Item, _ int) error { total += len(items); return nil }); err != nil || total < 100 {
				t.Errorf("%d items in all: %v", total, err)
			}
			if kind != mediaserver.Ugreen {
				if some, err := c.Items(t.Context(), []string{first, film}); err != nil || len(some) != 2 || !some[0].State.Played {
					t.Errorf("items %+v %v", some, err)
				}
			}
			writeAndUndo(t, s, c, cfg, nas)
			if err := c.SignOut(t.Context()); err != nil {
				t.Errorf("sign out: %v", err)
			}
			if _, err := c.Who(t.Context()); !nas && !errors.Is(err, mediaserver.ErrSignedOut) {
				t.Errorf("after it: %v", err)
			}
		})
	}
}

// writeAndUndo marks an episode with a date, and brings back what was there before.
func writeAndUndo(t *testing.T, s *mediaservertest.Server, c mediaserver.Client, cfg mediaservertest.Config, nas bool) {
	t.Helper()
	i, err := s.Find("深海电车", 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2024, 2, 3, 4, 5, 6, 0, time.UTC)
	err = c.Write(t.Context(), i.ID, mediaserver.State{Played: true, At: day, Count: 1})
	if nas && !cfg.Writes {
		if !errors.Is(err, mediaserver.ErrCannot) {
			t.Errorf("write: %v", err)
		}
		return
	}
	if data, _ := s.Data("mira", i.ID); err != nil || !data.Played || !data.At.Equal(day) || data.Count != 1 {
		t.Errorf("written %+v: %v", data, err)
	}
	err = c.Write(t.Context(), i.ID, mediaserver.State{})
	if data, _ := s.Data("mira", i.ID); err != nil || data.Played || !data.At.IsZero() || data.Count != 0 {
		t.Errorf("brought back %+v: %v", data, err)
	}
}

func TestSimulatedServersTellWhatChanges(t *testing.T) {
	for _, cfg := range families {
		if mediaserver.Kind(cfg.Kind).Experimental() {
			continue
		}
		t.Run(string(cfg.Kind)+cfg.Version, func(t *testing.T) {
			t.Parallel()
			s := simulate(t, cfg)
			_, c := signIn(t, newDialer(t), s)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			ended, changed, up := make(chan error, 1), make(chan []string, 100), make(chan struct{})
			go func() {
				ended <- c.Listen(ctx, func() { close(up) }, func(ids []string) { changed <- ids })
			}()
			<-up
			other, err := s.Find("灯塔守望者", 1, 1)
			if err == nil {
				err = s.Watch("alex", other.ID)
			}
			id := watch(t, s, "灯塔守望者", 2, 7)
			var all []string
			for err == nil && !slices.Contains(all, id) {
				select {
				case ids := <-changed:
					all = append(all, ids...)
				case <-ctx.Done():
					err = ctx.Err()
				}
			}
			if err != nil || slices.Contains(all, other.ID) {
				t.Errorf("told %v: %v", all, err)
			}
			read, err := c.Items(t.Context(), all)
			if err != nil || len(read) != 1 || !read[0].State.Played || read[0].State.Position != 0 {
				t.Errorf("read %+v: %v", read, err)
			}
			s.Cut()
			if err := <-ended; !errors.Is(err, mediaserver.ErrUnreachable) {
				t.Errorf("a lost connection: %v", err)
			}
		})
	}
}

func TestSimulatedQuickConnect(t *testing.T) {
	for _, version := range []string{"10.8.13", "10.10.7", "12.0.0"} {
		t.Run(version, func(t *testing.T) {
			s := simulate(t, mediaservertest.Config{Kind: mediaservertest.Jellyfin, Version: version})
			d, at := newDialer(t), mediaserver.Server{Kind: mediaserver.Jellyfin, URL: s.URL}
			code, err := d.StartCode(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			if _, done, err := d.FinishCode(t.Context(), at, code); done || err != nil {
				t.Errorf("before it was confirmed: %v %v", done, err)
			}
			if err := s.Confirm(code.Text, "mira"); err != nil {
				t.Fatal(err)
			}
			login, done, err := d.FinishCode(t.Context(), at, code)
			if err != nil || !done || login.UserName != "mira" {
				t.Fatalf("%+v %v %v", login, done, err)
			}
			c, err := d.Open(login.Server)
			if err == nil {
				_, err = c.Who(t.Context())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestALargeHistoryIsReadInFewRequests(t *testing.T) {
	s := simulate(t, mediaservertest.Config{Kind: mediaservertest.Jellyfin})
	s.Generate(5_000, "mira")
	_, c := signIn(t, newDialer(t), s)
	of, before := usual(t, c), c.Requests()
	most := 0
	seen := map[string]bool{}
	err := c.Played(t.Context(), of, time.Time{}, func(items []mediaserver.Item, _ int) error {
		most = max(most, len(items))
		for _, i := range items {
			seen[i.Report.Event.ItemID] = true
		}
		return nil
	})
	if n := c.Requests() - before; err != nil || len(seen) != 5_000 || n > 11 || most > 500 {
		t.Errorf("%d episodes by %d requests, %d at once: %v", len(seen), n, most, err)
	}
}
