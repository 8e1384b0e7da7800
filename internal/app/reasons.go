package app

import "watchmark/internal/platform/reason"

// Why the offline data are not asked.
var (
	archiveOff     = reason.New("archive_off", "the offline data are switched off", "离线数据未启用")
	archiveMissing = reason.New("archive_missing", "the offline data are not imported yet", "离线数据尚未导入")
)

// seedListsIt is why the undo of a seed has no preview.
var seedListsIt = reason.New("seed_undo_preview", "the undo of a seed has no preview: the result of the seed lists what it wrote", "撤销回写没有预览：回写任务的结果已列出写入的内容").For(reason.Conflict)
