package jellyfin

import "watchmark/internal/platform/reason"

var (
	noType = reason.New("jellyfin_no_type", `NotificationType: missing: tick "Send All Properties" in the webhook of Jellyfin.`,
		"缺少 NotificationType：请在 Jellyfin 的 Webhook 中勾选“Send All Properties”。")
	notCompleted = reason.New("jellyfin_not_completed", "PlaybackStop without PlayedToCompletion is not a finished playback.",
		"没有 PlayedToCompletion 的 PlaybackStop 不算看完。")
	notByHand = reason.New("jellyfin_not_by_hand", "UserDataSaved with {save_reason} is not a mark by hand.",
		"UserDataSaved（{save_reason}）不是手动标记。")
	noSaveReason = reason.New("jellyfin_no_save_reason", "no SaveReason", "没有 SaveReason")
	noPlayed     = reason.New("jellyfin_no_played", "UserDataSaved does not say whether the item was marked played: send the key Played.",
		"UserDataSaved 没有说明是否标为已看：请发送 Played 字段。")
	unknownLength = reason.New("jellyfin_unknown_length", "Stop does not say whether playback was finished: the running time is unknown.",
		"Stop 没有说明是否看完：片长未知。")
	stoppedEarly = reason.New("jellyfin_stopped_early", "Stop before the end is not a finished playback.",
		"结束前的 Stop 不算看完。")
)
