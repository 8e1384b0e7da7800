package mapping

import (
	"context"
	"strconv"
	"strings"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/scope"
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
	reached, whose := within(ctx)
	mappings, err = query(ctx, s.db.Read(), `WHERE `+reached+` AND (? = 0 OR id < ?) AND (? = '' OR subject_id = ? OR title LIKE ? ESCAPE '\' OR subject_name LIKE ? ESCAPE '\' OR note LIKE ? ESCAPE '\')
		ORDER BY id DESC LIMIT ?`, append(whose, f.Before, f.Before, f.Text, number, f.like(), f.like(), f.like(), f.limit()+1)...)
	if len(mappings) > f.limit() {
		mappings = mappings[:f.limit()]
		next = mappings[f.limit()-1].ID
	}
	return mappings, next, err
}

// ListBlocked is List of blocked keywords.
func (s *Store) ListBlocked(ctx context.Context, f Filter) (blocked []Blocked, next int64, err error) {
	reached, whose := within(ctx)
	blocked, err = queryBlocked(ctx, s.db.Read(), `WHERE `+reached+` AND (? = 0 OR id < ?) AND keyword LIKE ? ESCAPE '\' ORDER BY id DESC LIMIT ?`,
		append(whose, f.Before, f.Before, f.like(), f.limit()+1)...)
	if len(blocked) > f.limit() {
		blocked = blocked[:f.limit()]
		next = blocked[f.limit()-1].ID
	}
	return blocked, next, err
}

// All is every mapping, by title, season, form and episode.
func (s *Store) All(ctx context.Context) ([]Mapping, error) {
	reached, whose := within(ctx)
	return query(ctx, s.db.Read(), `WHERE `+reached+` `+byTitle, whose...)
}

// Own is what holds for whoever asks and nobody else; in the scope of everything it is what holds for all.
func (s *Store) Own(ctx context.Context) (Set, error) {
	mappings, blocked, err := ownOf(ctx, s.db.Read(), madeBy(ctx))
	return Set{mappings, blocked}, err
}

func ownOf(ctx context.Context, r db.Querier, person int64) ([]Mapping, []Blocked, error) {
	mappings, err := query(ctx, r, ofPerson+byTitle, person)
	if err != nil {
		return nil, nil, err
	}
	blocked, err := queryBlocked(ctx, r, ofPerson+byKeyword, person)
	return mappings, blocked, err
}

const ofPerson = `WHERE COALESCE(person_id, 0) = ? `

const byTitle = `ORDER BY title, is_regex, COALESCE(season, -1), form, COALESCE(episode, -1)`

// AllBlocked is every blocked keyword, by keyword.
func (s *Store) AllBlocked(ctx context.Context) ([]Blocked, error) {
	reached, whose := within(ctx)
	return queryBlocked(ctx, s.db.Read(), `WHERE `+reached+` `+byKeyword, whose...)
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

// Count counts what the scope of ctx reaches.
func (s *Store) Count(ctx context.Context) (c Counts, err error) {
	all, err := countTx(ctx, s.db.Read())
	for person, its := range all {
		if scope.From(ctx).Whole() || person == madeBy(ctx) {
			c.Mappings, c.Blocked = c.Mappings+its.Mappings, c.Blocked+its.Blocked
		}
	}
	return c, err
}

// countTx counts the rules of each person; those for all are of 0.
func countTx(ctx context.Context, r db.Querier) (map[int64]Counts, error) {
	all := map[int64]Counts{}
	err := db.Each(ctx, r, "count mappings and blocked keywords", func(row db.Row) error {
		var person int64
		var mappings, expressions, blocked, blockedExpressions int
		err := row.Scan(&person, &mappings, &expressions, &blocked, &blockedExpressions)
		c := all[person]
		c.Mappings, c.expressions, c.Blocked, c.blockedExpressions = c.Mappings+mappings, c.expressions+expressions, c.Blocked+blocked, c.blockedExpressions+blockedExpressions
		all[person] = c
		return err
	}, `SELECT COALESCE(person_id, 0) AS person, COUNT(*), SUM(is_regex), 0, 0 FROM mappings GROUP BY COALESCE(person_id, 0)
		UNION ALL SELECT COALESCE(person_id, 0), 0, 0, COUNT(*), SUM(CASE WHEN kind = 'regex' THEN 1 ELSE 0 END) FROM blocked_keywords GROUP BY COALESCE(person_id, 0)`)
	return all, err
}

// checkGrowth returns ErrFull or ErrExpressions where somebody has too many rules, and more than before.
func checkGrowth(before, after map[int64]Counts) error {
	for person, now := range after {
		most := Counts{MaxOwnMappings, MaxOwnBlocked, MaxOwnExpressions, MaxOwnExpressions}
		if person == 0 {
			most = Counts{MaxMappings, MaxBlocked, MaxExpressions, MaxExpressions}
		}
		was := before[person]
		if now.Mappings > max(most.Mappings, was.Mappings) || now.Blocked > max(most.Blocked, was.Blocked) {
			return ErrFull.With(most.Mappings, most.Blocked)
		}
		if now.expressions > max(most.expressions, was.expressions) || now.blockedExpressions > max(most.blockedExpressions, was.blockedExpressions) {
			return ErrExpressions.With(most.expressions, most.blockedExpressions)
		}
	}
	return nil
}
