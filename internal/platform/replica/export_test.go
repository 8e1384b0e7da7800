package replica

import "time"

// Shorten has what begins from now on last for a shorter life.
func (s *Self) Shorten(life time.Duration) {
	s.lasting = lasting(life)
	s.now.lasting = lasting(life)
	s.now.heard = time.Now()
}
