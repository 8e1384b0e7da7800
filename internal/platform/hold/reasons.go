package hold

import "watchmark/internal/platform/reason"

// errNotLive is returned by Alone while another replica may take this one for dead, and take what it has.
var errNotLive = reason.New("hold_not_live", "the service has lost touch with its database: try again in a minute", "服务与数据库失去联系：请一分钟后重试").For(reason.Unavailable)
