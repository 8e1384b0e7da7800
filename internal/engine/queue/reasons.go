package queue

import "watchmark/internal/platform/reason"

// The errors a caller branches on.
var (
	// ErrHeld is returned for a task whose account cannot be used.
	ErrHeld = reason.New("queue_held",
		"the account of this mark is disabled, deleted or without a token: it is sent by itself when the account works again",
		"此标记的账号已停用、已删除或没有令牌：账号恢复后自动发送").Was("task_held").For(reason.Conflict)
	// ErrNotFound is returned for a record that has no task.
	ErrNotFound = reason.New("queue_not_found", "this record does not wait in the queue", "这条记录不在等待队列中").Was("task_missing").For(reason.NotFound)
	// ErrSynced is returned for a task that is done, where one that waits is wanted.
	ErrSynced = reason.New("queue_done", "this mark is done: its record has a result", "该标记已完成：记录已有结果").Was("task_done").For(reason.Conflict)
	// ErrInWork is returned for a task whose record is on its way.
	ErrInWork = reason.New("queue_in_work", "the record of this mark is being processed", "对应的记录正在处理").Was("task_in_work").For(reason.Conflict)
	// ErrPending is returned by Revive for a task that was not given up.
	ErrPending = reason.New("queue_waiting", "this mark still waits, it was not given up", "该标记仍在等待，没有放弃").Was("task_pending").For(reason.Conflict)
	// ErrNoProbe is returned when no account can be used, to probe with or to send marks for.
	ErrNoProbe = reason.New("no_usable_account",
		"no usable account configuration for probing: add or enable an account with a token on the page People",
		"没有可用的账号：请到“成员”页面添加或启用带令牌的账号").For(reason.Conflict)
)

// Why a mark waits, and what a person did about it.
var (
	// AccountGone is why the mark of a deleted account waits.
	AccountGone = reason.New("account_gone",
		"account not found: it was deleted while its mark waited; the mark waits until an enabled account has its user name",
		"标记等待期间账号被删除：等到有启用的账号填写了该用户名后再发送")
	accountOff = reason.New("account_off", "the account {account} is disabled: this waits until it is enabled", "账号 {account} 已停用：启用后再发送")
	tokenGone  = reason.New("account_without_token", "the account {account} has no access token: this waits until it has one", "账号 {account} 没有令牌：填写后再发送")
	revived    = reason.New("revived", "set to wait again by hand: it is sent when Bangumi can be reached", "已手动恢复等待：能连接 Bangumi 时自动发送")
	takenOut   = reason.New("taken_out", "taken out of the queue by hand: to have it marked after all, retry the record", "已手动移出等待队列：重试这条记录仍可标记")
)
