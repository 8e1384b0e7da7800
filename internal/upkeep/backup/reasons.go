package backup

import "watchmark/internal/platform/reason"

var (
	// ErrNotFound is returned for a backup that is not there.
	ErrNotFound = reason.New("backup_not_found", "there is no such backup", "没有这份备份").For(reason.NotFound)
	// ErrRunning says that a backup is being made already.
	ErrRunning = reason.New("backup_running", "a backup is being made already: wait for it", "正在备份：请等它结束").For(reason.Conflict)
	// ErrOnServer says that the database has tools of its own for backups.
	ErrOnServer = reason.New("backup_on_server", "the data is in PostgreSQL: back it up with its own tools, such as pg_dump, or run watchmark backup FILE (/docs/operations#backups-of-postgresql)",
		"数据在 PostgreSQL 中：请用它自己的工具（例如 pg_dump）备份，或运行 watchmark backup FILE（/docs/operations#backups-of-postgresql）").For(reason.Conflict)
	// ErrNoSpace says that the disk has no room for a backup.
	ErrNoSpace = reason.New("backup_no_space", "not enough space on the disk for a backup: free some, keep fewer backups, or choose another folder with backup.dir",
		"磁盘空间不足，无法备份：请清理空间、减少保留份数，或通过 backup.dir 更换目录")
	copying  = reason.New("backup_copying", "copying and checking the database", "正在复制并校验数据库")
	noFolder = reason.New("backup_no_folder", "create the folder of the backups: {cause}; give the user of the service write access to it, or choose another folder with backup.dir",
		"创建备份目录：{cause}；请授予服务用户写入权限，或通过 backup.dir 更换目录")
	notSeen      = reason.New("backup_not_seen", "check the backup: {cause}", "查看备份文件：{cause}")
	spaceUnknown = reason.New("backup_space_unknown", "find out the free space at {dir}: {cause}", "查询 {dir} 的剩余空间：{cause}")
	spaceLacks   = reason.New("backup_space_lacks", "{why} ({dir} has {free} MB free, {need} MB are needed)",
		"{why}（{dir} 剩余 {free} MB，需要 {need} MB）")
	notListed  = reason.New("backup_not_listed", "list the backups: {cause}", "读取备份列表：{cause}")
	notRemoved = reason.New("backup_not_removed", "remove the backup: {cause}", "删除备份：{cause}")
)
