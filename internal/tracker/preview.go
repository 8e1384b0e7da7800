package tracker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"watchmark/internal/task"
	"watchmark/internal/watch"
)

// PreviewMost is how many episodes and films a preview matches at most.
const PreviewMost = 500

// PreviewItem is an episode or film that a full sync would take in.
type PreviewItem struct {
	Title     string    `json:"title"`
	Season    *int      `json:"season" doc:"0 is specials; null for films."`
	Episode   *float64  `json:"episode" doc:"null for films."`
	WatchedAt time.Time `json:"watched_at,omitzero" doc:"The last time; not there where the tracker does not know it."`
	Plays     int       `json:"plays" doc:"How often it was watched."`
	Verdict
}

// Preview is what a full sync would do.
type Preview struct {
	UserID     int64          `json:"user_id"`
	Name       string         `json:"name"`
	Items      []PreviewItem  `json:"items"`
	Counts     map[string]int `json:"counts" doc:"How many of the items have each status."`
	More       int            `json:"more" doc:"Episodes and films beyond the bound, which were not matched."`
	Known      int            `json:"known" doc:"Plays that are records already."`
	Skipped    int            `json:"skipped" doc:"Plays of another genre."`
	Unreadable int            `json:"unreadable" doc:"Plays that lack what a record needs."`
}

// previewHistory reads the whole history of a user and matches what a full sync would take in.
// It stores nothing but titles.
func (k *Keeper) previewHistory(ctx context.Context, t *task.Task, u User) (Preview, error) {
	u, err := k.named(ctx, u)
	if err != nil {
		return Preview{}, err
	}
	r := &run{k: k, t: t, u: u, o: k.Options(), full: true, asked: map[string]asked{}}
	result := Preview{UserID: u.ID, Name: u.Name, Items: []PreviewItem{}, Counts: map[string]int{}}
	at, more := map[string]int{}, map[string]bool{}
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
			key := sameness(e)
			if i, listed := at[key]; listed {
				item := &result.Items[i]
				item.Plays++
				if e.OccurredAt.After(item.WatchedAt) {
					item.WatchedAt = e.OccurredAt
				}
				continue
			}
			if len(result.Items) >= PreviewMost {
				more[key] = true
				continue
			}
			verdict, err := k.Preview(ctx, e)
			if err != nil {
				return false, fmt.Errorf("match %s: %w", strings.ToValidUTF8(e.Title, ""), err)
			}
			at[key] = len(result.Items)
			result.Items = append(result.Items, PreviewItem{e.Title, e.Season, e.Episode, e.OccurredAt, 1, verdict})
			result.Counts[verdict.Status]++
		}
		done += len(p.items)
		t.Progress(done, max(p.total, done), fmt.Sprintf("%s: %d episodes and films matched", u.Name, len(result.Items)))
		return false, nil
	})
	err = errors.Join(err, r.untitled)
	result.More = len(more)
	if err != nil && !errors.Is(err, context.Canceled) {
		return result, fmt.Errorf("preview the history of %s: %w", u.Name, err)
	}
	return result, err
}

// sameness is alike for the plays of one episode or film. Remakes share a title, not their ids.
func sameness(e watch.Event) string {
	if e.IsFilm() {
		return fmt.Sprintf("%q %v", e.Title, e.ItemIDs)
	}
	season := -1 // not told
	if e.Season != nil {
		season = *e.Season
	}
	return fmt.Sprintf("%q %v %d %v", e.Title, e.SeriesIDs, season, *e.Episode)
}
