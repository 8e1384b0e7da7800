package tautulli

import "watchmark/internal/platform/reason"

var (
	emptyBody = reason.New("tautulli_empty_body", "The body is empty: the JSON Data of the notification agent in Tautulli is not valid JSON.",
		"请求内容为空：Tautulli 通知代理中的 JSON Data 不是有效的 JSON。")
	noEvent = reason.New("tautulli_no_event", `event: missing: add "event": "{placeholder}" to the JSON Data of the notification agent in Tautulli.`,
		`缺少 event：请在 Tautulli 通知代理的 JSON Data 中加入 "event": "{placeholder}"。`)
	notWatched = reason.New("tautulli_not_watched", "{event} is not a finished playback: only the trigger Watched marks.",
		"{event} 不表示看完：只有触发器 Watched 会标记。")
)
