package task

import "watchmark/internal/platform/reason"

// The errors a caller branches on.
var (
	// ErrNotFound is returned for a task that was never there, or ended so long ago that it is forgotten.
	ErrNotFound = reason.New("task_not_found", "there is no such task, or it ended long ago", "没有这个后台任务，或它早已结束").For(reason.NotFound)
	// ErrEnded is returned by Cancel for a task that does not run.
	ErrEnded = reason.New("task_ended", "the task has ended already", "任务已经结束").For(reason.Conflict)
	// ErrStopping is returned by Start and StartAlone while the service stops.
	ErrStopping = reason.New("service_stopping", "the service is stopping", "服务正在停止").For(reason.Unavailable)
	// ErrRunning is returned by StartAlone while a task of its kind runs.
	ErrRunning = reason.New("task_running", "a task of this kind is running already: wait for it, or cancel it", "同类任务正在运行：请等它结束，或取消它")
)

// panicked is the end of a task that panicked.
var panicked = reason.New("task_panicked", "internal error: the log of the service has the details", "服务内部出错：详情见服务日志")
