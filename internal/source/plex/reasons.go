package plex

import "watchmark/internal/platform/reason"

var (
	noEvent = reason.New("plex_no_event", "event: missing: this is not a webhook of Plex.", "缺少 event：这不是 Plex 的 Webhook。")
	stopped = reason.New("plex_stopped", "media.stop does not say whether playback was finished: media.scrobble does.",
		"media.stop 没有说明是否看完，要看 media.scrobble。")
)
