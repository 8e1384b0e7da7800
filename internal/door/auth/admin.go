package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"watchmark/internal/platform/db"
)

// NeedsSetup tells whether there is no administrator yet.
func (s *Store) NeedsSetup(ctx context.Context) (bool, error) {
	name, err := adminName(ctx, s.db.Read())
	return name == "", err
}

// SetupToken is the token that Setup wants, to be shown in the one-time setup link.
// It is made with the store, lives in memory only, and answers ErrSetupDone once
// there is an administrator.
func (s *Store) SetupToken(ctx context.Context) (string, error) {
	needed, err := s.NeedsSetup(ctx)
	if err != nil {
		return "", err
	}
	if !needed {
		return "", ErrSetupDone
	}
	return s.setupToken, nil
}

// Setup creates the administrator. Of two callers at the same moment one succeeds.
// It returns ErrSetupDone when there is an administrator, ErrBadSetupToken, a *LockedError
// after too many wrong tokens of the remote address, or a *reason.FieldError for the name (1 to
// 100 characters) or the password (10 to 200 characters).
func (s *Store) Setup(ctx context.Context, token, name, password string, remote netip.Addr) error {
	needed, err := s.NeedsSetup(ctx)
	if err != nil {
		return err
	}
	if !needed {
		return ErrSetupDone
	}
	if err := s.door.knock(s.policy(), false, addressKey(remote)); err != nil {
		return err
	}
	given, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(s.setupToken))
	if subtle.ConstantTimeCompare(given[:], want[:]) != 1 {
		return ErrBadSetupToken
	}
	s.door.forgive(addressKey(remote))
	if err := checkName(name); err != nil {
		return err
	}
	if err := checkPassword(password); err != nil {
		return err
	}
	hash, err := s.hasher.hash(ctx, password)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		existing, err := adminName(ctx, tx)
		if err != nil {
			return err
		}
		if existing != "" {
			return ErrSetupDone
		}
		now := time.Now().UnixMilli()
		_, err = tx.ExecContext(ctx, `INSERT INTO admins (name, password_hash, created_at, updated_at) VALUES (?, ?, ?, ?)`,
			name, hash, now, now)
		if err != nil {
			return fmt.Errorf("create the administrator: %w", err)
		}
		return nil
	})
}

// SetPassword gives the administrator a new password and ends all sessions. It returns a
// *reason.FieldError for the password, or ErrUnknownAdmin when nobody has the name; the text then tells
// the right name, so it is for the owner of the machine only.
func (s *Store) SetPassword(ctx context.Context, name, password string) error {
	if err := checkPassword(password); err != nil {
		return err
	}
	hash, err := s.hasher.hash(ctx, password)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `UPDATE admins SET password_hash = ?, updated_at = ? WHERE name = ?`,
			hash, time.Now().UnixMilli(), name)
		if err != nil {
			return fmt.Errorf("store the new password: %w", err)
		}
		changed, err := result.RowsAffected()
		if err != nil {
			return fmt.Errorf("store the new password: %w", err)
		}
		if changed == 0 {
			return unknownAdmin(ctx, tx)
		}
		return endSessions(ctx, tx)
	})
}

// unknownAdmin is ErrUnknownAdmin with what to do.
func unknownAdmin(ctx context.Context, tx *sql.Tx) error {
	right, err := adminName(ctx, tx)
	if err != nil {
		return err
	}
	if right == "" {
		return adminMissing.With(ErrUnknownAdmin)
	}
	return adminNamed.With(ErrUnknownAdmin, right)
}

// adminName is the name of the administrator, empty when there is none.
func adminName(ctx context.Context, q db.Querier) (string, error) {
	var name string
	err := q.QueryRowContext(ctx, `SELECT name FROM admins ORDER BY id LIMIT 1`).Scan(&name)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("look for the administrator: %w", err)
	}
	return name, nil
}
