package task

import (
	"context"
	"log/slog"
	"slices"

	"watchmark/internal/platform/logs"
)

// logBytes bounds one log; older lines make room.
const logBytes = 256 << 10

// idName is what a task's id is called in the log.
const idName = "task_id"

type tasksKey struct{}

// With is ctx in which t, besides the tasks ctx has already, gets what is logged, down
// to debug level, and whose lines carry its id as task_id.
func With(ctx context.Context, t *Task) context.Context {
	tasks, _ := ctx.Value(tasksKey{}).([]*Task)
	if slices.Contains(tasks, t) {
		return ctx // each line is written once
	}
	ctx = logs.With(ctx, idName, t.Status().ID)
	return context.WithValue(ctx, tasksKey{}, append(tasks[:len(tasks):len(tasks)], t))
}

// IDOf is the id of the task that does the work of ctx; 0 for none.
func IDOf(ctx context.Context) int64 {
	tasks, _ := ctx.Value(tasksKey{}).([]*Task)
	if len(tasks) == 0 {
		return 0
	}
	return tasks[len(tasks)-1].Status().ID
}

// Handler is next, which also writes to the logs of the tasks of a record's context.
// Nothing is masked here: put it behind the masking handler.
func Handler(next slog.Handler) slog.Handler { return &handler{next: next} }

type handler struct {
	next slog.Handler
	// with repeats WithAttrs and WithGroup for the handler of a task's log.
	with []func(slog.Handler) slog.Handler
}

func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	return ctx.Value(tasksKey{}) != nil || h.next.Enabled(ctx, level)
}

func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	tasks, _ := ctx.Value(tasksKey{}).([]*Task)
	for _, t := range tasks {
		to := t.log.Handler(slog.LevelDebug)
		for _, with := range h.with {
			to = with(to)
		}
		_ = to.Handle(ctx, withoutID(r)) // what cannot be written is no reason to fail the caller
	}
	if !h.next.Enabled(ctx, r.Level) {
		return nil
	}
	return h.next.Handle(ctx, r)
}

// withoutID is a copy of r without the task's id, which the task's own log need not repeat.
func withoutID(r slog.Record) slog.Record {
	line := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		if a.Key != idName {
			line.AddAttrs(a)
		}
		return true
	})
	return line
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.and(func(to slog.Handler) slog.Handler { return to.WithAttrs(attrs) })
}

func (h *handler) WithGroup(name string) slog.Handler {
	return h.and(func(to slog.Handler) slog.Handler { return to.WithGroup(name) })
}

func (h *handler) and(with func(slog.Handler) slog.Handler) slog.Handler {
	return &handler{next: with(h.next), with: append(h.with[:len(h.with):len(h.with)], with)}
}
