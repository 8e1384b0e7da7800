package faults

import (
	"time"

	"watchmark/internal/catalog/catalogtest"
)

const (
	// outage is how long the catalog is broken; longOutage is for faults that take a request's
	// whole time to be noticed.
	outage     = time.Second
	longOutage = 2500 * time.Millisecond
)

// kill kills the service at a random moment after webhooks began to arrive, and starts it
// again at once. The moments spread over intake, matching, gathering, writing and settling,
// and over the start that takes up what the last kill left.
func kill(s *stage, rounds, marks int) {
	for range rounds {
		d := s.deliver(s.next(marks))
		s.moment(400 * time.Millisecond)
		s.restart()
		d.wait()
	}
}

// during sends a burst, breaks the catalog once marks are being written, sends another
// burst, and the catalog recovers when the fault says.
func during(f catalogtest.Fault) func(s *stage, rounds, marks int) {
	return func(s *stage, rounds, marks int) {
		for range rounds {
			s.midBurst(marks, func() {
				before := s.asked(f.Paths)
				s.breakCatalog(f)
				<-time.After(f.For)
				if s.asked(f.Paths) == before {
					s.Error("nothing met the fault")
				}
			})
		}
	}
}

// refuse takes the catalog's port away in the middle of a burst.
func refuse(s *stage, rounds, marks int) {
	for range rounds {
		address := s.running.URL[len("http://"):]
		s.midBurst(marks, func() {
			s.closeCatalog()
			<-time.After(outage)
			s.openCatalog(address)
		})
	}
}

// midBurst runs trouble while half of the burst is being marked and the other half arrives.
// It returns when all is at its end.
func (s *stage) midBurst(marks int, trouble func()) {
	s.Helper()
	before := s.writes()
	first := s.deliver(s.next(marks / 2))
	eventually(s, "marks are written", func() bool { return s.writes() > before })
	second := s.deliver(s.next(marks - marks/2))
	trouble()
	first.wait()
	second.wait()
	s.settled()
}
