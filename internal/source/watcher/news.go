package watcher

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"watchmark/internal/source/mediaserver"
	"watchmark/internal/watch"
	"watchmark/internal/watch/title"
)

const (
	// onePlay is how long after a play the same episode is no other play, by whatever item, server or webhook it comes.
	onePlay = 6 * time.Hour
	// ahead is how far a date may lie after the clock of the server: two clocks are never quite the same.
	ahead = 5 * time.Minute
)

// verdict is what a played item that a server shows means.
type verdict int

const (
	nothing verdict = iota // it is known: its row takes what the server says
	news                   // it was played, and nobody knew
	open                   // it cannot be told yet: its row stays as it is
)

// answer is whether a person plays an item now.
type answer int

const (
	untold answer = iota
	yes
	no
)

// sight is what is known while an item is judged.
type sight struct {
	now, clock time.Time // ours, and that of the server
	// live is set when the server has just told of it.
	live bool
	// playing tells whether the person plays an item now. It may have to ask the server.
	playing func(id string) answer
	// begun are the items that were seen to be played again.
	begun map[string]bool
}

// playOf is the row that an item would have: its key is the folded title of the show with season and episode, or that of the film.
func playOf(i mediaserver.Item) play {
	e := i.Report.Event
	return play{item: e.ItemID, key: keyOf(e, strings.EqualFold(i.Report.ItemType, string(watch.Movie))), year: i.Year, count: i.State.Count, at: timeOf(millis(i.State.At))}
}

// keyOf names an episode or a film; empty when its title or number is not known.
func keyOf(e watch.Event, film bool) string {
	name := title.Key(e.Title)
	if name == "" {
		return ""
	}
	if film {
		return "f:" + name
	}
	if e.Episode == nil {
		return ""
	}
	season := ""
	if e.Season != nil {
		season = strconv.Itoa(*e.Season)
	}
	return "e:" + name + ":" + season + ":" + strconv.FormatFloat(*e.Episode, 'f', -1, 64)
}

// judge tells what it means that a server shows an item as played (docs/design/watcher.md; upstreams/watchers.md section 2.3).
func judge(i mediaserver.Item, of plays, s sight) verdict {
	row := playOf(i)
	own, others := of.byItem[row.item], []*play(nil)
	if row.key != "" {
		others = of.alike(row.key, row.year, row.item)
	}
	for _, one := range append(slices.Clone(others), own) {
		if one != nil && s.now.Sub(one.last()).Abs() < onePlay {
			return nothing // that play is a record already
		}
	}
	switch dated := !row.at.IsZero() && row.at.Sub(s.clock) <= ahead; {
	case own == nil && len(others) == 0:
		return news
	case own == nil:
		// The file was replaced or moved, or stands in two libraries, unless it was played since.
		if !dated || slices.ContainsFunc(others, func(o *play) bool { return row.at.Sub(o.at) < onePlay }) {
			return nothing
		}
	case !dated, own.count == 0, row.count <= own.count, !row.at.After(own.at):
		return nothing
	}
	// It was played once more, or is being played: some servers show the new date and number from the beginning.
	switch {
	case i.State.Position > 0:
		return open
	case !i.Begins:
		return news
	}
	since := s.clock.Sub(row.at)
	switch s.playing(row.item) {
	case yes:
		return open
	case untold:
		if since < i.Length {
			return open
		}
	case no:
		if s.live && s.begun[row.item] && since < i.Length/2 {
			return nothing // it was given up soon after its beginning, which leaves no position
		}
	}
	return news
}

// first tells what it means at the first sight of a library: nothing, unless the play began after the login was connected.
func first(i mediaserver.Item, connected time.Time, s sight) verdict {
	if i.State.At.Before(connected) || i.State.At.Sub(s.clock) > ahead || i.State.Position > 0 || i.Begins && s.playing(i.Report.Event.ItemID) != no {
		return nothing
	}
	return news
}

// last is when the play became a record, here or by a webhook; long ago when it never did.
func (p *play) last() time.Time {
	if p.taken.After(p.heard) {
		return p.taken
	}
	return p.heard
}

// noted is the row of an item once it was judged: the one before, with what the server says now.
func noted(i mediaserver.Item, before *play, s sight) play {
	row := playOf(i)
	if row.at.IsZero() || row.at.Sub(s.clock) > ahead {
		row.at = timeOf(millis(s.clock)) // it was played no later
		if before != nil {
			row.at = before.at
		}
	}
	if before != nil {
		row.key, row.year = cmp.Or(row.key, before.key), cmp.Or(row.year, before.year)
		row.taken, row.heard = before.taken, before.heard
		if before.at.After(row.at) {
			row.at = before.at
		}
	}
	return row
}

// occurred is when an item was played, by our clock; zero when its date lies: it is missing, before the last comparison, at which the
// item was not played, or ahead of the server's own clock.
func occurred(i mediaserver.Item, compared time.Time, s sight) time.Time {
	if s.live {
		return s.now
	}
	at := i.State.At
	if at.IsZero() || at.Sub(s.clock) > ahead {
		return time.Time{}
	}
	if i.Begins {
		at = at.Add(i.Length)
	}
	if at.Before(compared) {
		return time.Time{}
	}
	at = at.Add(s.now.Sub(s.clock))
	if at.After(s.now) {
		return s.now
	}
	return at
}
