package app

import "watchmark/internal/platform/reason"

// Why the offline data are not asked.
var (
	archiveOff     = reason.New("archive_off", "the offline data are switched off", "离线数据未启用")
	archiveMissing = reason.New("archive_missing", "the offline data are not imported yet", "离线数据尚未导入")
)
