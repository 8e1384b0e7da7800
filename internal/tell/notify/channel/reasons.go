package channel

import "watchmark/internal/platform/reason"

// What people are told.
var (
	longerBytes         = reason.New("channel_longer_bytes", "it is longer than {max_template} bytes", "超过 {max_template} 字节")
	notJSONLine         = reason.New("channel_not_json_line", "it is not JSON: line {line}: {at}", "不是 JSON：第 {line} 行：{at}")
	notJSONEndsTooEarly = reason.New("channel_not_json_ends_too_early", "it is not JSON: it ends too early",
		"不是 JSON：内容不完整")
	notJSONSomethingFollowsEnd = reason.New("channel_not_json_something_follows_end", "it is not JSON: something follows its end",
		"不是 JSON：结尾后还有内容")
	mustObjectOrList = reason.New("channel_must_object_or_list", "it must be an object, {…}, or a list, […]",
		"必须是对象 {…} 或列表 […]")
	takePostPutOrGet         = reason.New("channel_take_post_put_or_get", "take POST, PUT or GET", "请选择 POST、PUT 或 GET")
	getMustObjectWhoseFields = reason.New("channel_get_must_object_whose_fields", "with GET it must be an object, {…}, whose fields become the parameters of the query",
		"使用 GET 时必须是对象 {…}，其字段会成为查询参数")
	enterAddressStartsHTTPOr = reason.New("channel_enter_address_starts_http_or", "enter an address that starts with http:// or https://",
		"请填写以 http:// 或 https:// 开头的地址")
	portMustBetween165535 = reason.New("channel_port_must_between_1_65535", "the port must be between 1 and 65535",
		"端口必须在 1 到 65535 之间")
	correctSettingsChannel = reason.New("channel_correct_settings_channel", "correct the settings of the channel",
		"请修正渠道的设置")
	receiverAnsweredStatus = reason.New("channel_receiver_answered_status", "the receiver answered with status {status}",
		"接收方返回状态码 {status}")
	checkKeyAddressOrHeaders = reason.New("channel_check_key_address_or_headers", "check the key in the address or the headers",
		"请检查地址或请求头中的密钥")
	checkAddress                       = reason.New("channel_check_address", "check the address", "请检查地址")
	chooseAnotherMethod                = reason.New("channel_choose_another_method", "choose another method", "请换用其他请求方法")
	shortenTemplate                    = reason.New("channel_shorten_template", "shorten the template", "请缩短模板")
	compareTemplateWhatReceiverExpects = reason.New("channel_compare_template_what_receiver_expects", "compare the template with what the receiver expects",
		"请核对模板与接收方要求的格式")
	addressCannotRead                 = reason.New("channel_address_cannot_read", "the address cannot be read", "无法识别该地址")
	aUserID                           = reason.New("channel_user_id", "a user id", "用户 ID")
	telephoneNumber                   = reason.New("channel_telephone_number", "a telephone number", "手机号")
	markdownCannotMentionPeopleNumber = reason.New("channel_markdown_cannot_mention_people_number", "markdown cannot mention people by number: take user ids, or the format text",
		"markdown 不能按手机号 @ 人：请改用用户 ID，或改用 text 格式")
	markdownCannotMentionEverybodyTake = reason.New("channel_markdown_cannot_mention_everybody_take", "markdown cannot mention everybody: take the format text",
		"markdown 不能 @ 所有人：请改用 text 格式")
	busyReason            = reason.New("channel_busy", "is busy", "系统繁忙")
	takesNoMoreOnce       = reason.New("channel_takes_no_more_once", "takes no more at once", "不再同时接收更多消息")
	takesNoMore20Messages = reason.New("channel_takes_no_more_20_messages", "takes no more than 20 messages a minute from a robot",
		"每分钟最多接收同一机器人的 20 条消息")
	doesNotKnowRobot      = reason.New("channel_does_not_know_robot", "does not know this robot", "不认识这个机器人")
	removedFromGroupOrKey = reason.New("channel_removed_from_group_or_key", "it was removed from the group, or the key is wrong: copy its address once more",
		"机器人已被移出群，或 key 有误：请重新复制地址")
	foundMessageWrongOrToo = reason.New("channel_found_message_wrong_or_too", "found the message wrong or too long",
		"认为消息格式有误或过长")
	doesNotTakeKindMessage = reason.New("channel_does_not_take_kind_message", "does not take this kind of message",
		"不接受这种消息类型")
	chooseAnotherFormat         = reason.New("channel_choose_another_format", "choose another format", "请换用其他格式")
	doesNotTakeCharacterMessage = reason.New("channel_does_not_take_character_message", "does not take a character of the message",
		"不接受消息中的某个字符")
	foundMessageWrong           = reason.New("channel_found_message_wrong", "found the message wrong", "认为消息格式有误")
	foundMessageEmpty           = reason.New("channel_found_message_empty", "found the message empty", "认为消息为空")
	foundMessageTooLong         = reason.New("channel_found_message_too_long", "found the message too long", "认为消息过长")
	enterTextDingtalkShowsBelow = reason.New("channel_enter_text_dingtalk_shows_below", `enter the text that DingTalk shows below "additional signature" (加签); it starts with SEC`,
		"请填写钉钉“加签”下方显示的密钥，以 SEC 开头")
	refusedMessageSafetySettingRobot = reason.New("channel_refused_message_safety_setting_robot", "refused the message by a safety setting of the robot",
		"因机器人的安全设置拒绝了消息")
	compareSafetySettingsRobotThose = reason.New("channel_compare_safety_settings_robot_those", "compare the safety settings of the robot with those of this channel",
		"请核对机器人与本渠道的安全设置")
	foundTimeSignatureWrong = reason.New("channel_found_time_signature_wrong", "found the time of the signature wrong",
		"认为签名时间不正确")
	setClockMachineMustRight = reason.New("channel_set_clock_machine_must_right", "set the clock of this machine: it must be right within an hour",
		"请校准本机时钟：误差不能超过一小时")
	missedKeywordRobotMessage = reason.New("channel_missed_keyword_robot_message", "missed the keyword of the robot in the message",
		"消息中缺少机器人要求的关键词")
	foundSignatureWrong     = reason.New("channel_found_signature_wrong", "found the signature wrong", "认为签名不正确")
	copySecretRobotOnceMore = reason.New("channel_copy_secret_robot_once_more", "copy the secret (加签) of the robot once more",
		"请重新复制机器人的加签密钥")
	takesMessagesFromListedAddresses = reason.New("channel_takes_messages_from_listed_addresses", "takes messages from listed addresses only",
		"只接受白名单 IP 发来的消息")
	addPublicAddressNetworkList = reason.New("channel_add_public_address_network_list", "add the public address of this network to the list in the safety settings of the robot",
		"请将本网络的公网 IP 加入机器人安全设置的白名单")
	takesNoMore20Messages2 = reason.New("channel_takes_no_more_20_messages_2", "takes no more than 20 messages a minute from a robot, and now none for ten minutes",
		"每分钟最多接收同一机器人的 20 条消息，现在十分钟内不再接收")
	takesNoMoreMessagesSo    = reason.New("channel_takes_no_more_messages_so", "takes no more messages so fast", "消息发送过快")
	doesNotKnowToken         = reason.New("channel_does_not_know_token", "does not know this token", "不认识该 token")
	copyAddressRobotOnceMore = reason.New("channel_copy_address_robot_once_more", "copy the address of the robot once more",
		"请重新复制机器人地址")
	saysGroupDissolved = reason.New("channel_says_group_dissolved", "says that the group was dissolved", "表示该群已解散")
	saysRobotStopped   = reason.New("channel_says_robot_stopped", "says that the robot was stopped", "表示该机器人已停用")
	saysRobotNotGroup  = reason.New("channel_says_robot_not_group", "says that the robot is not in the group",
		"表示该机器人不在群中")
	addRobotGroupEnterAddress = reason.New("channel_add_robot_group_enter_address", "add a robot to the group, and enter its address",
		"请在群中添加机器人，并填写其地址")
	foundLinkOrWordsMessage = reason.New("channel_found_link_or_words_message", "found a link or words in the message that it does not allow",
		"认为消息中含有不允许的链接或内容")
	userPasswordCannotHoldControl = reason.New("channel_user_password_cannot_hold_control", "user and password cannot hold control characters",
		"用户名和密码中不能有控制字符")
	enterBothUserPasswordOr = reason.New("channel_enter_both_user_password_or", "enter both user and password, or neither",
		"用户名和密码请都填写，或都留空")
	withoutEncryptionPasswordWouldReadable = reason.New("channel_without_encryption_password_would_readable", "without encryption the password would be readable on its way: take starttls or implicit, or leave out user and password",
		"不加密时密码会在途中被看到：请选择 starttls 或 implicit，或不填用户名和密码")
	enterNameMailServerSuch = reason.New("channel_enter_name_mail_server_such", "enter the name of the mail server, such as smtp.example.org",
		"请填写邮件服务器，例如 smtp.example.org")
	takeImplicitStarttlsOrNone = reason.New("channel_take_implicit_starttls_or_none", "take implicit, starttls or none",
		"请选择 implicit、starttls 或 none")
	mustBetween165535      = reason.New("channel_must_between_1_65535", "must be between 1 and 65535", "必须在 1 到 65535 之间")
	enterLeastOneAddress   = reason.New("channel_enter_least_one_address", "enter at least one address", "请至少填写一个地址")
	notMailAddressSuchMira = reason.New("channel_not_mail_address_such_mira", "{clean:q} is not a mail address such as mira@example.org",
		"“{clean}”不是 mira@example.org 这样的邮件地址")
	nameHoldsCharacterCannotPrinted = reason.New("channel_name_holds_character_cannot_printed", "a name holds a character that cannot be printed",
		"名字中有无法显示的字符")
	takeTextOrMarkdown            = reason.New("channel_take_text_or_markdown", "take text or markdown", "请选择 text 或 markdown")
	mustStartHTTPSCredentialWould = reason.New("channel_must_start_https_credential_would", "must start with https://: the credential would be readable on its way",
		"必须以 https:// 开头，否则密钥会在途中被看到")
	addressHoldsAnotherOneLeave = reason.New("channel_address_holds_another_one_leave", "the address holds another one; leave one of them empty",
		"地址中已有另一个值；请只填写其中一处")
	noRobotAddressStatus = reason.New("channel_no_robot_address_status", "there is no robot at this address (status {s})",
		"这个地址没有机器人（状态码 {s}）")
	copyAddressRobotFromGroup = reason.New("channel_copy_address_robot_from_group", "copy the address of the robot from the group once more",
		"请从群里重新复制机器人地址")
	gaveNoAnswerRobotStatus = reason.New("channel_gave_no_answer_robot_status", "{provider} gave no answer of a robot (status {status}): it throttles this network, or something stands in between",
		"{provider} 返回的不是机器人的回应（状态码 {status}）：可能对本网络限流，或中间有其他设备拦截")
	refusedMessage          = reason.New("channel_refused_message", "refused the message", "拒绝了消息")
	codeReason              = reason.New("channel_code", "{provider} {problem} (code {code})", "{provider}{problem}（代码 {code}）")
	enterAnew               = reason.New("channel_enter_anew", "enter it anew", "请重新填写")
	enterAnotherAddress     = reason.New("channel_enter_another_address", "enter another address", "请填写其他地址")
	receiverRedirectsStatus = reason.New("channel_receiver_redirects_status", "the receiver redirects (status {status})",
		"接收方要求跳转（状态码 {status}）")
	enterAddressRedirects = reason.New("channel_enter_address_redirects", "enter the address that it redirects to",
		"请填写跳转后的地址")
	noChannelType                   = reason.New("channel_no_channel_type", "there is no channel type {t:q}", "没有“{t}”这种渠道")
	storedSettingsChannelCannotRead = reason.New("channel_stored_settings_channel_cannot_read", "the stored settings of the {type} channel cannot be read: enter them anew",
		"无法读取已保存的 {type} 渠道设置：请重新填写")
	enterAnewKeptOnlyHost = reason.New("channel_enter_anew_kept_only_host", "enter it anew: it is kept only for the host that it was entered for",
		"请重新填写：密钥只对填写时的主机保留")
	checkAddresses     = reason.New("channel_check_addresses", "check the addresses", "请检查地址")
	readAddressConnect = reason.New("channel_read_address_connect", "read the address to connect to: {cause}",
		"读取要连接的地址：{cause}")
	mailServerDoesNotOffer = reason.New("channel_mail_server_does_not_offer", "the mail server does not offer STARTTLS",
		"邮件服务器不支持 STARTTLS")
	takeImplicitTLSUsuallyPort = reason.New("channel_take_implicit_tls_usually_port", "take implicit TLS, usually port 465, or another port; nothing was sent",
		"请改用隐式 TLS（一般为 465 端口）或其他端口；没有发送任何内容")
	recipientsDidNotGetMail = reason.New("channel_recipients_did_not_get_mail", "{count} of {count2} recipients did not get the mail, the others did: {join} ({problem})",
		"{count2} 位收件人中有 {count} 位没有收到邮件，其余已收到：{join}（{problem}）")
	enterAnotherHost    = reason.New("channel_enter_another_host", "enter another host", "请填写其他主机")
	checkTLSPortOrLeave = reason.New("channel_check_tls_port_or_leave", "check tls and port, or leave out user and password when the server takes mails without",
		"请检查加密方式和端口；如果服务器不需要登录，请不要填写用户名和密码")
	mailServerDoesNotSpeak = reason.New("channel_mail_server_does_not_speak", "the mail server does not speak TLS from the first byte at this port",
		"邮件服务器的这个端口不是隐式 TLS")
	takeStarttlsOrAnotherPort = reason.New("channel_take_starttls_or_another_port", "take starttls, or another port, usually 465",
		"请选择 starttls，或换用其他端口（一般为 465）")
	certificateMailServerExpired = reason.New("channel_certificate_mail_server_expired", "the certificate of the mail server has expired",
		"邮件服务器的证书已过期")
	lookClockMachineToo = reason.New("channel_look_clock_machine_too", "look at the clock of this machine too",
		"也请检查本机时钟")
	enterHostNameCertificateOne = reason.New("channel_enter_host_name_certificate_one", "enter the host by the name in its certificate; one of your own authority is trusted by network.ca_certificates",
		"请填写证书上的主机名；自建 CA 的证书可通过 network.ca_certificates 设为信任")
	ifPortSpeaksTLSFrom = reason.New("channel_if_port_speaks_tls_from", "if this port speaks TLS from the first byte, take implicit",
		"如果该端口使用隐式 TLS，请选择 implicit")
	mailServerAnswered = reason.New("channel_mail_server_answered", "the mail server answered {code} {mask}",
		"邮件服务器返回 {code} {mask}")
	serverDoesNotTakeMail = reason.New("channel_server_does_not_take_mail", "the server does not take this mail: it may look like spam to it, or be too large",
		"服务器拒收了这封邮件：可能被判为垃圾邮件，或邮件过大")
	checkUserPasswordMostProviders = reason.New("channel_check_user_password_most_providers", "check user and password; most providers want a password made for apps, not that of the account",
		"请检查用户名和密码；多数服务商要求使用授权码（应用专用密码），而不是账号密码")
	serverWantsSignOrEncryption = reason.New("channel_server_wants_sign_or_encryption", "the server wants a sign-in, or encryption before it: check user, password and tls",
		"服务器要求登录，或要求先加密：请检查用户名、密码和加密方式")
	senderRefusedMostProvidersWant = reason.New("channel_sender_refused_most_providers_want", "the sender is refused: most providers want it to be the address that signs in",
		"发件人被拒绝：多数服务商要求与登录的地址一致")
	checkRecipients      = reason.New("channel_check_recipients", "check the recipients", "请检查收件人")
	setKeyword           = reason.New("channel_set_keyword", "set the keyword of the robot to {keyword}, which every message contains", "请将机器人的关键词设为 {keyword}，每条消息都包含它")
	enterSender          = reason.New("channel_enter_sender", "enter the address that mails come from: {cause}", "请填写发件地址：{cause}")
	mailCannotBeWritten  = reason.New("channel_mail_cannot_be_written", "the mail cannot be written: {detail}", "无法生成邮件：{detail}")
	mailServerIsMetadata = reason.New("channel_mail_server_forbidden", "the mail server's name leads to an address that nothing is sent to: it {what}",
		"邮件服务器的域名指向了不允许发送的地址：它{what}")
	addressIsMetadata       = reason.New("channel_address_forbidden", "the address leads to one that nothing is sent to: it {what}", "该地址指向了不允许发送的地址：它{what}")
	metadataAddress         = reason.New("channel_metadata_address", "{address} {what}", "{address} {what}")
	certificateNotTrusted   = reason.New("channel_certificate_not_trusted", "the certificate of the mail server is not trusted: {detail}", "邮件服务器的证书不受信任：{detail}")
	enterRobotAddressOrNone = reason.New("channel_enter_robot_address_or_leave_empty", "enter the whole address of the robot, such as {address}?{parameter}=…, or leave it empty",
		"请填写机器人的完整地址，例如 {address}?{parameter}=…，或留空")
	enterRobotAddressOrKey = reason.New("channel_enter_robot_address_or_key", "enter the whole address of the robot, or what stands behind {parameter}= in it", "请填写机器人的完整地址，或其中 {parameter}= 后面的内容")
	isNot                  = reason.New("channel_is_not", "{text:q} is not {what}", "“{text}”不是{what}")
	tooMany                = reason.New("channel_too_many", "are more than {most}", "超过 {most} 个")
	addressTooLong         = reason.New("channel_address_too_long", "is longer than {most} bytes", "超过 {most} 字节")
	notAHeader             = reason.New("channel_not_a_header", "{name:q} is not a name of a header: it consists of letters, digits and hyphens", "“{name}”不是有效的请求头名称：只能由字母、数字和连字符组成")
	headerIsOurs           = reason.New("channel_header_is_ours", "{name} is set by Watchmark itself", "{name} 由 Watchmark 自行设置")
	headerTwice            = reason.New("channel_header_twice", "the header {name} is there twice", "请求头 {name} 重复了")
	headerValueBad         = reason.New("channel_header_value_bad", "the value of {name} holds a line break or another control character, or more than {most} bytes", "{name} 的值含有换行或其他控制字符，或超过 {most} 字节")
	receiverSaid           = reason.New("channel_receiver_said", "the receiver answered with status {status}: {text}", "接收方返回状态码 {status}：{text}")
	receiverRedirectsTo    = reason.New("channel_receiver_redirects_to", "the receiver redirects (status {status}) to {address}", "接收方要求跳转（状态码 {status}）到 {address}")
	problemAndAdvice       = reason.New("channel_problem", "{problem}; {advice}", "{problem}；{advice}")
)
