package mapping

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"
)

// PutTx writes m in the place of every mapping of the same person, or for all, that is no expression and has the same
// title, compared as Find does, the same season, form and episode; one for a season of a show
// replaces also what was for any form, for films tell no season. It answers the new one and those it
// replaced; RestoreTx takes that back. It returns a *reason.FieldError for one that cannot work.
func PutTx(ctx context.Context, tx *sql.Tx, m Mapping) (written Mapping, replaced []Mapping, err error) {
	if err := m.check(); err != nil {
		return Mapping{}, nil, err
	}
	if replaced, err = alikeTx(ctx, tx, m); err != nil {
		return Mapping{}, nil, err
	}
	written, err = replaceTx(ctx, tx, m, replaced)
	return written, replaced, err
}

// replaceTx writes m in the place of others.
func replaceTx(ctx context.Context, tx *sql.Tx, m Mapping, others []Mapping) (Mapping, error) {
	for _, old := range others {
		if _, err := tx.ExecContext(ctx, `DELETE FROM mappings WHERE id = ?`, old.ID); err != nil {
			return Mapping{}, fmt.Errorf("replace mapping %d: %w", old.ID, err)
		}
	}
	return insert(ctx, tx, m)
}

// alikeTx is every mapping that PutTx replaces by m.
func alikeTx(ctx context.Context, tx *sql.Tx, m Mapping) ([]Mapping, error) {
	all, err := query(ctx, tx, `WHERE is_regex = 0 AND COALESCE(person_id, 0) = ?`, m.PersonID)
	if err != nil {
		return nil, fmt.Errorf("look for mapping %q: %w", m.Title, err)
	}
	return slices.DeleteFunc(all, func(old Mapping) bool { return !m.replaces(old) }), nil
}

// RestoreTx takes a PutTx back, and reports false, having changed nothing, when the mapping
// is not as PutTx wrote it any more: somebody corrected it since. Where it was removed there
// is nothing to take back. A replaced one is left out when its title, season and form are mapped anew.
func RestoreTx(ctx context.Context, tx *sql.Tx, written Mapping, replaced []Mapping) (bool, error) {
	there, alike, err := standsTx(ctx, tx, written)
	if err != nil {
		return false, err
	}
	if !there || !alike {
		return !there, nil
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM mappings WHERE id = ?`, written.ID); err != nil {
		return false, fmt.Errorf("delete mapping %d: %w", written.ID, err)
	}
	for _, old := range replaced {
		old.ID = 0
		err := checkFree(ctx, tx, old)
		if errors.Is(err, ErrTaken) {
			continue
		}
		if err != nil {
			return false, err
		}
		if _, err := insert(ctx, tx, old); err != nil {
			return false, err
		}
	}
	return true, nil
}

// StandsTx reports whether a mapping is as it was written: nobody changed or removed it since.
func StandsTx(ctx context.Context, tx *sql.Tx, written Mapping) (bool, error) {
	there, same, err := standsTx(ctx, tx, written)
	return there && same, err
}

func standsTx(ctx context.Context, tx *sql.Tx, written Mapping) (there, alike bool, err error) {
	now, err := scan(tx.QueryRowContext(ctx, `SELECT `+columns+` FROM mappings WHERE id = ?`, written.ID))
	if errors.Is(err, sql.ErrNoRows) {
		return false, false, nil
	}
	if err != nil {
		return false, false, fmt.Errorf("read mapping %d: %w", written.ID, err)
	}
	alike = now.PersonID == written.PersonID && now.UpdatedAt.Equal(written.UpdatedAt) && now.SubjectID == written.SubjectID && now.EpisodeOffset == written.EpisodeOffset &&
		now.Title == written.Title && now.Form == written.Form && same(now.Season, written.Season) && same(now.Episode, written.Episode)
	return true, alike, nil
}

// BlockTx blocks b, for its person or for all, and answers the keyword as it stands, and whether it is new: one that
// is blocked already stays as it is. It returns a *reason.FieldError for one that cannot work.
func BlockTx(ctx context.Context, tx *sql.Tx, b Blocked) (standing Blocked, added bool, err error) {
	if err := b.check(); err != nil {
		return Blocked{}, false, err
	}
	standing, err = scanBlocked(tx.QueryRowContext(ctx, `INSERT INTO blocked_keywords (person_id, keyword, kind, source, created_at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (COALESCE(person_id, 0), keyword, kind) DO NOTHING RETURNING `+blockedColumns, orNull(b.PersonID), b.Keyword, b.Kind, b.Source, time.Now().UnixMilli()))
	if err == nil {
		return standing, true, nil
	}
	if errors.Is(err, sql.ErrNoRows) {
		standing, err = scanBlocked(tx.QueryRowContext(ctx, `SELECT `+blockedColumns+` FROM blocked_keywords WHERE COALESCE(person_id, 0) = ? AND keyword = ? AND kind = ?`, b.PersonID, b.Keyword, b.Kind))
	}
	if err != nil {
		return Blocked{}, false, fmt.Errorf("block keyword: %w", err)
	}
	return standing, false, nil
}

// UnblockTx removes a blocked keyword that is still as it was written, and reports false
// when somebody changed it since. Where it was removed there is nothing to do.
func UnblockTx(ctx context.Context, tx *sql.Tx, b Blocked) (bool, error) {
	there, same, err := blockStandsTx(ctx, tx, b)
	if err != nil {
		return false, err
	}
	if !there || !same {
		return !there, nil
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM blocked_keywords WHERE id = ?`, b.ID); err != nil {
		return false, fmt.Errorf("unblock keyword %d: %w", b.ID, err)
	}
	return true, nil
}

// BlockStandsTx reports whether a blocked keyword is as it was written.
func BlockStandsTx(ctx context.Context, tx *sql.Tx, b Blocked) (bool, error) {
	there, same, err := blockStandsTx(ctx, tx, b)
	return there && same, err
}

func blockStandsTx(ctx context.Context, tx *sql.Tx, b Blocked) (there, same bool, err error) {
	now, err := scanBlocked(tx.QueryRowContext(ctx, `SELECT `+blockedColumns+` FROM blocked_keywords WHERE id = ?`, b.ID))
	if errors.Is(err, sql.ErrNoRows) {
		return false, false, nil
	}
	if err != nil {
		return false, false, fmt.Errorf("read blocked keyword %d: %w", b.ID, err)
	}
	return true, now.PersonID == b.PersonID && now.Keyword == b.Keyword && now.Kind == b.Kind, nil
}
