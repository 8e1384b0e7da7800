package task_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/platform/logs"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/task"
)

// ended waits for the end of a task and gives its log.
func ended(t *testing.T, run *task.Task) (task.Status, []logs.Line) {
	t.Helper()
	for {
		_, more := run.After(0) // before the state, or the end might come between them unheard
		if status := run.Status(); status.State != task.Running {
			lines, _ := run.After(0)
			return status, lines
		}
		<-more
	}
}

func TestTaskTellsItsProgressAndHowItEnded(t *testing.T) {
	for name, c := range map[string]struct {
		work  func(ctx context.Context, run *task.Task) error
		state task.State
		says  string
	}{
		"done": {func(_ context.Context, run *task.Task) error {
			run.SetResult(map[string]int{"marked": 2})
			run.Progress(2, 2, reason.Text("two marked"))
			return nil
		}, task.Done, "two marked"},
		"failed":   {func(context.Context, *task.Task) error { return errors.New("no disk") }, task.Failed, "no disk"},
		"panicked": {func(context.Context, *task.Task) error { panic("a bug") }, task.Failed, "internal error: the log of the service has the details"},
	} {
		t.Run(name, func(t *testing.T) {
			var r task.Registry
			run, err := r.Start("test", 42, c.work)
			if err != nil {
				t.Fatal(err)
			}
			status, _ := ended(t, run)
			if status.State != c.state || !strings.HasPrefix(status.Message.Text, c.says) || status.EndedAt == nil || status.RecordID != 42 {
				t.Errorf("%+v", status)
			}
			if err := r.Cancel(status.ID); !errors.Is(err, task.ErrEnded) {
				t.Errorf("cancel of an ended task: %v", err)
			}
		})
	}
}

func TestAPanicIsInTheLogs(t *testing.T) {
	var usual strings.Builder
	r := task.Registry{Log: slog.New(task.Handler(slog.NewTextHandler(&usual, nil)))}
	run, err := r.Start("test", 0, func(context.Context, *task.Task) error { panic("a bug") })
	if err != nil {
		t.Fatal(err)
	}
	_, lines := ended(t, run)
	if len(lines) != 1 || !strings.Contains(lines[0].Text, "a bug") || !strings.Contains(lines[0].Text, "task_test.go") {
		t.Errorf("the log of the task holds %v", lines)
	}
	if !strings.Contains(usual.String(), "a bug") {
		t.Errorf("the service's log holds %q", usual.String())
	}
}

func TestCancelAndStopEndTheWork(t *testing.T) {
	var r task.Registry
	waits := func(ctx context.Context, _ *task.Task) error { <-ctx.Done(); return ctx.Err() }
	first, _ := r.Start("test", 0, waits)
	second, _ := r.Start("test", 0, waits)
	if err := r.Cancel(first.Status().ID); err != nil {
		t.Fatal(err)
	}
	if status, _ := ended(t, first); status.State != task.Cancelled || second.Status().State != task.Running {
		t.Errorf("%+v, and the other %+v", status, second.Status())
	}
	if err := r.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if second.Status().State != task.Cancelled {
		t.Errorf("after Stop: %+v", second.Status())
	}
	if _, err := r.Start("test", 0, waits); !errors.Is(err, task.ErrStopping) {
		t.Errorf("started after Stop: %v", err)
	}
}

func TestIDsGoOnAfterThoseThatAreKept(t *testing.T) {
	var r task.Registry
	r.After(41)
	r.After(7)
	run, err := r.Start("test", 0, func(context.Context, *task.Task) error { return nil })
	if err != nil || run.Status().ID != 42 {
		t.Errorf("the task has the id %d (%v), want 42", run.Status().ID, err)
	}
}

func TestStopIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r task.Registry
		deaf := make(chan struct{})
		if _, err := r.Start("deaf", 0, func(context.Context, *task.Task) error { <-deaf; return nil }); err != nil {
			t.Fatal(err)
		}
		bounded, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Stop(bounded); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "deaf") {
			t.Errorf("got %v", err)
		}
		close(deaf)
		if err := r.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestOutlive(t *testing.T) {
	failed := errors.New("refused")
	for name, c := range map[string]struct {
		work func(ctx context.Context) error
		want error
		took time.Duration
	}{
		"ends in time":    {func(context.Context) error { time.Sleep(time.Second); return nil }, nil, time.Second},
		"fails in time":   {func(context.Context) error { time.Sleep(time.Second); return failed }, failed, time.Second},
		"never ends":      {func(ctx context.Context) error { <-ctx.Done(); return nil }, context.Canceled, task.OutliveMost},
		"is not cut off":  {func(ctx context.Context) error { return ctx.Err() }, nil, 0},
		"ends at its own": {func(ctx context.Context) error { time.Sleep(3 * time.Second); return ctx.Err() }, nil, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, leave := context.WithCancel(t.Context())
				leave()
				began := time.Now()
				if err := task.Outlive(ctx, time.Minute, c.work); !errors.Is(err, c.want) || time.Since(began) != c.took {
					t.Errorf("after %v: %v", time.Since(began), err)
				}
				time.Sleep(time.Minute)
			})
		})
	}
	if err := task.Outlive(t.Context(), time.Minute, func(context.Context) error { panic("a bug") }); err == nil || !strings.Contains(err.Error(), "a bug") {
		t.Errorf("of a panic: %v", err)
	}
}

func TestAloneIsOneOfAKindAtATime(t *testing.T) {
	var r task.Registry
	waits := func(ctx context.Context, _ *task.Task) error { <-ctx.Done(); return ctx.Err() }
	first, err := r.StartAlone("test", waits)
	if err != nil || !r.Runs("test") || r.Runs("other") {
		t.Fatalf("the first: %v, runs %v, another kind %v", err, r.Runs("test"), r.Runs("other"))
	}
	if again, err := r.StartAlone("test", waits); again != first || !errors.Is(err, task.ErrRunning) {
		t.Errorf("the second: %v, %v", again, err)
	}
	if other, err := r.StartAlone("other", waits); err != nil || other == first {
		t.Errorf("of another kind: %v", err)
	}
	if err := r.Cancel(first.Status().ID); err != nil {
		t.Fatal(err)
	}
	ended(t, first)
	if _, err := r.StartAlone("test", func(context.Context, *task.Task) error { panic("a bug") }); err != nil {
		t.Errorf("after the end of the first: %v", err)
	}
	panicked, err := r.Newest("test", 0)
	if err != nil {
		t.Fatal(err)
	}
	ended(t, panicked)
	if next, err := r.StartAlone("test", waits); err != nil || next == panicked {
		t.Errorf("after a panic: %v", err)
	}
	if err := r.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := r.StartAlone("test", waits); !errors.Is(err, task.ErrStopping) || r.Runs("test") {
		t.Errorf("after Stop: %v", err)
	}
}

func TestWhatIsLoggedForATaskIsInItsLogDownToDebug(t *testing.T) {
	masker := &secret.Masker{}
	masker.Add("token-of-mira")
	var usual strings.Builder
	log := slog.New(logs.Handler(masker.Handler(task.Handler(slog.NewTextHandler(&usual, nil))))).With("part", "engine")
	var r task.Registry
	run, _ := r.Start("test", 0, func(ctx context.Context, run *task.Task) error {
		log.DebugContext(ctx, "request sent", "url", "http://catalog", "header", "Bearer token-of-mira")
		log.InfoContext(ctx, "record settled", "record_id", 42)
		log.DebugContext(context.Background(), "somebody else's")
		return nil
	})
	_, lines := ended(t, run)
	if len(lines) != 2 || lines[0].ID != 1 || lines[1].ID != 2 || run.EndNumber() != 3 {
		t.Fatalf("%+v, end %d", lines, run.EndNumber())
	}
	var line map[string]any
	if err := json.Unmarshal([]byte(lines[0].Text), &line); err != nil {
		t.Fatal(err)
	}
	if line["level"] != "DEBUG" || line["msg"] != "request sent" || line["url"] != "http://catalog" || line["part"] != "engine" {
		t.Errorf("%v", line)
	}
	if strings.Contains(lines[0].Text, "token-of-mira") || strings.Contains(lines[0].Text, "task_id") {
		t.Errorf("a secret in %s", lines[0].Text)
	}
	if text := usual.String(); strings.Contains(text, "request sent") || !strings.Contains(text, "part=engine record_id=42 task_id=1") {
		t.Errorf("the service's log holds %s", text)
	}
	if rest, _ := run.After(1); len(rest) != 1 || rest[0].ID != 2 {
		t.Errorf("after the first line: %+v", rest)
	}
}

func TestLogAndMemoryAreBounded(t *testing.T) {
	log := slog.New(task.Handler(slog.DiscardHandler))
	var r task.Registry
	run, _ := r.Start("test", 0, func(ctx context.Context, _ *task.Task) error {
		for range 1000 {
			log.InfoContext(ctx, strings.Repeat("x", 1000))
		}
		return nil
	})
	_, lines := ended(t, run)
	if len(lines) > 300 || lines[len(lines)-1].ID != 1000 {
		t.Errorf("%d lines are kept, the last is %d", len(lines), lines[len(lines)-1].ID)
	}
	for range 100 {
		run, _ := r.Start("test", 0, func(context.Context, *task.Task) error { return nil })
		ended(t, run)
	}
	if all := r.List(); len(all) > 42 || all[0].ID != 101 {
		t.Errorf("%d tasks are remembered, the newest is %d", len(all), all[0].ID)
	}
	if _, err := r.Get(1); !errors.Is(err, task.ErrNotFound) {
		t.Errorf("the oldest: %v", err)
	}
	if newest, err := r.Newest("test", 0); err != nil || newest.Status().ID != 101 {
		t.Errorf("the newest: %v", err)
	}
}
