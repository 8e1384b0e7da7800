package mapping

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"watchmark/internal/platform/changes"
	"watchmark/internal/platform/db"
	"watchmark/internal/watch"
)

// Store keeps mappings and blocked keywords in the database.
type Store struct {
	db    *db.DB
	board *changes.Board

	// changing is held while a change is written and until generation tells of it: what the
	// same transaction sets going must not be matched by the rules from before.
	changing sync.RWMutex
	// generation counts the changes heard of, so that a snapshot of the rules knows when it is stale.
	generation atomic.Int64
	snapshot   atomic.Pointer[snapshot]
}

// rulesChanged is the name of mappings and blocked keywords on the board.
const rulesChanged = "rules"

// NewStore is the store over d, whose changes the board tells.
func NewStore(d *db.DB, board *changes.Board) *Store {
	s := &Store{db: d, board: board}
	board.On(rulesChanged, func(context.Context) error {
		s.generation.Add(1)
		return nil
	})
	return s
}

// Change runs fn in a transaction, which may change mappings and blocked keywords by the
// functions whose names end in Tx. Whoever asks for the Rules after the commit gets the new ones.
// It returns ErrFull or ErrExpressions, having changed nothing, for what would be too many, and ErrNotFound for nobody.
func (s *Store) Change(ctx context.Context, fn func(ctx context.Context, tx *sql.Tx) error) error {
	if madeBy(ctx) == nobody {
		return ErrNotFound
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	return s.board.Write(ctx, rulesChanged, func(ctx context.Context, tx *sql.Tx) error {
		before, err := countTx(ctx, tx)
		if err != nil {
			return err
		}
		if err := fn(ctx, tx); err != nil {
			return err
		}
		after, err := countTx(ctx, tx)
		if err != nil {
			return err
		}
		return checkGrowth(before, after)
	})
}

const columns = `id, COALESCE(person_id, 0), title, is_regex, season, first_season, form, episode, subject_id, subject_name, episode_offset, origin, note, created_at, updated_at`

func scan(row db.Row) (m Mapping, err error) {
	var created, updated int64
	err = row.Scan(&m.ID, &m.PersonID, &m.Title, &m.Regex, &m.Season, &m.FirstSeason, &m.Form, &m.Episode, &m.SubjectID, &m.SubjectName, &m.EpisodeOffset, &m.Origin, &m.Note, &created, &updated)
	m.CreatedAt, m.UpdatedAt = time.UnixMilli(created), time.UnixMilli(updated)
	return m, err
}

// Get is the mapping with id, or ErrNotFound.
func (s *Store) Get(ctx context.Context, id int64) (Mapping, error) {
	reached, whose := within(ctx)
	m, err := scan(s.db.Read().QueryRowContext(ctx, `SELECT `+columns+` FROM mappings WHERE id = ? AND `+reached, append([]any{id}, whose...)...))
	if errors.Is(err, sql.ErrNoRows) {
		return Mapping{}, ErrNotFound
	}
	if err != nil {
		return Mapping{}, fmt.Errorf("read mapping %d: %w", id, err)
	}
	return m, nil
}

// Create adds a mapping, of a person in the scope of that person. It returns a *reason.FieldError for one that cannot work, and ErrTaken.
func (s *Store) Create(ctx context.Context, m Mapping) (Mapping, error) {
	if err := m.check(); err != nil {
		return Mapping{}, err
	}
	m.PersonID = madeBy(ctx)
	var created Mapping
	err := s.Change(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		if err := checkFree(ctx, tx, m); err != nil {
			return err
		}
		created, err = insert(ctx, tx, m)
		return err
	})
	return created, err
}

// Update replaces the mapping with m.ID, which is that of m.Origin from now on and holds for whom it did. Without a
// SubjectName it keeps the one that is there for the same subject. It returns a *reason.FieldError, ErrTaken or ErrNotFound.
func (s *Store) Update(ctx context.Context, m Mapping) (Mapping, error) {
	if err := m.check(); err != nil {
		return Mapping{}, err
	}
	reached, whose := within(ctx)
	var updated Mapping
	err := s.Change(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		err = tx.QueryRowContext(ctx, `SELECT COALESCE(person_id, 0) FROM mappings WHERE id = ? AND `+reached, append([]any{m.ID}, whose...)...).Scan(&m.PersonID)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNotFound
		}
		if err != nil {
			return fmt.Errorf("look for mapping %d: %w", m.ID, err)
		}
		if err := checkFree(ctx, tx, m); err != nil {
			return err
		}
		updated, err = scan(tx.QueryRowContext(ctx, `UPDATE mappings SET title = ?, is_regex = ?, season = ?, first_season = ?, form = ?, episode = ?, subject_id = ?,
			subject_name = CASE WHEN ? = '' AND subject_id = ? THEN subject_name ELSE ? END, episode_offset = ?,
			origin = ?, note = ?, updated_at = ? WHERE id = ? RETURNING `+columns,
			m.Title, m.Regex, m.Season, m.FirstSeason && m.Season == nil, m.Form, m.Episode, m.SubjectID,
			m.SubjectName, m.SubjectID, cut(m.SubjectName), m.EpisodeOffset,
			m.Origin, m.Note, time.Now().UnixMilli(), m.ID))
		if err != nil {
			return fmt.Errorf("update mapping %d: %w", m.ID, err)
		}
		return nil
	})
	return updated, err
}

// Delete removes a mapping, or returns ErrNotFound.
func (s *Store) Delete(ctx context.Context, id int64) error {
	return s.deleteRow(ctx, `mappings`, id)
}

// Share has a mapping of a person hold for all from now on. It returns ErrNotFound, or ErrShared where one for all has its title.
func (s *Store) Share(ctx context.Context, id int64) (Mapping, error) {
	var shared Mapping
	err := s.Change(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		shared, err = scan(tx.QueryRowContext(ctx, `SELECT `+columns+` FROM mappings WHERE id = ?`, id))
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNotFound
		}
		if err != nil {
			return fmt.Errorf("read mapping %d: %w", id, err)
		}
		shared.PersonID = 0
		if err := checkFree(ctx, tx, shared); errors.Is(err, ErrTaken) {
			return ErrShared
		} else if err != nil {
			return err
		}
		if shared, err = scan(tx.QueryRowContext(ctx, `UPDATE mappings SET person_id = NULL, updated_at = ? WHERE id = ? RETURNING `+columns, time.Now().UnixMilli(), id)); err != nil {
			return fmt.Errorf("share mapping %d: %w", id, err)
		}
		return nil
	})
	return shared, err
}

func insert(ctx context.Context, tx *sql.Tx, m Mapping) (Mapping, error) {
	now := time.Now().UnixMilli()
	created, err := scan(tx.QueryRowContext(ctx, `INSERT INTO mappings (person_id, title, is_regex, season, first_season, form, episode, subject_id, subject_name, episode_offset, origin, note, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING `+columns,
		orNull(m.PersonID), m.Title, m.Regex, m.Season, m.FirstSeason && m.Season == nil, m.Form, m.Episode, m.SubjectID, cut(m.SubjectName), m.EpisodeOffset, m.Origin, m.Note, now, now))
	if err != nil {
		return Mapping{}, fmt.Errorf("insert mapping: %w", err)
	}
	return created, nil
}

// cut is a name that somebody else made, no longer than what people may write.
func cut(name string) string {
	return strings.ToValidUTF8(name[:min(len(name), watch.MaxText)], "")
}

// checkFree returns ErrTaken when another mapping than the one with m.ID has the slot of m.
func checkFree(ctx context.Context, tx *sql.Tx, m Mapping) error {
	others, err := query(ctx, tx, `WHERE is_regex = ? AND id <> ? AND COALESCE(person_id, 0) = ?`, m.Regex, m.ID, m.PersonID)
	if err != nil {
		return fmt.Errorf("look for mapping %q: %w", m.Title, err)
	}
	if slices.ContainsFunc(others, func(other Mapping) bool { return other.slot() == m.slot() }) {
		return ErrTaken
	}
	return nil
}

func (s *Store) deleteRow(ctx context.Context, table string, id int64) error {
	reached, whose := within(ctx)
	return s.Change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE id = ? AND `+reached, append([]any{id}, whose...)...)
		if err != nil {
			return fmt.Errorf("delete row %d: %w", id, err)
		}
		n, err := result.RowsAffected()
		if err != nil {
			return fmt.Errorf("delete row %d: %w", id, err)
		}
		if n == 0 {
			return ErrNotFound
		}
		return nil
	})
}
