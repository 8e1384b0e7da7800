package replica

import "watchmark/internal/platform/reason"

// ErrNotLive is returned by May while others may take this replica for dead: the database did not hear it for too long.
var ErrNotLive = reason.New("replica_not_live",
	"this replica has lost touch with the database: what it has in hand is done again",
	"此副本与数据库失去联系：手头的工作会重新处理")
