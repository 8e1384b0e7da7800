package engine

import "time"

func init() { comparing = 500 * time.Millisecond }

// InHand is how many records the engine has in hand.
func (e *Engine) InHand() int { return len(e.held()) }

// IsLive reports whether a record is of something that was watched just now.
var IsLive = isLive
