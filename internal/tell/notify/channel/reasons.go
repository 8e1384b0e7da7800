package channel

import "watchmark/internal/platform/reason"

// The forms that problems and advice are put together by.
var (
	problemAndAdvice = reason.New("channel_problem", "{problem}; {advice}", "{problem}；{advice}")
	robotRefused     = reason.New("channel_code", "{provider} {problem} (code {code})", "{provider}{problem}（代码 {code}）")
)

// What is wrong with the settings of a channel.
var (
	unknownType        = reason.New("channel_type_unknown", "there is no channel type {t:q}", "没有“{t}”这种渠道").Was("channel_no_channel_type")
	settingsUnreadable = reason.New("channel_settings_unreadable", "the stored settings of the {type} channel cannot be read: enter them again",
		"无法读取已保存的 {type} 渠道设置：请重新填写").Was("channel_stored_settings_channel_cannot_read")
	enterForNewHost = reason.New("channel_enter_for_new_host", "enter it again: it is kept only for the host it was entered for",
		"请重新填写：它只对填写时的主机有效").Was("channel_enter_anew_kept_only_host")
	correctSettings = reason.New("channel_correct_settings", "correct the settings of the channel", "请修正渠道的设置").Was("channel_correct_settings_channel")

	notHTTP = reason.New("channel_address_not_http", "enter an address that starts with http:// or https://",
		"请填写以 http:// 或 https:// 开头的地址").Was("channel_enter_address_starts_http_or")
	addressTooLong = reason.New("channel_address_too_long", "is longer than {most} bytes", "超过 {most} 字节")
	addressPort    = reason.New("channel_address_port", "the port must be between 1 and 65535", "端口必须在 1 到 65535 之间").Was("channel_port_must_between_1_65535")
	portOutOfRange = reason.New("channel_port_out_of_range", "must be between 1 and 65535", "必须在 1 到 65535 之间").Was("channel_must_between_1_65535")
	tooMany        = reason.New("channel_too_many", "has more than {most} entries", "超过 {most} 个")

	unknownMethod      = reason.New("channel_method_unknown", "choose POST, PUT or GET", "请选择 POST、PUT 或 GET").Was("channel_take_post_put_or_get")
	templateTooLong    = reason.New("channel_template_too_long", "it is longer than {max_template} bytes", "超过 {max_template} 字节").Was("channel_longer_bytes")
	templateNotJSON    = reason.New("channel_template_not_json", "it is not JSON: line {line}: {at}", "不是 JSON：第 {line} 行：{at}").Was("channel_not_json_line")
	templateIncomplete = reason.New("channel_template_incomplete", "it is not JSON: the end is missing", "不是 JSON：内容不完整").Was("channel_not_json_ends_too_early")
	templateGoesOn     = reason.New("channel_template_goes_on", "it is not JSON: there is text after its end", "不是 JSON：结尾后还有内容").Was("channel_not_json_something_follows_end")
	templateNoObject   = reason.New("channel_template_no_object", "it must be an object, {…}, or a list, […]", "必须是对象 {…} 或列表 […]").Was("channel_must_object_or_list")
	templateForGet     = reason.New("channel_template_for_get", "with GET it must be an object, {…}: its fields become the query parameters",
		"使用 GET 时必须是对象 {…}，其字段会成为查询参数").Was("channel_get_must_object_whose_fields")
	badHeaderName  = reason.New("channel_not_a_header", "{name:q} is not the name of a header: use letters, digits and hyphens only", "“{name}”不是有效的请求头名称：只能由字母、数字和连字符组成")
	reservedHeader = reason.New("channel_header_reserved", "{name} is set by Watchmark itself: remove it", "{name} 由 Watchmark 自行设置：请删除").Was("channel_header_is_ours")
	headerTwice    = reason.New("channel_header_twice", "the header {name} is there twice", "请求头 {name} 重复了")
	badHeaderValue = reason.New("channel_header_value", "the value of {name} contains a line break or another control character, or is longer than {most} bytes", "{name} 的值含有换行或其他控制字符，或超过 {most} 字节").Was("channel_header_value_bad")

	badEndpoint     = reason.New("channel_push_endpoint", "is not the https address of a push service", "不是推送服务的 https 地址")
	badBrowserKey   = reason.New("channel_push_key", "is not the public key of a browser: 65 bytes in base64url", "不是浏览器的公钥：应为 base64url 编码的 65 字节")
	badBrowserAuth  = reason.New("channel_push_auth", "is not the secret of a browser: 16 bytes in base64url", "不是浏览器的密文：应为 base64url 编码的 16 字节")
	unknownLanguage = reason.New("channel_language_unknown", "choose en or zh-CN", "请选择 en 或 zh-CN")

	unknownFormat   = reason.New("channel_format_unknown", "choose text or markdown", "请选择 text 或 markdown").Was("channel_take_text_or_markdown")
	badRobotAddress = reason.New("channel_robot_address", "enter the whole address of the robot, such as {address}?{parameter}=…, or leave it empty",
		"请填写机器人的完整地址，例如 {address}?{parameter}=…，或留空").Was("channel_enter_robot_address_or_leave_empty")
	badRobotKey     = reason.New("channel_robot_key", "enter the whole address of the robot, or the part of it after {parameter}=", "请填写机器人的完整地址，或其中 {parameter}= 后面的内容").Was("channel_enter_robot_address_or_key")
	robotNeedsHTTPS = reason.New("channel_robot_needs_https", "must start with https://, or others could read the key on the way",
		"必须以 https:// 开头，否则密钥会在途中被看到").Was("channel_must_start_https_credential_would")
	robotKeyTwice       = reason.New("channel_robot_key_twice", "the address already contains another value: fill in only one of the two", "地址中已有另一个值：请只填写其中一处").Was("channel_address_holds_another_one_leave")
	badMention          = reason.New("channel_is_not", "{text:q} is not {what}", "“{text}”不是{what}")
	aUserID             = reason.New("channel_user_id", "a user ID", "用户 ID")
	aTelephoneNumber    = reason.New("channel_telephone_number", "a telephone number", "手机号")
	markdownWithNumbers = reason.New("channel_markdown_with_numbers", "markdown cannot mention people by telephone number: use user IDs, or choose the format text",
		"markdown 不能按手机号 @ 人：请改用用户 ID，或改用 text 格式").Was("channel_markdown_cannot_mention_people_number")
	markdownWithEverybody = reason.New("channel_markdown_with_everybody", "markdown cannot mention everybody: choose the format text",
		"markdown 不能 @ 所有人：请改用 text 格式").Was("channel_markdown_cannot_mention_everybody_take")
	badDingTalkSecret = reason.New("channel_dingtalk_secret", `enter the text that DingTalk shows under "additional signature" (加签); it starts with SEC`,
		"请填写钉钉“加签”下方显示的密钥，以 SEC 开头").Was("channel_enter_text_dingtalk_shows_below")

	mailHostMissing = reason.New("channel_mail_host", "enter the name of the mail server, such as smtp.example.org",
		"请填写邮件服务器，例如 smtp.example.org").Was("channel_enter_name_mail_server_such")
	unknownEncryption = reason.New("channel_mail_encryption", "choose implicit, starttls or none", "请选择 implicit、starttls 或 none").Was("channel_take_implicit_starttls_or_none")
	controlCharacters = reason.New("channel_mail_control_characters", "user name and password must not contain control characters",
		"用户名和密码中不能有控制字符").Was("channel_user_password_cannot_hold_control")
	userWithoutPassword = reason.New("channel_mail_user_or_password_missing", "enter both user name and password, or neither",
		"用户名和密码请都填写，或都留空").Was("channel_enter_both_user_password_or")
	passwordUnencrypted = reason.New("channel_mail_password_unencrypted", "without encryption others could read the password on the way: choose starttls or implicit, or remove user name and password",
		"不加密时密码会在途中被看到：请选择 starttls 或 implicit，或不填用户名和密码").Was("channel_without_encryption_password_would_readable")
	badSender      = reason.New("channel_enter_sender", "enter the address that mails come from: {cause}", "请填写发件地址：{cause}")
	noRecipient    = reason.New("channel_mail_no_recipient", "enter at least one address", "请至少填写一个地址").Was("channel_enter_least_one_address")
	badMailAddress = reason.New("channel_mail_address", "{clean:q} is not a mail address such as mira@example.org",
		"“{clean}”不是 mira@example.org 这样的邮件地址").Was("channel_not_mail_address_such_mira")
	unprintableName = reason.New("channel_mail_name_unprintable", "a name contains a character that cannot be shown",
		"名字中有无法显示的字符").Was("channel_name_holds_character_cannot_printed")
)

// What goes wrong with any receiver, and what to do.
var (
	addressUnreadable        = reason.New("channel_address_unreadable", "the address cannot be read", "无法识别该地址").Was("channel_address_cannot_read")
	enterAgain               = reason.New("channel_enter_again", "enter it again", "请重新填写").Was("channel_enter_anew")
	connectAddressUnreadable = reason.New("channel_connect_address", "the address to connect to cannot be read: {cause}", "无法识别要连接的地址：{cause}").Was("channel_read_address_connect")
	errMetadata              = reason.New("channel_link_local", "belongs to the network link of this machine itself, where hosts of virtual machines keep their secrets",
		"是本机链路地址，虚拟机的宿主会把密钥放在那里").Was("channel_address_machine_s_own_network")
	errHome = reason.New("channel_home_network", "is not a machine of the internet, and messages of people who sign in by themselves go nowhere else; the owner can allow it in the settings",
		"不是互联网上的主机，而自己登录的成员只能发送到互联网；所有者可以在设置中放行")
	homeAddress         = reason.New("channel_home_address", "{address} {what}", "{address} {what}")
	typeNotForPeople    = reason.New("channel_not_for_people", "only the owner can add channels of this type", "只有所有者可以添加这种渠道")
	metadataAddress     = reason.New("channel_metadata_address", "{address} {what}", "{address} {what}")
	addressForbidden    = reason.New("channel_address_forbidden", "the address leads to a place that Watchmark sends nothing to: it {what}", "该地址指向了不允许发送的地址：它{what}")
	enterAnotherAddress = reason.New("channel_enter_another_address", "enter another address", "请填写其他地址")

	subscriptionGone     = reason.New("channel_push_gone", "the browser ended the notifications of Watchmark", "浏览器已停止接收 Watchmark 的通知")
	subscribeAgain       = reason.New("channel_push_again", "open Watchmark on that device and switch its notifications on again", "请在那台设备上打开 Watchmark，重新开启通知")
	actionUnsent         = reason.New("channel_push_unsent", "The answer could not be sent. Open Watchmark and answer there.", "未能发送。请打开 Watchmark，在页面上处理。")
	receiverAnswered     = reason.New("channel_receiver_answered", "the receiver answered with status {status}", "接收方返回状态码 {status}").Was("channel_receiver_answered_status")
	receiverAnsweredText = reason.New("channel_receiver_said", "the receiver answered with status {status}: {text}", "接收方返回状态码 {status}：{text}")
	receiverRedirects    = reason.New("channel_receiver_redirects", "the receiver redirects (status {status})", "接收方要求跳转（状态码 {status}）").Was("channel_receiver_redirects_status")
	receiverRedirectsTo  = reason.New("channel_receiver_redirects_to", "the receiver redirects (status {status}) to {address}", "接收方要求跳转（状态码 {status}）到 {address}")
	enterRedirectTarget  = reason.New("channel_enter_redirect_target", "enter the address that it redirects to", "请填写跳转后的地址").Was("channel_enter_address_redirects")
	checkKey             = reason.New("channel_check_key", "check the key in the address or in the headers", "请检查地址或请求头中的密钥").Was("channel_check_key_address_or_headers")
	checkAddress         = reason.New("channel_check_address", "check the address", "请检查地址")
	chooseAnotherMethod  = reason.New("channel_choose_another_method", "choose another method", "请换用其他请求方法")
	shortenTemplate      = reason.New("channel_shorten_template", "shorten the template", "请缩短模板")
	compareTemplate      = reason.New("channel_compare_template", "compare the template with what the receiver expects",
		"请核对模板与接收方要求的格式").Was("channel_compare_template_what_receiver_expects")
)

// What WeCom and DingTalk say of a message to a robot: each stands behind the name of the provider.
var (
	robotBusy           = reason.New("channel_busy", "is busy", "系统繁忙")
	tooManyAtOnce       = reason.New("channel_too_many_at_once", "accepts no more messages at the same time", "同时接收的消息已达上限").Was("channel_takes_no_more_once")
	over20AMinute       = reason.New("channel_rate_limit", "accepts at most 20 messages a minute for one robot", "每个机器人每分钟最多接收 20 条消息").Was("channel_takes_no_more_20_messages")
	pausedForTenMinutes = reason.New("channel_rate_limit_pause", "accepts at most 20 messages a minute for one robot, and none for the next ten minutes",
		"每个机器人每分钟最多接收 20 条消息，接下来十分钟不再接收").Was("channel_takes_no_more_20_messages_2")
	tooFast      = reason.New("channel_too_fast", "received too many messages in a short time", "短时间内收到的消息过多").Was("channel_takes_no_more_messages_so")
	unknownRobot = reason.New("channel_robot_unknown", "does not know this robot", "不认识这个机器人").Was("channel_does_not_know_robot")
	robotRemoved = reason.New("channel_robot_removed", "it was removed from the group, or the key is wrong: copy its address again",
		"机器人已被移出群，或 key 有误：请重新复制地址").Was("channel_removed_from_group_or_key")
	messageWrongOrTooLong = reason.New("channel_message_wrong_or_too_long", "says that the message is invalid or too long", "表示消息格式有误或过长").Was("channel_found_message_wrong_or_too")
	messageTypeRefused    = reason.New("channel_message_type", "does not accept this type of message", "不接受这种消息类型").Was("channel_does_not_take_kind_message")
	chooseAnotherFormat   = reason.New("channel_choose_another_format", "choose another format", "请换用其他格式")
	characterRefused      = reason.New("channel_message_character", "does not accept a character in the message", "不接受消息中的某个字符").Was("channel_does_not_take_character_message")
	messageWrong          = reason.New("channel_message_wrong", "says that the message is invalid", "表示消息格式有误").Was("channel_found_message_wrong")
	messageEmpty          = reason.New("channel_message_empty", "says that the message is empty", "表示消息为空").Was("channel_found_message_empty")
	messageTooLong        = reason.New("channel_message_too_long", "says that the message is too long", "表示消息过长").Was("channel_found_message_too_long")
	messageNotAllowed     = reason.New("channel_message_not_allowed", "says that the message contains a link or words that are not allowed",
		"表示消息中含有不允许的链接或内容").Was("channel_found_link_or_words_message")
	refusedMessage            = reason.New("channel_refused_message", "refused the message", "拒绝了消息")
	unknownToken              = reason.New("channel_token_unknown", "does not know this token", "不认识该 token").Was("channel_does_not_know_token")
	copyRobotAddress          = reason.New("channel_copy_robot_address", "copy the address of the robot again", "请重新复制机器人地址").Was("channel_copy_address_robot_once_more")
	groupDissolved            = reason.New("channel_group_dissolved", "says that the group no longer exists", "表示该群已解散").Was("channel_says_group_dissolved")
	robotStopped              = reason.New("channel_robot_stopped", "says that the robot is switched off", "表示该机器人已停用").Was("channel_says_robot_stopped")
	robotNotInGroup           = reason.New("channel_robot_not_in_group", "says that the robot is not in the group", "表示该机器人不在群中").Was("channel_says_robot_not_group")
	addRobot                  = reason.New("channel_add_robot", "add a robot to the group and enter its address", "请在群中添加机器人，并填写其地址").Was("channel_add_robot_group_enter_address")
	noRobotThere              = reason.New("channel_no_robot_there", "there is no robot at this address (status {s})", "这个地址没有机器人（状态码 {s}）").Was("channel_no_robot_address_status")
	copyRobotAddressFromGroup = reason.New("channel_copy_robot_address_from_group", "copy the address of the robot from the group again", "请从群里重新复制机器人地址").Was("channel_copy_address_robot_from_group")
	notARobotsAnswer          = reason.New("channel_not_a_robots_answer", "{provider} did not answer as a robot does (status {status}): it limits this network, or something stands in between",
		"{provider} 返回的不是机器人的回应（状态码 {status}）：可能对本网络限流，或中间有其他设备拦截").Was("channel_gave_no_answer_robot_status")
)

// What the safety settings of a DingTalk robot refuse: each stands behind the name of the provider.
var (
	safetySettingRefused = reason.New("channel_safety_refused", "refused the message because of a safety setting of the robot",
		"因机器人的安全设置拒绝了消息").Was("channel_refused_message_safety_setting_robot")
	compareSafetySettings = reason.New("channel_compare_safety_settings", "compare the safety settings of the robot with the settings of this channel",
		"请核对机器人与本渠道的安全设置").Was("channel_compare_safety_settings_robot_those")
	signatureTimeWrong = reason.New("channel_signature_time", "says that the time of the signature is wrong", "表示签名时间不正确").Was("channel_found_time_signature_wrong")
	setClock           = reason.New("channel_set_clock", "set the clock of this machine: it may be wrong by one hour at most",
		"请校准本机时钟：误差不能超过一小时").Was("channel_set_clock_machine_must_right")
	keywordMissing = reason.New("channel_keyword_missing", "did not find the keyword of the robot in the message",
		"表示消息中缺少机器人要求的关键词").Was("channel_missed_keyword_robot_message")
	setKeyword       = reason.New("channel_set_keyword", "set the keyword of the robot to {keyword}, which every message contains", "请将机器人的关键词设为 {keyword}，每条消息都包含它")
	signatureWrong   = reason.New("channel_signature_wrong", "says that the signature is wrong", "表示签名不正确").Was("channel_found_signature_wrong")
	copySecret       = reason.New("channel_copy_secret", "copy the secret (加签) of the robot again", "请重新复制机器人的加签密钥").Was("channel_copy_secret_robot_once_more")
	addressNotListed = reason.New("channel_address_not_listed", "accepts messages from listed addresses only",
		"只接受白名单 IP 发来的消息").Was("channel_takes_messages_from_listed_addresses")
	addPublicAddress = reason.New("channel_add_public_address", "add the public address of this network to the list in the safety settings of the robot",
		"请将本网络的公网 IP 加入机器人安全设置的白名单").Was("channel_add_public_address_network_list")
)

// What goes wrong with a mail, and what to do.
var (
	mailCannotBeWritten = reason.New("channel_mail_cannot_be_written", "the mail cannot be written: {detail}", "无法生成邮件：{detail}")
	checkMailAddresses  = reason.New("channel_check_addresses", "check the addresses", "请检查地址")
	mailServerForbidden = reason.New("channel_mail_server_forbidden", "the name of the mail server leads to an address that Watchmark sends nothing to: it {what}",
		"邮件服务器的域名指向了不允许发送的地址：它{what}")
	enterAnotherHost = reason.New("channel_enter_another_host", "enter another host", "请填写其他主机")
	noSTARTTLS       = reason.New("channel_mail_no_starttls", "the mail server does not offer STARTTLS", "邮件服务器不支持 STARTTLS").Was("channel_mail_server_does_not_offer")
	useImplicitTLS   = reason.New("channel_mail_use_implicit", "choose implicit TLS, usually port 465, or another port; nothing was sent",
		"请改用隐式 TLS（一般为 465 端口）或其他端口；没有发送任何内容").Was("channel_take_implicit_tls_usually_port")
	noTLSAtPort = reason.New("channel_mail_no_implicit", "the mail server does not begin with TLS on this port",
		"邮件服务器的这个端口不是隐式 TLS").Was("channel_mail_server_does_not_speak")
	useSTARTTLS = reason.New("channel_mail_use_starttls", "choose starttls, or another port, usually 465",
		"请选择 starttls，或换用其他端口（一般为 465）").Was("channel_take_starttls_or_another_port")
	tryImplicitTLS           = reason.New("channel_mail_try_implicit", "if this port begins with TLS, choose implicit", "如果该端口使用隐式 TLS，请选择 implicit").Was("channel_if_port_speaks_tls_from")
	mailCertificateExpired   = reason.New("channel_mail_certificate_expired", "the certificate of the mail server has expired", "邮件服务器的证书已过期").Was("channel_certificate_mail_server_expired")
	checkClockToo            = reason.New("channel_check_clock_too", "check the clock of this machine, too", "也请检查本机时钟").Was("channel_look_clock_machine_too")
	mailCertificateUntrusted = reason.New("channel_certificate_not_trusted", "the certificate of the mail server is not trusted: {detail}", "邮件服务器的证书不受信任：{detail}")
	useNameInCertificate     = reason.New("channel_mail_use_name_in_certificate", "enter the host name that is in the certificate; to trust a certificate authority of your own, set network.ca_certificates",
		"请填写证书上的主机名；自建 CA 的证书可通过 network.ca_certificates 设为信任").Was("channel_enter_host_name_certificate_one")
	errNoLogin = reason.New("channel_mail_no_sign_in", "the server offers no way to sign in that Watchmark knows (PLAIN, LOGIN)",
		"服务器没有提供 Watchmark 支持的登录方式（PLAIN、LOGIN）").Was("channel_server_offers_no_way_sign")
	checkTLSAndPort = reason.New("channel_mail_check_tls_and_port", "check encryption and port; if the server needs no sign-in, remove user name and password",
		"请检查加密方式和端口；如果服务器不需要登录，请不要填写用户名和密码").Was("channel_check_tls_port_or_leave")
	errTooMuchText     = reason.New("channel_mail_too_much_text", "the server sends too much text", "服务器返回的内容过长").Was("channel_server_says_too_much")
	mailServerAnswered = reason.New("channel_mail_server_answered", "the mail server answered {code} {mask}", "邮件服务器返回 {code} {mask}")
	mailRefused        = reason.New("channel_mail_refused", "the server does not accept this mail: it may look like spam, or be too large",
		"服务器拒收了这封邮件：可能被判为垃圾邮件，或邮件过大").Was("channel_server_does_not_take_mail")
	checkPassword = reason.New("channel_mail_check_password", "check user name and password; most providers want an app password instead of the password of the account",
		"请检查用户名和密码；多数服务商要求使用授权码（应用专用密码），而不是账号密码").Was("channel_check_user_password_most_providers")
	signInWanted = reason.New("channel_mail_sign_in_wanted", "the server wants a sign-in, or encryption before it: check user name, password and encryption",
		"服务器要求登录，或要求先加密：请检查用户名、密码和加密方式").Was("channel_server_wants_sign_or_encryption")
	senderRefused = reason.New("channel_mail_sender_refused", "the sender is refused: most providers want the address that signs in",
		"发件人被拒绝：多数服务商要求与登录的地址一致").Was("channel_sender_refused_most_providers_want")
	checkRecipients      = reason.New("channel_check_recipients", "check the recipients", "请检查收件人")
	someRecipientsFailed = reason.New("channel_mail_some_recipients", "{count} of {count2} recipients did not get the mail, the others did: {join} ({problem})",
		"{count2} 位收件人中有 {count} 位没有收到邮件，其余已收到：{join}（{problem}）").Was("channel_recipients_did_not_get_mail")
)
