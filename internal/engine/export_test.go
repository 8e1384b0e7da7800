package engine

import "time"

func init() { comparing = 500 * time.Millisecond }

// InHand is how many records the engine has in hand.
func (e *Engine) InHand() int { return len(e.held()) }
