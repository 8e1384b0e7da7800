// Package mediabrowser reads the objects that Emby and Jellyfin inherited from
// their common ancestor (upstreams/media-servers.md, sections 3 and 4b).
package mediabrowser

import (
	"strings"
	"time"

	"watchmark/internal/source/payload"
	"watchmark/internal/watch"
)

// ReadEvent fills a report of src with what an event tells: what happened, to
// which item, by whom, where.
func ReadEvent(src watch.Source, o payload.Object) payload.Report {
	r := Read(o.Object("Item"))
	e := &r.Event
	e.Source = src
	e.RawEvent = o.EventName("Event")
	e.UserName = o.Object("User").Text("Name")
	e.UserID = o.Object("User").Line("Id")
	e.ServerName = o.Object("Server").Line("Name")
	e.ServerID = o.Object("Server").Line("Id")
	e.Client = o.Object("Session").Line("Client")
	return r
}

// Read fills a report with what the item itself tells. The caller adds source,
// event name, user and server.
func Read(item payload.Object) payload.Report {
	r := payload.Report{
		ItemType: item.Line("Type"),
		Event: watch.Event{
			AirDate:  airDate(item.Text("PremiereDate")),
			ItemIDs:  item.Object("ProviderIds").IDs(),
			ItemID:   item.Line("Id"),
			SeriesID: item.Line("SeriesId"),
			Path:     item.Path("Path"),
		},
	}
	e := &r.Event
	if e.AirDate.IsZero() {
		e.AirDate = item.Year("ProductionYear")
	}
	switch {
	case strings.EqualFold(r.ItemType, string(watch.Movie)):
		e.Title = item.Line("Name")
		e.OriginalTitle = item.Line("OriginalTitle")
	case strings.EqualFold(r.ItemType, string(watch.Episode)):
		e.Title = item.Line("SeriesName")
		e.EpisodeTitle = item.Line("Name")
		// OriginalTitle is the episode's here: it names no show.
	default:
		e.Title = item.Line("SeriesName", "Name")
	}
	e.Season = item.Season("ParentIndexNumber")
	e.Episode = item.Episode("IndexNumber")
	r.LastEpisode = item.Episode("IndexNumberEnd")
	return r
}

// airDate is the local date of a PremiereDate, which may be the UTC instant of
// local midnight: a time from noon on belongs to the next day east of UTC
// (upstreams/media-servers.md, section 3, "Quirks").
func airDate(premiere string) watch.Date {
	premiere = strings.TrimSpace(premiere)
	t, err := time.Parse(time.RFC3339Nano, premiere)
	if err != nil {
		t, err = time.Parse("2006-01-02T15:04:05", premiere) // no zone: UTC as well
	}
	if err != nil {
		return watch.ParseDate(premiere)
	}
	t = t.UTC()
	if t.Hour() >= 12 {
		t = t.AddDate(0, 0, 1)
	}
	return watch.ParseDate(t.Format(time.DateOnly))
}
