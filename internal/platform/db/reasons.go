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
	// ErrEvicted is returned by a write of a replica that was taken for dead: what it had in hand was given to others. Nothing is written.
	ErrEvicted = reason.New("replica_evicted", "this replica was silent for too long, and its work was given to others: it joins anew by itself",
		"此副本静默过久，其工作已交由其他副本接手：它会自动重新加入")
	// ErrClosed is returned by Write after Close.
	ErrClosed = reason.New("database_closed", "the database is closed", "数据库已关闭")
)

// errShared is returned by Write when a write that shared its commit broke it.
var errShared = reason.New("database_shared", "nothing was stored, because another write at the same time failed: try again",
	"未保存任何内容，因为同时进行的另一次写入失败：请重试")

// What is wrong with a database server.
var (
	errServer = reason.New("database_server", "the database server cannot be reached or takes no writes: see that PostgreSQL runs and that its disk has room",
		"无法连接数据库服务器，或其不接受写入：请确认 PostgreSQL 正在运行且磁盘空间充足")
	errAddress = reason.New("database_address", "database.url cannot be read: write it like postgres://user:password@host:5432/name, with special characters of the password as %XX",
		"无法解析 database.url：请写成 postgres://user:password@host:5432/name 的形式，密码中的特殊字符写作 %XX")
	errNoSchema = reason.New("database_no_schema", "the database has no schema to put tables in: create the one that search_path names, or let the user create tables in public",
		"数据库中没有可建表的模式（schema）：请创建 search_path 所指的模式，或允许该用户在 public 中建表")
)
