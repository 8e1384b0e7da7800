package replica

import "watchmark/internal/platform/reason"

// ErrNotLive is returned by May while others may take this replica for dead: the database did not hear it for too long.
var ErrNotLive = reason.New("replica_not_live",
	"this replica has lost touch with the database: what it has in hand is done again",
	"此副本与数据库失去联系：手头的工作会重新处理")

// ErrOlder is returned by RequireTx while a program runs that knows too little.
var ErrOlder = reason.New("replica_older",
	"a replica of an older version is running: try again when all replicas are upgraded",
	"还有旧版本的副本在运行：请在所有副本升级后再试").For(reason.Conflict)
