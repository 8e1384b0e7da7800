package movein

import "watchmark/internal/platform/reason"

// What people are told.
var (
	fromBangumiSyncer = reason.New("movein_from_bangumi_syncer", "This record comes from Bangumi-syncer, with the result that it had there.",
		"该记录迁移自 Bangumi-syncer，结果与当时一致。").Was("movein_came_out_so_bangumi_syncer")
)
