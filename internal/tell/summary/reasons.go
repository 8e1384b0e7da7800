package summary

import "watchmark/internal/platform/reason"

// The errors a caller branches on.
var (
	// ErrNotFound is returned for a name that no job has.
	ErrNotFound = reason.New("summary_not_found", "there is no summary with this name", "没有这个名称的观看总结").Was("summary_no_summary_job_name").For(reason.NotFound)
	// ErrTaken is returned for a name that another job has.
	ErrTaken = reason.New("summary_taken", "there is a summary with this name already", "已有同名的观看总结").Was("summary_job_name_already").For(reason.Conflict)
	// ErrFull is returned when there are as many jobs as there may be.
	ErrFull    = full.With(jobsMost)
	errOwnFull = full.With(ownJobsMost)
	full       = reason.New("summary_full", "there are {most} summaries already: remove one first", "观看总结已有 {most} 个：请先删除一个").Was("summary_50_summary_jobs_already_remove").For(reason.Conflict)
	// ErrRunning is returned while a run of the job is under way.
	ErrRunning = reason.New("summary_running", "this summary is being written already", "该观看总结正在生成").Was("summary_job_running_already")
	// ErrStopping is returned while the service stops, also for a run that it ended.
	ErrStopping = reason.New("summary_stopping", "the service is stopping", "服务正在停止").Was("summary_service_stopping").For(reason.Unavailable)
	errNoGuide  = reason.New("airing_no_archive", "there is no offline data to see what airs today: switch the offline data on, and wait until it is imported", "没有离线数据，不知道今天播出什么：请启用离线数据，并等待导入完成").For(reason.Conflict)
)

// Why there is no summary, or one without the language model.
var (
	listUnreadable = reason.New("summary_list_unreadable", "the list cannot be read: check the account; the next message comes tomorrow",
		"无法读取列表：请检查账号，明天会再次通知").Was("summary_list_cannot_read_check_account")
	panicked = reason.New("summary_panicked", "internal error: see the log of Watchmark", "服务内部出错：请查看服务日志").Was("summary_internal_error_look_log_service")
	tooSlow  = reason.New("summary_too_slow", "it took longer than {longest_run}: the database or the language model is too slow",
		"超过 {longest_run} 仍未完成：数据库或大模型太慢").Was("summary_took_longer_database_or_language")
	recordsUnreadable = reason.New("summary_records_unreadable", "the records could not be read: see the log of Watchmark", "无法读取记录：请查看服务日志").Was("summary_records_could_not_read_look")
	answerCut         = reason.New("summary_answer_cut", "the text is incomplete: raise llm.max_tokens", "内容被截断：请调大 llm.max_tokens").Was("summary_answer_cut_raise_llm_max")
	modelTooSlow      = reason.New("summary_model_too_slow", "the language model did not answer in time: choose a smaller model, or fewer days",
		"大模型未在时限内回答：请换用更小的模型，或减少天数").Was("summary_language_model_did_not_answer")
	modelFailed = reason.New("summary_model_failed", "the language model did not write it: tell the owner, who sees why", "大模型没有写成：请告诉所有者，由所有者查看原因")
)

// What is wrong with a field.
var (
	badName           = reason.New("summary_name", "use 1 to {longest_name} letters, digits, - or _", "请使用 1 到 {longest_name} 个字母、数字、- 或 _").Was("summary_give_1_letters_digits_or")
	daysOutOfRange    = reason.New("summary_days", "{days_back} is not between 1 and {days_most}", "{days_back} 不在 1 到 {days_most} 之间").Was("summary_not_between_1")
	tooClose          = reason.New("summary_too_close", "runs more than once an hour: leave an hour between two runs", "运行间隔不到一小时：两次运行之间请至少间隔一小时")
	userTooLong       = reason.New("summary_user_too_long", "longer than {longest_user} bytes", "超过 {longest_user} 字节").Was("summary_longer_bytes")
	promptTooLong     = reason.New("summary_prompt_too_long", "longer than {longest_prompt} characters", "超过 {longest_prompt} 个字符").Was("summary_longer_characters")
	recordsOutOfRange = reason.New("summary_max_records", "{max_records} is not between 0 and {most_records}", "{max_records} 不在 0 到 {most_records} 之间").Was("summary_not_between_0")
	badChannels       = reason.New("summary_channels", "enter the IDs of channels", "请填写渠道编号").Was("summary_give_ids_channels")
)
