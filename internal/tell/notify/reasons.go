package notify

import "watchmark/internal/platform/reason"

// The errors a caller branches on.
var (
	// ErrNotFound is returned when no channel, rule, notice or delivery has the id asked for.
	ErrNotFound = reason.New("notify_not_found", "there is nothing with this ID", "没有这个编号的内容").Was("notify_nothing_id").For(reason.NotFound)
	// ErrNotFailed is returned by Resend for a delivery that did not fail.
	ErrNotFailed = reason.New("notify_not_failed", "only a message that failed, was dropped, or may not have arrived can be sent again",
		"只有发送失败、被丢弃或可能未送达的消息才能重新发送").Was("notify_only_what_failed_dropped_or").For(reason.Conflict)
	// ErrOff is returned by Resend when the channel of the delivery is switched off.
	ErrOff       = reason.New("notify_channel_off", "the channel is switched off: switch it on first", "该渠道已停用：请先启用").Was("notify_channel_switched_off_switch_first").For(reason.Conflict)
	errTooOften  = reason.New("notify_too_often", "too many tries: wait a few minutes", "尝试次数过多：请等几分钟").For(reason.TooMany)
	tooManyRules = reason.New("notify_full", "at most {max_channels} channels and {max_rules} rules are possible: remove one that you do not need",
		"最多 {max_channels} 个渠道和 {max_rules} 条规则：请先删除不需要的").Was("notify_may_most_channels_rules_remove").For(reason.Conflict)
)

// Why a message does not go out.
var (
	channelSwitchedOff = reason.New("notify_channel_switched_off", "the channel was switched off", "该渠道已停用")
	tooManyWaited      = reason.New("notify_too_many_waited", "more than {max_waiting} messages waited for the channel", "等待该渠道的消息超过 {max_waiting} 条").Was("notify_more_notices_waited_channel")
	notYours           = reason.New("notify_not_yours", "it is about an account that is not yours any more", "它涉及的账号已不属于你")
	receiverSilent     = reason.New("notify_receiver_silent", "the receiver did not answer within {time}", "接收方在 {time} 内没有回应")
	triedForThreeDays  = reason.New("notify_tried_long", "tried for three days without success: {problem}", "已尝试三天仍未成功：{problem}")
	ruleGone           = reason.New("notify_rule_gone", "its rule was switched off or removed", "所属规则已停用或删除")
	// errCut is that of a message that was on its way when the service ended.
	errCut = reason.New("notify_cut_off", "the service stopped while it sent this: it may have arrived", "发送途中服务停止：可能已经送达").Was("notify_service_ended_while_being_sent")
)

// What is wrong with a channel, a rule or a notice.
var (
	unknownNotice      = reason.New("notify_kind_unknown", "there is no kind of notice {kind:q}", "没有“{kind}”这种通知").Was("notify_no_kind_notice")
	unknownKind        = reason.New("notify_not_a_kind", "{kind:q} is not a kind of notice", "没有“{kind}”这种通知")
	configTooLarge     = reason.New("notify_config_too_large", "is larger than {max_config} bytes", "超过 {max_config} 字节").Was("notify_larger_bytes")
	nameMissing        = reason.New("notify_name_missing", "is missing: enter a name to recognise it by", "缺少名称：请取一个便于识别的名字").Was("notify_missing_give_name_know")
	nameTooLong        = reason.New("notify_name_too_long", "must be one line of at most {max_name} characters", "必须为一行，最多 {max_name} 个字符").Was("notify_must_one_line_most_characters")
	tooManyUsers       = reason.New("notify_too_many_users", "has more than {max_users} names", "超过 {max_users} 个").Was("notify_more")
	badUserName        = reason.New("notify_user_name", "{user:q} is not a user name", "“{user}”不是有效的用户名").Was("notify_no_name")
	titleTooLong       = reason.New("notify_title_too_long", "must be one line of at most {max_title} characters", "必须为一行，最多 {max_title} 个字符")
	textTooLong        = reason.New("notify_text_too_long", "is longer than {max_text} characters", "超过 {max_text} 个字符").Was("notify_longer_characters")
	cooldownOutOfRange = reason.New("notify_cooldown", "{cooldown} is not between 0 and {max_cooldown} seconds", "{cooldown} 不在 0 到 {max_cooldown} 秒之间").Was("notify_not_between_0_seconds")
	badTimeOfDay       = reason.New("notify_time_of_day", "{value:q} is not a time of day such as 22:30; leave both empty for no quiet hours",
		"“{value}”不是 22:30 这样的时间；不需要免打扰时段请都留空").Was("notify_no_time_day_such_22")
	quietAllDay = reason.New("notify_quiet_all_day", "is the same as quiet_from: to get no messages at all, switch the rule off",
		"与开始时间相同：如果什么都不想收到，请停用该规则").Was("notify_same_quiet_from_switch_rule")
	noChannel = reason.New("notify_no_channel", "there is no channel {id}", "没有渠道 {id}")
)

// FirstRule is the name of the rule that is there at first, until somebody gives it another one; the database has it in English,
// and pages show it in the reader's language.
var FirstRule = reason.New("notify_first_rule", "What needs you", "需要你处理的事")
