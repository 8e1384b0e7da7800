package record

import (
	"context"
	"fmt"
	"strings"
	"time"

	"watchmark/internal/watch"
)

// Day counts the records that came on one day, by how they stand now.
type Day struct {
	// Start is its midnight.
	Start  time.Time
	Marked int
	// Failed and Review are counted for the newest days only.
	Failed int
	Review int
}

// Activity is what came lately.
type Activity struct {
	// Today counts by state what came since midnight.
	Today map[Status]int
	// Days ends with today, the oldest first.
	Days []Day
}

// Activity counts what came since the day of first, which is not after now, in the time zone of now. Failed and
// Review are counted for the newest detailed days. It reads the part of one index that
// covers these days, and nothing older.
func (s *Store) Activity(ctx context.Context, first, now time.Time, detailed int) (Activity, error) {
	var a Activity
	var values []string
	var args []any
	today := midnight(now)
	// Days differ in length where clocks change, so each is told by its bounds.
	for day := midnight(first.In(now.Location())); !day.After(today); {
		next := midnight(day.AddDate(0, 0, 1))
		values, args = append(values, "(?, ?, ?)"), append(args, len(a.Days), day.UnixMilli(), next.UnixMilli())
		a.Days, day = append(a.Days, Day{Start: day}), next
	}
	// "+status" is explained at countSince.
	count := func(status Status) string {
		return `(SELECT COUNT(*) FROM records WHERE created_at >= start AND created_at < stop AND +status = '` + string(status) + `')`
	}
	from := len(a.Days) - detailed
	rows, err := s.db.Read().QueryContext(ctx, `WITH days (n, start, stop) AS (VALUES `+strings.Join(values, ", ")+`) SELECT n, `+count(Success)+`,
		CASE WHEN n >= ? THEN `+count(Failed)+` ELSE 0 END, CASE WHEN n >= ? THEN `+count(Review)+` ELSE 0 END FROM days`, append(args, from, from)...)
	if err != nil {
		return Activity{}, fmt.Errorf("count records by day: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var n int
		var day Day
		if err := rows.Scan(&n, &day.Marked, &day.Failed, &day.Review); err != nil {
			return Activity{}, fmt.Errorf("count records by day: %w", err)
		}
		day.Start = a.Days[n].Start
		a.Days[n] = day
	}
	if err := rows.Err(); err != nil {
		return Activity{}, fmt.Errorf("count records by day: %w", err)
	}
	a.Today, err = s.countSince(ctx, today)
	return a, err
}

// Heard is when records last came from a source.
type Heard struct {
	Last time.Time
	// Days is on how many days, of the 30 that end with Last, some came. It looks at the newest
	// 200 records, so that one import of many is one day.
	Days int
}

// A source has gone silent when nothing came from it for a while although it had brought
// something on steadyDays of the 30 days before that. After silentUntil it counts as not
// used any more.
const (
	silentUntil = 90 * 24 * time.Hour
	steadyDays  = 3
)

// Silent is for how many days nothing came, where that is unusual: for after at least; 0
// when it is not, or after is 0.
func (h Heard) Silent(now time.Time, after time.Duration) int {
	gap := now.Sub(h.Last)
	if after <= 0 || gap < after || gap >= silentUntil || h.Days < steadyDays {
		return 0
	}
	return int(gap.Hours() / 24)
}

// Heard tells of each of the sources that records came from.
func (s *Store) Heard(ctx context.Context, sources []watch.Source) (map[watch.Source]Heard, error) {
	all := map[watch.Source]Heard{}
	for _, source := range sources {
		heard, err := s.heardFrom(ctx, source)
		if err != nil {
			return nil, fmt.Errorf("look when %s was last heard of: %w", source, err)
		}
		if !heard.Last.IsZero() {
			all[source] = heard
		}
	}
	return all, nil
}

func (s *Store) heardFrom(ctx context.Context, source watch.Source) (Heard, error) {
	rows, err := s.db.Read().QueryContext(ctx, `SELECT created_at FROM records WHERE source = ? ORDER BY id DESC LIMIT 200`, source)
	if err != nil {
		return Heard{}, err
	}
	defer func() { _ = rows.Close() }()
	var heard Heard
	days := map[time.Time]bool{}
	for rows.Next() {
		var created int64
		if err := rows.Scan(&created); err != nil {
			return Heard{}, err
		}
		at := time.UnixMilli(created)
		if heard.Last.IsZero() {
			heard.Last = at
		}
		if heard.Last.Sub(at) < 30*24*time.Hour {
			days[midnight(at)] = true
		}
	}
	heard.Days = len(days)
	return heard, rows.Err()
}
