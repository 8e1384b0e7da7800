// Package nas reads what was watched from the media library of a NAS: an SQLite database
// that another program owns and writes to (upstreams/nas.md). It is read only, from time to
// time, from where it was read to before; what is new becomes watch.Events.
//
// What it promises of the library: nothing in its folder is written, made or removed;
// it is open while it is read only, in short transactions; nothing is ever un-marked.
package nas

import (
	"time"

	"watchmark/internal/platform/reason"
)

// Kind says what keeps the library from being read.
type Kind string

// The kinds of a Problem.
const (
	Missing  Kind = "missing"   // there is no such file
	Denied   Kind = "denied"    // the service's user may not read it
	Unusable Kind = "unusable"  // the path leads to something else
	Busy     Kind = "busy"      // it is locked, or changes all the time
	Damaged  Kind = "damaged"   // SQLite cannot read it
	Strange  Kind = "strange"   // it is a database, but not this library
	Failed   Kind = "failed"    // anything else, such as a full disk
	NoUser   Kind = "no_user"   // it has no such user
	NotTaken Kind = "not_taken" // it was read, and the database of the service failed
)

// Problem is what keeps the library from being read, in words for whoever can mend it.
type Problem struct {
	Kind   Kind
	Detail reason.Reason // names the path, says what to do; no full stop
	Err    error         // what was met; nil when Detail says all
}

// Error is the detail in English.
func (p *Problem) Error() string { return p.Detail.Text }

// Reason is the detail.
func (p *Problem) Reason() reason.Reason { return p.Detail }

// Unwrap is what was met.
func (p *Problem) Unwrap() error { return p.Err }

func problem(kind Kind, err error, detail reason.Reason) *Problem {
	return &Problem{kind, detail, err}
}

// Handling says how the file was opened (upstreams/nas.md, section 7).
type Handling string

// The handlings.
const (
	// Live reads beside the program that writes, its write-ahead log included.
	Live Handling = "live"
	// Quiet reads a file without a log, which is checked to be unchanged afterwards.
	Quiet Handling = "quiet"
	// Copied reads a copy, made because the file cannot be read in place.
	Copied Handling = "copied"
)

// Range is how far back plays are looked at.
type Range string

// The ranges, as the setting nas.range and the API write them.
const (
	All   Range = "all"
	Day   Range = "1day"
	Week  Range = "1week"
	Month Range = "1month"
)

// start is when the range begins; the zero time is the beginning of everything.
func (r Range) start(now time.Time) time.Time {
	switch r {
	case Day:
		return now.AddDate(0, 0, -1)
	case Week:
		return now.AddDate(0, 0, -7)
	case Month:
		return now.AddDate(0, -1, 0)
	case All:
	}
	return time.Time{}
}

// AllUsers is the value of the setting nas.user that restricts to nobody.
const AllUsers = "all"
