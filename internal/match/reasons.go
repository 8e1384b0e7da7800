package match

import (
	"watchmark/internal/platform/reason"
)

// ErrViewerRefused is the error of a match that found nothing, or no episode of an adult title for sure, while the catalog
// refused the token of the Viewer: what only the account may see was not seen, or in part.
var ErrViewerRefused = reason.New("account_refused", "the account's token is refused", "账号的令牌被拒绝")

// opSearch is what was done when only the whole of a search says that it failed.
var opSearch = reason.New("match_search", "search", "搜索")

// Results without a subject that is certain.
var (
	rulesUnreadable = reason.New("rules_unreadable",
		"the mappings and blocked keywords could not be read from the service's own database: it is tried again by itself",
		"无法从服务自己的数据库读取映射和屏蔽词：会自动重试")
	keywordBlocks = reason.New("keyword_blocks",
		"the keyword {keyword:q} blocks this title: remove it from the blocked keywords to have the title marked",
		"屏蔽词{keyword:q}屏蔽了此标题：删除该屏蔽词后才会标记")
	lookUpRefused = reason.New("look_up_refused",
		"the catalog refuses the look-up: check the catalog's address in the settings, then retry",
		"Bangumi 拒绝了查询：请检查设置中的 Bangumi 地址，然后重试")
	lookUpRefusedSaying = reason.New("look_up_refused_saying",
		"the catalog refuses the look-up (it says: {words}): check the catalog's address in the settings, then retry",
		"Bangumi 拒绝了查询（返回信息：{words}）：请检查设置中的 Bangumi 地址，然后重试")
	nothingFits = reason.New("nothing_fits",
		"no entry matched {what}: look for it in the catalog and add a mapping for the title, or block it if it does not belong there",
		"没有与{what}匹配的条目：请在 Bangumi 上查找，并为该标题添加映射；如果它不该被标记，就屏蔽它")
	whole          = reason.New("title", "{title:q}", "{title:q}")
	specialsOf     = reason.New("title_specials", "{title:q} specials", "{title:q} 特别篇")
	seasonOf       = reason.New("title_season", "{title:q} season {season}", "{title:q} 第 {season} 季")
	nobodyProposed = reason.New("nothing_proposed", "no layer proposed a subject", "没有任何一层给出候选条目")
	perhapsBut     = reason.New("perhaps_but", "perhaps {subject}, but {doubt}", "可能是《{subject}》，但{doubt}")
	perhaps        = reason.New("perhaps", "perhaps {subject}, but not sure ({why}): confirm it on the page Review",
		"可能是《{subject}》，但不够确定（{why}）：请在待确认页面确认")
	twoFit = reason.New("two_fit", "{subject} and {other} fit nearly alike: choose one on the page Review",
		"《{subject}》和《{other}》的符合程度几乎相同：请在待确认页面选择一个")
	noSuchEpisode = reason.New("no_such_episode",
		"{subject} is the subject, but {why}: look at its episodes in the catalog, or add a mapping with an episode offset",
		"条目是《{subject}》，但{why}：请到 Bangumi 查看它的章节，或添加带集数偏移的映射")
	hiddenFromAll = reason.New("table_subject_hidden",
		"the id table leads to subject {subject}, which the catalog does not show: it is gone, or an adult title, which is hidden from look-ups without a login",
		"ID 对照表指向条目 {subject}，但 Bangumi 没有显示它：已被删除，或是未登录时不可见的成人条目")
	hiddenFromAccount = reason.New("table_subject_hidden_from_account",
		"the id table leads to subject {subject}, which the catalog does not show: it is gone, or this account may not see it (too young, or not allowed)",
		"ID 表指向条目 {subject}，Bangumi 不显示它：它已不存在，或此账号看不到它（注册时间太短，或没有权限）")
)

// Why a subject fits, each a part of a list.
var (
	idStandsForIt  = reason.New("fits_id", "an id that the media server sent stands for it", "媒体服务器发来的编号对应此条目")
	sameTitle      = reason.New("fits_title", "the title is the same", "标题相同")
	nearTitle      = reason.New("fits_title_nearly", "the title is nearly the same", "标题几乎相同")
	similarTitle   = reason.New("fits_title_similar", "the title is similar", "标题相似")
	otherSeason    = reason.New("fits_other_season", "the season is another one or unknown", "季不同或未知")
	countedSeason  = reason.New("fits_counted_season", "the season was counted along the sequels", "季由续集推算")
	otherForm      = reason.New("fits_other_kind", "it is of another kind", "类型不同")
	countedEpisode = reason.New("fits_counted_episode", "the episode was counted: {how}", "集数的定位：{how}")
	airedOn        = reason.New("fits_aired_on", "the episode aired on {date}", "该集放送于 {date}")
	seasonBegan    = reason.New("fits_season_began", "the season began on that date", "该季在那天开播")
	otherAired     = reason.New("fits_other_aired", "episode {number} aired on that date, not this one", "那天放送的是第 {number} 集，不是这一集")
	releaseNear    = reason.New("fits_release_near", "the release is near that date", "上映时间与那天相近")
	releaseFar     = reason.New("fits_release_far", "the release of {date} is far from that date", "上映于 {date}，与那天相差很远")
	onAir          = reason.New("fits_on_air", "it was on air on that date", "那天正在放送期间")
	nearAir        = reason.New("fits_on_air_near", "it was on air near that date", "那天接近放送期间")
	offAirThen     = reason.New("fits_off_air", "it was not on air on that date", "那天不在放送期间")
	ofYear         = reason.New("fits_year", "it began or aired in {year}", "{year} 年开播或放送")
	notOfYear      = reason.New("fits_other_year", "it is not of {year}", "不是 {year} 年的作品")
)

// How an episode was found.
var (
	ownNumber        = reason.New("episode_by_number", "by its number", "按集数")
	numberDated      = reason.New("episode_by_number_dated", "by its number, the air date decides", "按集数，由放送日期确定")
	numberAgrees     = reason.New("episode_by_number_agreed", "by its number, the air date agrees", "按集数，与放送日期一致")
	numberDoubtful   = reason.New("episode_by_number_doubtful", "by its number, which may also lie behind the end of the season", "按集数，但也可能已超出本季")
	numberGoesOn     = reason.New("episode_by_number_sequel", "by its number, which goes on into this sequel", "按集数，接着计入这部续作")
	placeDated       = reason.New("episode_by_place_dated", "by its place in the season, the air date decides", "按在本季中的位置，由放送日期确定")
	placeContinued   = reason.New("episode_by_place_continued", "by its place in the season, whose numbers go on from earlier ones", "按在本季中的位置，本季集数接着前作计数")
	placeFrom        = reason.New("episode_by_place_from", "by its place in the list, whose numbers begin with {number}", "按在列表中的位置，列表从第 {number} 集开始")
	placeOtherNumber = reason.New("episode_by_place_numbered", "by its place in the season, where the list has another number for it", "按在本季中的位置，但列表中的编号不同")
	placeInTable     = reason.New("episode_by_place_table", "by its place in the season, which the id table puts together of several subjects", "按在本季中的位置，本季在 ID 对照表中由多个条目组成")
	placeBehind      = reason.New("episode_by_place_special", "by its place behind the special that the id table has for it", "按它在对照表所列特别篇之后的位置")
	seasonBefore     = reason.New("episode_behind_season", "{count} episodes of the season come before this sequel", "本季在这部续作之前有 {count} 集")
	episodesBefore   = reason.New("episode_behind", "{count} episodes come before this sequel", "这部续作之前有 {count} 集")
	dayAlone         = reason.New("episode_by_day", "by the air date alone, the catalog has no such season", "仅按放送日期，Bangumi 上没有这一季")
	dayInWhole       = reason.New("episode_by_day_whole", "by its air date, the catalog has one subject for all seasons", "按放送日期，Bangumi 上所有季是同一个条目")
	dayOfEvent       = reason.New("episode_of_day", "aired on the day of the event", "放送日期与事件一致")
	specialNumber    = reason.New("special_by_number", "by its number among the specials", "按特别篇中的编号")
	specialNumbered  = reason.New("special_by_number_alone", "by its number alone, which servers and catalog count in their own ways", "仅按编号，而媒体服务器与 Bangumi 的编号方式不同")
	specialOfDay     = reason.New("special_of_day", "the special that aired on that day", "那天放送的特别篇")
	specialTitled    = reason.New("special_of_title", "the special of that title", "标题相符的特别篇")
	storyOfDay       = reason.New("story_of_day", "the episode that aired on that day", "那天放送的章节")
	storyTitled      = reason.New("story_of_title", "the episode of that title", "标题相符的章节")
	storyBegan       = reason.New("story_began", "the side story began on that day", "番外篇在那天开播")
	storyOnly        = reason.New("story_only", "the only episode of the side story of that title", "标题相符的番外篇的唯一一集")
	filmItself       = reason.New("film_itself", "a film without an episode list: the mark belongs to the subject itself", "没有章节列表的剧场版：标记属于条目本身")
	filmEpisode      = reason.New("film_episode", "the film's episode", "剧场版的章节")
	filmFirst        = reason.New("film_first", "the first of several episodes", "多个章节中的第一个")
	serverNamed      = reason.New("episode_named", "named by the media server", "由媒体服务器指定")
)

// Why no episode was found.
var (
	specialMissing = reason.New("special_missing", "special {number} is not in the episode list", "章节列表中没有特别篇 {number}")
	episodeGone    = reason.New("episode_missing", "episode {number} is missing in the list, which ends with {last}", "章节列表缺少第 {number} 集，列表到第 {last} 集为止")
	episodeBeyond  = reason.New("episode_beyond", "episode {number} is not in the list, which ends with {last}", "章节列表中没有第 {number} 集，列表到第 {last} 集为止")
	episodeNotYet  = reason.New("episode_not_on_air", "episode {number} is not in the list, and the one at its place, {other}, was not on air then",
		"章节列表中没有第 {number} 集，而对应位置的第 {other} 集当时还没有放送")
	notInSeason   = reason.New("episode_not_in_season", "episode {number} is not in the season", "这一季没有第 {number} 集")
	seasonEnds    = reason.New("season_ends", "the season has fewer episodes", "这一季没有那么多集")
	noEpisodeList = reason.New("no_episode_list", "the subject has no episode list", "该条目没有章节列表")
	noFilmEpisode = reason.New("no_episode_no_film", "the subject has no episodes and is not a film", "该条目没有章节，也不是剧场版")
	hiddenList    = reason.New("episodes_hidden", "the catalog hides it from look-ups without an account", "未登录的查询看不到它")
	hiddenAccount = reason.New("episodes_hidden_from_account", "this account may not see it (too young, or not allowed)", "此账号看不到它（注册时间太短，或没有权限）")
)

// What the mappings say.
var (
	mappingHidden = reason.New("mapping_hidden",
		"the mapping {title:q} leads to subject {subject}, which the catalog does not show: it does not exist, or is an adult title, which is hidden from look-ups without a login; correct the mapping",
		"映射{title:q}指向条目 {subject}，但 Bangumi 没有显示它：不存在，或是未登录时不可见的成人条目；请更正映射")
	mappingHiddenFromAccount = reason.New("mapping_hidden_from_account",
		"the mapping {title:q} leads to subject {subject}, which the catalog does not show: it does not exist, or this account may not see it (too young, or not allowed)",
		"映射{title:q}指向条目 {subject}，Bangumi 不显示它：它不存在，或此账号看不到它（注册时间太短，或没有权限）")
	mappingOtherForm = reason.New("mapping_other_form",
		"it holds for every season and leads to {form}, which the event is not: a film and a show may bear one title; give the mapping a form, or a season, to have it used",
		"该映射适用于所有季并指向{form}，而事件不是：剧场版和剧集可能同名；给映射指定类型或季后才会采用")
	mappingSays = reason.New("mapping_says", "the mapping {title:q} says so", "由映射{title:q}指定")
	aFilm       = reason.New("a_film", "a film", "剧场版")
	aShow       = reason.New("a_show", "a show", "剧集")
)

// What the ids of the catalog in the event say.
var (
	episodeNamed = reason.New("payload_episode", "the media server named this episode by its catalog id", "媒体服务器给出了这一集的 Bangumi 章节编号")
	subjectNamed = reason.New("payload_subject", "the media server named this subject by its catalog id", "媒体服务器给出了这个条目的 Bangumi 编号")
	namedOther   = reason.New("payload_other",
		"the media server named subject {subject}, {name}, which is neither an anime nor live action: correct the id in the library, or add a mapping for the title",
		"媒体服务器给出的条目 {subject}（{name}）既不是动画也不是真人作品：请在媒体库中更正该 ID，或为此标题添加映射")
	namedFilm = reason.New("payload_film",
		"the media server named subject {subject}, {name}, which is a film, for an episode of a show: correct the id in the library, or choose the entry on the page Review",
		"媒体服务器为剧集的一集给出了条目 {subject}（{name}），而它是剧场版：请在媒体库中更正该 ID，或在“待确认”页面选择条目")
	namedShow = reason.New("payload_show",
		"the media server named subject {subject}, {name}, which is a show, for a film: correct the id in the library, or choose the entry on the page Review",
		"媒体服务器为电影给出了条目 {subject}（{name}），而它是剧集：请在媒体库中更正该 ID，或在“待确认”页面选择条目")
	notInCatalog = reason.New("payload_unknown", "not in the catalog", "Bangumi 上没有")
)

// Why a layer is not asked.
var (
	settledByMapping = reason.New("layer_mapping", "mapping named the subject", "自定义映射已指定条目")
	settledByPayload = reason.New("layer_payload", "payload_id named the subject", "事件自带的编号已指定条目")
	settledByTable   = reason.New("layer_table_sure", "the id table is sure", "ID 对照表已足够确定")
	settledByArchive = reason.New("layer_archive_sure", "the archive is sure", "离线数据已足够确定")
	settledOffline   = reason.New("layer_catalog_away", "the catalog cannot be asked, and the archive is sure", "无法查询 Bangumi，而离线数据已足够确定")
	archiveRefused   = reason.New("layer_archive_refused", "the catalog refuses what the archive led to", "Bangumi 拒绝了离线数据找到的条目")
	animeOnly        = reason.New("layer_anime_only", "the id table knows anime only", "ID 对照表只收录动画")
	liveSearched     = reason.New("layer_live_searched", "the event says live action, and the layers before have looked for that", "事件已注明是真人作品，前面各层已按此查找")
	liveOff          = reason.New("layer_live_off", "matching.live_action_enabled is off", "matching.live_action_enabled 未启用")
	animeFits        = reason.New("layer_anime_fits", "an anime fits", "已有符合的动画")
	noViewer         = reason.New("layer_no_account", "there is no account to ask", "没有可用来查询的账号")
	otherNamed       = reason.New("layer_other_named", "an id leads to something else, which a person decides on", "某个 ID 指向别的条目，由人来决定")
	entryFits        = reason.New("layer_entry_fits", "an entry fits surely", "已有足够确定的条目")
)

// The verdicts of the arbiter.
var (
	verdictAccept = reason.New("verdict_accept", "accept", "采用")
	verdictAsk    = reason.New("verdict_ask", "ask", "询问")
	verdictNear   = reason.New("verdict_near", "ask: {subject} is near", "询问：{subject} 很接近")
	verdictReject = reason.New("verdict_reject", "reject", "放弃")
)

// stepTitles are the steps as a person reads them.
var stepTitles = map[StepName]*reason.Kind{
	StepRoute:    reason.New("step_route", "Account", "归属账号"),
	StepBlock:    reason.New("step_block", "Blocked keywords", "屏蔽词"),
	StepMapping:  reason.New("step_mapping", "Your mappings", "自定义映射"),
	StepPayload:  reason.New("step_payload", "IDs of the catalog", "事件自带的编号"),
	StepDataset:  reason.New("step_dataset", "ID table", "ID 对照表"),
	StepArchive:  reason.New("step_archive", "Archive", "离线数据"),
	StepAPI:      reason.New("step_api", "Catalog", "Bangumi 搜索"),
	StepLive:     reason.New("step_live_action", "Live action", "真人作品"),
	StepAdult:    reason.New("step_adult", "Adult titles", "成人条目"),
	StepArbiter:  reason.New("step_arbiter", "Arbiter", "仲裁"),
	StepEpisode:  reason.New("step_episode", "Episode", "章节"),
	StepDecision: reason.New("step_decision", "Decision", "决定"),
	StepMark:     reason.New("step_mark", "Mark", "标记"),
	StepCorrect:  reason.New("step_correct", "Correction", "更正"),
}

// What there is to say of a step.
var (
	stepGoesTo     = reason.New("step_goes_to", "goes to {accounts}", "标记到 {accounts}")
	stepNobody     = reason.New("step_nobody", "no account names the user", "没有账号认领该用户")
	stepStops      = reason.New("step_stops", "stops it: {keyword}", "命中：{keyword}")
	stepFree       = reason.New("step_free", "none stops it", "没有命中")
	stepDecides    = reason.New("step_decides", "decides", "由此决定")
	stepFinds      = reason.New("step_finds_nothing", "none", "没有")
	stepNotAsked   = reason.New("step_not_asked", "not asked: {why}", "未查询：{why}")
	stepOne        = reason.New("step_one_candidate", "1 candidate", "1 个候选")
	stepCandidates = reason.New("step_candidates", "{count} candidates", "{count} 个候选")
	stepAnd        = reason.New("step_and", "{first}; {second}", "{first}；{second}")
)
