package secret

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"

	"watchmark/internal/platform/reason"
)

// Handler is next with everything masked: messages, attributes by their name,
// and what stands in their values, errors included. Numbers, booleans and times
// under a harmless name stay as they are.
func (m *Masker) Handler(next slog.Handler) slog.Handler { return &handler{m: m, next: next} }

type handler struct {
	m    *Masker
	next slog.Handler
}

func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	masked := slog.NewRecord(r.Time, r.Level, h.m.Mask(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		masked.AddAttrs(h.m.attr(a))
		return true
	})
	return h.next.Handle(ctx, masked)
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	masked := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		masked[i] = h.m.attr(a)
	}
	return &handler{m: h.m, next: h.next.WithAttrs(masked)}
}

func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{m: h.m, next: h.next.WithGroup(name)}
}

// value is x as JSON writes it, so that what pointers lead to is logged and not where they lead.
func (m *Masker) value(x any) slog.Value {
	encoded, err := json.Marshal(x)
	if err != nil {
		return slog.StringValue(m.text(fmt.Sprintf("%+v", x), 0, math.MaxInt))
	}
	var text string
	if encoded[0] == '"' && json.Unmarshal(encoded, &text) == nil {
		return slog.StringValue(m.text(text, 0, math.MaxInt))
	}
	masked := m.text(string(encoded), 0, math.MaxInt)
	if !json.Valid([]byte(masked)) {
		return slog.StringValue(masked)
	}
	return slog.AnyValue(json.RawMessage(masked))
}

func (m *Masker) attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		group := make([]slog.Attr, 0, len(v.Group()))
		for _, inner := range v.Group() {
			if SensitiveField(a.Key) {
				inner = slog.String(inner.Key, Shown)
			}
			group = append(group, m.attr(inner))
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(group...)}
	}
	if SensitiveField(a.Key) && v.Kind() != slog.KindBool {
		if v.Kind() == slog.KindString && v.String() == "" {
			return slog.String(a.Key, "")
		}
		return slog.String(a.Key, Shown)
	}
	switch v.Kind() {
	case slog.KindString:
		v = slog.StringValue(m.text(v.String(), 0, math.MaxInt))
	case slog.KindAny:
		switch x := v.Any().(type) {
		case nil, *slog.Source:
		case error:
			text := m.Mask(x.Error())
			v = slog.StringValue(text)
			if r := reason.Of(x); r.Known() {
				r = r.Masked(m.Mask)
				r.Text = text
				v = slog.AnyValue(r)
			}
		case []byte:
			v = slog.StringValue(m.body("", x, math.MaxInt))
		case fmt.Stringer:
			v = slog.StringValue(m.text(fmt.Sprintf("%+v", x), 0, math.MaxInt))
		default:
			v = m.value(x)
		}
	}
	return slog.Attr{Key: a.Key, Value: v}
}
