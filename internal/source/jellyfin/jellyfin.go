// Package jellyfin reads the webhooks of Jellyfin: those of the official plugin
// "Webhook", of the third-party plugin "Webhooks", and the latter's imitation of
// Plex (upstreams/media-servers.md, section 4).
package jellyfin

import (
	"errors"

	"watchmark/internal/source/payload"
	"watchmark/internal/source/plex"
	"watchmark/internal/watch"
)

// Parse reads a request of Jellyfin. It returns a *payload.BadRequest when the
// request is no event of a known plugin and an error that wraps
// payload.ErrUnsupportedMedia when it is neither JSON nor a form.
func Parse(req payload.Request) (payload.Delivery, error) {
	text, err := req.JSON()
	if err != nil {
		return payload.Delivery{}, err
	}
	o, err := payload.ParseObject(text)
	if bad := (*payload.BadRequest)(nil); errors.As(err, &bad) {
		// The text may come from a template that left holes.
		if mended, stillBad := payload.ParseObject(mend(text)); stillBad == nil {
			o, err = mended, nil
		}
	}
	switch {
	case err != nil:
		return payload.Delivery{}, err
	case o.Object("Metadata") != nil:
		return plex.ParseObject(watch.Jellyfin, o)
	case o.Has("Event") && !o.Has("NotificationType"):
		return parseWebhooks(o)
	}
	return parseWebhook(o)
}
