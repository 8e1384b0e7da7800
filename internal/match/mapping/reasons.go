package mapping

import (
	"watchmark/internal/platform/reason"
)

// The errors a caller branches on.
var (
	// ErrNotFound says that there is no such mapping.
	ErrNotFound = reason.New("mapping_not_found", "mapping not found", "没有这条映射").For(reason.NotFound)
	// ErrTaken is returned when the same title (season, form and episode) is mapped already.
	ErrTaken = reason.New("mapping_taken", "this title and season are mapped already", "该标题和季已有映射").For(reason.Conflict)
	// ErrBlockedTaken is returned when the same keyword is blocked already.
	ErrBlockedTaken = reason.New("keyword_taken", "this keyword is blocked already", "这个屏蔽词已存在").For(reason.Conflict)
	// ErrFull is returned for one mapping or keyword more than MaxMappings or MaxBlocked.
	ErrFull = full.With(MaxMappings, MaxBlocked)
	full    = reason.New("mappings_full", "at most {mappings} mappings and {keywords} blocked keywords are kept: remove some that are not needed",
		"最多保存 {mappings} 条映射和 {keywords} 个屏蔽词：请删除一些不需要的").For(reason.Conflict)
	// ErrExpressions is returned for one regular expression more than MaxExpressions.
	ErrExpressions  = manyExpressions.With(MaxExpressions, MaxExpressions)
	manyExpressions = reason.New("mappings_expressions",
		"at most {mappings} mappings and {keywords} blocked keywords may be regular expressions, for every title is compared with each: remove one, or write titles whole",
		"最多 {mappings} 条映射和 {keywords} 个屏蔽词可以是正则表达式，因为每个标题都要与它们逐一比较：请删除一个，或写完整标题").For(reason.Conflict)
)

// What is wrong with a field.
var (
	missing        = reason.New("mapping_field_missing", "missing", "缺少")
	tooLong        = reason.New("mapping_field_long", "longer than {most} bytes", "超过 {most} 字节")
	outOfRange     = reason.New("mapping_out_of_range", "{value} is not between 0 and {most}", "{value} 不在 0 到 {most} 之间")
	offsetTooFar   = reason.New("mapping_offset", "{value} is not between -{most} and {most}", "{value} 不在 -{most} 到 {most} 之间")
	unknownForm    = reason.New("mapping_form", "{form:q} is not film or show", "{form:q}不是 film 或 show")
	unknownKind    = reason.New("keyword_kind", "{kind:q} is not contains, exact or regex", "{kind:q}不是 contains、exact 或 regex")
	noSubject      = reason.New("mapping_subject", "give the number in the address of the catalog's page", "请填写 Bangumi 条目页面地址中的编号")
	noExpression   = reason.New("mapping_expression", "not a regular expression: {cause}", "不是正则表达式：{cause}")
	slowExpression = reason.New("mapping_expression_slow", "takes too long to compare: it has {steps} steps, and at most {most} are allowed; repeat less",
		"比较耗时过长：有 {steps} 步，最多允许 {most} 步；请减少重复次数")
	fitsAll      = reason.New("mapping_fits_all", "fits every title, for it fits an empty one: say what must be there", "会匹配所有标题，因为空标题也符合：请写明必须包含的内容")
	keywordTwice = reason.New("keyword_twice", "is in the document twice", "在文件中出现了两次")
	titleTwice   = reason.New("mapping_twice", "is in the document twice for the same season, form and episode", "在文件中针对同一季、类型和集出现了两次")
)
