package custom

import "watchmark/internal/platform/reason"

var (
	unknownKind = reason.New("custom_unknown_kind", "media_type: {kind:q} is not episode (series, show, tv), movie (film), ova, oad or real_action.",
		"media_type：{kind:q}不是 episode（series、show、tv）、movie（film）、ova、oad 或 real_action。")
	fieldMissing    = reason.New("custom_missing", "missing: {fields}", "缺少：{fields}")
	notText         = reason.New("custom_not_text", "{field}: must be a text.", "{field}：必须是文本。")
	userNameTooLong = reason.New("custom_user_name_too_long", "user_name: must have at most {most} characters.", "user_name：最多 {most} 个字符。")
	titleUnreadable = reason.New("custom_title_unreadable", "title: has no readable character.", "title：没有可读的字符。")
	wrongSeason     = reason.New("custom_wrong_season", "season: must be a whole number from 0 to {most}.",
		"season：必须是 0 到 {most} 的整数。")
	wrongEpisode = reason.New("custom_wrong_episode", "episode: must be a number from 0 to {most}.",
		"episode：必须是 0 到 {most} 的数字。")
)
