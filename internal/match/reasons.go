package match

import (
	"watchmark/internal/platform/reason"
)

// ErrViewerRefused is the error of a match that found nothing, or no episode of an adult title for sure, while the catalog
// refused the token of the Viewer: what only the account may see was not seen, or in part.
var ErrViewerRefused = reason.New("account_refused", "Bangumi refuses the token of the account", "Bangumi 拒绝了账号的令牌")

// opSearch is what was done when only the whole of a search says that it failed.
var opSearch = reason.New("match_search", "search", "搜索")

// Results without a subject that is certain.
var (
	rulesUnreadable = reason.New("rules_unreadable",
		"the mappings and blocked titles could not be read from the database: Watchmark tries again by itself",
		"无法从数据库读取映射和屏蔽的标题：会自动重试")
	keywordBlocks = reason.New("keyword_blocks",
		"the blocked title {keyword:q} fits: to have this marked, remove it from the blocked titles",
		"符合屏蔽的标题{keyword:q}：要标记它，请先删除这条屏蔽")
	lookUpRefused = reason.New("look_up_refused",
		"Bangumi refuses the request: check the address of Bangumi in the settings, then retry",
		"Bangumi 拒绝了请求：请检查设置中的 Bangumi 地址，然后重试")
	lookUpRefusedSaying = reason.New("look_up_refused_saying",
		"Bangumi refuses the request (it says: {words}): check the address of Bangumi in the settings, then retry",
		"Bangumi 拒绝了请求（返回信息：{words}）：请检查设置中的 Bangumi 地址，然后重试")
	nothingFits = reason.New("nothing_fits",
		"no entry matches {what}: search for it on Bangumi and add a mapping for the title, or block the title if it does not belong on a list",
		"没有与{what}匹配的条目：请在 Bangumi 上查找，并为该标题添加映射；如果它不该被标记，就屏蔽它")
	whole        = reason.New("title", "{title:q}", "{title:q}")
	specialsOf   = reason.New("title_specials", "{title:q} specials", "{title:q}特别篇")
	seasonOf     = reason.New("title_season", "{title:q} season {season}", "{title:q} 第 {season} 季")
	noEntryFound = reason.New("nothing_proposed", "no entry was found", "没有找到条目")
	perhapsBut   = reason.New("perhaps_but", "perhaps {subject}, but {doubt}", "可能是《{subject}》，但{doubt}")
	perhaps      = reason.New("perhaps", "perhaps {subject}, but this is not certain ({why}): confirm it on the page Review",
		"可能是《{subject}》，但不够确定（{why}）：请在“待确认”页面确认")
	twoFit = reason.New("two_fit", "{subject} and {other} fit almost equally well: choose one on the page Review",
		"《{subject}》和《{other}》符合的程度几乎相同：请在“待确认”页面选择一个")
	noSuchEpisode = reason.New("no_such_episode",
		"{subject} is the entry, but {why}: look at its episodes on Bangumi, or add a mapping with an episode offset",
		"条目是《{subject}》，但{why}：请到 Bangumi 查看它有哪些集，或添加带集数偏移的映射")
	hiddenWithoutSignIn = reason.New("table_subject_hidden",
		"the ID table leads to entry {subject}, which Bangumi does not show: it was removed, or it is an adult entry, which only a signed-in account may see",
		"ID 对照表指向条目 {subject}，但 Bangumi 没有显示它：可能已被删除，或是登录后才可见的成人条目")
	hiddenFromAccount = reason.New("table_subject_hidden_from_account",
		"the ID table leads to entry {subject}, which Bangumi does not show: it was removed, or this account may not see it (registered too recently, or not permitted)",
		"ID 对照表指向条目 {subject}，但 Bangumi 没有显示它：可能已被删除，或此账号看不到它（注册时间太短，或没有权限）")
)

// Why a subject fits, each a part of a list.
var (
	idFits         = reason.New("fits_id", "an ID from the media server belongs to it", "媒体服务器发来的 ID 对应此条目")
	sameTitle      = reason.New("fits_title", "the title is the same", "标题相同")
	nearTitle      = reason.New("fits_title_nearly", "the title is almost the same", "标题几乎相同")
	similarTitle   = reason.New("fits_title_similar", "the title is similar", "标题相似")
	otherSeason    = reason.New("fits_other_season", "the season is a different one or unknown", "季不同或未知")
	countedSeason  = reason.New("fits_counted_season", "the season was found by counting the sequels", "按续集推算出这一季")
	otherMediaType = reason.New("fits_other_kind", "it is of another type (film or show)", "类型（剧场版或剧集）不同")
	countedEpisode = reason.New("fits_counted_episode", "the episode was found {how}", "集数：{how}")
	airedOn        = reason.New("fits_aired_on", "the episode aired on {date}", "这一集放送于 {date}")
	seasonBegan    = reason.New("fits_season_began", "the season began on that day", "这一季在那天开播")
	otherAired     = reason.New("fits_other_aired", "episode {number} aired on that day, not this one", "那天放送的是第 {number} 集，不是这一集")
	releaseNear    = reason.New("fits_release_near", "the release is close to that day", "上映时间与那天相近")
	releaseFar     = reason.New("fits_release_far", "the release on {date} is far from that day", "上映于 {date}，与那天相差很远")
	onAir          = reason.New("fits_on_air", "it was on air on that day", "那天正在放送期间")
	nearAir        = reason.New("fits_on_air_near", "it was on air close to that day", "那天接近放送期间")
	offAirThen     = reason.New("fits_off_air", "it was not on air on that day", "那天不在放送期间")
	ofYear         = reason.New("fits_year", "it began or aired in {year}", "{year} 年开播或放送")
	notOfYear      = reason.New("fits_other_year", "it is not from {year}", "不是 {year} 年的作品")
)

// How an episode was found.
var (
	ownNumber        = reason.New("episode_by_number", "by its number", "按集数")
	numberDated      = reason.New("episode_by_number_dated", "by its number, as the air date shows", "按集数，由放送日期确定")
	numberAgrees     = reason.New("episode_by_number_agreed", "by its number, and the air date agrees", "按集数，与放送日期一致")
	numberDoubtful   = reason.New("episode_by_number_doubtful", "by its number, which may also be past the end of the season", "按集数，但也可能已超出本季")
	numberGoesOn     = reason.New("episode_by_number_sequel", "by its number, which continues into this sequel", "按集数，接着计入这部续作")
	placeDated       = reason.New("episode_by_place_dated", "by its position in the season, as the air date shows", "按在本季中的位置，由放送日期确定")
	placeContinued   = reason.New("episode_by_place_continued", "by its position in the season, whose numbers continue those of earlier seasons", "按在本季中的位置，本季集数接着前作计数")
	placeFrom        = reason.New("episode_by_place_from", "by its position in the list, whose numbers begin with {number}", "按在列表中的位置，列表从第 {number} 集开始")
	placeOtherNumber = reason.New("episode_by_place_numbered", "by its position in the season, where the list has a different number", "按在本季中的位置，但列表中的编号不同")
	placeInTable     = reason.New("episode_by_place_table", "by its position in the season, which the ID table puts together from several entries", "按在本季中的位置，本季在 ID 对照表中由多个条目组成")
	placeBehind      = reason.New("episode_by_place_special", "by its position after the special in the ID table", "按它在 ID 对照表所列特别篇之后的位置")
	seasonBefore     = reason.New("episode_behind_season", "after {count} episodes of the season that come before this sequel", "本季在这部续作之前有 {count} 集")
	episodesBefore   = reason.New("episode_behind", "after {count} episodes that come before this sequel", "这部续作之前有 {count} 集")
	dayAlone         = reason.New("episode_by_day", "by the air date alone, because Bangumi has no such season", "仅按放送日期，因为 Bangumi 上没有这一季")
	dayInWhole       = reason.New("episode_by_day_whole", "by its air date, because Bangumi has one entry for all seasons", "按放送日期，因为 Bangumi 上所有季是同一个条目")
	dayOfEvent       = reason.New("episode_of_day", "by its air date, the day of the event", "按放送日期，与事件同一天")
	specialNumber    = reason.New("special_by_number", "by its number among the specials", "按特别篇中的编号")
	specialNumbered  = reason.New("special_by_number_alone", "by its number alone, and servers and Bangumi count specials differently", "仅按编号，而媒体服务器与 Bangumi 的编号方式不同")
	specialOfDay     = reason.New("special_of_day", "as the special that aired on that day", "那天放送的特别篇")
	specialTitled    = reason.New("special_of_title", "as the special with that title", "标题相符的特别篇")
	storyOfDay       = reason.New("story_of_day", "as the episode that aired on that day", "那天放送的一集")
	storyTitled      = reason.New("story_of_title", "as the episode with that title", "标题相符的一集")
	storyBegan       = reason.New("story_began", "as the side story that began on that day", "番外篇在那天开播")
	storyOnly        = reason.New("story_only", "as the only episode of the side story with that title", "标题相符的番外篇的唯一一集")
	filmItself       = reason.New("film_itself", "as a film without an episode list: the entry itself is marked", "没有分集列表的剧场版：直接标记条目")
	filmEpisode      = reason.New("film_episode", "as the episode of the film", "剧场版的唯一一集")
	filmFirst        = reason.New("film_first", "as the first of several episodes", "多集中的第一集")
	serverNamed      = reason.New("episode_named", "by the ID from the media server", "由媒体服务器指定")
)

// Why no episode was found.
var (
	specialMissing = reason.New("special_missing", "special {number} is not in the episode list", "分集列表中没有特别篇 {number}")
	episodeGone    = reason.New("episode_missing", "episode {number} is missing from the list, which ends with {last}", "分集列表缺少第 {number} 集，列表到第 {last} 集为止")
	episodeBeyond  = reason.New("episode_beyond", "episode {number} is not in the list, which ends with {last}", "分集列表中没有第 {number} 集，列表到第 {last} 集为止")
	episodeNotYet  = reason.New("episode_not_on_air", "episode {number} is not in the list, and the one in its position, {other}, had not aired yet",
		"分集列表中没有第 {number} 集，而对应位置的第 {other} 集当时还没有放送")
	notInSeason   = reason.New("episode_not_in_season", "episode {number} is not in the season", "这一季没有第 {number} 集")
	seasonEnds    = reason.New("season_ends", "the season has fewer episodes", "这一季没有那么多集")
	noEpisodeList = reason.New("no_episode_list", "the entry has no episode list", "该条目没有分集列表")
	noFilmEpisode = reason.New("no_episode_no_film", "the entry has no episodes and is not a film", "该条目没有分集，也不是剧场版")
	hiddenList    = reason.New("episodes_hidden", "Bangumi shows it to signed-in accounts only", "Bangumi 只对已登录的账号显示它")
	hiddenAccount = reason.New("episodes_hidden_from_account", "this account may not see it (registered too recently, or not permitted)", "此账号看不到它（注册时间太短，或没有权限）")
)

// What the mappings say.
var (
	mappingHidden = reason.New("mapping_hidden",
		"the mapping {title:q} leads to entry {subject}, which Bangumi does not show: it does not exist, or it is an adult entry, which only a signed-in account may see; correct the mapping",
		"映射{title:q}指向条目 {subject}，但 Bangumi 没有显示它：可能不存在，或是登录后才可见的成人条目；请更正映射")
	mappingHiddenFromAccount = reason.New("mapping_hidden_from_account",
		"the mapping {title:q} leads to entry {subject}, which Bangumi does not show: it does not exist, or this account may not see it (registered too recently, or not permitted)",
		"映射{title:q}指向条目 {subject}，但 Bangumi 没有显示它：可能不存在，或此账号看不到它（注册时间太短，或没有权限）")
	mappingOtherForm = reason.New("mapping_other_form",
		"it is for every season and leads to {form}, but the event is of the other type: a film and a show may have the same title; set the form or the season of the mapping to have it used",
		"该映射适用于所有季并指向{form}，而事件不是：剧场版和剧集可能同名；给映射指定类型或季后才会采用")
	byMapping = reason.New("mapping_says", "by the mapping {title:q}", "由映射{title:q}指定")
	aFilm     = reason.New("a_film", "a film", "剧场版")
	aShow     = reason.New("a_show", "a show", "剧集")
)

// What the ids of the catalog in the event say.
var (
	episodeNamed = reason.New("payload_episode", "the media server sent the Bangumi ID of this episode", "媒体服务器发来了这一集的 Bangumi ID")
	subjectNamed = reason.New("payload_subject", "the media server sent the Bangumi ID of this entry", "媒体服务器发来了这个条目的 Bangumi ID")
	namedOther   = reason.New("payload_other",
		"the media server names entry {subject}, {name}, which is neither anime nor live action: correct the ID in the library, or add a mapping for the title",
		"媒体服务器给出的条目 {subject}（{name}）既不是动画也不是真人作品：请在媒体库中更正该 ID，或为此标题添加映射")
	namedFilm = reason.New("payload_film",
		"the media server names entry {subject}, {name}, a film, for an episode of a show: correct the ID in the library, or choose the entry on the page Review",
		"媒体服务器为剧集的一集给出了条目 {subject}（{name}），而它是剧场版：请在媒体库中更正该 ID，或在“待确认”页面选择条目")
	namedShow = reason.New("payload_show",
		"the media server names entry {subject}, {name}, a show, for a film: correct the ID in the library, or choose the entry on the page Review",
		"媒体服务器为电影给出了条目 {subject}（{name}），而它是剧集：请在媒体库中更正该 ID，或在“待确认”页面选择条目")
	notOnBangumi = reason.New("payload_unknown", "not on Bangumi", "Bangumi 上没有")
)

// Why a layer is not asked.
var (
	settledByMapping = reason.New("layer_mapping", "a mapping names the entry", "映射已指定条目")
	settledByPayload = reason.New("layer_payload", "the event names the entry by its ID", "事件中的 ID 已指定条目")
	settledByTable   = reason.New("layer_table_sure", "the ID table is certain", "ID 对照表已足够确定")
	settledByArchive = reason.New("layer_archive_sure", "the offline data are certain", "离线数据已足够确定")
	settledOffline   = reason.New("layer_catalog_away", "Bangumi cannot be reached, and the offline data are certain", "无法连接 Bangumi，而离线数据已足够确定")
	archiveRefused   = reason.New("layer_archive_refused", "Bangumi refuses the entry from the offline data", "Bangumi 拒绝了离线数据找到的条目")
	animeOnly        = reason.New("layer_anime_only", "the ID table has anime only", "ID 对照表只收录动画")
	liveSearched     = reason.New("layer_live_searched", "the event is live action, which the earlier steps have searched for", "事件已注明是真人作品，前面各步已按此查找")
	liveOff          = reason.New("layer_live_off", "live-action entries are not searched (matching.live_action_enabled is off)", "未启用真人作品搜索（matching.live_action_enabled）")
	animeFits        = reason.New("layer_anime_fits", "an anime fits", "已有符合的动画")
	noViewer         = reason.New("layer_no_account", "there is no account to search with", "没有可用来查询的账号")
	otherNamed       = reason.New("layer_other_named", "an ID leads to another entry, so a person decides", "某个 ID 指向别的条目，由人来决定")
	entryFits        = reason.New("layer_entry_fits", "a certain entry was found already", "已有足够确定的条目")
)

// The verdicts of the arbiter.
var (
	verdictAccept = reason.New("verdict_accept", "accept", "采用")
	verdictAsk    = reason.New("verdict_ask", "ask a person", "由人确认")
	verdictNear   = reason.New("verdict_near", "ask a person: {subject} fits almost as well", "由人确认：{subject} 也很接近")
	verdictReject = reason.New("verdict_reject", "discard", "放弃")
)

// stepTitles are the steps as a person reads them.
var stepTitles = map[StepName]*reason.Kind{
	StepRoute:    reason.New("step_route", "Account", "账号"),
	StepBlock:    reason.New("step_block", "Blocked titles", "屏蔽的标题"),
	StepMapping:  reason.New("step_mapping", "Mappings", "映射"),
	StepPayload:  reason.New("step_payload", "Bangumi IDs in the event", "事件中的 Bangumi ID"),
	StepDataset:  reason.New("step_dataset", "ID table", "ID 对照表"),
	StepArchive:  reason.New("step_archive", "Offline data", "离线数据"),
	StepAPI:      reason.New("step_api", "Bangumi", "Bangumi"),
	StepLive:     reason.New("step_live_action", "Live action", "真人作品"),
	StepAdult:    reason.New("step_adult", "Adult titles", "成人条目"),
	StepArbiter:  reason.New("step_arbiter", "Candidates compared", "候选比较"),
	StepEpisode:  reason.New("step_episode", "Episode", "集"),
	StepDecision: reason.New("step_decision", "Decision", "决定"),
	StepMark:     reason.New("step_mark", "Mark", "标记"),
	StepCorrect:  reason.New("step_correct", "Correction", "更正"),
}

// What there is to say of a step.
var (
	stepGoesTo       = reason.New("step_goes_to", "goes to {accounts}", "标记到 {accounts}")
	stepNobody       = reason.New("step_nobody", "no account has this user name", "没有账号填写了该用户名")
	stepStops        = reason.New("step_stops", "blocked by {keyword}", "命中：{keyword}")
	stepFree         = reason.New("step_free", "not blocked", "没有命中")
	stepDecides      = reason.New("step_decides", "names the entry", "指定了条目")
	stepFindsNothing = reason.New("step_finds_nothing", "nothing found", "没有找到")
	stepNotAsked     = reason.New("step_not_asked", "not needed: {why}", "无需查询：{why}")
	stepOne          = reason.New("step_one_candidate", "1 candidate", "1 个候选条目")
	stepCandidates   = reason.New("step_candidates", "{count} candidates", "{count} 个候选条目")
	stepAnd          = reason.New("step_and", "{first}; {second}", "{first}；{second}")
)

// What other sites number.
var (
	otherNumbering  = reason.New("other_numbering", "{site} counts it as another episode: {there}, not {here}", "按 {site} 的编号是第 {there} 集，而不是第 {here} 集")
	otherEntry      = reason.New("other_numbering_entry", "by the order of the entries it is {name}", "按条目的先后顺序应是《{name}》")
	numberedEntry   = reason.New("numbered_entry", "{site}: {list}, {row} is entry #{entry}", "{site}：{list} 的 {row} 是条目 #{entry}")
	numberedEpisode = reason.New("numbered_episode", "{site}: {list}, {row} is entry #{entry}, episode {sort}", "{site}：{list} 的 {row} 是条目 #{entry} 第 {sort} 集")
)
