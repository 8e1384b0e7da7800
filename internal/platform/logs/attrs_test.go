package logs_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"watchmark/internal/platform/logs"
)

func TestLinesCarryTheIdsOfTheirContext(t *testing.T) {
	request := logs.With(context.Background(), "request_id", "a1")
	record := logs.With(logs.With(request, "record_id", 7), "task_id", 3)
	for name, c := range map[string]struct {
		ctx  context.Context
		args []any
		want string
	}{
		"nothing":              {context.Background(), nil, `level=INFO msg=settled part=engine`},
		"a request":            {request, nil, `level=INFO msg=settled part=engine request_id=a1`},
		"all three":            {record, nil, `level=INFO msg=settled part=engine request_id=a1 record_id=7 task_id=3`},
		"another record":       {logs.With(record, "record_id", 8), nil, `level=INFO msg=settled part=engine request_id=a1 task_id=3 record_id=8`},
		"the line's own first": {record, []any{"record_id", 9}, `level=INFO msg=settled part=engine record_id=9 request_id=a1 task_id=3`},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			noTime := func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			}
			log := slog.New(logs.Handler(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: noTime}))).With("part", "engine")
			log.InfoContext(c.ctx, "settled", c.args...)
			if got := out.String(); got != c.want+"\n" {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
