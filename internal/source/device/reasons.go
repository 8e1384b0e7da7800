package device

import "watchmark/internal/platform/reason"

var (
	// errNoPlayer is returned for an address that answers, but not as a player with /media does.
	errNoPlayer = reason.New("device_no_player", "what answers there is not a player that tells what it plays: install FongMi TV of spring 2024 or later, or a fork of it",
		"该地址上的不是会告知播放内容的播放器：请安装 2024 年春季以后的 FongMi 影视或其衍生版本")
	badStatus = reason.New("device_bad_status", "{path} answered {status}; {why}", "{path} 返回了 {status}；{why}")
	notJSON   = reason.New("device_not_json", "{path} did not answer a JSON object; {why}", "{path} 返回的不是 JSON 对象；{why}")
	nameless  = reason.New("device_nameless", "/device has neither uuid nor name; {why}", "/device 既没有 uuid 也没有名字；{why}")
	// ErrOff is returned while the boxes are switched off.
	ErrOff = reason.New("device_off", "the TV boxes are switched off: set device.enabled", "电视盒子未启用：请启用 device.enabled").For(reason.Conflict)
	// ErrScanning says that boxes are being looked for already.
	ErrScanning = reason.New("device_scanning", "a scan for boxes is running already: wait for it",
		"正在查找盒子：请等它结束后再试").For(reason.Conflict)
	// ErrUnknown says that no box of that address or uuid is known.
	ErrUnknown = reason.New("device_unknown", "there is no box with this address or uuid: add it to device.addresses, or scan for it",
		"没有这个地址或 uuid 的盒子：请填入 device.addresses，或扫描查找").For(reason.NotFound)

	endedEarly = reason.New("device_ended_early", "it ended at {percent} %, and counts from {least} %",
		"在 {percent}% 处结束，达到 {least}% 才计入").Was("device_ended_counts_from", "floor", "value")
	nothingPlays = reason.New("device_nothing_plays", "the box plays nothing", "盒子没有播放内容").Was("device_box_plays_nothing")
	isLive       = reason.New("device_is_live", "it is a live stream, which never counts",
		"这是直播，从不计入").Was("device_live_stream_which_never_counts")
	notPlaying = reason.New("device_not_playing", "it neither plays nor pauses: start it again on the box",
		"没有在播放或暂停：请在盒子上重新播放").Was("device_neither_plays_nor_pauses_start")
	notFarEnough = reason.New("device_not_far_enough", "it is at {percent} %, and counts from {least} %",
		"播放到 {percent}%，达到 {least}% 才计入").Was("device_counts_from", "floor", "value")
	countPlay = reason.New("device_count_play", "count what a box played: {cause}",
		"统计盒子播放的内容：{cause}").Was("device_count_what_device_played")
	storePlay = reason.New("device_store_play", "store what a box plays: {cause}",
		"保存盒子播放的内容：{cause}").Was("device_note_what_device_plays")
	removeOldPlays = reason.New("device_remove_old_plays", "remove what boxes played long ago: {cause}",
		"清理盒子很久以前的播放：{cause}").Was("device_forget_what_devices_played_long")
	scanningNow = reason.New("device_scanning_now", "looking for boxes", "正在查找盒子").Was("device_looking_boxes")

	// Why nothing is marked by what a box says.
	isExtra              = reason.New("device_is_extra", "it is a trailer or an extra", "这是预告或花絮")
	labelCounts          = reason.New("device_label_counts", "the label counts episodes and names none", "标签只写了总集数")
	labelNamesSpan       = reason.New("device_label_names_span", "the label names a span of episodes", "标签包含多集")
	specialWithoutNumber = reason.New("device_special_without_number", "it is a special without a number", "没有编号的特别篇")
	severalNumbers       = reason.New("device_several_numbers", "the label has several numbers", "标签里有多个数字")
	isChannel            = reason.New("device_is_channel", "it is a live channel", "这是直播频道")
	noEpisodeTold        = reason.New("device_no_episode_told", "it is not clear which episode it is", "看不出是第几集")
	labelNumbersParts    = reason.New("device_label_numbers_parts", "the label numbers parts or volumes, not episodes", "标签的编号是部或卷，不是集")
	oneOfSeveralFilms    = reason.New("device_one_of_several_films", "the label names one of several films", "标签是多部电影之一")
	noTitle              = reason.New("device_no_title", "it has no title", "没有标题")
	jumpedToEnd          = reason.New("device_jumped_to_end", "it was jumped to its end", "直接跳到了结尾")
	errOwed              = reason.New("device_owed", "it cannot be stored now and is tried again soon: the log of the service says why", "暂时无法保存，稍后会重试：原因见服务日志")
)
