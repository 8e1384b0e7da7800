package mapping

import (
	"watchmark/internal/platform/reason"
)

// The errors a caller branches on.
var (
	// ErrNotFound says that there is no such mapping.
	ErrNotFound = reason.New("mapping_not_found", "there is no such mapping", "没有这条映射").For(reason.NotFound)
	// ErrTaken is returned when the same title (season, form and episode) is mapped already.
	ErrTaken = reason.New("mapping_taken", "there is a mapping for this title and season already", "该标题和季已有映射").For(reason.Conflict)
	// ErrBlockedTaken is returned when the same keyword is blocked already.
	ErrBlockedTaken = reason.New("keyword_taken", "this title is blocked already", "已有这条屏蔽").For(reason.Conflict)
	// ErrShared is returned by Share when one for all has the title (season, form and episode) already.
	ErrShared = reason.New("mapping_shared_taken", "there is a mapping for everybody of this title and season already: remove or change that one first", "已有对所有人生效的同标题、同季的映射：请先删除或修改那一条").For(reason.Conflict)
	// ErrFull is what one mapping or keyword more than MaxMappings or MaxBlocked returns, or of one person than MaxOwnMappings or MaxOwnBlocked.
	ErrFull = reason.New("mappings_full", "at most {mappings} mappings and {keywords} blocked titles are possible: remove some that you do not need",
		"最多 {mappings} 条映射和 {keywords} 条屏蔽的标题：请删除一些不需要的").For(reason.Conflict)
	// ErrExpressions is what one regular expression more than MaxExpressions returns, or of one person than MaxOwnExpressions.
	ErrExpressions = reason.New("mappings_expressions",
		"at most {mappings} mappings and {keywords} blocked titles may be regular expressions, because every title is compared with each of them: remove one, or use whole titles",
		"最多 {mappings} 条映射和 {keywords} 条屏蔽的标题可以使用正则表达式，因为每个标题都要与它们逐一比较：请删除一个，或改用完整标题").For(reason.Conflict)
)

// What is wrong with a field.
var (
	fieldMissing   = reason.New("mapping_field_missing", "is missing", "未填写")
	fieldTooLong   = reason.New("mapping_field_long", "is longer than {most} bytes", "超过 {most} 字节")
	outOfRange     = reason.New("mapping_out_of_range", "{value} is not between 0 and {most}", "{value} 不在 0 到 {most} 之间")
	offsetTooFar   = reason.New("mapping_offset", "{value} is not between -{most} and {most}", "{value} 不在 -{most} 到 {most} 之间")
	unknownForm    = reason.New("mapping_form", "{form:q} is not film or show", "{form:q}不是 film 或 show")
	unknownKind    = reason.New("keyword_kind", "{kind:q} is not contains, exact or regex", "{kind:q}不是 contains、exact 或 regex")
	entryMissing   = reason.New("mapping_entry", "enter the number in the address of the Bangumi page of the entry", "请填写 Bangumi 条目页面地址中的编号").Was("mapping_subject")
	badExpression  = reason.New("mapping_expression", "is not a regular expression: {cause}", "不是正则表达式：{cause}")
	slowExpression = reason.New("mapping_expression_slow", "takes too long to compare: it has {steps} steps, at most {most} are allowed; use fewer repetitions",
		"比较耗时过长：有 {steps} 步，最多允许 {most} 步；请减少重复次数")
	fitsAll      = reason.New("mapping_fits_all", "fits every title, even an empty one: add text that must be in the title", "会匹配所有标题，连空标题也符合：请写明必须包含的内容")
	keywordTwice = reason.New("keyword_twice", "is in the file twice", "在文件中出现了两次")
	titleTwice   = reason.New("mapping_twice", "is in the file twice for the same season, form and episode", "在文件中针对同一季、类型和集出现了两次")
)
