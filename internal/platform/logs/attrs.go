package logs

import (
	"context"
	"log/slog"
	"slices"
)

type key struct{}

// With is ctx with which every line that is logged carries id under name, in place of the
// one that ctx has under that name already.
func With(ctx context.Context, name string, id any) context.Context {
	ids := slices.DeleteFunc(slices.Clone(of(ctx)), func(a slog.Attr) bool { return a.Key == name })
	return context.WithValue(ctx, key{}, append(ids, slog.Any(name, id)))
}

func of(ctx context.Context) []slog.Attr {
	ids, _ := ctx.Value(key{}).([]slog.Attr)
	return ids
}

// Handler is next with the ids of the context added to every line. A line that has an
// attribute of that name keeps its own.
func Handler(next slog.Handler) slog.Handler { return attrHandler{next} }

type attrHandler struct{ slog.Handler }

func (h attrHandler) Handle(ctx context.Context, r slog.Record) error {
	ids := of(ctx)
	if len(ids) == 0 {
		return h.Handler.Handle(ctx, r)
	}
	own := map[string]bool{}
	r.Attrs(func(a slog.Attr) bool {
		own[a.Key] = true
		return true
	})
	r = r.Clone()
	for _, id := range ids {
		if !own[id.Key] {
			r.AddAttrs(id)
		}
	}
	return h.Handler.Handle(ctx, r)
}

func (h attrHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return attrHandler{h.Handler.WithAttrs(attrs)}
}

func (h attrHandler) WithGroup(name string) slog.Handler {
	return attrHandler{h.Handler.WithGroup(name)}
}
