package auth

import (
	"context"
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

const (
	// setupLife is how long a setup link is good when nobody uses it, and setupsMost how many there may be: one of each replica.
	setupLife  = 30 * 24 * time.Hour
	setupsMost = 50
)

// setupLink is what is known of a setup link beside its token: nothing.
type setupLink struct{}

// SetupToken is the token that Setup wants, at whatever replica, to be shown in the one-time setup link.
// It is one of this process; where no other replica is, those of earlier ones are good no more. The error is ErrSetupDone once
// there is an administrator.
func (s *Store) SetupToken(ctx context.Context) (string, error) {
	needed, err := s.NeedsSetup(ctx)
	if err != nil {
		return "", err
	}
	if !needed {
		return "", ErrSetupDone
	}
	if _, known, err := s.setups.Find(ctx, s.setupToken); err != nil || known {
		return s.setupToken, err
	}
	if s.db.Alone() {
		if err := s.setups.Clear(ctx); err != nil {
			return "", err
		}
	}
	return s.setupToken, s.setups.Put(ctx, s.setupToken, setupLink{})
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
	if err := s.door.knock(ctx, s.policy(), false, addressKey(remote)); err != nil {
		return err
	}
	_, right, err := s.setups.Find(ctx, token)
	if err != nil {
		return err
	}
	if !right {
		if needed, err := s.NeedsSetup(ctx); err != nil || !needed {
			return errors.Join(err, ErrSetupDone) // with this link, a moment ago
		}
		return ErrBadSetupToken
	}
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { return s.door.forgive(ctx, tx, addressKey(remote)) })
	if err != nil {
		return err
	}
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
		return s.setups.ClearTx(ctx, tx)
	})
}

// SetPassword gives the administrator a new password, ends all sessions and forgets all failed attempts. It returns a
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
		if err := endSessions(ctx, tx); err != nil {
			return err
		}
		return forgiveAll(ctx, tx)
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
