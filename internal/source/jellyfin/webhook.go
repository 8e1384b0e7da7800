package jellyfin

import (
	"encoding/json"
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"

	"watchmark/internal/source/payload"
	"watchmark/internal/watch"
)

// parseWebhook reads the official plugin: all properties, or a template with the
// plugin's own keys or those of the custom webhook (section 4a).
func parseWebhook(o payload.Object) (payload.Delivery, error) {
	o = unescape(o).Lower()
	r := readWebhook(o)
	switch event := r.Event.RawEvent; event {
	case "":
		return payload.Delivery{}, &payload.BadRequest{Field: "NotificationType",
			Detail: noType.With()}
	case "PlaybackStop":
		if completed, _ := o.Bool("playedtocompletion"); completed {
			return r.Deliver(watch.Watched)
		}
		return r.Ignore(notCompleted.With()), nil
	case "PlaybackStart":
		return r.Deliver(watch.Started)
	case "UserDataSaved":
		return userDataSaved(o, r)
	default:
		return r.Ignore(payload.NotFinished.With(event)), nil
	}
}

// userDataSaved accepts the toggle by hand only: every other reason repeats a
// playback or tells of the past (section 4a, "Double and false events").
func userDataSaved(o payload.Object, r payload.Report) (payload.Delivery, error) {
	switch saved := o.EventName("savereason"); saved {
	case "TogglePlayed":
	case "":
		return r.Ignore(notByHand.With(noSaveReason)), nil
	default:
		return r.Ignore(notByHand.With(saved)), nil
	}
	switch played, known := o.Bool("played"); {
	case played:
		return r.Deliver(watch.Watched)
	case known:
		return r.Deliver(watch.Unwatched)
	}
	return r.Ignore(noPlayed.With()), nil
}

func readWebhook(o payload.Object) payload.Report {
	r := payload.Report{
		ItemType:    o.Line("itemtype", "media_type"),
		LastEpisode: o.Episode("episodenumberend"),
		Event: watch.Event{
			Source:        watch.Jellyfin,
			RawEvent:      o.EventName("notificationtype"),
			OriginalTitle: o.Line("ori_title"),
			Season:        o.Season("seasonnumber", "seasonnumber00", "season"),
			Episode:       o.Episode("episodenumber", "episodenumber00", "episode"),
			UserName:      o.Text("notificationusername", "user_name"),
			UserID:        o.Line("userid"),
			ServerName:    o.Line("servername"),
			ServerID:      o.Line("serverid"),
			SeriesID:      o.Line("seriesid"),
			ItemID:        o.Line("itemid"),
			Client:        o.Line("clientname", "client"),
			OccurredAt:    o.Time("utctimestamp"),
		},
	}
	e := &r.Event
	for _, key := range slices.Sorted(maps.Keys(o)) {
		if provider, ok := strings.CutPrefix(key, "provider_"); ok {
			e.ItemIDs = payload.AddID(e.ItemIDs, provider, o.Text(key))
		}
	}
	if r.ItemType == "" && e.Episode != nil {
		r.ItemType = string(watch.Episode) // the numbers tell it
	}
	film := strings.EqualFold(r.ItemType, string(watch.Movie))
	if film {
		e.Title = o.Line("name", "title")
	} else {
		e.Title = o.Line("seriesname", "title")
		e.EpisodeTitle = o.Line("name")
	}
	e.AirDate = airDate(o, film || (e.Season != nil && *e.Season == 1))
	return r
}

// airDate is the date of the item. Year is the year of the show on an episode,
// and a template's release date on the first of January is made of it; ownYear
// tells that this year is the item's own as well.
func airDate(o payload.Object, ownYear bool) watch.Date {
	date := watch.ParseDate(o.Line("premieredate"))
	if !date.IsZero() {
		return date
	}
	date = watch.ParseDate(o.Line("release_date"))
	if date.Month == 1 && date.Day == 1 {
		date = watch.Date{Year: date.Year}
	}
	if date.IsZero() {
		date = o.Year("year")
	}
	if date.Month == 0 && !ownYear {
		return watch.Date{}
	}
	return date
}

// entity is a character as a template's {{X}} escapes it.
var entity = regexp.MustCompile(`&(?:amp|lt|gt|quot|apos|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});`)

// unescape takes back what the plugin does to texts: in the all-properties mode
// quotes keep a backslash, in a template {{X}} is escaped for HTML (section 4a,
// "Two body modes").
func unescape(o payload.Object) payload.Object {
	plain := make(payload.Object, len(o))
	template := !allProperties(o)
	for key, raw := range o {
		plain[key] = raw
		var text string
		if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
			continue
		}
		restored := strings.ReplaceAll(text, `\"`, `"`)
		if template {
			restored = entity.ReplaceAllStringFunc(restored, html.UnescapeString)
		}
		if restored == text {
			continue
		}
		if raw, err := json.Marshal(restored); err == nil {
			plain[key] = raw
		}
	}
	return plain
}

// allProperties reports whether o has the keys of the all-properties mode, whose
// ids are written without dashes; templates write them with dashes.
func allProperties(o payload.Object) bool {
	return o.Has("ServerId") && o.Has("ServerVersion") && o.Has("UtcTimestamp") && !strings.Contains(o.Text("ItemId"), "-")
}
