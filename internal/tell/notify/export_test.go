package notify

import "time"

// Tests play days.
func init() { idleOfOthers = time.Minute }
