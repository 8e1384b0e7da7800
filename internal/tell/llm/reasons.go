package llm

import "watchmark/internal/platform/reason"

// ErrOff is returned while no service is set up.
var ErrOff = reason.New("llm_off", "no language model is set up: set llm.base_url and llm.model in the settings",
	"尚未配置大模型：请在设置中填写 llm.base_url 和 llm.model").Was("llm_no_language_model_set_up").For(reason.Conflict)

// ErrOften is returned to a person who had the model asked as often as a person may.
var ErrOften = reason.New("llm_often", "your summaries had the language model asked {most} times in a day: it is asked again tomorrow",
	"你的观看总结一天内已请求大模型 {most} 次：明天会再次请求").With(PersonMost)

// What is wrong with an answer.
var (
	webPage       = reason.New("llm_web_page", "the answer is a web page", "返回的是一个网页").Was("llm_web_page_answers")
	answerNotJSON = reason.New("llm_answer_not_json", "the answer is not JSON", "返回的不是 JSON")
	streamNotJSON = reason.New("llm_stream_not_json", "a line of the streamed answer is not JSON", "流式返回中有一行不是 JSON").Was("llm_line_stream_not_json")
	noChoices     = reason.New("llm_no_choices", "the answer has no choices", "返回中没有 choices").Was("llm_answer_no_choices")
	contentFilter = reason.New("llm_content_filter", "stopped by its content filter", "被内容过滤拦截")
	redirects     = reason.New("llm_redirects", "it redirects to {address}", "它跳转到 {address}").Was("llm_leads_on")
	finishReason  = reason.New("llm_finish_reason", "finish_reason {what}", "finish_reason {what}")
)

// problemAndAdvice is how both are put together.
var problemAndAdvice = reason.New("llm_problem", "{problem}: {advice}", "{problem}：{advice}")

// problems say what happened, advices what to do about it.
var problems, advices = map[Kind]*reason.Kind{
	Unreachable:  reason.New("llm_unreachable", "the language model cannot be reached", "无法连接大模型"),
	TimedOut:     reason.New("llm_timeout", "the language model did not answer in time", "大模型未在时限内回答"),
	WrongAddress: reason.New("llm_wrong_address", "the service at llm.base_url does not offer chat completions as OpenAI does", "llm.base_url 处的服务不是兼容 OpenAI 的对话接口"),
	BadKey:       reason.New("llm_bad_key", "the service of the language model refuses the key", "大模型服务拒绝了密钥"),
	NoCredit:     reason.New("llm_no_credit", "the credit at the service of the language model is used up", "大模型服务的额度已用完"),
	UnknownModel: reason.New("llm_unknown_model", "the service does not know this model or path", "服务中没有这个模型或路径"),
	TooLong:      reason.New("llm_too_long", "the text was too long for the language model", "内容超出了大模型能读取的长度"),
	BadRequest:   reason.New("llm_bad_request", "the service of the language model refuses the request", "大模型服务拒绝了请求"),
	Busy:         reason.New("llm_busy", "the service of the language model is overloaded or out of order", "大模型服务过载或出现故障"),
	Refused:      reason.New("llm_refused", "the language model refuses to answer", "大模型拒绝回答"),
	NoText:       reason.New("llm_no_text", "the answer of the language model contains no text", "大模型的回答中没有文字"),
	TooLarge:     reason.New("llm_too_large", "the answer of the language model is too large", "大模型的回答过大"),
}, map[Kind]*reason.Kind{
	Unreachable:  reason.New("llm_unreachable_advice", "check llm.base_url and network.proxy, and that the service runs", "请检查 llm.base_url 和 network.proxy，以及服务是否在运行"),
	TimedOut:     reason.New("llm_timeout_advice", "raise llm.timeout, or choose a smaller model", "请调大 llm.timeout，或换用更小的模型"),
	WrongAddress: reason.New("llm_wrong_address_advice", "set llm.base_url to the address of the API up to its version, such as https://api.openai.com/v1, not to a web page", "llm.base_url 应为写到版本号的接口地址，例如 https://api.openai.com/v1，而不是网页地址"),
	BadKey:       reason.New("llm_bad_key_advice", "check llm.api_key, and that the key may use this model from the place where Watchmark runs", "请检查 llm.api_key，以及该密钥能否在本机所在地使用这个模型"),
	NoCredit:     reason.New("llm_no_credit_advice", "top up your account at the service, or choose another service", "请为该服务充值，或换用其他服务"),
	UnknownModel: reason.New("llm_unknown_model_advice", "compare llm.model with the list of models of the service, and check that llm.base_url ends with the version, such as /v1", "请对照服务的模型列表检查 llm.model，并确认 llm.base_url 以版本号（如 /v1）结尾"),
	TooLong:      reason.New("llm_too_long_advice", "lower the number of records of the summary, or choose a model with a larger context", "请减少总结的记录上限，或换用上下文更长的模型"),
	BadRequest:   reason.New("llm_bad_request_advice", "check llm.model, llm.max_tokens and llm.temperature", "请检查 llm.model、llm.max_tokens 和 llm.temperature"),
	Busy:         reason.New("llm_busy_advice", "try again later", "请稍后重试"),
	Refused:      reason.New("llm_refused_advice", "change the prompt of the summary, or choose another model", "请修改总结的提示词，或换用其他模型"),
	NoText:       reason.New("llm_no_text_advice", "raise llm.max_tokens: models that think first use up tokens for that, too", "请调大 llm.max_tokens：会先思考的模型，思考也占用额度"),
	TooLarge:     reason.New("llm_too_large_advice", "lower llm.max_tokens", "请调小 llm.max_tokens"),
}
