package notify

import "watchmark/internal/platform/reason"

// What people are told.
var (
	noKindNotice               = reason.New("notify_no_kind_notice", "there is no kind of notice {kind:q}", "没有“{kind}”这种通知")
	mayMostChannelsRulesRemove = reason.New("notify_may_most_channels_rules_remove", "there may be at most {max_channels} channels and {max_rules} rules: remove one that is not needed",
		"最多 {max_channels} 个渠道和 {max_rules} 条规则：请先删除不需要的").For(reason.Conflict)
	channelSwitchedOff       = reason.New("notify_channel_switched_off", "the channel was switched off", "该渠道已停用")
	moreNoticesWaitedChannel = reason.New("notify_more_notices_waited_channel", "more than {max_waiting} notices waited for the channel",
		"等待该渠道的通知超过 {max_waiting} 条")

	largerBytes         = reason.New("notify_larger_bytes", "is larger than {max_config} bytes", "超过 {max_config} 字节")
	missingGiveNameKnow = reason.New("notify_missing_give_name_know", "is missing: give it a name to know it by",
		"缺少名称：请取一个便于识别的名字")
	mustOneLineMostCharacters = reason.New("notify_must_one_line_most_characters", "must be one line of at most {max_name} characters",
		"必须为一行，最多 {max_name} 个字符")
	notAKind     = reason.New("notify_not_a_kind", "{kind:q} is no kind of notice", "没有“{kind}”这种通知")
	tooManyUsers = reason.New("notify_more", "are more than {max_users}", "超过 {max_users} 个")
	noName       = reason.New("notify_no_name", "{user:q} is no name", "“{user}”不是有效的名字")
	titleTooLong = reason.New("notify_title_too_long", "must be one line of at most {max_title} characters",
		"必须为一行，最多 {max_title} 个字符")
	longerCharacters   = reason.New("notify_longer_characters", "is longer than {max_text} characters", "超过 {max_text} 个字符")
	notBetween0Seconds = reason.New("notify_not_between_0_seconds", "{cooldown} is not between 0 and {max_cooldown} seconds",
		"{cooldown} 不在 0 到 {max_cooldown} 秒之间")
	noTimeDaySuch22 = reason.New("notify_no_time_day_such_22", "{value:q} is no time of day such as 22:30; leave both empty for no quiet hours",
		"“{value}”不是 22:30 这样的时间；不需要免打扰时段请都留空")
	sameQuietFromSwitchRule = reason.New("notify_same_quiet_from_switch_rule", "is the same as quiet_from: switch the rule off to hear nothing at all",
		"与开始时间相同：如果什么都不想收到，请停用该规则")
	noChannel      = reason.New("notify_no_channel", "there is no channel {id}", "没有渠道 {id}")
	receiverSilent = reason.New("notify_receiver_silent", "the receiver did not answer in {time}", "接收方在 {time} 内没有回应")
	triedLong      = reason.New("notify_tried_long", "tried for three days: {problem}", "已尝试三天：{problem}")
	ruleGone       = reason.New("notify_rule_gone", "its rule was switched off or removed", "所属规则已停用或删除")

	// firstRule is the name of the rule that is there at first, which pages show in the reader's language.
	firstRule = reason.New("notify_first_rule", "What needs you", "需要你处理的事")
)
