package db

import "watchmark/internal/platform/reason"

// The errors a caller branches on.
var (
	// ErrDamaged is returned for a database file that SQLite cannot read.
	ErrDamaged = reason.New("database_damaged", "the database is damaged: stop the service and restore a backup with watchmark restore FILE",
		"数据库已损坏：请停止服务，并用 watchmark restore FILE 恢复备份")
	// ErrStorage is returned when the file system fails under the database. Trying again
	// later may help.
	ErrStorage = reason.New("database_storage", "the disk of the data folder is full or cannot be used: free some space on it",
		"数据目录所在磁盘已满或无法使用：请清理出一些空间")
	// ErrClosed is returned by Write after Close.
	ErrClosed = reason.New("database_closed", "the database is closed", "数据库已关闭")
)

// errShared is returned by Write when a write that shared its commit broke it.
var errShared = reason.New("database_shared", "nothing was stored, because another write at the same time failed: try again",
	"未保存任何内容，因为同时进行的另一次写入失败：请重试")
