package mapping

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"watchmark/internal/platform/db"
)

// Filter selects mappings, or blocked keywords. The zero Filter is the newest 50.
type Filter struct {
	// Text is looked for in titles, names of subjects and notes, or in keywords; a number
	// is also that of a subject.
	Text string
	// Before is the id to list from, downwards, without it; 0 is the newest.
	Before int64
	// Limit is how many to list at most, up to 200; 0 is 50.
	Limit int
}

func (f Filter) limit() int {
	if f.Limit < 1 || f.Limit > 200 {
		return 50
	}
	return f.Limit
}

// like is the pattern that finds Text.
func (f Filter) like() string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(f.Text) + "%"
}

// List is the mappings that pass a filter, the newest first, and the Before of those after them; 0 when there are none.
func (s *Store) List(ctx context.Context, f Filter) (mappings []Mapping, next int64, err error) {
	number, _ := strconv.ParseInt(f.Text, 10, 64) // what is no number is no subject's
	mappings, err = query(ctx, s.db.Read(), `WHERE (? = 0 OR id < ?) AND (? = '' OR subject_id = ? OR title LIKE ? ESCAPE '\' OR subject_name LIKE ? ESCAPE '\' OR note LIKE ? ESCAPE '\')
		ORDER BY id DESC LIMIT ?`, f.Before, f.Before, f.Text, number, f.like(), f.like(), f.like(), f.limit()+1)
	if len(mappings) > f.limit() {
		mappings = mappings[:f.limit()]
		next = mappings[f.limit()-1].ID
	}
	return mappings, next, err
}

// ListBlocked is List of blocked keywords.
func (s *Store) ListBlocked(ctx context.Context, f Filter) (blocked []Blocked, next int64, err error) {
	blocked, err = queryBlocked(ctx, s.db.Read(), `WHERE (? = 0 OR id < ?) AND keyword LIKE ? ESCAPE '\' ORDER BY id DESC LIMIT ?`, f.Before, f.Before, f.like(), f.limit()+1)
	if len(blocked) > f.limit() {
		blocked = blocked[:f.limit()]
		next = blocked[f.limit()-1].ID
	}
	return blocked, next, err
}

// All is every mapping, by title, season, form and episode.
func (s *Store) All(ctx context.Context) ([]Mapping, error) {
	return query(ctx, s.db.Read(), byTitle)
}

const byTitle = `ORDER BY title, is_regex, COALESCE(season, -1), form, COALESCE(episode, -1)`

// AllBlocked is every blocked keyword, by keyword.
func (s *Store) AllBlocked(ctx context.Context) ([]Blocked, error) {
	return queryBlocked(ctx, s.db.Read(), byKeyword)
}

const byKeyword = `ORDER BY keyword, id`

// query reads the mappings that the clauses select.
func query(ctx context.Context, r db.Querier, clauses string, args ...any) ([]Mapping, error) {
	return db.All(ctx, r, "list mappings", scan, `SELECT `+columns+` FROM mappings `+clauses, args...)
}

func queryBlocked(ctx context.Context, r db.Querier, clauses string, args ...any) ([]Blocked, error) {
	return db.All(ctx, r, "list blocked keywords", scanBlocked, `SELECT `+blockedColumns+` FROM blocked_keywords `+clauses, args...)
}

// Counts are how many mappings and blocked keywords there are.
type Counts struct {
	Mappings, Blocked int
	// those of them that are regular expressions
	expressions, blockedExpressions int
}

// Count counts what is kept.
func (s *Store) Count(ctx context.Context) (Counts, error) { return countTx(ctx, s.db.Read()) }

func countTx(ctx context.Context, r db.Querier) (c Counts, err error) {
	err = r.QueryRowContext(ctx, `SELECT m.all_of, m.regex, b.all_of, b.regex FROM
		(SELECT COUNT(*) AS all_of, COALESCE(SUM(is_regex), 0) AS regex FROM mappings) AS m,
		(SELECT COUNT(*) AS all_of, COALESCE(SUM(CASE WHEN kind = 'regex' THEN 1 ELSE 0 END), 0) AS regex FROM blocked_keywords) AS b`).
		Scan(&c.Mappings, &c.expressions, &c.Blocked, &c.blockedExpressions)
	if err != nil {
		return c, fmt.Errorf("count mappings and blocked keywords: %w", err)
	}
	return c, nil
}

// checkGrowth returns ErrFull or ErrExpressions where there are too many, and more than before.
func (c Counts) checkGrowth(before Counts) error {
	if c.Mappings > max(MaxMappings, before.Mappings) || c.Blocked > max(MaxBlocked, before.Blocked) {
		return ErrFull
	}
	if c.expressions > max(MaxExpressions, before.expressions) || c.blockedExpressions > max(MaxExpressions, before.blockedExpressions) {
		return ErrExpressions
	}
	return nil
}
