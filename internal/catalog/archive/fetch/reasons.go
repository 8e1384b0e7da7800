package fetch

import (
	"watchmark/internal/platform/reason"
)

// ErrNoSpace is the cause of errors that say the disk has not enough room.
var ErrNoSpace = reason.New("disk_no_space", "not enough space on the disk", "磁盘空间不足").For(reason.NoSpace)

var (
	noSpaceAt     = reason.New("disk_no_space_at", "{full}: {folder} has {free} MB free, {needed} MB are needed", "{full}：{folder} 剩余 {free} MB，需要 {needed} MB").For(reason.NoSpace)
	askSpace      = reason.New("disk_space", "find out the free space: {cause}", "查询剩余空间：{cause}")
	askSpaceAt    = reason.New("disk_space_at", "find out the free space at {folder}: {cause}", "查询 {folder} 的剩余空间：{cause}")
	onDiskBecause = reason.New("disk_because", "{doing}: {cause}", "{doing}：{cause}")
	onDiskFull    = reason.New("disk_full_because", "{doing}: {full}: {cause}", "{doing}：{full}：{cause}").For(reason.NoSpace)
)

// What is done with the download on the disk.
var (
	openPartFile  = reason.New("fetch_open", "open the download", "打开下载的文件")
	closePartFile = reason.New("fetch_close", "close the download", "关闭下载的文件")
	statPartFile  = reason.New("fetch_stat", "check the download", "查看下载的文件")
	readPartFile  = reason.New("fetch_read", "read the download", "读取下载的文件")
	writePartFile = reason.New("fetch_write", "write the download", "写入下载的文件")
	emptyPartFile = reason.New("fetch_empty", "empty the download", "清空下载的文件")
	writeNote     = reason.New("fetch_note", "store where the download comes from", "记录下载来源")
	makeFolder    = reason.New("fetch_folder", "create the folder for downloads: {cause}", "创建下载目录：{cause}")
	removeDump    = reason.New("fetch_remove", "remove a downloaded dump: {cause}", "删除已下载的数据文件：{cause}")
	storeDump     = reason.New("fetch_store", "store the dump: {cause}", "保存数据文件：{cause}")
)

// What is done with the sources, and why one of them failed.
var (
	lookForNewest   = reason.New("fetch_newest", "look for the newest dump: {cause}", "查找最新的数据文件：{cause}")
	downloadADump   = reason.New("fetch_a_dump", "download a dump: {cause}", "下载数据文件：{cause}")
	downloadVersion = reason.New("fetch_version", "download the dump {version}: {cause}", "下载数据文件 {version}：{cause}")
	downloadDump    = reason.New("fetch_dump", "download the dump: {cause}", "下载数据文件：{cause}")
)

// What is wrong with an answer.
var (
	// errWrong is the cause when what came is not the announced file, errCut when fewer bytes came than were due,
	// errRange when a source does not serve the rest of the file as asked.
	errWrong    = reason.New("fetch_wrong", "the file is not the one that was announced", "文件与声明的不符")
	errCut      = reason.New("fetch_cut", "the transfer broke off", "传输中断")
	errRange    = reason.New("fetch_range", "it does not send the rest of the file", "服务器不提供文件的剩余部分")
	otherDigest = reason.New("fetch_digest", "{wrong}: its checksum is {got}, not {want}", "{wrong}：校验和是 {got}，而不是 {want}")
	tooMany     = reason.New("fetch_too_many", "{wrong}: {bytes} bytes are more than a dump may have", "{wrong}：{bytes} 字节超过数据文件的上限")
	moreCame    = reason.New("fetch_more_came", "{wrong}: more than {bytes} bytes came", "{wrong}：收到的超过 {bytes} 字节")
	cutAfter    = reason.New("fetch_cut_after", "{cut} after {done} of {total} bytes", "{cut}（已收到 {done} / {total} 字节）")
	cutBecause  = reason.New("fetch_cut_because", "{cut} after {done} of {total} bytes: {cause}", "{cut}（已收到 {done} / {total} 字节）：{cause}")
	cutOpen     = reason.New("fetch_cut_open", "{cut} after {done} bytes: {cause}", "{cut}（已收到 {done} 字节）：{cause}")
	noByte      = reason.New("fetch_no_byte", "{range}: it has no byte {byte}", "{range}：服务器没有第 {byte} 字节")
	compressed  = reason.New("fetch_compressed", "it answered with a compressed file, which was not requested", "返回了未请求的压缩内容")
	webPage     = reason.New("fetch_page", "it answered with a web page instead of the file", "返回的是网页而不是文件")
	changed     = reason.New("fetch_changed", "{range}: it has changed", "{range}：文件已变化")
	otherLength = reason.New("fetch_length", "its file has {length} bytes, and {announced} were announced", "文件为 {length} 字节，而声明为 {announced} 字节")
	noPart      = reason.New("fetch_no_part", "{range}: it does not say which part it sends", "{range}：没有说明发送的是哪一部分")
	otherPart   = reason.New("fetch_part", "{range}: it sends {sent}, not from {from} of {total} bytes", "{range}：发送的是 {sent}，而不是从第 {from} 字节开始（共 {total} 字节）")
	answered    = reason.New("fetch_status", "it answered {status} {text}", "返回了 {status} {text}")
)

// What is wrong with the pointer to the newest dump.
var (
	longPointer       = reason.New("pointer_long", "the index is longer than {most} bytes", "索引超过 {most} 字节")
	unreadablePointer = reason.New("pointer_unreadable", "the index cannot be read: {cause}", "无法读取索引：{cause}")
	namelessPointer   = reason.New("pointer_nameless", "the index has neither the name of a dump nor a time", "索引中既没有数据文件名也没有时间")
	unusablePointer   = reason.New("pointer_unusable", "the index cannot be used: {cause}", "索引无法使用：{cause}")
	badVersion        = reason.New("pointer_version", "the version is not the time of a dump", "版本不是数据文件的生成时间")
	badSize           = reason.New("pointer_size", "a size of {bytes} bytes is not between 1 and {most}", "大小 {bytes} 字节不在 1 到 {most} 之间")
	badDigest         = reason.New("pointer_digest", "the checksum is not a SHA-256", "校验和不是 SHA-256")
	badAddress        = reason.New("pointer_address", "the address of the file is not a usable http or https URL", "文件地址不是可用的 http 或 https 地址")
)
