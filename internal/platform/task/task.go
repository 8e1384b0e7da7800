// Package task keeps account of work that people wait for: its progress, its debug
// log and how it ended. Tasks live in memory; what they change must be safe to leave
// half done.
package task

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"watchmark/internal/platform/logs"
	"watchmark/internal/platform/metrics"
	"watchmark/internal/platform/reason"
)

// State is where a task stands.
type State string

// The states; all but Running are final.
const (
	Running   State = "running"
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// keptEnded is how many ended tasks are remembered; with their logs they take at most
// keptEnded × logBytes.
const keptEnded = 40

// Status is what a task shows.
type Status struct {
	ID       int64  `json:"id"`
	Kind     string `json:"kind" doc:"What is done: retry (one record), retry_failed (all failed records), correct (the match of one record or of a title), answer (the records that a confirmed or rejected title set going), archive_import (the offline data), dataset_refresh (the ID table), idmap_update (the ID table and the lists of seasons), backup, device_sync (the TV boxes), import (what a media server remembers), import_preview (what that would mark), server_sync (the plays at a media server), server_seed (what a list has as watched, written to a media server), server_undo (the way back of that), tracker_sync (the history of Trakt), tracker_preview (what a full sync of it would mark) or tracker_device (a sign-in to Trakt by device code)."`
	RecordID int64  `json:"record_id" doc:"The record that the task is about, of an answer the question, and of a media server the sign-in; 0 for none."`
	State    State  `json:"state" enum:"running,done,failed,cancelled"`
	// Done of Total units are done; Total is 0 while it is not known.
	Done  int `json:"done"`
	Total int `json:"total"`
	// Message is the last thing worth telling in one sentence.
	Message   reason.Reason `json:"message_value,omitzero"`
	StartedAt time.Time     `json:"started_at"`
	EndedAt   *time.Time    `json:"ended_at"`
	// Result is what the task has brought so far, in a form of its kind; null before there is anything.
	Result any `json:"result"`
}

// MarshalJSON adds the text of the message.
func (s Status) MarshalJSON() ([]byte, error) {
	type plain Status
	return reason.MarshalBeside((*plain)(&s))
}

// Task is one piece of work. Its methods may be used by several goroutines.
type Task struct {
	cancel context.CancelCauseFunc
	quiet  bool // it is not listed
	log    *logs.Ring

	mu     sync.Mutex
	status Status
}

// Status is what the task shows now.
func (t *Task) Status() Status {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.status
}

// Progress tells how far the task is.
func (t *Task) Progress(done, total int, message reason.Reason) {
	t.mu.Lock()
	t.status.Done, t.status.Total, t.status.Message = done, total, message
	t.mu.Unlock()
	t.log.Touch()
}

// SetResult keeps what the task brought.
func (t *Task) SetResult(result any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.status.Result = result
}

// After gives the log's lines with a number above last, and a channel that is closed
// when there is more to see: a line, progress, or the end.
func (t *Task) After(last int) (lines []logs.Line, more <-chan struct{}) {
	return t.log.After(last, logs.Everything)
}

// EndNumber is the number that the end of the task has after the lines of its log.
func (t *Task) EndNumber() int { return t.log.Size() + 1 }

// end stores how the task ended.
func (t *Task) end(ctx context.Context, err error) {
	t.mu.Lock()
	now := time.Now()
	t.status.EndedAt = &now
	switch {
	case err == nil:
		t.status.State = Done
	case ctx.Err() != nil:
		t.status.State = Cancelled
	default:
		t.status.State, t.status.Message = Failed, reason.Of(err)
	}
	t.mu.Unlock()
	t.log.Touch()
}

// Registry starts tasks and remembers them.
type Registry struct {
	// Log is told of a task that panics; may be nil.
	Log *slog.Logger
	// Ended counts the tasks that ended, by kind and state.
	Ended metrics.Counter

	running sync.WaitGroup

	mu    sync.Mutex
	last  int64
	tasks []*Task // oldest first
	stop  bool
}

// After has tasks get ids above id: that of one which was started before the service was, and of which something is kept.
func (r *Registry) After(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = max(r.last, id)
}

// Start runs work about one record (0 = none) in a goroutine of its own, with a context that ends when the task is
// cancelled or the service stops: then its cause is ErrStopping. What is logged with that context is in the task's log.
// An error of work is shown to people. It returns ErrStopping after Stop.
func (r *Registry) Start(kind string, recordID int64, work func(ctx context.Context, t *Task) error) (*Task, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.start(kind, recordID, false, work)
}

// StartQuiet is Start for work that nobody waits for: the task is in no list, and forgotten when it ends.
func (r *Registry) StartQuiet(kind string, recordID int64, work func(ctx context.Context, t *Task) error) (*Task, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.start(kind, recordID, true, work)
}

// StartAlone is Start for work about no record that is done once at a time: while a task of its kind
// runs, it answers that one and ErrRunning.
func (r *Registry) StartAlone(kind string, work func(ctx context.Context, t *Task) error) (*Task, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t, err := r.newest(func(s Status) bool { return s.Kind == kind && s.State == Running }); err == nil {
		return t, ErrRunning
	}
	return r.start(kind, 0, false, work)
}

// start is Start for a caller that holds mu.
func (r *Registry) start(kind string, recordID int64, quiet bool, work func(ctx context.Context, t *Task) error) (*Task, error) {
	if r.stop {
		return nil, ErrStopping
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	r.last++
	t := &Task{cancel: cancel, quiet: quiet, log: logs.NewRing(logBytes)}
	t.status = Status{ID: r.last, Kind: kind, RecordID: recordID, State: Running, StartedAt: time.Now()}
	r.tasks = append(r.tasks, t)
	r.forgetOld()
	r.running.Go(func() {
		defer cancel(nil)
		if quiet {
			t.end(ctx, r.guarded(ctx, t, work))
			r.forget(t)
			return
		}
		ctx := With(ctx, t)
		t.end(ctx, r.guarded(ctx, t, work))
		r.Ended.Add(1, kind, string(t.Status().State))
	})
	return t, nil
}

// guarded turns a panic of work into an error.
func (r *Registry) guarded(ctx context.Context, t *Task, work func(ctx context.Context, t *Task) error) (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		err = panicked
		if r.Log != nil {
			r.Log.ErrorContext(ctx, "a task panicked", "kind", t.Status().Kind, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	return work(ctx, t)
}

// forget drops a task.
func (r *Registry) forget(t *Task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tasks = slices.DeleteFunc(r.tasks, func(one *Task) bool { return one == t })
}

// forgetOld drops the oldest ended tasks. The caller holds mu.
func (r *Registry) forgetOld() {
	excess := -keptEnded
	for _, t := range r.tasks {
		if t.Status().State != Running {
			excess++
		}
	}
	r.tasks = slices.DeleteFunc(r.tasks, func(t *Task) bool {
		if excess <= 0 || t.Status().State == Running {
			return false
		}
		excess--
		return true
	})
}

// Get is the task with id, or ErrNotFound.
func (r *Registry) Get(id int64) (*Task, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.newest(func(s Status) bool { return s.ID == id })
}

// Newest is the newest task of a kind about a record (0 = none), or ErrNotFound.
func (r *Registry) Newest(kind string, recordID int64) (*Task, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.newest(func(s Status) bool { return s.Kind == kind && s.RecordID == recordID })
}

// Runs reports whether a task of a kind is running.
func (r *Registry) Runs(kind string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := r.newest(func(s Status) bool { return s.Kind == kind && s.State == Running })
	return err == nil
}

// newest is the newest task that fits, or ErrNotFound. The caller holds mu.
func (r *Registry) newest(fits func(Status) bool) (*Task, error) {
	for _, t := range slices.Backward(r.tasks) {
		if fits(t.Status()) {
			return t, nil
		}
	}
	return nil, ErrNotFound
}

// List shows all tasks that are remembered, newest first.
func (r *Registry) List() []Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]Status, 0, len(r.tasks))
	for _, t := range slices.Backward(r.tasks) {
		if !t.quiet {
			all = append(all, t.Status())
		}
	}
	return all
}

// Cancel asks a running task to stop. It returns ErrNotFound or ErrEnded.
func (r *Registry) Cancel(id int64) error {
	t, err := r.Get(id)
	if err != nil {
		return err
	}
	if t.Status().State != Running {
		return ErrEnded
	}
	t.cancel(context.Canceled)
	return nil
}

// Stop cancels every task, starts no more, and waits until all have ended, or until ctx ends: then its error
// names the kinds of those that have not.
func (r *Registry) Stop(ctx context.Context) error {
	r.mu.Lock()
	r.stop = true
	for _, t := range r.tasks {
		t.cancel(ErrStopping)
	}
	r.mu.Unlock()
	ended := make(chan struct{})
	go func() { r.running.Wait(); close(ended) }()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	var kinds []string
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range slices.Backward(r.tasks) {
		if s := t.Status(); s.State == Running {
			kinds = append(kinds, s.Kind)
		}
	}
	return fmt.Errorf("%s: %w", strings.Join(kinds, ", "), ctx.Err())
}

// JSON is the status as one line of JSON.
func (s Status) JSON() string {
	text, err := json.Marshal(s)
	if err != nil { // a result that cannot be shown
		s.Result = nil
		text, _ = json.Marshal(s)
	}
	return string(text)
}
