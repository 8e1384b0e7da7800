package update

import "watchmark/internal/platform/reason"

var (
	// ErrOff is returned while nobody is to be asked.
	ErrOff = reason.New("update_check_off", "the check for new versions is switched off: set server.update_check",
		"检查新版本已关闭：请开启 server.update_check").For(reason.Conflict)
	answers = reason.New("update_check_answers", "server.update_url answered with status {status}",
		"server.update_url 的地址返回状态码 {status}")
	notJSON = reason.New("update_check_not_json", "what server.update_url answers is not a release: it is not JSON",
		"server.update_url 返回的不是版本信息：不是 JSON")
	noVersion = reason.New("update_check_no_version", "what server.update_url answers is not a release: its tag_name is not a version such as v1.2.3",
		"server.update_url 返回的不是版本信息：tag_name 不是 v1.2.3 这样的版本号")
)
