package llm

import "watchmark/internal/platform/reason"

// What people are told.
var (
	webPageAnswers    = reason.New("llm_web_page_answers", "a web page answers", "返回的是一个网页")
	answerNotJSON     = reason.New("llm_answer_not_json", "the answer is not JSON", "返回的不是 JSON")
	lineStreamNotJSON = reason.New("llm_line_stream_not_json", "a line of its stream is not JSON",
		"流式返回中有一行不是 JSON")
	answerNoChoices  = reason.New("llm_answer_no_choices", "the answer has no choices", "返回中没有 choices")
	contentFilter    = reason.New("llm_content_filter", "its content filter", "内容过滤")
	leadsOn          = reason.New("llm_leads_on", "it leads on to {address}", "它跳转到 {address}")
	finishReason     = reason.New("llm_finish_reason", "finish_reason {what}", "finish_reason {what}")
	problemAndAdvice = reason.New("llm_problem", "{problem}: {advice}", "{problem}：{advice}")
)
