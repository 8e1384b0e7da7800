package settings

import "watchmark/internal/platform/reason"

// What people are told.
var (
	trueOrFalse           = reason.New("settings_true_or_false", "true or false", "true 或 false")
	wholeNumber2          = reason.New("settings_whole_number", "a whole number", "整数")
	numberReason          = reason.New("settings_number", "a number", "数字")
	textQuotes            = reason.New("settings_text_quotes", "text in quotes", "带引号的文本")
	notTrueOrFalse        = reason.New("settings_not_true_or_false", "{shown} is not true or false", "{shown} 不是 true 或 false")
	notWholeNumberBetween = reason.New("settings_not_whole_number_between", "{shown} is not a whole number between {min} and {max}",
		"{shown} 不是 {min} 到 {max} 之间的整数")
	notNumberBetween = reason.New("settings_not_number_between", "{shown} is not a number between {min} and {max}",
		"{shown} 不是 {min} 到 {max} 之间的数字")
	notBetween              = reason.New("settings_not_between", "{n} is not between {min} and {max}", "{n} 不在 {min} 到 {max} 之间")
	longerBytes             = reason.New("settings_longer_bytes", "is longer than {longest_text} bytes", "超过 {longest_text} 字节")
	holdsLineBreakOrAnother = reason.New("settings_holds_line_break_or_another", "holds a line break or another control character",
		"含有换行或其他控制字符")
	notOne         = reason.New("settings_not_one", "{shown} is not one of {join}", "{shown} 不是以下之一：{join}")
	listTexts      = reason.New("settings_list_texts", "a list of texts", "文本列表")
	moreItems      = reason.New("settings_more_items", "has more than {most_items} items", "超过 {most_items} 项")
	itemReason     = reason.New("settings_item", "item {i}: {wrong_type}", "第 {i} 项：{wrong_type}")
	itemReason2    = reason.New("settings_item_2", "item {i}: {cause}", "第 {i} 项：{cause}")
	dateOrTime     = reason.New("settings_date_or_time", "a date or time", "日期或时间")
	numberFraction = reason.New("settings_number_fraction", "a number with a fraction", "小数")
	listReason     = reason.New("settings_list", "a list", "列表")
	sectionReason  = reason.New("settings_section", "a section", "分组")
	givenNeeded    = reason.New("settings_given_needed", "{given} is given, {needed} is needed",
		"填写的是{given}，需要{needed}")
	cannotRead                 = reason.New("settings_cannot_read", "cannot be read: {cause}", "无法读取：{cause}")
	holdsNoCertificateNameFile = reason.New("settings_holds_no_certificate_name_file", "holds no certificate: name a file, or a folder of files, with certificates in PEM or DER",
		"不含证书：请填写证书文件（PEM 或 DER），或存放这些文件的文件夹")
	moreFilesNameFolderHolds = reason.New("settings_more_files_name_folder_holds", "has more than {most_authorities} files: name a folder that holds certificates alone",
		"文件多于 {most_authorities} 个：请填写只存放证书的文件夹")
	orSetKeyWatchmarkToml = reason.New("settings_or_set_key_watchmark_toml", "{cause}; or set the key in watchmark.toml or as {env}",
		"{cause}；或在 watchmark.toml 中设置，或使用 {env}")
	notCronExpressionFiveFields = reason.New("settings_not_cron_expression_five_fields", "is not a cron expression of five fields, such as */5 * * * * (every five minutes) or 0 8 * * 3 (Wednesdays at 8)",
		"不是五个字段的 cron 表达式，例如 */5 * * * *（每五分钟）或 0 8 * * 3（每周三 8 点）")
	neverComesNoSuchDay = reason.New("settings_never_comes_no_such_day", "never comes: there is no such day",
		"永远不会到来：没有这样的日期")
	notHostPortSuch127 = reason.New("settings_not_host_port_such_127", "{shown} is not host:port, such as 127.0.0.1:8787",
		"{shown} 不是“主机:端口”，例如 127.0.0.1:8787")
	portNotBetween065535 = reason.New("settings_port_not_between_0_65535", "port {shown} is not between 0 and 65535",
		"端口 {shown} 不在 0 到 65535 之间")
	neitherAddressNorHostName = reason.New("settings_neither_address_nor_host_name", "{shown} is neither an address nor a host name",
		"{shown} 既不是地址也不是主机名")
	notPathSuchWatchmarkLetters = reason.New("settings_not_path_such_watchmark_letters", "{shown} is not a path such as /watchmark (letters, digits, - . _ ~ between single slashes)",
		"{shown} 不是 /watchmark 这样的路径（单个斜杠之间为字母、数字和 - . _ ~）")
	notAbsoluteHTTPOrHTTPS = reason.New("settings_not_absolute_http_or_https", "is not an absolute http:// or https:// address",
		"不是完整的 http:// 或 https:// 地址")
	mustNotCarryUserName = reason.New("settings_must_not_carry_user_name", "must not carry a user name or password",
		"不能包含用户名或密码")
	mustNotCarryQueryOr = reason.New("settings_must_not_carry_query_or", "must not carry a query or fragment",
		"不能包含查询参数或片段")
	portNotBetween165535 = reason.New("settings_port_not_between_1_65535", "has a port that is not between 1 and 65535",
		"端口不在 1 到 65535 之间")
	mustStartHTTPSPlainHTTP = reason.New("settings_must_start_https_plain_http", "must start with https://: plain http is for addresses and names of a home network",
		"必须以 https:// 开头：只有内网地址和内网主机名才能使用 http")
	neitherSubjectNorEMail = reason.New("settings_neither_subject_nor_e_mail", "is neither a subject nor an e-mail address",
		"既不是 subject 也不是邮箱地址")
	longerCharacters  = reason.New("settings_longer_characters", "is longer than {longest} characters", "超过 {longest} 个字符")
	notAPIKeySpacesOr = reason.New("settings_not_api_key_spaces_or", "is not an API key: it has spaces, or characters that no key has",
		"不是有效的 API 密钥：含有空格或密钥中不会出现的字符")
	notNumberFrom02 = reason.New("settings_not_number_from_0_2", "is not a number from 0 to 2, such as 0.7",
		"不是 0 到 2 之间的数字，例如 0.7")
	notFolder             = reason.New("settings_not_folder", "is not a folder", "不是目录")
	notPathFile           = reason.New("settings_not_path_file", "is not the path of a file", "不是文件路径")
	neitherAllNorGUIDUser = reason.New("settings_neither_all_nor_guid_user", "is neither all nor the guid of a user, which is made of letters and digits",
		"既不是 all，也不是由字母和数字组成的用户 guid")
	notProxyAddressOneThen = reason.New("settings_not_proxy_address_one_then", "is not a proxy address: one of {join}, then ://host:port",
		"不是代理地址：应为 {join} 之一，再加 ://主机:端口")
	notProxyAddressNothingMay = reason.New("settings_not_proxy_address_nothing_may", "is not a proxy address: nothing may follow host:port",
		"不是代理地址：“主机:端口”之后不能有其他内容")
	mayHoldLettersDigitsOnly = reason.New("settings_may_hold_letters_digits_only", "may hold letters, digits and - . _ ~ only, at most {longest}",
		"只能包含字母、数字和 - . _ ~，最多 {longest} 个字符")
	fewerCharactersSoCanGuessed = reason.New("settings_fewer_characters_so_can_guessed", "has fewer than {shortest_key} characters, so it can be guessed: choose a longer one",
		"少于 {shortest_key} 个字符，容易被猜到：请使用更长的密钥")
	notNetworkSuch17216 = reason.New("settings_not_network_such_172_16", "{shown} is not a network such as 172.16.0.0/12",
		"{shown} 不是 172.16.0.0/12 这样的网段")
	falseAllowedOnlyWhileServer = reason.New("settings_false_allowed_only_while_server", "false is allowed only while server.listen is a loopback or private address, and it is {listen}",
		"只有 server.listen 是本机或内网地址时才能关闭，而它是 {listen}")
	neededServerUpdateCheckGive = reason.New("settings_needed_server_update_check_give", "is needed by server.update_check: give the address where versions are announced",
		"开启 server.update_check 时必填：请填写版本发布地址")
	aboveMatchingAcceptScoreWhich = reason.New("settings_above_matching_accept_score_which", "{review_score} is above matching.accept_score, which is {accept_score}",
		"{review_score} 高于 matching.accept_score（{accept_score}）")
	catalogBurstAllowsRequestsTen = reason.New("settings_catalog_burst_allows_requests_ten", "with catalog.burst this allows {most} requests in ten minutes; {public_catalog} bans above 3000, so {public_catalog_most} is the most here",
		"加上 catalog.burst，十分钟内允许 {most} 次请求；{public_catalog} 会封禁超过 3000 次的，因此这里最多 {public_catalog_most}")
	nothing             = reason.New("settings_nothing", "nothing", "空值")
	someText            = reason.New("settings_text", "text", "文本")
	unknownVariable     = reason.New("settings_unknown_variable", "unknown variable; correct its name, or remove it if it is not meant for Watchmark", "未知的环境变量；请改正名称，如果不是给 Watchmark 用的，请删除")
	unknownVariableNear = reason.New("settings_unknown_variable_near", "unknown variable; did you mean {name}?", "未知的环境变量；是否想写 {name}？")
	untilRestart        = reason.New("settings_until_restart", "{problem} until the service is restarted", "{problem}（重启服务之前）")
	lockedBy            = reason.New("settings_locked", "is locked: it is set by {by}; change it there", "已锁定：由{by}设定；请在那里修改")
	neededTogether      = reason.New("settings_needed_together", "is needed together with {other}: set both, or neither", "须与 {other} 同时设置，或都不设置")
	notASchedule        = reason.New("settings_not_a_schedule", "{key} is no key that holds a cron expression", "{key} 不是存放 cron 表达式的设置项")
	unknownSectionNear  = reason.New("settings_unknown_section_near", "unknown section; did you mean [{near}]?", "未知的分组；是否想写 [{near}]？")
	noSuchSection       = reason.New("settings_unknown_section", "unknown section; the sections are {sections}", "未知的分组；可用的分组：{sections}")
	unknownKeyNear      = reason.New("settings_unknown_key_near", "unknown key; did you mean {near}?", "未知的设置项；是否想写 {near}？")
	noSuchKey           = reason.New("settings_unknown_key", "unknown key; the keys of [{section}] are {keys}", "未知的设置项；[{section}] 的设置项：{keys}")
	isASection          = reason.New("settings_is_a_section", "is a section: write [{name}] and its keys below", "是分组：请写 [{name}]，设置项写在其下")
	outsideNear         = reason.New("settings_outside_near", "stands outside of every section; did you mean {near}?", "不在任何分组内；是否想写 {near}？")
	outside             = reason.New("settings_outside", "stands outside of every section", "不在任何分组内")
	commandLine         = reason.New("settings_command_line", "command line", "命令行参数")
	environmentVariable = reason.New("settings_environment_variable", "environment variable {name}", "环境变量 {name} ")
	storedValueSealed   = reason.New("settings_stored_value_sealed", "the stored value cannot be opened: {cause}", "无法打开保存的值：{cause}")
	storedValueNotJSON  = reason.New("settings_stored_value_not_json", "the stored value is not JSON: {cause}", "保存的值不是 JSON：{cause}")
)
