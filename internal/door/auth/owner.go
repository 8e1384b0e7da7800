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

// NeedsSetup tells whether there is no owner yet.
func (s *Store) NeedsSetup(ctx context.Context) (bool, error) {
	name, err := ownerName(ctx, s.db.Read())
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
// there is an owner.
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

// Setup creates the owner. Of two callers at the same moment one succeeds.
// It returns ErrSetupDone when there is an owner, ErrBadSetupToken, a *LockedError
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
		existing, err := ownerName(ctx, tx)
		if err != nil {
			return err
		}
		if existing != "" {
			return ErrSetupDone
		}
		if _, err := insertPerson(ctx, tx, name, RoleOwner, hash); err != nil {
			return err
		}
		return s.setups.ClearTx(ctx, tx)
	})
}

// SetPassword gives a person a new password, ends the person's sessions and devices, and forgets all failed attempts. It returns a
// *reason.FieldError for the password, or ErrUnknownAdmin when nobody has the name; the text then tells
// the owner's name, so it is for the owner of the machine only.
func (s *Store) SetPassword(ctx context.Context, name, password string) error {
	if err := checkPassword(password); err != nil {
		return err
	}
	hash, err := s.hasher.hash(ctx, password)
	if err != nil {
		return err
	}
	return s.end(ctx, func(ctx context.Context, tx *sql.Tx) error {
		id, err := signingIn(ctx, tx, name)
		if err != nil {
			return err
		}
		if err := s.setHash(ctx, tx, id, hash); err != nil {
			return err
		}
		return forgiveAll(ctx, tx)
	})
}

// setHash gives a person a new password within tx, and ends the person's sessions and devices.
func (s *Store) setHash(ctx context.Context, tx *sql.Tx, person int64, hash string) error {
	var role Role
	err := tx.QueryRowContext(ctx, `UPDATE people SET password_hash = ?, updated_at = ? WHERE id = ? RETURNING role`, hash, time.Now().UnixMilli(), person).Scan(&role)
	if err != nil {
		return fmt.Errorf("store the new password: %w", err)
	}
	if err := endSessions(ctx, tx, person); err != nil || s.EndDevices == nil {
		return err
	}
	if role == RoleOwner {
		person = 0
	}
	return s.EndDevices(ctx, tx, person)
}

// signingIn is the person of that name who may sign in, or ErrUnknownAdmin with what to do.
func signingIn(ctx context.Context, tx *sql.Tx, name string) (id int64, err error) {
	err = tx.QueryRowContext(ctx, `SELECT id FROM people WHERE lower(name) = ? AND role IN (?, ?)`, folded(name), RoleOwner, RolePerson).Scan(&id)
	if err == nil {
		return id, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("look up a person: %w", err)
	}
	right, err := ownerName(ctx, tx)
	if err != nil {
		return 0, err
	}
	if right == "" {
		return 0, adminMissing.With(ErrUnknownAdmin)
	}
	return 0, adminNamed.With(ErrUnknownAdmin, right)
}

// ownerName is the name of the owner, empty when there is none.
func ownerName(ctx context.Context, q db.Querier) (string, error) {
	var name string
	err := q.QueryRowContext(ctx, `SELECT name FROM people WHERE role = ?`, RoleOwner).Scan(&name)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("look for the owner: %w", err)
	}
	return name, nil
}
