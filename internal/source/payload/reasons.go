package payload

import "watchmark/internal/platform/reason"

var (
	notJSON = reason.New("webhook_not_json", "The body is not valid JSON: it breaks near byte {offset}.",
		"请求内容不是有效的 JSON：第 {offset} 字节附近有误。")
	notObject       = reason.New("webhook_not_object", "The body is not a JSON object.", "请求内容不是 JSON 对象。")
	connectionWorks = reason.New("webhook_connection_works", "Test notification received: the connection works.",
		"收到测试通知：连接正常。")
	noItemType = reason.New("webhook_no_item_type", "{event} does not say whether it is about an episode or a film.",
		"{event} 没有说明是剧集还是电影。")
	notSingle = reason.New("webhook_not_single", "{event} is about an item of type {item_type}: only single episodes and films are marked.",
		"{event} 的内容类型是 {item_type}：只标记单集和电影。")
	noTitle         = reason.New("webhook_no_title", "{event} names no title of a show or film.", "{event} 没有剧集或电影的标题。")
	noEpisodeNumber = reason.New("webhook_no_episode_number", "{event} is about an episode without an episode number.",
		"{event} 是一集剧集，但没有集数。")
	userNameTooLong = reason.New("webhook_user_name_too_long", "The user name is longer than {most} bytes.",
		"用户名超过 {most} 字节。")
	userNameWithNUL = reason.New("webhook_user_name_with_nul", "The user name holds a NUL character.", "用户名含有 NUL 字符。")
	// ErrUnsupportedMedia is returned when a body is neither JSON nor a form.
	ErrUnsupportedMedia = reason.New("webhook_unsupported_media", "the body is neither JSON nor a form: send the event as JSON",
		"请求内容既不是 JSON 也不是表单：请以 JSON 发送事件")
	emptyBody    = reason.New("webhook_empty_body", "The body is empty: send the event as JSON.", "请求内容为空：请以 JSON 发送事件。")
	noJSONObject = reason.New("webhook_no_json_object", "The body is JSON but not an object: send one event as a JSON object.",
		"请求内容是 JSON 但不是对象：请以一个 JSON 对象发送一个事件。")
	formEncoding = reason.New("webhook_form_encoding", "The form fields of the body are not encoded correctly.",
		"表单字段的编码不正确。")
	tooManyFields = reason.New("webhook_too_many_fields", "The form has more than {most} fields.", "表单超过 {most} 个字段。")
	emptyForm     = reason.New("webhook_empty_form", "The form is empty: put the event into its field payload or data, as JSON.",
		"表单为空：请把事件以 JSON 放在 payload 或 data 字段。")
	badField = reason.New("webhook_field", "{field}: {what}", "{field}：{what}")
	// NotFinished is why most events of players are no watch.
	NotFinished = reason.New("webhook_not_finished", "{event} is not a finished playback.", "{event} 不表示看完。")
)
