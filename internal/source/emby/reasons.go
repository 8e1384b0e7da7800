package emby

import "watchmark/internal/platform/reason"

var (
	noEvent      = reason.New("emby_no_event", "Event: missing: this is not a webhook of Emby.", "缺少 Event：这不是 Emby 的 Webhook。")
	notCompleted = reason.New("emby_not_completed", "{event} without PlayedToCompletion is not a finished playback.",
		"没有 PlayedToCompletion 的 {event} 不算看完。")
)
