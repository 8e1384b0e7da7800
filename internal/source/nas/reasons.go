package nas

import "watchmark/internal/platform/reason"

// Why rows are passed over.
var (
	itemGone         = reason.New("nas_item_gone", "it is no longer in the library", "已不在影视库中")
	oddNumbers       = reason.New("nas_odd_numbers", "its numbers or names are not plausible", "编号或名称明显有误")
	wholeShow        = reason.New("nas_whole_show", "a whole show, season or folder", "整部剧、整季或文件夹")
	showGone         = reason.New("nas_show_gone", "its show is not in the library", "所属剧集不在影视库中")
	unnumbered       = reason.New("nas_unnumbered", "an episode without a number", "没有集数的剧集")
	unrecognisedFile = reason.New("nas_unrecognised_file", "not recognised by the NAS, and its file name names no show and episode",
		"NAS 未识别，文件名也看不出剧名和集数")
	notToTheEnd   = reason.New("nas_not_to_the_end", "not watched to the end", "没有看完")
	unknownLength = reason.New("nas_unknown_length", "not marked watched, and its length is not known", "未标记为已观看，且片长未知")
	tooLong       = reason.New("nas_too_long", "not marked watched, and played for longer than its length", "未标记为已观看，且播放时长超过片长")
	unknownUser   = reason.New("nas_unknown_user", "the NAS does not know its user", "NAS 上没有对应的用户")
	userOff       = reason.New("nas_user_off", "its user is disabled on the NAS", "用户在 NAS 上已停用")

	// What keeps the library from being read.
	pathUnusable = reason.New("nas_path_unusable", "the path {path} cannot be used: {cause}", "路径 {path} 无法使用：{cause}")
	isLink       = reason.New("nas_is_link", "{path} is a link to {file}, in another folder: set nas.database_path to the file itself",
		"{path} 是指向另一目录中 {file} 的链接：请把 nas.database_path 设为文件本身")
	isOwn = reason.New("nas_is_own", "{path} is the database of this service: set nas.database_path to that of the NAS",
		"{path} 是本服务自己的数据库：请把 nas.database_path 设为 NAS 的数据库")
	isFolder = reason.New("nas_is_folder", "{path} is a folder: set nas.database_path to the file in it, such as {example}",
		"{path} 是目录：请把 nas.database_path 设为其中的文件，例如 {example}")
	notRegular = reason.New("nas_not_regular", "{path} is not a regular file: set nas.database_path to the database of the NAS",
		"{path} 不是普通文件：请把 nas.database_path 设为 NAS 的数据库")
	notSQLite = reason.New("nas_not_sqlite", "{path} is not a SQLite database: set nas.database_path to the database of the NAS",
		"{path} 不是 SQLite 数据库：请把 nas.database_path 设为 NAS 的数据库")
	noFile = reason.New("nas_no_file", "there is no file {path}: set nas.database_path to the database of the NAS. In a container that is the path inside of it, and the folder of the database must be mounted, read-only",
		"没有文件 {path}：请把 nas.database_path 设为 NAS 的数据库。在容器中运行时应填写容器内部的路径，并以只读方式挂载数据库所在目录")
	notReadable = reason.New("nas_not_readable", "user id {user}, which this service runs as, may not read {path}: let it read the file and its folder, or run the service as a user who may",
		"本服务的运行用户（id {user}）无权读取 {path}：请允许它读取该文件及其目录，或换一个有权限的用户运行服务")
	readFailed  = reason.New("nas_read_failed", "{path} cannot be read: {cause}", "无法读取 {path}：{cause}")
	tookTooLong = reason.New("nas_took_too_long", "reading {path} took longer than {longest}: set a shorter nas.range, or give the disk of the NAS less to do",
		"读取 {path} 超过了 {longest}：请缩短 nas.range，或减轻 NAS 磁盘的负担")
	keepsChanging = reason.New("nas_keeps_changing", "{path} is being written all the time and cannot be read: the next scan tries again",
		"{path} 一直在写入，无法读取：下次读取会再试")
	locked = reason.New("nas_locked", "{path} is locked by another program: the next scan tries again",
		"{path} 被其他程序锁定：下次读取会再试")
	notOpened = reason.New("nas_not_opened", "SQLite cannot open {path}: mount the whole folder of the database and not the file alone, and let user id {user} read all of it",
		"SQLite 无法打开 {path}：请挂载数据库所在的整个目录而不只是文件，并允许用户 id {user} 读取其中所有内容")
	isDamaged = reason.New("nas_is_damaged", "{path} is damaged: have the NAS check or restore its library",
		"{path} 已损坏：请在 NAS 上检查或恢复影视库")
	noRoomForCopy = reason.New("nas_no_room_for_copy", "there is no place for a copy of {path}: {cause}",
		"没有空间存放 {path} 的副本：{cause}")
	tooLarge = reason.New("nas_too_large", "{path} is too large to be copied: mount its whole folder, so that it can be read in place",
		"{path} 太大，无法复制：请挂载整个目录，以便直接读取")
	copyKeepsChanging = reason.New("nas_copy_keeps_changing", "{path} is being written all the time and cannot be copied: the next scan tries again",
		"{path} 一直在写入，无法复制：下次读取会再试")
	copyFailed = reason.New("nas_copy_failed", "{path} cannot be copied: {cause}", "无法复制 {path}：{cause}")
	noSuchUser = reason.New("nas_no_such_user", "the NAS has no user {user}: set nas.user to one that GET /api/nas/users lists, or to all",
		"NAS 上没有用户 {user}：请把 nas.user 设为 GET /api/nas/users 列出的用户之一，或 all")
	ownDatabase = reason.New("nas_own_database", "the database of this service cannot be read", "无法读取本服务的数据库")
	notStored   = reason.New("nas_not_stored", "what was read could not be stored: {cause}", "读取的内容无法保存：{cause}")
	noTable     = reason.New("nas_no_table", "{path} has no table {table}: it is not the database of the media library, or of a release that Watchmark does not know",
		"{path} 没有表 {table}：这不是影视库的数据库，或来自尚不支持的版本")
	noColumn = reason.New("nas_no_column", "{path} has no column {column} in its table {table}: the media app of the NAS is a release that Watchmark does not know",
		"{path} 的表 {table} 没有列 {column}：NAS 影视应用的版本尚不支持")

	// What is lost by a column that is missing.
	hiddenToo       = reason.New("nas_hidden_too", "hidden rows are read too", "隐藏的记录也会读取")
	onlyMarked      = reason.New("nas_only_marked", "only what is marked watched counts", "只有标为已观看的才算")
	kindsByNumbers  = reason.New("nas_kinds_by_numbers", "films and episodes are distinguished by their numbers", "电影和剧集按编号区分")
	onlyFilms       = reason.New("nas_only_films", "episodes have no show, so that only films are read", "剧集没有所属作品，因此只读取电影")
	seasonsByNames  = reason.New("nas_seasons_by_names", "seasons are known from file names only", "季只能从文件名得知")
	episodesByNames = reason.New("nas_episodes_by_names", "episodes are known from titles and file names only",
		"集数只能从标题和文件名得知")
	usersByIDs  = reason.New("nas_users_by_ids", "users are named by their ids", "以用户 ID 作为用户名").Was("nas_users_by_i_ds")
	usersOffToo = reason.New("nas_users_off_too", "disabled users are read too", "已停用的用户也会读取")

	// The errors a caller branches on.
	ErrOff = reason.New("nas_off", "the NAS is switched off: set nas.enabled, or ask for a range to take what was watched before",
		"NAS 未启用：请启用 nas.enabled，或指定时间范围补录以前看过的").For(reason.Conflict)
	// ErrRunning says that the library of the NAS is being read already.
	ErrRunning = reason.New("nas_running", "the library of the NAS is being read already: try again when that is done",
		"正在读取 NAS 影视库：请等它结束后再试").For(reason.Conflict)
	// ErrNoUser says that the NAS has no such user.
	ErrNoUser = reason.New("nas_no_user", "the NAS has no such user: GET /api/nas/users lists its users",
		"NAS 上没有这个用户：GET /api/nas/users 会列出所有用户")
	columnMissing = reason.New("nas_column_missing", "{table}.{column}: {loss}", "{table}.{column}：{loss}")
)
