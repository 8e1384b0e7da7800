package api

import (
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"watchmark/internal/door/problem"
	"watchmark/internal/platform/reason"
)

// library are the texts of the library by what they say. Those with arguments are formats.
var library = map[string]*reason.Kind{
	validation.MsgUnexpectedProperty:             reason.New("unexpected_property", "unexpected property", "未知的字段"),
	validation.MsgExpectedBoolean:                reason.New("expected_boolean", "expected boolean", "应为 true 或 false"),
	validation.MsgExpectedNumber:                 reason.New("expected_number", "expected number", "应为数字"),
	validation.MsgExpectedInteger:                reason.New("expected_integer", "expected integer", "应为整数"),
	validation.MsgExpectedString:                 reason.New("expected_string", "expected string", "应为文本"),
	validation.MsgExpectedArray:                  reason.New("expected_array", "expected array", "应为列表"),
	validation.MsgExpectedObject:                 reason.New("expected_object", "expected object", "应为对象"),
	validation.MsgExpectedOneOf:                  reason.New("expected_one_of", "expected value to be one of \"{values}\"", "应为以下之一：{values}"),
	validation.MsgExpectedMinimumNumber:          reason.New("expected_minimum", "expected number >= {least}", "应不小于 {least}"),
	validation.MsgExpectedExclusiveMinimumNumber: reason.New("expected_more", "expected number > {bound}", "应大于 {bound}"),
	validation.MsgExpectedMaximumNumber:          reason.New("expected_maximum", "expected number <= {most}", "应不大于 {most}"),
	validation.MsgExpectedExclusiveMaximumNumber: reason.New("expected_less", "expected number < {bound}", "应小于 {bound}"),
	validation.MsgExpectedMinLength:              reason.New("expected_min_length", "expected length >= {least}", "至少 {least} 个字符"),
	validation.MsgExpectedMaxLength:              reason.New("expected_max_length", "expected length <= {most}", "最多 {most} 个字符"),
	validation.MsgExpectedMatchPattern:           reason.New("expected_pattern", "expected string to match pattern {pattern}", "应符合格式 {pattern}"),
	validation.MsgExpectedRFC3339DateTime:        reason.New("expected_time", "expected string to be RFC 3339 date-time", "应为 RFC 3339 格式的时间"),
	validation.MsgExpectedRFC3339Date:            reason.New("expected_date", "expected string to be RFC 3339 date", "应为 2024-05-19 这样的日期"),
	validation.MsgExpectedMinItems:               reason.New("expected_min_items", "expected array length >= {least}", "至少 {least} 项"),
	validation.MsgExpectedMaxItems:               reason.New("expected_max_items", "expected array length <= {most}", "最多 {most} 项"),
	validation.MsgExpectedArrayItemsUnique:       reason.New("expected_unique", "expected array items to be unique", "各项不能重复"),
	validation.MsgExpectedRequiredProperty:       reason.New("expected_property", "expected required property {name} to be present", "缺少字段 {name}"),
	validation.MsgExpectedMatchExactlyOneSchema:  reason.New("expected_other_type", "expected value to match exactly one schema but matched none", "类型不符"),
	"required query parameter is missing":        reason.New("expected_parameter", "required query parameter is missing", "缺少参数"),
	"invalid integer":                            reason.New("invalid_integer", "invalid integer", "不是有效的整数"),
	"invalid boolean":                            reason.New("invalid_boolean", "invalid boolean", "不是有效的 true 或 false"),
	"unexpected end of JSON input":               reason.New("json_ends", "unexpected end of JSON input", "JSON 不完整"),
	"request body is required":                   reason.New("expected_body", "request body is required", "缺少请求内容"),
	"validation failed":                          reason.New("validation_failed", "validation failed", "内容不符合要求"),
}

// formatted are the texts that the library made of its formats, once for each schema, before any request comes.
var formatted sync.Map // text → reason.Reason

// The library keeps these as variables of its package. All APIs of a process share
// them, and they are set before any is built: errors are problems, lists are never null.
func init() {
	huma.DefaultArrayNullable = false
	huma.ErrorFormatter = func(format string, args ...any) string {
		text := fmt.Sprintf(format, args...)
		if kind := library[format]; kind != nil {
			r := kind.With(args...)
			r.Text = text
			formatted.Store(text, r)
		}
		return text
	}
	huma.NewError = func(status int, detail string, errs ...error) huma.StatusError {
		return libraryProblem(status, detail, errs)
	}
	huma.NewErrorWithContext = func(c huma.Context, status int, detail string, errs ...error) huma.StatusError {
		return libraryProblem(status, detail, errs).In(languageOf(c.Context()))
	}
}

// libraryReason is a text of the library as a value.
func libraryReason(text string) reason.Reason {
	if r, ok := formatted.Load(text); ok {
		return r.(reason.Reason)
	}
	if kind := library[text]; kind != nil {
		return kind.With()
	}
	return reason.Text(text)
}

// libraryProblem turns what huma found wrong with a request into a problem. Only
// location and message are taken over: the detail of a plain error may hold anything,
// and the offending value may be a password.
func libraryProblem(status int, detail string, errs []error) *problem.Document {
	if status >= http.StatusInternalServerError {
		return problem.With(status, problem.Internal.With())
	}
	p := problem.With(status, libraryReason(detail))
	p.Detail = detail
	var fields []problem.Field
	for _, err := range errs {
		var field *huma.ErrorDetail
		var own *reason.FieldError
		switch {
		case errors.As(err, &field):
			fields = append(fields, problem.At(field.Location, libraryReason(field.Message)))
		case errors.As(err, &own):
			fields = append(fields, problem.At(own.Field, own.What))
		}
	}
	if len(fields) > 0 {
		p.AddFields(fields...)
	}
	return p
}
