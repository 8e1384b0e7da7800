package nas

import (
	"context"
	"time"

	"watchmark/internal/platform/reason"
)

// Status is where the source stands.
type Status struct {
	Enabled      bool   `json:"enabled"`
	DatabasePath string `json:"database_path"`
	// Since and Watermark are nil while the source is switched off.
	Since     *time.Time `json:"since" doc:"When the source was switched on: what was watched before is not read, unless a range is asked for. Null while it is switched off."`
	Watermark *time.Time `json:"watermark" doc:"How far the library was read, by the clock of the NAS. Null while the source is switched off."`
	Scanning  bool       `json:"scanning" doc:"Whether the library is being read."`
	LastScan  time.Time  `json:"last_scan,omitzero" doc:"When the last scan began; not there before the first."`
	Handling  Handling   `json:"handling" enum:",live,quiet,copied" doc:"How the last scan opened the file: live beside the app that writes it, quiet while nobody wrote it, copied because it could not be read in place. Empty when it failed."`
	Counts
	LastError     reason.Reason   `json:"last_error_value,omitzero" doc:"Why the last scan failed; empty when it did not."`
	LastErrorKind Kind            `json:"last_error_kind" enum:",missing,denied,unusable,busy,damaged,strange,failed,no_user,not_taken" doc:"The kind of that."`
	WatchedValues []string        `json:"watched_values" doc:"The values that the library holds in its column watched. Only 1 counts."`
	Missing       []string        `json:"missing" doc:"Columns that the library lacks, with what is lost."`
	MissingValue  []reason.Reason `json:"missing_value" doc:"The same as values."`
	// NextRun is nil while nothing is planned.
	NextRun *time.Time `json:"next_run"`
}

// MarshalJSON has the text of the error beside it, as last_error.
func (s Status) MarshalJSON() ([]byte, error) {
	type plain Status
	return reason.MarshalBeside((*plain)(&s))
}

// Status is where the source stands now.
func (k *Reader) Status(ctx context.Context) (Status, error) {
	st, err := k.store.load(ctx)
	if err != nil {
		return Status{}, err
	}
	options := k.Options()
	last := st.last
	s := Status{
		Enabled: options.Enabled, DatabasePath: options.Path, LastScan: last.At, Handling: last.Handling, Counts: last.Counts,
		LastError: last.Error, LastErrorKind: last.Kind, WatchedValues: last.Values, MissingValue: append([]reason.Reason{}, last.Missing...), Missing: []string{},
	}
	// Lists are never null.
	s.Reasons = append([]Reason{}, s.Reasons...)
	s.WatchedValues = append([]string{}, s.WatchedValues...)
	for _, lost := range last.Missing {
		s.Missing = append(s.Missing, lost.Text)
	}
	job, err := k.Schedule.Status(ctx, ScanJob)
	s.Scanning = job.Running
	if options.Enabled && st.since != 0 {
		since, watermark := milli(st.since), milli(st.watermark)
		s.Since, s.Watermark, s.NextRun = &since, &watermark, job.NextRun
	}
	return s, err
}
