// Package emby reads the webhooks of Emby Server
// (upstreams/media-servers.md, section 3).
package emby

import (
	"watchmark/internal/source/mediabrowser"
	"watchmark/internal/source/payload"
	"watchmark/internal/watch"
)

// Parse reads a request of Emby. It returns a *payload.BadRequest when the
// request is no Emby event and an error that wraps payload.ErrUnsupportedMedia
// when it is neither JSON nor a form.
func Parse(req payload.Request) (payload.Delivery, error) {
	o, err := req.Object()
	if err != nil {
		return payload.Delivery{}, err
	}
	r := mediabrowser.Read(o.Object("Item"))
	e := &r.Event
	e.Source = watch.Emby
	e.RawEvent = o.EventName("Event")
	e.OccurredAt = o.Time("Date")
	e.UserName = o.Object("User").Text("Name")
	e.UserID = o.Object("User").Line("Id")
	e.ServerName = o.Object("Server").Line("Name")
	e.Client = o.Object("Session").Line("Client")

	switch e.RawEvent {
	case "":
		return payload.Delivery{}, &payload.BadRequest{Field: "Event", Detail: "Event: missing: this is no webhook of Emby."}
	case "item.markplayed":
		return r.Deliver(watch.Watched)
	case "playback.stop", "playback.scrobble":
		// A missing flag means not completed.
		if completed, _ := o.Object("PlaybackInfo").Bool("PlayedToCompletion"); completed {
			return r.Deliver(watch.Watched)
		}
		return r.Ignore("%s without PlayedToCompletion is not a finished playback.", e.RawEvent), nil
	case "playback.start":
		return r.Deliver(watch.Started)
	case "item.markunplayed":
		return r.Ignore("item.markunplayed takes a watch back: marks are never removed from the list."), nil
	case "system.notificationtest", "system.webhooktest":
		return r.ConnectionTest(), nil
	default:
		return r.Ignore("%s is not a finished playback.", e.RawEvent), nil
	}
}
