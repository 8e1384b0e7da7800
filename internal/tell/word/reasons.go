package word

import "watchmark/internal/platform/reason"

// ErrOnTrial is returned for an account for which nothing is written.
var ErrOnTrial = reason.New("word_on_trial", "this account is on a dry run, so nothing is written to its list: switch that off under People first",
	"该账号处于试运行，不会写入列表：请先在“成员”中关闭").For(reason.Conflict)
