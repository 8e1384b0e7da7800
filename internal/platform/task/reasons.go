package task

import "watchmark/internal/platform/reason"

// The errors a caller branches on.
var (
	// ErrNotFound is returned for a task that was never there, or ended so long ago that it is forgotten.
	ErrNotFound = reason.New("task_not_found", "task not found", "没有这个任务").For(reason.NotFound)
	// ErrEnded is returned by Cancel for a task that does not run.
	ErrEnded = reason.New("task_ended", "the task has ended already", "任务已经结束").For(reason.Conflict)
	// ErrStopping is returned by Start and StartAlone while the service stops.
	ErrStopping = reason.New("service_stopping", "the service is stopping", "服务正在停止").For(reason.Unavailable)
	// ErrRunning is returned by StartAlone while a task of its kind runs.
	ErrRunning = reason.New("task_running", "a task of this kind is running already", "同类任务正在运行")
)

// panicked is the end of a task that panicked.
var panicked = reason.New("task_panicked", "internal error: look at the log of this service", "服务内部出错：请查看本服务的日志")
