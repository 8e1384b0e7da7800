package catalogtest

import (
	"net/http"
	"time"
)

// marksAnswer is what GET /_sim/marks tells.
type marksAnswer struct {
	Marks       []Mark       `json:"marks"`
	Collections []Collection `json:"collections"`
	Writes      int          `json:"writes"`
	Timeline    int          `json:"timeline"`
}

// faultBody is what POST /_sim/fault takes; all but the mode may be left out.
type faultBody struct {
	Mode       FaultMode  `json:"mode"`
	Status     int        `json:"status"`
	RetryAfter int        `json:"retry_after"` // seconds
	ForMS      int        `json:"for_ms"`
	DelayMS    int        `json:"delay_ms"`
	Paths      FaultPaths `json:"paths"`
	Pattern    string     `json:"pattern"`
	Times      int        `json:"times"`
	Body       string     `json:"body"`
}

// routeControl registers the paths that steer and inspect the simulator.
func (s *Server) routeControl() {
	s.control.HandleFunc("GET /_sim/marks", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, marksAnswer{s.Marks(), s.Collections(), len(s.Writes()), s.Timeline()})
	})
	s.control.HandleFunc("POST /_sim/fault", func(w http.ResponseWriter, r *http.Request) {
		var body faultBody
		if !readBody(w, r, &body, true) {
			return
		}
		err := s.SetFault(Fault{
			Mode: body.Mode, Status: body.Status, Body: body.Body, Paths: body.Paths, Pattern: body.Pattern, Times: body.Times,
			RetryAfter: time.Duration(body.RetryAfter) * time.Second,
			For:        time.Duration(body.ForMS) * time.Millisecond,
			Delay:      time.Duration(body.DelayMS) * time.Millisecond,
		})
		if err != nil {
			fail(w, r, http.StatusBadRequest, err.Error())
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	s.control.HandleFunc("POST /_sim/reset", func(w http.ResponseWriter, _ *http.Request) {
		s.Reset()
		w.WriteHeader(http.StatusNoContent)
	})
}
