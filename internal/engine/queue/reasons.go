package queue

import "watchmark/internal/platform/reason"

// The errors a caller branches on.
var (
	// ErrHeld is returned for a task whose account cannot be used.
	ErrHeld = reason.New("task_held",
		"the account of this task is disabled, deleted or without a token: it is sent by itself when the account is back",
		"此标记的账号已停用、已删除或没有令牌：账号恢复后自动发送").For(reason.Conflict)
	// ErrNotFound is returned for a record that has no task.
	ErrNotFound = reason.New("task_missing", "no task waits for this record", "这条记录没有等待中的标记").For(reason.NotFound)
	// ErrSynced is returned for a task that is done, where one that waits is wanted.
	ErrSynced = reason.New("task_done", "the task is done: its record has come out", "该标记已完成：记录已有结果").For(reason.Conflict)
	// ErrInWork is returned for a task whose record is on its way.
	ErrInWork = reason.New("task_in_work", "the record of the task is being worked on", "对应的记录正在处理").For(reason.Conflict)
	// ErrPending is returned by Revive for a task that was not given up.
	ErrPending = reason.New("task_pending", "the task is pending: it is not given up", "该标记仍在等待，没有放弃").For(reason.Conflict)
	// ErrNoProbe is returned when no account can be used, to probe with or to send marks for.
	ErrNoProbe = reason.New("no_usable_account",
		"no usable account configuration for probing: add or enable an account with a token on the accounts page",
		"没有可用于检测的账号：请在“账号”页添加或启用带令牌的账号").For(reason.Conflict)
)

// Why a mark waits, and what a person did about it.
var (
	// AccountGone is why the mark of a deleted account waits.
	AccountGone = reason.New("account_gone",
		"account not found: it was deleted while its mark waited; this waits until an enabled account names its user",
		"找不到账号：标记等待期间账号被删除；等到有启用的账号填写了该用户名后再发送")
	accountOff = reason.New("account_off", "the account {account} is disabled: this waits until it is enabled", "账号 {account} 已停用：启用后再发送")
	tokenGone  = reason.New("account_without_token", "the account {account} has no access token: this waits until it has one", "账号 {account} 没有访问令牌：填写后再发送")
	revived    = reason.New("revived", "a person revived this: it waits for the catalog and is repeated by itself", "已手动恢复：正在等待 Bangumi，会自动重试")
	takenOut   = reason.New("taken_out", "a person took this out of the queue: retry it to have it marked after all", "已手动移出等待队列：重试这条记录仍可标记")
)
