package task

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"sync"
)

// logBytes bounds one log; older lines make room.
const logBytes = 256 << 10

// Line is one line of a log.
type Line struct {
	// ID counts from 1; a gap means that lines were dropped.
	ID int
	// Text is a JSON object: time, level, msg, and the attributes.
	Text string
}

// log holds the newest lines of a task.
type log struct {
	mu    sync.Mutex
	lines []Line
	last  int
	bytes int
	more  chan struct{} // closed and replaced when there is something new
}

func newLog() log { return log{more: make(chan struct{})} }

// Write takes one line as slog's JSON handler writes it.
func (l *log) Write(text []byte) (int, error) {
	line := string(bytes.TrimSuffix(text, []byte("\n")))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	l.lines = append(l.lines, Line{l.last, line})
	l.bytes += len(line)
	for l.bytes > logBytes && len(l.lines) > 1 {
		l.bytes -= len(l.lines[0].Text)
		l.lines = l.lines[1:]
	}
	l.wake()
	return len(text), nil
}

func (l *log) touch() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wake()
}

// wake tells everybody who waits. The caller holds mu.
func (l *log) wake() {
	close(l.more)
	l.more = make(chan struct{})
}

// size is how many lines were written.
func (l *log) size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

func (l *log) after(last int) ([]Line, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []Line
	for _, line := range l.lines {
		if line.ID > last {
			lines = append(lines, line)
		}
	}
	return lines, l.more
}

type tasksKey struct{}

// With is ctx in which t, besides the tasks ctx has already, gets what is logged, down
// to debug level.
func With(ctx context.Context, t *Task) context.Context {
	tasks, _ := ctx.Value(tasksKey{}).([]*Task)
	if slices.Contains(tasks, t) {
		return ctx // each line is written once
	}
	return context.WithValue(ctx, tasksKey{}, append(tasks[:len(tasks):len(tasks)], t))
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
		var to slog.Handler = slog.NewJSONHandler(&t.log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: readable})
		for _, with := range h.with {
			to = with(to)
		}
		_ = to.Handle(ctx, r.Clone()) // the log's Write cannot fail
	}
	if !h.next.Enabled(ctx, r.Level) {
		return nil
	}
	return h.next.Handle(ctx, r)
}

// readable writes a duration with its unit.
func readable(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
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
