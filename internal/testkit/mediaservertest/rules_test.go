package mediaservertest

import (
	"testing"
	"time"
)

// The table of upstreams/watchers.md section 2.3: what is written when, by version.
func TestRules(t *testing.T) {
	march := time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)
	may := time.Date(2026, 5, 19, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, version string
		kind          Kind
		do            func(s *Server, id string) error
		want          Data
	}{
		{"a play to the end has the date of its start", "10.11.8", Jellyfin, func(s *Server, id string) error { return s.Watch("mira", id) },
			Data{Played: true, Count: 1, At: may.Add(-24 * time.Minute)}},
		{"a play to the end in emby", "4.9.1.0", Emby, func(s *Server, id string) error { return s.Watch("mira", id) },
			Data{Played: true, Count: 1, At: may.Add(-24 * time.Minute)}},
		{"a mark without a date keeps the old one", "10.11.8", Jellyfin, func(s *Server, id string) error {
			if err := s.Write("mira", id, Data{At: march}); err != nil {
				return err
			}
			return s.Mark("mira", id, time.Time{})
		}, Data{Played: true, Count: 1, At: march}},
		{"a mark without a date where there is none", "12.0.0", Jellyfin, func(s *Server, id string) error { return s.Mark("mira", id, time.Time{}) },
			Data{Played: true, Count: 1, At: may}},
		{"a mark with a date", "10.9.11", Jellyfin, func(s *Server, id string) error { return s.Mark("mira", id, march) },
			Data{Played: true, Count: 1, At: march}},
		{"a start clears played in 10.11", "10.11.8", Jellyfin, func(s *Server, id string) error {
			if err := s.Mark("mira", id, march); err != nil {
				return err
			}
			return s.Start("mira", id)
		}, Data{Count: 2, At: may}},
		{"and in 12 shows a finished re-watch", "12.0.0", Jellyfin, func(s *Server, id string) error {
			if err := s.Mark("mira", id, march); err != nil {
				return err
			}
			return s.Start("mira", id)
		}, Data{Played: true, Count: 2, At: may}},
		{"a stop in the middle", "10.11.8", Jellyfin, func(s *Server, id string) error { return s.Stop("mira", id, 50) }, Data{Position: 12 * time.Minute}},
		{"a stop at the beginning", "10.11.8", Jellyfin, func(s *Server, id string) error { return s.Stop("mira", id, 4) }, Data{}},
		{"a stop without a position", "10.11.8", Jellyfin, func(s *Server, id string) error { return s.Stop("mira", id, -1) }, Data{Played: true, Count: 1}},
		{"nfo", "10.11.8", Jellyfin, func(s *Server, id string) error { return s.Import("mira", id) }, Data{Played: true, Count: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := New(Sample(c.kind, User{Name: "mira"}))
			s = New(func() Config {
				cfg := s.cfg
				cfg.Version, cfg.Now = c.version, func() time.Time { return may }
				return cfg
			}())
			id := episode(t, s, 3)
			must(t, c.do(s, id))
			got, err := s.Data("mira", id)
			must(t, err)
			if got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// A file that is replaced gets a new id. Whether the state of the old one is found again depends on the version: section 2.6.
func TestReplace(t *testing.T) {
	for version, kept := range map[string]bool{"10.10.7": true, "10.11.3": false, "10.11.8": true, "12.0.0": true} {
		cfg := Sample(Jellyfin, User{Name: "mira"})
		cfg.Version = version
		s := New(cfg)
		id := episode(t, s, 3)
		must(t, s.Watch("mira", id))
		before, _ := s.Data("mira", id)
		again, err := s.Replace(id)
		must(t, err)
		after, err := s.Data("mira", again.ID)
		must(t, err)
		if again.ID == id || after.Played != kept || kept && after != before {
			t.Errorf("%s: %s, %+v", version, again.ID, after)
		}
		if len(s.Played()) > 1 {
			t.Errorf("%s: %v", version, s.Played())
		}
	}
}
