package watch

import "watchmark/internal/platform/reason"

// What is wrong with a field of an event.
var (
	badAction   = reason.New("event_action", "{action:q} is neither watched nor started", "{action:q}应为 watched 或 started")
	badMedia    = reason.New("event_media", "{media:q} is not episode, movie, ova or real_action", "{media:q}应为 episode、movie、ova 或 real_action")
	missing     = reason.New("event_missing", "missing", "缺少")
	tooLong     = reason.New("event_too_long", "longer than {most} bytes", "超过 {most} 字节")
	outOfRange  = reason.New("event_out_of_range", "{number} is not between 0 and {most}", "{number} 不在 0 到 {most} 之间")
	filmEpisode = reason.New("event_film_episode", "leave this out for a film", "电影不填此项")
)
