package watcher

import (
	"context"
	"time"
)

// firstMost is how long a person waits for the first look at a server: what is played after it is news, whatever its date. A large library
// goes on being read beside.
const firstMost = 10 * time.Second

// firstLook is the first reading of what was played on a server, which follows a sign-in.
type firstLook struct {
	began time.Time
	ended chan struct{}
}

// expectFirst notes that the first look at a login's server comes, where logins are followed.
func (s *Service) expectFirst(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running && s.firsts[id] == nil {
		s.firsts[id] = &firstLook{time.Now(), make(chan struct{})}
	}
}

// endFirst notes that the first look came to its end, or to nothing.
func (s *Service) endFirst(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first := s.firsts[id]; first != nil {
		close(first.ended)
		delete(s.firsts, id)
	}
}

// awaitFirst waits for the first look at a login's server, for firstMost at most.
func (s *Service) awaitFirst(ctx context.Context, id int64) {
	s.mu.Lock()
	first := s.firsts[id]
	s.mu.Unlock()
	if first == nil {
		return
	}
	// Another replica may follow it: the one where the person signs in does from now on.
	bounded, cancel := context.WithTimeout(ctx, firstMost)
	defer cancel()
	if err := s.Holds.Wait(bounded, loginName(id)); err != nil {
		return
	}
	s.wake.Raise()
	select {
	case <-first.ended:
	case <-time.After(firstMost):
	case <-ctx.Done():
	}
}

// looks reports whether people still wait for the first look at a login's server. The caller holds mu.
func (s *Service) looks(id int64) bool {
	first := s.firsts[id]
	return first != nil && time.Since(first.began) < firstMost
}
