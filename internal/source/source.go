package source

import (
	"fmt"
	"slices"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/source/custom"
	"watchmark/internal/source/emby"
	"watchmark/internal/source/jellyfin"
	"watchmark/internal/source/payload"
	"watchmark/internal/source/plex"
	"watchmark/internal/source/scrobble"
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

// Adapter is one push source.
type Adapter = payload.Adapter

// Guide is what the page Webhooks says of a source.
type Guide = payload.Guide

// Adapters are the push sources, in the order people see them.
var Adapters = []Adapter{
	plex.Adapter,
	tautulli.Adapter,
	emby.Adapter,
	jellyfin.Adapter,
	scrobble.Adapter,
	custom.Adapter,
}

// Push lists the sources that deliver what was watched by themselves, in the order people see them.
var Push = names(func(Adapter) bool { return true })

// Webhooks are those of Push that deliver to the webhook of their name.
var Webhooks = names(func(a Adapter) bool { return !a.ByAPIKey })

// All lists every source, in the order people see them: those that push, then those that are polled, and files.
var All = slices.Concat(Push, []watch.Source{watch.NAS, watch.Device, watch.Tracker, watch.Watcher, watch.File})

// polled are the names of the sources that are no Adapter.
var polled = map[watch.Source]bilingual.Text{
	watch.NAS:     {English: "NAS", Chinese: "NAS"},
	watch.Device:  {English: "TV box", Chinese: "电视盒子"},
	watch.Tracker: {English: "Trakt", Chinese: "Trakt"},
	watch.Watcher: {English: "Server sign-in", Chinese: "服务器登录"},
	watch.File:    {English: "File", Chinese: "文件"},
}

// Name is what people call a source. It reports false when there is none of that name.
func Name(src watch.Source) (bilingual.Text, bool) {
	for _, a := range Adapters {
		if a.Source == src {
			return a.Name, true
		}
	}
	name, ok := polled[src]
	return name, ok
}

func names(of func(Adapter) bool) []watch.Source {
	var all []watch.Source
	for _, a := range Adapters {
		if of(a) {
			all = append(all, a.Source)
		}
	}
	return all
}

// Parse reads a webhook request of src. Every event of the delivery passes
// watch.Event.Validate. It returns a *BadRequest for a request that is broken or
// lacks something, an error that wraps ErrUnsupportedMedia for a body in no known
// form, and another one for a src that is not in Push.
func Parse(src watch.Source, req Request) (Delivery, error) {
	for _, a := range Adapters {
		if a.Source == src {
			return a.Parse(req)
		}
	}
	return Delivery{}, fmt.Errorf("no source of webhooks is called %q", src)
}
