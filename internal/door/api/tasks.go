package api

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/door/access"
	"watchmark/internal/door/problem"
	"watchmark/internal/engine"
	"watchmark/internal/platform/sse"
	"watchmark/internal/platform/task"
)

// Tasks are work that takes longer.
type Tasks struct {
	Registry *task.Registry
	Engine   *engine.Engine
}

func (t Tasks) register(s *server) {
	const tag = "Tasks"
	s.owned[access.Task] = func(ctx context.Context, id int64) error {
		_, err := t.Registry.Get(ctx, id)
		return err
	}
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/tasks", OperationID: "list-tasks", Tags: []string{tag},
		Summary:     "List tasks",
		Description: "Work that takes longer, newest first: what runs, and what ended lately. The newest 40 that ended are kept, and 20 of each person. A person sees what they began. One that was under way when the service ended has failed, and says so.",
	}, func(ctx context.Context, _ *none) (*JSON[Page[task.Status]], error) {
		all, err := t.Registry.List(ctx)
		return answer(Page[task.Status]{Items: all}, err)
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/tasks/{id}", OperationID: "get-task", Tags: []string{tag},
		Summary: "Get a task", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*JSON[task.Status], error) {
		return statusOf(t.Registry.Get(ctx, in.ID))
	})
	registerOther(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/tasks/{id}/cancel", OperationID: "cancel-task", Tags: []string{tag},
		Summary: "Cancel a task", DefaultStatus: http.StatusAccepted,
		Description: "What it has done stays done. A record that is worked on comes to its end.",
		Errors:      []int{http.StatusNotFound, http.StatusConflict},
	}, func(ctx context.Context, in *ByID) (*none, error) {
		return nil, t.Registry.Cancel(ctx, in.ID)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/records/retry", OperationID: "retry-failed-records", Tags: []string{"Records"},
		Summary:       "Run all failed records again",
		Description:   "Starts a task that sends every failed record through the whole pipeline again, the oldest first; the parameters restrict which. The answer is the task: follow it by its stream, cancel it as any task.",
		DefaultStatus: http.StatusAccepted, Errors: []int{http.StatusConflict},
	}, t.retryFailed)
	s.stream("/api/tasks/{id}/stream", "stream-task", tag, "Follow a task",
		"Server-sent events until the task ends: log (a line of its debug log, for the owner alone), progress and result (the task).",
		idInPath, t.Registry.Get)
	s.stream("/api/records/{id}/retry/stream", "stream-retry", "Records", "Follow a retry",
		"Server-sent events of the last retry of the record, running or over: log (a line of the debug log of that run), progress and result (the task, with the record as its result).",
		idInPath, t.Engine.LastRetry)
}

func (t Tasks) retryFailed(ctx context.Context, in *RecordRestriction) (*JSON[task.Status], error) {
	return statusOf(t.Engine.RetryFailed(ctx, in.filter()))
}

// The parameters by which a stream finds its task: the id in the path, or a task in the
// query, where 0 stands for none.
var (
	idInPath    = &huma.Param{Name: "id", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeInteger, Format: "int64"}, Description: "The id."}
	taskInQuery = &huma.Param{Name: "task_id", In: "query", Schema: &huma.Schema{Type: huma.TypeInteger, Format: "int64"}, Description: "The task; left out it is the newest import."}
	lastEventID = &huma.Param{Name: "Last-Event-ID", In: "header", Schema: &huma.Schema{Type: huma.TypeInteger}, Description: "The number of the last line seen."}
)

// stream registers a path that streams a task, and describes it. by is idInPath or taskInQuery.
func (s *server) stream(path, operation, tag, summary, about string, by *huma.Param, find func(ctx context.Context, id int64) (*task.Task, error)) {
	s.handle(huma.Operation{
		Method: http.MethodGet, Path: path, OperationID: operation, Tags: []string{tag}, Summary: summary,
		Description: about + " Lines are numbered: send the last number as Last-Event-ID to go on after it; 204 says that there is nothing more.",
		Parameters:  []*huma.Param{by, lastEventID},
		Responses: map[string]*huma.Response{
			"200": {Description: "OK", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}}},
			"204": {Description: "The task has ended and all of it was seen."},
			"401": s.response("Unauthorized", &problem.Document{}),
			"404": s.response("Not Found", &problem.Document{}),
		},
	}, func(w http.ResponseWriter, r *http.Request) error {
		text := r.PathValue("id")
		if by == taskInQuery {
			text = cmp.Or(r.URL.Query().Get("task_id"), "0")
		}
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			id = -1 // that of nothing
		}
		t, err := find(r.Context(), id)
		if err == nil {
			s.follow(w, r, t)
		}
		return err
	})
}

// follow streams a task to one reader; it goes on when the reader leaves.
func (s *server) follow(w http.ResponseWriter, r *http.Request, t *task.Task) {
	seen, _ := strconv.Atoi(r.Header.Get("Last-Event-ID")) // whoever sends nonsense sees all
	status := t.Status()
	lines, more := t.After(seen)
	if status.State != task.Running && seen >= t.EndNumber() {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	stream, there := sse.Start(w)
	beat := time.NewTicker(sse.Heartbeat)
	defer beat.Stop()
	for there { // until the task or the reader ends it
		for _, line := range lines {
			seen = line.ID
			if !stream.Send("log", strconv.Itoa(line.ID), line.Text) {
				return
			}
		}
		if status.State != task.Running {
			stream.Send("result", strconv.Itoa(t.EndNumber()), status.JSON())
			return
		}
		if !stream.Send("progress", "", status.JSON()) || !s.await(r.Context(), stream, beat, more) {
			return
		}
		var err error
		if t, err = t.Now(r.Context()); err != nil {
			return // whoever follows it asks again
		}
		// The status is read before the lines: what a task logged before it ended is then among them.
		status = t.Status()
		lines, more = t.After(seen)
	}
}

// await waits until a stream has more to send, and keeps its connection alive; false ends it.
func (s *server) await(ctx context.Context, stream *sse.Writer, beat *time.Ticker, more <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-s.Stopping:
		return false
	case <-beat.C:
		return stream.Beat()
	case <-more:
		return true
	}
}
