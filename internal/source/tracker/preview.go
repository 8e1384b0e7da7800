package tracker

import (
	"context"
	"errors"

	"watchmark/internal/platform/task"
	"watchmark/internal/source/preview"
)

// Preview is what a full sync would do.
type Preview struct {
	UserID     int64          `json:"user_id"`
	Name       string         `json:"name"`
	Table      *preview.Table `json:"table"`
	Known      int            `json:"known" doc:"Plays that are records already."`
	Skipped    int            `json:"skipped" doc:"Plays of another genre."`
	Unreadable int            `json:"unreadable" doc:"Plays that lack what a record needs."`
}

// previewHistory reads the whole history of a user and looks up what a full sync would take in.
// It stores nothing but titles.
func (k *Service) previewHistory(ctx context.Context, t *task.Task, u User) (Preview, error) {
	u, err := k.named(ctx, u)
	if err != nil {
		return Preview{}, err
	}
	r := &run{k: k, t: t, u: u, o: k.Options(), full: true, asked: map[string]asked{}}
	result := Preview{UserID: u.ID, Name: u.Name, Table: preview.NewTable(k.Forecast())}
	done := 0
	err = k.pages(ctx, u.ID, func(p page) (bool, error) {
		b, err := r.sort(ctx, p.items)
		if err != nil {
			return false, err
		}
		result.Known += b.known
		result.Skipped += b.skipped
		result.Unreadable += b.unreadable
		for _, e := range b.events {
			if err := result.Table.Add(ctx, e); err != nil {
				return false, err
			}
		}
		done += len(p.items)
		t.Progress(done, max(p.total, done), lookedUp.With(u.Name, result.Table.Items))
		return false, nil
	})
	err = errors.Join(err, r.untitled)
	if err != nil && !errors.Is(err, context.Canceled) {
		return result, previewFailed.With(u.Name, err)
	}
	return result, err
}
