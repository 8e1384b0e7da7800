package calendar

import "watchmark/internal/platform/reason"

// The errors a caller branches on.
var (
	// ErrNoAddress is returned where there is no address of a calendar, or not this one.
	ErrNoAddress = reason.New("calendar_no_address", "there is no calendar at this address: it was never made, was renewed, or was revoked; the page Calendar shows the one that holds", "此地址没有日历：从未创建、已更换或已停用；有效的地址见“放送日历”页面").For(reason.NotFound)
	// ErrUnopened is returned for an address that was sealed by another key: it works and cannot be shown.
	ErrUnopened = reason.New("calendar_unopened", "the address cannot be shown: the key of the data folder is another one; make a new address", "无法显示地址：数据目录的密钥已不是原来的；请更换新地址").For(reason.Conflict)
	// ErrNoArchive is returned while nothing is known of what airs, ErrDays for days that cannot be asked for.
	ErrNoArchive = reason.New("calendar_no_archive", "there is no offline data to see what airs: switch the offline data on, and wait until it is imported", "没有离线数据，不知道什么会放送：请启用离线数据，并等待导入完成").For(reason.Conflict)
	ErrDays      = reason.New("calendar_days", "the last day must be the first one or after it, and at most {most} days may be asked for at once", "最后一天不能早于第一天，一次最多查询 {most} 天")
)
