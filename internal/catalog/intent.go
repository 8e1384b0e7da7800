package catalog

import (
	"context"
	"slices"
	"time"
)

// Intents keep what is about to be written to an entry, so that what came of it is known after a crash and after an answer that was lost.
type Intents interface {
	// Earlier is what earlier tries of the same were about to write and nobody knows whether they did. It is asked when the list has
	// something already.
	Earlier(ctx context.Context) (Earlier, error)
	// Intend is told what the result will be once all is written, after the list was read and before the first write. at is when that
	// is, by the catalog's clock; what an earlier try wrote keeps its own time. After an error, which comes back as it is, nothing is written.
	Intend(ctx context.Context, planned MarkResult, at time.Time) error
}

// Earlier is what earlier tries were about to write.
type Earlier struct {
	// Episodes that were not watched then, and when that was by the catalog's clock.
	Episodes map[EpisodeID]time.Time
	// Changed: the entry was about to become doing, and Was what it was before; 0 = not collected, or left by this service.
	Changed bool
	Was     CollectionType
	// Completed: it was about to become done.
	Completed bool
}

// A mark that shows an earlier time than the intent is not of the try that had it, nor is one that shows a much later time: the catalog's
// clock is known to clockError, and a try does not take longer than intentMost.
const (
	clockError = 2 * time.Second
	intentMost = time.Hour
)

// wrote reports whether an earlier try wrote a mark that the list shows.
func (e Earlier) wrote(mark episodeMark) bool {
	intended, known := e.Episodes[mark.Episode.ID]
	return known && mark.State == EpisodeWatched && shows(mark, intended)
}

// shows reports whether a mark may have been written by the try that intended it then.
func shows(mark episodeMark, intended time.Time) bool {
	return mark.At.IsZero() || !mark.At.Before(intended.Add(-clockError)) && mark.At.Before(intended.Add(intentMost))
}

func (e *ListEntry) earlier(ctx context.Context) (Earlier, error) {
	if e.Intents == nil {
		return Earlier{}, nil
	}
	return e.Intents.Earlier(ctx)
}

func (e *ListEntry) intend(ctx context.Context, planned MarkResult) error {
	if e.Intents == nil {
		return nil
	}
	return e.Intents.Intend(ctx, planned, e.Session.c.now())
}

// countEarlier adds to the result what earlier tries wrote, by the marks that were read.
func (e *ListEntry) countEarlier(ctx context.Context, entry CollectionType, marks []episodeMark, result *MarkResult) error {
	earlier, err := e.earlier(ctx)
	if err != nil {
		return err
	}
	for i, episode := range result.Episodes {
		if slices.ContainsFunc(marks, func(m episodeMark) bool { return m.Episode.ID == episode.ID && earlier.wrote(m) }) {
			result.Episodes[i].Already, result.Episodes[i].Earlier = false, earlier.Episodes[episode.ID]
		}
	}
	if earlier.Changed && (entry == Doing || entry == Done && earlier.Completed) {
		result.Was, result.Created, result.Moved = earlier.Was, earlier.Was == 0, earlier.Was != 0
		result.Resumed = result.Created // as far as is known
	}
	return nil
}

// markedBefore is the result for an entry that is done: all of it was watched before, or written by an earlier try.
func (req *MarkRequest) markedBefore(ctx context.Context, result MarkResult) (MarkResult, error) {
	for _, id := range req.Episodes {
		result.Episodes = append(result.Episodes, MarkedEpisode{ID: id, Already: true})
	}
	earlier, err := req.earlier(ctx)
	if err != nil || len(earlier.Episodes) == 0 && !earlier.Changed && !earlier.Completed {
		return result, err
	}
	var marks []episodeMark
	if len(earlier.Episodes) > 0 {
		if marks, err = req.marksOf(ctx, req.Episodes); err != nil {
			return MarkResult{}, err
		}
	}
	if earlier.Completed {
		result.Completed, result.Was = true, Doing
	}
	return result, req.countEarlier(ctx, Done, marks, &result)
}
