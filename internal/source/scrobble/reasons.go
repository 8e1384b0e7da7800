package scrobble

import "watchmark/internal/platform/reason"

var (
	badProgress = reason.New("scrobble_progress", "progress: must be a number from 0 to 100.", "progress：必须是 0 到 100 的数字。")
	noItem      = reason.New("scrobble_no_item", "movie, or show and episode: one of them must be there, as at Trakt.",
		"缺少 movie，或 show 和 episode：格式与 Trakt 相同。")
	noTitle = reason.New("scrobble_no_title", "{field}: the title is missing. Ids alone do not name a title here.",
		"{field}：缺少标题。这里不能只用编号。")
	noNumber = reason.New("scrobble_no_number", "episode: season must be a whole number from 0 on, and number one from 0 to {most}; number_abs may stand for both.",
		"episode：season 必须是不小于 0 的整数，number 必须是 0 到 {most} 的数字；也可以改用 number_abs。")
	stoppedEarly = reason.New("scrobble_stopped_early", "Stopped at {at} %: it counts as watched from {from} % on.",
		"在 {at} % 处停止：播放到 {from} % 才算看完。")
)
