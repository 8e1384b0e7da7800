package logs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"time"

	"watchmark/internal/platform/reason"
)

// Line is one line of a log.
type Line struct {
	// ID counts from 1; a gap means that lines were dropped.
	ID int
	// Level is that of the line.
	Level slog.Level
	// Text is a JSON object: time, level, msg, and the attributes.
	Text string
}

// Ring holds the newest lines. It may be used by several goroutines.
type Ring struct {
	most int

	mu    sync.Mutex
	lines []Line
	last  int
	bytes int
	more  chan struct{} // closed and replaced when there is something new
}

// NewRing is a ring of at most most bytes; it always keeps the newest line.
func NewRing(most int) *Ring { return &Ring{most: most, more: make(chan struct{})} }

// Filled is a ring of lines that another one held, as Text; the last of them had the number last.
func Filled(lines []string, last int) *Ring {
	r := NewRing(0)
	r.last = last
	for i, text := range lines {
		var of struct{ Level slog.Level }
		_ = json.Unmarshal([]byte(text), &of) // what has no level is told as any other
		r.lines = append(r.lines, Line{last - len(lines) + 1 + i, of.Level, text})
	}
	return r
}

// add keeps one line as slog's JSON handler writes it.
func (r *Ring) add(level slog.Level, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	r.lines = append(r.lines, Line{r.last, level, text})
	r.bytes += len(text)
	for r.bytes > r.most && len(r.lines) > 1 {
		r.bytes -= len(r.lines[0].Text)
		r.lines = r.lines[1:]
	}
	r.wake()
}

// Touch tells those who wait that there is something to see beside the lines.
func (r *Ring) Touch() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wake()
}

// wake tells everybody who waits. The caller holds mu.
func (r *Ring) wake() {
	close(r.more)
	r.more = make(chan struct{})
}

// Size is how many lines were written.
func (r *Ring) Size() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// After gives the lines that pass f with a number above last, oldest first, and a channel that is closed when
// there is more to see. Whoever has seen more than there is has seen the log of an earlier
// process, and gets all.
func (r *Ring) After(last int, f Filter) (lines []Line, more <-chan struct{}) {
	r.mu.Lock()
	all, more := r.lines, r.more
	if last > r.last {
		last = 0
	}
	r.mu.Unlock()
	// What all holds is never changed, so that nobody who logs waits for the filter.
	for _, line := range all {
		if line.ID > last && f.passes(line) {
			lines = append(lines, line)
		}
	}
	return lines, more
}

// Filter selects lines; the zero Filter passes every one of level info and above.
type Filter struct {
	// Level is the least important level that passes.
	Level slog.Level
	// Text must stand in the line, in upper or lower case; empty passes all.
	Text string
}

// Everything passes every line.
var Everything = Filter{Level: slog.LevelDebug}

func (f Filter) passes(line Line) bool {
	if line.Level < f.Level {
		return false
	}
	return f.Text == "" || strings.Contains(strings.ToLower(line.Text), strings.ToLower(quoted(f.Text)))
}

// quoted is text as it stands inside of a line.
func quoted(text string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string always encodes
	line := strings.TrimSuffix(out.String(), "\n")
	return line[1 : len(line)-1]
}

// Entry is a line taken apart.
type Entry struct {
	ID      int            `json:"id" doc:"Counts from 1 since the start of the service; a gap means that lines were dropped."`
	Time    time.Time      `json:"time"`
	Level   string         `json:"level" doc:"DEBUG, INFO, WARN or ERROR." example:"INFO"`
	Message string         `json:"message"`
	Facts   map[string]any `json:"facts" doc:"What goes with the message, by name."`
}

// Entry takes the line apart. A text that is no JSON object is the message whole.
func (l Line) Entry() Entry {
	e := Entry{ID: l.ID, Level: l.Level.String(), Facts: map[string]any{}}
	if err := json.Unmarshal([]byte(l.Text), &e.Facts); err != nil {
		e.Message, e.Facts = l.Text, map[string]any{}
		return e
	}
	e.Message, _ = e.Facts[slog.MessageKey].(string)
	at, _ := e.Facts[slog.TimeKey].(string)
	e.Time, _ = time.Parse(time.RFC3339Nano, at) // the zero time says that it is not known
	for _, name := range []string{slog.MessageKey, slog.TimeKey, slog.LevelKey} {
		delete(e.Facts, name)
	}
	return e
}

// Handler writes to the ring what is at least as important as level.
func (r *Ring) Handler(level slog.Leveler) slog.Handler { return &ringHandler{ring: r, level: level} }

type ringHandler struct {
	ring  *Ring
	level slog.Leveler
	// with repeats WithAttrs and WithGroup.
	with []func(slog.Handler) slog.Handler
}

func (h *ringHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= h.level.Level()
}

func (h *ringHandler) Handle(ctx context.Context, record slog.Record) error {
	var text bytes.Buffer
	var to slog.Handler = slog.NewJSONHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: readable})
	for _, with := range h.with {
		to = with(to)
	}
	err := to.Handle(ctx, withValues(record))
	h.ring.add(record.Level, cmp.Or(strings.TrimSuffix(text.String(), "\n"), record.Message))
	return err
}

// withValues is a record in which the value of each reason stands beside its text.
func withValues(record slog.Record) slog.Record {
	var values []slog.Attr
	record.Attrs(func(a slog.Attr) bool {
		if r, is := a.Value.Any().(reason.Reason); is {
			values = append(values, slog.Any(a.Key+reason.ValueSuffix, r.Fields()))
		}
		return true
	})
	if values == nil {
		return record
	}
	record = record.Clone()
	record.AddAttrs(values...)
	return record
}

// readable writes a duration with its unit.
func readable(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}

func (h *ringHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.and(func(to slog.Handler) slog.Handler { return to.WithAttrs(attrs) })
}

func (h *ringHandler) WithGroup(name string) slog.Handler {
	return h.and(func(to slog.Handler) slog.Handler { return to.WithGroup(name) })
}

func (h *ringHandler) and(with func(slog.Handler) slog.Handler) slog.Handler {
	return &ringHandler{ring: h.ring, level: h.level, with: append(h.with[:len(h.with):len(h.with)], with)}
}
