package device

import "watchmark/internal/platform/reason"

var (
	// errNoPlayer is returned for an address that answers, but not as a player with /media does.
	errNoPlayer = reason.New("device_no_player", "what answers there is no player that tells what it plays: it takes FongMi TV since spring 2024, or a fork of it",
		"该地址上的不是会告知播放内容的播放器：需要 2024 年春季以后的 FongMi 影视，或其分支")
	badStatus   = reason.New("device_bad_status", "{path} answers {status}; {why}", "{path} 返回了 {status}；{why}")
	notJSON     = reason.New("device_not_json", "{path} answers no JSON object; {why}", "{path} 返回的不是 JSON 对象；{why}")
	nameless    = reason.New("device_nameless", "/device tells neither uuid nor name; {why}", "/device 既没有 uuid 也没有名字；{why}")
	ErrOff      = reason.New("device_off", "the TV boxes are switched off: set device.enabled", "电视盒子未启用：请启用 device.enabled").For(reason.Conflict)
	ErrScanning = reason.New("device_scanning", "boxes are being looked for already: try again when that has ended",
		"正在查找盒子：请等它结束后再试").For(reason.Conflict)
	ErrUnknown = reason.New("device_unknown", "no box of that address or uuid is known: name it in device.addresses, or scan for it",
		"没有这个地址或 uuid 的盒子：请填入 device.addresses，或扫描查找").For(reason.NotFound)
)
