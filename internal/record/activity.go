package record

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"watchmark/internal/platform/db"
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

// bounds are those of a day in unix ms; stop is not part of it. Days differ in length where clocks change.
type bounds struct{ start, stop int64 }

// daysBetween are the bounds of the day of first and of those after it until that of now, in the time zone of now.
func daysBetween(first, now time.Time) []bounds {
	var days []bounds
	for day := watch.DayStart(first.In(now.Location()), 0); !day.After(now); {
		next := watch.DayStart(day, 1)
		days, day = append(days, bounds{day.UnixMilli(), next.UnixMilli()}), next
	}
	return days
}

// Activity counts what came since the day of first, which is not after now, in the time zone of now. Failed and
// Review are counted for the newest detailed days, one at least. It reads what CountDays counted, and of the other
// days the part of one index that covers them.
func (s *Store) Activity(ctx context.Context, first, now time.Time, detailed int) (Activity, error) {
	days := daysBetween(first, now)
	today := days[len(days)-1]
	marked, err := s.marked(ctx, days[:len(days)-1])
	if err != nil {
		return Activity{}, err
	}
	a := Activity{Today: byStatus(), Days: make([]Day, len(days))}
	err = db.Each(ctx, s.db.Read(), "count the records of today", func(row db.Row) error {
		var status Status
		var n int
		err := row.Scan(&status, &n)
		a.Today[status] = n
		return err
	}, `SELECT (status || ''), COUNT(*) FROM records WHERE created_at >= ? GROUP BY (status || '')`, today.start)
	if err != nil {
		return Activity{}, err
	}
	marked[today] = a.Today[Success]
	for i, day := range days {
		a.Days[i] = Day{Start: time.UnixMilli(day.start).In(now.Location()), Marked: marked[day]}
	}
	return a, s.addUnmarked(ctx, a.Days[max(0, len(days)-detailed):])
}

// unmarked holds for what failed and what waits for a decision, in the words of the index that holds these alone.
const unmarked = `status IN ('error', 'review')`

// addUnmarked adds to days, which follow each other up to now, what failed on them and what waits for a decision.
func (s *Store) addUnmarked(ctx context.Context, days []Day) error {
	return db.Each(ctx, s.db.Read(), "look for records that are not marked", func(row db.Row) error {
		var created int64
		var status Status
		if err := row.Scan(&created, &status); err != nil {
			return err
		}
		next := sort.Search(len(days), func(i int) bool { return days[i].Start.UnixMilli() > created })
		if status == Failed {
			days[next-1].Failed++
		} else {
			days[next-1].Review++
		}
		return nil
	}, `SELECT created_at, status FROM records WHERE `+unmarked+` AND created_at >= ?`, days[0].Start.UnixMilli())
}

// marked is how many records of each day are marked: what CountDays counted, and of the other days what the part of one
// index says that covers them.
func (s *Store) marked(ctx context.Context, days []bounds) (map[bounds]int, error) {
	if len(days) == 0 {
		return map[bounds]int{}, nil
	}
	counted, err := s.countedDays(ctx, days[0].start)
	if err != nil {
		return nil, err
	}
	unknown := slices.DeleteFunc(slices.Clone(days), func(day bounds) bool { _, known := counted[day]; return known })
	for some := range slices.Chunk(unknown, countedAtOnce) {
		query, args := markedOn(some)
		if err := db.Each(ctx, s.db.Read(), "count the marked records of days", reading(counted), query, args...); err != nil {
			return nil, err
		}
	}
	return counted, nil
}

// markedOn is a query for the bounds of days, and how many records of each are marked.
func markedOn(days []bounds) (query string, args []any) {
	for _, day := range days {
		args = append(args, day.start, day.stop)
	}
	return `WITH days (start, stop) AS (VALUES ` + db.Rows(`(CAST(? AS BIGINT), CAST(? AS BIGINT))`, len(days)) + `)
		SELECT start, stop, (SELECT COUNT(*) FROM records WHERE created_at >= start AND created_at < stop AND (status || '') = ?) FROM days`, append(args, Success)
}

// reading takes the rows of markedOn.
func reading(counted map[bounds]int) func(db.Row) error {
	return func(row db.Row) error {
		var day bounds
		var marked int
		err := row.Scan(&day.start, &day.stop, &marked)
		counted[day] = marked
		return err
	}
}

// CountByStatus counts the records of everybody by state, with the days of the time zone of now. Those that are marked are most
// of them, and are counted day by day as CountDays does.
func (s *Store) CountByStatus(ctx context.Context, now time.Time) (map[Status]int, error) {
	days, marked, err := s.markedUntil(ctx, now)
	if err != nil {
		return nil, err
	}
	return s.countOn(ctx, days, marked, true)
}

// statsOfAll is Stats of everybody.
func (s *Store) statsOfAll(ctx context.Context, now time.Time) (st Stats, err error) {
	days, marked, err := s.markedUntil(ctx, now)
	if err != nil {
		return st, err
	}
	if st.Today, err = s.countOn(ctx, days[len(days)-1:], marked, false); err != nil {
		return st, err
	}
	if st.Week, err = s.countOn(ctx, days[max(0, len(days)-7):], marked, false); err != nil {
		return st, err
	}
	st.Total, err = s.countOn(ctx, days, marked, true)
	return st, err
}

// markedUntil are the days from that of the oldest record to that of now, and how many records of each are marked.
func (s *Store) markedUntil(ctx context.Context, now time.Time) (days []bounds, marked map[bounds]int, err error) {
	first, err := s.oldest(ctx, now)
	if err != nil {
		return nil, nil, err
	}
	days = daysBetween(first, now)
	days[len(days)-1].stop = math.MaxInt64 // a clock that was set back has made records of the future
	marked, err = s.marked(ctx, days)
	return days, marked, err
}

// countOn counts by state the records of days, which follow each other up to now; marked has how many of each are marked. With all, the
// others are counted whenever they came.
func (s *Store) countOn(ctx context.Context, days []bounds, marked map[bounds]int, all bool) (map[Status]int, error) {
	counts := byStatus()
	var others []any
	for status := range counts {
		if status != Success {
			others = append(others, status)
		}
	}
	of, args := `status IN (`+db.Rows("?", len(others))+`)`, others
	if !all { // "+" keeps SQLite on the index of created_at: by that of status it would read every row
		of, args = `+`+of+` AND created_at >= ?`, append(others, days[0].start)
	}
	err := db.Each(ctx, s.db.Read(), "count records", func(row db.Row) error {
		var status Status
		var n int
		err := row.Scan(&status, &n)
		counts[status] = n
		return err
	}, `SELECT status, COUNT(*) FROM records WHERE `+of+` GROUP BY status`, args...)
	for _, day := range days {
		counts[Success] += marked[day]
	}
	return counts, err
}

// oldest is when the oldest record was made; now when there are no older ones.
func (s *Store) oldest(ctx context.Context, now time.Time) (time.Time, error) {
	var at sql.NullInt64
	if err := s.db.Read().QueryRowContext(ctx, `SELECT MIN(created_at) FROM records`).Scan(&at); err != nil {
		return time.Time{}, fmt.Errorf("look for the oldest record: %w", err)
	}
	if !at.Valid || at.Int64 > now.UnixMilli() {
		return now, nil
	}
	return time.UnixMilli(at.Int64), nil
}

// countedDays are the days since start that CountDays counted, and how many of their records are marked.
func (s *Store) countedDays(ctx context.Context, start int64) (map[bounds]int, error) {
	counted := map[bounds]int{}
	err := db.Each(ctx, s.db.Read(), "read counted days", reading(counted), `SELECT start, stop, marked FROM day_counts WHERE stop > ?`, start)
	return counted, err
}

// CountDays counts the marked records of each day that is over, for the 53 weeks before now and all of which there are records,
// in the time zone of now, so that Activity and CountByStatus need not. The database drops the count of a day when a record of it changes.
func (s *Store) CountDays(ctx context.Context, now time.Time) error {
	oldest, err := s.oldest(ctx, now)
	if err != nil {
		return err
	}
	if year := now.AddDate(0, 0, -53*7); oldest.After(year) {
		oldest = year
	}
	days := daysBetween(oldest, now)
	forgotten := days[0].start
	counted, err := s.countedDays(ctx, forgotten)
	if err != nil {
		return err
	}
	days = slices.DeleteFunc(days[:len(days)-1], func(day bounds) bool { _, known := counted[day]; return known })
	for some := range slices.Chunk(days, countedAtOnce) {
		if err := s.countDays(ctx, some); err != nil {
			return err
		}
	}
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM day_counts WHERE stop <= ?`, forgotten); err != nil {
			return fmt.Errorf("forget counted days: %w", err)
		}
		return nil
	})
}

// countedAtOnce is how many days one write counts: all that comes in waits for it.
const countedAtOnce = 30

func (s *Store) countDays(ctx context.Context, days []bounds) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		query, args := markedOn(days)
		_, err := tx.ExecContext(ctx, `INSERT INTO day_counts (start, stop, marked) `+query, args...)
		if err != nil {
			return fmt.Errorf("count the marked records of days: %w", err)
		}
		return nil
	})
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
	if len(sources) == 0 {
		return all, nil
	}
	var newest []string // one query asks for all of them: a database may be far away
	var args []any
	for _, source := range sources {
		newest = append(newest, `SELECT * FROM (SELECT source, created_at FROM records WHERE source = ? ORDER BY id DESC LIMIT 200) AS newest`)
		args = append(args, source)
	}
	came := map[watch.Source][]time.Time{}
	err := db.Each(ctx, s.db.Read(), "look when sources were last heard of", func(row db.Row) error {
		var source watch.Source
		var created int64
		err := row.Scan(&source, &created)
		came[source] = append(came[source], time.UnixMilli(created))
		return err
	}, strings.Join(newest, ` UNION ALL `), args...)
	for source, times := range came {
		last, days := slices.MaxFunc(times, time.Time.Compare), map[time.Time]bool{}
		for _, at := range times {
			if last.Sub(at) < 30*24*time.Hour {
				days[watch.DayStart(at, 0)] = true
			}
		}
		all[source] = Heard{Last: last, Days: len(days)}
	}
	return all, err
}
