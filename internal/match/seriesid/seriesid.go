// Package seriesid remembers the ids of series at TMDB, TheTVDB and others that media servers told, for their events that
// have none: most webhooks name the ids of the episode only (upstreams/media-servers.md section 0).
package seriesid

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/watch"
	"watchmark/internal/watch/title"
)

const (
	// keepMost is how many series are remembered after a Prune.
	keepMost = 20_000
	// alikeMost is how many series of one title a server may have; of more nothing is used.
	alikeMost = 10
)

// providers are those whose ids of a series matching looks up.
var providers = []string{"tmdb", "tvdb", "anidb", "anilist", "mal", "myanimelist"}

// Series is what a media server tells of a series.
type Series struct {
	Source watch.Source
	// Server and ID are the ids that the server gives itself and the series.
	Server, ID string
	// Title is as events of the server spell it; Original is empty and Year is 0 when it is not known.
	Title, Original string
	Year            int
	IDs             watch.IDs
}

// Store keeps series in the database.
type Store struct{ db *db.DB }

// NewStore is the store over d.
func NewStore(d *db.DB) *Store { return &Store{d} }

// Remember stores all series of a library, those without ids too: a title that one of them shares is not certain.
func (s *Store) Remember(ctx context.Context, all []Series) error { return s.store(ctx, all, true) }

// Told stores series that a server told of beside an event.
func (s *Store) Told(ctx context.Context, some []Series) error { return s.store(ctx, some, false) }

func (s *Store) store(ctx context.Context, all []Series, imported bool) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, one := range all {
			if err := one.put(ctx, tx, imported); err != nil {
				return err
			}
		}
		return nil
	})
}

// LearnTx remembers the ids of the series that an event has, if any.
func LearnTx(ctx context.Context, tx *sql.Tx, e watch.Event) error {
	if e.IsFilm() || !has(e.SeriesIDs) {
		return nil
	}
	return Series{Source: e.Source, Server: e.ServerID, ID: e.SeriesID, Title: e.Title, Original: e.OriginalTitle, IDs: e.SeriesIDs}.put(ctx, tx, false)
}

// put stores s in the place of what was told of it before. What is not told of it now stays.
func (s Series) put(ctx context.Context, tx *sql.Tx, imported bool) error {
	if s.Server == "" || s.ID == "" || s.Title == "" || max(len(s.Server), len(s.ID), len(s.Title), len(s.Original)) > watch.MaxText {
		return nil
	}
	kept := watch.IDs{}
	for _, provider := range providers {
		if id := s.IDs[provider]; id != "" && len(id) <= watch.MaxText {
			kept[provider] = id
		}
	}
	ids, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("encode the ids of a series: %w", err)
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO series_ids (source, server, series, title, original_title, year, ids, imported, seen_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (source, server, series) DO UPDATE SET title = excluded.title, ids = excluded.ids, imported = excluded.imported, seen_at = excluded.seen_at,
			original_title = CASE excluded.original_title WHEN '' THEN series_ids.original_title ELSE excluded.original_title END,
			year = CASE excluded.year WHEN 0 THEN series_ids.year ELSE excluded.year END`,
		s.Source, watch.PlainID(s.Server), watch.PlainID(s.ID), s.Title, s.Original, s.Year, string(ids), imported, time.Now().UnixMilli())
	if err != nil {
		return fmt.Errorf("remember a series: %w", err)
	}
	return nil
}

// known is a remembered series.
type known struct {
	Series
	imported bool
	seen     time.Time
}

// Find is the ids of the series of an event that has none, and where they come from. ids is nil when nothing is
// remembered, or when it is not certain which series is meant.
func (s *Store) Find(ctx context.Context, e watch.Event) (ids watch.IDs, from reason.Reason, err error) {
	if e.IsFilm() || has(e.SeriesIDs) || e.ServerID == "" {
		return nil, reason.Reason{}, nil
	}
	var all []known
	err = db.Each(ctx, s.db.Read(), "look for the ids of a series", func(row db.Row) error {
		var k known
		var text string
		var seen int64
		if err := row.Scan(&k.ID, &k.Original, &k.Year, &text, &k.imported, &seen); err != nil {
			return err
		}
		k.seen = time.UnixMilli(seen)
		all = append(all, k)
		return json.Unmarshal([]byte(text), &all[len(all)-1].IDs)
	}, `SELECT series, original_title, year, ids, imported, seen_at FROM series_ids WHERE source = ? AND server = ? AND title = ? LIMIT ?`,
		e.Source, watch.PlainID(e.ServerID), e.Title, alikeMost+1)
	if err != nil || len(all) > alikeMost {
		return nil, reason.Reason{}, err
	}
	var last known
	var fitting []watch.IDs
	for _, k := range all {
		if !k.contradicts(e) {
			fitting = append(fitting, k.IDs)
			last = k
		}
	}
	if ids = agreed(fitting); len(ids) == 0 {
		return nil, reason.Reason{}, nil
	}
	how := fromEvent
	if last.imported {
		how = fromImport
	}
	return ids, how.With(cmp.Or(e.ServerName, e.ServerID), last.seen.Format(time.DateOnly)), nil
}

// contradicts reports whether an event of the title of k is of another series.
func (k known) contradicts(e watch.Event) bool {
	return e.SeriesID != "" && watch.PlainID(e.SeriesID) != k.ID ||
		e.OriginalTitle != "" && k.Original != "" && title.Key(e.OriginalTitle) != title.Key(k.Original) ||
		// A special may be older than the series, and a year may turn between two time zones.
		k.Year != 0 && e.AirDate.Year != 0 && e.AirDate.Year < k.Year-1 && (e.Season == nil || *e.Season != 0)
}

// agreed are the ids that all have. It is nil when two contradict each other.
func agreed(all []watch.IDs) watch.IDs {
	ids, count := watch.IDs{}, map[string]int{}
	for _, one := range all {
		for provider, id := range one {
			if count[provider]++; count[provider] > 1 && ids[provider] != id {
				return nil
			}
			ids[provider] = id
		}
	}
	for provider, n := range count {
		if n < len(all) {
			delete(ids, provider)
		}
	}
	return ids
}

// has reports whether there is an id that matching looks up.
func has(ids watch.IDs) bool {
	for _, provider := range providers {
		if ids[provider] != "" {
			return true
		}
	}
	return false
}

// Prune forgets up to limit of those that were not told for the longest, where there are too many, and answers how many.
func (s *Store) Prune(ctx context.Context, limit int) (int64, error) {
	return s.prune(ctx, keepMost, limit)
}

func (s *Store) prune(ctx context.Context, keep, limit int) (n int64, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `DELETE FROM series_ids WHERE id IN (SELECT id FROM series_ids ORDER BY seen_at DESC, id DESC LIMIT ? OFFSET ?)`, limit, keep)
		if err != nil {
			return fmt.Errorf("forget old series: %w", err)
		}
		n, err = result.RowsAffected()
		return err
	})
	return n, err
}
