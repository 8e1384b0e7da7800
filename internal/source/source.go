// Package source turns the webhook requests of media servers into watch.Events.
// It is pure: bytes in, events or a reason out. Each push source has a package
// below this one and a line in adapters.
package source

import (
	"errors"
	"fmt"

	"watchmark/internal/source/custom"
	"watchmark/internal/source/emby"
	"watchmark/internal/source/jellyfin"
	"watchmark/internal/source/payload"
	"watchmark/internal/source/plex"
	"watchmark/internal/source/tautulli"
	"watchmark/internal/watch"
)

// Request is the part of a webhook request that adapters look at. The caller bounds Body.
type Request = payload.Request

// Delivery is what one webhook request came to: events, or the reason why there are none.
type Delivery = payload.Delivery

// BadRequest is the error for a request that the sender has to change; answer 400.
type BadRequest = payload.BadRequest

// ErrUnsupportedMedia is returned when a body is neither JSON nor a form; answer 415.
var ErrUnsupportedMedia = payload.ErrUnsupportedMedia

// ErrUnknownSource is returned for a source that does not deliver by webhook; answer 404.
var ErrUnknownSource = errors.New("no such webhook source")

var adapters = map[watch.Source]func(Request) (Delivery, error){
	watch.Plex:     plex.Parse,
	watch.Tautulli: tautulli.Parse,
	watch.Emby:     emby.Parse,
	watch.Jellyfin: jellyfin.Parse,
	watch.Custom:   custom.Parse,
}

// Parse reads a webhook request of src. Every event of the delivery passes
// watch.Event.Validate. It returns a *BadRequest for a request that is broken or
// lacks something, an error that wraps ErrUnsupportedMedia for a body in no known
// form, and one that wraps ErrUnknownSource for a src without an adapter.
func Parse(src watch.Source, req Request) (Delivery, error) {
	parse, ok := adapters[src]
	if !ok {
		return Delivery{}, fmt.Errorf("read webhook of %q: %w", src, ErrUnknownSource)
	}
	return parse(req)
}
