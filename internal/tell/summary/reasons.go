package summary

import "watchmark/internal/platform/reason"

// What people are told.
var (
	listCannotReadCheckAccount = reason.New("summary_list_cannot_read_check_account", "the list cannot be read: check the account, then it is told tomorrow",
		"无法读取收藏列表：请检查账号，明天会再次通知")
	internalErrorLookLogService = reason.New("summary_internal_error_look_log_service", "internal error: look at the log of this service",
		"服务内部出错：请查看本服务的日志")
	tookLongerDatabaseOrLanguage = reason.New("summary_took_longer_database_or_language", "it took longer than {longest_run}: the database or the language model is too slow",
		"超过 {longest_run} 仍未完成：数据库或大模型太慢")
	recordsCouldNotReadLook = reason.New("summary_records_could_not_read_look", "the records could not be read: look at the log of this service",
		"无法读取记录：请查看本服务的日志")
	answerCutRaiseLlmMax = reason.New("summary_answer_cut_raise_llm_max", "the answer was cut: raise llm.max_tokens",
		"回答被截断：请调大 llm.max_tokens")
	languageModelDidNotAnswer = reason.New("summary_language_model_did_not_answer", "the language model did not answer in time: choose a smaller model, or look at fewer days",
		"大模型未在时限内回答：请换用更小的模型，或减少天数")

	give1LettersDigitsOr = reason.New("summary_give_1_letters_digits_or", "give 1 to {longest_name} letters, digits, - or _",
		"请使用 1 到 {longest_name} 个字母、数字、- 或 _")
	notBetween1 = reason.New("summary_not_between_1", "{days_back} is not between 1 and {days_most}",
		"{days_back} 不在 1 到 {days_most} 之间")
	longerBytes      = reason.New("summary_longer_bytes", "longer than {longest_user} bytes", "超过 {longest_user} 字节")
	longerCharacters = reason.New("summary_longer_characters", "longer than {longest_prompt} characters",
		"超过 {longest_prompt} 个字符")
	notBetween0 = reason.New("summary_not_between_0", "{max_records} is not between 0 and {most_records}",
		"{max_records} 不在 0 到 {most_records} 之间")
	giveIDsChannels = reason.New("summary_give_ids_channels", "give the ids of channels", "请填写渠道编号")
)
