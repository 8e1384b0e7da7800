package mediaserver

import (
	"encoding/json"
	"strings"
	"time"

	"watchmark/internal/source/mediabrowser"
	"watchmark/internal/source/payload"
)

// readItem is an episode or a film of a list.
func readItem(o payload.Object, library string) (Item, bool) {
	r := mediabrowser.Read(o)
	if !strings.EqualFold(r.ItemType, "Episode") && !strings.EqualFold(r.ItemType, "Movie") || !validID(r.Event.ItemID) {
		return Item{}, false
	}
	if !validID(r.Event.SeriesID) {
		r.Event.SeriesID = ""
	}
	state := o.Object("UserData")
	item := Item{Report: r, Library: library, Length: ticks(o, "RunTimeTicks"), Year: o.Year("ProductionYear").Year, Begins: true}
	if item.Year == 0 {
		item.Year = r.Event.AirDate.Year
	}
	item.State.Played, _ = state.Bool("Played")
	item.State.At = instant(state, "LastPlayedDate")
	if count, ok := state.Int("PlayCount"); ok {
		item.State.Count = min(max(count, 0), 1_000_000)
	}
	item.State.Position = ticks(state, "PlaybackPositionTicks")
	return item, true
}

// instant is a time, which is one of UTC where a look-alike leaves the zone out.
func instant(o payload.Object, key string) time.Time {
	if at := o.Time(key); !at.IsZero() {
		return at
	}
	text, err := json.Marshal(strings.Replace(o.Line(key), " ", "T", 1) + "Z")
	if err != nil {
		return time.Time{}
	}
	return payload.Object{key: text}.Time(key)
}

func readShow(o payload.Object) Show {
	return Show{ID: o.Line("Id"), Title: o.Line("Name"), Original: o.Line("OriginalTitle"), Year: o.Year("ProductionYear").Year, IDs: o.Object("ProviderIds").IDs()}
}

// ticks is a length in units of 100 ns; 0 when it is out of any sense.
func ticks(o payload.Object, key string) time.Duration {
	const most = 7 * 24 * time.Hour
	n, ok := o.Int64(key)
	if !ok || n < 0 || n > int64(most/100) {
		return 0
	}
	return time.Duration(n) * 100
}
