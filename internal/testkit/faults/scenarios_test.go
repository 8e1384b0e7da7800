package faults

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"watchmark/internal/testkit/catalogtest"
)

const (
	// outage is how long the catalog is broken; longOutage is for faults that take a request's
	// whole time to be noticed.
	outage     = time.Second
	longOutage = 2500 * time.Millisecond
	// stopMost is how long a service that is told to stop may take.
	stopMost = 10 * time.Second
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

// terminate tells the service to stop at a random moment, in every other round while the
// catalog hangs, so that work in hand cannot end.
func terminate(s *stage, rounds, marks int) {
	for round := range rounds {
		if round%2 == 1 {
			s.breakCatalog(catalogtest.Fault{Mode: catalogtest.Hang})
		}
		d := s.deliver(s.next(marks))
		s.moment(400 * time.Millisecond)
		s.process().stop(s, syscall.SIGTERM, stopMost)
		s.start()
		s.breakCatalog(catalogtest.Fault{Mode: catalogtest.None})
		d.wait()
	}
}

// during sends a burst, breaks the catalog once marks are being written, sends another
// burst, and the catalog recovers when the fault says.
func during(f catalogtest.Fault) func(s *stage, rounds, marks int) {
	return func(s *stage, rounds, marks int) {
		for range rounds {
			s.midBurst(marks, func() { s.outlast(f) })
		}
	}
}

// outlast puts a fault in force and returns when it is over; something must have met it.
func (s *stage) outlast(f catalogtest.Fault) {
	s.Helper()
	before := s.asked(f.Paths)
	s.breakCatalog(f)
	<-time.After(f.For)
	if s.asked(f.Paths) == before {
		s.Error("nothing met the fault")
	}
}

// refuse takes the catalog's port away in the middle of a burst.
func refuse(s *stage, rounds, marks int) {
	address := strings.TrimPrefix(s.catalogURL, "http://")
	for range rounds {
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

// refuseTokens lets the catalog refuse the tokens for a while, first at writes, then
// everywhere. What failed by that waits for a person, who retries it.
func refuseTokens(s *stage, rounds, marks int) {
	for range rounds {
		for _, paths := range []catalogtest.FaultPaths{catalogtest.Writes, catalogtest.All} {
			s.midBurst(marks/2, func() {
				s.outlast(catalogtest.Fault{Mode: catalogtest.Status, Status: http.StatusUnauthorized, Paths: paths, For: outage})
			})
			s.retryUnauthorized()
		}
	}
}

// retryUnauthorized retries every failed record. There must be some, and all must say why.
func (s *stage) retryUnauthorized() {
	s.Helper()
	failed := s.records("error")
	if len(failed) == 0 {
		s.Error("no record says that the token was refused")
	}
	for _, r := range failed {
		// A look-up that is not remembered any more is refused, too.
		lookUp := r.ErrorKind == "not_matched" && strings.Contains(r.Message, "refuses the request")
		if r.ErrorKind != "unauthorized" && !lookUp {
			s.Errorf("the token was refused, and the record says %+v", r)
		}
		s.call(http.StatusAccepted, http.MethodPost, "/api/records/"+strconv.FormatInt(r.ID, 10)+"/retry", "", nil)
	}
	s.settled()
}

// stepClock is a step of the wall clock, seen from the service: its timers go on, and every
// time it has stored is suddenly so much further away. It comes while records are in hand,
// and again while they are queued; in every other round the service is killed after that.
func stepClock(by time.Duration) func(s *stage, rounds, marks int) {
	return func(s *stage, rounds, marks int) {
		for round := range rounds {
			s.breakCatalog(catalogtest.Fault{Mode: catalogtest.Hang})
			d := s.deliver(s.next(marks))
			eventually(s, "records are in hand", func() bool { return s.counts()["processing"] > 0 })
			s.shiftTimes(-by)
			eventually(s, "records are queued", func() bool { return s.counts()["queued"] > 0 })
			s.shiftTimes(-by)
			if round%2 == 1 {
				s.restart()
			}
			s.breakCatalog(catalogtest.Fault{Mode: catalogtest.None})
			d.wait()
			s.settled()
		}
	}
}

// claimTwice takes records that are in hand away, so that they are claimed
// again while the first claim goes on: first while they are looked up, then while they are written.
func claimTwice(s *stage, rounds, marks int) {
	const times = 5
	for range rounds {
		for _, paths := range []catalogtest.FaultPaths{catalogtest.All, catalogtest.Writes} {
			before, part := s.asked(paths), marks/2/(times+1)
			s.breakCatalog(catalogtest.Fault{Mode: catalogtest.Hang, Paths: paths})
			s.deliver(s.next(part)).wait()
			eventually(s, "a request hangs", func() bool { return s.asked(paths) > before })
			for range times {
				if s.giveBack() == 0 {
					s.Error("no record was in hand")
				}
				s.deliver(s.next(part)).wait() // which makes the service look for work
				eventually(s, "they are claimed again", func() bool { return s.waiting() == 0 })
			}
			s.breakCatalog(catalogtest.Fault{Mode: catalogtest.None})
			s.settled()
		}
	}
}

// fillDisk fills the disk of the data folder until webhooks are refused, and then makes room
// again. Some repeat what came before, so that the room that the database has kept for itself is used up too.
func fillDisk(s *stage, rounds, marks int) {
	const refusals = 50
	for range rounds {
		first := s.deliver(s.next(marks / 2))
		second := s.deliver(slices.Repeat(s.next(marks-marks/2), 8))
		eventually(s, "webhooks are refused", func() bool {
			s.fill()
			return second.refused.Load() >= refusals
		})
		s.makeRoom()
		first.wait()
		second.wait()
		s.settled()
	}
}
