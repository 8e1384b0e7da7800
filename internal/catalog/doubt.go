package catalog

import (
	"context"
	"errors"
	"time"
)

const (
	// doubtFor is how long a subject that should have episodes must have shown none before that is believed.
	doubtFor = 30 * time.Second
	// doubtsKept is how long it is remembered since when, maxDoubts of how many subjects.
	doubtsKept = time.Hour
	maxDoubts  = 1000
)

// emptyList is what an empty episode list of a subject comes to. One that counts episodes and has begun
// should have rows: it is asked for again at once, and once more a while later, before it is
// believed. Until then the error is ErrUnreachable, which nobody keeps.
func (c *Cached) emptyList(ctx context.Context, id SubjectID) ([]EpisodeInfo, error) {
	subject, err := c.Subject(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return []EpisodeInfo{}, nil
	}
	if err != nil {
		return nil, err
	}
	if subject.Eps == 0 || subject.Date.IsZero() || subject.Date.Time().After(time.Now()) {
		return []EpisodeInfo{}, nil
	}
	rows, err := c.client.Episodes(ctx, id)
	if err != nil || len(rows) > 0 {
		return rows, err
	}
	if wait := c.doubt(id); wait > 0 {
		return nil, &Error{Op: opReadEpisodes.With(id), Kind: ErrUnreachable, RetryAfter: wait, Err: errNoRows}
	}
	return rows, nil
}

// doubt is how long it still is until the empty list of a subject is believed.
func (c *Cached) doubt(id SubjectID) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	since, known := c.doubted[id]
	if known && now.Sub(since) < doubtsKept {
		return doubtFor - now.Sub(since)
	}
	if len(c.doubted) >= maxDoubts {
		clear(c.doubted) // what is doubted anew is believed later, nothing worse
	}
	c.doubted[id] = now
	return doubtFor
}
