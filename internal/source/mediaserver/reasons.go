package mediaserver

import "watchmark/internal/platform/reason"

// What callers of a Client tell apart.
var (
	// ErrSignedOut: the server does not know the token any more.
	ErrSignedOut = reason.New("media_server_signed_out", "the server has ended this sign-in: sign in again", "服务器已结束这次登录：请重新登录")
	// ErrRefused: the server knows the person and does not let them in now, such as outside of the hours that its owner allows.
	ErrRefused = reason.New("media_server_refused", "the server refuses this user for now: its owner may have limited hours, devices or libraries", "服务器暂时拒绝此用户：管理员可能限制了时段、设备或媒体库")
	// ErrUnreachable: no answer, or one that says nothing about the sign-in.
	ErrUnreachable = reason.New("media_server_unreachable", "the server does not answer", "服务器没有响应")
	// ErrOther: another server answers at the address.
	ErrOther = reason.New("media_server_other", "another server answers at this address", "这个地址上是另一台服务器")
	// ErrNoPush: the server has no live connection.
	ErrNoPush = reason.New("media_server_no_push", "the server has no live connection", "服务器不支持实时连接")
	// ErrCannot: servers of this kind do not do that.
	ErrCannot = reason.New("media_server_cannot", "servers of this kind cannot do that", "这种服务器不支持此操作")
)
