package tracker

import "testing"

// FuzzPlay: whatever the tracker lists, a play is read or refused, and what is read is a valid event.
func FuzzPlay(f *testing.F) {
	for _, text := range []string{
		`{"id":9876543210,"watched_at":"2026-05-01T12:34:56.000Z","action":"scrobble","type":"episode","episode":{"season":1,"number":3,"title":"Third","ids":{"trakt":33,"tvdb":null,"imdb":"","tmdb":66},"first_aired":"2026-04-01T16:30:00.000Z"},"show":{"title":"Example","year":null,"ids":{"trakt":1,"plex":{"guid":"x"},"tmdb":4},"airs":{"timezone":"Asia/Tokyo"}}}`,
		`{"id":1,"watched_at":"1970-01-01T00:00:00.000Z","type":"movie","movie":{"title":"Film","year":"2020","ids":{"tmdb":"9"}}}`,
		`{"id":2,"type":"episode","show":{"title":"x"},"episode":"no"}`, `{"id":-1}`, `[]`, `null`, ``,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := readPlay(text)
		if err != nil {
			return
		}
		e, err := p.event(User{Name: "mira"}, titles{})
		if err == nil && e.Validate() != nil {
			t.Errorf("event %+v", e)
		}
		_ = p.wanted([]string{"anime"})
	})
}
