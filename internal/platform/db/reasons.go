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
	errTLSSettings = reason.New("database_tls_settings", "sslmode, sslrootcert, sslcert or sslkey of database.url cannot be used: {cause}", "无法使用 database.url 中的 sslmode、sslrootcert、sslcert 或 sslkey：{cause}")
	errLogin       = reason.New("database_login", "the database server refuses the user of database.url: look at its user and password there, and at pg_hba.conf of PostgreSQL",
		"数据库服务器拒绝了 database.url 中的用户：请检查其中的用户名和密码，以及 PostgreSQL 的 pg_hba.conf")
	errNoDatabase = reason.New("database_missing", "the database that database.url names is not on the server: create it with createdb, or correct the name",
		"服务器上没有 database.url 所指的数据库：请用 createdb 创建，或更正名称")
	errRights = reason.New("database_rights", "the user of database.url lacks rights in the database: make it the owner (ALTER DATABASE name OWNER TO user)",
		"database.url 中的用户在该数据库中权限不足：请将其设为所有者（ALTER DATABASE name OWNER TO user）")
	errConnections = reason.New("database_connections", "the database server has no connection left: raise max_connections there, or the limit of the user or the database; each replica takes 20",
		"数据库服务器已无可用连接：请调高其 max_connections，或该用户、该数据库的连接上限；每个副本需要 20 个")
	errServerDisk = reason.New("database_server_disk", "the disk of the database server is full: make room there", "数据库服务器的磁盘已满：请在那里清理出空间")
	errReadOnly   = reason.New("database_read_only", "the database takes no writes, as a standby does: let database.url lead to the server that takes them",
		"数据库不接受写入（例如它是备用服务器）：请让 database.url 指向可写入的服务器")
	errSlow  = reason.New("database_slow", "the database server takes too long: see what else keeps it busy", "数据库服务器耗时过长：请查看还有什么占用了它")
	errNoTLS = reason.New("database_no_tls", "the database server speaks no TLS, which sslmode of database.url demands: switch it on there (ssl = on)",
		"数据库服务器不支持 TLS，而 database.url 的 sslmode 要求使用：请在那里开启（ssl = on）")
	errPooler = reason.New("database_pooler", "a pooler before the database server keeps no prepared statements: add default_query_exec_mode=exec to the query of database.url, or set max_prepared_statements of pgbouncer 1.21 or newer",
		"数据库服务器前的连接池不保留预处理语句：请在 database.url 的查询参数中加入 default_query_exec_mode=exec，或设置 pgbouncer 1.21 及以上版本的 max_prepared_statements")
	errCertificate = reason.New("database_certificate", "the certificate of the database server is not trusted: name its authority with sslrootcert in database.url, and the server by the name that is in the certificate",
		"数据库服务器的证书不受信任：请在 database.url 中用 sslrootcert 指明其颁发机构，并使用证书中的服务器名称")
	errEncoding = reason.New("database_encoding", "the database stores texts as {encoding}, which has no room for all of them: create one with createdb --encoding=UTF8 --template=template0",
		"该数据库的文本编码为 {encoding}，无法保存所有文字：请用 createdb --encoding=UTF8 --template=template0 新建一个")
	errOld      = reason.New("database_old", "the database server is PostgreSQL {version}: version 15 or newer is needed", "数据库服务器为 PostgreSQL {version}：需要 15 或更新版本")
	errForeign  = reason.New("database_foreign", "the database holds tables of another program: create one for watchmark alone", "该数据库中有其他程序的表：请为 watchmark 单独新建一个数据库")
	errNoSchema = reason.New("database_no_schema", "the database has no schema to put tables in: create the one that search_path names, or let the user create tables in public",
		"数据库中没有可建表的模式（schema）：请创建 search_path 所指的模式，或允许该用户在 public 中建表")
)
