package api

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/door/problem"
	"watchmark/internal/platform/logs"
	"watchmark/internal/platform/sse"
)

const logsPath = "/api/logs/stream"

// Logs are the newest lines of the log.
type Logs struct{ Ring *logs.Ring }

func (l Logs) register(s *server) {
	const tag = "Diagnostics"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/logs", OperationID: "list-logs", Tags: []string{tag},
		Summary:     "Read the newest lines of the log",
		Description: "Newest first. The last megabyte since the start is kept, at the setting log.level, masked as the whole log is.",
	}, l.list)
	text := &huma.Schema{Type: huma.TypeString}
	s.handle(huma.Operation{
		Method: http.MethodGet, Path: logsPath, OperationID: "stream-logs", Tags: []string{tag},
		Summary:     "Follow the log",
		Description: "Server-sent events named log, each a line as the list has them: first those that are kept, then every new one. Lines are numbered: send the last number as after, or as Last-Event-ID, to go on behind it.",
		Parameters: []*huma.Param{
			{Name: "level", In: "query", Description: "Only lines of this level and above; left out it is info.", Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{"debug", "info", "warn", "error"}}},
			{Name: "q", In: "query", Description: "Only lines with this text, in upper or lower case.", Schema: text},
			{Name: "after", In: "query", Description: "Only lines with a higher number.", Schema: &huma.Schema{Type: huma.TypeInteger}},
			lastEventID,
		},
		Responses: map[string]*huma.Response{
			"200": {Description: "OK", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: text}}},
			"401": s.response("Unauthorized", &problem.Document{}),
		},
	}, func(w http.ResponseWriter, r *http.Request) error {
		l.stream(s, w, r)
		return nil
	})
}

func (l Logs) list(_ context.Context, in *struct {
	PageQuery
	Level string `query:"level" enum:"debug,info,warn,error" default:"info" doc:"Only lines of this level and above."`
	Text  string `query:"q" maxLength:"200" doc:"Only lines with this text, in upper or lower case."`
}) (*JSON[Page[logs.Entry]], error) {
	lines, _ := l.Ring.After(0, logFilter(in.Level, in.Text))
	page := Page[logs.Entry]{Items: []logs.Entry{}}
	for _, line := range slices.Backward(lines) {
		if in.seen != 0 && int64(line.ID) >= in.seen {
			continue
		}
		if len(page.Items) == in.Limit {
			page.NextCursor = cursorOf(int64(page.Items[in.Limit-1].ID))
			break
		}
		page.Items = append(page.Items, line.Entry())
	}
	return answer(page, nil)
}

// logFilter passes what level, as settings write it, and text ask for; nonsense is info.
func logFilter(level, text string) logs.Filter {
	f := logs.Filter{Text: text}
	if err := f.Level.UnmarshalText([]byte(level)); err != nil {
		f.Level = slog.LevelInfo
	}
	return f
}

// stream sends the log to one reader until he leaves.
func (l Logs) stream(s *server, w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	filter := logFilter(q.Get("level"), q.Get("q"))
	seen, err := strconv.Atoi(r.Header.Get("Last-Event-ID"))
	if err != nil {
		seen, _ = strconv.Atoi(q.Get("after")) // whoever sends nonsense sees all
	}
	stream, there := sse.Start(w)
	beat := time.NewTicker(sse.Heartbeat)
	defer beat.Stop()
	for there {
		lines, more := l.Ring.After(seen, filter)
		for _, line := range lines {
			text, _ := json.Marshal(line.Entry()) // what came from JSON goes back
			seen = line.ID
			if !stream.Send("log", strconv.Itoa(line.ID), string(text)) {
				return
			}
		}
		there = s.await(r.Context(), stream, beat, more)
	}
}
