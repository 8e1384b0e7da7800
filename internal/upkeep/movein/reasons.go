package movein

import "watchmark/internal/platform/reason"

// What people are told.
var (
	cameOutSoBangumiSyncer = reason.New("movein_came_out_so_bangumi_syncer", "It came out so in Bangumi-syncer, from where it was taken over.",
		"该记录迁移自 Bangumi-syncer，结果与当时一致。")
)
