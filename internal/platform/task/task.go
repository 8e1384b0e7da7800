// Package task keeps account of work that people wait for: its progress, its debug log and how it ended. A task is done by the
// replica that started it, and is a row, which every replica shows, follows and can cancel. What a task changes must be safe to
// leave half done.
//
// While a database has one replica a row is written when a task begins and when it ends; otherwise, and when there is something
// new, once a second, too.
package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/hold"
	"watchmark/internal/platform/logs"
	"watchmark/internal/platform/metrics"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/scope"
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

// Status is what a task shows.
type Status struct {
	ID       int64  `json:"id"`
	Kind     string `json:"kind" doc:"What is done: retry (one record), retry_failed (all failed records), correct (the match of one record or of a title), answer (the records that a confirmed or rejected title set going), assign_user (what a user without an account watched, once an account names the user), undo (what was written in a span of time or by a task is taken back), undo_preview (what that would take back), archive_import (the offline data), dataset_refresh (the ID table), idmap_update (the ID table and the lists of seasons), backup, snapshot (the list of an account), restore (what is brought back to a list), restore_preview (what that would write), restore_undo (the way back of that), device_sync (the TV boxes), import (what a media server remembers), import_preview (what that would mark), server_sync (the plays at a media server), server_seed (what a list has as watched, written to a media server), server_undo (the way back of that), tracker_sync (the history of Trakt), tracker_preview (what a full sync of it would mark) or tracker_device (a sign-in to Trakt by device code)."`
	RecordID int64  `json:"record_id" doc:"The record that the task is about, of an answer the question, of a media server the sign-in, and of a list or a user without an account the account; 0 for none."`
	// PersonID is who began it; 0 for the service and its owner.
	PersonID int64 `json:"person_id" doc:"The person who began it; 0 for the service and its owner."`
	State    State `json:"state" enum:"running,done,failed,cancelled"`
	// Done of Total units are done; Total is 0 while it is not known.
	Done  int `json:"done"`
	Total int `json:"total"`
	// Message is the last thing worth telling in one sentence.
	Message   reason.Reason `json:"message_value,omitzero"`
	StartedAt time.Time     `json:"started_at"`
	EndedAt   *time.Time    `json:"ended_at"`
	// Result is what the task has brought so far, in a form of its kind, as JSON; null before there is anything.
	Result any `json:"result"`
}

// Cut reports whether the end of its replica cut the task off.
func (s Status) Cut() bool { return s.State == Failed && s.Message.Is(errCut) }

// ResultOf is the result of a task whose kind has results of this form; there is false while there is none.
func ResultOf[T any](s Status) (result T, there bool) {
	text, is := s.Result.(json.RawMessage)
	if !is || json.Unmarshal(text, &result) != nil {
		return result, false
	}
	return result, true
}

// MarshalJSON adds the text of the message.
func (s Status) MarshalJSON() ([]byte, error) {
	type plain Status
	return reason.MarshalBeside((*plain)(&s))
}

// Task is one piece of work, of this replica or of another. Its methods may be used by several goroutines.
type Task struct {
	registry *Registry
	cancel   context.CancelCauseFunc // nil for one that does not run here
	owner    int64                   // the incarnation that started it
	scope    scope.Scope             // of who began it, and so of its work
	quiet    bool                    // it is no row
	log      *logs.Ring

	mu     sync.Mutex
	status Status
	shown  int // counts what changed of status
}

// Status is what the task shows now.
func (t *Task) Status() Status {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.status
}

// Now is the task as it is now: t itself where it was started here, else what its row says.
func (t *Task) Now(ctx context.Context) (*Task, error) {
	if t.cancel != nil {
		return t, nil
	}
	return t.registry.Get(ctx, t.status.ID)
}

// Progress tells how far the task is.
func (t *Task) Progress(done, total int, message reason.Reason) {
	t.change(func(s *Status) { s.Done, s.Total, s.Message = done, total, message })
	t.log.Touch()
}

// SetResult keeps what the task brought, which is shown as JSON.
func (t *Task) SetResult(result any) {
	text, err := json.Marshal(result)
	if err != nil {
		text = nil // what cannot be shown
	}
	t.change(func(s *Status) { s.Result = json.RawMessage(text) })
}

func (t *Task) change(by func(*Status)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	by(&t.status)
	t.shown++
}

// elsewhere is after how long there may be more to see of a task of another replica.
const elsewhere = time.Second

// After gives the log's lines with a number above last, and a channel that is closed when there may be more to see: a line,
// progress, or the end. Then ask the task of Now.
func (t *Task) After(last int) (lines []logs.Line, more <-chan struct{}) {
	lines, more = t.log.After(last, logs.Everything)
	if t.cancel == nil {
		later := make(chan struct{})
		time.AfterFunc(elsewhere, func() { close(later) })
		more = later
	}
	return lines, more
}

// EndNumber is the number that the end of the task has after the lines of its log.
func (t *Task) EndNumber() int { return t.log.Size() + 1 }

// ended is how the task stands once its work has ended with err.
func (t *Task) ended(ctx context.Context, err error) Status {
	s, now := t.Status(), time.Now()
	s.EndedAt = &now
	cause := context.Cause(ctx)
	switch {
	case err == nil:
		s.State = Done
	case errors.Is(cause, ErrStopping), errors.Is(cause, errCut):
		s.State, s.Message = Failed, errCut.With()
	case cause != nil:
		s.State = Cancelled
	default:
		s.State, s.Message = Failed, reason.Of(err)
	}
	return s
}

// Registry starts tasks and finds them.
type Registry struct {
	// Ended counts the tasks that ended here, by kind and state.
	Ended metrics.Counter

	db   *db.DB
	self hold.Self
	log  *slog.Logger

	running sync.WaitGroup

	mu   sync.Mutex
	here []*Task // those that run here, oldest first
	stop bool
}

// New is a registry of the tasks in a database. log is told of a task that panics, and of rows that cannot be written.
func New(d *db.DB, self hold.Self, log *slog.Logger) *Registry {
	return &Registry{db: d, self: self, log: log}
}

// Spec says what a task is.
type Spec struct {
	Kind string
	// About is the id of what the task is about; 0 for nothing.
	About int64
	// Alone names what one task at a time may do, on all replicas; empty for what several may do.
	Alone string
	// Again is the id of a task that was cut off, and goes on as this one, for whom it was begun; 0 for a new one.
	Again int64
	// Quiet is for work that nobody waits for: the task is in no list, has no id, and is forgotten when it ends.
	Quiet bool
}

// OfEach is a name for Spec.Alone of what each person may do one at a time, and the service and its owner.
func OfEach(ctx context.Context, what string) string {
	if s := scope.From(ctx); !s.Whole() {
		return fmt.Sprintf("%s of person %d", what, s.Person())
	}
	return what
}

// Start runs work in a goroutine of its own, with a context that ends when the task is cancelled or the service stops: then its
// cause is ErrStopping. What is logged with that context is in the task's log. An error of work is shown to people. It returns
// ErrStopping after Stop, and ErrRunning with the task that has what Alone names, if the scope of ctx reaches it.
func (r *Registry) Start(ctx context.Context, s Spec, work func(ctx context.Context, t *Task) error) (*Task, error) {
	own, cancel := context.WithCancelCause(context.Background())
	t := &Task{registry: r, cancel: cancel, quiet: s.Quiet, owner: r.self.Incarnation(), scope: scope.From(ctx), log: logs.NewRing(logBytes)}
	t.status = Status{Kind: s.Kind, RecordID: s.About, PersonID: t.scope.Person(), State: Running, StartedAt: time.Now()}
	if !r.enter(t) {
		return nil, ErrStopping
	}
	if !s.Quiet {
		other, err := r.insert(ctx, t, s.Alone, s.Again)
		if err != nil {
			cancel(nil)
			r.leave(t)
			return other, err
		}
	}
	go func() {
		defer r.leave(t)
		defer cancel(nil)
		ctx := scope.In(own, t.scope)
		if !s.Quiet {
			ctx = With(ctx, t)
		}
		reported := r.report(ctx, t)
		end := t.ended(ctx, r.guarded(ctx, t, work))
		reported()
		if !s.Quiet {
			r.keep(t, end) // whoever sees the end finds it stored, and what it did alone free
			r.Ended.Add(1, s.Kind, string(end.State))
		}
		t.change(func(s *Status) { *s = end })
		t.log.Touch()
	}()
	return t, nil
}

// enter notes that a task runs here; false once the service stops.
func (r *Registry) enter(t *Task) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop {
		return false
	}
	r.here = append(r.here, t)
	r.running.Add(1)
	return true
}

// leave notes that a task does not run here any more.
func (r *Registry) leave(t *Task) {
	r.mu.Lock()
	r.here = slices.DeleteFunc(r.here, func(one *Task) bool { return one == t })
	r.mu.Unlock()
	r.running.Done()
}

// guarded turns a panic of work into an error.
func (r *Registry) guarded(ctx context.Context, t *Task, work func(ctx context.Context, t *Task) error) (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		err = panicked
		r.log.ErrorContext(ctx, "a task panicked", "kind", t.Status().Kind, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	}()
	return work(ctx, t)
}

// Get is the task with id, with its log, or ErrNotFound. For a person it has no log, and is followed as one of another replica.
func (r *Registry) Get(ctx context.Context, id int64) (*Task, error) {
	if !scope.From(ctx).Whole() {
		s, err := r.newest(ctx, `id = ?`, id)
		return &Task{registry: r, status: s, log: logs.Filled(nil, 0)}, err
	}
	if t := r.find(id); t != nil {
		return t, nil
	}
	return r.load(ctx, id)
}

// find is a task that runs here; nil for another.
func (r *Registry) find(id int64) *Task {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.here, func(t *Task) bool { return t.Status().ID == id && !t.quiet })
	if i < 0 {
		return nil
	}
	return r.here[i]
}

// Cancel asks a running task to stop, wherever it runs. It returns ErrNotFound or ErrEnded.
func (r *Registry) Cancel(ctx context.Context, id int64) error {
	if !scope.From(ctx).Whole() {
		if _, err := r.newest(ctx, `id = ?`, id); err != nil {
			return err
		}
	}
	if t := r.find(id); t != nil {
		if t.Status().State != Running {
			return ErrEnded
		}
		t.cancel(context.Canceled)
		return nil
	}
	return r.cancelElsewhere(ctx, id)
}

// CancelOf cancels what a person began and still runs, before the person is removed.
func (r *Registry) CancelOf(ctx context.Context, person int64) error {
	running, err := r.statuses(ctx, shownMost, `state = 'running' AND `+ofPerson, person)
	for _, s := range running {
		if failed := r.Cancel(ctx, s.ID); !errors.Is(failed, ErrEnded) && !errors.Is(failed, ErrNotFound) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// Stop cancels every task, starts no more, and waits until all have ended, or until ctx ends: then its error
// names the kinds of those that have not.
func (r *Registry) Stop(ctx context.Context) error {
	r.mu.Lock()
	r.stop = true
	for _, t := range r.here {
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
	for _, t := range slices.Backward(r.here) {
		kinds = append(kinds, t.Status().Kind)
	}
	return fmt.Errorf("%s: %w", strings.Join(kinds, ", "), ctx.Err())
}

// JSON is the status as one line of JSON.
func (s Status) JSON() string {
	text, err := json.Marshal(s)
	if err != nil { // there is nothing in it that cannot be encoded
		panic(err)
	}
	return string(text)
}
