package mapping

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"watchmark/internal/db"
)

// Store keeps mappings and blocked keywords in the database.
type Store struct {
	db *db.DB

	// changing is held while a change is written and until generation tells of it: what the
	// same transaction sets going must not be matched by the rules from before.
	changing sync.RWMutex
	// generation counts the changes made, so that a snapshot of the rules knows when it is stale.
	generation atomic.Int64
	snapshot   atomic.Pointer[snapshot]
}

// NewStore is the store over d.
func NewStore(d *db.DB) *Store { return &Store{db: d} }

// Change runs fn in a transaction, which may change mappings and blocked keywords by the
// functions whose names end in Tx. Whoever asks for the Rules after the commit gets the new ones.
func (s *Store) Change(ctx context.Context, fn func(ctx context.Context, tx *sql.Tx) error) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	err := s.db.Write(ctx, fn)
	s.generation.Add(1)
	return err
}

const columns = `id, title, is_regex, season, form, episode, subject_id, episode_offset, origin, note, created_at, updated_at`

func scan(row interface{ Scan(...any) error }) (m Mapping, err error) {
	var created, updated int64
	err = row.Scan(&m.ID, &m.Title, &m.Regex, &m.Season, &m.Form, &m.Episode, &m.SubjectID, &m.EpisodeOffset, &m.Origin, &m.Note, &created, &updated)
	m.CreatedAt, m.UpdatedAt = time.UnixMilli(created), time.UnixMilli(updated)
	return m, err
}

// List is every mapping whose title contains text (all for ""), by title, season, form and episode.
func (s *Store) List(ctx context.Context, text string) ([]Mapping, error) {
	return query(ctx, s.db.Read(), `SELECT `+columns+` FROM mappings WHERE INSTR(LOWER(title), LOWER(?)) > 0
		ORDER BY title, COALESCE(season, -1), form, COALESCE(episode, -1), id`, text)
}

// query reads the mappings that statement selects, of a transaction or the reader pool.
func query(ctx context.Context, q interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}, statement string, args ...any) ([]Mapping, error) {
	rows, err := q.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, fmt.Errorf("list mappings: %w", err)
	}
	defer func() { _ = rows.Close() }()
	mappings := []Mapping{}
	for rows.Next() {
		m, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("read mapping: %w", err)
		}
		mappings = append(mappings, m)
	}
	return mappings, rows.Err()
}

// Get is the mapping with id, or ErrNotFound.
func (s *Store) Get(ctx context.Context, id int64) (Mapping, error) {
	m, err := scan(s.db.Read().QueryRowContext(ctx, `SELECT `+columns+` FROM mappings WHERE id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return Mapping{}, ErrNotFound
	}
	if err != nil {
		return Mapping{}, fmt.Errorf("read mapping %d: %w", id, err)
	}
	return m, nil
}

// Create adds a mapping. It returns a *FieldError for one that cannot work, and ErrTaken.
func (s *Store) Create(ctx context.Context, m Mapping) (Mapping, error) {
	if err := m.check(); err != nil {
		return Mapping{}, err
	}
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

// Put adds a mapping for a title, season, form and episode, or puts it in the place of what is there, as
// PutTx does. It returns a *FieldError.
func (s *Store) Put(ctx context.Context, m Mapping) (Mapping, error) {
	var put Mapping
	err := s.Change(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		put, _, err = PutTx(ctx, tx, m)
		return err
	})
	return put, err
}

// Update replaces the mapping with m.ID, which is that of m.Origin from now on. It returns a *FieldError, ErrTaken or ErrNotFound.
func (s *Store) Update(ctx context.Context, m Mapping) (Mapping, error) {
	if err := m.check(); err != nil {
		return Mapping{}, err
	}
	var updated Mapping
	err := s.Change(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		if err := checkFree(ctx, tx, m); err != nil {
			return err
		}
		updated, err = scan(tx.QueryRowContext(ctx, `UPDATE mappings SET title = ?, is_regex = ?, season = ?, form = ?, episode = ?, subject_id = ?, episode_offset = ?,
			origin = ?, note = ?, updated_at = ? WHERE id = ? RETURNING `+columns,
			m.Title, m.Regex, m.Season, m.Form, m.Episode, m.SubjectID, m.EpisodeOffset, m.Origin, m.Note, time.Now().UnixMilli(), m.ID))
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNotFound
		}
		if err != nil {
			return fmt.Errorf("update mapping %d: %w", m.ID, err)
		}
		return nil
	})
	return updated, err
}

// Delete removes a mapping.
func (s *Store) Delete(ctx context.Context, id int64) error {
	return s.deleteRow(ctx, `DELETE FROM mappings WHERE id = ?`, id)
}

// ImportResult counts what an import did.
type ImportResult struct {
	Added   int `json:"added"`
	Changed int `json:"changed"`
	Same    int `json:"same"`
}

// Import adds or replaces mappings by title, kind, season, form and episode, all or nothing. Those of
// ByConfirm stay so, because that says what they hold for; all others become ByImport.
// With dryRun nothing is written, only counted. The *FieldError of a bad one names its place.
func (s *Store) Import(ctx context.Context, mappings []Mapping, dryRun bool) (ImportResult, error) {
	for i, m := range mappings {
		if err := m.check(); err != nil {
			var field *FieldError
			if errors.As(err, &field) {
				return ImportResult{}, &FieldError{fmt.Sprintf("mappings[%d].%s", i, field.Field), field.Problem}
			}
			return ImportResult{}, err
		}
	}
	var result ImportResult
	err := s.Change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result = ImportResult{}
		for _, m := range mappings {
			old, err := scan(tx.QueryRowContext(ctx, `SELECT `+columns+` FROM mappings WHERE title = ? AND is_regex = ? AND COALESCE(season, -1) = COALESCE(?, -1) AND form = ? AND COALESCE(episode, -1) = COALESCE(?, -1)`,
				m.Title, m.Regex, m.Season, m.Form, m.Episode))
			switch {
			case errors.Is(err, sql.ErrNoRows):
				result.Added++
			case err != nil:
				return fmt.Errorf("look for mapping %q: %w", m.Title, err)
			case old.SubjectID == m.SubjectID && old.EpisodeOffset == m.EpisodeOffset && old.Note == m.Note && (old.Origin == ByConfirm) == (m.Origin == ByConfirm):
				result.Same++
				continue
			default:
				result.Changed++
				if _, err := tx.ExecContext(ctx, `DELETE FROM mappings WHERE id = ?`, old.ID); err != nil {
					return fmt.Errorf("replace mapping %d: %w", old.ID, err)
				}
			}
			if m.Origin != ByConfirm {
				m.Origin = ByImport
			}
			if _, err := insert(ctx, tx, m); err != nil {
				return err
			}
		}
		if dryRun {
			return errDryRun
		}
		return nil
	})
	if errors.Is(err, errDryRun) {
		err = nil
	}
	return result, err
}

// errDryRun rolls an import back.
var errDryRun = errors.New("dry run")

func insert(ctx context.Context, tx *sql.Tx, m Mapping) (Mapping, error) {
	now := time.Now().UnixMilli()
	created, err := scan(tx.QueryRowContext(ctx, `INSERT INTO mappings (title, is_regex, season, form, episode, subject_id, episode_offset, origin, note, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING `+columns,
		m.Title, m.Regex, m.Season, m.Form, m.Episode, m.SubjectID, m.EpisodeOffset, m.Origin, m.Note, now, now))
	if err != nil {
		return Mapping{}, fmt.Errorf("insert mapping: %w", err)
	}
	return created, nil
}

func checkFree(ctx context.Context, tx *sql.Tx, m Mapping) error {
	var taken int
	err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM mappings WHERE title = ? AND is_regex = ? AND COALESCE(season, -1) = COALESCE(?, -1) AND form = ? AND COALESCE(episode, -1) = COALESCE(?, -1) AND id <> ?`,
		m.Title, m.Regex, m.Season, m.Form, m.Episode, m.ID).Scan(&taken)
	if err != nil {
		return fmt.Errorf("look for mapping %q: %w", m.Title, err)
	}
	if taken > 0 {
		return ErrTaken
	}
	return nil
}

func (s *Store) deleteRow(ctx context.Context, statement string, id int64) error {
	return s.Change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, statement, id)
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
