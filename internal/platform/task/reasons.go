package task

import "watchmark/internal/platform/reason"

// The errors a caller branches on.
var (
	// ErrNotFound is returned for a task that was never there, or ended so long ago that it is forgotten.
	ErrNotFound = reason.New("task_not_found", "there is no such task, or it ended long ago", "没有这个后台任务，或它早已结束").For(reason.NotFound)
	// ErrEnded is returned by Cancel for a task that does not run.
	ErrEnded = reason.New("task_ended", "the task has ended already", "任务已经结束").For(reason.Conflict)
	// ErrStopping is returned by Start while the service stops.
	ErrStopping = reason.New("service_stopping", "the service is stopping", "服务正在停止").For(reason.Unavailable)
	// ErrRunning is returned by Start while another task does what one at a time may do.
	ErrRunning = reason.New("task_running", "a task of this kind is running already: wait for it, or cancel it", "同类任务正在运行：请等它结束，或取消它")
)

// errCut is the end of a task that the end of its replica cut off.
var errCut = reason.New("task_cut", "the service ended before the task did: what it has done stays done; start it again, unless it is a scheduled job, which starts again by itself",
	"任务完成前服务已结束：已完成的部分会保留；请重新运行（定时任务会自动重新运行）")

// panicked is the end of a task that panicked.
var panicked = reason.New("task_panicked", "internal error: the log of the service has the details", "服务内部出错：详情见服务日志")
