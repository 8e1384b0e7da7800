package schedule

import (
	"context"
	"time"

	"watchmark/internal/platform/task"
)

// Outcome is how a run ended.
type Outcome string

// The outcomes. A run that the stop of the service ended has none: the job stays as it was before.
const (
	Done      Outcome = "done"
	Failed    Outcome = "failed"
	Cancelled Outcome = "cancelled"
)

// Job is work that comes by the clock.
type Job struct {
	// Name is the key of its row, and the kind of the tasks that its runs are.
	Name string
	// Plan says when it is due; the zero Plan means that it is switched off. It is asked at each look.
	Plan func() Plan
	// Run does the work. Its error is shown to people. Nothing is lost when ctx ends and it returns.
	Run func(ctx context.Context, run *Run) error

	// What follows may be left out.

	// Own says that the job is about its replica, such as its files: each replica runs it for itself.
	Own bool
	// Quiet keeps its runs out of the list of tasks: nobody waits for them.
	Quiet bool
	// AtStart has it run so long after each start of the service, too; nil does not.
	AtStart *time.Duration
	// Look is called at each look, which comes every minute and when settings change. It reports whether the job is due now, whatever its plan
	// says; it rests for five seconds after a run, which may have been unable to do what is due.
	Look func(ctx context.Context) (due bool, err error)
	// Last is when the job ran last, for one whose row knows no run; zero is not known.
	Last func(ctx context.Context) (time.Time, error)
	// Ready is why Start cannot start the job now; nil when it can.
	Ready func(ctx context.Context) error
	// Busy is returned in the place of ErrRunning.
	Busy error
}

// busy is what is returned while the job runs.
func (j Job) busy() error {
	if j.Busy != nil {
		return j.Busy
	}
	return ErrRunning
}

// Run is a run of a job under way.
type Run struct {
	*task.Task
	// Asked is set when somebody asked for the run, instead of the plan.
	Asked  bool
	before row
	retry  time.Duration
}

// Again has the job run again after a while, instead of at the next time of its plan.
func (r *Run) Again(after time.Duration) { r.retry = after }
