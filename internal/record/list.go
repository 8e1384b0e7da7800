package record

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/scope"
)

// List is the newest records that pass the filter, and the cursor of the next page (0 = none). With a text, a page may be short, or
// empty, and have a next one all the same.
func (s *Store) List(ctx context.Context, f Filter) (records []Record, next int64, err error) {
	limit := f.Limit
	if limit < 1 || limit > 200 {
		limit = 50
	}
	if f.Text != "" {
		return s.search(ctx, f, limit)
	}
	where, args := f.where(ctx)
	records, err = recordsOf(ctx, s.db.Read(), where+` ORDER BY id DESC LIMIT ?`, append(args, limit+1)...)
	if err != nil {
		return nil, 0, err
	}
	if len(records) > limit {
		records = records[:limit]
		next = records[limit-1].ID
	}
	return records, next, nil
}

// A search reads the text of every record. It does so searchStep records at a time, of one person ownSearchStep, among which
// few are theirs, and when a page is not full after searchTime, the cursor leads on to those that were not read.
const (
	searchStep    = 10_000
	ownSearchStep = 10 * searchStep
)

// searchTime is a variable for tests.
var searchTime = 50 * time.Millisecond

// search is List for a filter with a text.
func (s *Store) search(ctx context.Context, f Filter, limit int) (records []Record, next int64, err error) {
	records = []Record{}
	var oldest, newest int64
	if err := s.db.Read().QueryRowContext(ctx, `SELECT COALESCE((SELECT MIN(id) FROM records), 0), COALESCE((SELECT MAX(id) FROM records), 0)`).Scan(&oldest, &newest); err != nil {
		return nil, 0, fmt.Errorf("look for the ends of the records: %w", err)
	}
	if f.Before == 0 || f.Before > newest {
		f.Before = newest + 1
	}
	step := int64(searchStep)
	if !scope.From(ctx).Whole() {
		step = ownSearchStep
	}
	for began := time.Now(); f.Before > oldest && oldest > 0; {
		from := max(f.Before-step, oldest)
		where, args := f.where(ctx)
		found, err := recordsOf(ctx, s.db.Read(), where+` AND id >= ? ORDER BY id DESC LIMIT ?`, append(args, from, limit+1-len(records))...)
		if err != nil {
			return nil, 0, err
		}
		if records = append(records, found...); len(records) > limit {
			return records[:limit], records[limit-1].ID, nil
		}
		if f.Before = from; time.Since(began) > searchTime && f.Before > oldest {
			return records, f.Before, nil
		}
	}
	return records, 0, nil
}

// Statuses are those of some records; one that is not there any more is missing.
func (s *Store) Statuses(ctx context.Context, ids []int64) (map[int64]Status, error) {
	statuses := make(map[int64]Status, len(ids))
	for some := range slices.Chunk(ids, 512) {
		list, args := db.In(some)
		within, whose := account.Within(ctx, "account_id")
		err := db.Each(ctx, s.db.Read(), "read how records stand", func(row db.Row) error {
			var id int64
			var status Status
			err := row.Scan(&id, &status)
			statuses[id] = status
			return err
		}, `SELECT id, status FROM records WHERE id IN `+list+` AND `+within, append(args, whose...)...)
		if err != nil {
			return nil, err
		}
	}
	return statuses, nil
}

// ChangedSince reports whether one of the records that the scope of ctx reaches changed since then.
func (s *Store) ChangedSince(ctx context.Context, since time.Time) (changed bool, err error) {
	within, whose := account.Within(ctx, "account_id")
	err = s.db.Read().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM records WHERE updated_at >= ? AND `+within+`)`, append([]any{since.UnixMilli()}, whose...)...).Scan(&changed)
	if err != nil {
		return false, fmt.Errorf("look for records that changed: %w", err)
	}
	return changed, nil
}

// Some are those records of a few ids that are there, by id.
func (s *Store) Some(ctx context.Context, ids []int64) (map[int64]Record, error) {
	return Some(ctx, s.db.Read(), ids)
}

// Some is Store.Some by the database or within a transaction.
func Some(ctx context.Context, from db.Querier, ids []int64) (map[int64]Record, error) {
	found := make(map[int64]Record, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	list, args := db.In(ids)
	within, whose := account.Within(ctx, "account_id")
	records, err := recordsOf(ctx, from, `WHERE id IN `+list+` AND `+within, append(args, whose...)...)
	for _, r := range records {
		found[r.ID] = r
	}
	return found, err
}

// IDs are the ids of all records that pass the filter, the oldest first; its Limit does not count.
func (s *Store) IDs(ctx context.Context, f Filter) ([]int64, error) {
	where, args := f.where(ctx)
	return db.Values[int64](ctx, s.db.Read(), "list record ids", `SELECT id FROM records `+where+` ORDER BY id`, args...)
}

// where is the SQL condition of the filter and of the scope, and its arguments.
func (f Filter) where(ctx context.Context) (string, []any) {
	within, args := account.Within(ctx, "account_id")
	terms := []string{within}
	add := func(term string, values ...any) {
		terms = append(terms, term)
		args = append(args, values...)
	}
	if f.Status != "" && scope.From(ctx).Whole() {
		add("status = ?", f.Status)
	} else if f.Status != "" {
		add("(status || '') = ?", f.Status) // by the index of an account's records, not by that of a state
	}
	if f.Source != "" {
		add("source = ?", f.Source)
	}
	if f.User != "" {
		add("user_name = ?", f.User)
	}
	if !f.Since.IsZero() {
		add("created_at >= ?", f.Since.UnixMilli())
	}
	if !f.Until.IsZero() {
		add("created_at < ?", f.Until.UnixMilli())
	}
	if f.Routed {
		add("error_kind <> 'user_ignored' AND NOT (status = 'error' AND " + stillUnrouted + ")")
	}
	if f.Rewatch {
		add("rewatch = 1")
	}
	if f.Before > 0 {
		add("id < ?", f.Before)
	}
	if f.Text != "" {
		like := db.Containing(f.Text)
		add(`(title LIKE ? ESCAPE '\' OR original_title LIKE ? ESCAPE '\' OR subject_name LIKE ? ESCAPE '\' OR user_name LIKE ? ESCAPE '\')`,
			like, like, like, like)
	}
	return "WHERE " + strings.Join(terms, " AND "), args
}

// UserNames are the media-server users seen in the newest 500 records, newest first.
func (s *Store) UserNames(ctx context.Context) ([]string, error) {
	within, args := account.Within(ctx, "account_id")
	return db.Values[string](ctx, s.db.Read(), "list user names", `SELECT user_name FROM (SELECT id, user_name FROM records WHERE `+within+` ORDER BY id DESC LIMIT 500) AS recent
		WHERE user_name <> '' GROUP BY user_name ORDER BY MAX(id) DESC`, args...)
}
