package watcher

import (
	"testing"
	"time"

	"watchmark/internal/source/mediaserver"
	"watchmark/internal/source/payload"
	"watchmark/internal/watch"
)

// March and May are days of which the first was before the login was connected.
var (
	march = time.Date(2026, 3, 2, 20, 0, 0, 0, time.UTC)
	may   = time.Date(2026, 5, 19, 20, 0, 0, 0, time.UTC)
)

const length = 24 * time.Minute

// seen is one look at an item: at a time, in a state. What a server writes when is in upstreams/watchers.md section 2.3.
type seen struct {
	at      time.Time
	state   mediaserver.State
	live    bool
	playing answer
	want    verdict
	// as changes what the item is.
	as func(i *mediaserver.Item)
}

func episode(id string) mediaserver.Item {
	return mediaserver.Item{
		Report: payload.Report{ItemType: "Episode", Event: watch.Event{Title: "灯塔守望者", Season: new(2), Episode: new(7.0), ItemID: id}},
		Year:   2024, Length: length, Begins: true,
	}
}

func TestWhatIsNews(t *testing.T) {
	played := func(at time.Time, count int) mediaserver.State {
		return mediaserver.State{Played: true, At: at, Count: count}
	}
	paused := func(s mediaserver.State) mediaserver.State { s.Position = 10 * time.Minute; return s }
	id := func(id string) func(i *mediaserver.Item) {
		return func(i *mediaserver.Item) { i.Report.Event.ItemID = id }
	}
	year := func(id string, year int) func(i *mediaserver.Item) {
		return func(i *mediaserver.Item) { i.Report.Event.ItemID, i.Year = id, year }
	}
	ends := func(i *mediaserver.Item) { i.Begins = false }
	for name, looks := range map[string][]seen{
		"the first play": {
			{at: may.Add(length), state: played(may, 1), live: true, playing: no, want: news},
			{at: may.Add(length + time.Second), state: played(may, 1), live: true, playing: no, want: nothing},
			{at: may.Add(24 * time.Hour), state: played(may, 1), playing: no, want: nothing},
		},
		"a play that was begun in March and finished in May by one stop": {
			{at: may, state: played(march, 1), live: true, want: news},
			{at: may.Add(48 * time.Hour), state: played(march, 1), want: nothing},
		},
		"a mark by hand without a date": {
			{at: may, state: mediaserver.State{Played: true, Count: 1}, live: true, want: news},
			{at: may.Add(48 * time.Hour), state: mediaserver.State{Played: true, Count: 1}, want: nothing},
			{at: may.Add(96 * time.Hour), state: played(may, 1), want: nothing}, // the date came later
		},
		"a mark by hand that keeps an old date": {
			{at: may, state: played(march, 1), want: news},
		},
		"a mark by hand of what is marked": {
			{at: may, state: played(may, 1), want: news},
			{at: may.Add(12 * time.Hour), state: played(may.Add(12*time.Hour), 1), want: nothing}, // its number stays
		},
		"exact user data with another date and no number": {
			{at: may, state: played(may, 0), want: news},
			{at: may.Add(48 * time.Hour), state: played(may.Add(40*time.Hour), 0), want: nothing},
		},
		"a stop without a position, which counts twice": {
			{at: may.Add(length), state: played(may, 2), live: true, playing: no, want: news},
			{at: may.Add(length + time.Minute), state: played(may, 3), live: true, playing: no, want: nothing},
			{at: may.Add(20 * time.Hour), state: played(may, 4), playing: no, want: nothing},
		},
		"a re-watch of Jellyfin 10.8 to 10.11, after its end": {
			{at: march.Add(length), state: played(march, 1), want: news},
			{at: may.Add(length), state: played(may, 2), live: true, playing: no, want: news},
			{at: may.Add(30 * time.Hour), state: played(may, 2), playing: no, want: nothing},
		},
		"a re-watch of Jellyfin 12 and Emby, which stays played": {
			{at: march.Add(length), state: played(march, 1), want: news},
			{at: may, state: played(may, 2), live: true, playing: yes, want: open},
			{at: may.Add(10 * time.Minute), state: paused(played(may, 2)), playing: yes, want: open}, // a catch-up in the middle
			{at: may.Add(length), state: played(may, 2), live: true, playing: no, want: news},
			{at: may.Add(length + time.Second), state: played(may, 2), live: true, playing: no, want: nothing},
		},
		"a re-watch that is given up in the middle, and finished a day later": {
			{at: march.Add(length), state: played(march, 1), want: news},
			{at: may.Add(10 * time.Minute), state: paused(played(may, 2)), live: true, playing: no, want: open},
			{at: may.Add(12 * time.Hour), state: paused(played(may, 2)), playing: no, want: open},
			{at: may.Add(24*time.Hour + length), state: played(may.Add(24*time.Hour), 3), live: true, playing: no, want: news},
		},
		"a re-watch that is given up at its beginning, which leaves no position": {
			{at: march.Add(length), state: played(march, 1), want: news},
			{at: may.Add(time.Second), state: played(may, 2), live: true, playing: yes, want: open},
			{at: may.Add(time.Minute), state: played(may, 2), live: true, playing: no, want: nothing},
			{at: may.Add(time.Hour), state: played(may, 2), playing: no, want: nothing},
		},
		"a re-watch at a server that sends beginning and end at once": {
			{at: march.Add(length), state: played(march, 1), want: news},
			{at: may.Add(time.Second), state: played(may, 2), live: true, playing: no, want: news},
		},
		"a re-watch at a server that does not tell what plays": {
			{at: march.Add(length), state: played(march, 1), want: news},
			{at: may.Add(time.Minute), state: played(may, 2), want: open},
			{at: may.Add(length + time.Minute), state: played(may, 2), want: news},
		},
		"a re-watch within the time of one play": {
			{at: may.Add(length), state: played(may, 1), want: news},
			{at: may.Add(2 * time.Hour), state: played(may.Add(time.Hour), 2), live: true, playing: no, want: nothing},
		},
		"a re-watch at Plex, whose dates are those of the end": {
			{at: march, state: played(march, 1), want: news, as: ends},
			{at: may.Add(length), state: played(may.Add(length), 2), want: news, as: ends},
			{at: may.Add(2 * length), state: played(may.Add(length), 2), want: nothing, as: ends},
		},
		"the same item with other numbers, after the match of the show was mended": {
			{at: march.Add(length), state: played(march, 1), want: news},
			{at: may, state: played(march, 1), want: nothing, as: func(i *mediaserver.Item) { i.Report.Event.Season, i.Report.Event.Episode = new(1), new(19.0) }},
			{at: may, state: played(march, 1), want: nothing, as: func(i *mediaserver.Item) {
				i.Report.Event.ItemID, i.Report.Event.Season, i.Report.Event.Episode = "moved", new(1), new(19.0)
			}},
		},
		"an item that was deleted and added again with a new id": {
			{at: march.Add(length), state: played(march, 1), want: news},
			{at: may, state: played(march, 1), want: nothing, as: id("new")},
			{at: may.Add(24*time.Hour + length), state: played(may.Add(24*time.Hour), 2), live: true, playing: no, want: news, as: id("new")},
		},
		"an item with a new id that was played since": {
			{at: march.Add(length), state: played(march, 1), want: news},
			{at: may.Add(length), state: played(may, 1), live: true, playing: no, want: news, as: id("new")},
		},
		"an item with a new id and no date": {
			{at: march.Add(length), state: played(march, 1), want: news},
			{at: may, state: mediaserver.State{Played: true, Count: 1}, want: nothing, as: id("new")},
		},
		"an item with a new id, of which no date is known": {
			{at: march, state: mediaserver.State{Played: true, Count: 1}, want: news},
			{at: may, state: played(march.Add(-time.Hour), 1), want: nothing, as: id("new")},
		},
		"an episode in two libraries": {
			{at: may.Add(length), state: played(may, 1), live: true, want: news},
			{at: may.Add(length), state: played(may, 1), live: true, want: nothing, as: id("4k")},
			{at: may.Add(9 * time.Hour), state: played(may.Add(2*time.Second), 1), want: nothing, as: id("another")},
		},
		"a remake of the same title": {
			{at: may, state: played(may, 1), want: news, as: year("old", 2001)},
			{at: may, state: played(may, 1), want: news, as: year("new", 2019)},
			{at: may, state: played(may, 1), want: nothing, as: year("untold", 0)},
		},
		"a date ahead of the server's clock, as of a NAS that writes its own time as UTC": {
			{at: may, state: played(may.Add(8*time.Hour), 1), want: news},
			{at: may.Add(10 * time.Hour), state: played(may.Add(8*time.Hour), 1), want: nothing},
			{at: may.Add(10 * time.Hour), state: played(may.Add(8*time.Hour), 1), want: nothing, as: id("copy")},
		},
		"a clock that was set back": {
			{at: may, state: played(may, 1), want: news},
			{at: may.Add(-time.Hour), state: played(may, 1), live: true, playing: no, want: nothing},
		},
	} {
		t.Run(name, func(t *testing.T) {
			of, begun := newPlays(), map[string]bool{}
			for n, look := range looks {
				i := episode("first")
				if look.as != nil {
					look.as(&i)
				}
				i.State = look.state
				s := sight{now: look.at, clock: look.at, live: look.live, playing: func(string) answer { return look.playing }, begun: begun}
				got := judge(i, of, s)
				if got != look.want {
					t.Errorf("look %d: verdict %d, not %d", n+1, got, look.want)
				}
				if got == open {
					begun[i.Report.Event.ItemID] = true
					continue
				}
				row := noted(i, of.byItem[i.Report.Event.ItemID], s)
				if got == news {
					row.taken = look.at
				}
				of.put(row)
			}
		})
	}
}

func TestTheFirstSightIsNoNews(t *testing.T) {
	for name, c := range map[string]struct {
		state   mediaserver.State
		playing answer
		want    verdict
	}{
		"played long ago":                    {mediaserver.State{Played: true, At: march, Count: 1}, no, nothing},
		"played without a date":              {mediaserver.State{Played: true, Count: 1}, no, nothing},
		"played after the connection":        {mediaserver.State{Played: true, At: may.Add(time.Second), Count: 1}, no, news},
		"being played again":                 {mediaserver.State{Played: true, At: may.Add(time.Second), Count: 2}, yes, nothing},
		"played again, which is not told":    {mediaserver.State{Played: true, At: may.Add(time.Second), Count: 2}, untold, nothing},
		"a date ahead of the server's clock": {mediaserver.State{Played: true, At: may.Add(8 * time.Hour), Count: 1}, no, nothing},
	} {
		i := episode("first")
		i.State = c.state
		if got := first(i, may, sight{now: may.Add(time.Minute), clock: may.Add(time.Minute), playing: func(string) answer { return c.playing }}); got != c.want {
			t.Errorf("%s: verdict %d, not %d", name, got, c.want)
		}
	}
}

func TestWhenAPlayWas(t *testing.T) {
	compared := may.Add(-12 * time.Hour)
	for name, c := range map[string]struct {
		at     time.Time
		live   bool
		skew   time.Duration
		begins bool
		want   time.Time
	}{
		"live":                                   {at: march, live: true, begins: true, want: may},
		"a date of the end":                      {at: may.Add(-time.Hour), want: may.Add(-time.Hour)},
		"a date of the beginning":                {at: may.Add(-time.Hour), begins: true, want: may.Add(-time.Hour + length)},
		"a date of the beginning, just now":      {at: may.Add(-time.Minute), begins: true, want: may},
		"begun before the last comparison":       {at: compared.Add(-length / 2), begins: true, want: compared.Add(length / 2)},
		"before the last comparison":             {at: compared.Add(-length * 2), begins: true},
		"a date of long ago":                     {at: march},
		"no date":                                {},
		"ahead of the server's clock":            {at: may.Add(8 * time.Hour)},
		"a server whose clock is a day ahead":    {at: may.Add(23 * time.Hour), skew: 24 * time.Hour, want: may.Add(-time.Hour)},
		"a server whose clock is a day too late": {at: may.Add(-25 * time.Hour), skew: -24 * time.Hour, want: time.Time{}},
	} {
		i := episode("first")
		i.Begins, i.State = c.begins, mediaserver.State{Played: true, At: c.at, Count: 1}
		got := occurred(i, compared, sight{now: may, clock: may.Add(c.skew), live: c.live})
		if !got.Equal(c.want) {
			t.Errorf("%s: %v, not %v", name, got, c.want)
		}
	}
}

// The day of a play is that of its instant, also in the night in which clocks are changed.
func TestTheClockChangeOfSummer(t *testing.T) {
	at := time.Date(2026, 10, 25, 0, 50, 0, 0, time.UTC) // 02:50 in Berlin, an hour before the second 02:50
	i := episode("first")
	i.State = mediaserver.State{Played: true, At: at, Count: 1}
	now := at.Add(2 * time.Hour)
	if got := occurred(i, at.Add(-24*time.Hour), sight{now: now, clock: now}); !got.Equal(at.Add(length)) {
		t.Errorf("%v, not %v", got, at.Add(length))
	}
}

func TestKeys(t *testing.T) {
	for name, c := range map[string]struct {
		a, b  watch.Event
		films bool
		same  bool
	}{
		"width and case":     {a: watch.Event{Title: "Ｓtar  Show", Season: new(1), Episode: new(2.0)}, b: watch.Event{Title: "STAR SHOW", Season: new(1), Episode: new(2.0)}, same: true},
		"another season":     {a: watch.Event{Title: "Star", Season: new(1), Episode: new(2.0)}, b: watch.Event{Title: "Star", Season: new(2), Episode: new(2.0)}},
		"half an episode":    {a: watch.Event{Title: "Star", Season: new(1), Episode: new(2.0)}, b: watch.Event{Title: "Star", Season: new(1), Episode: new(2.5)}},
		"a film and another": {a: watch.Event{Title: "Star"}, b: watch.Event{Title: "Stars"}, films: true},
		"without a number":   {a: watch.Event{Title: "Star"}, b: watch.Event{Title: "Stars"}, same: true}, // both have no key
	} {
		if a, b := keyOf(c.a, c.films), keyOf(c.b, c.films); (a == b) != c.same {
			t.Errorf("%s: %q and %q", name, a, b)
		}
	}
}
