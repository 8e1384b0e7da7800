package servers

import "watchmark/internal/platform/reason"

// The errors a caller branches on.
var (
	// ErrOff is returned for a server that the owner has not opened, or not connected.
	ErrOff = reason.New("server_login_off", "this way to sign in is not open: sign in another way, or ask the owner", "这种登录方式未开放：请换一种方式登录，或询问所有者").For(reason.Conflict)
	// ErrWrong is returned for a wrong password, and for who is nobody here, so that it tells of neither.
	ErrWrong = reason.New("server_login_wrong", "{product} refuses this user name or password, or this user is nobody here: check both, or ask the owner for an invitation",
		"{product} 拒绝了此用户名或密码，或者这里没有对应的成员：请检查后重试，或向所有者索取邀请").For(reason.Unauthorized)
	// ErrAway is returned when the server, or Plex, cannot be asked.
	ErrAway = reason.New("server_login_away", "{product} cannot be asked now: try again later, or sign in another way; the log tells the owner why",
		"暂时无法询问 {product}：请稍后重试，或换一种方式登录；所有者可在日志中查看原因").For(reason.Upstream)
	// ErrState is returned for a sign-in at Plex that this browser did not begin, or that is over.
	ErrState = reason.New("server_login_state", "this sign-in was not started in this browser, or too long ago: start again", "本次登录不是在此浏览器中开始的，或已过期：请重新开始").For(reason.Conflict)
	// ErrWaiting is returned while nobody has confirmed a sign-in at Plex.
	ErrWaiting = reason.New("server_login_waiting", "the sign-in was not confirmed at Plex yet", "尚未在 Plex 上确认登录").For(reason.Conflict)
)
