package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/engine/review"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
)

// Undo takes back what was written to lists.
type Undo struct {
	Decisions *review.Service
	Tasks     *task.Registry
	// Others undo the tasks of a kind that write elsewhere, or in another way, by the id of the task.
	Others map[string]func(ctx context.Context, taskID int64, dryRun bool) (*task.Task, error)
}

// undoRequest says what is to be taken back.
type undoRequest struct {
	Since     time.Time `json:"since,omitzero" doc:"What was written from this moment on; with until, and without task_id." example:"2026-09-01T00:00:00+08:00"`
	Until     time.Time `json:"until,omitzero" doc:"And before this one." example:"2026-09-02T00:00:00+08:00"`
	AccountID int64     `json:"account_id,omitempty" minimum:"0" doc:"Of a span, only on the list of this account; 0 or left out is everybody's."`
	TaskID    int64     `json:"task_id,omitempty" minimum:"0" doc:"What this task has written: an import, a sync, a correction, an answer, a retry, a seed."`
	DryRun    bool      `json:"dry_run,omitempty" doc:"Only tell what would be taken back."`
}

func (u Undo) register(s *server) {
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/undo", OperationID: "undo", Tags: []string{"Records"},
		Summary: "Take back what was written in a span of time, or by a task",
		Description: "Starts a task that takes back what this service has written to lists: marks, and what it did to entries. What the person changed since stays, and what another record needs. " +
			"Its result lists each entry with what is taken back and what stays, and with dry_run nothing is written. Cancelled or cut off, it goes on where it stopped when it is started again. " +
			"A record whose mark was taken back is ignored: nothing marks it again but a retry, or a new watch. The task_id of a seed undoes that on the media server.",
		DefaultStatus: http.StatusAccepted, Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity},
	}, func(ctx context.Context, in *struct{ Body undoRequest }) (*JSON[startedTask], error) {
		if err := in.Body.check(); err != nil {
			return nil, err
		}
		return started(u.start(ctx, in.Body))
	})
}

// check finds what is wrong with the span.
func (r undoRequest) check() error {
	switch {
	case r.TaskID != 0 && (!r.Since.IsZero() || !r.Until.IsZero() || r.AccountID != 0):
		return reason.At("task_id", undoOneOf)
	case r.TaskID != 0:
		return nil
	case r.Since.IsZero():
		return reason.At("since", undoOneOf)
	case r.Since.After(time.Now()):
		return reason.At("since", undoFuture)
	case !r.Until.After(r.Since):
		return reason.At("until", undoUntil)
	}
	return nil
}

func (u Undo) start(ctx context.Context, r undoRequest) (*task.Task, error) {
	if r.TaskID != 0 {
		t, err := u.Tasks.Get(ctx, r.TaskID)
		if err != nil && !errors.Is(err, task.ErrNotFound) {
			return nil, err
		}
		if err == nil {
			if other, is := u.Others[t.Status().Kind]; is {
				return other(ctx, r.TaskID, r.DryRun)
			}
		} else if known, failed := u.Decisions.Wrote(ctx, r.TaskID); failed != nil {
			return nil, failed
		} else if !known {
			return nil, err
		}
	}
	return u.Decisions.UndoWritings(ctx, review.UndoRequest{Since: r.Since, Until: r.Until, AccountID: r.AccountID, TaskID: r.TaskID, DryRun: r.DryRun})
}
