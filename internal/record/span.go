package record

import (
	"context"
	"fmt"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/watch"
)

// Span selects what was watched between two times.
type Span struct {
	// From is included, To is not.
	From, To time.Time
	// User is the media-server user, compared exactly; empty is everybody.
	User string
	// Limit is the most records to answer.
	Limit int
}

// Watched is what was watched in a span, the newest first, and how many records that is without
// the limit. Tests, playbacks that only began and blocked titles do not count. It reads the
// records of the span alone.
func (s *Store) Watched(ctx context.Context, span Span) (records []Record, total int, err error) {
	where, args := span.where(ctx)
	if err := s.db.Read().QueryRowContext(ctx, `SELECT COUNT(*) FROM records `+where, args...).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("count what was watched: %w", err)
	}
	records, err = recordsOf(ctx, s.db.Read(), where+` ORDER BY created_at DESC, id DESC LIMIT ?`, append(args, span.Limit)...)
	return records, total, err
}

// where is the SQL condition of the span, in the scope of ctx, and its arguments.
func (s Span) where(ctx context.Context) (string, []any) {
	// What is put together with '' has no index, so the planner stays on that of created_at.
	where := `WHERE created_at >= ? AND created_at < ? AND is_test = 0 AND action = ? AND NOT ((status || '') = 'ignored' AND subject_id = 0)`
	args := []any{s.From.UnixMilli(), s.To.UnixMilli(), watch.Watched}
	if s.User != "" {
		where, args = where+` AND (user_name || '') = ?`, append(args, s.User)
	}
	within, whose := account.Within(ctx, "account_id")
	return where + ` AND ` + within, append(args, whose...)
}
