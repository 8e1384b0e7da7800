package jellyfin

import (
	"cmp"
	"strings"

	"watchmark/internal/source/mediabrowser"
	"watchmark/internal/source/payload"
	"watchmark/internal/watch"
)

// finishedShare is the share of the running time after which the third-party
// plugin itself takes an item for played.
const finishedShare = 0.9

// parseWebhooks reads the default format of the third-party plugin (section 4b).
func parseWebhooks(o payload.Object) (payload.Delivery, error) {
	r := readWebhooks(o)
	switch event := r.Event.RawEvent; event {
	case "Scrobble", "MarkPlayed":
		return r.Deliver(watch.Watched)
	case "Stop":
		// Scrobble comes once per item for all users together: the position tells for the others.
		position, _ := o.Object("Session").Object("PlayState").Number("PositionTicks")
		length, _ := o.Object("Item").Number("RunTimeTicks")
		switch {
		case length <= 0:
			return r.Ignore(unknownLength.With()), nil
		case position >= finishedShare*length:
			return r.Deliver(watch.Watched)
		}
		return r.Ignore(stoppedEarly.With()), nil
	case "Play":
		return r.Deliver(watch.Started)
	case "MarkUnplayed":
		return r.Deliver(watch.Unwatched)
	default:
		return r.Ignore(payload.NotFinished.With(event)), nil
	}
}

func readWebhooks(o payload.Object) payload.Report {
	series := o.Object("Series")
	r := mediabrowser.ReadEvent(watch.Jellyfin, o)
	e := &r.Event
	if strings.EqualFold(r.ItemType, string(watch.Episode)) {
		e.Title = cmp.Or(e.Title, series.Line("Name"))
		e.OriginalTitle = series.Line("OriginalTitle")
		e.SeriesIDs = series.Object("ProviderIds").IDs()
	}
	return r
}
