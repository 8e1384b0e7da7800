package dump

import (
	"watchmark/internal/platform/reason"
)

// The parts of the text of an *Error.
var (
	unusable = reason.New("dump_unusable", "the dump cannot be used: {what}", "数据文件无法使用：{what}")
	inLine   = reason.New("dump_line", "line {line}: {what}", "第 {line} 行：{what}")
)

// What is wrong with a zip or one of its members.
var (
	largeDirectory = reason.New("dump_directory", "its list of files is larger than that of a dump may be", "其文件列表超过数据文件的上限")
	noZip          = reason.New("dump_no_zip", "it is not a complete zip file (perhaps the download broke off)", "不是完整的 zip 文件（可能下载中断）")
	memberTwice    = reason.New("dump_member_twice", "it is in the zip twice", "在 zip 中出现了两次")
	memberMissing  = reason.New("dump_member_missing", "it is missing in the zip", "zip 中缺少它")
	isEncrypted    = reason.New("dump_encrypted", "it is encrypted", "已加密")
	longerThanFile = reason.New("dump_longer", "it says that it is longer than the file that it is in", "声明的长度超过所在文件")
	claimsTooMuch  = reason.New("dump_claims", "it says that it has {bytes} bytes, more than a dump may have", "声明为 {bytes} 字节，超过数据文件的上限")
	claimsRatio    = reason.New("dump_ratio", "it says that it unpacks from {packed} to {bytes} bytes, which no text does", "声明从 {packed} 字节解压为 {bytes} 字节，文本不可能如此")
	errSpent       = reason.New("dump_spent", "more was read than is allowed", "读取量超过上限")
	notUnpacked    = reason.New("dump_unpack", "it cannot be unpacked", "无法解压")
	otherContent   = reason.New("dump_checksum", "its length or checksum differs from what the zip says", "长度或校验和与 zip 的记录不符")
	breaksOff      = reason.New("dump_breaks_off", "it breaks off (perhaps the download did)", "内容不完整（可能下载中断）")
)

// What is wrong with a line.
var (
	tooLongLine  = reason.New("dump_line_long", "it is longer than {most} MiB", "超过 {most} MiB")
	noID         = reason.New("dump_no_id", "it has no id", "缺少 id")
	noEpisodeID  = reason.New("dump_no_episode_id", "it has no id or no subject_id", "缺少 id 或 subject_id")
	noRelationID = reason.New("dump_no_relation_id", "it has no subject_id or no related_subject_id", "缺少 subject_id 或 related_subject_id")
	noUTF8       = reason.New("dump_no_utf8", "it is not UTF-8", "不是 UTF-8")
	manyParts    = reason.New("dump_parts", "it has more fields than a row may have", "字段多于一行的上限")
	noJSON       = reason.New("dump_no_json", "it is not JSON", "不是 JSON")
	noObject     = reason.New("dump_no_object", "it is not a JSON object", "不是 JSON 对象")
)
