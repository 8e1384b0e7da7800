package api_test

import (
	"testing"

	"watchmark/internal/door/problem"
)

func TestProblemsAnswerTheirReasonInTheLanguageOfTheCaller(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		name, method, path string
		body               any
		headers            []string
		status             int
		code, text, detail string
		location, message  string // of the field at fault
		field              string // its code
	}{
		{name: "a kind of a feature", method: "DELETE", path: "/api/api-keys/999", headers: []string{"Accept-Language", "zh-CN,zh;q=0.9"},
			status: 404, code: "api_key_not_found", text: "没有这个 API 密钥", detail: "There is no such API key."},
		{name: "in English", method: "DELETE", path: "/api/api-keys/999", status: 404, code: "api_key_not_found", text: "there is no such API key", detail: "There is no such API key."},
		{name: "by the choice of the pages", method: "DELETE", path: "/api/api-keys/999", headers: []string{"Cookie", "watchmark_lang=zh-CN", "Accept-Language", "en"},
			status: 404, code: "api_key_not_found", text: "没有这个 API 密钥", detail: "There is no such API key."},
		{name: "a field", method: "POST", path: "/api/api-keys", body: map[string]any{"name": ""}, headers: []string{"Accept-Language", "zh"},
			status: 422, code: "fields_invalid", text: "body.name：请填写名字", detail: "body.name: enter a name", location: "body.name", message: "enter a name", field: "name_missing"},
		{name: "what the library refuses", method: "GET", path: "/api/records?limit=0", headers: []string{"Accept-Language", "zh"},
			status: 422, code: "fields_invalid", text: "query.limit：应不小于 1", detail: "query.limit: expected number >= 1", location: "query.limit", message: "expected number >= 1", field: "expected_minimum"},
		{name: "a cursor of nobody", method: "GET", path: "/api/records?cursor=x", headers: []string{"Accept-Language", "zh"},
			status: 422, code: "fields_invalid", text: "query.cursor：这不是之前某一页返回的 next_cursor", detail: "query.cursor: is not the next_cursor of an earlier page",
			location: "query.cursor", message: "is not the next_cursor of an earlier page", field: "api_cursor"},
		{name: "no such path", method: "GET", path: "/api/nothing", headers: []string{"Accept-Language", "zh"},
			status: 404, code: "api_no_path", text: "此路径下没有内容，可用的接口见 GET /api/docs。", detail: "There is nothing at this path. GET /api/docs lists all paths."},
		{name: "a webhook", method: "POST", path: "/webhook/custom/wrong", headers: []string{"Accept-Language", "zh"},
			status: 401, code: "webhook_key", text: "Webhook 密钥缺失或不正确：请把“来源”页面上的完整地址复制到媒体服务器。",
			detail: "The webhook key is missing or wrong: copy the whole address from the page Sources into your media server."},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p problem.Document
			r.do(c.method, c.path, c.body, c.headers...).problem(c.status).into(&p)
			if p.Reason.Code != c.code || p.Reason.Text != c.text || p.Detail != c.detail {
				t.Errorf("it is %+v", p)
			}
			if c.field == "" {
				return
			}
			if len(p.Errors) != 1 || p.Errors[0].Location != c.location || p.Errors[0].Message != c.message || p.Errors[0].Reason.Code != c.field {
				t.Errorf("its fields are %+v", p.Errors)
			}
		})
	}
	var p problem.Document
	r.anonymous("GET", "/api/records", nil, "Accept-Language", "zh-CN").problem(401).into(&p)
	if p.Reason.Code != "login_needed" || p.Reason.Text[:len("请登录")] != "请登录" {
		t.Errorf("who is not signed in is told %+v", p)
	}
}
